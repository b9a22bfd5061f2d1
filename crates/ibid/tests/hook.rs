use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use ibid_capture::handoff::Handoff;
use ibid_capture::journal::{Entry, Filter, Journal, Refusal, ReportFailure};

use crate::common::{Run, program};

/// Text that stands in every field that a hook must let go.
const SECRET: &str = "s3cret-prompt";

/// An event of Codex as it comes, with a prompt.
fn prompt(session: &str) -> String {
    serde_json::json!({
        "session_id": session, "transcript_path": "/home/dev/.codex/sessions/r.jsonl", "cwd": "/home/dev/demo",
        "hook_event_name": "UserPromptSubmit", "model": "m-1", "permission_mode": SECRET, "turn_id": "t-1",
        "prompt": SECRET, "extension": {"nested": [SECRET]}, "env": {"API_KEY": SECRET},
    })
    .to_string()
}

fn start(session: &str) -> String {
    serde_json::json!({
        "session_id": session, "transcript_path": null, "cwd": "/home/dev/demo",
        "hook_event_name": "SessionStart", "source": "startup",
    })
    .to_string()
}

fn hook(data: &Path) -> Command {
    let mut command = program();
    command.args(["hook", "codex", "--data"]).arg(data);
    command
}

fn spawn(mut command: Command) -> Child {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn finished(child: Child) -> Run {
    let output = child.wait_with_output().unwrap();
    Run {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        bytes: output.stdout,
    }
}

/// Runs a hook on an input that ends. It must be silent and succeed, and say nothing of the input.
fn run(command: Command, input: &[u8]) -> Run {
    let mut child = spawn(command);
    // One that has read enough closes its end.
    let _ = child.stdin.take().unwrap().write_all(input);
    silent(finished(child))
}

fn silent(run: Run) -> Run {
    assert_eq!((run.code, run.stdout.as_str()), (0, ""), "{}", run.stderr);
    assert!(!run.stderr.contains("s3cret"), "{}", run.stderr);
    run
}

fn entries(data: &Path) -> Vec<Entry> {
    let reading = Journal::new(data).read(&Filter::default());
    assert!(reading.findings.is_empty(), "{:?}", reading.findings);
    reading.entries.into_iter().map(|kept| kept.entry).collect()
}

fn sessions(data: &Path) -> Vec<String> {
    entries(data).iter().filter_map(|entry| Some(entry.session()?.to_owned())).collect()
}

/// Everything that lies in the data directory, as text.
fn everything(data: &Path) -> String {
    let mut text = String::new();
    for entry in std::fs::read_dir(data).unwrap().flatten() {
        match entry.file_type().unwrap() {
            kind if kind.is_dir() => text.push_str(&everything(&entry.path())),
            _ => text.push_str(&String::from_utf8_lossy(&std::fs::read(entry.path()).unwrap())),
        }
    }
    text
}

#[test]
fn an_event_is_kept_with_its_identities_and_without_its_prompt() {
    let data = tempfile::tempdir().unwrap();
    let session = "s \u{1f9ea} / \"x\"";
    assert_eq!(run(hook(data.path()), prompt(session).as_bytes()).stderr, "");
    let kept = entries(data.path());
    let [Entry::Observed(observed)] = kept.as_slice() else { panic!("{kept:?}") };
    assert_eq!((observed.program.as_str(), observed.session.as_str()), ("codex", session));
    let native: serde_json::Value = serde_json::from_str(observed.observation.get()).unwrap();
    assert_eq!((&native["session_id"], &native["event"]["turn_id"]), (&session.into(), &"t-1".into()));
    assert!(!everything(data.path()).contains(SECRET));
}

#[test]
fn whatever_it_is_called_with_it_succeeds_in_silence_and_says_why_in_the_journal() {
    let good = prompt("s");
    let many = format!("[{}]", "{\"a\":[".repeat(100_000));
    let large = format!("{{\"prompt\":\"{}\"}}", "s3cret".repeat(200_000));
    type Case<'a> = (&'a [&'a str], &'a [u8], Refusal, Option<&'a str>);
    let cases: &[Case<'_>] = &[
        (&["codex"], b"", Refusal::NotAnEvent, Some("codex")),
        (&["codex"], b"s3cret", Refusal::NotAnEvent, Some("codex")),
        (&["codex"], b"\xff\xfe s3cret", Refusal::NotAnEvent, Some("codex")),
        (&["codex"], b"{\"s3cret\":", Refusal::NotAnEvent, Some("codex")),
        (&["codex"], b"[{\"hook_event_name\":\"Stop\"}]", Refusal::NotAnEvent, Some("codex")),
        (&["codex"], b"{\"hook_event_name\":\"s3cret\"}", Refusal::NotAnEvent, Some("codex")),
        (&["codex"], many.as_bytes(), Refusal::NotAnEvent, Some("codex")),
        (&["codex"], large.as_bytes(), Refusal::TooLarge, Some("codex")),
        (&[], good.as_bytes(), Refusal::UnknownProgram, None),
        (&["s3cret"], good.as_bytes(), Refusal::UnknownProgram, None),
        (&[""], good.as_bytes(), Refusal::UnknownProgram, None),
        (&["codex", "more"], good.as_bytes(), Refusal::Arguments, Some("codex")),
        (&["codex", "--what", "s3cret"], good.as_bytes(), Refusal::Arguments, Some("codex")),
        (&["codex", "--json=s3cret"], good.as_bytes(), Refusal::Arguments, Some("codex")),
    ];
    for (words, input, reason, known) in cases {
        let data = tempfile::tempdir().unwrap();
        let mut command = program();
        command.arg("--home").arg(data.path()).arg("hook").arg("--data").arg(data.path()).args(*words);
        run(command, input);
        let kept = entries(data.path());
        let [Entry::Refused(refused)] = kept.as_slice() else { panic!("{words:?}: {kept:?}") };
        assert_eq!((refused.reason, refused.program.as_deref()), (*reason, *known), "{words:?}");
        let read = input.len().min((1 << 20) + 1) as u64;
        assert_eq!(refused.bytes, read, "{words:?}");
        assert!(!everything(data.path()).contains("s3cret"), "{words:?}");
    }
}

#[test]
fn wherever_its_data_would_lie_it_succeeds_in_silence() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "x").unwrap();
    for data in [file.clone(), file.join("below"), PathBuf::from("/dev/null"), PathBuf::from("/proc/none")] {
        run(hook(&data), prompt("s").as_bytes());
    }
    let mut homeless = program();
    homeless.args(["hook", "codex"]);
    assert!(run(homeless, prompt("s").as_bytes()).stderr.contains("--data"));
    let mut blank = program();
    blank.args(["hook", "codex", "--data", ""]);
    run(blank, prompt("s").as_bytes());
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "x");
}

