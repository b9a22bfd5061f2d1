//! Where sessions lie.

use std::fmt;
use std::path::{Path, PathBuf};

use ibid_carrier::CarrierError;
use ibid_carrier::fingerprint::Fingerprint;
use ibid_carrier::plan::Plan;
use ibid_carrier::sqlite::SqliteError;
use ibid_model::{CarrierInfo, Finding, Lineage, Losses, Meta, SessionId, Text};
use serde::{Deserialize, Serialize};

use super::scan::{Control, Cursor, Sink, Wants};
use super::{Codec, CodecError, HarnessId, OpenIn, Root, Surroundings, Transcript};

/// What names one session at rest: a file, or a key in a database.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Reference {
    /// The harness.
    pub harness: HarnessId,
    /// The root that it was found under.
    pub root: PathBuf,
    /// The file that makes the session visible, or the database.
    pub path: PathBuf,
    /// The session's key in the database; none for files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.key {
            Some(key) => write!(f, "{} ({key})", self.path.display()),
            None => write!(f, "{}", self.path.display()),
        }
    }
}

/// One session that a listing of a root found, before anything of it was read.
#[derive(Clone, Debug)]
pub struct Listed {
    /// What names it.
    pub reference: Reference,
    /// All of its carriers as they are now. An equal fingerprint means equal content.
    pub fingerprint: Fingerprint,
    /// The size of its carriers in bytes.
    pub bytes: u64,
}

/// What a listing of one root found.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// The sessions, ordered by reference.
    pub sessions: Vec<Listed>,
    /// What could not be read, and why.
    pub findings: Vec<Finding>,
    /// Whether the root is there at all.
    pub present: bool,
}

/// What kind of thing a file in a store is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// A session.
    Session,
    /// A subagent's session, or another part of a session that is one by itself.
    Sidecar,
    /// A session whose beginning is not in the file.
    Partial,
    /// A file that another program wrote, or of a shape that the harness never writes.
    Foreign,
    /// Nothing with a conversation: an index, a settings file, an empty file.
    Other,
}

/// What a list shows of one session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Discovered {
    /// What names it at rest.
    pub reference: Reference,
    /// What kind of thing it is. Lists show sessions, sidecars and partial ones.
    pub class: Class,
    /// Its id.
    pub id: SessionId,
    /// Its title, times, place and model.
    pub meta: Meta,
    /// Where it came from.
    pub lineage: Vec<Lineage>,
    /// What it lives in.
    pub carriers: Vec<CarrierInfo>,
    /// Its carriers as they were when it was read.
    pub fingerprint: Fingerprint,
    /// The size of its carriers in bytes.
    pub bytes: u64,
    /// What was wrong with what had to be read for this.
    pub findings: Vec<Finding>,
}

/// What discovery found under one root.
#[derive(Clone, Debug)]
pub struct Discovery {
    /// The harness.
    pub harness: HarnessId,
    /// The root.
    pub root: Root,
    /// Whether the root is there.
    pub present: bool,
    /// The sessions, newest first.
    pub sessions: Vec<Discovered>,
    /// What could not be read, and why. An unreadable root is here, and is not an empty one.
    pub findings: Vec<Finding>,
}

/// How a session is to be saved.
#[derive(Clone, Debug, Default)]
pub struct SaveOptions {
    /// The root to save under; none means the harness's first one.
    pub root: Option<PathBuf>,
    /// The account of a harness that has several, as a part of its path.
    pub account: Option<String>,
    /// The path of the parent's transcript, for a subagent that is kept beside it.
    pub parent: Option<Reference>,
    /// Prefix an id that the store would never list, instead of refusing it.
    pub fix_id: bool,
    /// Plan to replace a session of the same id instead of refusing it. The policy of the commit
    /// has to allow replacing too, and what was there is then kept as a backup.
    pub replace: bool,
}

/// A session that is ready to be saved.
#[derive(Clone, Debug)]
pub struct Saving {
    /// The writes, in the order in which they become visible.
    pub plan: Plan,
    /// The directories that the plan may write in.
    pub roots: Vec<PathBuf>,
    /// The id it will have.
    pub id: SessionId,
    /// What will name it.
    pub reference: Reference,
    /// What saving loses or changes beyond the conversion.
    pub losses: Losses,
    /// Choices that were made and that the person should know, one sentence each.
    pub notes: Vec<String>,
}

/// What a committed save made.
#[derive(Clone, Debug)]
pub struct Saved {
    /// The session's id.
    pub id: SessionId,
    /// What names it.
    pub reference: Reference,
}

/// A session that is ready to be deleted.
#[derive(Clone, Debug)]
pub struct Deleting {
    /// The moves to the trash, in order: first what makes the session visible.
    pub plan: Plan,
    /// The directories that the plan may write in.
    pub roots: Vec<PathBuf>,
}

