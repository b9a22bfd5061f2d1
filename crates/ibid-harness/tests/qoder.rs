//! Qoder: what is found and read, on files written by hand.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test states what it expects"
)]

use std::fs;
use std::path::PathBuf;

use ibid_carrier::jsonl::Limits;
use ibid_harness::qoder::Qoder;
use ibid_harness::{
    Carriers, Class, Codec, Common, Content, Context, Control, Cursor, Discovered, Fold, Listed, Listing,
    Store, Surroundings, TextCodec, Wants,
};
use ibid_model::{
    Block, FindingKind, Message, Origin, Outcome, Relation, Role, Session, Timestamp, Tool, ToolResult,
    ToolUse,
};
use ibid_testkit::Home;

const BOTH: &str = "2f0c6a1e-0000-4000-8000-00000000c001";

fn home() -> Home {
    Home::new().with("qoder", "hand-written")
}

fn listing(machine: &Surroundings) -> Listing {
    let limits = Limits::default();
    Qoder::list(&Qoder::roots(machine).remove(0), &Context { machine, limits: &limits })
}

/// The one session of a home with this id.
fn listed(home: &Home, id: &str) -> Listed {
    let machine = Surroundings::isolated(home.path());
    let context = Context { machine: &machine, limits: &Limits::default() };
    let mut found = listing(&machine).sessions;
    found.retain(|listed| Qoder::describe(listed, &context).unwrap().id == id);
    assert_eq!(found.len(), 1, "{id}");
    found.remove(0)
}

fn described(home: &Home, id: &str) -> Discovered {
    let machine = Surroundings::isolated(home.path());
    Qoder::describe(&listed(home, id), &Context { machine: &machine, limits: &Limits::default() }).unwrap()
}

fn read(home: &Home, id: &str) -> Common {
    let machine = Surroundings::isolated(home.path());
    let context = Context { machine: &machine, limits: &Limits::default() };
    let common = Qoder::to_common(&Qoder::load(&listed(home, id).reference, &context).unwrap()).unwrap();
    assert_eq!(common.session.problems(), []);
    common
}

fn fixture(id: &str) -> Session {
    read(&home(), id).session
}

/// A log of one part with these records.
fn of_records(records: &[&str]) -> Common {
    let place = ".qoder/logs/sessions/-w-demo/x/segments/run.jsonl";
    read(&Home::new().with_file(place, records.join("\n") + "\n"), "x")
}

fn prompts(session: &Session) -> Vec<String> {
    session.messages.iter().filter(|m| m.is_prompt()).map(said).collect()
}

fn said(message: &Message) -> String {
    message.texts().map(|text| text.to_string()).collect::<Vec<_>>().join("|")
}

fn calls(session: &Session) -> Vec<&ToolUse> {
    let blocks = session.messages.iter().flat_map(|message| &message.blocks);
    blocks
        .filter_map(|block| match block {
            Block::ToolUse(call) => Some(call),
            _ => None,
        })
        .collect()
}

fn results(session: &Session) -> Vec<&ToolResult> {
    let blocks = session.messages.iter().flat_map(|message| &message.blocks);
    blocks
        .filter_map(|block| match block {
            Block::ToolResult(result) => Some(result),
            _ => None,
        })
        .collect()
}

#[test]
fn a_log_tells_prompts_answers_calls_and_tokens() {
    let session = fixture("q-1");
    let counts = session.counts();
    assert_eq!((counts.prompts, counts.assistant, counts.tool_calls, counts.tool_results), (1, 1, 1, 1));
    assert_eq!(prompts(&session), ["Tidy the parser"]);
    let call = calls(&session)[0];
    assert_eq!((call.id.as_str(), call.name.as_str()), ("k1", "Edit"));
    assert!(matches!(&call.tool, Tool::Edit(edit) if edit.path == "/w/demo/src/p.rs"));
    assert_eq!(results(&session)[0].outcome, Outcome::Ok);
    assert_eq!((session.own_usage().input, session.own_usage().output), (Some(12), Some(3)));
    assert_eq!(session.own_usage().cache_read, None);
    assert_eq!((session.meta.model.as_deref(), session.meta.cwd.as_deref()), (Some("m-1"), None));
    let milliseconds = |at: Option<Timestamp>| at.unwrap().as_milliseconds();
    assert_eq!(milliseconds(session.meta.started), 1_788_256_800_000);
    assert_eq!(milliseconds(session.meta.updated), 1_788_256_803_000);
}

