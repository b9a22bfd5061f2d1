//! Ibid's plugin is installed in a program, the program announces a session, and everything is taken back.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Value, json};

use super::{Cell, Kind, Notes, Side};
use crate::lab::Lab;
use crate::pins::Age;
use crate::programs::{DRIVERS, Program, Prompt, Trust};
use crate::sandbox::{self, Launch, Provider, Sandbox, Step, WORKSPACE};
use crate::source::{LOG, ibid_json};

/// Stands in the prompt, and in the answers, which repeat it.
const MARK: &str = "planted-3f9c";

/// Files that hold what was set in a program, by the end of their names; what it keeps is in others.
const SETTINGS: [&str; 6] = [".json", ".jsonc", ".toml", ".js", ".ts", ".mjs"];

/// The cells of every program that Ibid writes for.
pub(super) fn cells() -> Vec<Cell> {
    let cell = |driver| {
        let source = Side::Program(driver, Age::Latest);
        Cell::new(Kind::Lifecycle, "", source, None, move |lab, folder| {
            let program = lab.side(source)?;
            let plugin = driver.plugin().context("it has no plugin")?;
            prove(lab, folder, program, plugin.profile, plugin.settings)
        })
    };
    DRIVERS.into_iter().filter(|driver| driver.plugin().is_some()).map(cell).collect()
}

fn prove(lab: &Lab, folder: &Path, program: &Program, profile: &str, settings: &str) -> Result<Notes> {
    let sandbox = lab.copy(&lab.base(program)?, folder)?;
    let settings = sandbox.home().join(settings);
    let before = configuration(&settings)?;
    manage(&sandbox, program, &["install", profile])?;
    let state = state(&sandbox, profile)?;
    ensure!(state == "installed", "the plugin is {state} when it was installed");
    let trusted = trust(&sandbox, program)?;

    let id = converse(&sandbox, program)?;
    let record = ibid_json(&sandbox, &["explain", &format!("{}:{id}", program.driver.id())])?;
    joined(&record, program, &id)?;
    nothing_said(&sandbox.home().join(".local/share/ibid"))?;

    let taken_back = manage(&sandbox, program, &["uninstall", profile])?;
    let listed = taken_back.get("left").map(Value::to_string).unwrap_or_default();
    same_configuration(&before, &configuration(&settings)?, &trusted, &listed)
}

/// Runs `ibid plugin`, with the program and its Node where they are found.
fn manage(sandbox: &Sandbox, program: &Program, arguments: &[&str]) -> Result<Value> {
    let as_started = program.start(Vec::new());
    let executable = as_started.words.first().context("a program without words")?;
    let mut all = vec!["plugin"];
    all.extend(arguments);
    all.extend(["--yes", "--json", "--program", executable.as_str()]);
    let launch = Launch { path: as_started.path.clone(), ..sandbox::ibid(&all) };
    let done = sandbox.run(vec![Step::Run(launch)], None)?;
    let printed = done.first().context("nothing ran")?.well(&format!("ibid {}", all.join(" ")))?;
    Ok(serde_json::from_str(printed)?)
}

/// How the plugin stands, as `ibid plugin status` says.
fn state(sandbox: &Sandbox, profile: &str) -> Result<String> {
    let status = ibid_json(sandbox, &["plugin", "status", profile])?;
    let plugin = status.pointer("/plugins/0").context("a status without plugins")?;
    let said = |key: &str| plugin.get(key).and_then(Value::as_str);
    ensure!(said("profile") == Some(profile), "the status is of another plugin: {plugin}");
    Ok(said("state").unwrap_or_default().to_owned())
}

/// Trusts the hooks in the person's place, where the program runs none without: what it shows of
/// them goes into its configuration. Returns what was written. Nothing of Ibid does this.
fn trust(sandbox: &Sandbox, program: &Program) -> Result<String> {
    let Some(Trust { file, arguments }) = program.driver.trust() else { return Ok(String::new()) };
    let mut launch = program.start(arguments);
    let ask = |id: u32, method: &str, params: Value| {
        json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
    };
    let client = json!({"clientInfo": {"name": "lab", "title": "lab", "version": "0"}});
    let initialized = json!({"jsonrpc": "2.0", "method": "initialized"}).to_string();
    let hooks = ask(2, "hooks/list", json!({"cwds": [WORKSPACE]}));
    launch.input = Some([ask(1, "initialize", client), initialized, hooks, String::new()].join("\n"));
    let done = sandbox.run(vec![Step::Run(launch)], None)?;
    let printed = &done.first().context("nothing ran")?.stdout;
    let answers = printed.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let answer = answers.into_iter().find(|answer| answer.get("id") == Some(&json!(2)));
    let answer = answer.context("the program does not say which hooks it has")?;
    let hooks = answer.pointer("/result/data/0/hooks").and_then(Value::as_array);
    let mut written = String::new();
    for hook in hooks.context("the program knows no hooks")? {
        let text = |key: &str| hook.get(key).and_then(Value::as_str).context("a hook without its key");
        ensure!(
            text("trustStatus")? == "untrusted",
            "a hook is {} before it was trusted",
            text("trustStatus")?
        );
        let (definition, content) = text("currentHash")?.split_once('/').context("a hash of one part")?;
        let key = Value::from(text("key")?);
        written.push_str(&format!(
            "\n[hooks.state.{key}]\ntrusted_hash = \"{definition}\"\ntrusted_content_hash = \"{content}\"\n"
        ));
    }
    ensure!(!written.is_empty(), "the program knows no hooks");
    let path = sandbox.home().join(file);
    fs::write(&path, fs::read_to_string(&path)? + &written)?;
    Ok(written)
}

