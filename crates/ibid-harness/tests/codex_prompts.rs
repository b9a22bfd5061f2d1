//! Codex: what a person typed is told from what was put in front of the model.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails"
)]

use std::fs;
use std::io::Write as _;

use ibid_carrier::jsonl::Limits;
use ibid_harness::codex::Codex;
use ibid_harness::{
    Codec, Context, Control, Cursor, Fold, Reference, Store, Surroundings, Target, TextCodec, Wants,
};
use ibid_model::{Block, Message, Origin, Session};

const ID: &str = "01a22cab-632a-7a92-bd10-64a8f204bce7";
const CONTEXT: &str = "<environment_context>\\n  <cwd>/home/dev</cwd>\\n</environment_context>";

/// A rollout of these payloads, each behind the type of its line.
fn rollout(records: &[(&str, String)]) -> String {
    let meta = format!(
        r#"{{"id":"{ID}","timestamp":"2026-11-30T13:35:59.000Z","cwd":"/home/dev","originator":"codex_cli_rs","cli_version":"0.100.0","source":"cli"}}"#
    );
    let lines = [("session_meta", meta)].into_iter().chain(records.iter().cloned());
    lines
        .map(|(kind, payload)| {
            format!(
                "{{\"timestamp\":\"2026-11-30T13:35:59.100Z\",\"type\":\"{kind}\",\"payload\":{payload}}}\n"
            )
        })
        .collect()
}

