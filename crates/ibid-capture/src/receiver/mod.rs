//! The process that hooks report to.
