//! Which files of the project a tool call names.

use ibid_model::{Argument, Json, Tool, ToolUse};
use serde_json::Value;

use super::patch;
use crate::answer::Access;
use crate::workspace::Workspace;

/// The most paths that one call contributes by text alone.
const LOOSE: usize = 40;

/// The most paths of one call altogether.
const MOST: usize = 1_000;

/// Inputs longer than this are not read, in bytes.
const READ: usize = 16 << 20;

/// The longest text in which paths are looked for, in bytes.
const LOOKED_AT: usize = 256 << 10;

/// How deep JSON within JSON strings is read.
const NESTED: usize = 2;

/// Keys whose values are paths, without regard to case, `_` and `-`.
const DECLARED: &[&str] = &[
    "path",
    "paths",
    "file",
    "files",
    "filepath",
    "filepaths",
    "filename",
    "filenames",
    "targetfile",
    "targetfiles",
    "notebookpath",
    "absolutepath",
    "absolutefilepath",
    "relativepath",
    "relativeworkspacepath",
    "sourcepath",
    "destinationpath",
    "oldpath",
    "newpath",
    "targetpath",
];

/// Keys whose values are what a file holds, or what is said about it: that they mention a path
/// does not mean that the call touches it.
const CONTENT: &[&str] = &[
    "content",
    "contents",
    "text",
    "oldstring",
    "newstring",
    "oldstr",
    "newstr",
    "oldtext",
    "newtext",
    "filetext",
    "description",
    "prompt",
    "message",
    "explanation",
    "instructions",
    "title",
    "thought",
    "query",
    "pattern",
];

/// The files that a call names.
#[derive(Debug)]
pub(crate) struct Named {
    /// Relative to the project, in the order in which they are named, each once.
    pub(crate) paths: Vec<String>,
    /// Whether the input is, or holds, a patch.
    pub(crate) patched: bool,
}

/// What the paths of a call are taken relative to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'a> {
    /// The project.
    pub(crate) workspace: &'a Workspace,
    /// The directory of the call below the project; none when it lies outside.
    pub(crate) base: Option<&'a [String]>,
}

/// The files that a call names in its typed input, in arguments that are declared to be paths, in
/// the headers of patches, and by absolute paths in other text.
pub(crate) fn of(call: &ToolUse, place: Place<'_>) -> Named {
    let mut found = Found { place, paths: Vec::new(), patched: false, loose: 0 };
    match &call.tool {
        Tool::Read(read) => found.declared(&read.path),
        Tool::Write(write) => found.declared(&write.path),
        Tool::Edit(edit) => found.declared(&edit.path),
        Tool::Patch(patch) => found.patch(&patch.patch),
        Tool::Search(search) => search.path.iter().for_each(|path| found.declared(path)),
        Tool::Find(find) => find.path.iter().for_each(|path| found.declared(path)),
        Tool::List(list) => list.path.iter().for_each(|path| found.declared(path)),
        Tool::Shell(shell) => found.text(&shell.command.to_str()),
        Tool::Mcp(mcp) => found.json(&mcp.input),
        Tool::Raw(raw) => found.json(&raw.input),
        _ => {}
    }
    for Argument { name, value } in &call.extra {
        if let Some(value) = parsed(value) {
            found.value(name, &value, 0);
        }
    }
    Named { paths: found.paths, patched: found.patched }
}

/// What a call of this kind does, when a patch was found in its input.
pub(crate) fn access(of_tool: Access, named: &Named) -> Access {
    if named.patched { Access::Change } else { of_tool }
}

struct Found<'a> {
    place: Place<'a>,
    paths: Vec<String>,
    patched: bool,
    loose: usize,
}

fn parsed(json: &Json) -> Option<Value> {
    if json.as_str().len() > READ {
        return None;
    }
    json.read().or_else(|_| json.without_lone_surrogates().0.read()).ok()
}

