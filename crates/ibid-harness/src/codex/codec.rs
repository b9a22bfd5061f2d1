//! Between rollouts and the common session.

use ibid_carrier::jsonl::{Document, Item};
use ibid_model::{
    Argument, Block, CallId, Finding, FindingKind, Json, Meta, Outcome, Relation, ResultPart, Session,
    SessionId, Text, TitleOrigin, Tool,
};

use super::pieces::{Branch, Pieces, Place};
use super::records::{self, Body, Record};
use super::state::{Census, State};
use super::tools::{self, Input};
use super::vocabulary::Seen;
use super::{Codex, DECLARATION, Rollout, Rollouts, answers, whole};
use crate::core::{
    Carriers, Codec, CodecError, Common, Converted, Fold, Target, TextCodec, Transcript, derived_uuid,
};

/// The records of one file, and what is wrong with its lines.
pub(super) fn read_records(document: &Document) -> (Vec<Item<Record>>, Vec<Finding>) {
    let mut findings = document.findings().to_vec();
    let items = match whole::records(document) {
        Some(items) => items,
        None => {
            let records = document.read_records(records::read);
            findings.extend(records.findings);
            records.items
        }
    };
    (items, findings)
}

/// The first header among records.
pub(super) fn header(items: &[Item<Record>]) -> Option<&records::SessionMeta> {
    items.iter().find_map(|item| match &item.value.body {
        Body::Meta(meta) => Some(&**meta),
        _ => None,
    })
}

/// Whether the records are none that Codex writes to its store.
pub(super) fn foreign(census: &Census) -> Option<&'static str> {
    if census.known > 0 {
        None
    } else if census.stream > 0 {
        Some(
            "this is what `codex exec --json` prints, not the rollout that Codex keeps; open the rollout of the same thread",
        )
    } else if census.strangers > 0 {
        Some("its lines are objects, and none has the shape of a rollout record")
    } else {
        None
    }
}

impl Codec for Codex {
    fn to_common(transcript: &Transcript<Codex>) -> Result<Common, CodecError> {
        let Rollouts { files, base, .. } = &transcript.body;
        // The base tells its story first; its place among the carriers is behind the own files.
        let order = (files.len()..files.len() + base.len()).chain(0..files.len());
        let read: Vec<_> = base.iter().chain(files).map(|file| read_records(&file.document)).collect();
        let mut seen = Seen::default();
        for (items, _) in &read {
            items.iter().for_each(|item| seen.look(&item.value));
        }
        // Where each file leaves the one before it.
        let cuts: Vec<u64> = read
            .iter()
            .skip(1)
            .map(|(items, _)| {
                header(items).and_then(|meta| meta.history_base.as_ref()).map_or(u64::MAX, |base| base.end)
            })
            .chain([u64::MAX])
            .collect();
        let mut fold = Fold::default();
        let state = State::reading(seen.vocabulary());
        let mut pieces = Pieces::new(state, Some(transcript.id.clone()), &mut fold);
        let mut findings = Vec::new();
        for (((items, found), cut), carrier) in read.into_iter().zip(cuts).zip(order) {
            pieces.file_of(carrier < files.len());
            findings.extend(found);
            let left = take_file(&mut pieces, items, u32::try_from(carrier).unwrap_or(u32::MAX), cut);
            if let Some(branch) = left {
                pieces.branch(branch);
            }
        }
        pieces.finish();
        let state = pieces.state;
        if let Some(reason) = foreign(&state.census) {
            return Err(CodecError::Foreign { harness: DECLARATION.name, reason: reason.to_owned() });
        }
        let mut session = session(transcript, fold, &mut findings);
        session.reported_usage = state.reported_usage();
        if state.census.known > 0 && state.census.messages == 0 {
            findings.push(Finding::new(FindingKind::NoTurns, format!("{} records", state.census.known)));
        }
        if base.is_empty()
            && state.base().is_some()
            && session.messages.iter().all(|message| !message.inherited)
        {
            let detail = "the rollout that it goes on from is not in the store, so its beginning is missing";
            findings.push(Finding::new(FindingKind::MissingParent, detail));
        }
        findings.extend(unpaired(&session));
        Ok(Common { session, findings })
    }

    fn from_common(session: &Session, target: &Target) -> Result<Converted<Transcript<Codex>>, CodecError> {
        super::write::from_common(session, target)
    }

    fn read_call(name: &Text, input: &Json) -> (Tool, Vec<Argument>) {
        let input = match input.as_string() {
            Some(text) => Input::Free(text.into()),
            None => Input::Arguments(input.clone()),
        };
        tools::decode(name, input)
    }

    fn read_answer(text: &Text) -> (Text, Outcome) {
        let answer = answers::read_text(text);
        let said = answer.parts.into_iter().find_map(|part| match part {
            ResultPart::Text(text) => Some(text.text),
            _ => None,
        });
        (said.unwrap_or_default(), answer.outcome)
    }
}

