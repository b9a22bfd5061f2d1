//! The command that an agent runs at its boundaries.

use std::path::{Path, PathBuf};

use super::quote;

/// The words of `<ibid> hook <profile> --data <directory>`. Both paths are absolute: an agent runs
/// hooks with a search path, a home and a working directory of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookCommand {
    words: Vec<String>,
}

/// A path that the files of a plugin cannot name, since it is not Unicode.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: not Unicode, so a hook cannot name it; install Ibid under another path", .0.display())]
pub struct NotUnicode(pub PathBuf);

impl HookCommand {
    /// The command for a profile.
    ///
    /// # Errors
    /// When a path is not Unicode.
    pub fn new(ibid: &Path, profile: &str, data: &Path) -> Result<HookCommand, NotUnicode> {
        let text = |path: &Path| path.to_str().map(str::to_owned).ok_or_else(|| NotUnicode(path.to_owned()));
        let words =
            vec![text(ibid)?, "hook".to_owned(), profile.to_owned(), "--data".to_owned(), text(data)?];
        Ok(HookCommand { words })
    }

    /// The words, the program first.
    #[must_use]
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// The program.
    #[must_use]
    pub fn program(&self) -> &str {
        self.words.first().map_or("", String::as_str)
    }

    /// The words as one line for a POSIX shell.
    #[must_use]
    pub fn line(&self) -> String {
        quote::posix_line(&self.words)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test states what it expects")]
mod tests {
    use super::*;

    #[test]
    fn the_command_names_the_program_the_profile_and_the_data_directory() {
        let command = HookCommand::new(Path::new("/opt/my ibid/ibid"), "pi", Path::new("/d")).unwrap();
        assert_eq!(command.words(), ["/opt/my ibid/ibid", "hook", "pi", "--data", "/d"]);
        assert_eq!(command.line(), "'/opt/my ibid/ibid' hook pi --data /d");
    }

    #[cfg(unix)]
    #[test]
    fn a_path_that_is_not_unicode_is_refused_and_named() {
        use std::os::unix::ffi::OsStrExt as _;
        let path = Path::new(std::ffi::OsStr::from_bytes(b"/opt/\xff/ibid"));
        let refused = HookCommand::new(path, "pi", Path::new("/d")).unwrap_err();
        assert!(refused.to_string().contains("not Unicode"), "{refused}");
    }
}
