//! The first process of a sandbox.

use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use rustix::process::{Pid, Signal, kill_process_group};

use super::SYSTEM_PATH;
use super::guard::{TICK, end_with_the_lab};
use super::setup::{self, HOME, OUT, WORKSPACE};
use super::spec::{Ended, Launch, Spec, Step, output_name};
use crate::provider;

/// How long a program's input stays open behind what it is given: Claude Code 2.1.197 ends at once,
/// without an answer, when it closes.
const INPUT_STAYS_OPEN: Duration = Duration::from_secs(3);

/// Runs what the file at `path` says, and writes how it went beside it.
///
/// # Errors
/// When the sandbox cannot be set up. A step that fails is a result.
pub fn run_inside(path: &Path) -> Result<()> {
    end_with_the_lab();
    let spec: Spec = serde_json::from_slice(&fs::read(path).with_context(|| path.display().to_string())?)?;
    if std::process::id() != 1 {
        bail!("this is run by the lab, in a process namespace of its own");
    }
    setup::only_loopback()?;
    setup::lay_out(&spec)?;
    let _provider = match &spec.provider {
        Some(wanted) => Some(provider::start(wanted, Path::new(OUT), WORKSPACE)?),
        None => None,
    };
    let log = spec.provider.as_ref().map(|provider| Path::new(OUT).join(&provider.log));
    let mut running: Option<Child> = None;
    let mut results = Vec::new();
    for (number, step) in spec.steps.iter().enumerate() {
        let began = Instant::now();
        let (status, late) = match step {
            Step::Run(launch) => {
                let mut child = start(launch, spec.number, number)?;
                until(&mut child, Duration::from_secs(launch.seconds))?
            }
            Step::Start(launch) => {
                running = Some(start(launch, spec.number, number)?);
                (Some(0), false)
            }
            Step::Await { text, seconds } => {
                let limit = Duration::from_secs(*seconds);
                let seen = || {
                    let log = log.as_deref().map(fs::read_to_string);
                    matches!(log, Some(Ok(log)) if log.contains(text.as_str()))
                };
                while !seen() && began.elapsed() < limit {
                    std::thread::sleep(TICK);
                }
                (Some(0), !seen())
            }
            Step::Stop => {
                if let Some(mut child) = running.take() {
                    end(&mut child)?;
                }
                (Some(0), false)
            }
        };
        results.push(Ended { status, late, seconds: began.elapsed().as_secs_f64() });
    }
    let results = serde_json::to_vec(&results)?;
    fs::write(Path::new(OUT).join(format!("results-{}.json", spec.number)), results)?;
    Ok(())
}

fn start(launch: &Launch, number: u32, step: usize) -> Result<Child> {
    let Some((program, arguments)) = launch.words.split_first() else { bail!("no program to start") };
    let printed = |kind: &str| File::create(Path::new(OUT).join(output_name(number, step, kind)));
    let input = if launch.input.is_some() { Stdio::piped() } else { Stdio::null() };
    let mut path = launch.path.join(":");
    if !path.is_empty() {
        path.push(':');
    }
    path.push_str(SYSTEM_PATH);
    let always = [
        ("PATH", path.as_str()),
        ("HOME", HOME),
        ("USER", "dev"),
        ("LOGNAME", "dev"),
        ("SHELL", "/bin/sh"),
        ("LANG", "C.UTF-8"),
        ("TERM", "dumb"),
        ("TMPDIR", "/tmp"),
        ("DO_NOT_TRACK", "1"),
        ("GIT_CONFIG_NOSYSTEM", "1"),
    ];
    let mut child = Command::new(program)
        .args(arguments)
        .env_clear()
        .envs(always)
        .envs(&launch.variables)
        .current_dir(launch.cwd.as_deref().unwrap_or(WORKSPACE))
        .stdin(input)
        .stdout(printed("stdout")?)
        .stderr(printed("stderr")?)
        .process_group(0)
        .spawn()
        .with_context(|| program.clone())?;
    if let (Some(text), Some(mut stdin)) = (launch.input.clone(), child.stdin.take()) {
        std::thread::spawn(move || {
            // A program that does not read what it is given says so itself.
            let _ = stdin.write_all(text.as_bytes());
            std::thread::sleep(INPUT_STAYS_OPEN);
        });
    }
    Ok(child)
}

/// Waits for a program; ends it, and what it started, when it takes too long.
fn until(child: &mut Child, limit: Duration) -> Result<(Option<i32>, bool)> {
    let began = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok((status.code(), false));
        }
        if began.elapsed() > limit {
            end(child)?;
            return Ok((None, true));
        }
        std::thread::sleep(TICK);
    }
}

/// Ends a program with everything in its process group.
fn end(child: &mut Child) -> Result<()> {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(group, Signal::KILL);
    }
    child.wait()?;
    Ok(())
}
