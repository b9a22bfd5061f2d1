//! What kind of work a tool call is.

use ibid_model::{Json, Tool};

use super::command;
use crate::answer::{Access, Family};

/// Words of names, each with what a tool so named does. Where a name has several, the family that
/// stands first here counts: `create_pull_request` delivers, `write_todos` coordinates.
const WORDS: &[(Family, &[&str])] = &[
    (
        Family::Deliver,
        &["commit", "push", "publish", "deploy", "release", "pr", "prs", "pullrequest", "pull", "merge"],
    ),
    (
        Family::Coordinate,
        &[
            "plan", "plans", "agent", "agents", "subagent", "task", "tasks", "todo", "todos", "wait",
            "thread", "threads", "ask", "question", "handoff", "delegate", "message", "sleep",
        ],
    ),
    (
        Family::Verify,
        &[
            "test",
            "tests",
            "lint",
            "build",
            "verify",
            "check",
            "typecheck",
            "diagnostics",
            "diagnostic",
            "compile",
            "validate",
        ],
    ),
    (
        Family::Change,
        &[
            "write",
            "edit",
            "edits",
            "multiedit",
            "apply",
            "patch",
            "create",
            "delete",
            "insert",
            "replace",
            "rename",
            "remove",
            "move",
            "undo",
            "save",
            "modify",
            "append",
        ],
    ),
    (
        Family::Execute,
        &["bash", "shell", "exec", "execute", "run", "command", "terminal", "process", "powershell", "stdin"],
    ),
    (
        Family::Inspect,
        &[
            "read", "grep", "glob", "search", "list", "ls", "view", "open", "find", "fetch", "cat", "get",
            "show", "inspect", "look", "query", "browse", "image", "web", "lookup", "history", "snapshot",
        ],
    ),
];

/// The family of a call.
pub(crate) fn family(name: &str, tool: &Tool) -> Family {
    match tool {
        Tool::Read(_)
        | Tool::Search(_)
        | Tool::Find(_)
        | Tool::List(_)
        | Tool::Fetch(_)
        | Tool::WebSearch(_) => Family::Inspect,
        Tool::Write(_) | Tool::Edit(_) | Tool::Patch(_) => Family::Change,
        Tool::Task(_) | Tool::Todo(_) => Family::Coordinate,
        Tool::Shell(shell) => command::family(&shell.command.to_str()),
        Tool::Mcp(mcp) => of_named(&mcp.tool, &mcp.input),
        Tool::Raw(raw) => of_named(name, &raw.input),
        _ => of_name(name),
    }
}

fn of_named(name: &str, input: &Json) -> Family {
    match of_name(name) {
        Family::Execute => command_of(input).map_or(Family::Execute, |line| command::family(&line)),
        // One tool for both, that says what it does by an argument.
        Family::Change if asks_to_view(input) => Family::Inspect,
        family => family,
    }
}

/// The family that the words of a name tell.
fn of_name(name: &str) -> Family {
    let words = words(name);
    let told = WORDS.iter().find(|(_, known)| words.iter().any(|word| known.contains(&word.as_str())));
    told.map_or(Family::Other, |(family, _)| *family)
}

/// The words of a name: cut at what is neither letter nor digit, and at capitals.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    let mut letters = name.chars().take(200).peekable();
    while let Some(letter) = letters.next() {
        let small_next = letters.peek().is_some_and(|next| next.is_lowercase());
        let begins = !letter.is_alphanumeric()
            || (letter.is_uppercase() && (before.is_lowercase() || (before.is_uppercase() && small_next)))
            || (letter.is_ascii_digit() != before.is_ascii_digit() && before.is_alphanumeric());
        if begins {
            words.push(String::new());
        }
        if let (true, Some(word)) = (letter.is_alphanumeric(), words.last_mut()) {
            word.extend(letter.to_lowercase());
        }
        before = letter;
    }
    words.retain(|word| !word.is_empty());
    words
}

/// The arguments that are read to tell what a call does.
#[derive(serde::Deserialize, Default)]
#[serde(default)]
struct Told {
    command: Option<serde_json::Value>,
    cmd: Option<serde_json::Value>,
    script: Option<serde_json::Value>,
}

/// The largest input that is read for this, in bytes.
const READ: usize = 1 << 20;

fn told(input: &Json) -> Told {
    if input.as_str().len() > READ || !input.is_object() {
        return Told::default();
    }
    input.read().unwrap_or_default()
}

/// The command line that an input asks for, whether it is one string or a list of arguments.
fn command_of(input: &Json) -> Option<String> {
    let Told { command, cmd, script } = told(input);
    match command.or(cmd).or(script)? {
        serde_json::Value::String(line) => Some(line),
        serde_json::Value::Array(parts) => {
            let parts: Vec<&str> = parts.iter().filter_map(serde_json::Value::as_str).collect();
            match parts.as_slice() {
                // What a shell is given to run is one argument.
                [shell, flag, line, ..] if command::is_shell(shell) && flag.starts_with('-') => {
                    Some((*line).to_owned())
                }
                parts => Some(parts.join(" ")),
            }
        }
        _ => None,
    }
}

fn asks_to_view(input: &Json) -> bool {
    told(input).command.is_some_and(|command| command.as_str() == Some("view"))
}

/// What a call of this family does to the files that it names.
pub(crate) fn access(family: Family, tool: &Tool) -> Access {
    let changes = match tool {
        Tool::Write(_) | Tool::Edit(_) | Tool::Patch(_) => true,
        Tool::Mcp(_) | Tool::Raw(_) => family == Family::Change,
        _ => false,
    };
    if changes { Access::Change } else { Access::Read }
}

#[cfg(test)]
mod tests {
    use ibid_model::{Raw, Text};

    use super::*;

    fn of(name: &str, input: &str) -> Family {
        let raw = Raw { name: Text::from(name), input: Json::from_text(input).unwrap() };
        family(name, &Tool::Raw(raw))
    }

    // evidence defect 10
    #[test]
    fn a_family_is_told_by_whole_words() {
        for (name, expected) in [
            ("read_file", Family::Inspect),
            ("ReadFile", Family::Inspect),
            ("mcp__docs__searchPages", Family::Inspect),
            ("ls", Family::Inspect),
            ("apply_patch", Family::Change),
            ("MultiEdit", Family::Change),
            ("str_replace_editor", Family::Change),
            ("create_thread", Family::Coordinate),
            ("update_plan", Family::Coordinate),
            ("TodoWrite", Family::Coordinate),
            ("wait_agent", Family::Coordinate),
            ("run_tests", Family::Verify),
            ("create_pull_request", Family::Deliver),
            ("git_commit", Family::Deliver),
            ("exec", Family::Execute),
            ("tools", Family::Other),
            ("spreadsheet", Family::Other),
            ("deadline", Family::Other),
            ("", Family::Other),
        ] {
            assert_eq!(of(name, "{}"), expected, "{name}");
        }
    }

    #[test]
    fn a_command_tells_more_than_the_name_of_its_tool() {
        assert_eq!(of("bash", r#"{"command":"cargo test -p x"}"#), Family::Verify);
        assert_eq!(of("exec", r#"{"command":["bash","-lc","git commit -m x"]}"#), Family::Deliver);
        assert_eq!(of("exec", r#"{"command":["ls","-l"]}"#), Family::Execute);
        assert_eq!(of("str_replace_editor", r#"{"command":"view","path":"a"}"#), Family::Inspect);
    }
}
