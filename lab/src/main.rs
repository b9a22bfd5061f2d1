//! The command behind `lab/run`.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use clap::{Parser, Subcommand};
use ibid_lab::cells::{self, Cell, DOCUMENTS_OF, Side};
use ibid_lab::lab::Lab;
use ibid_lab::manifest::{Entry, Manifest, Outcome};
use ibid_lab::{runner, sandbox, table};
use rustix::fs::{FlockOperation, flock};

/// Run the real programs on what Ibid reads and writes
///
/// Ends with 0 when every cell passed, with 1 when one failed, and with 3 when none failed and one
/// could not run.
#[derive(Parser)]
#[command(name = "lab/run", disable_help_subcommand = true)]
struct Arguments {
    /// Only cells whose name holds this, such as `resume`, `codex` or `to pi`; several are all to
    /// hold
    #[arg(long, value_name = "TEXT")]
    only: Vec<String>,

    /// The older versions too
    #[arg(long)]
    older: bool,

    /// How many cells run at a time
    #[arg(long, value_name = "N", default_value_t = 2)]
    jobs: usize,

    /// Keep the homes and logs of the cells
    #[arg(long)]
    keep: bool,

    /// Write the record of this run to a file
    #[arg(long, value_name = "FILE")]
    manifest: Option<PathBuf>,

    /// Print the cells and run none
    #[arg(long)]
    list: bool,

    /// Write the tables of lab/manifest.json into README.md and docs/lab.md, and run nothing
    #[arg(long)]
    write_readme: bool,

    #[command(subcommand)]
    inner: Option<Inner>,
}

/// How the lab starts itself; not for people.
#[derive(Subcommand)]
enum Inner {
    #[command(hide = true, name = sandbox::INSIDE)]
    Inside { spec: PathBuf },
    #[command(hide = true, name = sandbox::GUARDED)]
    Guarded {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        words: Vec<String>,
    },
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let ended = match &arguments.inner {
        Some(Inner::Inside { spec }) => sandbox::run_inside(spec).map(|()| 0),
        Some(Inner::Guarded { words }) => sandbox::guard(words),
        None => run(&arguments),
    };
    match ended {
        Ok(status) => ExitCode::from(u8::try_from(status).unwrap_or(1)),
        Err(error) => {
            eprintln!("lab: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &Arguments) -> Result<i32> {
    if !cfg!(target_os = "linux") {
        bail!("the lab runs on Linux only: it needs network, process and mount namespaces");
    }
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    if arguments.write_readme {
        for page in table::pages(here)? {
            fs::write(&page.path, page.to_be).with_context(|| page.path.display().to_string())?;
        }
        return Ok(0);
    }
    let work = match std::env::var_os("IBID_LAB_WORK").filter(|work| !work.is_empty()) {
        Some(work) => std::path::absolute(work)?,
        None => here.join(".work"),
    };
    // A look at the list leaves the work folder alone: it may hold what an earlier run kept.
    let _lock = if arguments.list { None } else { Some(fresh(&work)?) };
    let ibid = std::env::current_exe()?.with_file_name("ibid");
    if !ibid.is_file() {
        bail!("there is no {}; lab/run builds it", ibid.display());
    }
    let mut lab = Lab::new(&work, &ibid, arguments.keep)?;
    let wanted = |cell: &Cell| {
        let name = Entry::of(&lab, cell, Ok(Vec::new()), 0.0).name();
        arguments.only.iter().all(|text| name.contains(text.as_str()))
    };
    let cells: Vec<Cell> = cells::all(arguments.older).into_iter().filter(wanted).collect();
    if cells.is_empty() {
        bail!("no cell has {} in its name; --list shows the names", arguments.only.join(" and "));
    }
    if arguments.list {
        let names = cells.iter().map(|cell| Entry::of(&lab, cell, Ok(Vec::new()), 0.0).name() + "\n");
        let names: String = names.collect();
        return match std::io::stdout().lock().write_all(names.as_bytes()) {
            // Who reads it has seen enough.
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(0),
            written => Ok(written.map(|()| 0)?),
        };
    }
    let mut programs = Vec::new();
    for side in cells.iter().flat_map(|cell| [Some(cell.source), cell.target]).flatten() {
        if let Side::Program(driver, age) = side
            && !programs.contains(&(driver.id(), age))
        {
            programs.push((driver.id(), age));
        }
    }
    // Documents are made of a session of this one.
    let documents = |cell: &Cell| matches!(cell.source, Side::Material("simple" | "ibid"));
    if cells.iter().any(documents) && !programs.iter().any(|(id, age)| (*id, *age) == DOCUMENTS_OF) {
        programs.push(DOCUMENTS_OF);
    }
    lab.install(&programs);
    let entries = runner::run(&lab, &cells, arguments.jobs);
    let manifest =
        Manifest { date: jiff::Timestamp::now().to_string().chars().take(10).collect(), cells: entries };
    if let Some(path) = &arguments.manifest {
        manifest.write(path)?;
    }
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "{}", table::terminal(&manifest))?;
    let (passed, failed) = (manifest.count(Outcome::Passed), manifest.count(Outcome::Failed));
    let (forbidden, cannot) = (manifest.count(Outcome::Forbidden), manifest.count(Outcome::CannotRun));
    writeln!(
        stdout,
        "{} cells: {passed} passed, {failed} failed, {forbidden} not possible with that version, {cannot} could not run",
        cells.len()
    )?;
    if !arguments.keep {
        clear(&work)?;
    }
    Ok(if failed > 0 {
        1
    } else if cannot > 0 {
        3
    } else {
        0
    })
}

/// Empties the work folder, and holds it for this run.
fn fresh(work: &Path) -> Result<File> {
    fs::create_dir_all(work).with_context(|| work.display().to_string())?;
    let lock = File::create(work.join("lock"))?;
    if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() {
        bail!("another run of the lab works in {}", work.display());
    }
    clear(work)?;
    Ok(lock)
}

fn clear(work: &Path) -> Result<()> {
    for entry in fs::read_dir(work)?.flatten() {
        if entry.file_name() != "lock" {
            fs::remove_dir_all(entry.path()).with_context(|| entry.path().display().to_string())?;
        }
    }
    Ok(())
}
