//! Reading a thread as a stream.

use std::fs::File;
use std::path::{Path, PathBuf};

use ibid_carrier::CarrierError;
use ibid_carrier::jsonl::{Change, Checkpoint, Records, open_scanner};
use ibid_model::{SessionId, Text, TitleOrigin};

use super::files::History;
use super::pieces::{Pieces, Place};
use super::records::{self, Record};
use super::state::State;
use super::vocabulary::Seen;
use super::{Codex, files, store, thread_names};
use crate::core::scan::{Control, Cursor, Fact, ScanEvent, Sink, Wants, emit, wanted};
use crate::core::{Codec, Context, Reference, Store, StoreError};

/// How many lines are read between two looks at the control.
const LINES_BETWEEN_LOOKS: u32 = 64;

pub(super) fn scan(
    reference: &Reference,
    from: &Cursor,
    wants: Wants,
    control: &Control<'_>,
    sink: &mut dyn Sink,
    context: &Context<'_>,
) -> Result<Cursor, StoreError> {
    if !is_appended(&reference.path) {
        return whole(reference, wants, control, sink, context);
    }
    let History { base, own } = History::of(&reference.path, &reference.root, context.limits)
        .map_err(|error| store::not_found(error, reference))?;
    let mut scan = Scan { wants, control, sink, context, named: store::named_id(&reference.path) };
    let live = own.len().saturating_sub(1);
    let (offset, mut state) = match from {
        Cursor::File { checkpoint, state } => {
            let state = serde_json::from_str(state);
            let rewritten = |_| StoreError::Rewritten(reference.path.display().to_string());
            (resume_at(&reference.path, checkpoint)?, state.map_err(rewritten)?)
        }
        Cursor::Start | Cursor::Whole { .. } => (0, State::default()),
    };
    let mut seen = state.seen.clone();
    // Numbers as the carriers of a load have them: the base stands behind the own files.
    let numbers = (own.len()..own.len() + base.len()).chain(0..own.len());
    let all: Vec<(usize, &PathBuf)> = numbers.zip(base.iter().chain(&own)).collect();
    let begun = if offset == 0 { 0 } else { all.len().saturating_sub(1) };
    for (_, path) in all.iter().skip(begun) {
        let from = if **path == reference.path { offset } else { 0 };
        scan.look(path, from, &mut seen)?;
    }
    state.vocabulary = seen.vocabulary();
    state.seen = seen;
    if offset == 0 {
        for ((number, path), (_, next)) in all.iter().zip(all.iter().skip(1)) {
            let cut = files::header(next, context.limits)?.and_then(|meta| meta.history_base);
            let cut = cut.map_or(u64::MAX, |base| base.end);
            let file = Part { state, number: *number, own: *number < own.len(), offset: 0, cut: Some(cut) };
            state = scan.file(path, file)?.0;
        }
        if wants.metadata {
            scan.about(reference);
        }
    }
    let file = Part { state, number: live, own: true, offset, cut: None };
    let (state, committed) = scan.file(&reference.path, file)?;
    let io = |error| CarrierError::io(&reference.path, error);
    let checkpoint = Checkpoint::new(&File::open(&reference.path).map_err(io)?, committed).map_err(io)?;
    let state = serde_json::to_string(&state).map_err(|error| StoreError::Codec(error.into()))?;
    Ok(Cursor::File { checkpoint, state })
}

/// Whether a file only ever grows: one that is compressed, or one document, is read as a whole.
fn is_appended(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    !name.ends_with(".zst") && !name.ends_with(".json")
}

fn whole(
    reference: &Reference,
    wants: Wants,
    control: &Control<'_>,
    sink: &mut dyn Sink,
    context: &Context<'_>,
) -> Result<Cursor, StoreError> {
    let common = Codex::to_common(&Codex::load(reference, context)?)?;
    if control.stopped() {
        return Err(StoreError::Stopped(reference.path.display().to_string()));
    }
    emit(&common, wants, control, sink);
    let fingerprint = ibid_carrier::fingerprint::Fingerprint::of_file(&reference.path)?;
    Ok(Cursor::Whole { fingerprint: fingerprint.to_string() })
}

fn resume_at(path: &Path, checkpoint: &Checkpoint) -> Result<u64, StoreError> {
    let io = |error| CarrierError::io(path, error);
    match checkpoint.verify(&File::open(path).map_err(io)?).map_err(io)? {
        Change::Unchanged | Change::Appended => Ok(checkpoint.offset()),
        // https://github.com/steipete/CodexBar/pull/2168 (fault 18)
        Change::Truncated | Change::Rewritten => Err(StoreError::Rewritten(path.display().to_string())),
    }
}

struct Scan<'a, 'c> {
    wants: Wants,
    control: &'a Control<'c>,
    sink: &'a mut dyn Sink,
    context: &'a Context<'a>,
    named: SessionId,
}

/// What one file is read with.
struct Part {
    /// What was read before it left.
    state: State,
    /// Its number among the carriers.
    number: usize,
    /// Whether it is the session's own.
    own: bool,
    offset: u64,
    /// Where the next file leaves it, when another one follows.
    cut: Option<u64>,
}

