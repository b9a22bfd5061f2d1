//! The service: accepts connections, and runs a driver for each.

use std::io;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

use block2::RcBlock;
use ibid_evidence::transport::{DRIVER, Session, TransportProof};
use ibid_evidence::wire::complain;
use objc2::rc::Retained;
use objc2::runtime::{NSObject, NSObjectProtocol, ProtocolObject};
use objc2::{AnyThread, DefinedClass, Message, define_class, msg_send};
use objc2_foundation::{NSData, NSXPCConnection, NSXPCListener, NSXPCListenerDelegate};

use crate::connection::{Remote, client_interface, host_interface};

define_class!(
    // SAFETY: NSObject asks nothing of its subclasses, and this one has no `Drop`. Its variable may
    // be used from any thread, which NSXPC does.
    #[unsafe(super(NSObject))]
    #[name = "IbidEvidenceServiceReceiver"]
    #[ivars = Arc<Session>]
    struct Receiver;

    impl Receiver {
        #[unsafe(method(sendFrame:))]
        fn send_frame(&self, frame: &NSData) {
            self.ivars().receive(&frame.to_vec());
        }
    }
);

impl Receiver {
    fn new(session: Arc<Session>) -> Retained<Receiver> {
        let receiver = Receiver::alloc().set_ivars(session);
        // SAFETY: `init` of NSObject takes nothing and returns the object.
        unsafe { msg_send![super(receiver), init] }
    }
}

define_class!(
    // SAFETY: NSObject asks nothing of its subclasses, and this one has neither variables nor `Drop`.
    #[unsafe(super(NSObject))]
    #[name = "IbidEvidenceListenerDelegate"]
    struct Delegate;

    // SAFETY: every object of NSObject's subclasses is one.
    unsafe impl NSObjectProtocol for Delegate {}

    // SAFETY: the method has the types that the protocol says.
    unsafe impl NSXPCListenerDelegate for Delegate {
        #[unsafe(method(listener:shouldAcceptNewConnection:))]
        fn should_accept(&self, _: &NSXPCListener, connection: &NSXPCConnection) -> bool {
            match accept(connection) {
                Ok(()) => true,
                Err(error) => {
                    complain(&format!("a connection is refused: {error}"));
                    false
                }
            }
        }
    }
);

impl Delegate {
    fn new() -> Retained<Delegate> {
        let delegate = Delegate::alloc().set_ivars(());
        // SAFETY: `init` of NSObject takes nothing and returns the object.
        unsafe { msg_send![super(delegate), init] }
    }
}

/// The driver, beside this program.
fn driver() -> io::Result<PathBuf> {
    let service = std::env::current_exe()?;
    Ok(service.with_file_name(DRIVER))
}

fn accept(connection: &NSXPCConnection) -> io::Result<()> {
    let peer = u32::try_from(connection.processIdentifier()).map_err(io::Error::other)?;
    let session = Session::spawn(Command::new(driver()?))?;
    connection.setExportedInterface(Some(&host_interface()));
    connection.setRemoteObjectInterface(Some(&client_interface()));
    let receiver = Receiver::new(Arc::clone(&session));
    // SAFETY: the receiver has the method of the exported interface, with the same types.
    unsafe { connection.setExportedObject(Some(&receiver)) };
    let closing = Arc::clone(&session);
    connection.setInvalidationHandler(Some(&RcBlock::new(move || closing.close())));
    connection.resume();
    // The proof goes ahead of everything that the driver says.
    session.start(&TransportProof::new(std::process::id(), peer), Remote::new(connection.retain()))
}

/// Runs the service. launchd ends it; it returns only when nothing could be listened to.
#[must_use]
pub fn run() -> u8 {
    let listener = NSXPCListener::serviceListener();
    // The listener does not keep its delegate, so this one must live as long as it.
    let delegate = Delegate::new();
    listener.setDelegate(Some(ProtocolObject::from_ref(&*delegate)));
    listener.resume();
    complain("the service is not run by launchd");
    1
}
