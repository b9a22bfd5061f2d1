//! Codex: rollouts in a home.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test that cannot go on fails"
)]

use std::fs;
use std::path::{Path, PathBuf};

use ibid_carrier::jsonl::Limits;
use ibid_carrier::plan::{Content, Plan, Step};
use ibid_harness::codex::Codex;
use ibid_harness::{
    Class, Codec, Context, Control, Cursor, Discovered, Fold, Listing, Reference, Root, RootOrigin,
    SaveOptions, ScanEvent, Store, StoreError, Surroundings, Target, TextCodec, Transcript, Wants,
};
use ibid_model::{FindingKind, Relation, Selection, SessionId, essence};
use tempfile::TempDir;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/codex")
}

const VERSIONS: [&str; 3] = ["0.47.0", "0.100.0", "0.171.0"];

/// A home and what is needed to look at it.
struct Home {
    machine: Surroundings,
    limits: Limits,
}

impl Home {
    fn of(version: &str) -> Home {
        Home::at(&fixtures().join(version))
    }

    fn at(home: &Path) -> Home {
        Home { machine: Surroundings::isolated(home), limits: Limits::default() }
    }

    fn context(&self) -> Context<'_> {
        Context { machine: &self.machine, limits: &self.limits }
    }

    fn list(&self) -> Listing {
        Codex::list(&Codex::roots(&self.machine)[0], &self.context())
    }

    fn described(&self) -> Vec<Discovered> {
        self.list().sessions.iter().map(|listed| Codex::describe(listed, &self.context()).unwrap()).collect()
    }

    fn load(&self, reference: &Reference) -> Transcript<Codex> {
        Codex::load(reference, &self.context()).unwrap()
    }

    fn reference(&self, part_of_id: &str) -> Reference {
        let found = self.described().into_iter().find(|session| session.id.as_str().contains(part_of_id));
        found.unwrap().reference
    }

    fn scan(&self, reference: &Reference, from: &Cursor, wants: Wants, fold: &mut Fold) -> Cursor {
        Codex::scan(reference, from, wants, &Control::default(), fold, &self.context()).unwrap()
    }
}

/// Writes what a plan would write, without the engine.
fn carry_out(plan: &Plan) {
    for step in &plan.steps {
        match step {
            Step::MakeDirectory { path, .. } => fs::create_dir_all(path).unwrap(),
            Step::CreateFile { path, content: Content::Bytes(bytes), .. } => fs::write(path, bytes).unwrap(),
            other => panic!("{other}"),
        }
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(fs::copy(entry.path(), target).unwrap()),
        }
    }
}

/// A copy of a fixture home that may be written.
fn copied(version: &str) -> (TempDir, Home) {
    let folder = TempDir::new().unwrap();
    copy(&fixtures().join(version), folder.path());
    let home = Home::at(folder.path());
    (folder, home)
}

#[test]
fn a_list_says_what_a_full_load_says() {
    for version in VERSIONS {
        let home = Home::of(version);
        assert_eq!(home.list().findings, []);
        for described in home.described() {
            let session = Codex::to_common(&home.load(&described.reference)).unwrap().session;
            assert_eq!(described.id, session.id);
            assert_eq!(described.meta, session.meta, "{}", described.reference);
            assert_eq!(described.carriers, session.carriers);
            let without_places = |lineage: &[ibid_model::Lineage]| -> Vec<_> {
                lineage.iter().map(|one| ibid_model::Lineage { at: None, ..one.clone() }).collect()
            };
            assert_eq!(without_places(&described.lineage), without_places(&session.lineage));
        }
    }
}

