//! Names and ids that become part of a path.

use std::path::{Path, PathBuf};

use crate::CarrierError;

/// The longest name that the usual file systems take, in bytes.
const LONGEST: usize = 255;

/// Checks that a name from a file may be one component of a path, on every system: it is not
/// empty, not `.` or `..`, has no separator, colon or control character, does not begin with `-`
/// (it may end up as an argument), is no device name of Windows, does not end in a dot or a
/// space, and has at most 255 bytes. The name itself comes back.
///
/// # Errors
/// [`CarrierError::Unsafe`] with the reason.
pub fn checked_component(name: &str) -> Result<&str, CarrierError> {
    match refusal(name) {
        None => Ok(name),
        Some(reason) => Err(CarrierError::Unsafe { name: shown(name), reason }),
    }
}

/// The real place of `path`, links followed, when it is `root` or lies below the real place of
/// `root`. A path that does not exist yet is accepted when its nearest existing ancestor lies
/// below the root, and what is to be made below that consists of [`checked_component`]s.
///
/// # Errors
/// [`CarrierError::Unsafe`] when it lies elsewhere, [`CarrierError::NotFound`] when the root does
/// not exist, [`CarrierError::Io`].
pub fn inside(root: &Path, path: &Path) -> Result<PathBuf, CarrierError> {
    let real_root = root.canonicalize().map_err(|e| CarrierError::io(root, e))?;
    let refused = |reason| CarrierError::Unsafe { name: shown(&path.to_string_lossy()), reason };
    let mut missing = Vec::new();
    let mut existing = path;
    let mut real = loop {
        match existing.canonicalize() {
            Ok(real) => break real,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                if existing.is_symlink() {
                    return Err(refused("it is a link that leads nowhere"));
                }
                let (Some(parent), Some(name)) = (existing.parent(), existing.file_name()) else {
                    return Err(refused("it has no existing parent"));
                };
                let Some(name) = name.to_str() else { return Err(refused("it is not Unicode")) };
                missing.push(checked_component(name)?);
                existing = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
            }
            Err(error) => return Err(CarrierError::io(existing, error)),
        }
    };
    if !real.starts_with(&real_root) {
        return Err(refused("it leads out of the folder that it should lie in"));
    }
    real.extend(missing.iter().rev());
    Ok(real)
}

/// Whether a file name is one that a synchronisation program, a file manager or an editor gives
/// to a copy: Syncthing's `.sync-conflict-...`, the `(conflicted copy ...)` of Dropbox and
/// Nextcloud, ownCloud's `_conflict-...`, a number or the word copy after the name (`X (1).jsonl`,
/// `X copy.jsonl`, `X - Copy.jsonl`, and `X 2.jsonl` when X ends like an id), `.bak`, `.orig`,
/// `~`.
#[must_use]
pub fn is_conflict_copy(file_name: &str) -> bool {
    let lower = file_name.to_ascii_lowercase();
    let marked = [".sync-conflict-", "conflicted copy", "_conflict-", "(case conflict"];
    if marked.iter().any(|mark| lower.contains(mark)) {
        return true;
    }
    let backup = lower.trim_end_matches(|c: char| c.is_ascii_digit());
    if [".bak", ".backup", ".orig"].iter().any(|end| backup.ends_with(end)) || lower.ends_with('~') {
        return true;
    }
    let stem = [".jsonl.zst", ".jsonl", ".json", ".db", ".md", ".sqlite"]
        .iter()
        .find_map(|extension| lower.strip_suffix(extension))
        .unwrap_or(&lower);
    if stem.ends_with(" copy") || stem.ends_with(" - copy") {
        return true;
    }
    let Some((before, number)) = stem.rsplit_once(' ') else { return false };
    let plain = number.trim_start_matches('(').trim_end_matches(')');
    if plain.is_empty() || plain.len() > 3 || !plain.bytes().all(|byte| byte.is_ascii_digit()) {
        return false;
    }
    let in_brackets = number.len() == plain.len() + 2;
    let like_id =
        before.bytes().rev().take_while(|byte| byte.is_ascii_hexdigit() || *byte == b'-').count() >= 12;
    in_brackets || like_id || before.ends_with(" copy")
}

fn refusal(name: &str) -> Option<&'static str> {
    if name.is_empty() {
        return Some("it is empty");
    }
    if name == "." || name == ".." {
        return Some("it names a folder relative to another");
    }
    if name.len() > LONGEST {
        return Some("it is longer than 255 bytes");
    }
    if name.contains(['/', '\\', ':']) {
        return Some("it holds a separator of paths");
    }
    if name.chars().any(char::is_control) {
        return Some("it holds a control character");
    }
    if name.starts_with('-') {
        return Some("it begins like an option");
    }
    if name.ends_with(['.', ' ']) {
        return Some("it ends in a dot or a space");
    }
    is_device(name).then_some("it names a device on Windows")
}

