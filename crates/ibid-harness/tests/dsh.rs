//! DeepSeek Harness: what is found and read, on files written by hand from what its makers publish.

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
use ibid_harness::dsh::Dsh;
use ibid_harness::{
    Carriers, Class, Codec, Common, Content, Context, Control, Cursor, Discovered, Fold, Listed, Listing,
    Store, Surroundings, TextCodec, Wants,
};
use ibid_model::{
    Block, EventKind, FindingKind, Message, Origin, Outcome, Relation, Role, Session, StopReason,
    TitleOrigin, Tool, ToolResult, Usage,
};
use ibid_testkit::Home;

const SESSIONS: &str = ".dsh/sessions";

fn home() -> Home {
    Home::new().with("dsh", "hand-written")
}

fn listing(machine: &Surroundings) -> Listing {
    let limits = Limits::default();
    let root = Dsh::roots(machine).remove(0);
    Dsh::list(&root, &Context { machine, limits: &limits })
}

/// The one session of a home whose path has this in it.
fn listed(home: &Home, part: &str) -> Listed {
    let machine = Surroundings::isolated(home.path());
    let mut found = listing(&machine).sessions;
    found.retain(|listed| listed.reference.path.to_string_lossy().contains(part));
    assert_eq!(found.len(), 1, "{part}");
    found.remove(0)
}

fn described(home: &Home, part: &str) -> Discovered {
    let machine = Surroundings::isolated(home.path());
    Dsh::describe(&listed(home, part), &Context { machine: &machine, limits: &Limits::default() }).unwrap()
}

fn read(home: &Home, part: &str) -> Common {
    let machine = Surroundings::isolated(home.path());
    let context = Context { machine: &machine, limits: &Limits::default() };
    let common = Dsh::to_common(&Dsh::load(&listed(home, part).reference, &context).unwrap()).unwrap();
    assert_eq!(common.session.problems(), []);
    common
}

fn fixture(part: &str) -> Session {
    let common = read(&home(), part);
    assert_eq!(common.findings, [], "{part}");
    common.session
}

/// A log of one turn with these events after the header, in a home of its own.
fn of_events(events: &[&str]) -> Common {
    let header = r#"{"type":"session","version":0,"id":"x","cwd":"/w/demo","createdAt":1788256800000,"delegationDepth":0}"#;
    let text = std::iter::once(&header).chain(events).map(|line| format!("{line}\n")).collect::<String>();
    let transcript = Dsh::from_text(text.as_bytes()).unwrap();
    let common = Dsh::to_common(&transcript).unwrap();
    assert_eq!(common.session.problems(), []);
    assert_eq!(Dsh::to_text(&transcript).unwrap(), text.as_bytes());
    common
}

fn prompt(seq: u64, text: &str, op: &str) -> String {
    format!(
        r#"{{"type":"user/message","seq":{seq},"time":1788256801000,"data":{{"id":"u{seq}","role":"user","content":[{{"type":"text","text":"{text}"}}],"source":{{"kind":"user"}}}},"surfaceOp":{op}}}"#
    )
}

fn prompts(session: &Session) -> Vec<String> {
    session.messages.iter().filter(|m| m.is_prompt()).map(said).collect()
}

fn said(message: &Message) -> String {
    message.texts().map(|text| text.to_string()).collect::<Vec<_>>().join("|")
}

