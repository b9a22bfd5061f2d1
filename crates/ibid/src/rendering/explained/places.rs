//! Places by short names: paths are longer than lines.

use ibid_capture::join::Evidence;
use ibid_model::{Extent, Text};

use crate::output::clean_line;

/// From this width on, paths stand where they are named.
const WIDE: usize = 160;

/// The files that were named, each with a number.
pub(super) struct Places {
    paths: Vec<Text>,
    inline: bool,
}

impl Places {
    pub(super) fn new(width: Option<usize>) -> Places {
        Places { paths: Vec::new(), inline: width.is_some_and(|width| width >= WIDE) }
    }

    /// Where something is said: the file and its bytes, or the row.
    pub(super) fn of(&mut self, evidence: &Evidence) -> String {
        match evidence {
            Evidence::AtRest { path, extent } => self.at(path, extent),
            Evidence::Lifecycle { path: Some(path), start: Some(start), end: Some(end), .. } => {
                self.at(path, &Extent::Bytes { start: *start, end: *end })
            }
            _ => String::new(),
        }
    }

    fn at(&mut self, path: &Text, extent: &Extent) -> String {
        let file = self.file(path);
        match extent {
            Extent::Bytes { start, end } => format!("{file}:{start}-{end}"),
            Extent::Row(row) => format!("{file}:{}/{}", clean_line(&row.table), clean_line(&row.key)),
            Extent::Whole => file,
        }
    }

    fn file(&mut self, path: &Text) -> String {
        if self.inline {
            return clean_line(path);
        }
        let known = self.paths.iter().position(|known| known == path);
        let number = known.unwrap_or_else(|| {
            self.paths.push(path.clone());
            self.paths.len() - 1
        });
        format!("[{}]", number + 1)
    }

    /// The files by their numbers; nothing when they were named in full.
    pub(super) fn legend(&self) -> Vec<String> {
        (1_usize..)
            .zip(&self.paths)
            .map(|(number, path)| format!("[{number}] {}", clean_line(path)))
            .collect()
    }
}
