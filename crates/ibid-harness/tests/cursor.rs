//! Cursor: what is read of its agent's transcripts, on files written by hand.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test states what it expects"
)]

mod whole_files;

use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, SystemTime};

use ibid_carrier::jsonl::Limits;
use ibid_carrier::plan::{Engine, Policy};
use ibid_harness::{
    AnyHarness, Class, CodecError, Common, Context, Discovered, Listing, Surroundings, Target,
};
use ibid_model::{
    Block, EventKind, FindingKind, Message, Origin, Outcome, Relation, Role, StopReason, Text, Timestamp,
    Tool,
};
use ibid_testkit::Home;

const TWO_TURNS: &str = "0c5a0001-7d0e-4a55-9a10-000000000001";
const FAILED: &str = "0c5a0002-7d0e-4a55-9a10-000000000002";
const ODD: &str = "0c5a0003-7d0e-4a55-9a10-000000000003";
const SUBAGENT: &str = "0c5a0011-7d0e-4a55-9a10-000000000011";

fn cursor() -> &'static dyn AnyHarness {
    ibid_harness::find("cursor").unwrap()
}

fn fixtures() -> (Home, Surroundings) {
    let home = Home::new().with("cursor", "hand-written");
    let machine = Surroundings::isolated(home.path());
    (home, machine)
}

fn read(machine: &Surroundings, id: &str) -> (Discovered, Common) {
    let mut all = whole_files::read_all("cursor", machine).into_iter();
    all.find(|(found, _)| found.id == id).unwrap()
}

fn listing(machine: &Surroundings) -> Listing {
    let limits = Limits::default();
    let root = cursor().roots(machine).remove(0);
    cursor().list(&root, &Context { machine, limits: &limits })
}

/// A home with one transcript below the projects of Cursor, and what it reads as.
fn session_of(place: &str, text: &str) -> Common {
    let home = Home::new().with_file(&format!(".cursor/projects/{place}"), text);
    whole_files::read_all("cursor", &Surroundings::isolated(home.path())).remove(0).1
}

fn texts(message: &Message) -> Vec<&str> {
    message.texts().map(Text::as_str).collect()
}

fn prompts(common: &Common) -> Vec<&str> {
    common.session.messages.iter().filter(|message| message.is_prompt()).flat_map(texts).collect()
}

fn calls(common: &Common) -> Vec<(&str, &str, &Tool)> {
    let blocks = common.session.messages.iter().flat_map(|message| &message.blocks);
    fn call(block: &Block) -> Option<(&str, &str, &Tool)> {
        match block {
            Block::ToolUse(call) => Some((call.id.as_str(), call.name.as_str(), &call.tool)),
            _ => None,
        }
    }
    blocks.filter_map(call).collect()
}

#[test]
fn every_transcript_of_the_fixtures_is_read_and_nothing_is_touched() {
    let (_home, machine) = fixtures();
    let all = whole_files::read_all("cursor", &machine);
    let classes: Vec<_> = all.iter().map(|(found, _)| (found.id.as_str(), found.class)).collect();
    assert_eq!(
        classes,
        [
            (TWO_TURNS, Class::Session),
            (SUBAGENT, Class::Sidecar),
            (FAILED, Class::Session),
            (ODD, Class::Session)
        ]
    );
}

#[test]
fn what_was_typed_is_told_from_what_cursor_put_around_it() {
    let (_home, machine) = fixtures();
    let (found, common) = read(&machine, TWO_TURNS);
    assert_eq!(prompts(&common), ["Rename foo to bar", "Now write the change log"]);
    assert_eq!(found.meta.preview.as_deref(), Some("Rename foo to bar"));
    let first = &common.session.messages[0];
    assert_eq!((first.role, first.origin), (Role::User, Origin::Harness));
    assert!(texts(first)[0].starts_with("<user_info>"));
    let counts = common.session.counts();
    assert_eq!((counts.prompts, counts.injected, counts.assistant), (2, 1, 6));
    assert_eq!((counts.tool_calls, counts.tool_results), (7, 0));
}

