//! What Ibid writes for Cowork, resumed by the program that Cowork runs. Cowork itself is a desktop
//! app that needs an account; its transcript is Claude Code's, below a folder of each session.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::resume::{NEXT, resume_by};
use super::{AS_COWORK, Cell, Kind, Notes, Side};
use crate::check::{self, Sent};
use crate::lab::Lab;
use crate::pins::Age;
use crate::programs::{DRIVERS, Program, Prompt};
use crate::sandbox::HOME;
use crate::source::{find, ibid_json};

/// The program that Cowork runs.
const RUNS: &str = "claude-code";

const LOG: &str = "as-cowork.jsonl";

/// One cell for each program that a session may come from.
pub(super) fn cells() -> Vec<Cell> {
    let Some(runs) = DRIVERS.into_iter().find(|driver| driver.id() == RUNS) else { return Vec::new() };
    let target = Side::Program(runs, Age::Latest);
    let cell = |driver| {
        let source = Side::Program(driver, Age::Latest);
        Cell::new(Kind::Resume, AS_COWORK, source, Some(target), move |lab, folder| {
            prove(lab, folder, lab.side(source)?, lab.side(target)?)
        })
    };
    DRIVERS.map(cell).into()
}

fn prove(lab: &Lab, folder: &Path, from: &Program, claude: &Program) -> Result<Notes> {
    let source = lab.source(from)?;
    let sandbox = lab.copy(&source.folder, folder)?;
    super::material::put_cowork(&sandbox)?;
    let name = format!("{}:{}", from.driver.id(), source.id);
    let converted = ibid_json(&sandbox, &["convert", &name, "--to", "cowork"])?;
    let session = find(&sandbox.home(), from.driver.id(), &source.id)?.session;
    let record = converted.get("path").and_then(Value::as_str).context("`ibid convert` names no path")?;
    let configuration = Path::new(record).with_extension("").join(".claude");
    let id = transcript(&sandbox.home(), &configuration)?;
    let mut launch = claude.ask(&Prompt { text: NEXT, ..Prompt::default() }, Some(&id));
    launch.variables.insert("CLAUDE_CONFIG_DIR".to_owned(), configuration.display().to_string());
    resume_by(&sandbox, claude, launch, &id, LOG)?;
    let log = sandbox.out().join(LOG);
    check::all_sent(&Sent {
        session: &session,
        converted: &converted,
        program: claude,
        prompt: NEXT,
        log: &log,
    })
}

/// The id of the one transcript below a configuration folder, which is named as it is inside.
fn transcript(home: &Path, configuration: &Path) -> Result<String> {
    let below = configuration.strip_prefix(HOME).context("the session is not in the home")?;
    let projects = home.join(below).join("projects");
    let mut found: Vec<PathBuf> = Vec::new();
    for project in fs::read_dir(&projects).with_context(|| projects.display().to_string())?.flatten() {
        let files = fs::read_dir(project.path())?.flatten().map(|entry| entry.path());
        found.extend(files.filter(|path| path.extension().is_some_and(|end| end == "jsonl")));
    }
    ensure!(found.len() == 1, "there are {} transcripts in {}", found.len(), projects.display());
    let stem = found.first().and_then(|path| path.file_stem()).context("the transcript has no name")?;
    Ok(stem.to_string_lossy().into_owned())
}