#[test]
fn without_data_its_home_says_where_the_journal_is() {
    let home = ibid_testkit::Home::new();
    let mut command = program();
    command.env("IBID_HOME", home.path()).args(["hook", "codex"]);
    run(command, start("s").as_bytes());
    let data = ibid_harness::Surroundings::isolated(home.path()).data_dir().to_owned();
    assert_eq!(sessions(&data), ["s"]);
}

#[test]
fn a_pipe_that_stays_open_behind_an_event_is_not_waited_for() {
    let data = tempfile::tempdir().unwrap();
    let begun = Instant::now();
    let mut child = spawn(hook(data.path()));
    let mut pipe = child.stdin.take().unwrap();
    pipe.write_all(prompt("s").as_bytes()).unwrap();
    let code = child.wait().unwrap().code();
    assert!(begun.elapsed() < Duration::from_secs(1), "{:?}", begun.elapsed());
    drop(pipe);
    assert_eq!((code, sessions(data.path())), (Some(0), vec!["s".to_owned()]));
}

#[test]
fn an_event_that_never_ends_is_given_up_within_its_time() {
    let data = tempfile::tempdir().unwrap();
    let begun = Instant::now();
    let mut child = spawn(hook(data.path()));
    let mut pipe = child.stdin.take().unwrap();
    pipe.write_all(b"{\"prompt\":\"s3cret").unwrap();
    let code = child.wait().unwrap().code();
    assert!(begun.elapsed() < Duration::from_millis(3500), "{:?}", begun.elapsed());
    drop(pipe);
    assert_eq!(code, Some(0));
    let kept = entries(data.path());
    let [Entry::Refused(refused)] = kept.as_slice() else { panic!("{kept:?}") };
    assert_eq!((refused.reason, refused.bytes), (Refusal::TooSlow, 17));
}