#[test]
fn the_tools_of_the_agent_have_their_common_form() {
    let (_home, machine) = fixtures();
    let (_, common) = read(&machine, TWO_TURNS);
    let kinds: Vec<_> = calls(&common).iter().map(|(_, name, tool)| (*name, tool.kind())).collect();
    assert_eq!(
        kinds,
        [
            ("Grep", "search"),
            ("Read", "read"),
            ("StrReplace", "edit"),
            ("Shell", "shell"),
            ("Task", "task"),
            ("Write", "write"),
            ("CallMcpTool", "mcp")
        ]
    );
    let Some(Tool::Shell(shell)) = calls(&common).get(3).map(|call| call.2) else { panic!("a shell call") };
    assert_eq!((shell.command.as_str(), shell.cwd.as_deref()), ("cargo test", Some("/w/demo")));
}

#[test]
fn a_call_without_an_id_gets_one_that_stays_when_the_transcript_grows() {
    let (home, machine) = fixtures();
    let ids = |machine: &Surroundings| -> Vec<String> {
        let (_, common) = read(machine, TWO_TURNS);
        calls(&common).iter().map(|(id, ..)| (*id).to_owned()).collect()
    };
    let before = ids(&machine);
    assert_eq!(before[0], format!("cursor-{TWO_TURNS}-1"));
    assert_eq!(before[6], format!("cursor-{TWO_TURNS}-7"));
    let path =
        home.path().join(format!(".cursor/projects/w-demo/agent-transcripts/{TWO_TURNS}/{TWO_TURNS}.jsonl"));
    let more =
        r#"{"role":"assistant","message":{"content":[{"type":"tool_use","name":"Shell","input":{}}]}}"#;
    let grown = fs::read_to_string(&path).unwrap() + more + "\n";
    fs::write(&path, grown).unwrap();
    let after = ids(&machine);
    assert_eq!((&after[..7], after.len()), (&before[..], 8));
}

#[test]
fn the_times_title_and_directory_are_those_of_the_command_lines_own_record() {
    let (_home, machine) = fixtures();
    let (found, _) = read(&machine, TWO_TURNS);
    assert_eq!(found.meta.started, Timestamp::from_milliseconds(1_788_256_800_000));
    assert_eq!(found.meta.updated, Timestamp::from_milliseconds(1_788_257_100_000));
    assert_eq!(found.meta.cwd.as_deref(), Some("/w/demo"));
    assert_eq!(found.meta.title.unwrap().text, "Rename foo");
    assert_eq!(found.carriers.len(), 2);
}

fn set_written(path: &Path, seconds: u64) {
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
    File::options().append(true).open(path).unwrap().set_modified(time).unwrap();
}

// evidence defect 6
#[test]
fn without_any_record_of_times_a_session_is_of_the_moment_when_its_transcript_was_written() {
    let (home, machine) = fixtures();
    let path = home.path().join(format!(".cursor/projects/w-demo/agent-transcripts/{FAILED}.jsonl"));
    set_written(&path, 1_788_000_000);
    let (found, _) = read(&machine, FAILED);
    assert_eq!(found.meta.updated, Timestamp::from_milliseconds(1_788_000_000_000));
    assert_eq!(found.meta.started, found.meta.updated);
}

