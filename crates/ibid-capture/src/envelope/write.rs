//! Writing an envelope into the headers of a request.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;

use super::{
    BUDGET, CWD, Envelope, HARNESS_ID, HARNESS_METADATA, HARNESS_SESSION_ID, HARNESS_VERSION, METADATA_BYTES,
    NAME_BYTES, PARENT_HARNESS_SESSION_ID, PREFIX, SESSION_NAME, UNKNOWN, percent,
};

/// A header that was left out, or does not hold all of its field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Omitted {
    /// The header.
    pub header: &'static str,
    /// Why.
    pub reason: Reason,
}

/// Why a field is not in the headers as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// A header cannot hold it exactly: it has control characters, is not ASCII, or has white space
    /// at an end, which is taken off on the way.
    NotAHeaderValue,
    /// It is longer than its field may be.
    TooLong,
    /// The headers before it left too little of the budget.
    OverBudget,
    /// Metadata that is no JSON object.
    NotAnObject,
    /// The name was too long; its beginning was written.
    Cut,
}

impl Envelope {
    /// Writes the envelope into the headers of a request, in place of every header of its prefix
    /// that stood there, whoever wrote it. Says what was left out: an optional field whose value
    /// cannot be written exactly, or does not fit, is left out whole.
    ///
    /// A harness that is unknown, or whose id cannot be written, is announced as [`UNKNOWN`] with
    /// nothing beside it. `org_id` and `auth_subject` are never written: they are an edge's to set.
    pub fn write(&self, headers: &mut HeaderMap) -> Vec<Omitted> {
        let ours: Vec<HeaderName> =
            headers.keys().filter(|name| name.as_str().starts_with(PREFIX)).cloned().collect();
        for name in ours {
            headers.remove(name);
        }
        let mut writing = Writing { headers, left: BUDGET, omitted: Vec::new() };
        if self.harness_id == UNKNOWN || !writing.put(HARNESS_ID, verbatim(&self.harness_id)) {
            writing.headers.insert(HARNESS_ID, HeaderValue::from_static(UNKNOWN));
            return writing.omitted;
        }
        let parent = self.parent_harness_session_id.as_deref().unwrap_or_default();
        writing.put(HARNESS_SESSION_ID, verbatim(&self.harness_session_id));
        writing.put(HARNESS_VERSION, verbatim(&self.harness_version));
        writing.put(CWD, Ok(percent::encode(&self.cwd)));
        writing.name(&self.name);
        writing.put(PARENT_HARNESS_SESSION_ID, verbatim(parent));
        if let Some(metadata) = &self.harness_metadata {
            writing.put(HARNESS_METADATA, encoded(metadata));
        }
        writing.omitted
    }
}

/// Headers while they are written.
struct Writing<'headers> {
    headers: &'headers mut HeaderMap,
    /// What is left of the budget.
    left: usize,
    omitted: Vec<Omitted>,
}

impl Writing<'_> {
    /// Writes one header; says whether it is there. An empty value is no value.
    fn put(&mut self, header: &'static str, value: Result<String, Reason>) -> bool {
        match value.and_then(|value| self.insert(header, &value)) {
            Ok(written) => written,
            Err(reason) => {
                self.omitted.push(Omitted { header, reason });
                false
            }
        }
    }

    fn insert(&mut self, header: &'static str, value: &str) -> Result<bool, Reason> {
        if value.is_empty() {
            return Ok(false);
        }
        let left = self.left.checked_sub(header.len() + value.len()).ok_or(Reason::OverBudget)?;
        let value = HeaderValue::from_str(value).map_err(|_| Reason::NotAHeaderValue)?;
        self.headers.insert(header, value);
        self.left = left;
        Ok(true)
    }

    /// Writes as much of the session's name as a name may have, and whole characters of it.
    fn name(&mut self, name: &str) {
        let kept = name.get(..name.floor_char_boundary(NAME_BYTES)).unwrap_or_default();
        if self.put(SESSION_NAME, Ok(percent::encode(kept))) && kept.len() < name.len() {
            self.omitted.push(Omitted { header: SESSION_NAME, reason: Reason::Cut });
        }
    }
}

