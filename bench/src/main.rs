//! Ibid beside txcript on the same generated input, with ratios. txcript
//! (<https://github.com/skillsynchq/txcript>) is another Rust library that reads and converts sessions.
//!
//! Each measurement is a process of its own, so that its peak memory is its own; each is repeated
//! and the best time counts, since everything else on the machine only adds. The inputs are read
//! once before, so that both sides find them in the page cache.
//!
//!     cargo +nightly run --release            # everything: about 3 GB of disk
//!     cargo +nightly run --release -- --small # a tenth of it, to see that it runs
//!     cargo +nightly run --release -- --evidence # the evidence host alone: 2 GB of disk
//!     IBID_PROGRAM=... cargo +nightly run --release -- --hooks # what a hook costs
//!
//! txcript reads: of a Claude Code session everything, of a Codex session the head. Ibid reads: of
//! a Claude Code session everything that can hold a title or a time, of a Codex session head and
//! tail. The rows say what each side did.

mod evidence;
mod hooks;
mod measure;
mod sides;

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Instant;

use ibid_testkit::big::{Subject, claude_home, claude_session, codex_home};
use measure::{Figures, measure};

/// How often each measurement is repeated.
const REPEATS: usize = 5;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, side, job, path] = arguments.as_slice()
        && flag == "--worker"
    {
        return sides::run(side, job, Path::new(path));
    }
    if let [flag, most, home] = arguments.as_slice()
        && flag == "--evidence-worker"
    {
        return evidence::work(most, Path::new(home));
    }
    let small = arguments.iter().any(|argument| argument == "--small");
    let scale = if small { 10 } else { 1 };
    let is_asked = |part: &str| arguments.iter().any(|argument| argument == part);
    let measured = if is_asked("--evidence") {
        evidence::bench(scale)
    } else if is_asked("--hooks") {
        hooked()
    } else {
        bench(scale).and_then(|()| evidence::bench(scale)).and_then(|()| hooked())
    };
    match measured {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("the benchmark could not run: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The hooks of the program that is named.
fn hooked() -> std::io::Result<()> {
    match std::env::var_os("IBID_PROGRAM") {
        Some(program) => hooks::bench(Path::new(&program)),
        None => {
            println!("skipped: hooks: IBID_PROGRAM does not name a release build of `ibid`");
            Ok(())
        }
    }
}

fn bench(scale: u64) -> std::io::Result<()> {
    let dir = tempfile::tempdir()?;
    let project = dir.path().join("one/.claude/projects/-home-dev-demo");
    std::fs::create_dir_all(&project)?;
    let session = project.join("11111111-2222-4333-8444-555555555555.jsonl");
    eprintln!("making a Claude Code session of {} MB", 200 / scale);
    let mut out = std::io::BufWriter::new(std::fs::File::create(&session)?);
    let bytes = claude_session(&mut out, &Subject::numbered(1), 200_000_000 / scale)?;
    out.flush()?;
    let home = dir.path().join("home");
    let half = 5_000 / scale;
    eprintln!("making a home of {} sessions, {:.1} GB", 2 * half, 2.0 / scale as f64);
    claude_home(&home, half, 1_000_000_000 / scale)?;
    codex_home(&home, half, 1_000_000_000 / scale)?;
    println!(
        "one Claude Code session of {:.1} MB; a home of {} sessions, {:.1} GB, half of them Codex",
        bytes as f64 / 1e6,
        2 * half,
        2.0 / scale as f64
    );
    println!("{:<40} {:>21} {:>21} {:>8}", "", "ibid", "txcript", "times");
    println!(
        "{:<40} {:>10} {:>10} {:>10} {:>10} {:>8}",
        "job", "seconds", "peak MB", "seconds", "peak MB", "faster"
    );
    for (job, title, path) in [
        ("metadata", "metadata of the session, one thread", &session),
        ("load", "load and to common", &session),
        ("convert", "load, to common, to Codex", &session),
        ("discover-claude", "discover the Claude half, cold", &home),
        ("discover", "discover the whole home, cold", &home),
        ("discover-again", "discover the whole home, again", &home),
    ] {
        row(job, title, path)?;
    }
    match std::env::var_os("IBID_PROGRAM") {
        Some(program) => listed(Path::new(&program), &home),
        None => {
            println!("skipped: ibid list --json: IBID_PROGRAM does not name a release build of `ibid`");
            Ok(())
        }
    }
}

/// The whole command, from its start to its last line, with and without Ibid's cache.
fn listed(program: &Path, home: &Path) -> std::io::Result<()> {
    for (title, keeps_cache) in
        [("ibid list --json, without its cache", false), ("ibid list --json, again", true)]
    {
        let mut best = f64::INFINITY;
        let mut bytes = 0;
        for _ in 0..REPEATS {
            if !keeps_cache {
                match std::fs::remove_dir_all(home.join(".cache")) {
                    Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
                    _ => {}
                }
            }
            let start = Instant::now();
            let output = Command::new(program)
                .env_clear()
                .arg("--home")
                .arg(home)
                .args(["list", "--json"])
                .output()?;
            if !output.status.success() {
                return Err(std::io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned()));
            }
            best = best.min(start.elapsed().as_secs_f64());
            bytes = output.stdout.len();
        }
        println!("{title:<40} {best:>10.3}     {:.1} MB printed", bytes as f64 / 1e6);
    }
    Ok(())
}

fn row(job: &str, title: &str, path: &Path) -> std::io::Result<()> {
    let ours = best(&["ibid", job], path)?;
    let theirs = best(&["txcript", job], path)?;
    println!(
        "{title:<40} {:>10.3} {:>10.1} {:>10.3} {:>10.1} {:>8.1}",
        ours.seconds,
        ours.peak_mb,
        theirs.seconds,
        theirs.peak_mb,
        theirs.seconds / ours.seconds
    );
    println!("    ibid: {}; txcript: {}", ours.said, theirs.said);
    Ok(())
}

fn best(worker: &[&str; 2], path: &Path) -> std::io::Result<Figures> {
    let mut best: Option<Figures> = None;
    for _ in 0..REPEATS {
        let figures = measure(worker, path)?;
        if best.as_ref().is_none_or(|best| figures.seconds < best.seconds) {
            best = Some(figures);
        }
    }
    best.ok_or_else(|| std::io::Error::other("nothing was measured"))
}
