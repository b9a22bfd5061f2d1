//! Runs one job in a process of its own.

use std::io;
use std::path::Path;
use std::process::Command;

/// What one run took.
pub struct Figures {
    /// The time of the job alone, without starting the process.
    pub seconds: f64,
    /// The process's peak memory in MB (Linux; 0 elsewhere).
    pub peak_mb: f64,
    /// What the job did, in a few words.
    pub said: String,
}

/// Runs the job of one side. The worker prints its seconds, its peak in kB and what it did.
pub fn measure([side, job]: &[&str; 2], path: &Path) -> io::Result<Figures> {
    let output = Command::new(std::env::current_exe()?).args(["--worker", side, job]).arg(path).output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let mut fields = text.trim_end().splitn(3, ' ');
    let mut number = || fields.next().and_then(|field| field.parse::<f64>().ok());
    let (Some(seconds), Some(peak)) = (number(), number()) else {
        let error = String::from_utf8_lossy(&output.stderr);
        return Err(io::Error::other(format!("{side} {job}: {error}")));
    };
    Ok(Figures { seconds, peak_mb: peak / 1024.0, said: fields.next().unwrap_or_default().to_owned() })
}

/// The peak memory of this process in kB, as Linux counts it.
pub fn peak_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}
