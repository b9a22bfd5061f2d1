//! Claude Code: sessions at rest.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test states what it expects"
)]

use std::fs;
use std::path::{Path, PathBuf};

use ibid_carrier::jsonl::Limits;
use ibid_carrier::plan::{Engine, Policy};
use ibid_harness::claude_code::ClaudeCode;
use ibid_harness::{
    Class, Codec, Context, Control, Cursor, Discovered, Fold, HarnessId, Listing, Reference, RootOrigin,
    SaveOptions, ScanEvent, Store, StoreError, Surroundings, TextCodec, Wants,
};
use ibid_model::{FindingKind, Relation, essence};
use ibid_testkit::Home;

const VERSIONS: [&str; 3] = ["2.1.332", "2.1.197", "1.0.60"];
const PROJECT: &str = ".claude/projects/-home-dev-demo";
const ID: &str = "11111111-1111-4111-8111-111111111111";

struct Machine {
    machine: Surroundings,
    limits: Limits,
}

impl Machine {
    fn of(home: &Home) -> Machine {
        Machine { machine: Surroundings::isolated(home.path()), limits: Limits::default() }
    }

    fn context(&self) -> Context<'_> {
        Context { machine: &self.machine, limits: &self.limits }
    }

    fn list(&self) -> Listing {
        ClaudeCode::list(&ClaudeCode::roots(&self.machine)[0], &self.context())
    }

    fn describe_all(&self) -> Vec<Discovered> {
        let listed = self.list().sessions;
        listed.iter().map(|listed| ClaudeCode::describe(listed, &self.context()).unwrap()).collect()
    }

    fn commit(&self, plan: &ibid_carrier::plan::Plan, roots: &[PathBuf]) {
        let engine = Engine::new(self.machine.data_dir());
        engine.commit(plan, &Policy::within(roots.to_vec())).unwrap();
    }
}

fn user(uuid: &str, parent: &str, text: &str) -> String {
    let parent = if parent.is_empty() { "null".to_owned() } else { format!("{parent:?}") };
    format!(
        r#"{{"parentUuid":{parent},"cwd":"/w/foo","sessionId":"{ID}","type":"user","message":{{"role":"user","content":"{text}"}},"uuid":"{uuid}","timestamp":"2026-01-01T00:00:00.000Z"}}"#
    )
}

fn answer(uuid: &str, parent: &str) -> String {
    format!(
        r#"{{"parentUuid":"{parent}","sessionId":"{ID}","type":"assistant","message":{{"id":"m-{uuid}","model":"claude-x","role":"assistant","content":[{{"type":"text","text":"{}"}}]}},"uuid":"{uuid}","timestamp":"2026-01-01T00:00:01.000Z"}}"#,
        "answer ".repeat(200)
    )
}

/// A session that is too large to be read whole for a list.
fn long(title: &str) -> String {
    let mut rows = vec![user("u0", "", "the question"), answer("a0", "u0")];
    for number in 1..40 {
        rows.push(user(&format!("u{number}"), &format!("a{}", number - 1), "more"));
        rows.push(answer(&format!("a{number}"), &format!("u{number}")));
        if number == 20 && !title.is_empty() {
            rows.push(title.to_owned());
        }
    }
    rows.join("\n") + "\n"
}

fn id_of(reference: &Reference) -> String {
    reference.path.file_stem().unwrap().to_string_lossy().into_owned()
}

#[test]
fn a_listing_has_sessions_and_subagents_in_order_and_nothing_else() {
    let home = Home::new()
        .with("claude-code", "2.1.332")
        .with_file(&format!("{PROJECT}/memory/notes.jsonl"), "{}\n")
        .with_file(&format!("{PROJECT}/{ID}/tool-results/x.jsonl"), "{}\n");
    let listing = Machine::of(&home).list();
    assert!(listing.present && listing.findings.is_empty());
    assert_eq!(
        listing.sessions.len(),
        home.files(".claude/projects").iter().filter(|p| is_rows(p)).count() - 2
    );
    let paths: Vec<&PathBuf> = listing.sessions.iter().map(|listed| &listed.reference.path).collect();
    assert!(paths.is_sorted());
}

fn is_rows(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "jsonl")
}

