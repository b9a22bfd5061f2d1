//! One walk over a text: an automaton finds the anchors, and the rule of each looks around it.

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use crate::kind::Kind;
use crate::{ascii, assignment, header, jwt, key_name, mark, pem, url, vendor};

/// A part of the text to replace, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) kind: Kind,
}

/// What an anchor announces.
#[derive(Debug, Clone, Copy)]
enum Rule {
    Vendor,
    Name,
    Jwt,
    Pem,
    Url,
    Telegram,
    SlackWebhook,
    Bearer,
    Basic,
    Base64,
    Mark,
}

/// The compiled anchors. Building takes some milliseconds; scanning allocates only for what is found.
#[derive(Debug)]
pub(crate) struct Scanner {
    automaton: AhoCorasick,
    rules: Vec<Rule>,
}

impl Scanner {
    pub(crate) fn new() -> Self {
        let mut anchors: Vec<(&str, Rule)> = vec![
            ("eyJ", Rule::Jwt),
            (pem::BEGIN, Rule::Pem),
            ("://", Rule::Url),
            (":AA", Rule::Telegram),
            ("hooks.slack.com/", Rule::SlackWebhook),
            ("bearer ", Rule::Bearer),
            ("basic ", Rule::Basic),
            (";base64,", Rule::Base64),
            (mark::OPENING, Rule::Mark),
        ];
        anchors.extend(key_name::ANCHORS.iter().map(|anchor| (*anchor, Rule::Name)));
        anchors.extend(vendor::SHAPES.iter().map(|shape| (shape.prefix, Rule::Vendor)));
        #[expect(
            clippy::expect_used,
            reason = "building depends on the constant table alone, never on input"
        )]
        let automaton = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::LeftmostLongest)
            .kind(Some(AhoCorasickKind::DFA))
            .build(anchors.iter().map(|(anchor, _)| anchor))
            .expect("a hundred short anchors fit an automaton");
        Self { automaton, rules: anchors.into_iter().map(|(_, rule)| rule).collect() }
    }

    /// The secrets of a text, in order, none overlapping another.
    pub(crate) fn spans(&self, text: &str) -> Vec<Span> {
        let bytes = text.as_bytes();
        let mut spans: Vec<Span> = Vec::new();
        // What lies before is settled: replaced, skipped, or part of a name that was looked at.
        let mut settled = 0;
        for anchor in self.automaton.find_iter(bytes) {
            let (from, to) = (anchor.start(), anchor.end());
            if from < settled {
                continue;
            }
            let Some(rule) = self.rules.get(anchor.pattern().as_usize()) else { continue };
            let mut found = match rule {
                Rule::Mark => {
                    settled = mark::end(bytes, from).unwrap_or(settled);
                    None
                }
                Rule::Base64 => {
                    let end = ascii::run(bytes, to, usize::MAX, |b| {
                        b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=')
                    });
                    // A short one may as well be a Kubernetes secret's annotation; data is long.
                    settled = end;
                    None
                }
                Rule::Vendor => vendor::token_at(bytes, from).map(|(end, kind)| (from, end, kind)),
                Rule::Jwt => jwt::end(bytes, from).map(|end| (from, end, Kind::Jwt)),
                Rule::Pem => pem::end(bytes, from).map(|end| (from, end, Kind::PrivateKey)),
                Rule::Url => url::secret(bytes, from).map(|(start, end)| (start, end, Kind::UrlPassword)),
                Rule::Telegram => {
                    vendor::telegram(bytes, from).map(|(start, end)| (start, end, Kind::TelegramToken))
                }
                Rule::SlackWebhook => {
                    vendor::slack_webhook(bytes, to).map(|(start, end)| (start, end, Kind::SlackToken))
                }
                Rule::Bearer | Rule::Basic if !ascii::starts_word(bytes, from) => None,
                Rule::Bearer => header::after_scheme(bytes, to, false).map(|(start, end)| {
                    let kind =
                        vendor::token_at(bytes, start).filter(|(e, _)| *e == end).map(|(_, kind)| kind);
                    (start, end, kind.unwrap_or(Kind::Authorization))
                }),
                Rule::Basic => header::after_scheme(bytes, to, true)
                    .map(|(start, end)| (start, end, Kind::Authorization)),
                Rule::Name => None,
            };
            // An anchor of another rule may be part of a name as well: `hf_token=`, `"sk-key"`.
            if found.is_none() && matches!(rule, Rule::Name | Rule::Vendor) {
                found = self.named(text, from, to, &mut settled);
            }
            if let Some((start, end, kind)) = found
                && start >= spans.last().map_or(0, |span| span.end)
                && end > start
            {
                settled = settled.max(end);
                spans.push(Span { start, end, kind });
            }
        }
        spans
    }

    fn named(&self, text: &str, from: usize, to: usize, settled: &mut usize) -> Option<(usize, usize, Kind)> {
        let bytes = text.as_bytes();
        // `sig=` holds the joint; the name ends before it.
        let to = if ascii::before(bytes, to) == b'=' { to - 1 } else { to };
        let from = if matches!(ascii::byte(bytes, from), b'"' | b'\'') { from + 1 } else { from };
        let Some((start, end)) = key_name::around(bytes, from, to) else {
            // Inside a run too long for a name: go on behind what was looked at.
            return None;
        };
        let found = assignment::secret(text, start, end);
        if found.is_some() {
            *settled = end;
        }
        found
    }
}
