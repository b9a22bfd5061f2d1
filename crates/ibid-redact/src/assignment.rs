//! A telling name, what joins it to its value, and the value.

use crate::ascii::{self, before, byte, has, run, skip_blanks};
use crate::key_name::{self, Strictness, Telling};
use crate::kind::Kind;
use crate::value::{self, Form};
use crate::{header, mark, vendor};

/// A quoted value is looked at up to this length.
const LONGEST: usize = 16 * 1024;
/// A bare one, and a bare line, only up to this one: what runs on is data, and names in it are looked at again and again.
const LONGEST_BARE: usize = 512;
/// A cookie header is longer than other bare values.
const LONGEST_LINE: usize = 4096;
/// Quotes are escaped at most this often, which is a JSON text five levels deep.
const DEEPEST: usize = 32;

/// What stands between a name and its value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Joint {
    /// `=` with nothing around it.
    Tight,
    /// `:`, `=`, `:=`, `=>`
    Assigned,
    /// A comparison, a second argument, a verb: the value must look random.
    Loose,
    /// The blank after a `--flag`.
    Flag,
    /// `<name>`
    Element,
}

/// A value's place, and how it was written.
struct Place {
    start: usize,
    end: usize,
    form: Form,
    joint: Joint,
}

/// The secret that belongs to the name at `name_start..name_end`.
pub(crate) fn secret(text: &str, name_start: usize, name_end: usize) -> Option<(usize, usize, Kind)> {
    let bytes = text.as_bytes();
    let name = text.get(name_start..name_end)?;
    let (joint, at) = joint(bytes, name, name_start, name_end)?;
    let is_query = joint == Joint::Tight && matches!(before(bytes, name_start), b'?' | b'&');
    let telling = if is_query && key_name::is_url_signature(name) {
        Telling::Value(Kind::Secret, Strictness::Random)
    } else {
        key_name::telling(name.trim_start_matches(['-', '.']))?
    };
    match telling {
        Telling::Cookie => {
            if joint != Joint::Assigned {
                return None;
            }
            let place = cookies(bytes, at)?;
            header::cookie(text.get(place.0..place.1)?).then_some((place.0, place.1, Kind::Cookie))
        }
        Telling::Authorization => {
            let (start, limit) = between_quotes(bytes, at).unwrap_or((at, bytes.len()));
            let (start, end) = header::authorization(bytes, start, limit)?;
            Some((start, end, shaped(bytes, start, end).unwrap_or(Kind::Authorization)))
        }
        Telling::Value(kind, strictness) => {
            let place = place(bytes, name, joint, at)?;
            let found = text.get(place.start..place.end)?;
            if let Some(kind) = shaped(bytes, place.start, place.end) {
                return Some((place.start, place.end, kind));
            }
            let strictness = match (place.joint, strictness) {
                (Joint::Loose, Strictness::Anything) if place.form == Form::Bare => Strictness::Anything,
                (Joint::Loose, _) => Strictness::Random,
                // A lone `token` in an environment is one.
                (_, Strictness::Random) if place.form == Form::Environment && kind == Kind::Token => {
                    Strictness::Opaque
                }
                (_, strictness) => strictness,
            };
            value::is_secret(found, strictness, place.form).then_some((place.start, place.end, kind))
        }
    }
}

/// The kind of the vendor's token that fills a place.
fn shaped(text: &[u8], start: usize, end: usize) -> Option<Kind> {
    vendor::token_at(text, start).filter(|(token_end, _)| *token_end == end).map(|(_, kind)| kind)
}

/// Skips backslashes and one quote.
fn skip_quote(text: &[u8], at: usize) -> usize {
    let quote = run(text, at, DEEPEST, |b| b == b'\\');
    if matches!(byte(text, quote), b'"' | b'\'' | b'`') { quote + 1 } else { at }
}