impl Found<'_> {
    fn add(&mut self, path: Option<String>) {
        if let Some(path) = path
            && self.paths.len() < MOST
            && !self.paths.contains(&path)
        {
            self.paths.push(path);
        }
    }

    /// A value that is a path by its place.
    fn declared(&mut self, path: &str) {
        let path = path.strip_prefix("file://").unwrap_or(path);
        self.add(self.place.workspace.rebase(path, self.place.base));
    }

    fn patch(&mut self, text: &str) {
        for path in patch::files(text) {
            self.patched = true;
            self.declared(&path);
        }
    }

    fn json(&mut self, input: &Json) {
        match parsed(input) {
            // Free text, such as a patch or a script.
            Some(Value::String(text)) => self.string("", &text, 0),
            Some(value) => self.value("", &value, 0),
            None => {}
        }
    }

    /// Walks a value. The depth of JSON is bounded by its parser.
    fn value(&mut self, key: &str, value: &Value, nested: usize) {
        match value {
            Value::String(text) => self.string(key, text, nested),
            Value::Array(items) => items.iter().for_each(|item| self.value(key, item, nested)),
            Value::Object(members) => {
                members.iter().for_each(|(key, value)| self.value(key, value, nested));
            }
            _ => {}
        }
    }

    fn string(&mut self, key: &str, text: &str, nested: usize) {
        let folded: String =
            key.chars().filter(|c| !matches!(c, '_' | '-')).flat_map(char::to_lowercase).take(40).collect();
        if CONTENT.contains(&folded.as_str()) {
            return;
        }
        let begins = text.trim_start().starts_with(['{', '[']);
        if begins
            && nested < NESTED
            && text.len() <= READ
            && let Ok(value @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str(text)
        {
            return self.value(key, &value, nested + 1);
        }
        if DECLARED.contains(&folded.as_str()) {
            return self.declared(text);
        }
        self.text(text);
    }

    /// Text in which paths may stand: a command, a script, a patch.
    fn text(&mut self, text: &str) {
        if patch::is_patch(text) {
            self.patch(text);
        }
        let text = text.get(..text.floor_char_boundary(LOOKED_AT)).unwrap_or_default();
        let whole = text.trim();
        if !whole.contains(['\n', '"', '\'', '`', ';', '|', '<', '>', '&', '$', '(', ')'])
            && let Some(path) = self.place.workspace.rebase(whole, None)
            && !whole.contains(' ')
        {
            return self.add(Some(path));
        }
        let workspace = self.place.workspace;
        for root in workspace.paths().filter_map(|path| path.to_str()) {
            let root = root.trim_end_matches(['/', '\\']);
            if root.is_empty() {
                continue;
            }
            for (at, _) in text.match_indices(root) {
                if self.loose >= LOOSE {
                    return;
                }
                // What precedes must not be a part of a longer path.
                let before = text.get(..at).and_then(|before| before.chars().next_back());
                if before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '/' | '.' | '-' | '_' | '\\')) {
                    continue;
                }
                let run = text.get(at..).unwrap_or_default();
                let ends = |c: char| {
                    c.is_whitespace()
                        || matches!(
                            c,
                            '"' | '\'' | '`' | ',' | ')' | ';' | '|' | '<' | '>' | '&' | '(' | '\\'
                        )
                };
                let tail = run.get(root.len()..).unwrap_or_default();
                let end = root.len() + tail.find(ends).unwrap_or(tail.len());
                let path = run.get(..end).unwrap_or_default().trim_end_matches([':', '.', ']', '}']);
                if let Some(path) = workspace.rebase(path, None) {
                    self.loose += 1;
                    self.add(Some(path));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use ibid_model::{Raw, Read, Shell, Text};
    use proptest::prelude::*;

    use super::*;

    fn named(tool: Tool, base: Option<&[String]>) -> Vec<String> {
        let workspace = Workspace::of(Path::new("/w/demo"), Path::new("/home/u")).unwrap();
        let call = ToolUse { id: "c".into(), name: "t".into(), tool, extra: Vec::new() };
        of(&call, Place { workspace: &workspace, base }).paths
    }

    fn raw(input: &str) -> Vec<String> {
        let input = Json::from_text(input).unwrap();
        named(Tool::Raw(Raw { name: "t".into(), input }), Some(&[]))
    }

    fn shell(command: &str) -> Vec<String> {
        let shell = Shell {
            command: Text::from(command),
            cwd: None,
            timeout_ms: None,
            description: None,
            background: None,
        };
        named(Tool::Shell(shell), Some(&[]))
    }

    #[test]
    fn declared_paths_may_be_relative_and_bare() {
        assert_eq!(raw(r#"{"path":"README.md"}"#), ["README.md"]);
        assert_eq!(raw(r#"{"file_paths":["a/b.rs","/w/demo/c.rs","/etc/passwd"]}"#), ["a/b.rs", "c.rs"]);
        assert_eq!(raw(r#"{"targetFile":"x.rs","files":[{"path":"y.rs"}]}"#), ["x.rs", "y.rs"]);
        assert_eq!(raw(r#""{\"filePath\":\"x.rs\"}""#), ["x.rs"]);
        assert_eq!(raw(r#"{"arguments":"{\"path\":\"x.rs\"}"}"#), ["x.rs"]);
    }

    #[test]
    fn other_text_contributes_absolute_paths_alone() {
        assert_eq!(shell("cat /w/demo/src/a.rs src/b.rs | grep x"), ["src/a.rs"]);
        assert_eq!(shell("cp '/w/demo/a b' /w/demo2/c; ls /w/demo"), ["a"]);
        assert_eq!(shell("cat /x/w/demo/a"), Vec::<String>::new());
        assert_eq!(raw(r#"{"note":"and/or"}"#), Vec::<String>::new());
        assert_eq!(raw(r#"{"path":"a.rs","content":"see /w/demo/b.rs"}"#), ["a.rs"]);
    }

    // evidence defect 10
    #[test]
    fn the_files_of_a_patch_are_named_by_it_wherever_it_stands() {
        let patch = "*** Begin Patch\n*** Update File: src/a.rs\n@@\n*** End Patch";
        assert_eq!(raw(&serde_json::to_string(patch).unwrap()), ["src/a.rs"]);
        assert_eq!(shell(&format!("apply_patch <<'EOF'\n{patch}\nEOF")), ["src/a.rs"]);
    }

    #[test]
    fn a_relative_path_belongs_to_the_directory_of_the_call() {
        let read = |path: &str| Tool::Read(Read { path: path.into(), offset: None, limit: None });
        assert_eq!(named(read("a.rs"), Some(&["sub".to_owned()])), ["sub/a.rs"]);
        assert_eq!(named(read("a.rs"), None), Vec::<String>::new());
        assert_eq!(named(read("/w/demo/a.rs"), None), ["a.rs"]);
    }

    proptest! {
        #[test]
        fn no_input_makes_a_path_that_leads_out(
            path in r#"(/w/demo|/w|\.|\.\.|~|[a-zA-Z]:|\\\\\?\\|\x00|é)?([/\\]{0,2}(\.\.|\.|[a-z .:*]{1,3}|[\x00-\x1f])){0,5}"#,
            key in "(path|file|command|x)",
            free in any::<bool>(),
        ) {
            let input = if free { serde_json::json!(path) } else { serde_json::json!({ key: path }) };
            for path in raw(&input.to_string()) {
                prop_assert!(!path.is_empty() && !path.starts_with('/') && !path.contains('\0'));
                prop_assert!(path.split('/').all(|part| !part.is_empty() && part != ".." && part != "."), "{path}");
            }
        }
    }
}
