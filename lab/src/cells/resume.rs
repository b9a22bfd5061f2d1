//! A session is converted, and the program of the target resumes it by its id.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use ibid_model::Session;
use serde_json::Value;

use super::material::Material;
use super::{Cell, Kind, Notes, Side};
use crate::check::{self, Sent};
use crate::lab::{Lab, overlay};
use crate::pins::Age;
use crate::programs::{DRIVERS, ONLY_READ, Program, Prompt};
use crate::sandbox::{Launch, Provider, Sandbox, Step};
use crate::source::{find, ibid_json};

/// What is asked of the program that resumes.
pub(super) const NEXT: &str = "And now carry on, please: the turn after the conversion";

/// The name of the log of the resumed run.
const LOG: &str = "resumed.jsonl";

/// The cells of every ordered pair, with one side in that age and the other in the latest.
pub(super) fn cells(age: Age) -> Vec<Cell> {
    let pair = |((source, from), (target, to))| cell(Side::Program(source, from), Side::Program(target, to));
    super::ordered_pairs(age).into_iter().map(pair).collect()
}

/// The cells of programs whose sessions Ibid only reads, into every program that it writes for.
pub(super) fn from_only_read() -> Vec<Cell> {
    let targets = DRIVERS.map(|driver| Side::Program(driver, Age::Latest));
    let sources = ONLY_READ.map(|driver| Side::Program(driver, Age::Latest));
    sources.into_iter().flat_map(|source| targets.map(|target| cell(source, target))).collect()
}

fn cell(source: Side, target: Side) -> Cell {
    Cell::new(Kind::Resume, "", source, Some(target), move |lab, folder| {
        prove(lab, folder, lab.side(source)?, lab.side(target)?)
    })
}

/// The cells of sources that are no program of their own, into every program.
pub(super) fn from_material() -> Vec<Cell> {
    let cell = |material: &'static Material, target: Side| {
        Cell::new(Kind::Resume, "", Side::Material(material.harness), Some(target), move |lab, folder| {
            prove_material(lab, folder, material, lab.side(target)?)
        })
    };
    let targets = DRIVERS.map(|driver| Side::Program(driver, Age::Latest));
    Material::ALL.iter().flat_map(|material| targets.map(|target| cell(material, target))).collect()
}

fn prove(lab: &Lab, folder: &Path, from: &Program, to: &Program) -> Result<Notes> {
    let source = lab.source(from)?;
    let sandbox = lab.copy(&source.folder, folder)?;
    overlay(&lab.base(to)?.join("home"), &sandbox.home())?;
    let name = format!("{}:{}", from.driver.id(), source.id);
    let converted = ibid_json(&sandbox, &["convert", &name, "--to", to.driver.id()])?;
    let session = find(&sandbox.home(), from.driver.id(), &source.id)?.session;
    resumed(&sandbox, &session, &converted, to)
}

fn prove_material(lab: &Lab, folder: &Path, material: &Material, to: &Program) -> Result<Notes> {
    let sandbox = lab.copy(&lab.base(to)?, folder)?;
    let (session, arguments) = material.put(lab, &sandbox)?;
    let mut words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    words.extend(["--to", to.driver.id()]);
    let converted = ibid_json(&sandbox, &words)?;
    resumed(&sandbox, &session, &converted, to)
}

fn resumed(sandbox: &Sandbox, session: &Session, converted: &Value, to: &Program) -> Result<Notes> {
    let id = new_id(converted)?;
    resume(sandbox, to, &id, NEXT, LOG)?;
    let log = sandbox.out().join(LOG);
    check::all_sent(&Sent { session, converted, program: to, prompt: NEXT, log: &log })
}

/// The id that a conversion gave.
pub(super) fn new_id(converted: &Value) -> Result<String> {
    let id = converted.get("id").and_then(Value::as_str).context("`ibid convert` names no id")?;
    Ok(id.to_owned())
}

/// Lets a program resume a session by its id, against a strict provider.
pub(super) fn resume(sandbox: &Sandbox, program: &Program, id: &str, text: &str, log: &str) -> Result<()> {
    let launch = program.ask(&Prompt { text, ..Prompt::default() }, Some(id));
    resume_by(sandbox, program, launch, id, log)
}

/// The same, by a launch of its own.
pub(super) fn resume_by(
    sandbox: &Sandbox,
    program: &Program,
    launch: Launch,
    id: &str,
    log: &str,
) -> Result<()> {
    let step = Step::Run(launch);
    let provider = Provider { log: log.to_owned(), strict: true, context: None };
    let done = sandbox.run(vec![step], Some(provider))?;
    let done = done.first().context("nothing ran")?;
    let printed = done.well(&program.name());
    // What the provider refused says more than what the program made of it.
    check::nothing_refused(&sandbox.out().join(log), &printed)?;
    let said = program.driver.session_of(printed?);
    ensure!(
        said.as_deref() == Some(id),
        "asked for {id}, {} worked in {}",
        program.name(),
        said.as_deref().unwrap_or("a session that it does not name")
    );
    Ok(())
}
