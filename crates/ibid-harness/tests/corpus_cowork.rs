//! The corpus lane for Cowork. The collection of public session files holds no Cowork session, so
//! the lane builds its own homes: two organisations, an agent session, records with extra and
//! wrong-typed fields, an audit log, and a real Claude Code transcript of the collection inside
//! each. What a session says must be what EXPECT.tsv says of its transcript; every carrier must
//! come back byte for byte; and conversions to every other harness and back must tell the same
//! story but for their losses.
//!
//! The collection is not part of the project. `IBID_CORPUS` names its folder; without it the lane
//! is skipped, and says so.

#![allow(clippy::expect_used, clippy::panic, reason = "a test states what it expects")]

mod fidelity;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use ibid_carrier::jsonl::Limits;
use ibid_carrier::plan::{Engine, Policy};
use ibid_harness::{
    AnyHarness, AnyTranscript, Class, CodecError, Content, Context, Discovered, Fold, Progress, SaveOptions,
    Surroundings, Target, Wants, discover,
};
use ibid_model::{Finding, FindingKind, Session, Usage};

const FIRST: &str = "1a000000-0000-4000-8000-00000000000a/2a000000-0000-4000-8000-00000000000a";
const SECOND: &str = "1b000000-0000-4000-8000-00000000000b/2b000000-0000-4000-8000-00000000000b";

