//! The edits of the patch: each is one splice of the text, noted with what it means.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::ConfigError;
use super::layout::{Entry, Found, Layout, Path, Section, parsed};
use crate::codex::toml_text::{basic_string, dotted};
use crate::core::edits::{Step, line_and_column, line_end, mark_of};

/// What a splice of a configuration means.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum Change {
    /// The value of an entry was replaced.
    Replaced {
        /// The keys of the entry.
        path: Vec<String>,
    },
    /// An entry was added.
    Added {
        /// Its keys.
        path: Vec<String>,
        /// Its value, as TOML.
        value: String,
    },
    /// The header of a table was added.
    Table {
        /// Its keys.
        path: Vec<String>,
        /// Whether a blank line was put before it.
        blank: bool,
    },
    /// An entry was taken out.
    Removed {
        /// Its keys.
        path: Vec<String>,
        /// Where it stood.
        place: Place,
    },
}

/// Where an entry that was taken out stood.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "in", rename_all = "snake_case")]
pub enum Place {
    /// On a line of its own.
    Table {
        /// The keys of its header; empty for the root.
        table: Vec<String>,
        /// The entry before it below that header.
        after: Option<Vec<String>>,
        /// How many lines of comments and blank lines stood between.
        lines: usize,
    },
    /// In an inline table.
    Inline {
        /// The keys of the inline table.
        table: Vec<String>,
        /// The entry before it.
        after: Option<Vec<String>>,
        /// How many bytes stood between that entry, or the brace, and it.
        gap: usize,
    },
}

/// A value that the patch writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Literal<'a> {
    Text(&'a str),
    Flag(bool),
}

impl Literal<'_> {
    fn written(self) -> String {
        match self {
            Literal::Text(text) => basic_string(text),
            Literal::Flag(flag) => flag.to_string(),
        }
    }

    /// Whether a value in the file says the same, however it is spelled.
    pub(super) fn is_said(self, value: &str) -> bool {
        parsed(value).is_some_and(|value| match self {
            Literal::Text(text) => value.as_str() == Some(text),
            Literal::Flag(flag) => value.as_bool() == Some(flag),
        })
    }
}

/// A text in the making, with the steps that led to it.
#[derive(Debug)]
pub(super) struct Editor {
    pub(super) text: String,
    pub(super) steps: Vec<Step<Change>>,
}

impl Editor {
    pub(super) fn new(text: &str) -> Editor {
        Editor { text: text.to_owned(), steps: Vec::new() }
    }

    /// Replaces a range, when what comes of it is still TOML.
    pub(super) fn splice(&mut self, range: Range<usize>, now: &str, what: Change) -> bool {
        let Some(was) = self.text.get(range.clone()).map(str::to_owned) else { return false };
        self.text.replace_range(range.clone(), now);
        if Layout::of(&self.text).is_err() {
            self.text.replace_range(range.start..range.start + now.len(), &was);
            return false;
        }
        self.steps.push(Step { at: range.start, was, now: now.to_owned(), what });
        true
    }

    /// Makes the entry at `path` say `value`: in place where it is there, otherwise as a new line.
    pub(super) fn set(&mut self, path: &[&str], value: Literal<'_>) -> Result<(), ConfigError> {
        let path: Path = path.iter().map(|key| (*key).to_owned()).collect();
        let text = self.text.clone();
        let layout = Layout::of(&text)?;
        refuse_what_is_no_table(&layout, &text, &path)?;
        let refused = || ConfigError::Refused { path: dotted(&path) };
        if let Some(found) = layout.find(&path) {
            if value.is_said(layout.slice(&found.entry.value)) {
                return Ok(());
            }
            let range = found.entry.value.clone();
            let done = self.splice(range, &value.written(), Change::Replaced { path: path.clone() });
            return if done { Ok(()) } else { Err(refused()) };
        }
        let Some((_, table)) = path.split_last() else { return Err(refused()) };
        let place = Position::for_new(&layout, table);
        if matches!(place, Position::NewTable) {
            self.add_table(table).then_some(()).ok_or_else(refused)?;
            let text = self.text.clone();
            let layout = Layout::of(&text)?;
            let place = Position::for_new(&layout, table);
            return self.add(&layout, &place, &path, value).then_some(()).ok_or_else(refused);
        }
        self.add(&layout, &place, &path, value).then_some(()).ok_or_else(refused)
    }

