//! One connection of NSXPC, as both sides see it.

use std::io;

use block2::RcBlock;
use ibid_evidence::transport::{Peer, Service};
use objc2::msg_send;
use objc2::rc::{Retained, autoreleasepool};
use objc2::runtime::AnyProtocol;
use objc2_foundation::{NSData, NSString, NSXPCConnection, NSXPCInterface};

// SAFETY: `protocols.m` defines both with these signatures. A protocol lives as long as the program.
unsafe extern "C" {
    safe fn ibid_evidence_host_protocol() -> &'static AnyProtocol;
    safe fn ibid_evidence_client_protocol() -> &'static AnyProtocol;
}

/// What the service exports.
pub(crate) fn host_interface() -> Retained<NSXPCInterface> {
    // SAFETY: Clang compiled the protocol, so that it has the types that NSXPC asks for; its
    // methods return nothing and take one object of a class that can be sent.
    unsafe { NSXPCInterface::interfaceWithProtocol(ibid_evidence_host_protocol()) }
}

/// What the client exports.
pub(crate) fn client_interface() -> Retained<NSXPCInterface> {
    // SAFETY: as for the host's.
    unsafe { NSXPCInterface::interfaceWithProtocol(ibid_evidence_client_protocol()) }
}

/// The other end of a connection.
pub(crate) struct Remote(Retained<NSXPCConnection>);

// SAFETY: Foundation's header marks NSXPCConnection as sendable: its methods may be called from any
// thread, and messages to its proxy from several at once are put into an order by it.
unsafe impl Send for Remote {}

impl Remote {
    pub(crate) fn new(connection: Retained<NSXPCConnection>) -> Remote {
        Remote(connection)
    }
}

/// The service, for the client. Messages have no answer; that the service is gone is learned from
/// the connection's handlers.
impl Service for Remote {
    fn send(&self, line: &[u8]) -> io::Result<()> {
        autoreleasepool(|_| {
            let proxy = self.0.remoteObjectProxy();
            let frame = NSData::with_bytes(line);
            // SAFETY: the remote interface of a client's connection is the host's protocol, which
            // has this method, with one NSData and no result.
            let () = unsafe { msg_send![&*proxy, sendFrame: &*frame] };
        });
        Ok(())
    }
}

/// The client, for the service.
impl Peer for Remote {
    fn deliver(&self, line: &[u8]) -> io::Result<()> {
        autoreleasepool(|_| {
            let proxy = self.0.remoteObjectProxy();
            let frame = NSData::with_bytes(line);
            // SAFETY: the remote interface of a service's connection is the client's protocol,
            // which has this method, with one NSData and no result.
            let () = unsafe { msg_send![&*proxy, deliverFrame: &*frame] };
        });
        Ok(())
    }

    fn fail(&self, reason: &str) {
        autoreleasepool(|_| {
            let proxy = self.0.remoteObjectProxy();
            let reason = NSString::from_str(reason);
            // SAFETY: as in `deliver`, with one NSString.
            let () = unsafe { msg_send![&*proxy, hostFailed: &*reason] };
            // What has been sent must arrive before the connection goes.
            let connection = self.0.clone();
            self.0.scheduleSendBarrierBlock(&RcBlock::new(move || connection.invalidate()));
        });
    }
}
