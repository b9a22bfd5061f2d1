//! The ids of turns at rest: the ones that hooks announce (Codex `turn_id`, Claude Code `prompt_id`;
//! measured with 0.171.0 and 2.1.332).

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test states what it expects"
)]

mod opencode_home;

use std::path::{Path, PathBuf};

use ibid_harness::TextCodec;
use ibid_harness::claude_code::ClaudeCode;
use ibid_harness::codex::Codex;
use ibid_model::{Message, Origin, Role, Session};
use opencode_home::Home;

/// The one file of the fixtures whose path has these two parts.
fn file(folder: &str, part: &str) -> PathBuf {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false if path.file_name().unwrap().to_string_lossy().contains(part) => return path,
                false => {}
            }
        }
    }
    panic!("no fixture {folder} {part}")
}

fn read<H: TextCodec>(path: &Path) -> Session {
    H::to_common(&H::from_text(&std::fs::read(path).unwrap()).unwrap()).unwrap().session
}

fn of_text<H: TextCodec>(text: &str) -> Session {
    H::to_common(&H::from_text(text.as_bytes()).unwrap()).unwrap().session
}

/// The turns of the messages that this holds for.
fn turns(session: &Session, holds: impl Fn(&Message) -> bool) -> Vec<Option<&str>> {
    session.messages.iter().filter(|message| holds(message)).map(|m| m.turn.as_deref()).collect()
}

#[test]
fn a_codex_message_names_the_turn_of_its_item() {
    let session = read::<Codex>(&file("codex/0.171.0", "01a22cab-73ec"));
    let (first, second) = ("01a22cab-7401-7c21-9087-55091b5ba579", "01a22cab-767c-7d10-ad39-1395f0e2bbee");
    assert_eq!(turns(&session, Message::is_prompt), [Some(first), Some(second)]);
    assert!(
        turns(&session, |message| message.role == Role::Assistant).iter().all(|turn| *turn == Some(second))
    );
}

#[test]
fn before_items_named_turns_a_codex_message_belongs_to_the_turn_that_goes_on() {
    let session = read::<Codex>(&file("codex/0.100.0", "01a22cad-17a2"));
    let turn = Some("01a22cad-17a7-72a1-a886-b94e431fccc3");
    assert!(turns(&session, Message::is_prompt).iter().all(|found| *found == turn));
    // What was put there before the turn began belongs to none.
    assert_eq!(session.messages[0].turn, None);
    assert_eq!(session.messages.last().unwrap().turn.as_deref(), turn);
}

#[test]
fn a_codex_prompt_is_not_given_the_turn_that_the_settings_before_it_named() {
    let line = |kind: &str, payload: &str| {
        format!(r#"{{"timestamp":"2026-01-01T00:00:00Z","type":"{kind}","payload":{payload}}}"#)
    };
    let said = |text: &str| {
        let payload = format!(
            r#"{{"type":"message","role":"user","content":[{{"type":"input_text","text":"{text}"}}]}}"#
        );
        line("response_item", &payload)
    };
    let text = [
        line(
            "session_meta",
            r#"{"id":"01a22cad-17a2-7883-a77f-c7e5a6b2c1b1","timestamp":"2026-01-01T00:00:00Z","cwd":"/w"}"#,
        ),
        said("one"),
        line("turn_context", r#"{"turn_id":"first","cwd":"/w"}"#),
        said("two"),
        line("turn_context", r#"{"turn_id":"second","cwd":"/w"}"#),
    ];
    let session = of_text::<Codex>(&text.join("\n"));
    assert_eq!(turns(&session, Message::is_prompt), [None, None]);
}

#[test]
fn a_claude_prompt_and_its_results_name_the_prompt() {
    let session = read::<ClaudeCode>(&file("claude-code/2.1.332", "e9892c41"));
    let (first, second) = ("98ae90c1-504b-4a50-ab2e-6ee0bb7aa7cd", "b1689409-2616-424f-a5f9-405adb08e1b9");
    assert_eq!(turns(&session, Message::is_prompt), [Some(first)]);
    assert_eq!(turns(&session, |message| message.origin == Origin::Tools), [Some(first)]);
    // The news of a subagent's end is a turn of its own, and no person's.
    assert_eq!(turns(&session, |message| message.origin == Origin::Agent), [Some(second)]);
    assert!(turns(&session, |message| message.role == Role::Assistant).iter().all(Option::is_none));
}

#[test]
fn a_claude_subagent_names_the_prompt_that_it_was_started_in() {
    let session = read::<ClaudeCode>(&file("claude-code/2.1.332", "agent-afc6dde99f2bcef8a.jsonl"));
    assert_eq!(session.messages[0].turn.as_deref(), Some("98ae90c1-504b-4a50-ab2e-6ee0bb7aa7cd"));
}

#[test]
fn an_opencode_answer_names_the_prompt_that_it_answers() {
    let home = Home::with_database("1.18.33/opencode.sql");
    let mut answered = 0;
    for found in home.sessions() {
        let session = home.read(&found).session;
        // What a fork copied names the messages of the session that it was copied from.
        for message in session.messages.iter().filter(|message| !message.inherited) {
            let Some(turn) = message.turn.as_deref() else { continue };
            match message.role {
                Role::User if message.origin != Origin::Tools => {
                    assert!(message.id.as_str().starts_with(turn))
                }
                _ => {
                    // A request for a summary is no message.
                    let asked = |asked: &&Message| asked.id == turn && asked.role == Role::User;
                    answered += session.messages.iter().filter(asked).count();
                }
            }
        }
    }
    assert!(answered > 10);
}