#[test]
fn a_home_without_the_program_is_absent_and_no_fault() {
    let listing = Machine::of(&Home::new()).list();
    assert!(!listing.present && listing.findings.is_empty() && listing.sessions.is_empty());
}

// https://github.com/specstoryai/getspecstory/issues/136 (fault 36)
#[test]
fn a_blank_variable_is_unset_and_a_filled_one_comes_first() {
    let home = Home::new();
    let machine = Surroundings::isolated(home.path());
    let default = home.path().join(".claude/projects");
    let blank = machine.clone().with_variable("CLAUDE_CONFIG_DIR", " ");
    assert_eq!(ClaudeCode::roots(&blank)[0].path, default);
    let moved = machine.with_variable("CLAUDE_CONFIG_DIR", "/elsewhere");
    let roots = ClaudeCode::roots(&moved);
    assert_eq!(roots[0].path, Path::new("/elsewhere/projects"));
    assert_eq!(roots[0].origin, RootOrigin::Variable("CLAUDE_CONFIG_DIR"));
    assert!(roots.iter().any(|root| root.path == default));
}

#[test]
fn a_list_says_what_a_full_reading_says() {
    for version in VERSIONS {
        let home = Home::new().with("claude-code", version);
        let machine = Machine::of(&home);
        for found in machine.describe_all() {
            let transcript = ClaudeCode::load(&found.reference, &machine.context()).unwrap();
            let session = ClaudeCode::to_common(&transcript).unwrap().session;
            assert_eq!((&found.id, &found.meta), (&session.id, &session.meta), "{}", found.reference);
            assert_eq!(found.lineage, session.lineage, "{}", found.reference);
            assert_eq!(found.carriers, session.carriers, "{}", found.reference);
        }
    }
}

#[test]
fn a_title_in_the_middle_of_a_large_file_is_found() {
    for title in [
        r#"{"type":"custom-title","customTitle":"T","sessionId":"s"}"#,
        r#"{"sessionId":"s","type":"ai-title","aiTitle":"T"}"#,
        r#"{"type":"summary","summary":"T","leafUuid":"a3"}"#,
        r#"{"type":"summary","summary":"T","leafUuid":"a33"}"#,
    ] {
        let home = Home::new().with_file(&format!("{PROJECT}/{ID}.jsonl"), long(title));
        let found = Machine::of(&home).describe_all().remove(0);
        assert!(found.bytes > 64_000);
        assert_eq!(found.meta.title.unwrap().text, "T", "{title}");
        assert_eq!(found.meta.preview.unwrap(), "the question");
        assert_eq!(found.meta.model.unwrap(), "claude-x");
        assert_eq!(found.class, Class::Session);
    }
}

#[test]
fn a_summary_of_a_row_elsewhere_is_no_title_of_a_large_file() {
    let title = r#"{"type":"summary","summary":"T","leafUuid":"elsewhere"}"#;
    let home = Home::new().with_file(&format!("{PROJECT}/{ID}.jsonl"), long(title));
    assert_eq!(Machine::of(&home).describe_all()[0].meta.title, None);
}

#[test]
fn a_file_that_begins_in_the_middle_is_partial() {
    let whole = long("");
    let rest: Vec<&str> = whole.lines().skip(10).collect();
    let home = Home::new().with_file(&format!("{PROJECT}/{ID}.jsonl"), rest.join("\n"));
    assert_eq!(Machine::of(&home).describe_all()[0].class, Class::Partial);
}

// https://github.com/handochan/aelix-ai/issues/135 (fault 58)
#[test]
fn what_is_saved_elsewhere_is_every_byte_of_what_was_loaded() {
    for version in VERSIONS {
        let home = Home::new().with("claude-code", version);
        let machine = Machine::of(&home);
        for listed in machine.list().sessions {
            let transcript = ClaudeCode::load(&listed.reference, &machine.context()).unwrap();
            let other = Home::new();
            let there = Machine::of(&other);
            let saving = ClaudeCode::save(&transcript, &SaveOptions::default(), &there.context()).unwrap();
            there.commit(&saving.plan, &saving.roots);
            let below = |home: &Home, path: &Path| path.strip_prefix(home.path()).unwrap().to_owned();
            assert_eq!(below(&other, &saving.reference.path), below(&home, &listed.reference.path));
            let bytes = |reference: &Reference| fs::read(&reference.path).unwrap();
            assert_eq!(bytes(&saving.reference), bytes(&listed.reference));
            let again = ClaudeCode::load(&saving.reference, &there.context()).unwrap();
            assert_eq!(again.id, transcript.id);
            let meta = |transcript: &ibid_harness::Transcript<ClaudeCode>| {
                transcript.body.agent_meta.as_ref().map(|meta| meta.bytes().to_vec())
            };
            assert_eq!(meta(&again), meta(&transcript));
        }
    }
}

