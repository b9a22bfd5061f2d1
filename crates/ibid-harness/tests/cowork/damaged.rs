//! Sessions of which something is missing or wrong.

use std::fs;

use ibid_harness::cowork::Cowork;
use ibid_harness::{Codec, Progress, Store, discover};
use ibid_model::FindingKind;

use crate::home::{FIRST, Home, PLAIN, count, record, sessions};

#[test]
fn a_field_of_another_type_costs_no_session_and_the_conversation_says_it_instead() {
    let home = Home::by_hand();
    let found = home.find("local_3a000000-0000-4000-8000-000000000003");
    assert_eq!(count(&found.findings, FindingKind::MalformedRecord), 4);
    assert_eq!(count(&found.findings, FindingKind::LoneSurrogate), 1);
    assert!(found.meta.model.is_some());
    assert!(found.meta.started.is_some(), "the rows say when it began");
}

#[test]
fn a_record_that_is_cut_is_reported_and_the_others_are_listed() {
    let home = Home::by_hand();
    let cowork = ibid_harness::find("cowork").unwrap();
    let found = discover(&[cowork], &home.machine, &home.limits, None, &Progress::default());
    assert_eq!(found.len(), 1);
    let [finding] = found[0].findings.as_slice() else { panic!("{:?}", found[0].findings) };
    assert_eq!(finding.kind, FindingKind::Unreadable);
    assert!(finding.path.as_ref().unwrap().ends_with("000000000008.json"));
    assert_eq!(sessions(&found[0].sessions).len(), 6);
}