/// What joins the name to what follows, and where the value may begin.
fn joint(text: &[u8], name: &str, name_start: usize, name_end: usize) -> Option<(Joint, usize)> {
    if before(text, name_start) == b'<' && byte(text, name_end) == b'>' {
        return Some((Joint::Element, name_end + 1));
    }
    let unquoted = skip_quote(text, name_end);
    let quoted = unquoted > name_end;
    let mut at = unquoted;
    if quoted && byte(text, at) == b']' {
        at += 1;
    }
    at = run(text, at, 2, |b| b == b'*');
    let blank = skip_blanks(text, at);
    match byte(text, blank) {
        b'=' if matches!(byte(text, blank + 1), b'=') => {
            let end = run(text, blank, 3, |b| b == b'=');
            Some((Joint::Loose, skip_blanks(text, end)))
        }
        b'=' if byte(text, blank + 1) == b'>' => Some((Joint::Assigned, skip_blanks(text, blank + 2))),
        b'=' => {
            let value = skip_blanks(text, blank + 1);
            let tight = blank == name_end && value == blank + 1;
            Some((if tight { Joint::Tight } else { Joint::Assigned }, value))
        }
        b':' if byte(text, blank + 1) == b'=' => Some((Joint::Assigned, skip_blanks(text, blank + 2))),
        // `Self::Token::new`, `:token:`
        b':' if byte(text, blank + 1) == b':' => None,
        b':' => Some((Joint::Assigned, skip_blanks(text, run(text, blank + 1, 2, |b| b == b'*')))),
        b'!' if has(text, blank, b"!=") => {
            let end = run(text, blank + 1, 2, |b| b == b'=');
            Some((Joint::Loose, skip_blanks(text, end)))
        }
        b',' if quoted => {
            let value = skip_blanks(text, blank + 1);
            (skip_quote(text, value) > value).then_some((Joint::Loose, value))
        }
        _ if blank > at && name.starts_with("--") && !quoted => Some((Joint::Flag, blank)),
        b'i' if blank > at && has(text, blank, b"is ") => Some((Joint::Loose, skip_blanks(text, blank + 3))),
        b'|' if blank > at && byte(text, blank + 1) == b' ' => {
            Some((Joint::Loose, skip_blanks(text, blank + 1)))
        }
        _ if blank > at && !quoted && key_name::is_screaming(name) && is_set(text, name_start) => {
            Some((Joint::Flag, blank))
        }
        _ if blank > at && name == "password" && is_netrc(text, name_start) => Some((Joint::Flag, blank)),
        _ => None,
    }
}

/// Whether a command that takes a name and a value stands right before a name: Docker's `ENV`, Windows' `setx`.
fn is_set(text: &[u8], at: usize) -> bool {
    text.get(..at).is_some_and(|before| before.ends_with(b"ENV ") || before.ends_with(b"setx "))
}

/// Whether `login` and a user name stand right before a name, as they do in a netrc line.
fn is_netrc(text: &[u8], at: usize) -> bool {
    let window = text.get(at.saturating_sub(96)..at).unwrap_or(&[]);
    let mut words =
        mark::after_last(window).rsplit(|b| b.is_ascii_whitespace()).filter(|word| !word.is_empty());
    words.next().is_some_and(|user| user != b"login" && !user.contains(&b']'))
        && words.next() == Some(b"login")
}

/// Where a quoted value that opens at `at` lies, between its quotes; `None` if none opens there.
///
/// Quotes may be escaped: the value ends at the same quote with no more backslashes before it than the opening had.
/// Where the text is cut off before the closing quote, the value ends with the text.
fn between_quotes(text: &[u8], at: usize) -> Option<(usize, usize)> {
    let opening = run(text, at, DEEPEST, |b| b == b'\\');
    let depth = opening - at;
    let quote = byte(text, opening);
    if !matches!(quote, b'"' | b'\'' | b'`') {
        return None;
    }
    let start = opening + 1;
    let mut backslashes = 0;
    let mut i = start;
    while i < text.len() && i - start < LONGEST {
        match byte(text, i) {
            b'\\' => backslashes += 1,
            b'\n' => return None,
            b if b == quote && (if depth == 0 { backslashes % 2 == 0 } else { backslashes <= depth }) => {
                return Some((start, i - backslashes.min(depth)));
            }
            _ => backslashes = 0,
        }
        i += 1;
    }
    (i == text.len()).then_some((start, i))
}

/// The cookies at `at`: between quotes, or what is left of the line (which an escaped line end, a quote or the text's end ends).
fn cookies(text: &[u8], at: usize) -> Option<(usize, usize)> {
    if let Some(place) = between_quotes(text, at) {
        return Some(place);
    }
    // A look at the first cookie's name keeps lines that hold none from being read over and over.
    let name = run(text, at, 128, |b| {
        b.is_ascii_graphic() && !matches!(b, b'=' | b':' | b'"' | b'\'' | b'(' | b'[')
    });
    if byte(text, name) != b'=' {
        return None;
    }
    let end =
        run(text, at, LONGEST_LINE, |b| !b.is_ascii_control() && !matches!(b, b'"' | b'\'' | b'`' | b'\\'));
    Some((at, end))
}