/// Why a store cannot do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The bytes could not be read.
    #[error(transparent)]
    Carrier(#[from] CarrierError),
    /// The database could not be read.
    #[error(transparent)]
    Database(#[from] SqliteError),
    /// The content could not be understood or made.
    #[error(transparent)]
    Codec(#[from] CodecError),
    /// There is no such session.
    #[error("there is no {harness} session at {reference}")]
    NotFound {
        /// The harness.
        harness: &'static str,
        /// What was asked for.
        reference: String,
    },
    /// A session of this id is there already.
    #[error("{harness} already has a session {id} at {place}; nothing was written")]
    Exists {
        /// The harness.
        harness: &'static str,
        /// The id.
        id: String,
        /// Where it is.
        place: String,
    },
    /// The store has no place for the session.
    #[error("{harness} has no place for this session: {reason}")]
    NoPlace {
        /// The harness.
        harness: &'static str,
        /// Why, and what to do.
        reason: String,
    },
    /// The harness has no store, or Ibid does not write it.
    #[error("{harness} {reason}")]
    Unsupported {
        /// The harness.
        harness: &'static str,
        /// What is not possible, and what is.
        reason: &'static str,
    },
    /// What a scan was to go on from is no longer there.
    #[error("{0} was rewritten since it was last read; read it again from the beginning")]
    Rewritten(String),
    /// The deadline passed, or the caller cancelled.
    #[error("reading {0} was stopped before the end")]
    Stopped(String),
}

/// What a store needs beside the reference.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The machine.
    pub machine: &'a Surroundings,
    /// The limits for reading.
    pub limits: &'a ibid_carrier::jsonl::Limits,
}

/// The sessions of one harness at rest. Everything here reads without leaving a trace; writing
/// and deleting give a plan, and carrying the plan out is another's business.
pub trait Store: Codec {
    /// Where sessions may be on this machine, first the place to save in. None of them need exist.
    /// A harness that keeps sessions, or the setting that says where they are, inside a project
    /// asks [`Surroundings::project`].
    fn roots(machine: &Surroundings) -> Vec<Root>;

    /// Which sessions are under a root, by names and stamps alone.
    fn list(root: &Root, context: &Context<'_>) -> Listing;

    /// What a list shows of a session. Reads no more than that takes, and gives the same as
    /// [`Store::load`] and [`Codec::to_common`] would.
    ///
    /// # Errors
    /// When the session cannot be read at all.
    fn describe(listed: &Listed, context: &Context<'_>) -> Result<Discovered, StoreError>;

    /// Whether the place that a session lies in is the one that the program makes for this
    /// directory. Only asked of a session whose records name no working directory; names fold
    /// several directories into one, so a recorded directory always decides.
    fn placed_for(reference: &Reference, directory: &Path, context: &Context<'_>) -> bool {
        let _ = (reference, directory, context);
        false
    }

    /// Reads a session whole, exactly as it is.
    ///
    /// # Errors
    /// When a carrier that the session cannot be without cannot be read.
    fn load(reference: &Reference, context: &Context<'_>) -> Result<Transcript<Self>, StoreError>;

    /// Streams what a session holds, from any point of an append-only carrier to its end, and
    /// returns the point to go on from.
    ///
    /// # Errors
    /// When the carrier cannot be read, is another one than the cursor was made for, or the
    /// control stops it.
    fn scan(
        reference: &Reference,
        from: &Cursor,
        wants: Wants,
        control: &Control<'_>,
        sink: &mut dyn Sink,
        context: &Context<'_>,
    ) -> Result<Cursor, StoreError>;

    /// The subagents of a session, and other sessions that go where it goes.
    fn children(reference: &Reference, context: &Context<'_>) -> Vec<Reference> {
        let _ = (reference, context);
        Vec::new()
    }

    /// Plans to write a session.
    ///
    /// # Errors
    /// When there is no place for it, or its id is taken.
    fn save(
        transcript: &Transcript<Self>,
        options: &SaveOptions,
        context: &Context<'_>,
    ) -> Result<Saving, StoreError>;

    /// Plans to move a session to the trash.
    ///
    /// # Errors
    /// When the reference is not a session under its root.
    fn delete(reference: &Reference, context: &Context<'_>) -> Result<Deleting, StoreError>;

    /// The running program that has a session open, where that can be seen. Moving or replacing
    /// such a session does harm; writing another one beside it does not.
    fn open_in(reference: &Reference, context: &Context<'_>) -> Option<OpenIn> {
        let _ = (reference, context);
        None
    }

    /// The carriers of sessions as they are now, for a cache to compare.
    fn fingerprints(references: &[Reference], context: &Context<'_>) -> Vec<Result<Fingerprint, StoreError>>;

    /// Whether a file of this name and beginning could be one of this harness, when a person
    /// names it by path. The more certain, the higher; 0 means no.
    fn recognises(path: &Path, head: &[u8]) -> u8;
}

/// The text of a path for a carrier or a message.
#[must_use]
pub fn path_text(path: &Path) -> Text {
    Text::from(path.to_string_lossy().into_owned())
}
