//! `workspace.yaml`: what the program notes of a session beside its events.
//!
//! It is flat (`key: value`), so no reader of YAML is needed: a value may be plain, between quotes,
//! or a block of the indented lines that follow (`|-`, `>-`). Known from 1.0.102.

use ibid_carrier::jsonl::Document;
use ibid_model::{Text, Timestamp};

/// What is used of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Workspace {
    pub(super) id: Option<Text>,
    pub(super) cwd: Option<Text>,
    pub(super) branch: Option<Text>,
    /// A name that a person or the program gave.
    pub(super) name: Option<Text>,
    /// Whether a person gave it.
    pub(super) user_named: bool,
    pub(super) created: Option<Timestamp>,
    pub(super) updated: Option<Timestamp>,
}

impl Workspace {
    /// Reads the file; what is no `key: value` at its beginning of a line says nothing.
    pub(super) fn read(document: &Document) -> Workspace {
        let text = String::from_utf8_lossy(document.bytes());
        let mut workspace = Workspace::default();
        let mut lines = text.lines().peekable();
        while let Some(line) = lines.next() {
            let Some((key, value)) = line.split_once(':').filter(|_| !line.starts_with([' ', '\t', '#']))
            else {
                continue;
            };
            let value = value.trim();
            let value = match value.chars().next() {
                Some(style @ ('|' | '>')) => {
                    let mut block: Vec<&str> = Vec::new();
                    while let Some(inner) = lines.next_if(|line| line.starts_with(' ') || line.is_empty()) {
                        block.push(inner.trim());
                    }
                    block.join(if style == '|' { "\n" } else { " " }).trim_end().to_owned()
                }
                _ => scalar(value),
            };
            workspace.set(key.trim(), &value);
        }
        workspace
    }

    fn set(&mut self, key: &str, value: &str) {
        let text = || Some(Text::from(value.to_owned())).filter(|text| !text.is_blank());
        match key {
            "id" => self.id = text(),
            "cwd" => self.cwd = text(),
            "branch" => self.branch = text(),
            "name" => self.name = text(),
            // What earlier versions call it.
            "summary" if self.name.is_none() => self.name = text(),
            "user_named" => self.user_named = value == "true",
            "created_at" => self.created = Timestamp::parse(value),
            "updated_at" => self.updated = Timestamp::parse(value),
            _ => {}
        }
    }
}

/// A value on the line of its key.
fn scalar(written: &str) -> String {
    if let Some(quoted) = written.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
        return quoted.replace("''", "'");
    }
    if written.len() >= 2 && written.starts_with('"') && written.ends_with('"') {
        // The escapes of YAML that the program's writer uses are those of JSON.
        let inner = written.trim_matches('"').to_owned();
        return serde_json::from_str(written).unwrap_or(inner);
    }
    match written {
        "null" | "~" => String::new(),
        plain => plain.split(" #").next().unwrap_or_default().trim_end().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Workspace {
        Workspace::read(&Document::from_bytes(text.as_bytes().to_vec()))
    }

    #[test]
    fn values_are_plain_or_between_quotes_of_either_kind() {
        let workspace = read("id: a-1\ncwd: \"/w/a \\\"b\\\"\"\nname: 'it''s'\nuser_named: true\n");
        assert_eq!(workspace.cwd, Some("/w/a \"b\"".into()));
        assert_eq!(workspace.name, Some("it's".into()));
        assert!(workspace.user_named);
    }

    #[test]
    fn an_indented_key_is_not_one_of_the_file() {
        assert_eq!(read("remote:\n  cwd: /elsewhere\n  id: x\n"), Workspace::default());
    }

    #[test]
    fn a_block_is_the_lines_that_are_indented_below_its_key() {
        let workspace = read("name: |-\n  two\n  lines\ncwd: C:\\repo\n");
        assert_eq!(workspace.name, Some("two\nlines".into()));
        assert_eq!(workspace.cwd, Some("C:\\repo".into()));
    }

    #[test]
    fn what_is_no_workspace_says_nothing() {
        assert_eq!(read("\u{0}\u{1}: : :\n- - -\n'"), Workspace::default());
        assert_eq!(read("cwd: ''\nid: null\nname: \"\n").cwd, None);
    }
}
