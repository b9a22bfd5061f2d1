//! What OpenCode and its forks share: the records of a session, message and part, in a database or
//! in the older tree of files, and the way between them and the common session.
//!
//! A message's row has its JSON without the ids, which stand in columns; a file of the older store
//! and an exported document have both in the JSON. `docs/formats/opencode.md` says what was seen.

pub(crate) mod assembly;
pub mod body;
mod compaction;
pub(crate) mod compose;
mod compose_parts;
pub(crate) mod database;
pub(crate) mod delete;
pub(crate) mod export;
pub(crate) mod fields;
mod ids;
pub(crate) mod kin;
pub(crate) mod open;
pub(crate) mod outline;
pub(crate) mod parts;
pub(crate) mod records;
pub(crate) mod save;
mod steps;
pub mod store;
pub(crate) mod tools;
pub(crate) mod tree;
pub(crate) mod usage;
mod whole_messages;
