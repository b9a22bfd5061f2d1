//! `session_index.jsonl`: the names that a person gave threads. The last line of an id counts.
//! Everything else that Codex indexes is a cache of the rollouts and is not looked at.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use ibid_carrier::file;
use ibid_carrier::jsonl::{Builder, Document};
use ibid_carrier::plan::{Content, ContentStamp, Step};
use ibid_model::{Text, Timestamp};
use memchr::memmem;
use serde::{Deserialize, Serialize};

/// The file, below the root.
const FILE: &str = "session_index.jsonl";

/// More than this is not read: a name takes about a hundred bytes.
const MOST_BYTES: u64 = 64 << 20;

#[derive(Deserialize, Serialize)]
struct Entry {
    id: String,
    thread_name: String,
    #[serde(default)]
    updated_at: String,
}

fn document(root: &Path) -> Option<Document> {
    let path = root.join(FILE);
    // An index is a hint: without it the sessions are all there.
    let stored = file::read(&path, MOST_BYTES).ok()?;
    Some(Document::from_bytes(stored.bytes))
}

fn entries(document: &Document) -> Vec<Entry> {
    document
        .read_records(|text| serde_json::from_str(text))
        .items
        .into_iter()
        .map(|item| item.value)
        .collect()
}

/// The names of all threads of a root.
pub(super) fn all(root: &Path) -> HashMap<String, Text> {
    let entries = document(root).map(|document| entries(&document)).unwrap_or_default();
    entries.into_iter().map(|entry| (entry.id, entry.thread_name.into())).collect()
}

/// The name of one thread.
pub(super) fn of(root: &Path, id: &str) -> Option<Text> {
    let document = document(root)?;
    // It is asked for every thread: only lines that hold the id are read.
    let named = memmem::Finder::new(id);
    let lines = document.lines().filter(|line| named.find(line.bytes).is_some());
    let read = lines.filter_map(|line| serde_json::from_slice::<Entry>(line.bytes).ok());
    let entry = read.filter(|entry| entry.id == id).last()?;
    Some(entry.thread_name.into()).filter(|name: &Text| !name.is_blank())
}

/// The step that gives a thread a name, unless it has that name already.
pub(super) fn naming(root: &Path, id: &str, name: &Text, at: Option<Timestamp>) -> Option<(PathBuf, Step)> {
    if of(root, id).as_ref() == Some(name) {
        return None;
    }
    let mut line = Builder::new();
    let updated_at = at.map(Timestamp::to_iso_milliseconds).unwrap_or_default();
    line.push(&Entry { id: id.to_owned(), thread_name: name.to_string(), updated_at }).ok()?;
    let content = Content::from(line.finish().shared_bytes());
    let path = root.join(FILE);
    let step = match ContentStamp::of(&path) {
        Ok(expected) => Step::AppendFile { path: path.clone(), expected, content },
        Err(_) => Step::CreateFile { path: path.clone(), content, private: true },
    };
    Some((path, step))
}
