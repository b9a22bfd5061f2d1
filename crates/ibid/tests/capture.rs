use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::process::{Child, Stdio};

use ibid_capture::handoff::Handoff;
use ibid_capture::report::{self, Delivery, Report};

use crate::common::{Home, command, ibid};

/// What an installer leaves behind for a program.
fn install(home: &Home, program: &str, address: std::net::SocketAddr) -> Handoff {
    let data = ibid_harness::Surroundings::isolated(home.path()).data_dir().to_owned();
    let handoff = Handoff::new(program, address).unwrap();
    let path = Handoff::path(&data, program);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, handoff.to_json()).unwrap();
    #[cfg(unix)]
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    handoff
}

fn free_address() -> std::net::SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

/// The program, when it listens.
fn listening(home: &Home, arguments: &[&str]) -> Child {
    let mut command = command(home);
    command.arg("capture").args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stderr.as_mut().unwrap()).read_line(&mut line).unwrap();
    assert!(line.contains("Listening on 127.0.0.1"), "{line}");
    child
}

#[cfg(unix)]
fn interrupted(child: Child) -> (Option<i32>, String) {
    let pid = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    (output.status.code(), String::from_utf8(output.stdout).unwrap())
}

#[cfg(unix)]
#[test]
fn each_session_is_shown_once_and_the_end_says_how_much_came() {
    let home = Home::new();
    let address = free_address();
    let (claude, codex) = (install(&home, "claude", address), install(&home, "codex-app", address));
    let child = listening(&home, &[]);
    let said = |handoff: &Handoff, session: &str| {
        let said =
            Report { session_id: session.to_owned(), cwd: Some("/w\u{1b}[2J".to_owned()), agent_id: None };
        report::send(handoff, &said, std::time::Duration::from_secs(5))
    };
    assert_eq!(said(&claude, "one\u{1b}]0;x\u{7}"), Delivery::Taken);
    assert_eq!(said(&claude, "one\u{1b}]0;x\u{7}"), Delivery::Taken);
    assert_eq!(said(&codex, "two"), Delivery::Taken);
    let stale = Handoff::new("claude", address).unwrap();
    assert!(matches!(said(&stale, "three"), Delivery::Failed { status: Some(401), .. }));
    let (code, stdout) = interrupted(child);
    assert_eq!(code, Some(0));
    assert_eq!(stdout, "claude  one  /w\ncodex-app  two  /w\n3 reports of 2 sessions, 1 refused\n");
}

#[cfg(unix)]
#[test]
fn a_hook_finds_the_process_that_listens() {
    use std::io::Write as _;
    let home = Home::new();
    install(&home, "claude", free_address());
    let child = listening(&home, &["--json"]);
    let mut hook = command(&home).args(["hook", "claude"]).stdin(Stdio::piped()).spawn().unwrap();
    let event = br#"{"session_id":"s","transcript_path":"/t.jsonl","cwd":"/w","hook_event_name":"SessionStart","source":"startup"}"#;
    hook.stdin.take().unwrap().write_all(event).unwrap();
    assert!(hook.wait().unwrap().success());
    let (code, stdout) = interrupted(child);
    let json: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(
        (code, &json["reports"], &json["sessions"], &json["refusals"]),
        (Some(0), &1.into(), &1.into(), &0.into())
    );
    let doctor = ibid(&home, ["doctor", "--json"]).json();
    assert_eq!(doctor["lifecycle"]["programs"][0]["observations"], 1);
    assert_eq!(doctor["lifecycle"]["programs"][0]["unreported"], serde_json::json!([]));
}

#[test]
fn without_a_plugin_it_says_how_to_get_one() {
    let run = ibid(&Home::new(), ["capture"]).ends(1);
    assert!(run.stderr.contains("ibid plugin install"), "{}", run.stderr);
}

#[test]
fn a_port_that_is_taken_ends_it_and_says_what_to_do() {
    let home = Home::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    install(&home, "claude", listener.local_addr().unwrap());
    let run = ibid(&home, ["capture"]).ends(2);
    assert!(
        run.stderr.contains("another program listens") && run.stderr.contains("claude"),
        "{}",
        run.stderr
    );
}

#[test]
fn an_address_that_no_hook_reports_to_is_refused() {
    let home = Home::new();
    let address = free_address();
    install(&home, "claude", address);
    let run = ibid(&home, ["capture", "--listen", "127.0.0.1:1"]).ends(2);
    assert!(run.stderr.contains(&format!("claude to {address}")), "{}", run.stderr);
}

#[test]
fn a_handoff_that_is_not_believed_is_named_and_not_quoted() {
    let home = Home::new();
    install(&home, "claude", free_address());
    let data = ibid_harness::Surroundings::isolated(home.path()).data_dir().to_owned();
    std::fs::write(Handoff::path(&data, "claude"), "{\"version\":1,\"s3cret\":1}").unwrap();
    let run = ibid(&home, ["capture"]).ends(2);
    assert!(
        run.stderr.contains("ibid plugin install claude") && !run.stderr.contains("s3cret"),
        "{}",
        run.stderr
    );
}
