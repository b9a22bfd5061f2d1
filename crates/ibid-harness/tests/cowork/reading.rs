//! Finding and reading sessions that are as they should be.

use std::fs;

use ibid_harness::cowork::Cowork;
use ibid_harness::{Class, Codec, Control, Cursor, Fold, ScanEvent, Store, Wants};
use ibid_model::{CarrierRole, FindingKind, Relation, Timestamp, TitleOrigin, essence};

use crate::home::{
    COMPACTED, FIRST, Home, PLAIN, SECOND, claude_transcript, count, record, sessions, snapshot,
};

#[test]
fn sessions_of_two_organisations_and_agent_sessions_are_found() {
    let home = Home::built();
    let found = home.described();
    assert_eq!(sessions(&found), ["local_ditto_three", "local_one", "local_two", "local_four"]);
    let subagents: Vec<_> = found.iter().filter(|found| found.class == Class::Sidecar).collect();
    assert_eq!(subagents.len(), 1);
    assert_eq!(subagents[0].lineage[0].relation, Relation::Spawned);
    assert_eq!(subagents[0].lineage[0].parent.as_ref().unwrap(), &"local_one");
}

#[test]
fn folders_that_are_no_pair_of_uuids_hold_no_sessions() {
    let home = Home::built();
    for place in [
        "skills-plugin/demo",
        "1c000000-0000-4000-8000-00000000000c/notes",
        "x/2a000000-0000-4000-8000-00000000000a",
    ] {
        home.write(&format!("{place}/local_no.json"), &record("local_no", "c", ""));
    }
    home.write(&format!("{FIRST}/cowork_settings.json"), "{}");
    assert_eq!(home.described().len(), Home::built().described().len());
}

#[test]
fn a_list_says_what_a_full_load_says() {
    for home in [Home::built(), Home::by_hand()] {
        let found = home.described();
        assert!(found.len() > 4);
        for found in found {
            let transcript = home.load(&found.reference);
            let common = Cowork::to_common(&transcript).unwrap();
            assert_eq!(common.session.problems(), []);
            assert_eq!(found.id, common.session.id);
            assert_eq!(found.meta, common.session.meta, "{}", found.id);
            assert_eq!(found.lineage, common.session.lineage, "{}", found.id);
            assert_eq!(found.carriers, common.session.carriers, "{}", found.id);
        }
    }
}

#[test]
fn a_scan_says_what_a_full_load_says() {
    for home in [Home::built(), Home::by_hand()] {
        for found in home.described() {
            let common = Cowork::to_common(&home.load(&found.reference)).unwrap();
            let mut fold = Fold::default();
            let control = Control::default();
            let context = home.context();
            Cowork::scan(&found.reference, &Cursor::Start, Wants::ALL, &control, &mut fold, &context)
                .unwrap();
            assert_eq!(fold.id.as_ref(), Some(&found.id));
            assert_eq!(fold.meta, common.session.meta, "{}", found.id);
            assert_eq!(essence(&fold.messages), essence(&common.session.messages), "{}", found.id);
            let usage =
                |calls: &[ibid_model::ModelCall]| -> Vec<_> { calls.iter().map(|call| call.usage).collect() };
            assert_eq!(usage(&fold.calls()), usage(&common.session.calls), "{}", found.id);
        }
    }
}

