//! Copilot CLI: what is read, found and listed, on the files of the real program.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test states what it expects"
)]

use std::fs;
use std::path::Path;

use ibid_carrier::jsonl::Limits;
use ibid_harness::copilot::Copilot;
use ibid_harness::{
    Class, Codec, CodecError, Common, Content, Context, Control, Cursor, Discovered, Fold, Listing, Store,
    Surroundings, TextCodec, Wants,
};
use ibid_model::{
    Block, FindingKind, Origin, Outcome, Role, Session, StopReason, TitleOrigin, TokenUse, Tool, Usage,
    essence,
};
use ibid_testkit::Home;

const RESUMED: &str = "be0d920b-f8ad-40a7-84e9-bc67319cc996";
const SIGNED: &str = "1bd509d7-d86d-4160-8af6-c301339639ff";

fn home() -> Home {
    Home::new().with("copilot", "1.0.102")
}

fn with_context<T>(machine: &Surroundings, run: impl FnOnce(&Context<'_>) -> T) -> T {
    let limits = Limits::default();
    run(&Context { machine, limits: &limits })
}

fn listing(machine: &Surroundings) -> Listing {
    let root = Copilot::roots(machine).remove(0);
    with_context(machine, |context| Copilot::list(&root, context))
}

fn described(machine: &Surroundings) -> Vec<Discovered> {
    with_context(machine, |context| {
        let describe = |listed| Copilot::describe(listed, context).expect("it can be described");
        listing(machine).sessions.iter().map(describe).collect()
    })
}

fn common(text: &str) -> Common {
    let transcript = Copilot::from_text(text.as_bytes()).expect("it is a session of Copilot CLI");
    let common = Copilot::to_common(&transcript).expect("it is a session of Copilot CLI");
    assert_eq!(common.session.problems(), []);
    common
}

/// A fixture as it is read from its store.
fn read(id: &str) -> Common {
    let home = home();
    let machine = Surroundings::isolated(home.path());
    let listed =
        listing(&machine).sessions.into_iter().find(|l| l.reference.path.to_string_lossy().contains(id));
    with_context(&machine, |context| {
        let transcript = Copilot::load(&listed.expect("it is listed").reference, context).unwrap();
        let common = Copilot::to_common(&transcript).unwrap();
        assert_eq!(common.session.problems(), []);
        common
    })
}

fn calls(session: &Session) -> Vec<(String, Tool)> {
    let blocks = session.messages.iter().flat_map(|message| &message.blocks);
    blocks
        .filter_map(|block| match block {
            Block::ToolUse(call) => Some((call.name.to_string(), call.tool.clone())),
            _ => None,
        })
        .collect()
}

fn outcomes(session: &Session) -> Vec<Outcome> {
    let blocks = session.messages.iter().flat_map(|message| &message.blocks);
    blocks
        .filter_map(|block| match block {
            Block::ToolResult(result) => Some(result.outcome),
            _ => None,
        })
        .collect()
}

fn said(session: &Session, origin: Origin) -> Vec<String> {
    let messages = session.messages.iter().filter(|message| message.origin == origin);
    messages.map(|m| m.texts().map(ToString::to_string).collect::<Vec<_>>().join("|")).collect()
}

fn total(session: &Session) -> Usage {
    session.calls.iter().fold(Usage::default(), |sum, call| sum.plus(&call.usage))
}

#[test]
fn a_session_that_was_resumed_is_one_session_with_both_prompts() {
    let session = read(RESUMED).session;
    assert_eq!(session.id, RESUMED);
    assert_eq!(
        said(&session, Origin::Person),
        ["do-tools please: first prompt", "do-every please: second prompt"]
    );
    let counts = session.counts();
    assert_eq!((counts.prompts, counts.injected, counts.assistant), (2, 1, 17));
    let meta = &session.meta;
    assert_eq!(meta.cwd, Some("/home/dev/demo".into()));
    assert_eq!(meta.model, Some("gpt-4.1".into()));
    assert_eq!(meta.git_branch, Some("main".into()));
    assert_eq!(meta.version, Some("1.0.102".into()));
    assert_eq!(meta.originator, Some("copilot-agent".into()));
    assert_eq!(meta.title.as_ref().map(|title| title.origin), Some(TitleOrigin::Generated));
    assert_eq!(meta.preview, Some("do-tools please: first prompt".into()));
    assert_eq!(meta.started.unwrap().to_iso_milliseconds(), "2026-11-30T19:45:04.137Z");
    assert_eq!(meta.updated.unwrap().to_iso_milliseconds(), "2026-11-30T19:45:55.763Z");
    assert!(session.messages.iter().all(|message| message.cwd == Some("/home/dev/demo".into())));
}

// evidence defect 6: the original made a second call of every progress and completion event.
#[test]
fn the_request_the_beginning_and_the_end_of_a_tool_are_one_call() {
    let session = read(RESUMED).session;
    let names: Vec<String> = calls(&session).into_iter().map(|(name, _)| name).collect();
    assert_eq!(
        names,
        [
            "bash",
            "create",
            "bash",
            "view",
            "view",
            "create",
            "edit",
            "edit",
            "grep",
            "glob",
            "task",
            "bash",
            "glob",
            "no_such_tool"
        ]
    );
    let counts = session.counts();
    assert_eq!((counts.tool_calls, counts.tool_results), (14, 14));
}

#[test]
fn tools_have_their_common_forms_with_all_arguments() {
    let session = read(RESUMED).session;
    let kinds: Vec<&str> = calls(&session).iter().map(|(_, tool)| tool.kind()).collect();
    assert_eq!(
        kinds,
        [
            "shell", "write", "shell", "read", "read", "write", "edit", "edit", "search", "find", "task",
            "shell", "find", "raw"
        ]
    );
    let calls = calls(&session);
    assert!(matches!(&calls[4].1, Tool::Read(read) if read.offset == Some(1) && read.limit == Some(1)));
    assert!(matches!(&calls[6].1, Tool::Edit(edit) if edit.edits[0].new == "three"));
}

#[test]
fn a_command_with_an_exit_code_has_failed_though_the_tool_has_not() {
    use Outcome::{Error, Ok};
    let outcomes = outcomes(&read(RESUMED).session);
    // The command that exits with 3, the file that is missing, the text that is absent, the tool that
    // does not exist.
    assert_eq!(outcomes, [Ok, Ok, Error, Error, Ok, Ok, Ok, Error, Ok, Ok, Ok, Ok, Ok, Error]);
}

#[test]
fn a_subagent_is_a_conversation_beside_the_main_one_that_hangs_from_its_call() {
    let session = read(RESUMED).session;
    let beside: Vec<_> = session.messages.iter().filter(|message| message.sidechain).collect();
    let roles: Vec<Role> = beside.iter().map(|message| message.role).collect();
    assert_eq!(roles, [Role::User, Role::System, Role::Assistant, Role::User, Role::Assistant]);
    assert_eq!(beside[0].origin, Origin::Agent);
    let caller = session.message(beside[0].parent.as_ref().unwrap()).unwrap();
    assert!(caller.blocks.iter().any(|block| matches!(block, Block::ToolUse(call) if call.name == "task")));
    let live = session.live_path();
    assert!(live.iter().all(|at| !session.messages[*at].sidechain));
    assert_eq!(live.len(), session.messages.len() - beside.len());
}

#[test]
fn every_call_of_a_model_counts_once_though_receipts_and_sums_both_tell_of_it() {
    let session = read(RESUMED).session;
    assert_eq!(session.calls.len(), 17);
    // The sums of the last session.shutdown: 1887 of input, 85 of them from the cache.
    let sum = total(&session);
    assert_eq!((sum.input, sum.cache_read, sum.output), (Some(1802), Some(85), Some(374)));
    let reported = session.reported_usage.unwrap();
    assert_eq!((reported.input, reported.cache_read, reported.output), (Some(1802), Some(85), Some(374)));
    assert!(session.calls.iter().all(|call| call.message.is_some() && call.api_id.is_some()));
}

#[test]
fn input_is_without_what_the_cache_gave_and_took() {
    let session = read(SIGNED).session;
    // The provider said 111 of input, 5 read from the cache and 7 written; Copilot wrote 123, 5 and 7.
    let usage = session.calls[0].usage;
    assert_eq!((usage.input, usage.cache_read, usage.cache_write), (Some(111), Some(5), Some(7)));
}

#[test]
fn thoughts_keep_the_signature_of_their_provider() {
    let session = read(SIGNED).session;
    let thought = session.messages.iter().flat_map(|message| &message.blocks).find_map(|block| match block {
        Block::Thinking(thinking) => Some(thinking),
        _ => None,
    });
    let token = &thought.unwrap().tokens[0];
    assert_eq!((token.usage, token.provider.as_deref()), (TokenUse::Signature, Some("anthropic")));
    assert_eq!(token.value, "bW9jay1zaWduYXR1cmU=");
}

#[test]
fn why_an_answer_ended_is_told_by_its_receipt() {
    let session = read(SIGNED).session;
    let stops: Vec<_> = session.messages.iter().filter_map(|message| message.stop.clone()).collect();
    assert_eq!(stops, [StopReason::ToolUse, StopReason::EndTurn]);
}

#[test]
fn the_files_come_back_byte_for_byte() {
    let home = home();
    let machine = Surroundings::isolated(home.path());
    for listed in listing(&machine).sessions {
        let transcript = with_context(&machine, |context| Copilot::load(&listed.reference, context).unwrap());
        let again = Copilot::from_text(&Copilot::to_text(&transcript).unwrap()).unwrap();
        assert_eq!(again.id, transcript.id);
        let before = ibid_harness::Carriers::carriers(&transcript.body);
        let after = ibid_harness::Carriers::carriers(&again.body);
        assert_eq!(before.len(), 2);
        for (before, after) in before.iter().zip(&after) {
            let (Content::Bytes(before_bytes), Content::Bytes(after_bytes)) = (before.content, after.content)
            else {
                panic!("files are bytes")
            };
            assert_eq!(fs::read(before.info.path.as_str()).unwrap(), before_bytes);
            assert_eq!(before_bytes, after_bytes);
        }
    }
}

#[test]
fn a_list_says_what_a_whole_reading_says() {
    let home = home();
    let machine = Surroundings::isolated(home.path());
    let found = described(&machine);
    assert_eq!(found.len(), 2);
    for found in found {
        let session = with_context(&machine, |context| {
            let transcript = Copilot::load(&found.reference, context).unwrap();
            Copilot::to_common(&transcript).unwrap().session
        });
        assert_eq!(found.class, Class::Session);
        assert_eq!((&found.id, &found.meta), (&session.id, &session.meta));
        assert_eq!(found.carriers, session.carriers);
        assert!(found.findings.is_empty(), "{:?}", found.findings);
    }
}

#[test]
fn a_stream_says_what_a_whole_reading_says() {
    let home = home();
    let machine = Surroundings::isolated(home.path());
    with_context(&machine, |context| {
        for listed in listing(&machine).sessions {
            let session =
                Copilot::to_common(&Copilot::load(&listed.reference, context).unwrap()).unwrap().session;
            let mut fold = Fold::default();
            let control = Control::default();
            let start = Cursor::Start;
            let cursor =
                Copilot::scan(&listed.reference, &start, Wants::ALL, &control, &mut fold, context).unwrap();
            assert_eq!(fold.meta, session.meta);
            assert_eq!(fold.calls(), session.calls);
            let plain = |messages: &[ibid_model::Message]| essence(messages);
            assert_eq!(format!("{:?}", plain(&fold.messages)), format!("{:?}", plain(&session.messages)));
            let mut again = Fold::default();
            Copilot::scan(&listed.reference, &cursor, Wants::ALL, &control, &mut again, context).unwrap();
            assert!(again.messages.is_empty());
        }
    });
}

#[test]
fn reading_leaves_no_trace() {
    let home = home();
    let machine = Surroundings::isolated(home.path());
    let before = home.snapshot();
    drop(described(&machine));
    home.snapshot().assert_same_as(&before);
}

#[test]
fn the_home_of_the_program_can_be_elsewhere() {
    let machine = Surroundings::isolated("/home/dev");
    assert_eq!(Copilot::roots(&machine)[0].path, Path::new("/home/dev/.copilot/session-state"));
    let machine = machine.with_variable("COPILOT_HOME", "~/elsewhere");
    assert_eq!(Copilot::roots(&machine)[0].path, Path::new("/home/dev/elsewhere/session-state"));
    let machine = machine.with_variable("COPILOT_HOME", "  ");
    assert_eq!(Copilot::roots(&machine)[0].path, Path::new("/home/dev/.copilot/session-state"));
}

#[test]
fn a_session_needs_no_workspace_file() {
    let home = Home::new().with_file(".copilot/session-state/cp-1/events.jsonl", EXAMPLE);
    let found = described(&Surroundings::isolated(home.path()));
    assert_eq!((found.len(), found[0].class), (1, Class::Session));
    assert_eq!(found[0].meta.cwd, Some("/w/demo".into()));
}

#[test]
fn the_workspace_file_says_what_the_events_do_not() {
    let start = r#"{"type":"session.start","data":{},"id":"e1","parentId":null}"#;
    let home =
        Home::new().with_file(".copilot/session-state/cp-2/events.jsonl", format!("{start}\n")).with_file(
            ".copilot/session-state/cp-2/workspace.yaml",
            "id: cp-2\ncwd: /w/demo\nname: Mine\nuser_named: true\ncreated_at: 2026-09-01T10:00:00Z\n",
        );
    let found = described(&Surroundings::isolated(home.path())).remove(0);
    assert_eq!(found.id, "cp-2");
    assert_eq!(found.meta.cwd, Some("/w/demo".into()));
    let title = found.meta.title.unwrap();
    assert_eq!((title.text.as_str(), title.origin), ("Mine", TitleOrigin::Person));
    assert_eq!(found.meta.started.unwrap().to_iso_milliseconds(), "2026-09-01T10:00:00.000Z");
    // Neither the events nor the notes say when it was last written, and the file does.
    assert!(found.meta.updated.is_some());
}

// evidence defect 9: a session that could not be read was silently none.
#[test]
fn a_directory_without_events_is_listed_and_reported() {
    let home = Home::new()
        .with_file(".copilot/session-state/cp-3/workspace.yaml", "id: cp-3\ncwd: /w/demo\n")
        .with_file(".copilot/session-state/cp-4/checkpoints/index.md", "# none\n")
        .with_file(".copilot/session-state/.session-operation-locks/cp-3.lock", "");
    let machine = Surroundings::isolated(home.path());
    let found = described(&machine);
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].class, found[0].id.as_str()), (Class::Partial, "cp-3"));
    assert_eq!(found[0].meta.cwd, Some("/w/demo".into()));
    assert!(found[0].findings.iter().any(|finding| finding.kind == FindingKind::MissingTranscript));
    let findings = listing(&machine).findings;
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert!(findings[0].path.as_ref().unwrap().ends_with("cp-4"));
}

