//! What a hook costs the agent that waits for it: from the start of the process to its end, with a
//! receiver, without one, and with one that hangs; beside a recorder in a few lines of Python, which is what
//! is mostly written for this, and beside `cat` in a shell, which is the least that anything can cost.
//! Neither of those two leaves a prompt out, locks, or rotates.

use std::io::{self, Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use ibid_capture::handoff::Handoff;
use ibid_capture::journal::{Filter, Journal};

/// How often each way is measured.
const RUNS: usize = 300;

/// How often the one is that waits for two seconds each time.
const SLOW_RUNS: usize = 10;

/// A recorder as people write it: reads the event, and appends it to a file under a lock.
const PYTHON: &str = "\
import fcntl, json, sys
event = json.load(sys.stdin)
kept = {key: event.get(key) for key in ('session_id', 'cwd', 'hook_event_name', 'turn_id')}
with open(sys.argv[1], 'a') as log:
    fcntl.flock(log, fcntl.LOCK_EX)
    log.write(json.dumps(kept) + '\\n')
";

/// Measures the program at `ibid`, a release build.
pub fn bench(ibid: &Path) -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let hook = |data: &Path| {
        let mut command = Command::new(ibid);
        command.args(["hook", "codex", "--data"]).arg(data);
        command
    };
    let small = event(200);
    let large = event(900_000);
    println!("{:<44} {:>9} {:>9} {:>7}", "a hook, from start to end", "median", "99th", "ratio");

    let alone = folder.path().join("alone");
    let base = row("ibid hook, nobody listens", RUNS, None, &small, || hook(&alone))?;
    row("the same, an event of 0.9 MB", RUNS, Some(base), &large, || hook(&alone))?;
    // The journal is what grows with the use of agents: a full one must cost no more.
    fill(&alone, ibid, &small)?;
    row("the same, the journal full", RUNS, Some(base), &small, || hook(&alone))?;

    let heard = folder.path().join("heard");
    listen(&heard, true)?;
    row("ibid hook, a process listens", RUNS, Some(base), &small, || hook(&heard))?;
    let hung = folder.path().join("hung");
    listen(&hung, false)?;
    row("ibid hook, the process that listens hangs", SLOW_RUNS, Some(base), &small, || hook(&hung))?;

    let (script, log) = (folder.path().join("hook.py"), folder.path().join("log"));
    std::fs::write(&script, PYTHON)?;
    row("python3 hook.py (no receiver, no rotation)", RUNS, Some(base), &small, || {
        let mut command = Command::new("python3");
        command.arg(&script).arg(&log);
        command
    })?;
    row("sh -c 'cat >> log' (keeps the prompt)", RUNS, Some(base), &small, || {
        let mut command = Command::new("sh");
        command.args(["-c", "cat >> \"$0\""]).arg(&log);
        command
    })?;
    let kept = Journal::new(&heard).read(&Filter::default()).entries.len();
    if kept < RUNS {
        return Err(io::Error::other(format!("{kept} of {RUNS} observations were kept")));
    }
    Ok(())
}

/// An event of Codex with a prompt of so many bytes.
fn event(prompt: usize) -> Vec<u8> {
    serde_json::json!({
        "session_id": "01a22cab-62dd-7661-aa05-129331e50dbf", "transcript_path": "/home/dev/.codex/sessions/r.jsonl",
        "cwd": "/home/dev/demo", "hook_event_name": "UserPromptSubmit", "model": "m-1",
        "permission_mode": "default", "turn_id": "01a22cab-62dd-7661-aa05-129331e50dc0", "prompt": "x".repeat(prompt),
    })
    .to_string()
    .into_bytes()
}

/// Median and 99th percentile in milliseconds, and the ratio of the medians; gives the median.
fn row(
    title: &str,
    runs: usize,
    base: Option<Duration>,
    input: &[u8],
    command: impl Fn() -> Command,
) -> io::Result<Duration> {
    let mut times = (0..runs).map(|_| once(command(), input)).collect::<io::Result<Vec<Duration>>>()?;
    times.sort_unstable();
    let at = |percent: usize| times[(times.len() - 1) * percent / 100];
    let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
    let ratio = base.map_or(1.0, |base| at(50).as_secs_f64() / base.as_secs_f64());
    println!("{title:<44} {:>6.2} ms {:>6.2} ms {ratio:>7.2}", milliseconds(at(50)), milliseconds(at(99)));
    Ok(at(50))
}

fn once(mut command: Command, input: &[u8]) -> io::Result<Duration> {
    let begun = Instant::now();
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::inherit()).spawn()?;
    if let Some(mut pipe) = child.stdin.take() {
        pipe.write_all(input)?;
    }
    match child.wait()?.success() {
        true => Ok(begun.elapsed()),
        false => Err(io::Error::other("a hook failed")),
    }
}

/// Makes the journal as large as it gets: 16 segments of 4 MiB.
fn fill(data: &Path, ibid: &Path, event: &[u8]) -> io::Result<()> {
    let mut command = Command::new(ibid);
    once(
        {
            command.args(["hook", "codex", "--data"]).arg(data);
            command
        },
        event,
    )?;
    let journal = data.join("lifecycle");
    let line = std::fs::read_to_string(journal.join("0000000001.jsonl"))?;
    let line = line.lines().last().unwrap_or_default().to_owned() + "\n";
    for number in 2..=16 {
        let content = line.repeat((4 << 20) / line.len());
        std::fs::write(journal.join(format!("{number:010}.jsonl")), content)?;
    }
    Ok(())
}

/// Listens as a handoff in this data directory says, and answers, or never does.
fn listen(data: &Path, answers: bool) -> io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let handoff = Handoff::new("codex", listener.local_addr()?).ok_or(io::ErrorKind::AddrNotAvailable)?;
    let path = Handoff::path(data, "codex");
    std::fs::create_dir_all(path.parent().unwrap_or(data))?;
    std::fs::write(&path, handoff.to_json())?;
    #[cfg(unix)]
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    if answers {
        let receiver = ibid_capture::receiver::Receiver::new([handoff], |_| {});
        std::thread::spawn(move || receiver.run(vec![listener], std::future::pending()));
        return Ok(());
    }
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let mut byte = [0];
                while stream.read(&mut byte).is_ok_and(|read| read > 0) {}
            });
        }
    });
    Ok(())
}
