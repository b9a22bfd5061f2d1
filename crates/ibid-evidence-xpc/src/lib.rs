//! The evidence host over NSXPC: what is left of the macOS transport when everything that decides
//! is in `ibid_evidence::transport`. Two programs come from here:
//!
//! - `harness-evidence-client`, which a studio starts instead of the driver;
//! - `harness-evidence-xpc`, the service that launchd starts for it.
//!
//! Elsewhere both say that they need macOS, and end with 2. Where there is no macOS, the feature
//! `typecheck-macos` checks the types of what is left; it cannot be linked there.

#[cfg(any(target_os = "macos", feature = "typecheck-macos"))]
mod client;
#[cfg(any(target_os = "macos", feature = "typecheck-macos"))]
mod connection;
#[cfg(any(target_os = "macos", feature = "typecheck-macos"))]
mod service;

#[cfg(any(target_os = "macos", feature = "typecheck-macos"))]
pub use {client::run as run_client, service::run as run_service};

/// The client, where there is no NSXPC. Returns the exit code.
#[cfg(not(any(target_os = "macos", feature = "typecheck-macos")))]
#[must_use]
pub fn run_client() -> u8 {
    refuse()
}

/// The service, where there is no NSXPC. Returns the exit code.
#[cfg(not(any(target_os = "macos", feature = "typecheck-macos")))]
#[must_use]
pub fn run_service() -> u8 {
    refuse()
}

#[cfg(not(any(target_os = "macos", feature = "typecheck-macos")))]
fn refuse() -> u8 {
    ibid_evidence::wire::complain("NSXPC requires macOS; start harness-evidence-host instead");
    2
}