#[test]
fn a_thread_that_was_taken_back_is_one_session_of_three_files() {
    let home = Home::of("0.171.0");
    let sessions = home.described();
    let thread: Vec<_> =
        sessions.iter().filter(|session| session.id.as_str().contains("01a22caf-1bd8")).collect();
    let [thread] = thread.as_slice() else { panic!("{thread:#?}") };
    assert_eq!(thread.carriers.len(), 3);
    assert_eq!(thread.meta.title.as_ref().unwrap().text, "Three facts");
    let session = Codex::to_common(&home.load(&thread.reference)).unwrap().session;
    assert_eq!(session.problems(), []);
    let said: Vec<String> = session
        .view(&Selection::default())
        .messages
        .into_iter()
        .filter(|message| message.is_prompt())
        .map(|message| message.texts().map(|text| text.to_string()).collect())
        .collect();
    assert_eq!(
        said,
        [
            "First fact: the sky is blue",
            "Third fact, after the revert",
            "Fifth fact, after the second revert",
            "Sixth: no database"
        ]
    );
    assert_eq!(session.branches().len(), 3);
}

#[test]
fn a_fork_that_only_refers_to_its_parent_inherits_what_it_refers_to() {
    let home = Home::of("0.171.0");
    let transcript = home.load(&home.reference("01a22cab-7920"));
    let session = Codex::to_common(&transcript).unwrap().session;
    assert_eq!(session.problems(), []);
    let said = |inherited: bool| -> Vec<String> {
        let messages =
            session.messages.iter().filter(|message| message.is_prompt() && message.inherited == inherited);
        messages.flat_map(|message| message.texts().map(|text| text.to_string())).collect()
    };
    assert_eq!(said(true), ["Please refuse (do-fail)", "Where am I? (do-shell)"]);
    assert_eq!(said(false), ["In the fork: say something else"]);
    assert_eq!(session.meta.preview.as_deref(), Some("In the fork: say something else"));
    assert_eq!(session.live_path().len(), session.messages.len());
    // Its own call alone; the counter goes on from the parent's.
    assert_eq!(session.own_usage().output, Some(22));
    assert_eq!(session.reported_usage.unwrap().output, Some(66));
    assert_eq!(session.lineage[0].at.as_ref(), session.messages.iter().rfind(|m| m.inherited).map(|m| &m.id));
    let options = SaveOptions { root: Some("/nowhere".into()), ..SaveOptions::default() };
    let saving = Codex::save(&transcript, &options, &home.context()).unwrap();
    let files = saving.plan.steps.iter().filter(|step| matches!(step, Step::CreateFile { .. })).count();
    assert_eq!(files, 1);
}

#[test]
fn a_fork_whose_parent_is_gone_says_that_its_beginning_is_missing() {
    let (_folder, home) = copied("0.171.0");
    fs::remove_file(home.reference("01a22cab-73ec").path).unwrap();
    let common = Codex::to_common(&home.load(&home.reference("01a22cab-7920"))).unwrap();
    assert_eq!(common.session.counts().prompts, 1);
    assert!(common.findings.iter().any(|finding| finding.kind == FindingKind::MissingParent));
}

#[test]
fn subagents_are_the_children_of_their_parents() {
    let home = Home::of("0.171.0");
    for (parent, child) in [("01a22cab-62dd", "01a22cab-632a"), ("01a22cab-65b0", "01a22cab-6605")] {
        let children = Codex::children(&home.reference(parent), &home.context());
        let [only] = children.as_slice() else { panic!("{children:?}") };
        assert!(only.path.to_string_lossy().contains(child));
    }
    let class = |id: &str| home.described().into_iter().find(|s| s.id.as_str().contains(id)).unwrap().class;
    assert_eq!(class("01a22cab-632a"), Class::Sidecar);
    assert_eq!(class("01a22cab-7920"), Class::Session);
    assert!(Codex::children(&home.reference("01a22cab-5832"), &home.context()).is_empty());
}

#[test]
fn a_native_copy_has_every_byte_in_its_place() {
    for version in VERSIONS {
        let home = Home::of(version);
        let folder = TempDir::new().unwrap();
        let root = folder.path().join("root");
        for described in home.described() {
            let options = SaveOptions { root: Some(root.clone()), ..SaveOptions::default() };
            let saving = Codex::save(&home.load(&described.reference), &options, &home.context()).unwrap();
            let files: Vec<_> = saving
                .plan
                .steps
                .iter()
                .filter(|step| !step.path().unwrap().ends_with("session_index.jsonl"))
                .cloned()
                .collect();
            carry_out(&Plan::new(files));
            for carrier in &described.carriers {
                let place = Path::new(carrier.path.as_str()).strip_prefix(&described.reference.root).unwrap();
                assert!(fs::read(carrier.path.as_str()).unwrap() == fs::read(root.join(place)).unwrap());
            }
            assert_eq!(
                saving.reference.path.strip_prefix(&root).unwrap(),
                described.reference.path.strip_prefix(&described.reference.root).unwrap()
            );
        }
    }
}

