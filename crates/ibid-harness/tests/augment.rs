//! Augment: what is read of the sessions of its command line, on files written by hand.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test states what it expects"
)]

mod whole_files;

use ibid_carrier::jsonl::Limits;
use ibid_harness::{AnyHarness, Class, Common, Context, Discovered, Surroundings};
use ibid_model::{
    Block, Data, FindingKind, Message, Origin, Outcome, ResultPart, Role, Text, Timestamp, TokenUse, Tool,
    ToolResult,
};
use ibid_testkit::Home;

const WHOLE: &str = "0a6e0001-5e55-4a11-9b10-000000000001";
const BARE: &str = "0a6e0002-5e55-4a11-9b10-000000000002";

fn augment() -> &'static dyn AnyHarness {
    ibid_harness::find("auggie").unwrap()
}

fn read(id: &str) -> (Discovered, Common) {
    let home = Home::new().with("augment", "hand-written");
    let mut all = whole_files::read_all("augment", &Surroundings::isolated(home.path())).into_iter();
    all.find(|(found, _)| found.id == id).unwrap()
}

fn session_of(document: &str) -> Common {
    let home = Home::new().with_file(".augment/sessions/a.json", document);
    whole_files::read_all("augment", &Surroundings::isolated(home.path())).remove(0).1
}

fn blocks(common: &Common) -> impl Iterator<Item = &Block> {
    common.session.messages.iter().flat_map(|message| &message.blocks)
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
    blocks(common).filter_map(result).collect()
}

#[test]
fn a_document_is_read_as_its_exchanges_say() {
    let (found, common) = read(WHOLE);
    assert_eq!(found.class, Class::Session);
    let counts = common.session.counts();
    assert_eq!((counts.prompts, counts.injected, counts.assistant), (2, 0, 3));
    assert_eq!((counts.tool_calls, counts.tool_results), (3, 3));
    assert_eq!(found.meta.preview.as_deref(), Some("Speed up the parser"));
    assert_eq!(found.meta.model.as_deref(), Some("claude-sonnet-4-5"));
    assert_eq!(found.meta.started, Timestamp::parse("2026-09-01T10:00:00Z"));
    assert_eq!(found.meta.updated, Timestamp::parse("2026-09-01T10:05:00Z"));
}

#[test]
fn the_directory_is_the_folder_of_the_workspace_and_not_the_terminals() {
    let (found, common) = read(WHOLE);
    assert_eq!(found.meta.cwd.as_deref(), Some("/w/demo"));
    assert!(common.session.messages.iter().all(|message| message.cwd.as_deref() != Some("/w/demo/crates")));
}

#[test]
fn without_any_folder_the_directory_is_the_terminals() {
    let (found, common) = read(BARE);
    assert_eq!(found.meta.cwd.as_deref(), Some("/w/other"));
    assert_eq!(texts(&common.session.messages[1]), ["In /w/other."]);
}

#[test]
fn a_session_that_goes_to_another_folder_says_so_on_its_messages() {
    let common = session_of(
        r#"{"chatHistory":[
        {"exchange":{"request_message":"a","request_nodes":[{"type":4,"ide_state_node":{"workspace_folders":[{"folder_root":"/w/one"}]}}]}},
        {"exchange":{"request_message":"b","request_nodes":[{"type":4,"ide_state_node":{"workspace_folders":[{"repository_root":"/w/two"}]}}]}}]}"#,
    );
    let places: Vec<_> = common.session.messages.iter().map(|message| message.cwd.as_deref()).collect();
    assert_eq!(places, [Some("/w/one"), Some("/w/two")]);
    assert_eq!(common.session.meta.cwd.as_deref(), Some("/w/one"));
}

