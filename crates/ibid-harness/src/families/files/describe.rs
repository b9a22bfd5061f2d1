//! What a list shows of a session, without reading all of a long one.

use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use ibid_carrier::file;
use ibid_carrier::jsonl::{Document, Limits, open_scanner};
use ibid_carrier::names::is_conflict_copy;
use ibid_carrier::zstd_file::is_zstd;
use ibid_carrier::{CarrierError, FileStamp};
use ibid_model::{CarrierRole, Extent, Finding, FindingKind, Message};
use memchr::memmem::Finder;
use serde::de::IgnoredAny;

use super::{FilesBody, FilesHarness, SessionFile, read_body, stays_inside};
use crate::core::{Class, CodecError, Common, Context, Discovered, Listed, StoreError, Transcript};

/// How much of each end of a long transcript is read: little at first, and more where that leaves
/// out what a list shows.
const END_BYTES: [u64; 2] = [16 << 10, 64 << 10];

/// Describes a session. Of a long transcript only the lines at both ends and those between with one
/// of the harness's needles are read, unless they leave out what a list shows.
///
/// # Errors
/// When a file of it cannot be read.
pub fn describe<H: FilesHarness>(listed: &Listed, context: &Context<'_>) -> Result<Discovered, StoreError> {
    for end_bytes in END_BYTES {
        let Some(ends) = Ends::read::<H>(listed, end_bytes, context.limits)? else { continue };
        let transcript: Transcript<H> = Transcript { id: H::id(&ends.body), body: ends.body.clone() };
        if let Ok(mut common) = H::to_common(&transcript)
            && ends.are_enough(&common)
        {
            // What lines that were passed over belong to must not read as missing.
            common.findings.clear();
            return Ok(discovered::<H>(listed, &transcript, common));
        }
    }
    let body = read_body::<H>(&listed.reference, context.limits)?;
    let transcript: Transcript<H> = Transcript { id: H::id(&body), body };
    match H::to_common(&transcript) {
        Ok(common) => Ok(discovered::<H>(listed, &transcript, common)),
        Err(CodecError::Foreign { reason, .. }) => Ok(foreign(listed, &transcript, reason)),
        Err(error) => Err(error.into()),
    }
}

fn discovered<H: FilesHarness>(listed: &Listed, transcript: &Transcript<H>, common: Common) -> Discovered {
    let path = &listed.reference.path;
    let class = H::class(&transcript.body, &common);
    let mut findings = common.findings;
    if path.file_name().is_some_and(|name| is_conflict_copy(&name.to_string_lossy())) {
        let detail = "its name is one that a copy gets";
        findings.push(Finding::new(FindingKind::ConflictCopy, detail).at_path(path));
    }
    Discovered {
        reference: listed.reference.clone(),
        class,
        id: common.session.id,
        meta: common.session.meta,
        lineage: common.session.lineage,
        carriers: transcript.body.infos(),
        fingerprint: listed.fingerprint.clone(),
        bytes: listed.bytes,
        findings,
    }
}

/// A file that another program wrote is listed as such, and is no failure of the store; one of which
/// nothing can be read says so beside.
fn foreign<H: FilesHarness>(listed: &Listed, transcript: &Transcript<H>, reason: String) -> Discovered {
    Discovered {
        reference: listed.reference.clone(),
        class: Class::Foreign,
        id: transcript.id.clone(),
        meta: ibid_model::Meta::default(),
        lineage: Vec::new(),
        carriers: transcript.body.infos(),
        fingerprint: listed.fingerprint.clone(),
        bytes: listed.bytes,
        findings: std::iter::once(Finding::new(FindingKind::ForeignContent, reason))
            .chain(transcript.body.files.iter().flat_map(damage))
            .map(|finding| finding.at_path(&listed.reference.path))
            .collect(),
    }
}