#[test]
fn a_call_lasts_from_its_request_to_its_end() {
    let session = fixture("q-1");
    let at = |role: Role, origin: Origin| {
        let mut found = session.messages.iter().filter(|m| m.role == role && m.origin == origin);
        found.next().unwrap().at.unwrap().as_milliseconds()
    };
    assert_eq!(at(Role::User, Origin::Tools) - at(Role::Assistant, Origin::Model), 1500);
}

#[test]
fn records_stand_in_the_order_of_their_times_whatever_part_they_are_in() {
    let session = fixture("q-2");
    assert_eq!(prompts(&session), ["Write a test", "Now test it"]);
    assert_eq!(session.meta.preview.as_deref(), Some("Write a test"));
    assert_eq!(session.meta.model.as_deref(), Some("m-2"));
}

#[test]
fn a_prompt_that_was_received_and_submitted_is_one() {
    let session = fixture("q-2");
    assert_eq!(session.counts().prompts, 2);
    assert_eq!(prompts(&fixture("q-3")), ["Hello"], "where none was submitted, what was received counts");
}

// evidence defect: every record of a tool was a call, 13 in place of 4.
#[test]
fn only_a_request_is_a_call() {
    let session = fixture("q-2");
    let names: Vec<_> = calls(&session).iter().map(|call| call.id.to_string()).collect();
    assert_eq!(names, ["qoder-q-2-1", "s1", "s2"]);
    assert_eq!(calls(&session)[0].name, "tool");
    assert!(matches!(&calls(&session)[1].tool, Tool::Shell(shell) if shell.command == "cargo test"));
    assert_eq!(session.counts().tool_results, 2);
}

#[test]
fn how_a_command_ended_is_not_taken_back_by_the_end_of_its_call() {
    let session = fixture("q-2");
    let results = results(&session);
    assert_eq!(results[0].outcome, Outcome::Error, "the exit code was 101, and the call completed");
    assert_eq!(results[0].text(), "1 test failed");
    assert!(results[0].structured.as_ref().unwrap().as_str().contains("\"exit_code\":101"));
    assert_eq!(results[1].outcome, Outcome::Interrupted, "it was aborted, whatever the exit code");
}

#[test]
fn an_answer_that_was_recorded_twice_counts_once() {
    let session = fixture("q-2");
    assert_eq!(session.counts().assistant, 3);
    let usage = session.own_usage();
    assert_eq!((usage.input, usage.output), (Some(37), Some(8)));
    assert_eq!((usage.cache_read, usage.cache_write), (Some(100), Some(30)));
}

#[test]
fn without_times_the_name_of_a_part_says_when() {
    let session = fixture("q-3");
    let began = session.meta.started.unwrap().to_iso_milliseconds();
    assert_eq!(began, "2026-09-07T21:38:19.958Z");
    assert_eq!(session.meta.started, session.meta.updated);
    let home = Home::new().with_file(
        ".qoder/logs/sessions/-w/n/segments/run.jsonl",
        "{\"type\":\"input.prompt.submitted\",\"data\":{\"text_preview\":\"x\"}}\n",
    );
    let written = read(&home, "n").session.meta.updated.unwrap();
    assert!(written.as_milliseconds() > 1_700_000_000_000, "the file itself says when");
}

#[test]
fn a_session_in_both_stores_is_one_and_counts_once() {
    let home = home();
    let common = read(&home, BOTH);
    let session = &common.session;
    let counts = session.counts();
    assert_eq!((counts.prompts, counts.assistant, counts.tool_calls, counts.tool_results), (1, 2, 1, 1));
    assert_eq!((session.own_usage().input, session.own_usage().output), (Some(20), Some(6)));
    assert_eq!(session.meta.title.as_ref().unwrap().text, "Build fix");
    assert_eq!(session.meta.cwd.as_deref(), Some("/w/my.app"));
    assert_eq!(session.carriers.len(), 2);
    // The log goes on after the conversation.
    assert_eq!(session.meta.updated.unwrap().as_milliseconds(), 1_788_336_010_000);
    assert_eq!(listing(&Surroundings::isolated(home.path())).sessions.len(), 5);
}

