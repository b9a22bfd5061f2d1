//! Reading: what was kept, in the order of time, and what is wrong.

use std::collections::HashMap;

use ibid_carrier::findings::report;
use ibid_carrier::jsonl::{Limits, RawLine, Scanner};
use ibid_model::{Finding, FindingKind};
use memchr::memmem;

use super::directory::{LOST, segment_name};
use super::entry::{Line, SegmentHead};
use super::{Entry, Journal, JournalError, Kept, LINE_BYTES, Place, Removed};

/// How large the reader's buffer is to begin with; it grows to the longest line.
const BUFFER: usize = 64 << 10;

/// Which entries are wanted. The default is all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Those of this session, exactly. Refusals belong to none.
    pub session: Option<String>,
    /// Those in whose observation this text stands as a whole JSON string: those that name a subagent,
    /// say. The caller looks where it stands.
    pub mentions: Option<String>,
    /// Those of these programs; of every program when there are none.
    pub programs: Vec<String>,
}

impl Filter {
    /// Those of one session.
    #[must_use]
    pub fn session(id: impl Into<String>) -> Filter {
        Filter { session: Some(id.into()), ..Filter::default() }
    }

    /// Those that name this id anywhere.
    #[must_use]
    pub fn mentioning(id: impl Into<String>) -> Filter {
        Filter { mentions: Some(id.into()), ..Filter::default() }
    }

    /// The same, of these programs alone.
    #[must_use]
    pub fn of(mut self, programs: impl IntoIterator<Item = impl Into<String>>) -> Filter {
        self.programs = programs.into_iter().map(Into::into).collect();
        self
    }

    fn takes(&self, entry: &Entry) -> bool {
        let mentions = |id: &String| {
            let Entry::Observed(observed) = entry else { return false };
            let needle = written(id);
            let text = observed.observation.get();
            memmem::find(text.as_bytes(), &needle).is_some() || text.contains('\\') && names(text, id)
        };
        self.session.as_deref().is_none_or(|session| entry.session() == Some(session))
            && (self.programs.is_empty()
                || entry.program().is_some_and(|program| self.programs.iter().any(|known| known == program)))
            && self.mentions.as_ref().is_none_or(mentions)
    }
}

/// The text as the journal writes it.
fn written(text: &str) -> Vec<u8> {
    serde_json::Value::from(text).to_string().into_bytes()
}

/// Whether a string of this JSON is `id`, however it is escaped.
fn names(json: &str, id: &str) -> bool {
    fn stands_in(value: &serde_json::Value, id: &str) -> bool {
        match value {
            serde_json::Value::String(text) => text == id,
            serde_json::Value::Array(items) => items.iter().any(|item| stands_in(item, id)),
            serde_json::Value::Object(fields) => fields.values().any(|field| stands_in(field, id)),
            _ => false,
        }
    }
    serde_json::from_str(json).is_ok_and(|value| stands_in(&value, id))
}

/// What is done with a line; what it is, when it is no entry.
type ReadLine<'a> = dyn FnMut(&[u8], Place) -> Result<(), FindingKind> + 'a;

/// What can be seen of a filter in the bytes of a line, so that few lines are parsed.
struct Needles {
    ids: Vec<Vec<u8>>,
}

impl Needles {
    fn of(filter: &Filter) -> Needles {
        Needles { ids: filter.session.iter().chain(&filter.mentions).map(|id| written(id)).collect() }
    }

    /// Whether the line may be wanted. One with a backslash may spell an id in another way.
    fn may_be_in(&self, line: &[u8]) -> bool {
        self.ids.iter().all(|id| memmem::find(line, id).is_some()) || memchr::memchr(b'\\', line).is_some()
    }
}

/// What a look at the journal gave.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// The entries, the oldest first; those of the same moment in the order in which they were written.
    pub entries: Vec<Kept>,
    /// What could not be read, with its place. Text of an entry is never in it.
    pub findings: Vec<Finding>,
    /// What rotation removed.
    pub removed: Removed,
}

/// What a walk over all files saw besides the entries.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) findings: Vec<Finding>,
    pub(super) removed: Removed,
    pub(super) present: bool,
    pub(super) segments: usize,
    pub(super) side_files: usize,
    pub(super) bytes: u64,
    pub(super) torn: u64,
    pub(super) lost: u64,
}

impl Seen {
    fn problem(&mut self, error: &JournalError) {
        let kind = match error {
            JournalError::Link { .. } => FindingKind::LinkNotFollowed,
            _ => FindingKind::Unreadable,
        };
        let path = match error {
            JournalError::Link { path }
            | JournalError::NotADirectory { path }
            | JournalError::NotAFile { path }
            | JournalError::Foreign { path }
            | JournalError::Full { path, .. }
            | JournalError::Io { path, .. } => Some(path),
            JournalError::TooLarge { .. } | JournalError::SeveralLines => None,
        };
        let detail = match error {
            JournalError::Io { source, .. } => format!("{error}: {source}"),
            error => error.to_string(),
        };
        let finding = Finding::new(kind, detail);
        let finding = match path {
            Some(path) => finding.at_path(path),
            None => finding,
        };
        report(&mut self.findings, finding);
    }
}

impl Journal {
    /// Reads what a filter takes. Memory is that of what is taken, and of one line.
    #[must_use]
    pub fn read(&self, filter: &Filter) -> Reading {
        let mut entries = Vec::new();
        let needles = Needles::of(filter);
        let seen = self.walk(&|line| needles.may_be_in(line), &mut |kept| {
            if filter.takes(&kept.entry) {
                entries.push(kept);
            }
        });
        // Within a file entries lie in the order of the lock, which is that of the clock but for an
        // instant.
        entries.sort_by_key(|kept| kept.entry.at());
        Reading { entries, findings: seen.findings, removed: seen.removed }
    }

