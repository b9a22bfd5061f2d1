//! Where everything stands in a TOML file: its tables, their entries and values as ranges of
//! bytes.
//!
//! The parser of `toml_edit` says whether a text is TOML. An edit through its document would move
//! entries that are spread over the file and turn `\r\n` into `\n`; so edits are made in the text
//! itself, at the places that this layout tells.

use std::ops::Range;

use toml_parser::decoder::Encoding;
use toml_parser::parser::{Event, EventKind, parse_document};
use toml_parser::{Raw, Source};

use super::ConfigError;
use crate::core::edits::{line_and_column, mark_of};

/// The keys from the root to a table or an entry.
pub(super) type Path = Vec<String>;

/// One `key = value`.
#[derive(Debug)]
pub(super) struct Entry {
    /// The keys below its table (or inline table).
    pub(super) path: Path,
    /// Its dotted key.
    pub(super) key: Range<usize>,
    /// Its value.
    pub(super) value: Range<usize>,
    /// The entries of an inline table.
    pub(super) inside: Option<Vec<Entry>>,
}

/// What is below one header; the first section is the root, without a header.
#[derive(Debug)]
pub(super) struct Section {
    /// The keys of the header.
    pub(super) path: Path,
    /// From `[` to `]`; empty for the root.
    pub(super) header: Range<usize>,
    /// Its entries in their order.
    pub(super) entries: Vec<Entry>,
    /// Whether it is `[[…]]`.
    pub(super) is_array: bool,
    /// Whether it is an element of an array of tables, or lies in one: its path is then not the
    /// only one of its kind.
    in_array: bool,
}

/// A TOML file.
#[derive(Debug)]
pub(super) struct Layout<'t> {
    text: &'t str,
    pub(super) sections: Vec<Section>,
    comments: Vec<Range<usize>>,
}

/// An entry and what it stands in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found<'a> {
    pub(super) entry: &'a Entry,
    /// The section that it is in.
    pub(super) section: &'a Section,
    /// The inline table that it is in, if it is in one.
    pub(super) host: Option<&'a Entry>,
    /// The entries among which it stands.
    pub(super) siblings: &'a [Entry],
    /// Its place among them.
    pub(super) index: usize,
}

impl<'t> Layout<'t> {
    /// The layout of a text.
    ///
    /// # Errors
    ///
    /// When it is no TOML.
    pub(super) fn of(text: &'t str) -> Result<Layout<'t>, ConfigError> {
        let mark = mark_of(text);
        let body = text.get(mark..).unwrap_or_default();
        if let Err(error) = toml_edit::Document::parse(body) {
            let at = error.span().map_or(0, |span| span.start) + mark;
            let (line, column) = line_and_column(text, at);
            // The message alone: the error's own text quotes the line, which may hold a secret.
            return Err(ConfigError::Toml { line, column, message: first_line(error.message()) });
        }
        let source = Source::new(body);
        let tokens = source.lex().into_vec();
        let mut events: Vec<Event> = Vec::new();
        let mut problem = None;
        parse_document(&tokens, &mut events, &mut problem);
        let mut reader = Reader::new(text, mark);
        for event in &events {
            reader.take(body, event);
        }
        Ok(Layout { text, sections: reader.sections, comments: reader.comments })
    }

    /// The text of a range.
    pub(super) fn slice(&self, range: &Range<usize>) -> &'t str {
        self.text.get(range.clone()).unwrap_or_default()
    }

    /// The string that stands at a range.
    pub(super) fn string(&self, range: &Range<usize>) -> Option<String> {
        parsed(self.slice(range))?.as_str().map(str::to_owned)
    }

    /// The sections whose path names one table only.
    pub(super) fn tables(&self) -> impl Iterator<Item = &Section> {
        self.sections.iter().filter(|section| !section.in_array)
    }

    /// The entry at a path, however it is spelled.
    pub(super) fn find<S: AsRef<str>>(&self, path: &[S]) -> Option<Found<'_>> {
        self.tables().find_map(|section| {
            let rest = below(&section.path, path)?;
            find_in(section, None, &section.entries, rest)
        })
    }

    /// The deepest inline table that holds the table at `path`, or is it, with the keys below it.
    pub(super) fn inline_host<'a, 'p>(&'a self, path: &'p [String]) -> Option<(&'a Entry, &'p [String])> {
        self.tables().find_map(|section| {
            let rest = below(&section.path, path)?;
            host_in(&section.entries, rest)
        })
    }

    /// Every entry below a path that is no table, with its whole path.
    pub(super) fn leaves_below(&self, path: &[String]) -> Vec<(Path, &Entry)> {
        let mut leaves = Vec::new();
        for section in self.tables() {
            collect(&section.path, &section.entries, &mut leaves);
        }
        leaves.retain(|(leaf, _)| leaf.len() > path.len() && leaf.starts_with(path));
        leaves
    }

    /// The comment behind a byte on its line, if one follows it.
    pub(super) fn comment_behind(&self, at: usize) -> Option<Range<usize>> {
        let end = self.line_end_at(at);
        self.comments.iter().find(|comment| comment.start >= at && comment.start < end).cloned()
    }

    /// Where the line of a byte begins.
    pub(super) fn line_start(&self, at: usize) -> usize {
        let before = self.text.get(..at).unwrap_or_default();
        before.rfind('\n').map_or_else(|| mark_of(self.text), |newline| newline + 1)
    }

    /// Behind the line end of the line of a byte, or the end of the text.
    pub(super) fn line_end_at(&self, at: usize) -> usize {
        let rest = self.text.get(at..).unwrap_or_default();
        rest.find('\n').map_or(self.text.len(), |newline| at + newline + 1)
    }
}