// https://github.com/openai/codex/issues/31433 (fault 46)
#[test]
fn a_compressed_rollout_is_read_and_kept_as_it_is() {
    let (folder, home) = copied("0.100.0");
    let reference = home.reference("01a22cad-141e");
    let before = Codex::to_common(&home.load(&reference)).unwrap().session;
    let packed = reference.path.with_extension("jsonl.zst");
    let bytes = zstd(&fs::read(&reference.path).unwrap());
    fs::write(&packed, &bytes).unwrap();
    fs::remove_file(&reference.path).unwrap();
    let reference = home.reference("01a22cad-141e");
    assert_eq!(reference.path, packed);
    let transcript = home.load(&reference);
    let session = Codex::to_common(&transcript).unwrap().session;
    assert_eq!(session.messages, before.messages);
    let options = SaveOptions { root: Some(folder.path().join("other")), ..SaveOptions::default() };
    let saving = Codex::save(&transcript, &options, &home.context()).unwrap();
    carry_out(&saving.plan);
    assert_eq!(fs::read(&saving.reference.path).unwrap(), bytes);
    let described = home.described().into_iter().find(|session| session.reference == reference).unwrap();
    assert_eq!(described.meta, session.meta);
    let mut fold = Fold::default();
    home.scan(&reference, &Cursor::Start, Wants::ALL, &mut fold);
    assert_eq!(fold.messages, session.messages);
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    // A frame that holds its content raw (RFC 8878): enough for a reader to take it as compressed.
    let mut frame = vec![0x28, 0xB5, 0x2F, 0xFD, 0xA0];
    frame.extend(u32::try_from(bytes.len()).unwrap().to_le_bytes());
    let mut blocks = bytes.chunks(100_000).peekable();
    while let Some(block) = blocks.next() {
        let header = u32::try_from(block.len() << 3).unwrap() | u32::from(blocks.peek().is_none());
        frame.extend(&header.to_le_bytes()[..3]);
        frame.extend(block);
    }
    frame
}

// https://github.com/vshulcz/deja-vu/issues/1775 (fault 54)
#[test]
fn of_two_copies_the_newer_is_used_and_both_are_named() {
    let (_folder, home) = copied("0.100.0");
    let reference = home.reference("01a22cad-141e");
    let packed = reference.path.with_extension("jsonl.zst");
    fs::write(&packed, zstd(&fs::read(&reference.path).unwrap())).unwrap();
    let set = |path: &Path, seconds: u64| {
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
        fs::File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
    };
    for (plain, compressed, used) in
        [(2000, 1000, &reference.path), (1000, 2000, &packed), (2000, 2000, &reference.path)]
    {
        set(&reference.path, plain);
        set(&packed, compressed);
        let listing = home.list();
        let paths: Vec<_> = listing.sessions.iter().map(|listed| &listed.reference.path).collect();
        assert!(paths.contains(&used));
        assert_eq!(paths.len(), Home::of("0.100.0").list().sessions.len());
        let [finding] = listing.findings.as_slice() else { panic!("{:?}", listing.findings) };
        assert_eq!(finding.kind, FindingKind::Variants);
    }
}

#[test]
fn an_archived_thread_is_listed_as_put_away() {
    let (folder, home) = copied("0.100.0");
    let reference = home.reference("01a22cad-141e");
    let archive = folder.path().join(".codex/archived_sessions");
    fs::create_dir_all(&archive).unwrap();
    fs::rename(&reference.path, archive.join(reference.path.file_name().unwrap())).unwrap();
    let reference = home.reference("01a22cad-141e");
    let described = home.described().into_iter().find(|session| session.reference == reference).unwrap();
    assert!(described.meta.archived);
    assert_eq!(Codex::to_common(&home.load(&reference)).unwrap().session.meta, described.meta);
}

