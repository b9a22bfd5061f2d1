//! The plugins for programs that run no hook commands: their text, and what they do under Node
//! with a program that is played by a script.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test states what it expects"
)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use ibid_harness::core::capture;
use ibid_harness::core::plugin::{HOOK_WORDS, Plugin, Slot, fill};

/// The text of the plugin of a profile, with its slot.
fn template(profile: &str) -> &'static str {
    let (_, profile) = capture::profile(profile).unwrap();
    match profile.plugin {
        Plugin::BundledExtension(extension) => extension.files[0].template,
        ref other => panic!("{other:?}"),
    }
}

/// The code of a plugin, without the comments, which may speak of what the code must not do.
fn code(profile: &str) -> String {
    template(profile)
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn each_has_one_slot_which_becomes_the_words_of_the_command() {
    for profile in ["opencode", "pi"] {
        assert_eq!(template(profile).matches("__IBID_").count(), 1, "{profile}");
        let words = ["/opt/my \"ibid\"\u{2028}".to_owned(), "__IBID_HOOK_WORDS__".to_owned()];
        let filled = fill(template(profile), &[(HOOK_WORDS, Slot::Words(&words))]).unwrap();
        assert!(filled.contains(r#"["/opt/my \"ibid\"\u2028", "__IBID_HOOK_WORDS__"]"#), "{profile}");
    }
}

#[test]
fn none_names_an_endpoint_prints_or_reads_what_was_said() {
    for profile in ["opencode", "pi"] {
        let code = code(profile);
        for forbidden in [
            "http",
            "127.",
            "localhost",
            "fetch(",
            "WebSocket",
            "console",
            "process.env",
            "process.stdout",
            ".prompt",
            ".content",
            ".images",
            ".title",
            ".args",
            "messages",
        ] {
            assert!(!code.contains(forbidden), "{profile}: {forbidden}");
        }
        // `report.text()` is the plugin's own.
        assert_eq!(code.matches(".text").count(), code.matches("report.text()").count(), "{profile}");
    }
    // Of the parts of a prompt nothing but their mark is read.
    let opencode = code("opencode");
    let reads: Vec<&str> = opencode.lines().filter(|line| line.contains("parts")).collect();
    assert_eq!(reads.len(), 1, "{reads:?}");
    assert!(reads[0].contains("output.parts.every((part) => part.synthetic === true)"));
    assert_eq!(reads[0].matches("part.").count(), 1);
}

#[test]
fn the_queue_is_the_same_text_in_both() {
    let queue = |profile: &str| {
        let (_, behind) = template(profile).split_once("// From here to the next mark").unwrap();
        behind.split_once("// To here.").unwrap().0
    };
    assert_eq!(queue("opencode"), queue("pi"));
}

/// The program that runs plugins; a test that needs it is skipped by name without it.
fn node() -> Option<PathBuf> {
    let node = std::env::var_os("IBID_NODE").map_or_else(|| PathBuf::from("node"), PathBuf::from);
    let version = Command::new(&node).arg("--version").output().ok()?;
    let version = String::from_utf8_lossy(&version.stdout).trim_start_matches('v').to_owned();
    let major: u32 = version.split('.').next()?.parse().ok()?;
    (major >= 22).then_some(node)
}

/// A folder with the two plugins, a hook command, and what it recorded.
struct Stage {
    folder: tempfile::TempDir,
    node: PathBuf,
}

impl Stage {
    /// The hook is a shell script; none when it is to be missing.
    fn with_hook(hook: Option<&str>) -> Option<Stage> {
        let Some(node) = node() else {
            eprintln!("skipped: there is no Node 22 or newer (IBID_NODE)");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("hook");
        let recorded = folder.path().join("recorded");
        if let Some(hook) = hook {
            let script = format!("#!/bin/sh\nRECORDED='{}'\n{hook}\n", recorded.display());
            fs::write(&program, script).unwrap();
            fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).unwrap();
        }
        let words = [program.to_str().unwrap().to_owned(), "hook".to_owned()];
        for (profile, names) in [("opencode", ["one.mjs", "two.mjs"]), ("pi", ["one.ts", "two.ts"])] {
            let text = fill(template(profile), &[(HOOK_WORDS, Slot::Words(&words))]).unwrap();
            for name in names {
                fs::write(folder.path().join(name), &text).unwrap();
            }
        }
        Some(Stage { folder, node })
    }

    fn run(&self, script: &str) -> Output {
        let path = self.folder.path().join("program.mjs");
        fs::write(&path, script).unwrap();
        Command::new(&self.node)
            .args(["--experimental-strip-types", "--disable-warning=ExperimentalWarning"])
            .arg(path)
            .current_dir(self.folder.path())
            .output()
            .unwrap()
    }

    fn recorded(&self) -> Vec<serde_json::Value> {
        recorded(&self.folder.path().join("recorded"))
    }
}

fn recorded(path: &Path) -> Vec<serde_json::Value> {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Records its input, the first slower than those behind it.
const RECORDS: &str = r#"[ -e "$RECORDED" ] || sleep 0.2
input=$(cat); printf '%s\n' "$input" >> "$RECORDED""#;

/// A program that announces a root with a subagent, in which reading any text ends it with an error.
const OPENCODE: &str = r#"
import { IbidLifecycle as one } from "./one.mjs"
import { IbidLifecycle as two } from "./two.mjs"
const secret = (object) => new Proxy(object, { get(target, key) {
  if (["text", "title", "prompt", "toJSON"].includes(key)) { process.exitCode = 9 }
  return target[key] } })
const context = { directory: "/w", client: { session: { get: async ({ path }) => ({ data: { id: path.id } }) } } }
const plugins = [await one(context), await two(context)]
const event = async (type, properties) => { for (const plugin of plugins) await plugin.event({ event: { type, properties } }) }
const prompt = async (sessionID, id, synthetic) => {
  const output = { message: { id, agent: "build", model: { modelID: "m", providerID: "p" } }, parts: [secret({ type: "text", text: "SECRET", synthetic })] }
  for (const plugin of plugins) await plugin["chat.message"]({ sessionID }, output)
}
"#;

#[test]
fn opencode_announces_each_boundary_once_and_in_order_though_loaded_twice() {
    let Some(stage) = Stage::with_hook(Some(RECORDS)) else { return };
    let script = format!(
        r#"{OPENCODE}
await event("session.created", {{ info: secret({{ id: "root", title: "SECRET", directory: "/d" }}) }})
await prompt("root", "msg1")
await event("message.part.updated", {{ part: secret({{ text: "SECRET" }}) }})
await event("session.created", {{ info: secret({{ id: "child", parentID: "root", agent: "general" }}) }})
await prompt("child", "msg2")
await event("session.idle", {{ sessionID: "child" }})
await event("session.compacted", {{ sessionID: "root" }})
await prompt("root", "msg3", true)
await event("message.updated", {{ info: secret({{ role: "assistant", sessionID: "root", parentID: "msg1" }}) }})
await event("session.idle", {{ sessionID: "root" }})
await prompt("resumed", "msg4")
for (const plugin of plugins) await plugin.dispose()
"#
    );
    let output = stage.run(&script);
    assert!(output.status.success(), "{output:?}");
    assert!(output.stdout.is_empty() && output.stderr.is_empty(), "{output:?}");
    let recorded = stage.recorded();
    let short: Vec<String> = recorded
        .iter()
        .map(|report| {
            ["event", "session_id", "parent_id", "root_id", "message_id", "origin"]
                .map(|key| report[key].as_str().unwrap_or("-").to_owned())
                .join(" ")
        })
        .collect();
    assert_eq!(
        short,
        [
            "session.created root - root - -",
            "chat.message root - root msg1 person",
            "session.created child root root - -",
            "chat.message child root root msg2 person",
            "session.idle child root root msg2 -",
            "session.compacted root - root msg1 -",
            "chat.message root - root msg3 harness",
            "session.idle root - root msg1 -",
            "chat.message resumed - resumed msg4 person",
        ]
    );
    assert!(!fs::read_to_string(stage.folder.path().join("recorded")).unwrap().contains("SECRET"));
}

#[test]
fn opencode_reports_what_is_left_when_the_program_ends_at_once() {
    let Some(stage) = Stage::with_hook(Some(RECORDS)) else { return };
    let script = format!(
        r#"{OPENCODE}
await event("session.created", {{ info: {{ id: "root" }} }})
for (let at = 0; at < 5; at++) await prompt("root", "msg" + at)
process.exit(0)
"#
    );
    assert!(stage.run(&script).status.success());
    let turns: Vec<_> = stage
        .recorded()
        .iter()
        .filter_map(|report| report["message_id"].as_str().map(str::to_owned))
        .collect();
    assert_eq!(turns, ["msg0", "msg1", "msg2", "msg3", "msg4"]);
}

#[test]
fn a_parent_that_nobody_knows_stays_unknown() {
    let Some(stage) = Stage::with_hook(Some(RECORDS)) else { return };
    let script = format!(
        r#"{OPENCODE}
context.client.session.get = () => {{ throw new Error("no answer") }}
await event("session.created", {{ info: {{ id: "child", parentID: "gone" }} }})
for (const plugin of plugins) await plugin.dispose()
"#
    );
    assert!(stage.run(&script).status.success());
    let recorded = stage.recorded();
    assert_eq!(
        (&recorded[0]["parent_id"], &recorded[0]["root_id"]),
        (&"gone".into(), &serde_json::Value::Null)
    );
}

#[test]
fn a_hook_that_is_missing_or_hangs_is_not_noticed() {
    for (hook, longest) in [(None, 3), (Some("sleep 60"), 10)] {
        let Some(stage) = Stage::with_hook(hook) else { return };
        let script = format!(
            r#"{OPENCODE}
const before = Date.now()
await event("session.created", {{ info: {{ id: "root" }} }})
for (let at = 0; at < 1000; at++) await prompt("root", "msg" + at)
if (Date.now() - before > 1000) process.exitCode = 8
for (const plugin of plugins) await plugin.dispose()
process.exit()
"#
        );
        let began = Instant::now();
        let output = stage.run(&script);
        assert!(output.status.success(), "{hook:?}: {output:?}");
        assert!(output.stdout.is_empty() && output.stderr.is_empty(), "{hook:?}: {output:?}");
        assert!(began.elapsed() < Duration::from_secs(longest), "{hook:?}: {:?}", began.elapsed());
    }
}

#[test]
fn pi_announces_each_boundary_once_and_in_order_though_loaded_twice_and_again() {
    let Some(stage) = Stage::with_hook(Some(RECORDS)) else { return };
    let output = stage.run(
        r#"
import one from "./one.ts"
import two from "./two.ts"
const secret = (object) => new Proxy(object, { get(target, key) {
  if (["text", "prompt", "images", "messages", "content", "toJSON"].includes(key)) process.exitCode = 9
  return target[key] } })
let leaf = { id: "e0", type: "model_change" }
let idle = true
const load = () => {
  const handlers = []
  for (const factory of [one, two]) factory({ on: (name, handle) => handlers.push([name, handle]) })
  return async (type, more, id = "s1") => {
    const event = secret({ type, text: "SECRET", ...more })
    const ctx = { cwd: "/w", isIdle: () => idle, model: { id: "m", provider: "p" }, sessionManager: { getSessionId: () => id, getSessionFile: () => undefined, getLeafId: () => leaf.id, getLeafEntry: () => leaf } }
    for (const [name, handle] of handlers) if (name === type) await handle(event, ctx)
  }
}
let emit = load()
await emit("session_start", { reason: "startup" })
await emit("input", { source: "interactive" })
leaf = { id: "e1", type: "message", message: secret({ role: "user", content: "SECRET" }) }
await emit("context", { messages: "SECRET" })
await emit("input", { source: "rpc", streamingBehavior: "steer" })
idle = false
await emit("input", { source: "rpc" })
leaf = { id: "e9", type: "message", message: secret({ role: "user", content: "SECRET" }) }
await emit("context", { messages: "SECRET" })
idle = true
leaf = { id: "e2", type: "message", message: secret({ role: "assistant", content: "SECRET" }) }
await emit("context", { messages: "SECRET" })
await emit("agent_end", {})
await emit("agent_settled", { aborted: false })
await emit("session_compact", { reason: "manual", compactionEntry: "SECRET" })
await emit("session_shutdown", { reason: "new" })
emit = load()
await emit("session_start", { reason: "new" }, "s2")
await emit("input", { source: "extension" }, "s2")
await emit("session_shutdown", { reason: "quit" }, "s2")
"#,
    );
    assert!(output.status.success(), "{output:?}");
    assert!(output.stdout.is_empty() && output.stderr.is_empty(), "{output:?}");
    let short: Vec<String> = stage
        .recorded()
        .iter()
        .map(|report| {
            ["event", "session_id", "reason", "source", "entry_id", "session_file"]
                .map(|key| report[key].as_str().unwrap_or("-").to_owned())
                .join(" ")
        })
        .collect();
    assert_eq!(
        short,
        [
            "session_start s1 startup - - -",
            "input s1 - interactive e1 -",
            "input s1 - rpc - -",
            "input s1 - rpc - -",
            "agent_settled s1 - - e1 -",
            "session_compact s1 manual - - -",
            "session_shutdown s1 new - - -",
            "session_start s2 new - - -",
            "input s2 - extension - -",
            "session_shutdown s2 quit - - -",
        ]
    );
    assert!(!fs::read_to_string(stage.folder.path().join("recorded")).unwrap().contains("SECRET"));
}
