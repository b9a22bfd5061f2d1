//! Identity in the headers of a request (`X-Tapes-*`).
//!
//! Whoever forwards a request to a model writes an [`Envelope`] into its headers, and whoever
//! records it reads one back: which harness, which session, where, and from which session it was
//! forked. The headers are those of the tapes project, so that either side can be another program.
//! `docs/envelope.md` has the contract, `fixtures/contracts` the cases that pin it.
//!
//! - [`Envelope::write`] produces: it removes every header of that prefix first, and leaves out
//!   whole what does not fit or cannot be written exactly, saying so.
//! - [`Envelope::read`] reads any headers at all into an envelope; what is malformed is not
//!   believed. [`Envelope::validate`] says whether a receiver must answer 400.
//! - [`Envelope::is_complete`] is the one place that decides what can be filed under a session.
//! - [`thread_id`] finds the sub-thread of a request, by rules that the harnesses bring along.
//!
//! ```
//! use http::HeaderMap;
//! use ibid_capture::envelope::Envelope;
//!
//! let mut envelope = Envelope::of("codex");
//! envelope.harness_session_id = "0199aaaa-0000-7000-8000-000000000001".into();
//! envelope.cwd = "/home/dev/My Project".into();
//!
//! let mut headers = HeaderMap::new();
//! headers.insert("x-tapes-harness-id", "forged".parse().unwrap());
//! assert!(envelope.write(&mut headers).is_empty(), "nothing was left out");
//! assert_eq!(headers["x-tapes-cwd"], "/home/dev/My%20Project");
//! assert_eq!(Envelope::read(&headers), envelope);
//! assert!(envelope.is_complete());
//! ```
//!
//! # Limits
//!
//! [`BUDGET`] bytes for all headers of an envelope, [`NAME_BYTES`] for a session's name and
//! [`METADATA_BYTES`] for metadata. The headers are no proof of anything: whoever can send a
//! request can write them, and a receiver believes them only from a peer that it knows.

mod percent;
mod read;
mod thread;
mod validate;
mod write;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use read::is_complete;
pub use thread::thread_id;
pub use validate::{Invalid, STATUS};
pub use write::{Omitted, Reason};

/// What every header of an envelope begins with.
pub const PREFIX: &str = "x-tapes-";
/// The id of the harness (`codex`), or [`UNKNOWN`].
pub const HARNESS_ID: &str = "x-tapes-harness-id";
/// The harness's own id of the session, verbatim.
pub const HARNESS_SESSION_ID: &str = "x-tapes-harness-session-id";
/// The version of the harness, verbatim.
pub const HARNESS_VERSION: &str = "x-tapes-harness-version";
/// The working directory, percent-encoded.
pub const CWD: &str = "x-tapes-cwd";
/// The name of the session, percent-encoded.
pub const SESSION_NAME: &str = "x-tapes-session-name";
/// The session that this one was forked from, verbatim.
pub const PARENT_HARNESS_SESSION_ID: &str = "x-tapes-parent-harness-session-id";
/// A JSON object, as base64url without padding.
pub const HARNESS_METADATA: &str = "x-tapes-harness-metadata";
/// The organisation. Set by a trusted edge in front of a receiver; never produced here.
pub const ORG_ID: &str = "x-paper-auth-org-id";
/// Who is signed in. Set by a trusted edge in front of a receiver; never produced here.
pub const AUTH_SUBJECT: &str = "x-paper-auth-subject";

/// The id of a harness that is not known. An envelope with it says nothing else.
pub const UNKNOWN: &str = "unknown";

/// The most bytes that the headers of an envelope may have together, names and values counted.
pub const BUDGET: usize = 8192;
/// The most bytes of a session's name, before it is encoded.
pub const NAME_BYTES: usize = 256;
/// The most bytes of metadata, as compact JSON before it is encoded.
pub const METADATA_BYTES: usize = 4096;

/// What a request says about the session that it belongs to. An empty text is nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Envelope {
    /// The organisation, as a trusted edge set it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub org_id: String,
    /// Who is signed in, as a trusted edge set it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub auth_subject: String,
    /// The harness, or [`UNKNOWN`].
    pub harness_id: String,
    /// The harness's own id of the session.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub harness_session_id: String,
    /// The version of the harness.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub harness_version: String,
    /// The working directory.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub cwd: String,
    /// The name of the session.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The session that this one was forked from; never a thread of this one. `Some("")` is what
    /// a JSON body can say and headers cannot; it is invalid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_harness_session_id: Option<String>,
    /// What else the harness says of itself: a JSON object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub harness_metadata: Option<Value>,
}

impl Default for Envelope {
    fn default() -> Self {
        Envelope::of(UNKNOWN)
    }
}

impl Envelope {
    /// An envelope that says which harness, and nothing else.
    #[must_use]
    pub fn of(harness_id: impl Into<String>) -> Envelope {
        Envelope {
            org_id: String::new(),
            auth_subject: String::new(),
            harness_id: harness_id.into(),
            harness_session_id: String::new(),
            harness_version: String::new(),
            cwd: String::new(),
            name: String::new(),
            parent_harness_session_id: None,
            harness_metadata: None,
        }
    }

    /// Whether what belongs to the request can be filed: the harness is known, and the session has
    /// an id that is not blank.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        read::complete(&self.harness_id, &self.harness_session_id)
    }
}
