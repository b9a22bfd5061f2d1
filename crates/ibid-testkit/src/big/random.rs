//! Numbers, ids, times and texts that follow from a seed.

/// The SplitMix64 generator: small, fast, and the same on every machine.
#[derive(Clone, Debug)]
pub(super) struct Random(u64);

const WORDS: &[&str] = &[
    "the",
    "session",
    "reads",
    "a",
    "file",
    "and",
    "writes",
    "bytes",
    "into",
    "carrier",
    "while",
    "model",
    "returns",
    "error",
    "value",
    "match",
    "config",
    "parser",
    "index",
    "cache",
    "should",
    "handle",
    "empty",
    "branch",
    "na\u{ef}ve",
    "\u{65e5}\u{672c}\u{8a9e}",
    "\u{1f980}",
    "fn",
    "struct",
    "impl",
    "let",
    "mut",
    "self",
    "0x1f",
    "src/main.rs",
];

/// What stands between words, already escaped for JSON.
const GAPS: &[&str] =
    &[" ", " ", " ", " ", " ", " ", ", ", ". ", "\\n", "\\n    ", " \\\"", "\\t", " -> ", " \\\\ "];

impl Random {
    pub(super) fn new(seed: u64) -> Random {
        Random(seed ^ 0x9e37_79b9_7f4a_7c15)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `limit`.
    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit.max(1)
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        let at = usize::try_from(self.below(from.len() as u64)).unwrap_or(0);
        from.get(at).copied().unwrap_or_default()
    }

    pub(super) fn uuid(&mut self) -> String {
        let (a, b) = (self.next(), self.next());
        format!(
            "{:08x}-{:04x}-4{:03x}-8{:03x}-{:012x}",
            a >> 32,
            (a >> 16) & 0xffff,
            a & 0xfff,
            b >> 52,
            b & 0xffff_ffff_ffff
        )
    }

    /// Letters and digits, as opaque tokens have them.
    pub(super) fn token(&mut self, length: usize) -> String {
        let mut token = String::with_capacity(length + 16);
        while token.len() < length {
            token.push_str(&format!("{:016x}", self.next()));
        }
        token.truncate(length);
        token
    }

    /// About `length` bytes of text, escaped for a JSON string.
    pub(super) fn text(&mut self, length: u64) -> String {
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let mut text = String::with_capacity(length.saturating_add(16).min(1 << 20));
        while text.len() < length {
            text.push_str(self.pick(WORDS));
            text.push_str(self.pick(GAPS));
        }
        text
    }

    /// The length of a tool result: mostly short, sometimes long.
    pub(super) fn result_length(&mut self) -> u64 {
        match self.below(20) {
            0 => 8_000 + self.below(24_000),
            1..=5 => 1_000 + self.below(4_000),
            _ => 40 + self.below(600),
        }
    }
}

/// A time as `2026-07-01T10:00:00.000Z`.
pub(super) fn iso(milliseconds: i64) -> String {
    ibid_model::Timestamp::from_milliseconds(milliseconds)
        .map(ibid_model::Timestamp::to_iso_milliseconds)
        .unwrap_or_default()
}