#[test]
fn a_session_that_is_there_is_never_written_over() {
    let home = Home::new().with("claude-code", "2.1.332");
    let machine = Machine::of(&home);
    let listed = machine.list().sessions.remove(0);
    let transcript = ClaudeCode::load(&listed.reference, &machine.context()).unwrap();
    let refused = ClaudeCode::save(&transcript, &SaveOptions::default(), &machine.context()).unwrap_err();
    assert!(matches!(refused, StoreError::Exists { .. }), "{refused}");
    let replacing = SaveOptions { replace: true, ..SaveOptions::default() };
    assert!(ClaudeCode::save(&transcript, &replacing, &machine.context()).is_ok());
}

#[cfg(unix)]
#[test]
fn a_session_is_saved_where_the_program_looks_for_the_real_directory() {
    let home = Home::new().with_file("real_dir/file", "");
    std::os::unix::fs::symlink(home.path().join("real_dir"), home.path().join("link")).unwrap();
    let row = user("u1", "", "go").replace("/w/foo", home.path().join("link").to_str().unwrap());
    let transcript = ClaudeCode::from_text(row.as_bytes()).unwrap();
    let saving =
        ClaudeCode::save(&transcript, &SaveOptions::default(), &Machine::of(&home).context()).unwrap();
    let folder = saving.reference.path.parent().unwrap().file_name().unwrap().to_string_lossy().into_owned();
    assert!(folder.ends_with("-real-dir"), "{folder}");
}

#[test]
fn nothing_is_saved_of_a_session_without_a_message() {
    let home = Home::new();
    let empty = ibid_model::Session::new("codex", "x");
    let made = ClaudeCode::from_common(&empty, &ibid_harness::Target::default()).unwrap().value;
    let saved = ClaudeCode::save(&made, &SaveOptions::default(), &Machine::of(&home).context());
    assert!(matches!(saved, Err(StoreError::NoPlace { .. })));
}

