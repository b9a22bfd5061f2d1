//! Finding, saving, deleting and following session files.

use std::fs;
use std::path::PathBuf;

use ibid_carrier::jsonl::Limits;
use ibid_carrier::plan::{Engine, Policy};
use ibid_harness::pi::Pi;
use ibid_harness::{
    Codec, Context, Control, Cursor, Deleting, Discovered, Fold, Listed, Reference, RootOrigin, SaveOptions,
    Saving, Store, StoreError, Surroundings, Target, Transcript, Wants,
};
use ibid_model::{FindingKind, Session, essence};
use ibid_testkit::Home;

use crate::{COMPACTED, every_fixture, fixture, listed, machine, read};

pub(crate) fn describe(listed: &Listed) -> Discovered {
    let (machine, limits) = (Surroundings::isolated("/nowhere"), Limits::default());
    Pi::describe(listed, &Context { machine: &machine, limits: &limits }).expect("it can be described")
}

fn load(reference: &Reference) -> Transcript<Pi> {
    let (machine, limits) = (Surroundings::isolated("/nowhere"), Limits::default());
    Pi::load(reference, &Context { machine: &machine, limits: &limits }).expect("it can be loaded")
}

fn scan(reference: &Reference, from: &Cursor, wants: Wants, fold: &mut Fold) -> Result<Cursor, StoreError> {
    let (machine, limits) = (Surroundings::isolated("/nowhere"), Limits::default());
    let context = Context { machine: &machine, limits: &limits };
    Pi::scan(reference, from, wants, &Control::default(), fold, &context)
}

fn save(home: &Home, transcript: &Transcript<Pi>, options: &SaveOptions) -> Result<Saving, StoreError> {
    let (machine, limits) = (machine(home), Limits::default());
    Pi::save(transcript, options, &Context { machine: &machine, limits: &limits })
}

fn commit(home: &Home, saving: &Saving, policy: Policy) -> bool {
    let engine = Engine::new(machine(home).data_dir());
    engine.commit(&saving.plan, &policy).is_ok()
}

fn common(listed: &Listed) -> Session {
    Pi::to_common(&load(&listed.reference)).expect("it is a session").session
}

#[test]
fn a_list_shows_of_every_session_what_a_full_load_says() {
    for (_home, _, sessions) in every_fixture() {
        for listed in &sessions {
            let (described, session) = (describe(listed), common(listed));
            assert_eq!((&described.id, &described.meta), (&session.id, &session.meta));
            assert_eq!((&described.lineage, &described.carriers), (&session.lineage, &session.carriers));
            let mut fold = Fold::default();
            scan(&listed.reference, &Cursor::Start, Wants::METADATA, &mut fold).unwrap();
            assert_eq!((fold.id.as_ref(), &fold.meta), (Some(&session.id), &session.meta));
            assert!(fold.messages.is_empty() && fold.calls().is_empty());
        }
    }
}

