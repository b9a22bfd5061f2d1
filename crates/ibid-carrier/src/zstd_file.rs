//! Bounded decompression of zstd content.
//!
//! Some harnesses compress sessions that have not been used for a while. What a file holds is
//! told by its first bytes, never by its name. A few kilobytes can decompress to terabytes, so
//! both the size and the ratio are capped.

use std::io::{self, Read};

use ibid_model::{Finding, FindingKind};

/// The first bytes of a zstd frame (RFC 8878, section 3.1.1).
const MAGIC: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];

/// Output up to this many bytes is allowed at any ratio: a short run of equal bytes compresses
/// very well and harms nobody.
const FREE: u64 = 64 << 20;

/// Over [`FREE`], at most this many bytes out for one byte in. Repetitive sessions were seen to
/// compress about 50 to 1.
const RATIO: u64 = 1000;

/// Whether content begins like a zstd frame.
#[must_use]
pub fn is_zstd(content: &[u8]) -> bool {
    content.starts_with(&MAGIC)
}

/// What compressed content decompressed to.
#[derive(Debug)]
pub struct Decompressed {
    /// The bytes; of damaged content, those before the damage.
    pub bytes: Vec<u8>,
    /// The finding, when the content is damaged or ends early.
    pub damage: Option<Finding>,
}

/// Content would decompress to more than is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OverLimit {
    /// How many bytes had been decompressed when the limit was reached.
    pub bytes: u64,
    /// The limit: the caller's, or the one that the ratio sets if it is lower.
    pub limit: u64,
}

/// How many bytes content of `stored` bytes may decompress to, when the caller allows `limit`.
#[must_use]
pub fn allowance(stored: u64, limit: u64) -> u64 {
    stored.saturating_mul(RATIO).max(FREE).min(limit)
}

/// Decompresses all frames of `content`, up to `limit` bytes and a thousandfold of its own size
/// (64 MiB are allowed at any ratio).
///
/// # Errors
/// [`OverLimit`] when there would be more.
pub fn decompress(content: &[u8], limit: u64) -> Result<Decompressed, OverLimit> {
    let limit = allowance(content.len() as u64, limit);
    let mut bytes = Vec::new();
    let outcome = zstd::stream::read::Decoder::with_buffer(content)
        .and_then(|decoder| decoder.take(limit.saturating_add(1)).read_to_end(&mut bytes));
    let produced = bytes.len() as u64;
    if produced > limit {
        return Err(OverLimit { bytes: produced, limit });
    }
    Ok(Decompressed { damage: outcome.err().map(|error| damage(&error, produced)), bytes })
}

/// The finding for content that stops decompressing after `produced` bytes.
pub(crate) fn damage(error: &io::Error, produced: u64) -> Finding {
    let what = match error.kind() {
        io::ErrorKind::UnexpectedEof => "ends early",
        _ => "is damaged",
    };
    Finding::new(
        FindingKind::DamagedCompression,
        format!("the compressed content {what}; {produced} bytes could be decompressed"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_one_after_the_other_decompress_as_one() {
        let mut stored = zstd::encode_all(&b"one\n"[..], 0).unwrap();
        stored.extend(zstd::encode_all(&b"two\n"[..], 0).unwrap());
        let content = decompress(&stored, 1 << 20).unwrap();
        assert_eq!(content.bytes, b"one\ntwo\n");
        assert_eq!(content.damage, None);
    }

    #[test]
    fn a_cut_frame_gives_what_stands_before_the_cut_and_a_finding() {
        let lines: Vec<u8> = (0..200_000u32)
            .flat_map(|n| format!("{}\n", n.wrapping_mul(2_654_435_761)).into_bytes())
            .collect();
        let stored = zstd::encode_all(&lines[..], 0).unwrap();
        let content = decompress(&stored[..stored.len() / 2], 1 << 30).unwrap();
        assert!(!content.bytes.is_empty());
        assert!(lines.starts_with(&content.bytes));
        assert_eq!(content.damage.unwrap().kind, FindingKind::DamagedCompression);
    }

    // https://github.com/fkiene/llmtrim/pull/194: a bomb is one of the inputs (fault 70).
    #[test]
    fn a_bomb_is_stopped_at_the_ratio() {
        let bomb = zstd::encode_all(io::repeat(0).take(1 << 30), 0).unwrap();
        assert!(bomb.len() < 1 << 20);
        let over = decompress(&bomb, 16 << 30).unwrap_err();
        assert!(over.limit < 1 << 30);
    }

    #[test]
    fn the_limit_of_the_caller_holds() {
        let stored = zstd::encode_all(io::repeat(b'a').take(1000), 0).unwrap();
        assert_eq!(decompress(&stored, 999).unwrap_err(), OverLimit { bytes: 1000, limit: 999 });
        assert_eq!(decompress(&stored, 1000).unwrap().bytes.len(), 1000);
    }
}
