//! Codex's plugin manager: `codex plugin ...`.
//!
//! Known from codex-cli 0.146.0 (its texts) and measured with 0.171.0, which answers a repeated
//! `marketplace add` and a repeated `add` with status 0, takes the copy anew each time, and switches
//! a plugin on that the user switched off. So nothing is run for a plugin that is off. A text is
//! only ever looked at to find that a failure was none; words that are not known are a failure.

use std::fs;
use std::path::{Path, PathBuf};

use ibid_carrier::file::read_own;

use super::config::{Known, known};
use super::{MARKETPLACE, NAME, SPEC, codex_home};
use crate::core::Surroundings;
use crate::core::plugin::{
    Ended, Evidence, Goal, PluginOutcome, Registered, Registrar, RegistrarRun, SourceOutcome, Unregistered,
    Weight, Withdrawn, posix_line, run, shown,
};

/// The manager.
#[derive(Debug)]
pub struct Manager;

/// The program.
const PROGRAM: &str = "codex";

/// Variables that lead the program to another home than the one that was named.
const ELSEWHERE: &[&str] = &["CODEX_HOME", "CODEX_SQLITE_HOME"];

/// Another folder is known under the name. The text also says "already added", so it is looked for
/// first.
const OTHER_SOURCE: &[&str] = &["different source"];

/// What was asked for is there.
const ALREADY: &[&str] = &["already added", "already installed", "already exists"];

/// What was to be removed is not there.
const NOT_THERE: &[&str] = &["not installed", "not configured", "already removed"];

/// The most that is read of a file of the program's copy, in bytes.
const LIMIT: u64 = 1 << 20;

fn says(said: &str, phrases: &[&str]) -> bool {
    let said = said.to_lowercase();
    phrases.iter().any(|phrase| said.contains(phrase))
}

/// What a failure is reported as. Behind "Caused by", Codex quotes the line of its configuration
/// that it cannot read, which is nobody else's business.
fn failure(said: &str) -> String {
    let end = said.find("Caused by").unwrap_or(said.len());
    shown(said.get(..end).unwrap_or(said).trim_end())
}

impl Manager {
    fn source(run_: &RegistrarRun<'_>, root: &str) -> Option<SourceOutcome> {
        let add = ["plugin", "marketplace", "add", root];
        let said = match run(run_, &add, ELSEWHERE) {
            Ended::NotFound => return None,
            Ended::Well => return Some(SourceOutcome::Added),
            Ended::Badly(said) => said,
        };
        if says(&said, OTHER_SOURCE) {
            let removed = run(run_, &["plugin", "marketplace", "remove", MARKETPLACE], ELSEWHERE);
            if let Ended::Badly(said) = removed {
                return Some(SourceOutcome::Failed(failure(&said)));
            }
            return Some(match run(run_, &add, ELSEWHERE) {
                Ended::Well => SourceOutcome::Replaced,
                Ended::Badly(said) => SourceOutcome::Failed(failure(&said)),
                Ended::NotFound => SourceOutcome::Failed(GONE.to_owned()),
            });
        }
        Some(match says(&said, ALREADY) {
            true => SourceOutcome::AlreadyAdded,
            false => SourceOutcome::Failed(failure(&said)),
        })
    }

    fn plugin(run_: &RegistrarRun<'_>, goal: Goal) -> PluginOutcome {
        let add = ["plugin", "add", SPEC];
        let said = match run(run_, &add, ELSEWHERE) {
            Ended::Well if goal == Goal::Refresh => return PluginOutcome::Refreshed,
            Ended::Well => return PluginOutcome::Installed,
            Ended::NotFound => return PluginOutcome::Failed(GONE.to_owned()),
            Ended::Badly(said) => said,
        };
        if !says(&said, ALREADY) {
            return PluginOutcome::Failed(failure(&said));
        }
        if goal == Goal::Verify {
            return PluginOutcome::AlreadyInstalled;
        }
        // It has a copy, and nobody knows of which bytes.
        match run(run_, &["plugin", "remove", SPEC], ELSEWHERE) {
            Ended::Badly(said) if !says(&said, NOT_THERE) => return PluginOutcome::Failed(failure(&said)),
            Ended::NotFound => return PluginOutcome::Failed(GONE.to_owned()),
            _ => {}
        }
        match run(run_, &add, ELSEWHERE) {
            Ended::Well => PluginOutcome::Refreshed,
            Ended::Badly(said) if says(&said, ALREADY) => PluginOutcome::Failed(failure(&said)),
            Ended::Badly(said) => PluginOutcome::RemovedNotReinstalled(failure(&said)),
            Ended::NotFound => PluginOutcome::RemovedNotReinstalled(GONE.to_owned()),
        }
    }

    fn withdraw(run_: &RegistrarRun<'_>, arguments: &[&str]) -> Option<Withdrawn> {
        Some(match run(run_, arguments, ELSEWHERE) {
            Ended::NotFound => return None,
            Ended::Well => Withdrawn::Removed,
            Ended::Badly(said) if says(&said, NOT_THERE) => Withdrawn::NotThere,
            Ended::Badly(said) => Withdrawn::Failed(failure(&said)),
        })
    }
}

/// What is said when the program went away between two commands.
const GONE: &str = "the program is not there any more";