/// Where sessions are put in turn, and what their records have beside what the app demands.
const PLACES: [(&str, &str, &str); 4] = [
    (FIRST, "local_", r#","title":"Named in the app","aFieldOfALaterVersion":{"n":[1.50,1e2]}"#),
    (SECOND, "local_", r#","title":5,"model":{"id":"m"},"isArchived":"no","s":"\ud83d""#),
    ("agent", "local_ditto_", r#","sessionType":"agent","isArchived":true"#),
    (FIRST, "local_", r#","initialMessage":"","lastActivityAt":1785664800000.5"#),
];

const AUDIT: &str = "{\"type\":\"system\",\"subtype\":\"init\",\"_audit_hmac\":\"10\"}\n{\"type\":\"result\",\"total_cost_usd\":0.0100}\n";

/// One row of EXPECT.tsv.
struct Row(BTreeMap<String, String>);

impl Row {
    fn cell(&self, column: &str) -> &str {
        self.0.get(column).map_or("-", String::as_str)
    }
}

fn rows(corpus: &Path) -> Vec<Row> {
    let table = fs::read_to_string(corpus.join("EXPECT.tsv")).expect("EXPECT.tsv is readable");
    let mut lines = table.lines();
    let columns: Vec<&str> = lines.next().expect("a header").split('\t').collect();
    let row = |line: &str| {
        Row(columns.iter().map(|c| (*c).to_owned()).zip(line.split('\t').map(str::to_owned)).collect())
    };
    lines
        .map(row)
        .filter(|row| row.cell("file").starts_with("claude_code/") && row.cell("class") == "session")
        .collect()
}

/// What was found for one row.
#[derive(Default)]
struct Outcome {
    wrong: Vec<String>,
    losses: BTreeMap<String, u64>,
    findings: BTreeMap<String, u64>,
}

#[test]
fn every_claude_code_session_of_the_corpus_says_the_same_inside_cowork() {
    let Some(corpus) = std::env::var_os("IBID_CORPUS").map(PathBuf::from) else {
        println!("skipped: corpus lane of cowork: IBID_CORPUS is not set");
        return;
    };
    let mut wrong = Vec::new();
    let rows = rows(&corpus);
    println!("{:<7} {:<100} {:<5} losses of the conversions; findings", "harness", "file", "holds");
    for (number, row) in rows.iter().enumerate() {
        let mut outcome = Outcome::default();
        check(&corpus, row, number, &mut outcome);
        let counts = |kinds: &BTreeMap<String, u64>| {
            kinds.iter().map(|(kind, count)| format!("{kind}:{count}")).collect::<Vec<_>>().join(" ")
        };
        let holds = if outcome.wrong.is_empty() { "yes" } else { "NO" };
        let file: String = row.cell("file").chars().take(100).collect();
        println!("cowork  {file:<100} {holds:<5} {}; {}", counts(&outcome.losses), counts(&outcome.findings));
        if !outcome.wrong.is_empty() {
            wrong.push(format!("{}\n    {}", row.cell("file"), outcome.wrong.join("\n    ")));
        }
    }
    println!(
        "corpus lane of cowork: {} of {} rows hold (in homes that the lane built)",
        rows.len() - wrong.len(),
        rows.len()
    );
    assert!(!rows.is_empty());
    assert!(wrong.is_empty(), "{} rows differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// Builds the home for a row; the session's own record comes back.
fn build(corpus: &Path, root: &Path, row: &Row, number: usize) -> PathBuf {
    let uuid = |part: usize| format!("{part:08x}-0000-4000-8000-{number:012x}");
    let mut own = PathBuf::new();
    for (at, (account, prefix, more)) in PLACES.iter().enumerate() {
        let folder = if *account == "agent" { root.join(FIRST).join("agent") } else { root.join(account) };
        let id = format!("{prefix}{}", uuid(at));
        let record = folder.join(format!("{id}.json"));
        let (cli, project) = (uuid(at + 16), folder.join(&id).join(".claude/projects/-some-project"));
        fs::create_dir_all(&project).expect("the home is writable");
        let activity =
            if more.contains("lastActivityAt") { "" } else { r#","lastActivityAt":1785578414000"# };
        let json = format!(
            r#"{{"sessionId":"{id}","processName":"p","cliSessionId":"{cli}","cwd":"/sessions/demo","createdAt":1785578400000{activity}{more}}}"#
        );
        fs::write(&record, json).expect("the home is writable");
        let transcript = project.join(format!("{cli}.jsonl"));
        if at == number % PLACES.len() {
            fs::copy(corpus.join(row.cell("file")), transcript).expect("the corpus file is readable");
            fs::write(folder.join(&id).join("audit.jsonl"), AUDIT).expect("the home is writable");
            own = record;
        } else {
            fs::write(transcript, "").expect("the home is writable");
        }
    }
    own
}

fn check(corpus: &Path, row: &Row, number: usize, outcome: &mut Outcome) {
    let cowork = ibid_harness::find("cowork").expect("the harness is registered");
    let home = tempfile::tempdir().expect("a home");
    let root = home.path().join("sessions");
    let record = build(corpus, &root, row, number);
    let machine = Surroundings::isolated(home.path()).with_variable("COWORK_SESSIONS_DIR", &root);
    let limits = Limits::default();
    let context = Context { machine: &machine, limits: &limits };
    let before = snapshot(&root);
    let found = discover(&[cowork], &machine, &limits, None, &Progress::default());
    let sessions: Vec<&Discovered> = found.iter().flat_map(|root| &root.sessions).collect();
    if sessions.len() != PLACES.len() {
        outcome.wrong.push(format!("{} sessions are there, and {} were found", PLACES.len(), sessions.len()));
    }
    match sessions.into_iter().find(|session| session.reference.path == record) {
        None => outcome.wrong.push("the session was not found".to_owned()),
        Some(session) if session.class != Class::Session => {
            outcome.wrong.push(format!("it is a {:?}", session.class));
        }
        Some(session) => read(cowork, session, row, &context, outcome),
    }
    if snapshot(&root) != before {
        outcome.wrong.push("reading left a trace in the home".to_owned());
    }
}

fn read(
    cowork: &'static dyn AnyHarness,
    found: &Discovered,
    row: &Row,
    context: &Context<'_>,
    outcome: &mut Outcome,
) {
    let loaded = cowork.load(&found.reference, context).map_err(|error| error.to_string());
    let read = loaded.and_then(|transcript| {
        let common = transcript.to_common().map_err(|error| error.to_string())?;
        Ok((transcript, common))
    });
    let (transcript, common) = match read {
        Ok(read) => read,
        Err(error) => return outcome.wrong.push(error),
    };
    let session = &common.session;
    for finding in &common.findings {
        *outcome.findings.entry(finding.kind.code().to_owned()).or_default() += finding.count;
    }
    outcome.wrong.extend(session.problems().iter().map(|problem| format!("{problem:?}")));
    if (&found.id, &found.meta) != (&session.id, &session.meta) {
        outcome.wrong.push(format!("a list says {:?}, and a load {:?}", found.meta, session.meta));
    }
    let mut fold = Fold::default();
    let control = ibid_harness::Control::default();
    match cowork.scan(&found.reference, &Default::default(), Wants::METADATA, &control, &mut fold, context) {
        Ok(_) if fold.meta == session.meta => {}
        Ok(_) => outcome.wrong.push(format!("a scan says {:?}, and a load {:?}", fold.meta, session.meta)),
        Err(error) => outcome.wrong.push(format!("scan: {error}")),
    }
    numbers(row, session, &transcript, &common.findings, outcome);
    comes_back(cowork, &transcript, context, outcome);
    converts(cowork, session, outcome);
}

/// Compares with what is expected of the transcript.
fn numbers(
    row: &Row,
    session: &Session,
    transcript: &AnyTranscript,
    findings: &[Finding],
    outcome: &mut Outcome,
) {
    let counts = session.counts();
    let usage = session.calls.iter().fold(Usage::default(), |sum, call| sum.plus(&call.usage));
    let carriers = transcript.carriers();
    let Some(Content::Bytes(bytes)) = carriers.first().map(|carrier| carrier.content) else {
        return outcome.wrong.push("there is no transcript".to_owned());
    };
    let lines = bytes.split(|b| *b == b'\n').filter(|line| !line.is_empty()).count();
    let blank = bytes.windows(2).filter(|pair| pair == b"\n\n").count();
    let is_bad = |kind| {
        matches!(
            kind,
            FindingKind::NotJson
                | FindingKind::CutLine
                | FindingKind::TornPrefix
                | FindingKind::SeveralValues
                | FindingKind::NulRun
                | FindingKind::InvalidUtf8
        )
    };
    let bad: BTreeSet<u64> = findings.iter().filter(|f| is_bad(f.kind)).filter_map(|f| f.line).collect();
    for (column, got) in [
        ("lines", Some((lines + blank) as u64)),
        ("bad_lines", Some(bad.len() as u64)),
        ("user_messages", Some(counts.prompts)),
        ("injected_user", Some(counts.injected)),
        ("assistant_messages", Some(counts.assistant)),
        ("tool_calls", Some(counts.tool_calls)),
        ("tool_results", Some(counts.tool_results)),
        ("input_tokens", usage.input),
        ("output_tokens", usage.output),
    ] {
        if let Ok(expected) = row.cell(column).parse::<u64>()
            && got.unwrap_or(0) != expected
        {
            outcome.wrong.push(format!("{column}: expected {expected}, got {got:?}"));
        }
    }
}

/// Saves the session under a root of its own, and compares every carrier.
fn comes_back(
    cowork: &'static dyn AnyHarness,
    transcript: &AnyTranscript,
    context: &Context<'_>,
    outcome: &mut Outcome,
) {
    let home = tempfile::tempdir().expect("a home");
    let machine = Surroundings::isolated(home.path());
    let there = Context { machine: &machine, limits: context.limits };
    let root = home.path().join("sessions");
    fs::create_dir_all(root.join(SECOND)).expect("the home is writable");
    let options = SaveOptions { root: Some(root), ..SaveOptions::default() };
    let again =
        cowork.save(transcript, &options, &there).map_err(|error| error.to_string()).and_then(|saving| {
            let policy = Policy::within(saving.roots.clone());
            Engine::new(machine.data_dir())
                .commit(&saving.plan, &policy)
                .map_err(|error| error.to_string())?;
            cowork.load(&saving.reference, &there).map_err(|error| error.to_string())
        });
    let again = match again {
        Ok(again) => again,
        Err(error) => return outcome.wrong.push(format!("save: {error}")),
    };
    let (before, after) = (transcript.carriers(), again.carriers());
    let same = before.iter().zip(&after).all(|(before, after)| match (before.content, after.content) {
        (Content::Bytes(a), Content::Bytes(b)) => a == b,
        _ => false,
    });
    if !same || before.len() != after.len() || before.len() != 3 {
        outcome.wrong.push("record, transcript and audit log did not come back as they were".to_owned());
    }
}

/// Converts to every other harness that can be written, and back.
fn converts(cowork: &'static dyn AnyHarness, session: &Session, outcome: &mut Outcome) {
    for other in ibid_harness::all() {
        let declaration = other.declaration();
        if declaration.id == cowork.declaration().id || !declaration.capabilities.write {
            continue;
        }
        if let Err(problem) = fidelity::check(session, *other) {
            outcome.wrong.push(format!("to {problem}").chars().take(600).collect());
            continue;
        }
        let made = match other.from_common(session, &Target::default()) {
            Ok(made) => made,
            // A program that would not find a session without turns is not given one.
            Err(CodecError::Inexpressible { .. }) => continue,
            Err(error) => {
                outcome.wrong.push(format!("to {}: {error}", declaration.id));
                continue;
            }
        };
        for loss in &made.losses {
            *outcome.losses.entry(loss.kind.code().to_owned()).or_default() += loss.count;
        }
        match made.value.to_common() {
            Err(error) => {
                outcome.wrong.push(format!("reading what was made for {}: {error}", declaration.id))
            }
            Ok(there) => {
                if let Err(problem) = fidelity::check(&there.session, cowork) {
                    let problem: String = problem.chars().take(600).collect();
                    outcome.wrong.push(format!("back from {}: {problem}", declaration.id));
                }
            }
        }
    }
}

/// Everything about a tree of files that reading must not change.
fn snapshot(folder: &Path) -> Vec<(PathBuf, u64, Option<SystemTime>)> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).expect("readable").flatten() {
            let metadata = entry.metadata().expect("metadata");
            if metadata.is_dir() {
                open.push(entry.path());
            }
            found.push((entry.path(), metadata.len(), metadata.modified().ok()));
        }
    }
    found.sort();
    found
}