/// Lets the program answer one prompt, with a subagent where it has them; returns the session.
fn converse(sandbox: &Sandbox, program: &Program) -> Result<String> {
    let subagents = program.driver.has_subagents(program.age);
    let word = if subagents { "do-subagent" } else { "do-work" };
    let text = format!("{word} please: {MARK}");
    let step = Step::Run(program.ask(&Prompt { text: &text, picture: None, subagents }, None));
    let provider = Provider { log: LOG.to_owned(), strict: true, context: None };
    let done = sandbox.run(vec![step], Some(provider))?;
    let printed = done.first().context("nothing ran")?.well("the run with the plugin")?;
    program.driver.session_of(printed).context("it does not say which session it made")
}

/// Whether the lanes tell the same of the session, and of the one prompt and its subagent.
fn joined(record: &Value, program: &Program, id: &str) -> Result<()> {
    let said =
        |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let rows = |key: &str| record.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
    ensure!(
        record.pointer("/session/id").and_then(Value::as_str) == Some(id),
        "another session is explained"
    );
    let facts = rows("facts");
    for name in ["id", "cwd"] {
        let fact = facts.iter().find(|fact| said(fact, "name") == name).context("a fact is missing")?;
        ensure!(said(fact, "verdict") == "agree", "the lanes do not agree about `{name}`: {fact}");
    }
    for fact in &facts {
        ensure!(said(fact, "verdict") != "disagree", "the lanes disagree: {fact}");
    }
    let both = json!(["at-rest", "lifecycle"]);
    let turns = rows("turns");
    let [turn] = turns.as_slice() else { bail!("one prompt was given, and there are {} turns", turns.len()) };
    ensure!(turn.get("lanes") == Some(&both), "the turn is not known to both lanes: {turn}");
    ensure!(said(turn, "state") == "ended", "the turn is {}", said(turn, "state"));
    let subagents = rows("subagents");
    let expected = usize::from(program.driver.has_subagents(program.age));
    ensure!(subagents.len() == expected, "{expected} subagents ran, and {} are told", subagents.len());
    for subagent in &subagents {
        ensure!(subagent.get("lanes") == Some(&both), "the subagent is not known to both lanes: {subagent}");
        let tied = |lane: &str| subagent.pointer(&format!("/turn/{lane}/turn")).cloned();
        let number = turn.get("number").cloned();
        ensure!(
            tied("at_rest").or_else(|| tied("lifecycle")) == number && tied("lifecycle") == number,
            "the subagent is not tied to the turn that spawned it: {subagent}"
        );
    }
    Ok(())
}

/// Whether nothing that was said is in Ibid's own folder.
fn nothing_said(folder: &Path) -> Result<()> {
    let files = files_below(folder, &|_| true)?;
    ensure!(files.keys().any(|name| name.starts_with("lifecycle/")), "there is no journal");
    for (name, bytes) in files {
        for mark in [MARK, "MOCK-REPLY"] {
            let found = bytes.windows(mark.len()).any(|window| window == mark.as_bytes());
            ensure!(!found, "`{mark}` stands in {name} of Ibid's folder");
        }
    }
    Ok(())
}

/// Whether what was set is as it was, byte for byte. What differs must be listed, and be no more
/// than the trust.
fn same_configuration(
    before: &BTreeMap<String, Vec<u8>>,
    after: &BTreeMap<String, Vec<u8>>,
    trusted: &str,
    listed: &str,
) -> Result<Notes> {
    let mut notes = Notes::new();
    for (name, bytes) in before {
        let now = after.get(name).with_context(|| format!("{name} is gone"))?;
        if now == bytes {
            continue;
        }
        let with_trust = [bytes.as_slice(), trusted.as_bytes()].concat();
        ensure!(*now == with_trust, "{name} is not as it was: {}", String::from_utf8_lossy(now));
        ensure!(listed.contains(name.as_str()), "{name} has the trust in it, and is not listed: {listed}");
        notes.push(format!("{name} keeps the trust that was given, which is listed"));
    }
    for name in after.keys().filter(|name| !before.contains_key(*name)) {
        ensure!(!name.contains("ibid"), "{name} stays");
    }
    Ok(notes)
}

/// The files in which something is set, by their path below the folder.
fn configuration(folder: &Path) -> Result<BTreeMap<String, Vec<u8>>> {
    files_below(folder, &|name| SETTINGS.iter().any(|end| name.ends_with(end)))
}

fn files_below(folder: &Path, wanted: &dyn Fn(&str) -> bool) -> Result<BTreeMap<String, Vec<u8>>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        if !next.is_dir() {
            continue;
        }
        for entry in fs::read_dir(&next)?.flatten() {
            let path = entry.path();
            let name = path.strip_prefix(folder)?.display().to_string();
            if entry.file_type()?.is_dir() {
                folders.push(path);
            } else if wanted(&name) {
                files.insert(name, fs::read(&path)?);
            }
        }
    }
    Ok(files)
}
