//! The envelope of a request, read strictly: a frame that says more or less than it must is not
//! understood at all.

use std::borrow::Cow;
use std::num::NonZeroU32;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::driver::Fault;
use super::excerpt::excerpt;
use super::{DEPTH_LIMIT, ENVELOPE_VERSION};
use crate::{Refusal, RefusalCode};

/// How much is said of what is wrong with a request, in characters.
const SAID: usize = 200;

/// A request that can be trusted as a frame.
#[derive(Debug)]
pub(super) struct Request<'a> {
    pub(super) id: NonZeroU32,
    pub(super) method: Cow<'a, str>,
    /// The text of an object.
    params: &'a str,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Envelope<'a> {
    version: u64,
    id: NonZeroU32,
    #[serde(borrow)]
    method: Cow<'a, str>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
}

impl<'a> Request<'a> {
    /// Reads a line that is not blank.
    pub(super) fn parse(line: &'a [u8]) -> Result<Request<'a>, Fault> {
        let malformed = |what: &str| Fault::Malformed(excerpt(what, SAID));
        let text = std::str::from_utf8(line)
            .map_err(|error| malformed(&format!("no UTF-8 from byte {} on", error.valid_up_to())))?;
        // A list would be taken for the fields of the envelope in their order.
        if !text.trim_start_matches(SPACE).starts_with('{') {
            return Err(malformed("not a JSON object"));
        }
        if is_deeper_than(DEPTH_LIMIT, line) {
            return Err(malformed(&format!("objects and lists stand more than {DEPTH_LIMIT} deep")));
        }
        let envelope: Envelope<'a> =
            serde_json::from_str(text).map_err(|error| malformed(&error.to_string()))?;
        if envelope.version != ENVELOPE_VERSION {
            return Err(Fault::Version(envelope.version));
        }
        let params = envelope.params.map_or("{}", RawValue::get);
        if !params.starts_with('{') {
            return Err(malformed("the params are not an object"));
        }
        Ok(Request { id: envelope.id, method: envelope.method, params })
    }

    /// The parameters, as the method has them.
    pub(super) fn params<T: DeserializeOwned>(&self) -> Result<T, Refusal> {
        serde_json::from_str(self.params).map_err(|error| {
            let said = error.to_string();
            // The place counts from the beginning of the parameters, and nobody has seen those alone.
            let what = said.rsplit_once(" at line ").map_or(said.as_str(), |(what, _)| what);
            Refusal {
                code: RefusalCode::InvalidParams,
                message: format!(
                    "the params of {} cannot be read: {}",
                    excerpt(&self.method, 64),
                    excerpt(what, SAID)
                ),
            }
        })
    }
}

/// White space, as JSON has it.
const SPACE: [char; 4] = [' ', '\t', '\r', '\n'];

/// Whether a line has nothing but white space.
pub(super) fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'))
}

/// Whether objects and lists of a JSON text stand in each other more than `limit` deep. Of a text
/// that is no JSON it says what it would say of its beginning.
fn is_deeper_than(limit: usize, text: &[u8]) -> bool {
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for byte in text {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'{' | b'[' => {
                depth += 1;
                if depth > limit {
                    return true;
                }
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_is_not_counted_in_strings() {
        assert!(!is_deeper_than(1, br#"{"a":"[[[\"[[["}"#));
        assert!(!is_deeper_than(2, b"{\"a\":[],\"b\":[]}"));
        assert!(is_deeper_than(2, b"{\"a\":[[]]}"));
    }
}
