//! WorkBuddy: what is read of its sessions, on files written by hand.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test states what it expects"
)]

mod whole_files;

use std::path::Path;

use ibid_carrier::jsonl::Limits;
use ibid_harness::{AnyHarness, Class, Common, Context, Discovered, Surroundings};
use ibid_model::{
    Block, EventKind, FindingKind, Message, Origin, Outcome, Role, Text, Timestamp, TitleOrigin, Tool,
    ToolResult,
};
use ibid_testkit::Home;

const WHOLE: &str = "0b0d0001-b0dd-4a11-9c10-000000000001";
const BARE: &str = "0b0d0002-b0dd-4a11-9c10-000000000002";

fn workbuddy() -> &'static dyn AnyHarness {
    ibid_harness::find("workbuddy").unwrap()
}

fn read(id: &str) -> (Discovered, Common) {
    let home = Home::new().with("workbuddy", "hand-written");
    let mut all = whole_files::read_all("workbuddy", &Surroundings::isolated(home.path())).into_iter();
    all.find(|(found, _)| found.id == id).unwrap()
}

fn session_of(rows: &str) -> Common {
    let home = Home::new().with_file(".workbuddy/projects/w-demo/a.jsonl", rows);
    whole_files::read_all("workbuddy", &Surroundings::isolated(home.path())).remove(0).1
}

fn texts(message: &Message) -> Vec<&str> {
    message.texts().map(Text::as_str).collect()
}

fn results(common: &Common) -> Vec<&ToolResult> {
    fn result(block: &Block) -> Option<&ToolResult> {
        match block {
            Block::ToolResult(result) => Some(result),
            _ => None,
        }
    }
    common.session.messages.iter().flat_map(|message| &message.blocks).filter_map(result).collect()
}

#[test]
fn what_was_typed_is_told_from_what_was_put_around_it() {
    let (found, common) = read(WHOLE);
    assert_eq!(found.class, Class::Session);
    let counts = common.session.counts();
    assert_eq!((counts.prompts, counts.injected, counts.assistant), (1, 1, 2));
    assert_eq!(found.meta.preview.as_deref(), Some("Sort the imports"));
    let title = found.meta.title.unwrap();
    assert_eq!((title.text.as_str(), title.origin), ("Sort imports", TitleOrigin::Generated));
    assert_eq!(found.meta.model.as_deref(), Some("hunyuan-t1"));
}

// evidence defect 9
#[test]
fn rows_of_one_response_are_one_message_whose_tokens_count_once() {
    let (_, common) = read(WHOLE);
    let answer = common.session.messages.iter().find(|message| message.role == Role::Assistant).unwrap();
    assert_eq!((answer.blocks.len(), answer.sources.len(), answer.api_id.as_deref()), (4, 4, Some("r1")));
    assert_eq!(common.session.calls.len(), 2);
    let usage = common.session.own_usage();
    assert_eq!((usage.input, usage.cache_read, usage.output), (Some(70), Some(60), Some(27)));
    assert_eq!(usage.reasoning, Some(5));
}

#[test]
fn a_call_that_comes_behind_a_result_belongs_to_its_response_all_the_same() {
    let common = session_of(
        r#"{"type":"function_call","callId":"a","name":"LS","arguments":{},"providerData":{"messageId":"r"}}
{"type":"function_call_result","callId":"a","status":"completed","output":"x"}
{"type":"function_call","callId":"b","name":"LS","arguments":{},"providerData":{"messageId":"r"}}
{"type":"function_call_result","callId":"b","status":"cancelled","output":"y"}
"#,
    );
    let counts = common.session.counts();
    assert_eq!((counts.assistant, counts.tool_calls, counts.tool_results), (1, 2, 2));
    assert_eq!(results(&common)[1].outcome, Outcome::Interrupted);
}

#[test]
fn arguments_are_read_from_a_text_as_from_an_object() {
    let (_, common) = read(WHOLE);
    let tools: Vec<_> = common
        .session
        .messages
        .iter()
        .flat_map(|message| &message.blocks)
        .filter_map(|block| match block {
            Block::ToolUse(call) => Some(&call.tool),
            _ => None,
        })
        .collect();
    assert!(matches!(tools[0], Tool::Edit(edit) if edit.edits[0].new == "import a\nimport b"));
    assert!(matches!(tools[1], Tool::Shell(shell) if shell.command == "isort b.py"));
}

#[test]
fn how_a_call_ended_is_what_its_status_says() {
    let (_, common) = read(WHOLE);
    let ended: Vec<_> =
        results(&common).iter().map(|result| (result.outcome, result.text().to_string())).collect();
    assert_eq!(
        ended,
        [(Outcome::Ok, "The file was changed.".to_owned()), (Outcome::Error, "isort: not found".to_owned())]
    );
}

#[test]
fn every_message_has_the_directory_of_its_row() {
    let (found, common) = read(WHOLE);
    assert_eq!(found.meta.cwd.as_deref(), Some("/w/demo"));
    assert_eq!(common.session.messages.last().unwrap().cwd.as_deref(), Some("/w/demo/sub"));
}

