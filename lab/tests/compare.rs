//! The comparison of what was converted with what the real program sent, on logs of real runs and
//! on logs with one thing changed. The logs are in `lab/fixtures/`, which says how they were made.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that fails shall say where")]

use std::path::{Path, PathBuf};

use ibid_harness::Target;
use ibid_lab::compare::{Question, Verdict, compare};
use ibid_model::{LossKind, Losses, Selection, Session};
use ibid_testkit::provider::{Exchange, log};
use serde_json::{Value, json};

const PROMPT: &str = "And now, what was all that about?";

/// One run: the source, what its conversion reports, and what the program then sent.
struct Run {
    source: Session,
    losses: Losses,
    target: &'static str,
    exchanges: Vec<Exchange>,
}

const CLAUDE: &str = "claude-code/2.1.332/.claude/projects/-home-dev-demo";
const CODEX: &str = "codex/0.171.0/.codex/sessions/2026/11/30";
const PI: &str = "pi/1.6.0/.pi/agent/sessions/--home-dev-demo--";

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

impl Run {
    fn of(from: &str, file: &str, to: &'static str) -> Run {
        let text = std::fs::read(repository().join("fixtures").join(file)).unwrap();
        let transcript = ibid_harness::find(from).unwrap().from_text(&text).unwrap();
        let source = transcript.to_common().unwrap().session;
        let wish = Target { cwd: Some("/home/dev/demo".into()), ..Target::default() };
        let losses = ibid_harness::find(to).unwrap().from_common(&source, &wish).unwrap().losses;
        let log_file = repository().join(format!("lab/fixtures/resumed/{from}-to-{to}.jsonl"));
        Run { source, losses, target: to, exchanges: log::read(&log_file).unwrap() }
    }

    fn claude_to_codex() -> Run {
        Run::of("claude-code", &format!("{CLAUDE}/2beb2722-0229-4018-8f0c-897a97e5366b.jsonl"), "codex")
    }

    fn codex_to(to: &'static str) -> Run {
        let file = "rollout-2026-11-30T13-35-56-01a22cab-5832-7913-8332-be8655ac4745.jsonl";
        Run::of("codex", &format!("{CODEX}/{file}"), to)
    }

    fn claude_to_pi() -> Run {
        Run::of("claude-code", &format!("{CLAUDE}/3d85bb5b-988b-4440-bf93-2025aa7818ce.jsonl"), "pi")
    }

    fn pi_to_claude() -> Run {
        let file = "2026-11-30T13-26-27-147Z_01a22ca2-a84a-725a-9295-eeee7428bd4b.jsonl";
        Run::of("pi", &format!("{PI}/{file}"), "claude-code")
    }

    /// The messages (or items) of the request.
    fn messages(&mut self) -> &mut Vec<Value> {
        let body = self.exchanges[0].body.as_mut().unwrap().as_object_mut().unwrap();
        let key = if body.contains_key("input") { "input" } else { "messages" };
        body[key].as_array_mut().unwrap()
    }

    /// The position of the message (or item) that holds this text.
    fn position(&mut self, text: &str) -> usize {
        self.messages().iter().position(|message| message.to_string().contains(text)).unwrap()
    }

    fn verdict(&self) -> Verdict {
        let target = ibid_harness::find(self.target).unwrap().declaration().id;
        let question = Question {
            source: &self.source,
            selection: &Selection::default(),
            with_subagents: false,
            losses: &self.losses,
            target,
            exchanges: &self.exchanges,
            prompt: PROMPT,
        };
        compare(&question).unwrap()
    }

    /// The report without one entry.
    fn without(mut self, kind: LossKind) -> Run {
        let mut losses = serde_json::to_value(&self.losses).unwrap();
        losses.as_array_mut().unwrap().retain(|loss| loss["kind"] != kind.code());
        self.losses = serde_json::from_value(losses).unwrap();
        self
    }
}

fn only<T>(all: &[T]) -> &T {
    assert_eq!(all.len(), 1);
    &all[0]
}

#[test]
fn real_runs_of_every_pair_send_the_whole_conversation() {
    for run in [
        Run::claude_to_codex(),
        Run::codex_to("claude-code"),
        Run::codex_to("opencode"),
        Run::claude_to_pi(),
        Run::pi_to_claude(),
    ] {
        let verdict = run.verdict();
        assert!(verdict.passes(), "{} to {}:\n{verdict}", run.source.harness, run.target);
    }
}

#[test]
fn what_is_sent_is_counted_and_what_is_lost_is_explained_by_its_loss() {
    let verdict = Run::claude_to_pi().verdict();
    assert_eq!((verdict.sent.calls, verdict.sent.results, verdict.sent.pictures), (1, 1, 2));
    let kinds: Vec<LossKind> = verdict.explained.iter().map(|(_, kind)| *kind).collect();
    assert!(kinds.contains(&LossKind::Document) && kinds.contains(&LossKind::Thinking), "{kinds:?}");
}

