//! Where a fact comes from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Text;

/// The place of one record within a carrier.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Extent {
    /// Bytes `start..end` of the carrier, counted from 0, the ending newline not included. Of a
    /// compressed carrier: of its decompressed content.
    Bytes {
        /// The first byte.
        start: u64,
        /// The byte after the last.
        end: u64,
    },
    /// One row of a database.
    Row(Box<RowPlace>),
    /// The carrier as a whole.
    Whole,
}

/// The place of one row of a database.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct RowPlace {
    /// The table.
    pub table: Text,
    /// The primary key, as text.
    pub key: Text,
}

impl Extent {
    /// The row of `table` whose primary key is `key`.
    #[must_use]
    pub fn row(table: impl Into<Text>, key: impl Into<Text>) -> Extent {
        Extent::Row(Box::new(RowPlace { table: table.into(), key: key.into() }))
    }
}

/// What one fact of a session was read from. A message may have several sources (Claude Code
/// writes one row for each content block).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Source {
    /// The position of the carrier in [`Session::carriers`](crate::Session::carriers).
    pub carrier: u32,
    /// Where in it.
    pub extent: Extent,
}

impl Source {
    /// Bytes `start..end` of the carrier at position `carrier`.
    #[must_use]
    pub fn bytes(carrier: u32, start: u64, end: u64) -> Source {
        Source { carrier, extent: Extent::Bytes { start, end } }
    }

    /// The row of `table` whose primary key is `key`.
    #[must_use]
    pub fn row(carrier: u32, table: impl Into<Text>, key: impl Into<Text>) -> Source {
        Source { carrier, extent: Extent::row(table, key) }
    }

    /// The whole of a carrier.
    #[must_use]
    pub fn whole(carrier: u32) -> Source {
        Source { carrier, extent: Extent::Whole }
    }
}

/// What part a carrier plays in its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CarrierRole {
    /// The conversation itself.
    Transcript,
    /// A record that describes the session and makes it visible to its harness.
    Record,
    /// A log beside the conversation that the harness keeps for other ends.
    Audit,
    /// Data about a subagent or another part of the session.
    Metadata,
    /// Rows of a database.
    Rows,
    /// A folder of files that go with the session and say nothing of it: what a person gave, what
    /// an agent made. Its content is not read.
    Companion,
}

/// One thing at rest that a session lives in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CarrierInfo {
    /// The path, as text for people (bytes that are not UTF-8 are shown as U+FFFD). Empty when
    /// the session did not come from a file.
    pub path: Text,
    /// Its part in the session.
    pub role: CarrierRole,
    /// For rows: which session of the database.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<Text>,
    /// Its size in bytes, where it is a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
}
