//! The place where it all happens: installed programs, work folders, sessions that several cells
//! start from.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, OnceLock};

use anyhow::{Result, anyhow, bail};
use base64::Engine as _;

use crate::cells::{CannotRun, PICTURE, Side};
use crate::install::Cache;
use crate::pins::{Age, Pins};
use crate::programs::{self, Program};
use crate::sandbox::{self, Launch, Sandbox, Step};
use crate::source::{self, Source};

/// The name of the picture in the workspace.
pub const PICTURE_FILE: &str = "dots.png";

/// What is made once, or the reason why it cannot be.
type Once<T> = Arc<OnceLock<Result<T, Arc<anyhow::Error>>>>;

/// The lab.
pub struct Lab {
    work: PathBuf,
    ibid: PathBuf,
    keep: bool,
    cache: Cache,
    pins: Pins,
    programs: HashMap<(&'static str, Age), Result<Program, String>>,
    bases: Mutex<HashMap<(&'static str, Age), Once<PathBuf>>>,
    sources: Mutex<HashMap<(&'static str, Age), Once<Source>>>,
}

impl Lab {
    /// A lab that works below `work`, with the program under test at `ibid`. The folders of
    /// cells stay when they are to be kept.
    ///
    /// # Errors
    /// When the cache folder cannot be used.
    pub fn new(work: &Path, ibid: &Path, keep: bool) -> Result<Lab> {
        Ok(Lab {
            work: work.to_owned(),
            ibid: ibid.to_owned(),
            keep,
            cache: Cache::of_this_machine()?,
            pins: Pins::of_this_checkout()?,
            programs: HashMap::new(),
            bases: Mutex::default(),
            sources: Mutex::default(),
        })
    }

    /// The folder of a cell, by its number.
    #[must_use]
    pub fn folder(&self, number: usize) -> PathBuf {
        self.work.join(format!("cell-{number}"))
    }

    /// Removes the folder of a cell, unless everything is to be kept.
    pub fn tidy(&self, folder: &Path) {
        if !self.keep {
            // What stays here is removed when the run ends, and that says why it cannot be.
            let _ = fs::remove_dir_all(folder);
        }
    }

    /// Installs what is wanted. What cannot be installed is remembered with the reason.
    pub fn install(&mut self, wanted: &[(&'static str, Age)]) {
        let sandbox = sandbox::available().map_err(|error| format!("{error:#}"));
        let node = sandbox.and_then(|()| {
            self.cache.install("node", &self.pins.node, None).map_err(|error| format!("Node: {error:#}"))
        });
        for (id, age) in wanted {
            let program = node.clone().and_then(|node| self.installed(id, *age, node));
            self.programs.insert((id, *age), program);
        }
    }

    fn installed(&self, id: &'static str, age: Age, node: String) -> Result<Program, String> {
        let driver = programs::every().find(|driver| driver.id() == id).ok_or("it is not known")?;
        let package = self.pins.package(id, age).ok_or("its version is not pinned")?;
        let bin = self.cache.folder().join(&node).join("node_modules/node/bin");
        let folder = self.cache.install(id, &package, Some(&bin)).map_err(|error| format!("{error:#}"))?;
        let tools = match driver.needs_ripgrep(age) {
            true => vec![self.ripgrep(&bin)?],
            false => Vec::new(),
        };
        Ok(Program { driver, age, version: package.version, folder, node, tools })
    }

    /// The folder of a ripgrep below the cache: the one that Codex brings.
    fn ripgrep(&self, node: &Path) -> Result<String, String> {
        let codex = self.pins.package("codex", Age::Latest).ok_or("Codex is not pinned")?;
        let folder =
            self.cache.install("codex", &codex, Some(node)).map_err(|error| format!("ripgrep: {error:#}"))?;
        let root = self.cache.folder().join(folder).join("node_modules/@openai");
        let found = find_file(&root, "rg", 6).ok_or("Codex brings no ripgrep")?;
        let below = found.parent().and_then(|dir| dir.strip_prefix(self.cache.folder()).ok());
        Ok(below.ok_or("Codex brings no ripgrep")?.display().to_string())
    }

    /// An installed program.
    ///
    /// # Errors
    /// [`CannotRun`] when it is none.
    pub fn program(&self, id: &str, age: Age) -> Result<&Program> {
        let found = self.programs.iter().find(|((known, of), _)| *known == id && *of == age);
        match found.map(|(_, program)| program) {
            Some(Ok(program)) => Ok(program),
            Some(Err(reason)) => Err(CannotRun(reason.clone()).into()),
            None => Err(CannotRun("it is not installed".to_owned()).into()),
        }
    }

    /// The program of one side of a cell.
    ///
    /// # Errors
    /// [`CannotRun`] when it is none, or not installed.
    pub fn side(&self, side: Side) -> Result<&Program> {
        match side {
            Side::Program(driver, age) => self.program(driver.id(), age),
            Side::Material(harness) => Err(CannotRun(format!("{harness} has no program")).into()),
        }
    }

    /// The version of a program as it is pinned.
    #[must_use]
    pub fn version(&self, id: &str, age: Age) -> String {
        self.pins.package(id, age).map(|package| package.version).unwrap_or_default()
    }

    /// A sandbox in a folder.
    ///
    /// # Errors
    /// When the folder cannot be made.
    pub fn sandbox(&self, folder: &Path) -> Result<Sandbox> {
        Sandbox::in_folder(folder, self.cache.folder(), &self.ibid)
    }

    /// A sandbox in a folder, whose home is that of another one.
    ///
    /// # Errors
    /// When it cannot be copied.
    pub fn copy(&self, from: &Path, folder: &Path) -> Result<Sandbox> {
        let sandbox = self.sandbox(folder)?;
        overlay(&from.join("home"), &sandbox.home())?;
        Ok(sandbox)
    }

    /// A folder with a home in which the program is configured and its store is made, and nothing
    /// was said.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn base(&self, program: &Program) -> Result<PathBuf> {
        once(&self.bases, (program.driver.id(), program.age), || {
            let folder = self.work.join(format!("base-{}", program.folder));
            let sandbox = self.sandbox(&folder)?;
            let workspace = sandbox.home().join("demo");
            fs::create_dir_all(&workspace)?;
            let picture = base64::engine::general_purpose::STANDARD.decode(PICTURE)?;
            fs::write(workspace.join(PICTURE_FILE), picture)?;
            fs::write(workspace.join("README.md"), "# Demo\n\nA place to try things out.\n")?;
            program.configure(&sandbox.home())?;
            let mut steps = vec![Step::Run(repository())];
            steps.extend(program.driver.first_run().map(|arguments| Step::Run(program.start(arguments))));
            for done in sandbox.run(steps, None)? {
                done.well("the first start")?;
            }
            Ok(folder)
        })
    }

    /// A session of the program with everything in it, made once and copied by whoever needs it.
    ///
    /// # Errors
    /// When the program did not make it.
    pub fn source(&self, program: &Program) -> Result<Source> {
        once(&self.sources, (program.driver.id(), program.age), || {
            let folder = self.work.join(format!("source-{}", program.folder));
            source::make(self, program, &folder)
        })
    }
}

/// Makes the workspace a repository. Its first commit, and with it what OpenCode takes for the
/// project's id, is the same in every home.
fn repository() -> Launch {
    let script = "git init -q -b main && git add -A && git -c user.name=Dev -c user.email=dev@example.com \
                  commit -q -m 'Start the demo'";
    let dates = ["GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"];
    Launch {
        words: ["sh", "-c", script].map(str::to_owned).to_vec(),
        variables: dates.map(|name| (name.to_owned(), "2026-01-01T00:00:00Z".to_owned())).into(),
        seconds: 30,
        ..Launch::default()
    }
}

fn once<T: Clone>(
    all: &Mutex<HashMap<(&'static str, Age), Once<T>>>,
    key: (&'static str, Age),
    make: impl FnOnce() -> Result<T>,
) -> Result<T> {
    let cell = all.lock().map_err(|_| anyhow!("another cell failed"))?.entry(key).or_default().clone();
    match cell.get_or_init(|| make().map_err(Arc::new)) {
        Ok(made) => Ok(made.clone()),
        Err(error) => match error.downcast_ref::<CannotRun>() {
            Some(cannot) => Err(cannot.clone().into()),
            None => bail!("its session could not be made: {error:#}"),
        },
    }
}

/// Copies what is in a folder over another, with times.
///
/// # Errors
/// When it cannot be copied.
pub fn overlay(from: &Path, to: &Path) -> Result<()> {
    let mut source = from.as_os_str().to_owned();
    source.push("/.");
    let copied = Command::new("cp").args(["-a", "--reflink=auto"]).arg(source).arg(to).output()?;
    if !copied.status.success() {
        bail!("{}: {}", from.display(), String::from_utf8_lossy(&copied.stderr).trim());
    }
    Ok(())
}

fn find_file(folder: &Path, name: &str, depth: usize) -> Option<PathBuf> {
    let entries: Vec<_> = fs::read_dir(folder).ok()?.flatten().collect();
    let here = entries.iter().find(|e| e.file_name() == name && e.path().is_file()).map(fs::DirEntry::path);
    here.or_else(|| {
        let folders = entries.iter().filter(|_| depth > 0).map(fs::DirEntry::path).filter(|p| p.is_dir());
        folders.into_iter().find_map(|folder| find_file(&folder, name, depth - 1))
    })
}
