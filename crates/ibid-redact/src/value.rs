//! Judging a value: is it a secret, or a placeholder, a reference, a path, a word?

use crate::key_name::Strictness;
use crate::mark;

/// How a value was written, which decides what it may be.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Between quotes, or a string of a JSON text.
    Quoted,
    /// `NAME=value` as an environment has it, with nothing around the `=`, or after a `--flag`.
    Environment,
    /// Bare, where it may as well be code or prose.
    Bare,
}

/// Whole values that stand for a secret without being one.
const STAND_INS: &[&str] = &[
    "admin_password",
    "any",
    "api-key",
    "api_key",
    "apikey",
    "bearer",
    "bool",
    "boolean",
    "bytes",
    "changeme",
    "default",
    "disabled",
    "empty",
    "enabled",
    "env",
    "false",
    "file",
    "hidden",
    "key",
    "keychain",
    "keyring",
    "masked",
    "missing",
    "mypassword",
    "n/a",
    "nil",
    "none",
    "null",
    "number",
    "object",
    "optional",
    "pass",
    "passwd",
    "password",
    "private",
    "prompt",
    "pw",
    "pwd",
    "required",
    "secret",
    "set",
    "stdin",
    "str",
    "string",
    "text",
    "todo",
    "token",
    "true",
    "undefined",
    "unknown",
    "unset",
    "value",
    "void",
];

/// Parts of a value that show that somebody is meant to fill it in.
const FILL_INS: &[&str] = &[
    "your-",
    "your_",
    "yourapi",
    "yourkey",
    "yourtoken",
    "yourpass",
    "yoursecret",
    "-here",
    "_here",
    "<your",
    "my-",
    "my_",
    "example",
    "placeholder",
    "change-me",
    "change_me",
    "changeme",
    "changeit",
    "replace-me",
    "replace_me",
    "replaceme",
    "redacted",
    "insert-",
    "insert_",
    "xxxx",
    "****",
    "....",
    "0123456789abcdef",
    "\u{2026}",
    "\u{2022}\u{2022}",
];

/// Words of the names of secrets; a value made of such words is a name.
const TELLING: &[&str] =
    &["password", "passwd", "passphrase", "secret", "token", "key", "credential", "cookie"];

/// Words that sentences have and passphrases seldom do.
const SENTENCE: &[&str] = &[
    "a", "an", "and", "are", "be", "can", "cannot", "does", "enter", "for", "forgot", "from", "invalid",
    "is", "match", "must", "new", "not", "of", "or", "please", "required", "reset", "should", "the", "to",
    "too", "was", "with", "your",
];

fn contains_ignoring_case(text: &str, what: &str) -> bool {
    text.len() >= what.len()
        && text.as_bytes().windows(what.len()).any(|window| window.eq_ignore_ascii_case(what.as_bytes()))
}

/// Whether a value is something to fill in, masked, cut short, or marked already.
pub(crate) fn is_placeholder(value: &str) -> bool {
    let first = value.bytes().next().unwrap_or(0);
    let beginning = value.char_indices().nth(100).and_then(|(i, _)| value.get(..i)).unwrap_or(value);
    STAND_INS.iter().any(|word| value.eq_ignore_ascii_case(word))
        || FILL_INS.iter().any(|part| contains_ignoring_case(beginning, part))
        || value.contains(mark::OPENING)
        || value.ends_with("...")
        || value.bytes().all(|b| b == first)
        || (first == b'<' && value.ends_with('>'))
        || (first == b'[' && value.ends_with(']'))
        || value.bytes().filter(u8::is_ascii_alphanumeric).count()
            + value.bytes().filter(|b| !b.is_ascii()).count()
            < 3
}

/// Whether a value is filled in from elsewhere: a variable, a template, a command.
fn is_reference(value: &str) -> bool {
    let first = value.bytes().next().unwrap_or(0);
    // `$NAME` has word bytes only: `$Tr0ng!` is a password, `$2b$12$...` a hash.
    let is_name = |rest: &str| {
        rest.bytes().next().is_some_and(|b| b == b'_' || b.is_ascii_alphabetic())
            && rest.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    };
    let dollar = value.strip_prefix('$').is_some_and(|rest| rest.starts_with(['{', '(']) || is_name(rest));
    dollar
        || value.contains("${")
        || value.contains("$(")
        || value.contains("{{")
        || (value.contains('{') && value.contains('}'))
        || (value.len() > 2 && first == b'%' && value.ends_with('%'))
        || value.starts_with("env:")
        || value.starts_with("op://")
        || value.starts_with("vault:")
        || value.starts_with("secretKeyRef")
        || value.starts_with("arn:")
}

