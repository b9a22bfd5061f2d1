//! `ibid import`: a document or a native text as a session of a harness.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use ibid_harness::{AnyHarness, SessionName};
use ibid_model::{SessionDocument, Span};

use crate::commands::convert::TargetArguments;
use crate::exit::{Exit, Failure};
use crate::machine::{HarnessName, Machine, harness};
use crate::output;
use crate::selection::SelectionArguments;
use crate::transfer::{Material, prepare, refusal};

/// How much of a text is looked at to tell whose it is.
const HEAD_BYTES: usize = 64 * 1024;

/// Write a document, or an agent's own text, as a session of a harness
///
/// Reads Ibid JSON, Simple, and the session files of every harness. What is written and lost is
/// printed, and what was written is read back, as for `ibid convert`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The file, or `-` for stdin; `#5-12` behind it picks messages
    file: PathBuf,

    /// The harness the text is of, when it cannot be told from the text
    #[arg(long, value_name = "HARNESS", value_parser = HarnessName { offered: |_| true })]
    from: Option<String>,

    #[command(flatten)]
    target: TargetArguments,

    #[command(flatten)]
    selection: SelectionArguments,
}

/// # Errors
/// When the text cannot be read, is of no harness, or cannot be written for the target.
pub(crate) fn run(machine: &Machine, arguments: &Arguments) -> Result<Exit> {
    let mut wishes = arguments.target.wishes()?;
    let from = arguments.from.as_deref().map(harness).transpose()?;
    if !arguments.target.is_dry_run() {
        machine.settle()?;
    }
    let (file, span) = file_and_range(&arguments.file)?;
    let text = read(&file)?;
    let material = material(&file, &text, from)?;
    wishes.selection = arguments.selection.of(&material.parent.session, span)?;
    let has_cwd = wishes.cwd.is_some() || material.parent.session.meta.cwd.is_some();
    let transfer = output::with_patience("converting", || prepare(machine, &material, &wishes))
        .map_err(|error| refusal(error, wishes.to, has_cwd))?;
    // As in `convert`.
    drop((text, material));
    transfer.carry_out(machine, arguments.target.is_dry_run())?;
    Ok(Exit::Done)
}

/// The file, and the messages that the range behind its name picks. A file that is there under the
/// whole name is taken as it is.
fn file_and_range(named: &Path) -> Result<(PathBuf, Option<Span>)> {
    let split = named.to_str().filter(|_| !named.exists()).and_then(|name| name.rsplit_once('#'));
    if let Some((file, range)) = split.filter(|(file, _)| !file.is_empty())
        && let Some(span) = SessionName::parse(&format!("file#{range}"))?.span
    {
        return Ok((PathBuf::from(file), Some(span)));
    }
    Ok((named.to_owned(), None))
}

fn is_stdin(file: &Path) -> bool {
    file == Path::new("-")
}

fn read(file: &Path) -> Result<Vec<u8>> {
    if is_stdin(file) {
        let mut text = Vec::new();
        std::io::stdin().lock().read_to_end(&mut text).context("stdin cannot be read")?;
        return Ok(text);
    }
    std::fs::read(file).with_context(|| format!("{} cannot be read", file.display()))
}

fn material(file: &Path, text: &[u8], from: Option<&'static dyn AnyHarness>) -> Result<Material> {
    let name = if is_stdin(file) { "stdin".to_owned() } else { file.display().to_string() };
    // The common session in its own form holds subagents too, which a harness's text does not.
    if let Ok(text) = std::str::from_utf8(text)
        && let Ok(document) = SessionDocument::from_text(text)
    {
        return Ok(Material::of_document(document, name));
    }
    let harness = match from.or_else(|| recognised(file, text)) {
        Some(harness) => harness,
        None => {
            return Err(Failure::nothing_found(format!(
                "{name} is not a session of any harness Ibid knows; --from HARNESS tries one"
            ))
            .into());
        }
    };
    let mut material = Material::of_transcript(harness.from_text(text)?, name)?;
    material.redactions = redactions(text);
    Ok(material)
}

/// The number of secrets that `ibid export` says it replaced in a document.
fn redactions(text: &[u8]) -> Option<u64> {
    #[derive(serde::Deserialize)]
    struct Exported {
        redactions: Option<u64>,
    }
    serde_json::from_slice::<Exported>(text).ok()?.redactions
}

/// The harness that recognises the text best.
fn recognised(file: &Path, text: &[u8]) -> Option<&'static dyn AnyHarness> {
    let head = text.get(..HEAD_BYTES).unwrap_or(text);
    // What comes through a pipe has no name, and some harnesses go by it.
    let names = [Path::new("session.jsonl"), Path::new("session.json")];
    let names = if is_stdin(file) { names.to_vec() } else { vec![file] };
    let certainty = |harness: &&'static dyn AnyHarness| {
        names.iter().map(|name| harness.recognises(name, head)).max().unwrap_or(0)
    };
    let known = ibid_harness::all().iter().copied().rev();
    known
        .map(|harness| (certainty(&harness), harness))
        .filter(|(c, _)| *c > 0)
        .max_by_key(|(c, _)| *c)
        .map(|(_, h)| h)
}