#[cfg(unix)]
#[test]
fn closed_streams_are_no_failure() {
    let data = tempfile::tempdir().unwrap();
    let shell = |redirections: &str| {
        let line = format!("exec \"$0\" hook codex --data \"$1\" {redirections}");
        let mut command = Command::new("sh");
        command.args(["-c", &line]).arg(assert_cmd::cargo::cargo_bin!("ibid")).arg(data.path());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap().code()
    };
    for redirections in ["<&-", ">&-", "2>&-", "<&- >&- 2>&-", "< /", "<&- > /dev/full 2> /dev/full"] {
        assert_eq!(shell(redirections), Some(0), "{redirections}");
    }
    assert!(entries(data.path()).iter().all(|entry| matches!(entry, Entry::Refused(_))));
    assert_eq!(entries(data.path()).len(), 6);
}

#[test]
fn help_is_for_people_and_never_on_stdout() {
    for words in [&["hook", "--help"][..], &["hook", "codex", "-h"]] {
        let mut command = program();
        command.args(words);
        let run = silent(finished(spawn(command)));
        assert!(run.stderr.contains("Usage: ibid hook"), "{}", run.stderr);
    }
    let mut command = program();
    command.args(["help", "hook"]);
    assert!(crate::common::finish(command).ends(0).stdout.contains("ibid hook"));
}

/// A listener that answers every request in the same way, and gives what it was sent.
fn receiver(data: &Path, answer: Option<&'static str>) -> (Handoff, std::thread::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let handoff = Handoff::new("codex", listener.local_addr().unwrap()).unwrap();
    hand_over(data, &handoff.to_json());
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        let mut request = Vec::new();
        let mut byte = [0];
        while !request.ends_with(b"}") && stream.read(&mut byte).is_ok_and(|read| read == 1) {
            request.push(byte[0]);
        }
        match answer {
            Some(answer) => stream.write_all(answer.as_bytes()).unwrap(),
            // Until the hook goes away.
            None => while stream.read(&mut byte).is_ok_and(|read| read == 1) {},
        }
        String::from_utf8(request).unwrap()
    });
    (handoff, server)
}

fn hand_over(data: &Path, content: &str) {
    let path = Handoff::path(data, "codex");
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, content).unwrap();
    #[cfg(unix)]
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
}

fn failures(data: &Path) -> Vec<(ReportFailure, Option<u16>)> {
    let failure = |entry: &Entry| match entry {
        Entry::Unreported(unreported) => Some((unreported.failure, unreported.status)),
        _ => None,
    };
    entries(data).iter().filter_map(failure).collect()
}

#[test]
fn a_process_that_listens_is_told_which_session_and_no_more() {
    let data = tempfile::tempdir().unwrap();
    let (handoff, server) = receiver(data.path(), Some("HTTP/1.1 204 No Content\r\n\r\n"));
    run(hook(data.path()), prompt("s \u{1f9ea}").as_bytes());
    let request = server.join().unwrap();
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    assert!(head.contains(handoff.secret().reveal()) && !request.contains(SECRET));
    let said: serde_json::Value = serde_json::from_str(body).unwrap();
    assert_eq!(said, serde_json::json!({"session_id": "s \u{1f9ea}", "cwd": "/home/dev/demo"}));
    assert_eq!((failures(data.path()), sessions(data.path()).len()), (vec![], 1));
    let journal = everything(&data.path().join("lifecycle"));
    assert!(!journal.contains(handoff.secret().reveal()));
}

#[test]
fn a_subagent_is_reported_under_its_root() {
    let data = tempfile::tempdir().unwrap();
    let (_, server) = receiver(data.path(), Some("HTTP/1.1 204 No Content\r\n\r\n"));
    let event = serde_json::json!({
        "session_id": "root", "transcript_path": "/c.jsonl", "cwd": "/w", "hook_event_name": "SubagentStart",
        "turn_id": "t", "agent_id": "child", "agent_type": "worker", "prompt": SECRET,
    });
    run(hook(data.path()), event.to_string().as_bytes());
    let request = server.join().unwrap();
    let said: serde_json::Value = serde_json::from_str(request.split_once("\r\n\r\n").unwrap().1).unwrap();
    assert_eq!(said, serde_json::json!({"session_id": "root", "cwd": "/w", "agent_id": "child"}));
}

