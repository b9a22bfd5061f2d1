//! The program that a name means, and what its hooks run.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use ibid_harness::core::plugin::HookCommand;
use ibid_harness::{CaptureProfile, HarnessId, profile, profiles};

use crate::machine::Machine;
use crate::output;

/// The profile of a name.
///
/// # Errors
/// When there is none; the message names those there are.
pub(super) fn named(name: &str) -> Result<(HarnessId, &'static CaptureProfile)> {
    profile(name).with_context(|| {
        let known: Vec<&str> = profiles().map(|(_, profile)| profile.id).collect();
        format!("no program is called `{}`; there are {}", output::clean_line(name), known.join(", "))
    })
}

/// What the hooks of a profile run: this very program.
///
/// # Errors
/// When this program does not know where it is, or its path is not Unicode.
pub(super) fn hook_command(machine: &Machine, profile: &CaptureProfile) -> Result<HookCommand> {
    let ibid = own_path()?;
    let data = std::path::absolute(machine.surroundings.data_dir())?;
    Ok(HookCommand::new(&ibid, profile.id, &data)?)
}

fn own_path() -> Result<PathBuf> {
    let here = std::env::current_exe().context("this program does not know where it is")?;
    here.canonicalize().with_context(|| format!("{} cannot be looked at", here.display()))
}

/// What is wrong with the place of a program that hooks are to run from now on.
pub(super) fn doubt(command: &HookCommand) -> Option<String> {
    let program = Path::new(command.program());
    let parts: Vec<String> =
        program.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
    let build = parts
        .windows(2)
        .any(|pair| matches!(pair, [target, kind] if target.starts_with("target") && matches!(kind.as_str(), "debug" | "release")));
    let temporary = program.starts_with(std::env::temp_dir()) || program.starts_with("/tmp");
    let place = match (build, temporary) {
        (true, _) => "a build folder",
        (_, true) => "a temporary place",
        _ => return None,
    };
    Some(format!(
        "the hooks will run {}, which lies in {place}: install Ibid elsewhere and install the plugin with that one",
        output::clean_line(command.program())
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn doubt_of(path: &str) -> Option<String> {
        doubt(&HookCommand::new(Path::new(path), "pi", Path::new("/d")).unwrap())
    }

    #[test]
    fn a_program_that_may_go_away_is_doubted() {
        assert!(doubt_of("/home/u/ibid/target/debug/ibid").unwrap().contains("build folder"));
        assert!(doubt_of("/tmp/x/ibid").unwrap().contains("temporary place"));
        assert_eq!(doubt_of("/usr/local/bin/ibid"), None);
        assert_eq!(doubt_of("/opt/target/ibid"), None);
    }
}
