//! Whether a running program has a session open.
//!
//! Programs keep what they have open in memory and write on, so a session that is moved or
//! replaced under them comes back in pieces. How that can be seen differs for each program and
//! was measured with the lab; where nothing can be seen, nothing is said.

use std::fmt;

/// A running program that has a session open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenIn {
    /// The process, where it is known.
    pub process: Option<u32>,
    /// What says so, such as the path of a lock.
    pub sign: String,
}

impl fmt::Display for OpenIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.process {
            Some(process) => write!(f, "process {process} ({})", self.sign),
            None => write!(f, "a running program ({})", self.sign),
        }
    }
}

/// Whether a process runs. `started` is when it was started, as the kernel of Linux counts it; a
/// process of the same number that was started at another time is another one.
///
/// Where processes cannot be looked at, every one counts as running.
#[must_use]
pub(crate) fn is_running(process: u32, started: Option<&str>) -> bool {
    if cfg!(target_os = "linux") {
        // The name in the second field may hold anything, so fields count from behind it.
        let Ok(stat) = std::fs::read_to_string(format!("/proc/{process}/stat")) else { return false };
        let fields = stat.rsplit_once(')').map(|(_, rest)| rest).unwrap_or_default();
        let now = fields.split_whitespace().nth(19);
        return started.is_none_or(|started| now == Some(started));
    }
    exists(process)
}

#[cfg(unix)]
fn exists(process: u32) -> bool {
    let id = i32::try_from(process).ok().and_then(rustix::process::Pid::from_raw);
    // A process of somebody else's cannot be asked, and is there.
    id.is_some_and(|id| rustix::process::test_kill_process(id) != Err(rustix::io::Errno::SRCH))
}

#[cfg(not(unix))]
fn exists(_: u32) -> bool {
    true
}

/// What a file or directory is, whatever it is called: in a container another one may have the same
/// path.
#[cfg(unix)]
fn identity(path: &std::path::Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;

    path.metadata().ok().map(|about| (about.dev(), about.ino()))
}

/// Elsewhere nothing can be seen of what processes have open.
#[cfg(not(unix))]
fn identity(_: &std::path::Path) -> Option<(u64, u64)> {
    None
}

/// A process of this name that works in this directory. Looks on Linux only.
#[must_use]
pub(crate) fn working_in(name: &str, directory: &std::path::Path) -> Option<u32> {
    let directory = identity(directory)?;
    processes().find(|process| {
        let about = std::path::PathBuf::from(format!("/proc/{process}"));
        std::fs::read_to_string(about.join("comm")).is_ok_and(|comm| comm.trim_end() == name)
            && identity(&about.join("cwd")) == Some(directory)
    })
}

/// Another process that has a file open. Looks on Linux only, and sees processes of this user.
#[must_use]
pub(crate) fn file_holder(path: &std::path::Path) -> Option<u32> {
    let file = identity(path)?;
    processes().filter(|process| *process != std::process::id()).find(|process| {
        let open = std::fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten();
        open.into_iter().any(|entry| identity(&entry.path()) == Some(file))
    })
}

/// The numbers of all processes; none where they cannot be listed.
fn processes() -> impl Iterator<Item = u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// The process that holds a lock on a file, by the list of locks that Linux keeps. Looking takes
/// no lock.
#[cfg(target_os = "linux")]
#[must_use]
pub(crate) fn lock_holder(path: &std::path::Path) -> Option<u32> {
    use std::os::unix::fs::MetadataExt as _;

    let file = path.metadata().ok()?.ino();
    let locks = std::fs::read_to_string("/proc/locks").ok()?;
    // 1: POSIX  ADVISORY  READ 812 fe:00:6603235 128 128; one that is waited for has an arrow.
    let holders = locks.lines().filter(|line| !line.contains("->")).filter_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let of = fields.get(5)?.rsplit(':').next()?.parse::<u64>().ok()?;
        let process = fields.get(4)?.parse::<u32>().ok()?;
        (of == file && process != std::process::id()).then_some(process)
    });
    holders.into_iter().next()
}

/// Elsewhere no lock can be seen without taking one.
#[cfg(not(target_os = "linux"))]
#[must_use]
pub(crate) fn lock_holder(_: &std::path::Path) -> Option<u32> {
    None
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_began_at_another_time_is_another_one() {
        let this = std::process::id();
        assert!(is_running(this, None));
        assert!(!is_running(this, Some("never")), "another process had that number");
        let mut ended = std::process::Command::new("true").spawn().unwrap();
        ended.wait().unwrap();
        assert!(!is_running(ended.id(), None));
    }

    #[test]
    fn the_holder_of_a_lock_is_another_process() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.lock");
        let file = std::fs::File::create(&path).unwrap();
        assert_eq!(lock_holder(&path), None);
        file.lock().unwrap();
        assert_eq!(lock_holder(&path), None, "this one does not count");
    }
}
