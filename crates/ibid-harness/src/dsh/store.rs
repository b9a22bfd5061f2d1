//! Where sessions lie: `<root>/<project>/<session>/session.jsonl`, or the same compressed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ibid_carrier::walk::{FileEntry, WalkOptions, list_files};
use ibid_carrier::zstd_file::is_zstd;
use ibid_model::{CarrierRole, Finding, FindingKind};
use memchr::memmem;

use super::{DECLARATION, Dsh, keys};
use crate::core::{Listing, Reference, Root};
use crate::families::files::{FilePlace, add_listed};

/// A log as it is, and what it is called within a session whatever its encoding.
pub(super) const PLAIN: &str = "session.jsonl";

/// A log in zstd frames, one for each write.
const COMPRESSED: &str = "session.jsonl.zstd";

fn is_log(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == PLAIN || name == COMPRESSED)
}

/// Which sessions are under a root. The program keeps one encoding in a root and refuses the other;
/// of a session that has both, the file that was written last counts, and both are named.
pub(super) fn list(root: &Root) -> Listing {
    let options =
        WalkOptions { extensions: &["jsonl", "jsonl.zstd"], max_depth: 2, ..WalkOptions::default() };
    let (files, findings) = list_files(&root.path, &options);
    let present = root.path.symlink_metadata().is_ok();
    let mut listing = Listing { sessions: Vec::new(), findings, present };
    let mut folders: BTreeMap<PathBuf, Vec<FileEntry>> = BTreeMap::new();
    for file in files {
        let depth = file.path.strip_prefix(&root.path).map_or(0, |below| below.components().count());
        match (file.path.parent(), depth) {
            (Some(folder), 3) if is_log(&file.path) => {
                folders.entry(folder.to_owned()).or_default().push(file);
            }
            // Before 0.1 a session was `<project>/<id>.jsonl`; the program refuses these too.
            (_, 2) => {
                let detail = "a session file that lies directly in a project's folder; it is not read";
                let finding = Finding::new(FindingKind::ForeignContent, detail);
                listing.findings.push(finding.at_path(&file.path));
            }
            _ => {}
        }
    }
    let mut references = Vec::with_capacity(folders.len());
    for mut files in folders.into_values() {
        // Of equally old ones the compressed one, which the program writes unless told otherwise.
        files.sort_by_key(|file| (file.stamp.mtime_ns, file.path.ends_with(COMPRESSED)));
        let Some(used) = files.pop() else { continue };
        for other in files {
            let detail = format!("the session lies at {} too, which is not used", other.path.display());
            listing.findings.push(Finding::new(FindingKind::Variants, detail).at_path(&used.path));
        }
        references.push(Reference {
            harness: DECLARATION.id,
            root: root.path.clone(),
            path: used.path,
            key: None,
        });
    }
    add_listed::<Dsh>(&mut listing, references);
    listing
}

pub(super) fn places(reference: &Reference) -> Vec<FilePlace> {
    vec![FilePlace::new(PLAIN, &reference.path, CarrierRole::Transcript)]
}

/// The folder of a session is its own; a file that was named by its path has none.
pub(super) fn directory(reference: &Reference) -> Option<PathBuf> {
    let below = reference.path.strip_prefix(&reference.root).ok()?;
    (below.components().count() == 3).then(|| reference.path.parent().map(Path::to_owned)).flatten()
}

/// The names of the folders of a session and of its project.
pub(super) fn folders(path: &Path) -> Option<(&str, &str)> {
    let session = path.parent()?;
    let project = session.parent()?.file_name()?.to_str()?;
    // A file from elsewhere lies in folders that say nothing.
    let ours = project == keys::NO_CWD || project.starts_with("--") && project.ends_with("--");
    ours.then_some((session.file_name()?.to_str()?, project))
}

pub(super) fn placed_for(reference: &Reference, directory: &Path) -> bool {
    let Some(((_, project), directory)) = folders(&reference.path).zip(directory.to_str()) else {
        return false;
    };
    keys::project_folder(directory) == project
}

pub(super) fn recognises(path: &Path, head: &[u8]) -> u8 {
    if !is_log(path) && !head.starts_with(b"{") {
        return 0;
    }
    let first = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let has = |word: &[u8]| memmem::find(first, word).is_some();
    if has(b"\"session\"") && has(b"\"createdAt\"") && has(b"\"delegationDepth\"") {
        return 95;
    }
    match is_log(path) && is_zstd(head) {
        true => 90,
        false => 0,
    }
}
