//! Streaming a session: its rows from any point on, with what the record says around them.

use ibid_carrier::jsonl::Document;
use ibid_model::{Finding, Meta, SessionId, Timestamp, TitleOrigin};
use serde::{Deserialize, Serialize};

use super::describe::{meta_of, named_otherwise, spawner};
use super::files::Files;
use super::load::{absent, id_of, load, parent_id, read_record};
use super::place::{self, SubagentPlace};
use super::record::{self, Record};
use super::{Cowork, subagent_id};
use crate::core::scan::{Control, Cursor, Fact, ScanEvent, Sink, Wants, emit};
use crate::core::{Codec, CodecError, Context, Reference, StoreError};
use crate::families::claude_rows::{StreamSource, spawned, stream};

/// What a cursor remembers beside the state of the rows.
#[derive(Default, Serialize, Deserialize)]
struct Memory {
    /// What the rows' own reader must remember.
    rows: String,
    /// The time of the last row that had one.
    last: Option<Timestamp>,
}

/// Streams what a reference names from the cursor on.
///
/// # Errors
/// When the record or transcript cannot be read, the transcript was rewritten since the cursor, or
/// the control stops.
pub(super) fn scan(
    reference: &Reference,
    from: &Cursor,
    wants: Wants,
    control: &Control<'_>,
    sink: &mut dyn Sink,
    context: &Context<'_>,
) -> Result<Cursor, StoreError> {
    let path = &reference.path;
    match place::subagent(path) {
        Some(subagent) => scan_subagent(reference, &subagent, from, wants, control, sink, context),
        None if place::is_record(path) => scan_session(reference, from, wants, control, sink, context),
        None => {
            let now = Cursor::Whole { fingerprint: super::describe::fingerprint(reference)?.to_string() };
            if *from != now && !emit(&Cowork::to_common(&load(reference, context)?)?, wants, control, sink) {
                return Err(StoreError::Stopped(reference.to_string()));
            }
            Ok(now)
        }
    }
}

fn scan_subagent(
    reference: &Reference,
    place: &SubagentPlace,
    from: &Cursor,
    wants: Wants,
    control: &Control<'_>,
    sink: &mut dyn Sink,
    context: &Context<'_>,
) -> Result<Cursor, StoreError> {
    let path = &reference.path;
    ibid_carrier::names::inside(&reference.root, path).map_err(|error| absent(reference, error))?;
    let opening = || {
        if !wants.metadata {
            return Vec::new();
        }
        let session = parent_id(&place.record, context);
        let meta = meta_of(path);
        let mut events = vec![ScanEvent::Fact(Fact::Id(subagent_id(session.as_str(), &place.agent)))];
        if let Some(description) = meta.as_ref().and_then(|meta| meta.description.clone()) {
            events.push(ScanEvent::Fact(Fact::Title(description, TitleOrigin::Agent)));
        }
        let spawner = spawner(path, place, &session, context);
        events.push(ScanEvent::Lineage(spawned(Some(spawner), Some(&place.agent), meta.as_ref())));
        events
    };
    let source = StreamSource { path, from, subagent: true, limits: context.limits };
    stream(&source, wants, control, sink, opening)
}

