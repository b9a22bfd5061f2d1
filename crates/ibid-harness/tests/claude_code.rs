//! Claude Code: reading rows and writing them.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test states what it expects"
)]

use std::path::{Path, PathBuf};

use ibid_carrier::jsonl::Document;
use ibid_harness::claude_code::{Body, ClaudeCode};
use ibid_harness::{Codec, Common, Target, TextCodec, Transcript};
use ibid_model::{
    Block, FindingKind, LossKind, Message, Origin, Outcome, Relation, Role, Selection, Session, StopReason,
    TitleOrigin, essence, prepare,
};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/claude-code")
}

/// Every transcript of the fixtures, subagents included.
fn transcripts() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![fixtures()];
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|end| end == "jsonl") {
                found.push(path);
            }
        }
    }
    found.sort();
    assert!(found.len() > 20, "the fixtures are in the repository");
    found
}

/// The transcript of a version whose name begins so.
fn fixture(version: &str, start: &str) -> PathBuf {
    let found = transcripts().into_iter().find(|path| {
        let name = path.file_stem().unwrap().to_str().unwrap();
        path.starts_with(fixtures().join(version)) && name.starts_with(start)
    });
    found.unwrap_or_else(|| panic!("no fixture {version} {start}"))
}

fn read<S: AsRef<str>>(rows: &[S]) -> Common {
    let rows: Vec<&str> = rows.iter().map(AsRef::as_ref).collect();
    let body = Body { transcript: Document::from_bytes(rows.join("\n")), agent_meta: None, spawned_by: None };
    let transcript = Transcript { id: "11111111-1111-4111-8111-111111111111".into(), body };
    let common = ClaudeCode::to_common(&transcript).unwrap();
    assert_eq!(common.session.problems(), []);
    common
}

fn load(path: &Path) -> (Transcript<ClaudeCode>, Common) {
    let bytes = std::fs::read(path).unwrap();
    let transcript = ClaudeCode::from_text(&bytes).unwrap();
    let common = ClaudeCode::to_common(&transcript).unwrap();
    (transcript, common)
}

fn user(uuid: &str, parent: &str, text: &str) -> String {
    let parent = if parent.is_empty() { "null".to_owned() } else { format!("{parent:?}") };
    format!(
        r#"{{"parentUuid":{parent},"type":"user","message":{{"role":"user","content":"{text}"}},"uuid":"{uuid}"}}"#
    )
}

fn assistant(uuid: &str, parent: &str, id: &str, block: &str, output: u64) -> String {
    format!(
        r#"{{"parentUuid":"{parent}","type":"assistant","message":{{"id":"{id}","role":"assistant","model":"m","content":[{block}],"usage":{{"input_tokens":7,"output_tokens":{output}}}}},"uuid":"{uuid}"}}"#
    )
}

/// The texts of the live branch.
fn said(session: &Session) -> Vec<String> {
    let view = session.view(&Selection::default());
    view.messages
        .iter()
        .map(|message| message.texts().map(|text| text.as_str()).collect::<String>())
        .collect()
}

fn count(common: &Common, kind: FindingKind) -> u64 {
    common.findings.iter().filter(|finding| finding.kind == kind).map(|finding| finding.count).sum()
}

const TEXT: &str = r#"{"type":"text","text":"answer"}"#;
const CALL: &str = r#"{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"ls"}}"#;

#[test]
fn every_fixture_is_a_session_that_holds_together() {
    for path in transcripts() {
        let (_, common) = load(&path);
        assert_eq!(common.session.problems(), [], "{}", path.display());
        assert!(!common.session.messages.is_empty(), "{}", path.display());
        let errors: Vec<_> =
            common.findings.iter().filter(|f| f.severity() == ibid_model::Severity::Error).collect();
        assert!(errors.is_empty(), "{}: {errors:?}", path.display());
    }
}