/// Takes the records of one file. What stands at its cut comes back, for the next file to go on
/// from; the records behind it are a side branch then.
fn take_file(pieces: &mut Pieces<'_>, items: Vec<Item<Record>>, carrier: u32, cut: u64) -> Option<Branch> {
    let mut left = None;
    for item in items {
        if item.end > cut && left.is_none() {
            left = Some(pieces.here());
        }
        pieces.take(item.value, Place { carrier, start: item.start, end: item.end });
    }
    if cut == u64::MAX { None } else { Some(left.unwrap_or_else(|| pieces.here())) }
}

fn session(transcript: &Transcript<Codex>, fold: Fold, findings: &mut Vec<Finding>) -> Session {
    let calls = fold.calls();
    let mut session = Session::new(DECLARATION.id.as_str(), fold.id.unwrap_or_else(|| transcript.id.clone()));
    session.meta = Meta { archived: transcript.body.archived(), ..fold.meta };
    if let Some(name) = &transcript.body.name {
        session.meta.offer_title(name, TitleOrigin::Person);
    }
    session.lineage = fold.lineage;
    session.messages = fold.messages;
    session.head = fold.head;
    session.compactions = fold.compactions;
    session.events = fold.events;
    session.calls = calls;
    session.carriers = transcript.body.carriers().into_iter().map(|carrier| carrier.info).collect();
    findings.extend(fold.findings);
    let last =
        session.messages.iter().rev().find(|message| message.inherited).map(|message| message.id.clone());
    for lineage in &mut session.lineage {
        if matches!(lineage.relation, Relation::Forked | Relation::Spawned) {
            lineage.at.clone_from(&last);
        }
    }
    session
}

/// Calls without results and results without calls.
fn unpaired(session: &Session) -> Vec<Finding> {
    let mut calls = std::collections::HashSet::new();
    let mut results = std::collections::HashSet::new();
    for block in session.messages.iter().flat_map(|message| &message.blocks) {
        match block {
            Block::ToolUse(call) => calls.insert(&call.id),
            Block::ToolResult(result) => results.insert(&result.call),
            _ => false,
        };
    }
    let count = |some: &std::collections::HashSet<&CallId>, others: &std::collections::HashSet<&CallId>| {
        some.difference(others).count() as u64
    };
    let mut findings = Vec::new();
    let without_result = count(&calls, &results);
    if without_result > 0 {
        let detail = "tool calls that no record answers";
        findings.push(Finding::new(FindingKind::CallWithoutResult, detail).times(without_result));
    }
    let without_call = count(&results, &calls);
    if without_call > 0 {
        let detail = "tool results whose call is not in the file";
        findings.push(Finding::new(FindingKind::ResultWithoutCall, detail).times(without_call));
    }
    findings
}

impl TextCodec for Codex {
    fn from_text(text: &[u8]) -> Result<Transcript<Codex>, CodecError> {
        let document = Document::from_bytes(text.to_vec());
        let (items, _) = read_records(&document);
        let named = header(&items).and_then(|meta| meta.id.clone());
        let id = named.unwrap_or_else(|| {
            SessionId::from(derived_uuid("codex text", &String::from_utf8_lossy(text)).to_string())
        });
        // Several files of one thread stand one behind the other; each begins with its header.
        let mut starts: Vec<u64> = items
            .iter()
            .filter_map(|item| match &item.value.body {
                Body::Meta(meta) if meta.id.as_ref() == Some(&id) && meta.history_base.is_some() => {
                    Some(item.start)
                }
                _ => None,
            })
            .filter(|start| *start > 0)
            .collect();
        starts.insert(0, 0);
        let ends = starts.iter().skip(1).copied().chain([text.len() as u64]);
        let mut files = Vec::new();
        for (start, end) in starts.iter().zip(ends) {
            let part = usize::try_from(*start).ok().zip(usize::try_from(end).ok());
            let part = part.and_then(|(start, end)| text.get(start..end)).unwrap_or_default();
            files.push(Rollout::unplaced(Document::from_bytes(part.to_vec())));
        }
        let transcript = Transcript { id, body: Rollouts { files, base: Vec::new(), name: None } };
        // Says so when it is nothing of Codex.
        Codex::to_common(&transcript)?;
        Ok(transcript)
    }

    fn to_text(transcript: &Transcript<Codex>) -> Result<Vec<u8>, CodecError> {
        let mut text = Vec::new();
        for file in &transcript.body.files {
            if text.last().is_some_and(|byte| *byte != b'\n') {
                text.push(b'\n');
            }
            text.extend_from_slice(file.document.bytes());
        }
        Ok(text)
    }
}