/// A session far longer than the ends that a list reads.
fn long_session(named_at: usize, answered_until: usize) -> String {
    let mut text = String::from(
        r#"{"type":"session","version":3,"id":"long","timestamp":"2026-07-01T10:00:00.000Z","cwd":"/w"}"#,
    );
    text.push('\n');
    for number in 0..4_000 {
        let parent = if number == 0 { "null".to_owned() } else { format!("\"e{}\"", number - 1) };
        let base = format!(
            r#""id":"e{number}","parentId":{parent},"timestamp":"2026-07-01T10:{:02}:{:02}.000Z""#,
            number / 60 % 60,
            number % 60
        );
        let filler = "session text ".repeat(20);
        let line = if number == named_at {
            format!(r#"{{"type":"session_info",{base},"name":"Named on the way"}}"#)
        } else if number % 2 == 1 && number < answered_until {
            format!(
                r#"{{"type":"message",{base},"message":{{"role":"assistant","content":[{{"type":"text","text":"{filler}"}}],"model":"m{number}"}}}}"#
            )
        } else {
            format!(
                r#"{{"type":"message",{base},"message":{{"role":"user","content":"q{number} {filler}"}}}}"#
            )
        };
        text.push_str(&line);
        text.push('\n');
    }
    text
}

#[test]
fn a_list_shows_of_a_long_session_what_a_full_load_says() {
    // The name in the middle; and the last answer far from the end.
    for text in [long_session(2_000, 4_000), long_session(3_990, 4_000), long_session(100, 50)] {
        let home = Home::new().with_file(".pi/agent/sessions/--w--/x_long.jsonl", text);
        let listed = &listed(&machine(&home))[0];
        assert!(listed.bytes > 1_000_000);
        let (described, session) = (describe(listed), common(listed));
        assert_eq!(described.meta, session.meta);
        assert_eq!(described.meta.title.unwrap().text, "Named on the way");
    }
}

// https://github.com/specstoryai/getspecstory/issues/136 (fault 36)
#[test]
fn roots_follow_the_variables_and_a_blank_one_counts_as_unset() {
    let plain = Surroundings::isolated("/home/u");
    let paths = |machine: &Surroundings| -> Vec<PathBuf> {
        Pi::roots(machine).into_iter().map(|root| root.path).collect()
    };
    let usual = PathBuf::from("/home/u/.pi/agent/sessions");
    assert_eq!(paths(&plain), std::slice::from_ref(&usual));
    let agent = plain.clone().with_variable("PI_CODING_AGENT_DIR", "~/agents/pi");
    assert_eq!(paths(&agent), [PathBuf::from("/home/u/agents/pi/sessions")]);
    let both = plain.clone().with_variable("PI_CODING_AGENT_SESSION_DIR", "/flat");
    assert_eq!(paths(&both), [PathBuf::from("/flat"), usual.clone()]);
    assert_eq!(Pi::roots(&both)[0].origin, RootOrigin::Variable("PI_CODING_AGENT_SESSION_DIR"));
    let blank =
        plain.with_variable("PI_CODING_AGENT_SESSION_DIR", " ").with_variable("PI_CODING_AGENT_DIR", "");
    assert_eq!(paths(&blank), [usual]);
}

#[test]
fn a_session_that_is_loaded_and_saved_elsewhere_is_the_same_file_at_the_same_place() {
    for (home, _, sessions) in every_fixture() {
        let other = Home::new();
        for listed in &sessions {
            let saving = save(&other, &load(&listed.reference), &SaveOptions::default()).unwrap();
            assert!(commit(&other, &saving, Policy::within(saving.roots.clone())));
            let below = listed.reference.path.strip_prefix(home.path()).unwrap();
            let (was, is) =
                (fs::read(&listed.reference.path).unwrap(), fs::read(other.path().join(below)).unwrap());
            assert!(was == is, "{}", below.display());
        }
    }
}

#[test]
fn an_id_that_is_there_already_is_refused_unless_it_is_to_be_replaced() {
    let home = Home::new().with("pi", "1.6.0");
    let session = listed(&machine(&home)).remove(0);
    let transcript = load(&session.reference);
    assert!(matches!(save(&home, &transcript, &SaveOptions::default()), Err(StoreError::Exists { .. })));
    let replacing = SaveOptions { replace: true, ..SaveOptions::default() };
    let saving = save(&home, &transcript, &replacing).unwrap();
    assert_eq!(saving.reference, session.reference);
    assert!(!commit(&home, &saving, Policy::within(saving.roots.clone())));
    assert!(commit(&home, &saving, Policy::within(saving.roots.clone()).replacing()));
}

#[test]
fn a_converted_session_lies_in_the_folder_of_its_project_and_is_found_there() {
    let home = Home::new();
    let target = Target { cwd: Some("/home/dev/demo with spaces".into()), ..Target::default() };
    let made = Pi::from_common(&read("1.6.0", COMPACTED), &target).unwrap().value;
    let saving = save(&home, &made, &SaveOptions::default()).unwrap();
    assert!(commit(&home, &saving, Policy::within(saving.roots.clone())));
    let found = listed(&machine(&home));
    assert_eq!(found[0].reference, saving.reference);
    let described = describe(&found[0]);
    assert_eq!(
        (&described.id, described.meta.cwd.as_deref()),
        (&made.id, Some("/home/dev/demo with spaces"))
    );
    let path = found[0].reference.path.to_string_lossy().into_owned();
    let name = format!("--home-dev-demo with spaces--/2026-11-30T13-26-27-147Z_{}.jsonl", made.id);
    assert!(path.ends_with(&name), "{path}");
}

#[test]
fn a_root_that_the_variable_names_holds_the_files_themselves() {
    let home = Home::new();
    let flat = home.path().join("flat");
    let machine = machine(&home).with_variable("PI_CODING_AGENT_SESSION_DIR", &flat);
    let limits = Limits::default();
    let made = Pi::from_common(&read("1.6.0", COMPACTED), &Target::default()).unwrap().value;
    let context = Context { machine: &machine, limits: &limits };
    let saving = Pi::save(&made, &SaveOptions::default(), &context).unwrap();
    assert_eq!(saving.reference.path.parent(), Some(flat.as_path()));
}

#[test]
fn an_id_that_would_lead_elsewhere_is_refused() {
    let home = Home::new();
    for id in ["../../x", "a/b", "", "con"] {
        let target = Target { id: Some(id.into()), ..Target::default() };
        let made = Pi::from_common(&read("1.6.0", COMPACTED), &target).unwrap().value;
        assert!(save(&home, &made, &SaveOptions::default()).is_err(), "{id:?}");
    }
}

#[test]
fn a_deleted_session_waits_in_the_trash_and_nothing_outside_the_root_is_deleted() {
    let home = Home::new().with("pi", "1.6.0").with_file("elsewhere.jsonl", "{}\n");
    let (machine, limits) = (machine(&home), Limits::default());
    let context = Context { machine: &machine, limits: &limits };
    let session = listed(&machine).remove(0);
    let outside = Reference { path: home.path().join("elsewhere.jsonl"), ..session.reference.clone() };
    assert!(Pi::delete(&outside, &context).is_err());
    let Deleting { plan, roots } = Pi::delete(&session.reference, &context).unwrap();
    Engine::new(machine.data_dir()).commit(&plan, &Policy::within(roots)).unwrap();
    assert!(!session.reference.path.exists());
    assert!(listed(&machine).iter().all(|other| other.reference != session.reference));
}

#[test]
fn a_scan_in_two_parts_says_the_same_as_one_and_as_a_full_load() {
    let bytes = fs::read(fixture("1.6.0", COMPACTED)).unwrap();
    let ends: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at] == b'\n').map(|at| at + 1).collect();
    for end in ends {
        let place = ".pi/agent/sessions/--home-dev-demo--/x_s.jsonl";
        let home = Home::new().with_file(place, &bytes[..end]);
        let reference = listed(&machine(&home)).remove(0).reference;
        let mut fold = Fold::default();
        let cursor = scan(&reference, &Cursor::Start, Wants::ALL, &mut fold).unwrap();
        let home = home.with_file(place, &bytes);
        scan(&reference, &cursor, Wants::ALL, &mut fold).unwrap();
        let session = common(&listed(&machine(&home)).remove(0));
        assert_eq!((&fold.meta, &fold.head), (&session.meta, &session.head));
        assert_eq!((fold.calls(), &fold.compactions), (session.calls.clone(), &session.compactions));
        assert!(essence(&fold.messages) == essence(&session.messages));
        assert_eq!(fold.messages, session.messages);
    }
}