fn is_url(value: &str) -> bool {
    value.split_once("://").is_some_and(|(scheme, _)| {
        !scheme.is_empty()
            && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'.' | b'-'))
    })
}

fn is_path(value: &str) -> bool {
    let bytes = value.as_bytes();
    let drive = bytes.first().is_some_and(u8::is_ascii_alphabetic)
        && bytes.get(1) == Some(&b':')
        && matches!(bytes.get(2), Some(b'\\' | b'/'));
    let rooted = ["/", "./", "../", "~/", "@/", "\\\\"].iter().any(|root| value.starts_with(root));
    let has_word_segment = || {
        value.split(['/', '\\']).any(|part| {
            part.len() >= 2 && part.bytes().all(|b| b.is_ascii_lowercase() || matches!(b, b'.' | b'-' | b'_'))
        })
    };
    drive || (rooted && has_word_segment()) || (value.contains('/') && value.split('/').all(is_slug))
}

/// Content hashes say what they are; the hash of something public is no secret.
fn is_content_hash(value: &str) -> bool {
    ["sha1-", "sha1:", "sha256-", "sha256:", "sha384-", "sha512-", "sha512:", "md5:", "blake3:", "data:"]
        .iter()
        .any(|prefix| {
            value.len() > prefix.len()
                && value
                    .as_bytes()
                    .get(..prefix.len())
                    .is_some_and(|p| p.eq_ignore_ascii_case(prefix.as_bytes()))
        })
}

/// Whether letters read as a word or as words in camel case: few humps, and no long run of consonants.
///
/// Only letters of both cases are held to it: acronyms and lower-case abbreviations are words too.
fn is_wordlike(letters: &str) -> bool {
    let (mut humps, mut consonants, mut most_consonants) = (0, 0, 0);
    let mut previous = b'A';
    for b in letters.bytes() {
        humps += usize::from(previous.is_ascii_lowercase() && b.is_ascii_uppercase());
        consonants = if b"aeiouy".contains(&b.to_ascii_lowercase()) { 0 } else { consonants + 1 };
        most_consonants = consonants.max(most_consonants);
        previous = b;
    }
    let mixed = letters.bytes().skip(1).any(|b| b.is_ascii_uppercase())
        && letters.bytes().any(|b| b.is_ascii_lowercase());
    letters.len() <= 48
        && (!mixed || letters.len() < 8 || (humps * 5 <= letters.len() && most_consonants <= 5))
}

/// Whether every part between separators is a word (with a short number after it) or a number: `my-service-v2`,
/// `claude-sonnet-4-20250514`, `sha256`, `self.config.token`.
pub(crate) fn is_slug(value: &str) -> bool {
    value.split(['-', '_', '.', '/', ':', '+', ',', '@']).all(|part| {
        let letters = part.trim_end_matches(|c: char| c.is_ascii_digit());
        let digits = part.len() - letters.len();
        letters.is_empty()
            || (letters.bytes().all(|b| b.is_ascii_alphabetic()) && digits <= 3 && is_wordlike(letters))
    })
}

/// Shannon entropy in bits per byte.
fn entropy(value: &str) -> f64 {
    let mut seen = [0_u32; 256];
    for b in value.bytes() {
        if let Some(count) = seen.get_mut(usize::from(b)) {
            *count += 1;
        }
    }
    let length = value.len() as f64;
    seen.iter()
        .filter(|count| **count > 0)
        .map(|count| {
            let share = f64::from(*count) / length;
            -share * share.log2()
        })
        .sum()
}

/// Whether the body of a token with a vendor's prefix could be real. One of an exact length may read as a word.
pub(crate) fn could_be_a_key(body: &str, exact: bool) -> bool {
    !is_placeholder(body) && (exact || !is_slug(body)) && entropy(body.get(..64).unwrap_or(body)) >= 2.2
}

