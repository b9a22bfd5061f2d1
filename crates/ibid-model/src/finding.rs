//! What is wrong with the input, and where.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Extent, Text};

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Worth knowing; what was read is complete.
    Note,
    /// Something was read only in part, or joined by a rule rather than by what is written.
    Warning,
    /// Something could not be read at all.
    Error,
}

macro_rules! finding_kinds {
    ($($(#[doc = $doc:literal])+ $name:ident = $code:literal, $severity:ident, $advice:literal;)+) => {
        /// Every kind of finding. The name in JSON is stable; new kinds may be added.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        #[non_exhaustive]
        pub enum FindingKind {
            $($(#[doc = $doc])+ #[serde(rename = $code)] $name,)+
        }

        impl FindingKind {
            /// All kinds, in the order of the documentation.
            pub const ALL: &'static [FindingKind] = &[$(FindingKind::$name),+];

            /// The stable name.
            #[must_use]
            pub fn code(self) -> &'static str {
                match self { $(FindingKind::$name => $code,)+ }
            }

            /// How much findings of this kind matter.
            #[must_use]
            pub fn severity(self) -> Severity {
                match self { $(FindingKind::$name => Severity::$severity,)+ }
            }

            /// What the person can do about it, one sentence.
            #[must_use]
            pub fn advice(self) -> &'static str {
                match self { $(FindingKind::$name => $advice,)+ }
            }

            /// What it means, for the documentation.
            #[must_use]
            pub fn meaning(self) -> &'static str {
                match self { $(FindingKind::$name => concat!($($doc),+),)+ }
            }
        }
    };
}

finding_kinds! {
    /// A line is not JSON. It is kept as it is and left out of the conversation.
    NotJson = "not-json", Error, "Look at the line; a harness skips it too.";
    /// A line ends in the middle of a value, and it is the last one: the harness may still be writing it, or died while it did.
    CutLine = "cut-line", Warning, "If the session is running, read it again later.";
    /// A line of Ibid's journal of observations stops in the middle: the hook that wrote it was killed. It is never taken for an observation.
    TornRecord = "torn-record", Warning, "Nothing needs doing; what that one hook had to say is lost.";
    /// A line begins with the torn half of a value; the complete value behind it was recovered.
    TornPrefix = "torn-prefix", Error, "The torn half is kept in the file; nothing else can be read from it.";
    /// Two or more values stand on one line; each was read as a record.
    SeveralValues = "several-values", Warning, "Nothing needs doing; a newline was lost when the file was written.";
    /// A line is JSON but not an object, so it is no record.
    NotAnObject = "not-an-object", Warning, "Look at the line; it is kept as it is.";
    /// A record lacks a field that its kind needs, or the field has another type; it is kept as it is.
    MalformedRecord = "malformed-record", Warning, "Look at the record; it may be of a version Ibid has not seen.";
    /// A record of a kind that Ibid does not know; it is kept as it is.
    UnknownRecord = "unknown-record", Note, "Nothing needs doing; report the kind if it matters to you.";
    /// Bytes that are not UTF-8; they read as U+FFFD, and the original bytes are kept.
    InvalidUtf8 = "invalid-utf8", Warning, "Nothing needs doing; a native copy keeps the bytes.";
    /// Half of a UTF-16 surrogate pair; it reads as U+FFFD, and the original bytes are kept.
    LoneSurrogate = "lone-surrogate", Warning, "Nothing needs doing; a native copy keeps the bytes.";
    /// A run of NUL bytes, as a crash of the machine leaves behind; what stands before and after it was read.
    NulRun = "nul-run", Warning, "The bytes in the run are lost for good; the rest was read.";
    /// The file begins with a byte order mark; it was skipped.
    ByteOrderMark = "byte-order-mark", Note, "Nothing needs doing.";
    /// Lines end with a carriage return and a newline.
    CarriageReturns = "carriage-returns", Note, "Nothing needs doing.";
    /// An object has the same key twice; the last one counts, and both are kept.
    DuplicateKey = "duplicate-key", Note, "Nothing needs doing.";
    /// A line, a file or a number of files is over a limit; what is over it was not read, and nothing was changed.
    Oversize = "oversize", Error, "The limits are fixed (256 MiB for a line) and cannot be raised; look at it where it lies.";
    /// A value nests deeper than the limit.
    TooDeep = "too-deep", Error, "The record is kept; no harness writes such a value.";
    /// Compressed content is damaged or ends early; what could be decompressed before that was read.
    DamagedCompression = "damaged-compression", Error, "Read it again later; if that does not help, restore the file from a backup.";
    /// The file became shorter while it was read.
    Shrunk = "shrunk", Error, "Read it again; another program is rewriting it.";
    /// The file was replaced or changed in place while it was read.
    Replaced = "replaced", Error, "Read it again; another program is rewriting it.";
    /// A file or directory could not be read.
    Unreadable = "unreadable", Error, "Check its permissions; the rest was read.";
    /// A database could not be copied while another program was writing it.
    Busy = "busy", Error, "Try again when the harness is idle.";
    /// A database is damaged.
    DamagedDatabase = "damaged-database", Error, "Restore it from a backup, or let the harness repair it.";
    /// A file has the name of a session but another program's content.
    ForeignContent = "foreign-content", Warning, "It is not listed; open it by path with another harness's name if you know it.";
    /// A record names a parent that does not exist; it was joined to the record before it.
    DanglingParent = "dangling-parent", Warning, "Nothing needs doing; the harness never wrote the parent.";
    /// Parents form a circle; the walk stops where it closes.
    ParentCycle = "parent-cycle", Error, "Look at the records named; the file was edited or damaged.";
    /// The same record id stands on several records; the last one counts.
    RepeatedId = "repeated-id", Note, "Nothing needs doing; a native copy keeps every one.";
    /// A tool call has no result.
    CallWithoutResult = "call-without-result", Note, "Nothing needs doing; the call was interrupted, or its result was not written.";
    /// A tool result has no call.
    ResultWithoutCall = "result-without-call", Warning, "Nothing needs doing; the call was not written, or was cut off.";
    /// A time is missing, has no zone, or is no time; it reads as unknown.
    UnreadableTime = "unreadable-time", Warning, "Nothing needs doing; the order of the file is used.";
    /// The first record of a session, which describes it, is missing or unreadable; what the file name says was used.
    MissingHeader = "missing-header", Warning, "Nothing needs doing; facts that only the header holds are unknown.";
    /// A record is there, and the conversation it names is not.
    MissingTranscript = "missing-transcript", Warning, "Look for the transcript in a backup.";
    /// A session names a parent that is not in the store.
    MissingParent = "missing-parent", Note, "Nothing needs doing; the parent was deleted or is elsewhere.";
    /// Two carriers hold the same session and differ; one is used, and both are named.
    Variants = "variants", Warning, "Compare the files named, and delete the one you do not want.";
    /// The file looks like a copy that a synchronisation program made after a conflict.
    ConflictCopy = "conflict-copy", Note, "Compare it with the original, and delete the one you do not want.";
    /// The session has records and yet no turns: its format may have changed.
    NoTurns = "no-turns", Warning, "Report the version of the harness; its format may be newer than Ibid knows.";
    /// The records were written by another program than the store they lie in belongs to.
    ForeignOriginator = "foreign-originator", Note, "Nothing needs doing; the originator is named with the session.";
    /// A name or id cannot be used as part of a path.
    UnsafeName = "unsafe-name", Error, "Rename it in the record, or copy the file by hand.";
    /// A link leads out of the store, or in a circle; it was not followed.
    LinkNotFollowed = "link-not-followed", Warning, "Move the file into the store if it belongs there.";
    /// Another store of the same program is there, which Ibid does not read; nothing in it is listed.
    UnreadStore = "unread-store", Note, "Nothing needs doing; sessions that lie only in it are not seen.";
    /// The stored session and what its harness announced while it ran do not say the same.
    LanesDisagree = "lanes-disagree", Warning, "Look at both places, which `ibid explain` names; none was chosen.";
    /// A write that did not finish was found in Ibid's journal.
    UnfinishedWrite = "unfinished-write", Error, "Run `ibid doctor --fix`, or any command that writes, to finish or undo it.";
}

impl fmt::Display for FindingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

/// Something wrong with the input, with its location.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// What it is.
    pub kind: FindingKind,
    /// The file or directory, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<Text>,
    /// The line, counted from 1, where the input has lines and the reader counted them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// Where in the file or database.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extent: Option<Extent>,
    /// How many times, when one finding stands for several of its kind; at least 1.
    pub count: u64,
    /// One sentence about this case. It never quotes what people or models wrote.
    pub detail: Text,
}

