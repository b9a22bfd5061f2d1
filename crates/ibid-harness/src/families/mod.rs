//! What several harnesses share.

pub mod documents;
pub mod pi_tree;