#[test]
fn a_root_that_is_not_there_is_absent_and_no_fault() {
    let folder = TempDir::new().unwrap();
    let listing = Home::at(folder.path()).list();
    assert!(!listing.present && listing.sessions.is_empty() && listing.findings.is_empty());
}

// https://github.com/specstoryai/getspecstory/issues/136 (fault 36)
#[test]
fn codex_home_names_the_root_unless_it_is_blank() {
    let machine = Surroundings::isolated("/home/u");
    let root = |machine: &Surroundings| Codex::roots(machine)[0].path.clone();
    assert_eq!(root(&machine), Path::new("/home/u/.codex"));
    assert_eq!(root(&machine.clone().with_variable("CODEX_HOME", " ")), Path::new("/home/u/.codex"));
    assert_eq!(root(&machine.with_variable("CODEX_HOME", "/elsewhere")), Path::new("/elsewhere"));
}

#[test]
fn reading_leaves_no_trace() {
    let (folder, home) = copied("0.171.0");
    let look = || {
        let mut found = Vec::new();
        let mut folders = vec![folder.path().to_owned()];
        while let Some(at) = folders.pop() {
            for entry in fs::read_dir(at).unwrap() {
                let entry = entry.unwrap();
                let metadata = entry.metadata().unwrap();
                if metadata.is_dir() {
                    folders.push(entry.path());
                }
                found.push((entry.path(), metadata.len(), metadata.modified().unwrap()));
            }
        }
        found.sort();
        found
    };
    let before = look();
    for described in home.described() {
        home.load(&described.reference);
        Codex::children(&described.reference, &home.context());
        home.scan(&described.reference, &Cursor::Start, Wants::ALL, &mut Fold::default());
    }
    assert_eq!(look(), before);
}

#[test]
fn a_scan_agrees_with_a_load() {
    for version in VERSIONS {
        let home = Home::of(version);
        for described in home.described() {
            let session = Codex::to_common(&home.load(&described.reference)).unwrap().session;
            let mut fold = Fold::default();
            home.scan(&described.reference, &Cursor::Start, Wants::ALL, &mut fold);
            assert_eq!(fold.messages, session.messages, "{}", described.reference);
            assert_eq!(fold.calls(), session.calls);
            assert_eq!(fold.compactions, session.compactions);
            assert_eq!(fold.events, session.events);
            assert_eq!(fold.head, session.head);
            assert_eq!((fold.id, fold.meta), (Some(session.id), session.meta));
            let mut facts = Fold::default();
            home.scan(&described.reference, &Cursor::Start, Wants::METADATA, &mut facts);
            assert_eq!(facts.meta, described.meta);
            assert!(facts.messages.is_empty() && facts.calls().is_empty());
        }
    }
}

// https://github.com/thedotmack/claude-mem/pull/4192 (fault 17)
#[test]
fn a_scan_goes_on_where_it_stopped_at_any_line() {
    for version in VERSIONS {
        let home = Home::of(version);
        for described in home.described().into_iter().filter(|described| described.carriers.len() == 1) {
            let bytes = fs::read(&described.reference.path).unwrap();
            let session = Codex::to_common(&home.load(&described.reference)).unwrap().session;
            let folder = TempDir::new().unwrap();
            let path = folder.path().join(described.reference.path.file_name().unwrap());
            let reference =
                Reference { path: path.clone(), root: folder.path().to_owned(), ..described.reference };
            for (at, _) in bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n') {
                fs::write(&path, &bytes[..=at]).unwrap();
                let mut fold = Fold::default();
                let cursor = home.scan(&reference, &Cursor::Start, Wants::ALL, &mut fold);
                let file = fs::File::options().append(true).open(&path).unwrap();
                std::io::Write::write_all(&mut &file, &bytes[at + 1..]).unwrap();
                home.scan(&reference, &cursor, Wants::ALL, &mut fold);
                let place = format!("{} cut at {at}", path.display());
                assert_eq!(essence(&fold.messages), essence(&session.messages), "{place}");
                // A cut between an event and its item makes the scan tell the text by the event,
                // before the counters that stand between them.
                let usage = |calls: &[ibid_model::ModelCall]| -> Vec<_> {
                    calls.iter().map(|call| (call.usage, call.model.clone())).collect()
                };
                assert_eq!(usage(&fold.calls()), usage(&session.calls), "{place}");
                let expected = ibid_model::Meta { title: None, ..session.meta.clone() };
                assert_eq!(fold.meta, expected, "{place}");
            }
        }
    }
}

