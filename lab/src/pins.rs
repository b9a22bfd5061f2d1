//! Which versions of which programs the lab runs: `lab/versions.json`.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result};
use serde::Deserialize;

/// The file, which `ibid-harness` owns because `ibid doctor` reads it too.
const FILE: &str = include_str!("../versions.json");

/// Everything that is pinned.
#[derive(Clone, Debug, Deserialize)]
pub struct Pins {
    /// The Node that runs the programs which are scripts.
    pub node: Package,
    /// The programs, by the id of their harness.
    pub programs: BTreeMap<String, Pin>,
}

/// One version of one package.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
pub struct Package {
    /// The name that the registry knows it by.
    pub package: String,
    /// The version.
    pub version: String,
}

/// The versions of one program.
#[derive(Clone, Debug, Deserialize)]
pub struct Pin {
    /// The package of its latest version.
    pub package: String,
    /// The latest version that the lab knows.
    pub latest: String,
    /// One version from before, of a program that resumes what Ibid writes.
    #[serde(default)]
    pub older: Option<Older>,
    /// The command that prints the newest version there is.
    pub moved: String,
}

/// An older version, whose package may have had another name.
#[derive(Clone, Debug, Deserialize)]
pub struct Older {
    /// The package, when it was another one.
    #[serde(default)]
    pub package: Option<String>,
    /// The version.
    pub version: String,
}

/// Which of a program's two versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Age {
    /// The latest one.
    Latest,
    /// The one from before.
    Older,
}

impl Pins {
    /// What is pinned in this checkout.
    ///
    /// # Errors
    /// When the file does not say what it must.
    pub fn of_this_checkout() -> Result<Pins> {
        serde_json::from_str(FILE).context("lab/versions.json")
    }

    /// The package of a program, when it is pinned.
    #[must_use]
    pub fn package(&self, program: &str, age: Age) -> Option<Package> {
        let pin = self.programs.get(program)?;
        Some(match age {
            Age::Latest => Package { package: pin.package.clone(), version: pin.latest.clone() },
            Age::Older => {
                let older = pin.older.as_ref()?;
                let package = older.package.as_ref().unwrap_or(&pin.package).clone();
                Package { package, version: older.version.clone() }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs;

    #[test]
    fn every_program_that_the_lab_knows_is_pinned_and_no_other() {
        let pins = Pins::of_this_checkout().unwrap();
        let mut known: Vec<&str> = programs::every().map(|driver| driver.id()).collect();
        known.sort_unstable();
        assert_eq!(pins.programs.keys().collect::<Vec<_>>(), known);
        for (name, pin) in &pins.programs {
            assert!(pin.moved.contains(&pin.package), "{name}: {}", pin.moved);
        }
    }

    #[test]
    fn every_program_that_resumes_what_ibid_writes_has_a_latest_and_an_older_version() {
        let pins = Pins::of_this_checkout().unwrap();
        for driver in programs::every() {
            let pin = &pins.programs[driver.id()];
            let older = pin.older.as_ref().map(|older| &older.version);
            assert_eq!(older.is_none(), driver.is_only_read(), "{}", driver.id());
            assert_ne!(older, Some(&pin.latest), "{}", driver.id());
        }
    }

    #[test]
    fn an_older_version_may_have_had_another_package() {
        let pins = Pins::of_this_checkout().unwrap();
        assert_ne!(pins.package("pi", Age::Older).unwrap().package, pins.programs["pi"].package);
        assert_eq!(pins.package("codex", Age::Older).unwrap().package, pins.programs["codex"].package);
    }
}