fn scan_session(
    reference: &Reference,
    from: &Cursor,
    wants: Wants,
    control: &Control<'_>,
    sink: &mut dyn Sink,
    context: &Context<'_>,
) -> Result<Cursor, StoreError> {
    let path = &reference.path;
    let files = Files::of(&reference.root, path).map_err(|error| absent(reference, error))?;
    let record = read_record(&Document::read(path, context.limits)?)?;
    let mut findings: Vec<Finding> = record::at(Some(path), record.findings.clone()).collect();
    findings.extend(named_otherwise(&record, path));
    findings.extend(files.findings.iter().cloned());
    let cli = record.cli_session_id.as_ref();
    let transcript = cli.and_then(|cli| files.transcript(cli, context.limits, &mut findings));
    let mut around = Around { record: &record, sink, wants, going: true, told: Meta::default(), last: None };
    let mut opening =
        |around: &mut Around<'_>| around.open(id_of(&record, path), std::mem::take(&mut findings));
    let Some(transcript) = transcript else {
        let now = Cursor::Whole { fingerprint: files.fingerprint().to_string() };
        if *from != now {
            opening(&mut around);
            around.close();
        }
        return Ok(now);
    };
    let memory = match from {
        Cursor::File { state, .. } => serde_json::from_str::<Memory>(state)
            .map_err(|_| StoreError::Rewritten(transcript.path.display().to_string()))?,
        Cursor::Start | Cursor::Whole { .. } => Memory::default(),
    };
    around.last = memory.last;
    let from = match from {
        Cursor::File { checkpoint, .. } => {
            Cursor::File { checkpoint: checkpoint.clone(), state: memory.rows }
        }
        // Before, there was no conversation to remember anything of.
        Cursor::Start | Cursor::Whole { .. } => {
            opening(&mut around);
            Cursor::Start
        }
    };
    let source =
        StreamSource { path: &transcript.path, from: &from, subagent: false, limits: context.limits };
    let cursor = stream(&source, wants, control, &mut around, Vec::new)?;
    around.close();
    Ok(match cursor {
        Cursor::File { checkpoint, state } => {
            let memory = Memory { rows: state, last: around.last };
            let state = serde_json::to_string(&memory).map_err(CodecError::from)?;
            Cursor::File { checkpoint, state }
        }
        other => other,
    })
}

/// Puts what the record says around what the rows say, and keeps back of the rows what the record
/// says too.
struct Around<'s> {
    record: &'s Record,
    sink: &'s mut dyn Sink,
    wants: Wants,
    going: bool,
    /// What the rows said of the title.
    told: Meta,
    /// The time of the last row that had one.
    last: Option<Timestamp>,
}

impl Around<'_> {
    fn emit(&mut self, event: ScanEvent) {
        if self.going {
            self.going = self.sink.take(event);
        }
    }

    fn fact(&mut self, fact: Option<Fact>) {
        if let Some(fact) = fact
            && self.wants.metadata
        {
            self.emit(ScanEvent::Fact(fact));
        }
    }

    fn open(&mut self, id: SessionId, findings: Vec<Finding>) {
        let facts = self.record.facts(Meta::default());
        self.fact(Some(Fact::Id(id)));
        self.fact(facts.cwd.map(Fact::Cwd));
        self.fact(self.record.created.map(Fact::Stamp));
        findings.into_iter().for_each(|finding| self.emit(ScanEvent::Finding(finding)));
    }

    fn close(&mut self) {
        let facts = self.record.facts(std::mem::take(&mut self.told));
        self.fact(facts.title.map(|title| Fact::Title(title.text, title.origin)));
        self.fact(self.record.facts(Meta::default()).model.map(Fact::Model));
        self.fact(facts.preview.map(Fact::Preview));
        self.fact(Some(Fact::Archived(self.record.archived)));
        let later = self.record.last_activity.filter(|at| self.last.is_none_or(|last| *at > last));
        self.fact(later.map(Fact::Stamp));
    }

    /// Whether the record's own word counts instead.
    fn is_said_by_record(&mut self, fact: &Fact) -> bool {
        let says = |text: &Option<ibid_model::Text>| text.as_ref().is_some_and(|text| !text.is_blank());
        match fact {
            Fact::Title(text, origin) if says(&self.record.title) => {
                self.told.offer_title(text, *origin);
                true
            }
            Fact::Model(_) => says(&self.record.model),
            Fact::Cwd(_) => says(&self.record.cwd),
            Fact::Stamp(at) => {
                self.last = Some(*at);
                false
            }
            _ => false,
        }
    }
}

impl Sink for Around<'_> {
    fn take(&mut self, event: ScanEvent) -> bool {
        if let ScanEvent::Fact(fact) = &event
            && self.is_said_by_record(fact)
        {
            return self.going;
        }
        self.emit(event);
        self.going
    }
}