impl Scan<'_, '_> {
    fn stopped(&self, path: &Path) -> Result<(), StoreError> {
        match self.control.stopped() {
            true => Err(StoreError::Stopped(path.display().to_string())),
            false => Ok(()),
        }
    }

    /// Looks for what tells the conversation, until that is decided.
    fn look(&self, path: &Path, offset: u64, seen: &mut Seen) -> Result<(), StoreError> {
        let mut scanner = open_scanner(path, offset, self.context.limits)?;
        let mut read: Records<Record> = Records { items: Vec::new(), findings: Vec::new() };
        let mut lines = 0_u32;
        while !seen.is_decided() {
            let Some(line) = scanner.next()? else { break };
            line.read_into(&mut read, |text| records::read(&Text::from(text)));
            read.items.drain(..).for_each(|item| seen.look(&item.value));
            read.findings.clear();
            lines = lines.wrapping_add(1);
            if lines.is_multiple_of(LINES_BETWEEN_LOOKS) {
                self.stopped(path)?;
            }
        }
        Ok(())
    }

    /// What is known of a thread without reading it.
    fn about(&mut self, reference: &Reference) {
        let archived = reference
            .path
            .strip_prefix(&reference.root)
            .is_ok_and(|place| place.starts_with("archived_sessions"));
        self.sink.take(ScanEvent::Fact(Fact::Archived(archived)));
        if let Some(name) = thread_names::of(&reference.root, self.named.as_str()) {
            self.sink.take(ScanEvent::Fact(Fact::Title(name, TitleOrigin::Person)));
        }
    }

    /// Reads one file from its offset on. An earlier file of a thread is left at its cut. What is
    /// to be remembered comes back, and the place behind the last whole line.
    fn file(&mut self, path: &Path, part: Part) -> Result<(State, u64), StoreError> {
        let Part { state, number, own, offset, cut } = part;
        let carrier = u32::try_from(number).unwrap_or(u32::MAX);
        let wants = self.wants;
        let mut filter = Filter { wants, sink: &mut *self.sink };
        let mut scanner = open_scanner(path, offset, self.context.limits)?;
        let mut pieces = Pieces::new(state, Some(self.named.clone()), &mut filter);
        pieces.file_of(own);
        let mut read: Records<Record> = Records { items: Vec::new(), findings: Vec::new() };
        let mut left = None;
        let mut whole = None;
        let mut going_on = true;
        let mut lines = 0_u32;
        while going_on {
            lines = lines.wrapping_add(1);
            if lines.is_multiple_of(LINES_BETWEEN_LOOKS) && self.control.stopped() {
                return Err(StoreError::Stopped(path.display().to_string()));
            }
            let Some(line) = scanner.next()? else { break };
            // A last line that is not ended is told, and read again once it is whole.
            // https://github.com/thedotmack/claude-mem/pull/4192 (fault 17)
            if !line.terminated {
                pieces.settle_for_now();
                whole = Some(pieces.state.clone());
            }
            line.read_into(&mut read, |text| records::read(&Text::from(text)));
            for item in read.items.drain(..) {
                if cut.is_some_and(|cut| item.end > cut) && left.is_none() {
                    left = Some(pieces.here());
                }
                going_on =
                    going_on && pieces.take(item.value, Place { carrier, start: item.start, end: item.end });
            }
            for finding in read.findings.drain(..) {
                going_on = going_on && pieces.tell(ScanEvent::Finding(finding.at_path(path)));
            }
        }
        for finding in scanner.findings() {
            going_on = going_on && pieces.tell(ScanEvent::Finding(finding.clone()));
        }
        match cut {
            Some(_) => {
                let branch = left.unwrap_or_else(|| pieces.here());
                pieces.branch(branch);
            }
            None => {
                pieces.finish();
                if let Some(usage) = pieces.state.reported_usage() {
                    pieces.tell(ScanEvent::ReportedUsage(usage));
                }
            }
        }
        let state = whole.unwrap_or_else(|| pieces.state.clone());
        Ok((state, scanner.committed()))
    }
}

/// Hands on what is wanted.
struct Filter<'a> {
    wants: Wants,
    sink: &'a mut dyn Sink,
}

impl Sink for Filter<'_> {
    fn take(&mut self, event: ScanEvent) -> bool {
        let wants = self.wants;
        let event = match event {
            ScanEvent::Message(message) => match wanted(&message, wants) {
                Some(message) => ScanEvent::Message(message),
                None => return true,
            },
            ScanEvent::Call(_) | ScanEvent::ReportedUsage(_) if !wants.usage => return true,
            ScanEvent::Fact(_)
            | ScanEvent::Lineage(_)
            | ScanEvent::Compaction(_)
            | ScanEvent::Event(_)
            | ScanEvent::Head(_)
                if !wants.metadata =>
            {
                return true;
            }
            event => event,
        };
        self.sink.take(event)
    }
}
