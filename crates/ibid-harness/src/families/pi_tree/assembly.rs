//! The full read: every entry of a file, as one common session.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use ibid_model::{Block, Finding, FindingKind, Message, MessageId, Session, SessionId};

use super::place::{Place, id_of_path, subagent_of};
use super::reader::{Reader, Summary};
use super::records::Entry;
use super::{Dialect, TreeFile};
use crate::core::scan::{CallLedger, ScanEvent, Sink, Wants};
use crate::core::{Class, CodecError, Common, Fold};

/// Reads a whole file.
///
/// # Errors
/// When no entry of it is of a type that a pi-style program writes.
pub(crate) fn to_common(dialect: &'static Dialect, file: &TreeFile) -> Result<Common, CodecError> {
    let records = file.document.read_records(Entry::read);
    let mut reader = Reader::new(dialect, Wants::ALL);
    reader.of_subagent = file.document.path().and_then(subagent_of).is_some();
    let mut fold = Fold::default();
    let mut ledger = CallLedger::default();
    let mut messages = Messages::default();
    for item in &records.items {
        let place = Place { line: item.line, start: item.start, end: item.end };
        reader.take(&item.value, place, &mut |event| match event {
            ScanEvent::Message(message) => messages.take(message),
            ScanEvent::Call(call) => ledger.take(call),
            other => {
                fold.take(other);
            }
        });
    }
    let summary = reader.summary();
    if summary.known == 0 {
        let reason = match records.items.len() {
            0 => "it holds no entry at all".to_owned(),
            _ => "none of its lines is an entry that it writes".to_owned(),
        };
        return Err(CodecError::Foreign { harness: dialect.name, reason });
    }
    let mut findings: Vec<Finding> = file.document.findings().to_vec();
    findings.extend(records.findings);
    let path = file.document.path();
    let located = fold.findings.into_iter().map(|finding| match path {
        Some(path) => finding.at_path(path),
        None => finding,
    });
    findings.extend(merged(located));
    let info = file.info();
    let mut session = Session::new(dialect.harness, session_id(fold.id, info.path.as_str()));
    session.carriers = vec![info];
    session.meta = fold.meta;
    session.lineage = path.and_then(subagent_of).into_iter().chain(fold.lineage).collect();
    session.head = fold.head;
    session.compactions = fold.compactions;
    session.events = fold.events;
    session.calls = ledger.into_calls();
    session.messages = messages.list;
    findings.extend(pairing(&session.messages));
    findings.extend(no_turns(summary));
    Ok(Common { session, findings })
}

/// The id that the header says; else the one in the file's name; else none.
pub(super) fn session_id(said: Option<SessionId>, path: &str) -> SessionId {
    said.or_else(|| id_of_path(path).map(SessionId::from)).unwrap_or_default()
}

/// What kind of thing a file is, by what was read of it.
pub(crate) fn class_of(path: &Path, summary: Summary, is_blank: bool) -> Class {
    if is_blank {
        Class::Other
    } else if summary.known == 0 {
        Class::Foreign
    } else if subagent_of(path).is_some() {
        Class::Sidecar
    } else if !summary.header || summary.beheaded {
        Class::Partial
    } else {
        Class::Session
    }
}

/// That a session has entries that could be messages, and yet no turns.
pub(super) fn no_turns(summary: Summary) -> Option<Finding> {
    let silent = summary.turns == 0 && summary.strange > 0;
    silent.then(|| Finding::new(FindingKind::NoTurns, "entries, but no message of a person or a model"))
}

/// The messages in the order of the file; one whose id comes again replaces the first.
#[derive(Default)]
struct Messages {
    list: Vec<Message>,
    places: HashMap<MessageId, usize>,
}

impl Messages {
    fn take(&mut self, message: Message) {
        match self.places.get(&message.id).and_then(|at| self.list.get_mut(*at)) {
            Some(earlier) => {
                let mut sources = std::mem::take(&mut earlier.sources);
                sources.extend(message.sources.iter().cloned());
                let parent = earlier.parent.take();
                *earlier = Message { sources, parent, ..message };
            }
            None => {
                self.places.insert(message.id.clone(), self.list.len());
                self.list.push(message);
            }
        }
    }
}

/// Findings of one kind and one wording as one, at the first place.
fn merged(findings: impl Iterator<Item = Finding>) -> Vec<Finding> {
    let mut merged: Vec<Finding> = Vec::new();
    let mut places: HashMap<(FindingKind, String), usize> = HashMap::new();
    for finding in findings {
        let key = (finding.kind, finding.detail.to_string());
        match places.get(&key).and_then(|at| merged.get_mut(*at)) {
            Some(first) => first.count = first.count.saturating_add(finding.count),
            None => {
                places.insert(key, merged.len());
                merged.push(finding);
            }
        }
    }
    merged
}

/// Calls without results, and results without calls.
fn pairing(messages: &[Message]) -> Vec<Finding> {
    let mut open: HashSet<&str> = HashSet::new();
    let mut called: HashSet<&str> = HashSet::new();
    let mut orphans = 0;
    for block in messages.iter().flat_map(|message| &message.blocks) {
        match block {
            Block::ToolUse(call) => {
                called.insert(call.id.as_str());
                open.insert(call.id.as_str());
            }
            Block::ToolResult(result) => {
                open.remove(result.call.as_str());
                orphans += u64::from(!called.contains(result.call.as_str()));
            }
            _ => {}
        }
    }
    let mut findings = Vec::new();
    if !open.is_empty() {
        let finding = Finding::new(FindingKind::CallWithoutResult, "tool calls without a result");
        findings.push(finding.times(open.len() as u64));
    }
    if orphans > 0 {
        let finding = Finding::new(FindingKind::ResultWithoutCall, "tool results without a call before them");
        findings.push(finding.times(orphans));
    }
    findings
}