    fn add(
        &mut self,
        layout: &Layout<'_>,
        place: &Position<'_>,
        path: &[String],
        value: Literal<'_>,
    ) -> bool {
        let written = value.written();
        let keys = |above: usize| dotted(path.get(above..).unwrap_or_default());
        let (at, now) = match place {
            Position::Section { section, last } => {
                let line = format!("{} = {written}", keys(section.path.len()));
                let behind = last.map_or(section.header.end, |entry| entry.value.end);
                // The root begins with its first line, not behind it.
                let at = if last.is_none() && section.path.is_empty() && !section.is_array {
                    mark_of(&self.text)
                } else {
                    layout.line_end_at(behind)
                };
                lines_at(&self.text, at, &[&line])
            }
            Position::Inline { host, above } => {
                let entry = format!("{} = {written}", keys(*above));
                match host.inside.as_ref().and_then(|inside| inside.last()) {
                    Some(last) => (last.value.end, format!(", {entry}")),
                    None => (host.value.start + 1, entry),
                }
            }
            Position::NewTable => return false,
        };
        self.splice(at..at, &now, Change::Added { path: path.to_vec(), value: written })
    }

    /// Adds the header of a table at the end of the text.
    fn add_table(&mut self, table: &[String]) -> bool {
        let header = format!("[{}]", dotted(table));
        let body = self.text.get(mark_of(&self.text)..).unwrap_or_default();
        let is_apart = body.is_empty()
            || body.ends_with("\n\n")
            || body.ends_with("\n\r\n")
            || body == "\n"
            || body == "\r\n";
        let end = self.text.len();
        let (at, now) = if is_apart {
            lines_at(&self.text, end, &[&header])
        } else {
            lines_at(&self.text, end, &["", &header])
        };
        self.splice(at..at, &now, Change::Table { path: table.to_vec(), blank: !is_apart })
    }

    /// Takes out the entry at `path`, with its line; whether it was there.
    pub(super) fn take_out<S: AsRef<str>>(&mut self, path: &[S]) -> Result<bool, ConfigError> {
        let text = self.text.clone();
        let layout = Layout::of(&text)?;
        let Some(found) = layout.find(path) else { return Ok(false) };
        let path: Path = path.iter().map(|key| key.as_ref().to_owned()).collect();
        let (range, place) = if let Some(host) = found.host {
            in_inline(&layout, &found, host, &path)
        } else {
            let start = layout.line_start(found.entry.key.start);
            let end = layout.line_end_at(found.entry.value.end);
            let before = found.index.checked_sub(1).and_then(|index| found.siblings.get(index));
            let behind = before.map_or(found.section.header.end, |entry| entry.value.end);
            let first = if before.is_none() && found.section.path.is_empty() {
                behind
            } else {
                layout.line_end_at(behind)
            };
            let lines = text.get(first..start).unwrap_or_default().matches('\n').count();
            let after = before.map(|entry| entry.path.clone());
            (whole_line(&text, start..end), Place::Table { table: found.section.path.clone(), after, lines })
        };
        Ok(self.splice(range, "", Change::Removed { path, place }))
    }

    /// Takes out an entry that Ibid added. What a person wrote behind it on its line stays.
    pub(super) fn take_out_ours(&mut self, path: &[String]) -> Result<bool, ConfigError> {
        let text = self.text.clone();
        let layout = Layout::of(&text)?;
        let Some(found) = layout.find(path) else { return Ok(false) };
        let comment = layout.comment_behind(found.entry.value.end);
        match (found.host, comment) {
            (None, Some(comment)) => {
                let range = found.entry.key.start..comment.start;
                let place = Place::Table { table: Vec::new(), after: None, lines: 0 };
                Ok(self.splice(range, "", Change::Removed { path: path.to_vec(), place }))
            }
            _ => self.take_out(path),
        }
    }

    /// Takes out the header of a table that has no entries left, with the blank line before it when
    /// `blank`. Whether it was there and empty.
    pub(super) fn take_out_table(&mut self, path: &[String], blank: bool) -> Result<bool, ConfigError> {
        let text = self.text.clone();
        let layout = Layout::of(&text)?;
        let Some(section) = layout.tables().skip(1).find(|section| section.path == path) else {
            return Ok(false);
        };
        if !section.entries.is_empty() {
            return Ok(false);
        }
        let mut start = layout.line_start(section.header.start);
        let mut end = layout.line_end_at(section.header.end);
        let comment = layout.comment_behind(section.header.end);
        if let Some(comment) = &comment {
            start = section.header.start;
            end = comment.start;
        } else {
            if blank {
                let mark = mark_of(&text);
                let before = text.get(mark..start).unwrap_or_default();
                for blank_line in ["\r\n", "\n"] {
                    let rest = before.strip_suffix(blank_line);
                    if rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('\n')) {
                        start -= blank_line.len();
                        break;
                    }
                }
            }
            let whole = whole_line(&text, start..end);
            (start, end) = (whole.start, whole.end);
        }
        Ok(self.splice(start..end, "", Change::Table { path: path.to_vec(), blank }))
    }
}

/// Where a new entry goes.
enum Position<'a> {
    /// Behind `last` below a header, or right behind the header.
    Section { section: &'a Section, last: Option<&'a Entry> },
    /// In an inline table; `above` keys of the path lead to it.
    Inline { host: &'a Entry, above: usize },
    /// Below a header that is not there yet.
    NewTable,
}