// Larger than the parts in which rows are read, so that places and lines must hold across them.
#[test]
fn a_large_file_is_read_in_parts_as_if_it_were_one() {
    let mut rows = long("");
    let filler = user("f", "a39", &"x".repeat(900_000));
    for number in 0..24 {
        rows.push_str(&filler.replace(r#""uuid":"f""#, &format!(r#""uuid":"f{number}""#)));
        rows.push('\n');
    }
    rows.push_str("not json\n");
    rows.push_str(&user("end", "gone", "the end"));
    let home = Home::new().with_file(&format!("{PROJECT}/{ID}.jsonl"), &rows);
    let machine = Machine::of(&home);
    let reference = machine.list().sessions.remove(0).reference;
    let transcript = ClaudeCode::load(&reference, &machine.context()).unwrap();
    let common = ClaudeCode::to_common(&transcript).unwrap();
    assert_eq!(common.session.messages.len(), 80 + 24 + 1);
    let line = |kind: FindingKind| common.findings.iter().find(|finding| finding.kind == kind).unwrap().line;
    assert_eq!((line(FindingKind::NotJson), line(FindingKind::DanglingParent)), (Some(105), Some(106)));
    let last = common.session.messages.last().unwrap();
    let ibid_model::Extent::Bytes { start, end } = last.sources[0].extent else { panic!() };
    let row = &rows.as_bytes()[usize::try_from(start).unwrap()..usize::try_from(end).unwrap()];
    assert_eq!(row, user("end", "gone", "the end").as_bytes());
}

#[test]
fn an_id_that_is_no_name_for_a_file_is_refused() {
    let home = Home::new();
    let machine = Machine::of(&home);
    let mut transcript = ClaudeCode::from_text(user("u1", "", "go").as_bytes()).unwrap();
    for id in ["../../etc/x", "a/../b", "-rf", "con", "a\u{0}b"] {
        transcript.id = id.into();
        let saved = ClaudeCode::save(&transcript, &SaveOptions::default(), &machine.context());
        assert!(saved.is_err(), "{id:?}");
    }
}

#[test]
fn deleting_takes_the_companions_too_and_the_trash_brings_all_back() {
    let home = Home::new().with("claude-code", "2.1.332");
    let machine = Machine::of(&home);
    let before = home.files(".claude");
    let session =
        machine.list().sessions.into_iter().find(|l| id_of(&l.reference).starts_with("e9892c41")).unwrap();
    let deleting = ClaudeCode::delete(&session.reference, &machine.context()).unwrap();
    assert_eq!(deleting.plan.steps.len(), 2);
    assert_eq!(deleting.plan.steps[0].path(), Some(session.reference.path.as_path()));
    machine.commit(&deleting.plan, &deleting.roots);
    assert_eq!(
        home.files(".claude/projects").iter().filter(|p| p.to_string_lossy().contains("e9892c41")).count(),
        0
    );
    let trash = ibid_carrier::trash::Trash::new(machine.machine.data_dir());
    let entry = trash.list().unwrap().entries.remove(0);
    machine.commit(&trash.restore_plan(&entry).unwrap(), &deleting.roots);
    assert_eq!(home.files(".claude"), before);
}

#[test]
fn nothing_outside_the_root_is_deleted() {
    let home = Home::new().with("claude-code", "2.1.332").with_file("elsewhere/x.jsonl", user("u1", "", "x"));
    let machine = Machine::of(&home);
    let mut reference = machine.list().sessions.remove(0).reference;
    reference.path = home.path().join("elsewhere/x.jsonl");
    assert!(ClaudeCode::delete(&reference, &machine.context()).is_err());
    reference.path = home.path().join(".claude/projects/../../elsewhere/x.jsonl");
    assert!(ClaudeCode::delete(&reference, &machine.context()).is_err());
}

// https://github.com/getpaseo/paseo/issues/3297 (fault 37)
#[test]
fn reading_leaves_no_trace() {
    let home = Home::new().with("claude-code", "2.1.332");
    let before = home.snapshot();
    let machine = Machine::of(&home);
    for found in machine.describe_all() {
        ClaudeCode::load(&found.reference, &machine.context()).unwrap();
        ClaudeCode::children(&found.reference, &machine.context());
        scanned(&machine, &found.reference, Wants::ALL);
    }
    home.snapshot().assert_same_as(&before);
}

#[test]
fn the_subagents_of_a_session_are_its_children() {
    let home = Home::new().with("claude-code", "2.1.332");
    let machine = Machine::of(&home);
    let all = machine.describe_all();
    let parent =
        all.iter().find(|found| found.id.as_str().starts_with("e9892c41") && found.class == Class::Session);
    let children = ClaudeCode::children(&parent.unwrap().reference, &machine.context());
    let child = all.iter().find(|found| found.class == Class::Sidecar).unwrap();
    assert_eq!(children, std::slice::from_ref(&child.reference));
    let lineage = &child.lineage[0];
    assert_eq!(lineage.relation, Relation::Spawned);
    assert_eq!(lineage.call.as_ref().unwrap().as_str(), "toolu_de029d3097e74f1da0d9683c");
    assert_eq!(child.meta.title.as_ref().unwrap().text, "mini task");
}

// https://github.com/kenn-io/agentsview/issues/1246 (fault 52)
#[test]
fn a_subagent_of_a_subagent_belongs_to_the_one_that_called_it() {
    let row = |agent: &str, content: &str| {
        format!(
            r#"{{"parentUuid":null,"isSidechain":true,"agentId":"{agent}","sessionId":"{ID}","type":"assistant","message":{{"id":"m-{agent}","role":"assistant","content":[{content}]}},"uuid":"{agent}-1"}}"#
        ) + "\n"
    };
    let call = r#"{"type":"tool_use","id":"toolu_deep","name":"Agent","input":{"prompt":"go deeper"}}"#;
    let text = r#"{"type":"text","text":"deep"}"#;
    let folder = format!("{PROJECT}/{ID}/subagents");
    let home = Home::new()
        .with_file(&format!("{PROJECT}/{ID}.jsonl"), user("u1", "", "go"))
        .with_file(&format!("{folder}/agent-outer.jsonl"), row("outer", call))
        .with_file(&format!("{folder}/agent-outer.meta.json"), r#"{"spawnDepth":1,"toolUseId":"toolu_top"}"#)
        .with_file(&format!("{folder}/agent-inner.jsonl"), row("inner", text))
        .with_file(
            &format!("{folder}/agent-inner.meta.json"),
            r#"{"spawnDepth":2,"toolUseId":"toolu_deep"}"#,
        );
    let machine = Machine::of(&home);
    let all = machine.describe_all();
    let inner = all.iter().find(|found| found.id.as_str().ends_with("/inner")).unwrap();
    assert_eq!(inner.lineage[0].parent.as_ref().unwrap().as_str(), format!("{ID}/outer"));
    let outer = all.iter().find(|found| found.id.as_str().ends_with("/outer")).unwrap();
    assert_eq!(outer.lineage[0].parent.as_ref().unwrap().as_str(), ID);
    assert_eq!(
        ClaudeCode::children(&outer.reference, &machine.context()),
        std::slice::from_ref(&inner.reference)
    );
}

// https://github.com/kenn-io/agentsview/issues/382 (fault 52)
#[test]
fn a_subagent_without_its_session_is_listed_and_says_so() {
    let home = Home::new().with("claude-code", "2.1.332");
    let machine = Machine::of(&home);
    fs::remove_file(home.path().join(PROJECT).join("e9892c41-53eb-4318-8f5c-12357e8f85e3.jsonl")).unwrap();
    let orphan = machine.describe_all().into_iter().find(|found| found.class == Class::Sidecar).unwrap();
    assert!(orphan.findings.iter().any(|finding| finding.kind == FindingKind::MissingParent));
    assert!(orphan.lineage[0].parent.is_some());
}

#[test]
fn a_subagent_beside_the_sessions_is_a_child_of_the_one_that_its_rows_name() {
    let row = user("s1", "", "task")
        .replace(r#""type":"user""#, r#""type":"user","agentId":"x1","isSidechain":true"#);
    let home = Home::new()
        .with_file(&format!("{PROJECT}/{ID}.jsonl"), user("u1", "", "go"))
        .with_file(&format!("{PROJECT}/agent-x1.jsonl"), row);
    let machine = Machine::of(&home);
    let all = machine.describe_all();
    let child = all.iter().find(|found| found.class == Class::Sidecar).unwrap();
    assert_eq!(child.id.as_str(), format!("{ID}/x1"));
    let parent = all.iter().find(|found| found.class == Class::Session).unwrap();
    assert_eq!(
        ClaudeCode::children(&parent.reference, &machine.context()),
        std::slice::from_ref(&child.reference)
    );
}

// https://github.com/vshulcz/deja-vu/issues/1775 (fault 54)
#[test]
fn a_conflict_copy_has_the_id_of_its_original_and_is_marked() {
    let home = Home::new()
        .with_file(&format!("{PROJECT}/{ID}.jsonl"), user("u1", "", "go"))
        .with_file(&format!("{PROJECT}/{ID} (1).jsonl"), user("u1", "", "go"));
    let all = Machine::of(&home).describe_all();
    assert!(all.iter().all(|found| found.id.as_str() == ID));
    let marked =
        all.iter().filter(|f| f.findings.iter().any(|finding| finding.kind == FindingKind::ConflictCopy));
    assert_eq!(marked.count(), 1);
}

// https://github.com/anthropics/claude-code/issues/40946 (fault 33)
// https://github.com/vshulcz/deja-vu/issues/28 (fault 34)
#[test]
fn the_recorded_directory_counts_and_never_the_name_of_the_folder() {
    let with_cwd = |cwd: &str| user("u1", "", "go").replace("/w/foo", cwd);
    let home = Home::new()
        .with_file(&format!(".claude/projects/-p----app/{ID}.jsonl"), with_cwd("/p/외주/app"))
        .with_file(
            ".claude/projects/-p----app/22222222-2222-4222-8222-222222222222.jsonl",
            with_cwd("/p/개인/app"),
        )
        .with_file(
            ".claude/projects/-a-deja-vu/33333333-3333-4333-8333-333333333333.jsonl",
            user("u1", "", "go").replace(r#""cwd":"/w/foo","#, ""),
        );
    let cwds: Vec<Option<String>> = Machine::of(&home)
        .describe_all()
        .iter()
        .map(|f| f.meta.cwd.as_ref().map(ToString::to_string))
        .collect();
    assert_eq!(cwds, [None, Some("/p/외주/app".to_owned()), Some("/p/개인/app".to_owned())]);
}

// https://github.com/anthropics/claude-code/issues/59393 (fault 31)
#[cfg(unix)]
#[test]
fn a_project_folder_that_is_a_link_shows_each_session_once() {
    let home = Home::new().with_file(&format!("{PROJECT}/{ID}.jsonl"), user("u1", "", "go"));
    std::os::unix::fs::symlink("-home-dev-demo", home.path().join(".claude/projects/-linked")).unwrap();
    assert_eq!(Machine::of(&home).list().sessions.len(), 1);
}

#[test]
fn rows_of_another_program_are_foreign_and_an_empty_file_is_nothing() {
    let home = Home::new()
        .with_file(&format!("{PROJECT}/a.jsonl"), r#"{"sessionId":"x","agent":"y","messages":[]}"#)
        .with_file(&format!("{PROJECT}/b.jsonl"), "")
        .with_file(&format!("{PROJECT}/c.jsonl"), r#"{"type":"summary","summary":"s","leafUuid":"l"}"#);
    let all = Machine::of(&home).describe_all();
    let classes: Vec<Class> = all.iter().map(|found| found.class).collect();
    assert_eq!(classes, [Class::Foreign, Class::Other, Class::Other]);
    assert!(all[0].findings.iter().any(|finding| finding.kind == FindingKind::ForeignContent));
}

fn scanned(machine: &Machine, reference: &Reference, wants: Wants) -> (Fold, Cursor) {
    let mut fold = Fold::default();
    let control = Control::default();
    let cursor =
        ClaudeCode::scan(reference, &Cursor::Start, wants, &control, &mut fold, &machine.context()).unwrap();
    (fold, cursor)
}

#[test]
fn a_scan_says_what_a_full_reading_says() {
    for version in VERSIONS {
        let home = Home::new().with("claude-code", version);
        let machine = Machine::of(&home);
        for found in machine.describe_all() {
            let transcript = ClaudeCode::load(&found.reference, &machine.context()).unwrap();
            let session = ClaudeCode::to_common(&transcript).unwrap().session;
            let (fold, _) = scanned(&machine, &found.reference, Wants::ALL);
            assert_eq!(fold.id.as_ref(), Some(&session.id));
            assert_eq!(fold.meta, session.meta, "{}", found.reference);
            assert_eq!(fold.calls(), session.calls, "{}", found.reference);
            assert_eq!(essence(&fold.messages), essence(&session.messages), "{}", found.reference);
            assert_eq!(fold.head, session.head, "{}", found.reference);
            let (list, _) = scanned(&machine, &found.reference, Wants::METADATA);
            assert_eq!(list.meta, found.meta, "{}", found.reference);
            assert!(list.messages.is_empty() && list.calls().is_empty());
        }
    }
}

// https://github.com/thedotmack/claude-mem/pull/4192 (fault 17)
#[test]
fn a_scan_in_two_halves_says_the_same_wherever_it_was_cut() {
    let home = Home::new().with("claude-code", "2.1.197");
    let machine = Machine::of(&home);
    for found in machine.describe_all().iter().filter(|found| found.class == Class::Session) {
        let bytes = fs::read(&found.reference.path).unwrap();
        let (whole, _) = scanned(&machine, &found.reference, Wants::ALL);
        let reference = Reference {
            path: home.path().join(PROJECT).join(format!("{ID}.jsonl")),
            ..found.reference.clone()
        };
        let ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
        for cut in ends.flat_map(|end| [end, end + 7, end - 1]).filter(|cut| *cut < bytes.len()) {
            fs::write(&reference.path, &bytes[..cut]).unwrap();
            let (mut fold, cursor) = scanned(&machine, &reference, Wants::ALL);
            fs::OpenOptions::new()
                .append(true)
                .open(&reference.path)
                .map(|mut file| std::io::Write::write_all(&mut file, &bytes[cut..]))
                .unwrap()
                .unwrap();
            let control = Control::default();
            ClaudeCode::scan(&reference, &cursor, Wants::ALL, &control, &mut fold, &machine.context())
                .unwrap();
            assert_eq!(fold.meta, whole.meta, "cut at {cut}");
            assert_eq!(fold.calls(), whole.calls(), "cut at {cut}");
            assert_eq!(essence(&fold.messages), essence(&whole.messages), "cut at {cut}");
            assert_eq!((&fold.head, fold.compactions.len()), (&whole.head, whole.compactions.len()));
            fs::remove_file(&reference.path).unwrap();
        }
    }
}

// https://github.com/thedotmack/claude-mem/pull/4019 (fault 18)
#[test]
fn a_scan_does_not_go_on_in_a_file_that_was_rewritten() {
    let path = format!("{PROJECT}/{ID}.jsonl");
    let home = Home::new().with_file(&path, long(""));
    let machine = Machine::of(&home);
    let reference = machine.list().sessions.remove(0).reference;
    let (_, cursor) = scanned(&machine, &reference, Wants::ALL);
    fs::write(&reference.path, long("").replace("question", "Question") + "\n").unwrap();
    let mut sink = |_: ScanEvent| true;
    let control = Control::default();
    let again = ClaudeCode::scan(&reference, &cursor, Wants::ALL, &control, &mut sink, &machine.context());
    assert!(matches!(again, Err(StoreError::Rewritten(_))));
}

#[test]
fn a_sink_that_has_enough_ends_the_scan_at_a_place_to_go_on_from() {
    let home = Home::new().with_file(&format!("{PROJECT}/{ID}.jsonl"), long(""));
    let machine = Machine::of(&home);
    let reference = machine.list().sessions.remove(0).reference;
    let wants = Wants { metadata: false, usage: false, text: true, tools: true };
    let mut fold = Fold::default();
    let mut left = 9;
    let mut few = |event: ScanEvent| {
        left -= 1;
        ibid_harness::Sink::take(&mut fold, event);
        left > 0
    };
    let control = Control::default();
    let cursor =
        ClaudeCode::scan(&reference, &Cursor::Start, wants, &control, &mut few, &machine.context()).unwrap();
    ClaudeCode::scan(&reference, &cursor, wants, &control, &mut fold, &machine.context()).unwrap();
    assert_eq!(fold.messages.len(), 80);
}

#[test]
fn a_transcript_is_recognised_by_its_rows() {
    let rows = user("u1", "", "go");
    assert!(ClaudeCode::recognises(Path::new("x.jsonl"), rows.as_bytes()) > 50);
    assert_eq!(ClaudeCode::recognises(Path::new("x.jsonl"), br#"{"type":"session_meta","payload":{}}"#), 0);
    assert_eq!(ClaudeCode::recognises(Path::new("x.json"), rows.as_bytes()), 0);
}

#[test]
fn fingerprints_change_with_the_description_of_a_subagent() {
    let home = Home::new().with("claude-code", "2.1.332");
    let machine = Machine::of(&home);
    let listed = machine.list().sessions;
    let child = listed.iter().find(|listed| id_of(&listed.reference).starts_with("agent-")).unwrap();
    let now = || {
        ClaudeCode::fingerprints(std::slice::from_ref(&child.reference), &machine.context())
            .remove(0)
            .unwrap()
    };
    assert_eq!(now(), child.fingerprint);
    fs::write(child.reference.path.with_extension("meta.json"), "{}").unwrap();
    assert_ne!(now(), child.fingerprint);
}

#[test]
fn the_registry_knows_the_originals_spellings() {
    for name in ["claude-code", "claude_code", "CLAUDE", "claudecode"] {
        let id: Option<HarnessId> = ibid_harness::find(name).map(|harness| harness.declaration().id);
        assert_eq!(id.map(HarnessId::as_str), Some("claude-code"), "{name}");
    }
}
