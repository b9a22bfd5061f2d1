//! Where an entry stands, and what the name of its file says.

use ibid_model::{Finding, FindingKind, Source, Text};

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
}