#[test]
fn input_is_read_from_a_text_as_from_an_object() {
    let (_, common) = read(WHOLE);
    let calls: Vec<_> = blocks(&common)
        .filter_map(|block| match block {
            Block::ToolUse(call) => Some(call),
            _ => None,
        })
        .collect();
    let [view, launch, save] = calls[..] else { panic!("three calls") };
    assert!(matches!(&view.tool, Tool::Read(read) if read.path == "src/parser.rs"));
    assert!(matches!(&launch.tool, Tool::Shell(shell) if shell.command == "cargo bench"));
    assert!(matches!(&save.tool, Tool::Write(write) if write.content == "fn main() {}\n"));
    assert_eq!(save.extra[0].name, "add_last_line_newline");
}

#[test]
fn a_result_stands_in_the_exchange_behind_its_call() {
    let (_, common) = read(WHOLE);
    let results = results(&common);
    let outcomes: Vec<_> = results.iter().map(|result| (result.call.as_str(), result.outcome)).collect();
    assert_eq!(outcomes, [("toolu_1", Outcome::Ok), ("toolu_2", Outcome::Error), ("toolu_3", Outcome::Ok)]);
    assert_eq!(results[2].text(), "File saved.");
    assert!(
        matches!(&results[2].content[1], ResultPart::Image(image) if matches!(image.data, Data::Base64(_)))
    );
    let message = &common.session.messages[2];
    assert_eq!((message.role, message.origin), (Role::User, Origin::Tools));
}

#[test]
fn a_result_that_is_repeated_counts_once() {
    let common = session_of(
        r#"{"chatHistory":[
        {"exchange":{"request_message":"a","response_nodes":[{"type":5,"tool_use":{"tool_use_id":"t","tool_name":"view","input_json":"{}"}}]}},
        {"exchange":{"request_nodes":[{"type":1,"tool_result_node":{"tool_use_id":"t","content":"x"}}]}},
        {"exchange":{"request_nodes":[{"type":1,"tool_result_node":{"tool_use_id":"t","content":"x"}}]}}]}"#,
    );
    assert_eq!(results(&common).len(), 1);
    assert_eq!(common.findings[0].kind, FindingKind::RepeatedId);
}

// evidence defect 9
#[test]
fn each_exchange_is_one_call_of_the_model_with_its_tokens() {
    let (_, common) = read(WHOLE);
    let usage: Vec<_> =
        common.session.calls.iter().map(|call| (call.usage.input, call.usage.output)).collect();
    assert_eq!(usage, [(Some(40), Some(21)), (Some(12), Some(30))]);
    let all = common.session.own_usage();
    assert_eq!((all.cache_read, all.cache_write), (Some(1000), Some(200)));
    assert_eq!(common.session.calls[0].message.as_ref().unwrap().as_str(), "exchange-1-answer");
}

#[test]
fn thinking_is_kept_with_what_only_its_provider_can_read() {
    let (_, common) = read(WHOLE);
    let thinking = blocks(&common).find_map(|block| match block {
        Block::Thinking(thinking) => Some(thinking),
        _ => None,
    });
    let thinking = thinking.unwrap();
    assert_eq!(
        (thinking.text.as_str(), thinking.tokens[0].usage),
        ("Look at the loop first.", TokenUse::Encrypted)
    );
}

#[test]
fn the_whole_text_behind_its_pieces_is_not_said_twice() {
    let (_, common) = read(WHOLE);
    let last = common.session.messages.iter().rfind(|message| message.role == Role::Assistant).unwrap();
    assert_eq!(texts(last), ["Done: ", "a benchmark is there."]);
    assert_eq!(common.session.events.len(), 1, "the node of another kind is an event");
}

// evidence defect 7
#[test]
fn times_come_from_nodes_where_the_document_has_none() {
    let common = session_of(
        r#"{"chatHistory":[{"exchange":{"request_message":"a","request_nodes":[{"type":0,"text_node":{"content":"a"},"timestamp_ms":1788256801000}],
        "response_nodes":[{"type":5,"tool_use":{"tool_use_id":"t","tool_name":"view","input_json":{},"started_at_ms":1788256809000}}]}}]}"#,
    );
    let meta = &common.session.meta;
    assert_eq!(meta.started, Timestamp::from_milliseconds(1_788_256_801_000));
    assert_eq!(meta.updated, Timestamp::from_milliseconds(1_788_256_809_000));
}