#[test]
fn calls_and_results_without_ids_are_joined_in_order() {
    let (found, common) = read(BARE);
    let counts = common.session.counts();
    assert_eq!((counts.prompts, counts.assistant, counts.tool_calls, counts.tool_results), (1, 2, 1, 1));
    assert_eq!(results(&common)[0].call.as_str(), format!("workbuddy-{BARE}-1"));
    assert_eq!(found.meta.started, Timestamp::from_milliseconds(1_788_343_200_000));
    assert_eq!(found.meta.updated, Timestamp::from_milliseconds(1_788_343_203_000));
}

// evidence defect 3
#[test]
fn a_session_that_names_no_directory_belongs_to_the_one_its_folder_is_named_after() {
    let (found, _) = read(BARE);
    assert_eq!(found.meta.cwd, None);
    let machine = Surroundings::isolated("/nowhere");
    let limits = Limits::default();
    let context = Context { machine: &machine, limits: &limits };
    let placed = |directory: &str| workbuddy().placed_for(&found.reference, Path::new(directory), &context);
    assert!(placed("/w/demo"));
    assert!(!placed("/w/demo/sub") && !placed("/w"));
}

#[test]
fn what_is_not_known_is_an_event_and_named() {
    let (_, common) = read(WHOLE);
    let kinds: Vec<_> = common.session.events.iter().map(|event| event.kind.clone()).collect();
    assert_eq!(kinds, [EventKind::Snapshot, EventKind::Title, EventKind::Other("sparkle".into())]);
    assert_eq!(common.findings[0].kind, FindingKind::UnknownRecord);
}

#[test]
fn the_example_of_the_evidence_host_reads_as_described() {
    let common = session_of(
        r#"{"type":"message","role":"user","sessionId":"wb-1","cwd":"/w/demo","timestamp":1788256800000,"content":[{"type":"input_text","text":"Sort imports"}]}
{"type":"function_call","sessionId":"wb-1","cwd":"/w/demo","timestamp":1788256801000,"callId":"c1","name":"Edit","arguments":"{\"file_path\":\"/w/demo/a.py\"}","providerData":{"messageId":"r1","model":"m","usage":{"inputTokens":4,"outputTokens":1}}}
{"type":"function_call_result","sessionId":"wb-1","cwd":"/w/demo","timestamp":1788256802000,"callId":"c1","status":"completed","output":{"type":"text","text":"ok"}}
{"type":"message","role":"assistant","sessionId":"wb-1","cwd":"/w/demo","timestamp":1788256803000,"content":[{"type":"output_text","text":"Sorted."}]}
"#,
    );
    let session = &common.session;
    assert_eq!((session.id.as_str(), session.messages.len()), ("wb-1", 4));
    assert_eq!(
        (texts(&session.messages[0]), session.messages[0].origin),
        (vec!["Sort imports"], Origin::Person)
    );
    assert_eq!(texts(&session.messages[3]), ["Sorted."]);
    assert_eq!(session.own_usage().input, Some(4));
}

// evidence defect 11
#[test]
fn rows_of_another_shape_are_another_programs() {
    let rows = r#"{"kind":"message","conversation_id":"x","author":{"role":"human"}}"#;
    let home = Home::new().with_file("wb/projects/w/x.jsonl", rows).with_file("wb/projects/y.jsonl", "{}");
    let machine = Surroundings::isolated(home.path()).with_variable("WORKBUDDY_DIR", "~/wb");
    let limits = Limits::default();
    let context = Context { machine: &machine, limits: &limits };
    let mut listing = workbuddy().list(&workbuddy().roots(&machine)[0], &context);
    assert_eq!(listing.sessions.len(), 1);
    let found = workbuddy().describe(&listing.sessions.remove(0), &context).unwrap();
    assert_eq!(found.class, Class::Foreign);
}

// evidence defect 7
#[test]
fn a_session_begins_and_ends_with_its_earliest_and_latest_rows_in_whatever_order_they_stand() {
    let common = session_of(
        r#"{"type":"message","role":"user","timestamp":1788256803000,"content":"b"}
{"type":"message","role":"assistant","timestamp":1788256801000,"content":"a"}
"#,
    );
    let meta = &common.session.meta;
    assert_eq!(meta.started, Timestamp::from_milliseconds(1_788_256_801_000));
    assert_eq!(meta.updated, Timestamp::from_milliseconds(1_788_256_803_000));
}

#[test]
fn odd_rows_are_read_without_harm() {
    let common = session_of(
        r#"{"type":"message"}
{"type":"message","role":"robot","content":"x"}
{"type":"message","role":"user","content":{"a":1}}
{"type":"message","role":"user","content":[null,{"type":"input_image","image_url":"data:image/png;base64,AAAA"}]}
{"type":"function_call"}
{"type":"function_call","name":"x","arguments":"not json","callId":""}
{"type":"function_call_result","callId":"none","output":[{"type":"text","text":5}]}
{"type":"reasoning"}
{"type":"ai-title"}
{"type":"message","role":"assistant","content":"half \ud83d","timestamp":"later","providerData":[]}
"#,
    );
    assert_eq!(common.session.counts().tool_calls, 1);
    assert_eq!(texts(common.session.messages.last().unwrap()), ["half \u{fffd}"]);
    assert!(common.session.messages.iter().any(|m| m.blocks.iter().any(|b| matches!(b, Block::Image(_)))));
}
