//! Saving sessions.

use std::fs;

use ibid_carrier::plan::Step;
use ibid_harness::cowork::{Body, Cowork};
use ibid_harness::{Codec, Converted, SaveOptions, Saving, Store, StoreError, Target, TextCodec, Transcript};
use ibid_model::{LossKind, Message, Origin, Role, Session};

use crate::home::{FIRST, Home, SECOND, carriers, count, record};

fn save(home: &Home, transcript: &Transcript<Cowork>, options: &SaveOptions) -> Result<Saving, StoreError> {
    Cowork::save(transcript, options, &home.context())
}

fn said(text: &str) -> Session {
    let mut session = Session::new("test", "s");
    let mut message = Message::new("m", Role::User, Origin::Person);
    message.blocks.push(ibid_model::Block::text(text));
    session.messages.push(message);
    session
}

fn converted(session: &Session, target: &Target) -> Transcript<Cowork> {
    Cowork::from_common(session, target).unwrap().value
}

fn bundle(header: &str) -> Transcript<Cowork> {
    let row = r#"{"parentUuid":null,"type":"user","message":{"role":"user","content":"go"},"uuid":"u"}"#;
    Cowork::from_text(format!(r#"{{"header":{header},"transcript":[{row}]}}"#).as_bytes()).unwrap()
}

// https://github.com/handochan/aelix-ai/issues/135 (fault 58)
#[test]
fn a_session_that_is_saved_elsewhere_is_the_same_in_every_byte() {
    for from in [Home::built(), Home::by_hand()] {
        let to = Home::empty();
        for found in from.described() {
            let transcript = from.load(&found.reference);
            let Body::Session(_) = &transcript.body else { continue };
            let options = SaveOptions { root: Some(to.root()), ..SaveOptions::default() };
            let saving = save(&to, &transcript, &options).unwrap();
            to.commit(&saving).unwrap();
            let again = to.load(&saving.reference);
            assert_eq!((&again.id, &saving.id), (&transcript.id, &transcript.id));
            assert_eq!(carriers(&again), carriers(&transcript), "{}", transcript.id);
            let (before, after) =
                (Cowork::to_common(&transcript).unwrap(), Cowork::to_common(&again).unwrap());
            assert_eq!(after.session.meta, before.session.meta);
            assert_eq!(after.session.messages, before.session.messages);
        }
        assert_eq!(to.described().len(), from.described().len(), "subagents too");
    }
}

#[test]
fn an_agent_session_stays_among_the_agent_sessions() {
    let from = Home::built();
    let agent = from.load(&from.at(&format!("{FIRST}/agent/local_ditto_three.json")));
    let to = Home::empty().with_account(SECOND);
    let saving = save(&to, &agent, &SaveOptions::default()).unwrap();
    assert_eq!(saving.reference.path, to.root().join(SECOND).join("agent/local_ditto_three.json"));
}

#[test]
fn the_record_comes_last_and_the_folders_of_files_are_made() {
    let from = Home::by_hand();
    let found = from.find("local_3a000000-0000-4000-8000-000000000001");
    let to = Home::empty().with_account(FIRST);
    let saving = save(&to, &from.load(&found.reference), &SaveOptions::default()).unwrap();
    let Some(Step::CreateFile { path, .. }) = saving.plan.steps.last() else { panic!() };
    assert_eq!(*path, saving.reference.path);
    assert_eq!(saving.losses.count(LossKind::Companion), 2, "uploads and outputs stay where they are");
    to.commit(&saving).unwrap();
    let storage = saving.reference.path.with_extension("");
    assert!(storage.join("uploads").is_dir() && storage.join("outputs").is_dir());
    assert!(!storage.join(".audit-key").exists());
    let log = "local_3a000000-0000-4000-8000-000000000001/audit.jsonl";
    assert_eq!(
        fs::read(storage.join("audit.jsonl")).unwrap(),
        fs::read(from.root().join(FIRST).join(log)).unwrap()
    );
}

#[test]
fn the_account_that_was_used_last_is_chosen_and_named() {
    let home = Home::built();
    let first = home.root().join(FIRST);
    for record in ["local_one.json", "local_two.json", "agent/local_ditto_three.json"] {
        home.touch(&first.join(record), 500);
    }
    let other = home.root().join(SECOND).join("local_four.json");
    let place = |seconds: u64| {
        home.touch(&other, seconds);
        save(&home, &converted(&said("go"), &Target::default()), &SaveOptions::default()).unwrap()
    };
    let newer = place(10);
    assert!(newer.reference.path.starts_with(home.root().join(SECOND)));
    assert!(newer.notes[0].contains(SECOND) && newer.notes[0].contains("most recently active of 2"));
    let older = place(5000);
    assert!(older.reference.path.starts_with(&first));
    assert_eq!(older.plan.labels["account"], FIRST);
}

#[test]
fn the_account_that_is_asked_for_is_taken() {
    let home = Home::built();
    let (organisation, account) = SECOND.split_once('/').unwrap();
    let transcript = converted(&said("go"), &Target::default());
    for name in [SECOND, organisation, account] {
        let options = SaveOptions { account: Some(name.to_owned()), ..SaveOptions::default() };
        let saving = save(&home, &transcript, &options).unwrap();
        assert!(saving.reference.path.starts_with(home.root().join(SECOND)), "{name}");
    }
    let asked = |name: &str| {
        let options = SaveOptions { account: Some(name.to_owned()), ..SaveOptions::default() };
        save(&home, &transcript, &options).unwrap_err().to_string()
    };
    assert!(asked("nobody").contains(FIRST), "the message names those that are there");
    assert!(asked("../../..").contains("no account"));
    fs::create_dir_all(home.root().join(organisation).join("2c000000-0000-4000-8000-00000000000c")).unwrap();
    assert!(asked(organisation).contains("several accounts"));
}

#[test]
fn without_an_account_the_person_is_told_to_open_cowork_once() {
    let home = Home::empty();
    let error =
        save(&home, &converted(&said("go"), &Target::default()), &SaveOptions::default()).unwrap_err();
    assert!(matches!(error, StoreError::NoPlace { .. }));
    assert!(error.to_string().contains("open Cowork once"), "{error}");
}

#[test]
fn an_id_that_the_app_would_not_list_is_refused_or_on_request_prefixed() {
    let home = Home::empty().with_account(FIRST);
    let transcript = bundle(&record("mine", "c1", ""));
    let error = save(&home, &transcript, &SaveOptions::default()).unwrap_err();
    assert!(error.to_string().contains("local_"), "{error}");
    let options = SaveOptions { fix_id: true, ..SaveOptions::default() };
    let saving = save(&home, &transcript, &options).unwrap();
    assert_eq!(saving.id, "local_mine");
    assert!(saving.losses.has(LossKind::SessionId));
    home.commit(&saving).unwrap();
    let again = home.load(&saving.reference);
    assert_eq!(again.id, "local_mine", "the record has the id that was used");
    assert_eq!(Cowork::to_common(&again).unwrap().session.messages.len(), 1);
}

#[test]
fn the_id_that_is_used_is_written_into_a_record_that_has_none() {
    let home = Home::empty().with_account(FIRST);
    let mut transcript = bundle(r#"{"processName":"p","cwd":"/w","createdAt":1.0e3}"#);
    assert_eq!(transcript.id, "");
    transcript.id = "local_given".into();
    let saving = save(&home, &transcript, &SaveOptions::default()).unwrap();
    home.commit(&saving).unwrap();
    let record = fs::read_to_string(&saving.reference.path).unwrap();
    assert!(
        record.starts_with(r#"{"processName":"p","cwd":"/w","createdAt":1.0e3,"sessionId":"local_given""#)
    );
    assert_eq!(Cowork::to_common(&home.load(&saving.reference)).unwrap().session.messages.len(), 1);
}

#[test]
fn ids_that_lead_elsewhere_are_refused() {
    let home = Home::empty().with_account(FIRST);
    for id in ["local_/../../x", "local_a/b", "local_..\\\\x", "local_a\\u0000"] {
        assert!(save(&home, &bundle(&record(id, "c1", "")), &SaveOptions::default()).is_err(), "{id}");
    }
    let unsafe_cli = bundle(&record("local_x", "../../c1", ""));
    assert!(save(&home, &unsafe_cli, &SaveOptions::default()).is_err());
}

#[test]
fn a_session_without_a_directory_runs_in_its_own_outputs() {
    let home = Home::empty().with_account(FIRST);
    let saving = save(&home, &converted(&said("go"), &Target::default()), &SaveOptions::default()).unwrap();
    assert!(saving.losses.has(LossKind::DirectoryChanged));
    home.commit(&saving).unwrap();
    let found = home.find(saving.id.as_str());
    let outputs = saving.reference.path.with_extension("").join("outputs");
    assert_eq!(found.meta.cwd.as_deref(), outputs.to_str());
    assert_eq!(count(&found.findings, ibid_model::FindingKind::MissingTranscript), 0);
    let empty = bundle(r#"{"sessionId":"local_e","processName":"p","cwd":"","cliSessionId":"c1"}"#);
    let saving = save(&home, &empty, &SaveOptions::default()).unwrap();
    assert!(saving.losses.is_empty(), "a record that was given stays as it is");
    home.commit(&saving).unwrap();
    assert_eq!(Cowork::to_common(&home.load(&saving.reference)).unwrap().session.messages.len(), 1);
}

#[test]
fn the_project_is_named_as_claude_code_names_it() {
    let home = Home::empty().with_account(FIRST);
    let target = Target { cwd: Some("/home/dev/My Project_2.0 (\u{f6})".into()), ..Target::default() };
    let saving = save(&home, &converted(&said("go"), &target), &SaveOptions::default()).unwrap();
    home.commit(&saving).unwrap();
    let found = home.find(saving.id.as_str());
    assert!(found.carriers[0].path.contains("/.claude/projects/-home-dev-My-Project-2-0----/"));
}

#[test]
fn a_taken_id_is_refused_in_any_account_unless_it_is_to_be_replaced() {
    let home = Home::built();
    let target = Target { id: Some("local_four".into()), ..Target::default() };
    let transcript = converted(&said("new"), &target);
    let into = |account: &str, replace: bool| {
        let options = SaveOptions { account: Some(account.to_owned()), replace, ..SaveOptions::default() };
        save(&home, &transcript, &options)
    };
    assert!(matches!(into(FIRST, false), Err(StoreError::Exists { .. })));
    assert!(matches!(into(SECOND, false), Err(StoreError::Exists { .. })));
    assert!(matches!(into(FIRST, true), Err(StoreError::Exists { .. })), "the other account has it");
    let saving = into(SECOND, true).unwrap();
    assert!(home.commit(&saving).is_err(), "the policy has a say too");
    let policy = ibid_carrier::plan::Policy::within(saving.roots.clone()).replacing();
    ibid_carrier::plan::Engine::new(home.machine.data_dir()).commit(&saving.plan, &policy).unwrap();
    let session = Cowork::to_common(&home.load(&saving.reference)).unwrap().session;
    assert_eq!(session.messages.len(), 1);
    assert_eq!(home.find("local_four").carriers.len(), 2, "nothing is left of the old conversation");
}

#[test]
fn a_folder_that_was_left_over_is_not_written_into() {
    let home = Home::built();
    let reference = home.at(&format!("{SECOND}/local_four.json"));
    fs::remove_file(&reference.path).unwrap();
    let target = Target { id: Some("local_four".into()), ..Target::default() };
    let saved = save(&home, &converted(&said("new"), &target), &SaveOptions::default());
    assert!(matches!(saved, Err(StoreError::Exists { .. })));
}

#[test]
fn a_converted_subagent_is_kept_beside_the_conversation_of_its_session() {
    let from = Home::built();
    let parent = Cowork::to_common(&from.load(&from.at(&format!("{FIRST}/local_one.json")))).unwrap().session;
    let children = Cowork::children(&from.at(&format!("{FIRST}/local_one.json")), &from.context());
    let child = Cowork::to_common(&from.load(&children[0])).unwrap().session;
    let to = Home::empty().with_account(SECOND);
    let saving = save(&to, &converted(&parent, &Target::default()), &SaveOptions::default()).unwrap();
    let target = Target { parent: Some(saving.id.clone()), ..Target::default() };
    let Converted { value, losses } = Cowork::from_common(&child, &target).unwrap();
    assert!(!losses.has(LossKind::Lineage));
    assert!(save(&to, &value, &SaveOptions::default()).is_err(), "it has no place of its own");
    let options = SaveOptions { parent: Some(saving.reference.clone()), ..SaveOptions::default() };
    let early = save(&to, &value, &options).unwrap();
    to.commit(&saving).unwrap();
    let late = save(&to, &value, &options).unwrap();
    assert_eq!(early.reference, late.reference, "whether the session is there already or not");
    to.commit(&late).unwrap();
    let found = to.find(late.id.as_str());
    assert_eq!(found.lineage[0].parent.as_ref(), Some(&saving.id));
    assert_eq!(Cowork::children(&saving.reference, &to.context()), [late.reference]);
    assert_eq!(found.meta.title.unwrap().text, child.meta.title.unwrap().text);
}

#[test]
fn a_subagent_that_is_copied_with_its_session_makes_the_same_steps() {
    let from = Home::built();
    let reference = from.at(&format!("{FIRST}/local_one.json"));
    let to = Home::empty().with_account(SECOND);
    let whole = save(&to, &from.load(&reference), &SaveOptions::default()).unwrap();
    let child = Cowork::children(&reference, &from.context()).remove(0);
    let options = SaveOptions { parent: Some(whole.reference.clone()), ..SaveOptions::default() };
    let alone = save(&to, &from.load(&child), &options).unwrap();
    assert!(!alone.plan.is_empty());
    assert!(alone.plan.steps.iter().all(|step| whole.plan.steps.contains(step)));
}