// https://github.com/thedotmack/claude-mem/pull/4019 (fault 18)
#[test]
fn a_cursor_of_a_file_that_was_rewritten_is_refused() {
    let place = ".pi/agent/sessions/--w--/x_s.jsonl";
    let bytes = fs::read(fixture("1.6.0", COMPACTED)).unwrap();
    let home = Home::new().with_file(place, &bytes);
    let reference = listed(&machine(&home)).remove(0).reference;
    let cursor = scan(&reference, &Cursor::Start, Wants::ALL, &mut Fold::default()).unwrap();
    let mut other = bytes.clone();
    other[200] = b'~';
    other.extend_from_slice(b"{}\n");
    for content in [other.as_slice(), &bytes[..300]] {
        let _home = Home::new().with_file("keep", "");
        fs::write(&reference.path, content).unwrap();
        let again = scan(&reference, &cursor, Wants::ALL, &mut Fold::default());
        assert!(matches!(again, Err(StoreError::Rewritten(_))), "{again:?}");
    }
}

// https://github.com/vshulcz/deja-vu/issues/1775 (fault 54)
#[test]
fn a_copy_that_a_synchronisation_made_is_flagged() {
    let bytes = fs::read(fixture("1.6.0", COMPACTED)).unwrap();
    let name =
        ".pi/agent/sessions/--w--/2026-11-30T13-26-27-147Z_x.sync-conflict-20260701-101112-ABCDEFG.jsonl";
    let home = Home::new().with_file(name, bytes);
    let described = describe(&listed(&machine(&home))[0]);
    assert_eq!(described.findings.last().unwrap().kind, FindingKind::ConflictCopy);
}

// https://github.com/anthropics/claude-code/issues/59393 (fault 31)
#[cfg(unix)]
#[test]
fn a_project_folder_that_is_a_link_shows_its_sessions_once() {
    let home = Home::new().with("pi", "1.6.0");
    let root = home.path().join(".pi/agent/sessions");
    let before = listed(&machine(&home)).len();
    std::os::unix::fs::symlink(root.join("--home-dev-demo--"), root.join("--other--")).unwrap();
    assert_eq!(listed(&machine(&home)).len(), before);
}

#[test]
fn a_file_is_recognised_by_its_header_and_best_under_its_usual_name() {
    let header = br#"{"type":"session","version":3,"id":"s","cwd":"/w"}"#;
    let usual = PathBuf::from("/s/2026-11-30T13-26-27-147Z_s.jsonl");
    let other = PathBuf::from("/tmp/kept.jsonl");
    assert!(Pi::recognises(&usual, header) > Pi::recognises(&other, header));
    assert!(Pi::recognises(&other, header) > 0);
    assert_eq!(Pi::recognises(&usual, br#"{"type":"session","version":4,"id":"s"}"#), 0);
    assert_eq!(Pi::recognises(&usual, br#"{"type":"user","uuid":"u"}"#), 0);
}
