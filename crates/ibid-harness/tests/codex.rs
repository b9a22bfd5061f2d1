//! Codex: reading real rollouts.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test that cannot go on fails"
)]

use std::path::{Path, PathBuf};

use ibid_harness::codex::Codex;
use ibid_harness::{Codec, Common, Target, TextCodec, Transcript};
use ibid_model::{
    Block, CommandRule, FindingKind, Message, Relation, Rules, Selection, Session, ThinkingRule, essence,
    prepare,
};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/codex")
}

/// The rollout files below a folder, sorted.
fn rollouts(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.file_name().unwrap().to_string_lossy().starts_with("rollout-") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

fn transcript(part_of_name: &str) -> Transcript<Codex> {
    let path = rollouts(&fixtures()).into_iter().find(|path| path.to_string_lossy().contains(part_of_name));
    Codex::from_text(&std::fs::read(path.unwrap()).unwrap()).unwrap()
}

fn of_file(path: &Path) -> Common {
    Codex::to_common(&Codex::from_text(&std::fs::read(path).unwrap()).unwrap()).unwrap()
}

fn common(part_of_name: &str) -> Common {
    Codex::to_common(&transcript(part_of_name)).unwrap()
}

fn of_text(text: &str) -> Common {
    Codex::to_common(&Codex::from_text(text.as_bytes()).unwrap()).unwrap()
}

/// Who said what, on the live branch.
fn story(session: &Session) -> Vec<String> {
    session.view(&Selection::default()).messages.into_iter().map(line).collect()
}

fn line(message: &Message) -> String {
    let blocks: Vec<String> = message
        .blocks
        .iter()
        .map(|block| match block {
            Block::Text(text) => text.text.head(40).replace('\n', "/"),
            Block::Thinking(thinking) => format!("thinks({})", thinking.tokens.len()),
            Block::ToolUse(call) => format!("{}:{}", call.name, call.tool.kind()),
            Block::ToolResult(result) => {
                format!("{:?}={}", result.outcome, result.text().head(20).replace('\n', "/"))
            }
            Block::Image(_) => "picture".into(),
            other => format!("{other:?}").chars().take(30).collect(),
        })
        .collect();
    let inherited = if message.inherited { "(copied) " } else { "" };
    format!("{inherited}{:?}/{:?}: {}", message.role, message.origin, blocks.join(" | "))
}

/// What the corpus says about one file.
struct Row {
    file: String,
    class: String,
    id: String,
    numbers: [Option<u64>; 7],
}

/// The Codex rows of the corpus; none when there is no corpus.
fn rows() -> Option<(PathBuf, Vec<Row>)> {
    let corpus = PathBuf::from(std::env::var_os("IBID_CORPUS")?);
    let table = std::fs::read_to_string(corpus.join("EXPECT.tsv")).unwrap();
    let row = |line: &str| {
        let cells: Vec<&str> = line.split('\t').collect();
        let number = |at: usize| cells[at].parse().ok();
        Row {
            file: cells[0].into(),
            class: cells[1].into(),
            id: cells[3].into(),
            numbers: [number(6), number(7), number(8), number(9), number(10), number(11), number(12)],
        }
    };
    let rows = table.lines().filter(|line| line.starts_with("codex/")).map(row).collect();
    Some((corpus, rows))
}

#[test]
fn the_corpus_gets_its_numbers() {
    let Some((corpus, rows)) = rows() else {
        eprintln!("skipped: IBID_CORPUS is not set");
        return;
    };
    let mut wrong = Vec::new();
    for row in rows {
        let text = std::fs::read(corpus.join(&row.file)).unwrap();
        let read = Codex::from_text(&text).and_then(|transcript| Codex::to_common(&transcript));
        let session = match (row.class.as_str(), read) {
            ("session" | "sidecar", Ok(common)) => common.session,
            ("session" | "sidecar", Err(error)) => {
                wrong.push(format!("{}: {error}", row.file));
                continue;
            }
            (_, Err(_)) => continue,
            (class, Ok(_)) => {
                wrong.push(format!("{}: read, and is {class}", row.file));
                continue;
            }
        };
        assert_eq!(session.problems(), [], "{}", row.file);
        let mut found = numbers(&session);
        if row.file.ends_with("message_grouping__codex_session.jsonl") {
            // Two of its messages have no content, and a call in the form of an old API instead.
            found[2] = Some(session.counts().assistant);
        }
        if row.file.ends_with("__codex__small.jsonl") {
            // Its lines 33 and 116 are messages between agents, which no person typed.
            assert_eq!(found[1], Some(2));
            found[1] = Some(0);
        }
        if session.id.as_str() != row.id || found.iter().zip(&row.numbers).any(|(a, b)| b.is_some() && a != b)
        {
            wrong.push(format!(
                "{}: {} {found:?}, expected {} {:?}",
                row.file, session.id, row.id, row.numbers
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// User, injected, assistant, calls, results, input and output tokens, as the corpus counts them.
fn numbers(session: &Session) -> [Option<u64>; 7] {
    let counts = session.counts();
    let mut calls = std::collections::HashSet::new();
    for block in session.messages.iter().flat_map(|message| &message.blocks) {
        if let Block::ToolUse(call) = block {
            calls.insert(call.id.as_str());
        }
    }
    let usage = session.reported_usage;
    let input = usage.and_then(|usage| {
        Some(usage.input? + usage.cache_read.unwrap_or(0) + usage.cache_write.unwrap_or(0))
    });
    [
        Some(counts.prompts),
        Some(counts.injected),
        Some(counts.assistant_with_text),
        Some(calls.len() as u64),
        Some(counts.tool_results),
        input,
        usage.and_then(|usage| usage.output),
    ]
}

#[test]
fn the_person_and_the_model_are_told_apart_from_the_scaffolding() {
    let Common { session, findings } = common("01a22cab-73ec");
    assert_eq!(findings, []);
    assert_eq!(
        story(&session),
        [
            "System/Harness: <skills_instructions>[cut]</skills_instr | <permissions instructions>[cut]</permiss | <tools>[cut]</tools>",
            "User/Harness: <environment_context>/  <cwd>/home/dev/M",
            "User/Person: Please refuse (do-fail)",
            "User/Person: Where am I? (do-shell)",
            "Assistant/Model: thinks(1) | exec_command:shell",
            "User/Tools: Ok=mock-shell-output/",
            "Assistant/Model: thinks(1) | MOCK-REPLY step=1 <<Where am I? (do-shel",
        ]
    );
    assert_eq!(session.meta.preview.as_deref(), Some("Please refuse (do-fail)"));
    assert_eq!(session.meta.cwd.as_deref(), Some("/home/dev/My Project_2.0 (ö)"));
    assert_eq!(session.meta.model.as_deref(), Some("gpt-5.5"));
}

#[test]
fn turns_that_were_rolled_back_are_a_side_branch() {
    let session = common("01a22caf-f1fa").session;
    let story = story(&session);
    assert!(story.iter().any(|line| line.contains("First fact")));
    assert!(!story.iter().any(|line| line.contains("Second fact")), "{story:#?}");
    assert_eq!(session.branches().len(), 2);
    assert_eq!(session.compactions.len(), 1);
    // Four prompts and the summary of the compaction were calls; one more was the rolled back turn's.
    assert_eq!(session.calls.len(), 5);
}

// https://github.com/ccusage/ccusage/issues/950 (fault 1)
#[test]
fn the_copied_history_of_a_fork_counts_in_its_parent() {
    let session = common("01a22caf-f634").session;
    assert_eq!(session.id.as_str(), "01a22caf-f634-72e3-a04b-785956cef2c9");
    assert!(session.messages.iter().all(|message| message.inherited));
    assert_eq!(session.own_usage().input, None);
    let [lineage] = session.lineage.as_slice() else { panic!("{:?}", session.lineage) };
    assert_eq!(lineage.relation, Relation::Forked);
    assert_eq!(lineage.parent.as_ref().unwrap().as_str(), "01a22caf-f1fa-7d53-b159-e5abacdf6be4");
}

// https://github.com/ccusage/ccusage/issues/1349 (fault 1)
#[test]
fn a_subagents_copied_prefix_ends_where_its_header_says() {
    let session = common("01a22cab-6605").session;
    let own: Vec<_> = session.messages.iter().filter(|message| !message.inherited).map(line).collect();
    assert_eq!(own.len(), 3, "{own:#?}");
    assert!(own[1].starts_with("User/Agent: Message Type: NEW_TASK"), "{own:#?}");
    assert_eq!(session.calls.iter().filter(|call| !call.inherited).count(), 1);
    let [lineage] = session.lineage.as_slice() else { panic!("{:?}", session.lineage) };
    assert_eq!((lineage.relation, lineage.agent.as_deref()), (Relation::Spawned, Some("/root/mini_task")));
}

/// Header and turns of a fork whose copied part ends with `calls` counted calls.
fn fork(own_totals: &[u64]) -> String {
    let line = |second: u64, kind: &str, payload: &str| {
        format!(
            "{{\"timestamp\":\"2026-11-30T14:00:{second:02}.000Z\",\"type\":\"{kind}\",\"payload\":{payload}}}\n"
        )
    };
    let tokens = |total: u64| {
        let usage = format!(
            "{{\"input_tokens\":{total},\"cached_input_tokens\":0,\"output_tokens\":1,\"total_tokens\":{total}}}"
        );
        let last =
            "{\"input_tokens\":100,\"cached_input_tokens\":0,\"output_tokens\":1,\"total_tokens\":101}";
        format!(
            "{{\"type\":\"token_count\",\"info\":{{\"total_token_usage\":{usage},\"last_token_usage\":{last}}}}}"
        )
    };
    let turn = |id: &str| format!("{{\"turn_id\":\"{id}\",\"cwd\":\"/w\",\"model\":\"m\"}}");
    let mut text = line(
        0,
        "session_meta",
        r#"{"id":"01a22caf-f634-72e3-a04b-785956cef2c9","forked_from_id":"01a22caf-f1fa-7d53-b159-e5abacdf6be4","cwd":"/w"}"#,
    );
    text += &line(0, "session_meta", r#"{"id":"01a22caf-f1fa-7d53-b159-e5abacdf6be4","cwd":"/w"}"#);
    text += &line(0, "turn_context", &turn("01a22caf-f201-7d72-9945-b83c67e26c2c"));
    text += &line(0, "event_msg", &tokens(100));
    text += &line(9, "turn_context", &turn("01a22caf-f99e-74a2-8fd7-834426ee94fc"));
    for total in own_totals {
        text += &line(9, "event_msg", &tokens(*total));
    }
    text
}

// https://github.com/getagentseal/codeburn/issues/413 (fault 29)
#[test]
fn two_forks_with_equal_turns_each_count_their_own() {
    for _ in 0..2 {
        let session = of_text(&fork(&[200])).session;
        assert_eq!(session.own_usage().input, Some(100));
    }
}

#[test]
fn a_counter_that_is_written_twice_counts_once() {
    let session = of_text(&fork(&[200, 200, 300])).session;
    assert_eq!(session.own_usage().input, Some(200));
    assert_eq!(session.reported_usage.unwrap().input, Some(300));
}

// https://github.com/junhoyeo/tokscale/pull/501 (fault 45)
#[test]
fn tokens_that_come_before_the_model_wait_for_it() {
    let text = r#"{"timestamp":"2026-11-30T14:00:00Z","type":"session_meta","payload":{"id":"a","cwd":"file:///%"}}
{"timestamp":"2026-11-30T14:00:01Z","type":"turn_context","payload":{"model":""}}
{"timestamp":"2026-11-30T14:00:01Z","type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":5,"output_tokens":1},"last_token_usage":{"input_tokens":5,"output_tokens":1}}}}
{"timestamp":"2026-11-30T14:00:02Z","type":"turn_context","payload":{"model":"gpt-5"}}
"#;
    let session = of_text(text).session;
    assert_eq!(session.calls.len(), 1);
    assert_eq!(session.calls[0].model.as_deref(), Some("gpt-5"));
    let cut: String = text.lines().take(3).collect::<Vec<_>>().join("\n");
    assert_eq!(of_text(&cut).session.calls[0].model, None);
}

// https://github.com/pacphi/agentic-kit/issues/170 (fault 11)
#[test]
fn each_vocabulary_alone_tells_the_conversation() {
    let header = r#"{"timestamp":"2026-11-30T14:00:00Z","type":"session_meta","payload":{"id":"a"}}"#;
    let items = [
        r#"{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Q"}]}}"#,
        r#"{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"A"}]}}"#,
    ];
    let messages = [
        r#"{"type":"event_msg","payload":{"type":"user_message","message":"Q"}}"#,
        r#"{"type":"event_msg","payload":{"type":"agent_message","message":"A"}}"#,
    ];
    let completed = [
        r#"{"type":"event_msg","payload":{"type":"item_completed","item":{"type":"UserMessage","content":[{"type":"text","text":"Q"}]}}}"#,
        r#"{"type":"event_msg","payload":{"type":"item_completed","item":{"type":"AgentMessage","content":[{"type":"Text","text":"A"}]}}}"#,
    ];
    let all: Vec<&str> = (0..2).flat_map(|side| [completed[side], messages[side], items[side]]).collect();
    for lines in [items.to_vec(), messages.to_vec(), completed.to_vec(), all] {
        let text = format!("{header}\n{}\n", lines.join("\n"));
        assert_eq!(story(&of_text(&text).session), ["User/Person: Q", "Assistant/Model: A"], "{text}");
    }
}

// https://github.com/pacphi/agentic-kit/issues/170 (fault 11)
#[test]
fn records_without_turns_are_reported() {
    let common =
        of_text(r#"{"timestamp":"2026-11-30T14:00:00Z","type":"session_meta","payload":{"id":"a"}}"#);
    assert!(common.findings.iter().any(|finding| finding.kind == FindingKind::NoTurns));
}

// https://github.com/openai/codex/pull/3380 (fault 12)
#[test]
fn bare_lines_are_told_apart_one_by_one() {
    let text = r#"{"id":"0199aaaa-0000-7000-8000-00000000000a","timestamp":"2025-06-01T09:00:00.000Z","instructions":null}
{"record_type":"state"}
{"type":"message","role":"user","content":[{"type":"input_text","text":"Q"}]}
{"type":"function_call","name":"shell","arguments":"{\"command\":[\"ls\"]}","call_id":"c1"}
{"type":"function_call_output","call_id":"c1","output":"{\"output\":\"a\",\"metadata\":{\"exit_code\":0}}"}
{"timestamp":"2025-10-01T09:00:00.000Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"A"}]}}
"#;
    let session = of_text(text).session;
    assert_eq!(session.id.as_str(), "0199aaaa-0000-7000-8000-00000000000a");
    assert_eq!(
        story(&session),
        ["User/Person: Q", "Assistant/Model: shell:shell", "User/Tools: Ok=a", "Assistant/Model: A"]
    );
}

// https://github.com/openai/codex/issues/24425 (fault 13)
#[test]
fn a_file_whose_header_is_cut_is_read_all_the_same() {
    let text = r#"{"timestamp":"2026-11-30T14:00:00Z","type":"session_me
{"timestamp":"2026-11-30T14:00:01Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Q"}]}}
"#;
    let common = of_text(text);
    assert_eq!(common.session.counts().prompts, 1);
    let kinds: Vec<_> = common.findings.iter().map(|finding| finding.kind).collect();
    assert_eq!(kinds, [FindingKind::NotJson, FindingKind::MissingHeader]);
}

// https://github.com/openai/codex/issues/24425 (fault 4)
#[test]
fn two_records_on_one_line_are_two_records() {
    let text = concat!(
        r#"{"timestamp":"2026-11-30T14:00:00Z","type":"session_meta","payload":{"id":"a"}}"#,
        r#"{"timestamp":"2026-11-30T14:00:01Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Q"}]}}"#,
    );
    let common = of_text(text);
    assert_eq!(story(&common.session), ["User/Person: Q"]);
    assert!(common.findings.iter().any(|finding| finding.kind == FindingKind::SeveralValues));
}

// https://github.com/TheGaySupreme123/yoetz/issues/418 (fault 43)
#[test]
fn the_stream_that_exec_prints_is_refused_by_name() {
    let text = r#"{"type":"thread.started","thread_id":"01a22cab-5832-7913-8332-be8655ac4745"}
{"type":"turn.started"}
{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"A"}}
"#;
    let error = Codex::from_text(text.as_bytes()).unwrap_err();
    assert!(error.to_string().contains("codex exec --json"), "{error}");
}

/// A session of one prompt, which is this JSON string.
fn prompt(json: &str) -> String {
    format!(
        "{{\"timestamp\":\"2026-11-30T14:00:00Z\",\"type\":\"session_meta\",\"payload\":{{\"id\":\"a\"}}}}\n\
         {{\"timestamp\":\"2026-11-30T14:00:01Z\",\"type\":\"response_item\",\"payload\":{{\"type\":\"message\",\"role\":\"user\",\
         \"content\":[{{\"type\":\"input_text\",\"text\":{json}}}]}}}}\n"
    )
}

fn first_text(session: &Session) -> String {
    session.messages[0].texts().next().unwrap().to_string()
}

// https://github.com/siteboon/claudecodeui/issues/1002 (fault 19)
#[test]
fn a_line_separator_inside_a_string_is_text() {
    let common = of_text(&prompt("\"a\u{2028}b\u{85}c\""));
    assert_eq!(first_text(&common.session), "a\u{2028}b\u{85}c");
    assert_eq!(common.findings, []);
}

// https://github.com/anthropics/claude-code/issues/68325 (fault 20)
#[test]
fn half_of_a_surrogate_pair_is_replaced_and_named() {
    let text = prompt(r#""x\ud99c y""#);
    let common = of_text(&text);
    assert_eq!(first_text(&common.session), "x\u{fffd} y");
    let kinds: Vec<_> = common.findings.iter().map(|finding| finding.kind).collect();
    assert_eq!(kinds, [FindingKind::LoneSurrogate]);
    let transcript = Codex::from_text(text.as_bytes()).unwrap();
    assert!(Codex::to_text(&transcript).unwrap() == text.as_bytes());
}

#[test]
fn of_a_key_that_stands_twice_deep_inside_the_last_counts() {
    let text = prompt("\"first\",\"text\":\"last\"");
    let common = of_text(&text);
    assert_eq!(first_text(&common.session), "last");
    assert!(common.findings.iter().any(|finding| finding.kind == FindingKind::DuplicateKey));
}

// https://github.com/anthropics/claude-code/issues/76059 (fault 21)
#[test]
fn a_run_of_nul_bytes_loses_nothing_around_it() {
    let text = prompt("\"Q\"").replacen('\n', "\n\0\0\0\0\n", 1);
    let common = of_text(&text);
    assert_eq!(first_text(&common.session), "Q");
    assert!(common.findings.iter().any(|finding| finding.kind == FindingKind::NulRun));
}

// https://github.com/viggy28/recall/issues/38 (fault 74)
#[test]
fn a_byte_order_mark_and_carriage_returns_are_no_hindrance() {
    let text = format!("\u{feff}{}", prompt("\"Q\"").replace('\n', "\r\n"));
    let transcript = Codex::from_text(text.as_bytes()).unwrap();
    assert_eq!(first_text(&Codex::to_common(&transcript).unwrap().session), "Q");
    assert!(Codex::to_text(&transcript).unwrap() == text.as_bytes());
}

// https://github.com/openai/codex/issues/35003 (fault 57)
#[test]
fn a_copied_record_does_not_have_the_time_of_the_copy() {
    let session = common("01a22caf-f634").session;
    assert!(session.messages.iter().all(|message| message.at.is_none()));
    // The copies of 0.171 say themselves when they were made.
    let session = common("01a22cab-6605").session;
    let copied: Vec<_> = session.messages.iter().filter(|message| message.inherited).collect();
    let parent = common("01a22cab-65b0").session;
    assert!(copied.iter().any(|message| message.at.is_some() && message.at < parent.meta.updated));
}

// https://github.com/alp82/aistack/issues/73 (fault 44)
#[test]
fn another_originator_is_named_and_a_model_is_not_made_up() {
    let text = prompt("\"Q\"").replace("\"id\":\"a\"", "\"id\":\"a\",\"originator\":\"opencode\"");
    let common = of_text(&text);
    assert_eq!(common.session.meta.originator.as_deref(), Some("opencode"));
    assert_eq!(common.session.meta.model, None);
    assert!(common.findings.iter().any(|finding| finding.kind == FindingKind::ForeignOriginator));
}

// https://github.com/klein-t/teebe/pull/77 (fault 35)
#[test]
fn the_place_of_a_thread_is_where_it_began() {
    let mut text = prompt("\"Q\"").replace("\"id\":\"a\"", "\"id\":\"a\",\"cwd\":\"/first\"");
    text += "{\"timestamp\":\"2026-11-30T14:00:02Z\",\"type\":\"turn_context\",\"payload\":{\"cwd\":\"/second\",\"model\":\"m\"}}\n";
    assert_eq!(of_text(&text).session.meta.cwd.as_deref(), Some("/first"));
}

// https://github.com/handochan/aelix-ai/issues/135 (fault 58)
#[test]
fn a_text_form_is_the_bytes_of_the_file() {
    for path in rollouts(&fixtures()) {
        let bytes = std::fs::read(&path).unwrap();
        assert!(Codex::to_text(&Codex::from_text(&bytes).unwrap()).unwrap() == bytes, "{}", path.display());
    }
}

#[test]
fn counters_and_models_survive_the_way_there_and_back() {
    let session = common("01a22cab-5832").session;
    let written = Codex::from_common(&session, &Target::default()).unwrap().value;
    let again = Codex::to_common(&written).unwrap().session;
    assert_eq!(again.own_usage(), session.own_usage());
    assert_eq!(again.meta.model, session.meta.model);
    assert_eq!(again.meta.preview, session.meta.preview);
    assert_eq!(again.meta.cwd, session.meta.cwd);
}

#[test]
fn the_same_conversion_gives_the_same_bytes() {
    let session = common("01a22cab-5832").session;
    let text = || Codex::to_text(&Codex::from_common(&session, &Target::default()).unwrap().value).unwrap();
    assert!(text() == text());
}

#[test]
fn what_is_written_tells_the_same_story() {
    for path in rollouts(&fixtures()) {
        let Common { session, .. } = of_file(&path);
        let rules = Rules { thinking: ThinkingRule::Text, commands: CommandRule::Text, ..Rules::STRICT };
        let prepared = prepare(&session, &Selection::default(), &rules);
        let written = Codex::from_common(&session, &Target::default()).unwrap().value;
        let again = Codex::to_common(&written).unwrap().session;
        assert_eq!(again.problems(), []);
        let read: Vec<_> = again.view(&Selection::default()).messages;
        assert_eq!(essence(read), essence(&prepared.messages), "{}", path.display());
    }
}
