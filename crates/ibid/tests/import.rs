use std::io::Write as _;
use std::process::Stdio;

use crate::common::{Home, PI_TOOLS, command, home, ibid, path_of, simple};

#[test]
fn a_simple_document_becomes_a_session() {
    let home = Home::new();
    let file = simple(&home, "a.json", home.path(), "Please say hello");
    let dry = ibid(&home, ["import", &file, "--to", "codex", "--dry-run"]).ends(0);
    assert!(dry.stdout.contains("create ") && !home.path().join(".codex").exists(), "{}", dry.stdout);
    let json = ibid(&home, ["import", &file, "--to", "codex", "--json"]).ends(0).json();
    let shown = ibid(&home, ["show", &format!("codex:{}", json["id"].as_str().unwrap())]).ends(0).stdout;
    assert!(shown.contains("Please say hello") && shown.contains("Hello."), "{shown}");
    ibid(&home, ["import", &file, "--to", "codex"]).ends(3);
}

#[test]
fn a_native_text_comes_through_a_pipe() {
    let home = home();
    let text = std::fs::read(path_of(&home, PI_TOOLS)).unwrap();
    let empty = Home::new();
    let mut command = command(&empty);
    command.args(["import", "-", "--to", "codex", "--json"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(&text).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert!(ibid(&empty, ["list"]).ends(0).stdout.contains("do-script pitools"));
}

#[test]
fn what_cannot_be_read_at_all_becomes_no_session() {
    let home = Home::new()
        .with_file("x.jsonl", "garbage\nmore garbage\n")
        .with_file("e.json", r#"{"id":"e","messages":[]}"#);
    let file = |name: &str| home.path().join(name).to_str().unwrap().to_owned();
    for from in ["codex", "claude-code", "pi"] {
        ibid(&home, ["import", &file("x.jsonl"), "--from", from, "--to", "claude-code", "--cwd", "/x"])
            .ends(2);
    }
    let run = ibid(&home, ["import", &file("e.json"), "--to", "codex", "--cwd", "/x"]).ends(2);
    assert!(run.stderr.contains("no turn"), "{}", run.stderr);
    assert!(!home.path().join(".codex").exists() && !home.path().join(".claude").exists());
}

#[test]
fn a_range_of_a_file_becomes_a_session() {
    let home = Home::new();
    let file = simple(&home, "a.json", home.path(), "Please say hello");
    let json = ibid(&home, ["import", &format!("{file}#1"), "--to", "pi", "--json"]).ends(0).json();
    let shown = ibid(&home, ["show", &format!("pi:{}", json["id"].as_str().unwrap())]).ends(0).stdout;
    assert!(shown.contains("Please say hello") && !shown.contains("Hello."), "{shown}");
    ibid(&home, ["import", &format!("{file}#9"), "--to", "pi"]).ends(1);
}

#[test]
fn a_text_of_nobody_is_refused() {
    let home = Home::new().with_file("x.txt", "hello");
    let file = home.path().join("x.txt");
    let run = ibid(&home, ["import", file.to_str().unwrap(), "--to", "codex"]).ends(1);
    assert!(run.stderr.contains("--from"), "{}", run.stderr);
    ibid(&home, ["import", "/no/such/file", "--to", "codex"]).ends(2);
}
