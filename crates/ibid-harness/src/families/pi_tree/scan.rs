//! Reading a session file as a stream.

use std::fs::File;
use std::path::Path;

use ibid_carrier::CarrierError;
use ibid_carrier::jsonl::{Change, Checkpoint, Limits, Records, open_scanner};

use super::Dialect;
use super::place::{Place, subagent_of};
use super::reader::{NOTHING, Reader};
use super::records::Entry;
use crate::core::StoreError;
use crate::core::scan::{Control, Cursor, ScanEvent, Sink, Wants};

/// Streams a file from the cursor to its end.
///
/// Any entry may continue any earlier one, so what precedes the cursor is read too, without
/// looking into messages: that is what it costs to remember nothing between two scans.
///
/// # Errors
/// When the file cannot be read, was rewritten since the cursor was made, or the control stops the
/// scan.
pub(crate) fn scan_file(
    dialect: &'static Dialect,
    path: &Path,
    from: &Cursor,
    wants: Wants,
    control: &Control<'_>,
    sink: &mut dyn Sink,
    limits: &Limits,
) -> Result<Cursor, StoreError> {
    let start = match from {
        Cursor::File { checkpoint, .. } => resume_at(path, checkpoint)?,
        Cursor::Start | Cursor::Whole { .. } => 0,
    };
    let mut scanner = open_scanner(path, 0, limits)?;
    let mut reader = Reader::new(dialect, NOTHING);
    reader.of_subagent = subagent_of(path).is_some();
    let mut records = Records { items: Vec::new(), findings: Vec::new() };
    let mut goes_on = true;
    if start == 0
        && wants.metadata
        && let Some(lineage) = subagent_of(path)
    {
        goes_on = sink.take(ScanEvent::Lineage(lineage));
    }
    let mut lines = 0_u32;
    while goes_on {
        lines = lines.wrapping_add(1);
        if lines.is_multiple_of(64) && control.stopped() {
            return Err(StoreError::Stopped(path.display().to_string()));
        }
        let Some(line) = scanner.next()? else { break };
        let wanted = line.start >= start;
        // What is behind the last line end is reported, and read again once it is whole.
        line.read_into(&mut records, |text| Entry::read(&text.into()));
        reader.wants = if wanted { wants } else { NOTHING };
        for item in records.items.drain(..) {
            let place = Place { line: item.line, start: item.start, end: item.end };
            reader.take(&item.value, place, &mut |event| {
                if goes_on && wanted {
                    goes_on = sink.take(event);
                }
            });
        }
        for finding in records.findings.drain(..) {
            if goes_on && wanted {
                goes_on = sink.take(ScanEvent::Finding(finding.at_path(path)));
            }
        }
    }
    let upto = scanner.committed();
    for finding in scanner.findings() {
        goes_on = goes_on && start == 0 && sink.take(ScanEvent::Finding(finding.clone()));
    }
    let io = |error| CarrierError::io(path, error);
    let file = File::open(path).map_err(io)?;
    let checkpoint = Checkpoint::new(&file, upto).map_err(io)?;
    Ok(Cursor::File { checkpoint, state: String::new() })
}

fn resume_at(path: &Path, checkpoint: &Checkpoint) -> Result<u64, StoreError> {
    let io = |error| CarrierError::io(path, error);
    let file = File::open(path).map_err(io)?;
    Ok(match checkpoint.verify(&file).map_err(io)? {
        Change::Unchanged | Change::Appended => checkpoint.offset(),
        Change::Truncated | Change::Rewritten => {
            return Err(StoreError::Rewritten(path.display().to_string()));
        }
    })
}
