//! `ibid` killed at any moment of a command that writes. The same command, run again, then finds
//! its goal reached or reaches it, and everything that agents read is what an undisturbed run
//! leaves: nothing is half-written, nothing is there twice, nothing is lost.
//!
//! `IBID_KILLS` says how often each command is killed (6 unless told; `.ci/long` takes hundreds).

use std::collections::BTreeMap;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::common::{CODEX_PARENT, Home, PI_TOOLS, command, ibid};

/// What is asked of a home, what has to be done in it before, and the code of a run that finds
/// its goal reached.
struct Job {
    before: &'static [&'static [&'static str]],
    asked: &'static [&'static str],
    reached: i32,
}

const JOBS: [Job; 5] = [
    Job { before: &[], asked: &["convert", CODEX_PARENT, "--to", "pi"], reached: 3 },
    Job { before: &[], asked: &["convert", PI_TOOLS, "--to", "codex"], reached: 3 },
    Job { before: &[], asked: &["convert", CODEX_PARENT, "--to", "opencode"], reached: 3 },
    Job { before: &[], asked: &["delete", CODEX_PARENT, "--yes"], reached: 1 },
    Job { before: &[&["delete", CODEX_PARENT, "--yes"]], asked: &["restore", CODEX_PARENT], reached: 1 },
];

fn kills() -> u32 {
    std::env::var("IBID_KILLS").map_or(6, |kills| kills.parse().expect("IBID_KILLS is a number"))
}

fn home_for(job: &Job) -> Home {
    let home = Home::new().with("codex", "0.171.0").with("pi", "1.6.0").with("opencode", "1.18.33");
    for arguments in job.before {
        let status = command(&home).args(*arguments).stdout(Stdio::null()).status().unwrap();
        assert!(status.success());
    }
    home
}

/// The exact records of every session that is in the home.
fn record(home: &Home) -> BTreeMap<String, String> {
    let list = ibid(home, ["list", "--all", "--json"]).ends(0).json();
    let sessions = list["sessions"].as_array().unwrap().iter();
    let names = sessions.map(|session| {
        format!("{}:{}", session["harness"].as_str().unwrap(), session["id"].as_str().unwrap())
    });
    let raw = |name: String| {
        let shown = ibid(home, ["show", &name, "--raw"]).ends(0).stdout;
        (name, shown.replace(home.path().to_str().unwrap(), "~"))
    };
    names.map(raw).collect()
}

/// The files in the agents' folders; what a database keeps beside itself is its own.
fn files(home: &Home) -> Vec<String> {
    let inside = |path: &std::path::Path| path.strip_prefix(home.path()).unwrap().display().to_string();
    [".codex", ".pi", ".local/share/opencode"]
        .iter()
        .flat_map(|store| home.files(store))
        .map(|path| inside(&path))
        .filter(|path| !path.ends_with("-wal") && !path.ends_with("-shm"))
        .collect()
}

fn killed_anywhere(job: &Job) {
    let undisturbed = home_for(job);
    let start = Instant::now();
    let run = command(&undisturbed).args(job.asked).output().unwrap();
    let whole = start.elapsed();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let (wanted, wanted_files) = (record(&undisturbed), files(&undisturbed));

    let (mut cut_short, mut done_before) = (0, 0);
    for kill in 0..kills() {
        let home = home_for(job);
        let mut child =
            command(&home).args(job.asked).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // From the first instruction to a little past the usual end.
        let moment = whole.mul_f64(1.1 * f64::from(kill) / f64::from(kills()));
        std::thread::sleep(moment.max(Duration::from_micros(50)));
        child.kill().unwrap();
        let status = child.wait().unwrap();
        cut_short += u32::from(!status.success());

        let again = command(&home).args(job.asked).output().unwrap();
        let code = again.status.code().unwrap();
        let told = String::from_utf8_lossy(&again.stderr);
        assert!(code == 0 || code == job.reached, "{:?}, killed after {moment:?}: {code}: {told}", job.asked);
        done_before += u32::from(code == job.reached);
        assert!(code != 0 || !status.success(), "{:?}: it was done and is done again", job.asked);
        assert_eq!(files(&home), wanted_files, "{:?}, killed after {moment:?}", job.asked);
        assert!(record(&home) == wanted, "{:?}, killed after {moment:?}: something else is there", job.asked);
    }
    println!(
        "{}: killed {} times, {cut_short} before its end; {done_before} had reached their goal",
        job.asked.join(" "),
        kills()
    );
}

#[test]
fn a_command_that_was_killed_anywhere_is_finished_by_running_it_again() {
    for job in &JOBS {
        killed_anywhere(job);
    }
}