#[test]
fn a_record_without_a_session_id_is_refused_and_an_empty_one_is_the_files_name() {
    let home = Home::empty();
    home.write(&format!("{FIRST}/local_a.json"), r#"{"title":"x"}"#);
    home.write(&format!("{FIRST}/local_b.json"), r#"{"sessionId":""}"#);
    home.write(&format!("{FIRST}/local_c.json"), r#"{"sessionId":7}"#);
    assert_eq!(sessions(&home.described()), ["local_b", "local_c"]);
    let error = Cowork::load(&home.at(&format!("{FIRST}/local_a.json")), &home.context()).unwrap_err();
    assert!(error.to_string().contains("no sessionId"), "{error}");
    let missing = home.find("local_b").findings;
    assert!(
        missing.iter().any(|finding| finding.detail.contains("the app lists no record without processName"))
    );
}

#[test]
fn a_record_whose_conversation_is_gone_is_still_a_session() {
    let home = Home::empty();
    let path = home.write(&format!("{FIRST}/local_x.json"), &record("local_x", "c1", r#","title":"T""#));
    let found = home.find("local_x");
    assert_eq!(count(&found.findings, FindingKind::MissingTranscript), 1);
    let common = Cowork::to_common(&home.load(&home.reference(&path))).unwrap();
    assert_eq!(count(&common.findings, FindingKind::MissingTranscript), 1);
    assert_eq!((common.session.messages.len(), common.session.meta), (0, found.meta));
    home.write(&format!("{FIRST}/local_y.json"), r#"{"sessionId":"local_y","initialMessage":"Hello"}"#);
    let without = home.find("local_y");
    assert_eq!(count(&without.findings, FindingKind::MissingTranscript), 0, "nothing was promised");
    assert_eq!(without.meta.preview.as_deref(), Some("Hello"));
}

// https://github.com/can1357/oh-my-pi/issues/11476 (fault 39)
#[test]
fn a_conversation_that_cannot_be_read_is_reported_and_is_not_an_empty_one() {
    let mut home = Home::empty();
    let reference = home.session(FIRST, "local_x", "", PLAIN);
    home.limits.file_bytes = 1000;
    let common = Cowork::to_common(&home.load(&reference)).unwrap();
    assert_eq!(count(&common.findings, FindingKind::Oversize), 1);
    assert!(common.session.messages.is_empty());
}

#[cfg(unix)]
#[test]
fn a_conversation_without_permission_is_reported() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::empty();
    home.session(FIRST, "local_x", "", PLAIN);
    let path = home.find("local_x").carriers[0].path.to_string();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    // The superuser may read everything.
    let expected = usize::from(fs::read(&path).is_err());
    let found = home.find("local_x");
    assert_eq!(count(&found.findings, FindingKind::Unreadable), expected);
}

// https://github.com/can1357/oh-my-pi/issues/11476 (fault 39)
#[test]
fn an_absent_root_is_absent_and_a_file_in_its_place_is_unreadable() {
    let home = Home::empty();
    let listing = home.list();
    assert!(!listing.present && listing.findings.is_empty());
    fs::create_dir_all(home.root().parent().unwrap()).unwrap();
    fs::write(home.root(), "").unwrap();
    let listing = home.list();
    assert!(listing.present);
    assert_eq!(count(&listing.findings, FindingKind::Unreadable), 1);
}

#[test]
fn an_id_that_is_no_file_name_leads_nowhere() {
    let home = Home::empty();
    home.session(FIRST, "local_x", "", PLAIN);
    let path = home.root().join(FIRST).join("local_x.json");
    let secret = home.write(&format!("{FIRST}/secret.jsonl"), "{\"type\":\"user\"}\n");
    assert!(secret.exists());
    for cli in ["../../../../secret", "..", "/etc/passwd", "a\\u0000b"] {
        fs::write(&path, record("local_x", cli, "")).unwrap();
        let found = home.find("local_x");
        assert_eq!(count(&found.findings, FindingKind::UnsafeName), 1, "{cli}");
        let common = Cowork::to_common(&home.load(&home.reference(&path))).unwrap();
        assert!(common.session.messages.is_empty(), "{cli}");
    }
}

// https://github.com/vshulcz/deja-vu/issues/1775 (fault 54)
#[test]
fn a_copy_of_a_record_is_named_and_listed_once() {
    let home = Home::empty();
    home.session(FIRST, "local_x", "", PLAIN);
    for copy in ["local_x (1).json", "local_x.sync-conflict-20260701-101112-ABCDEFG.json"] {
        home.write(&format!("{FIRST}/{copy}"), &record("local_x", PLAIN.2, ""));
    }
    assert_eq!(sessions(&home.described()), ["local_x"]);
    assert_eq!(count(&home.list().findings, FindingKind::ConflictCopy), 2);
}

// https://github.com/openai/codex/issues/31074 (fault 46)
#[test]
fn a_folder_without_its_record_is_reported() {
    let home = Home::empty();
    let reference = home.session(FIRST, "local_x", "", PLAIN);
    fs::remove_file(&reference.path).unwrap();
    let listing = home.list();
    assert!(listing.sessions.is_empty());
    assert_eq!(count(&listing.findings, FindingKind::MissingHeader), 1);
}

#[test]
fn a_record_that_names_another_id_than_its_file_is_the_session_it_names() {
    let home = Home::empty();
    home.write(&format!("{FIRST}/local_a.json"), &record("local_b", "c", ""));
    let found = home.find("local_b");
    assert!(found.findings.iter().any(|finding| finding.detail.contains("is not the name of its file")));
}

#[cfg(unix)]
#[test]
fn links_that_lead_out_of_the_root_are_reported_and_not_followed() {
    use std::os::unix::fs::symlink;
    let elsewhere = Home::built();
    let home = Home::empty();
    fs::create_dir_all(home.root().join(FIRST)).unwrap();
    let (organisation, _) = crate::home::SECOND.split_once('/').unwrap();
    symlink(elsewhere.root().join(organisation), home.root().join(organisation)).unwrap();
    let other = elsewhere.root().join(FIRST);
    symlink(other.join("local_one.json"), home.root().join(FIRST).join("local_one.json")).unwrap();
    home.write(&format!("{FIRST}/local_two.json"), &record("local_two", PLAIN.2, ""));
    symlink(other.join("local_two"), home.root().join(FIRST).join("local_two")).unwrap();
    let listing = home.list();
    assert_eq!(sessions(&home.described()), ["local_two"]);
    assert_eq!(count(&listing.findings, FindingKind::LinkNotFollowed), 2);
    let two = home.find("local_two");
    assert_eq!(count(&two.findings, FindingKind::LinkNotFollowed), 1);
    assert_eq!(two.carriers.len(), 1, "the record alone");
}
