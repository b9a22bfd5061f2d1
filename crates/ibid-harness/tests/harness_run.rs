//! Harness runs: what is found and read, on files written by hand.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test states what it expects"
)]

use std::fs;

use ibid_carrier::jsonl::Limits;
use ibid_harness::harness_run::HarnessRun;
use ibid_harness::{
    Carriers, Class, Codec, Common, Content, Context, Control, Cursor, Fold, Listing, Store, Surroundings,
    TextCodec, Wants,
};
use ibid_model::{Block, FindingKind, Outcome, Role, Tool, ToolResult};
use ibid_testkit::Home;

/// A home with the project of the fixtures.
fn home() -> Home {
    Home::new().with_tree("harness-run/hand-written/project", "demo")
}

fn machine(home: &Home) -> Surroundings {
    Surroundings::isolated(home.path()).in_project(home.path().join("demo"))
}

fn listing(machine: &Surroundings) -> Listing {
    let limits = Limits::default();
    let context = Context { machine, limits: &limits };
    HarnessRun::list(&HarnessRun::roots(machine).remove(0), &context)
}

/// The trial whose path has this in it.
fn read(home: &Home, part: &str) -> Common {
    let machine = machine(home);
    let context = Context { machine: &machine, limits: &Limits::default() };
    let found = listing(&machine).sessions;
    let listed = found.iter().find(|listed| listed.reference.path.to_string_lossy().contains(part)).unwrap();
    let common = HarnessRun::to_common(&HarnessRun::load(&listed.reference, &context).unwrap()).unwrap();
    assert_eq!(common.session.problems(), []);
    common
}

fn results(common: &Common) -> Vec<&ToolResult> {
    let blocks = common.session.messages.iter().flat_map(|message| &message.blocks);
    blocks
        .filter_map(|block| match block {
            Block::ToolResult(result) => Some(result),
            _ => None,
        })
        .collect()
}

#[test]
fn a_trace_is_read_whole() {
    let common = read(&home(), "/H1/");
    assert_eq!(common.findings, []);
    let session = &common.session;
    assert_eq!(session.id.as_str(), "hr_00:H1:trial-001");
    let counts = session.counts();
    assert_eq!((counts.prompts, counts.tool_calls, counts.tool_results), (0, 3, 2));
    let first = &session.messages[0];
    assert_eq!((first.role, first.blocks.len()), (Role::Assistant, 2), "calls that follow each other");
    assert!(matches!(&first.blocks[0], Block::ToolUse(call) if matches!(&call.tool, Tool::Write(_))));
    let ends: Vec<_> =
        results(&common).iter().map(|result| (result.outcome, result.text().to_string())).collect();
    assert_eq!(ends, [(Outcome::Ok, "ok".to_owned()), (Outcome::Error, "exit 1".to_owned())]);
    assert_eq!(session.events.len(), 2);
}

#[test]
fn times_are_those_of_records_and_else_of_the_file() {
    let home = home();
    let timed = read(&home, "/H2/").session.meta;
    assert_eq!(timed.started.unwrap().to_iso_milliseconds(), "2026-09-01T10:00:00.000Z");
    assert_eq!(timed.updated.unwrap().to_iso_milliseconds(), "2026-09-01T10:00:02.000Z");
    let written = read(&home, "/H1/").session.meta;
    assert!(written.started.is_some() && written.started == written.updated);
}

#[test]
fn a_trial_without_a_revision_is_listed_and_says_so() {
    let common = read(&home(), "/H2/");
    assert_eq!(common.session.id.as_str(), "H2:trial-001");
    assert_eq!(common.findings.iter().map(|f| f.kind).collect::<Vec<_>>(), [FindingKind::MissingHeader]);
}

#[test]
fn runs_are_looked_for_in_the_project_alone_and_belong_to_it() {
    let home = home();
    assert!(HarnessRun::roots(&Surroundings::isolated(home.path())).is_empty());
    let machine = machine(&home);
    let context = Context { machine: &machine, limits: &Limits::default() };
    let reference = listing(&machine).sessions.remove(0).reference;
    let placed = |directory: &str| HarnessRun::placed_for(&reference, &home.path().join(directory), &context);
    assert!(placed("demo"));
    assert!(!placed("") && !placed("demo2") && !placed("demo/sub"));
}