fn item(text: &str) -> (&'static str, String) {
    let content = format!(r#"[{{"type":"input_text","text":"{text}"}}]"#);
    ("response_item", format!(r#"{{"type":"message","role":"user","content":{content}}}"#))
}

fn event(text: &str) -> (&'static str, String) {
    ("event_msg", format!(r#"{{"type":"user_message","message":"{text}","kind":"plain"}}"#))
}

fn completed(text: &str) -> (&'static str, String) {
    let item = format!(r#"{{"type":"UserMessage","content":[{{"type":"text","text":"{text}"}}]}}"#);
    ("event_msg", format!(r#"{{"type":"item_completed","item":{item}}}"#))
}

fn answer(text: &str) -> (&'static str, String) {
    let content = format!(r#"[{{"type":"output_text","text":"{text}"}}]"#);
    ("response_item", format!(r#"{{"type":"message","role":"assistant","content":{content}}}"#))
}

fn read(text: &str) -> Session {
    let session = Codex::to_common(&Codex::from_text(text.as_bytes()).unwrap()).unwrap().session;
    assert_eq!(session.problems(), []);
    session
}

/// Who said what.
fn told(session: &Session) -> Vec<(Origin, String)> {
    let text = |message: &Message| message.texts().map(ToString::to_string).collect::<Vec<_>>().join(" | ");
    session.messages.iter().map(|message| (message.origin, text(message))).collect()
}

fn persons(text: &str) -> (Origin, String) {
    (Origin::Person, text.to_owned())
}

#[test]
fn a_prompt_that_looks_like_scaffolding_is_told_once_by_its_item_and_its_event() {
    let typed = "<collaboration_mode>what is this?";
    for told_by in [event(typed), completed(typed)] {
        let records = [item(CONTEXT), item(typed), told_by, answer("A mode.")];
        let session = read(&rollout(&records));
        let said = told(&session);
        assert_eq!(said.len(), 3, "{said:?}");
        assert_eq!(said[0].0, Origin::Harness);
        assert_eq!(said[1], persons(typed));
        assert_eq!(session.meta.preview.as_deref(), Some(typed));
    }
}

#[test]
fn an_event_before_its_item_tells_the_same_prompt() {
    let typed = "<skill>mine";
    assert_eq!(told(&read(&rollout(&[event(typed), item(typed)]))), [persons(typed)]);
}

#[test]
fn what_no_event_tells_as_a_prompt_stays_put_in() {
    let records = [item("# AGENTS.md instructions for /home/dev"), item(CONTEXT), item("Q"), event("Q")];
    let origins: Vec<_> = told(&read(&rollout(&records))).into_iter().map(|(origin, _)| origin).collect();
    assert_eq!(origins, [Origin::Harness, Origin::Harness, Origin::Person]);
    // The event of another prompt, whose item is missing, is none of the message before it.
    let session = read(&rollout(&[item(CONTEXT), event("Q"), answer("A")]));
    assert_eq!(told(&session)[0].0, Origin::Harness);
    assert_eq!(told(&session)[1], persons("Q"));
}

#[test]
fn an_event_that_says_it_tells_scaffolding_is_no_prompt() {
    let told_by = event(CONTEXT).1.replace("plain", "environment_context");
    let session = read(&rollout(&[item(CONTEXT), ("event_msg", told_by), item("Q"), event("Q")]));
    assert_eq!(told(&session)[0].0, Origin::Harness);
    assert_eq!(told(&session)[1..], [persons("Q")]);
}

#[test]
fn the_kinds_of_an_item_say_more_than_how_its_text_begins() {
    let marked = |kind: &str| {
        let kinds =
            format!(r#","internal_chat_message_metadata_passthrough":{{"content_item_kinds":["{kind}"]}}}}"#);
        let (line, payload) = item("<turn_aborted>");
        (line, payload.strip_suffix('}').unwrap().to_owned() + &kinds)
    };
    assert_eq!(told(&read(&rollout(&[marked("user.text")]))), [persons("<turn_aborted>")]);
    let put_in = rollout(&[marked("environments.environment_context"), event("<turn_aborted>")]);
    assert_eq!(told(&read(&put_in))[0].0, Origin::Harness);
}

#[test]
fn a_persons_text_that_looks_like_scaffolding_is_marked_as_the_persons() {
    let mut session = Session::new("other", "s");
    for (at, text) in
        ["<collaboration_mode>x", " # AGENTS.md instructions", "<subagent>", "plain"].iter().enumerate()
    {
        let mut message = Message::new(format!("m{at}"), ibid_model::Role::User, Origin::Person);
        message.parent = session.messages.last().map(|last| last.id.clone());
        message.blocks.push(Block::text(*text));
        session.messages.push(message);
    }
    let made = Codex::from_common(&session, &Target::default()).unwrap();
    let text = String::from_utf8(Codex::to_text(&made.value).unwrap()).unwrap();
    // Without its events the file says the same: the items are marked.
    let items: String = text
        .lines()
        .filter(|line| !line.contains("user_message"))
        .fold(String::new(), |text, line| text + line + "\n");
    for written in [&text, &items] {
        let said = told(&read(written));
        let typed = ["<collaboration_mode>x", " # AGENTS.md instructions", "<subagent>", "plain"];
        assert_eq!(said, typed.map(persons));
    }
    assert_eq!(text.matches("\"content_item_kinds\":[\"user.text\"]").count(), 3);
}

#[test]
fn a_text_that_looks_like_the_tag_of_a_picture_stays_before_it() {
    let mut session = Session::new("other", "s");
    let mut message = Message::new("m", ibid_model::Role::User, Origin::Person);
    let picture = Block::Image(ibid_model::Image {
        media_type: Some("image/png".into()),
        data: ibid_model::Data::Base64("QUJD".into()),
        name: None,
    });
    message.blocks = vec![Block::text("<image path=\"mine.png\">"), picture.clone(), Block::text("</image>")];
    session.messages.push(message.clone());
    let made = Codex::from_common(&session, &Target::default()).unwrap().value;
    assert_eq!(Codex::to_common(&made).unwrap().session.messages[0].blocks, message.blocks);
}

/// Reads a file in two goes, the first up to a line, and says what both told together.
fn scanned(text: &str, lines: usize) -> Vec<(Origin, String)> {
    let home = tempfile::TempDir::new().unwrap();
    let machine = Surroundings::isolated(home.path());
    let limits = Limits::default();
    let context = Context { machine: &machine, limits: &limits };
    let path = home.path().join(format!("rollout-2026-11-30T13-35-59-{ID}.jsonl"));
    let cut: usize = text.split_inclusive('\n').take(lines).map(str::len).sum();
    fs::write(&path, &text.as_bytes()[..cut]).unwrap();
    let root = home.path().to_owned();
    let reference = Reference {
        harness: ibid_harness::find("codex").unwrap().declaration().id,
        path: path.clone(),
        root,
        key: None,
    };
    let mut fold = Fold::default();
    let control = Control::default();
    let cursor = Codex::scan(&reference, &Cursor::Start, Wants::ALL, &control, &mut fold, &context).unwrap();
    fs::File::options().append(true).open(&path).unwrap().write_all(&text.as_bytes()[cut..]).unwrap();
    Codex::scan(&reference, &cursor, Wants::ALL, &control, &mut fold, &context).unwrap();
    let mut session = Session::new("codex", ID);
    session.messages = fold.messages;
    told(&session)
}

#[test]
fn a_scan_that_stops_between_an_item_and_its_event_tells_the_prompt_with_the_event() {
    let typed = "<permissions>what may I do?";
    let text = rollout(&[item("Q"), event("Q"), item(typed), event(typed), answer("A")]);
    for lines in [1, 2, 3, 5, 6] {
        assert_eq!(scanned(&text, lines)[1], persons(typed), "cut behind line {lines}");
    }
    // Nobody knows yet whose it is; what comes later corrects it.
    let said = scanned(&text, 4);
    assert_eq!(said[1], (Origin::Harness, typed.to_owned()));
    assert_eq!(said[2], persons(typed));
    assert_eq!(said.len(), 4);
}
