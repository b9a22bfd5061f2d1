//! Oh My Pi, which grew out of pi: where its sessions lie, and what its records say beyond pi's.

use std::path::PathBuf;

use ibid_carrier::jsonl::Limits;
use ibid_harness::pi::Pi;
use ibid_harness::{
    Class, Codec, Common, Context, Control, Cursor, Discovered, Fold, RootOrigin, SaveOptions, Store,
    Surroundings, Wants,
};
use ibid_model::{FindingKind, Origin, TitleOrigin};
use ibid_testkit::Home;

const NAMED: &str = "019f0001-0000-7000-8000-000000000001";
const SUBAGENT: &str = "019f0002-0000-7000-8000-000000000002";
const OF_PROFILE: &str = "019f0003-0000-7000-8000-000000000003";

fn read(machine: &Surroundings) -> Vec<(Discovered, Common)> {
    let limits = Limits::default();
    let context = Context { machine, limits: &limits };
    let mut read = Vec::new();
    for root in Pi::roots(machine) {
        for listed in Pi::list(&root, &context).sessions {
            let found = Pi::describe(&listed, &context).unwrap();
            let common = Pi::to_common(&Pi::load(&listed.reference, &context).unwrap()).unwrap();
            assert_eq!((&found.id, &found.meta), (&common.session.id, &common.session.meta));
            assert_eq!(found.lineage, common.session.lineage);
            let (mut fold, control) = (Fold::default(), Control::default());
            let start = Cursor::Start;
            Pi::scan(&listed.reference, &start, Wants::ALL, &control, &mut fold, &context).unwrap();
            assert_eq!((&fold.meta, &fold.lineage), (&found.meta, &found.lineage));
            read.push((found, common));
        }
    }
    read
}

fn fixtures() -> (Home, Vec<(Discovered, Common)>) {
    let home = Home::new().with("pi", "oh-my-pi");
    let read = read(&Surroundings::isolated(home.path()));
    (home, read)
}

fn of<'a>(read: &'a [(Discovered, Common)], id: &str) -> &'a (Discovered, Common) {
    read.iter().find(|(found, _)| found.id == id).unwrap()
}

#[test]
fn sessions_of_oh_my_pi_and_of_its_profiles_are_found_where_it_keeps_them() {
    let (_home, read) = fixtures();
    let classes: Vec<_> = read.iter().map(|(found, _)| (found.id.as_str(), found.class)).collect();
    assert_eq!(classes, [(SUBAGENT, Class::Sidecar), (NAMED, Class::Session), (OF_PROFILE, Class::Session)]);
    assert!(read.iter().all(|(found, _)| found.meta.cwd.as_deref() == Some("/w/demo")));
}

#[test]
fn the_agent_directory_may_be_that_of_oh_my_pi() {
    let home = Home::new().with("pi", "oh-my-pi");
    let machine = Surroundings::isolated(home.path()).with_variable("PI_CODING_AGENT_DIR", "~/.omp/agent");
    let roots = Pi::roots(&machine);
    assert_eq!(roots[0].path, home.path().join(".omp/agent/sessions"));
    assert_eq!(roots[0].origin, RootOrigin::Variable("PI_CODING_AGENT_DIR"));
    assert_eq!(roots.len(), 2, "no root twice");
    assert_eq!(read(&machine).len(), 3);
}

#[test]
fn the_title_before_the_header_is_the_one_in_force_and_no_entry() {
    let (_home, read) = fixtures();
    let (found, common) = of(&read, NAMED);
    let title = found.meta.title.as_ref().unwrap();
    assert_eq!((title.text.as_str(), title.origin), ("Write the docs", TitleOrigin::Person));
    assert!(common.findings.iter().all(|finding| finding.kind != FindingKind::MissingHeader));
    assert!(common.findings.iter().all(|finding| finding.kind != FindingKind::UnknownRecord));
    assert_eq!(common.session.messages.len(), 3);
    let (found, _) = of(&read, OF_PROFILE);
    let title = found.meta.title.as_ref().unwrap();
    assert_eq!((title.text.as_str(), title.origin), ("Fix it", TitleOrigin::Generated));
}