// https://github.com/steipete/CodexBar/pull/2168 (fault 18)
#[test]
fn a_file_that_was_rewritten_is_not_gone_on_with() {
    let (_folder, home) = copied("0.100.0");
    let reference = home.reference("01a22cad-141e");
    let cursor = home.scan(&reference, &Cursor::Start, Wants::ALL, &mut Fold::default());
    let bytes = fs::read(&reference.path).unwrap();
    fs::write(&reference.path, &bytes[..bytes.len() / 2]).unwrap();
    let mut nothing = |_: ScanEvent| true;
    let again =
        Codex::scan(&reference, &cursor, Wants::ALL, &Control::default(), &mut nothing, &home.context());
    assert!(matches!(again, Err(StoreError::Rewritten(_))), "{again:?}");
}

#[test]
fn a_converted_session_is_found_again_and_its_id_is_taken_then() {
    let source = Home::of("0.171.0");
    let session = Codex::to_common(&source.load(&source.reference("01a22cab-5832"))).unwrap().session;
    let written = Codex::from_common(&session, &Target::default()).unwrap().value;
    let folder = TempDir::new().unwrap();
    let home = Home::at(folder.path());
    let saving = Codex::save(&written, &SaveOptions::default(), &home.context()).unwrap();
    assert!(saving.notes.is_empty(), "{:?}", saving.notes);
    carry_out(&saving.plan);
    let [described] = home.described().try_into().unwrap();
    assert_eq!(described.id, saving.id);
    assert_eq!(described.reference, saving.reference);
    assert_eq!(described.meta.preview, session.meta.preview);
    assert_eq!(described.meta.originator.as_deref(), Some("ibid"));
    let again = Codex::save(&written, &SaveOptions::default(), &home.context());
    assert!(matches!(again, Err(StoreError::Exists { .. })), "{again:?}");
}

#[test]
fn a_subagent_is_written_as_a_child_of_its_parent() {
    let source = Home::of("0.171.0");
    let session = Codex::to_common(&source.load(&source.reference("01a22cab-632a"))).unwrap().session;
    let parent = SessionId::from("01a22cab-62dd-7661-aa05-129331e50dbf");
    let target = Target { parent: Some(parent.clone()), ..Target::default() };
    let written = Codex::from_common(&session, &target).unwrap();
    let again = Codex::to_common(&written.value).unwrap().session;
    let [lineage] = again.lineage.as_slice() else { panic!("{:?}", again.lineage) };
    assert_eq!((lineage.relation, lineage.parent.as_ref()), (Relation::Spawned, Some(&parent)));
    assert_eq!((lineage.agent.as_deref(), lineage.agent_kind.as_deref()), (Some("Maxwell"), Some("default")));
}

#[test]
fn deleting_moves_all_files_of_a_thread_the_live_one_first() {
    let (_folder, home) = copied("0.171.0");
    let reference = home.reference("01a22caf-1bd8");
    let deleting = Codex::delete(&reference, &home.context()).unwrap();
    assert_eq!(deleting.plan.steps.len(), 3);
    assert_eq!(deleting.plan.steps[0].path(), Some(reference.path.as_path()));
    let outside = Reference { path: fixtures().join("0.171.0/.codex/session_index.jsonl"), ..reference };
    assert!(Codex::delete(&outside, &home.context()).is_err());
}

