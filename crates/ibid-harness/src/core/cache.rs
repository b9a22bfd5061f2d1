//! What discovery read before, so that it need not read it again.

use std::collections::HashMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use ibid_carrier::file::read_own;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{Discovered, Discovery, Listed, Reference};

/// The most that is read of the cache: about a million sessions.
const BYTES: u64 = 2 << 30;

/// Raised whenever any reader says something else about the same bytes; an older cache is then
/// ignored.
const READERS: u32 = 1;

/// The file's first line.
#[derive(Serialize, Deserialize, PartialEq)]
struct Header {
    ibid_sessions: u32,
}

/// The descriptions of sessions by their references, each valid as long as its fingerprint holds.
/// It is one file in Ibid's cache directory, can be deleted at any time, and is never the only
/// place of anything.
#[derive(Debug)]
pub struct DiscoveryCache {
    path: PathBuf,
    entries: HashMap<Reference, Discovered>,
    changed: bool,
}

impl DiscoveryCache {
    /// The cache in this directory. One that is missing, damaged or of another version is empty.
    #[must_use]
    pub fn open(cache_dir: &Path) -> DiscoveryCache {
        let path = cache_dir.join("sessions.jsonl");
        let text = read_own(&path, BYTES).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        let entries = text.and_then(|text| read(&text)).unwrap_or_default();
        DiscoveryCache { path, entries, changed: false }
    }

    /// The description of a session, if its carriers have not changed since.
    #[must_use]
    pub fn get(&self, listed: &Listed) -> Option<Discovered> {
        let known = self.entries.get(&listed.reference)?;
        (known.fingerprint == listed.fingerprint).then(|| known.clone())
    }

    /// Takes what a discovery found. Entries under the discovered roots that were not found are
    /// forgotten, others stay.
    pub fn replace(&mut self, discoveries: &[Discovery]) {
        let roots: Vec<_> = discoveries.iter().map(|d| (d.harness, &d.root.path)).collect();
        let before = self.entries.len();
        let mut kept: HashMap<Reference, Discovered> = std::mem::take(&mut self.entries);
        for session in discoveries.iter().flat_map(|discovery| &discovery.sessions) {
            match kept.remove(&session.reference) {
                Some(known) if known.fingerprint == session.fingerprint => {
                    self.entries.insert(session.reference.clone(), known);
                }
                _ => {
                    self.changed = true;
                    self.entries.insert(session.reference.clone(), session.clone());
                }
            }
        }
        for (reference, known) in kept {
            if !roots.contains(&(reference.harness, &reference.root)) {
                self.entries.insert(reference, known);
            }
        }
        self.changed |= before != self.entries.len();
    }

    /// Writes the cache, if it changed. A failure is of no consequence and is returned for a log.
    ///
    /// # Errors
    /// When the cache directory cannot be written.
    pub fn store(&mut self) -> std::io::Result<()> {
        if !self.changed {
            return Ok(());
        }
        let dir = self.path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(dir)?;
        let mut sorted: Vec<_> = self.entries.values().collect();
        sorted.sort_by(|a, b| a.reference.cmp(&b.reference));
        let mut text = serde_json::to_string(&Header { ibid_sessions: READERS })?;
        text.push('\n');
        for entry in sorted {
            text.push_str(&serde_json::to_string(entry)?);
            text.push('\n');
        }
        let staged = self.path.with_extension(format!("{}.new", std::process::id()));
        let mut options = fs::OpenOptions::new();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(&staged)?.write_all(text.as_bytes())?;
        fs::rename(&staged, &self.path)?;
        self.changed = false;
        Ok(())
    }
}

fn read(text: &str) -> Option<HashMap<Reference, Discovered>> {
    let (header, entries) = text.split_once('\n')?;
    let header: Header = serde_json::from_str(header).ok()?;
    if header.ibid_sessions != READERS {
        return None;
    }
    let lines: Vec<&str> = entries.lines().collect();
    let read: Result<Vec<Discovered>, _> = lines.par_iter().map(|line| serde_json::from_str(line)).collect();
    Some(read.ok()?.into_iter().map(|entry| (entry.reference.clone(), entry)).collect())
}