#[test]
fn a_conversation_without_tokens_has_those_of_its_log() {
    let home = home();
    let conversation = home
        .files(".qoder/projects/-w-my-app")
        .into_iter()
        .find(|path| path.file_stem().is_some_and(|stem| stem.to_string_lossy() == BOTH));
    let conversation = conversation.unwrap();
    let text = fs::read_to_string(&conversation).unwrap();
    fs::write(&conversation, text.replace("\"usage\"", "\"used\"")).unwrap();
    let session = read(&home, BOTH).session;
    assert_eq!((session.calls.len(), session.own_usage().input), (1, Some(20)));
}

#[test]
fn the_same_id_in_another_project_is_reported_and_kept_apart() {
    let place = format!(".qoder/logs/sessions/-other/{BOTH}/segments/run.jsonl");
    let record = "{\"seq\":1,\"ts\":1788256800000,\"type\":\"input.prompt.submitted\",\"data\":{\"text_preview\":\"x\"}}\n";
    let home = home().with_file(&place, record);
    let found = listing(&Surroundings::isolated(home.path()));
    assert_eq!(found.sessions.len(), 6);
    assert_eq!(found.findings.iter().map(|f| f.kind).collect::<Vec<_>>(), [FindingKind::Variants]);
}

#[test]
fn a_subagent_is_a_sidecar_of_its_session() {
    let home = home();
    let found = described(&home, &format!("{BOTH}/77"));
    assert_eq!(found.class, Class::Sidecar);
    let [lineage] = found.lineage.as_slice() else { panic!("one parent is expected") };
    assert_eq!((lineage.relation, lineage.parent.as_ref().unwrap().as_str()), (Relation::Spawned, BOTH));
    assert_eq!(lineage.agent_kind.as_deref(), Some("explorer"));
    let machine = Surroundings::isolated(home.path());
    let context = Context { machine: &machine, limits: &Limits::default() };
    assert_eq!(Qoder::children(&listed(&home, BOTH).reference, &context), [found.reference]);
}

// evidence defect 3: folders fold several directories into one, and a prefix is another directory.
#[test]
fn a_log_belongs_to_the_directory_whose_folder_it_lies_in() {
    let home = home();
    let machine = Surroundings::isolated(home.path());
    let context = Context { machine: &machine, limits: &Limits::default() };
    let placed = |id: &str, directory: &str| {
        Qoder::placed_for(&listed(&home, id).reference, directory.as_ref(), &context)
    };
    assert!(placed("q-1", "/w/demo"));
    assert!(!placed("q-1", "/w") && !placed("q-1", "/w/demo/sub") && !placed("q-1", "/w/demo2"));
    assert!(placed(BOTH, "/w/my.app"));
}

// evidence defect 11: a tilde in a variable was taken for a name.
#[test]
fn the_variable_names_the_home_of_the_program() {
    let machine = Surroundings::isolated("/home/u");
    let root = |machine: &Surroundings| Qoder::roots(machine).remove(0).path;
    assert_eq!(root(&machine), PathBuf::from("/home/u/.qoder"));
    assert_eq!(root(&machine.clone().with_variable("QODER_CONFIG_DIR", "~/q")), PathBuf::from("/home/u/q"));
    assert_eq!(root(&machine.with_variable("QODER_CONFIG_DIR", " ")), PathBuf::from("/home/u/.qoder"));
}

// evidence defect 9: a store that cannot be read was reported as one without sessions.
#[test]
fn an_absent_store_is_no_fault_and_an_unreadable_one_is_not_empty() {
    let home = Home::new().with_file(".qoder/settings.json", "{}");
    let found = listing(&Surroundings::isolated(home.path()));
    assert!(!found.present && found.findings.is_empty());
    let home = home.with_file(".qoder/projects", "a file where the store belongs");
    let found = listing(&Surroundings::isolated(home.path()));
    assert!(found.present);
    assert_eq!(found.findings[0].kind, FindingKind::Unreadable);
}

#[test]
fn an_end_without_a_request_is_reported_and_adds_no_call() {
    let common = of_records(&[
        r#"{"seq":1,"ts":1788256800000,"type":"input.prompt.submitted","data":{"text_preview":"x"}}"#,
        r#"{"seq":2,"ts":1788256801000,"type":"tool.execution.finished","tool_call_id":"gone","data":{"status":"success"}}"#,
        r#"{"seq":3,"ts":1788256802000,"type":"tool.shell.finished","data":{"exit_code":0}}"#,
    ]);
    let kinds: Vec<_> = common.findings.iter().map(|finding| finding.kind).collect();
    assert_eq!(kinds, [FindingKind::ResultWithoutCall, FindingKind::ResultWithoutCall]);
    assert!(common.findings[0].line == Some(2) && common.findings[0].path.is_some());
    assert_eq!(common.session.counts().tool_calls, 0);
}

