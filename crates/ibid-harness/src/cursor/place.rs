//! Folders of Cursor's store, and what they are named after.
//!
//! `projects/<folder of the workspace>/agent-transcripts/<id>/<id>.jsonl`, in older versions without
//! the folder of the session; the transcripts of subagents in `<id>/subagents/`.

use std::fs;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use ibid_model::Text;

use crate::core::comparable_path;
use crate::families::project_folder::folder_names;
use crate::families::values::Value;

/// The folder of a workspace's transcripts.
pub(super) const TRANSCRIPTS: &str = "agent-transcripts";

/// The folder of the subagents of a session.
const SUBAGENTS: &str = "subagents";

/// What a workspace was trusted as: `{workspacePath, trustedAt}`.
const TRUSTED: &str = ".workspace-trusted";

/// The most that is read of such a file, in bytes.
const TRUSTED_BYTES: u64 = 64 << 10;

/// What the path of a transcript says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Placed {
    /// The folder of the workspace.
    pub(super) workspace: Option<String>,
    /// The id: the file's name.
    pub(super) id: String,
    /// The id of the session that started this one as a subagent.
    pub(super) parent: Option<String>,
    /// Whether it has a folder of its own, named as itself.
    pub(super) own_folder: bool,
}

impl Placed {
    pub(super) fn of(path: &Path) -> Placed {
        let names: Vec<String> = path
            .components()
            .filter_map(|component| match component {
                Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
                _ => None,
            })
            .collect();
        let id = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let folders = names.split_last().map(|(_, folders)| folders).unwrap_or_default();
        let at = folders.iter().rposition(|name| name == TRANSCRIPTS);
        let workspace = at.and_then(|at| at.checked_sub(1)).and_then(|at| folders.get(at)).cloned();
        // A file that was named by its path may lie anywhere; only the folders right above it count.
        let inside = match at {
            Some(at) => folders.get(at + 1..).unwrap_or_default(),
            None => folders.get(folders.len().saturating_sub(2)..).unwrap_or_default(),
        };
        let subagents = inside.iter().rposition(|name| name == SUBAGENTS).and_then(|at| at.checked_sub(1));
        let parent = match (subagents, inside.last()) {
            (Some(at), _) => inside.get(at).cloned(),
            (None, Some(last)) if at.is_some() && *last != id => Some(last.clone()),
            _ => None,
        };
        Placed { workspace, own_folder: parent.is_none() && inside.last() == Some(&id), id, parent }
    }
}

/// The directory of the transcripts' subagents, for a session with a folder of its own.
pub(super) fn subagents_of(path: &Path) -> Option<PathBuf> {
    Placed::of(path).own_folder.then(|| path.with_file_name(SUBAGENTS))
}

/// Whether a project folder of Cursor's is the one of this directory.
///
/// Several spellings are known, and none of them can be turned back. When the folder says which of
/// the directories with its name it belongs to, it is that one.
pub(super) fn is_folder_of(folder: &Path, directory: &Path) -> bool {
    let Some(name) = folder.file_name().map(|name| comparable_path(Path::new(name))) else { return false };
    let Some(name) = name.to_str() else { return false };
    if !folder_names(directory).contains(name) {
        return false;
    }
    match trusted(folder) {
        Some(path) if folder_names(Path::new(path.as_str())).contains(name) => {
            comparable_path(Path::new(path.as_str())) == comparable_path(directory)
        }
        _ => true,
    }
}

/// The directory that the person trusted in this folder's name.
fn trusted(folder: &Path) -> Option<Text> {
    let mut text = String::new();
    fs::File::open(folder.join(TRUSTED)).ok()?.take(TRUSTED_BYTES).read_to_string(&mut text).ok()?;
    Value::of(&Text::from(text)).ok()?.fields()?.filled("workspacePath")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decomposed_name_is_the_folder_of_the_composed_one() {
        let folder = Path::new("/x/projects/w-cafe\u{301}");
        assert!(is_folder_of(folder, Path::new("/w/caf\u{e9}")));
        assert!(is_folder_of(folder, Path::new("/w/cafe\u{301}")));
    }

    #[test]
    fn the_path_of_a_transcript_says_whose_it_is() {
        let placed = |path: &str| Placed::of(Path::new(path));
        let base = "/h/.cursor/projects/w-demo/agent-transcripts";
        let main = placed(&format!("{base}/a/a.jsonl"));
        assert_eq!((main.id.as_str(), main.parent.as_deref(), main.own_folder), ("a", None, true));
        assert_eq!(main.workspace.as_deref(), Some("w-demo"));
        let flat = placed(&format!("{base}/a.jsonl"));
        assert_eq!((flat.id.as_str(), flat.parent.as_deref(), flat.own_folder), ("a", None, false));
        for nested in ["a/subagents/b.jsonl", "a/subagents/b/b.jsonl", "a/b.jsonl"] {
            let child = placed(&format!("{base}/{nested}"));
            assert_eq!((child.id.as_str(), child.parent.as_deref()), ("b", Some("a")), "{nested}");
        }
        assert_eq!(placed("/tmp/a.jsonl").parent, None);
        assert_eq!(placed("/tmp/a/subagents/b.jsonl").parent.as_deref(), Some("a"));
    }
}
