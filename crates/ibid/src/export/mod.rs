//! Sessions for other eyes.

mod markdown;
mod redaction;

pub(crate) use markdown::markdown;
pub(crate) use redaction::{Redactions, redacted};
