//! A session in its own form: rows, files, or an exported document.

use std::path::{Path, PathBuf};

use bytes::Bytes;
use ibid_carrier::sqlite::RowSet;
use ibid_model::{CallId, CarrierInfo, CarrierRole, SessionId};

use crate::core::{Carrier, Carriers, Content, path_text};

/// A session as it lies in one of the stores, exactly.
#[derive(Clone, Debug)]
pub enum SessionBody {
    /// Rows of a database.
    Rows(RowsBody),
    /// Files of the older store, one for each record.
    Tree(TreeBody),
    /// The document that the program's `export` prints.
    Export(ExportBody),
}

/// All rows of a database that belong to one session: its row of `session`, and those of every
/// table that names it in a column `session_id`. The event log, which repeats these rows, is not
/// part of it.
#[derive(Clone, Debug)]
pub struct RowsBody {
    /// The database; empty for rows that were made and not saved.
    pub database: PathBuf,
    /// The session's id, as its row has it.
    pub key: SessionId,
    /// The rows, `session` first, then `message` and `part`.
    pub rows: RowSet,
    /// What the store says of where the session came from, and its rows do not.
    pub kin: Kin,
}

/// What other sessions of the store say of where one came from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kin {
    /// The session it is a copy of.
    pub copied: Option<Copied>,
    /// The call of its parent that started it.
    pub call: Option<CallId>,
}

/// That a session began as a copy of another one. The program records no parent for it: the copies
/// have the times, tokens and models of the originals, and that is what tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copied {
    /// The session that has the same beginning and is older.
    pub parent: SessionId,
    /// How many of the first messages are copies.
    pub messages: usize,
}

/// The files of one session in the older store.
#[derive(Clone, Debug)]
pub struct TreeBody {
    /// The directory that the paths of the files are relative to.
    pub root: PathBuf,
    /// The session's record first, then its other files in the order of their paths.
    pub files: Vec<TreeEntry>,
    /// As in [`RowsBody::kin`].
    pub kin: Kin,
    /// What could not be read of the tree.
    pub findings: Vec<ibid_model::Finding>,
}

/// What a file of the older store holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// The session's record.
    Session,
    /// A message.
    Message,
    /// A part of a message.
    Part,
    /// Anything else that is kept for the session.
    Companion,
}

/// One file.
#[derive(Clone, Debug)]
pub struct TreeEntry {
    /// Its path below [`TreeBody::root`].
    pub path: PathBuf,
    /// What it holds.
    pub kind: EntryKind,
    /// Its bytes.
    pub bytes: Bytes,
}

/// An exported session.
#[derive(Clone, Debug)]
pub struct ExportBody {
    /// The file, if it came from one.
    pub path: Option<PathBuf>,
    /// The bytes.
    pub bytes: Bytes,
}

impl SessionBody {
    /// What a list shows of the carriers.
    #[must_use]
    pub fn carrier_infos(&self) -> Vec<CarrierInfo> {
        self.carriers().into_iter().map(|carrier| carrier.info).collect()
    }
}

impl RowsBody {
    /// The same body with the session's own row alone.
    pub(crate) fn clone_session(&self) -> RowsBody {
        let tables = self.rows.tables.iter().filter(|table| table.table == "session").cloned().collect();
        RowsBody { rows: RowSet { tables }, ..self.without_rows() }
    }

    fn without_rows(&self) -> RowsBody {
        RowsBody {
            database: self.database.clone(),
            key: self.key.clone(),
            rows: RowSet::default(),
            kin: self.kin.clone(),
        }
    }

    /// The rows as a carrier.
    #[must_use]
    pub fn info(&self) -> CarrierInfo {
        CarrierInfo {
            path: path_text(&self.database),
            role: CarrierRole::Rows,
            key: Some(self.key.text().clone()),
            bytes: None,
        }
    }
}

impl TreeBody {
    /// A file as a carrier.
    #[must_use]
    pub fn info(&self, entry: &TreeEntry) -> CarrierInfo {
        info(&self.root.join(&entry.path), entry.kind, entry.bytes.len() as u64)
    }
}

/// A file of the older store as a carrier.
pub(crate) fn info(path: &Path, kind: EntryKind, bytes: u64) -> CarrierInfo {
    let role = match kind {
        EntryKind::Session => CarrierRole::Record,
        EntryKind::Message | EntryKind::Part => CarrierRole::Transcript,
        EntryKind::Companion => CarrierRole::Metadata,
    };
    CarrierInfo { path: path_text(path), role, key: None, bytes: Some(bytes) }
}

impl Carriers for SessionBody {
    fn carriers(&self) -> Vec<Carrier<'_>> {
        match self {
            SessionBody::Rows(body) => {
                vec![Carrier { info: body.info(), content: Content::Rows(&body.rows) }]
            }
            SessionBody::Tree(body) => body
                .files
                .iter()
                .map(|entry| Carrier { info: body.info(entry), content: Content::Bytes(&entry.bytes) })
                .collect(),
            SessionBody::Export(body) => vec![Carrier {
                info: CarrierInfo {
                    path: body.path.as_deref().map(path_text).unwrap_or_default(),
                    role: CarrierRole::Transcript,
                    key: None,
                    bytes: Some(body.bytes.len() as u64),
                },
                content: Content::Bytes(&body.bytes),
            }],
        }
    }
}