impl<'a> Position<'a> {
    fn for_new(layout: &'a Layout<'_>, table: &[String]) -> Position<'a> {
        if let Some((host, rest)) = layout.inline_host(table) {
            return Position::Inline { host, above: table.len() - rest.len() };
        }
        if let Some(section) = layout.tables().find(|section| section.path == table) {
            return Position::Section { section, last: section.entries.last() };
        }
        // A table that dotted keys made can only be added to by dotted keys of the same section.
        for section in layout.tables() {
            let Some(rest) = table.strip_prefix(section.path.as_slice()) else { continue };
            let below = |entry: &&Entry| entry.path.len() > rest.len() && entry.path.starts_with(rest);
            if let Some(last) = section.entries.iter().rfind(below) {
                return Position::Section { section, last: Some(last) };
            }
        }
        // The headers of a provider stand with its table, not in tables of their own.
        if let Some((last, above)) = table.split_last()
            && last == super::HEADERS
            && let Some(section) = layout.tables().find(|section| section.path == above)
        {
            return Position::Section { section, last: section.entries.last() };
        }
        Position::NewTable
    }
}

/// Refuses a path that leads through something that is no table, or that is one itself.
fn refuse_what_is_no_table(layout: &Layout<'_>, text: &str, path: &[String]) -> Result<(), ConfigError> {
    for length in 1..path.len() {
        let table = path.get(..length).unwrap_or_default();
        let value = layout.find(table).filter(|found| found.entry.inside.is_none());
        let value = value.map(|found| found.entry.key.start);
        let array = layout.sections.iter().find(|section| section.is_array && section.path == table);
        if let Some(at) = value.or(array.map(|section| section.header.start)) {
            let (line, column) = line_and_column(text, at);
            return Err(ConfigError::NotATable { path: dotted(table), line, column });
        }
    }
    let inline =
        layout.find(path).filter(|found| found.entry.inside.is_some()).map(|found| found.entry.key.start);
    let header = layout
        .sections
        .iter()
        .find(|section| section.path.starts_with(path))
        .map(|section| section.header.start);
    let below = layout.leaves_below(path).first().map(|(_, entry)| entry.key.start);
    if let Some(at) = inline.or(header).or(below) {
        let (line, column) = line_and_column(text, at);
        return Err(ConfigError::NotAValue { path: dotted(path), line, column });
    }
    Ok(())
}

/// The range of an entry in an inline table with the comma that goes with it, and its place.
fn in_inline(layout: &Layout<'_>, found: &Found<'_>, host: &Entry, path: &[String]) -> (Range<usize>, Place) {
    let table = path.get(..path.len() - found.entry.path.len()).unwrap_or_default().to_vec();
    let before = found.index.checked_sub(1).and_then(|index| found.siblings.get(index));
    let next = found.siblings.get(found.index + 1);
    let (range, gap) = match (before, next) {
        (Some(before), _) => (before.value.end..found.entry.value.end, 0),
        (None, Some(next)) => {
            (found.entry.key.start..next.key.start, found.entry.key.start - host.value.start - 1)
        }
        (None, None) => {
            // A comma behind the only entry would stand alone.
            let rest = layout.slice(&(found.entry.value.end..host.value.end));
            let comma = rest.trim_start().starts_with(',').then(|| rest.len() - rest.trim_start().len() + 1);
            let end = found.entry.value.end + comma.unwrap_or(0);
            (found.entry.key.start..end, found.entry.key.start - host.value.start - 1)
        }
    };
    (range, Place::Inline { table, after: before.map(|entry| entry.path.clone()), gap })
}

/// Lines put in at the beginning of a line, or at the end of a text whose last line has no end:
/// that text keeps its last line without an end.
pub(super) fn lines_at(text: &str, at: usize, lines: &[&str]) -> (usize, String) {
    let end = line_end(text);
    let body = text.get(mark_of(text)..at).unwrap_or_default();
    let continues = !body.is_empty() && !body.ends_with('\n');
    let mut now = String::new();
    for line in lines {
        if continues {
            now.push_str(end);
        }
        now.push_str(line);
        if !continues {
            now.push_str(end);
        }
    }
    (at, now)
}

/// The opposite of [`lines_at`]: a last line without an end goes with the end of the line before it.
fn whole_line(text: &str, line: Range<usize>) -> Range<usize> {
    let taken = text.get(line.clone()).unwrap_or_default();
    let before = text.get(mark_of(text)..line.start).unwrap_or_default();
    if taken.ends_with('\n') {
        return line;
    }
    let shorter = before.strip_suffix("\r\n").or_else(|| before.strip_suffix('\n')).unwrap_or(before);
    line.start - (before.len() - shorter.len())..line.end
}