#[test]
fn deleting_takes_the_directory_of_the_session() {
    let home = home();
    let machine = Surroundings::isolated(home.path());
    with_context(&machine, |context| {
        let listed = listing(&machine).sessions.remove(0);
        let deleting = Copilot::delete(&listed.reference, context).unwrap();
        let plan = format!("{:?}", deleting.plan);
        assert!(plan.contains("TrashDirectory") && plan.contains(SIGNED), "{plan}");
    });
}

const EXAMPLE: &str = r#"{"type":"session.start","timestamp":"2026-09-01T10:00:00Z","data":{"sessionId":"cp-1","context":{"cwd":"/w/demo"}}}
{"type":"user.message","timestamp":"2026-09-01T10:00:01Z","data":{"content":"Bump deps"}}
{"type":"tool.execution_start","timestamp":"2026-09-01T10:00:02Z","data":{"toolCallId":"t1","toolName":"view","arguments":{"path":"/w/demo/Cargo.toml"}}}
{"type":"tool.execution_complete","timestamp":"2026-09-01T10:00:03Z","data":{"toolCallId":"t1","success":true,"result":{"content":"…"}}}
{"type":"assistant.message","timestamp":"2026-09-01T10:00:04Z","data":{"messageId":"m1","content":"Bumped.","outputTokens":4,"model":"g"}}
"#;

