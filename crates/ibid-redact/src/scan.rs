//! One walk over a text: an automaton finds the anchors, and the rule of each looks around it.

use aho_corasick::{AhoCorasick, AhoCorasickKind, Input, MatchKind};

use crate::kind::Kind;
use crate::{ascii, assignment, command, header, jwt, key_name, mark, pem, url, vendor};

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
    Sshpass,
    CurlUser,
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
            ("sshpass -p", Rule::Sshpass),
            (" -u ", Rule::CurlUser),
            (" --user ", Rule::CurlUser),
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
        let mut spans: Vec<Span> = Vec::new();
        let mut at = 0;
        while let Some(anchor) = self.automaton.find(Input::new(text).range(at.min(text.len())..)) {
            // Anchors overlap (`-key`, `-----BEGIN`): one that announces nothing hides none that begins in it.
            at = anchor.start() + 1;
            let Some(rule) = self.rules.get(anchor.pattern().as_usize()) else { continue };
            // Rules do not look back into what is replaced, since a second pass could not either.
            let base = spans.last().map_or(0, |span| span.end);
            let Some(rest) = text.get(base..) else { continue };
            let (from, to) = (anchor.start() - base, anchor.end() - base);
            match rule {
                Rule::Mark => at = mark::end(rest.as_bytes(), from).map_or(at, |end| base + end),
                Rule::Base64 => {
                    at = base
                        + ascii::run(rest.as_bytes(), to, usize::MAX, |b| {
                            b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=')
                        });
                }
                _ => {
                    let Some((start, end, kind)) =
                        rule.secret(rest, from, to).filter(|found| found.1 > found.0)
                    else {
                        continue;
                    };
                    if let (Rule::Url, Some(user)) = (rule, rest.get(to..start)) {
                        // A user name has no `://`, so this goes one level deep.
                        spans.extend(self.spans(user).into_iter().map(|span| Span {
                            start: base + to + span.start,
                            end: base + to + span.end,
                            kind: span.kind,
                        }));
                    }
                    at = base + end;
                    spans.push(Span { start: base + start, end: base + end, kind });
                }
            }
        }
        spans
    }
}

impl Rule {
    /// The secret that the anchor at `from..to` announces.
    fn secret(self, text: &str, from: usize, to: usize) -> Option<(usize, usize, Kind)> {
        let bytes = text.as_bytes();
        match self {
            Self::Vendor => match vendor::token_at(bytes, from) {
                Some((end, kind)) => Some((from, end, kind)),
                // A prefix may be part of a name as well: `hf_token=`.
                None => named(text, from, to),
            },
            Self::Name => named(text, from, to),
            Self::Jwt => jwt::end(bytes, from).map(|end| (from, end, Kind::Jwt)),
            Self::Pem => pem::end(bytes, from).map(|end| (from, end, Kind::PrivateKey)),
            Self::Url => url::secret(bytes, from).map(|(start, end)| (start, end, Kind::UrlPassword)),
            Self::Telegram => {
                vendor::telegram(bytes, from).map(|(start, end)| (start, end, Kind::TelegramToken))
            }
            Self::SlackWebhook => {
                vendor::slack_webhook(bytes, to).map(|(start, end)| (start, end, Kind::SlackToken))
            }
            Self::Bearer | Self::Basic => {
                if !ascii::starts_word(bytes, from) {
                    return None;
                }
                let (start, end) = header::after_scheme(bytes, to, matches!(self, Self::Basic))?;
                let shaped = vendor::token_at(bytes, start).filter(|(token_end, _)| *token_end == end);
                Some((start, end, shaped.map_or(Kind::Authorization, |(_, kind)| kind)))
            }
            Self::Sshpass => command::sshpass(bytes, to).map(|(start, end)| (start, end, Kind::Password)),
            Self::CurlUser => {
                command::curl_user(bytes, from, to).map(|(start, end)| (start, end, Kind::Password))
            }
            Self::Base64 | Self::Mark => None,
        }
    }
}

/// The secret that belongs to the name of which the anchor at `from..to` is a part.
fn named(text: &str, from: usize, to: usize) -> Option<(usize, usize, Kind)> {
    let bytes = text.as_bytes();
    // The anchor may hold the quote before a name, or the joint after it.
    let from = if matches!(ascii::byte(bytes, from), b'"' | b'\'') { from + 1 } else { from };
    let to = if ascii::before(bytes, to) == b'=' { to - 1 } else { to };
    let (start, end) = key_name::around(bytes, from, to)?;
    assignment::secret(text, start, end)
}
