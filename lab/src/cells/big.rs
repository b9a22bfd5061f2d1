//! Long sessions.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::BufWriter;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use ibid_model::{Role, Session};
use ibid_testkit::big::{Subject, claude_session, codex_session};
use ibid_testkit::provider::wire::{Said, Spoken};
use serde_json::json;

use super::resume::{NEXT, new_id, resume_by};
use super::{Cell, Kind, Notes, Side};
use crate::check::{self, Sent};
use crate::lab::Lab;
use crate::pins::Age;
use crate::programs::{DRIVERS, Program, Prompt};
use crate::sandbox::{OUT, Provider, Sandbox, Step, WORKSPACE};
use crate::source::{Found, find, find_file, ibid_json, read_log};

/// How many messages the session has that is long and still fits.
const MESSAGES: usize = 2000;

/// How large the session is that does not fit, in bytes.
const BYTES: u64 = 20_000_000;

/// How many of its last texts the program must send.
const LAST: usize = 3;

/// How long a program may take over it, in seconds.
const LIMIT: u64 = 240;

/// How much the provider takes when it does not take everything, in tokens.
const CONTEXT: u64 = 1_000_000;

const LOG: &str = "big.jsonl";

/// The cells of every program in that age.
pub(super) fn cells(age: Age) -> Vec<Cell> {
    let many = |driver| {
        let target = Side::Program(driver, age);
        let source = Side::Material("simple");
        Cell::new(Kind::Big, "2000 messages", source, Some(target), move |lab, folder| {
            many_messages(lab, folder, lab.side(target)?)
        })
    };
    let large = |driver| {
        let target = Side::Program(driver, age);
        let source = Side::Material("generated");
        Cell::new(Kind::Big, "20 MB", source, Some(target), move |lab, folder| {
            too_large(lab, folder, lab.side(target)?)
        })
    };
    DRIVERS.into_iter().map(many).chain(DRIVERS.into_iter().map(large)).collect()
}

/// A document of many short messages. Everything must be sent.
fn many_messages(lab: &Lab, folder: &Path, to: &Program) -> Result<Notes> {
    let sandbox = lab.copy(&lab.base(to)?, folder)?;
    let messages = (1..=MESSAGES / 2).flat_map(|n| {
        let question = format!("Question {n}: how many dots does row {n} have?");
        let answer = format!("Row {n} has {} dots, if nobody took one away.", n * 7 % 1009);
        [json!({"role": "user", "content": question}), json!({"role": "assistant", "content": answer})]
    });
    let document = json!({"cwd": WORKSPACE, "messages": messages.collect::<Vec<_>>()});
    let path = sandbox.out().join("document.json");
    fs::write(&path, document.to_string())?;
    let session = find_file(&path, "simple")?;
    let inside = format!("{OUT}/document.json");
    let converted = ibid_json(&sandbox, &["import", &inside, "--to", to.driver.id()])?;
    patiently(&sandbox, to, &new_id(&converted)?)?;
    let log = sandbox.out().join(LOG);
    check::all_sent(&Sent { session: &session, converted: &converted, program: to, prompt: NEXT, log: &log })
}

/// Lets a program resume a session, and gives it more time than for a short one.
fn patiently(sandbox: &Sandbox, program: &Program, id: &str) -> Result<()> {
    let mut launch = program.ask(&Prompt { text: NEXT, ..Prompt::default() }, Some(id));
    launch.seconds = LIMIT;
    resume_by(sandbox, program, launch, id, LOG)
}

/// A session that no context window holds. The program must open the one that it was asked for,
/// send its end, and leave what is there as it is; also when the provider says that it is too long.
fn too_large(lab: &Lab, folder: &Path, to: &Program) -> Result<Notes> {
    let sandbox = lab.copy(&lab.base(to)?, folder)?;
    let (harness, id) = generate(&sandbox, to)?;
    let name = format!("{harness}:{id}");
    let converted = ibid_json(&sandbox, &["convert", &name, "--to", to.driver.id()])?;
    let id = new_id(&converted)?;
    let before = find(&sandbox.home(), to.driver.id(), &id)?;
    let refused = lab.copy(folder, &folder.join("refused"))?;
    patiently(&sandbox, to, &id)?;
    intact(&before, &find(&sandbox.home(), to.driver.id(), &id)?)?;
    let texts = texts(&before.session);
    let log = sandbox.out().join(LOG);
    let sent = sent_of(&check::request(&log, NEXT)?, &texts)?;
    let mut notes = vec![format!("{sent} of its {} texts were sent", texts.len())];
    notes.push(when_refused(&refused, to, &id, &before)?);
    Ok(notes)
}

