use std::io::Write;
use std::process::{Command, Stdio};

use crate::common::{Home, Run, Value, command, home, ibid};

/// Runs `ibid host` on these lines to its end.
fn host(mut command: Command, lines: &[&str]) -> Run {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    for line in lines {
        writeln!(stdin, "{line}").unwrap();
    }
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    Run {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout.clone()).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
        bytes: output.stdout,
    }
}

fn in_home(home: &Home) -> Command {
    let mut command = command(home);
    command.arg("host");
    command
}

fn answers(run: &Run) -> Vec<Value> {
    run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn the_evidence_host_answers_from_the_home_that_is_named() {
    let home = home();
    let discover =
        r#"{"version":1,"id":2,"method":"sessions.discover","params":{"workspace":"/nowhere/at/all"}}"#;
    let describe = r#"{"version":1,"id":1,"method":"host.describe"}"#;
    let before = home.snapshot();
    let answers = answers(&host(in_home(&home), &[describe, discover]).ends(0));
    home.snapshot().assert_same_as(&before);
    assert_eq!(answers[0]["result"]["protocol"], "evidence-rust-1.0.0+jsonl-v1");
    let platforms = answers[0]["result"]["platforms"].as_array().unwrap();
    let providers = answers[1]["result"]["providers"].as_array().unwrap();
    let named: Vec<&Value> = providers.iter().map(|provider| &provider["platform"]).collect();
    assert_eq!(named, platforms.iter().collect::<Vec<_>>());
    let reason = |platform: &str| {
        let provider = providers.iter().find(|provider| provider["platform"] == platform).unwrap();
        (provider["status"].clone(), provider["reason"].clone())
    };
    assert_eq!(reason("codex"), ("no-evidence".into(), "no-match".into()));
    assert_eq!(reason("claude"), ("no-evidence".into(), "store-missing".into()));
}

#[test]
fn the_evidence_host_takes_one_more_store() {
    let (home, backup) = (Home::new(), home());
    let mut command = in_home(&home);
    command.arg("--root").arg(format!("pi={}", backup.path().join(".pi/agent/sessions").display()));
    let discover = r#"{"version":1,"id":2,"method":"sessions.discover","params":{"workspace":"/nowhere"}}"#;
    let answers = answers(&host(command, &[discover]).ends(0));
    let providers = answers[0]["result"]["providers"].as_array().unwrap();
    let pi = providers.iter().find(|provider| provider["platform"] == "pi").unwrap();
    assert_eq!(pi["reason"], "no-match");
}

#[test]
fn a_frame_that_cannot_be_trusted_ends_the_evidence_host_with_1() {
    let home = Home::new();
    let run = host(in_home(&home), &["nonsense"]).ends(1);
    assert_eq!(run.stdout, "");
    assert_eq!(run.stderr, "[evidence-host] malformed request frame: not a JSON object\n");
}

#[test]
fn the_help_has_a_line_to_try() {
    let help = ibid(&home(), ["help", "host"]).ends(0).stdout;
    let line = help.lines().find(|line| line.contains("echo")).unwrap();
    let request = line.split('\'').nth(1).unwrap();
    assert_eq!(
        answers(&host(in_home(&home()), &[request]).ends(0))[0]["result"]["protocol"],
        ibid_evidence::PROTOCOL
    );
}
