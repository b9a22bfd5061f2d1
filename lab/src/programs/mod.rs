//! The real programs: how each is configured, started and told to resume a session.

mod claude_code;
mod codex;
mod copilot;
mod grok;
mod kimi;
mod opencode;
mod pi;
mod qwen;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use ibid_testkit::provider::Exchange;

use crate::pins::Age;
use crate::sandbox::{Launch, TOOLS};

/// The port that the provider listens on. Every run has a network of its own.
pub const PORT: u16 = 8123;

/// The key that programs are given. It opens nothing.
const KEY: &str = "test-key";

/// What a person asks, and how the program is to work.
#[derive(Clone, Copy, Debug, Default)]
pub struct Prompt<'a> {
    /// The words.
    pub text: &'a str,
    /// A picture that goes with them, by its name in the workspace.
    pub picture: Option<&'a str>,
    /// Whether the program is to offer the model its subagents, where that takes a choice.
    pub subagents: bool,
}

/// What Ibid installs in a program.
pub struct Announces {
    /// What `ibid plugin` calls it.
    pub profile: &'static str,
    /// The folder in which the program is configured, by its path in the home.
    pub settings: &'static str,
}

/// How trust in hooks is given.
pub struct Trust {
    /// The file that keeps it, by its path in the home.
    pub file: &'static str,
    /// The arguments of the server that shows hooks, which is asked on its standard input.
    pub arguments: Vec<String>,
}

/// What one program is.
pub trait Driver: Sync {
    /// The id of its harness.
    fn id(&self) -> &'static str;

    /// The name of its executable, in the folder of executables of its package.
    fn executable(&self) -> &'static str;

    /// The files of its configuration, by their path in the home.
    fn configuration(&self, age: Age) -> Vec<(&'static str, String)>;

    /// Its variables.
    fn variables(&self) -> Vec<(&'static str, String)>;

    /// The arguments that ask something in a new session, or (by its id) in one that is there.
    fn ask(&self, prompt: &Prompt<'_>, resume: Option<&str>, age: Age) -> Vec<String>;

    /// What it reads as standard input when it is asked this.
    fn input(&self, _prompt: &Prompt<'_>) -> Option<String> {
        None
    }

    /// The id of the session that it says it worked in.
    fn session_of(&self, stdout: &str) -> Option<String>;

    /// The arguments of a run that makes its store, where a home without one cannot be written to.
    fn first_run(&self) -> Option<Vec<String>> {
        None
    }

    /// Whether it has subagents that a model can be made to start.
    fn has_subagents(&self, _age: Age) -> bool {
        !self.is_only_read()
    }

    /// The subagent that a request is of, as its headers tell it apart.
    fn subagent(&self, _exchange: &Exchange) -> Option<String> {
        None
    }

    /// Whether its subagents are told with the session that started them, and are no sessions of
    /// their own.
    fn subagents_are_parts(&self) -> bool {
        false
    }

    /// The tool that starts a subagent, where no header tells requests of subagents apart.
    fn subagent_tool(&self, _age: Age) -> Option<&'static str> {
        None
    }

    /// Why Ibid cannot write a session for this version.
    fn cannot_be_written(&self, _age: Age) -> Option<&'static str> {
        None
    }

    /// Whether Ibid reads its sessions and writes none. Its cells are those of reading then, and its
    /// session has neither pictures nor subagents in it.
    fn is_only_read(&self) -> bool {
        false
    }

    /// Whether it writes its version into its sessions.
    fn records_its_version(&self) -> bool {
        true
    }

    /// Whether this version looks for ripgrep on PATH, and fetches it where it is not.
    fn needs_ripgrep(&self, _age: Age) -> bool {
        false
    }

    /// The line of a prompt by which it names a picture that came with it.
    fn names_picture(&self, _picture: &str) -> Option<String> {
        None
    }

    /// Whether a request is one that it makes for itself behind a turn, with all of the conversation
    /// and a question of its own.
    fn is_aside(&self, _exchange: &Exchange) -> bool {
        false
    }

    /// What its session has of a result, of what it sends the model.
    fn kept_of_result<'a>(&self, sent: &'a str) -> &'a str {
        sent
    }

    /// Whether this version has no tool for files, so that commands write them, which nobody takes apart.
    fn writes_by_commands(&self, _age: Age) -> bool {
        false
    }

    /// The plugin by which it announces its sessions to Ibid.
    fn plugin(&self) -> Option<Announces> {
        None
    }

    /// How a person's trust in hooks is given, where it runs none without.
    fn trust(&self) -> Option<Trust> {
        None
    }

    /// How long one answer may take, in seconds.
    fn limit(&self) -> u64 {
        60
    }
}

/// The programs that resume what Ibid writes.
pub const DRIVERS: [&dyn Driver; 4] = [&claude_code::ClaudeCode, &codex::Codex, &opencode::OpenCode, &pi::Pi];

/// The programs whose sessions Ibid reads, and writes none of.
pub const ONLY_READ: [&dyn Driver; 4] = [&copilot::Copilot, &grok::Grok, &qwen::Qwen, &kimi::Kimi];

/// Every program that the lab can run.
pub fn every() -> impl Iterator<Item = &'static dyn Driver> {
    DRIVERS.into_iter().chain(ONLY_READ)
}

/// One version of one program, installed.
#[derive(Clone)]
pub struct Program {
    /// How it is driven.
    pub driver: &'static dyn Driver,
    /// Which of its versions.
    pub age: Age,
    /// The version.
    pub version: String,
    /// Its folder in the cache.
    pub folder: String,
    /// The folder of the Node that runs it.
    pub node: String,
    /// Folders of tools that it needs beside the system's, in the cache.
    pub tools: Vec<String>,
}

impl Program {
    /// Its harness and version.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{} {}", self.driver.id(), self.version)
    }

    /// Writes its configuration into a home.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn configure(&self, home: &Path) -> Result<()> {
        for (name, text) in self.driver.configuration(self.age) {
            let path = home.join(name);
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder)?;
            }
            fs::write(&path, text).with_context(|| path.display().to_string())?;
        }
        Ok(())
    }

    /// A start of the program with these arguments.
    #[must_use]
    pub fn start(&self, arguments: Vec<String>) -> Launch {
        let executable = format!("{TOOLS}/{}/node_modules/.bin/{}", self.folder, self.driver.executable());
        let mut path = vec![format!("{TOOLS}/{}/node_modules/node/bin", self.node)];
        path.extend(self.tools.iter().map(|tools| format!("{TOOLS}/{tools}")));
        Launch {
            words: std::iter::once(executable).chain(arguments).collect(),
            variables: self
                .driver
                .variables()
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect::<BTreeMap<_, _>>(),
            path,
            cwd: None,
            input: None,
            seconds: self.driver.limit(),
        }
    }

    /// A start that asks something, in a new session or in one that is there.
    #[must_use]
    pub fn ask(&self, prompt: &Prompt<'_>, resume: Option<&str>) -> Launch {
        let mut launch = self.start(self.driver.ask(prompt, resume, self.age));
        launch.input = self.driver.input(prompt);
        launch
    }
}

/// Words as arguments.
fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// The first text under this key in the JSON objects that a program prints, one a line.
fn first_text(stdout: &str, key: &str) -> Option<String> {
    stdout.lines().find_map(|line| {
        let value: serde_json::Value = serde_json::from_str(line.trim()).ok()?;
        Some(value.get(key)?.as_str()?.to_owned())
    })
}
