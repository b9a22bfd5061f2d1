//! Starting an agent's program on a session.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use ibid_harness::{AnyHarness, Reference, RootOrigin, Surroundings};
use ibid_model::SessionId;

use crate::exit::{Exit, Failure};
use crate::machine::Machine;

/// A program that is ready to be started.
pub(crate) struct Launch {
    program: String,
    arguments: Vec<String>,
    /// Where it is started.
    pub(crate) cwd: Option<PathBuf>,
    /// The home it is to see, when that is not the user's own.
    home: Option<PathBuf>,
    /// Variables that would lead it to another store than the one Ibid looked at.
    unset: Vec<&'static str>,
}

/// How a harness's program is started on a session, from `config.toml` or as it declares.
pub(crate) fn template(machine: &Machine, harness: &dyn AnyHarness) -> Option<Vec<String>> {
    let declaration = harness.declaration();
    if let Some(command) = machine.config.launch.get(&declaration.id) {
        return Some(command.clone());
    }
    let recipe = declaration.resume?;
    let words = std::iter::once(recipe.program).chain(recipe.arguments.iter().copied());
    Some(words.map(str::to_owned).collect())
}

/// Whether a program can be found: at its path, or by its name on PATH.
pub(crate) fn is_on_path(program: &str) -> bool {
    if program.contains(std::path::MAIN_SEPARATOR) {
        return Path::new(program).is_file();
    }
    let endings: &[&str] = if cfg!(windows) { &["", ".exe", ".cmd", ".bat"] } else { &[""] };
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .any(|dir| endings.iter().any(|ending| dir.join(format!("{program}{ending}")).is_file()))
}

impl Launch {
    /// The program for a session. `{id}` and `{path}` are put into the words of the template, so
    /// that an id with spaces or quotes stays one argument.
    ///
    /// # Errors
    /// When the harness has no program, or the id would be read as an option.
    pub(crate) fn of(
        machine: &Machine,
        harness: &'static dyn AnyHarness,
        id: &SessionId,
        reference: &Reference,
        cwd: Option<PathBuf>,
        extra: &[String],
    ) -> Result<Launch> {
        let name = harness.declaration().name;
        let Some(template) = template(machine, harness) else {
            bail!("{name} has no program that carries a session on; give --to another harness");
        };
        let path = reference.path.to_str();
        let words: Vec<String> = template.iter().map(|word| filled(word, id, path)).collect::<Result<_>>()?;
        let Some((program, arguments)) = words.split_first() else {
            bail!("the launch command of {name} is empty");
        };
        let mut arguments = arguments.to_vec();
        arguments.extend(extra.iter().cloned());
        Ok(Launch {
            program: program.clone(),
            arguments,
            cwd,
            home: machine.isolated.then(|| machine.surroundings.home().to_owned()),
            unset: if machine.isolated { store_variables(harness) } else { Vec::new() },
        })
    }

    /// The words of the command.
    pub(crate) fn words(&self) -> Vec<&str> {
        std::iter::once(&self.program).chain(&self.arguments).map(String::as_str).collect()
    }

    /// The command as a person would type it.
    ///
    /// # Errors
    /// When a word holds a NUL, which no shell can pass on.
    pub(crate) fn command_line(&self) -> Result<String> {
        let mut line = String::new();
        if let Some(cwd) = &self.cwd {
            line.push_str(&format!("cd {} && ", quoted(&cwd.to_string_lossy())?));
        }
        for variable in &self.unset {
            line.push_str(&format!("unset {variable}; "));
        }
        if let Some(home) = &self.home {
            line.push_str(&format!("HOME={} ", quoted(&home.to_string_lossy())?));
        }
        let words: Vec<String> = self.words().into_iter().map(quoted).collect::<Result<_>>()?;
        line.push_str(&words.join(" "));
        Ok(line)
    }

    /// Hands the terminal over to the program. On Unix it takes this process's place; elsewhere
    /// this process waits and ends as it does.
    ///
    /// # Errors
    /// When it cannot be started.
    pub(crate) fn start(&self) -> Result<Exit> {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments);
        if let Some(cwd) = &self.cwd {
            command.current_dir(cwd);
        }
        for variable in &self.unset {
            command.env_remove(variable);
        }
        if let Some(home) = &self.home {
            command.env("HOME", home).env("USERPROFILE", home);
        }
        hand_over(command).with_context(|| {
            format!("{} cannot be started; install it, or set its command in config.toml", self.program)
        })
    }
}

#[cfg(unix)]
fn hand_over(mut command: Command) -> Result<Exit> {
    use std::os::unix::process::CommandExt as _;
    Err(command.exec().into())
}

#[cfg(not(unix))]
fn hand_over(mut command: Command) -> Result<Exit> {
    let status = command.status()?;
    Ok(if status.success() { Exit::Done } else { Exit::Failure })
}

/// A word of a template with the session's id and path in it.
fn filled(word: &str, id: &SessionId, path: Option<&str>) -> Result<String> {
    let mut out = word.replace("{id}", id.as_str());
    if out.contains("{path}") {
        out = out.replace("{path}", path.context("the path of the session is not Unicode")?);
    }
    // What the template itself begins with - is an option; what a file named so must not be one.
    if out.starts_with('-') && !word.starts_with('-') {
        return Err(Failure::refused(format!(
            "the session's id begins with `-`, so the program would take it for an option: {id}; give it another \
             with `ibid convert --new-id`"
        ))
        .into());
    }
    Ok(out)
}

fn quoted(word: &str) -> Result<String> {
    if cfg!(windows) {
        let plain = word.chars().all(|c| c.is_ascii_alphanumeric() || "-_./\\:=".contains(c));
        return Ok(if plain { word.to_owned() } else { format!("\"{}\"", word.replace('"', "\\\"")) });
    }
    Ok(shlex::try_quote(word).context("a word of the command holds a NUL")?.into_owned())
}

/// The variables of this environment that name a store of the harness.
fn store_variables(harness: &dyn AnyHarness) -> Vec<&'static str> {
    let Some(real) = Surroundings::of_this_machine() else { return Vec::new() };
    let roots = harness.roots(&real);
    let mut names: Vec<&'static str> = roots
        .iter()
        .filter_map(|root| match root.origin {
            RootOrigin::Variable(name) => Some(name),
            _ => None,
        })
        .collect();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_stays_one_argument_whatever_is_in_it() {
        let id = SessionId::from("a b; rm -rf ~");
        assert_eq!(filled("{id}", &id, None).unwrap(), "a b; rm -rf ~");
        assert_eq!(filled("--resume={id}", &id, None).unwrap(), "--resume=a b; rm -rf ~");
    }

    #[test]
    fn an_id_that_looks_like_an_option_is_refused() {
        let id = SessionId::from("--dangerously");
        assert!(filled("{id}", &id, None).is_err());
        assert_eq!(filled("--session={id}", &id, None).unwrap(), "--session=--dangerously");
    }

    #[cfg(unix)]
    #[test]
    fn a_printed_command_can_be_pasted() {
        assert_eq!(quoted("it's").unwrap(), "\"it's\"");
        assert_eq!(quoted("plain").unwrap(), "plain");
        assert!(quoted("a\0b").is_err());
    }
}
