//! What a list shows of a thread, from the two ends of its files.

use std::path::{Path, PathBuf};

use ibid_carrier::jsonl::{Records, open_from_end, open_scanner_with_buffer};
use ibid_carrier::names::is_conflict_copy;
use ibid_model::{CarrierInfo, CarrierRole, Finding, FindingKind, Relation, Text, Timestamp, TitleOrigin};
use memchr::memmem;

use super::codec::foreign;
use super::content::Part;
use super::event::{Event, Lane};
use super::pieces::{Pieces, Place};
use super::records::{self, Body, Record};
use super::state::State;
use super::vocabulary::{Seen, Teller};
use super::{Codex, files, store, thread_names};
use crate::core::scan::{ScanEvent, Sink};
use crate::core::{Class, Codec, Context, Discovered, Fold, Listed, Store, StoreError, path_text};

/// Holds the header and the first prompt of most threads.
const HEAD_BUFFER: usize = 32 << 10;

pub(super) fn describe(listed: &Listed, context: &Context<'_>) -> Result<Discovered, StoreError> {
    let reference = &listed.reference;
    let path = &reference.path;
    if path.extension().is_some_and(|extension| extension == "json") {
        return describe_whole(listed, context);
    }
    let chain = files::chain(path, &reference.root, context.limits)
        .map_err(|error| store::not_found(error, reference))?;
    let mut fold = Fold::default();
    let mut head = Head::read(&chain, store::named_id(path), &mut fold, context)?;
    if !head.ended {
        let (model, updated) = tail(&chain, head.upto, context)?;
        fold.meta.model = model.or(fold.meta.model);
        fold.meta.updated = updated.or(fold.meta.updated);
    }
    let id = fold.id.clone().unwrap_or_else(|| store::named_id(path));
    if fold.meta.preview.is_none()
        && let Some(text) = head.preview.take()
    {
        fold.meta.offer_preview(&text);
    }
    let mut findings: Vec<Finding> =
        fold.findings.iter().cloned().map(|finding| finding.at_path(path)).collect();
    let class = match (foreign(&head.state.census), head.is_blank) {
        (Some(reason), _) => {
            findings.push(Finding::new(FindingKind::ForeignContent, reason).at_path(path));
            Class::Foreign
        }
        (None, true) => Class::Other,
        (None, false) if fold.lineage.iter().any(|lineage| lineage.relation == Relation::Spawned) => {
            Class::Sidecar
        }
        (None, false) => Class::Session,
    };
    if head.ended && class != Class::Foreign && !head.is_blank && head.tells_nothing {
        let detail = format!("{} records", head.state.census.known);
        findings.push(Finding::new(FindingKind::NoTurns, detail).at_path(path));
    }
    let base = head.state.base().cloned();
    let first = chain.first().unwrap_or(path);
    let base = files::bases(base, first, &reference.root, context.limits)
        .map_err(|error| store::not_found(error, reference))?;
    let all: Vec<PathBuf> = chain.into_iter().chain(base).collect();
    finish(listed, id.text(), fold, &all, class, findings)
}

fn finish(
    listed: &Listed,
    id: &Text,
    fold: Fold,
    chain: &[PathBuf],
    class: Class,
    mut findings: Vec<Finding>,
) -> Result<Discovered, StoreError> {
    let Listed { reference, fingerprint, bytes } = listed.clone();
    if reference.path.file_name().is_some_and(|name| is_conflict_copy(&name.to_string_lossy())) {
        let detail = "its name is one that a copy gets";
        findings.push(Finding::new(FindingKind::ConflictCopy, detail).at_path(&reference.path));
    }
    let mut meta = fold.meta;
    meta.archived = reference
        .path
        .strip_prefix(&reference.root)
        .is_ok_and(|place| place.starts_with("archived_sessions"));
    if let Some(name) = thread_names::of(&reference.root, id) {
        meta.offer_title(&name, TitleOrigin::Person);
    }
    let carrier = |path: &PathBuf| CarrierInfo {
        path: path_text(path),
        role: CarrierRole::Transcript,
        key: None,
        bytes: match chain.len() {
            1 => Some(bytes),
            _ => path.metadata().ok().map(|metadata| metadata.len()),
        },
    };
    let carriers = chain.iter().map(carrier).collect();
    let id = id.clone().into();
    Ok(Discovered {
        reference,
        class,
        id,
        meta,
        lineage: fold.lineage,
        carriers,
        fingerprint,
        bytes,
        findings,
    })
}

/// A file that is one document has no ends to look at, and is small.
fn describe_whole(listed: &Listed, context: &Context<'_>) -> Result<Discovered, StoreError> {
    let transcript = Codex::load(&listed.reference, context)?;
    let chain = [listed.reference.path.clone()];
    match Codex::to_common(&transcript) {
        Ok(common) => {
            let session = common.session;
            let class = if session.messages.is_empty() { Class::Other } else { Class::Session };
            let mut fold = Fold::default();
            (fold.meta, fold.lineage) = (session.meta, session.lineage);
            finish(listed, session.id.text(), fold, &chain, class, common.findings)
        }
        Err(error) => {
            let finding = Finding::new(FindingKind::ForeignContent, error.to_string());
            let findings = vec![finding.at_path(&listed.reference.path)];
            finish(listed, transcript.id.text(), Fold::default(), &chain, Class::Foreign, findings)
        }
    }
}