#[test]
fn what_becomes_of_a_report_is_no_matter_for_the_agent_and_is_in_the_journal() {
    let cases: [(Option<&str>, ReportFailure, Option<u16>); 4] = [
        (Some("HTTP/1.1 401 Unauthorized\r\n\r\n"), ReportFailure::Answered, Some(401)),
        (
            Some("HTTP/1.1 302 Found\r\nlocation: http://192.0.2.1/\r\n\r\n"),
            ReportFailure::Answered,
            Some(302),
        ),
        (Some("nonsense"), ReportFailure::Broken, None),
        (None, ReportFailure::TimedOut, None),
    ];
    for (answer, failure, status) in cases {
        let data = tempfile::tempdir().unwrap();
        let (_, server) = receiver(data.path(), answer);
        let begun = Instant::now();
        run(hook(data.path()), prompt("s").as_bytes());
        assert!(begun.elapsed() < Duration::from_millis(3500), "{answer:?}: {:?}", begun.elapsed());
        server.join().unwrap();
        assert_eq!(failures(data.path()), [(failure, status)], "{answer:?}");
        assert_eq!(sessions(data.path()), ["s"]);
    }
}

#[test]
fn a_handoff_that_is_not_believed_is_in_the_journal_and_nobody_is_told() {
    let data = tempfile::tempdir().unwrap();
    hand_over(data.path(), "{\"version\":1,\"s3cret\":\"s3cret\"}");
    let run = run(hook(data.path()), prompt("s").as_bytes());
    assert!(run.stderr.contains("ibid plugin install codex"), "{}", run.stderr);
    assert_eq!(failures(data.path()), [(ReportFailure::Handoff, None)]);
}

#[test]
fn where_nobody_listens_nothing_is_said() {
    let data = tempfile::tempdir().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let handoff = Handoff::new("codex", listener.local_addr().unwrap()).unwrap();
    drop(listener);
    hand_over(data.path(), &handoff.to_json());
    assert_eq!(run(hook(data.path()), prompt("s").as_bytes()).stderr, "");
    assert_eq!((failures(data.path()), sessions(data.path()).len()), (vec![], 1));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_no_failure_and_leaves_no_torn_record() {
    let folder = tempfile::tempdir().unwrap();
    // A file system of a few pages in a namespace of its own; 40 hooks fill it.
    let script = r#"mount -t tmpfs -o size=16k,mode=0700 ibid "$1" || exit 77
        i=0; while [ $i -lt 40 ]; do "$0" hook codex --data "$1" < "$2" || exit 1; i=$((i+1)); done
        cp -R "$1/lifecycle" "$3""#;
    let event = folder.path().join("event");
    std::fs::write(&event, prompt(&"s".repeat(800))).unwrap();
    let (disk, out) = (folder.path().join("disk"), folder.path().join("out/lifecycle"));
    std::fs::create_dir_all(&disk).unwrap();
    std::fs::create_dir_all(out.parent().unwrap()).unwrap();
    let mut command = Command::new("unshare");
    command.args(["--map-root-user", "--mount", "sh", "-c", script]);
    command.arg(assert_cmd::cargo::cargo_bin!("ibid")).args([&disk, &event, &out]);
    let Ok(output) = command.output() else {
        eprintln!("skipped: there is no `unshare`");
        return;
    };
    if output.status.code() == Some(77) || String::from_utf8_lossy(&output.stderr).contains("unshare") {
        eprintln!("skipped: no file system can be mounted in a namespace here");
        return;
    }
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(0), &b""[..]), "{said}");
    assert!(said.contains("No space left"), "{said}");
    let kept = sessions(out.parent().unwrap()).len();
    assert!((1..40).contains(&kept), "{kept}");
}

/// How long the load test runs; `.ci/long` runs it for a minute.
fn load_time() -> Duration {
    let seconds =
        std::env::var("IBID_HOOK_LOAD").map_or(3, |text| text.parse().expect("a number of seconds"));
    Duration::from_secs(seconds)
}

