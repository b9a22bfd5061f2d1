//! Tool calls and results as a program sends them to a model, read through the tool mapping.

#![expect(clippy::unwrap_used, reason = "a test that fails shall say where")]

use ibid_harness::find;
use ibid_model::{Json, Outcome, Shell, Text, Tool};

fn read(harness: &str, name: &str, input: &str) -> Tool {
    let input = Json::from_text(input).unwrap();
    find(harness).unwrap().read_call(&Text::from(name), &input).0
}

#[test]
fn every_program_has_its_own_name_for_a_shell_command() {
    let shell =
        Shell { command: "ls".into(), cwd: None, timeout_ms: None, description: None, background: None };
    for (harness, name, input) in [
        ("claude-code", "Bash", r#"{"command":"ls"}"#),
        ("cowork", "Bash", r#"{"command":"ls"}"#),
        ("codex", "exec_command", r#"{"cmd":"ls"}"#),
        ("opencode", "bash", r#"{"command":"ls"}"#),
        ("pi", "bash", r#"{"command":"ls"}"#),
        ("simple", "Bash", r#"{"command":"ls"}"#),
    ] {
        assert_eq!(read(harness, name, input), Tool::Shell(shell.clone()), "{harness}");
    }
}

#[test]
fn the_free_text_of_a_custom_tool_is_a_string() {
    let patch = r#""*** Begin Patch\n*** Delete File: a\n*** End Patch""#;
    assert!(matches!(read("codex", "apply_patch", patch), Tool::Patch(_)));
}

#[test]
fn a_call_without_a_counterpart_stays_raw() {
    for harness in ["claude-code", "cowork", "codex", "opencode", "pi", "simple", "ibid"] {
        assert!(matches!(read(harness, "no_such_tool", "{}"), Tool::Raw(_)), "{harness}");
    }
}

#[test]
fn only_codex_says_in_the_text_of_a_result_how_the_call_ended() {
    let text = Text::from("Exit code: 1\nOutput:\nno such file");
    let codex = find("codex").unwrap().read_answer(&text);
    assert_eq!(codex, ("no such file".into(), Outcome::Error));
    let pi = find("pi").unwrap().read_answer(&text);
    assert_eq!(pi, (text, Outcome::Unknown));
}
