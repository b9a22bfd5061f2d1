//! Where programs run: a network with loopback and nothing else, process ids of its own, a
//! throw-away home, and an environment that holds only what is named.
//!
//! The lab starts itself again inside the namespaces (`inside`). That process is the first of
//! its process namespace, so when it ends everything in there ends. It ends when its standard
//! input closes, which happens however the lab dies.

mod guard;
mod inside;
mod setup;
mod spec;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};

pub use guard::{GUARDED, guard, guarded, run_guarded};
pub use inside::run_inside;
pub use setup::{HOME, OUT, TOOLS, WORKSPACE};
pub use spec::{Ended, Launch, Provider, Spec, Step};

/// The subcommand under which the lab starts itself inside the namespaces.
pub const INSIDE: &str = "inside-the-sandbox";

/// How long the sandbox itself may take beyond the time limits of its steps.
const SETTING_UP: Duration = Duration::from_secs(60);

/// The directories that hold system tools. Whatever else is on the caller's PATH is not passed on.
pub const SYSTEM_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// One throw-away home with what was put out beside it.
#[derive(Clone, Debug)]
pub struct Sandbox {
    folder: PathBuf,
    tools: PathBuf,
    ibid: PathBuf,
}

/// How a step went, with what it printed.
#[derive(Clone, Debug)]
pub struct Done {
    /// How it ended.
    pub ended: Ended,
    /// What it printed.
    pub stdout: String,
    /// What it printed as errors.
    pub stderr: String,
}

impl Done {
    /// What it printed, when it ended well.
    ///
    /// # Errors
    /// When it did not end with status 0, in one sentence.
    pub fn well(&self, what: &str) -> Result<&str> {
        match self.ended.status {
            Some(0) => Ok(&self.stdout),
            _ => bail!("{what} {}: {}", self.ended, last_words(&self.stderr, &self.stdout)),
        }
    }
}

/// The end of what a program said, on one line.
fn last_words(stderr: &str, stdout: &str) -> String {
    let said = if stderr.trim().is_empty() { stdout } else { stderr };
    let tail: Vec<char> = said.trim().chars().rev().take(400).collect();
    tail.into_iter().rev().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

impl Sandbox {
    /// A sandbox whose home is `home` below `folder`. `tools` is the folder of installed programs,
    /// `ibid` the program under test; both are seen inside, the tools unchangeable where possible.
    ///
    /// # Errors
    /// When the folders cannot be made.
    pub fn in_folder(folder: &Path, tools: &Path, ibid: &Path) -> Result<Sandbox> {
        for name in ["home", "out"] {
            let made = folder.join(name);
            fs::create_dir_all(&made).with_context(|| made.display().to_string())?;
        }
        Ok(Sandbox { folder: folder.to_owned(), tools: tools.to_owned(), ibid: ibid.to_owned() })
    }

    /// The home, as it is seen from outside.
    #[must_use]
    pub fn home(&self) -> PathBuf {
        self.folder.join("home")
    }

    /// What is [`OUT`] inside, as it is seen from outside.
    #[must_use]
    pub fn out(&self) -> PathBuf {
        self.folder.join("out")
    }

    /// Runs steps one after another, with the provider beside them when one is given.
    ///
    /// # Errors
    /// When there can be no sandbox, or it came to an end before its steps did.
    pub fn run(&self, steps: Vec<Step>, provider: Option<Provider>) -> Result<Vec<Done>> {
        let number = (0..).find(|n| !self.out().join(format!("spec-{n}.json")).exists()).unwrap_or(0_u32);
        let seconds: u64 = steps.iter().map(Step::seconds).sum();
        let spec = Spec {
            number,
            folder: self.folder.clone(),
            tools: self.tools.clone(),
            ibid: self.ibid.clone(),
            hidden: std::env::var_os("HOME").map(PathBuf::from).into_iter().collect(),
            provider,
            steps,
        };
        let path = self.out().join(format!("spec-{number}.json"));
        fs::write(&path, serde_json::to_vec_pretty(&spec)?).with_context(|| path.display().to_string())?;
        let said = self.out().join(format!("sandbox-{number}.txt"));
        let mut command = enter(&std::env::current_exe()?, &path);
        command.stdout(Stdio::null()).stderr(File::create(&said)?);
        let status = guard::wait(command, SETTING_UP + Duration::from_secs(seconds))?;
        let results = self.out().join(format!("results-{number}.json"));
        let Ok(text) = fs::read(&results) else {
            let words = fs::read_to_string(&said).unwrap_or_default();
            bail!("the sandbox {status}: {}", last_words(&words, ""));
        };
        let ended: Vec<Ended> = serde_json::from_slice(&text)?;
        ended
            .into_iter()
            .enumerate()
            .map(|(step, ended)| {
                let printed = |kind: &str| {
                    let path = self.out().join(spec::output_name(number, step, kind));
                    fs::read(path)
                        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
                        .unwrap_or_default()
                };
                Ok(Done { ended, stdout: printed("stdout"), stderr: printed("stderr") })
            })
            .collect()
    }
}

/// The program under test with these arguments.
#[must_use]
pub fn ibid(arguments: &[&str]) -> Launch {
    let words = std::iter::once(setup::IBID).chain(arguments.iter().copied());
    Launch { words: words.map(str::to_owned).collect(), seconds: 120, ..Launch::default() }
}

/// The command that runs a spec in namespaces of its own, with the lab's program at `lab`. It ends
/// when its standard input closes.
#[must_use]
pub fn enter(lab: &Path, spec: &Path) -> Command {
    let mut command = unshare(&["--net", "--mount", "--mount-proc"]);
    command.arg(lab).arg(INSIDE).arg(spec).env_clear().env("PATH", SYSTEM_PATH);
    command
}

/// `unshare` with process ids of its own, and a user of its own where the caller is not root.
fn unshare(namespaces: &[&str]) -> Command {
    let mut command = Command::new("unshare");
    command.args(["--pid", "--fork", "--kill-child"]).args(namespaces);
    if !rustix::process::geteuid().is_root() {
        command.args(["--user", "--map-root-user"]);
    }
    command.arg("--");
    command
}

/// Whether namespaces can be made here.
///
/// # Errors
/// Why they cannot.
pub fn available() -> Result<()> {
    for tool in ["unshare", "ip", "git"] {
        let found = SYSTEM_PATH.split(':').any(|folder| Path::new(folder).join(tool).is_file());
        if !found {
            bail!("there is no `{tool}` on this machine");
        }
    }
    let mut command = unshare(&["--net", "--mount", "--mount-proc"]);
    let tried = command.arg("true").env_clear().env("PATH", SYSTEM_PATH).output().context("unshare")?;
    if !tried.status.success() {
        bail!("namespaces cannot be made here: {}", String::from_utf8_lossy(&tried.stderr).trim());
    }
    Ok(())
}