/// Whether a value looks like nothing but a random token.
pub(crate) fn is_random(value: &str) -> bool {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let letters = value.bytes().filter(u8::is_ascii_alphabetic).count();
    let sample = value.get(..256).unwrap_or(value);
    value.len() >= 16
        && value.bytes().all(|b| b.is_ascii_graphic())
        && !value
            .bytes()
            .any(|b| matches!(b, b'(' | b')' | b'{' | b'}' | b'<' | b'>' | b'"' | b'\'' | b'`' | b'|'))
        && !value.contains("::")
        && letters >= 4
        && (digits >= 1 || letters >= 20)
        && !is_left_alone(value)
        && !is_slug(value)
        && entropy(sample) >= 3.0
}

/// What is no secret under any name.
fn is_left_alone(value: &str) -> bool {
    is_placeholder(value) || is_reference(value) || is_url(value) || is_path(value) || is_content_hash(value)
}

/// Whether the password of a URL is real.
pub(crate) fn is_url_password(password: &str) -> bool {
    !is_placeholder(password) && !is_reference(password) && !password.starts_with(['<', '[', '{', '*'])
}

/// Whether a value under a telling name is a secret.
pub(crate) fn is_secret(value: &str, strictness: Strictness, form: Form) -> bool {
    if value.len() < 3 || is_left_alone(value) {
        return false;
    }
    let bytes = value.as_bytes();
    let has_digit = bytes.iter().any(u8::is_ascii_digit);
    let has_letter = bytes.iter().any(u8::is_ascii_alphabetic);
    let is_name = TELLING.iter().any(|word| contains_ignoring_case(value, word)) && is_slug(value);
    let is_constant = bytes.iter().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || *b == b'_')
        && bytes.contains(&b'_');
    match strictness {
        Strictness::Random => is_random(value),
        Strictness::Opaque if value.contains("::") || value.bytes().any(|b| b.is_ascii_whitespace()) => false,
        Strictness::Opaque => match form {
            _ if is_code(value) && form != Form::Quoted => false,
            Form::Environment if !is_constant && !is_name && value.len() >= 6 && has_letter => {
                !is_slug(value) || value.bytes().all(|b| b.is_ascii_alphanumeric())
            }
            Form::Quoted => value.len() >= 6 && !is_slug(value),
            _ => {
                value.len() >= 8
                    && !is_slug(value)
                    && has_letter
                    && (has_digit || is_random(value) || bytes.iter().all(u8::is_ascii_alphabetic))
            }
        },
        Strictness::Anything => match form {
            Form::Quoted if value.bytes().any(|b| b.is_ascii_whitespace()) => !is_sentence(value),
            Form::Quoted => !is_name || (has_digit && !is_constant),
            Form::Environment => (has_digit || !is_name) && !is_constant && !is_code(value),
            Form::Bare => {
                let symbol = bytes
                    .iter()
                    .any(|b| b.is_ascii_punctuation() && !matches!(b, b'_' | b'-' | b'.' | b':' | b'/'));
                value.len() >= 6
                    && has_letter
                    && (has_digit || symbol || !is_slug(value))
                    && !is_name
                    && !is_constant
                    && !is_code(value)
                    && !(value.contains(['.', '/']) && is_slug(value))
            }
        },
    }
}

/// Whether a bare value is an expression of some language.
fn is_code(value: &str) -> bool {
    value.contains("::")
        || value.contains("->")
        || value.contains("=>")
        || value.contains("?.")
        || value.contains("()")
        || value.starts_with(['&', '*', '$', '@', '!', '(', '[', '{', '<', '|', '='])
            && value.bytes().skip(1).all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.'))
        || value.split_once('.').is_some_and(|(object, _)| {
            matches!(
                object,
                "self"
                    | "this"
                    | "process"
                    | "os"
                    | "env"
                    | "config"
                    | "args"
                    | "secrets"
                    | "var"
                    | "local"
                    | "data"
                    | "req"
                    | "request"
                    | "options"
                    | "opts"
                    | "props"
                    | "settings"
                    | "ctx"
            )
        })
}

/// Whether a value with spaces is a message about passwords instead of a passphrase.
fn is_sentence(value: &str) -> bool {
    value.len() > 200
        || TELLING.iter().any(|word| contains_ignoring_case(value, word))
        || value.split_ascii_whitespace().any(|word| {
            let word = word.trim_matches(|c: char| c.is_ascii_punctuation());
            SENTENCE.iter().any(|known| word.eq_ignore_ascii_case(known))
        })
}
