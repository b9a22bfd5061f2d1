//! A home with sessions of a project, asked as a client would.

#![allow(dead_code, reason = "every test file uses a part of it")]

use std::path::{Path, PathBuf};

use ibid_evidence::Evidence;
use ibid_evidence::Host;
use ibid_evidence::answer::{Discovery, Provider, Summary, ToolCall};
use ibid_evidence::ask::DiscoverParams;
use ibid_harness::Surroundings;
use ibid_testkit::Home;
use serde_json::{Value, json};

pub(crate) fn host(home: &Home) -> Host {
    Host::new(Surroundings::isolated(home.path()))
}

pub(crate) fn discover(home: &Home, workspace: impl Into<PathBuf>) -> Discovery {
    host(home).discover(&DiscoverParams::of(workspace)).unwrap()
}

pub(crate) fn provider<'a>(discovery: &'a Discovery, name: &str) -> &'a Provider {
    discovery.providers.iter().find(|provider| provider.platform == name).unwrap()
}

pub(crate) fn ids(discovery: &Discovery) -> Vec<&str> {
    discovery.sessions.iter().map(|session| session.session_id.as_str()).collect()
}

pub(crate) fn only(discovery: &Discovery) -> &Summary {
    assert_eq!(discovery.sessions.len(), 1, "{:?}", discovery.providers);
    &discovery.sessions[0]
}

pub(crate) fn calls(summary: &Summary) -> &[ToolCall] {
    &summary.tool_activity.as_ref().unwrap().calls
}

pub(crate) fn prompts(summary: &Summary) -> Vec<&str> {
    summary.prompts.iter().map(|prompt| prompt.text.as_str()).collect()
}

/// Rows as JSON lines.
pub(crate) fn lines(rows: &[Value]) -> String {
    rows.iter().map(|row| format!("{row}\n")).collect()
}

/// A small Claude Code session: what the person said, and one answer with a call.
pub(crate) struct Claude {
    pub(crate) id: String,
    pub(crate) rows: Vec<Value>,
    cwd: String,
    number: u32,
    second: u32,
}

impl Claude {
    pub(crate) fn at(cwd: &str, number: u32) -> Claude {
        let id = format!("11111111-2222-4333-8444-{number:012}");
        Claude { id, rows: Vec::new(), cwd: cwd.to_owned(), number, second: number * 10 }
    }

    fn row(&mut self, kind: &str, message: Value) {
        self.second += 1;
        let (number, second) = (self.rows.len(), self.second);
        let time = format!("2026-09-01T{:02}:{:02}:{:02}.000Z", second / 3600, second / 60 % 60, second % 60);
        let session = self.number as usize * 100_000;
        let uuid = |row: usize| format!("11111111-2222-4333-9444-{:012}", session + row);
        self.rows.push(json!({
            "type": kind, "sessionId": self.id, "cwd": self.cwd, "timestamp": time, "version": "2.1.332",
            "uuid": uuid(number), "parentUuid": number.checked_sub(1).map(uuid),
            "userType": "external", "isSidechain": false, "message": message,
        }));
    }

    pub(crate) fn cd(mut self, cwd: &str) -> Claude {
        self.cwd = cwd.to_owned();
        self
    }

    pub(crate) fn says(mut self, text: &str) -> Claude {
        self.row("user", json!({ "role": "user", "content": text }));
        self
    }

    pub(crate) fn answers(mut self, text: &str) -> Claude {
        let id = format!("m{}", self.rows.len());
        self.row(
            "assistant",
            json!({
                "id": id, "role": "assistant", "model": "model-x", "type": "message",
                "usage": { "input_tokens": 5, "output_tokens": 2 },
                "content": [{ "type": "text", "text": text }],
            }),
        );
        self
    }

    pub(crate) fn calls(mut self, id: &str, name: &str, input: Value) -> Claude {
        let message = format!("m{}", self.rows.len());
        self.row(
            "assistant",
            json!({
                "id": message, "role": "assistant", "model": "model-x", "type": "message",
                "usage": { "input_tokens": 5, "output_tokens": 2 },
                "content": [{ "type": "tool_use", "id": id, "name": name, "input": input }],
            }),
        );
        self
    }

    pub(crate) fn returns(mut self, id: &str, text: &str, is_error: bool) -> Claude {
        self.row(
            "user",
            json!({ "role": "user", "content": [
                { "type": "tool_result", "tool_use_id": id, "content": text, "is_error": is_error }
            ]}),
        );
        self
    }

    pub(crate) fn place(&self, folder: &str) -> String {
        format!(".claude/projects/{folder}/{}.jsonl", self.id)
    }

    pub(crate) fn text(&self) -> String {
        lines(&self.rows)
    }
}

pub(crate) fn with_claude(home: Home, folder: &str, session: &Claude) -> Home {
    home.with_file(&session.place(folder), session.text())
}

/// A folder that is a project, with these files.
pub(crate) fn project(files: &[&str]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap().join("demo");
    std::fs::create_dir_all(&root).unwrap();
    for file in files {
        write(&root.join(file));
    }
    (folder, root)
}

pub(crate) fn write(path: &Path) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, "x").unwrap();
}
