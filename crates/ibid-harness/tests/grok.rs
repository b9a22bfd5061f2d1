//! Grok: what is read and found, on the files of the real program and on the examples of documents.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test states what it expects"
)]

mod place;

use std::fs;
use std::path::PathBuf;

use ibid_carrier::jsonl::Limits;
use ibid_harness::grok::Grok;
use ibid_harness::{
    Class, Codec, CodecError, Common, Content, Context, Control, Cursor, Fold, SaveOptions, Store,
    StoreError, Surroundings, Target, TextCodec, Wants,
};
use ibid_model::{
    Block, Essence, FindingKind, Message, Origin, Outcome, Relation, Role, Session, StopReason, Tool,
    ToolResult, ToolUse, essence,
};
use ibid_testkit::Home;
use place::Place;

const MAIN: &str = "01a22dfe-a11c-79f1-9f7e-aa7195bcef31";
const FORK: &str = "01a22dfe-b214-7d51-8199-504ae13ca9b2";
const SUBAGENT: &str = "01a22dfe-ad32-7891-9579-254fba2b3059";
const LONG: &str = "01a22e02-1f64-7340-b322-70ba756ba9d7";

fn fixtures() -> Place<Grok> {
    Place::of(Home::new().with("grok", "1.0.41"))
}

/// A home with one session, by the files of its folder.
fn session(group: &str, files: &[(&str, &str)]) -> Place<Grok> {
    let home = files.iter().fold(Home::new(), |home, (name, content)| {
        home.with_file(&format!(".grok/sessions/{group}/g-1/{name}"), *content)
    });
    Place::of(home)
}

fn said(message: &Message) -> String {
    message.texts().map(|text| text.as_str()).collect::<Vec<_>>().join("|")
}

fn prompts(session: &Session) -> Vec<String> {
    session.messages.iter().filter(|message| message.is_prompt()).map(said).collect()
}

fn calls(session: &Session) -> Vec<&ToolUse> {
    let blocks = session.messages.iter().flat_map(|message| &message.blocks);
    blocks.filter_map(|block| if let Block::ToolUse(call) = block { Some(call) } else { None }).collect()
}

fn results(session: &Session) -> Vec<&ToolResult> {
    let blocks = session.messages.iter().flat_map(|message| &message.blocks);
    blocks
        .filter_map(|block| if let Block::ToolResult(result) = block { Some(result) } else { None })
        .collect()
}

fn kinds(common: &Common) -> Vec<FindingKind> {
    common.findings.iter().map(|finding| finding.kind).collect()
}

fn update(body: &str) -> String {
    format!("{{\"timestamp\":1788256801,\"method\":\"session/update\",\"params\":{{\"update\":{body}}}}}\n")
}

