//! Places by short names: paths are longer than lines.

use ibid_capture::join::Evidence;
use ibid_model::{Extent, Text};

use crate::output::clean_line;

/// The files that were named, each with a number.
#[derive(Default)]
pub(super) struct Places {
    paths: Vec<Text>,
}

impl Places {
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
        let known = self.paths.iter().position(|known| known == path);
        let number = known.unwrap_or_else(|| {
            self.paths.push(path.clone());
            self.paths.len() - 1
        });
        format!("[{}]", number + 1)
    }

    /// The files by their numbers.
    pub(super) fn legend(&self) -> Vec<String> {
        (1_usize..)
            .zip(&self.paths)
            .map(|(number, path)| format!("[{number}] {}", clean_line(path)))
            .collect()
    }
}
