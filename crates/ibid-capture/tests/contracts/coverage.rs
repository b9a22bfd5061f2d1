//! The rules that our own cases must exercise. Whether a case exercises a rule is seen in the case
//! itself, not in what it says of itself, so that deleting the only case of a rule fails here.

use ibid_capture::envelope::{
    CWD, HARNESS_ID, HARNESS_METADATA, HARNESS_SESSION_ID, METADATA_BYTES, NAME_BYTES,
    PARENT_HARNESS_SESSION_ID, SESSION_NAME, UNKNOWN,
};
use serde_json::Value;

use crate::case::{self, Case};

/// A rule of a contract, and whether a case exercises it.
type Rule = (&'static str, fn(&Case) -> bool);

/// What stands in a header of a case.
fn header<'case>(case: &'case Case, name: &str) -> Option<&'case str> {
    case.value["headers"].get(name)?.as_str()
}

/// What a producer starts from, in the directions in which there is one.
fn from(case: &Case) -> &Value {
    match case.text("direction") {
        "roundtrip" => &case.value["envelope"],
        _ => &case.value["encode_from"],
    }
}

fn field<'case>(envelope: &'case Value, name: &str) -> &'case str {
    envelope[name].as_str().unwrap_or_default()
}

/// Whether a producer starts from this field and a reader ends with nothing, its header there or not.
fn lost(case: &Case, name: &str, header_name: &str, written: bool) -> bool {
    from(case).get(name).is_some()
        && case.value["envelope"].get(name).is_none()
        && header(case, header_name).is_some() == written
}

fn disposed(case: &Case, name: &str, disposition: &str) -> bool {
    case.value["error"]["field"] == name && case.value["error"]["disposition"] == disposition
}

/// A header whose value, a producer's work, has this escape, and comes back as it was.
fn escaped(case: &Case, escape: &str, character: &str) -> bool {
    case.text("direction") == "roundtrip"
        && header(case, CWD).is_some_and(|value| value.contains(escape))
        && field(&case.value["envelope"], "cwd").contains(character)
}

/// A working directory that a reader cannot decode, with this in it, and keeps.
fn kept_raw(case: &Case, malformed: fn(&str) -> bool) -> bool {
    let raw = header(case, CWD).unwrap_or_default();
    malformed(raw) && field(&case.value["envelope"], "cwd") == raw
}