#[test]
fn events_without_ids_are_read_in_the_order_of_the_file() {
    let session = common(EXAMPLE).session;
    assert_eq!(session.id, "cp-1");
    let counts = session.counts();
    assert_eq!((counts.prompts, counts.tool_calls, counts.tool_results), (1, 1, 1));
    assert_eq!(total(&session), Usage { output: Some(4), ..Usage::default() });
    assert_eq!(session.live_path().len(), session.messages.len());
}

#[test]
fn sums_add_what_no_answer_told_and_nothing_twice() {
    let sums = r#"{"type":"session.shutdown","data":{"sessionStartTime":1,"modelMetrics":{"g":{"usage":{"inputTokens":100,"outputTokens":6,"cacheReadTokens":40,"cacheWriteTokens":0}}}}}"#;
    let session = common(&format!("{EXAMPLE}{sums}\n")).session;
    let sum = total(&session);
    assert_eq!((sum.input, sum.output, sum.cache_read), (Some(60), Some(6), Some(40)));
    // The same run again, after a resume: its sums hold the earlier ones.
    let session = common(&format!("{EXAMPLE}{sums}\n{sums}\n")).session;
    assert_eq!(total(&session), sum);
    // A run that began at another time has sums of its own.
    let other = sums.replace("\"sessionStartTime\":1", "\"sessionStartTime\":2");
    let session = common(&format!("{EXAMPLE}{sums}\n{other}\n")).session;
    assert_eq!(total(&session).input, Some(120));
}