/// How many of the texts a request holds. The last ones must be among them.
fn sent_of(said: &[Spoken], texts: &[&str]) -> Result<usize> {
    let sent: HashSet<&str> = said
        .iter()
        .filter_map(|spoken| match &spoken.said {
            Said::User(text) | Said::Assistant(text) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    let is_sent = |text: &&str| sent.contains(*text) || sent.iter().any(|sent| sent.contains(*text));
    for text in texts.iter().rev().take(LAST) {
        let begin: String = text.chars().take(60).collect();
        ensure!(is_sent(text), "one of the last texts was not sent: {begin}");
    }
    Ok(texts.iter().filter(|text| is_sent(text)).count())
}

/// What the program does when the provider refuses the session as too long, in one sentence. It may
/// give up; it may not open another session, or take anything away.
fn when_refused(sandbox: &Sandbox, to: &Program, id: &str, before: &Found) -> Result<String> {
    let mut launch = to.ask(&Prompt { text: NEXT, ..Prompt::default() }, Some(id));
    launch.seconds = LIMIT;
    let provider = Provider { log: LOG.to_owned(), strict: true, context: Some(CONTEXT) };
    let done = sandbox.run(vec![Step::Run(launch)], Some(provider))?;
    let done = done.first().context("nothing ran")?;
    let said = to.driver.session_of(&done.stdout);
    ensure!(
        said.is_none() || said.as_deref() == Some(id),
        "when it is too long, it works in another session"
    );
    let after = find(&sandbox.home(), to.driver.id(), id)?;
    intact(before, &after).context("when the provider says that it is too long")?;
    let exchanges = read_log(&sandbox.out().join(LOG))?;
    let turns: Vec<_> = exchanges.iter().filter(|exchange| exchange.api().is_some()).collect();
    let refused = turns.iter().filter(|exchange| !exchange.refused.is_empty()).count();
    let compacted = after.session.compactions.len() > before.session.compactions.len();
    Ok(format!(
        "refused as too long, it asked {} times, {refused} of them too long, {}, and {}",
        turns.len(),
        if compacted { "compacted the session" } else { "compacted nothing" },
        done.ended
    ))
}

/// Writes a large session of another harness than the program's.
fn generate(sandbox: &Sandbox, to: &Program) -> Result<(&'static str, String)> {
    let mut subject = Subject::numbered(20);
    WORKSPACE.clone_into(&mut subject.cwd);
    let codex = to.driver.id() == "claude-code";
    let (folder, name) = match codex {
        true => (".codex/sessions/2025/11/24", format!("rollout-2025-11-24T12-00-00-{}.jsonl", subject.id)),
        false => (".claude/projects/-home-dev-demo", format!("{}.jsonl", subject.id)),
    };
    let folder = sandbox.home().join(folder);
    fs::create_dir_all(&folder)?;
    let mut out = BufWriter::new(File::create(folder.join(name))?);
    match codex {
        true => codex_session(&mut out, &subject, BYTES)?,
        false => claude_session(&mut out, &subject, BYTES)?,
    };
    Ok((if codex { "codex" } else { "claude-code" }, subject.id))
}

/// What both sides said, in order.
fn texts(session: &Session) -> Vec<&str> {
    let path = session.live_path();
    let messages = path.iter().filter_map(|index| session.messages.get(*index));
    messages
        .filter(|message| message.role != Role::System)
        .flat_map(|m| m.texts())
        .map(|t| t.as_str())
        .collect()
}

/// Whether everything that was there is there still, as it was.
fn intact(before: &Found, after: &Found) -> Result<()> {
    for (number, (before, after)) in before.files().iter().zip(after.files()).enumerate() {
        let grown = after.get(..before.len()).context("the program made the file shorter")?;
        ensure!(grown == *before, "the program changed file {number} of the session");
    }
    let mut later = after.session.messages.iter();
    for message in &before.session.messages {
        let kept = later.find(|later| later.id == message.id);
        let kept = kept.with_context(|| format!("message {} is gone", message.id))?;
        ensure!(kept.blocks == message.blocks, "message {} was changed", message.id);
    }
    Ok(())
}