#[test]
fn every_trace_is_listed_at_any_depth() {
    let deep = "demo/.better-harness/harness-runs/a/b/c/d/e/f/g/H/t/trace.jsonl";
    let home = home().with_file(deep, "{\"type\":\"run-started\"}\n");
    assert_eq!(listing(&machine(&home)).sessions.len(), 3);
    let empty = Home::new().with_file("demo/readme", "");
    let found = listing(&machine(&empty));
    assert!(!found.present && found.findings.is_empty());
}

#[test]
fn a_call_that_begins_twice_is_one_and_a_result_without_one_is_reported() {
    let lines = [
        r#"{"type":"tool-call-started","toolCallId":"c","toolName":"Bash","input":{"command":"ls"}}"#,
        r#"{"type":"tool-call-started","toolCallId":"c","toolName":"Bash","input":{"command":"ls"}}"#,
        r#"{"type":"tool-call-result","toolCallId":"c","content":{"files":[]}}"#,
        r#"{"type":"tool-call-result","toolCallId":"c","content":"again"}"#,
        r#"{"type":"tool-call-result","toolCallId":"gone","isError":"yes","content":5}"#,
        r#"{"type":"tool-call-result"}"#,
        r#"{"type":"tea"}"#,
    ];
    let text = lines.join("\n") + "\n";
    let transcript = HarnessRun::from_text(text.as_bytes()).unwrap();
    let common = HarnessRun::to_common(&transcript).unwrap();
    assert_eq!(common.session.problems(), []);
    assert_eq!((common.session.counts().tool_calls, results(&common).len()), (1, 2));
    assert!(results(&common).iter().all(|result| result.outcome == Outcome::Unknown));
    let kinds: Vec<_> = common.findings.iter().map(|finding| finding.kind).collect();
    let expected = [
        FindingKind::MissingHeader,
        FindingKind::RepeatedId,
        FindingKind::RepeatedId,
        FindingKind::ResultWithoutCall,
        FindingKind::ResultWithoutCall,
        FindingKind::UnknownRecord,
    ];
    assert_eq!(kinds, expected);
    assert!(HarnessRun::from_text(b"{\"type\":\"tea\"}\n").is_err());
}

#[test]
fn a_list_a_load_and_a_scan_say_the_same_and_leave_no_trace() {
    let home = home();
    let before = home.snapshot();
    let machine = machine(&home);
    let context = Context { machine: &machine, limits: &Limits::default() };
    for listed in listing(&machine).sessions {
        let found = HarnessRun::describe(&listed, &context).unwrap();
        let transcript = HarnessRun::load(&listed.reference, &context).unwrap();
        let session = HarnessRun::to_common(&transcript).unwrap().session;
        assert_eq!((&found.id, &found.meta, found.class), (&session.id, &session.meta, Class::Session));
        let mut fold = Fold::default();
        let from = Cursor::Start;
        HarnessRun::scan(&listed.reference, &from, Wants::ALL, &Control::default(), &mut fold, &context)
            .unwrap();
        assert_eq!((&fold.messages, &fold.head), (&session.messages, &session.head));
        for carrier in transcript.body.carriers() {
            let stored = fs::read(carrier.info.path.as_str()).unwrap();
            assert!(matches!(carrier.content, Content::Bytes(bytes) if bytes == stored));
        }
        let again = HarnessRun::from_text(&HarnessRun::to_text(&transcript).unwrap()).unwrap();
        assert_eq!(again.id, transcript.id, "the text form keeps what only the path says");
    }
    assert_eq!(home.snapshot(), before);
}

#[test]
fn deleting_takes_the_folder_of_the_trial() {
    let home = home();
    let machine = machine(&home);
    let context = Context { machine: &machine, limits: &Limits::default() };
    let reference = listing(&machine).sessions.remove(0).reference;
    let plan = HarnessRun::delete(&reference, &context).unwrap().plan.to_string();
    assert!(plan.contains("H1/trial-001") && !plan.contains("revision.json"), "{plan}");
}