/// A value that stands in its header as it is, when a header can hold it; empty when it is blank.
fn verbatim(value: &str) -> Result<String, Reason> {
    let visible = value.bytes().all(|byte| (0x20..0x7f).contains(&byte));
    match value.trim() {
        "" => Ok(String::new()),
        trimmed if visible && trimmed.len() == value.len() => Ok(value.to_owned()),
        _ => Err(Reason::NotAHeaderValue),
    }
}

fn encoded(metadata: &Value) -> Result<String, Reason> {
    if !metadata.is_object() {
        return Err(Reason::NotAnObject);
    }
    let json = metadata.to_string();
    if json.len() > METADATA_BYTES {
        return Err(Reason::TooLong);
    }
    Ok(BASE64_URL_SAFE_NO_PAD.encode(json))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn full() -> Envelope {
        Envelope {
            harness_session_id: "s".into(),
            harness_version: "1.0".into(),
            cwd: "/w".into(),
            name: "n".into(),
            parent_harness_session_id: Some("p".into()),
            harness_metadata: Some(serde_json::json!({"kind": "cli"})),
            ..Envelope::of("codex")
        }
    }

    fn written(envelope: &Envelope) -> (HeaderMap, Vec<Omitted>) {
        let mut headers = HeaderMap::new();
        let omitted = envelope.write(&mut headers);
        (headers, omitted)
    }

    fn bytes(headers: &HeaderMap) -> usize {
        headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum()
    }

    #[test]
    fn headers_of_the_prefix_that_stood_there_are_gone_and_others_are_not() {
        let mut headers = HeaderMap::new();
        for name in ["x-tapes-harness-id", "x-tapes-harness-id", "x-tapes-cwd", "x-tapes-other", "x-other"] {
            headers.append(name, HeaderValue::from_static("forged"));
        }
        assert!(Envelope::default().write(&mut headers).is_empty());
        assert_eq!(headers.len(), 2);
        assert_eq!(
            (&headers[HARNESS_ID], &headers["x-other"]),
            (&"unknown".parse().unwrap(), &"forged".parse().unwrap())
        );
    }

    #[test]
    fn an_unknown_harness_says_nothing_else() {
        for id in ["unknown", "", " ", "co\ndex", "cödex", " codex"] {
            let (headers, _) = written(&Envelope { harness_id: id.into(), ..full() });
            assert_eq!(headers.len(), 1, "{id:?}");
            assert_eq!(headers[HARNESS_ID], "unknown");
        }
    }

    #[test]
    fn identity_that_an_edge_sets_is_never_written() {
        let signed_in = Envelope { org_id: "o".into(), auth_subject: "u".into(), ..full() };
        assert_eq!(written(&signed_in), written(&full()));
    }

    #[test]
    fn an_id_that_a_header_cannot_hold_exactly_is_left_out_whole() {
        for id in ["a\nb", "🦀", " s", "s\t", "a\u{7f}"] {
            let (headers, omitted) = written(&Envelope { harness_session_id: id.into(), ..full() });
            let reason = Reason::NotAHeaderValue;
            assert_eq!(omitted, [Omitted { header: HARNESS_SESSION_ID, reason }], "{id:?}");
            assert_eq!(headers.len(), 6);
        }
    }

    #[test]
    fn a_blank_parent_is_never_written() {
        for parent in ["", "  "] {
            let (headers, omitted) =
                written(&Envelope { parent_harness_session_id: Some(parent.into()), ..full() });
            assert!(!headers.contains_key(PARENT_HARNESS_SESSION_ID) && omitted.is_empty());
        }
    }

    #[test]
    fn metadata_of_the_most_bytes_is_written_and_of_one_more_is_not() {
        let of_length = |length: usize| serde_json::json!({"a": "x".repeat(length - r#"{"a":""}"#.len())});
        let envelope = |length| Envelope { harness_metadata: Some(of_length(length)), ..full() };
        let (headers, omitted) = written(&envelope(METADATA_BYTES));
        assert!(headers.contains_key(HARNESS_METADATA) && omitted.is_empty());
        let (headers, omitted) = written(&envelope(METADATA_BYTES + 1));
        assert!(!headers.contains_key(HARNESS_METADATA));
        assert_eq!(omitted, [Omitted { header: HARNESS_METADATA, reason: Reason::TooLong }]);
    }

    #[test]
    fn metadata_that_is_no_object_is_not_written() {
        let (_, omitted) = written(&Envelope { harness_metadata: Some(serde_json::json!([1])), ..full() });
        assert_eq!(omitted, [Omitted { header: HARNESS_METADATA, reason: Reason::NotAnObject }]);
    }

    #[test]
    fn a_name_is_cut_between_characters() {
        for (name, length) in [("a".repeat(257), 256), ("\u{e01}".repeat(100), 255), ("ab".repeat(128), 256)]
        {
            let (headers, omitted) = written(&Envelope { name: name.clone(), ..full() });
            let kept = Envelope::read(&headers).name;
            assert_eq!(Some(kept.as_str()), name.get(..length));
            assert_eq!(omitted.is_empty(), kept == name);
        }
    }

    #[test]
    fn the_budget_is_filled_to_the_last_byte_and_no_further() {
        let without = bytes(&written(&Envelope { harness_metadata: None, cwd: String::new(), ..full() }).0);
        let room = BUDGET - without - CWD.len();
        let cwd = |length: usize| Envelope { cwd: "/".repeat(length), harness_metadata: None, ..full() };
        let fits = written(&cwd(room));
        assert_eq!((bytes(&fits.0), fits.1.len()), (BUDGET, 0));
        let (headers, omitted) = written(&cwd(room + 1));
        assert!(headers.contains_key(CWD), "it was there before the parent");
        assert_eq!(omitted, [Omitted { header: PARENT_HARNESS_SESSION_ID, reason: Reason::OverBudget }]);
    }

    #[test]
    fn a_field_over_the_budget_is_left_out_and_a_later_one_that_fits_is_written() {
        let (headers, omitted) = written(&Envelope { cwd: "/".repeat(BUDGET), ..full() });
        assert_eq!(omitted, [Omitted { header: CWD, reason: Reason::OverBudget }]);
        assert_eq!(headers.len(), 6);
    }

    #[test]
    fn metadata_is_what_the_budget_leaves_out_first() {
        let metadata = serde_json::json!({"a": "x".repeat(4000)});
        let (headers, omitted) =
            written(&Envelope { cwd: "/".repeat(4000), harness_metadata: Some(metadata), ..full() });
        assert_eq!(omitted, [Omitted { header: HARNESS_METADATA, reason: Reason::OverBudget }]);
        assert!(headers.contains_key(CWD));
    }

    proptest::proptest! {
        #[test]
        fn whatever_is_written_keeps_the_budget_and_reads_back_as_a_part_of_it(
            ids in proptest::array::uniform4(".{0,20}"),
            cwd in ".{0,3000}",
            name in ".{0,300}",
            metadata: Option<Vec<String>>,
        ) {
            let [harness_id, harness_session_id, harness_version, parent] = ids;
            let envelope = Envelope {
                harness_session_id,
                harness_version,
                cwd,
                name,
                parent_harness_session_id: Some(parent),
                harness_metadata: metadata.map(|values| serde_json::json!({"values": values})),
                ..Envelope::of(harness_id)
            };
            let (headers, _) = written(&envelope);
            proptest::prop_assert!(bytes(&headers) <= BUDGET);
            let read = Envelope::read(&headers);
            proptest::prop_assert!(read.validate().is_ok());
            proptest::prop_assert!(read.harness_id == UNKNOWN || read.harness_id == envelope.harness_id);
            for (read, meant) in [
                (&read.harness_session_id, &envelope.harness_session_id),
                (&read.harness_version, &envelope.harness_version),
                (&read.cwd, &envelope.cwd),
            ] {
                proptest::prop_assert!(read.is_empty() || read == meant);
            }
            proptest::prop_assert!(envelope.name.starts_with(&read.name));
            let parent = read.parent_harness_session_id;
            proptest::prop_assert!(parent.is_none() || parent == envelope.parent_harness_session_id);
            let metadata = read.harness_metadata;
            proptest::prop_assert!(metadata.is_none() || metadata == envelope.harness_metadata);
        }
    }
}
