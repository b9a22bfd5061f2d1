//! Whether the files of a session hold the path of a project at all.
//!
//! This decides nothing by itself: it is so much faster than reading sessions that only those
//! that pass it need be read.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use ibid_carrier::{CarrierError, zstd_file};
use memchr::memmem::Finder;
use unicode_normalization::UnicodeNormalization;

use crate::workspace::Workspace;

/// How much is read at once. It stays in a processor's cache while it is searched.
const BUFFER: usize = 256 << 10;

/// What compressed content may decompress to, in bytes.
const DECOMPRESSED: u64 = 4 << 30;

thread_local! {
    static SPACE: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// The ways in which JSON spells a path at the beginning of a string.
#[derive(Debug)]
pub(crate) struct Needles {
    finders: Vec<Finder<'static>>,
    longest: usize,
    ignores_case: bool,
}

impl Needles {
    /// The spellings of a project's paths.
    pub(crate) fn of(workspace: &Workspace) -> Needles {
        let ignores_case = workspace.ignores_case();
        let mut spellings: Vec<Vec<u8>> = Vec::new();
        for path in workspace.paths() {
            let Some(path) = path.to_str() else { continue };
            let forms = [path.to_owned(), path.nfc().collect(), path.nfd().collect::<String>()];
            let turned = |path: &String| path.replace('\\', "/");
            let all = forms.iter().cloned().chain(forms.iter().filter(|_| ignores_case).map(turned));
            for form in all {
                for (slash, letters) in [
                    (false, Letters::Plain),
                    (true, Letters::Plain),
                    (false, Letters::Lower),
                    (true, Letters::Lower),
                    (false, Letters::Upper),
                    (true, Letters::Upper),
                ] {
                    let mut spelling = spelled(form.trim_end_matches(['/', '\\']), slash, letters);
                    if ignores_case {
                        spelling.make_ascii_lowercase();
                    }
                    if !spellings.contains(&spelling) {
                        spellings.push(spelling);
                    }
                }
            }
        }
        let longest = spellings.iter().map(Vec::len).max().unwrap_or(0);
        let finders = spellings.iter().map(|spelling| Finder::new(spelling).into_owned()).collect();
        Needles { finders, longest, ignores_case }
    }

    /// Whether a file holds one of them, followed by the end of a component. What is no regular
    /// file holds none.
    ///
    /// # Errors
    /// When it cannot be read, but not when it is gone.
    pub(crate) fn in_file(&self, path: &Path, cancelled: &AtomicBool) -> Result<bool, CarrierError> {
        let io = |error| CarrierError::io(path, error);
        let (file, stamp) = match ibid_carrier::file::open(path) {
            Ok(opened) => opened,
            Err(CarrierError::NotFound { .. } | CarrierError::NotAFile { .. }) => return Ok(false),
            Err(error) => return Err(error),
        };
        SPACE.with_borrow_mut(|space| {
            space.resize(BUFFER, 0);
            let mut source = Source { file: &file, begun: Vec::new(), left: stamp.size };
            let mut head = [0; 4];
            let read = fill(&mut source, &mut head).map_err(io)?;
            let head = head.get(..read).unwrap_or_default();
            source.begun = head.to_vec();
            if zstd_file::is_zstd(head) {
                let allowed = zstd_file::allowance(stamp.size, DECOMPRESSED);
                let decoder = zstd::stream::read::Decoder::new(source).map_err(io)?;
                // Damage is for the reader to report; what stands before it counts.
                return Ok(self.search(decoder.take(allowed), space, cancelled).unwrap_or(false));
            }
            self.search(source, space, cancelled).map_err(io)
        })
    }

    fn search(&self, mut from: impl Read, space: &mut [u8], cancelled: &AtomicBool) -> io::Result<bool> {
        let mut kept = 0;
        loop {
            let Some(free) = space.get_mut(kept..) else { return Ok(false) };
            let read = fill(&mut from, free)?;
            let ended = read < free.len();
            if self.ignores_case {
                free.get_mut(..read).unwrap_or_default().make_ascii_lowercase();
            }
            let filled = space.get(..kept + read).unwrap_or_default();
            if self.in_bytes(filled, ended) {
                return Ok(true);
            }
            if ended || cancelled.load(Ordering::Relaxed) {
                return Ok(false);
            }
            // A spelling and the byte behind it may be cut in two.
            let tail = filled.len().saturating_sub(self.longest.min(filled.len() / 2));
            let end = filled.len();
            space.copy_within(tail..end, 0);
            kept = end - tail;
        }
    }

    fn in_bytes(&self, bytes: &[u8], ended: bool) -> bool {
        self.finders.iter().any(|finder| {
            finder.find_iter(bytes).any(|at| match bytes.get(at + finder.needle().len()) {
                Some(next) => matches!(next, b'"' | b'/' | b'\\'),
                None => ended,
            })
        })
    }
}

/// How letters beyond ASCII are written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Letters {
    Plain,
    /// As `\u00e9`.
    Lower,
    /// As `\u00E9`.
    Upper,
}