impl Finding {
    /// A finding about the input as a whole.
    #[must_use]
    pub fn new(kind: FindingKind, detail: impl Into<Text>) -> Finding {
        Finding { kind, path: None, line: None, extent: None, count: 1, detail: detail.into() }
    }

    /// The same finding at a path.
    #[must_use]
    pub fn at_path(mut self, path: &std::path::Path) -> Finding {
        self.path = Some(Text::from(path.to_string_lossy().into_owned()));
        self
    }

    /// The same finding at bytes `start..end`.
    #[must_use]
    pub fn at_bytes(mut self, start: u64, end: u64) -> Finding {
        self.extent = Some(Extent::Bytes { start, end });
        self
    }

    /// The same finding on a line, counted from 1.
    #[must_use]
    pub fn on_line(mut self, line: u64) -> Finding {
        self.line = Some(line);
        self
    }

    /// The same finding at a database row.
    #[must_use]
    pub fn at_row(mut self, table: impl Into<Text>, key: impl Into<Text>) -> Finding {
        self.extent = Some(Extent::row(table, key));
        self
    }

    /// The same finding, standing for `count` cases.
    #[must_use]
    pub fn times(mut self, count: u64) -> Finding {
        self.count = count.max(1);
        self
    }

    /// How much it matters.
    #[must_use]
    pub fn severity(&self) -> Severity {
        self.kind.severity()
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kind)?;
        if let Some(path) = &self.path {
            write!(f, " in {path}")?;
        }
        match (&self.line, &self.extent) {
            (Some(line), _) => write!(f, ", line {line}")?,
            (None, Some(Extent::Bytes { start, end })) => write!(f, ", bytes {start} to {end}")?,
            (None, Some(Extent::Row(row))) => write!(f, ", {} row {}", row.table, row.key)?,
            _ => {}
        }
        if self.count > 1 {
            write!(f, " ({} times)", self.count)?;
        }
        write!(f, ": {}", self.detail)
    }
}
