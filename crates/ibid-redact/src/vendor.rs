//! Tokens that their vendor gave a shape of their own.
//!
//! The prefixes and lengths are those that the vendors document or that public secret scanners agree on (2026).
//! Bodies are accepted from a little under the documented length, since vendors lengthen them.

use crate::ascii::{self, byte, is_token_byte, run};
use crate::kind::Kind;
use crate::value;

/// No token of a known shape is longer; what is longer is data.
const LONGEST: usize = 2048;

/// Which bytes the part after the prefix is made of.
#[derive(Clone, Copy)]
enum Body {
    /// Letters, digits, `_`, `-`.
    Token,
    /// The same and `.`.
    Dotted,
    /// Letters and digits.
    Alphanumeric,
    /// Capitals and digits.
    Capitals,
    /// Lower-case hexadecimal digits.
    Hex,
}

impl Body {
    fn contains(self, b: u8) -> bool {
        match self {
            Self::Token => is_token_byte(b),
            Self::Dotted => is_token_byte(b) || b == b'.',
            Self::Alphanumeric => b.is_ascii_alphanumeric(),
            Self::Capitals => b.is_ascii_uppercase() || b.is_ascii_digit(),
            Self::Hex => b.is_ascii_digit() || matches!(b, b'a'..=b'f'),
        }
    }
}

/// A prefix, what may follow it, and how much must.
pub(crate) struct Shape {
    pub(crate) prefix: &'static str,
    pub(crate) kind: Kind,
    body: Body,
    shortest: usize,
    longest: usize,
}

const fn at_least(prefix: &'static str, kind: Kind, body: Body, shortest: usize) -> Shape {
    Shape { prefix, kind, body, shortest, longest: LONGEST }
}

const fn exactly(prefix: &'static str, kind: Kind, body: Body, length: usize) -> Shape {
    Shape { prefix, kind, body, shortest: length, longest: length }
}