impl Registrar for Manager {
    fn program(&self) -> &'static str {
        PROGRAM
    }

    fn is_disabled(&self, machine: &Surroundings) -> bool {
        known(machine).is_ok_and(|known| known.enabled == Some(false))
    }

    fn register(&self, run: &RegistrarRun<'_>, goal: Goal) -> Registered {
        if self.is_disabled(run.machine) {
            return Registered::SkippedDisabled;
        }
        let root = run.tree.to_string_lossy();
        let Some(source) = Manager::source(run, &root) else { return Registered::CliAbsent };
        let plugin = match source {
            SourceOutcome::Failed(_) => PluginOutcome::Skipped,
            _ => Manager::plugin(run, goal),
        };
        Registered::Asked { source, plugin }
    }

    fn unregister(&self, run: &RegistrarRun<'_>) -> Unregistered {
        if let Ok(known) = known(run.machine) {
            match known.source {
                Some(source) if source != run.tree => return Unregistered::Foreign,
                None if known.enabled.is_none() && !known.is_listed => return Unregistered::NotRegistered,
                _ => {}
            }
        }
        let plugin = Manager::withdraw(run, &["plugin", "remove", SPEC]);
        let Some(plugin) = plugin else { return Unregistered::CliAbsent };
        let source = Manager::withdraw(run, &["plugin", "marketplace", "remove", MARKETPLACE]);
        let source = source.unwrap_or_else(|| Withdrawn::Failed(GONE.to_owned()));
        Unregistered::Asked { plugin, source }
    }

    fn look(&self, machine: &Surroundings, tree: &Path) -> Vec<Evidence> {
        let config = codex_home(machine).join("config.toml");
        let known = match known(machine) {
            Ok(known) => known,
            Err(why) => return vec![Evidence::new(Weight::Unknown, &config, why)],
        };
        let mut evidence = vec![of_source(&known, tree, &config)];
        if known.enabled == Some(false) {
            evidence.push(Evidence::new(Weight::Off, &config, "the plugin is switched off in Codex"));
        } else if !known.is_listed {
            evidence.push(Evidence::new(Weight::Missing, &config, "the plugin is not installed in Codex"));
        }
        if known.is_listed {
            evidence.push(of_copy(machine, tree));
            evidence.push(of_trust(&known, &config));
        }
        evidence
    }

    fn leftovers(&self, machine: &Surroundings) -> Vec<PathBuf> {
        let cache = cache(machine);
        let above = cache.parent().map(Path::to_owned);
        std::iter::once(cache).chain(above).collect()
    }

    fn commands(&self, tree: &Path) -> Vec<String> {
        let root = tree.to_string_lossy();
        vec![
            posix_line(&[PROGRAM, "plugin", "marketplace", "add", &root]),
            posix_line(&[PROGRAM, "plugin", "add", SPEC]),
        ]
    }

    fn undo_commands(&self) -> Vec<String> {
        vec![
            posix_line(&[PROGRAM, "plugin", "remove", SPEC]),
            posix_line(&[PROGRAM, "plugin", "marketplace", "remove", MARKETPLACE]),
        ]
    }
}

/// Where Codex keeps its copies of the plugin, one folder for each version.
fn cache(machine: &Surroundings) -> PathBuf {
    codex_home(machine).join("plugins").join("cache").join(MARKETPLACE).join(NAME)
}

fn of_source(known: &Known, tree: &Path, config: &Path) -> Evidence {
    match &known.source {
        Some(source) if source == tree => Evidence::new(Weight::Fine, config, "names the marketplace"),
        Some(_) => {
            let said = format!("names a marketplace `{MARKETPLACE}` that is another folder");
            Evidence::new(Weight::Changed, config, said)
        }
        None => Evidence::new(Weight::Missing, config, "does not name the marketplace"),
    }
}

/// Whether Codex's copy is what lies in the tree.
fn of_copy(machine: &Surroundings, tree: &Path) -> Evidence {
    let cache = cache(machine);
    let delivered = tree.join("plugins").join(NAME);
    let manifest = Path::new(".codex-plugin").join("plugin.json");
    let read = |path: &Path| read_own(path, LIMIT).ok();
    let Some(wanted) = read(&delivered.join(&manifest)) else {
        return Evidence::new(Weight::Missing, &delivered, "not there to be compared with Codex's copy");
    };
    let version = serde_json::from_slice::<serde_json::Value>(&wanted)
        .ok()
        .and_then(|manifest| manifest.get("version")?.as_str().map(str::to_owned));
    let copy = cache.join(version.unwrap_or_default());
    let hooks = Path::new("hooks").join("hooks.json");
    let same =
        |place: &Path| read(&copy.join(place)).is_some_and(|copy| Some(copy) == read(&delivered.join(place)));
    if same(&manifest) && same(&hooks) {
        return Evidence::new(Weight::Fine, &copy, "Codex's copy is the one that is installed");
    }
    let any = fs::read_dir(&cache).is_ok_and(|mut entries| entries.next().is_some());
    match (copy.is_dir(), any) {
        (true, _) => Evidence::new(Weight::Changed, &copy, "Codex's copy is not as it was installed"),
        (false, true) => Evidence::new(Weight::Old, &cache, "Codex's copy is of another version"),
        (false, false) => Evidence::new(Weight::Missing, &cache, "Codex has no copy"),
    }
}

/// Only Codex can say whether trust holds: it compares digests of its own.
fn of_trust(known: &Known, config: &Path) -> Evidence {
    match known.trusted {
        0 => Evidence::new(
            Weight::Unapproved,
            config,
            "no hook of the plugin is trusted, so Codex runs none: `/hooks` in Codex shows and trusts them",
        ),
        trusted => Evidence::new(
            Weight::Unknown,
            config,
            format!(
                "has trust for {trusted} of the plugin's {} hooks; `/hooks` in Codex says whether it holds for these",
                super::HOOKS
            ),
        ),
    }
}
