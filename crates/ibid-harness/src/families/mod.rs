//! What several harnesses share.

pub mod documents;