/// The beginning of a JSON string with this text.
fn spelled(text: &str, slash: bool, letters: Letters) -> Vec<u8> {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '/' if slash => out.push_str("\\/"),
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if c.is_ascii() || letters == Letters::Plain => out.push(c),
            c => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    out.push_str(&match letters {
                        Letters::Upper => format!("\\u{unit:04X}"),
                        _ => format!("\\u{unit:04x}"),
                    });
                }
            }
        }
    }
    out.into_bytes()
}

/// A file from its beginning, at most as long as it was when it was opened.
struct Source<'a> {
    file: &'a File,
    /// What was read of it already.
    begun: Vec<u8>,
    left: u64,
}

impl Read for Source<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.begun.is_empty() {
            let count = self.begun.len().min(buffer.len());
            for (to, from) in buffer.iter_mut().zip(self.begun.drain(..count)) {
                *to = from;
            }
            return Ok(count);
        }
        let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(buffer.len());
        let read = self.file.read(buffer.get_mut(..most).unwrap_or_default())?;
        self.left = self.left.saturating_sub(read as u64);
        Ok(read)
    }
}

/// Fills the buffer as far as the source goes.
fn fill(from: &mut impl Read, mut buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while !buffer.is_empty() {
        match from.read(buffer) {
            Ok(0) => break,
            Ok(read) => {
                filled += read;
                buffer = buffer.get_mut(read..).unwrap_or_default();
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(workspace: &str, content: impl AsRef<[u8]>) -> bool {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, content).unwrap();
        let workspace = Workspace::of(Path::new(workspace), Path::new("/home/u")).unwrap();
        Needles::of(&workspace).in_file(&path, &AtomicBool::new(false)).unwrap()
    }

    #[test]
    fn every_spelling_of_a_path_is_found_and_no_longer_name() {
        for inside in [r#"{"cwd":"/w/demo"}"#, r#"{"cwd":"/w/demo/src"}"#, r#"{"cwd":"\/w\/demo"}"#] {
            assert!(found("/w/demo", inside), "{inside}");
        }
        for outside in [r#"{"cwd":"/w/demo2"}"#, r#"{"cwd":"/x/w/demo"}"#, r#"{"cwd":"/w"}"#, ""] {
            assert!(!found("/w/demo", outside), "{outside}");
        }
        for spelling in ["\"/w/caf\u{e9}\"", "\"/w/cafe\u{301}\"", r#""/w/caf\u00e9""#, r#""/w/caf\u00E9/x""#]
        {
            assert!(found("/w/café", spelling), "{spelling}");
        }
        assert!(found("/w/日本", r#""\/w\/\u65E5\u672C""#));
        for windows in [r#""c:\\repo\\app""#, r#""C:/Repo/App/src""#] {
            assert!(found(r"C:\Repo\App", windows), "{windows}");
        }
    }

    #[test]
    fn a_path_across_the_end_of_a_buffer_is_found() {
        for before in (BUFFER - 20)..(BUFFER + 4) {
            let mut content = vec![b'x'; before];
            content.extend(b"\"/w/demo\"");
            assert!(found("/w/demo", &content), "{before}");
            content.truncate(before);
            content.extend(b"\"/w/demolition\"");
            content.extend(vec![b'y'; BUFFER]);
            assert!(!found("/w/demo", &content), "{before}");
        }
    }

    #[test]
    fn compressed_content_is_searched_too() {
        let content = zstd::encode_all(&b"{\"cwd\":\"/w/demo\"}"[..], 0).unwrap();
        assert!(found("/w/demo", content));
    }
}
