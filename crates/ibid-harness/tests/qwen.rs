//! Qwen Code: what is read, found and listed, on the files of the real program.

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
use ibid_harness::qwen::Qwen;
use ibid_harness::{
    Carriers, Class, Codec, CodecError, Common, Content, Context, Control, Cursor, Discovered, Fold, Listing,
    Store, Surroundings, TextCodec, Wants,
};
use ibid_model::{
    Block, EventKind, FindingKind, Origin, Outcome, Relation, ResultPart, Selection, Session, TitleOrigin,
    Tool, Usage, essence,
};
use ibid_testkit::Home;

const RESUMED: &str = "e6c75b74-1606-4a68-93cf-b0c08067694b";
const WITH_FILE: &str = "a31a21e9-1509-42e1-bfc8-df70c7c3e865";
const OLD: &str = "c04b93fb-20c5-41ec-9bb1-80e202d53e41";

fn with_context<T>(machine: &Surroundings, run: impl FnOnce(&Context<'_>) -> T) -> T {
    let limits = Limits::default();
    run(&Context { machine, limits: &limits })
}

fn listing(machine: &Surroundings) -> Listing {
    let root = Qwen::roots(machine).remove(0);
    with_context(machine, |context| Qwen::list(&root, context))
}

fn described(machine: &Surroundings) -> Vec<Discovered> {
    with_context(machine, |context| {
        let describe = |listed| Qwen::describe(listed, context).expect("it can be described");
        listing(machine).sessions.iter().map(describe).collect()
    })
}

fn common(text: &str) -> Common {
    let transcript = Qwen::from_text(text.as_bytes()).expect("it is a session of Qwen Code");
    let common = Qwen::to_common(&transcript).expect("it is a session of Qwen Code");
    assert_eq!(common.session.problems(), []);
    common
}

/// A fixture as it is read from its store.
fn read(version: &str, id: &str) -> Common {
    let home = Home::new().with("qwen", version);
    let machine = Surroundings::isolated(home.path());
    with_context(&machine, |context| {
        let all = listing(&machine).sessions;
        let transcripts = all.iter().map(|listed| Qwen::load(&listed.reference, context).unwrap());
        let transcript = transcripts.into_iter().find(|transcript| transcript.id == id).expect("it is there");
        let common = Qwen::to_common(&transcript).unwrap();
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

fn live(session: &Session) -> Vec<String> {
    let view = session.view(&Selection::default());
    view.messages.iter().map(|m| m.texts().map(ToString::to_string).collect::<Vec<_>>().join("|")).collect()
}

fn total(session: &Session) -> Usage {
    session.calls.iter().fold(Usage::default(), |sum, call| sum.plus(&call.usage))
}

#[test]
fn a_session_that_was_resumed_is_one_session_with_all_prompts() {
    let session = read("0.24.4", RESUMED).session;
    assert_eq!(
        said(&session, Origin::Person),
        ["do-tools please: first prompt", "do-every please: second prompt", "after the compression"]
    );
    let counts = session.counts();
    assert_eq!((counts.prompts, counts.injected, counts.assistant), (3, 1, 18));
    assert_eq!((counts.tool_calls, counts.tool_results), (14, 14));
    assert_eq!(session.live_path().len(), session.messages.len());
    let meta = &session.meta;
    assert_eq!(meta.cwd, Some("/home/dev/demo".into()));
    assert_eq!(meta.model, Some("mock-model".into()));
    assert_eq!(meta.git_branch, Some("main".into()));
    assert_eq!(meta.version, Some("0.24.4".into()));
    assert_eq!(meta.preview, Some("do-tools please: first prompt".into()));
    assert_eq!(meta.started.unwrap().to_iso_milliseconds(), "2026-11-30T19:45:25.703Z");
    assert!(session.messages.iter().all(|message| message.cwd == Some("/home/dev/demo".into())));
}

#[test]
fn tools_have_their_common_forms_in_both_versions() {
    let kinds = |version, id| -> Vec<&'static str> {
        calls(&read(version, id).session).iter().map(|(_, tool)| tool.kind()).collect()
    };
    assert_eq!(
        kinds("0.24.4", RESUMED),
        [
            "shell", "write", "find", "shell", "read", "read", "write", "edit", "edit", "search", "find",
            "task", "raw", "shell"
        ]
    );
    assert_eq!(
        kinds("0.15.10", OLD),
        [
            "shell", "write", "find", "shell", "read", "read", "write", "edit", "edit", "search", "find",
            "list", "raw", "task", "raw"
        ]
    );
}

#[test]
fn a_command_that_exits_with_another_code_than_zero_has_failed_in_both_versions() {
    use Outcome::{Error, Ok};
    assert_eq!(
        outcomes(&read("0.24.4", RESUMED).session),
        [Ok, Ok, Ok, Error, Error, Ok, Ok, Ok, Error, Ok, Ok, Ok, Error, Ok]
    );
    // 0.15.10 notes the command as done; its answer says that it exited with 3.
    assert_eq!(
        outcomes(&read("0.15.10", OLD).session),
        [Ok, Ok, Ok, Error, Error, Ok, Ok, Ok, Error, Ok, Ok, Ok, Ok, Ok, Error]
    );
}

#[test]
fn what_the_harness_adds_to_a_prompt_is_no_part_of_it_and_is_kept() {
    let session = read("0.24.4", RESUMED).session;
    let added = session.events.iter().filter(|event| event.kind == EventKind::Attachment);
    let texts: Vec<&str> = added.filter_map(|event| event.text.as_deref()).collect();
    assert_eq!(texts.len(), 1);
    assert!(texts[0].starts_with("<system-reminder>"));
    let session = read("0.24.4", WITH_FILE).session;
    assert_eq!(said(&session, Origin::Person), ["look at @README.md please"]);
    let added = session.events.iter().filter(|event| event.kind == EventKind::Attachment);
    let texts: Vec<&str> = added.filter_map(|event| event.text.as_deref()).collect();
    assert!(texts.iter().any(|text| text.contains("# ws")), "{texts:?}");
}

#[test]
fn every_call_of_a_model_counts_once_those_beside_the_conversation_too() {
    let session = read("0.24.4", RESUMED).session;
    // 18 answers, two attempts at a compression, and one of the program's helpers; the two of the
    // subagent are in its own transcript.
    assert_eq!(session.calls.len(), 21);
    assert_eq!(session.calls.iter().filter(|call| call.message.is_none()).count(), 3);
    let sum = total(&session);
    assert_eq!((sum.input, sum.cache_read, sum.output), (Some(21 * 106), Some(21 * 5), Some(21 * 22)));
    // Before subagents had transcripts, their calls are told nowhere else: 17 answers and these two.
    assert_eq!(read("0.15.10", OLD).session.calls.len(), 19);
}

#[test]
fn a_subagent_is_a_session_that_names_what_started_it() {
    let id = format!("{RESUMED}/general-purpose-call_6e41f75b6f8e4cc9b3d40d20");
    let session = read("0.24.4", &id).session;
    let lineage = &session.lineage[0];
    assert_eq!((lineage.relation, lineage.parent.as_ref().unwrap().as_str()), (Relation::Spawned, RESUMED));
    assert_eq!(lineage.call.as_ref().unwrap().as_str(), "call_6e41f75b6f8e4cc9b3d40d20");
    assert_eq!(lineage.agent_kind, Some("general-purpose".into()));
    assert_eq!(said(&session, Origin::Agent), ["do-shell subagent-ping"]);
    assert_eq!((session.calls.len(), session.counts().tool_calls), (2, 1));
    assert_eq!(session.meta.title.unwrap().text, "mini task");
    let home = Home::new().with("qwen", "0.24.4");
    let machine = Surroundings::isolated(home.path());
    with_context(&machine, |context| {
        let all = listing(&machine).sessions;
        let parent =
            all.iter().find(|listed| listed.reference.path.ends_with(format!("{RESUMED}.jsonl"))).unwrap();
        let children = Qwen::children(&parent.reference, context);
        assert_eq!(children.len(), 1);
        assert!(all.iter().any(|listed| listed.reference == children[0]));
    });
}

#[test]
fn the_files_come_back_byte_for_byte() {
    for version in ["0.24.4", "0.15.10"] {
        let home = Home::new().with("qwen", version);
        let machine = Surroundings::isolated(home.path());
        for listed in listing(&machine).sessions {
            let transcript =
                with_context(&machine, |context| Qwen::load(&listed.reference, context).unwrap());
            let again = Qwen::from_text(&Qwen::to_text(&transcript).unwrap()).unwrap();
            assert_eq!(again.id, transcript.id);
            let (before, after) = (transcript.body.carriers(), again.body.carriers());
            assert_eq!(before.len(), after.len());
            for (before, after) in before.iter().zip(&after) {
                let (Content::Bytes(old), Content::Bytes(new)) = (before.content, after.content) else {
                    panic!("files are bytes")
                };
                assert_eq!(fs::read(before.info.path.as_str()).unwrap(), old);
                assert_eq!(old, new);
            }
        }
    }
}

#[test]
fn a_list_and_a_stream_say_what_a_whole_reading_says_and_leave_no_trace() {
    for version in ["0.24.4", "0.15.10"] {
        let home = Home::new().with("qwen", version);
        let machine = Surroundings::isolated(home.path());
        let before = home.snapshot();
        for found in described(&machine) {
            with_context(&machine, |context| {
                let session =
                    Qwen::to_common(&Qwen::load(&found.reference, context).unwrap()).unwrap().session;
                assert_eq!((&found.id, &found.meta), (&session.id, &session.meta));
                assert_eq!(found.carriers, session.carriers);
                assert_eq!(found.lineage, session.lineage);
                let of_agent = found.id.as_str().contains('/');
                assert_eq!(found.class, if of_agent { Class::Sidecar } else { Class::Session });
                let mut fold = Fold::default();
                let (start, control) = (Cursor::Start, Control::default());
                Qwen::scan(&found.reference, &start, Wants::ALL, &control, &mut fold, context).unwrap();
                assert_eq!((&fold.meta, fold.calls()), (&session.meta, session.calls.clone()));
                assert_eq!(essence(&fold.messages), essence(&session.messages));
                assert_eq!(fold.head, session.head);
            });
        }
        home.snapshot().assert_same_as(&before);
    }
}

#[test]
fn the_place_of_sessions_can_be_elsewhere() {
    let root = |machine: &Surroundings| Qwen::roots(machine)[0].path.clone();
    let machine = Surroundings::isolated("/home/dev");
    assert_eq!(root(&machine), Path::new("/home/dev/.qwen/projects"));
    let machine = machine.with_variable("QWEN_HOME", "~/q");
    assert_eq!(root(&machine), Path::new("/home/dev/q/projects"));
    let machine = machine.with_variable("QWEN_RUNTIME_DIR", "/run/q");
    assert_eq!(root(&machine), Path::new("/run/q/projects"));
}

#[test]
fn a_session_that_was_put_away_is_listed_as_such() {
    let home = Home::new().with_file(".qwen/projects/-w-demo/chats/archive/qw-1.jsonl", EXAMPLE);
    let found = described(&Surroundings::isolated(home.path()));
    assert_eq!((found.len(), found[0].meta.archived), (1, true));
}

const EXAMPLE: &str = r#"{"type":"user","sessionId":"qw-1","cwd":"/w/demo","timestamp":"2026-09-01T10:00:00Z","message":{"parts":[{"text":"List todos"}]}}
{"type":"assistant","sessionId":"qw-1","cwd":"/w/demo","timestamp":"2026-09-01T10:00:02Z","model":"q","usageMetadata":{"promptTokenCount":6,"candidatesTokenCount":2},"message":{"parts":[{"text":"Looking"},{"functionCall":{"id":"f1","name":"read_file","args":{"file_path":"/w/demo/TODO.md"}}}]}}
{"type":"tool_result","sessionId":"qw-1","cwd":"/w/demo","timestamp":"2026-09-01T10:00:03Z","toolCallResult":{"callId":"f1","status":"success","resultDisplay":"3 items"}}
"#;

#[test]
fn rows_without_ids_continue_each_other() {
    let session = common(EXAMPLE).session;
    assert_eq!(session.id, "qw-1");
    let counts = session.counts();
    assert_eq!((counts.prompts, counts.assistant, counts.tool_calls, counts.tool_results), (1, 1, 1, 1));
    assert_eq!(session.live_path().len(), 3);
    assert_eq!((total(&session).input, total(&session).output), (Some(6), Some(2)));
    assert_eq!(outcomes(&session), [Outcome::Ok]);
}

// evidence defect 3: the original took a session of another directory for one of the workspace as
// soon as it had a prompt. The directory of every row is kept, so that it decides.
#[test]
fn every_message_names_the_directory_that_its_row_names() {
    let moved = EXAMPLE.replace("\"/w/demo\",\"timestamp\":\"2026-09-01T10:00:03Z\"", "\"/w/other\"");
    let session = common(&moved).session;
    assert_eq!(session.meta.cwd, Some("/w/demo".into()));
    assert_eq!(session.messages.last().unwrap().cwd, Some("/w/other".into()));
}

/// A row of a tree.
fn row(uuid: &str, parent: &str, rest: &str) -> String {
    let parent = if parent.is_empty() { "null".to_owned() } else { format!("\"{parent}\"") };
    format!(r#"{{"uuid":"{uuid}","parentUuid":{parent},"sessionId":"s",{rest}}}"#)
}

fn user(uuid: &str, parent: &str, text: &str) -> String {
    row(uuid, parent, &format!(r#""type":"user","message":{{"parts":[{{"text":"{text}"}}]}}"#))
}

fn answer(uuid: &str, parent: &str, text: &str) -> String {
    row(uuid, parent, &format!(r#""type":"assistant","message":{{"parts":[{{"text":"{text}"}}]}}"#))
}

fn system(uuid: &str, parent: &str, subtype: &str, payload: &str) -> String {
    row(uuid, parent, &format!(r#""type":"system","subtype":"{subtype}","systemPayload":{payload}"#))
}

#[test]
fn a_rewind_leaves_a_branch_and_its_title_behind() {
    let text = [
        user("u1", "", "first"),
        answer("a1", "u1", "dead"),
        system("t1", "a1", "custom_title", r#"{"customTitle":"Dead","titleSource":"manual"}"#),
        system("r1", "u1", "rewind", r#"{"truncatedCount":1}"#),
        user("u2", "r1", "again"),
        answer("a2", "u2", "live"),
        system("t2", "a2", "custom_title", r#"{"customTitle":"Live","titleSource":"auto"}"#),
        system("x1", "u1", "session_artifact_snapshot", "{}"),
    ]
    .join("\n");
    let session = common(&text).session;
    assert_eq!(live(&session), ["first", "again", "live"]);
    assert_eq!(session.branches().len(), 2);
    let title = session.meta.title.as_ref().unwrap();
    assert_eq!((title.text.as_str(), title.origin), ("Live", TitleOrigin::Generated));
    assert!(session.events.iter().any(|event| event.kind == EventKind::Rollback));
}

#[test]
fn a_rewind_to_nothing_begins_a_tree_of_its_own() {
    let text =
        [user("u1", "", "first"), system("r1", "", "rewind", "{}"), user("u2", "r1", "other")].join("\n");
    let session = common(&text).session;
    assert_eq!(live(&session), ["other"]);
}

#[test]
fn a_compression_keeps_the_history_and_says_what_replaced_it() {
    let payload = r#"{"info":{"originalTokenCount":900,"triggerReason":"manual"},"compressedHistory":[{"role":"user","parts":[{"text":"<state_snapshot>sum</state_snapshot>"}]}]}"#;
    let text = [
        user("u1", "", "first"),
        answer("a1", "u1", "done"),
        system("c1", "a1", "chat_compression", payload),
        system("c2", "c1", "slash_command", r#"{"phase":"invocation","rawCommand":"/compress"}"#),
        user("u2", "c2", "more"),
    ]
    .join("\n");
    let session = common(&text).session;
    assert_eq!(live(&session), ["first", "done", "more"]);
    let compaction = &session.compactions[0];
    assert_eq!(compaction.after.as_ref().unwrap().as_str(), "a1");
    assert_eq!(compaction.text, Some("<state_snapshot>sum</state_snapshot>".into()));
    assert_eq!((compaction.trigger.as_deref(), compaction.tokens_before), (Some("manual"), Some(900)));
    let seen = session.view(&Selection { from_compaction: true, ..Selection::default() });
    assert_eq!(seen.messages.len(), 1);
    assert_eq!(session.counts().prompts, 2);
}

#[test]
fn pieces_of_one_row_are_joined_and_a_row_that_stands_twice_counts_once() {
    let text = [
        user("u1", "", "first"),
        answer("a1", "u1", "one"),
        answer("a1", "u1", "two"),
        answer("a1", "u1", "two"),
        user("u2", "a1", "second"),
    ]
    .join("\n");
    let read = common(&text);
    assert_eq!(live(&read.session), ["first", "one|two", "second"]);
    assert!(read.findings.iter().any(|finding| finding.kind == FindingKind::RepeatedId));
}

#[test]
fn what_others_than_a_person_send_is_no_prompt() {
    let sent = |uuid: &str, more: &str, text: &str| {
        row(uuid, "", &format!(r#""type":"user",{more}"message":{{"parts":[{{"text":"{text}"}}]}}"#))
    };
    let text = [
        sent("a", "", "typed before there was a provenance"),
        sent("b", r#""provenance":"real_user","#, "typed"),
        sent("c", r#""subtype":"mid_turn_user_message","#, "typed while it worked"),
        sent("d", r#""subtype":"cron","provenance":"system","#, "on time"),
        sent(
            "e",
            r#""subtype":"notification","provenance":"system","#,
            "<task-notification>x</task-notification>",
        ),
        sent("f", r#""subtype":"goal_runtime","provenance":"goal_runtime","#, "go on"),
        sent("g", "", "<system-reminder>x</system-reminder>"),
    ]
    .join("\n");
    let session = common(&text).session;
    let origins: Vec<Origin> = session.messages.iter().map(|message| message.origin).collect();
    use Origin::{Agent, Harness, Person};
    assert_eq!(origins, [Person, Person, Person, Harness, Agent, Harness, Harness]);
}

#[test]
fn a_fork_names_its_parent_and_what_was_copied_is_inherited() {
    let copied = row(
        "u1",
        "",
        r#""type":"user","forkedFrom":{"sessionId":"old","messageUuid":"x"},"message":{"parts":[{"text":"a"}]}"#,
    );
    let session = common(&[copied, user("u2", "u1", "b")].join("\n")).session;
    assert_eq!((session.lineage.len(), session.lineage[0].relation), (1, Relation::Forked));
    assert_eq!(session.lineage[0].parent.as_ref().unwrap().as_str(), "old");
    let inherited: Vec<bool> = session.messages.iter().map(|message| message.inherited).collect();
    assert_eq!(inherited, [true, false]);
}

#[test]
fn a_picture_that_was_read_belongs_to_the_result() {
    let result = row(
        "t",
        "",
        r#""type":"tool_result","message":{"parts":[{"functionResponse":{"id":"c","name":"read_file","response":{"output":"ok"}}},{"inlineData":{"mimeType":"image/png","data":"AAAA"}}]},"toolCallResult":{"callId":"c","status":"cancelled"}"#,
    );
    let session = common(&result).session;
    let [Block::ToolResult(result)] = session.messages[0].blocks.as_slice() else { panic!("one result") };
    assert!(matches!(result.content.as_slice(), [ResultPart::Text(_), ResultPart::Image(_)]));
    assert_eq!(result.outcome, Outcome::Interrupted);
}

#[test]
fn a_result_without_an_id_answers_the_oldest_call_of_its_tool() {
    let call =
        r#""type":"assistant","message":{"parts":[{"functionCall":{"name":"glob","args":{"pattern":"*"}}}]}"#;
    let result = r#""type":"tool_result","message":{"parts":[{"functionResponse":{"name":"glob","response":{"output":"x"}}}]}"#;
    let session = common(&[row("a", "", call), row("t", "a", result)].join("\n")).session;
    let counts = session.counts();
    assert_eq!((counts.tool_calls, counts.tool_results), (1, 1));
}

#[test]
fn torn_and_glued_lines_are_reported_and_the_rest_is_read() {
    let glued = format!("{}{}\n{{\"uuid\":\"x", user("u1", "", "one"), answer("a1", "u1", "two"));
    let read = common(&glued);
    assert_eq!(live(&read.session), ["one", "two"]);
    let kinds: Vec<FindingKind> = read.findings.iter().map(|finding| finding.kind).collect();
    assert!(
        kinds.contains(&FindingKind::SeveralValues) && kinds.contains(&FindingKind::CutLine),
        "{kinds:?}"
    );
}

#[test]
fn a_file_whose_beginning_is_gone_is_partial_and_goes_on_from_where_it_begins() {
    let text =
        [answer("a1", "gone", "rest"), user("u2", "a1", "more"), answer("a2", "missing", "end")].join("\n");
    let home = Home::new().with_file(".qwen/projects/-w/chats/s.jsonl", &text);
    let found = described(&Surroundings::isolated(home.path())).remove(0);
    assert_eq!(found.class, Class::Partial);
    let read = common(&text);
    assert_eq!(live(&read.session), ["rest", "more", "end"]);
    let dangling = read.findings.iter().find(|finding| finding.kind == FindingKind::DanglingParent).unwrap();
    assert_eq!(dangling.count, 2);
}

#[test]
fn a_long_transcript_is_listed_as_a_whole_reading_says_though_only_its_ends_are_read() {
    let name = |n: usize| format!("a{n}");
    let said = |n: usize| {
        let parent = if n == 0 { "u1".to_owned() } else { name(n - 1) };
        let parts = format!(r#"[{{"text":"{}"}}]"#, "x".repeat(1000));
        let rest = format!(
            r#""type":"assistant","model":"m","cwd":"/w","timestamp":"2026-09-01T10:00:00Z","message":{{"parts":{parts}}}"#
        );
        row(&name(n), &parent, &rest)
    };
    let mut rows = vec![
        user("u1", "", "first")
            .replace("\"sessionId\"", "\"cwd\":\"/w\",\"timestamp\":\"2026-09-01T09:00:00Z\",\"sessionId\""),
    ];
    rows.extend((0..600).map(said));
    rows.push(system("t", "a599", "custom_title", r#"{"customTitle":"Long","titleSource":"manual"}"#));
    rows.push(said(600).replace("\"parentUuid\":\"a599\"", "\"parentUuid\":\"t\""));
    rows.extend((601..1200).map(said));
    let home = Home::new().with_file(".qwen/projects/-w/chats/s.jsonl", rows.join("\n"));
    let machine = Surroundings::isolated(home.path());
    let found = described(&machine).remove(0);
    let session = with_context(&machine, |context| {
        Qwen::to_common(&Qwen::load(&found.reference, context).unwrap()).unwrap().session
    });
    assert_eq!((&found.id, &found.meta), (&session.id, &session.meta));
    assert_eq!(found.class, Class::Session);
    assert_eq!(found.meta.title.unwrap().text, "Long");
}

#[test]
fn rows_of_another_program_are_foreign() {
    let error = Qwen::from_text(b"{\"type\":\"summary\",\"summary\":\"x\"}\n").unwrap_err();
    assert!(matches!(error, CodecError::Foreign { .. }));
    let claude = br#"{"uuid":"a","parentUuid":null,"sessionId":"s","type":"user","message":{"role":"user","content":"x"}}"#;
    assert_eq!(Qwen::recognises(Path::new("s.jsonl"), claude), 0);
    assert!(Qwen::recognises(Path::new("s.jsonl"), user("u1", "", "x").as_bytes()) > 0);
}

#[test]
fn hostile_rows_do_no_harm() {
    for rest in [
        r#""type":"user","message":{"parts":[null,[],{"functionResponse":{"response":[1]}},{"inlineData":7}]}"#,
        r#""type":"assistant","usageMetadata":{"promptTokenCount":1,"cachedContentTokenCount":9,"candidatesTokenCount":-1}"#,
        r#""type":"tool_result","toolCallResult":{"callId":1,"status":{}}"#,
        r#""type":"system","subtype":"chat_compression","systemPayload":{"compressedHistory":[1]}"#,
        r#""type":"system","subtype":"ui_telemetry","systemPayload":{"uiEvent":{"event.name":1}}"#,
        r#""type":"system","subtype":"custom_title","systemPayload":[]"#,
        r#""type":7"#,
    ] {
        let text = [user("u1", "", "x"), row("h", "h", rest), row("h", "u1", rest)].join("\n");
        assert_eq!(common(&text).session.counts().prompts, 1, "{rest}");
    }
}
