//! The journal as hooks and readers use it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on must fail"
)]

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use ibid_capture::journal::{
    Bounds, Entry, Filter, Journal, JournalError, Kept, Observed, Refusal, Refused, ReportFailure, Unreported,
};
use ibid_model::{Extent, FindingKind, Timestamp};
use proptest::prelude::*;

fn at(second: i64) -> Timestamp {
    Timestamp::from_milliseconds(1_800_000_000_000 + second * 1000).unwrap()
}

fn observed(session: &str, second: i64) -> Entry {
    let native = serde_json::json!({"session_id": session, "n": second}).to_string();
    Entry::Observed(Observed {
        at: at(second),
        program: "codex".to_owned(),
        session: session.to_owned(),
        observation: serde_json::value::RawValue::from_string(native).unwrap(),
    })
}

fn folder() -> (tempfile::TempDir, Journal) {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::new(folder.path());
    (folder, journal)
}

fn sessions(journal: &Journal) -> Vec<String> {
    let reading = journal.read(&Filter::default());
    reading.entries.iter().map(|kept| kept.entry.session().unwrap_or("-").to_owned()).collect()
}

fn kinds(journal: &Journal) -> Vec<FindingKind> {
    journal.read(&Filter::default()).findings.iter().map(|finding| finding.kind).collect()
}

fn segment(journal: &Journal, number: u64) -> PathBuf {
    journal.path().join(format!("{number:010}.jsonl"))
}

/// What stands at the place of an entry.
fn bytes_of(kept: &Kept) -> Vec<u8> {
    let bytes = fs::read(&kept.place.path).unwrap();
    bytes[usize::try_from(kept.place.start).unwrap()..usize::try_from(kept.place.end).unwrap()].to_vec()
}

/// The lock as a process has it that was stopped.
fn hold_the_lock(journal: &Journal) -> fs::File {
    fs::create_dir_all(journal.path()).unwrap();
    let lock = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(journal.path().join("lock"))
        .unwrap();
    lock.lock().unwrap();
    lock
}

fn impatient(journal: &Journal) -> Journal {
    journal.clone().bounded(Bounds { patience: Duration::from_millis(5), ..Bounds::default() })
}

#[test]
fn an_entry_is_found_at_its_place() {
    let (_folder, journal) = folder();
    let place = journal.append(&observed("a", 1)).unwrap();
    journal.append(&observed("b", 2)).unwrap();
    let reading = journal.read(&Filter::default());
    assert_eq!(reading.entries[0].place, place);
    for kept in &reading.entries {
        assert_eq!(bytes_of(kept), serde_json::to_vec(&kept.entry).unwrap());
    }
    assert_eq!(sessions(&journal), ["a", "b"]);
}

#[test]
fn entries_come_in_the_order_of_time() {
    let (_folder, journal) = folder();
    for second in [5, 1, 3] {
        journal.append(&observed(&second.to_string(), second)).unwrap();
    }
    assert_eq!(sessions(&journal), ["1", "3", "5"]);
}

#[test]
fn a_filter_takes_one_session_exactly() {
    let (_folder, journal) = folder();
    let ids = ["a", "ab", "a\u{1f9ea} \"x\"\\", "a/b"];
    for session in ids {
        journal.append(&observed(session, 1)).unwrap();
    }
    for session in ids {
        let entries = journal.read(&Filter::session(session)).entries;
        assert_eq!(entries.len(), 1, "{session}");
        assert_eq!(entries[0].entry.session(), Some(session));
    }
    assert!(journal.read(&Filter::session("A")).entries.is_empty());
}

#[test]
fn a_filter_finds_an_id_however_it_is_escaped() {
    let (_folder, journal) = folder();
    journal.append(&observed("first", 1)).unwrap();
    let line = r#"{"kind":"observed","at":"2027-01-15T08:00:00Z","program":"pi","session":"\u0061b","observation":{"agent_id":"\u0063hild"}}"#;
    let mut file = OpenOptions::new().append(true).open(segment(&journal, 1)).unwrap();
    writeln!(file, "{line}").unwrap();
    assert_eq!(journal.read(&Filter::session("ab")).entries.len(), 1);
    assert_eq!(journal.read(&Filter::mentioning("child")).entries.len(), 1);
    assert_eq!(journal.read(&Filter::mentioning("chil")).entries.len(), 0);
}

