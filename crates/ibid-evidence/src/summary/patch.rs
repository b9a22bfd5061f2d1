//! Which files a patch names.

/// The most files that are taken from one patch.
const FILES: usize = 1_000;

/// Patches longer than this are read so far, in bytes.
const READ: usize = 4 << 20;

const HEADERS: &[&str] = &["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];

/// The paths in the headers of a patch: those of the `*** Begin Patch` grammar, and those of a
/// unified diff. A patch that was written as part of a JSON string once more is read too.
pub(crate) fn files(text: &str) -> Vec<String> {
    let text = text.get(..text.floor_char_boundary(READ)).unwrap_or_default();
    let mut files = Vec::new();
    let mut before = "";
    let escaped = !text.contains('\n') && text.contains("\\n*** ");
    let lines: Vec<&str> = if escaped { text.split("\\n").collect() } else { text.lines().collect() };
    for (at, line) in lines.iter().enumerate() {
        let line = line.trim_end_matches('\r');
        if let Some(path) = HEADERS.iter().find_map(|header| line.trim_start().strip_prefix(header)) {
            files.push(path.trim().to_owned());
        } else if let (Some(old), Some(new)) = (before.strip_prefix("--- "), line.strip_prefix("+++ ")) {
            let hunk = lines.get(at + 1).is_some_and(|next| next.starts_with("@@"));
            if hunk {
                files.extend([old, new].into_iter().filter_map(diff_path));
            }
        }
        before = line;
        if files.len() >= FILES {
            break;
        }
    }
    files.retain(|path| !path.is_empty());
    files.dedup();
    files
}

/// Whether a text has the headers of a patch at all.
pub(crate) fn is_patch(text: &str) -> bool {
    HEADERS.iter().any(|header| text.contains(header)) || (text.contains("--- ") && text.contains("\n+++ "))
}

/// The path of one side of a unified diff: without the time behind it, and without the `a/` and
/// `b/` that git puts before it.
fn diff_path(side: &str) -> Option<String> {
    let path = side.split('\t').next().unwrap_or(side).trim();
    if path == "/dev/null" {
        return None;
    }
    let bare = path.strip_prefix("a/").or_else(|| path.strip_prefix("b/")).unwrap_or(path);
    Some(bare.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    // evidence defect 10
    #[test]
    fn the_headers_of_a_patch_name_its_files() {
        let patch = "*** Begin Patch\n*** Update File: src/a.rs\n*** Move to: src/b.rs\n@@\n-x\n+*** y\n\
                     *** Add File: README.md\n+x\n*** Delete File: old.txt\n*** End Patch";
        assert_eq!(files(patch), ["src/a.rs", "src/b.rs", "README.md", "old.txt"]);
        assert_eq!(files(&patch.replace('\n', "\\n")), ["src/a.rs", "src/b.rs", "README.md", "old.txt"]);
    }

    #[test]
    fn a_unified_diff_names_its_files_too() {
        let diff = "diff --git a/x.c b/x.c\n--- a/x.c\t2026-01-01\n+++ b/x.c\n@@ -1 +1 @@\n-a\n+b\n\
                    --- /dev/null\n+++ b/new.c\n@@ -0,0 +1 @@\n+x\n";
        assert_eq!(files(diff), ["x.c", "new.c"]);
        assert_eq!(files("--- a rule\n+++ another\ntext"), Vec::<String>::new());
    }
}