#[test]
fn before_a_compaction_the_program_may_leave_out_what_the_summary_tells() {
    let verdict = Run::pi_to_claude().verdict();
    assert!(verdict.compacted > 0);
    let mut run = Run::pi_to_claude();
    let parts = run.messages()[0]["content"].as_array_mut().unwrap();
    parts.remove(0);
    assert!(only(&run.verdict().missing).what.contains("summary"));
}

#[test]
fn a_result_that_is_not_sent_is_missing() {
    let mut run = Run::claude_to_codex();
    let at = run.position("File created successfully");
    run.messages().remove(at);
    let verdict = run.verdict();
    assert_eq!(verdict.differences(), 1, "{verdict}");
    assert!(only(&verdict.missing).what.contains("the result of call 2"), "{verdict}");
}

#[test]
fn a_text_that_is_not_sent_is_missing() {
    let mut run = Run::codex_to("claude-code");
    let at = run.position("Thank you. What did you write?");
    run.messages().remove(at);
    let verdict = run.verdict();
    assert_eq!(verdict.differences(), 1, "{verdict}");
    assert!(only(&verdict.missing).what.contains("Thank you"), "{verdict}");
}

#[test]
fn a_call_that_is_not_sent_is_missing() {
    let mut run = Run::codex_to("opencode");
    let at = run.position("no_such_tool");
    run.messages().remove(at);
    let verdict = run.verdict();
    assert_eq!(verdict.differences(), 1, "{verdict}");
    assert!(only(&verdict.missing).what.contains("no_such_tool"), "{verdict}");
}

#[test]
fn turns_that_changed_places_are_out_of_order() {
    let mut run = Run::claude_to_codex();
    let (a, b) =
        (run.position("Thank you. What did you write?\""), run.position("Write hello.txt and show it"));
    run.messages().swap(a, b);
    let verdict = run.verdict();
    assert!(!verdict.out_of_order.is_empty(), "{verdict}");
    assert!(verdict.missing.is_empty() && verdict.extra.is_empty(), "{verdict}");
}

#[test]
fn results_that_changed_places_answer_the_wrong_calls() {
    let mut run = Run::claude_to_codex();
    let (a, b) = (run.position("File created successfully"), run.position("has been updated successfully"));
    let first = run.messages()[a]["output"].take();
    let second = run.messages()[b]["output"].take();
    run.messages()[a]["output"] = second;
    run.messages()[b]["output"] = first;
    let verdict = run.verdict();
    assert!(!verdict.passes() && verdict.missing.is_empty(), "{verdict}");
}

#[test]
fn a_result_under_the_id_of_another_call_answers_that_one() {
    let mut run = Run::codex_to("claude-code");
    let at = run.position("\"tool_use_id\":\"call_5471534b57c34cb18e00ede1\"");
    let results = run.messages()[at]["content"].as_array_mut().unwrap();
    let (first, second) = (results[0]["tool_use_id"].clone(), results[1]["tool_use_id"].clone());
    (results[0]["tool_use_id"], results[1]["tool_use_id"]) = (second, first);
    let verdict = run.verdict();
    assert_eq!(verdict.differences(), 2, "{verdict}");
    assert!(verdict.changed.iter().all(|one| one.how == "it answers another call"), "{verdict}");
}

#[test]
fn a_text_that_is_sent_again_is_there_twice() {
    let mut run = Run::codex_to("opencode");
    let at = run.position("Thank you. What did you write?");
    let again = run.messages()[at].clone();
    run.messages().insert(at, again);
    let verdict = run.verdict();
    assert_eq!(verdict.differences(), 1, "{verdict}");
    assert!(only(&verdict.twice).what.contains("Thank you"), "{verdict}");
}

#[test]
fn an_argument_that_changed_is_named() {
    let mut run = Run::claude_to_codex();
    let at = run.position("echo mock-shell-output");
    run.messages()[at]["arguments"] = json!("{\"cmd\":\"echo other\",\"description\":\"Print a line\"}");
    let verdict = run.verdict();
    assert_eq!(verdict.differences(), 1, "{verdict}");
    let how = &only(&verdict.changed).how;
    assert!(how.contains("the argument command is") && how.contains("echo other"), "{how}");
}

#[test]
fn an_argument_that_is_gone_is_named() {
    let mut run = Run::codex_to("claude-code");
    let at = run.position("yield_time_ms\":1000");
    run.messages()[at]["content"][0]["input"].as_object_mut().unwrap().remove("yield_time_ms");
    let verdict = run.verdict();
    assert!(only(&verdict.changed).how.contains("yield_time_ms is missing"), "{verdict}");
}

