//! Names that tell that a secret follows: `DB_PASSWORD`, `clientSecret`, `x-api-key`.
//!
//! The telling word must be the last of the name: `max_tokens`, `token_count` and `secretName` are names of other
//! things.

use crate::ascii::{self, byte};
use crate::kind::Kind;

/// No name of a secret is longer; what is longer is data.
const LONGEST: usize = 80;

/// How much a value must look like a secret to be taken for one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strictness {
    /// Any value that is not clearly something else: passwords are often words.
    Anything,
    /// A value that is no word, name or path: keys and secrets are made by machines.
    Opaque,
    /// A long value that looks like nothing but a random token.
    Random,
}

/// What a name tells of its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Telling {
    /// The value is a secret if it looks like one.
    Value(Kind, Strictness),
    /// The value is that of an `Authorization` header.
    Authorization,
    /// The value is that of a `Cookie` or `Set-Cookie` header.
    Cookie,
}

/// The parts of a text that the automaton looks for to find names, in lower case.
pub(crate) const ANCHORS: &[&str] = &[
    "token",
    "secret",
    "passw",
    "passphrase",
    "pwd",
    "_pass",
    "-pass",
    "passcode",
    "apikey",
    "api_key",
    "api-key",
    "accesskey",
    "privatekey",
    "accountkey",
    "signingkey",
    "encryptionkey",
    "masterkey",
    "sharedkey",
    "authkey",
    "_key",
    "-key",
    "api key",
    "access key",
    "secret key",
    "pw=",
    "_auth",
    "\"auth",
    "'auth",
    "authorization",
    "cookie",
    "credential",
    "creds",
    "signature",
    "sig=",
];

/// Words at the end of a name that say which of several values it is.
const QUALIFIERS: &[&str] = &[
    "again",
    "base",
    "backup",
    "confirm",
    "confirmation",
    "current",
    "default",
    "dev",
    "development",
    "live",
    "local",
    "main",
    "new",
    "old",
    "plain",
    "plaintext",
    "prod",
    "production",
    "raw",
    "staging",
    "test",
    "value",
];

/// Words before `token` that make it something else than a secret.
const OTHER_TOKENS: &[&str] = &[
    "begin",
    "bos",
    "by",
    "cancel",
    "cancellation",
    "cls",
    "completion",
    "continuation",
    "cost",
    "cursor",
    "end",
    "eos",
    "first",
    "image",
    "input",
    "last",
    "lexer",
    "mask",
    "max",
    "min",
    "next",
    "num",
    "output",
    "pad",
    "page",
    "pagination",
    "parse",
    "peek",
    "per",
    "prev",
    "previous",
    "price",
    "prompt",
    "reasoning",
    "sep",
    "special",
    "start",
    "stop",
    "sync",
    "text",
    "the",
    "unk",
];

/// Words before `key` that make it a secret.
const SECRET_KEYS: &[&str] = &[
    "access",
    "account",
    "admin",
    "api",
    "auth",
    "client",
    "consumer",
    "encryption",
    "functions",
    "integration",
    "license",
    "licence",
    "master",
    "private",
    "secret",
    "service",
    "shared",
    "signing",
    "storage",
    "subscription",
    "webhook",
];

/// The same, written as one word.
const GLUED_KEYS: &[&str] = &[
    "apikey",
    "accesskey",
    "secretkey",
    "privatekey",
    "authkey",
    "accountkey",
    "signingkey",
    "encryptionkey",
    "masterkey",
    "sharedkey",
    "sharedaccesskey",
];

/// Words before `key` that make it none, in an environment's capitals.
const OTHER_KEYS: &[&str] = &[
    "cache",
    "foreign",
    "host",
    "hot",
    "idempotency",
    "index",
    "lookup",
    "partition",
    "primary",
    "pub",
    "public",
    "publishable",
    "registry",
    "row",
    "sort",
    "unique",
];

/// Whether a name is that of a signed URL's signature. Elsewhere a signature is public: that of a function, or the
/// one that a provider puts under thinking.
pub(crate) fn is_url_signature(name: &str) -> bool {
    let last = name.rsplit(['-', '_']).next().unwrap_or(name);
    last.eq_ignore_ascii_case("signature") || last.eq_ignore_ascii_case("sig")
}