/// Whether Windows takes a name for a device, whatever its extension.
fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or(name).trim_end().to_ascii_uppercase();
    if matches!(stem.as_str(), "CON" | "PRN" | "AUX" | "NUL" | "CONIN$" | "CONOUT$") {
        return true;
    }
    let number = stem.strip_prefix("COM").or_else(|| stem.strip_prefix("LPT"));
    number.is_some_and(|number| {
        matches!(
            number,
            "0" | "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9" | "\u{b9}" | "\u{b2}" | "\u{b3}"
        )
    })
}

/// A name for a message: not longer than a person wants to read.
fn shown(name: &str) -> String {
    match name.char_indices().nth(120) {
        Some((end, _)) => format!("{}...", name.get(..end).unwrap_or_default()),
        None => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn ids_of_harnesses_are_accepted() {
        for name in [
            "0195c1e2-7d8e-7000-8000-000000000001",
            "ses_5f3a",
            "local_ab",
            "-".repeat(3).replace('-', "a").as_str(),
            "caf\u{e9}",
        ] {
            assert_eq!(checked_component(name).unwrap(), name);
        }
    }

    #[test]
    fn names_that_could_lead_elsewhere_are_refused() {
        let long = "x".repeat(256);
        for name in [
            "",
            ".",
            "..",
            "a/b",
            "../a",
            "a\\b",
            "C:",
            "C:a",
            "a\0b",
            "a\nb",
            "a\u{85}b",
            "-rf",
            "a.",
            "a ",
            "con",
            "NUL.json",
            "com1.jsonl",
            "LPT9",
            "aux .x",
            &long,
        ] {
            assert!(matches!(checked_component(name), Err(CarrierError::Unsafe { .. })), "{name:?}");
        }
    }

    #[test]
    fn names_that_only_look_like_devices_are_accepted() {
        for name in ["console", "com10", "nullable.json", "lpt", "com"] {
            assert!(checked_component(name).is_ok(), "{name:?}");
        }
    }

    #[test]
    fn a_path_that_climbs_out_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        fs::create_dir_all(root.join("a")).unwrap();
        fs::write(folder.path().join("outside"), "").unwrap();
        assert!(inside(&root, &root.join("a/../../outside")).is_err());
        assert!(inside(&root, &root.join("a/../new.json")).is_ok());
        assert!(inside(&root, &root.join("a")).is_ok());
    }

    #[test]
    fn a_path_that_does_not_exist_yet_is_proved_by_its_parent() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap();
        assert_eq!(inside(folder.path(), &folder.path().join("x/y.json")).unwrap(), real.join("x/y.json"));
        assert!(inside(folder.path(), &folder.path().join("x/con.json")).is_err());
        assert!(inside(folder.path(), &folder.path().join("x/../../y")).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_that_leads_out_is_refused() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        fs::create_dir(&root).unwrap();
        fs::create_dir(folder.path().join("other")).unwrap();
        symlink(folder.path().join("other"), root.join("link")).unwrap();
        symlink("nowhere", root.join("dangling")).unwrap();
        assert!(inside(&root, &root.join("link")).is_err());
        assert!(inside(&root, &root.join("link/new.json")).is_err());
        assert!(inside(&root, &root.join("dangling")).is_err());
    }

    // https://github.com/vshulcz/deja-vu/issues/1775 (fault 54)
    #[test]
    fn copies_made_by_other_programs_are_known_by_their_names() {
        for name in [
            "X.sync-conflict-20260701-101112-ABCDEFG.jsonl",
            "X (1).jsonl",
            "X (conflicted copy 2026-07-01 101112).jsonl",
            "X (Ann's conflicted copy 2026-07-01).jsonl",
            "X_conflict-20260701-101112.jsonl",
            "X.jsonl.bak",
            "X.jsonl.bak2",
            "X.jsonl~",
            "X copy.jsonl",
            "X copy 2.jsonl",
            "X - Copy.jsonl",
            "X - Copy (2).jsonl",
            "0195c1e2-7d8e-7000-8000-000000000001 2.jsonl",
        ] {
            assert!(is_conflict_copy(name), "{name}");
        }
    }

    #[test]
    fn names_that_harnesses_give_are_no_copies() {
        for name in [
            "0195c1e2-7d8e-7000-8000-000000000001.jsonl",
            "rollout-2026-07-01T10-11-12-0195c1e2-7d8e-7000-8000-000000000001.jsonl.zst",
            "agent-a1b2c3.jsonl",
            "My chat 2.json",
            "photocopy.json",
            "opencode.db",
        ] {
            assert!(!is_conflict_copy(name), "{name}");
        }
    }
}
