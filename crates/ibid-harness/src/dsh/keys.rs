//! The names of folders: one for each project, one for each session.
//!
//! Source: npm `@deepseek-ai/dsh-session-persistence-jsonl` 0.1.0-rc.8 (`encodeSegment`,
//! `projectKey`). Both go over UTF-16 units, so a character outside the basic plane is two escapes.

/// The folder of sessions that have no working directory.
pub(super) const NO_CWD: &str = "_no-cwd";

/// The longest readable part of a project's folder, in units of its name.
const KEY_UNITS: usize = 251;

fn is_plain(unit: u16) -> Option<char> {
    let c = char::from(u8::try_from(unit).ok()?);
    (c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-')).then_some(c)
}

fn push_unit(name: &mut String, unit: u16) {
    match is_plain(unit) {
        Some(c) => name.push(c),
        None => name.push_str(&format!("~{unit:04X}")),
    }
}

/// The folder of a session.
pub(super) fn session_folder(id: &str) -> String {
    match id {
        "." => "~002E".to_owned(),
        ".." => "~002E~002E".to_owned(),
        _ => {
            let mut name = String::with_capacity(id.len());
            id.encode_utf16().for_each(|unit| push_unit(&mut name, unit));
            name
        }
    }
}

/// The id that a session's folder is named for; none when the program would not name one so.
pub(super) fn session_id(folder: &str) -> Option<String> {
    let mut units = Vec::with_capacity(folder.len());
    let mut rest = folder;
    while let Some(c) = rest.chars().next() {
        if c == '~' {
            let digits = rest.get(1..5)?;
            units.push(u16::from_str_radix(digits, 16).ok()?);
            rest = rest.get(5..)?;
        } else {
            units.extend(c.encode_utf16(&mut [0; 2]).iter());
            rest = rest.get(c.len_utf8()..)?;
        }
    }
    let id = String::from_utf16(&units).ok()?;
    (session_folder(&id) == folder).then_some(id)
}

/// The folder of a project. Separators fold together and long names are cut, so several
/// directories can share one.
pub(super) fn project_folder(cwd: &str) -> String {
    let mut readable = String::with_capacity(cwd.len());
    let mut in_separators = false;
    for unit in cwd.encode_utf16() {
        let separator = [u16::from(b'/'), u16::from(b'\\'), u16::from(b':')].contains(&unit);
        match (separator, in_separators) {
            (true, false) => readable.push('-'),
            (true, true) => {}
            (false, _) => push_unit(&mut readable, unit),
        }
        in_separators = separator;
    }
    // Every character of it is ASCII by now, so that units, characters and bytes are the same.
    let readable = readable.trim_start_matches('-');
    let readable = if readable.is_empty() { "root" } else { readable };
    format!("--{}--", readable.get(..KEY_UNITS).unwrap_or(readable))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_a_project_is_the_one_that_the_program_makes() {
        for (cwd, folder) in [
            ("/repo/demo", "--repo-demo--"),
            ("/repo/my.app_v2", "--repo-my.app_v2--"),
            ("/repo/.hidden", "--repo-.hidden--"),
            ("/repo/My App (x)!", "--repo-My~0020App~0020~0028x~0029~0021--"),
            ("/repo/a~b:c", "--repo-a~007Eb-c--"),
            ("/repo/日本", "--repo-~65E5~672C--"),
            ("C:\\repo\\my_app", "--C-repo-my_app--"),
            ("/", "--root--"),
        ] {
            assert_eq!(project_folder(cwd), folder);
        }
        assert_eq!(project_folder(&"a".repeat(300)).len(), 255);
    }

    // evidence defect 14: the originals disagree on characters outside the basic plane.
    #[test]
    fn a_character_outside_the_basic_plane_is_two_units() {
        assert_eq!(session_folder("\u{1D4B3}"), "~D835~DCB3");
        assert_eq!(project_folder("/\u{1D4B3}"), "--~D835~DCB3--");
    }

    #[test]
    fn the_folder_of_a_session_gives_its_id_back() {
        for (id, folder) in
            [("a/b", "a~002Fb"), ("x~y", "x~007Ey"), (".", "~002E"), ("..", "~002E~002E"), ("d-1", "d-1")]
        {
            assert_eq!(session_folder(id), folder);
            assert_eq!(session_id(folder).as_deref(), Some(id));
        }
        assert_eq!(session_id("\u{1D4B3}"), None, "the program would have escaped it");
        assert_eq!(session_id("~D8"), None);
        assert_eq!(session_id("~D835"), None, "half of a pair is no text");
    }
}