#[test]
fn the_text_form_is_the_bytes_of_the_file() {
    for path in transcripts() {
        let (transcript, _) = load(&path);
        assert_eq!(ClaudeCode::to_text(&transcript).unwrap(), std::fs::read(&path).unwrap());
    }
}

#[test]
fn what_is_written_tells_the_same_story() {
    let rules = ibid_model::Rules {
        thinking: ibid_model::ThinkingRule::Signed("anthropic"),
        commands: ibid_model::CommandRule::Keep,
        ..ibid_model::Rules::STRICT
    };
    for path in transcripts() {
        let (_, common) = load(&path);
        let written = ClaudeCode::from_common(&common.session, &Target::default()).unwrap();
        let again = ClaudeCode::to_common(&written.value).unwrap();
        assert_eq!(again.session.problems(), [], "{}", path.display());
        let prepared = prepare(&common.session, &Selection::default(), &rules);
        let read = again.session.view(&Selection::default());
        assert_eq!(essence(read.messages), essence(&prepared.messages), "{}", path.display());
        let twice = ClaudeCode::from_common(&common.session, &Target::default()).unwrap();
        let bytes = |transcript: &Transcript<ClaudeCode>| ClaudeCode::to_text(transcript).unwrap();
        assert_eq!(bytes(&written.value), bytes(&twice.value), "a conversion is deterministic");
    }
}