const ENVELOPE: &[Rule] = &[
    ("a harness without a session is one header", |case| {
        case.value["headers"].as_object().is_some_and(|headers| headers.len() == 1)
            && !matches!(header(case, HARNESS_ID), None | Some("" | UNKNOWN))
    }),
    ("an id is neither encoded nor decoded", |case| {
        header(case, HARNESS_SESSION_ID).is_some_and(|id| id.contains('%'))
            && header(case, HARNESS_SESSION_ID) == case.value["envelope"]["harness_session_id"].as_str()
    }),
    ("a version is written and read", |case| {
        case.text("direction") == "roundtrip" && case.value["envelope"].get("harness_version").is_some()
    }),
    ("a parent is written and read", |case| {
        case.text("direction") == "roundtrip"
            && case.value["envelope"].get("parent_harness_session_id").is_some()
    }),
    ("metadata is base64url of a JSON object", |case| {
        case.text("direction") == "roundtrip" && case.value["envelope"]["harness_metadata"].is_object()
    }),
    ("identity of an edge is read and never written", |case| {
        case.text("direction") == "roundtrip" && case.value["envelope"].get("org_id").is_some()
    }),
    ("a space is encoded", |case| escaped(case, "%20", " ")),
    ("a percent sign is encoded", |case| escaped(case, "%25", "%")),
    ("a quote is encoded", |case| escaped(case, "%22", "\"")),
    ("a backslash is encoded", |case| escaped(case, "%5C", "\\")),
    ("bytes from 0x80 are encoded", |case| {
        escaped(case, "%", "") && !field(&case.value["envelope"], "cwd").is_ascii()
    }),
    ("a name is encoded like a working directory", |case| {
        header(case, SESSION_NAME).is_some_and(|name| name.contains('%'))
            && !field(&case.value["envelope"], "name").is_ascii()
    }),
    ("a plus is a plus", |case| escaped(case, "+", "+")),
    ("an escape without digits is kept raw", |case| kept_raw(case, |raw| raw.contains("%q"))),
    ("an escape that is cut short is kept raw", |case| {
        kept_raw(case, |raw| raw.rfind('%').is_some_and(|at| raw.len() - at < 3))
    }),
    ("escapes that are no UTF-8 are kept raw", |case| kept_raw(case, |raw| raw.contains("%C3%28"))),
    ("a line break in a working directory is written and not read", |case| {
        lost(case, "cwd", CWD, true) && field(from(case), "cwd").contains('\n')
    }),
    ("DEL in a working directory is written and not read", |case| {
        lost(case, "cwd", CWD, true) && field(from(case), "cwd").contains('\u{7f}')
    }),
    ("a control character in a name is written and not read", |case| lost(case, "name", SESSION_NAME, true)),
    ("a name of the most bytes is whole", |case| {
        case.text("direction") == "roundtrip" && field(&case.value["envelope"], "name").len() == NAME_BYTES
    }),
    ("a name of one byte more is cut", |case| {
        field(from(case), "name").len() == NAME_BYTES + 1
            && field(&case.value["envelope"], "name").len() == NAME_BYTES
    }),
    ("a name is cut between characters", |case| {
        let kept = field(&case.value["envelope"], "name").len();
        kept < NAME_BYTES && kept > 0 && field(from(case), "name").len() > NAME_BYTES
    }),
    ("metadata of the most bytes is whole", |case| {
        case.text("direction") == "roundtrip" && metadata(case).len() == METADATA_BYTES
    }),
    ("metadata of one byte more is left out", |case| {
        metadata(case).len() == METADATA_BYTES + 1 && lost(case, "harness_metadata", HARNESS_METADATA, false)
    }),
    ("metadata is what the budget leaves out first", |case| {
        metadata(case).len() <= METADATA_BYTES
            && from(case)["harness_metadata"].is_object()
            && lost(case, "harness_metadata", HARNESS_METADATA, false)
            && header(case, CWD).is_some()
    }),
    ("the budget leaves out a field whole, and writes a later one", |case| {
        lost(case, "cwd", CWD, false) && header(case, SESSION_NAME).is_some()
    }),
    ("metadata that is no object is not written", |case| {
        from(case)["harness_metadata"].is_array() && lost(case, "harness_metadata", HARNESS_METADATA, false)
    }),
    ("an id that no header holds is left out", |case| {
        lost(case, "harness_session_id", HARNESS_SESSION_ID, false)
            && header(case, HARNESS_ID) != Some(UNKNOWN)
    }),
    ("a verbatim field that is not ASCII is left out", |case| {
        !field(from(case), "harness_version").is_ascii()
            && case.value["envelope"].get("harness_version").is_none()
    }),
    ("a harness id that no header holds is unknown", |case| {
        header(case, HARNESS_ID) == Some(UNKNOWN) && !matches!(field(from(case), "harness_id"), "" | UNKNOWN)
    }),
    ("unknown is one header", |case| {
        case.text("direction") == "roundtrip" && header(case, HARNESS_ID) == Some(UNKNOWN)
    }),
    ("what is known beside an unknown harness is not written", |case| {
        field(from(case), "harness_id") == UNKNOWN && from(case).get("harness_session_id").is_some()
    }),
    ("a missing harness id is unknown", |case| {
        header(case, HARNESS_ID).is_none() && case.value["envelope"]["harness_id"] == UNKNOWN
    }),
    ("an empty harness id is unknown", |case| {
        header(case, HARNESS_ID) == Some("") && case.value["envelope"]["harness_id"] == UNKNOWN
    }),
    ("metadata in no base64 is none", |case| {
        disposed(case, "harness_metadata", "drop-field")
            && header(case, HARNESS_METADATA).is_some_and(|value| value.contains('{'))
    }),
    ("metadata with padding is none", |case| {
        disposed(case, "harness_metadata", "drop-field")
            && header(case, HARNESS_METADATA).is_some_and(|value| value.ends_with('='))
    }),
    ("metadata in the standard alphabet is none", |case| {
        disposed(case, "harness_metadata", "drop-field")
            && header(case, HARNESS_METADATA).is_some_and(|value| value.contains('+') || value.contains('/'))
    }),
    ("metadata that is no JSON is none", |case| {
        let in_alphabet =
            |value: &str| value.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'-' || c == b'_');
        disposed(case, "harness_metadata", "drop-field")
            && header(case, HARNESS_METADATA).is_some_and(in_alphabet)
    }),
    ("metadata that is no object is kept by a reader and refused by a receiver", |case| {
        disposed(case, "harness_metadata", "reject-400")
    }),
    ("an organisation that is no UUID is refused", |case| disposed(case, "org_id", "reject-400")),
    ("an empty parent is none", |case| {
        disposed(case, "parent_harness_session_id", "drop-field")
            && header(case, PARENT_HARNESS_SESSION_ID) == Some("")
    }),
];

/// The metadata that a producer starts from, as compact JSON.
fn metadata(case: &Case) -> String {
    from(case)["harness_metadata"].to_string()
}

const AGENT: &str = "x-claude-code-agent-id";

