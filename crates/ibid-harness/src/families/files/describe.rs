//! What a list shows of a session, without reading all of a long one.

use ibid_carrier::jsonl::{Document, Limits, open_scanner};
use ibid_carrier::names::is_conflict_copy;
use ibid_carrier::{CarrierError, FileStamp};
use ibid_model::{CarrierRole, Extent, Finding, FindingKind, Message};
use memchr::memmem::Finder;

use super::{FilesBody, FilesHarness, SessionFile, read_body};
use crate::core::{Class, CodecError, Common, Context, Discovered, Listed, StoreError, Transcript};

/// How much of each end of a long transcript is read.
const END_BYTES: u64 = 256 << 10;

/// Describes a session. Of a long transcript only the lines at both ends and those between with one
/// of the harness's needles are read, unless they leave out what a list shows.
///
/// # Errors
/// When a file of it cannot be read.
pub fn describe<H: FilesHarness>(listed: &Listed, context: &Context<'_>) -> Result<Discovered, StoreError> {
    if let Some(ends) = Ends::read::<H>(listed, context.limits)? {
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

/// A file that another program wrote is listed as such, and is no failure of the store.
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
        findings: vec![Finding::new(FindingKind::ForeignContent, reason).at_path(&listed.reference.path)],
    }
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
    fn read<H: FilesHarness>(listed: &Listed, limits: &Limits) -> Result<Option<Ends>, StoreError> {
        if listed.bytes <= 2 * END_BYTES {
            return Ok(None);
        }
        let mut ends = Ends { body: FilesBody::default(), shortened: Vec::new() };
        for place in H::places(&listed.reference) {
            let lines = place.path.extension().is_some_and(|ending| ending == "jsonl");
            let (document, stamp) = match (place.role, FileStamp::at(&place.path)?) {
                (_, None) => continue,
                (CarrierRole::Transcript, Some(stamp)) if lines && stamp.size > 2 * END_BYTES => {
                    let Some((bytes, tail)) = ends_of::<H>(&place.path, stamp.size, limits)? else {
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
/// in them; none when the size of the file is not that of its lines, since it is compressed.
fn ends_of<H: FilesHarness>(
    path: &std::path::Path,
    size: u64,
    limits: &Limits,
) -> Result<Option<(Vec<u8>, u64)>, StoreError> {
    let mut scanner = open_scanner(path, 0, limits)?;
    let needles: Vec<Finder<'_>> = H::NEEDLES.iter().map(|needle| Finder::new(*needle)).collect();
    let mut bytes = Vec::new();
    let mut tail = None;
    let mut last = 0;
    while let Some(line) = scanner.next()? {
        last = line.end;
        let at_end = line.end.saturating_add(END_BYTES) >= size;
        if line.oversize {
            return Ok(None);
        }
        if at_end {
            tail.get_or_insert(bytes.len() as u64);
        }
        let named = || needles.iter().any(|needle| needle.find(line.bytes).is_some());
        if at_end || line.start < END_BYTES || named() {
            bytes.extend_from_slice(line.bytes);
            bytes.push(b'\n');
        }
    }
    // The last line may still be followed by its end; a compressed file holds far more.
    let plain = last <= size && last.saturating_add(2) >= size;
    Ok(tail.filter(|_| plain).map(|tail| (bytes, tail)))
}
