//! Folders that are named after the path of a project, in the spellings of programs that nobody has
//! described: all that were seen or reported.

use std::collections::BTreeSet;
use std::path::Path;

use crate::core::comparable_path;

/// The names that the project folder of a directory may have: separators as `-`, with colons as `-`
/// or left out, with or without `-` at the beginning; every other character than letters and digits
/// as `-`, one by one or a run as one; dots left out. On Windows the letter of the drive in either
/// case, or all of it in lower case.
pub(crate) fn folder_names(directory: &Path) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let composed = comparable_path(directory);
    for path in [composed.to_string_lossy(), directory.to_string_lossy()] {
        let path = match (path.strip_prefix(r"\\?\UNC\"), path.strip_prefix(r"\\?\")) {
            (Some(share), _) => format!("//{share}"),
            (None, Some(path)) => path.to_owned(),
            (None, None) => path.into_owned(),
        };
        let path = path.replace('\\', "/");
        let path = path.trim_end_matches('/');
        let drive = path.as_bytes().get(1) == Some(&b':');
        for base in [path.replace(':', "-"), path.replace(':', "")] {
            let plain = base.replace('/', "-");
            let folded: String =
                base.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
            let runs = folded.split('-').filter(|run| !run.is_empty()).collect::<Vec<_>>().join("-");
            for name in [plain.replace('.', ""), plain, folded, runs] {
                names.insert(name.trim_start_matches('-').to_owned());
                names.insert(name);
            }
        }
        if drive {
            let lower: Vec<String> = names.iter().map(|name| name.to_lowercase()).collect();
            let other_drive = names.iter().filter_map(|name| {
                let first = name.chars().next()?;
                let rest = name.strip_prefix(first)?;
                let other = match first.is_ascii_uppercase() {
                    true => first.to_ascii_lowercase(),
                    false => first.to_ascii_uppercase(),
                };
                Some(format!("{other}{rest}"))
            });
            let other_drive: Vec<String> = other_drive.collect();
            names.extend(lower);
            names.extend(other_drive);
        }
    }
    names.remove("");
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has(directory: &str, name: &str) -> bool {
        folder_names(Path::new(directory)).contains(name)
    }

    #[test]
    fn a_folder_is_named_after_the_path_of_its_workspace() {
        for (directory, name) in [
            ("/repo/demo", "repo-demo"),
            ("/repo/demo", "-repo-demo"),
            ("/repo/my.app_v2", "repo-my.app_v2"),
            ("/repo/my.app_v2", "repo-my-app-v2"),
            ("/repo/.hidden/x", "repo-hidden-x"),
            ("/repo/.hidden/x", "repo--hidden-x"),
            ("/repo/a~b:c", "repo-a~b-c"),
            ("/repo/a~b:c", "repo-a~bc"),
            ("/repo/My App (x)!", "repo-My App (x)!"),
            ("/repo/My App (x)!", "repo-My-App-x"),
            ("/repo/日本", "repo-日本"),
            (r"C:\repo\my_app", "C--repo-my_app"),
            (r"C:\repo\my_app", "C-repo-my_app"),
            (r"C:\repo\my_app", "c-repo-my-app"),
            (r"\\?\C:\repo\my_app", "C-repo-my_app"),
            ("/repo/demo/", "repo-demo"),
        ] {
            assert!(has(directory, name), "{directory} {name}");
        }
    }

    #[test]
    fn a_folder_of_a_neighbour_or_of_a_directory_inside_is_another() {
        for (directory, name) in [
            ("/repo/demo", "repo-demo2"),
            ("/repo/demo", "repo"),
            ("/repo", "repo-demo"),
            ("/Repo", "repo"),
            ("/", ""),
        ] {
            assert!(!has(directory, name), "{directory} {name}");
        }
    }
}