/// The table. A longer prefix wins over a shorter one that it begins with.
pub(crate) const SHAPES: &[Shape] = &[
    at_least("sk-ant-", Kind::AnthropicKey, Body::Token, 20),
    at_least("sk-", Kind::OpenaiKey, Body::Token, 20),
    at_least("ghp_", Kind::GithubToken, Body::Alphanumeric, 30),
    at_least("gho_", Kind::GithubToken, Body::Alphanumeric, 30),
    at_least("ghu_", Kind::GithubToken, Body::Alphanumeric, 30),
    at_least("ghs_", Kind::GithubToken, Body::Dotted, 30),
    at_least("ghr_", Kind::GithubToken, Body::Alphanumeric, 30),
    at_least("github_pat_", Kind::GithubToken, Body::Token, 22),
    at_least("glpat-", Kind::GitlabToken, Body::Dotted, 18),
    at_least("gldt-", Kind::GitlabToken, Body::Dotted, 18),
    at_least("glrt-", Kind::GitlabToken, Body::Dotted, 18),
    at_least("glptt-", Kind::GitlabToken, Body::Dotted, 18),
    at_least("glcbt-", Kind::GitlabToken, Body::Dotted, 18),
    at_least("gloas-", Kind::GitlabToken, Body::Dotted, 18),
    at_least("glsoat-", Kind::GitlabToken, Body::Dotted, 18),
    at_least("xoxb-", Kind::SlackToken, Body::Token, 16),
    at_least("xoxp-", Kind::SlackToken, Body::Token, 16),
    at_least("xoxa-", Kind::SlackToken, Body::Token, 16),
    at_least("xoxr-", Kind::SlackToken, Body::Token, 16),
    at_least("xoxs-", Kind::SlackToken, Body::Token, 16),
    at_least("xoxe-", Kind::SlackToken, Body::Token, 16),
    at_least("xoxc-", Kind::SlackToken, Body::Token, 16),
    at_least("xoxd-", Kind::SlackToken, Body::Token, 16),
    at_least("xoxe.xoxp-", Kind::SlackToken, Body::Token, 16),
    at_least("xapp-", Kind::SlackToken, Body::Token, 20),
    exactly("AKIA", Kind::AwsAccessKey, Body::Capitals, 16),
    exactly("ASIA", Kind::AwsAccessKey, Body::Capitals, 16),
    exactly("ABIA", Kind::AwsAccessKey, Body::Capitals, 16),
    exactly("ACCA", Kind::AwsAccessKey, Body::Capitals, 16),
    at_least("ABSKQmVkcm9ja0FQSUtleS", Kind::AwsAccessKey, Body::Token, 40),
    at_least("AIza", Kind::GoogleApiKey, Body::Token, 33),
    at_least("ya29.", Kind::GoogleOauthToken, Body::Dotted, 20),
    at_least("GOCSPX-", Kind::GoogleOauthToken, Body::Token, 20),
    at_least("1//0", Kind::GoogleOauthToken, Body::Token, 40),
    at_least("sk_live_", Kind::StripeKey, Body::Alphanumeric, 16),
    at_least("sk_test_", Kind::StripeKey, Body::Alphanumeric, 16),
    at_least("rk_live_", Kind::StripeKey, Body::Alphanumeric, 16),
    at_least("rk_test_", Kind::StripeKey, Body::Alphanumeric, 16),
    at_least("whsec_", Kind::StripeKey, Body::Alphanumeric, 20),
    at_least("npm_", Kind::NpmToken, Body::Alphanumeric, 30),
    at_least("pypi-", Kind::PypiToken, Body::Token, 40),
    at_least("hf_", Kind::HuggingFaceToken, Body::Alphanumeric, 30),
    at_least("api_org_", Kind::HuggingFaceToken, Body::Alphanumeric, 30),
    at_least("SG.", Kind::SendgridKey, Body::Dotted, 50),
    exactly("SK", Kind::TwilioKey, Body::Hex, 32),
    at_least("AGE-SECRET-KEY-1", Kind::VendorToken, Body::Capitals, 50),
    at_least("ATATT3", Kind::VendorToken, Body::Token, 40),
    at_least("dapi", Kind::VendorToken, Body::Hex, 32),
    at_least("dckr_pat_", Kind::VendorToken, Body::Token, 20),
    at_least("dckr_oat_", Kind::VendorToken, Body::Token, 20),
    at_least("doo_v1_", Kind::VendorToken, Body::Hex, 40),
    at_least("dop_v1_", Kind::VendorToken, Body::Hex, 40),
    at_least("dp.pt.", Kind::VendorToken, Body::Alphanumeric, 30),
    at_least("dp.st.", Kind::VendorToken, Body::Dotted, 30),
    at_least("figd_", Kind::VendorToken, Body::Token, 30),
    at_least("fo1_", Kind::VendorToken, Body::Token, 30),
    at_least("glsa_", Kind::VendorToken, Body::Token, 30),
    at_least("glc_", Kind::VendorToken, Body::Token, 40),
    at_least("gsk_", Kind::VendorToken, Body::Alphanumeric, 30),
    at_least("hvb.", Kind::VendorToken, Body::Token, 24),
    at_least("hvs.", Kind::VendorToken, Body::Token, 24),
    exactly("key-", Kind::VendorToken, Body::Hex, 32),
    at_least("lin_api_", Kind::VendorToken, Body::Alphanumeric, 30),
    at_least("lsv2_pt_", Kind::VendorToken, Body::Token, 30),
    at_least("lsv2_sk_", Kind::VendorToken, Body::Token, 30),
    at_least("NRAK-", Kind::VendorToken, Body::Capitals, 24),
    at_least("ntn_", Kind::VendorToken, Body::Alphanumeric, 40),
    at_least("nvapi-", Kind::VendorToken, Body::Token, 40),
    at_least("ops_eyJ", Kind::VendorToken, Body::Token, 60),
    at_least("PMAK-", Kind::VendorToken, Body::Token, 40),
    at_least("pplx-", Kind::VendorToken, Body::Alphanumeric, 30),
    at_least("pscale_tkn_", Kind::VendorToken, Body::Dotted, 30),
    at_least("pul-", Kind::VendorToken, Body::Hex, 40),
    at_least("r8_", Kind::VendorToken, Body::Alphanumeric, 30),
    at_least("rubygems_", Kind::VendorToken, Body::Hex, 40),
    at_least("sb_secret_", Kind::VendorToken, Body::Token, 20),
    at_least("sbp_", Kind::VendorToken, Body::Hex, 36),
    at_least("shpat_", Kind::VendorToken, Body::Alphanumeric, 30),
    at_least("shpss_", Kind::VendorToken, Body::Alphanumeric, 30),
    at_least("sntrys_", Kind::VendorToken, Body::Token, 40),
    at_least("sntryu_", Kind::VendorToken, Body::Hex, 40),
    at_least("sq0atp-", Kind::VendorToken, Body::Token, 20),
    at_least("sq0csp-", Kind::VendorToken, Body::Token, 40),
    at_least("tskey-", Kind::VendorToken, Body::Token, 20),
    at_least("tvly-", Kind::VendorToken, Body::Token, 24),
    at_least("xai-", Kind::VendorToken, Body::Alphanumeric, 40),
];

