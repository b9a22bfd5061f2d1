//! Where Grok keeps sessions: `<root>/<group>/<session id>/`.
//!
//! The group is the working directory with every byte but `A-Z a-z 0-9 - _ . ~` percent-encoded
//! (measured, 1.0.41; other programs that write this layout leave `! * ' ( )` as they are). Where
//! that is longer than a file name may be, it is the last component and a hash, and the path is in
//! the file `.cwd` of the group (measured).

use std::path::{Path, PathBuf};

use ibid_carrier::jsonl::Limits;
use ibid_model::{CarrierRole, Text};

use crate::core::{Root, RootOrigin, Surroundings, comparable_path};
use crate::families::files::FilePlace;

/// Names the directory that stands for `~/.grok`.
const HOME: &str = "GROK_HOME";

/// What a session shows and is gone on from.
pub(super) const UPDATES: &str = "updates.jsonl";
/// What goes to the model.
pub(super) const CHAT: &str = "chat_history.jsonl";
/// What describes the session.
pub(super) const SUMMARY: &str = "summary.json";
/// The tokens of its turns.
pub(super) const USAGE: &str = "usage.json";
/// In the folder of a group: its path, where the folder's name does not hold it.
pub(super) const MARKER: &str = ".cwd";

/// The longest marker that is read.
const MARKER_BYTES: u64 = 64 << 10;

pub(super) fn roots(machine: &Surroundings) -> Vec<Root> {
    vec![match machine.directory(HOME) {
        Some(home) => Root { path: home.join("sessions"), origin: RootOrigin::Variable(HOME) },
        None => Root { path: machine.home().join(".grok").join("sessions"), origin: RootOrigin::Default },
    }]
}

/// The files of the session in a directory.
pub(super) fn files(directory: &Path) -> Vec<FilePlace> {
    let mut files = vec![
        FilePlace::new(UPDATES, directory.join(UPDATES), CarrierRole::Transcript),
        FilePlace::new(CHAT, directory.join(CHAT), CarrierRole::Transcript),
        FilePlace::new(SUMMARY, directory.join(SUMMARY), CarrierRole::Record),
        FilePlace::new(USAGE, directory.join(USAGE), CarrierRole::Metadata),
    ];
    if let Some(group) = directory.parent() {
        files.push(FilePlace::new(MARKER, group.join(MARKER), CarrierRole::Metadata));
    }
    files
}

/// Whether the group of a session's directory is the one of a working directory.
pub(super) fn is_group_of(session: &Path, directory: &Path) -> bool {
    let Some(group) = session.parent() else { return false };
    let same = |path: &Path| comparable_path(path) == comparable_path(directory);
    let limits = Limits { file_bytes: MARKER_BYTES, line_bytes: MARKER_BYTES };
    if let Ok(marker) = ibid_carrier::jsonl::Document::read(&group.join(MARKER), &limits)
        && let Some(path) = marker.text()
    {
        return same(Path::new(path.trim_end_matches(['\r', '\n'])));
    }
    let name = group.file_name().map(|name| name.to_string_lossy());
    name.and_then(|name| decoded(&name)).is_some_and(|path| same(&path))
}

/// The path that the name of a group encodes; none when it does not decode to an absolute one.
pub(super) fn decoded(name: &str) -> Option<PathBuf> {
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        if *first == b'%' {
            let (digits, after) = after.split_at_checked(2)?;
            let digits = std::str::from_utf8(digits).ok()?;
            let digit = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
            bytes.push(u8::from_str_radix(digits, 16).ok().filter(|_| digit)?);
            rest = after;
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    let path = String::from_utf8(bytes).ok()?;
    let windows = path.as_bytes().get(1) == Some(&b':');
    (path.starts_with(['/', '\\']) || windows).then(|| PathBuf::from(path))
}

/// The name of a directory as the session's id.
pub(super) fn id_of(directory: &Path) -> Option<Text> {
    directory.file_name().map(|name| Text::from(name.to_string_lossy().into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_spellings_of_a_group_are_the_same_directory() {
        for name in ["%2Fhome%2Fsam%2FMy%20App%20%28x%29%21%27%2A", "%2Fhome%2Fsam%2FMy%20App%20(x)!'*"] {
            assert!(is_group_of(&Path::new("/r").join(name).join("s"), Path::new("/home/sam/My App (x)!'*")));
        }
    }

    #[test]
    fn a_group_is_no_prefix_of_another_directory() {
        let session = Path::new("/r/%2Fw%2Fdemo/s");
        assert!(is_group_of(session, Path::new("/w/demo")));
        assert!(!is_group_of(session, Path::new("/w/demo2")));
        assert!(!is_group_of(session, Path::new("/w")));
    }

    #[test]
    fn what_is_no_encoded_path_is_none() {
        for name in ["", "demo", "%2", "%zzw", "%+1w", "%FF%2F", "100%"] {
            assert_eq!(decoded(name), None, "{name}");
        }
        assert_eq!(decoded("C%3A%5Crepo"), Some(PathBuf::from(r"C:\repo")));
    }
}
