//! Codex: reading real rollouts.

use std::path::{Path, PathBuf};

use ibid_harness::codex::Codex;
use ibid_harness::{Codec, Common, TextCodec, Transcript};
use ibid_model::{Block, FindingKind, Message, Origin, Relation, Role, Selection, Session};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/codex")
}

/// The rollout files below a folder, sorted.
fn rollouts(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.file_name().unwrap().to_string_lossy().starts_with("rollout-") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

fn transcript(part_of_name: &str) -> Transcript<Codex> {
    let path = rollouts(&fixtures()).into_iter().find(|path| path.to_string_lossy().contains(part_of_name));
    Codex::from_text(&std::fs::read(path.unwrap()).unwrap()).unwrap()
}

fn common(part_of_name: &str) -> Common {
    Codex::to_common(&transcript(part_of_name)).unwrap()
}

fn of_text(text: &str) -> Common {
    Codex::to_common(&Codex::from_text(text.as_bytes()).unwrap()).unwrap()
}

/// Who said what, on the live branch.
fn story(session: &Session) -> Vec<String> {
    session.view(&Selection::default()).messages.into_iter().map(line).collect()
}

fn line(message: &Message) -> String {
    let blocks: Vec<String> = message
        .blocks
        .iter()
        .map(|block| match block {
            Block::Text(text) => text.text.head(40).replace('\n', "/"),
            Block::Thinking(thinking) => format!("thinks({})", thinking.tokens.len()),
            Block::ToolUse(call) => format!("{}:{}", call.name, call.tool.kind()),
            Block::ToolResult(result) => format!("{:?}={}", result.outcome, result.text().head(20).replace('\n', "/")),
            Block::Image(_) => "picture".into(),
            other => format!("{other:?}").chars().take(30).collect(),
        })
        .collect();
    let inherited = if message.inherited { "(copied) " } else { "" };
    format!("{inherited}{:?}/{:?}: {}", message.role, message.origin, blocks.join(" | "))
}

#[test]
fn show() {
    let only = std::env::var("SHOW").unwrap_or_default();
    for path in rollouts(&fixtures()) {
        if !path.to_string_lossy().contains(&only) { continue }
        let transcript = Codex::from_text(&std::fs::read(&path).unwrap()).unwrap();
        let Common { session, findings } = Codex::to_common(&transcript).unwrap();
        println!("== {} {:?}", path.display(), session.problems());
        println!("{:?}\n{:?}\n{:?} {:?}", session.meta, session.lineage, session.counts(), session.reported_usage);
        println!("own {:?} calls {} head {:?} comp {:?}", session.own_usage(), session.calls.len(), session.head, session.compactions);
        for f in &findings { println!("  ! {f}"); }
        for m in &session.messages { println!("  {} {}", m.id, line(m)); }
    }
}

/// What the corpus says about one file.
struct Row {
    file: String,
    class: String,
    id: String,
    numbers: [Option<u64>; 7],
}

/// The Codex rows of the corpus; none when there is no corpus.
fn rows() -> Option<(PathBuf, Vec<Row>)> {
    let corpus = PathBuf::from(std::env::var_os("IBID_CORPUS")?);
    let table = std::fs::read_to_string(corpus.join("EXPECT.tsv")).unwrap();
    let row = |line: &str| {
        let cells: Vec<&str> = line.split('\t').collect();
        let number = |at: usize| cells[at].parse().ok();
        Row {
            file: cells[0].into(),
            class: cells[1].into(),
            id: cells[3].into(),
            numbers: [number(6), number(7), number(8), number(9), number(10), number(11), number(12)],
        }
    };
    let rows = table.lines().filter(|line| line.starts_with("codex/")).map(row).collect();
    Some((corpus, rows))
}

#[test]
fn the_corpus_gets_its_numbers() {
    let Some((corpus, rows)) = rows() else {
        eprintln!("skipped: IBID_CORPUS is not set");
        return;
    };
    let mut wrong = Vec::new();
    for row in rows {
        let text = std::fs::read(corpus.join(&row.file)).unwrap();
        let read = Codex::from_text(&text).and_then(|transcript| Codex::to_common(&transcript));
        let session = match (row.class.as_str(), read) {
            ("session" | "sidecar", Ok(common)) => common.session,
            ("session" | "sidecar", Err(error)) => {
                wrong.push(format!("{}: {error}", row.file));
                continue;
            }
            (_, Err(_)) => continue,
            (class, Ok(_)) => {
                wrong.push(format!("{}: read, and is {class}", row.file));
                continue;
            }
        };
        assert_eq!(session.problems(), [], "{}", row.file);
        let found = numbers(&session);
        if session.id.as_str() != row.id || found.iter().zip(&row.numbers).any(|(a, b)| b.is_some() && a != b) {
            wrong.push(format!("{}: {} {found:?}, expected {} {:?}", row.file, session.id, row.id, row.numbers));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// User, injected, assistant, calls, results, input and output tokens, as the corpus counts them.
fn numbers(session: &Session) -> [Option<u64>; 7] {
    let counts = session.counts();
    let mut calls = std::collections::HashSet::new();
    for block in session.messages.iter().flat_map(|message| &message.blocks) {
        if let Block::ToolUse(call) = block {
            calls.insert(call.id.as_str());
        }
    }
    let usage = session.reported_usage;
    let input = usage.and_then(|usage| {
        Some(usage.input? + usage.cache_read.unwrap_or(0) + usage.cache_write.unwrap_or(0))
    });
    [
        Some(counts.prompts),
        Some(counts.injected),
        Some(counts.assistant_with_text),
        Some(calls.len() as u64),
        Some(counts.tool_results),
        input,
        usage.and_then(|usage| usage.output),
    ]
}
