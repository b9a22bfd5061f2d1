//! What Ibid's tests and benchmarks are made of. Nothing here is shipped.
//!
//! - [`Home`]: a throw-away home with the fixtures of any harness laid out as they lie on a
//!   person's machine, and [`Snapshot`]s that prove that reading left no trace.
//! - [`sessions`]: generated common sessions of every kind, for property tests.
//! - [`big`]: large sessions and large homes, written to disk as a stream, the same every time.
//!
//! ```
//! use ibid_testkit::Home;
//!
//! let home = Home::new().with("pi", "1.6.0");
//! let before = home.snapshot();
//! std::fs::read_dir(home.path().join(".pi")).unwrap();
//! home.snapshot().assert_same_as(&before);
//! ```
//!
//! # Limits
//!
//! It knows where fixtures lie and nothing of how a harness reads them. Its functions panic when
//! the machine does not let them set up what a test needs: the test could show nothing then.

#![allow(clippy::expect_used, clippy::panic, reason = "a test that cannot be set up must fail, and say why")]

pub mod big;
mod home;
pub mod provider;
pub mod sessions;
mod snapshot;

pub use home::Home;
pub use snapshot::Snapshot;
