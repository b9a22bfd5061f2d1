//! What several harnesses share.

pub(crate) mod claude_rows;
pub mod documents;
pub mod pi_tree;