/// The name around the bytes `from..to`: its start and end.
///
/// Nothing is returned where the name would be too long to be one.
pub(crate) fn around(text: &[u8], from: usize, to: usize) -> Option<(usize, usize)> {
    let is_name_byte = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.');
    let mut start = from;
    while from - start <= LONGEST && is_name_byte(ascii::before(text, start)) {
        start -= 1;
    }
    // The letter of an escape before the name is not part of it.
    if ascii::before(text, start) == b'\\' && matches!(byte(text, start), b'n' | b't' | b'r') && start < from
    {
        start += 1;
    }
    let end = ascii::run(text, to, LONGEST + 1, ascii::is_token_byte);
    (end - start <= LONGEST).then_some((start, end))
}

/// Whether a name is written as those of an environment are.
pub(crate) fn is_screaming(name: &str) -> bool {
    name.len() >= 3
        && name.bytes().any(|b| b.is_ascii_uppercase())
        && !name.bytes().any(|b| b.is_ascii_lowercase())
}

/// The words of a name in lower case: parts between separators, and the humps of camel case.
fn words(name: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let bytes = name.as_bytes();
    for (i, b) in name.bytes().enumerate() {
        if !b.is_ascii_alphanumeric() {
            if !word.is_empty() {
                words.push(std::mem::take(&mut word));
            }
            continue;
        }
        let previous = ascii::before(bytes, i);
        let starts_hump = b.is_ascii_uppercase()
            && (previous.is_ascii_lowercase()
                || previous.is_ascii_digit()
                || (previous.is_ascii_uppercase() && byte(bytes, i + 1).is_ascii_lowercase()));
        if starts_hump && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        word.push(char::from(b.to_ascii_lowercase()));
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// What a name tells of its value, or nothing.
pub(crate) fn telling(name: &str) -> Option<Telling> {
    if name.len() > LONGEST {
        return None;
    }
    let all = words(name);
    let mut words: Vec<&str> =
        all.iter().map(|word| word.trim_end_matches(|c: char| c.is_ascii_digit())).collect();
    while words.len() > 1 && words.last().is_some_and(|word| word.is_empty() || QUALIFIERS.contains(word)) {
        words.pop();
    }
    let last = *words.last()?;
    let previous = words.len().checked_sub(2).and_then(|i| words.get(i)).copied().unwrap_or("");
    let value = |kind, strictness| Some(Telling::Value(kind, strictness));
    match last {
        "authorization" => Some(Telling::Authorization),
        "cookie" | "cookies" => Some(Telling::Cookie),
        // `PWD` and `OLDPWD` are directories.
        "pwd" if previous == "old" || (previous.is_empty() && is_screaming(name)) => None,
        "oldpwd" => None,
        "pwd" | "pw" if previous.is_empty() => value(Kind::Password, Strictness::Opaque),
        "password" | "passwd" | "passphrase" | "passcode" | "pwd" => {
            value(Kind::Password, Strictness::Anything)
        }
        "pass"
            if !matches!(
                previous,
                "" | "first" | "second" | "multi" | "single" | "one" | "two" | "by" | "render"
            ) =>
        {
            value(Kind::Password, Strictness::Anything)
        }
        "secret" => value(Kind::Secret, Strictness::Opaque),
        "token" if OTHER_TOKENS.contains(&previous) => None,
        "token" if previous.is_empty() => value(Kind::Token, Strictness::Random),
        "token" => value(Kind::Token, Strictness::Opaque),
        "key" if matches!(previous, "private" | "secret") => value(Kind::Secret, Strictness::Opaque),
        "key" if SECRET_KEYS.contains(&previous) => value(Kind::ApiKey, Strictness::Opaque),
        "key"
            if is_screaming(name)
                && words.len() > 1
                && !OTHER_KEYS.iter().any(|word| words.contains(word)) =>
        {
            value(Kind::ApiKey, Strictness::Random)
        }
        "auth" | "bearer" | "credential" | "credentials" | "creds" => value(Kind::Token, Strictness::Random),
        _ if GLUED_KEYS.contains(&last) => value(Kind::ApiKey, Strictness::Opaque),
        _ if last.ends_with("password") || last.ends_with("passwd") => {
            value(Kind::Password, Strictness::Anything)
        }
        _ if last.ends_with("secret") => value(Kind::Secret, Strictness::Opaque),
        _ if last.ends_with("token") && last != "nexttoken" && last != "pagetoken" => {
            value(Kind::Token, Strictness::Opaque)
        }
        _ => None,
    }
}
