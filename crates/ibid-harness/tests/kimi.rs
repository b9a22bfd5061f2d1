//! Kimi Code: what is read and found, on the files of the real program and on the examples of
//! documents.

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
use ibid_harness::kimi::Kimi;
use ibid_harness::{
    Class, Codec, CodecError, Common, Content, Context, Control, Cursor, Fold, SaveOptions, Store,
    StoreError, Surroundings, Target, TextCodec, Wants,
};
use ibid_model::{
    Block, FindingKind, Message, Origin, Outcome, Relation, Session, StopReason, Tool, ToolResult, ToolUse,
};
use ibid_testkit::{Home, Snapshot};
use place::Place;

const ID: &str = "session_a209e68a-59ed-4534-9dd2-579c66631ee9";

fn fixtures() -> Place<Kimi> {
    Place::<Kimi>::of(Home::new().with("kimi", "2.1.0"))
}

/// A home with one session in a folder.
fn session(folder: &str, wire: &str, state: Option<&str>) -> Place<Kimi> {
    let session = format!(".kimi-code/sessions/{folder}/session_0a0b");
    let home = Home::new().with_file(&format!("{session}/agents/main/wire.jsonl"), wire);
    Place::<Kimi>::of(match state {
        Some(state) => home.with_file(&format!("{session}/state.json"), state),
        None => home,
    })
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

fn prompt(text: &str) -> String {
    format!(
        "{{\"type\":\"context.append_message\",\"message\":{{\"role\":\"user\",\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}],\"origin\":{{\"kind\":\"user\"}}}},\"time\":1788256801000}}\n"
    )
}

fn event(body: &str) -> String {
    format!("{{\"type\":\"context.append_loop_event\",\"time\":1788256802000,\"event\":{body}}}\n")
}

fn answer(step: &str, text: &str) -> String {
    event(&format!(
        r#"{{"type":"content.part","stepUuid":"{step}","part":{{"type":"text","text":"{text}"}}}}"#
    ))
}

#[test]
fn a_session_of_the_real_program_has_its_prompts_calls_and_results() {
    let common = fixtures().read("main");
    let session = &common.session;
    assert_eq!(session.id, ID);
    // evidence defect 6: each of them stands three times in the log
    assert_eq!(
        prompts(session),
        ["do-tools please: first prompt", "do-fail please: second prompt", "do-subagent please: third"]
    );
    let counts = session.counts();
    assert_eq!((counts.injected, counts.assistant, counts.tool_calls, counts.tool_results), (4, 10, 7, 7));
    let names: Vec<&str> = calls(session).iter().map(|call| call.name.as_str()).collect();
    assert_eq!(names, ["Bash", "Write", "Bash", "Read", "Edit", "no_such_tool", "Agent"]);
    use Outcome::{Error, Ok};
    let outcomes: Vec<Outcome> = results(session).iter().map(|result| result.outcome).collect();
    assert_eq!(outcomes, [Ok, Ok, Error, Error, Ok, Error, Ok]);
    assert_eq!(&*results(session)[0].text(), "mock-shell-output\n/home/sam/demo\n");
    let Tool::Edit(edit) = &calls(session)[4].tool else { panic!("a file is edited") };
    assert_eq!((&*edit.path, &*edit.edits[0].new), ("/home/sam/demo/hello.txt", "hello, edited"));
    assert_eq!(common.findings, []);
}

#[test]
fn the_place_the_times_and_the_model_are_what_the_records_say() {
    let session = fixtures().read("main").session;
    let meta = &session.meta;
    assert_eq!(meta.cwd.as_deref(), Some("/home/sam/demo"));
    assert_eq!(meta.model.as_deref(), Some("mock-model"));
    assert_eq!(meta.preview.as_deref(), Some("do-tools please: first prompt"));
    assert_eq!(meta.title, None);
    assert_eq!(meta.started.unwrap().to_iso_milliseconds(), "2026-11-30T20:18:16.879Z");
    assert_eq!(meta.updated.unwrap().to_iso_milliseconds(), "2026-11-30T20:18:33.844Z");
    let shell = session.messages.iter().find(|message| message.cwd.is_some()).unwrap();
    assert_eq!(shell.cwd.as_deref(), Some("/home/sam/demo"));
    assert_eq!(shell.stop, Some(StopReason::ToolUse));
}

#[test]
fn tokens_are_counted_once_for_each_call_of_the_model() {
    let session = fixtures().read("main").session;
    assert_eq!(session.calls.len(), 10);
    let usage = session.own_usage();
    assert_eq!((usage.input, usage.cache_read, usage.output), (Some(1060), Some(50), Some(220)));
    assert!(session.calls.iter().all(|call| call.message.is_some()));
}

#[test]
fn a_subagent_is_a_session_of_its_own_and_its_task_is_no_prompt() {
    let place = fixtures();
    let limits = Limits::default();
    let context = Context { machine: &place.machine, limits: &limits };
    let children = Kimi::children(&place.find("main").reference, &context);
    assert_eq!(children, [place.find("agent-0").reference]);
    let found = place.describe(&place.find("agent-0"));
    assert_eq!((found.class, found.id.as_str()), (Class::Sidecar, &*format!("{ID}/agent-0")));
    let session = place.read("agent-0").session;
    let lineage = &session.lineage[0];
    assert_eq!((lineage.relation, lineage.parent.as_ref().unwrap().as_str()), (Relation::Spawned, ID));
    assert_eq!((lineage.agent.as_deref(), lineage.agent_kind.as_deref()), (Some("agent-0"), Some("coder")));
    assert_eq!(prompts(&session), [] as [String; 0]);
    assert_eq!(session.messages.iter().filter(|m| m.origin == Origin::Agent).count(), 1);
    assert_eq!(session.own_usage().output, Some(22));
}

#[test]
fn a_task_of_a_subagent_that_does_not_say_whom_it_is_of_is_no_prompt_of_a_person() {
    let task =
        r#"{"type":"turn.prompt","time":1788256801000,"input":[{"type":"text","text":"Look around"}]}"#;
    let wire = format!("{task}\n{}", answer("s1", "Looked."));
    let home = Home::new()
        .with_file(".kimi-code/sessions/wd_demo_ab12/session_0a0b/agents/main/wire.jsonl", &wire)
        .with_file(".kimi-code/sessions/wd_demo_ab12/session_0a0b/agents/scout/wire.jsonl", &wire);
    let place = Place::<Kimi>::of(home);
    let main = place.read("session_0a0b/agents/main").session;
    assert_eq!(main.messages[0].origin, Origin::Person);
    let scout = place.read("session_0a0b/agents/scout").session;
    assert_eq!(scout.messages[0].origin, Origin::Agent);
    assert_eq!(scout.meta.preview, None);
}

#[test]
fn a_description_and_a_scan_say_what_a_full_read_says() {
    let place = fixtures();
    let limits = Limits::default();
    let context = Context { machine: &place.machine, limits: &limits };
    for listed in place.listed() {
        let found = place.describe(&listed);
        let transcript = Kimi::load(&listed.reference, &context).unwrap();
        let common = Kimi::to_common(&transcript).unwrap();
        assert_eq!((&found.id, &found.meta), (&common.session.id, &common.session.meta));
        assert_eq!(
            (found.lineage, found.carriers),
            (common.session.lineage.clone(), common.session.carriers.clone())
        );
        let mut fold = Fold::default();
        let control = Control::default();
        Kimi::scan(&listed.reference, &Cursor::Start, Wants::ALL, &control, &mut fold, &context).unwrap();
        assert_eq!(fold.calls(), common.session.calls);
        assert_eq!((fold.meta, fold.messages), (common.session.meta, common.session.messages));
    }
}

#[test]
fn a_long_session_is_described_as_a_full_read_says() {
    let mut wire = prompt("begin");
    for step in 0..500 {
        wire.push_str("{\"type\":\"llm.request\",\"model\":\"m-1\",\"time\":1788256802000}\n");
        wire.push_str(&answer(&format!("s{step}"), &"x".repeat(2000)));
    }
    assert!(wire.len() > 900_000);
    let state = r#"{"id":"session_0a0b","cwd":"/w/demo","title":"Long","updatedAt":1788256809000}"#;
    let place = session("wd_demo_ab12", &wire, Some(state));
    assert_eq!(place.describe(&place.find("main")).meta, place.read("main").session.meta);
}

#[test]
fn every_byte_comes_back_and_reading_leaves_no_trace() {
    let place = fixtures();
    let before = Snapshot::of(place.home.path());
    let limits = Limits::default();
    let context = Context { machine: &place.machine, limits: &limits };
    for listed in place.listed() {
        let transcript = Kimi::load(&listed.reference, &context).unwrap();
        for carrier in ibid_harness::Carriers::carriers(&transcript.body) {
            let Content::Bytes(bytes) = carrier.content else { panic!("a file") };
            assert_eq!(bytes, fs::read(carrier.info.path.as_str()).unwrap());
        }
        let text = Kimi::to_text(&transcript).unwrap();
        let back = Kimi::from_text(&text).unwrap();
        assert_eq!(Kimi::to_text(&back).unwrap(), text);
    }
    assert_eq!(Snapshot::of(place.home.path()), before);
}

#[test]
fn a_session_is_read_and_not_written() {
    let place = fixtures();
    let limits = Limits::default();
    let context = Context { machine: &place.machine, limits: &limits };
    let transcript = Kimi::load(&place.find("main").reference, &context).unwrap();
    let session = Kimi::to_common(&transcript).unwrap().session;
    let made = Kimi::from_common(&session, &Target::default());
    assert!(matches!(made, Err(CodecError::Inexpressible { .. })));
    let saved = Kimi::save(&transcript, &SaveOptions::default(), &context);
    assert!(matches!(saved, Err(StoreError::Unsupported { .. })));
}

#[test]
fn deleting_moves_the_folder_of_the_session_or_of_the_subagent() {
    let place = fixtures();
    let limits = Limits::default();
    let context = Context { machine: &place.machine, limits: &limits };
    let plan = |part: &str| Kimi::delete(&place.find(part).reference, &context).unwrap().plan.to_string();
    assert!(plan("main").contains(ID) && !plan("main").contains("agents"), "{}", plan("main"));
    assert!(plan("agent-0").contains("agents/agent-0"), "{}", plan("agent-0"));
}

// evidence defect 6
#[test]
fn the_title_is_no_prompt_and_a_step_is_one_answer() {
    let wire = concat!(
        r#"{"type":"metadata","protocol_version":"1.4","created_at":1788256800000}"#,
        "\n",
        r#"{"type":"turn.prompt","time":1788256801000,"input":[{"type":"text","text":"Plan the move"}]}"#,
        "\n",
        r#"{"type":"context.append_loop_event","time":1788256802000,"event":{"type":"tool.call","toolCallId":"k1","name":"ReadFile","args":{"path":"/w/demo/a.txt"}}}"#,
        "\n",
        r#"{"type":"context.append_loop_event","time":1788256803000,"event":{"type":"tool.result","toolCallId":"k1","result":{"output":"x","isError":false}}}"#,
        "\n",
        r#"{"type":"context.append_loop_event","time":1788256804000,"event":{"type":"content.part","part":{"type":"text","text":"Planned."}}}"#,
        "\n",
        r#"{"type":"context.append_loop_event","time":1788256804000,"event":{"type":"content.part","part":{"type":"text","text":"And done."}}}"#,
        "\n",
        r#"{"type":"usage.record","time":1788256805000,"model":"k","usage":{"inputOther":3,"inputCacheRead":1,"output":2}}"#,
        "\n",
    );
    let state = r#"{"title":"Plan","createdAt":"2026-09-01T10:00:00Z","updatedAt":"2026-09-01T10:05:00Z"}"#;
    let place = session("wd_demo_ab12", wire, Some(state));
    let session = place.read("main").session;
    assert_eq!(prompts(&session), ["Plan the move"]);
    assert_eq!(session.counts().assistant, 2);
    assert_eq!(calls(&session)[0].name, "ReadFile");
    assert_eq!(results(&session)[0].outcome, Outcome::Ok);
    assert_eq!((session.own_usage().input, session.own_usage().cache_read), (Some(3), Some(1)));
    assert_eq!(&*session.meta.title.unwrap().text, "Plan");
    assert_eq!(session.meta.started.unwrap().to_iso_milliseconds(), "2026-09-01T10:00:00.000Z");
    assert_eq!(session.meta.updated.unwrap().to_iso_milliseconds(), "2026-09-01T10:05:00.000Z");
}

// evidence defect 3
#[test]
fn a_folder_that_an_index_gives_to_another_directory_is_not_taken_for_this_one() {
    // The hash is that of /home/sam/demo.
    let folder = "wd_demo_982f58f316c7";
    let alone = session(folder, &prompt("hello"), None);
    assert_eq!(alone.read("main").session.meta.cwd, None);
    assert!(alone.placed("main", "/home/sam/demo"));
    assert!(!alone.placed("main", "/elsewhere/demo"), "the same name is not the same directory");
    let indexed = |work_dir: &str| {
        let line =
            format!("{{\"sessionId\":\"session_0a0b\",\"sessionDir\":\"/x\",\"workDir\":\"{work_dir}\"}}\n");
        let place = session(folder, &prompt("hello"), None);
        Place::<Kimi>::of(place.home.with_file(".kimi-code/session_index.jsonl", line))
    };
    assert!(!indexed("/w/other").placed("main", "/home/sam/demo"));
    assert!(indexed("/w/other").placed("main", "/w/other"));
    let workspaces = format!("{{\"version\":1,\"workspaces\":{{\"{folder}\":{{\"root\":\"/w/third\"}}}}}}");
    let named =
        Place::<Kimi>::of(indexed("/w/other").home.with_file(".kimi-code/workspaces.json", workspaces));
    assert!(named.placed("main", "/w/third"));
    assert!(!named.placed("main", "/w/other") && !named.placed("main", "/home/sam/demo"));
}

#[test]
fn the_last_line_of_an_index_about_a_session_counts_and_no_other_line() {
    let line =
        |id: &str, directory: &str| format!("{{\"sessionId\":\"{id}\",\"workDir\":\"{directory}\"}}\n");
    let index = [
        line("session_0a0b", "/w/first"),
        "no line about session_0a0b\n".to_owned(),
        line("session_0a0b", "/w/last"),
        line("session_0a0b_2", "/w/other"),
        line("session_1", "/w/session_0a0b"),
    ];
    let place = session("wd_demo_ab12", &prompt("hello"), None);
    let place = Place::<Kimi>::of(place.home.with_file(".kimi-code/session_index.jsonl", index.concat()));
    assert!(place.placed("main", "/w/last"));
    for other in ["/w/first", "/w/other", "/w/session_0a0b"] {
        assert!(!place.placed("main", other), "{other}");
    }
}

#[test]
fn both_homes_can_be_named_and_the_programs_own_comes_first() {
    let roots = |machine: Surroundings| -> Vec<PathBuf> {
        Kimi::roots(&machine).into_iter().map(|root| root.path).collect()
    };
    let home = || Surroundings::isolated("/home/u");
    let path = |path: &str| PathBuf::from(path);
    assert_eq!(roots(home()), [path("/home/u/.kimi-code/sessions")]);
    assert_eq!(roots(home().with_variable("KIMI_CODE_HOME", "~/k")), [path("/home/u/k/sessions")]);
    // The program does not ask this one, so what it writes is still in its own place.
    let readers = roots(home().with_variable("KIMI_HOME", "/r").with_variable("KIMI_CODE_HOME", " "));
    assert_eq!(readers, [path("/home/u/.kimi-code/sessions"), path("/r/sessions")]);
}

#[test]
fn a_steered_prompt_that_never_became_a_message_is_one_all_the_same() {
    let steer = "{\"type\":\"turn.steer\",\"input\":[{\"type\":\"text\",\"text\":\"stop\"}],\"origin\":{\"kind\":\"user\"}}\n";
    let cancel = "{\"type\":\"turn.cancel\",\"time\":1788256803000}\n";
    let alone = session("wd_demo_ab12", &(prompt("go") + steer + cancel), None);
    assert_eq!(prompts(&alone.read("main").session), ["go", "stop"]);
    let both = session("wd_demo_ab12", &(prompt("go") + steer + cancel + &prompt("stop")), None);
    assert_eq!(prompts(&both.read("main").session), ["go", "stop"]);
}

#[test]
fn undone_turns_are_another_branch() {
    let undo = "{\"type\":\"context.undo\",\"count\":1,\"time\":1788256803000}\n";
    let wire = prompt("one")
        + &answer("a", "1")
        + &prompt("two")
        + &answer("b", "2")
        + undo
        + &prompt("another two")
        + &answer("c", "3");
    let session = session("wd_demo_ab12", &wire, None).read("main").session;
    let live: Vec<String> = session.live_path().iter().map(|at| said(&session.messages[*at])).collect();
    assert_eq!(live, ["one", "1", "another two", "3"]);
    assert_eq!(prompts(&session), ["one", "two", "another two"]);
}

#[test]
fn the_calls_of_one_step_are_one_answer() {
    let call = |id: &str| {
        event(&format!(
            r#"{{"type":"tool.call","stepUuid":"s","toolCallId":"{id}","name":"Bash","args":{{"command":"ls"}}}}"#
        ))
    };
    let result = |id: &str| {
        event(&format!(r#"{{"type":"tool.result","toolCallId":"{id}","result":{{"output":"x"}}}}"#))
    };
    let wire = prompt("go") + &call("a") + &result("a") + &call("b") + &result("b");
    let session = session("wd_demo_ab12", &wire, None).read("main").session;
    assert_eq!((session.counts().assistant, calls(&session).len(), results(&session).len()), (1, 2, 2));
}

#[test]
fn odd_lines_hide_nothing_but_themselves() {
    let wire = "[]\n{\"type\":7}\n{\"type\":\"hologram\",\"time\":\"soon\"}\n".to_owned()
        + "{\"type\":\"context.append_message\",\"message\":5}\n"
        + &event(r#"{"type":"tool.result","result":"late"}"#)
        + &event(r#"{"type":"tool.call","name":{},"args":"ls"}"#)
        + &event(r#"{"type":"tool.result","toolCallId":"gone","result":{"error":"no"}}"#)
        + &event("5")
        + "{\"type\":\"context.undo\",\"count\":99999999999999999999}\n"
        + "{\"type\":\"usage.record\",\"usage\":{\"output\":-1}}\n"
        + &prompt(r"half \ud800 a pair")
        + "{\"type\":\"context";
    let common = session("wd_demo_ab12", &wire, Some("[")).read("main");
    assert_eq!(prompts(&common.session), ["half \u{fffd} a pair"]);
    for kind in [
        FindingKind::NotAnObject,
        FindingKind::UnknownRecord,
        FindingKind::MalformedRecord,
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
fn a_state_without_its_log_is_reported_and_another_programs_log_is_foreign() {
    let home = Home::new().with_file(
        ".kimi-code/sessions/wd_demo_ab12/session_0a0b/state.json",
        r#"{"id":"session_0a0b","cwd":"/w/demo","agents":{}}"#,
    );
    let place = Place::<Kimi>::of(home);
    let found = place.describe(&place.find("state.json"));
    assert_eq!((found.class, found.id.as_str()), (Class::Session, "session_0a0b"));
    assert_eq!(found.findings[0].kind, FindingKind::MissingTranscript);
    let foreign = session("wd_demo_ab12", "{\"type\":\"session\",\"id\":\"x\"}\n", None);
    assert_eq!(foreign.describe(&foreign.find("main")).class, Class::Foreign);
}

#[test]
fn a_file_is_recognised_by_what_it_holds() {
    let place = fixtures();
    let wire = place.find("main").reference.path;
    let state =
        place.home.path().join(".kimi-code/sessions/wd_demo_982f58f316c7").join(ID).join("state.json");
    for path in [&wire, &state] {
        assert!(Kimi::recognises(path, &fs::read(path).unwrap()) > 80, "{}", path.display());
        assert_eq!(Kimi::recognises(path, b"{\"type\":\"session\"}\n"), 0, "{}", path.display());
    }
}
