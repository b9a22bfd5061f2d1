//! The machine as harness folders see it: a home, variables, and Ibid's own directories.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::HarnessId;

/// The family of operating systems, as far as it decides where programs keep their data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Platform {
    /// Linux and other systems with XDG directories.
    Linux,
    /// macOS.
    MacOs,
    /// Windows.
    Windows,
}

impl Platform {
    /// The one this program was built for.
    #[must_use]
    pub const fn current() -> Platform {
        if cfg!(target_os = "macos") {
            Platform::MacOs
        } else if cfg!(windows) {
            Platform::Windows
        } else {
            Platform::Linux
        }
    }
}

/// Why a root is looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RootOrigin {
    /// It is where the harness keeps sessions unless told otherwise.
    Default,
    /// This environment variable names it.
    Variable(&'static str),
    /// The user named it.
    Named,
}

/// A directory (or database) in which a harness keeps sessions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// The path.
    pub path: PathBuf,
    /// Why it is looked at.
    pub origin: RootOrigin,
}

/// Where things are on this machine. Nothing in this crate looks at the environment by itself.
#[derive(Clone, Debug)]
pub struct Surroundings {
    home: PathBuf,
    variables: BTreeMap<OsString, OsString>,
    named_roots: Vec<(HarnessId, PathBuf)>,
    project: Option<PathBuf>,
    platform: Platform,
    data_dir: PathBuf,
    cache_dir: PathBuf,
    config_dir: PathBuf,
}

impl Surroundings {
    /// The machine as it is: the user's home, and every variable of the environment.
    ///
    /// None when neither `HOME` nor (on Windows) `USERPROFILE` names a home.
    #[must_use]
    pub fn of_this_machine() -> Option<Surroundings> {
        let platform = Platform::current();
        let variables: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
        let named = |name: &str| variables.get(OsStr::new(name)).filter(|value| !value.is_empty());
        let home = match platform {
            Platform::Windows => named("USERPROFILE").or_else(|| named("HOME")),
            _ => named("HOME"),
        };
        let home = PathBuf::from(home?);
        let mut machine = Surroundings::isolated(home);
        machine.variables = variables;
        let place = |variable: &str, name: &str, fallback: &Path| match machine.variable(variable) {
            Some(dir) => PathBuf::from(dir).join(name),
            None => fallback.to_owned(),
        };
        let (data, cache, config) = match platform {
            Platform::Windows => (
                place("LOCALAPPDATA", "ibid\\data", &machine.data_dir),
                place("LOCALAPPDATA", "ibid\\cache", &machine.cache_dir),
                place("APPDATA", "ibid", &machine.config_dir),
            ),
            _ => (
                place("XDG_DATA_HOME", "ibid", &machine.data_dir),
                place("XDG_CACHE_HOME", "ibid", &machine.cache_dir),
                place("XDG_CONFIG_HOME", "ibid", &machine.config_dir),
            ),
        };
        (machine.data_dir, machine.cache_dir, machine.config_dir) = (data, cache, config);
        Some(machine)
    }

    /// A home of its own: no variable of the environment counts, and Ibid's own directories lie
    /// inside it too. A real store cannot be read by accident.
    #[must_use]
    pub fn isolated(home: impl Into<PathBuf>) -> Surroundings {
        let home = home.into();
        let platform = Platform::current();
        let (data_dir, cache_dir, config_dir) = match platform {
            Platform::MacOs => (
                home.join("Library/Application Support/ibid"),
                home.join("Library/Caches/ibid"),
                home.join(".config/ibid"),
            ),
            Platform::Windows => (
                home.join("AppData/Local/ibid/data"),
                home.join("AppData/Local/ibid/cache"),
                home.join("AppData/Roaming/ibid"),
            ),
            Platform::Linux => {
                (home.join(".local/share/ibid"), home.join(".cache/ibid"), home.join(".config/ibid"))
            }
        };
        Surroundings {
            home,
            variables: BTreeMap::new(),
            named_roots: Vec::new(),
            project: None,
            platform,
            data_dir,
            cache_dir,
            config_dir,
        }
    }

    /// The same, as if on another platform. For tests of where programs keep their data.
    #[must_use]
    pub fn on(mut self, platform: Platform) -> Surroundings {
        self.platform = platform;
        self
    }

    /// The same, with one variable set.
    #[must_use]
    pub fn with_variable(mut self, name: &str, value: impl Into<OsString>) -> Surroundings {
        self.variables.insert(OsString::from(name), value.into());
        self
    }

    /// The same, with one more root for a harness.
    #[must_use]
    pub fn with_root(mut self, harness: HarnessId, path: impl Into<PathBuf>) -> Surroundings {
        self.named_roots.push((harness, path.into()));
        self
    }

    /// The same, seen from a project: harnesses that keep sessions inside one are asked there too.
    #[must_use]
    pub fn in_project(mut self, project: impl Into<PathBuf>) -> Surroundings {
        self.project = Some(project.into());
        self
    }

    /// The project that is looked at, if one is.
    #[must_use]
    pub fn project(&self) -> Option<&Path> {
        self.project.as_deref()
    }

    /// The user's home.
    #[must_use]
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// The platform.
    #[must_use]
    pub fn platform(&self) -> Platform {
        self.platform
    }

    /// The value of a variable; none when it is unset or blank, since a blank value would mean
    /// the current directory.
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<&OsStr> {
        let value = self.variables.get(OsStr::new(name))?;
        (!value.to_string_lossy().trim().is_empty()).then_some(value.as_os_str())
    }

    /// A variable that names a directory; `~` and `~/...` mean the home.
    #[must_use]
    pub fn directory(&self, name: &str) -> Option<PathBuf> {
        let value = self.variable(name)?;
        let path = Path::new(value);
        Some(match path.strip_prefix("~") {
            Ok(rest) => self.home.join(rest),
            Err(_) => path.to_owned(),
        })
    }

    /// The roots that the user named for a harness.
    pub fn named_roots(&self, harness: HarnessId) -> impl Iterator<Item = Root> + '_ {
        self.named_roots
            .iter()
            .filter(move |(named, _)| *named == harness)
            .map(|(_, path)| Root { path: path.clone(), origin: RootOrigin::Named })
    }

    /// Where Ibid keeps its journal and its trash.
    #[must_use]
    pub fn data_dir(&self) -> &Path {
        &self.data_dir
    }

    /// Where Ibid keeps what can be made again: database copies, the list of sessions.
    #[must_use]
    pub fn cache_dir(&self) -> &Path {
        &self.cache_dir
    }

    /// Where `config.toml` is.
    #[must_use]
    pub fn config_dir(&self) -> &Path {
        &self.config_dir
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // https://github.com/specstoryai/getspecstory/issues/136 (fault 36)
    #[test]
    fn a_blank_variable_is_unset() {
        let machine = Surroundings::isolated("/home/u").with_variable("CODEX_HOME", "  ");
        assert_eq!(machine.directory("CODEX_HOME"), None);
    }

    #[test]
    fn a_tilde_means_the_home() {
        let machine = Surroundings::isolated("/home/u").with_variable("X", "~/store");
        assert_eq!(machine.directory("X"), Some(PathBuf::from("/home/u/store")));
    }
}
