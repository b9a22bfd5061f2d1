//! Tool calls, in one readable form for each kind.

use ibid_model::{Argument, Json, Replacement, Todo, Tool, ToolUse};

use super::Options;
use super::result::shortened;
use super::style::{CALL, FAINT, paint};
use crate::output::{clean, clean_line};
use crate::table::counted;

/// The indent of what belongs to a call.
const BODY: &str = "    ";

/// A call: a line that says what was done, and under it what the line has no room for.
pub(super) fn call(call: &ToolUse, options: Options) -> String {
    let (line, body) = described(&call.tool, options);
    let mut out = format!("  {}{}\n", paint(CALL, line), extras(&call.extra));
    out.push_str(&body);
    out
}

fn described(tool: &Tool, options: Options) -> (String, String) {
    let nothing = String::new;
    match tool {
        Tool::Shell(shell) => {
            let command = clean(&shell.command);
            let mut lines = command.trim_end().splitn(2, '\n');
            let mut line = format!("$ {}", lines.next().unwrap_or_default());
            if let Some(cwd) = &shell.cwd {
                line.push_str(&format!("  (in {})", clean_line(cwd)));
            }
            if shell.background == Some(true) {
                line.push_str("  (in the background)");
            }
            (line, lines.next().map_or_else(nothing, |rest| shortened(rest, options, BODY)))
        }
        Tool::Read(read) => {
            let from = read.offset.map(|offset| format!(" from {offset}")).unwrap_or_default();
            let many = read.limit.map(|limit| format!(", {limit} lines")).unwrap_or_default();
            (format!("read {}{from}{many}", clean_line(&read.path)), nothing())
        }
        Tool::Write(write) => {
            let lines = write.content.lines().count();
            let line = format!("write {} ({})", clean_line(&write.path), counted(lines as u64, "line"));
            (line, shortened(&write.content, options, BODY))
        }
        Tool::Edit(edit) => {
            let line = format!("edit {}", clean_line(&edit.path));
            (line, edit.edits.iter().map(|edit| replacement(edit, options)).collect())
        }
        Tool::Patch(patch) => ("patch".to_owned(), shortened(&patch.patch, options, BODY)),
        Tool::Search(search) => {
            let place = search.path.as_ref().map(|path| format!(" in {}", clean_line(path)));
            let files = search.glob.as_ref().map(|glob| format!(" ({})", clean_line(glob)));
            let (place, files) = (place.unwrap_or_default(), files.unwrap_or_default());
            (format!("search {}{place}{files}", clean_line(&search.pattern)), nothing())
        }
        Tool::Find(find) => {
            let place = find.path.as_ref().map(|path| format!(" in {}", clean_line(path)));
            (format!("find {}{}", clean_line(&find.pattern), place.unwrap_or_default()), nothing())
        }
        Tool::List(list) => {
            let place = list.path.as_ref().map_or_else(|| ".".to_owned(), |path| clean_line(path));
            (format!("list {place}"), nothing())
        }
        Tool::Fetch(fetch) => {
            let body = fetch.prompt.as_ref().map(|prompt| shortened(prompt, options, BODY));
            (format!("fetch {}", clean_line(&fetch.url)), body.unwrap_or_default())
        }
        Tool::WebSearch(search) => (format!("search the web for {}", clean_line(&search.query)), nothing()),
        Tool::Task(task) => {
            let agent = task.agent.as_ref().map_or_else(|| "subagent".to_owned(), |agent| clean_line(agent));
            let name = task.description.as_ref().map(|name| format!(": {}", clean_line(name)));
            let line = format!("task for {agent}{}", name.unwrap_or_default());
            (line, shortened(&task.prompt, options, BODY))
        }
        Tool::Todo(todo) => ("to do".to_owned(), items(todo)),
        Tool::Mcp(mcp) => {
            let (input, body) = input(&mcp.input, options);
            (format!("{} {}{input}", clean_line(&mcp.server), clean_line(&mcp.tool)), body)
        }
        Tool::Raw(raw) => {
            let (input, body) = input(&raw.input, options);
            (format!("{}{input}", clean_line(&raw.name)), body)
        }
        other => (other.kind().to_owned(), nothing()),
    }
}

fn replacement(edit: &Replacement, options: Options) -> String {
    let mut out = String::new();
    if !edit.old.is_empty() {
        out.push_str(&shortened(&edit.old, options, "    - "));
    }
    if !edit.new.is_empty() {
        out.push_str(&shortened(&edit.new, options, "    + "));
    }
    if edit.all {
        out.push_str(&format!("{BODY}{}\n", paint(FAINT, "(every occurrence)")));
    }
    out
}

fn items(todo: &Todo) -> String {
    let mut out = String::new();
    for item in &todo.items {
        let mark = match item.status.as_str() {
            "completed" | "done" => "[x]".to_owned(),
            "pending" | "todo" => "[ ]".to_owned(),
            other => format!("[{}]", clean_line(other)),
        };
        out.push_str(&format!("{BODY}{mark} {}\n", clean_line(&item.text)));
    }
    out
}

/// A short input on the call's own line, a long one below it.
fn input(input: &Json, options: Options) -> (String, String) {
    let text = input.as_string().unwrap_or_else(|| input.compact().as_str().to_owned());
    if text.len() <= 100 && !text.contains('\n') {
        (format!(" {}", clean_line(&text)), String::new())
    } else {
        (String::new(), shortened(&text, options, BODY))
    }
}

fn extras(extra: &[Argument]) -> String {
    if extra.is_empty() {
        return String::new();
    }
    let words: Vec<String> = extra
        .iter()
        .map(|argument| {
            let value: String = clean_line(argument.value.compact().as_str()).chars().take(60).collect();
            format!("{}={value}", clean_line(&argument.name))
        })
        .collect();
    format!("  {}", paint(FAINT, words.join(" ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ibid_model::{Edit, Raw, Shell};

    fn shown(tool: Tool) -> String {
        let call = ToolUse { id: "c".into(), name: "x".into(), tool, extra: Vec::new() };
        anstream::adapter::strip_str(&super::call(&call, Options::default())).to_string()
    }

    #[test]
    fn a_shell_call_reads_like_a_prompt() {
        let shell = Shell {
            command: "cd /x\nls".into(),
            cwd: Some("/w".into()),
            timeout_ms: None,
            description: None,
            background: None,
        };
        assert_eq!(shown(Tool::Shell(shell)), "  $ cd /x  (in /w)\n    ls\n");
    }

    #[test]
    fn an_edit_shows_what_went_and_what_came() {
        let edits = vec![Replacement { old: "a".into(), new: "b".into(), all: false }];
        let edit = Tool::Edit(Edit { path: "f.rs".into(), edits });
        assert_eq!(shown(edit), "  edit f.rs\n    - a\n    + b\n");
    }

    // https://github.com/NousResearch/hermes-agent/issues/40103 (fault 62)
    #[test]
    fn a_call_cannot_write_to_the_clipboard() {
        let raw = Raw { name: "x\u{1b}]52;c;aGk=\u{7}".into(), input: Json::string("\u{1b}[2Jboo") };
        assert_eq!(shown(Tool::Raw(raw)), "  x boo\n");
    }
}