#[test]
fn a_filter_takes_the_programs_it_names() {
    let (_folder, journal) = folder();
    journal.append(&observed("a", 1)).unwrap();
    assert_eq!(journal.read(&Filter::session("a").of(["codex-app", "codex"])).entries.len(), 1);
    assert_eq!(journal.read(&Filter::session("a").of(["codex-app"])).entries.len(), 0);
}

#[test]
fn a_journal_that_is_not_there_is_empty() {
    let (_folder, journal) = folder();
    assert!(journal.read(&Filter::default()).entries.is_empty());
    assert!(!journal.state().present);
    assert!(!journal.path().exists(), "reading made it");
}

#[test]
fn a_tail_torn_at_any_byte_is_reported_and_glued_to_nothing() {
    let (_folder, journal) = folder();
    journal.append(&observed("before", 1)).unwrap();
    let kept = fs::read(segment(&journal, 1)).unwrap();
    let mut torn = serde_json::to_vec(&observed("torn", 2)).unwrap();
    torn.push(b'\n');
    for cut in 1..torn.len() {
        fs::write(segment(&journal, 1), [&kept, &torn[..cut]].concat()).unwrap();
        // Without its newline alone it is a whole record all the same.
        let whole = cut + 1 == torn.len();
        let expected: &[&str] = if whole { &["before", "torn"] } else { &["before"] };
        assert_eq!(sessions(&journal), expected, "cut at {cut}");
        assert_eq!(kinds(&journal), if whole { vec![] } else { vec![FindingKind::CutLine] }, "cut at {cut}");

        journal.append(&observed("after", 3)).unwrap();
        let expected: &[&str] = if whole { &["before", "torn", "after"] } else { &["before", "after"] };
        assert_eq!(sessions(&journal), expected, "cut at {cut}");
        assert_eq!(journal.state().torn, u64::from(!whole));
        let findings = journal.read(&Filter::session("after")).findings;
        if !whole && torn[cut - 1] != b'}' {
            assert_eq!((findings[0].kind, findings[0].line), (FindingKind::TornRecord, Some(3)));
            let (start, end) = (kept.len() as u64, (kept.len() + cut) as u64);
            assert_eq!(findings[0].extent, Some(Extent::Bytes { start, end }));
        }
    }
}

#[test]
fn a_finding_holds_nothing_of_what_was_torn() {
    let (_folder, journal) = folder();
    journal.append(&observed("before", 1)).unwrap();
    let mut file = OpenOptions::new().append(true).open(segment(&journal, 1)).unwrap();
    file.write_all(b"{\"kind\":\"observed\",\"session\":\"s3cret\n{\"kind\":\"s3cret\"}\n").unwrap();
    file.write_all(b"{\"kind\":\"refused\",\"reason\":\"s3cret\"}\ns3cret\n").unwrap();
    let findings = journal.read(&Filter::default()).findings;
    assert_eq!(findings.len(), 4);
    assert!(!format!("{findings:?}").contains("s3cret"));
}

#[test]
fn rotation_keeps_the_newest_and_counts_what_it_removes() {
    let (_folder, journal) = folder();
    let journal = journal.bounded(Bounds { segment_bytes: 1000, segments: 3, ..Bounds::default() });
    for second in 0..200 {
        journal.append(&observed(&format!("s{second}"), second)).unwrap();
    }
    let reading = journal.read(&Filter::default());
    let state = journal.state();
    assert_eq!(state.segments, 3);
    assert!(state.bytes <= 3000, "{}", state.bytes);
    assert!(reading.findings.is_empty(), "{:?}", reading.findings);
    assert!(reading.removed.segments > 3);
    assert_eq!(reading.removed.lines, Some(200 - reading.entries.len() as u64));
    let kept = sessions(&journal);
    let expected: Vec<String> = (200 - kept.len()..200).map(|n| format!("s{n}")).collect();
    assert_eq!(kept, expected);
}

#[test]
fn a_segment_whose_writer_died_before_its_first_line_is_used() {
    let (_folder, journal) = folder();
    let journal = journal.bounded(Bounds { segment_bytes: 1000, segments: 2, ..Bounds::default() });
    for second in 0..20 {
        journal.append(&observed("s", second)).unwrap();
    }
    let next = journal.read(&Filter::default()).removed.segments + 3;
    assert!(!segment(&journal, next).exists() && segment(&journal, next - 1).exists());
    fs::write(segment(&journal, next), "").unwrap();
    for second in 20..60 {
        journal.append(&observed("s", second)).unwrap();
    }
    let reading = journal.read(&Filter::default());
    assert_eq!(reading.removed.lines, Some(60 - reading.entries.len() as u64));
    assert!(reading.findings.is_empty());
}

