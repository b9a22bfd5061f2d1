//! How it stands with one platform.

use super::platform::{Failure, Found};
use crate::answer::{Provider, ProviderStatus, Reason};

/// What an answer says of a platform of which `included` sessions are part of it.
// evidence defect 9
pub(crate) fn provider(name: &str, found: &Found, included: usize) -> Provider {
    let (status, reason, message) = status(found);
    let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    Provider {
        platform: name.to_owned(),
        status,
        discovered: number(found.discovered),
        included: number(included),
        message,
        reason,
        unreadable: number(found.unreadable),
    }
}

fn status(found: &Found) -> (ProviderStatus, Option<Reason>, Option<String>) {
    let partly = || {
        (found.unreadable > 0).then(|| {
            let detail = found.detail.clone().unwrap_or_default();
            match found.unreadable {
                1 => format!("1 session or place could not be read: {detail}"),
                many => format!("{many} sessions or places could not be read, among them: {detail}"),
            }
        })
    };
    match found.failure {
        Some(Failure::Timeout) => {
            let message = "reading its sessions took longer than it may; what was read in time is here";
            return (ProviderStatus::Error, Some(Reason::Timeout), Some(message.to_owned()));
        }
        Some(Failure::StillBusy) => {
            let message = "an earlier reading of its sessions has not come to an end";
            return (ProviderStatus::Error, Some(Reason::Timeout), Some(message.to_owned()));
        }
        Some(Failure::Broken) => {
            let message = "reading its sessions went wrong inside the host; what was read is here";
            return (ProviderStatus::Error, Some(Reason::Unreadable), Some(message.to_owned()));
        }
        None => {}
    }
    let unreadable = (found.unreadable > 0).then_some(Reason::Unreadable);
    if found.discovered == 0 {
        // A store that could not be read may hold sessions of the project.
        if found.places_unreadable || (found.unreadable > 0 && found.readable == 0) {
            return (ProviderStatus::Error, unreadable, partly());
        }
        let nothing = if found.present { Reason::NoMatch } else { Reason::StoreMissing };
        return (ProviderStatus::NoEvidence, Some(unreadable.unwrap_or(nothing)), partly());
    }
    if found.in_window == 0 {
        return (ProviderStatus::NoEvidence, Some(Reason::Window), partly());
    }
    let outside = (found.in_window < found.discovered).then_some(Reason::Window);
    (ProviderStatus::Ok, unreadable.or(outside), partly())
}
