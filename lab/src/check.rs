//! Whether a program sent the whole conversation.

use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};
use ibid_harness::HarnessId;
use ibid_model::{Losses, Selection, Session};
use ibid_testkit::provider::Exchange;
use ibid_testkit::provider::wire::{Said, Spoken};
use serde_json::Value;

use crate::cells::Notes;
use crate::compare::{Question, compare};
use crate::programs::Program;
use crate::source::read_log;

/// What was converted, and what the program made of it.
pub(crate) struct Sent<'a> {
    /// The session that was converted.
    pub(crate) session: &'a Session,
    /// What `ibid convert --json` printed.
    pub(crate) converted: &'a Value,
    /// The program that resumed the result.
    pub(crate) program: &'a Program,
    /// What it was asked.
    pub(crate) prompt: &'a str,
    /// The log of that run.
    pub(crate) log: &'a Path,
}

/// Whether the provider refused nothing. `run` is what the program's run came to.
///
/// # Errors
/// What it refused; or, when nothing came to it, why the program did not run.
pub(crate) fn nothing_refused(log: &Path, run: &Result<&str>) -> Result<()> {
    let exchanges = match (read_log(log), run) {
        (Ok(exchanges), _) => exchanges,
        (Err(_), Err(error)) => bail!("{error:#}"),
        (Err(error), Ok(_)) => return Err(error),
    };
    for exchange in exchanges {
        if let Some(refusal) = exchange.refused.first() {
            bail!("the strict provider refuses request {}: {} {}", exchange.number, refusal.at, refusal.why);
        }
    }
    Ok(())
}

/// What the request says that carries the prompt of a conversation.
///
/// # Errors
/// When there is none.
pub(crate) fn request(log: &Path, prompt: &str) -> Result<Vec<Spoken>> {
    let exchanges = read_log(log)?;
    let asks = |said: &Vec<Spoken>| {
        said.iter().any(|spoken| matches!(&spoken.said, Said::User(text) if text.contains(prompt)))
    };
    let found = exchanges.iter().map(Exchange::said).filter(asks).max_by_key(Vec::len);
    found.context("the prompt did not reach the provider")
}

/// Whether the program sent the whole conversation, and the report says exactly what it did not.
///
/// # Errors
/// What is missing, changed, said twice, out of its place, or reported without need.
pub(crate) fn all_sent(sent: &Sent<'_>) -> Result<Notes> {
    let losses = sent.converted.get("losses").cloned().unwrap_or(Value::Null);
    let losses: Losses = serde_json::from_value(losses).context("the losses that were reported")?;
    let exchanges = read_log(sent.log)?;
    let question = Question {
        source: sent.session,
        selection: &Selection::default(),
        with_subagents: sent
            .converted
            .get("subagents")
            .and_then(Value::as_array)
            .is_some_and(|a| !a.is_empty()),
        losses: &losses,
        target: harness(sent.program)?,
        exchanges: &exchanges,
        prompt: sent.prompt,
    };
    let verdict = compare(&question).with_context(|| format!("{} is not known", sent.program.name()))?;
    ensure!(verdict.passes(), "{}", verdict.to_string().trim_end());
    Ok(match verdict.compacted {
        0 => Notes::new(),
        compacted => vec![format!("{compacted} pieces before a compaction were left out by the program")],
    })
}

fn harness(program: &Program) -> Result<HarnessId> {
    let known = ibid_harness::find(program.driver.id()).context("no such harness")?;
    Ok(known.declaration().id)
}