/// What is wrong with a file that holds no JSON at all: another program's file would hold some.
fn damage(file: &SessionFile) -> Vec<Finding> {
    let lines =
        file.path.as_ref().is_none_or(|path| path.extension().is_some_and(|ending| ending == "jsonl"));
    let is_json =
        || file.document.text().is_some_and(|text| serde_json::from_str::<IgnoredAny>(text).is_ok());
    if file.role == CarrierRole::Metadata || (!lines && is_json()) {
        return Vec::new();
    }
    let records = file.document.read_records(|text| serde_json::from_str::<IgnoredAny>(text));
    if records.items.is_empty() { records.findings } else { Vec::new() }
}

/// A session of which a long transcript was read at its ends alone.
struct Ends {
    body: FilesBody,
    /// Of each carrier that was shortened: its number, and where its last part begins in what was
    /// read.
    shortened: Vec<(u32, u64)>,
}

impl Ends {
    /// None when no transcript of the session is long.
    fn read<H: FilesHarness>(
        listed: &Listed,
        end_bytes: u64,
        limits: &Limits,
    ) -> Result<Option<Ends>, StoreError> {
        if listed.bytes <= 2 * end_bytes {
            return Ok(None);
        }
        let mut ends = Ends { body: FilesBody::default(), shortened: Vec::new() };
        for place in H::places(&listed.reference) {
            stays_inside(&listed.reference.root, &place.path)?;
            let lines = place.path.extension().is_some_and(|ending| ending == "jsonl");
            let (document, stamp) = match (place.role, FileStamp::at(&place.path)?) {
                (_, None) => continue,
                (CarrierRole::Transcript, Some(stamp)) if lines && stamp.size > 2 * end_bytes => {
                    let Some((bytes, tail)) = ends_of::<H>(&place.path, (stamp.size, end_bytes), limits)?
                    else {
                        return Ok(None);
                    };
                    ends.shortened.push((u32::try_from(ends.body.files.len()).unwrap_or(u32::MAX), tail));
                    (Document::from_bytes(bytes), Some(stamp))
                }
                _ => match Document::read(&place.path, limits) {
                    Ok(document) => (document.clone(), document.stamp()),
                    Err(CarrierError::NotFound { .. }) => continue,
                    Err(error) => return Err(error.into()),
                },
            };
            let (name, role, path) = (place.name, place.role, Some(place.path));
            ends.body.files.push(SessionFile { name, role, path, stamp, document });
        }
        Ok((!ends.shortened.is_empty()).then_some(ends))
    }

    /// Whether what was passed over cannot matter: the beginning names when, and what a person said;
    /// the end of each shortened file has a time and a model.
    fn are_enough(&self, common: &Common) -> bool {
        let meta = &common.session.meta;
        let head = meta.started.is_some() && meta.preview.is_some() && meta.cwd.is_some();
        let in_tail = |(carrier, tail): &(u32, u64)| {
            let here = |message: &&Message| {
                message.sources.iter().any(|source| match source.extent {
                    Extent::Bytes { start, .. } => source.carrier == *carrier && start >= *tail,
                    _ => false,
                })
            };
            let mut messages = common.session.messages.iter().filter(here);
            let mut models = messages.clone();
            messages.any(|message| message.at.is_some()) && models.any(|message| message.model.is_some())
        };
        head && self.shortened.iter().all(in_tail)
    }
}

/// The lines at both ends of a file and those between with a needle, and where the last part begins
/// in them; none when a line reaches over an end, or the size of the file is not that of its lines,
/// since it is compressed.
fn ends_of<H: FilesHarness>(
    path: &Path,
    (size, end_bytes): (u64, u64),
    limits: &Limits,
) -> Result<Option<(Vec<u8>, u64)>, StoreError> {
    match H::NEEDLES {
        [] => both_ends(path, size, end_bytes),
        needles => ends_and_needles(path, (size, end_bytes), needles, limits),
    }
}

