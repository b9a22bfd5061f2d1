//! What a list shows of a file, without reading all of it.
//!
//! The first rows say where and when a session began and what was asked; the last ones say when
//! it was written last, and by which model. Titles can stand anywhere, so that every line is
//! looked at, but only as far as its first key: rows of the tree begin with `parentUuid`, the
//! others with `type`, and a line that begins otherwise is read. What a whole reading would say
//! is said here too.

use std::path::Path;

use ibid_carrier::CarrierError;
use ibid_carrier::jsonl::{Document, Limits, RawLine, Records, open_from_end, open_scanner};
use ibid_model::{Finding, Meta, Text, Timestamp};
use memchr::memmem;

use super::assembly::Assembly;
use super::record::{Record, What};
use super::tally::Place;

/// Files up to this size are read whole, which is as fast.
pub(crate) const READ_WHOLE: u64 = 16 << 10;

/// What a list needs to know of a file.
#[derive(Debug)]
pub(crate) struct Skimmed {
    /// The conversation as far as it was read: its facts are those of the whole.
    pub(crate) assembly: Assembly,
    /// What was wrong with what was read.
    pub(crate) findings: Vec<Finding>,
    /// Whether all rows were taken.
    pub(crate) whole: bool,
}

/// Reads what a list needs. Files up to `read_whole` bytes are read whole, and so is one whose
/// rows tell that they were copied, since how far they were is told only by all of them.
///
/// # Errors
/// When the file cannot be read.
pub(crate) fn skim(
    path: &Path,
    bytes: u64,
    read_whole: u64,
    subagent: bool,
    limits: &Limits,
) -> Result<Skimmed, CarrierError> {
    let skim = Skim { subagent, ..Skim::default() };
    if bytes > read_whole
        && let Some(skimmed) = skim.read(path, limits)?
    {
        return Ok(skimmed);
    }
    let document = Document::read(path, limits)?;
    let (assembly, findings) = super::read(&document);
    Ok(Skimmed { assembly, findings, whole: true })
}

#[derive(Default)]
struct Skim {
    assembly: Assembly,
    findings: Vec<Finding>,
    /// Rows that must be looked for by their ids.
    wanted: Vec<Wanted>,
    head_done: bool,
    /// Of later summaries: the rows, which may stand before or after.
    late: Vec<Text>,
    /// How many summaries were looked at.
    summaries: usize,
    /// Whether the file is a subagent's own.
    subagent: bool,
}

impl Skim {
    /// None when only a whole reading tells.
    fn read(mut self, path: &Path, limits: &Limits) -> Result<Option<Skimmed>, CarrierError> {
        if !self.go_forward(path, limits)? {
            return Ok(None);
        }
        if self.assembly.meta.title.is_none() && !self.late.is_empty() {
            // The row that a late summary is of may stand before it.
            self.find_late(path, limits)?;
        }
        let Some(tail) = self.go_back(path, limits)? else { return Ok(None) };
        tail.put_into(&mut self.assembly);
        Ok(Some(Skimmed { assembly: self.assembly, findings: self.findings, whole: false }))
    }

    /// Goes over all lines, and reads those that say something.
    fn go_forward(&mut self, path: &Path, limits: &Limits) -> Result<bool, CarrierError> {
        let mut scanner = open_scanner(path, 0, limits)?;
        while let Some(line) = scanner.next()? {
            if self.wants(line.bytes) {
                self.take(&line);
                if !self.head_done && self.assembly.has_beginning() {
                    self.head_done = true;
                    if self.assembly.may_be_copied() {
                        return Ok(false);
                    }
                    if let Some(parent) = self.assembly.missing_parent().cloned() {
                        self.wanted.push(Wanted::row(parent));
                    }
                }
            } else if !self.wanted.is_empty() {
                self.look_for_wanted(line.bytes);
            }
        }
        self.findings.extend_from_slice(scanner.findings());
        Ok(true)
    }

    fn wants(&self, line: &[u8]) -> bool {
        match kind(line) {
            Kind::Title | Kind::Other => true,
            Kind::Tree | Kind::Known if !self.head_done => !self.is_aside(line),
            Kind::Tree | Kind::Known => self.has_missing_fact(line) || ends_with_title(line),
        }
    }