#[test]
fn what_a_held_lock_keeps_out_is_written_aside_and_moved_later() {
    let (_folder, journal) = folder();
    journal.append(&observed("a", 1)).unwrap();
    let lock = hold_the_lock(&journal);
    let place = impatient(&journal).append(&observed("b", 2)).unwrap();
    impatient(&journal).append(&observed("c", 0)).unwrap();
    assert!(place.path.file_name().unwrap().to_str().unwrap().starts_with("side-"));
    assert_eq!(sessions(&journal), ["c", "a", "b"]);
    assert_eq!(journal.state().side_files, 2);
    drop(lock);
    journal.append(&observed("d", 4)).unwrap();
    assert_eq!(sessions(&journal), ["c", "a", "b", "d"]);
    let state = journal.state();
    assert_eq!((state.side_files, state.torn, state.lost), (0, 0, 0));
}

#[test]
fn a_side_file_whose_mover_was_killed_is_kept_once() {
    let (_folder, journal) = folder();
    journal.append(&observed("a", 1)).unwrap();
    let lock = hold_the_lock(&journal);
    let place = impatient(&journal).append(&observed("b", 2)).unwrap();
    drop(lock);
    let aside = fs::read(&place.path).unwrap();
    let kept = fs::read(segment(&journal, 1)).unwrap();
    // Killed at any byte of the copy, the last of which is right before the removal.
    for cut in 0..=aside.len() {
        fs::write(segment(&journal, 1), [&kept, &aside[..cut]].concat()).unwrap();
        fs::write(&place.path, &aside).unwrap();
        assert_eq!(sessions(&journal), ["a", "b"], "cut at {cut}");
        journal.append(&observed("c", 3)).unwrap();
        assert_eq!(journal.state().side_files, 0);
        assert_eq!(sessions(&journal), ["a", "b", "c"], "cut at {cut}");
    }
}

#[test]
fn a_side_file_that_is_not_whole_is_no_entry() {
    let (_folder, journal) = folder();
    journal.append(&observed("a", 1)).unwrap();
    let mut line = serde_json::to_vec(&observed("b", 2)).unwrap();
    line.truncate(40);
    fs::write(journal.path().join("draft-1"), &line).unwrap();
    fs::write(journal.path().join("side-1.jsonl"), &line).unwrap();
    journal.append(&observed("c", 3)).unwrap();
    assert_eq!(sessions(&journal), ["a", "c"]);
    assert_eq!(kinds(&journal), [FindingKind::CutLine, FindingKind::CutLine]);
}

#[test]
fn side_files_are_bounded_and_what_is_over_is_counted() {
    let (_folder, journal) = folder();
    let _lock = hold_the_lock(&journal);
    let bounds = Bounds { patience: Duration::from_millis(1), side_files: 3, ..Bounds::default() };
    let journal = journal.bounded(bounds);
    for second in 0..5 {
        let kept = journal.append(&observed("s", second));
        assert_eq!(kept.is_ok(), second < 3, "{kept:?}");
    }
    assert_eq!((journal.state().side_files, journal.state().lost), (3, 2));
}

#[test]
fn an_entry_that_is_too_long_is_refused_and_counted() {
    let (_folder, journal) = folder();
    let error = journal.append(&observed(&"x".repeat(5 << 20), 1)).unwrap_err();
    assert!(matches!(error, JournalError::TooLarge { .. }));
    assert_eq!(journal.state().lost, 1);
}

#[test]
fn a_line_that_is_too_long_is_a_finding_and_the_rest_is_read() {
    let (_folder, journal) = folder();
    journal.append(&observed("a", 1)).unwrap();
    let mut file = OpenOptions::new().append(true).open(segment(&journal, 1)).unwrap();
    file.write_all(&vec![b'x'; 5 << 20]).unwrap();
    journal.append(&observed("b", 2)).unwrap();
    assert_eq!(sessions(&journal), ["a", "b"]);
    assert_eq!(kinds(&journal), [FindingKind::Oversize]);
}