#[test]
fn a_result_whose_text_changed_is_named() {
    let mut run = Run::codex_to("opencode");
    let at = run.position("zweite Zeile\\n\"}");
    run.messages()[at]["content"] = json!("hello from mock\nthird line\n");
    let verdict = run.verdict();
    assert_eq!(verdict.differences(), 1, "{verdict}");
    assert!(only(&verdict.changed).how.contains("third line"), "{verdict}");
}

#[test]
fn a_failed_call_that_reads_as_a_good_one_is_named() {
    let mut run = Run::codex_to("claude-code");
    let at = run.position("no_such_tool\",\"is_error\":true");
    run.messages()[at]["content"][0]["is_error"] = json!(false);
    let verdict = run.verdict();
    assert_eq!(only(&verdict.changed).unreported, [LossKind::ResultStatus], "{verdict}");
}

#[test]
fn a_picture_of_a_result_that_is_not_sent_is_missing() {
    let mut run = Run::claude_to_pi();
    let at = run.position("Attached image(s) from tool result:");
    run.messages().remove(at);
    let verdict = run.verdict();
    assert!(only(&verdict.missing).what.contains("picture"), "{verdict}");
}

#[test]
fn what_nobody_said_is_extra_even_where_it_looks_like_a_reminder() {
    for text in ["Continue.", "<system-reminder>\na\n</system-reminder>\nand the person's own words"] {
        let mut run = Run::codex_to("claude-code");
        run.messages().insert(2, json!({ "role": "user", "content": text }));
        let verdict = run.verdict();
        assert_eq!(verdict.differences(), 1, "{verdict}");
        assert_eq!(only(&verdict.extra).at, "/messages/2/content");
    }
}

#[test]
fn what_the_program_is_known_to_add_is_no_difference() {
    let mut run = Run::codex_to("claude-code");
    let reminder = "<system-reminder>\nanother one\n</system-reminder>";
    run.messages().insert(2, json!({ "role": "user", "content": reminder }));
    let verdict = run.verdict();
    assert!(verdict.passes(), "{verdict}");
    assert_eq!(verdict.added["system reminder"], 3);
}

#[test]
fn what_is_missing_needs_a_loss_that_names_its_message() {
    let verdict = Run::codex_to("claude-code").without(LossKind::Thinking).verdict();
    assert_eq!(verdict.missing.len(), 11, "{verdict}");
    let verdict = Run::claude_to_pi().without(LossKind::Document).verdict();
    assert!(only(&verdict.missing).what.contains("document"), "{verdict}");
    let verdict = Run::codex_to("claude-code").without(LossKind::ToolKeptRaw).verdict();
    assert!(verdict.passes(), "what the tool mapping reads back needs no loss: {verdict}");
}

#[test]
fn a_loss_that_did_not_happen_is_a_difference() {
    let mut run = Run::claude_to_pi();
    let message = run.source.messages.last().unwrap().id.clone();
    run.losses.add(LossKind::Image, None, Some(&message));
    run.losses.add(LossKind::Usage, Some("not sent, so not to be seen"), Some(&message));
    let verdict = run.verdict();
    assert_eq!(verdict.differences(), 1, "{verdict}");
    let unneeded = only(&verdict.unneeded);
    assert_eq!((unneeded.kind, unneeded.messages.as_slice()), (LossKind::Image, &[message][..]));
}

#[test]
fn a_run_whose_program_began_anew_holds_no_request_of_the_conversation() {
    let mut run = Run::claude_to_codex();
    let last = run.messages().pop().unwrap();
    *run.messages() = vec![last];
    let verdict = run.verdict();
    assert!(verdict.missing.len() > 10, "{verdict}");
    run.exchanges.clear();
    let verdict = run.verdict();
    assert!(!verdict.passes() && verdict.request.is_none());
}

#[test]
fn a_request_of_a_subagent_is_not_the_one_that_is_looked_at() {
    let mut run = Run::claude_to_codex();
    let mut child = run.exchanges[0].clone();
    child.headers.push(("x-openai-subagent".to_owned(), "collab_spawn".to_owned()));
    child.number = 0;
    run.exchanges.insert(0, child);
    assert_eq!(run.verdict().request, Some(1));
}

#[test]
fn a_verdict_names_the_first_differences_and_their_places() {
    let mut run = Run::claude_to_codex();
    let at = run.position("echo mock-shell-output");
    run.messages().remove(at);
    let text = run.verdict().to_string();
    assert!(text.contains("not the conversation (11 texts, 5 calls, 6 results"), "{text}");
    assert!(
        text.contains("missing: message 2 [e7e15d2d-df73-4d7f-b5d4-a2c6252d854f]: the call of Bash"),
        "{text}"
    );
}
