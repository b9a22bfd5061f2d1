//! `ibid export`: a session for other eyes.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use ibid_harness::Target;
use ibid_model::{Finding, LossKind, Losses, Selection, SessionDocument};
use serde::Serialize;

use crate::exit::{Exit, Failure};
use crate::export::{Redactions, markdown, redacted};
use crate::machine::{Machine, harness};
use crate::output;
use crate::selection::{SelectionArguments, cut};
use crate::transfer::Material;

/// Write a session as a document for other eyes
///
/// Secrets that are known by their shape, name or place are replaced and counted, and the document
/// says how many there were; `--reveal` leaves everything as it is. Read what you publish: the pass
/// cannot know every secret.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The session: `harness:id`, the beginning of an id, a title, or a file; `#5-12` behind it
    /// picks messages
    session: String,

    #[command(flatten)]
    selection: SelectionArguments,

    /// The form of the document
    #[arg(long, value_enum, default_value_t = Format::Ibid)]
    format: Format,

    /// Write it to this file instead of stdout
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Replace the file if it is there
    #[arg(long, requires = "out")]
    replace: bool,

    /// Leave secrets as they are
    #[arg(long)]
    reveal: bool,
}

/// The form of an exported document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Format {
    /// Ibid JSON: everything, subagents included
    Ibid,
    /// The Simple interchange document
    Simple,
    /// A page to read
    Markdown,
}

#[derive(Serialize)]
struct Answer<'a> {
    format: Format,
    path: Option<String>,
    text: Option<&'a str>,
    redactions: Option<&'a Redactions>,
    losses: &'a Losses,
    findings: &'a [Finding],
}

/// # Errors
/// When the session cannot be found, read or expressed, or the file is there already.
pub(crate) fn run(machine: &Machine, arguments: &Arguments) -> Result<Exit> {
    let found = machine.find(&arguments.session)?;
    let material = Material::load(machine, &found)?;
    let findings = material.findings.clone();
    let session = material.parent.session;
    let selection = arguments.selection.of(&session, found.name.span)?;
    let whole = arguments.selection.is_default() && found.name.span.is_none();
    let part = selection.span.map(|span| {
        let count = session.view(&Selection { span: None, ..selection.clone() }).messages.len();
        format!("{}-{} of {count}", span.start.saturating_add(1), span.end.min(count))
    });
    let part = part.as_deref();
    let mut document = SessionDocument::new(if whole { session } else { cut(&session, &selection) });
    if whole {
        document.children = material.children.into_iter().map(|piece| piece.session).collect();
    }
    document.findings.clone_from(&findings);
    let form = arguments.selection.of_cut();
    let mut counts = None;
    if !arguments.reveal {
        let (clean, found) = redacted(document.clone())?;
        let found = match arguments.format {
            Format::Ibid => Redactions::from(&found),
            // These leave parts of the session out, and what is left out was not replaced in them.
            Format::Simple | Format::Markdown => {
                let before = written(&document, arguments.format, &form, part)?.0;
                let after = written(&clean, arguments.format, &form, part)?.0;
                Redactions::between(&found, &before, &after)
            }
        };
        document = clean;
        document.redactions = Some(found.total);
        counts = Some(found);
    }
    let (text, losses) = written(&document, arguments.format, &form, part)?;
    let path = match &arguments.out {
        Some(path) => {
            let path = std::path::absolute(path)?;
            write(&path, &text, arguments.replace)?;
            Some(path)
        }
        None => None,
    };
    if machine.json {
        output::print_json(&Answer {
            format: arguments.format,
            path: path.as_ref().map(|path| path.display().to_string()),
            text: path.is_none().then_some(text.as_str()),
            redactions: counts.as_ref(),
            losses: &losses,
            findings: &findings,
        })?;
        return Ok(Exit::Done);
    }
    if path.is_none() {
        output::print_bytes(text.as_bytes())?;
    }
    report(path.as_deref(), counts.as_ref(), &losses);
    Ok(Exit::Done)
}

fn written(
    document: &SessionDocument,
    format: Format,
    selection: &Selection,
    part: Option<&str>,
) -> Result<(String, Losses)> {
    match format {
        Format::Ibid => Ok((output::json_for_terminals(&document.to_text()?).into_owned(), Losses::none())),
        Format::Markdown => Ok((markdown(document, selection, part), Losses::none())),
        Format::Simple => {
            let simple = harness("simple")?;
            let target = Target { selection: selection.clone(), ..Target::default() };
            let converted = simple.from_common(&document.session, &target)?;
            let text = String::from_utf8(converted.value.to_text()?)?;
            let mut losses = converted.losses;
            let left = document.children.len() as u64;
            losses.add_many(LossKind::Subagents, left, None, None);
            let text = with_redactions(text, document.redactions)?;
            Ok((output::json_for_terminals(&text).into_owned(), losses))
        }
    }
}

/// A JSON object with the number of redactions as its last key. Readers of the format keep keys
/// that they do not know.
fn with_redactions(text: String, redactions: Option<u64>) -> Result<String> {
    let Some(count) = redactions else { return Ok(text) };
    let open = text.trim_end().strip_suffix('}').context("the document does not end as an object")?;
    Ok(format!("{},\n  \"redactions\": {count}\n}}\n", open.trim_end()))
}

fn write(path: &Path, text: &str, replace: bool) -> Result<()> {
    if path.is_dir() {
        bail!("{} is a directory; nothing was written; --out takes the name of a file", path.display());
    }
    let directory = path.parent().context("the file has no directory")?;
    fs::create_dir_all(directory).with_context(|| format!("{} cannot be made", directory.display()))?;
    let problem = || format!("{} cannot be written", path.display());
    let mut file = tempfile::NamedTempFile::new_in(directory).with_context(problem)?;
    file.write_all(text.as_bytes()).with_context(problem)?;
    file.as_file().sync_all().with_context(problem)?;
    if replace {
        file.persist(path).with_context(problem)?;
        return Ok(());
    }
    match file.persist_noclobber(path) {
        Ok(_) => Ok(()),
        Err(error) if error.error.kind() == std::io::ErrorKind::AlreadyExists => Err(Failure::refused(
            format!("{} is there already; nothing was written; --replace overwrites it", path.display()),
        )
        .into()),
        Err(error) => Err(error.error).with_context(problem),
    }
}

fn report(path: Option<&Path>, counts: Option<&Redactions>, losses: &Losses) {
    if let Some(path) = path {
        output::note(&format!("Written: {}", path.display()));
    }
    match counts {
        None => output::note("Nothing was redacted, as asked."),
        Some(counts) if counts.total == 0 => output::note("No secret was found."),
        Some(counts) => {
            let kinds = counts.kinds.iter().map(|(kind, count)| format!("{kind} {count}"));
            let kinds = kinds.collect::<Vec<String>>().join(", ");
            output::note(&format!("Secrets replaced: {} ({kinds})", counts.total));
        }
    }
    if !losses.is_empty() {
        output::note(&output::losses_text(losses));
    }
}