/// Where the value is that a joint leads to.
fn place(text: &[u8], name: &str, joint: Joint, at: usize) -> Option<Place> {
    if joint == Joint::Element {
        let end = run(text, at, LONGEST_BARE, |b| b != b'<' && !b.is_ascii_control());
        let closes = has(text, end, b"</") && has(text, end + 2, name.as_bytes());
        return closes.then_some(Place { start: at, end, form: Form::Quoted, joint });
    }
    if mark::end(text, at).is_some() {
        return None;
    }
    if let Some((start, end)) = between_quotes(text, at) {
        return Some(Place { start, end, form: Form::Quoted, joint });
    }
    // `b"..."`, `r'...'`
    let prefix = run(text, at, 2, |b| matches!(b, b'r' | b'b' | b'u' | b'R' | b'B' | b'@'));
    if prefix > at
        && let Some((start, end)) = between_quotes(text, prefix)
    {
        return Some(Place { start, end, form: Form::Quoted, joint });
    }
    // `Secret::new("...")`, `SecretStr('...')`
    let call = run(text, at, 40, |b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b':' | b'.'));
    if call > at && byte(text, call) == b'(' {
        let (start, end) = between_quotes(text, skip_blanks(text, call + 1))?;
        return Some(Place { start, end, form: Form::Quoted, joint: Joint::Loose });
    }
    // `API_KEY: &str = "..."`
    if joint == Joint::Assigned {
        let ty = run(text, at, 40, |b| {
            b.is_ascii_alphanumeric()
                || matches!(b, b'_' | b':' | b'&' | b'\'' | b' ' | b'<' | b'>' | b'?' | b'|')
        });
        if before(text, ty) == b' '
            && byte(text, ty) == b'='
            && byte(text, ty + 1) == b' '
            && let Some((start, end)) = between_quotes(text, ty + 2)
        {
            return Some(Place { start, end, form: Form::Quoted, joint });
        }
    }
    let environment = joint == Joint::Flag
        || (joint == Joint::Tight
            && (key_name::is_screaming(name) || name.starts_with("--") || name.starts_with('_')));
    let mut end = run(text, at, LONGEST_BARE + 1, |b| {
        !b.is_ascii_whitespace()
            && !b.is_ascii_control()
            && !matches!(b, b'"' | b'\'' | b'`' | b'\\' | b'<' | b'>')
            && (environment
                || !matches!(b, b',' | b';' | b'&' | b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'|'))
    });
    if end - at > LONGEST_BARE {
        return None;
    }
    if environment {
        // What ends a command is not part of its last argument.
        while end > at && matches!(before(text, end), b';' | b')' | b',' | b']' | b'}' | b'&' | b'|') {
            end -= 1;
        }
    } else if matches!(byte(text, end), b'(' | b'[' | b'{' | b'<') {
        return None;
    }
    if joint != Joint::Tight {
        while end > at && matches!(before(text, end), b'.' | b':' | b'*') {
            end -= 1;
        }
    }
    // A value that begins like a flag is the next flag.
    if joint == Joint::Flag && byte(text, at) == b'-' {
        return None;
    }
    let form = if environment { Form::Environment } else { Form::Bare };
    Some(Place { start: at, end, form, joint })
}

/// The secret in a whole string that stands under a name, as in a JSON text.
pub(crate) fn secret_in_string(telling: Telling, string: &str) -> Option<(usize, usize, Kind)> {
    let bytes = string.as_bytes();
    match telling {
        Telling::Cookie => header::cookie(string).then_some((0, string.len(), Kind::Cookie)),
        Telling::Authorization => {
            let (start, end) = header::authorization(bytes, ascii::skip_blanks(bytes, 0), bytes.len())?;
            Some((start, end, shaped(bytes, start, end).unwrap_or(Kind::Authorization)))
        }
        Telling::Value(kind, strictness) => {
            if let Some(kind) = shaped(bytes, 0, bytes.len()) {
                return Some((0, bytes.len(), kind));
            }
            if crate::pem::end(bytes, 0).is_some() {
                return None;
            }
            value::is_secret(string, strictness, Form::Quoted).then_some((0, string.len(), kind))
        }
    }
}
