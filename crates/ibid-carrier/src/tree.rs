//! A session that lives in a directory of small files.

use std::path::{Path, PathBuf};

use bytes::Bytes;
use ibid_model::{Finding, FindingKind};
use rayon::prelude::*;

use crate::findings::{report, report_all};
use crate::walk::{WalkOptions, list_files};
use crate::{CarrierError, FileStamp, file};

/// How much of a tree is read. What is over a limit is left out and reported as
/// [`Oversize`](FindingKind::Oversize).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeLimits {
    /// How many files: 200,000 unless said otherwise.
    pub files: usize,
    /// How many directories deep: 8 unless said otherwise.
    pub depth: usize,
    /// How many bytes one file may have: 256 MiB unless said otherwise.
    pub file_bytes: u64,
    /// How many bytes all files together may have: 4 GiB unless said otherwise.
    pub total_bytes: u64,
}

impl Default for TreeLimits {
    fn default() -> TreeLimits {
        TreeLimits { files: 200_000, depth: 8, file_bytes: 256 << 20, total_bytes: 4 << 30 }
    }
}

/// The files of a directory.
#[derive(Clone, Debug)]
pub struct Tree {
    /// Each file that could be read, sorted by path.
    pub files: Vec<TreeFile>,
    /// What could not be read, or was not followed.
    pub findings: Vec<Finding>,
}

/// One file of a tree.
#[derive(Clone, Debug)]
pub struct TreeFile {
    /// Its path, which begins with the root as it was given.
    pub path: PathBuf,
    /// Its bytes, decompressed when they are zstd.
    pub bytes: Bytes,
    /// What the file system said of it when it was opened.
    pub stamp: FileStamp,
}

/// Reads the files below `root` whose names end in one of `extensions` (without the first dot;
/// every file when there is none). Links are followed as [`list_files`] follows them.
///
/// # Errors
/// [`CarrierError::NotFound`] when nothing is at `root`, [`CarrierError::Io`] when it cannot be
/// looked at. Anything below it that cannot be read is a finding.
pub fn read(root: &Path, extensions: &[&str], limits: &TreeLimits) -> Result<Tree, CarrierError> {
    std::fs::metadata(root).map_err(|error| CarrierError::io(root, error))?;
    let options =
        WalkOptions { extensions, max_depth: limits.depth, max_files: limits.files, skip_dirs: &[] };
    let (entries, mut findings) = list_files(root, &options);
    let mut total = 0u64;
    let (within, over): (Vec<_>, Vec<_>) = entries.into_iter().partition(|entry| {
        let fits = entry.stamp.size <= limits.file_bytes
            && total.saturating_add(entry.stamp.size) <= limits.total_bytes;
        total += if fits { entry.stamp.size } else { 0 };
        fits
    });
    for entry in over {
        let detail =
            format!("{} bytes are over the limit for a file, or for all files together", entry.stamp.size);
        report(&mut findings, Finding::new(FindingKind::Oversize, detail).at_path(&entry.path));
    }
    let outcomes: Vec<_> = within
        .into_par_iter()
        .map(|entry| (file::read(&entry.path, limits.file_bytes), entry.path))
        .collect();
    let mut files = Vec::with_capacity(outcomes.len());
    for (outcome, path) in outcomes {
        match outcome {
            Ok(stored) => {
                report_all(&mut findings, stored.findings);
                files.push(TreeFile { path, bytes: stored.bytes.into(), stamp: stored.stamp });
            }
            // Deleted since it was listed.
            Err(CarrierError::NotFound { .. }) => {}
            Err(CarrierError::TooLarge { bytes, .. }) => {
                let detail = format!("{bytes} bytes or more are over the limit for one file");
                report(&mut findings, Finding::new(FindingKind::Oversize, detail).at_path(&path));
            }
            Err(CarrierError::Io { source, .. }) => {
                report(&mut findings, crate::walk::unreadable_because(&path, &source))
            }
            Err(error) => {
                report(&mut findings, Finding::new(FindingKind::Unreadable, error.to_string()).at_path(&path))
            }
        }
    }
    Ok(Tree { files, findings })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_files_of_a_tree_come_in_order_of_their_paths() {
        let folder = tempfile::tempdir().unwrap();
        for (path, content) in
            [("message/b.json", "{\"b\":1}"), ("message/a.json", "{\"a\":1}"), ("lock", "")]
        {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        let tree = read(folder.path(), &["json"], &TreeLimits::default()).unwrap();
        let contents: Vec<_> = tree.files.iter().map(|file| &file.bytes[..]).collect();
        assert_eq!(contents, [b"{\"a\":1}", b"{\"b\":1}"]);
        assert!(tree.findings.is_empty());
    }

    #[test]
    fn files_over_a_limit_are_left_out_and_reported() {
        let folder = tempfile::tempdir().unwrap();
        for (name, size) in [("a", 10), ("b", 50), ("c", 10), ("d", 10)] {
            fs::write(folder.path().join(name), vec![b' '; size]).unwrap();
        }
        let limits = TreeLimits { file_bytes: 40, total_bytes: 25, ..TreeLimits::default() };
        let tree = read(folder.path(), &[], &limits).unwrap();
        let names: Vec<_> = tree.files.iter().filter_map(|file| file.path.file_name()).collect();
        assert_eq!(names, ["a", "c"]);
        assert!(tree.findings.iter().all(|finding| finding.kind == FindingKind::Oversize));
        assert_eq!(tree.findings.len(), 2);
    }

    #[test]
    fn an_absent_tree_is_absent_and_an_empty_one_is_empty() {
        let folder = tempfile::tempdir().unwrap();
        assert!(read(&folder.path().join("no"), &[], &TreeLimits::default()).unwrap_err().is_absence());
        assert!(read(folder.path(), &[], &TreeLimits::default()).unwrap().files.is_empty());
    }
}
