//! Processes that do not outlive the lab.

use std::io::Read as _;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use super::unshare;

/// The subcommand that runs a program which is not an agent (npm) without outliving the lab.
pub const GUARDED: &str = "guarded";

/// How often a waiting process looks.
pub(super) const TICK: Duration = Duration::from_millis(20);

/// Ends this process when its standard input closes. As the first process of its namespace it
/// takes every other one in there with it.
pub(super) fn end_with_the_lab() {
    std::thread::spawn(|| {
        let mut byte = [0];
        while let Ok(1..) = std::io::stdin().read(&mut byte) {}
        std::process::exit(125);
    });
}

/// Starts a command that watches its standard input, and waits for it.
///
/// # Errors
/// When it cannot be started, or does not end in time.
pub(super) fn wait(mut command: Command, limit: Duration) -> Result<ExitStatus> {
    let mut child = command.stdin(Stdio::piped()).spawn().context("unshare")?;
    let lifeline = child.stdin.take();
    let began = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if began.elapsed() > limit {
            drop(lifeline);
            let _ = child.kill();
            let _ = child.wait();
            bail!("it did not end within {} s", limit.as_secs());
        }
        std::thread::sleep(TICK);
    };
    drop(lifeline);
    Ok(status)
}

/// A command that runs a program with the caller's environment and network, and does not let it
/// outlive the lab. It is for the package manager.
///
/// # Errors
/// When this program cannot name itself.
pub fn guarded(program: &str) -> Result<Command> {
    let mut command = unshare(&["--mount-proc"]);
    command.arg(std::env::current_exe()?).arg(GUARDED).arg(program);
    Ok(command)
}

/// Runs a guarded command.
///
/// # Errors
/// When it cannot be started, or does not end in time.
pub fn run_guarded(command: Command, limit: Duration) -> Result<ExitStatus> {
    wait(command, limit)
}

/// The body of the subcommand: runs the program, and returns its exit status.
///
/// # Errors
/// When it cannot be started.
pub fn guard(words: &[String]) -> Result<i32> {
    end_with_the_lab();
    let Some((program, arguments)) = words.split_first() else { bail!("no program") };
    let status = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .status()
        .with_context(|| program.clone())?;
    Ok(status.code().unwrap_or(1))
}