#[test]
fn the_state_counts_by_program_and_reason() {
    let (_folder, journal) = folder();
    journal.append(&observed("a", 1)).unwrap();
    journal.append(&observed("b", 7)).unwrap();
    let refuse = |second, program: Option<&str>, reason| {
        let program = program.map(str::to_owned);
        journal.append(&Entry::Refused(Refused { at: at(second), program, reason, bytes: 3 })).unwrap();
    };
    refuse(2, Some("codex"), Refusal::NotAnEvent);
    refuse(4, Some("codex"), Refusal::NotAnEvent);
    refuse(3, None, Refusal::UnknownProgram);
    let failure = ReportFailure::Answered;
    let unreported = Unreported { at: at(9), program: "codex".to_owned(), failure, status: Some(401) };
    journal.append(&Entry::Unreported(unreported)).unwrap();
    let state = journal.state();
    let [unknown, codex] = state.programs.as_slice() else { panic!("{:?}", state.programs) };
    assert_eq!((unknown.program.as_deref(), unknown.refusals[0].reason), (None, Refusal::UnknownProgram));
    assert_eq!((codex.observations, codex.last), (2, Some(at(7))));
    let refusal = &codex.refusals[0];
    assert_eq!((refusal.count, refusal.first, refusal.last), (2, at(2), at(4)));
    assert_eq!((codex.unreported[0].status, codex.unreported[0].count), (Some(401), 1));
}

#[test]
fn many_writers_at_once_lose_and_tear_nothing() {
    let (_folder, journal) = folder();
    let journal = journal.bounded(Bounds { segment_bytes: 20_000, segments: 100, ..Bounds::default() });
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let journal = &journal;
            scope.spawn(move || {
                for n in 0..100 {
                    journal.append(&observed(&format!("{writer}-{n}"), n)).unwrap();
                }
            });
        }
    });
    let all = sessions(&journal);
    let kept: BTreeSet<&str> = all.iter().map(String::as_str).collect();
    let expected: BTreeSet<String> =
        (0..8).flat_map(|writer| (0..100).map(move |n| format!("{writer}-{n}"))).collect();
    assert_eq!(kept, expected.iter().map(String::as_str).collect());
    assert_eq!(all.len(), 800);
    assert_eq!((kinds(&journal), journal.state().lost), (vec![], 0));
}

#[test]
fn a_reader_beside_writers_that_move_side_files_misses_none_and_reads_none_twice() {
    let (_folder, journal) = folder();
    let lock = hold_the_lock(&journal);
    let quick = impatient(&journal);
    for n in 0..100 {
        quick.append(&observed(&format!("{n:03}"), n)).unwrap();
    }
    drop(lock);
    let expected: Vec<String> = (0..100).map(|n| format!("{n:03}")).collect();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for n in 100..110 {
                journal.append(&observed("later", n)).unwrap();
            }
        });
        while !writer.is_finished() {
            let mut seen = sessions(&journal);
            seen.retain(|session| session != "later");
            assert_eq!(seen, expected);
        }
    });
    assert_eq!(journal.state().side_files, 0);
}

#[cfg(unix)]
mod on_unix {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    use std::path::Path;

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn the_journal_is_private_from_its_first_byte() {
        let (_folder, journal) = folder();
        journal.append(&observed("a", 1)).unwrap();
        assert_eq!(mode(&journal.path().join("lock")), 0o600);
        let lock = hold_the_lock(&journal);
        let side = impatient(&journal).append(&observed("b", 1)).unwrap().path;
        drop(lock);
        assert_eq!(mode(journal.path()), 0o700);
        for path in [segment(&journal, 1), side] {
            assert_eq!(mode(&path), 0o600, "{}", path.display());
        }
    }

    #[test]
    fn what_others_could_read_is_made_private_first() {
        let (_folder, journal) = folder();
        journal.append(&observed("a", 1)).unwrap();
        fs::set_permissions(journal.path(), fs::Permissions::from_mode(0o755)).unwrap();
        fs::set_permissions(segment(&journal, 1), fs::Permissions::from_mode(0o644)).unwrap();
        journal.append(&observed("b", 2)).unwrap();
        assert_eq!((mode(journal.path()), mode(&segment(&journal, 1))), (0o700, 0o600));
    }

    #[test]
    fn a_link_in_the_place_of_the_journal_is_refused() {
        let (folder, journal) = folder();
        let elsewhere = folder.path().join("elsewhere");
        fs::create_dir(&elsewhere).unwrap();
        symlink(&elsewhere, journal.path()).unwrap();
        assert!(matches!(journal.append(&observed("a", 1)), Err(JournalError::Link { .. })));
        assert_eq!(kinds(&journal), [FindingKind::LinkNotFollowed]);
        assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
    }