/// What the beginning of a thread says.
struct Head {
    state: State,
    /// Where in the last file that was read it ends.
    upto: (usize, u64),
    /// Whether the end of the thread was reached.
    ended: bool,
    is_blank: bool,
    /// What a person said first, by events, where no item says it.
    preview: Option<Text>,
    /// Whether no record that was read tells a part of a conversation.
    tells_nothing: bool,
}

/// Takes what a list shows, and no message.
struct Facts<'a>(&'a mut Fold);

impl Sink for Facts<'_> {
    fn take(&mut self, event: ScanEvent) -> bool {
        match event {
            ScanEvent::Message(_) | ScanEvent::Call(_) | ScanEvent::Compaction(_) | ScanEvent::Event(_) => {
                true
            }
            event => self.0.take(event),
        }
    }
}

impl Head {
    /// Reads on until what a person said first is known from an item, and where the thread began.
    fn read(
        chain: &[PathBuf],
        named: ibid_model::SessionId,
        fold: &mut Fold,
        context: &Context<'_>,
    ) -> Result<Head, StoreError> {
        let mut facts = Facts(fold);
        let mut pieces = Pieces::new(State::default(), Some(named), &mut facts);
        let mut seen = Seen::default();
        let mut said: [Option<Text>; 2] = [None, None];
        let mut head = Head {
            state: State::default(),
            upto: (0, 0),
            ended: true,
            is_blank: true,
            preview: None,
            tells_nothing: true,
        };
        let mut read: Records<Record> = Records { items: Vec::new(), findings: Vec::new() };
        'files: for (number, path) in chain.iter().enumerate() {
            let mut scanner = open_scanner_with_buffer(path, 0, context.limits, HEAD_BUFFER)?;
            let compressed = path.extension().is_some_and(|extension| extension == "zst");
            while let Some(line) = scanner.next()? {
                head.upto = (number, line.end);
                line.read_into(&mut read, |text| records::read(&Text::from(text)));
                for item in read.items.drain(..) {
                    head.is_blank = false;
                    seen.look(&item.value);
                    if let Body::Event(event) = &item.value.body {
                        said_first(event, &mut said);
                    }
                    let place = Place {
                        carrier: u32::try_from(number).unwrap_or(u32::MAX),
                        start: item.start,
                        end: item.end,
                    };
                    pieces.take(item.value, place);
                }
                for finding in read.findings.drain(..) {
                    head.is_blank = false;
                    pieces.tell(ScanEvent::Finding(finding));
                }
                if pieces.knows_its_beginning() && !compressed {
                    head.ended = false;
                    break 'files;
                }
            }
        }
        let [message, completed] = said;
        head.preview = match seen.vocabulary().user {
            Teller::Items => None,
            Teller::Messages => message,
            Teller::Completed => completed,
        };
        head.state = pieces.state;
        head.tells_nothing = head.state.census.messages == 0 && seen == Seen::default();
        Ok(head)
    }
}

/// Keeps the first text that events of each kind tell.
fn said_first(event: &Event, said: &mut [Option<Text>; 2]) {
    let Event::User { parts, lane } = event else { return };
    let at = match lane {
        Lane::Message => 0,
        Lane::Completed => 1,
    };
    let text = parts.iter().find_map(|part| match part {
        Part::Text(text) if !text.is_blank() => Some(text),
        _ => None,
    });
    if let (Some(slot), Some(text)) = (said.get_mut(at), text) {
        slot.get_or_insert_with(|| text.clone());
    }
}

/// The last model that a turn names and the last time, from the end backwards, down to where the
/// head was read.
fn tail(
    chain: &[PathBuf],
    upto: (usize, u64),
    context: &Context<'_>,
) -> Result<(Option<Text>, Option<Timestamp>), StoreError> {
    let mut model = None;
    let mut updated = None;
    for (number, path) in chain.iter().enumerate().rev() {
        let stop = match number.cmp(&upto.0) {
            std::cmp::Ordering::Less => break,
            std::cmp::Ordering::Equal => upto.1,
            std::cmp::Ordering::Greater => 0,
        };
        tail_of(path, stop, (&mut model, &mut updated), context)?;
        if model.is_some() && updated.is_some() {
            break;
        }
    }
    Ok((model, updated))
}

fn tail_of(
    path: &Path,
    stop: u64,
    (model, updated): (&mut Option<Text>, &mut Option<Timestamp>),
    context: &Context<'_>,
) -> Result<(), StoreError> {
    let mut read: Records<Record> = Records { items: Vec::new(), findings: Vec::new() };
    let Some(mut lines) = open_from_end(path, context.limits)? else { return Ok(()) };
    let turn = memmem::Finder::new("\"turn_context\"");
    while model.is_none() || updated.is_none() {
        let Some(line) = lines.next()? else { break };
        if line.start < stop {
            break;
        }
        // Behind the last time, only turns are of interest.
        if updated.is_some() && turn.find(line.bytes).is_none() {
            continue;
        }
        line.read_into(&mut read, |text| records::read(&Text::from(text)));
        for item in read.items.drain(..).rev() {
            if updated.is_none() {
                *updated = item.value.at.known();
            }
            if let Body::Turn(turn) = item.value.body
                && model.is_none()
            {
                *model = turn.model;
            }
        }
    }
    Ok(())
}
