//! Where the parts of a JSON text stand, so that one can be changed and the rest stays byte for
//! byte. Only for texts that a strict parser has accepted.

use std::ops::Range;

/// A value and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Outline {
    /// From its first byte to behind its last.
    pub(super) span: Range<usize>,
    /// What it is.
    pub(super) inside: Inside,
}

/// What a value is, as far as it matters here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Inside {
    /// Members, each with where its key begins.
    Object(Vec<Member>),
    /// Elements.
    Array(Vec<Outline>),
    /// A string, decoded.
    Text(String),
    /// A number, a boolean or null.
    Other,
}

/// A member of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Member {
    /// The key, decoded.
    pub(super) key: String,
    /// From the key's first byte to behind the value's last.
    pub(super) span: Range<usize>,
    /// The value.
    pub(super) value: Outline,
}

impl Outline {
    /// The outline of a text that is JSON. None when it is not, after all.
    pub(super) fn of(text: &str) -> Option<Outline> {
        let mut reader = Reader { text, at: 0 };
        reader.space();
        let outline = reader.value()?;
        reader.space();
        (reader.at == text.len()).then_some(outline)
    }

    /// The members, of an object.
    pub(super) fn members(&self) -> Option<&[Member]> {
        match &self.inside {
            Inside::Object(members) => Some(members),
            _ => None,
        }
    }

    /// The elements, of an array.
    pub(super) fn elements(&self) -> Option<&[Outline]> {
        match &self.inside {
            Inside::Array(elements) => Some(elements),
            _ => None,
        }
    }

    /// The member of this key, of an object. The last one counts, as it does for the program.
    pub(super) fn member(&self, key: &str) -> Option<&Member> {
        self.members()?.iter().rev().find(|member| member.key == key)
    }

    /// The string, of one.
    pub(super) fn text(&self) -> Option<&str> {
        match &self.inside {
            Inside::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The spans of what is in an object or array.
    pub(super) fn parts(&self) -> Vec<Range<usize>> {
        match &self.inside {
            Inside::Object(members) => members.iter().map(|member| member.span.clone()).collect(),
            Inside::Array(elements) => elements.iter().map(|element| element.span.clone()).collect(),
            _ => Vec::new(),
        }
    }
}

/// Reads from `at` on. The depth is bounded by the strict parser that accepted the text.
struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn next(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while self.next().is_some_and(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn take(&mut self, byte: u8) -> Option<()> {
        (self.next() == Some(byte)).then(|| self.at += 1)
    }

    fn value(&mut self) -> Option<Outline> {
        let start = self.at;
        let inside = match self.next()? {
            b'{' => self.object()?,
            b'[' => self.array()?,
            b'"' => Inside::Text(self.string()?),
            _ => {
                while self.next().is_some_and(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte)) {
                    self.at += 1;
                }
                (self.at > start).then_some(Inside::Other)?
            }
        };
        Some(Outline { span: start..self.at, inside })
    }

    fn object(&mut self) -> Option<Inside> {
        self.take(b'{')?;
        let mut members = Vec::new();
        self.space();
        if self.take(b'}').is_some() {
            return Some(Inside::Object(members));
        }
        loop {
            self.space();
            let start = self.at;
            let key = self.string()?;
            self.space();
            self.take(b':')?;
            self.space();
            let value = self.value()?;
            members.push(Member { key, span: start..self.at, value });
            self.space();
            if self.take(b',').is_none() {
                self.take(b'}')?;
                return Some(Inside::Object(members));
            }
        }
    }

    fn array(&mut self) -> Option<Inside> {
        self.take(b'[')?;
        let mut elements = Vec::new();
        self.space();
        if self.take(b']').is_some() {
            return Some(Inside::Array(elements));
        }
        loop {
            self.space();
            elements.push(self.value()?);
            self.space();
            if self.take(b',').is_none() {
                self.take(b']')?;
                return Some(Inside::Array(elements));
            }
        }
    }

    fn string(&mut self) -> Option<String> {
        let start = self.at;
        self.take(b'"')?;
        loop {
            match self.next()? {
                b'\\' => self.at += 2,
                b'"' => break self.at += 1,
                _ => self.at += 1,
            }
        }
        serde_json::from_str(self.text.get(start..self.at)?).ok()
    }
}
