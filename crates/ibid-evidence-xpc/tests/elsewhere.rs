//! Both programs where there is no macOS.

#![cfg(not(target_os = "macos"))]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use std::process::{Command, Stdio};

fn ends_with_2_and_one_line(mut command: Command) {
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(said, "[evidence-host] NSXPC requires macOS; start harness-evidence-host instead\n");
}

#[test]
fn the_client_needs_macos_and_says_so() {
    ends_with_2_and_one_line(Command::new(assert_cmd::cargo::cargo_bin!("harness-evidence-client")));
}

#[test]
fn the_service_needs_macos_and_says_so() {
    ends_with_2_and_one_line(Command::new(assert_cmd::cargo::cargo_bin!("harness-evidence-xpc")));
}