#[test]
fn a_scan_goes_on_where_the_conversation_ended() {
    let home = Home::empty();
    let reference = home.session(FIRST, "local_x", r#","title":"T""#, PLAIN);
    let path = home.find("local_x").carriers[0].path.to_string();
    let rows = fs::read(claude_transcript(PLAIN)).unwrap();
    let ends: Vec<usize> = (0..rows.len()).filter(|at| rows[*at] == b'\n').map(|at| at + 1).collect();
    let whole = Cowork::to_common(&home.load(&reference)).unwrap().session;
    for end in ends {
        fs::write(&path, &rows[..end]).unwrap();
        let mut fold = Fold::default();
        let context = home.context();
        let control = Control::default();
        let cursor =
            Cowork::scan(&reference, &Cursor::Start, Wants::ALL, &control, &mut fold, &context).unwrap();
        fs::write(&path, &rows).unwrap();
        let cursor = Cowork::scan(&reference, &cursor, Wants::ALL, &control, &mut fold, &context).unwrap();
        assert_eq!(fold.meta, whole.meta, "in two halves at byte {end}");
        assert_eq!(essence(&fold.messages), essence(&whole.messages), "in two halves at byte {end}");
        let mut more = 0;
        let mut counted = |event: ScanEvent| {
            more += usize::from(matches!(event, ScanEvent::Message(_)));
            true
        };
        Cowork::scan(&reference, &cursor, Wants::ALL, &control, &mut counted, &context).unwrap();
        assert_eq!(more, 0, "nothing is told twice");
    }
}

#[test]
fn the_record_says_first_what_a_list_shows_and_the_conversation_the_rest() {
    let home = Home::built();
    let meta = home.find("local_two").meta;
    let title = meta.title.unwrap();
    assert_eq!((title.text.as_str(), title.origin), ("Given in the app", TitleOrigin::Generated));
    assert_eq!(meta.model.as_deref(), Some("m-1"));
    assert_eq!(meta.started, Timestamp::from_milliseconds(1_785_578_400_000));
    assert_eq!(meta.version.as_deref(), Some("2.1.197"));
    let other = home.find("local_ditto_three").meta;
    let rows = Home::empty();
    let reference = rows.session(SECOND, "local_bare", "", COMPACTED);
    fs::write(&reference.path, format!(r#"{{"sessionId":"local_bare","cliSessionId":"{}"}}"#, COMPACTED.2))
        .unwrap();
    let bare = rows.find("local_bare").meta;
    assert_eq!((bare.model.clone(), bare.title.clone()), (other.model, other.title));
    assert!(bare.cwd.is_some() && bare.started.is_some() && bare.model.is_some());
}

#[test]
fn an_archived_session_is_listed_as_put_away() {
    let home = Home::by_hand();
    assert!(home.find("local_3a000000-0000-4000-8000-000000000002").meta.archived);
    assert!(!home.find("local_3a000000-0000-4000-8000-000000000001").meta.archived);
}

#[test]
fn a_session_lives_in_record_transcript_audit_log_and_what_lies_beside() {
    let home = Home::by_hand();
    let found = home.find("local_3a000000-0000-4000-8000-000000000001");
    let roles: Vec<CarrierRole> = found.carriers.iter().map(|carrier| carrier.role).collect();
    use CarrierRole::{Audit, Companion, Metadata, Record, Transcript};
    assert_eq!(roles, [Transcript, Record, Audit, Metadata, Metadata, Companion, Companion]);
}

// https://github.com/AgentWorkforce/relayhistory/pull/97 (fault 7)
#[test]
fn a_subagent_whose_rows_name_its_parents_session_has_an_id_of_its_own() {
    let home = Home::built();
    let children = Cowork::children(&home.at(&format!("{FIRST}/local_one.json")), &home.context());
    assert_eq!(children.len(), 1);
    let child = Cowork::to_common(&home.load(&children[0])).unwrap().session;
    assert_eq!(child.id, "local_one/afc6dde99f2bcef8a");
    assert!(home.described().iter().any(|found| found.id == child.id));
    assert!(Cowork::children(&children[0], &home.context()).is_empty());
}

// https://github.com/kenn-io/agentsview/issues/1246 (fault 52)
#[test]
fn a_subagent_that_another_one_started_is_that_ones_child() {
    let home = Home::built();
    let reference = home.at(&format!("{FIRST}/local_one.json"));
    let first = Cowork::children(&reference, &home.context()).remove(0);
    let deeper = first.path.with_file_name("agent-deeper.jsonl");
    fs::copy(&first.path, &deeper).unwrap();
    fs::write(deeper.with_extension("meta.json"), r#"{"toolUseId":"toolu_nested","spawnDepth":2}"#).unwrap();
    let mut rows = fs::read_to_string(&first.path).unwrap();
    rows.push_str(
        r#"{"parentUuid":null,"isSidechain":true,"agentId":"afc6dde99f2bcef8a","type":"assistant","message":{"id":"m9","role":"assistant","content":[{"type":"tool_use","id":"toolu_nested","name":"Agent","input":{}}]},"uuid":"u9"}"#,
    );
    fs::write(&first.path, rows + "\n").unwrap();
    let parent = home.find("local_one/deeper").lineage[0].parent.clone().unwrap();
    assert_eq!(parent, "local_one/afc6dde99f2bcef8a");
    assert_eq!(Cowork::children(&reference, &home.context()), std::slice::from_ref(&first));
    assert_eq!(Cowork::children(&first, &home.context()).len(), 1);
}

// https://github.com/klein-t/teebe/pull/77 (fault 35)
#[test]
fn each_message_keeps_the_directory_it_was_written_in() {
    let home = Home::empty();
    let path = home.write(&format!("{FIRST}/local_x.json"), &record("local_x", "c1", ""));
    let row = |uuid: &str, cwd: &str| {
        format!(
            r#"{{"parentUuid":null,"type":"user","cwd":"{cwd}","message":{{"role":"user","content":"go"}},"uuid":"{uuid}"}}"#
        )
    };
    let rows = [row("a", "/repo"), row("b", "/repo/.claude/worktrees/x")].join("\n");
    home.write(&format!("{FIRST}/local_x/.claude/projects/-repo/c1.jsonl"), &rows);
    let session = Cowork::to_common(&home.load(&home.reference(&path))).unwrap().session;
    let directories: Vec<_> = session.messages.iter().map(|message| message.cwd.as_deref()).collect();
    assert_eq!(directories, [Some("/repo"), Some("/repo/.claude/worktrees/x")]);
    assert_eq!(session.meta.cwd.as_deref(), Some("/home/dev/demo"));
}

#[test]
fn of_two_copies_the_one_that_goes_on_later_is_read_and_both_are_named() {
    let home = Home::by_hand();
    let found = home.find("local_3a000000-0000-4000-8000-000000000007");
    assert_eq!(count(&found.findings, FindingKind::Variants), 1);
    assert!(found.carriers[0].path.contains("-sessions-demo-7-mnt-outputs"));
    let session = Cowork::to_common(&home.load(&found.reference)).unwrap();
    assert_eq!(count(&session.findings, FindingKind::Variants), 1);
    assert_eq!(session.session.carriers[0].path, found.carriers[0].path);
}

// https://github.com/getpaseo/paseo/issues/3297 (fault 37)
#[test]
fn reading_changes_nothing_in_the_store() {
    let home = Home::by_hand();
    let before = snapshot(home.folder.path());
    for found in home.described() {
        let transcript = home.load(&found.reference);
        Cowork::to_common(&transcript).unwrap();
        Cowork::children(&found.reference, &home.context());
        let mut fold = Fold::default();
        let context = home.context();
        Cowork::scan(&found.reference, &Cursor::Start, Wants::ALL, &Control::default(), &mut fold, &context)
            .unwrap();
    }
    assert_eq!(snapshot(home.folder.path()), before);
}

#[test]
fn the_fingerprint_follows_every_carrier() {
    let home = Home::built();
    let reference = home.at(&format!("{FIRST}/local_one.json"));
    let now = || Cowork::fingerprints(std::slice::from_ref(&reference), &home.context()).remove(0).unwrap();
    let listed = home.list();
    let same = listed.sessions.iter().find(|listed| listed.reference == reference).unwrap();
    assert_eq!(now(), same.fingerprint);
    assert_eq!(home.find("local_one").fingerprint, same.fingerprint);
    let mut seen = vec![now()];
    for carrier in home.find("local_one").carriers {
        let path = std::path::PathBuf::from(carrier.path.as_str());
        let mut bytes = fs::read(&path).unwrap();
        bytes.push(b'\n');
        fs::write(&path, bytes).unwrap();
        assert!(!seen.contains(&now()), "{} changed", carrier.path);
        seen.push(now());
    }
    home.write(&format!("{FIRST}/local_one/.claude/projects/-new/agent-x.jsonl"), "");
    assert!(!seen.contains(&now()), "a new file");
}

#[test]
fn a_record_is_recognised_by_its_name_and_its_fields() {
    let path = std::path::Path::new("/x/local_1.json");
    assert!(Cowork::recognises(path, record("local_1", "c", "").as_bytes()) > 90);
    assert_eq!(Cowork::recognises(path, b"{\"name\":1}"), 0);
    assert_eq!(
        Cowork::recognises(std::path::Path::new("/x/settings.json"), record("a", "c", "").as_bytes()),
        0
    );
    let bundle = format!(r#"{{"header":{}}}"#, record("local_1", "c", ""));
    assert!(Cowork::recognises(std::path::Path::new("/x/bundle.json"), bundle.as_bytes()) > 50);
}
