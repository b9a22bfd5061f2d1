//! ibid-testkit.
