//! `ibid plugin`, with a program that does to a home what Codex does to it.

mod claude;
mod codex_app;
mod extensions;
mod gateway;
mod in_the_way;
mod surface;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::common::{Home, Run, command, finish};

/// A home with a program called `codex`.
pub(crate) struct Machine {
    pub(crate) home: Home,
    bin: tempfile::TempDir,
}

impl Machine {
    pub(crate) fn new() -> Machine {
        let machine = Machine { home: Home::new(), bin: tempfile::tempdir().unwrap() };
        let program = machine.bin.path().join("codex");
        fs::write(&program, include_str!("codex.sh")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        machine
    }

    pub(crate) fn without_codex(self) -> Machine {
        fs::remove_file(self.bin.path().join("codex")).unwrap();
        self
    }

    /// The same, with a file in the home.
    pub(crate) fn with(self, name: &str, text: &str) -> Machine {
        self.write(name, text);
        self
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Ibid's own folder for a profile.
    pub(crate) fn own(&self, profile: &str) -> PathBuf {
        let data =
            if cfg!(target_os = "macos") { "Library/Application Support/ibid" } else { ".local/share/ibid" };
        self.path(data).join("plugins").join(profile)
    }

    /// What Codex was asked, with the tree's path shortened.
    pub(crate) fn asked(&self) -> Vec<String> {
        let log = fs::read_to_string(self.path("codex.log")).unwrap_or_default();
        let tree = self.own("codex-app").join("plugin");
        log.lines().map(|line| line.replace(tree.to_str().unwrap(), "TREE")).collect()
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> std::process::Command {
        let mut command = command(&self.home);
        let path = format!("{}:/usr/bin:/bin", self.bin.path().display());
        command.env("PATH", path).arg("plugin").args(arguments);
        command
    }

    pub(crate) fn plugin(&self, arguments: &[&str]) -> Run {
        finish(self.command(arguments))
    }

    pub(crate) fn install(&self, profile: &str) -> Run {
        self.plugin(&["install", profile, "--yes"]).ends(0)
    }

    pub(crate) fn uninstall(&self, profile: &str) -> Run {
        self.plugin(&["uninstall", profile, "--yes"]).ends(0)
    }

    pub(crate) fn state(&self, profile: &str) -> String {
        let json = self.plugin(&["status", profile, "--json"]).ends(0).json();
        json["plugins"][0]["state"].as_str().unwrap().to_owned()
    }

    /// Every file in the home outside of Ibid's own directories and the log of the program, with its
    /// content.
    pub(crate) fn files(&self) -> Vec<(String, Vec<u8>)> {
        let mut files = Vec::new();
        collect(self.home.path(), self.home.path(), &mut files);
        files.retain(|(name, _)| {
            !name.starts_with(".local/share/ibid")
                && !name.starts_with(".cache/ibid")
                && !name.starts_with("Library")
                && name != "codex.log"
        });
        files.sort();
        files
    }
}

fn collect(root: &Path, folder: &Path, files: &mut Vec<(String, Vec<u8>)>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if entry.file_type().unwrap().is_dir() {
            collect(root, &path, files);
        } else {
            let name = path.strip_prefix(root).unwrap().display().to_string();
            files.push((name, fs::read(&path).unwrap_or_default()));
        }
    }
}

/// The mode of a file, its type left out.
pub(crate) fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}