#[test]
fn a_receipt_that_is_written_twice_counts_once_and_one_id_for_all_calls_is_no_call() {
    let receipt = |sequence: u64, id: &str| {
        format!(
            r#"{{"type":"session.usage_record","data":{{"usage":{{"model":"g","inputTokens":10,"outputTokens":1,"apiCallId":"{id}","accounting":{{"sourceSessionId":"s","sequence":{sequence}}}}}}}}}"#
        )
    };
    let text = format!("{EXAMPLE}{}\n{}\n{}\n", receipt(1, "a"), receipt(1, "a"), receipt(2, "a"));
    let session = common(&text).session;
    assert_eq!(session.calls.len(), 2);
    assert_eq!(total(&session).input, Some(20));
}

#[test]
fn what_others_than_a_person_send_is_no_prompt() {
    let prompt = |more: &str| format!(r#"{{"type":"user.message","data":{{"content":"x"{more}}}}}"#);
    let text = [
        prompt(""),
        prompt(r#","source":"skill-pdf""#),
        prompt(r#","isAutopilotContinuation":true"#),
        prompt(r#","source":"agent-1""#),
        r#"{"type":"system.notification","data":{"content":"<system_notification>done</system_notification>"}}"#
            .to_owned(),
    ]
    .join("\n");
    let session = common(&text).session;
    let origins: Vec<Origin> = session.messages.iter().map(|message| message.origin).collect();
    assert_eq!(origins, [Origin::Person, Origin::Harness, Origin::Harness, Origin::Agent, Origin::Harness]);
    assert_eq!(session.counts().prompts, 1);
}

#[test]
fn a_compaction_keeps_the_history_and_says_what_replaced_it() {
    let compaction = r#"{"type":"session.compaction_complete","timestamp":"2026-09-01T10:00:05Z","data":{"success":true,"trigger":"manual","preCompactionTokens":900,"summaryContent":"We bumped.","compactionTokensUsed":{"inputTokens":90,"outputTokens":9,"model":"g"}}}"#;
    let failed = r#"{"type":"session.compaction_complete","data":{"success":false,"error":"too short"}}"#;
    let session = common(&format!("{EXAMPLE}{compaction}\n{failed}\n")).session;
    assert_eq!(session.compactions.len(), 1);
    let compaction = &session.compactions[0];
    assert_eq!(compaction.text, Some("We bumped.".into()));
    assert_eq!((compaction.trigger.as_deref(), compaction.tokens_before), (Some("manual"), Some(900)));
    assert_eq!(compaction.after.as_ref(), session.messages.last().map(|message| &message.id));
    assert_eq!(total(&session).output, Some(13));
}

#[test]
fn the_pieces_of_one_response_are_one_message() {
    let piece = |id: &str, api: &str, at: u64| {
        format!(
            r#"{{"type":"assistant.message","data":{{"messageId":"{id}","apiCallId":"{api}","chunkIndex":{at},"content":"{id}"}}}}"#
        )
    };
    let text =
        format!("{EXAMPLE}{}\n{}\n{}\n", piece("a", "r1", 0), piece("b", "r1", 1), piece("c", "r2", 0));
    let session = common(&text).session;
    // The first holds the call that no answer of the example asks for.
    assert_eq!(said(&session, Origin::Model), ["", "Bumped.", "a|b", "c"]);
}

#[test]
fn a_session_that_goes_on_in_another_directory_says_so_from_there_on() {
    let moved = r#"{"type":"session.context_changed","data":{"cwd":"/w/other"}}"#;
    let prompt = r#"{"type":"user.message","data":{"content":"here"}}"#;
    let session = common(&format!("{EXAMPLE}{moved}\n{prompt}\n")).session;
    assert_eq!(session.meta.cwd, Some("/w/demo".into()));
    assert_eq!(session.messages.last().unwrap().cwd, Some("/w/other".into()));
}

#[test]
fn arguments_that_are_a_string_with_an_object_are_that_object() {
    let answer = r#"{"type":"assistant.message","data":{"content":"","toolRequests":[{"toolCallId":"c","name":"shell","arguments":"{\"command\":\"ls\"}"}]}}"#;
    let session = common(&format!("{EXAMPLE}{answer}\n")).session;
    assert!(matches!(&calls(&session)[1].1, Tool::Shell(shell) if shell.command == "ls"));
}

#[test]
fn a_call_of_a_server_is_known_by_what_its_beginning_says() {
    let answer = r#"{"type":"assistant.message","data":{"content":"","toolRequests":[{"toolCallId":"c","name":"srv-find","arguments":{"q":1}}]}}"#;
    let begun = r#"{"type":"tool.execution_start","data":{"toolCallId":"c","toolName":"srv-find","mcpServerName":"srv","mcpToolName":"find","arguments":{"q":1}}}"#;
    let session = common(&format!("{EXAMPLE}{answer}\n{begun}\n")).session;
    assert_eq!(calls(&session).len(), 2);
    assert!(matches!(&calls(&session)[1].1, Tool::Mcp(mcp) if mcp.server == "srv" && mcp.tool == "find"));
}

#[test]
fn a_torn_line_is_reported_and_the_rest_is_read() {
    let torn = format!("{EXAMPLE}{{\"type\":\"user.message\",\"data\":{{\"content\":\"cut");
    let common = common(&torn);
    assert_eq!(common.session.counts().prompts, 1);
    assert!(common.findings.iter().any(|finding| finding.kind == FindingKind::CutLine));
}

#[test]
fn a_log_whose_beginning_is_gone_is_partial() {
    let tail: String = EXAMPLE.lines().skip(1).map(|line| format!("{line}\n")).collect();
    let home = Home::new().with_file(".copilot/session-state/cp-5/events.jsonl", tail);
    let found = described(&Surroundings::isolated(home.path())).remove(0);
    assert_eq!((found.class, found.id.as_str()), (Class::Partial, "cp-5"));
}

#[test]
fn the_chat_of_the_editor_is_no_session_of_the_program() {
    let chat = EXAMPLE.replace("\"sessionId\"", "\"producer\":\"GitHub.copilot-chat\",\"sessionId\"");
    let home = Home::new().with_file(".copilot/session-state/cp-6/events.jsonl", chat);
    assert_eq!(described(&Surroundings::isolated(home.path()))[0].class, Class::Foreign);
}

#[test]
fn a_long_log_is_listed_as_a_whole_reading_says_though_only_its_ends_are_read() {
    let line = |n: usize| {
        format!(
            r#"{{"type":"assistant.message","timestamp":"2026-09-01T11:00:00Z","data":{{"messageId":"n{n}","model":"m","content":"{}"}}}}"#,
            "x".repeat(1000)
        )
    };
    let title = r#"{"type":"session.title_changed","data":{"title":"Long"}}"#;
    let half: Vec<String> = (0..600).map(line).collect();
    let rest: Vec<String> = (600..1200).map(line).collect();
    let text = format!("{EXAMPLE}{}\n{title}\n{}\n", half.join("\n"), rest.join("\n"));
    let home = Home::new().with_file(".copilot/session-state/cp-7/events.jsonl", text);
    let machine = Surroundings::isolated(home.path());
    let found = described(&machine).remove(0);
    let session = with_context(&machine, |context| {
        Copilot::to_common(&Copilot::load(&found.reference, context).unwrap()).unwrap().session
    });
    assert_eq!((&found.id, &found.meta), (&session.id, &session.meta));
    assert_eq!(found.class, Class::Session);
    assert_eq!(found.meta.title.unwrap().text, "Long");
}

#[test]
fn lines_of_another_shape_are_foreign() {
    let error = Copilot::from_text(b"{\"type\":\"user.message\",\"prompt\":\"x\"}\n").unwrap_err();
    assert!(matches!(error, CodecError::Foreign { .. }));
}

#[test]
fn hostile_events_do_no_harm() {
    for text in [
        r#"{"type":"assistant.message","data":{"messageId":1,"toolRequests":[1,{"toolCallId":{}}],"reasoningBlocks":[]}}"#,
        r#"{"type":"session.shutdown","data":{"modelMetrics":{"a":1,"b":{"usage":[]}},"tokenDetails":[]}}"#,
        r#"{"type":"tool.execution_complete","data":{"success":"yes","result":"text"}}"#,
        r#"{"type":"session.usage_record","data":{"usage":{"inputTokens":1,"cacheReadTokens":99}}}"#,
        r#"{"type":"user.message","agentId":"a","data":{"attachments":["x",{"type":"blob"},7]}}"#,
        r#"{"type":"","data":{}}"#,
    ] {
        let common = common(&format!("{EXAMPLE}{text}\n{text}\n"));
        assert!(total(&common.session).input.is_none_or(|input| input == 0));
    }
}
