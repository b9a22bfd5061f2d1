//! A sandbox keeps in what runs in it, and leaves nothing behind.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "tests state what they expect")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use ibid_lab::sandbox::{self, Launch, Spec, Step};

/// Whether namespaces can be made here; says by name what is skipped where they cannot.
fn available(test: &str) -> bool {
    let available = sandbox::available();
    if let Err(error) = &available {
        eprintln!("skipped: {test}: {error:#}");
    }
    available.is_ok()
}

/// Starts a sandbox in which a script runs.
fn start(folder: &Path, script: &str) -> Child {
    for name in ["home/demo", "out", "tools"] {
        fs::create_dir_all(folder.join(name)).unwrap();
    }
    let launch =
        Launch { words: ["sh", "-c", script].map(str::to_owned).to_vec(), seconds: 60, ..Launch::default() };
    let spec = Spec {
        number: 0,
        folder: folder.to_owned(),
        tools: folder.join("tools"),
        ibid: PathBuf::from("/bin/true"),
        hidden: std::env::var_os("HOME").map(PathBuf::from).into_iter().collect(),
        provider: None,
        steps: vec![Step::Run(launch)],
    };
    let path = folder.join("out/spec.json");
    fs::write(&path, serde_json::to_vec(&spec).unwrap()).unwrap();
    let mut command = sandbox::enter(Path::new(env!("CARGO_BIN_EXE_ibid-lab")), &path);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap()
}

/// Waits until something is so, for at most ten seconds.
fn becomes(mut so: impl FnMut() -> bool) -> bool {
    let began = Instant::now();
    while !so() {
        if began.elapsed() > Duration::from_secs(10) {
            return false;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    true
}

/// The processes whose command line holds a text.
fn processes(text: &str) -> usize {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let lines = entries.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    lines.filter(|line| String::from_utf8_lossy(line).contains(text)).count()
}

#[test]
fn everything_in_it_ends_when_the_lab_lets_go() {
    if !available("everything_in_it_ends_when_the_lab_lets_go") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mark = format!("lab-mark-{}", std::process::id());
    // One that ignores signals, and one that left its group.
    let script = format!("trap '' TERM INT HUP; setsid sh -c 'sleep 600; : {mark}' & sleep 600; : {mark}");
    let mut child = start(folder.path(), &script);
    assert!(becomes(|| processes(&mark) >= 2), "it did not begin");
    drop(child.stdin.take());
    assert!(becomes(|| child.try_wait().unwrap().is_some()), "the sandbox is still there");
    assert!(becomes(|| processes(&mark) == 0), "{} processes are left", processes(&mark));
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
    assert!(!mounts.contains(&*folder.path().to_string_lossy()), "a mount is left");
}

#[test]
fn there_is_no_way_out_and_nothing_of_the_caller_in_it() {
    if !available("there_is_no_way_out_and_nothing_of_the_caller_in_it") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let home = std::env::var("HOME").unwrap_or_default();
    let script =
        format!("env | sort; echo interfaces $(ip -o link show up | wc -l); ls -A '{home}' /tmp; pwd");
    let mut child = start(folder.path(), &script);
    // Waiting for it would close its standard input, which ends it.
    assert!(becomes(|| child.try_wait().unwrap().is_some_and(|status| status.success())), "it did not end");
    let printed = fs::read_to_string(folder.path().join("out/0-0.stdout")).unwrap();
    assert!(printed.contains("interfaces 1\n"), "{printed}");
    assert!(printed.contains("HOME=/home/dev\n") && printed.ends_with("/home/dev/demo\n"), "{printed}");
    let variables = printed.lines().filter(|line| line.contains('=')).count();
    assert!(variables <= 12, "{printed}");
    let begin = format!("{home}:\n");
    let listed = printed.split_once(&begin).map(|(_, rest)| rest.lines().next().unwrap_or_default());
    // It is an empty folder, or not there at all.
    assert!(listed.is_none_or(str::is_empty), "the caller's home is to be seen: {printed}");
}
