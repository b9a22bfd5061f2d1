//! A request's body: unpacked, and read as JSON.

use std::io::{self, Read};

use serde_json::Value;

/// Why a body cannot be read.
#[derive(Debug)]
pub(super) enum Trouble {
    /// It is longer than the limit, before or after unpacking.
    TooLong,
    /// It is packed in a way that the provider does not know.
    Packed(String),
    /// It is not what its packing says.
    Broken(io::Error),
}

/// Unpacks a body, of which no more than `limit` bytes may come out.
pub(super) fn unpack(packing: Option<&str>, bytes: Vec<u8>, limit: usize) -> Result<Vec<u8>, Trouble> {
    let packing = packing.map(|name| name.trim().to_ascii_lowercase());
    match packing.as_deref() {
        None | Some("" | "identity") => Ok(bytes),
        Some("gzip" | "x-gzip") => drain(flate2::read::MultiGzDecoder::new(bytes.as_slice()), limit),
        Some("zstd") => {
            drain(zstd::stream::read::Decoder::new(bytes.as_slice()).map_err(Trouble::Broken)?, limit)
        }
        Some(other) => Err(Trouble::Packed(other.to_owned())),
    }
}

fn drain(from: impl Read, limit: usize) -> Result<Vec<u8>, Trouble> {
    let mut bytes = Vec::new();
    from.take((limit as u64).saturating_add(1)).read_to_end(&mut bytes).map_err(Trouble::Broken)?;
    if bytes.len() > limit { Err(Trouble::TooLong) } else { Ok(bytes) }
}

/// A body as JSON.
#[derive(Debug)]
pub(super) struct Parsed {
    /// The value; `None` when it is no JSON.
    pub(super) value: Option<Value>,
    /// Where lone surrogates stand, as offsets in the bytes. Each is U+FFFD in the value.
    pub(super) surrogates: Vec<usize>,
}

/// Reads a body. Rust's strings cannot hold half a surrogate pair, which JavaScript programs send when they
/// cut a text in the middle of a character; the value has U+FFFD there, and their places are named.
pub(super) fn parse(bytes: &[u8]) -> Parsed {
    let surrogates = lone_surrogates(bytes);
    let value = if surrogates.is_empty() {
        serde_json::from_slice(bytes).ok()
    } else {
        let mut whole = bytes.to_vec();
        for place in &surrogates {
            if let Some(escape) = whole.get_mut(*place..place + 6) {
                escape.copy_from_slice(b"\\ufffd");
            }
        }
        serde_json::from_slice(&whole).ok()
    };
    Parsed { value, surrogates }
}

/// Offsets of the escapes `\ud800` to `\udfff` that have no other half beside them.
fn lone_surrogates(bytes: &[u8]) -> Vec<usize> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(step) = bytes.get(at..).and_then(|rest| rest.iter().position(|byte| *byte == b'\\')) {
        at += step;
        match escape(bytes, at) {
            Some(0xd800..=0xdbff) if matches!(escape(bytes, at + 6), Some(0xdc00..=0xdfff)) => at += 12,
            Some(0xd800..=0xdfff) => {
                found.push(at);
                at += 6;
            }
            Some(_) => at += 6,
            None => at += 2,
        }
    }
    found
}

/// The number of the escape `\uXXXX` that begins at this byte.
fn escape(bytes: &[u8], at: usize) -> Option<u32> {
    let digits = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
    digits.iter().try_fold(0, |sum, digit| Some(sum * 16 + char::from(*digit).to_digit(16)?))
}
