//! pi: what is read, found, saved and written, on the files of real programs.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test states what it expects"
)]

mod broken;
mod corpus;
mod oh_my_pi;
mod reading;
mod store;
mod writing;

use std::path::PathBuf;

use ibid_carrier::jsonl::Limits;
use ibid_harness::pi::Pi;
use ibid_harness::{Codec, Common, Context, Listed, Store, Surroundings, TextCodec};
use ibid_model::{Message, Origin, Selection, Session};
use ibid_testkit::Home;

/// The sessions of the fixtures, by what was done in them.
const TREE: &str = "13-26-32-662Z";
const COMPACTED: &str = "13-26-27-147Z";
const FORKED_WHOLE: &str = "13-26-26-091Z";
const FORKED_AT_PROMPT: &str = "13-26-30-452Z";
const TOOLS: &str = "13-26-24-938Z";
const FAILURES: &str = "13-27-23-560Z";

/// The machine that a home is.
fn machine(home: &Home) -> Surroundings {
    Surroundings::isolated(home.path())
}

/// The sessions under the first root of a machine.
fn listed(machine: &Surroundings) -> Vec<Listed> {
    let limits = Limits::default();
    let context = Context { machine, limits: &limits };
    let root = Pi::roots(machine).remove(0);
    Pi::list(&root, &context).sessions
}

/// Every fixture of pi, with its home.
fn every_fixture() -> Vec<(Home, Surroundings, Vec<Listed>)> {
    ["1.6.0", "0.73.1", "hand-written", "hand-written/migrated-by-1.6.0"]
        .into_iter()
        .map(|version| {
            let home = Home::new().with("pi", version);
            let machine = machine(&home);
            let sessions = listed(&machine);
            assert!(!sessions.is_empty());
            (home, machine, sessions)
        })
        .collect()
}

/// The path of the fixture of a version that began at a time.
fn fixture(version: &str, begun: &str) -> PathBuf {
    let folder = Home::fixtures().join("pi").join(version).join(".pi/agent/sessions/--home-dev-demo--");
    let files = std::fs::read_dir(folder).expect("there are fixtures").flatten();
    let found = files.map(|file| file.path()).find(|path| path.to_string_lossy().contains(begun));
    found.unwrap_or_else(|| panic!("no fixture of {version} began at {begun}"))
}

/// A fixture as a common session.
fn read(version: &str, begun: &str) -> Session {
    let bytes = std::fs::read(fixture(version, begun)).expect("a fixture can be read");
    common(&bytes).session
}

/// A text as a common session.
fn common(text: &[u8]) -> Common {
    let transcript = Pi::from_text(text).expect("it is a session of pi");
    let common = Pi::to_common(&transcript).expect("it is a session of pi");
    assert_eq!(common.session.problems(), []);
    assert_eq!(Pi::to_text(&transcript).expect("it is text"), text);
    common
}

/// What a person said on the live branch.
fn prompts(session: &Session) -> Vec<String> {
    let view = session.view(&Selection::default());
    view.messages.iter().filter(|m| m.is_prompt()).map(|m| said(m)).collect()
}

fn said(message: &Message) -> String {
    message.texts().map(|text| text.as_str()).collect::<Vec<_>>().join("|")
}

fn of_origin(session: &Session, origin: Origin) -> Vec<&Message> {
    session.messages.iter().filter(|message| message.origin == origin).collect()
}
