//! The corpus lane: every Claude Code, Codex, OpenCode and pi file of a collection of public
//! session files, laid out where its harness would keep it, must give what EXPECT.tsv says of it,
//! come back byte for byte, and convert to the other harnesses and back.
//!
//! The collection is not part of the project. `IBID_CORPUS` names its folder; without it the lane
//! is skipped, and says so.

#![allow(clippy::expect_used, clippy::panic, reason = "a test states what it expects")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use ibid_carrier::jsonl::Limits;
use ibid_carrier::plan::{Engine, Policy};
use ibid_harness::{
    AnyHarness, AnyTranscript, Class, CodecError, Content, Context, Discovered, Progress, SaveOptions,
    Surroundings, Target, discover,
};
use ibid_model::{
    Block, Counts, Essence, Extent, FindingKind, LossKind, Losses, Message, Origin, Role, Selection, Session,
    essence,
};

/// The harnesses of this lane: the folder of the corpus, and the harness.
const LANES: &[(&str, &str)] = &[
    ("claude_code", "claude-code"),
    ("codex", "codex"),
    ("deepseek_harness", "dsh"),
    ("opencode", "opencode"),
    ("pi", "pi"),
    ("grok", "grok"),
    ("copilot_cli", "copilot"),
    ("cursor", "cursor"),
    ("codebuddy", "workbuddy"),
    ("kimi_cli", "kimi"),
    ("qwen_code", "qwen"),
];

/// Places of programs that Ibid does not read and whose files lie in a folder of the lane: the archived
/// kimi-cli is beside Kimi Code.
const NOT_READ: &[&str] = &[".kimi/"];

/// The harnesses that mark the task of a subagent, so that the table has it as put there.
const TASKS_ARE_MARKED: &[&str] = &["kimi"];

/// The harnesses whose own counter of input tokens, which the table has, holds what came from a cache.
const CACHED_INSIDE: &[&str] = &["grok", "qwen"];

/// Rows that are wrong and cannot be corrected, each with the reason.
const DISPUTED: &[(&str, &str)] = &[];

/// One row of EXPECT.tsv.
struct Row {
    cells: BTreeMap<String, String>,
}

impl Row {
    fn cell(&self, column: &str) -> &str {
        self.cells.get(column).map_or("-", String::as_str)
    }

    fn number(&self, column: &str) -> Option<u64> {
        self.cell(column).parse().ok()
    }
}

fn rows(corpus: &Path) -> Vec<Row> {
    let table = fs::read_to_string(corpus.join("EXPECT.tsv")).expect("EXPECT.tsv is readable");
    let mut lines = table.lines();
    let columns: Vec<&str> = lines.next().expect("a header").split('\t').collect();
    let row = |line: &str| Row {
        cells: columns.iter().map(|c| (*c).to_owned()).zip(line.split('\t').map(str::to_owned)).collect(),
    };
    lines.map(row).collect()
}

/// What the lane found for one row.
struct Outcome {
    file: String,
    class: String,
    wrong: Vec<String>,
    losses: String,
    findings: String,
}

