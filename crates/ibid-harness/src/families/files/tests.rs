//! Sessions of whole files, on a harness made up for these tests: rows of `{"who", "say", "at",
//! "cwd", "model", "name"}`.

use std::fs;

use ibid_carrier::jsonl::Limits;
use ibid_model::{Block, Message, Origin, Role, Session, Source, Text, TitleOrigin};
use serde::Deserialize;

use super::*;
use crate::core::{Capabilities, Declaration, Fold, Harness, HarnessId, Store};

#[derive(Debug)]
struct Rows;

static DECLARATION: Declaration = Declaration {
    id: HarnessId::declare("rows"),
    name: "Rows",
    aliases: &[],
    capabilities: Capabilities {
        store: true,
        write: false,
        resume: false,
        subagents: false,
        branches: false,
        compaction: false,
    },
    resume: None,
    context_window: 1,
    versions_seen: &[],
    evidence: None,
    capture: &[],
    retention_days: None,
};

impl Harness for Rows {
    const DECLARATION: &'static Declaration = &DECLARATION;
    type Body = FilesBody;
}

#[derive(Deserialize)]
struct Row {
    who: String,
    #[serde(default)]
    say: Text,
    at: Option<String>,
    cwd: Option<Text>,
    model: Option<Text>,
}

impl Codec for Rows {
    fn to_common(transcript: &Transcript<Self>) -> Result<Common, CodecError> {
        let mut session = Session::new("rows", transcript.id.clone());
        session.carriers = transcript.body.infos();
        let mut findings = Vec::new();
        if let Some((carrier, file)) = transcript.body.file("rows.jsonl") {
            let records = file.document.read_records(|text| serde_json::from_str::<Row>(text));
            findings.extend(records.findings);
            for item in records.items {
                let row = item.value;
                let at = row.at.as_deref().and_then(Timestamp::parse);
                at.into_iter().for_each(|at| session.meta.stamp(at));
                if row.who == "name" {
                    session.meta.offer_title(&row.say, TitleOrigin::Person);
                    continue;
                }
                let (role, origin) = match row.who.as_str() {
                    "person" => (Role::User, Origin::Person),
                    _ => (Role::Assistant, Origin::Model),
                };
                if origin == Origin::Person {
                    session.meta.offer_preview(&row.say);
                }
                if let Some(cwd) = &row.cwd {
                    session.meta.cwd.get_or_insert_with(|| cwd.clone());
                }
                if row.model.is_some() {
                    session.meta.model.clone_from(&row.model);
                }
                let mut message = Message::new(format!("m{}", item.start), role, origin);
                message.at = at;
                message.cwd = row.cwd;
                message.model = row.model;
                message.blocks = vec![Block::text(row.say)];
                message.sources = vec![Source::bytes(carrier, item.start, item.end)];
                message.parent = session.messages.last().map(|last| last.id.clone());
                session.messages.push(message);
            }
        }
        if session.messages.is_empty() {
            let reason = "none of its lines is a row".to_owned();
            return Err(CodecError::Foreign { harness: "Rows", reason });
        }
        Ok(Common { session, findings })
    }

    fn from_common(_: &Session, target: &Target) -> Result<Converted<Transcript<Self>>, CodecError> {
        not_written::<Rows>(target)
    }
}

impl FilesHarness for Rows {
    const NEEDLES: &'static [&'static str] = &["\"who\":\"name\""];
    const MAIN: &'static str = "rows.jsonl";

    fn roots(machine: &Surroundings) -> Vec<Root> {
        vec![Root { path: machine.home().join("rows"), origin: crate::core::RootOrigin::Default }]
    }

    fn list(root: &Root, _: &Context<'_>) -> Listing {
        list_single_files::<Rows>(root, &WalkOptions::default(), |path| path.ends_with("rows.jsonl"))
    }

    fn places(reference: &Reference) -> Vec<FilePlace> {
        vec![
            FilePlace::new("rows.jsonl", &reference.path, CarrierRole::Transcript),
            FilePlace::new("notes.json", reference.path.with_file_name("notes.json"), CarrierRole::Metadata),
        ]
    }

    fn id(body: &FilesBody) -> SessionId {
        let folder = body.path().and_then(Path::parent).and_then(Path::file_name);
        SessionId::from(folder.map_or("?".into(), |name| name.to_string_lossy().into_owned()))
    }

    fn directory(reference: &Reference) -> Option<PathBuf> {
        reference.path.parent().map(Path::to_owned)
    }

    fn recognises(path: &Path, _: &[u8]) -> u8 {
        u8::from(path.ends_with("rows.jsonl"))
    }
}

