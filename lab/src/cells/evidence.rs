//! The evidence host is asked about the directory that a program worked in.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};
use ibid_evidence::answer::{
    Access, CallStatus, Discovery, Observation, Observations, ProviderStatus, Summary,
};
use ibid_testkit::provider::Exchange;
use ibid_testkit::provider::wire::{Arguments, Said};
use serde_json::{Value, json};

use super::native::{last_turn, snapshot};
use super::{Cell, Kind, Notes, Side};
use crate::lab::{Lab, PICTURE_FILE};
use crate::pins::Age;
use crate::programs::{self, Driver};
use crate::sandbox::{self, Sandbox, Step, WORKSPACE};
use crate::source::Source;

/// How the files are called that the scripts of the provider have written.
const WRITTEN: &str = "mock-";

/// How the host shows that a picture came with a prompt.
const PICTURE_MARK: &str = "[image]";

/// What the script's command says that fails.
const FAILS: &str = "mock failure";

/// The cells of the programs in that age which are platforms of the evidence host.
pub(super) fn cells(age: Age) -> Vec<Cell> {
    let cell = |driver: &'static dyn Driver| {
        let source = Side::Program(driver, age);
        Cell::new(Kind::Evidence, "", source, None, move |lab, folder| prove(lab, folder, driver, age))
    };
    programs::every()
        .filter(|driver| age == Age::Latest || !driver.is_only_read())
        .filter(|driver| platform(*driver).is_some())
        .map(cell)
        .collect()
}

/// What the evidence host calls the program.
fn platform(driver: &dyn Driver) -> Option<&'static str> {
    Some(ibid_harness::find(driver.id())?.declaration().evidence?.name)
}

fn prove(lab: &Lab, folder: &Path, driver: &'static dyn Driver, age: Age) -> Result<Notes> {
    let platform = platform(driver).context("it is no platform of the evidence host")?;
    let source = lab.source(lab.program(driver.id(), age)?)?;
    let sandbox = lab.copy(&source.folder, folder)?;
    let before = snapshot(&sandbox.home())?;
    let found = ask(&sandbox, "sessions.discover", &json!({"workspace": WORKSPACE}))?;
    let sessions = found.get("sessions").cloned().unwrap_or_default();
    let discovery: Discovery = serde_json::from_value(found)?;
    for provider in &discovery.providers {
        let wanted =
            if provider.platform == platform { ProviderStatus::Ok } else { ProviderStatus::NoEvidence };
        ensure!(provider.status == wanted, "{} is reported as {:?}", provider.platform, provider.status);
    }
    let is_it = |summary: &&Summary| summary.platform == platform && summary.session_id == source.id;
    let summary = match discovery.sessions.iter().filter(is_it).collect::<Vec<_>>().as_slice() {
        [one] => *one,
        none_or_more => bail!("it is discovered {} times", none_or_more.len()),
    };
    said(summary, &source, driver)?;
    let of_subagents = match driver.subagents_are_parts() {
        true => source.log()?.iter().filter(|exchange| driver.subagent(exchange).is_some()).count(),
        false => 0,
    };
    done(summary, &last_turn(&source, driver)?, of_subagents)?;
    let workspace = sandbox.home().join("demo");
    let mut written = written(&workspace)?;
    let mut notes = Notes::new();
    if driver.writes_by_commands(age) {
        written.clear();
        notes.push("its files are written by commands, and none is observed as changed".to_owned());
    }
    observed(&discovery.observations, &format!("{platform}:{}", source.id), &workspace, &written)?;
    let again = json!({"workspace": WORKSPACE, "sessions": sessions});
    let again: Observations = serde_json::from_value(ask(&sandbox, "artifacts.observe", &again)?)?;
    ensure!(
        again.observations == discovery.observations,
        "`artifacts.observe` gives {} observations, and `sessions.discover` gave {}",
        again.observations.len(),
        discovery.observations.len()
    );
    ensure!(snapshot(&sandbox.home())? == before, "reading changed something in the home");
    Ok(notes)
}

