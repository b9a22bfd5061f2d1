//! The lab: the real programs make sessions, Ibid reads and converts them, and the real programs
//! resume what Ibid wrote. A scripted provider on loopback stands in for the model, so that what
//! a program sends can be read.
//!
//! `lab/run` is the one command; `docs/lab.md` says what it does and how to read its table. The
//! lab runs on Linux only: it needs network, process and mount namespaces.
//!
//! # Limits
//!
//! What passes here proves that the program sends the whole conversation, and that the request has
//! the shape that providers document. It does not prove that a provider would accept it.

pub mod cells;
mod check;
pub mod compare;
mod install;
pub mod lab;
pub mod manifest;
pub mod pins;
pub mod programs;
mod provider;
pub mod runner;
pub mod sandbox;
pub mod source;
pub mod table;