files_store!(Rows);

const LIMITS: Limits = Limits { line_bytes: 1 << 20, file_bytes: 1 << 30 };

/// A home with one session of these rows.
fn home(rows: &str) -> (tempfile::TempDir, Surroundings, Reference) {
    let home = tempfile::tempdir().unwrap();
    let machine = Surroundings::isolated(home.path());
    let root = home.path().join("rows");
    let path = root.join("s1/rows.jsonl");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, rows).unwrap();
    let reference = Reference { harness: DECLARATION.id, root, path, key: None };
    (home, machine, reference)
}

fn row(who: &str, say: &str, second: u32) -> String {
    let at = format!("2026-09-01T10:{:02}:{:02}Z", second / 60 % 60, second % 60);
    let model = if who == "model" { r#","model":"m-1""# } else { "" };
    format!("{{\"who\":\"{who}\",\"say\":\"{say}\",\"at\":\"{at}\",\"cwd\":\"/w/demo\"{model}}}\n")
}

#[test]
fn a_long_session_is_described_by_its_ends_as_a_whole_load_says() {
    let mut rows = row("person", "begin", 0);
    for second in 1..3000 {
        rows.push_str(&row("model", &"x".repeat(400), second));
        if second == 1500 {
            rows.push_str(&row("name", "in the middle", second));
        }
    }
    let (_home, machine, reference) = home(&rows);
    let context = Context { machine: &machine, limits: &LIMITS };
    let listed = listed::<Rows>(reference.clone()).unwrap();
    assert!(listed.bytes > 1_000_000);
    let ends = describe::<Rows>(&listed, &context).unwrap();
    let whole = Rows::to_common(&load::<Rows>(&reference, &context).unwrap()).unwrap().session;
    assert_eq!(ends.meta, whole.meta);
    assert_eq!(&*ends.meta.title.unwrap().text, "in the middle");
    assert_eq!((ends.id, ends.class), (whole.id, Class::Session));
}

#[test]
fn a_long_session_whose_end_says_nothing_is_read_whole() {
    let mut rows = row("person", "begin", 0);
    rows.push_str(&row("model", "answer", 1));
    for _ in 0..2000 {
        rows.push_str(&format!("{{\"who\":\"person\",\"say\":\"{}\"}}\n", "y".repeat(400)));
    }
    let (_home, machine, reference) = home(&rows);
    let context = Context { machine: &machine, limits: &LIMITS };
    let ends = describe::<Rows>(&listed::<Rows>(reference.clone()).unwrap(), &context).unwrap();
    let whole = Rows::to_common(&load::<Rows>(&reference, &context).unwrap()).unwrap().session;
    assert_eq!(ends.meta, whole.meta);
    assert_eq!(ends.meta.model.as_deref(), Some("m-1"));
}

#[test]
fn what_another_program_wrote_is_listed_as_foreign() {
    let (_home, machine, reference) = home("{\"x\":1}\n");
    let context = Context { machine: &machine, limits: &LIMITS };
    let listed = <Rows as Store>::list(
        &Root { path: reference.root, origin: crate::core::RootOrigin::Default },
        &context,
    );
    let found = describe::<Rows>(&listed.sessions[0], &context).unwrap();
    assert_eq!(found.class, Class::Foreign);
    assert_eq!(found.findings.len(), 1);
}

#[test]
fn what_holds_nothing_that_can_be_read_is_told_as_damage() {
    for content in ["not JSON at all\nnor this\n", "\0\0\0\0\0\0\0\0", "[[[[[[[[\n"] {
        let (_home, machine, reference) = home(content);
        let context = Context { machine: &machine, limits: &LIMITS };
        let found = describe::<Rows>(&listed::<Rows>(reference).unwrap(), &context).unwrap();
        assert_eq!(found.class, Class::Foreign);
        let kinds: Vec<FindingKind> = found.findings.iter().map(|finding| finding.kind).collect();
        let damage = [FindingKind::NotJson, FindingKind::NulRun, FindingKind::CutLine];
        assert!(kinds.iter().any(|kind| damage.contains(kind)), "{content:?}: {kinds:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_link_out_of_the_store_is_not_read_as_a_part_of_a_session() {
    use std::os::unix::fs::symlink;
    let (home, machine, reference) = home(&row("person", "a", 0));
    let context = Context { machine: &machine, limits: &LIMITS };
    let notes = reference.path.with_file_name("notes.json");
    let within = reference.root.join("notes-of-all.json");
    let outside = home.path().join("private.json");
    fs::write(&within, "{}").unwrap();
    fs::write(&outside, "{}").unwrap();
    symlink(&within, &notes).unwrap();
    assert_eq!(load::<Rows>(&reference, &context).unwrap().body.files.len(), 2, "a link inside is followed");
    fs::remove_file(&notes).unwrap();
    symlink(&outside, &notes).unwrap();
    assert!(load::<Rows>(&reference, &context).is_err());
    assert!(describe::<Rows>(&listed::<Rows>(reference.clone()).unwrap(), &context).is_err());
    fs::remove_file(&outside).unwrap();
    assert_eq!(
        load::<Rows>(&reference, &context).unwrap().body.files.len(),
        1,
        "what leads nowhere is absent"
    );
    fs::remove_file(&notes).unwrap();
    let folder = home.path().join("elsewhere");
    fs::rename(reference.root.join("s1"), &folder).unwrap();
    symlink(&folder, reference.root.join("s1")).unwrap();
    assert!(load::<Rows>(&reference, &context).is_err(), "nor through a folder that leads out");
}

#[test]
fn a_scan_says_what_a_load_says_and_goes_on_only_after_a_change() {
    let (_home, machine, reference) = home(&(row("person", "a", 0) + &row("model", "b", 1)));
    let context = Context { machine: &machine, limits: &LIMITS };
    let mut fold = Fold::default();
    let control = Control::default();
    let end = scan::<Rows>(&reference, &Cursor::Start, Wants::ALL, &control, &mut fold, &context).unwrap();
    let whole = Rows::to_common(&load::<Rows>(&reference, &context).unwrap()).unwrap().session;
    assert_eq!((fold.meta, fold.messages), (whole.meta, whole.messages));
    let mut none = |_| panic!("nothing has changed");
    let again = scan::<Rows>(&reference, &end, Wants::ALL, &control, &mut none, &context).unwrap();
    assert_eq!(again, end);
    fs::write(reference.path.with_file_name("notes.json"), "{}").unwrap();
    let mut events = 0;
    let mut count = |_| {
        events += 1;
        true
    };
    scan::<Rows>(&reference, &end, Wants::ALL, &control, &mut count, &context).unwrap();
    assert!(events > 0, "a file beside it is a part of it");
}

#[test]
fn the_text_form_of_several_files_keeps_every_byte() {
    let (_home, machine, reference) = home(&row("person", "a", 0));
    let context = Context { machine: &machine, limits: &LIMITS };
    let one = load::<Rows>(&reference, &context).unwrap();
    assert_eq!(to_text(&one).unwrap(), fs::read(&reference.path).unwrap());
    fs::write(reference.path.with_file_name("notes.json"), b"\xff\x00{").unwrap();
    let two = load::<Rows>(&reference, &context).unwrap();
    let back: Transcript<Rows> = from_text(&to_text(&two).unwrap()).unwrap();
    let bytes = |body: &FilesBody| -> Vec<_> {
        body.files.iter().map(|file| (file.name.clone(), file.document.bytes().to_vec())).collect()
    };
    assert_eq!(bytes(&two.body), bytes(&back.body));
    let other = br#"{"ibid_files":1,"harness":"pi","files":[]}"#;
    assert!(from_text::<Rows>(other).is_err());
}

#[test]
fn deleting_moves_the_folder_of_the_session_and_nothing_outside_its_root() {
    let (home, _, reference) = home(&row("person", "a", 0));
    let plan = delete::<Rows>(&reference).unwrap();
    assert!(format!("{}", plan.plan).contains("rows/s1"), "{}", plan.plan);
    let elsewhere = home.path().join("elsewhere/rows.jsonl");
    fs::create_dir_all(elsewhere.parent().unwrap()).unwrap();
    fs::write(&elsewhere, "{}").unwrap();
    let outside = Reference { path: elsewhere, ..reference.clone() };
    assert!(delete::<Rows>(&outside).is_err());
    let gone = Reference { path: reference.root.join("s2/rows.jsonl"), ..reference };
    assert!(delete::<Rows>(&gone).is_err());
}

#[test]
fn it_says_that_it_is_not_written() {
    let error = not_written::<Rows>(&Target::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "Rows cannot hold this session: Ibid reads sessions of Rows and does not write them; choose another target"
    );
}
