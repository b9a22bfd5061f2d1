//! What the journal holds.

use std::borrow::Cow;
use std::path::PathBuf;

use ibid_model::{FindingKind, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// One entry, as one line of JSON with its kind in front. [`Entry::read`] is the way back: a reader
/// that goes by the kind alone (as one derived for this type would) cannot keep the exact bytes of an
/// observation.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Entry {
    /// A hook reported something.
    Observed(Observed),
    /// A hook was called with something that it refused.
    Refused(Refused),
    /// A hook kept what it observed, and could not report it to the process that listens.
    Unreported(Unreported),
}

/// What a hook reported.
#[derive(Clone, Debug, Serialize)]
pub struct Observed {
    /// When the hook read it, by the clock of the machine.
    pub at: Timestamp,
    /// The id of the program that announced it (`claude`, `codex-app`).
    pub program: String,
    /// The root session, exactly as announced.
    pub session: String,
    /// The harness's own observation, as its parser let it through.
    pub observation: Box<RawValue>,
}

/// That a hook refused its input. Nothing of the input is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Refused {
    /// When.
    pub at: Timestamp,
    /// The program it was called for, when that is one that Ibid knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// Why.
    pub reason: Refusal,
    /// How many bytes of input were read.
    pub bytes: u64,
}

/// Why a hook refused its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Refusal {
    /// It is no event that the program is known to announce.
    NotAnEvent,
    /// It is larger than a hook reads.
    TooLarge,
    /// It did not end in time.
    TooSlow,
    /// It could not be read.
    Unreadable,
    /// The hook was called for a program that Ibid does not know, or without one.
    UnknownProgram,
    /// The hook was called with arguments that it does not understand.
    Arguments,
    /// Ibid itself failed at it.
    Failed,
}

impl Refusal {
    /// The name in the journal.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Refusal::NotAnEvent => "not-an-event",
            Refusal::TooLarge => "too-large",
            Refusal::TooSlow => "too-slow",
            Refusal::Unreadable => "unreadable",
            Refusal::UnknownProgram => "unknown-program",
            Refusal::Arguments => "arguments",
            Refusal::Failed => "failed",
        }
    }
}

/// That an observation, which is in the journal, was not taken by the process that listens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unreported {
    /// When.
    pub at: Timestamp,
    /// The program it was for.
    pub program: String,
    /// Why.
    pub failure: ReportFailure,
    /// The status of the answer, where there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
}

/// Why a report failed. That nobody listens is none: it is the ordinary case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ReportFailure {
    /// The handoff file is there and cannot be used.
    Handoff,
    /// The answer was another than that it is taken.
    Answered,
    /// There was no answer in time.
    TimedOut,
    /// The connection broke, or what came was no answer.
    Broken,
}

impl ReportFailure {
    /// The name in the journal.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            ReportFailure::Handoff => "handoff",
            ReportFailure::Answered => "answered",
            ReportFailure::TimedOut => "timed-out",
            ReportFailure::Broken => "broken",
        }
    }
}

impl Entry {
    /// When it was made.
    #[must_use]
    pub fn at(&self) -> Timestamp {
        match self {
            Entry::Observed(observed) => observed.at,
            Entry::Refused(refused) => refused.at,
            Entry::Unreported(unreported) => unreported.at,
        }
    }

    /// The program it is about, when that is known.
    #[must_use]
    pub fn program(&self) -> Option<&str> {
        match self {
            Entry::Observed(observed) => Some(&observed.program),
            Entry::Refused(refused) => refused.program.as_deref(),
            Entry::Unreported(unreported) => Some(&unreported.program),
        }
    }

    /// The session it is about, when it is about one.
    #[must_use]
    pub fn session(&self) -> Option<&str> {
        match self {
            Entry::Observed(observed) => Some(&observed.session),
            Entry::Refused(_) | Entry::Unreported(_) => None,
        }
    }

