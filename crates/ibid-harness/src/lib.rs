//! ibid-harness.
