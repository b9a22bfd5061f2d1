//! `config.toml`: where else sessions are, and how agents are started.
//!
//! ```toml
//! [roots]
//! codex = ["/backup/.codex/sessions"]
//!
//! [launch.claude-code]
//! command = ["claude", "--resume", "{id}"]
//! ```

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use ibid_carrier::file::read_own;
use ibid_harness::HarnessId;
use toml::{Table, Value};

use crate::machine::harness;
use crate::output;

/// The most that is read of the file.
const BYTES: u64 = 1 << 20;

/// The file's name in Ibid's configuration directory.
const NAME: &str = "config.toml";

/// What the person set.
#[derive(Debug, Default)]
pub(crate) struct Config {
    /// More directories to look for sessions in.
    pub(crate) roots: Vec<(HarnessId, PathBuf)>,
    /// How harnesses are started on a session, in place of what they declare.
    pub(crate) launch: BTreeMap<HarnessId, Vec<String>>,
}

impl Config {
    /// Reads the file in `directory`; one that is not there sets nothing. Keys that mean nothing
    /// are named on stderr, since a misspelt key would otherwise be silence.
    ///
    /// # Errors
    /// When the file cannot be read, is no TOML, or a value has another type.
    pub(crate) fn read(directory: &Path, home: &Path) -> Result<Config> {
        let path = directory.join(NAME);
        let text = match read_own(&path, BYTES)
            .and_then(|bytes| String::from_utf8(bytes).map_err(io::Error::other))
        {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Config::default()),
            Err(error) => return Err(error).with_context(|| format!("{} cannot be read", path.display())),
        };
        let (config, unknown) =
            Config::parse(&text, home).with_context(|| format!("{} has a mistake", path.display()))?;
        for key in unknown {
            output::note(&format!("{}: `{key}` means nothing to this Ibid", path.display()));
        }
        Ok(config)
    }

    /// The settings of a text, and the keys in it that mean nothing.
    fn parse(text: &str, home: &Path) -> Result<(Config, Vec<String>)> {
        let table: Table = text.parse()?;
        let mut config = Config::default();
        let mut unknown = Vec::new();
        for (key, value) in &table {
            match (key.as_str(), value) {
                ("roots", Value::Table(roots)) => config.take_roots(roots, home, &mut unknown)?,
                ("launch", Value::Table(launch)) => config.take_launch(launch, &mut unknown)?,
                ("roots" | "launch", _) => bail!("`{key}` must be a table"),
                _ => unknown.push(key.clone()),
            }
        }
        Ok((config, unknown))
    }

    fn take_roots(&mut self, roots: &Table, home: &Path, unknown: &mut Vec<String>) -> Result<()> {
        for (name, value) in roots {
            let Ok(harness) = harness(name) else {
                unknown.push(format!("roots.{name}"));
                continue;
            };
            for text in strings(value).with_context(|| format!("`roots.{name}`"))? {
                let path = match Path::new(&text).strip_prefix("~") {
                    Ok(rest) => home.join(rest),
                    Err(_) => PathBuf::from(&text),
                };
                if !path.is_absolute() {
                    bail!("`roots.{name}` has {text}, which must begin with / or ~");
                }
                self.roots.push((harness.declaration().id, path));
            }
        }
        Ok(())
    }

    fn take_launch(&mut self, launch: &Table, unknown: &mut Vec<String>) -> Result<()> {
        for (name, value) in launch {
            let (Ok(harness), Value::Table(table)) = (harness(name), value) else {
                unknown.push(format!("launch.{name}"));
                continue;
            };
            for (key, value) in table {
                if key != "command" {
                    unknown.push(format!("launch.{name}.{key}"));
                    continue;
                }
                let command = strings(value).with_context(|| format!("`launch.{name}.command`"))?;
                if command.first().is_none_or(|program| program.trim().is_empty()) {
                    bail!("`launch.{name}.command` names no program");
                }
                self.launch.insert(harness.declaration().id, command);
            }
        }
        Ok(())
    }
}

fn strings(value: &Value) -> Result<Vec<String>> {
    let list = value.as_array().context("must be a list of strings")?;
    list.iter().map(|item| item.as_str().map(str::to_owned).context("must hold strings only")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_mean_nothing_are_named() {
        let text = "colour = 1\n[roots]\nnobody = []\n[launch.nobody]\ncommand = [\"x\"]\n";
        let (config, unknown) = Config::parse(text, Path::new("/home/u")).unwrap();
        assert!(config.roots.is_empty() && config.launch.is_empty());
        assert_eq!(unknown, ["colour", "launch.nobody", "roots.nobody"]);
    }

    #[test]
    fn a_table_that_is_none_is_a_mistake() {
        assert!(Config::parse("roots = 1", Path::new("/home/u")).is_err());
        assert!(Config::parse("[roots\n", Path::new("/home/u")).is_err());
    }
}
