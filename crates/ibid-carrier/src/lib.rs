//! Bytes at rest: what a session lives in, exactly as it is stored.
//!
//! A *carrier* is one file, or one set of database rows. This crate reads carriers without
//! touching anything beside them, keeps every byte, and reports what is wrong with them as
//! [`Finding`](ibid_model::Finding)s with their place. It knows no harness and no message.

mod error;
pub mod plan;
pub mod sqlite;
pub mod trash;

pub use error::CarrierError;
