//! Which session a person means.

use std::path::{Path, PathBuf};

use ibid_model::Span;

use super::{Discovered, HarnessId};

/// What a person wrote to name a session: `harness:id`, an id or its beginning, an exact title,
/// or a path; and perhaps `#5-12` behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionName {
    /// The name without harness and range.
    pub text: String,
    /// The harness, if one was named.
    pub harness: Option<HarnessId>,
    /// The messages, if some were picked.
    pub span: Option<Span>,
}

/// Why a name cannot be read.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum NameError {
    /// Nothing is left to look for.
    #[error("the name of a session is empty; give `harness:id`, the beginning of an id, a title or a path")]
    Empty,
    /// The range is none.
    #[error("`#{0}` is no range of messages; write `#7`, `#5-12`, `#5-` or `#-10`, counted from 1")]
    Range(String),
}

impl SessionName {
    /// Reads a name.
    ///
    /// # Errors
    /// When it is empty, or its range is none.
    pub fn parse(text: &str) -> Result<SessionName, NameError> {
        let (name, span) = match text.rsplit_once('#') {
            Some((name, range)) if !name.is_empty() && looks_like_range(range) => {
                (name, Some(parse_range(range).ok_or_else(|| NameError::Range(range.to_owned()))?))
            }
            _ => (text, None),
        };
        let (harness, rest) = match name.split_once(':') {
            Some((harness, rest)) => match crate::find(harness) {
                Some(found) => (Some(found.declaration().id), rest),
                None => (None, name),
            },
            None => (None, name),
        };
        if rest.is_empty() {
            return Err(NameError::Empty);
        }
        Ok(SessionName { text: rest.to_owned(), harness, span })
    }

    /// The path, if the name is one that exists.
    #[must_use]
    pub fn as_existing_path(&self) -> Option<PathBuf> {
        let path = Path::new(&self.text);
        path.exists().then(|| path.to_owned())
    }
}

fn looks_like_range(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit() || b == b'-')
}

fn parse_range(text: &str) -> Option<Span> {
    let number = |digits: &str| digits.parse::<usize>().ok().filter(|number| *number > 0);
    let (start, end) = match text.split_once('-') {
        None => {
            let at = number(text)?;
            (at, at)
        }
        Some(("", "")) => return None,
        Some(("", end)) => (1, number(end)?),
        Some((start, "")) => (number(start)?, usize::MAX),
        Some((start, end)) => (number(start)?, number(end)?),
    };
    (start <= end).then(|| Span { start: start - 1, end })
}

/// What a name means among the sessions that are there.
#[derive(Clone, Debug, PartialEq)]
pub enum Resolution<'a> {
    /// One session.
    One(&'a Discovered),
    /// None.
    Nothing,
    /// Several; the person has to say which.
    Ambiguous(Vec<&'a Discovered>),
}

/// Finds the session that a name means: an exact id first, then an exact title, then the
/// beginning of an id. Nothing is ever chosen from several.
#[must_use]
pub fn resolve<'a>(name: &SessionName, sessions: impl IntoIterator<Item = &'a Discovered>) -> Resolution<'a> {
    let candidates: Vec<&Discovered> = sessions
        .into_iter()
        .filter(|session| name.harness.is_none_or(|harness| session.reference.harness == harness))
        .collect();
    let exact = |session: &&Discovered| session.id.as_str() == name.text;
    let titled = |session: &&Discovered| {
        session.meta.title.as_ref().is_some_and(|title| title.text.trim() == name.text.trim())
    };
    let prefixed = |session: &&Discovered| session.id.as_str().starts_with(&name.text);
    let rules: [&dyn Fn(&&Discovered) -> bool; 3] = [&exact, &titled, &prefixed];
    for rule in rules {
        let found: Vec<&Discovered> = candidates.iter().copied().filter(|session| rule(session)).collect();
        match found.as_slice() {
            [] => {}
            [one] => return Resolution::One(one),
            _ => return Resolution::Ambiguous(found),
        }
    }
    Resolution::Nothing
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_count_from_one_and_include_their_end() {
        let span = |text: &str| SessionName::parse(text).unwrap().span.map(|s| (s.start, s.end));
        assert_eq!(span("abc#7"), Some((6, 7)));
        assert_eq!(span("abc#5-12"), Some((4, 12)));
        assert_eq!(span("abc#5-"), Some((4, usize::MAX)));
        assert_eq!(span("abc#-10"), Some((0, 10)));
        assert_eq!(span("issue #x"), None);
    }

    #[test]
    fn a_range_that_is_none_is_refused() {
        for text in ["abc#0", "abc#9-3", "abc#-", "abc#1-2-3"] {
            assert!(matches!(SessionName::parse(text), Err(NameError::Range(_))), "{text}");
        }
        assert_eq!(SessionName::parse(""), Err(NameError::Empty));
    }
}
