//! What Ibid must refuse, and what it must not.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use super::resume::{NEXT, new_id, resume, resume_by};
use super::{Cell, Kind, Notes, Side};
use crate::lab::Lab;
use crate::pins::Age;
use crate::programs::{DRIVERS, Program, Prompt};
use crate::sandbox::{self, Done, OUT, Provider, Sandbox, Step, WORKSPACE};
use crate::source::{find, ibid_json};

/// What keeps a program at work for long enough to look at it.
const SLOW: &str = "do-sleep please: take your time, we look at what you have open";

/// The exit status of what was refused for safety.
const REFUSED: i32 = 3;

/// The cells of every program in that age.
pub(super) fn cells(age: Age) -> Vec<Cell> {
    type Case = (&'static str, fn(&Lab, &Path, &Program) -> Result<Notes>);
    const CASES: [Case; 3] =
        [("an id that is taken", taken), ("no directory", no_directory), ("a session that is open", open)];
    let cell = |(case, proof): Case, driver| {
        let target = Side::Program(driver, age);
        Cell::new(Kind::Refusals, case, target, None, move |lab, folder| {
            proof(lab, folder, lab.side(target)?)
        })
    };
    CASES.into_iter().flat_map(|case| DRIVERS.map(|driver| cell(case, driver))).collect()
}

/// A document of two messages in a directory; returns its path inside.
fn document(sandbox: &Sandbox, name: &str, cwd: Option<&str>) -> Result<String> {
    let messages = json!([
        {"role": "user", "content": format!("A question of the document {name}")},
        {"role": "assistant", "content": "An answer"},
    ]);
    let mut document = json!({"id": name, "messages": messages});
    if let (Some(cwd), Some(document)) = (cwd, document.as_object_mut()) {
        document.insert("cwd".to_owned(), Value::from(cwd));
    }
    fs::write(sandbox.out().join(name), document.to_string())?;
    Ok(format!("{OUT}/{name}"))
}

fn step(arguments: &[&str]) -> Step {
    Step::Run(sandbox::ibid(arguments))
}

/// Whether a run of Ibid ended with this status.
fn ends(done: Option<&Done>, status: i32, what: &str) -> Result<()> {
    let done = done.with_context(|| format!("{what} did not run"))?;
    let said = format!("{}{}", done.stderr, done.stdout);
    ensure!(done.ended.status == Some(status), "{what} {} instead of {status}: {}", done.ended, said.trim());
    Ok(())
}

fn taken(lab: &Lab, folder: &Path, to: &Program) -> Result<Notes> {
    let sandbox = lab.copy(&lab.base(to)?, folder)?;
    let path = document(&sandbox, "twice.json", Some(WORKSPACE))?;
    let import = || step(&["import", &path, "--to", to.driver.id()]);
    let again = step(&["import", &path, "--to", to.driver.id(), "--new-id"]);
    let done = sandbox.run(vec![import(), import(), again], None)?;
    ends(done.first(), 0, "the first import")?;
    ends(done.get(1), REFUSED, "the second import")?;
    ends(done.get(2), 0, "an import with an id of its own")?;
    Ok(Notes::new())
}

/// Without a directory a session is refused, with what helps; or the program resumes it; or Ibid
/// says that it does not. With a directory, the program resumes it.
fn no_directory(lab: &Lab, folder: &Path, to: &Program) -> Result<Notes> {
    let sandbox = lab.copy(&lab.base(to)?, folder)?;
    let path = document(&sandbox, "nowhere.json", None)?;
    let import = ["import", path.as_str(), "--to", to.driver.id(), "--json"];
    let done = sandbox.run(vec![step(&import)], None)?;
    let done = done.first().context("nothing ran")?;
    let notes = if done.ended.status == Some(0) {
        let converted: Value = serde_json::from_str(&done.stdout)?;
        let said = converted.get("notes").and_then(Value::as_array).filter(|notes| !notes.is_empty());
        match said {
            Some(notes) => notes.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            None => {
                let id = new_id(&converted)?;
                let cwd = find(&sandbox.home(), to.driver.id(), &id)?.session.meta.cwd;
                let cwd = cwd.map_or_else(|| WORKSPACE.to_owned(), |cwd| cwd.to_string());
                let mut launch = to.ask(&Prompt { text: NEXT, ..Prompt::default() }, Some(&id));
                launch.cwd = Some(cwd.clone());
                resume_by(&sandbox, to, launch, &id, "nowhere.jsonl")?;
                vec![format!("it is resumed in {cwd}")]
            }
        }
    } else {
        ensure!(done.stderr.contains("--cwd"), "it does not say what helps: {}", done.stderr.trim());
        vec![done.stderr.trim().to_owned()]
    };
    let sandbox = lab.copy(&lab.base(to)?, &folder.join("with-a-directory"))?;
    let path = document(&sandbox, "nowhere.json", None)?;
    let converted = ibid_json(&sandbox, &["import", &path, "--to", to.driver.id(), "--cwd", WORKSPACE])?;
    resume(&sandbox, to, &new_id(&converted)?, NEXT, "somewhere.jsonl")?;
    Ok(notes)
}

fn open(lab: &Lab, folder: &Path, program: &Program) -> Result<Notes> {
    let source = lab.source(program)?;
    let sandbox = lab.copy(&source.folder, folder)?;
    let path = document(&sandbox, "beside.json", Some(WORKSPACE))?;
    let id = program.driver.id();
    let name = format!("{id}:{}", source.id);
    let slow = program.ask(&Prompt { text: SLOW, ..Prompt::default() }, Some(&source.id));
    let steps = vec![
        Step::Start(slow),
        Step::Await { text: SLOW.to_owned(), seconds: program.driver.limit() },
        step(&["delete", &name, "--yes"]),
        step(&["convert", &name, "--to", id, "--keep-id", "--replace"]),
        step(&["import", &path, "--to", id]),
        Step::Stop,
        step(&["delete", &name, "--yes"]),
    ];
    let done =
        sandbox.run(steps, Some(Provider { log: "open.jsonl".to_owned(), strict: false, context: None }))?;
    ensure!(done.get(1).is_some_and(|done| !done.ended.late), "{} did not begin to work", program.name());
    ends(done.get(2), REFUSED, "deleting it while it is open")?;
    ends(done.get(3), REFUSED, "replacing it while it is open")?;
    ends(done.get(4), 0, "writing another one beside it")?;
    ends(done.get(6), 0, "deleting it when the program has ended")?;
    let said = done.get(2).map(|done| done.stderr.trim().to_owned()).unwrap_or_default();
    Ok(vec![said])
}