/// 64 hooks at once, again and again, some of them killed at any moment.
#[cfg(unix)]
#[test]
fn sixty_four_hooks_at_once_with_kills_among_them_lose_and_tear_nothing() {
    use std::os::unix::process::ExitStatusExt as _;

    let data = tempfile::tempdir().unwrap();
    let until = Instant::now() + load_time();
    let worker = |worker: u32| {
        let (mut ended, mut killed) = (Vec::new(), 0_u32);
        // How long a hook takes here: kills fall on all of that, the writing at its end included.
        let mut usual = Duration::from_millis(20);
        for n in 0_u32.. {
            if Instant::now() >= until {
                break;
            }
            let session = format!("{worker}-{n}");
            // The id stands in the cwd too: an observation under a wrong session would show.
            let event = serde_json::json!({
                "session_id": session, "transcript_path": null, "cwd": format!("/w/{session}"), "model": "m",
                "hook_event_name": "Stop", "turn_id": session, "last_assistant_message": SECRET.repeat(400),
            });
            let mut child = spawn(hook(data.path()));
            let _ = child.stdin.take().unwrap().write_all(event.to_string().as_bytes());
            let begun = Instant::now();
            let is_to_die = n % 4 == 3;
            if is_to_die {
                let percent = worker.wrapping_mul(7919).wrapping_add(n.wrapping_mul(104_729)) % 130;
                std::thread::sleep(usual * percent / 100);
                let _ = child.kill();
            }
            let status = child.wait().unwrap();
            if !is_to_die {
                usual = begun.elapsed();
            }
            match (status.code(), status.signal()) {
                (Some(0), _) => ended.push(session),
                (None, Some(9)) => killed += 1,
                other => panic!("a hook ended with {other:?}"),
            }
        }
        (ended, killed)
    };
    let (ended, killed) = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..64).map(|n| scope.spawn(move || worker(n))).collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).fold(
            (Vec::new(), 0),
            |(mut ended, killed), (more, kills)| {
                ended.extend(more);
                (ended, killed + kills)
            },
        )
    });
    let journal = Journal::new(data.path());
    let reading = journal.read(&Filter::default());
    let state = journal.state();
    eprintln!(
        "{} hooks ended and {killed} were killed; {} entries, {} torn records, {} side files, {} segments removed",
        ended.len(),
        reading.entries.len(),
        state.torn,
        state.side_files,
        state.removed.segments
    );
    assert_eq!((state.lost, state.removed.segments), (0, 0));
    let mut seen = BTreeSet::new();
    for kept in &reading.entries {
        let Entry::Observed(observed) = &kept.entry else {
            // A pipe that was closed by a kill is no event, and is refused as such.
            panic!("{:?}", kept.entry)
        };
        let native: serde_json::Value = serde_json::from_str(observed.observation.get()).unwrap();
        assert_eq!(native["cwd"], format!("/w/{}", observed.session));
        assert_eq!(
            (&native["session_id"], &native["event"]["turn_id"]),
            (&native["session_id"], &observed.session.as_str().into())
        );
        assert!(seen.insert(observed.session.clone()), "{} stands twice", observed.session);
    }
    let lost: Vec<&String> = ended.iter().filter(|session| !seen.contains(*session)).collect();
    assert!(lost.is_empty(), "{} of {} are lost: {lost:?}", lost.len(), ended.len());
    assert!(seen.len() <= ended.len() + killed as usize);
    assert!(!everything(data.path()).contains(SECRET));
    for finding in &reading.findings {
        assert!(matches!(finding.kind.code(), "torn-record" | "cut-line"), "{finding}");
    }
}

#[cfg(unix)]
#[test]
fn a_process_that_is_stopped_with_the_lock_holds_nobody_up() {
    let data = tempfile::tempdir().unwrap();
    run(hook(data.path()), start("first").as_bytes());
    let lock = std::fs::OpenOptions::new().write(true).open(data.path().join("lifecycle/lock")).unwrap();
    lock.lock().unwrap();
    let begun = Instant::now();
    run(hook(data.path()), start("second").as_bytes());
    assert!(begun.elapsed() < Duration::from_millis(1500), "{:?}", begun.elapsed());
    drop(lock);
    run(hook(data.path()), start("third").as_bytes());
    assert_eq!(sessions(data.path()), ["first", "second", "third"]);
    assert_eq!(Journal::new(data.path()).state().side_files, 0);
}
