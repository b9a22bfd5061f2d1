//! What several harnesses share.

pub(crate) mod claude_rows;
pub mod documents;
pub(crate) mod fields;
pub mod files;
pub(crate) mod loose;
pub mod opencode_tables;
pub mod pi_tree;
pub(crate) mod pictures;
