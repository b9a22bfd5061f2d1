//! The client: looks like the driver to the studio that started it, and forwards to the service.

use std::io::{self, BufReader, Stdout};
use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::thread;

use block2::RcBlock;
use ibid_evidence::transport::{Bridge, End, SERVICE, forward};
use ibid_evidence::wire::complain;
use objc2::rc::Retained;
use objc2::runtime::NSObject;
use objc2::{AnyThread, DefinedClass, define_class, msg_send};
use objc2_foundation::{NSData, NSString, NSXPCConnection};

use crate::connection::{Remote, client_interface, host_interface};

define_class!(
    // SAFETY: NSObject asks nothing of its subclasses, and this one has no `Drop`. Its variable may
    // be used from any thread, which NSXPC does.
    #[unsafe(super(NSObject))]
    #[name = "IbidEvidenceClientReceiver"]
    #[ivars = Arc<Bridge<Stdout>>]
    struct Receiver;

    impl Receiver {
        #[unsafe(method(deliverFrame:))]
        fn deliver_frame(&self, frame: &NSData) {
            self.ivars().deliver(&frame.to_vec());
        }

        #[unsafe(method(hostFailed:))]
        fn host_failed(&self, reason: &NSString) {
            self.ivars().end(End::Failed(reason.to_string()));
        }
    }
);

impl Receiver {
    fn new(bridge: Arc<Bridge<Stdout>>) -> Retained<Receiver> {
        let receiver = Receiver::alloc().set_ivars(bridge);
        // SAFETY: `init` of NSObject takes nothing and returns the object.
        unsafe { msg_send![super(receiver), init] }
    }
}

/// Runs the client to its end. Returns the exit code.
#[must_use]
pub fn run() -> u8 {
    let (bridge, ends) = Bridge::new(io::stdout());
    let bridge = Arc::new(bridge);
    let name = NSString::from_str(SERVICE);
    let connection = NSXPCConnection::initWithServiceName(NSXPCConnection::alloc(), &name);
    connection.setRemoteObjectInterface(Some(&host_interface()));
    connection.setExportedInterface(Some(&client_interface()));
    let receiver = Receiver::new(Arc::clone(&bridge));
    // SAFETY: the receiver has the methods of the exported interface, with the same types.
    unsafe { connection.setExportedObject(Some(&receiver)) };
    let gone = |what: &'static str| {
        let bridge = Arc::clone(&bridge);
        RcBlock::new(move || bridge.end(End::Failed(what.to_owned())))
    };
    connection.setInterruptionHandler(Some(&gone("the service was interrupted")));
    connection.setInvalidationHandler(Some(&gone("the service cannot be reached, or is gone")));
    connection.resume();
    // Foundation does not allow a connection to go while it is valid; this one ends with the process.
    let _kept = ManuallyDrop::new(connection.clone());

    let (remote, forwarding) = (Remote::new(connection), Arc::clone(&bridge));
    let input = BufReader::with_capacity(64 * 1024, io::stdin());
    let forwarder = thread::Builder::new().spawn(move || forwarding.end(forward(input, &remote)));
    if let Err(error) = forwarder {
        bridge.end(End::Failed(format!("there is no thread: {error}")));
    }
    let end = ends.recv().unwrap_or(End::InputOver);
    if let End::Failed(reason) = &end {
        complain(reason);
    }
    end.code()
}
