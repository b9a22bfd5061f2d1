//! The transport of macOS, without macOS: a client process (the *bridge*) stands where a studio
//! expects the driver, and a service process runs one driver for each connection. Both forward
//! lines as they are. What connects them is NSXPC, in `ibid-evidence-xpc`; everything that decides
//! is here and works over anything that carries lines.
//!
//! - [`TransportProof`]: the first line of a connection, by which a studio knows that its requests
//!   leave the process that it started.
//! - [`Session`]: the service's side of one connection: a driver, fed and reaped.
//! - [`Bridge`]: the client's side.

mod bridge;
mod driver;
mod proof;
mod session;

pub use bridge::{Bridge, End, Service, forward};
pub use driver::{Driver, REAP_GRACE, REAP_POLL};
pub use proof::{TransportEvent, TransportProof};
pub use session::{Peer, Session};

/// The name of the service, and the identifier of its bundle.
pub const SERVICE: &str = "com.qoder.harness-studio.evidence";

/// The file name of the driver, which lies beside the service.
pub const DRIVER: &str = if cfg!(windows) { "harness-evidence-host.exe" } else { "harness-evidence-host" };
