//! What is in the way of an installation: each has its outcome, and nothing is left half-done.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::Machine;

const CONFIG: &str = ".codex/config.toml";

#[test]
fn a_configuration_that_codex_cannot_read_stays_and_is_said_by_line() {
    let machine = Machine::new().with(CONFIG, "key = \"sk-secret\"\nnot toml = = \n");
    let before = machine.read(CONFIG);
    machine.install("codex-app");
    let run = machine.plugin(&["status", "codex-app"]).ends(0);
    assert!(run.stdout.contains("line 2 is not TOML"), "{}", run.stdout);
    assert!(!run.stdout.contains("sk-secret") && !run.stderr.contains("sk-secret"));
    assert!(machine.read(CONFIG).starts_with(&before));
}

/// Root may write to everything, whatever the modes say.
fn is_root(machine: &Machine) -> bool {
    let probe = machine.path("probe");
    fs::create_dir(&probe).unwrap();
    fs::set_permissions(&probe, fs::Permissions::from_mode(0o500)).unwrap();
    fs::write(probe.join("x"), "").is_ok()
}

#[test]
fn a_read_only_home_is_refused_and_stays() {
    let machine = Machine::new();
    if is_root(&machine) {
        println!("skipped: root may write to a read-only directory");
        return;
    }
    let before = machine.files();
    fs::set_permissions(machine.home.path(), fs::Permissions::from_mode(0o500)).unwrap();
    let run = machine.plugin(&["install", "codex-app", "--yes"]).ends(2);
    fs::set_permissions(machine.home.path(), fs::Permissions::from_mode(0o700)).unwrap();
    assert!(run.stderr.contains("could not"), "{}", run.stderr);
    assert_eq!(machine.files(), before);
    assert_eq!(machine.asked(), Vec::<String>::new());
}

/// A home on a small, full or read-only file system of its own, in a namespace of its own.
fn in_namespace(setup: &str, arguments: &str) -> Option<std::process::Output> {
    let probe = Command::new("unshare").args(["-rm", "true"]).stderr(Stdio::null()).status();
    if !probe.is_ok_and(|status| status.success()) {
        println!("skipped: no namespace can be made here");
        return None;
    }
    let home = tempfile::tempdir().unwrap();
    let script = format!(
        "mount -t tmpfs -o size=600k none \"$1\" && cd \"$1\" && mkdir -p .codex && echo 'a = 1' > .codex/config.toml \
         && {setup} && \"$2\" --home \"$1\" plugin {arguments}; code=$?; find \"$1\" -type f | grep -v /journal/ | sort; exit $code"
    );
    let output = Command::new("unshare")
        .args(["-rm", "/bin/sh", "-c", &script, "sh"])
        .arg(home.path())
        .arg(assert_cmd::cargo::cargo_bin!("ibid"))
        .env("PATH", "/usr/bin:/bin:/usr/sbin:/sbin")
        .output()
        .unwrap();
    Some(output)
}

#[test]
fn a_full_disk_leaves_nothing() {
    let full = "head -c 480000 /dev/zero > filler";
    let Some(output) = in_namespace(full, "install codex-app --yes") else { return };
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("free some space"), "{said}");
    let left = String::from_utf8_lossy(&output.stdout);
    let left: Vec<&str> = left.lines().filter(|line| line.starts_with('/')).collect();
    assert!(left.iter().all(|path| path.ends_with("/filler") || path.ends_with("config.toml")), "{left:?}");
}

#[test]
fn a_read_only_file_system_is_refused_and_stays() {
    let read_only = "mount -o remount,ro \"$1\"";
    let Some(output) = in_namespace(read_only, "install codex-app --yes") else { return };
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    let left = String::from_utf8_lossy(&output.stdout);
    let left: Vec<&str> = left.lines().filter(|line| line.starts_with('/')).collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

#[test]
fn a_link_in_the_place_of_ibids_own_file_is_refused() {
    let machine = Machine::new().with("precious", "mine");
    let own = machine.own("codex-app");
    fs::create_dir_all(&own).unwrap();
    symlink(machine.path("precious"), own.join("handoff.json")).unwrap();
    let run = machine.plugin(&["install", "codex-app", "--yes"]).ends(3);
    assert!(run.stderr.contains("is a link"), "{}", run.stderr);
    assert_eq!(machine.read("precious"), "mine");
    assert_eq!(machine.asked(), Vec::<String>::new());
}

#[test]
fn a_directory_that_is_a_link_out_of_the_home_is_refused() {
    let outside = tempfile::tempdir().unwrap();
    let machine = Machine::new();
    let own = machine.own("codex-app");
    fs::create_dir_all(own.parent().unwrap()).unwrap();
    symlink(outside.path(), &own).unwrap();
    machine.plugin(&["install", "codex-app", "--yes"]).ends(3);
    machine.plugin(&["install", "codex-app", "--yes", "--follow-link"]).ends(2);
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
}

#[test]
fn a_receipt_that_is_none_is_refused_and_named() {
    let machine = Machine::new();
    fs::create_dir_all(machine.own("codex-app")).unwrap();
    fs::write(machine.own("codex-app").join("receipt.json"), "{\"version\": 9}").unwrap();
    let run = machine.plugin(&["install", "codex-app", "--yes"]).ends(2);
    assert!(run.stderr.contains("receipt.json"), "{}", run.stderr);
    // Taking back works without it.
    machine.uninstall("codex-app");
    machine.install("codex-app");
}

/// Killed at any moment, the same command reaches its goal when it is run again, and taking it back
/// gives the very bytes back.
#[test]
fn a_command_that_is_killed_anywhere_is_finished_by_running_it_again() {
    let users = |profile: &str| {
        let machine = Machine::new().with(CONFIG, "# mine\nmodel = \"m\"\n");
        if profile == "claude" {
            machine.with(".claude/settings.json", "{\"model\":  \"opus\"}")
        } else {
            machine
        }
    };
    let kills: u32 = std::env::var("IBID_KILLS").map_or(6, |kills| kills.parse().unwrap());
    for profile in PROFILES {
        let begun = Instant::now();
        users(profile).install(profile);
        let whole = begun.elapsed();
        for kill in 0..kills {
            let moment =
                whole.mul_f64(1.1 * f64::from(kill) / f64::from(kills)).max(Duration::from_micros(50));
            for killed in ["install", "uninstall"] {
                killed_after(&users(profile), profile, killed, moment);
            }
        }
    }
}

/// Every profile with a plugin.
const PROFILES: [&str; 4] = ["codex-app", "claude", "opencode", "pi"];

fn killed_after(machine: &Machine, profile: &str, killed: &str, moment: Duration) {
    let before = machine.files();
    if killed == "uninstall" {
        machine.install(profile);
    }
    let mut child = machine.command(&[killed, profile, "--yes"]);
    let mut child = child.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(moment);
    child.kill().unwrap();
    child.wait().unwrap();
    // What the program that was asked is doing goes on by itself.
    std::thread::sleep(Duration::from_millis(60));
    if killed == "install" {
        machine.install(profile);
        assert_eq!(machine.state(profile), "installed", "killed after {moment:?}");
    }
    machine.uninstall(profile);
    assert_eq!(machine.files(), before, "{profile}: {killed}, killed after {moment:?}");
    assert!(!machine.own(profile).exists());
}
