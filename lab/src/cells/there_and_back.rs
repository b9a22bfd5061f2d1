//! A session goes to another program, is carried on there, and comes back.

use std::path::Path;

use anyhow::{Context as _, Result};
use ibid_testkit::provider::wire::Said;

use super::resume::{NEXT, new_id, resume};
use super::{Cell, Kind, Notes, Side};
use crate::check::{self, Sent};
use crate::lab::{Lab, overlay};
use crate::pins::Age;
use crate::programs::Program;
use crate::source::{find, ibid_json};

/// What is asked when the session is back.
const BACK: &str = "Here we are again: the turn after the way back";

/// The cells of every ordered pair, with one side in that age and the other in the latest.
pub(super) fn cells(age: Age) -> Vec<Cell> {
    let pair = |(source, from), (target, to)| {
        let (source, target) = (Side::Program(source, from), Side::Program(target, to));
        Cell::new(Kind::ThereAndBack, "", source, Some(target), move |lab, folder| {
            prove(lab, folder, lab.side(source)?, lab.side(target)?)
        })
    };
    super::ordered_pairs(age).into_iter().map(|(from, to)| pair(from, to)).collect()
}

fn prove(lab: &Lab, folder: &Path, here: &Program, there: &Program) -> Result<Notes> {
    let source = lab.source(here)?;
    let sandbox = lab.copy(&source.folder, folder)?;
    overlay(&lab.base(there)?.join("home"), &sandbox.home())?;
    let name = format!("{}:{}", here.driver.id(), source.id);
    let converted = ibid_json(&sandbox, &["convert", &name, "--to", there.driver.id()])?;
    let session = find(&sandbox.home(), here.driver.id(), &source.id)?.session;
    let id = new_id(&converted)?;
    let log = sandbox.out().join("there.jsonl");
    resume(&sandbox, there, &id, NEXT, "there.jsonl").context("on the way there")?;
    let sent = Sent { session: &session, converted: &converted, program: there, prompt: NEXT, log: &log };
    check::all_sent(&sent).context("on the way there")?;
    let name = format!("{}:{id}", there.driver.id());
    let converted = ibid_json(&sandbox, &["convert", &name, "--to", here.driver.id()])?;
    let session = find(&sandbox.home(), there.driver.id(), &id)?.session;
    let back = new_id(&converted)?;
    resume(&sandbox, here, &back, BACK, "back.jsonl").context("on the way back")?;
    let log = sandbox.out().join("back.jsonl");
    let sent = Sent { session: &session, converted: &converted, program: here, prompt: BACK, log: &log };
    let notes = check::all_sent(&sent).context("on the way back")?;
    // What the first program said itself, whatever the second one made of it.
    let request = check::request(&log, BACK)?;
    let mut rest = request.iter();
    for prompt in source.prompts.iter().copied().chain([NEXT, BACK]) {
        rest.find(|spoken| matches!(&spoken.said, Said::User(text) if text.contains(prompt)))
            .with_context(|| format!("`{prompt}` is not in its place after the way back"))?;
    }
    Ok(notes)
}
