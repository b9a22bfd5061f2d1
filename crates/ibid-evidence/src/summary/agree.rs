//! A summary counts what a full load counts.

use std::path::{Path, PathBuf};

use ibid_carrier::jsonl::Limits;
use ibid_harness::{AnyHarness, Class, Context, Control, Cursor, Discovered, Progress, Surroundings, Wants};
use ibid_redact::Redactor;
use ibid_testkit::Home;

use super::{Builder, Known};
use crate::workspace::Workspace;

/// Files that were made by hand, of which a stream cannot tell what a full load can.
const APART: &[(&str, &str)] = &[
    ("/edge_cases.jsonl", "a row of another session stands among those of this one"),
    ("/ses_stage0_small.jsonl", "half of its rows share one id in place of their own"),
];

/// The harnesses of the protocol.
fn platforms() -> Vec<&'static dyn AnyHarness> {
    ibid_harness::all().iter().copied().filter(|harness| harness.declaration().evidence.is_some()).collect()
}

/// What differs between the summary of a session and its full load.
fn differences(harness: &dyn AnyHarness, found: &Discovered, machine: &Surroundings) -> Vec<String> {
    let limits = Limits::default();
    let context = Context { machine, limits: &limits };
    let Ok(common) = harness
        .load(&found.reference, &context)
        .map_err(|error| error.to_string())
        .and_then(|transcript| transcript.to_common().map_err(|error| error.to_string()))
    else {
        return Vec::new();
    };
    let cwd = common.session.meta.cwd.as_ref().map_or("/w", |cwd| cwd.as_str());
    let workspace = Workspace::of(Path::new(cwd), machine.home()).unwrap();
    let mut builder = Builder::new(Known {
        id: found.id.as_str(),
        platform: "x",
        workspace: &workspace,
        cwd: Some(cwd),
        times: [None; 2],
        own_alone: false,
    });
    let control = Control::default();
    let scanned =
        harness.scan(&found.reference, &Cursor::Start, Wants::ALL, &control, &mut builder, &context);
    if let Err(error) = scanned {
        return vec![error.to_string()];
    }
    let built = builder.finish(&Redactor::new()).summary;
    let counts = common.session.counts();
    let prompts = if found.class == Class::Sidecar { u64::from(built.prompt_count) } else { counts.prompts };
    let usage =
        common.session.calls.iter().fold(ibid_model::Usage::default(), |sum, call| sum.plus(&call.usage));
    let usage = if usage.is_unknown() { common.session.reported_usage.unwrap_or_default() } else { usage };
    let tokens = built.token_usage.unwrap_or_default();
    [
        ("prompts", u64::from(built.prompt_count), prompts),
        ("answers", u64::from(built.assistant_message_count), counts.assistant),
        ("calls", u64::from(built.tool_call_count), counts.tool_calls),
        ("input", tokens.input_tokens.unwrap_or(0), usage.input.unwrap_or(0)),
        ("output", tokens.output_tokens.unwrap_or(0), usage.output.unwrap_or(0)),
    ]
    .into_iter()
    .filter(|(_, ours, whole)| ours != whole)
    .map(|(what, ours, whole)| format!("{}: {what}: {ours}, a full load has {whole}", found.reference))
    .collect()
}

fn in_home(home: &Path) -> (usize, Vec<String>) {
    let machine = Surroundings::isolated(home).in_project(home);
    let found =
        ibid_harness::discover(&platforms(), &machine, &Limits::default(), None, &Progress::default());
    let sessions: Vec<&Discovered> = found
        .iter()
        .flat_map(|found| &found.sessions)
        .filter(|session| !matches!(session.class, Class::Foreign | Class::Other))
        .collect();
    let differences = sessions.iter().filter_map(|session| {
        let harness = platforms().into_iter().find(|h| h.declaration().id == session.reference.harness)?;
        Some(differences(harness, session, &machine))
    });
    let differences = differences.flatten().collect();
    (sessions.len(), differences)
}

#[test]
fn the_summaries_of_all_fixtures_count_what_a_full_load_counts() {
    for harness in platforms() {
        let id = harness.declaration().id.as_str();
        for version in std::fs::read_dir(Home::fixtures().join(id)).unwrap().flatten() {
            if version.path().is_dir() {
                let project = version.path().join("project");
                let home = match project.is_dir() {
                    true => Home::new().with_tree(project.to_str().unwrap(), ""),
                    false => Home::new().with(id, &version.file_name().into_string().unwrap()),
                };
                let (sessions, differences) = in_home(home.path());
                assert!(sessions > 0, "{id} {version:?}");
                assert!(differences.is_empty(), "{}", differences.join("\n"));
            }
        }
    }
}

#[test]
fn the_summaries_of_the_corpus_count_what_a_full_load_counts() {
    let Some(corpus) = std::env::var_os("IBID_CORPUS").map(PathBuf::from) else {
        println!("skipped: summaries of the corpus: IBID_CORPUS is not set");
        return;
    };
    let table = std::fs::read_to_string(corpus.join("EXPECT.tsv")).unwrap();
    let mut wrong = Vec::new();
    let mut sessions = 0;
    for line in table.lines().skip(1) {
        let cells: Vec<&str> = line.split('\t').collect();
        let [file, _, layout, ..] = cells.as_slice() else { continue };
        if !layout.starts_with('.')
            || layout.contains('<')
            || APART.iter().any(|(name, _)| layout.ends_with(name))
        {
            continue;
        }
        let home = Home::new().with_file(layout, std::fs::read(corpus.join(file)).unwrap());
        let (found, differences) = in_home(home.path());
        sessions += found;
        wrong.extend(differences);
    }
    println!("{sessions} sessions of the corpus");
    assert!(sessions > 0);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
