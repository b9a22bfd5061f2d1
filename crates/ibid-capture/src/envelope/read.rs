//! Reading the headers of any request.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use http::HeaderMap;
use serde_json::Value;

use super::{
    AUTH_SUBJECT, CWD, Envelope, HARNESS_ID, HARNESS_METADATA, HARNESS_SESSION_ID, HARNESS_VERSION, ORG_ID,
    PARENT_HARNESS_SESSION_ID, SESSION_NAME, UNKNOWN, percent,
};

impl Envelope {
    /// Reads what the headers of a request say. Nothing is an error: what is missing, repeated with
    /// another value, or malformed is not believed, and the rest is.
    ///
    /// - no id, or a blank one, is [`UNKNOWN`]; a blank parent is none;
    /// - a value with a control character is nothing;
    /// - metadata that is not base64url without padding, or not JSON, is none. JSON that is no
    ///   object is kept, for [`Envelope::validate`] to refuse.
    ///
    /// `org_id` and `auth_subject` are read too. They mean something only behind an edge that sets
    /// them on every request.
    #[must_use]
    pub fn read(headers: &HeaderMap) -> Envelope {
        let text = |name| verbatim(headers, name).unwrap_or_default().to_owned();
        let decoded = |name| single(headers, name).map(percent::decode).unwrap_or_default();
        let parent = verbatim(headers, PARENT_HARNESS_SESSION_ID).filter(|parent| !parent.trim().is_empty());
        Envelope {
            org_id: text(ORG_ID),
            auth_subject: text(AUTH_SUBJECT),
            harness_id: harness_id(headers).to_owned(),
            harness_session_id: text(HARNESS_SESSION_ID),
            harness_version: text(HARNESS_VERSION),
            cwd: decoded(CWD),
            name: decoded(SESSION_NAME),
            parent_harness_session_id: parent.map(ToOwned::to_owned),
            harness_metadata: single(headers, HARNESS_METADATA).and_then(metadata),
        }
    }
}

/// Whether the headers of a request carry an envelope that is complete, in the sense of
/// [`Envelope::is_complete`]. Reads the two fields that decide it, and decodes nothing.
#[must_use]
pub fn is_complete(headers: &HeaderMap) -> bool {
    complete(harness_id(headers), verbatim(headers, HARNESS_SESSION_ID).unwrap_or_default())
}

/// The one decision about completeness.
pub(super) fn complete(harness_id: &str, session_id: &str) -> bool {
    !harness_id.trim().is_empty() && harness_id != UNKNOWN && !session_id.trim().is_empty()
}

fn harness_id(headers: &HeaderMap) -> &str {
    verbatim(headers, HARNESS_ID).filter(|id| !id.trim().is_empty()).unwrap_or(UNKNOWN)
}

/// A value that stands in its header as it is; none when a control character is in it.
fn verbatim<'headers>(headers: &'headers HeaderMap, name: &str) -> Option<&'headers str> {
    single(headers, name).filter(|value| !percent::has_control(value))
}

/// The one value of a header. Two that differ contradict each other, and neither is believed.
pub(super) fn single<'headers>(headers: &'headers HeaderMap, name: &str) -> Option<&'headers str> {
    let mut values = headers.get_all(name).iter();
    let first = values.next()?;
    if values.any(|other| other != first) {
        return None;
    }
    std::str::from_utf8(first.as_bytes()).ok()
}

fn metadata(value: &str) -> Option<Value> {
    serde_json::from_slice(&BASE64_URL_SAFE_NO_PAD.decode(value).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &[u8])]) -> HeaderMap {
        let value = |value| http::HeaderValue::from_bytes(value).expect("a header value");
        let mut headers = HeaderMap::new();
        for (name, bytes) in pairs {
            headers.append(*name, value(bytes));
        }
        headers
    }

    #[test]
    fn a_header_that_is_repeated_with_another_value_is_not_believed() {
        let read = Envelope::read(&headers(&[
            (HARNESS_ID, b"codex"),
            (HARNESS_ID, b"codex"),
            (HARNESS_SESSION_ID, b"one"),
            (HARNESS_SESSION_ID, b"two"),
        ]));
        assert_eq!(read, Envelope::of("codex"));
    }

    #[test]
    fn a_value_that_is_no_utf_8_is_nothing() {
        let read = Envelope::read(&headers(&[(HARNESS_ID, b"co\xff"), (CWD, b"/w/\xff")]));
        assert_eq!(read, Envelope::default());
    }

    #[test]
    fn a_tab_makes_an_id_nothing() {
        assert_eq!(Envelope::read(&headers(&[(HARNESS_ID, b"co\tdex")])), Envelope::default());
    }

    #[test]
    fn completeness_needs_a_known_harness_and_a_session_that_is_not_blank() {
        for (id, session, expected) in [
            ("codex", "s", true),
            ("codex", " ", false),
            ("codex", "", false),
            ("unknown", "s", false),
            (" ", "s", false),
            ("Unknown", "s", true),
        ] {
            let headers = headers(&[(HARNESS_ID, id.as_bytes()), (HARNESS_SESSION_ID, session.as_bytes())]);
            assert_eq!(is_complete(&headers), expected, "{id:?} {session:?}");
            assert_eq!(Envelope::read(&headers).is_complete(), expected);
        }
    }

    #[test]
    fn completeness_does_not_depend_on_what_is_malformed_elsewhere() {
        let headers = headers(&[
            (HARNESS_ID, b"codex"),
            (HARNESS_SESSION_ID, b"s"),
            (HARNESS_METADATA, b"!"),
            (CWD, b"%0A"),
        ]);
        assert!(is_complete(&headers));
    }
}