const THREAD: &[Rule] = &[
    ("no header is the main thread", |case| {
        [AGENT, "thread-id"].iter().all(|name| header(case, name).is_none())
            && case.text("harness") == "claude"
    }),
    ("a header of sub-threads names one", |case| {
        header(case, AGENT) == Some(case.text("thread_id")) && header(case, "thread-id").is_none()
    }),
    ("a thread id is opaque", |case| case.text("thread_id").contains(' ')),
    ("an empty header is no evidence", |case| {
        header(case, AGENT) == Some("") && case.text("thread_id").is_empty()
    }),
    ("a rule that finds nothing lets the next one look", |case| {
        header(case, AGENT) == Some("") && !case.text("thread_id").is_empty()
    }),
    ("the first rule that finds something decides", |case| {
        header(case, AGENT).is_some_and(|id| !id.is_empty()) && header(case, "thread-id").is_some()
    }),
    ("a pair that agrees is the main thread", |case| {
        header(case, "thread-id").is_some() && header(case, "thread-id") == header(case, "session-id")
    }),
    ("a pair that differs is a sub-thread", |case| {
        header(case, AGENT).is_none() && header(case, "thread-id") == Some(case.text("thread_id"))
    }),
    ("a thread without a session is nothing", |case| {
        header(case, "thread-id").is_some() && header(case, "session-id").is_none()
    }),
    ("a session without a thread is nothing", |case| {
        header(case, "thread-id").is_none() && header(case, "session-id").is_some()
    }),
    ("an empty session beside a thread is nothing", |case| header(case, "session-id") == Some("")),
    ("a header that no rule names is nothing", |case| {
        case.text("thread_id").is_empty() && header(case, "x-parent-session-id").is_some()
    }),
];

/// Whether a case of this harness reads as an event of this kind.
fn reads(case: &Case, harness: &str, event: &str) -> bool {
    case.text("harness") == harness && case.value["observation"]["event"]["event"] == event
}

fn refused(case: &Case, harness: &str, part: &str) -> bool {
    case.text("harness") == harness
        && case.value["observation"].is_null()
        && case.text("input").contains(part)
}

fn prompt_of(case: &Case, origin: &str, part: &str) -> bool {
    reads(case, "claude", "user_prompt_submit")
        && case.value["observation"]["event"]["origin"].as_str().unwrap_or_default() == origin
        && case.text("input").contains(part)
}

