//! The driver as a process: exit codes, and what it says on its standard error.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on must fail"
)]

mod scripted;

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Output, Stdio};

use ibid_testkit::Home;
use scripted::{SECRET, Scripted};

const DESCRIBE: &str = r#"{"version":1,"id":1,"method":"host.describe"}"#;

/// The program in an empty home, with nothing of this machine's environment.
fn program(home: &Home) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("harness-evidence-host"));
    command.env_clear().env("HOME", home.path()).env("USERPROFILE", home.path());
    if let Some(root) = std::env::var_os("SystemRoot") {
        command.env("SystemRoot", root);
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs a host to its end on this input.
fn run(mut command: Command, input: &[u8]) -> Output {
    let mut child = command.spawn().expect("the program can be started");
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    // A host that ends at a fault reads no more, and that is no failure of the test.
    let writer = std::thread::spawn(move || {
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

#[test]
fn a_host_whose_input_is_over_ends_with_0_and_says_nothing() {
    let home = Home::new();
    for input in ["", "\n\n", DESCRIBE, "{\"version\":1,\"id\":1,\"method\":\"shutdown\"}\n{\"broken\n"] {
        let output = run(program(&home), input.as_bytes());
        assert_eq!(output.status.code(), Some(0), "{input}");
        assert_eq!(text(&output.stderr), "");
    }
}

#[test]
fn a_fault_ends_with_1_one_line_of_stderr_and_no_answer() {
    let home = Home::new();
    let long = vec![b'a'; 5 * 1024 * 1024];
    for (input, said) in [
        (&b"nonsense\n"[..], "[evidence-host] malformed request frame: not a JSON object\n"),
        (
            b"{\"version\":3,\"id\":1,\"method\":\"a\"}",
            "[evidence-host] request frame version 3 is not supported; this host speaks version 1\n",
        ),
        (&long, "[evidence-host] request frame exceeded its size limit of 4194304 bytes\n"),
    ] {
        let output = run(program(&home), input);
        assert_eq!(output.status.code(), Some(1));
        assert_eq!(text(&output.stdout), "");
        assert_eq!(text(&output.stderr), said);
    }
}

#[test]
fn a_host_whose_answers_nobody_reads_ends_with_0() {
    let home = Home::new();
    let mut child = program(&home).spawn().unwrap();
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().unwrap();
    // A process that another test starts at this moment may hold the other end for an instant, so
    // that the first answers still have a reader.
    let writer = std::thread::spawn(move || while writeln!(stdin, "{DESCRIBE}").is_ok() {});
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(text(&output.stderr), "");
}

#[test]
fn an_answer_comes_while_the_input_stays_open() {
    let home = Home::new();
    let mut child = program(&home).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    for _ in 0..3 {
        writeln!(stdin, "{DESCRIBE}").unwrap();
        let pid = format!("\"pid\":{}", child.id());
        assert!(answers.next().unwrap().unwrap().contains(&pid));
    }
    drop(stdin);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_host_without_a_home_says_so() {
    let mut command = program(&Home::new());
    command.env_remove("HOME").env_remove("USERPROFILE");
    let output = run(command, b"");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(&output.stderr), "[evidence-host] no home directory is known; set HOME\n");
}

#[test]
fn a_host_takes_no_arguments() {
    let home = Home::new();
    let mut command = program(&home);
    command.arg("--port");
    let output = run(command, b"");
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(text(&output.stderr).lines().count(), 1);
    for argument in ["--version", "--help"] {
        let mut command = program(&home);
        command.arg(argument);
        let output = run(command, b"");
        assert_eq!(output.status.code(), Some(0));
        assert!(text(&output.stdout).contains("harness-evidence-host"));
    }
}

/// The host of a test in a process of its own: this program, started again for that one purpose.
#[test]
#[ignore = "it is the process that another test starts"]
fn serves_scripted_evidence() {
    std::process::exit(i32::from(ibid_evidence::wire::run(&Scripted)));
}

#[test]
fn a_panic_is_one_line_of_stderr_that_does_not_say_what_the_panic_said() {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "serves_scripted_evidence", "--ignored", "--nocapture"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let panics = r#"{"version":1,"id":2,"method":"sessions.discover","params":{"workspace":"panic"}}"#;
    let output =
        run(command, format!("{panics}\n{}{DESCRIBE}\n", format!("{panics}\n").repeat(99)).as_bytes());
    assert_eq!(output.status.code(), Some(0));
    let answers: Vec<&str> =
        text(&output.stdout).lines().filter(|line| line.contains("\"version\"")).collect();
    assert_eq!(answers.len(), 101);
    let said = text(&output.stderr);
    assert_eq!(said.lines().count(), 16, "only the first panics are reported");
    for line in said.lines() {
        assert!(line.starts_with("[evidence-host] internal failure at "), "{line}");
        assert!(line.contains("scripted"), "{line}");
    }
    assert!(SECRET.lines().all(|secret| !said.contains(secret)));
}
