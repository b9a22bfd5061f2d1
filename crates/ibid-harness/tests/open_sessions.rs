//! Sessions that a running program has open are seen to be, and others are not.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests state what they expect")]

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use ibid_carrier::jsonl::Limits;
use ibid_harness::{Context, Discovered, OpenIn, Progress, Surroundings, discover};
use ibid_testkit::Home;

/// The first session of a harness in a home, which is none of a subagent's.
fn session(home: &Path, harness: &str) -> Discovered {
    let known = ibid_harness::find(harness).unwrap();
    let machine = Surroundings::isolated(home);
    let found = discover(&[known], &machine, &Limits::default(), None, &Progress::default());
    let mut sessions = found.into_iter().flat_map(|discovery| discovery.sessions);
    sessions.find(|session| session.lineage.is_empty()).unwrap()
}

fn open_in(home: &Path, session: &Discovered) -> Option<OpenIn> {
    let harness = ibid_harness::find(session.reference.harness.as_str()).unwrap();
    let machine = Surroundings::isolated(home);
    harness.open_in(&session.reference, &Context { machine: &machine, limits: &Limits::default() })
}

/// When a process was started, as the kernel counts it.
fn started(process: u32) -> String {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    stat.rsplit_once(')').unwrap().1.split_whitespace().nth(19).unwrap().to_owned()
}

#[test]
fn codex_holds_a_lock_on_a_thread_that_it_has_open() {
    let home = Home::new().with("codex", "0.171.0");
    let session = session(home.path(), "codex");
    let locks = home.path().join(".codex/thread-writer-locks");
    fs::create_dir_all(&locks).unwrap();
    let lock = File::create(locks.join(format!("{}.lock", session.id))).unwrap();
    assert_eq!(open_in(home.path(), &session), None, "a lock file that nobody holds is left over");
    lock.lock().unwrap();
    let open = open_in(home.path(), &session).unwrap();
    assert!(open.sign.contains("thread-writer-locks"), "{open}");
}

#[test]
fn an_older_codex_keeps_the_rollout_open() {
    let home = Home::new().with("codex", "0.100.0");
    let session = session(home.path(), "codex");
    assert_eq!(open_in(home.path(), &session), None);
    let script = format!("exec 3>>'{}'; echo here; read line", session.reference.path.display());
    let mut running = Running::start(Command::new("sh").arg("-c").arg(script));
    assert_eq!(open_in(home.path(), &session).unwrap().process, Some(running.0.id()));
    running.end();
    assert_eq!(open_in(home.path(), &session), None);
}

#[test]
fn claude_code_names_its_process_and_session_while_it_runs() {
    let home = Home::new().with("claude-code", "2.1.332");
    let session = session(home.path(), "claude-code");
    let folder = home.path().join(".claude/sessions");
    fs::create_dir_all(&folder).unwrap();
    let this = std::process::id();
    let says = |id: &str, start: &str| {
        let text =
            format!(r#"{{"pid":{this},"sessionId":"{id}","procStart":"{start}","kind":"interactive"}}"#);
        fs::write(folder.join(format!("{this}.json")), text).unwrap();
    };
    says(session.id.as_str(), &started(this));
    assert_eq!(open_in(home.path(), &session).unwrap().process, Some(this));
    says("00000000-0000-4000-8000-000000000000", &started(this));
    assert_eq!(open_in(home.path(), &session), None, "it has another session open");
    says(session.id.as_str(), "1");
    assert_eq!(open_in(home.path(), &session), None, "that process ended, and its number was given away");
}

#[test]
fn pi_runs_in_the_directory_of_the_session() {
    let home = Home::new().with("pi", "1.6.0");
    let mut session = session(home.path(), "pi");
    let workspace = home.path().join("workspace").canonicalize().unwrap_or_else(|_| {
        fs::create_dir(home.path().join("workspace")).unwrap();
        home.path().join("workspace").canonicalize().unwrap()
    });
    let path = session.reference.path.with_file_name("2026-01-01T00-00-00-000Z_0199.jsonl");
    let header = format!(
        r#"{{"type":"session","version":3,"id":"0199","timestamp":"2026-01-01T00:00:00.000Z","cwd":"{}"}}"#,
        workspace.display()
    );
    fs::write(&path, header + "\n").unwrap();
    session.reference.path = path;
    assert_eq!(open_in(home.path(), &session), None);
    // A program that is a script is known by the script's name, as pi makes itself known.
    let program = home.path().join("pi");
    fs::write(&program, "#!/bin/sh\nread line\n").unwrap();
    let mut running = Running::start(Command::new("sh").arg("-c").arg(format!(
        "chmod +x {0} && cd {1} && echo here && exec {0}",
        program.display(),
        workspace.display()
    )));
    let process = running.0.id();
    let seen = (0..200).find_map(|_| {
        std::thread::sleep(std::time::Duration::from_millis(10));
        open_in(home.path(), &session)
    });
    assert_eq!(seen.and_then(|open| open.process), Some(process));
    running.end();
    assert_eq!(open_in(home.path(), &session), None);
}

/// The database that the helper below opens.
const DATABASE: &str = "IBID_TEST_DATABASE";

/// The other process that holds a database, for the test that follows.
#[test]
#[ignore = "it is started by another test"]
fn hold_a_database() {
    let path = std::env::var_os(DATABASE).unwrap();
    let connection = rusqlite::Connection::open(path).unwrap();
    let mode: String = connection.query_row("PRAGMA journal_mode = wal", [], |row| row.get(0)).unwrap();
    let count: i64 = connection.query_row("SELECT count(*) FROM session", [], |row| row.get(0)).unwrap();
    println!("\nholding {count} in {mode}");
    let _ = std::io::stdin().read(&mut [0]);
}

#[test]
fn opencode_is_at_work_in_a_session_whose_last_turn_has_not_ended() {
    let home = Home::new().with("opencode", "1.18.33");
    let session = session(home.path(), "opencode");
    let database = session.reference.path.clone();
    let end_turn = |ended: bool| {
        let connection = rusqlite::Connection::open(&database).unwrap();
        let sql = "UPDATE message SET data = json_set(json_remove(data, '$.time.completed'), '$.role', 'assistant') \
                   WHERE session_id = ?1";
        connection.execute(sql, [session.id.as_str()]).unwrap();
        if ended {
            let sql = "UPDATE message SET data = json_set(data, '$.time.completed', 1) WHERE session_id = ?1";
            connection.execute(sql, [session.id.as_str()]).unwrap();
        }
    };
    end_turn(false);
    assert_eq!(open_in(home.path(), &session), None, "nobody holds the database");
    let mut running = Running::start(
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "hold_a_database", "--ignored", "--nocapture"])
            .env(DATABASE, &database),
    );
    let open = open_in(home.path(), &session).unwrap();
    assert_eq!(open.process, Some(running.0.id()), "{open}");
    end_turn(true);
    assert_eq!(open_in(home.path(), &session), None, "the turn has ended");
    running.end();
}

/// A process that is ended with the test.
struct Running(Child);

impl Running {
    /// Starts it, and waits for a line that says `here` or `holding`.
    fn start(command: &mut Command) -> Running {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let ready =
            lines.map_while(Result::ok).find(|line| line.starts_with("here") || line.starts_with("holding"));
        assert!(ready.is_some(), "it did not begin");
        Running(child)
    }

    fn end(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