/// What is said on the live branch.
fn live(session: &Session) -> Vec<String> {
    session.live_path().into_iter().map(|at| said(&session.messages[at])).collect()
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

fn kinds(common: &Common) -> Vec<FindingKind> {
    common.findings.iter().map(|finding| finding.kind).collect()
}

#[test]
fn a_turn_with_a_call_is_read_whole() {
    let session = fixture("/d-1/");
    assert_eq!((session.id.as_str(), session.meta.cwd.as_deref()), ("d-1", Some("/w/demo")));
    let counts = session.counts();
    assert_eq!((counts.prompts, counts.assistant, counts.tool_calls, counts.tool_results), (1, 1, 1, 1));
    let answer = &session.messages[1];
    assert!(
        matches!(&answer.blocks[0], Block::Thinking(thinking) if thinking.text == "Look at the manifest.")
    );
    let Block::ToolUse(call) = &answer.blocks[2] else { panic!("a call is expected") };
    // The published example has `path`, the published tool `file_path`: what does not fit stays raw.
    assert!(matches!(&call.tool, Tool::Raw(raw) if raw.input.as_str().contains("Cargo.toml")));
    assert_eq!((call.id.as_str(), call.name.as_str()), ("c1", "read"));
    assert_eq!(results(&session)[0].outcome, Outcome::Ok);
    assert_eq!(session.meta.started.unwrap().as_milliseconds(), 1_788_256_800_000);
    assert_eq!(session.meta.updated.unwrap().as_milliseconds(), 1_788_256_804_000);
    assert_eq!(session.meta.model.as_deref(), Some("m-large"));
    assert_eq!(session.meta.preview.as_deref(), Some("Audit deps"));
}

#[test]
fn the_event_of_a_call_adds_no_second_call() {
    let session = fixture("/compacted/");
    assert_eq!(session.counts().tool_calls, 2);
    let first = session.messages.iter().find(|m| m.role == Role::Assistant).unwrap();
    assert_eq!(first.sources.len(), 3, "the message, and the events of its two calls");
}

#[test]
fn how_a_call_ended_is_what_its_result_says() {
    let session = fixture("/compacted/");
    let ends: Vec<Outcome> = results(&session).iter().map(|result| result.outcome).collect();
    assert_eq!(ends, [Outcome::Ok, Outcome::Error]);
    let common = of_events(&[
        r#"{"type":"assistant/message","seq":0,"time":1788256801000,"data":{"turn":1,"step":1,"message":{"id":"a","role":"assistant","content":[{"type":"tool-call","id":"c","name":"bash","arguments":"{\"command\":"}],"source":{"kind":"model","model":"m"}}},"surfaceOp":"append"}"#,
        r#"{"type":"tool/result","seq":1,"time":1788256802000,"data":{"turn":1,"step":1,"message":{"id":"r","role":"user","content":[{"type":"tool-result","toolCallId":"c","content":[],"isError":true}]},"error":{"name":"ToolOutcomeUnknownError","code":"TOOL_OUTCOME_UNKNOWN"}},"surfaceOp":"append"}"#,
    ]);
    assert_eq!(results(&common.session)[0].outcome, Outcome::Interrupted);
    let Block::ToolUse(call) = &common.session.messages[0].blocks[0] else { panic!("a call is expected") };
    assert!(
        matches!(&call.tool, Tool::Raw(raw) if raw.input.as_string().as_deref() == Some("{\"command\":"))
    );
}

#[test]
fn only_what_a_person_typed_is_a_prompt() {
    let session = fixture("/compacted/");
    assert_eq!(prompts(&session), ["Rename the module", "Now run the tests"]);
    let injected: Vec<_> =
        session.messages.iter().filter(|m| m.origin == Origin::Harness).map(said).collect();
    assert_eq!(injected, ["<system-reminder>Follow AGENTS.md</system-reminder>"]);
}

// evidence defect 14: what took the place of earlier events was read beside them.
#[test]
fn a_summary_in_place_of_earlier_events_is_a_compaction_and_no_prompt() {
    let session = fixture("/compacted/");
    let [compaction] = session.compactions.as_slice() else { panic!("one compaction is expected") };
    let summary = session.message(compaction.summary.as_ref().unwrap()).unwrap();
    assert_eq!((said(summary).as_str(), summary.origin), ("The module a is now b.", Origin::Summary));
    let kept = session.message(compaction.first_kept.as_ref().unwrap()).unwrap();
    assert_eq!(said(kept), "Now run the tests");
}

#[test]
fn a_result_whose_content_was_pruned_is_shown_as_it_was() {
    let session = fixture("/compacted/");
    assert_eq!(results(&session).len(), 2);
    assert_eq!(results(&session)[0].text(), "done: a very long output");
    let pruned = EventKind::Other("tool/result replaced".into());
    assert_eq!(session.events.iter().filter(|event| event.kind == pruned).count(), 1);
}

// evidence defect 14: what took the place of earlier events was read beside them.
#[test]
fn a_prompt_in_place_of_another_leaves_that_on_a_side_branch() {
    let session = fixture("/fork-1/");
    assert_eq!(live(&session), ["Audit deps", "Clean.", "", "Bump serde to 1.0.229", "Bumped."]);
    assert_eq!(session.branches().len(), 2);
}

#[test]
fn a_replacement_in_the_middle_keeps_what_follows() {
    let common = of_events(&[
        &prompt(0, "one", "\"append\""),
        &prompt(1, "two", "\"append\""),
        &prompt(2, "three", "\"append\""),
        &prompt(3, "TWO", r#"{"op":"replace","start":1,"end":1}"#),
        &prompt(4, "four", "\"append\""),
        &prompt(5, "ONE", r#"{"start":0,"end":3}"#),
    ]);
    assert_eq!(common.findings, []);
    assert_eq!(live(&common.session), ["ONE", "three", "four"]);
}

#[test]
fn a_replacement_of_what_is_not_there_is_added_and_reported() {
    let common = of_events(&[
        &prompt(0, "one", "\"append\""),
        &prompt(1, "two", r#"{"op":"replace","start":7,"end":9}"#),
    ]);
    assert_eq!(live(&common.session), ["one", "two"]);
    assert_eq!(kinds(&common), [FindingKind::MalformedRecord]);
}

// evidence defect 14: a fork was read as if it had said everything itself.
#[test]
fn events_that_were_copied_from_the_parent_are_inherited() {
    let session = fixture("/fork-1/");
    let inherited: Vec<_> = session.messages.iter().filter(|m| m.inherited).map(said).collect();
    assert_eq!(inherited, ["Audit deps", "Clean.", ""]);
    let [lineage] = session.lineage.as_slice() else { panic!("one parent is expected") };
    assert_eq!((lineage.relation, lineage.parent.as_ref().unwrap().as_str()), (Relation::Forked, "d-1"));
    assert_eq!(lineage.at, session.messages.iter().rfind(|m| m.inherited).map(|m| m.id.clone()));
    assert_eq!(session.own_usage().input, Some(11), "the call of the parent counts there");
    assert_eq!(session.calls.iter().filter(|call| call.inherited).count(), 1);
}

#[test]
fn a_subagent_is_a_sidecar_whose_task_no_person_typed() {
    let found = described(&home(), "sub~002F1");
    assert_eq!((found.class, found.id.as_str()), (Class::Sidecar, "sub/1"));
    assert_eq!(found.lineage[0].relation, Relation::Spawned);
    assert_eq!(found.lineage[0].agent_kind.as_deref(), Some("explorer"));
    let session = fixture("sub~002F1");
    assert_eq!((prompts(&session).len(), session.messages[0].origin), (0, Origin::Agent));
}

#[test]
fn tokens_are_counted_once_for_each_call_and_do_not_overlap() {
    let session = fixture("/compacted/");
    let first = session.calls[0].usage;
    let expected = Usage {
        input: Some(100),
        output: Some(20),
        cache_read: Some(40),
        cache_write: Some(7),
        reasoning: Some(5),
        ..Usage::default()
    };
    assert_eq!(first, expected);
    // Two answers, the summary, and the answer behind it.
    let models: Vec<_> = session.calls.iter().map(|call| call.model.as_deref().unwrap()).collect();
    assert_eq!(models, ["m-large", "m-large", "m-small", "m-mini"]);
    assert_eq!(session.own_usage().input, Some(200));
    assert_eq!(session.calls[1].usage.cache_read, None, "what is not said stays unknown");
}

#[test]
fn what_was_streamed_before_a_stop_is_kept_and_a_failed_try_only_costs() {
    let session = fixture("/stopped/");
    let answer = &session.messages[1];
    assert_eq!(said(answer), "Roses are red,");
    assert!(matches!(&answer.blocks[0], Block::Thinking(thinking) if thinking.text == "Rhymes first."));
    assert!(matches!(&answer.blocks[2], Block::ToolUse(call) if matches!(call.tool, Tool::Write(_))));
    assert_eq!(answer.stop, Some(StopReason::Aborted));
    assert_eq!(results(&session)[0].outcome, Outcome::Interrupted);
    let tokens: Vec<_> = session.calls.iter().map(|call| call.usage.input.unwrap()).collect();
    assert_eq!(tokens, [7, 9, 20]);
    assert_eq!(session.messages.last().unwrap().stop, Some(StopReason::MaxTokens));
}

#[test]
fn how_a_turn_ended_is_an_event() {
    let turns = |part: &str| -> Vec<String> {
        let ends = fixture(part).events.into_iter().filter(|event| event.kind == EventKind::Turn);
        ends.map(|event| event.text.unwrap().to_string()).collect()
    };
    assert_eq!(turns("/stopped/"), ["aborted", "max-tokens"]);
    let failed = fixture("/nowhere/");
    let error = failed.events.iter().find(|event| event.kind == EventKind::Error).unwrap();
    assert_eq!(error.text.as_deref(), Some("no key"));
}

#[test]
fn a_title_that_a_person_gave_stays() {
    let title = fixture("/compacted/").meta.title.unwrap();
    assert_eq!((title.text.as_str(), title.origin), ("Module rename", TitleOrigin::Person));
}

#[test]
fn an_event_of_an_unknown_kind_is_kept_and_reported_unless_it_may_be_ignored() {
    let common = of_events(&[
        &prompt(0, "one", "\"append\""),
        r#"{"type":"tea/brewed","seq":1,"time":1788256802000,"data":{"cups":2}}"#,
        r#"{"type":"tea/drunk","seq":2,"time":1788256802000,"data":{},"ignorable":true}"#,
    ]);
    assert_eq!(kinds(&common), [FindingKind::UnknownRecord]);
    assert_eq!(common.session.events.len(), 2);
    assert!(common.session.events[0].json.as_ref().unwrap().as_str().contains("\"cups\":2"));
}

#[test]
fn a_gap_in_the_numbers_is_reported_and_packed_rows_count_their_members() {
    let row = r#"{"type":"text-chunks","seq0":1,"time0":1788256801000,"data":{"turn":1,"step":1,"index":0,"dt":[5,5],"texts":["a","b","c"]}}"#;
    let whole = of_events(&[&prompt(0, "one", "\"append\""), row, &prompt(4, "two", "\"append\"")]);
    assert_eq!(whole.findings, []);
    assert_eq!(live(&whole.session), ["one", "two", "abc"]);
    let gap = of_events(&[&prompt(0, "one", "\"append\""), row, &prompt(5, "two", "\"append\"")]);
    assert_eq!(kinds(&gap), [FindingKind::MalformedRecord]);
}

#[test]
fn another_version_is_read_with_a_finding() {
    let text = r#"{"type":"session","version":3,"id":"v","cwd":"/w","createdAt":1788256800000,"delegationDepth":0,"isSeeded":true,"parentSession":"p"}
{"type":"system/message","seq":0,"time":1788256801000,"data":{"turn":1,"step":1,"message":{"id":"s","role":"system","content":[{"type":"text","text":"Be brief."}]}},"surfaceOp":"append"}
{"type":"session/end-seed","seq":1,"time":1788256802000,"data":{"inherited":true}}
"#;
    let common = Dsh::to_common(&Dsh::from_text(text.as_bytes()).unwrap()).unwrap();
    assert_eq!(kinds(&common), [FindingKind::UnknownRecord]);
    let prompt = &common.session.messages[0];
    assert_eq!((prompt.role, prompt.inherited, said(prompt).as_str()), (Role::System, true, "Be brief."));
}

#[test]
fn a_log_without_its_header_is_partial_and_named_for_its_folder() {
    let text = fs::read_to_string(
        Home::fixtures().join("dsh/hand-written").join(SESSIONS).join("--w-demo--/d-1/session.jsonl"),
    );
    let text = text.unwrap();
    let (_, rest) = text.split_once('\n').unwrap();
    let home = Home::new().with_file(".dsh/sessions/--w-demo--/a~002Fb/session.jsonl", rest);
    let found = described(&home, "a~002Fb");
    assert_eq!((found.class, found.id.as_str()), (Class::Partial, "a/b"));
    assert_eq!(found.findings.iter().map(|f| f.kind).collect::<Vec<_>>(), [FindingKind::MissingHeader]);
    let machine = Surroundings::isolated(home.path());
    let context = Context { machine: &machine, limits: &Limits::default() };
    let placed = |directory: &str| Dsh::placed_for(&found.reference, directory.as_ref(), &context);
    assert!(placed("/w/demo"));
    assert!(!placed("/w") && !placed("/w/demo/sub"));
}

#[test]
fn a_header_that_its_folders_contradict_is_reported_and_counts() {
    let from = Home::fixtures().join("dsh/hand-written").join(SESSIONS).join("--w-demo--/d-1/session.jsonl");
    let home = Home::new().with_file(".dsh/sessions/--other--/else/session.jsonl", fs::read(from).unwrap());
    let common = read(&home, "/else/");
    assert_eq!(kinds(&common), [FindingKind::MalformedRecord, FindingKind::MalformedRecord]);
    assert_eq!((common.session.id.as_str(), common.session.meta.cwd.as_deref()), ("d-1", Some("/w/demo")));
}

#[test]
fn another_programs_file_is_foreign() {
    assert!(Dsh::from_text(b"{\"type\":\"message\",\"id\":\"x\"}\n").is_err());
    assert!(Dsh::from_text(b"plain text\n").is_err());
    let home = Home::new().with_file(".dsh/sessions/--w--/x/session.jsonl", "{\"a\":1}\n");
    assert_eq!(described(&home, "/x/").class, Class::Foreign);
}

/// The log of a fixture in frames, as the program writes it: the header, then one for each write.
fn frames() -> (Vec<u8>, Vec<Vec<u8>>) {
    let path = Home::fixtures().join("dsh/hand-written").join(SESSIONS).join("--w-demo--/d-1/session.jsonl");
    let text = fs::read(path).unwrap();
    let frame = |lines: &[u8]| {
        let mut encoder = zstd::Encoder::new(Vec::new(), 0).unwrap();
        encoder.include_checksum(true).unwrap();
        std::io::Write::write_all(&mut encoder, lines).unwrap();
        encoder.finish().unwrap()
    };
    let frames = text.split_inclusive(|byte| *byte == b'\n').map(frame).collect();
    (text, frames)
}

const COMPRESSED: &str = ".dsh/sessions/--w-demo--/d-1/session.jsonl.zstd";

#[test]
fn frames_one_after_the_other_are_one_log_and_are_kept_as_stored() {
    let (text, frames) = frames();
    let home = Home::new().with_file(COMPRESSED, frames.concat());
    let machine = Surroundings::isolated(home.path());
    let context = Context { machine: &machine, limits: &Limits::default() };
    let transcript = Dsh::load(&listed(&home, "/d-1/").reference, &context).unwrap();
    let carriers = transcript.body.carriers();
    assert!(matches!(carriers[0].content, Content::Bytes(bytes) if bytes == text));
    assert_eq!(carriers[0].info.bytes, Some(frames.concat().len() as u64));
    let plain = fixture("/d-1/");
    let common = read(&home, "/d-1/");
    assert_eq!((common.findings.len(), common.session.messages), (0, plain.messages));
}

#[test]
fn a_last_frame_that_was_cut_off_loses_nothing_before_it() {
    let (_, frames) = frames();
    let mut stored = frames.concat();
    stored.truncate(stored.len() - 9);
    let home = Home::new().with_file(COMPRESSED, stored);
    let common = read(&home, "/d-1/");
    assert_eq!(common.session.messages, fixture("/d-1/").messages);
    assert_eq!(kinds(&common)[0], FindingKind::DamagedCompression);
}

#[test]
fn the_magic_number_inside_a_frame_is_no_frame() {
    let magic = String::from_utf8_lossy(&[0x28, 0xB5, 0x2F, 0xFD]).into_owned();
    let mut text = frames().0;
    text.extend(
        format!("{{\"type\":\"goal/change\",\"seq\":8,\"time\":1788256805000,\"data\":\"{magic}\"}}\n")
            .into_bytes(),
    );
    // A block that is stored as it is has the four bytes as they are.
    let mut stored = zstd::encode_all(&text[..], -50).unwrap();
    stored.extend(
        zstd::encode_all(
            &b"{\"type\":\"goal/change\",\"seq\":9,\"time\":1788256806000,\"data\":{}}\n"[..],
            0,
        )
        .unwrap(),
    );
    let home = Home::new().with_file(COMPRESSED, stored);
    let common = read(&home, "/d-1/");
    assert_eq!((common.findings.len(), common.session.events.len()), (0, 3));
}

#[test]
fn a_session_in_both_encodings_is_listed_once_and_both_are_named() {
    let home = home().with_file(COMPRESSED, frames().1.concat());
    let machine = Surroundings::isolated(home.path());
    let found = listing(&machine);
    assert_eq!(found.sessions.len(), 6);
    let [finding] = found.findings.as_slice() else { panic!("one finding is expected") };
    assert_eq!(finding.kind, FindingKind::Variants);
    assert!(finding.detail.contains("d-1/session.jsonl") && finding.path.as_ref().unwrap().contains("d-1"));
}

#[test]
fn a_session_file_of_the_old_layout_is_reported() {
    let home = home().with_file(".dsh/sessions/--w-demo--/old.jsonl", "{}\n");
    let found = listing(&Surroundings::isolated(home.path()));
    assert_eq!((found.sessions.len(), found.findings.len()), (6, 1));
    assert_eq!(found.findings[0].kind, FindingKind::ForeignContent);
}

// evidence defect 11: a tilde in a variable was taken for a name.
#[test]
fn the_variable_names_the_home_of_the_program() {
    let machine = Surroundings::isolated("/home/u");
    let root = |machine: &Surroundings| Dsh::roots(machine).remove(0).path;
    assert_eq!(root(&machine), PathBuf::from("/home/u/.dsh/sessions"));
    assert_eq!(root(&machine.clone().with_variable("DSH_HOME", "~/d")), PathBuf::from("/home/u/d/sessions"));
    assert_eq!(root(&machine.with_variable("DSH_HOME", " ")), PathBuf::from("/home/u/.dsh/sessions"));
}

#[test]
fn an_absent_store_is_no_fault_and_an_unreadable_one_is_not_empty() {
    let home = Home::new();
    let machine = Surroundings::isolated(home.path());
    assert!(!listing(&machine).present && listing(&machine).findings.is_empty());
    let home = home.with_file(SESSIONS, "a file where the store belongs");
    let found = listing(&Surroundings::isolated(home.path()));
    assert!(found.present);
    assert_eq!(found.findings[0].kind, FindingKind::Unreadable);
}

#[test]
fn a_list_a_load_and_a_scan_say_the_same_and_leave_no_trace() {
    let home = home();
    let before = home.snapshot();
    let machine = Surroundings::isolated(home.path());
    let context = Context { machine: &machine, limits: &Limits::default() };
    for listed in listing(&machine).sessions {
        let found = Dsh::describe(&listed, &context).unwrap();
        let transcript = Dsh::load(&listed.reference, &context).unwrap();
        let common = Dsh::to_common(&transcript).unwrap();
        let session = common.session;
        assert_eq!((&found.id, &found.meta, &found.lineage), (&session.id, &session.meta, &session.lineage));
        let mut fold = Fold::default();
        Dsh::scan(&listed.reference, &Cursor::Start, Wants::ALL, &Control::default(), &mut fold, &context)
            .unwrap();
        assert_eq!(
            (&fold.messages, &fold.head, fold.calls()),
            (&session.messages, &session.head, session.calls)
        );
        let stored = fs::read(&listed.reference.path).unwrap();
        assert!(matches!(transcript.body.carriers()[0].content, Content::Bytes(bytes) if bytes == stored));
    }
    assert_eq!(home.snapshot(), before);
}

#[test]
fn deleting_takes_the_folder_of_the_session_alone() {
    let home = home();
    let machine = Surroundings::isolated(home.path());
    let context = Context { machine: &machine, limits: &Limits::default() };
    let plan = Dsh::delete(&listed(&home, "/d-1/").reference, &context).unwrap().plan.to_string();
    assert!(plan.contains("--w-demo--/d-1") && !plan.contains("fork-1"), "{plan}");
}

#[test]
fn odd_records_are_read_as_far_as_they_go() {
    for line in [
        r#"{"type":"user/message","seq":0,"time":1,"data":5,"surfaceOp":"append"}"#,
        r#"{"type":"user/message","seq":-1,"time":"x","data":{"content":{"a":1},"source":7},"surfaceOp":{"start":"a"}}"#,
        r#"{"type":"assistant/message","seq":0,"time":1e300,"data":{"turn":"a","message":[],"usage":"many"}}"#,
        r#"{"type":"tool/call","seq":18446744073709551615,"time":0,"data":{"callId":"","name":null}}"#,
        r#"{"type":"tool/result","seq":0,"time":null,"data":{"message":{"content":"x"}},"sourceEventSeqs":[1e9,"a"]}"#,
        r#"{"type":"text-chunks","seq0":9007199254740991,"time0":9007199254740991,"data":{"dt":[9e18,9e18],"texts":[1]}}"#,
        r#"{"type":"turn/end","data":{"reason":"gone"}}"#,
        r#"{"type":5}"#,
        r#"{"type":"user/message","seq":0,"time":1788256801000,"data":{"content":[{"type":"text","text":"\ud800"}],"source":{"kind":"user"}}}"#,
    ] {
        let common = of_events(&[&prompt(0, "one", "\"append\""), line]);
        assert!(!common.findings.is_empty(), "{line}");
        assert_eq!(prompts(&common.session)[0], "one");
    }
}

#[test]
fn many_replacements_take_no_more_time_than_many_events() {
    let mut lines: Vec<String> = (0..20_000).map(|seq| prompt(seq, "x", "\"append\"")).collect();
    for seq in 20_000..40_000_u64 {
        let at = seq - 20_000;
        lines.push(prompt(seq, "y", &format!(r#"{{"op":"replace","start":{at},"end":{at}}}"#)));
    }
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let begun = std::time::Instant::now();
    let common = of_events(&lines);
    assert_eq!(common.session.live_path().len(), 20_000);
    assert!(begun.elapsed() < std::time::Duration::from_secs(20));
}