#[test]
fn fingerprints_are_those_of_the_list_and_change_with_a_name() {
    let (folder, home) = copied("0.171.0");
    let listing = home.list();
    let references: Vec<_> = listing.sessions.iter().map(|listed| listed.reference.clone()).collect();
    let now: Vec<_> =
        Codex::fingerprints(&references, &home.context()).into_iter().map(Result::unwrap).collect();
    let listed: Vec<_> = listing.sessions.iter().map(|listed| listed.fingerprint.clone()).collect();
    assert_eq!(now, listed);
    let index = folder.path().join(".codex/session_index.jsonl");
    let line = r#"{"id":"01a22cab-5832-7913-8332-be8655ac4745","thread_name":"Named","updated_at":""}"#;
    fs::write(&index, fs::read_to_string(&index).unwrap() + line + "\n").unwrap();
    let changed: Vec<_> = home
        .list()
        .sessions
        .into_iter()
        .zip(&listed)
        .filter(|(new, old)| new.fingerprint != **old)
        .map(|(new, _)| new.reference)
        .collect();
    assert_eq!(changed, [home.reference("01a22cab-5832")]);
    let titled = home.described().into_iter().find(|session| session.id.as_str().contains("01a22cab-5832"));
    assert_eq!(titled.unwrap().meta.title.unwrap().text, "Named");
}

#[test]
fn a_file_is_recognised_by_what_it_holds() {
    let rollout = b"{\"timestamp\":\"2026-11-30T14:00:00Z\",\"type\":\"session_meta\",\"payload\":{\"id\":\"a\",\"cli_version\":\"1\"}}\n";
    let name = Path::new("rollout-2026-11-30T14-00-00-a.jsonl");
    assert!(Codex::recognises(name, rollout) > Codex::recognises(Path::new("x.jsonl"), rollout));
    assert!(Codex::recognises(Path::new("x.jsonl"), rollout) > 50);
    assert_eq!(
        Codex::recognises(Path::new("x.jsonl"), b"{\"uuid\":\"x\",\"type\":\"user\",\"message\":{}}\n"),
        0
    );
}

/// The classes of the corpus, each file in a home of its own.
#[test]
fn the_corpus_gets_its_classes() {
    let Some(corpus) = std::env::var_os("IBID_CORPUS").map(PathBuf::from) else {
        eprintln!("skipped: IBID_CORPUS is not set");
        return;
    };
    let table = fs::read_to_string(corpus.join("EXPECT.tsv")).unwrap();
    for line in table.lines().filter(|line| line.starts_with("codex/")) {
        let cells: Vec<&str> = line.split('\t').collect();
        let [file, class, layout, id] = cells[..4] else { panic!("{line}") };
        let folder = TempDir::new().unwrap();
        let layout = match layout {
            "-" => format!(".codex/sessions/{}", "rollout-2025-01-01T00-00-00-x.jsonl"),
            layout => layout.to_owned(),
        };
        let path = folder.path().join(&layout);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::copy(corpus.join(file), &path).unwrap();
        let home = Home::at(folder.path());
        let described = home.described();
        if class == "other" {
            assert!(described.is_empty(), "{file}");
            continue;
        }
        let [found] = described.as_slice() else { panic!("{file}: {described:?}") };
        let expected = match class {
            "session" => Class::Session,
            "sidecar" => Class::Sidecar,
            _ => Class::Foreign,
        };
        assert_eq!(found.class, expected, "{file}");
        if expected == Class::Foreign {
            assert!(found.findings.iter().any(|finding| finding.kind == FindingKind::ForeignContent));
            continue;
        }
        assert_eq!(found.id.as_str(), id, "{file}");
        let transcript = home.load(&found.reference);
        let session = Codex::to_common(&transcript).unwrap().session;
        assert_eq!(found.meta, session.meta, "{file}");
        assert!(Codex::to_text(&transcript).unwrap() == fs::read(&path).unwrap(), "{file}");
        let mut fold = Fold::default();
        home.scan(&found.reference, &Cursor::Start, Wants::ALL, &mut fold);
        assert_eq!(fold.messages, session.messages, "{file}");
        assert_eq!(fold.meta, session.meta, "{file}");
    }
}

#[test]
fn a_root_that_is_a_folder_of_sessions_is_listed_too() {
    let home = Home::of("0.100.0");
    let root = Root { path: fixtures().join("0.100.0/.codex/sessions"), origin: RootOrigin::Named };
    assert_eq!(Codex::list(&root, &home.context()).sessions.len(), home.list().sessions.len());
}