    /// Goes over all entries whose lines are wanted: first those of segments, then those that are in
    /// side files alone.
    pub(super) fn walk(&self, is_wanted: &dyn Fn(&[u8]) -> bool, sink: &mut dyn FnMut(Kept)) -> Seen {
        let mut seen = Seen::default();
        match self.directory.is_present() {
            Ok(true) => seen.present = true,
            Ok(false) => return seen,
            Err(error) => {
                seen.problem(&error);
                return seen;
            }
        }
        // A writer moves lines from side files into segments: those that are read first are then found
        // a second time, and none is missed.
        let mut aside: HashMap<Vec<u8>, Kept> = HashMap::new();
        match self.directory.names() {
            Err(error) => seen.problem(&error),
            Ok(names) => {
                seen.side_files = names.sides.len();
                for name in names.sides {
                    self.lines(&name, &mut seen, &mut |line, place| match Line::read(line) {
                        Ok(Line::Entry(entry)) if is_wanted(line) => {
                            aside.insert(line.to_owned(), Kept { place, entry });
                            Ok(())
                        }
                        read => read.map(|_| ()),
                    });
                }
                for draft in names.drafts {
                    seen.torn += 1;
                    let finding = Finding::new(FindingKind::CutLine, "a side file that was not finished");
                    report(&mut seen.findings, finding.at_path(&self.directory.join(&draft)));
                }
            }
        }
        match self.directory.names() {
            Err(error) => seen.problem(&error),
            Ok(names) => {
                seen.segments = names.segments.len();
                let first = names.segments.first().copied();
                for number in names.segments {
                    let mut head = None;
                    self.lines(&segment_name(number), &mut seen, &mut |line, place| {
                        // What is not wanted is not parsed, as far as it looks whole.
                        if place.start > 0 && line.ends_with(b"}") && !is_wanted(line) {
                            return Ok(());
                        }
                        match Line::read(line)? {
                            Line::Segment(found) => head = Some(found),
                            Line::Entry(entry) if is_wanted(line) => {
                                aside.remove(line);
                                sink(Kept { place, entry });
                            }
                            Line::Entry(_) => {}
                        }
                        Ok(())
                    });
                    if first == Some(number) {
                        seen.removed = removed(number, head);
                    }
                }
            }
        }
        let mut aside: Vec<Kept> = aside.into_values().collect();
        aside.sort_by(|a, b| a.place.path.cmp(&b.place.path));
        aside.into_iter().for_each(sink);
        seen.lost = match self.directory.open_to_read(LOST) {
            Ok(Some(file)) => file.metadata().map_or(0, |about| about.len()),
            Ok(None) => 0,
            Err(error) => {
                seen.problem(&error);
                0
            }
        };
        seen
    }

    /// Goes over the lines of one file; what `read` says a line is goes to the findings.
    fn lines(&self, name: &str, seen: &mut Seen, read: &mut ReadLine<'_>) {
        let path = self.directory.join(name);
        let file = match self.directory.open_to_read(name) {
            Ok(Some(file)) => file,
            // Moved or removed since it was listed.
            Ok(None) => return,
            Err(error) => return seen.problem(&error),
        };
        let limits = Limits { line_bytes: LINE_BYTES as u64, ..Limits::default() };
        let mut scanner = Scanner::with_buffer(file, 0, &limits, BUFFER);
        loop {
            let line = match scanner.next() {
                Ok(Some(line)) => line,
                Ok(None) => break,
                Err(error) => {
                    let finding = Finding::new(FindingKind::Unreadable, error.to_string());
                    report(&mut seen.findings, finding.at_path(&path));
                    break;
                }
            };
            seen.bytes = seen.bytes.saturating_add(line.end - line.start + u64::from(line.terminated));
            if line.bytes.is_empty() {
                continue;
            }
            let place = Place { path: path.clone(), start: line.start, end: line.end };
            let kind = match line.oversize {
                true => Err(FindingKind::Oversize),
                false => read(line.bytes, place),
            };
            if let Err(kind) = kind {
                report(&mut seen.findings, finding(kind, &line, &mut seen.torn).at_path(&path));
            }
        }
    }
}

/// What is wrong with a line that is no entry.
fn finding(kind: FindingKind, line: &RawLine<'_>, torn: &mut u64) -> Finding {
    let (kind, detail) = match kind {
        FindingKind::TornRecord if !line.terminated => {
            (FindingKind::CutLine, "its writer was killed, or is writing it now")
        }
        FindingKind::TornRecord => (kind, "its writer was killed before it had written all of it"),
        FindingKind::Oversize => (kind, "longer than any line that Ibid writes here"),
        FindingKind::NulRun => (kind, "NUL bytes, as a loss of power leaves them"),
        FindingKind::UnknownRecord => (kind, "an entry of a kind that a newer Ibid may know"),
        FindingKind::MalformedRecord => (kind, "a field of the entry is missing or of another type"),
        kind => (kind, "no line that Ibid wrote"),
    };
    if matches!(kind, FindingKind::CutLine | FindingKind::TornRecord) {
        *torn += 1;
    }
    let finding = Finding::new(kind, detail).at_bytes(line.start, line.end);
    match line.number {
        Some(number) => finding.on_line(number),
        None => finding,
    }
}

/// What was removed before the first segment that is there.
fn removed(first: u64, head: Option<SegmentHead>) -> Removed {
    let segments = first.saturating_sub(1);
    let lines = match segments {
        0 => Some(0),
        _ => head.filter(|head| head.number == first).and_then(|head| head.lines_before),
    };
    Removed { segments, lines }
}
