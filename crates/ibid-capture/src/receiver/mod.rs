//! The process that hooks report to: which sessions it has been told of, and what it believes.
//!
//! A report is `POST /_tapes/<program>/lifecycle` on loopback, with the secret of the program's
//! [`Handoff`](crate::handoff::Handoff) in a header and a [`Report`](crate::report::Report) as its body. The
//! answer is a status alone: 204 when it is taken, 401 without the secret (nothing is recorded or
//! written then), 400 for a body that is no report or names no session.
//!
//! What is promised is that the *set* of sessions is closed: nobody without the secret adds to it, an id
//! is matched exactly and never by its beginning or by what came last, and what was forgotten is unknown
//! and never another session's ([`Registry`]). Who sends the traffic that is looked up is not proven by it.

mod registry;
mod server;

pub use registry::{Registry, Session};
pub use server::{Receiver, Sight, Summary};
