//! What `ibid doctor` says of hooks: what came, what was refused, and whether the journal is whole.

use std::fmt::Write as _;

use ibid_capture::journal::{ProgramState, State};
use ibid_model::{FindingKind, Timestamp};

use crate::output;
use crate::table::{Table, counted, size};

/// Whether there is nothing to act on. Records that were torn by a kill are no such thing.
pub(super) fn is_clean(state: &State) -> bool {
    let is_harmless =
        |kind| matches!(kind, FindingKind::TornRecord | FindingKind::CutLine | FindingKind::UnknownRecord);
    state.lost == 0 && state.findings.iter().all(|finding| is_harmless(finding.kind))
}

/// The section for people; empty as long as no hook has run.
pub(super) fn text(state: &State) -> String {
    let mut text = String::new();
    if !state.present && state.findings.is_empty() {
        return text;
    }
    let _ = writeln!(
        text,
        "\nWhat hooks announced is kept in {} ({}, {}):",
        output::clean_line(&state.path.display().to_string()),
        counted(state.segments as u64, "segment"),
        size(state.bytes)
    );
    if !state.programs.is_empty() {
        let mut table = Table::new(&["program", "observations", "last", "refused", "not reported"])
            .right(1)
            .right(3)
            .right(4);
        for program in &state.programs {
            table.row(row(program));
        }
        text.push_str(&table.to_string());
    }
    for program in &state.programs {
        let name = name(program);
        for refusal in &program.refusals {
            let _ = writeln!(
                text,
                "  {name} was refused as {} {}: first {}, last {}",
                refusal.reason.code(),
                counted(refusal.count, "time"),
                time(refusal.first),
                time(refusal.last)
            );
        }
        for failure in &program.unreported {
            let status = failure.status.map(|status| format!(" with {status}")).unwrap_or_default();
            let _ = writeln!(
                text,
                "  {name} could not report ({}{status}) {}: last {}",
                failure.failure.code(),
                counted(failure.count, "time"),
                time(failure.last)
            );
        }
    }
    counts(state, &mut text);
    text.push_str(&output::findings_text(&state.findings));
    text
}

fn counts(state: &State, text: &mut String) {
    if state.torn > 0 {
        let _ = writeln!(text, "  {} torn by a hook that was killed", counted(state.torn, "record"));
    }
    if state.side_files > 0 {
        let files = counted(state.side_files as u64, "side file");
        let _ = writeln!(text, "  {files}, which the next hook moves into a segment");
    }
    if state.removed.segments > 0 {
        let lines = state.removed.lines.map(|lines| format!(" with {}", counted(lines, "line")));
        let segments = counted(state.removed.segments, "old segment");
        let _ = writeln!(text, "  {segments}{} removed to keep it small", lines.unwrap_or_default());
    }
    if state.lost > 0 {
        let _ = writeln!(text, "  {} could not be kept", counted(state.lost, "observation"));
    }
}

fn name(program: &ProgramState) -> String {
    program.program.as_deref().map_or_else(|| "(no known program)".to_owned(), output::clean_line)
}

fn row(program: &ProgramState) -> Vec<String> {
    let refused: u64 = program.refusals.iter().map(|refusal| refusal.count).sum();
    let unreported: u64 = program.unreported.iter().map(|failure| failure.count).sum();
    vec![
        name(program),
        program.observations.to_string(),
        program.last.map(time).unwrap_or_default(),
        refused.to_string(),
        unreported.to_string(),
    ]
}

fn time(at: Timestamp) -> String {
    at.to_iso_milliseconds()
}
