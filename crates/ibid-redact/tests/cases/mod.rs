//! Labelled texts: what must be replaced, and what must stay.
//!
//! Every secret here is made up, says so, and is split so that no scanner takes it for a real one.

pub(crate) mod negatives;
pub(crate) mod positives;