#[test]
fn the_example_of_the_evidence_host_reads_as_described() {
    let common = session_of(
        r#"{"sessionId":"au-1","created":"2026-09-01T10:00:00Z","modified":"2026-09-01T10:02:00Z","agentState":{"modelId":"m"},"chatHistory":[{"finishedAt":"2026-09-01T10:01:00Z","exchange":{"request_message":"Speed it up","request_nodes":[{"type":4,"ide_state_node":{"workspace_folders":[{"folder_root":"/w/demo","repository_root":"/w/demo"}]}},{"type":0,"text_node":{"content":"Speed it up"}}],"response_nodes":[{"type":0,"content":"OK"},{"type":5,"tool_use":{"tool_use_id":"u1","tool_name":"view","input_json":"{\"path\":\"src/x.rs\"}"}},{"type":10,"token_usage":{"input_tokens":4,"output_tokens":1}}]}}]}"#,
    );
    let session = &common.session;
    assert_eq!((session.id.as_str(), session.meta.cwd.as_deref()), ("au-1", Some("/w/demo")));
    assert_eq!(texts(&session.messages[0]), ["Speed it up"]);
    assert_eq!(session.messages[1].blocks.len(), 2);
    assert_eq!(session.own_usage().input, Some(4));
    assert_eq!(common.findings[0].kind, FindingKind::CallWithoutResult);
}

// evidence defect 11
#[test]
fn only_documents_right_in_the_folder_are_listed_and_the_variable_moves_it() {
    let home = Home::new()
        .with_file("aug/sessions/a.json", "{}")
        .with_file("aug/sessions/a.tmp", "{}")
        .with_file("aug/sessions/deep/b.json", "{}");
    let machine = Surroundings::isolated(home.path()).with_variable("AUGMENT_HOME", "~/aug");
    let limits = Limits::default();
    let context = Context { machine: &machine, limits: &limits };
    let roots = augment().roots(&machine);
    let listing = augment().list(&roots[0], &context);
    assert_eq!((roots.len(), listing.sessions.len()), (1, 1));
}

#[test]
fn what_is_no_session_is_another_programs_and_no_failure() {
    for document in ["{}", "[]", "", "{\"chatHistory\":[", "\u{0}"] {
        let home = Home::new().with_file(".augment/sessions/a.json", document);
        let machine = Surroundings::isolated(home.path());
        let limits = Limits::default();
        let context = Context { machine: &machine, limits: &limits };
        let listed = augment().list(&augment().roots(&machine)[0], &context).sessions.remove(0);
        let found = augment().describe(&listed, &context).unwrap();
        assert_eq!((found.class, found.findings[0].kind), (Class::Foreign, FindingKind::ForeignContent));
    }
    let empty = session_of(r#"{"sessionId":"x","chatHistory":[]}"#);
    assert!(empty.session.messages.is_empty());
}

#[test]
fn odd_values_are_read_without_harm() {
    let common = session_of(
        r#"{"chatHistory":[null,5,{"exchange":7},{"exchange":{"request_message":9,"request_nodes":[null,{"type":"x"}],
        "response_nodes":[{"type":5},{"type":5,"tool_use":{"tool_name":"a","input_json":"not json"}},{"type":0,"content":[]}],"response_text":"half \ud83d"}}]}"#,
    );
    let call = blocks(&common).find_map(|block| match block {
        Block::ToolUse(call) => Some(call),
        _ => None,
    });
    let call = call.unwrap();
    assert_eq!(call.id.as_str(), "augment-a-1");
    assert!(matches!(&call.tool, Tool::Raw(raw) if raw.input.as_str() == r#""not json""#));
    assert_eq!(texts(common.session.messages.last().unwrap()), ["half \u{fffd}"]);
}
