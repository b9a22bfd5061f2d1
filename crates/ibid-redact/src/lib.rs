//! The one redaction pass: text in, text and counts out.
//!
//! Whatever leaves a machine's session stores for other eyes (an export, evidence, search results, the answers of a
//! server) goes through a [`Redactor`]. It replaces keys, tokens, passwords and private keys by a mark that names
//! their kind, `[redacted:<kind>]`, and counts the replacements:
//!
//! ```
//! use ibid_redact::{Kind, Redactor};
//!
//! let redactor = Redactor::new();
//! let redacted = redactor.redact("export DB_PASSWORD=correct-horse-7 # see tokens.rs");
//! assert_eq!(redacted.text, "export DB_PASSWORD=[redacted:password] # see tokens.rs");
//! assert_eq!(redacted.counts.of(Kind::Password), 1);
//!
//! let redacted = redactor.redact_json(r#"{"clientSecret": "s3cr3t-v4lue", "max_tokens": 4096}"#);
//! assert_eq!(redacted.text, r#"{"clientSecret": "[redacted:secret]", "max_tokens": 4096}"#);
//! ```
//!
//! Three things make a secret: a shape that its vendor gave it, a name that tells (`api_key`, `--password`,
//! `Authorization:`), or its place (a URL's user part, a private key block). Random-looking text alone is never one,
//! so commit ids, hashes, UUIDs, paths and image data stay.
//!
//! - [`Redactor::redact`] takes any text. It borrows the text when there is nothing to replace.
//! - [`Redactor::redact_json`] takes a JSON text (or several, one after another) and keeps it one: only string
//!   values change, and of those only the secret's own bytes. JSON inside strings is read as JSON.
//!
//! Both are idempotent, run in time linear in the text, and never panic.
//!
//! # Limits
//!
//! Redact before cutting a text, since a token cut short may no longer be known for one. A secret that has no known
//! shape, no telling name and no telling place is not found; nor is a number, or a secret used as the name in a JSON
//! object. `docs/redaction.md` lists what is and what is not replaced.

mod ascii;
mod assignment;
mod command;
mod header;
mod json;
mod jwt;
mod key_name;
mod kind;
mod mark;
mod pem;
mod scan;
mod url;
mod value;
mod vendor;

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

pub use kind::{Counts, Kind};
use scan::{Scanner, Span};

/// A text with its secrets replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redacted<'a> {
    /// The text; borrowed where nothing was replaced.
    pub text: Cow<'a, str>,
    /// How many replacements of each kind were made.
    pub counts: Counts,
}

/// The compiled rules. They are compiled once per process; making and cloning a redactor is cheap.
#[derive(Debug, Clone)]
pub struct Redactor {
    scanner: Arc<Scanner>,
}

impl Redactor {
    /// A redactor with the default rules.
    pub fn new() -> Self {
        static SCANNER: OnceLock<Arc<Scanner>> = OnceLock::new();
        Self { scanner: Arc::clone(SCANNER.get_or_init(|| Arc::new(Scanner::new()))) }
    }

    /// Replaces the secrets of a text.
    pub fn redact<'a>(&self, text: &'a str) -> Redacted<'a> {
        until_stable(text, |text| self.scanner.spans(text))
    }

    /// Replaces the secrets of a JSON text, which stays one: names, numbers, order, spacing and escapes are kept.
    ///
    /// A text that is not JSON is redacted as [`Redactor::redact`] does.
    pub fn redact_json<'a>(&self, text: &'a str) -> Redacted<'a> {
        match json::spans(&self.scanner, text, 0) {
            Some(_) => until_stable(text, |text| json::spans(&self.scanner, text, 0).unwrap_or_default()),
            None => self.redact(text),
        }
    }
}

impl Default for Redactor {
    fn default() -> Self {
        Self::new()
    }
}

/// How often a text is looked at. One secret can hide another (`TOKEN-SECRET=x`, where the name is a
/// token too), which shows when the first is gone; the second look nearly always finds nothing.
const LOOKS: usize = 8;

/// Replaces until there is nothing left to replace, so that what was redacted once stays as it is.
fn until_stable<'a>(text: &'a str, spans: impl Fn(&str) -> Vec<Span>) -> Redacted<'a> {
    let mut redacted = replace(text, &spans(text));
    for _ in 1..LOOKS {
        if matches!(redacted.text, Cow::Borrowed(_)) {
            break;
        }
        let again = spans(&redacted.text);
        if again.is_empty() {
            break;
        }
        let Redacted { text, counts } = replace(&redacted.text, &again);
        let mut all = redacted.counts;
        all.merge(&counts);
        redacted = Redacted { text: Cow::Owned(text.into_owned()), counts: all };
    }
    redacted
}

fn replace<'a>(text: &'a str, spans: &[Span]) -> Redacted<'a> {
    let mut counts = Counts::default();
    if spans.is_empty() {
        return Redacted { text: Cow::Borrowed(text), counts };
    }
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    for span in spans {
        // Spans begin and end beside ASCII bytes, so both slices exist; without them the text stays as it is.
        if let (Some(kept), true) = (text.get(copied..span.start), text.is_char_boundary(span.end)) {
            out.push_str(kept);
            mark::push(&mut out, span.kind);
            counts.add(span.kind);
            copied = span.end;
        }
    }
    out.push_str(text.get(copied..).unwrap_or(""));
    Redacted { text: Cow::Owned(out), counts }
}
