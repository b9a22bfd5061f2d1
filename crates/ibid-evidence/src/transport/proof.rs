//! The proof that requests are answered in another process than the one that was started.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The first line of a connection over NSXPC. A client that asked for that transport goes on only
/// when the process ids differ, and when `bridgePid` is the process that it started.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TransportProof {
    /// The version of the envelope.
    pub version: u64,
    /// What happened.
    pub event: TransportEvent,
}

/// That a connection was made.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TransportEvent {
    /// `transport`.
    pub r#type: String,
    /// `nsxpc`.
    pub transport: String,
    /// The process of the service, which runs the driver.
    pub service_pid: u32,
    /// The process that connected to it, as the system reports it.
    pub bridge_pid: u32,
}

impl TransportProof {
    /// The proof of a connection between two processes.
    #[must_use]
    pub fn new(service_pid: u32, bridge_pid: u32) -> TransportProof {
        TransportProof {
            version: crate::wire::ENVELOPE_VERSION,
            event: TransportEvent {
                r#type: "transport".to_owned(),
                transport: "nsxpc".to_owned(),
                service_pid,
                bridge_pid,
            },
        }
    }

    /// The line, with its line feed.
    #[must_use]
    pub fn line(&self) -> Vec<u8> {
        let mut line = serde_json::to_vec(self).unwrap_or_default();
        line.push(b'\n');
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_proof_is_one_line_with_both_process_ids() {
        let line = TransportProof::new(7, 8).line();
        assert_eq!(
            String::from_utf8(line).unwrap(),
            "{\"version\":1,\"event\":{\"type\":\"transport\",\"transport\":\"nsxpc\",\"servicePid\":7,\
             \"bridgePid\":8}}\n"
        );
    }
}
