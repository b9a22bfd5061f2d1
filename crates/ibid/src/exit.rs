//! Exit codes.

use ibid_carrier::plan::PlanError;
use ibid_harness::StoreError;
use ibid_harness::core::plugin::PluginError;

/// How the program ends. Scripts rely on the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// What was asked was done.
    Done,
    /// There was nothing of the kind that was asked for.
    NothingFound,
    /// The evidence host was sent what it cannot trust.
    Fault,
    /// The arguments were wrong, or something failed.
    Failure,
    /// It was refused for safety, and the message names the flag that allows it.
    Refused,
}

impl Exit {
    /// The number.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::NothingFound | Exit::Fault => 1,
            Exit::Failure => 2,
            Exit::Refused => 3,
        }
    }
}

/// A failure that carries its own exit code.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(crate) struct Failure {
    exit: Exit,
    message: String,
}

impl Failure {
    /// Nothing of the kind was found.
    pub(crate) fn nothing_found(message: impl Into<String>) -> Failure {
        Failure { exit: Exit::NothingFound, message: message.into() }
    }

    /// Refused for safety. The message names the flag that would allow it.
    pub(crate) fn refused(message: impl Into<String>) -> Failure {
        Failure { exit: Exit::Refused, message: message.into() }
    }
}

/// The exit code of an error, from the first cause that has one.
pub(crate) fn of_error(error: &anyhow::Error) -> Exit {
    for cause in error.chain() {
        if let Some(failure) = cause.downcast_ref::<Failure>() {
            return failure.exit;
        }
        if let Some(StoreError::Exists { .. }) = cause.downcast_ref::<StoreError>() {
            return Exit::Refused;
        }
        if let Some(StoreError::NotFound { .. }) = cause.downcast_ref::<StoreError>() {
            return Exit::NothingFound;
        }
        if cause.downcast_ref::<PluginError>().is_some_and(PluginError::is_refusal) {
            return Exit::Refused;
        }
        if cause.downcast_ref::<PlanError>().is_some_and(PlanError::is_refusal) {
            return Exit::Refused;
        }
    }
    Exit::Failure
}