    /// Whether only what a person said is still looked for, and this is a subagent's row.
    fn is_aside(&self, line: &[u8]) -> bool {
        self.assembly.lacks_only_prompt() && memmem::find(line, br#""isSidechain":true"#).is_some()
    }

    fn has_missing_fact(&self, line: &[u8]) -> bool {
        let meta = &self.assembly.meta;
        let has = |missing: bool, key: &[u8]| missing && has_filled(line, key);
        has(meta.cwd.is_none(), br#""cwd""#)
            || has(meta.version.is_none(), br#""version""#)
            || has(meta.git_branch.is_none(), br#""gitBranch""#)
            || has(meta.started.is_none(), br#""timestamp""#)
    }

    fn take(&mut self, line: &RawLine<'_>) {
        let records = read_line(line);
        for item in records.items {
            let place = Place { line: item.line, start: item.start, end: item.end };
            self.assembly.take(place, item.value);
        }
        self.findings.extend(records.findings);
        let leaves: Vec<Text> = self.assembly.summary_leaves().skip(self.summaries).cloned().collect();
        self.summaries += leaves.len();
        for leaf in leaves {
            // Summaries mostly stand at the beginning, before every row that they could be of.
            match self.head_done {
                _ if self.assembly.has_row(&leaf) => {}
                false => self.wanted.push(Wanted::row(leaf)),
                true => self.late.push(leaf),
            }
        }
    }

    fn look_for_wanted(&mut self, line: &[u8]) {
        let assembly = &mut self.assembly;
        self.wanted.retain(|wanted| {
            let found = wanted.is_in(line);
            if found {
                assembly.elsewhere.insert(wanted.uuid.clone());
            }
            !found
        });
    }

    fn find_late(&mut self, path: &Path, limits: &Limits) -> Result<(), CarrierError> {
        self.wanted = self.late.drain(..).map(Wanted::row).collect();
        let mut scanner = open_scanner(path, 0, limits)?;
        while let Some(line) = scanner.next()?
            && !self.wanted.is_empty()
        {
            self.look_for_wanted(line.bytes);
        }
        Ok(())
    }

    /// Goes over the last lines until they have told what they can; none when the file is
    /// compressed.
    fn go_back(&mut self, path: &Path, limits: &Limits) -> Result<Option<Tail>, CarrierError> {
        let Some(mut lines) = open_from_end(path, limits)? else { return Ok(None) };
        let mut tail = Tail::default();
        while !tail.is_done(self.subagent)
            && let Some(line) = lines.next()?
        {
            for item in read_line(&line).items.into_iter().rev() {
                tail.take(&item.value);
            }
        }
        Ok(Some(tail))
    }
}

fn read_line(line: &RawLine<'_>) -> Records<Record> {
    let mut records = Records { items: Vec::new(), findings: Vec::new() };
    line.read_into(&mut records, |text| Record::read(&Text::from(text)));
    records
}

/// What the last rows say.
#[derive(Debug, Default)]
struct Tail {
    updated: Option<Timestamp>,
    /// The last model of the main conversation.
    main: Option<Text>,
    /// The last model of all.
    any: Option<Text>,
}

impl Tail {
    fn is_done(&self, subagent: bool) -> bool {
        let model = if subagent { &self.any } else { &self.main };
        self.updated.is_some() && model.is_some()
    }

    fn take(&mut self, record: &Record) {
        self.updated = self.updated.or(record.at);
        if let What::Turn(turn) = &record.what
            && turn.model.is_some()
        {
            if self.any.is_none() {
                self.any.clone_from(&turn.model);
            }
            if !record.sidechain && self.main.is_none() {
                self.main.clone_from(&turn.model);
            }
        }
    }

    fn put_into(self, assembly: &mut Assembly) {
        assembly.meta.updated = self.updated;
        assembly.models = [self.main, self.any];
    }
}

/// What the beginning of a line tells of its row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A row of the tree, which is never a title.
    Tree,
    /// A title.
    Title,
    /// A row of a kind that is no title.
    Known,
    /// Anything else.
    Other,
}

fn kind(line: &[u8]) -> Kind {
    if line.starts_with(br#"{"parentUuid":"#) {
        return Kind::Tree;
    }
    let Some(rest) = line.strip_prefix(br#"{"type":""#) else { return Kind::Other };
    let name = rest.iter().position(|byte| *byte == b'"').and_then(|end| rest.get(..end));
    match name {
        Some(b"custom-title" | b"ai-title" | b"agent-name" | b"summary") => Kind::Title,
        Some(b"user" | b"assistant" | b"system" | b"attachment") => Kind::Tree,
        Some(name) if name.iter().all(|byte| byte.is_ascii_lowercase() || *byte == b'-') => Kind::Known,
        _ => Kind::Other,
    }
}

/// Whether the key stands in the line with something else than an empty string.
fn has_filled(line: &[u8], key: &[u8]) -> bool {
    memmem::find_iter(line, key).any(|at| {
        let rest = line.get(at + key.len()..).unwrap_or_default();
        let value = rest.trim_ascii_start().strip_prefix(b":").map(<[u8]>::trim_ascii_start);
        value.is_some_and(|value| !value.starts_with(br#""""#))
    })
}

/// Whether a title stands behind the row on the same line. Titles hold no objects, so that the
/// last brace is theirs.
fn ends_with_title(line: &[u8]) -> bool {
    let last = memchr::memrchr(b'{', line).filter(|at| *at > 0).and_then(|at| line.get(at..));
    last.is_some_and(|rest| kind(rest) == Kind::Title)
}

/// A row that is looked for by its id.
struct Wanted {
    uuid: Text,
    finder: memmem::Finder<'static>,
}

impl Wanted {
    fn row(uuid: Text) -> Wanted {
        let finder = memmem::Finder::new(uuid.as_bytes()).into_owned();
        Wanted { uuid, finder }
    }

    /// Whether the line is the row: the id stands in it as the value of the key `uuid`.
    fn is_in(&self, line: &[u8]) -> bool {
        self.finder.find_iter(line).any(|at| {
            let before = line.get(..at).and_then(|before| before.strip_suffix(b"\""));
            let before = before.and_then(|before| before.trim_ascii_end().strip_suffix(b":"));
            before.is_some_and(|before| before.trim_ascii_end().ends_with(br#""uuid""#))
        })
    }
}

/// The facts for a list.
impl Skimmed {
    /// The facts, for a subagent's file or another.
    pub(crate) fn meta(&mut self, subagent: bool) -> Meta {
        self.assembly.finish_meta(subagent);
        self.assembly.meta.clone()
    }
}
