//! What running programs say of themselves.

use std::fs;
use std::path::Path;

use serde::Deserialize;

use crate::core::OpenIn;
use crate::core::open::is_running;

/// The most that is read of one file; real ones have half a kilobyte.
const BYTES: u64 = 64 * 1024;

/// The file that a running program keeps: `sessions/<pid>.json`, beside `projects`. Measured with
/// 2.1.332; it is gone when the program ended, unless it was killed.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Running {
    pid: u32,
    session_id: String,
    /// When the process was started, in the clock ticks of Linux.
    #[serde(default)]
    proc_start: Option<String>,
    /// Where the number of the process counts: `linux:<machine>:pid:[<namespace>]`.
    #[serde(default)]
    pid_domain: Option<String>,
}

/// The running program that has this session open, by the files in `<home>/sessions`.
pub(super) fn open_in(home: &Path, session: &str) -> Option<OpenIn> {
    let files = fs::read_dir(home.join("sessions")).ok()?.flatten().map(|entry| entry.path());
    let files = files.filter(|path| path.extension().is_some_and(|end| end == "json"));
    files.into_iter().find_map(|path| {
        let running = read(&path).filter(|running| running.session_id == session)?;
        // Of a process that is numbered elsewhere, in a container, nothing can be seen from here.
        let open = !is_numbered_here(running.pid_domain.as_deref())
            || is_running(running.pid, running.proc_start.as_deref());
        open.then(|| OpenIn { process: Some(running.pid), sign: path.display().to_string() })
    })
}

fn read(path: &Path) -> Option<Running> {
    // A pipe in its place would be waited for.
    let file = path.metadata().ok()?;
    let text = (file.is_file() && file.len() <= BYTES).then(|| fs::read(path).ok())?;
    text.and_then(|text| serde_json::from_slice(&text).ok())
}

/// Whether a process of that domain would be seen from here. Without a domain, it would.
fn is_numbered_here(domain: Option<&str>) -> bool {
    let (Some(domain), Ok(here)) = (domain, fs::read_link("/proc/self/ns/pid")) else { return true };
    domain.ends_with(&*here.to_string_lossy()) || !domain.contains("pid:[")
}
