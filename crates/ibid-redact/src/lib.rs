//! The one redaction pass.