/// Asks the host one thing, and lets it end.
fn ask(sandbox: &Sandbox, method: &str, params: &Value) -> Result<Value> {
    let frames = [
        json!({"version": 1, "id": 1, "method": method, "params": params}),
        json!({"version": 1, "id": 2, "method": "shutdown", "params": {}}),
    ];
    let mut launch = sandbox::ibid(&["host"]);
    launch.input = Some(frames.iter().map(|frame| format!("{frame}\n")).collect());
    let done = sandbox.run(vec![Step::Run(launch)], None)?;
    let said = done.first().context("nothing ran")?.well("ibid host")?;
    let replies: Vec<Value> = said.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    let [reply, _] = replies.as_slice() else { bail!("{} replies came to two frames", replies.len()) };
    match reply.get("result") {
        Some(result) if reply.get("id") == Some(&json!(1)) => Ok(result.clone()),
        _ => bail!("{method} is answered {reply}"),
    }
}

/// Whether the summary says who said what, and when.
fn said(summary: &Summary, source: &Source, driver: &dyn Driver) -> Result<()> {
    let named = driver.names_picture(PICTURE_FILE);
    let is_picture = |line: &&str| *line == PICTURE_MARK || Some(*line) == named.as_deref();
    let typed = |text: &str| text.lines().filter(|line| !is_picture(line)).collect::<Vec<_>>().join("\n");
    let prompts: Vec<String> = summary.prompts.iter().map(|prompt| typed(&prompt.text)).collect();
    ensure!(prompts == source.prompts, "the prompts are {prompts:?}");
    ensure!(
        summary.prompt_count as usize == source.prompts.len(),
        "{} prompts are counted as {}",
        source.prompts.len(),
        summary.prompt_count
    );
    let time = |time: &Option<String>| -> Result<jiff::Timestamp> {
        Ok(time.as_deref().context("it has no time")?.parse()?)
    };
    let (first, last) = (time(&summary.first_seen)?, time(&summary.last_seen)?);
    let (from, to) = source.times;
    ensure!(
        from <= first && first < last && last <= to,
        "it was seen from {first} to {last}, and ran from {from} to {to}"
    );
    Ok(())
}

/// Whether the summary says what the model did: its messages, its calls with their names, and how
/// they ended. The last request holds all of it but the last answer, and those of subagents.
fn done(summary: &Summary, last: &Exchange, of_subagents: usize) -> Result<()> {
    let (mut calls, mut answers, mut speaks) = (Vec::new(), 1 + of_subagents, false);
    for spoken in last.said() {
        let model = matches!(spoken.said, Said::Assistant(_) | Said::Thinking { .. } | Said::Call { .. });
        answers += usize::from(model && !speaks);
        speaks = model;
        if let Said::Call { name, arguments, .. } = spoken.said {
            let fails = match arguments {
                Arguments::Json(value) => value.to_string(),
                Arguments::Text(text) => text,
            };
            calls.push((name, fails.contains(FAILS)));
        }
    }
    ensure!(
        summary.assistant_message_count as usize == answers,
        "{answers} answers of the model are counted as {}",
        summary.assistant_message_count
    );
    let activity = summary.tool_activity.as_ref().context("it has no tool activity")?;
    let names: Vec<&str> = activity.calls.iter().map(|call| call.tool_name.as_str()).collect();
    let called: Vec<&str> = calls.iter().map(|(name, _)| name.as_str()).collect();
    ensure!(names == called, "{called:?} were called, and {names:?} are in the summary");
    ensure!(
        summary.tool_call_count as usize == calls.len(),
        "{} calls are counted as {}",
        calls.len(),
        summary.tool_call_count
    );
    ensure!(calls.iter().any(|(_, fails)| *fails), "no call failed");
    for (call, (name, fails)) in activity.calls.iter().zip(&calls) {
        let ended = match fails {
            true => call.status == CallStatus::Failed,
            false => matches!(call.status, CallStatus::Completed | CallStatus::Returned),
        };
        ensure!(ended, "the call {} of {name} is said to be {:?}", call.id, call.status);
    }
    let model =
        last.body.as_ref().and_then(|body| body.get("model")).and_then(Value::as_str).unwrap_or_default();
    ensure!(
        summary.models.iter().any(|said| said.ends_with(model)),
        "the model was {model}, and the models are {:?}",
        summary.models
    );
    Ok(())
}

