//! The folders of a store, one level at a time.

use std::path::{Path, PathBuf};

use ibid_model::{Finding, FindingKind};

/// The folders in a folder, sorted, without those that begin with a dot and without links. An absent one
/// has none; what cannot be read is a finding.
pub(crate) fn folders(path: &Path, findings: &mut Vec<Finding>) -> Vec<PathBuf> {
    let entries = match std::fs::read_dir(path) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Vec::new(),
        Err(error) => {
            findings.push(Finding::new(FindingKind::Unreadable, error.to_string()).at_path(path));
            return Vec::new();
        }
    };
    let mut folders = Vec::new();
    for entry in entries {
        let entry = match entry.and_then(|entry| Ok((entry.file_type()?, entry))) {
            Ok((kind, entry)) if kind.is_dir() => entry,
            Ok((kind, entry)) if kind.is_symlink() && entry.path().is_dir() => {
                let detail = "a folder that is a link";
                findings.push(Finding::new(FindingKind::LinkNotFollowed, detail).at_path(&entry.path()));
                continue;
            }
            Ok(_) => continue,
            Err(error) => {
                findings.push(Finding::new(FindingKind::Unreadable, error.to_string()).at_path(path));
                continue;
            }
        };
        if !entry.file_name().to_string_lossy().starts_with('.') {
            folders.push(entry.path());
        }
    }
    folders.sort();
    folders
}