    /// Reads one line.
    ///
    /// # Errors
    /// What a line is that is no entry: [`FindingKind::TornRecord`] for one that stops in the
    /// middle, [`FindingKind::NulRun`], [`FindingKind::NotJson`], [`FindingKind::UnknownRecord`] or
    /// [`FindingKind::MalformedRecord`].
    pub fn read(line: &[u8]) -> Result<Entry, FindingKind> {
        match Line::read(line)? {
            Line::Entry(entry) => Ok(entry),
            Line::Segment(_) => Err(FindingKind::UnknownRecord),
        }
    }
}

/// The first line of a segment: what was written before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) struct SegmentHead {
    /// Its number.
    pub(super) number: u64,
    /// How many lines the segments before it have, if that is known.
    pub(super) lines_before: Option<u64>,
}

/// What one line of a segment can be.
pub(super) enum Line {
    Entry(Entry),
    Segment(SegmentHead),
}

/// The fields of every kind. An enum that is told by its tag would keep its fields in a form in
/// which the exact bytes of an observation are lost.
#[derive(Deserialize)]
struct Fields<'a> {
    #[serde(borrow)]
    kind: Cow<'a, str>,
    at: Option<Timestamp>,
    program: Option<String>,
    session: Option<String>,
    #[serde(borrow)]
    observation: Option<&'a RawValue>,
    reason: Option<Refusal>,
    bytes: Option<u64>,
    failure: Option<ReportFailure>,
    status: Option<u16>,
    number: Option<u64>,
    lines_before: Option<u64>,
}

impl Line {
    pub(super) fn read(line: &[u8]) -> Result<Line, FindingKind> {
        let text = std::str::from_utf8(line).map_err(|_| of_bytes(line))?;
        let fields: Fields<'_> = match serde_json::from_str(text) {
            Ok(fields) => fields,
            Err(error) if error.is_data() => return Err(of_shape(text)),
            Err(error) if error.is_eof() => return Err(FindingKind::TornRecord),
            Err(_) => return Err(of_bytes(line)),
        };
        fields.line()
    }
}

/// A value whose fields have other types or values than those of an entry; not read to its end.
fn of_shape(text: &str) -> FindingKind {
    match serde_json::from_str::<serde::de::IgnoredAny>(text) {
        Ok(_) => FindingKind::MalformedRecord,
        Err(error) if error.is_eof() => FindingKind::TornRecord,
        Err(_) => of_bytes(text.as_bytes()),
    }
}

fn of_bytes(line: &[u8]) -> FindingKind {
    if line.contains(&0) { FindingKind::NulRun } else { FindingKind::NotJson }
}

impl Fields<'_> {
    fn line(self) -> Result<Line, FindingKind> {
        let malformed = || FindingKind::MalformedRecord;
        let at = || self.at.ok_or_else(malformed);
        let entry = match &*self.kind {
            "observed" => Entry::Observed(Observed {
                at: at()?,
                program: self.program.ok_or_else(malformed)?,
                session: self.session.ok_or_else(malformed)?,
                observation: self.observation.ok_or_else(malformed)?.to_owned(),
            }),
            "refused" => Entry::Refused(Refused {
                at: at()?,
                program: self.program,
                reason: self.reason.ok_or_else(malformed)?,
                bytes: self.bytes.ok_or_else(malformed)?,
            }),
            "unreported" => Entry::Unreported(Unreported {
                at: at()?,
                program: self.program.ok_or_else(malformed)?,
                failure: self.failure.ok_or_else(malformed)?,
                status: self.status,
            }),
            "segment" => {
                let number = self.number.ok_or_else(malformed)?;
                return Ok(Line::Segment(SegmentHead { number, lines_before: self.lines_before }));
            }
            _ => return Err(FindingKind::UnknownRecord),
        };
        Ok(Line::Entry(entry))
    }
}

/// Where an entry lies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Place {
    /// The file.
    pub path: PathBuf,
    /// Its first byte.
    pub start: u64,
    /// The byte after its last, the newline not included.
    pub end: u64,
}

