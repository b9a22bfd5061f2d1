//! Where an entry stands, and what the name of its file says.

use std::path::Path;

use ibid_model::{Finding, FindingKind, Lineage, Relation, Source, Text};

/// Where an entry stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) line: u64,
    pub(crate) start: u64,
    pub(crate) end: u64,
}

impl Place {
    pub(super) fn source(self) -> Source {
        Source::bytes(0, self.start, self.end)
    }

    pub(super) fn finding(self, kind: FindingKind, detail: impl Into<Text>) -> Finding {
        let finding = Finding::new(kind, detail).at_bytes(self.start, self.end);
        if self.line > 0 { finding.on_line(self.line) } else { finding }
    }
}

/// The id in a session file's name `<time>_<id>.jsonl`, on any platform's path.
pub(crate) fn id_of_path(path: &str) -> Option<Text> {
    let name = path.rsplit(['/', '\\']).next()?.strip_suffix(".jsonl")?;
    let (time, id) = name.split_once('_')?;
    let dated = time.len() >= 19
        && time.bytes().zip(b"0000-00-00T00-00-00".iter()).all(|(byte, like)| match like {
            b'0' => byte.is_ascii_digit(),
            like => byte == *like,
        });
    (dated && !id.is_empty()).then(|| Text::from(id))
}

/// What a subagent of Oh My Pi is to its parent: its file lies in a folder that is named as the
/// parent's file.
pub(super) fn subagent_of(path: &Path) -> Option<Lineage> {
    let folder = path.parent()?.file_name()?.to_string_lossy();
    let parent = id_of_path(&format!("{folder}.jsonl"))?;
    let mut lineage = Lineage::to(Relation::Spawned, parent);
    lineage.agent = path.file_stem().map(|stem| Text::from(stem.to_string_lossy().into_owned()));
    Some(lineage)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_a_parent_is_in_the_name_of_its_file() {
        let id = |path: &str| id_of_path(path).map(|id| id.to_string());
        assert_eq!(id("/s/--p--/2026-11-30T13-26-27-147Z_a_b.jsonl").unwrap(), "a_b");
        assert_eq!(id(r"C:\s\2026-11-30T13-26-27-147Z_x.jsonl").unwrap(), "x");
        assert_eq!(id("/orig/session.jsonl"), None);
        assert_eq!(id("/orig/my_session.jsonl"), None);
    }

    #[test]
    fn a_file_in_a_folder_named_as_a_session_is_a_subagent_of_it() {
        let parent = |path: &str| subagent_of(Path::new(path))?.parent.map(|parent| parent.to_string());
        assert_eq!(parent("/s/-p/2026-11-30T13-26-27-147Z_x/helper.jsonl").unwrap(), "x");
        assert_eq!(parent("/s/--p--/2026-11-30T13-26-27-147Z_x.jsonl"), None);
    }
}