const HOOKS: &[Rule] = &[
    ("Codex: identities of a start are exact", |case| {
        reads(case, "codex", "session_start") && case.text("input").contains('🦀')
    }),
    ("Codex: a fork is a source", |case| case.value["observation"]["event"]["source"] == "fork"),
    ("Codex: a prompt is gone and its turn kept", |case| {
        reads(case, "codex", "user_prompt_submit")
            && case.value["observation"]["event"]["agent_id"].is_null()
            && case.text("input").contains("\"prompt\"")
    }),
    ("Codex: a prompt inside a subagent names it", |case| {
        reads(case, "codex", "user_prompt_submit")
            && case.value["observation"]["event"]["agent_id"].is_string()
    }),
    ("Codex: an answer is gone", |case| {
        reads(case, "codex", "stop") && case.text("input").contains("last_assistant_message")
    }),
    ("Codex: a subagent's start keeps the child's path", |case| reads(case, "codex", "subagent_start")),
    ("Codex: a subagent's stop keeps both, and loses message and extensions", |case| {
        reads(case, "codex", "subagent_stop") && case.text("input").contains("\"deep\"")
    }),
    ("Codex: absent options are written as null", |case| {
        reads(case, "codex", "subagent_stop") && case.value["observation"]["transcript_path"].is_null()
    }),
    ("Codex: a known event that is not read is refused", |case| refused(case, "codex", "PreToolUse")),
    ("Codex: an unknown source is refused", |case| refused(case, "codex", "telepathy")),
    ("Codex: what is no JSON is refused", |case| refused(case, "codex", "not an object")),
    ("an array is refused", |case| case.text("input").starts_with('[') && refused(case, "codex", "")),
    ("a second object is refused", |case| refused(case, "codex", "}\n{")),
    ("white space around is not", |case| case.text("input").starts_with(' ') && reads(case, "codex", "stop")),
    ("a repeated key is refused", |case| {
        case.text("input").matches("\"session_id\"").count() == 2 && refused(case, "codex", "other")
    }),
    ("a repeated key in escapes is refused", |case| refused(case, "codex", "\"\\u0073ession_id\"")),
    ("a repeated key that is not read is not", |case| {
        case.text("input").matches("\"prompt\"").count() == 2 && reads(case, "codex", "stop")
    }),
    ("a lone surrogate in an identity is refused", |case| refused(case, "codex", "root\\ud83e")),
    ("a lone surrogate elsewhere is passed over", |case| {
        case.text("input").contains("\\ud83e") && reads(case, "codex", "stop")
    }),
    ("a missing field is refused", |case| {
        refused(case, "codex", "\"Stop\"") && !case.text("input").contains("turn_id")
    }),
    ("an identity that is no text is refused", |case| refused(case, "codex", "\"session_id\": 7")),
    ("deep nesting is passed over", |case| {
        case.text("input").contains(&"[".repeat(1000)) && reads(case, "codex", "stop")
    }),
    ("Claude Code: a start keeps its model", |case| {
        reads(case, "claude", "session_start") && case.value["observation"]["model"].is_string()
    }),
    ("Claude Code: an unknown source is refused", |case| refused(case, "claude", "telepathy")),
    ("Claude Code: a prompt is gone and its id kept", |case| prompt_of(case, "person", "SECRET")),
    ("Claude Code: a task notification is the program's", |case| {
        prompt_of(case, "harness", "<task-notification>")
    }),
    ("Claude Code: the program's word for a writer is believed", |case| {
        prompt_of(case, "harness", "schedule_wakeup")
    }),
    ("Claude Code: an unknown writer is unknown", |case| prompt_of(case, "", "\"source\": \"SECRET\"")),
    ("Claude Code: a prompt inside a subagent is an agent's", |case| prompt_of(case, "agent", "agent_id")),
    ("Claude Code: a kind alone is no subagent", |case| {
        reads(case, "claude", "stop") && case.value["observation"]["event"]["agent_id"].is_null()
    }),
    ("Claude Code: a subagent's start names its prompt", |case| reads(case, "claude", "subagent_start")),
    ("Claude Code: the subagent of a compaction has no kind", |case| {
        reads(case, "claude", "subagent_stop") && case.value["observation"]["event"]["agent_type"] == ""
    }),
    ("Claude Code: a compaction loses its summary", |case| reads(case, "claude", "post_compact")),
    ("Claude Code: what has not happened is refused", |case| refused(case, "claude", "PreCompact")),
    ("Claude Code: an end keeps its reason", |case| {
        reads(case, "claude", "session_end") && case.text("input").contains("prompt_input_exit")
    }),
    ("Claude Code: an unknown reason is gone", |case| {
        reads(case, "claude", "session_end") && case.value["observation"]["event"]["reason"].is_null()
    }),
    ("Claude Code: absent options are written as null", |case| {
        reads(case, "claude", "session_end") && case.value["observation"]["prompt_id"].is_null()
    }),
];

fn rules(kind: &str) -> &'static [Rule] {
    match kind {
        "envelope" => ENVELOPE,
        "thread" => THREAD,
        _ => HOOKS,
    }
}

/// The rules that no case exercises.
fn uncovered(kind: &str, cases: &[Case]) -> Vec<&'static str> {
    let missing = rules(kind).iter().filter(|(_, exercises)| !cases.iter().any(exercises));
    missing.map(|(rule, _)| *rule).collect()
}

#[test]
fn every_rule_is_exercised_by_a_case() {
    for kind in case::KINDS {
        assert_eq!(uncovered(kind, &case::own(kind)), Vec::<&str>::new(), "{kind}");
    }
}

#[test]
fn every_case_exercises_a_rule() {
    for kind in case::KINDS {
        for case in case::own(kind) {
            assert!(rules(kind).iter().any(|(_, exercises)| exercises(&case)), "{kind}: {}", case.name);
        }
    }
}

#[test]
fn deleting_the_only_case_of_a_rule_is_noticed() {
    for (kind, only, rule) in [
        ("envelope", "cwd-with-a-plus", "a plus is a plus"),
        ("envelope", "metadata-with-padding", "metadata with padding is none"),
        ("envelope", "budget-leaves-out-metadata-first", "metadata is what the budget leaves out first"),
        ("thread", "agent-id-before-a-pair", "the first rule that finds something decides"),
        ("hooks", "codex-repeated-key-in-escapes", "a repeated key in escapes is refused"),
        ("hooks", "claude-task-notification", "Claude Code: a task notification is the program's"),
    ] {
        let mut cases = case::own(kind);
        let before = cases.len();
        cases.retain(|case| case.name != only);
        assert_eq!(cases.len(), before - 1, "{only}");
        assert_eq!(uncovered(kind, &cases), [rule]);
    }
}

#[test]
fn each_rule_is_missed_when_its_cases_are_gone() {
    for kind in case::KINDS {
        for (rule, exercises) in rules(kind) {
            let without: Vec<Case> = case::own(kind).into_iter().filter(|case| !exercises(case)).collect();
            assert!(uncovered(kind, &without).contains(rule), "{rule}");
        }
    }
}