fn chunk(kind: &str, text: &str) -> String {
    update(&format!(r#"{{"sessionUpdate":"{kind}","content":{{"type":"text","text":"{text}"}}}}"#))
}

fn prompt(index: u64, text: &str) -> String {
    update(&format!(
        r#"{{"sessionUpdate":"user_message_chunk","content":{{"type":"text","text":"{text}"}},"_meta":{{"promptIndex":{index}}}}}"#
    ))
}

const SUMMARY: &str = r#"{"info":{"id":"g-1","cwd":"/w/demo"},"created_at":"2026-09-01T10:00:00Z","updated_at":"2026-09-01T10:01:00Z"}"#;

#[test]
fn a_session_of_the_real_program_has_its_prompts_calls_and_results() {
    let common = fixtures().read(FORK);
    let session = &common.session;
    assert_eq!(
        prompts(session),
        [
            "do-tools please: first prompt",
            "do-fail please: second prompt",
            "do-subagent please: third",
            "plain fork prompt"
        ]
    );
    let counts = session.counts();
    assert_eq!((counts.assistant, counts.tool_calls, counts.tool_results), (11, 7, 7));
    let names: Vec<&str> = calls(session).iter().map(|call| call.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "run_terminal_command",
            "write",
            "run_terminal_command",
            "read_file",
            "search_replace",
            "no_such_tool",
            "spawn_subagent"
        ]
    );
    let outcomes: Vec<Outcome> = results(session).iter().map(|result| result.outcome).collect();
    use Outcome::{Error, Ok};
    assert_eq!(outcomes, [Ok, Ok, Error, Error, Ok, Error, Ok]);
    assert_eq!(&*results(session)[0].text(), "exit: 0\nmock-shell-output\n/home/sam/demo\n");
    let Tool::Write(write) = &calls(session)[1].tool else { panic!("a file is written") };
    assert_eq!((&*write.path, &*write.content), ("/home/sam/demo/hello.txt", "hello from mock\n"));
    assert_eq!(common.findings, []);
}

#[test]
fn no_turn_is_taken_from_both_logs() {
    let store = fixtures();
    let both = store.read(FORK).session;
    let folder = store.find(FORK).reference.path.parent().unwrap().to_owned();
    let chat = fs::read(folder.join("chat_history.jsonl")).unwrap();
    let alone = Grok::to_common(&Grok::from_text(&chat).unwrap()).unwrap().session;
    assert_eq!(prompts(&alone), prompts(&both));
    assert_eq!(alone.counts(), both.counts());
    // Only what was shown says how a call ended.
    let said = |session: &Session| {
        let all = essence(session.messages.iter().filter(|message| message.role != Role::System));
        let plain = |said: Essence| match said {
            Essence::Result(call, text, others, _) => Essence::Result(call, text, others, false),
            said => said,
        };
        all.into_iter().map(plain).collect::<Vec<_>>()
    };
    assert_eq!(said(&alone), said(&both));
}

#[test]
fn the_first_times_model_and_directory_of_a_session_are_what_its_records_say() {
    let meta = fixtures().read(MAIN).session.meta;
    assert_eq!(meta.cwd.as_deref(), Some("/home/sam/demo"));
    assert_eq!(meta.model.as_deref(), Some("mock-model"));
    assert_eq!(meta.git_branch.as_deref(), Some("main"));
    assert_eq!(meta.preview.as_deref(), Some("do-tools please: first prompt"));
    assert_eq!(meta.started.unwrap().to_iso_milliseconds(), "2026-11-30T19:46:31.838Z");
    assert!(meta.updated > meta.started);
}

#[test]
fn a_compaction_loses_no_prompt_and_repeats_none() {
    let session = fixtures().read(MAIN).session;
    assert_eq!(
        prompts(&session),
        [
            "do-tools please: first prompt",
            "do-fail please: second prompt",
            "do-subagent please: third",
            "",
            "after compact do-shell"
        ]
    );
    // What the model saw of a result that is no longer sent to it.
    assert_eq!(&*results(&session)[0].text(), "exit: 0\nmock-shell-output\n/home/sam/demo\n");
    assert_eq!(&*results(&session)[1].text(), "The file /home/sam/demo/hello.txt has been created.");
    let command = session.messages.iter().flat_map(|message| &message.blocks).find_map(|block| match block {
        Block::Command(command) => Some(command.name.to_string()),
        _ => None,
    });
    assert_eq!(command.as_deref(), Some("/compact"));
    assert_eq!(session.compactions.len(), 1);
    let compaction = &session.compactions[0];
    assert_eq!(compaction.tokens_before, Some(3353));
    let summary = session.message(compaction.summary.as_ref().unwrap()).unwrap();
    assert_eq!(summary.origin, Origin::Summary);
    assert!(said(summary).contains("MOCK-SUMMARY"));
}

#[test]
fn tokens_are_counted_once_for_each_turn_and_their_parts_do_not_overlap() {
    let session = fixtures().read(MAIN).session;
    let inputs: Vec<_> = session.calls.iter().map(|call| (call.usage.input, call.usage.cache_read)).collect();
    let turn = |calls: u64| (Some(106 * calls), Some(5 * calls));
    assert_eq!(inputs, [turn(3), turn(5), turn(3), turn(2)]);
    assert_eq!(session.own_usage().output, Some(22 * 13));
    let reported = session.reported_usage.unwrap();
    assert_eq!((reported.input, reported.output), (Some(106 * 13), Some(22 * 13)));
}

#[test]
fn a_fork_counts_only_what_it_did_itself() {
    let session = fixtures().read(FORK).session;
    assert_eq!(session.lineage[0].relation, Relation::Forked);
    assert_eq!(*session.parent().unwrap(), MAIN);
    assert_eq!(session.own_usage().output, Some(22));
    let own: Vec<String> =
        session.messages.iter().filter(|m| !m.inherited && m.is_prompt()).map(said).collect();
    assert_eq!(own, ["plain fork prompt"]);
}

#[test]
fn a_subagent_goes_with_its_parent_and_its_task_is_no_prompt() {
    let store = fixtures();
    let limits = Limits::default();
    let context = Context { machine: &store.machine, limits: &limits };
    let children = Grok::children(&store.find(MAIN).reference, &context);
    assert_eq!(children, [store.find(SUBAGENT).reference]);
    assert_eq!(store.describe(&store.find(SUBAGENT)).class, Class::Sidecar);
    let session = store.read(SUBAGENT).session;
    assert_eq!(prompts(&session), [] as [String; 0]);
    assert_eq!(session.messages.iter().filter(|m| m.origin == Origin::Agent).count(), 1);
    // Its parent's turn counts its tokens too.
    assert_eq!((session.calls.len(), session.own_usage().output), (1, None));
}

#[test]
fn a_description_and_a_scan_say_what_a_full_read_says() {
    let store = fixtures();
    let limits = Limits::default();
    let context = Context { machine: &store.machine, limits: &limits };
    for listed in store.listed() {
        let found = store.describe(&listed);
        let transcript = Grok::load(&listed.reference, &context).unwrap();
        let common = Grok::to_common(&transcript).unwrap();
        assert_eq!((&found.id, &found.meta), (&common.session.id, &common.session.meta));
        assert_eq!(
            (found.lineage, found.carriers),
            (common.session.lineage.clone(), common.session.carriers.clone())
        );
        let mut fold = Fold::default();
        let control = Control::default();
        Grok::scan(&listed.reference, &Cursor::Start, Wants::ALL, &control, &mut fold, &context).unwrap();
        assert_eq!(fold.calls(), common.session.calls);
        assert_eq!((fold.meta, fold.messages), (common.session.meta, common.session.messages));
    }
}

#[test]
fn a_long_session_is_described_as_a_full_read_says() {
    let mut lines = prompt(0, "begin");
    for number in 0..400 {
        lines.push_str(&chunk("agent_message_chunk", &"x".repeat(2000)));
        lines.push_str(&update(&format!(
            r#"{{"sessionUpdate":"tool_call","toolCallId":"c{number}","title":"t","rawInput":{{}}}}"#
        )));
        lines.push_str(&update(&format!(
            r#"{{"sessionUpdate":"tool_call_update","toolCallId":"c{number}","status":"completed"}}"#
        )));
        if number % 50 == 0 {
            let meta = r#""_meta":{"promptIndex":1,"modelId":"m-2"}"#;
            lines.push_str(&update(&format!(
                r#"{{"sessionUpdate":"user_message_chunk","content":{{"type":"text","text":"go on"}},{meta}}}"#
            )));
        }
    }
    assert!(lines.len() > 900_000);
    let store = session("%2Fw%2Fdemo", &[("updates.jsonl", &lines), ("summary.json", SUMMARY)]);
    let found = store.describe(&store.find("g-1"));
    let whole = store.read("g-1").session;
    assert_eq!(found.meta, whole.meta);
    assert_eq!(found.class, Class::Session);
}

#[test]
fn every_byte_comes_back_and_reading_leaves_no_trace() {
    let store = fixtures();
    let before = ibid_testkit::Snapshot::of(store.home.path());
    let limits = Limits::default();
    let context = Context { machine: &store.machine, limits: &limits };
    for listed in store.listed() {
        let transcript = Grok::load(&listed.reference, &context).unwrap();
        for carrier in ibid_harness::Carriers::carriers(&transcript.body) {
            let Content::Bytes(bytes) = carrier.content else { panic!("a file") };
            assert_eq!(bytes, fs::read(carrier.info.path.as_str()).unwrap());
        }
        let text = Grok::to_text(&transcript).unwrap();
        let back = Grok::from_text(&text).unwrap();
        assert_eq!(back.id, transcript.id);
        assert_eq!(Grok::to_text(&back).unwrap(), text);
    }
    assert_eq!(ibid_testkit::Snapshot::of(store.home.path()), before);
}

#[test]
fn a_session_is_read_and_not_written() {
    let store = fixtures();
    let limits = Limits::default();
    let context = Context { machine: &store.machine, limits: &limits };
    let transcript = Grok::load(&store.find(MAIN).reference, &context).unwrap();
    let session = Grok::to_common(&transcript).unwrap().session;
    let made = Grok::from_common(&session, &Target::default());
    assert!(matches!(made, Err(CodecError::Inexpressible { .. })));
    let saved = Grok::save(&transcript, &SaveOptions::default(), &context);
    assert!(matches!(saved, Err(StoreError::Unsupported { .. })));
}

#[test]
fn deleting_moves_the_folder_of_the_session_and_not_that_of_its_group() {
    let store = fixtures();
    let limits = Limits::default();
    let context = Context { machine: &store.machine, limits: &limits };
    let plan = Grok::delete(&store.find(LONG).reference, &context).unwrap().plan.to_string();
    assert!(plan.contains(LONG) && !plan.contains(".cwd"), "{plan}");
}

// evidence defect 5
#[test]
fn the_tools_name_is_the_one_of_the_tool_and_not_the_title() {
    let lines = chunk("user_message_chunk", "Fix ")
        + &chunk("user_message_chunk", "tests")
        + &update(
            r#"{"sessionUpdate":"tool_call","toolCallId":"a","title":"Read file","rawInput":{"target_file":"/w/demo/t.rs"},"_meta":{"x.ai/tool":{"name":"read_file"}}}"#,
        )
        + &update(r#"{"sessionUpdate":"tool_call_update","toolCallId":"a","status":"completed"}"#)
        + &update(r#"{"sessionUpdate":"turn_completed","usage":{"inputTokens":7,"outputTokens":2}}"#);
    let session =
        session("%2Fw%2Fdemo", &[("updates.jsonl", &lines), ("summary.json", SUMMARY)]).read("g-1").session;
    assert_eq!(prompts(&session), ["Fix tests"]);
    let [call] = calls(&session)[..] else { panic!("one call") };
    assert_eq!(call.name, "read_file");
    assert!(matches!(&call.tool, Tool::Read(read) if &*read.path == "/w/demo/t.rs"));
    // evidence defect 5: no result status
    assert_eq!(results(&session)[0].outcome, Outcome::Ok);
    assert_eq!((session.own_usage().input, session.own_usage().output), (Some(7), Some(2)));
    assert_eq!(session.meta.started.unwrap().to_iso_milliseconds(), "2026-09-01T10:00:00.000Z");
    assert_eq!(session.meta.updated.unwrap().to_iso_milliseconds(), "2026-09-01T10:01:00.000Z");
}

// evidence defect 5
#[test]
fn a_group_is_found_in_either_spelling_of_its_path() {
    let line = prompt(0, "hello");
    for group in ["%2Fw%2FMy%20App%20(x)!", "%2Fw%2FMy%20App%20%28x%29%21"] {
        let store = session(group, &[("updates.jsonl", &line)]);
        assert!(store.placed("g-1", "/w/My App (x)!"), "{group}");
        assert!(!store.placed("g-1", "/w/My App"), "{group}");
    }
}

// evidence defect 5
#[test]
fn a_path_too_long_for_a_name_is_read_from_the_marker_of_its_group() {
    let store = fixtures();
    let folder = store.find(LONG).reference.path.parent().unwrap().to_owned();
    let cwd = fs::read_to_string(folder.parent().unwrap().join(".cwd")).unwrap();
    assert!(cwd.len() > 255);
    assert_eq!(store.read(LONG).session.meta.cwd.as_deref(), Some(cwd.as_str()));
    assert!(store.placed(LONG, &cwd));
    fs::remove_file(folder.join("summary.json")).unwrap();
    let without = store.read(LONG);
    assert_eq!(without.session.meta.cwd.as_deref(), Some(cwd.as_str()));
    assert!(kinds(&without).contains(&FindingKind::MissingHeader));
}

#[test]
fn the_name_of_the_group_is_the_directory_of_a_session_that_names_none() {
    let store = fixtures();
    let folder = store.find(MAIN).reference.path.parent().unwrap().to_owned();
    fs::remove_file(folder.join("summary.json")).unwrap();
    assert_eq!(store.read(MAIN).session.meta.cwd.as_deref(), Some("/home/sam/demo"));
}

#[test]
fn what_goes_to_the_model_is_a_session_by_itself() {
    let store = fixtures();
    let folder = store.find(MAIN).reference.path.parent().unwrap().to_owned();
    fs::remove_file(folder.join("updates.jsonl")).unwrap();
    let common = store.read(MAIN);
    assert_eq!(prompts(&common.session), ["do-subagent please: third", "after compact do-shell"]);
    assert_eq!(results(&common.session)[0].outcome, Outcome::Ok);
    // The totals of the session are still there, and those of its turns.
    assert_eq!(common.session.own_usage().output, Some(22 * 13));
    assert_eq!(store.describe(&store.find(MAIN)).meta, common.session.meta);
}

#[test]
fn the_size_of_the_context_is_no_tokens_that_were_spent() {
    let signals = r#"{"contextTokensUsed":161,"contextWindowTokens":200000}"#;
    let lines = prompt(0, "hello");
    let store = session("%2Fw%2Fdemo", &[("updates.jsonl", &lines), ("signals.json", signals)]);
    let session = store.read("g-1").session;
    assert!(session.calls.is_empty() && session.reported_usage.is_none());
}

#[test]
fn undone_turns_are_another_branch() {
    let lines = prompt(0, "one")
        + &chunk("agent_message_chunk", "1")
        + &prompt(1, "two")
        + &chunk("agent_message_chunk", "2")
        + &update(
            r#"{"sessionUpdate":"rewind_marker","target_prompt_index":1,"created_at":"2026-09-01T10:00:30Z"}"#,
        )
        + &prompt(1, "another two")
        + &chunk("agent_message_chunk", "3");
    let session = session("%2Fw%2Fdemo", &[("updates.jsonl", &lines)]).read("g-1").session;
    let live: Vec<String> = session.live_path().iter().map(|at| said(&session.messages[*at])).collect();
    assert_eq!(live, ["one", "1", "another two", "3"]);
    assert_eq!(prompts(&session), ["one", "two", "another two"]);
}

#[test]
fn the_news_that_a_subagent_has_ended_is_no_prompt_though_it_has_a_number() {
    let news =
        "<system-reminder>\\nWhile you were idle, 1 background subagent completed\\n</system-reminder>";
    let updates = prompt(0, "one")
        + &chunk("agent_message_chunk", "1")
        + &update(&format!(
            r#"{{"sessionUpdate":"user_message_chunk","content":{{"type":"text","text":"{news}"}},"_meta":{{"promptIndex":1,"hideFromScrollback":true}}}}"#
        ))
        + &chunk("agent_message_chunk", "noted")
        + &prompt(2, "two");
    let chat = format!(
        r#"{{"type":"user","prompt_index":0,"content":[{{"type":"text","text":"<user_query>\none\n</user_query>"}}]}}
{{"type":"assistant","content":"1"}}
{{"type":"user","synthetic_reason":"subagent_completed","prompt_index":1,"content":[{{"type":"text","text":"{news}"}}]}}
{{"type":"assistant","content":"noted"}}
{{"type":"user","prompt_index":2,"content":[{{"type":"text","text":"<user_query>\ntwo\n</user_query>"}}]}}
"#
    );
    let both = [("updates.jsonl", updates.as_str()), ("chat_history.jsonl", chat.as_str())];
    for files in [&both[..], &both[..1], &both[1..]] {
        let session = session("%2Fw%2Fdemo", files).read("g-1").session;
        assert_eq!(prompts(&session), ["one", "two"], "{files:?}");
        let put_in: Vec<&Message> =
            session.messages.iter().filter(|message| message.origin == Origin::Harness).collect();
        assert_eq!(put_in.len(), 1, "{files:?}");
        assert!(said(put_in[0]).contains("While you were idle"), "{files:?}");
    }
}

#[test]
fn a_turn_that_was_stopped_or_failed_says_so() {
    let lines = prompt(0, "one")
        + &chunk("agent_message_chunk", "1")
        + &update(
            r#"{"sessionUpdate":"tool_call","toolCallId":"a","title":"run_terminal_command","rawInput":{"command":"sleep 9"}}"#,
        )
        + &update(r#"{"sessionUpdate":"tool_call_update","toolCallId":"a","status":"cancelled"}"#)
        + &update(r#"{"sessionUpdate":"turn_completed","stop_reason":"cancelled"}"#);
    let session = session("%2Fw%2Fdemo", &[("updates.jsonl", &lines)]).read("g-1").session;
    let answer = session.messages.iter().find(|message| message.role == Role::Assistant).unwrap();
    assert_eq!(answer.stop, Some(StopReason::Aborted));
    assert_eq!(results(&session)[0].outcome, Outcome::Interrupted);
}

#[test]
fn more_records_of_a_call_make_no_second_call() {
    let call = r#"{"sessionUpdate":"tool_call","toolCallId":"a","title":"write"}"#;
    let more = r#"{"sessionUpdate":"tool_call_update","toolCallId":"a","status":"in_progress","rawInput":{"file_path":"a","content":"b"}}"#;
    let end = r#"{"sessionUpdate":"tool_call_update","toolCallId":"a","status":"failed"}"#;
    let lines = prompt(0, "go") + &update(call) + &update(call) + &update(more) + &update(end) + &update(end);
    let session = session("%2Fw%2Fdemo", &[("updates.jsonl", &lines)]).read("g-1").session;
    assert_eq!((calls(&session).len(), results(&session).len()), (1, 1));
    assert!(matches!(&calls(&session)[0].tool, Tool::Write(write) if &*write.path == "a"));
}

#[test]
fn odd_records_hide_nothing_but_themselves() {
    let lines = "{\"x\":1}\n[]\n".to_owned()
        + &update(r#"{"sessionUpdate":"user_message_chunk","content":7}"#)
        + &update(r#"{"sessionUpdate":"tool_call","toolCallId":5,"rawInput":"ls","title":{}}"#)
        + &update(
            r#"{"sessionUpdate":"tool_call_update","toolCallId":"gone","status":"completed","content":[{"type":"diff"},3]}"#,
        )
        + &update(r#"{"sessionUpdate":"hologram"}"#)
        + &update(r#"{"sessionUpdate":"turn_completed","usage":{"inputTokens":-1,"modelUsage":[]}}"#)
        + &prompt(0, r"half \ud800 a pair")
        + "{\"timestamp\":1788256801,\"meth";
    let common = session("%2Fw%2Fdemo", &[("updates.jsonl", &lines), ("summary.json", "[")]).read("g-1");
    assert_eq!(prompts(&common.session), ["half \u{fffd} a pair"]);
    for kind in [
        FindingKind::MalformedRecord,
        FindingKind::NotAnObject,
        FindingKind::UnknownRecord,
        FindingKind::ResultWithoutCall,
        FindingKind::CallWithoutResult,
        FindingKind::LoneSurrogate,
        FindingKind::CutLine,
        FindingKind::NotJson,
    ] {
        assert!(kinds(&common).contains(&kind), "{kind}: {:?}", common.findings);
    }
    assert!(common.session.calls.is_empty());
}

#[test]
fn a_description_without_its_conversation_is_reported() {
    let store = session("%2Fw%2Fdemo", &[("summary.json", SUMMARY)]);
    let found = store.describe(&store.find("g-1"));
    assert_eq!(found.class, Class::Session);
    assert_eq!(found.meta.cwd.as_deref(), Some("/w/demo"));
    assert_eq!(found.findings.len(), 1);
    assert_eq!(found.findings[0].kind, FindingKind::MissingTranscript);
}

#[test]
fn a_log_of_another_program_is_listed_as_foreign() {
    let store = session("%2Fw%2Fdemo", &[("updates.jsonl", "{\"type\":\"session\",\"id\":\"x\"}\n")]);
    assert_eq!(store.describe(&store.find("g-1")).class, Class::Foreign);
}

#[test]
fn the_home_of_the_program_can_be_named() {
    let machine = Surroundings::isolated("/home/u").with_variable("GROK_HOME", "~/elsewhere");
    assert_eq!(Grok::roots(&machine)[0].path, PathBuf::from("/home/u/elsewhere/sessions"));
    let blank = Surroundings::isolated("/home/u").with_variable("GROK_HOME", " ");
    assert_eq!(Grok::roots(&blank)[0].path, PathBuf::from("/home/u/.grok/sessions"));
}

#[test]
fn a_file_is_recognised_by_what_it_holds() {
    let store = fixtures();
    let folder = store.find(FORK).reference.path.parent().unwrap().to_owned();
    for name in ["updates.jsonl", "chat_history.jsonl", "summary.json"] {
        let path = folder.join(name);
        assert!(Grok::recognises(&path, &fs::read(&path).unwrap()) > 80, "{name}");
        assert_eq!(Grok::recognises(&path, b"{\"type\":\"session\"}\n"), 0, "{name}");
    }
}