/// The names of the files that the scripts of the provider have written.
fn written(workspace: &Path) -> Result<BTreeSet<String>> {
    let mut written = BTreeSet::new();
    for entry in fs::read_dir(workspace)?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with(WRITTEN) {
            written.insert(name);
        }
    }
    ensure!(!written.is_empty(), "the session wrote no file");
    Ok(written)
}

/// Whether the files that the session wrote are observed as changed by it and no others, and all
/// that is observed is a file.
fn observed(
    observations: &[Observation],
    session: &str,
    workspace: &Path,
    written: &BTreeSet<String>,
) -> Result<()> {
    let changed: BTreeSet<String> = observations
        .iter()
        .filter(|observation| observation.access == Access::Change && observation.session_id == session)
        .map(|observation| observation.relative_path.clone())
        .collect();
    ensure!(changed == *written, "{written:?} were written, and {changed:?} are observed as changed");
    for observation in observations {
        let path = workspace.join(&observation.relative_path);
        ensure!(path.is_file(), "{} is observed, and no file", observation.relative_path);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn last() -> Exchange {
        let call = |id: &str, command: &str| {
            let arguments = json!({ "command": command }).to_string();
            json!({"role": "assistant", "content": null, "tool_calls": [
                {"id": id, "type": "function", "function": {"name": "bash", "arguments": arguments}},
            ]})
        };
        let result = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": "said"});
        let messages = [
            json!({"role": "user", "content": "Do it"}),
            call("call_1", "echo hello"),
            result("call_1"),
            call("call_2", "echo mock failure >&2; exit 3"),
            result("call_2"),
        ];
        let body = json!({"model": "a-model", "messages": messages});
        let exchange = json!({"number": 1, "time": "2026-01-01T00:00:00Z", "method": "POST",
            "path": "/v1/chat/completions", "headers": [], "body": body});
        serde_json::from_value(exchange).unwrap()
    }

    fn summary() -> Value {
        json!({"sessionId": "one", "platform": "codex", "assistantMessageCount": 3, "toolCallCount": 2,
        "models": ["a-model"], "toolActivity": {"calls": [
            {"id": "call_1", "toolName": "bash", "status": "completed"},
            {"id": "call_2", "toolName": "bash", "status": "failed"},
        ]}})
    }

    fn told(summary: &Value) -> Result<()> {
        done(&serde_json::from_value(summary.clone())?, &last(), 0)
    }

    #[test]
    fn a_summary_that_says_what_was_done_passes() {
        told(&summary()).unwrap();
    }

    #[test]
    fn another_count_name_end_or_model_is_seen() {
        for (place, wrong) in [
            ("/assistantMessageCount", json!(2)),
            ("/toolCallCount", json!(3)),
            ("/toolActivity/calls/0/toolName", json!("shell")),
            ("/toolActivity/calls/0/status", json!("observed")),
            ("/toolActivity/calls/0/status", json!("failed")),
            ("/toolActivity/calls/1/status", json!("returned")),
            ("/models/0", json!("another")),
        ] {
            let mut summary = summary();
            *summary.pointer_mut(place).unwrap() = wrong;
            assert!(told(&summary).is_err(), "{place}");
        }
    }

    #[test]
    fn only_the_files_that_were_written_may_be_observed_as_changed() {
        let workspace = tempfile::tempdir().unwrap();
        for name in ["mock-1.txt", "README.md"] {
            fs::write(workspace.path().join(name), "a line\n").unwrap();
        }
        let observation = |name: &str, access| Observation {
            relative_path: name.to_owned(),
            session_id: "codex:one".to_owned(),
            saved_at: String::new(),
            prompt: String::new(),
            provider: None,
            access,
        };
        let names = written(workspace.path()).unwrap();
        let judge =
            |observations: &[Observation]| observed(observations, "codex:one", workspace.path(), &names);
        let written = observation("mock-1.txt", Access::Change);
        judge(&[written.clone(), observation("README.md", Access::Read)]).unwrap();
        for wrong in [
            vec![],
            vec![observation("mock-1.txt", Access::Read)],
            vec![written.clone(), observation("README.md", Access::Change)],
            vec![written.clone(), observation("gone.txt", Access::Read)],
        ] {
            assert!(judge(&wrong).is_err(), "{wrong:?}");
        }
    }
}