/// The whole lines of both ends, without what is between.
fn both_ends(path: &Path, size: u64, end_bytes: u64) -> Result<Option<(Vec<u8>, u64)>, StoreError> {
    let (mut file, _) = file::open(path)?;
    let mut read = |at: u64| -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(at))?;
        Read::by_ref(&mut file).take(end_bytes).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let ends = read(0).and_then(|head| Ok((head, read(size.saturating_sub(end_bytes))?)));
    let (mut bytes, tail) = ends.map_err(|error| CarrierError::io(path, error))?;
    let end_of_head = bytes.iter().rposition(|byte| *byte == b'\n');
    let begin_of_tail = tail.iter().position(|byte| *byte == b'\n');
    let (Some(end), Some(begin)) = (end_of_head, begin_of_tail) else { return Ok(None) };
    let tail = tail.get(begin + 1..).unwrap_or_default();
    if tail.is_empty() || is_zstd(&bytes) {
        return Ok(None);
    }
    bytes.truncate(end + 1);
    let at = bytes.len() as u64;
    bytes.extend_from_slice(tail);
    Ok(Some((bytes, at)))
}

/// The lines of both ends, and those between with a needle.
fn ends_and_needles(
    path: &Path,
    (size, end_bytes): (u64, u64),
    needles: &[&str],
    limits: &Limits,
) -> Result<Option<(Vec<u8>, u64)>, StoreError> {
    let mut scanner = open_scanner(path, 0, limits)?;
    let needles: Vec<Finder<'_>> = needles.iter().map(Finder::new).collect();
    let mut bytes = Vec::new();
    let mut tail = None;
    let mut last = 0;
    while let Some(line) = scanner.next()? {
        last = line.end;
        let at_end = line.end.saturating_add(end_bytes) >= size;
        if line.oversize {
            return Ok(None);
        }
        if at_end {
            tail.get_or_insert(bytes.len() as u64);
        }
        let named = || needles.iter().any(|needle| needle.find(line.bytes).is_some());
        if at_end || line.start < end_bytes || named() {
            bytes.extend_from_slice(line.bytes);
            bytes.push(b'\n');
        }
    }
    // The last line may still be followed by its end; a compressed file holds far more.
    let plain = last <= size && last.saturating_add(2) >= size;
    Ok(tail.filter(|_| plain).map(|tail| (bytes, tail)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_are_whole_lines_from_the_first_to_the_last() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.jsonl");
        let lines: Vec<String> =
            (0..5000).map(|n| format!("{{\"n\":{n},\"x\":\"{}\"}}\n", "é".repeat(n % 97))).collect();
        std::fs::write(&path, lines.concat()).unwrap();
        let size = path.metadata().unwrap().len();
        let (bytes, tail) = both_ends(&path, size, 64 << 10).unwrap().unwrap();
        let text = String::from_utf8(bytes).unwrap();
        assert!(text.starts_with(&lines[0]) && text.ends_with(&lines[4999]));
        assert!(text.split_inclusive('\n').all(|line| lines.iter().any(|known| known == line)));
        assert!(text.len() <= 128 << 10 && (tail as usize) < text.len());
        assert!(text.as_bytes()[tail as usize - 1] == b'\n');
    }

    #[test]
    fn a_line_that_reaches_over_an_end_and_compressed_content_are_read_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.jsonl");
        std::fs::write(&path, format!("{{}}\n{}\n", "x".repeat(300 << 10))).unwrap();
        assert!(both_ends(&path, path.metadata().unwrap().len(), 64 << 10).unwrap().is_none());
        let mut compressed = zstd::encode_all(&b"{}\n"[..], 1).unwrap();
        compressed.extend(std::iter::repeat_n(b'\n', 300 << 10));
        std::fs::write(&path, compressed).unwrap();
        assert!(both_ends(&path, path.metadata().unwrap().len(), 64 << 10).unwrap().is_none());
    }
}