#[test]
fn odd_records_are_read_as_far_as_they_go() {
    for line in [
        r#"{"seq":"a","ts":"yesterday","type":"tool.requested","tool_call_id":5,"data":[]}"#,
        r#"{"type":"model.response.completed","data":{"input_tokens":-1,"model":{"id":1}}}"#,
        r#"{"type":"tool.requested","tool_call_id":"c","data":{"args":"{not json"}}"#,
        r#"{"type":7,"data":null}"#,
        "{\"type\":\"tool.requ",
    ] {
        let first =
            r#"{"seq":1,"ts":1788256800000,"type":"input.prompt.submitted","data":{"text_preview":"one"}}"#;
        assert_eq!(prompts(&of_records(&[first, line]).session), ["one"], "{line}");
    }
}

#[test]
fn a_text_is_a_conversation_or_a_part_of_a_log() {
    let fixtures = Home::fixtures().join("qoder/hand-written/.qoder");
    let conversation = fs::read(fixtures.join(format!("projects/-w-my-app/{BOTH}.jsonl"))).unwrap();
    let read = Qoder::from_text(&conversation).unwrap();
    assert_eq!(read.id.as_str(), BOTH);
    assert_eq!(Qoder::to_text(&read).unwrap(), conversation);
    let log = fixtures.join("logs/sessions/-w-demo/q-1/segments/2026-09-01T10-00-00-000+00-00.jsonl");
    let log = Qoder::from_text(&fs::read(log).unwrap()).unwrap();
    assert_eq!(prompts(&Qoder::to_common(&log).unwrap().session), ["Tidy the parser"]);
    assert!(Qoder::from_text(b"{\"type\":\"session\",\"id\":\"x\"}\n").is_err());
}

#[test]
fn a_list_a_load_and_a_scan_say_the_same_and_leave_no_trace() {
    let home = home();
    let before = home.snapshot();
    let machine = Surroundings::isolated(home.path());
    let context = Context { machine: &machine, limits: &Limits::default() };
    for listed in listing(&machine).sessions {
        let found = Qoder::describe(&listed, &context).unwrap();
        let transcript = Qoder::load(&listed.reference, &context).unwrap();
        let session = Qoder::to_common(&transcript).unwrap().session;
        assert_eq!((&found.id, &found.meta, &found.lineage), (&session.id, &session.meta, &session.lineage));
        let mut fold = Fold::default();
        Qoder::scan(&listed.reference, &Cursor::Start, Wants::ALL, &Control::default(), &mut fold, &context)
            .unwrap();
        assert_eq!(
            (&fold.messages, &fold.head, fold.calls()),
            (&session.messages, &session.head, session.calls)
        );
        for carrier in transcript.body.carriers() {
            let stored = fs::read(carrier.info.path.as_str()).unwrap();
            assert!(matches!(carrier.content, Content::Bytes(bytes) if bytes == stored));
        }
        assert!(Qoder::fingerprints(std::slice::from_ref(&listed.reference), &context)[0].is_ok());
    }
    assert_eq!(home.snapshot(), before);
}

#[test]
fn a_new_part_of_a_log_is_a_change() {
    let home = home();
    let before = listed(&home, "q-1").fingerprint;
    let home = home.with_file(".qoder/logs/sessions/-w-demo/q-1/segments/later.jsonl", "\n");
    assert_ne!(listed(&home, "q-1").fingerprint, before);
}

#[test]
fn deleting_takes_the_files_of_the_session_alone() {
    let home = home();
    let machine = Surroundings::isolated(home.path());
    let context = Context { machine: &machine, limits: &Limits::default() };
    let plan = |id: &str| Qoder::delete(&listed(&home, id).reference, &context).unwrap().plan.to_string();
    let both = plan(BOTH);
    assert!(both.contains(&format!("{BOTH}.jsonl")) && both.contains("segments/2026-09-02"), "{both}");
    let log = plan("q-1");
    assert!(log.contains("-w-demo/q-1") && !log.contains("q-2"), "{log}");
}
