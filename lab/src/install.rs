//! Puts programs into a cache folder, by package name, from the registry that npm is configured
//! for.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};

use crate::pins::Package;
use crate::sandbox;

/// How long one installation may take.
const LIMIT: Duration = Duration::from_secs(300);

/// How the name of a folder begins that is not finished.
const UNFINISHED: &str = ".unfinished-";

/// What npm says when it cannot reach its registry at all.
const UNREACHABLE: &[&str] =
    &["ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", "ENETUNREACH", "ERR_SOCKET"];

/// The folder of installed programs.
#[derive(Debug)]
pub(crate) struct Cache {
    folder: PathBuf,
    /// Why the registry cannot be reached, once that is known.
    unreachable: Mutex<Option<String>>,
}

impl Cache {
    /// The folder that `IBID_LAB_CACHE` names, else one in the user's cache directory.
    ///
    /// # Errors
    /// When neither can be found, or it cannot be made.
    pub(crate) fn of_this_machine() -> Result<Cache> {
        let variable = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
        let folder = variable("IBID_LAB_CACHE")
            .or_else(|| variable("XDG_CACHE_HOME").map(|dir| dir.join("ibid-lab")))
            .or_else(|| variable("HOME").map(|home| home.join(".cache/ibid-lab")))
            .context("neither IBID_LAB_CACHE nor a home says where programs are to be kept")?;
        let folder = std::path::absolute(folder)?;
        fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        for entry in fs::read_dir(&folder)?.flatten() {
            if entry.file_name().to_string_lossy().starts_with(UNFINISHED) {
                fs::remove_dir_all(entry.path()).with_context(|| entry.path().display().to_string())?;
            }
        }
        Ok(Cache { folder, unreachable: Mutex::new(None) })
    }

    /// The folder.
    #[must_use]
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Installs a package unless it is there, and returns the name of its folder. It only has that
    /// name once npm has ended well, so an interrupted installation never counts.
    ///
    /// # Errors
    /// Why it cannot be installed.
    pub(crate) fn install(&self, name: &str, package: &Package, node: Option<&Path>) -> Result<String> {
        let installed = format!("{name}-{}", package.version);
        let place = self.folder.join(&installed);
        if place.is_dir() {
            return Ok(installed);
        }
        let mut unreachable = self.unreachable.lock().map_err(|_| anyhow::anyhow!("another one failed"))?;
        if let Some(reason) = unreachable.as_ref() {
            bail!("{reason}");
        }
        let unfinished = self.folder.join(format!("{UNFINISHED}{installed}"));
        fs::create_dir_all(&unfinished)?;
        let said = unfinished.join("npm.txt");
        let mut command = sandbox::guarded("npm")?;
        let wanted = format!("{}@{}", package.package, package.version);
        command
            .args([
                "install",
                "--no-audit",
                "--no-fund",
                "--loglevel=error",
                "--fetch-retries=1",
                "--fetch-timeout=60000",
            ])
            .arg("--prefix")
            .arg(&unfinished)
            .arg(&wanted)
            .current_dir(&unfinished)
            .env("npm_config_cache", self.folder.join("npm-cache"))
            .env("npm_config_update_notifier", "false")
            // What a package runs when it is installed must not find a home: that of Grok writes there.
            .env("HOME", &unfinished)
            .stdout(std::process::Stdio::null())
            .stderr(File::create(&said)?);
        // npm's own settings, the registry among them, stay those of the person.
        if std::env::var_os("npm_config_userconfig").is_none()
            && let Some(home) = std::env::var_os("HOME")
        {
            command.env("npm_config_userconfig", Path::new(&home).join(".npmrc"));
        }
        if let Some(node) = node {
            let path = std::env::var_os("PATH").unwrap_or_default();
            let folders = std::iter::once(node.to_owned()).chain(std::env::split_paths(&path));
            command.env("PATH", std::env::join_paths(folders)?);
        }
        eprintln!("installing {wanted}");
        let outcome = sandbox::run_guarded(command, LIMIT);
        let words = fs::read_to_string(&said).unwrap_or_default();
        match outcome {
            Ok(status) if status.success() => {
                fs::remove_file(&said)?;
                links_follow(&unfinished, &unfinished)?;
                fs::rename(&unfinished, &place).with_context(|| place.display().to_string())?;
                Ok(installed)
            }
            Ok(status) => {
                let first = words.lines().find(|line| !line.trim().is_empty()).unwrap_or("it said nothing");
                let reason = format!("npm install {wanted} {status}: {}", first.trim());
                fs::remove_dir_all(&unfinished)?;
                if UNREACHABLE.iter().any(|code| words.contains(code)) {
                    *unreachable = Some(format!("the package registry does not answer ({})", first.trim()));
                }
                bail!("{reason}")
            }
            Err(error) => {
                fs::remove_dir_all(&unfinished)?;
                *unreachable =
                    Some(format!("the package registry is too slow (npm install {wanted}: {error:#})"));
                bail!("npm install {wanted}: {error:#}")
            }
        }
    }
}

/// Makes links relative that name a place in the root by its whole path: the root gets another
/// name, and another place in a sandbox. What OpenCode 1.0.152 runs when it is installed makes such a link.
fn links_follow(root: &Path, folder: &Path) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())?.flatten() {
        let (path, kind) = (entry.path(), entry.file_type()?);
        if kind.is_dir() {
            links_follow(root, &path)?;
        } else if kind.is_symlink()
            && let Ok(inner) = fs::read_link(&path)?.strip_prefix(root)
        {
            let up = folder.strip_prefix(root)?.components().map(|_| "..");
            let relative = up.collect::<PathBuf>().join(inner);
            fs::remove_file(&path)?;
            rustix::fs::symlink(&relative, &path)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_by_its_whole_path_leads_there_when_the_folder_has_another_name() {
        let cache = tempfile::tempdir().unwrap();
        let (from, to) = (cache.path().join("unfinished"), cache.path().join("program-1.0"));
        fs::create_dir_all(from.join("deep/bin")).unwrap();
        fs::write(from.join("program"), "").unwrap();
        rustix::fs::symlink(from.join("program"), from.join("deep/bin/program")).unwrap();
        rustix::fs::symlink("../../program", from.join("deep/bin/relative")).unwrap();
        links_follow(&from, &from).unwrap();
        fs::rename(&from, &to).unwrap();
        for name in ["program", "relative"] {
            let found = fs::canonicalize(to.join("deep/bin").join(name)).unwrap();
            assert_eq!(found, fs::canonicalize(to.join("program")).unwrap(), "{name}");
        }
    }
}