/// The first line of a message.
fn first_line(message: &str) -> String {
    message.lines().next().unwrap_or_default().to_owned()
}

/// The value that a piece of TOML says.
pub(super) fn parsed(literal: &str) -> Option<toml_edit::Value> {
    literal.parse().ok()
}

/// What of `path` is below `table`, when it is truly below.
fn below<'p, S: AsRef<str>>(table: &[String], path: &'p [S]) -> Option<&'p [S]> {
    let leads = table.iter().zip(path).all(|(a, b)| a == b.as_ref());
    (table.len() < path.len() && leads).then(|| path.get(table.len()..)).flatten()
}

fn find_in<'a, S: AsRef<str>>(
    section: &'a Section,
    host: Option<&'a Entry>,
    siblings: &'a [Entry],
    rest: &[S],
) -> Option<Found<'a>> {
    siblings.iter().enumerate().find_map(|(index, entry)| {
        let same =
            entry.path.len() == rest.len() && entry.path.iter().zip(rest).all(|(a, b)| a == b.as_ref());
        if same {
            return Some(Found { entry, section, host, siblings, index });
        }
        find_in(section, Some(entry), entry.inside.as_deref()?, below(&entry.path, rest)?)
    })
}

fn host_in<'a, 'p>(entries: &'a [Entry], rest: &'p [String]) -> Option<(&'a Entry, &'p [String])> {
    entries.iter().find_map(|entry| {
        let inside = entry.inside.as_deref()?;
        let rest = rest.strip_prefix(entry.path.as_slice())?;
        host_in(inside, rest).or(Some((entry, rest)))
    })
}

fn collect<'a>(table: &[String], entries: &'a [Entry], leaves: &mut Vec<(Path, &'a Entry)>) {
    for entry in entries {
        let path = [table, &entry.path].concat();
        match &entry.inside {
            Some(inside) => collect(&path, inside, leaves),
            None => leaves.push((path, entry)),
        }
    }
}

/// What is open while the events are read.
enum Open {
    Array { start: usize },
    Inline { start: usize, entries: Vec<Entry> },
}

/// Makes sections of events.
struct Reader {
    mark: usize,
    sections: Vec<Section>,
    comments: Vec<Range<usize>>,
    open: Vec<Open>,
    /// The keys that were read and have no `=` yet.
    keys: Path,
    key: Range<usize>,
    /// The keys whose values are being read.
    waiting: Vec<(Path, Range<usize>)>,
    header: Option<usize>,
    arrays: Vec<Path>,
}

impl Reader {
    fn new(text: &str, mark: usize) -> Reader {
        let _ = text;
        let root = Section {
            path: Vec::new(),
            header: mark..mark,
            entries: Vec::new(),
            is_array: false,
            in_array: false,
        };
        Reader {
            mark,
            sections: vec![root],
            comments: Vec::new(),
            open: Vec::new(),
            keys: Vec::new(),
            key: mark..mark,
            waiting: Vec::new(),
            header: None,
            arrays: Vec::new(),
        }
    }

    fn take(&mut self, body: &str, event: &Event) {
        let span = event.span();
        let range = span.start() + self.mark..span.end() + self.mark;
        match event.kind() {
            EventKind::StdTableOpen | EventKind::ArrayTableOpen => {
                self.header = Some(range.start);
                self.keys.clear();
            }
            EventKind::StdTableClose => self.section(range.end, false),
            EventKind::ArrayTableClose => self.section(range.end, true),
            EventKind::SimpleKey => {
                if self.keys.is_empty() {
                    self.key = range.clone();
                }
                self.key.end = range.end;
                let raw = body.get(span.start()..span.end()).unwrap_or_default();
                self.keys.push(key_text(raw, event.encoding(), span));
            }
            EventKind::KeyValSep => {
                let path = std::mem::take(&mut self.keys);
                self.waiting.push((path, self.key.clone()));
            }
            EventKind::Scalar => self.value(range, None),
            EventKind::ArrayOpen => self.open.push(Open::Array { start: range.start }),
            EventKind::InlineTableOpen => {
                self.open.push(Open::Inline { start: range.start, entries: Vec::new() });
            }
            EventKind::ArrayClose | EventKind::InlineTableClose => match self.open.pop() {
                Some(Open::Array { start }) => self.value(start..range.end, None),
                Some(Open::Inline { start, entries }) => self.value(start..range.end, Some(entries)),
                None => {}
            },
            EventKind::Comment => self.comments.push(range),
            EventKind::KeySep
            | EventKind::ValueSep
            | EventKind::Whitespace
            | EventKind::Newline
            | EventKind::Error => {}
        }
    }

    fn section(&mut self, end: usize, is_array: bool) {
        let path = std::mem::take(&mut self.keys);
        let start = self.header.take().unwrap_or(end);
        if is_array {
            self.arrays.push(path.clone());
        }
        let in_array = self.arrays.iter().any(|array| path.starts_with(array));
        self.sections.push(Section { path, header: start..end, entries: Vec::new(), is_array, in_array });
    }

    fn value(&mut self, value: Range<usize>, inside: Option<Vec<Entry>>) {
        let siblings = match self.open.last_mut() {
            Some(Open::Array { .. }) => return,
            Some(Open::Inline { entries, .. }) => entries,
            None => match self.sections.last_mut() {
                Some(section) => &mut section.entries,
                None => return,
            },
        };
        if let Some((path, key)) = self.waiting.pop() {
            siblings.push(Entry { path, key, value, inside });
        }
    }
}

/// What a key says without its quotes.
fn key_text(raw: &str, encoding: Option<Encoding>, span: toml_parser::Span) -> String {
    let mut key = String::new();
    Raw::new_unchecked(raw, encoding, span).decode_key(&mut key, &mut ());
    key
}