    #[test]
    fn a_link_in_the_place_of_a_segment_is_not_written_through_and_nothing_is_lost() {
        let (folder, journal) = folder();
        let victim = folder.path().join("victim");
        fs::write(&victim, "precious").unwrap();
        fs::set_permissions(&victim, fs::Permissions::from_mode(0o644)).unwrap();
        fs::create_dir(journal.path()).unwrap();
        symlink(&victim, segment(&journal, 1)).unwrap();
        let place = journal.append(&observed("a", 1)).unwrap();
        assert!(place.path.to_str().unwrap().contains("side-"));
        assert_eq!((fs::read_to_string(&victim).unwrap().as_str(), mode(&victim)), ("precious", 0o644));
        assert_eq!(sessions(&journal), ["a"]);
        assert_eq!(kinds(&journal), [FindingKind::LinkNotFollowed]);
    }

    #[test]
    fn a_link_in_the_place_of_the_lock_is_refused_and_nothing_is_lost() {
        let (folder, journal) = folder();
        let victim = folder.path().join("victim");
        fs::create_dir(journal.path()).unwrap();
        symlink(&victim, journal.path().join("lock")).unwrap();
        journal.append(&observed("a", 1)).unwrap();
        assert!(!victim.exists());
        assert_eq!(sessions(&journal), ["a"]);
    }

    #[test]
    fn a_pipe_in_the_place_of_a_file_is_not_waited_for() {
        let (_folder, journal) = folder();
        fs::create_dir(journal.path()).unwrap();
        for name in ["0000000001.jsonl", "lost"] {
            let path = journal.path().join(name);
            assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
        }
        journal.append(&observed("a", 1)).unwrap();
        assert_eq!(sessions(&journal), ["a"]);
        assert_eq!(kinds(&journal), [FindingKind::Unreadable, FindingKind::Unreadable]);
    }

    #[test]
    fn a_file_in_the_place_of_the_journal_is_named() {
        let (_folder, journal) = folder();
        fs::write(journal.path(), "x").unwrap();
        let error = journal.append(&observed("a", 1)).unwrap_err();
        assert!(error.to_string().contains("is no directory"), "{error}");
        assert_eq!(fs::read_to_string(journal.path()).unwrap(), "x");
    }

    #[test]
    fn a_directory_that_cannot_be_written_is_an_error_and_no_panic() {
        if rustix::process::geteuid().is_root() {
            eprintln!("skipped: root may write everywhere");
            return;
        }
        let (folder, journal) = folder();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o500)).unwrap();
        assert!(matches!(journal.append(&observed("a", 1)), Err(JournalError::Io { .. })));
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700)).unwrap();
    }
}

/// Any entry, with any text where a program chose it.
fn any_entry() -> impl Strategy<Value = Entry> {
    let text = "\\PC{0,12}|[\"\\\\/{}\n\r\t\u{0}\u{85}\u{2028}a-z]{0,12}";
    let observed = (text, text, 0..1_000_000_i64).prop_map(|(program, session, second)| {
        let native = serde_json::json!({"s": session, "p": [program]}).to_string();
        let observation = serde_json::value::RawValue::from_string(native).unwrap();
        Entry::Observed(Observed { at: at(second), program, session, observation })
    });
    let refused = (proptest::option::of(text), any::<u64>()).prop_map(|(program, bytes)| {
        Entry::Refused(Refused { at: at(1), program, reason: Refusal::NotAnEvent, bytes })
    });
    prop_oneof![observed, refused]
}

proptest! {
    #[test]
    fn whatever_is_appended_is_read_back_in_the_order_of_time(
        entries in proptest::collection::vec(any_entry(), 1..20),
    ) {
        let (_folder, journal) = folder();
        for entry in &entries {
            journal.append(entry).unwrap();
        }
        let reading = journal.read(&Filter::default());
        prop_assert!(reading.findings.is_empty());
        let mut sorted = entries.clone();
        sorted.sort_by_key(Entry::at);
        let line = |entry: &Entry| serde_json::to_string(entry).unwrap();
        let expected: Vec<String> = sorted.iter().map(line).collect();
        let found: Vec<String> = reading.entries.iter().map(|kept| line(&kept.entry)).collect();
        prop_assert_eq!(found, expected);
        for session in entries.iter().filter_map(Entry::session) {
            let found = journal.read(&Filter::session(session)).entries.len();
            let expected = entries.iter().filter(|other| other.session() == Some(session)).count();
            prop_assert_eq!(found, expected);
        }
    }
}