#[test]
fn a_time_that_nobody_knows_is_filled_in_reported_and_read_as_unknown() {
    let mut session = Session::new("simple", "a-document");
    session.meta.cwd = Some("/home/dev/demo".into());
    let mut question = Message::new("1", Role::User, Origin::Person);
    question.blocks.push(Block::text("What time is it?"));
    session.messages.push(question);
    let made = ClaudeCode::from_common(&session, &Target::default()).unwrap();
    assert_eq!(made.losses.count(LossKind::TimeFilled), 1);
    let rows = made.value.body.transcript.shared_bytes();
    assert!(String::from_utf8_lossy(&rows).contains(r#""timestamp":"1970-01-01T00:00:00.000Z""#));
    let back = ClaudeCode::to_common(&made.value).unwrap();
    assert_eq!((back.session.messages[0].at, back.session.meta.started), (None, None), "nobody knew it");
    assert!(back.findings.is_empty(), "{:?}", back.findings);
}

#[test]
fn an_answer_of_an_unknown_model_says_so_and_reads_back_as_one() {
    let mut session = Session::new("simple", "a-document");
    session.meta.cwd = Some("/home/dev/demo".into());
    let mut answer = Message::new("1", Role::Assistant, Origin::Model);
    answer.blocks.push(Block::text("Half past six."));
    session.messages.push(answer);
    let made = ClaudeCode::from_common(&session, &Target::default()).unwrap();
    assert_eq!(made.losses.count(LossKind::FieldFilled), 1);
    let rows = made.value.body.transcript.shared_bytes();
    assert!(String::from_utf8_lossy(&rows).contains(r#""model":"unknown""#));
    let back = ClaudeCode::to_common(&made.value).unwrap().session;
    assert_eq!((&back.messages[0].model, &back.meta.model), (&None, &None));
}

// https://github.com/ccusage/ccusage/issues/888 (fault 2)
#[test]
fn an_answer_split_over_rows_is_one_message_with_its_last_token_counts() {
    let thinking = r#"{"type":"thinking","thinking":"hm","signature":"c2ln"}"#;
    let common = read(&[
        user("u1", "", "go"),
        assistant("a1", "u1", "msg_1", thinking, 2),
        assistant("a2", "a1", "msg_1", TEXT, 2),
        assistant("a3", "a2", "msg_1", CALL, 812),
    ]);
    let [_, answer] = common.session.messages.as_slice() else { panic!() };
    assert_eq!((answer.blocks.len(), answer.sources.len()), (3, 3));
    assert_eq!(common.session.calls.len(), 1);
    assert_eq!(common.session.calls[0].usage.output, Some(812));
}

// https://github.com/ccusage/ccusage/issues/976 (fault 3)
#[test]
fn usage_without_a_request_id_is_counted_once_for_each_message_id() {
    let row = |uuid: &str, parent: &str| assistant(uuid, parent, "chatcmpl-x", TEXT, 5);
    let common = read(&[user("u1", "", "go"), row("a1", "u1"), row("a2", "a1"), row("a3", "a2")]);
    assert_eq!(common.session.own_usage().output, Some(5));
}

// https://github.com/anthropics/claude-code/issues/62301 (fault 8)
#[test]
fn the_live_branch_is_the_one_that_the_last_prompt_row_names() {
    let mut rows = vec![
        user("u1", "", "start"),
        user("u2", "u1", "old branch"),
        user("u3", "u1", "live branch"),
        user("u4", "u3", "its end"),
        user("u5", "u2", "grafted later"),
    ];
    assert_eq!(said(&read(&rows).session), ["start", "old branch", "grafted later"]);
    rows.push(r#"{"type":"last-prompt","leafUuid":"u3"}"#.to_owned());
    let session = read(&rows).session;
    assert_eq!(said(&session), ["start", "live branch", "its end"]);
    assert_eq!(session.branches().len(), 2);
}

// https://github.com/anthropics/claude-code/issues/58554 (fault 9)
#[test]
fn a_parent_that_was_never_written_joins_the_row_before() {
    let common = read(&[user("u1", "", "one"), user("u2", "gone", "two"), user("u3", "u2", "three")]);
    assert_eq!(said(&common.session), ["one", "two", "three"]);
    assert_eq!(count(&common, FindingKind::DanglingParent), 1);
}

// https://github.com/zhukunpenglinyutong/jetbrains-cc-gui/pull/1696 (fault 10)
#[test]
fn the_history_goes_on_across_a_compaction() {
    let (_, common) = load(&fixture("2.1.332", "659ed322"));
    let session = &common.session;
    assert_eq!(session.compactions.len(), 1);
    let compaction = &session.compactions[0];
    assert_eq!((compaction.trigger.as_deref(), compaction.tokens_before), (Some("manual"), Some(157)));
    let kept = session.message(compaction.first_kept.as_ref().unwrap()).unwrap();
    assert_eq!(kept.role, Role::Assistant);
    let people = said(session);
    assert!(people.iter().any(|text| text == "First question before the compaction"));
    assert!(people.iter().any(|text| text == "Question after the compaction"));
    let model = session.view(&Selection { from_compaction: true, ..Selection::default() });
    assert_eq!(model.messages[0].origin, Origin::Summary);
    assert!(model.before_compaction > 0);
}

// https://github.com/anthropics/claude-code/issues/92089 (fault 10)
#[test]
fn rows_that_are_written_again_after_a_compaction_count_once() {
    let boundary = r#"{"parentUuid":null,"logicalParentUuid":"a1","type":"system","subtype":"compact_boundary","uuid":"b1","compactMetadata":{"trigger":"auto"}}"#;
    let summary = r#"{"parentUuid":"b1","type":"user","isCompactSummary":true,"message":{"role":"user","content":"summary"},"uuid":"s1"}"#;
    let common = read(&[
        user("u1", "", "go"),
        assistant("a1", "u1", "msg_1", TEXT, 5),
        boundary.to_owned(),
        summary.to_owned(),
        assistant("x1", "s1", "msg_2", TEXT, 1),
        assistant("a9", "x1", "msg_1", TEXT, 5),
    ]);
    let answers = common.session.messages.iter().filter(|m| m.role == Role::Assistant);
    assert_eq!(answers.map(|m| m.blocks.len()).collect::<Vec<_>>(), [1, 1]);
    assert_eq!(common.session.calls.len(), 2);
}

#[test]
fn results_of_parallel_calls_are_no_branches() {
    let (_, common) = load(&fixture("2.1.332", "2beb2722"));
    assert_eq!(common.session.branches().len(), 1);
    assert_eq!(common.session.view(&Selection::default()).on_other_branches, 0);
    let counts = common.session.counts();
    assert!(counts.tool_calls > 4 && counts.tool_calls == counts.tool_results);
}

// https://github.com/ctxrs/ctx/pull/663 (fault 23)
#[test]
fn of_rows_with_one_id_the_last_counts_at_the_place_of_the_first() {
    let common = read(&[
        user("u1", "", "draft"),
        user("u2", "u1", "next"),
        user("u1", "", "final"),
        user("u3", "u2", "end"),
    ]);
    assert_eq!(said(&common.session), ["final", "next", "end"]);
    assert_eq!(count(&common, FindingKind::RepeatedId), 1);
}

// https://github.com/anthropics/claude-code/issues/5034 (fault 24)
#[test]
fn a_resume_that_copied_the_history_says_so() {
    let (_, common) = load(&fixture("1.0.60", "525e469c"));
    let [lineage] = common.session.lineage.as_slice() else { panic!("{:?}", common.session.lineage) };
    assert_eq!((lineage.relation, &lineage.parent), (Relation::Resumed, &None));
    let copied: Vec<bool> = common.session.messages.iter().map(|message| message.inherited).collect();
    assert!(copied[0] && !copied[copied.len() - 1], "{copied:?}");
    // When the copied turns really were is not in this file (fault 57).
    assert!(common.session.messages.iter().all(|message| message.inherited != message.at.is_some()));
    assert_eq!(common.session.own_usage().output, Some(22));
}

#[test]
fn a_fork_names_its_parent_where_the_rows_do() {
    let row = |uuid: &str, parent: &str, made_by: &str| {
        let names = format!(r#""type":"assistant","sessionId":"own","requestSessionId":"{made_by}""#);
        assistant(uuid, parent, uuid, TEXT, 1).replace(r#""type":"assistant""#, &names)
    };
    let common = read(&[
        user("u1", "", "go"),
        row("a1", "u1", "parent"),
        user("u2", "a1", "on"),
        row("a2", "u2", "own"),
    ]);
    let [lineage] = common.session.lineage.as_slice() else { panic!() };
    assert_eq!(lineage.relation, Relation::Forked);
    assert_eq!(lineage.parent.as_ref().unwrap().as_str(), "parent");
    let copied: Vec<bool> = common.session.messages.iter().map(|message| message.inherited).collect();
    assert_eq!(copied, [true, true, false, false]);
    assert_eq!(common.session.own_usage().output, Some(1));
}

#[test]
fn a_real_fork_counts_its_copied_calls_with_its_parent() {
    let (parent, before) = load(&fixture("2.1.332", "9b2833e7"));
    let (_, fork) = load(&fixture("2.1.332", "146abe4a"));
    assert_eq!(fork.session.lineage[0].parent.as_ref(), Some(&parent.id));
    assert!(fork.session.calls.iter().any(|call| call.inherited));
    let copied = fork.session.calls.iter().filter(|call| call.inherited);
    let known: Vec<_> = before.session.calls.iter().map(|call| call.api_id.clone()).collect();
    assert!(copied.into_iter().all(|call| known.contains(&call.api_id)));
}

#[test]
fn a_subagent_in_the_same_file_stands_beside_the_conversation() {
    let (_, common) = load(&fixture("1.0.60", "efb7f002"));
    let beside: Vec<_> = common.session.messages.iter().filter(|message| message.sidechain).collect();
    assert_eq!(beside.len(), 2);
    assert_eq!(beside[0].origin, Origin::Agent);
    let live = common.session.view(&Selection::default());
    assert!(live.messages.iter().all(|message| !message.sidechain));
}

// https://github.com/AgentWorkforce/relayhistory/pull/97 (fault 7)
#[test]
fn a_subagent_has_an_id_of_its_own_although_its_rows_name_the_parent() {
    let (transcript, common) = load(&fixture("2.1.332", "agent-afc6dde99f2bcef8a"));
    assert_eq!(transcript.id.as_str(), "e9892c41-53eb-4318-8f5c-12357e8f85e3/afc6dde99f2bcef8a");
    let lineage = &common.session.lineage[0];
    assert_eq!(lineage.relation, Relation::Spawned);
    assert_eq!(lineage.parent.as_ref().unwrap().as_str(), "e9892c41-53eb-4318-8f5c-12357e8f85e3");
    assert_eq!(lineage.agent.as_deref(), Some("afc6dde99f2bcef8a"));
}

#[test]
fn what_nobody_typed_is_no_prompt() {
    let (_, common) = load(&fixture("2.1.332", "e9892c41"));
    let report = common.session.messages.iter().find(|m| m.origin == Origin::Agent).unwrap();
    assert!(report.texts().next().unwrap().starts_with("<task-notification>"));
    let (_, common) = load(&fixture("2.1.332", "659ed322"));
    let messages = &common.session.messages;
    assert_eq!(messages.iter().filter(|message| message.origin == Origin::Harness).count(), 2);
    let commands = messages.iter().flat_map(|message| &message.blocks).filter_map(|block| match block {
        Block::Command(command) => Some((command.name.as_str(), command.args.as_deref())),
        _ => None,
    });
    assert_eq!(commands.collect::<Vec<_>>(), [("/compact", Some("keep the names"))]);
}

#[test]
fn an_error_of_the_provider_is_not_the_model_speaking() {
    let (_, common) = load(&fixture("2.1.332", "9b2833e7"));
    let error = common.session.messages.iter().find(|m| m.stop == Some(StopReason::Error)).unwrap();
    assert_eq!((error.role, error.origin, &error.model), (Role::Assistant, Origin::Harness, &None));
    let written = ClaudeCode::from_common(&common.session, &Target::default()).unwrap();
    assert!(written.losses.has(LossKind::InjectedContext));
}

#[test]
fn pictures_and_documents_are_read_where_they_stand() {
    let (_, common) = load(&fixture("2.1.332", "3d85bb5b"));
    let first = &common.session.messages[0];
    assert!(first.blocks.iter().any(|block| matches!(block, Block::Image(_))));
    let name = first.blocks.iter().find_map(|block| match block {
        Block::Document(document) => document.name.clone(),
        _ => None,
    });
    assert_eq!(name.as_deref(), Some("paper.pdf"));
}

#[test]
fn a_failed_command_is_an_error_and_keeps_what_the_program_knows() {
    let (_, common) = load(&fixture("2.1.332", "2beb2722"));
    let blocks = common.session.messages.iter().flat_map(|message| &message.blocks);
    let results: Vec<_> = blocks
        .filter_map(|block| match block {
            Block::ToolResult(result) => Some(result),
            _ => None,
        })
        .collect();
    assert_eq!(results.iter().filter(|result| result.outcome == Outcome::Error).count(), 2);
    assert!(results.iter().any(|result| result.structured.is_some()));
}

#[test]
fn a_title_that_a_person_gave_stands_above_the_others() {
    let common = read(&[
        r#"{"type":"custom-title","customTitle":"mine","sessionId":"s"}"#.to_owned(),
        r#"{"type":"summary","summary":"of another file","leafUuid":"elsewhere"}"#.to_owned(),
        user("u1", "", "go"),
        r#"{"type":"ai-title","aiTitle":"generated"}"#.to_owned(),
    ]);
    let title = common.session.meta.title.unwrap();
    assert_eq!((title.text.as_str(), title.origin), ("mine", TitleOrigin::Person));
}

#[test]
fn a_summary_is_a_title_only_of_the_file_that_has_its_row() {
    let summary = r#"{"type":"summary","summary":"title","leafUuid":"u1"}"#.to_owned();
    assert!(read(&[summary.clone(), user("u1", "", "go")]).session.meta.title.is_some());
    assert_eq!(read(&[summary, user("u2", "", "go")]).session.meta.title, None);
}

// https://github.com/klein-t/teebe/pull/77 (fault 35)
#[test]
fn the_directory_of_each_message_is_kept() {
    let at = |uuid: &str, parent: &str, cwd: &str| {
        user(uuid, parent, "x").replace(r#""type":"user""#, &format!(r#""type":"user","cwd":"{cwd}""#))
    };
    let common = read(&[at("u1", "", "/repo"), at("u2", "u1", "/repo/.claude/worktrees/x")]);
    assert_eq!(common.session.meta.cwd.as_deref(), Some("/repo"));
    assert_eq!(common.session.messages[1].cwd.as_deref(), Some("/repo/.claude/worktrees/x"));
}

// https://github.com/anthropics/claude-code/issues/68325 (fault 20)
#[test]
fn half_a_surrogate_pair_loses_no_row() {
    let common = read(&[user("u1", "", "\\ud99c abc")]);
    assert_eq!(said(&common.session), ["\u{fffd} abc"]);
    assert_eq!(count(&common, FindingKind::LoneSurrogate), 1);
    let written = ClaudeCode::from_common(&common.session, &Target::default()).unwrap();
    assert!(!String::from_utf8_lossy(written.value.body.transcript.bytes()).contains("\\ud99c"));
}

// https://github.com/siteboon/claudecodeui/issues/1002 (fault 19)
#[test]
fn a_line_separator_inside_a_string_ends_no_row() {
    let common = read(&[user("u1", "", "a\u{2028}b\u{85}c")]);
    assert_eq!(said(&common.session), ["a\u{2028}b\u{85}c"]);
}

// https://github.com/anthropics/claude-code/issues/76059 (fault 21)
#[test]
fn a_run_of_nul_bytes_leaves_the_rows_around_it() {
    let rows = format!("{}{}\n{}\n", user("u1", "", "one"), "\0".repeat(9000), user("u2", "u1", "two"));
    let common = read(&[rows]);
    assert_eq!(said(&common.session), ["one", "two"]);
    assert_eq!(count(&common, FindingKind::NulRun), 1);
}

// https://github.com/viggy28/recall/issues/38 (fault 74)
#[test]
fn a_byte_order_mark_and_carriage_returns_do_not_matter() {
    let rows = format!("\u{feff}{}\r\n{}\r\n", user("u1", "", "one"), user("u2", "u1", "two"));
    assert_eq!(said(&read(&[&rows]).session), ["one", "two"]);
    let again = ClaudeCode::to_text(&ClaudeCode::from_text(rows.as_bytes()).unwrap()).unwrap();
    assert_eq!(again, rows.as_bytes());
}

#[test]
fn two_rows_on_one_line_are_two_messages() {
    let common = read(&[user("u1", "", "one") + &user("u2", "u1", "two")]);
    assert_eq!(said(&common.session), ["one", "two"]);
    assert_eq!(count(&common, FindingKind::SeveralValues), 1);
}

#[test]
fn calls_and_results_without_ids_are_paired_in_order() {
    let call = r#"{"type":"tool_use","name":"Bash","input":{"command":"ls"}}"#;
    let result = |uuid: &str, parent: &str| {
        user(uuid, parent, "")
            .replace(r#""content":"""#, r#""content":[{"type":"tool_result","content":"done"}]"#)
    };
    let common = read(&[
        user("u1", "", "go"),
        assistant("a1", "u1", "m1", call, 1),
        result("r1", "a1"),
        result("r2", "r1"),
    ]);
    let counts = common.session.counts();
    assert_eq!((counts.tool_calls, counts.tool_results), (1, 2));
    assert_eq!(count(&common, FindingKind::CallWithoutResult), 0);
    assert_eq!(count(&common, FindingKind::ResultWithoutCall), 1);
}

#[test]
fn parents_in_a_circle_are_cut_and_named() {
    let common = read(&[user("u1", "u2", "one"), user("u2", "u1", "two")]);
    assert_eq!(count(&common, FindingKind::ParentCycle), 1);
    assert_eq!(common.session.messages.len(), 2);
}

// https://github.com/anthropics/claude-code/issues/80175 (fault 42)
#[test]
fn the_mirror_of_a_picture_is_a_part_of_the_file_in_memory() {
    let (transcript, common) = load(&fixture("2.1.332", "3d85bb5b"));
    let file = transcript.body.transcript.bytes().as_ptr_range();
    let mut mirrors = 0;
    for block in common.session.messages.iter().flat_map(|message| &message.blocks) {
        if let Block::ToolResult(result) = block
            && let Some(json) = &result.structured
        {
            assert!(file.contains(&json.as_str().as_ptr()));
            mirrors += 1;
        }
    }
    assert_eq!(mirrors, 1);
}

#[test]
fn another_programs_rows_are_refused_by_name() {
    let error = ClaudeCode::from_text(br#"{"sessionId":"x","workspace":"/w","agent":"a","messages":[]}"#);
    assert!(error.unwrap_err().to_string().contains("Claude Code"));
}

#[test]
fn an_id_that_the_program_would_refuse_is_refused() {
    let (_, common) = load(&fixture("2.1.332", "2beb2722"));
    let target = Target { id: Some("my-session".into()), ..Target::default() };
    let error = ClaudeCode::from_common(&common.session, &target).unwrap_err();
    assert!(error.to_string().contains("UUID"));
}

#[test]
fn a_compaction_is_written_with_its_summary_and_what_was_kept() {
    let (_, common) = load(&fixture("2.1.332", "659ed322"));
    let written = ClaudeCode::from_common(&common.session, &Target::default()).unwrap();
    assert!(!written.losses.has(LossKind::CompactionSummary));
    assert!(!written.losses.has(LossKind::CompactionMarker));
    let again = ClaudeCode::to_common(&written.value).unwrap().session;
    assert_eq!(again.compactions.len(), 1);
    assert_eq!(again.compactions[0].tokens_before, Some(157));
    assert!(again.compactions[0].first_kept.is_some());
    let from = Selection { from_compaction: true, ..Selection::default() };
    let texts = |session: &Session| -> Vec<String> {
        let view = session.view(&from);
        let texts = view.messages.iter().flat_map(|message| message.texts()).map(ToString::to_string);
        // The output of the command is put there by the program, and is not carried.
        texts.filter(|text| !text.starts_with("<local-command")).collect()
    };
    assert_eq!(texts(&again), texts(&common.session));
}

#[test]
fn usage_titles_models_and_branches_are_carried() {
    let (_, common) = load(&fixture("2.1.332", "2beb2722"));
    let mut session = common.session;
    session.meta.title = Some(ibid_model::Title { text: "A name".into(), origin: TitleOrigin::Person });
    let written = ClaudeCode::from_common(&session, &Target::default()).unwrap();
    let again = ClaudeCode::to_common(&written.value).unwrap().session;
    assert_eq!(again.own_usage(), session.own_usage());
    assert_eq!(again.meta.title, session.meta.title);
    assert_eq!(again.meta.model, session.meta.model);
    assert_eq!(again.meta.git_branch, session.meta.git_branch);
    assert!(!written.losses.has(LossKind::Usage) && !written.losses.has(LossKind::StructuredResult));
}

#[test]
fn a_subagent_is_written_beside_its_parent() {
    let (_, common) = load(&fixture("2.1.332", "agent-afc6dde99f2bcef8a"));
    let parent = "22222222-2222-4222-8222-222222222222";
    let target = Target { parent: Some(parent.into()), ..Target::default() };
    let written = ClaudeCode::from_common(&common.session, &target).unwrap().value;
    assert!(written.id.as_str().starts_with(&format!("{parent}/a")));
    let again = ClaudeCode::to_common(&written).unwrap().session;
    assert!(again.messages.iter().all(|message| message.sidechain));
    assert_eq!(again.lineage[0].parent.as_ref().unwrap().as_str(), parent);
}