// evidence defect 6
#[test]
fn a_session_never_ends_before_it_begins() {
    let (home, machine) = fixtures();
    let record =
        home.path().join(format!(".cursor/chats/1b8f22aeabcb398013648f7154e8d9ac/{TWO_TURNS}/meta.json"));
    fs::write(&record, r#"{"cwd":"/w/demo","createdAtMs":1788256800000}"#).unwrap();
    let path =
        home.path().join(format!(".cursor/projects/w-demo/agent-transcripts/{TWO_TURNS}/{TWO_TURNS}.jsonl"));
    set_written(&path, 1_000_000_000);
    let (found, _) = read(&machine, TWO_TURNS);
    assert_eq!(found.meta.started, Timestamp::from_milliseconds(1_788_256_800_000));
    assert_eq!(found.meta.updated, found.meta.started);
}

#[test]
fn a_record_of_a_chat_in_another_directory_does_not_count() {
    let (home, machine) = fixtures();
    let record =
        home.path().join(format!(".cursor/chats/1b8f22aeabcb398013648f7154e8d9ac/{TWO_TURNS}/meta.json"));
    fs::write(&record, r#"{"title":"Else","cwd":"/elsewhere","createdAtMs":1,"updatedAtMs":2}"#).unwrap();
    let (found, common) = read(&machine, TWO_TURNS);
    assert_eq!((found.meta.title, found.meta.cwd), (None, None));
    assert_ne!(found.meta.started, Timestamp::from_milliseconds(1));
    assert!(common.findings.iter().any(|finding| finding.kind == FindingKind::ForeignContent));
}

#[test]
fn a_subagent_is_one_of_the_session_in_whose_folder_it_lies() {
    let (_home, machine) = fixtures();
    let (found, common) = read(&machine, SUBAGENT);
    assert_eq!(found.class, Class::Sidecar);
    let lineage = &found.lineage[0];
    assert_eq!((lineage.relation, lineage.parent.as_ref().unwrap().as_str()), (Relation::Spawned, TWO_TURNS));
    let task = &common.session.messages[0];
    assert_eq!((task.origin, texts(task)), (Origin::Agent, vec!["Find where foo is documented"]));
    assert_eq!(common.session.counts().prompts, 0);
    let (parent, _) = read(&machine, TWO_TURNS);
    let limits = Limits::default();
    let children = cursor().children(&parent.reference, &Context { machine: &machine, limits: &limits });
    assert_eq!(children, [found.reference]);
}

#[test]
fn a_turn_that_ended_with_an_error_says_so() {
    let (_home, machine) = fixtures();
    let (_, common) = read(&machine, FAILED);
    let event = &common.session.events[0];
    assert_eq!((&event.kind, event.text.as_deref()), (&EventKind::Error, Some("The connection was lost")));
    assert_eq!(common.session.messages.last().unwrap().stop, Some(StopReason::Error));
    let (_, common) = read(&machine, TWO_TURNS);
    assert!(common.session.events.iter().all(|event| event.kind == EventKind::Turn));
}

#[test]
fn withheld_thoughts_are_no_words_of_the_model() {
    let (_home, machine) = fixtures();
    let (_, common) = read(&machine, TWO_TURNS);
    let answer = common.session.messages.iter().find(|message| message.role == Role::Assistant).unwrap();
    assert_eq!(texts(answer), ["I will look first."]);
    assert!(matches!(&answer.blocks[1], Block::Thinking(thinking) if thinking.text.is_empty()));
}

#[test]
fn a_person_may_type_the_mark_for_withheld_thoughts() {
    let common = session_of(
        "w/agent-transcripts/a.jsonl",
        r#"{"role":"user","message":{"content":"Why [REDACTED]"}}"#,
    );
    assert_eq!(prompts(&common), ["Why [REDACTED]"]);
}

#[test]
fn results_are_joined_to_calls_by_id_and_else_by_order() {
    let (_home, machine) = fixtures();
    let (found, common) = read(&machine, ODD);
    let results: Vec<_> = common
        .session
        .messages
        .iter()
        .flat_map(|message| &message.blocks)
        .filter_map(|block| match block {
            Block::ToolResult(result) => {
                Some((result.call.as_str(), result.outcome, result.text().to_string()))
            }
            _ => None,
        })
        .collect();
    let derived = format!("cursor-{ODD}-1");
    assert_eq!(
        results,
        [
            ("call_1", Outcome::Error, "no such file".to_owned()),
            (derived.as_str(), Outcome::Unknown, "a.png: PNG image data".to_owned())
        ]
    );
    assert_eq!(common.session.counts().tool_results, 2);
    assert_eq!(found.meta.model.as_deref(), Some("composer-2.5"));
    assert_eq!(found.meta.started, Timestamp::parse("2026-09-02T08:00:00Z"));
    assert_eq!(found.meta.updated, Timestamp::parse("2026-09-02T08:00:09Z"));
}

#[test]
fn what_is_not_known_is_kept_and_named_and_a_cut_line_is_a_finding() {
    let (_home, machine) = fixtures();
    let (_, common) = read(&machine, ODD);
    let kinds: Vec<_> = common.findings.iter().map(|finding| (finding.kind, finding.line)).collect();
    assert!(kinds.contains(&(FindingKind::UnknownRecord, Some(4))), "{kinds:?}");
    assert!(kinds.contains(&(FindingKind::CutLine, Some(6))), "{kinds:?}");
    assert_eq!(common.session.events[0].kind, EventKind::Other("mode_changed".into()));
    let other = common.session.messages.iter().flat_map(|message| &message.blocks);
    assert_eq!(
        other.filter(|block| matches!(block, Block::Other(other) if other.kind == "sparkle")).count(),
        1
    );
}

#[test]
fn a_file_without_a_message_of_a_transcript_is_another_programs() {
    let rows = r#"{"type":"user","message":{"role":"user","content":"hi"}}"#;
    let home = Home::new().with_file(".cursor/projects/w/agent-transcripts/x.jsonl", rows);
    let machine = Surroundings::isolated(home.path());
    let limits = Limits::default();
    let context = Context { machine: &machine, limits: &limits };
    let listed = listing(&machine).sessions.remove(0);
    assert_eq!(cursor().describe(&listed, &context).unwrap().class, Class::Foreign);
    assert_eq!(cursor().recognises(&listed.reference.path, rows.as_bytes()), 0);
}

#[test]
fn an_empty_transcript_is_no_session() {
    let home = Home::new().with_file(".cursor/projects/w/agent-transcripts/x.jsonl", "");
    let found = whole_files::read_all("cursor", &Surroundings::isolated(home.path())).remove(0).0;
    assert_eq!(found.class, Class::Other);
}

#[test]
fn only_files_in_the_folder_of_transcripts_are_listed() {
    let home = Home::new()
        .with_file(".cursor/projects/w/agent-transcripts/a/a.jsonl", "{}")
        .with_file(".cursor/projects/w/agent-transcripts/a/a.txt", "x")
        .with_file(".cursor/projects/w/mcps/tools.jsonl", "{}")
        .with_file(".cursor/projects/agent-transcripts/b.jsonl", "{}");
    assert_eq!(listing(&Surroundings::isolated(home.path())).sessions.len(), 1);
}

#[test]
fn the_databases_of_cursor_are_named_as_present_and_unread() {
    let (home, _) = fixtures();
    let home = home
        .with_file(".cursor/chats/1b8f22aeabcb398013648f7154e8d9ac/x/store.db", "SQLite")
        .with_file(".config/Cursor/User/globalStorage/state.vscdb", "SQLite");
    let machine = Surroundings::isolated(home.path()).on(ibid_harness::Platform::Linux);
    let listing = listing(&machine);
    let found: Vec<_> =
        listing.findings.iter().map(|f| (f.kind, f.path.as_deref().unwrap_or_default())).collect();
    let at = |place: &str| home.path().join(place).to_string_lossy().into_owned();
    let (chats, desktop) = (at(".cursor/chats"), at(".config/Cursor/User/globalStorage/state.vscdb"));
    let kind = FindingKind::UnreadStore;
    assert_eq!(found, [(kind, chats.as_str()), (kind, desktop.as_str())]);
    assert_eq!(kind.severity(), ibid_model::Severity::Note);
    assert_eq!(listing.sessions.len(), 4);
}

#[test]
fn transcripts_of_plain_text_are_named_as_unread() {
    let home = Home::new()
        .with_file(".cursor/projects/w/agent-transcripts/a.txt", "user:\nhi")
        .with_file(".cursor/projects/w/agent-transcripts/b/b.txt", "user:\nhi");
    let listing = listing(&Surroundings::isolated(home.path()));
    let found: Vec<_> = listing.findings.iter().map(|finding| (finding.kind, finding.count)).collect();
    assert_eq!((found, listing.sessions.len()), (vec![(FindingKind::UnreadStore, 2)], 0));
}

#[test]
fn a_home_without_cursor_has_no_store_and_no_findings() {
    let home = Home::new();
    let listing = listing(&Surroundings::isolated(home.path()));
    assert!(!listing.present && listing.findings.is_empty() && listing.sessions.is_empty());
}

// evidence defect 11
#[test]
fn the_variable_of_the_command_line_names_another_store_beside_the_editors() {
    let home = Home::new();
    let machine = Surroundings::isolated(home.path()).with_variable("CURSOR_DATA_DIR", "~/data");
    let roots: Vec<_> = cursor().roots(&machine).into_iter().map(|root| root.path).collect();
    assert_eq!(roots, [home.path().join("data/projects"), home.path().join(".cursor/projects")]);
}

// evidence defects 3 and 8
#[test]
fn a_transcript_that_names_no_directory_belongs_to_the_one_its_folder_is_named_after() {
    let (home, machine) = fixtures();
    let (found, _) = read(&machine, FAILED);
    assert_eq!(found.meta.cwd, None);
    let limits = Limits::default();
    let context = Context { machine: &machine, limits: &limits };
    let placed = |directory: &str| cursor().placed_for(&found.reference, Path::new(directory), &context);
    assert!(placed("/w/demo"));
    assert!(!placed("/w/demo2") && !placed("/w") && !placed("/w/demo/sub"));
    assert!(!placed("/w-demo"), "the folder says which of the directories with its name it is of");
    fs::remove_file(home.path().join(".cursor/projects/w-demo/.workspace-trusted")).unwrap();
    assert!(placed("/w-demo") && placed("/w/demo"));
}

#[test]
fn the_example_of_the_evidence_host_reads_as_described() {
    let lines = r#"{"role":"user","message":{"content":[{"type":"text","text":"<user_query>\nRename foo\n</user_query>"}]}}
{"role":"assistant","message":{"content":[{"type":"text","text":"Done."},{"type":"tool_use","name":"Write","input":{"path":"/w/demo/src/foo.rs","contents":"x"}}]}}
"#;
    let common = session_of("w-demo/agent-transcripts/cu-1/cu-1.jsonl", lines);
    assert_eq!((common.session.id.as_str(), prompts(&common)), ("cu-1", vec!["Rename foo"]));
    let calls = calls(&common);
    assert_eq!((calls[0].0, calls[0].1), ("cursor-cu-1-1", "Write"));
    assert!(matches!(calls[0].2, Tool::Write(write) if write.path == "/w/demo/src/foo.rs"));
    assert!(common.session.meta.updated.is_some());
}

#[test]
fn a_session_goes_to_the_trash_with_its_subagents_and_its_chat_stays() {
    let (home, machine) = fixtures();
    let (found, _) = read(&machine, TWO_TURNS);
    let limits = Limits::default();
    let deleting =
        cursor().delete(&found.reference, &Context { machine: &machine, limits: &limits }).unwrap();
    let engine = Engine::new(machine.data_dir());
    engine.commit(&deleting.plan, &Policy::within(deleting.roots)).unwrap();
    assert_eq!(listing(&machine).sessions.len(), 2);
    let record = format!(".cursor/chats/1b8f22aeabcb398013648f7154e8d9ac/{TWO_TURNS}/meta.json");
    assert!(home.path().join(record).is_file());
}

#[test]
fn a_transcript_without_a_folder_goes_to_the_trash_alone() {
    let (home, machine) = fixtures();
    let record = format!(".cursor/chats/x/{FAILED}/meta.json");
    let home = home.with_file(&record, r#"{"cwd":"/w/demo"}"#);
    let (found, _) = read(&machine, FAILED);
    assert_eq!(found.carriers.len(), 2);
    let limits = Limits::default();
    let deleting =
        cursor().delete(&found.reference, &Context { machine: &machine, limits: &limits }).unwrap();
    Engine::new(machine.data_dir()).commit(&deleting.plan, &Policy::within(deleting.roots)).unwrap();
    assert_eq!(listing(&machine).sessions.len(), 3);
    assert!(home.path().join(record).is_file());
}

#[test]
fn a_session_is_not_written_as_one_of_cursors() {
    let (_home, machine) = fixtures();
    let (_, common) = read(&machine, TWO_TURNS);
    let refused = cursor().from_common(&common.session, &Target::default());
    assert!(matches!(refused, Err(CodecError::Inexpressible { .. })));
}

#[test]
fn hostile_lines_are_read_without_harm() {
    let mut lines = String::new();
    for line in [
        r#"{"role":5,"message":7}"#,
        r#"{"role":"user"}"#,
        r#"{"role":"user","message":{"content":{}}}"#,
        r#"{"role":"user","message":{"content":[null,3,[],{"type":"tool_use"},{"type":"tool_result"}]}}"#,
        r#"{"role":"user","message":{"content":"half \ud83d of a pair"}}"#,
        r#"{"role":"robot","message":{"content":"x"}}"#,
        r#"{"role":"assistant","timestamp":-1,"message":{"content":[{"type":"tool_use","id":"","name":"x","input":"y"}]}}"#,
        r#"{"type":"turn_ended","status":7,"error":[]}"#,
        r#"{"type":"\u0007bell"}"#,
    ] {
        lines.push_str(line);
        lines.push('\n');
    }
    lines.push_str(&"[".repeat(100_000));
    let common = session_of("w/agent-transcripts/a.jsonl", &lines);
    assert_eq!(common.session.counts().tool_calls, 1);
    assert!(common.session.messages.iter().any(|message| texts(message) == ["half \u{fffd} of a pair"]));
}
