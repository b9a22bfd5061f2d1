//! The patch grammar of `apply_patch`, as far as a patch says no more than a whole new file or
//! replacements in one file. Every other patch stays a patch.
//!
//! A patch is `*** Begin Patch`, then for each file `*** Add File: P` with `+` lines,
//! `*** Update File: P` (and `*** Move to: P`) with hunks after `@@`, or `*** Delete File: P`,
//! then `*** End Patch`. Seen in Codex 0.47.0 to 0.171.0.

use ibid_model::{Edit, Patch, Replacement, Text, Tool, Write};

const BEGIN: &str = "*** Begin Patch\n";
const END: &str = "*** End Patch";
const ADD: &str = "*** Add File: ";
const UPDATE: &str = "*** Update File: ";

/// The tool that a patch stands for: a write or an edit when [`write`](fn@write) says the same in
/// a patch again, else the patch.
pub(super) fn read(patch: &Text) -> Tool {
    let exact = |tool: &Tool| write(tool).is_some_and(|text| read_simple(&text).as_ref() == Some(tool));
    read_simple(patch).filter(exact).unwrap_or_else(|| Tool::Patch(Patch { patch: patch.clone() }))
}

/// The patch that says what a tool does; none when no patch says exactly that.
pub(super) fn write(tool: &Tool) -> Option<String> {
    let text = match tool {
        Tool::Patch(patch) => return Some(patch.patch.to_string()),
        Tool::Write(write) => write_file(write)?,
        Tool::Edit(edit) => write_edit(edit)?,
        _ => return None,
    };
    (read_simple(&text).as_ref() == Some(tool)).then_some(text)
}

fn read_simple(patch: &str) -> Option<Tool> {
    let body = patch.strip_prefix(BEGIN)?.trim_end_matches('\n').strip_suffix(END)?;
    let (first, rest) = body.split_once('\n')?;
    if let Some(path) = first.strip_prefix(ADD) {
        read_file(path, rest).map(Tool::Write)
    } else if let Some(path) = first.strip_prefix(UPDATE) {
        read_edit(path, rest).map(Tool::Edit)
    } else {
        None
    }
}

/// The lines of text that ends in a newline, without their newlines; none when it does not.
fn whole_lines(text: &str) -> Option<Vec<&str>> {
    if text.is_empty() {
        return Some(Vec::new());
    }
    Some(text.strip_suffix('\n')?.split('\n').collect())
}

fn read_file(path: &str, lines: &str) -> Option<Write> {
    let mut content = String::with_capacity(lines.len());
    for line in whole_lines(lines)? {
        content.push_str(line.strip_prefix('+')?);
        content.push('\n');
    }
    Some(Write { path: path.into(), content: content.into() })
}

fn write_file(write: &Write) -> Option<String> {
    let content = write.content.to_str();
    let lines = whole_lines(&content)?;
    let mut patch = format!("{BEGIN}{ADD}{}\n", write.path);
    for line in lines {
        patch.push('+');
        patch.push_str(line);
        patch.push('\n');
    }
    patch.push_str(END);
    Some(patch)
}

/// Both sides of a hunk while it is read.
#[derive(Default)]
struct Hunk<'a> {
    old: Vec<&'a str>,
    new: Vec<&'a str>,
}

impl Hunk<'_> {
    fn replacement(&self) -> Replacement {
        Replacement { old: self.old.join("\n").into(), new: self.new.join("\n").into(), all: false }
    }
}

fn read_edit(path: &str, lines: &str) -> Option<Edit> {
    let mut hunks: Vec<Hunk<'_>> = Vec::new();
    for line in whole_lines(lines)? {
        // A header with words narrows the place, which a replacement cannot say.
        if line == "@@" {
            hunks.push(Hunk::default());
            continue;
        }
        let hunk = hunks.last_mut()?;
        if let Some(text) = line.strip_prefix(' ') {
            hunk.old.push(text);
            hunk.new.push(text);
        } else if let Some(text) = line.strip_prefix('-') {
            hunk.old.push(text);
        } else {
            hunk.new.push(line.strip_prefix('+')?);
        }
    }
    let edits: Vec<Replacement> = hunks.iter().map(Hunk::replacement).collect();
    (!edits.is_empty()).then(|| Edit { path: path.into(), edits })
}

fn write_edit(edit: &Edit) -> Option<String> {
    let mut patch = format!("{BEGIN}{UPDATE}{}\n", edit.path);
    for replacement in &edit.edits {
        if replacement.all || replacement.old.is_empty() {
            return None;
        }
        patch.push_str("@@\n");
        push_side(&mut patch, '-', &replacement.old.to_str());
        push_side(&mut patch, '+', &replacement.new.to_str());
    }
    patch.push_str(END);
    Some(patch)
}

fn push_side(patch: &mut String, sign: char, text: &str) {
    if text.is_empty() {
        return;
    }
    for line in text.split('\n') {
        patch.push(sign);
        patch.push_str(line);
        patch.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn patch(body: &str) -> Text {
        format!("{BEGIN}{body}{END}\n").into()
    }

    #[test]
    fn one_added_file_is_a_write() {
        let tool = read(&patch("*** Add File: a/b.txt\n+one\n+\n+two\n"));
        assert_eq!(tool, Tool::Write(Write { path: "a/b.txt".into(), content: "one\n\ntwo\n".into() }));
    }

    #[test]
    fn hunks_of_one_file_are_replacements() {
        let tool = read(&patch("*** Update File: a.rs\n@@\n fn a() {\n-  1\n+  2\n@@\n-gone\n"));
        let edits = vec![
            Replacement { old: "fn a() {\n  1".into(), new: "fn a() {\n  2".into(), all: false },
            Replacement { old: "gone".into(), new: "".into(), all: false },
        ];
        assert_eq!(tool, Tool::Edit(Edit { path: "a.rs".into(), edits }));
    }

    #[test]
    fn a_patch_that_says_more_stays_a_patch() {
        for body in [
            "*** Delete File: a\n",
            "*** Update File: a\n*** Move to: b\n@@\n-x\n+y\n",
            "*** Update File: a\n@@ fn a()\n-x\n+y\n",
            "*** Update File: a\n@@\n-x\n+y\n*** End of File\n",
            "*** Update File: a\n@@\n+only new\n",
            "*** Add File: a\n+x\n*** Add File: b\n+y\n",
        ] {
            assert!(matches!(read(&patch(body)), Tool::Patch(_)), "{body}");
        }
    }

    #[test]
    fn a_file_that_does_not_end_in_a_newline_cannot_be_a_patch() {
        assert_eq!(write(&Tool::Write(Write { path: "a".into(), content: "x".into() })), None);
    }

    proptest! {
        #[test]
        fn what_a_patch_says_is_read_back(
            path in "[^\n]{1,8}", old in "[ab@*\n ]{0,12}", new in "[ab@*\n +-]{0,12}"
        ) {
            let written = Tool::Write(Write { path: path.as_str().into(), content: new.as_str().into() });
            let edits = vec![Replacement { old: old.as_str().into(), new: new.as_str().into(), all: false }];
            let edited = Tool::Edit(Edit { path: path.as_str().into(), edits });
            for tool in [written, edited] {
                if let Some(text) = write(&tool) {
                    prop_assert_eq!(read(&text.into()), tool);
                }
            }
        }
    }
}