#[test]
fn a_title_without_a_session_behind_it_is_no_session() {
    let row = r#"{"type":"title","v":1,"title":"x","source":"auto"}"#;
    let home = Home::new().with_file(".omp/agent/sessions/-w/2026-09-01T10-00-00-000Z_x.jsonl", row);
    let machine = Surroundings::isolated(home.path());
    let limits = Limits::default();
    let context = Context { machine: &machine, limits: &limits };
    let root = Pi::roots(&machine).remove(1);
    let listed = Pi::list(&root, &context).sessions.remove(0);
    assert_eq!(Pi::describe(&listed, &context).unwrap().class, Class::Foreign);
}

#[test]
fn a_file_in_the_folder_of_a_session_is_a_subagent_of_it() {
    let (_home, read) = fixtures();
    let (found, common) = of(&read, SUBAGENT);
    assert_eq!((common.session.messages[0].origin, common.session.counts().prompts), (Origin::Agent, 0));
    let lineage = &found.lineage[0];
    assert_eq!(lineage.parent.as_ref().unwrap().as_str(), NAMED);
    assert_eq!(lineage.agent.as_deref(), Some("Scout"));
}

fn paths(machine: &Surroundings) -> Vec<PathBuf> {
    Pi::roots(machine).into_iter().map(|root| root.path).collect()
}

#[test]
fn settings_name_a_flat_directory_relative_to_the_project() {
    let home = Home::new()
        .with_file("w/.pi/settings.json", r#"{"sessionDir":"var/pi","theme":"dark"}"#)
        .with_file(".pi/agent/settings.json", r#"{"sessionDir":"~/all"}"#);
    let machine = Surroundings::isolated(home.path()).in_project(home.path().join("w"));
    let usual = home.path().join(".pi/agent/sessions");
    assert_eq!(paths(&machine), [home.path().join("w/var/pi"), home.path().join("all"), usual.clone()]);
    let elsewhere = Surroundings::isolated(home.path());
    assert_eq!(paths(&elsewhere), [home.path().join("all"), usual]);
}

#[test]
fn a_relative_setting_of_the_agent_is_of_the_project_that_is_looked_at() {
    let home = Home::new().with_file(".pi/agent/settings.json", r#"{"sessionDir":".sessions"}"#);
    let usual = home.path().join(".pi/agent/sessions");
    let machine = Surroundings::isolated(home.path());
    assert_eq!(paths(&machine), std::slice::from_ref(&usual));
    let machine = machine.in_project("/w/demo");
    assert_eq!(paths(&machine), [PathBuf::from("/w/demo/.sessions"), usual]);
}

#[test]
fn settings_that_cannot_be_read_name_nothing() {
    for settings in ["", "{", "[]", r#"{"sessionDir":5}"#, r#"{"sessionDir":" "}"#] {
        let home = Home::new().with_file(".pi/agent/settings.json", settings);
        assert_eq!(paths(&Surroundings::isolated(home.path())).len(), 1);
    }
}

#[test]
fn a_session_is_saved_right_in_a_directory_that_a_setting_names() {
    let home = Home::new().with("pi", "1.6.0");
    let source = Surroundings::isolated(home.path());
    let limits = Limits::default();
    let context = Context { machine: &source, limits: &limits };
    let listed = Pi::list(&Pi::roots(&source)[0], &context).sessions.remove(0);
    let transcript = Pi::load(&listed.reference, &context).unwrap();
    let home = Home::new().with_file(".pi/agent/settings.json", r#"{"sessionDir":"~/all"}"#);
    let machine = Surroundings::isolated(home.path());
    let context = Context { machine: &machine, limits: &limits };
    let saving = Pi::save(&transcript, &SaveOptions::default(), &context).unwrap();
    assert_eq!(saving.reference.path.parent(), Some(home.path().join("all").as_path()));
}