/// An entry with its place.
#[derive(Clone, Debug)]
pub struct Kept {
    /// Where.
    pub place: Place,
    /// What.
    pub entry: Entry,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn observed(observation: &str) -> Entry {
        Entry::Observed(Observed {
            at: Timestamp::parse("2026-07-01T10:00:00.123456789Z").unwrap(),
            program: "codex".to_owned(),
            session: "a \"b\" / \u{1f9ea}\n".to_owned(),
            observation: RawValue::from_string(observation.to_owned()).unwrap(),
        })
    }

    fn line(entry: &Entry) -> Vec<u8> {
        serde_json::to_vec(entry).unwrap()
    }

    #[test]
    fn an_observation_comes_back_byte_for_byte() {
        let native = r#"{ "n" : 1.50, "a":"\u00e9", "event":{"event":"stop"},"z":12345678901234567890123 }"#;
        let written = line(&observed(native));
        let Ok(Entry::Observed(back)) = Entry::read(&written) else { panic!("not an observation") };
        assert_eq!(back.observation.get(), native);
        assert_eq!(back.session, "a \"b\" / \u{1f9ea}\n");
        assert_eq!(line(&Entry::Observed(back)), written);
    }

    #[test]
    fn refusals_and_failed_reports_come_back() {
        let at = Timestamp::parse("2026-07-01T10:00:00Z").unwrap();
        let refused = Refused { at, program: None, reason: Refusal::TooLarge, bytes: 1_048_577 };
        let Ok(Entry::Refused(back)) = Entry::read(&line(&Entry::Refused(refused.clone()))) else {
            panic!("not a refusal")
        };
        assert_eq!(back, refused);
        let program = "claude".to_owned();
        let unreported = Unreported { at, program, failure: ReportFailure::Answered, status: Some(401) };
        let Ok(Entry::Unreported(back)) = Entry::read(&line(&Entry::Unreported(unreported.clone()))) else {
            panic!("not a failed report")
        };
        assert_eq!(back, unreported);
    }

    #[test]
    fn a_record_torn_at_any_byte_is_no_record() {
        let whole = line(&observed(r#"{"kind":"observed","nested":{"deep":["}"]}}"#));
        for cut in 1..whole.len() {
            let found = Entry::read(&whole[..cut]).map(|_| ()).unwrap_err();
            let torn = std::str::from_utf8(&whole[..cut]).is_ok();
            let expected = if torn { FindingKind::TornRecord } else { FindingKind::NotJson };
            assert_eq!(found, expected, "cut at {cut}");
        }
    }

    #[test]
    fn what_is_no_entry_is_called_by_what_it_is() {
        let cases: [(&[u8], FindingKind); 8] = [
            (b"hello", FindingKind::NotJson),
            (b"{\"kind\":\"observed\"} x", FindingKind::NotJson),
            (b"{\"kind\":\"observed\0\"}", FindingKind::NulRun),
            (b"{\"kind\":\"observed\"}", FindingKind::MalformedRecord),
            (b"{\"kind\":7}", FindingKind::MalformedRecord),
            (b"{\"kind\":7", FindingKind::TornRecord),
            (b"[]", FindingKind::MalformedRecord),
            (b"{\"kind\":\"of a later version\"}", FindingKind::UnknownRecord),
        ];
        for (line, expected) in cases {
            let found = Entry::read(line).map(|_| ()).unwrap_err();
            assert_eq!(found, expected, "{}", String::from_utf8_lossy(line));
        }
    }

    #[test]
    fn codes_are_what_is_written() {
        for reason in [
            Refusal::NotAnEvent,
            Refusal::TooLarge,
            Refusal::TooSlow,
            Refusal::Unreadable,
            Refusal::UnknownProgram,
            Refusal::Arguments,
            Refusal::Failed,
        ] {
            assert_eq!(serde_json::to_value(reason).unwrap(), reason.code());
        }
        for failure in
            [ReportFailure::Handoff, ReportFailure::Answered, ReportFailure::TimedOut, ReportFailure::Broken]
        {
            assert_eq!(serde_json::to_value(failure).unwrap(), failure.code());
        }
    }
}