impl Shape {
    /// The end of the token that begins at `at`, if one of this shape does.
    pub(crate) fn end(&self, text: &[u8], at: usize) -> Option<usize> {
        if !ascii::has(text, at, self.prefix.as_bytes()) || !ascii::starts_word(text, at) {
            return None;
        }
        // `SG.SG.SG.`: only the first of a run is looked at, which also keeps the work linear.
        if self.body.contains(b'.') && ascii::before(text, at) == b'.' {
            return None;
        }
        let body = at + self.prefix.len();
        let mut end = run(text, body, LONGEST, |b| self.body.contains(b));
        if self.longest != self.shortest {
            while end > body && matches!(ascii::before(text, end), b'.' | b'-') {
                end -= 1;
            }
        }
        let length = end - body;
        if length < self.shortest || length > self.longest {
            return None;
        }
        // What matched must not be the beginning of a longer word.
        if matches!(byte(text, end), b'_' | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z') {
            return None;
        }
        let body = std::str::from_utf8(text.get(body..end)?).ok()?;
        value::could_be_a_key(body, self.longest == self.shortest).then_some(end)
    }
}

/// The token of a known shape that begins at `at`: its end and kind.
pub(crate) fn token_at(text: &[u8], at: usize) -> Option<(usize, Kind)> {
    if let Some(end) = crate::jwt::end(text, at) {
        return Some((end, Kind::Jwt));
    }
    let mut found: Option<(&Shape, usize)> = None;
    for shape in SHAPES {
        if found.is_none_or(|(best, _)| shape.prefix.len() > best.prefix.len())
            && let Some(end) = shape.end(text, at)
        {
            found = Some((shape, end));
        }
    }
    found.map(|(shape, end)| (end, shape.kind))
}

/// The Telegram bot token around the `:AA` at a position: 8 to 10 digits, a colon, 35 token bytes.
pub(crate) fn telegram(text: &[u8], colon: usize) -> Option<(usize, usize)> {
    if !ascii::has(text, colon, b":AA") {
        return None;
    }
    let mut start = colon;
    while colon - start < 11 && ascii::before(text, start).is_ascii_digit() {
        start -= 1;
    }
    let end = run(text, colon + 1, 64, is_token_byte);
    let digits = colon - start;
    // `bot` stands before the number in the addresses of the Bot API.
    let begins = ascii::starts_word(text, start) || (start >= 3 && ascii::has(text, start - 3, b"bot"));
    ((8..=10).contains(&digits) && (33..=36).contains(&(end - colon - 1)) && begins).then_some((start, end))
}

/// The path of a Slack incoming webhook, after the anchor `hooks.slack.com/`.
pub(crate) fn slack_webhook(text: &[u8], after_anchor: usize) -> Option<(usize, usize)> {
    let verb = run(text, after_anchor, 16, |b| b.is_ascii_lowercase());
    if byte(text, verb) != b'/' || byte(text, verb + 1) != b'T' {
        return None;
    }
    let end = run(text, verb + 1, 128, |b| b.is_ascii_alphanumeric() || b == b'/');
    let path = std::str::from_utf8(text.get(verb + 1..end)?).ok()?;
    (path.len() >= 24 && path.matches('/').count() >= 2 && value::could_be_a_key(path, false))
        .then_some((verb + 1, end))
}