#[test]
fn every_file_of_the_corpus_gives_what_is_expected_of_it() {
    let Some(corpus) = std::env::var_os("IBID_CORPUS").map(PathBuf::from) else {
        println!("skipped: corpus lane: IBID_CORPUS is not set");
        return;
    };
    let all = rows(&corpus);
    let mut outcomes = Vec::new();
    for &(folder, name) in LANES {
        let Some(harness) = ibid_harness::find(name) else { continue };
        let is_read = |row: &&Row| NOT_READ.iter().all(|place| !row.cell("layout").starts_with(place));
        let in_folder = |row: &&Row| row.cell("file").starts_with(&format!("{folder}/"));
        let own: Vec<&Row> = all.iter().filter(in_folder).filter(is_read).collect();
        // Of CodeBuddy's files those of WorkBuddy, which the collection keeps beside them.
        let own: Vec<&Row> = match folder {
            "codebuddy" => own.into_iter().filter(|row| row.cell("file").contains("workbuddy")).collect(),
            _ => own,
        };
        for row in &own {
            outcomes.push(check(&corpus, harness, row, &own));
        }
    }
    print_table(&outcomes);
    let disputed: BTreeSet<&str> = DISPUTED.iter().map(|(file, _)| *file).collect();
    let wrong: Vec<String> = outcomes
        .iter()
        .filter(|outcome| !outcome.wrong.is_empty() && !disputed.contains(outcome.file.as_str()))
        .map(|outcome| format!("{}\n    {}", outcome.file, outcome.wrong.join("\n    ")))
        .collect();
    let healed: Vec<&str> = outcomes
        .iter()
        .filter(|o| o.wrong.is_empty() && disputed.contains(o.file.as_str()))
        .map(|o| o.file.as_str())
        .collect();
    assert!(wrong.is_empty(), "{} rows differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(healed.is_empty(), "rows that are disputed and yet hold: {healed:?}");
}

fn print_table(outcomes: &[Outcome]) {
    println!("{:<100} {:<8} {:<5} losses of the conversions; findings", "file", "class", "holds");
    for outcome in outcomes {
        let holds = if outcome.wrong.is_empty() { "yes" } else { "NO" };
        let short: String = outcome.file.chars().take(100).collect();
        println!("{short:<100} {:<8} {holds:<5} {}; {}", outcome.class, outcome.losses, outcome.findings);
    }
    let holding = outcomes.iter().filter(|outcome| outcome.wrong.is_empty()).count();
    println!("corpus lane: {holding} of {} rows hold", outcomes.len());
}

/// Lays a row out in a home of its own. For OpenCode the whole tree goes with each row, since one
/// session is spread over many files.
fn lay_out(corpus: &Path, home: &Path, row: &Row, own: &[&Row]) -> Option<PathBuf> {
    let place = |row: &Row| -> Option<PathBuf> {
        let layout = row.cell("layout");
        (layout != "-" && !layout.starts_with('<')).then(|| home.join(layout))
    };
    let put = |row: &Row, to: &Path| {
        fs::create_dir_all(to.parent().expect("a parent")).expect("the home is writable");
        fs::copy(corpus.join(row.cell("file")), to).expect("the corpus file is readable");
    };
    if row.cell("file").starts_with("opencode/") {
        for other in own.iter().filter(|other| other.cell("class") == "sidecar") {
            if let Some(to) = place(other) {
                put(other, &to);
            }
        }
    }
    let to = match place(row) {
        Some(to) => to,
        None => foreign_place(home, row)?,
    };
    put(row, &to);
    Some(to)
}

/// Where a file that belongs to no store is put to see that it is not taken for a session.
fn foreign_place(home: &Path, row: &Row) -> Option<PathBuf> {
    let file = row.cell("file");
    let name = file.rsplit('/').next()?;
    let folder = match file.split('/').next()? {
        "claude_code" => ".claude/projects/-somewhere".to_owned(),
        "codex" => ".codex/sessions/2026/01/01".to_owned(),
        "pi" => ".pi/agent/sessions/--somewhere--".to_owned(),
        "cursor" => ".cursor/projects/somewhere/agent-transcripts".to_owned(),
        "codebuddy" => ".workbuddy/projects/somewhere".to_owned(),
        "opencode" => ".local/share/opencode".to_owned(),
        "copilot_cli" => ".copilot/session-state/somewhere".to_owned(),
        _ => return None,
    };
    let name = match file.split('/').next()? {
        "codex" => format!("rollout-2026-01-01T00-00-00-{name}"),
        "opencode" if name.ends_with(".db") => "opencode.db".to_owned(),
        "copilot_cli" if name.ends_with(".jsonl") => "events.jsonl".to_owned(),
        _ => name.to_owned(),
    };
    Some(home.join(folder).join(name))
}

fn check(corpus: &Path, harness: &'static dyn AnyHarness, row: &Row, own: &[&Row]) -> Outcome {
    let file = row.cell("file").to_owned();
    let mut outcome = Outcome {
        file: file.clone(),
        class: String::from("-"),
        wrong: Vec::new(),
        losses: String::new(),
        findings: String::new(),
    };
    let home = tempfile::tempdir().expect("a home");
    let Some(placed) = lay_out(corpus, home.path(), row, own) else { return outcome };
    let machine = Surroundings::isolated(home.path());
    let limits = Limits::default();
    let context = Context { machine: &machine, limits: &limits };
    let before = snapshot(home.path());
    let found = discover(&[harness], &machine, &limits, None, &Progress::default());
    let id = row.cell("session_id");
    let session = found.iter().flat_map(|d| &d.sessions).find(|session| {
        session.reference.path == placed && (session.reference.key.is_none() || session.id == id || id == "-")
            || session.carriers.iter().any(|carrier| Path::new(carrier.path.as_str()) == placed)
    });
    let expected = row.cell("class");
    let listed = |class: Class| matches!(class, Class::Session | Class::Sidecar | Class::Partial);
    let unread = |finding: &ibid_model::Finding| {
        finding.kind == FindingKind::UnreadStore && finding.path.as_deref().map(Path::new) == Some(&placed)
    };
    match session {
        // A store that Ibid does not read is named as one.
        None if found.iter().any(|d| d.findings.iter().any(unread)) => outcome.class = "unread".into(),
        None => {
            let elsewhere =
                found.iter().any(|d| d.findings.iter().any(|f| f.kind == FindingKind::ForeignContent));
            outcome.class = if elsewhere { "foreign".into() } else { "none".into() };
            // Files that are no session by themselves are read with the session that they belong to.
            let part_of_tree = file.starts_with("opencode/") || !file.ends_with(".jsonl");
            if matches!(expected, "session" | "partial") || expected == "sidecar" && !part_of_tree {
                outcome.wrong.push(format!("expected class {expected}, and nothing was found"));
            }
        }
        Some(session) => {
            outcome.class =
                serde_json::to_value(session.class).expect("a class").as_str().unwrap_or("?").to_owned();
            let as_expected = match expected {
                "session" => session.class == Class::Session,
                "sidecar" => matches!(session.class, Class::Sidecar | Class::Session),
                "partial" => session.class == Class::Partial,
                _ => !listed(session.class),
            };
            if !as_expected {
                outcome.wrong.push(format!("expected class {expected}, got {}", outcome.class));
            }
            if listed(session.class) && as_expected {
                read(harness, session, row, &context, &mut outcome);
            }
        }
    }
    if snapshot(home.path()) != before {
        outcome.wrong.push("reading left a trace in the home".into());
    }
    outcome
}

fn read(
    harness: &'static dyn AnyHarness,
    found: &Discovered,
    row: &Row,
    context: &Context<'_>,
    outcome: &mut Outcome,
) {
    let transcript = match harness.load(&found.reference, context) {
        Ok(transcript) => transcript,
        Err(error) => return outcome.wrong.push(format!("load: {error}")),
    };
    let common = match transcript.to_common() {
        Ok(common) => common,
        Err(error) => return outcome.wrong.push(format!("to common: {error}")),
    };
    let session = &common.session;
    let mut kinds: BTreeMap<&str, u64> = BTreeMap::new();
    for finding in &common.findings {
        *kinds.entry(finding.kind.code()).or_default() += finding.count;
    }
    outcome.findings =
        kinds.iter().map(|(kind, count)| format!("{kind}:{count}")).collect::<Vec<_>>().join(" ");
    for problem in session.problems() {
        outcome.wrong.push(format!("the common session breaks an invariant: {problem:?}"));
    }
    if found.id != session.id {
        outcome.wrong.push(format!("discovery says id {}, the load says {}", found.id, session.id));
    }
    if found.meta != session.meta {
        outcome
            .wrong
            .push(format!("discovery and load differ:\n      {:?}\n      {:?}", found.meta, session.meta));
    }
    numbers(row, session, &transcript, &common.findings, outcome);
    comes_back(harness, found, &transcript, context, outcome);
    converts(harness, session, outcome);
}

fn numbers(
    row: &Row,
    session: &Session,
    transcript: &AnyTranscript,
    findings: &[ibid_model::Finding],
    outcome: &mut Outcome,
) {
    let codex = session.harness == "codex";
    let counts = session.counts();
    let by_item = |message: &&Message| !codex || is_message_item(message, transcript);
    let answers = session.messages.iter().filter(|message| message.role == Role::Assistant);
    let assistant = answers.filter(|message| message.has_text() && codex || by_item(message)).count() as u64;
    // The table has the task of a subagent as a user's message, since nothing in the file marks it.
    let marked = TASKS_ARE_MARKED.contains(&session.harness.as_str());
    let sidecar = row.cell("class") == "sidecar" && !marked;
    let is_task = |message: &&Message| sidecar && message.origin == Origin::Agent;
    let tasks = session.messages.iter().filter(is_task).count() as u64;
    let put_there = |message: &&Message| {
        message.role == Role::User
            && matches!(message.origin, Origin::Harness | Origin::Summary | Origin::Agent)
    };
    let injected = session.messages.iter().filter(put_there).filter(by_item).count() as u64;
    let mut compare = |column: &str, got: Option<u64>| {
        if let Some(expected) = row.number(column)
            && got != Some(expected)
        {
            outcome.wrong.push(format!("{column}: expected {expected}, got {got:?}"));
        }
    };
    compare("user_messages", Some(counts.prompts + tasks));
    compare("injected_user", Some(injected - tasks));
    compare("assistant_messages", Some(assistant));
    // The table counts ids; a call that repeats one is another call all the same.
    let calls = session.messages.iter().flat_map(|message| &message.blocks).filter_map(|block| match block {
        Block::ToolUse(call) => Some(&call.id),
        _ => None,
    });
    compare("tool_calls", Some(calls.collect::<BTreeSet<_>>().len() as u64));
    compare("tool_results", Some(counts.tool_results));
    let usage = session.calls.iter().fold(ibid_model::Usage::default(), |sum, call| sum.plus(&call.usage));
    if codex {
        let total = session.reported_usage.unwrap_or_default();
        let input =
            total.input.map(|input| input + total.cache_read.unwrap_or(0) + total.cache_write.unwrap_or(0));
        compare("input_tokens", input);
        compare("output_tokens", total.output);
    } else {
        let cached = usage.cache_read.unwrap_or(0) + usage.cache_write.unwrap_or(0);
        let inside = CACHED_INSIDE.contains(&session.harness.as_str());
        compare("input_tokens", usage.input.map(|input| if inside { input + cached } else { input }));
        let apart = if session.harness == "qwen" { thinking_apart(transcript) } else { 0 };
        compare("output_tokens", usage.output.map(|output| output - apart));
    }
    let carriers = transcript.carriers();
    if let Some(Content::Bytes(bytes)) = carriers.first().map(|carrier| carrier.content)
        && !row.cell("file").starts_with("opencode/")
    {
        let lines =
            bytes.split(|b| *b == b'\n').count() as u64 - u64::from(bytes.last().is_none_or(|b| *b == b'\n'));
        compare("lines", Some(lines));
        let bad: BTreeSet<u64> = findings
            .iter()
            .filter(|finding| {
                matches!(
                    finding.kind,
                    FindingKind::NotJson
                        | FindingKind::CutLine
                        | FindingKind::TornPrefix
                        | FindingKind::SeveralValues
                        | FindingKind::NulRun
                        | FindingKind::InvalidUtf8
                )
            })
            .filter_map(|finding| finding.line)
            .collect();
        compare("bad_lines", Some(bad.len() as u64));
    }
    let id = row.cell("session_id");
    let sidecar = row.cell("class") == "sidecar";
    if id != "-" && session.id != id && !(sidecar && session.parent().is_some_and(|parent| *parent == id)) {
        outcome.wrong.push(format!("session_id: expected {id}, got {}", session.id));
    }
}

/// The table has what Qwen Code counts for the answers. Where the total of a row is the sum of prompt,
/// answer and thinking, the thinking is output too, and stands in no other column.
fn thinking_apart(transcript: &AnyTranscript) -> u64 {
    let carriers = transcript.carriers();
    let Some(Content::Bytes(bytes)) = carriers.first().map(|carrier| carrier.content) else { return 0 };
    let rows =
        bytes.split(|b| *b == b'\n').filter_map(|row| serde_json::from_slice::<serde_json::Value>(row).ok());
    let apart = rows.filter_map(|row| {
        let count = |name: &str| row.get("usageMetadata")?.get(name)?.as_u64();
        let thoughts = count("thoughtsTokenCount")?;
        let sum = count("promptTokenCount")? + count("candidatesTokenCount")? + thoughts;
        (count("totalTokenCount")? == sum).then_some(thoughts)
    });
    apart.sum()
}

/// Codex writes an item for each thing of a turn; the table counts the items that are messages.
/// Which they are is read from the bytes that the sources name.
fn is_message_item(message: &Message, transcript: &AnyTranscript) -> bool {
    let carriers = transcript.carriers();
    message.sources.iter().any(|source| {
        let (Some(carrier), Extent::Bytes { start, end }) =
            (carriers.get(source.carrier as usize), &source.extent)
        else {
            return false;
        };
        let Content::Bytes(bytes) = carrier.content else { return false };
        let range = usize::try_from(*start).unwrap_or(0)..usize::try_from(*end).unwrap_or(0);
        let record = bytes.get(range).expect("a source lies inside its carrier");
        let spellings: [&[u8]; 2] = [br#""type":"message""#, br#""type": "message""#];
        spellings.iter().any(|spelling| memchr::memmem::find(record, spelling).is_some())
    })
}

/// Saves the session under a root of its own and compares every carrier.
fn comes_back(
    harness: &'static dyn AnyHarness,
    found: &Discovered,
    transcript: &AnyTranscript,
    context: &Context<'_>,
    outcome: &mut Outcome,
) {
    if !harness.declaration().capabilities.write {
        return is_kept(harness, transcript, outcome);
    }
    let home = tempfile::tempdir().expect("a home");
    let machine = Surroundings::isolated(home.path());
    let there = Context { machine: &machine, limits: context.limits };
    let parent = found.lineage.first().and_then(|_| parent_of(harness, found, context, &there));
    let options = SaveOptions { parent, fix_id: true, ..SaveOptions::default() };
    let saving = match harness.save(transcript, &options, &there) {
        Ok(saving) => saving,
        Err(error) => return outcome.wrong.push(format!("save: {error}")),
    };
    let engine = Engine::new(machine.data_dir());
    if let Err(error) = engine.commit(&saving.plan, &Policy::within(saving.roots.clone())) {
        return outcome.wrong.push(format!("commit: {error}"));
    }
    match harness.load(&saving.reference, &there) {
        Err(error) => outcome.wrong.push(format!("load what was saved: {error}")),
        Ok(again) => same_carriers(transcript, &again, outcome),
    }
}

/// Of a harness that is only read: the carriers are the files, and the text form keeps them.
fn is_kept(harness: &'static dyn AnyHarness, transcript: &AnyTranscript, outcome: &mut Outcome) {
    for carrier in transcript.carriers() {
        let Content::Bytes(bytes) = carrier.content else { continue };
        let stored = fs::read(carrier.info.path.as_str()).expect("a carrier is a file");
        let stored = match stored.starts_with(&[0x28, 0xB5, 0x2F, 0xFD]) {
            true => zstd::decode_all(&*stored).expect("the corpus has no damaged archives"),
            false => stored,
        };
        if stored != bytes {
            outcome.wrong.push(format!("{} was not read as it is", carrier.info.path));
        }
    }
    match transcript.to_text().and_then(|text| harness.from_text(&text)) {
        Ok(again) => same_carriers(transcript, &again, outcome),
        Err(error) => outcome.wrong.push(format!("as text and back: {error}")),
    }
}

fn same_carriers(transcript: &AnyTranscript, again: &AnyTranscript, outcome: &mut Outcome) {
    let (before, after) = (transcript.carriers(), again.carriers());
    if before.len() != after.len() {
        outcome.wrong.push(format!("{} carriers became {}", before.len(), after.len()));
    }
    for (before, after) in before.iter().zip(&after) {
        let same = match (before.content, after.content) {
            (Content::Bytes(a), Content::Bytes(b)) => a == b,
            (Content::Rows(a), Content::Rows(b)) => a == b,
            _ => false,
        };
        if !same {
            outcome.wrong.push(format!("{} did not come back as it was", before.info.path));
        }
    }
}

/// The reference that a subagent's parent would have in the other home.
fn parent_of(
    harness: &'static dyn AnyHarness,
    found: &Discovered,
    here: &Context<'_>,
    there: &Context<'_>,
) -> Option<ibid_harness::Reference> {
    if found.class != Class::Sidecar {
        return None;
    }
    let moved = found.reference.path.strip_prefix(here.machine.home()).ok()?;
    let parent_id = found.lineage.iter().find_map(|lineage| lineage.parent.as_ref())?;
    let path = there.machine.home().join(moved.parent()?).join(format!("{parent_id}.jsonl"));
    let root = harness.roots(there.machine).first()?.path.clone();
    Some(ibid_harness::Reference { harness: found.reference.harness, root, path, key: None })
}

/// Converts to every other harness that can be written, and back.
fn converts(harness: &'static dyn AnyHarness, session: &Session, outcome: &mut Outcome) {
    let target = Target::default();
    let mut kinds: BTreeMap<&str, u64> = BTreeMap::new();
    for other in ibid_harness::all() {
        let declaration = other.declaration();
        if declaration.id == harness.declaration().id || !declaration.capabilities.write {
            continue;
        }
        let made = match other.from_common(session, &target) {
            Ok(made) => made,
            // A program that would not find a session without turns is not given one.
            Err(CodecError::Inexpressible { .. }) if session.counts() == Counts::default() => continue,
            Err(error) => {
                outcome.wrong.push(format!("to {}: {error}", declaration.id));
                continue;
            }
        };
        for loss in &made.losses {
            *kinds.entry(loss.kind.code()).or_default() += loss.count;
        }
        let there = match made.value.to_common() {
            Ok(there) => there,
            Err(error) => {
                outcome.wrong.push(format!("reading what was made for {}: {error}", declaration.id));
                continue;
            }
        };
        differences(session, &there.session, &made.losses, &format!("to {}", declaration.id), outcome);
        if !harness.declaration().capabilities.write {
            continue;
        }
        match harness.from_common(&there.session, &target).and_then(|back| {
            let common = back.value.to_common()?;
            Ok((common.session, back.losses))
        }) {
            Err(error) => outcome.wrong.push(format!("back from {}: {error}", declaration.id)),
            Ok((back, losses)) => {
                differences(
                    &there.session,
                    &back,
                    &losses,
                    &format!("back from {}", declaration.id),
                    outcome,
                );
            }
        }
    }
    outcome.losses =
        kinds.iter().map(|(kind, count)| format!("{kind}:{count}")).collect::<Vec<_>>().join(" ");
}

/// Compares what two sessions say. What differs must be in the losses.
fn differences(from: &Session, to: &Session, losses: &Losses, way: &str, outcome: &mut Outcome) {
    let selection = Selection::default();
    let plain = |session: &Session| -> Vec<Essence> {
        let prepared = ibid_model::prepare(session, &selection, &ibid_model::Rules::STRICT);
        essence(&prepared.messages)
    };
    let (said, heard) = (texts(&plain(from), losses), texts(&plain(to), losses));
    if said != heard {
        let at = said.iter().zip(&heard).take_while(|(a, b)| a == b).count();
        outcome.wrong.push(format!(
            "{way}: {} things were said and {} arrived; the first difference is number {at}:\n      {}\n      {}",
            said.len(),
            heard.len(),
            short(said.get(at)),
            short(heard.get(at)),
        ));
    }
    let kept_raw = losses.count(LossKind::ToolKeptRaw);
    let tools = |session: &Session| calls(&plain(session));
    let (asked, done) = (tools(from), tools(to));
    let changed = asked.iter().zip(&done).filter(|(a, b)| a != b).count() as u64;
    if changed > kept_raw + losses.count(LossKind::InputWrapped) + losses.count(LossKind::ToolRenamed) {
        outcome.wrong.push(format!("{way}: {changed} tool calls changed, and the report names {kept_raw}"));
    }
}

fn short(thing: Option<&String>) -> String {
    thing.map_or_else(|| "nothing".to_owned(), |thing| thing.chars().take(300).collect())
}

/// Texts and results in order, and that calls stand between them. What a loss names is left out.
fn texts(said: &[Essence], losses: &Losses) -> Vec<String> {
    let pictures = !losses.has(LossKind::Image) && !losses.has(LossKind::Document);
    let parts = pictures && !losses.has(LossKind::ResultFlattened);
    said.iter()
        .filter_map(|thing| match thing {
            Essence::Text(role, text) => Some(format!("{role:?} says {text}")),
            Essence::Call(number, _) => Some(format!("call {number}")),
            Essence::Result(number, text, others, _) if parts => {
                Some(format!("result {number:?} {text} and {} more", others.len()))
            }
            Essence::Result(number, ..) => Some(format!("result {number:?}")),
            Essence::Other(role, block) => pictures.then(|| format!("{role:?} shows {}", kind(block))),
        })
        .collect()
}

fn kind(block: &Block) -> &'static str {
    match block {
        Block::Image(_) => "an image",
        Block::Document(_) => "a document",
        _ => "something",
    }
}

fn calls(said: &[Essence]) -> Vec<String> {
    said.iter()
        .filter_map(|thing| match thing {
            Essence::Call(_, tool) => serde_json::to_string(tool).ok(),
            _ => None,
        })
        .collect()
}

/// Everything about a tree of files that reading must not change.
fn snapshot(dir: &Path) -> Vec<(PathBuf, u64, Option<std::time::SystemTime>)> {
    let mut found = Vec::new();
    let mut open = vec![dir.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(&dir).expect("readable").flatten() {
            let path = entry.path();
            if path.starts_with(dir.join(".cache")) {
                continue;
            }
            let metadata = entry.metadata().expect("metadata");
            if metadata.is_dir() {
                open.push(path.clone());
            }
            found.push((path, metadata.len(), metadata.modified().ok()));
        }
    }
    found.sort();
    found.retain(|(path, ..)| !path.components().any(|part| part.as_os_str() == ".cache"));
    found
}
