//! Running `ibid` in a throw-away home.

use std::path::Path;
use std::process::{Command, Stdio};

pub(crate) use ibid_testkit::{Home, Snapshot};
pub(crate) use serde_json::Value;

/// A Codex session with a subagent.
pub(crate) const CODEX_PARENT: &str = "codex:01a22cab-62dd-7661-aa05-129331e50dbf";
/// Its subagent.
pub(crate) const CODEX_CHILD: &str = "codex:01a22cab-632a-7a92-bd10-64a8f204bce7";
/// A Codex session with a compaction.
pub(crate) const CODEX_COMPACTED: &str = "codex:01a22cab-6bf3-7f13-85ed-d92daa30eee0";
/// A pi session that uses every tool.
pub(crate) const PI_TOOLS: &str = "pi:01a22ca2-9faa-7568-a605-34a700f6656d";
/// A pi session with three branches.
pub(crate) const PI_BRANCHES: &str = "pi:01a22ca2-bdd6-73cf-8264-59ca6b8acd35";

/// What a run gave.
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) bytes: Vec<u8>,
}

impl Run {
    /// The JSON on stdout, with the version checked.
    pub(crate) fn json(&self) -> Value {
        let value: Value = serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("no JSON: {error}\n{}\n{}", self.stdout, self.stderr));
        assert_eq!(value["ibid"], 1);
        value
    }

    /// The same run, which must have ended with this code.
    pub(crate) fn ends(self, code: i32) -> Run {
        assert_eq!(self.code, code, "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }
}

/// A home with the sessions of Codex and pi.
pub(crate) fn home() -> Home {
    Home::new().with("codex", "0.171.0").with("pi", "1.6.0")
}

/// A home with the sessions of every harness that has a store.
pub(crate) fn full_home() -> Home {
    let cowork = if cfg!(target_os = "macos") {
        "Library/Application Support/Claude/local-agent-mode-sessions"
    } else if cfg!(windows) {
        "AppData/Roaming/Claude/local-agent-mode-sessions"
    } else {
        ".config/Claude/local-agent-mode-sessions"
    };
    let home = home().with("claude-code", "2.1.332").with("opencode", "1.18.33");
    home.with_tree("cowork/hand-written/local-agent-mode-sessions", cowork)
}

/// The program in a throw-away home.
pub(crate) fn command(home: &Home) -> Command {
    let mut command = program();
    command.arg("--home").arg(home.path());
    command
}

/// The program with nothing of this machine's environment but the search path.
pub(crate) fn program() -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("ibid"));
    command.env_clear().env("TZ", "UTC").env("LC_ALL", "C.UTF-8");
    for name in ["PATH", "SystemRoot", "LLVM_PROFILE_FILE", "TMPDIR", "TEMP", "TMP"] {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    command.stdin(Stdio::null());
    command
}

/// Runs it to its end.
pub(crate) fn finish(mut command: Command) -> Run {
    let output = command.output().expect("the program can be started");
    Run {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        bytes: output.stdout,
    }
}

/// Runs `ibid` with these arguments.
pub(crate) fn ibid<const N: usize>(home: &Home, arguments: [&str; N]) -> Run {
    let mut command = command(home);
    command.args(arguments);
    finish(command)
}

/// The stores of the harnesses in a home, without Ibid's own files.
pub(crate) fn stores(home: &Home) -> Vec<Snapshot> {
    [".codex", ".pi", ".claude", ".local/share/opencode", ".config/Claude"]
        .map(|store| Snapshot::of(&home.path().join(store)))
        .to_vec()
}

/// The path of a session's first carrier.
pub(crate) fn path_of(home: &Home, session: &str) -> String {
    let run = ibid(home, ["path", session]).ends(0);
    run.stdout.lines().next().expect("a session has a carrier").to_owned()
}

/// A Simple document with one exchange.
pub(crate) fn simple(home: &Home, name: &str, cwd: &Path, said: &str) -> String {
    let path = home.path().join(name);
    let text = serde_json::json!({
        "id": name.trim_end_matches(".json"),
        "cwd": cwd,
        "title": "A small talk",
        "messages": [
            {"role": "user", "content": said, "timestamp": "2026-07-01T10:00:00Z"},
            {"role": "assistant", "content": "Hello.", "timestamp": "2026-07-01T10:00:05Z", "model": "m-1"},
        ],
    });
    std::fs::write(&path, text.to_string()).expect("a file can be written");
    path.to_str().expect("a temporary path is Unicode").to_owned()
}
