//! Tool calls: Codex's own tools to the common ones and back.
//!
//! A call is typed only when [`encode`] gives a call again that [`decode`] reads as the same tool.
//! A tool that Codex has no counterpart for is written under its own name with an argument
//! `ibid_tool` that says what it is, so that reading gives the same tool back; a program that
//! reads the history takes it for an argument like any other.

use ibid_model::{Argument, Json, Mcp, Raw, Shell, Task, Text, Todo, TodoItem, Tool, ToolUse, WebSearch};
use serde::Serialize;

use super::patch;
use crate::core::Arguments;

/// The argument that says which common tool a call stands for.
const MARK: &str = "ibid_tool";
/// The value of the mark for an input that was no object and stands in `input`.
const WRAPPED: &str = "wrapped";
/// The value of the mark for a call that only looks like one of Codex's own.
const RAW: &str = "raw";

/// What a call was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Input {
    /// The arguments of a function, which Codex writes as a string of JSON.
    Arguments(Json),
    /// The free text of a custom tool.
    Free(Text),
}

/// A call as Codex writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NativeCall {
    pub(super) name: Text,
    pub(super) input: Input,
}

/// What a call asks for, and the arguments beyond that.
pub(super) fn decode(name: &Text, input: Input) -> (Tool, Vec<Argument>) {
    let json = match input {
        Input::Free(text) if name == "apply_patch" => return (patch::read(&text), Vec::new()),
        Input::Free(text) => {
            let input = Json::string(&text);
            return (Tool::Raw(Raw { name: name.clone(), input }), Vec::new());
        }
        Input::Arguments(json) => json,
    };
    let typed = Arguments::of(&json).and_then(|arguments| decode_arguments(name, arguments, &json));
    typed.unwrap_or_else(|| (Tool::Raw(Raw { name: name.clone(), input: json }), Vec::new()))
}

fn decode_arguments(name: &Text, arguments: Arguments, json: &Json) -> Option<(Tool, Vec<Argument>)> {
    if arguments.has(MARK) {
        return decode_marked(name, arguments);
    }
    let (tool, rest) = read_own(name, arguments, json)?;
    let again = encode_own(&tool, &rest).and_then(|call| match call.input {
        Input::Free(text) => Some(patch::read(&text)),
        Input::Arguments(json) => read_own(&call.name, Arguments::of(&json)?, &json).map(|(tool, _)| tool),
    });
    (again.as_ref() == Some(&tool)).then_some((tool, rest))
}

/// One of Codex's own tools, by its name.
fn read_own(name: &Text, mut arguments: Arguments, json: &Json) -> Option<(Tool, Vec<Argument>)> {
    let tool = match name.as_str() {
        "exec_command" => {
            let command = arguments.take_text("cmd")?;
            shell_with(command, &mut arguments)
        }
        "shell" | "shell_command" | "container.exec" | "local_shell" => return shell(arguments),
        "apply_patch" => {
            let patch = arguments.take_text("input").or_else(|| arguments.take_text("patch"))?;
            patch::read(&patch)
        }
        "update_plan" => Tool::Todo(Todo { items: plan(&mut arguments)? }),
        "web_search" => Tool::WebSearch(WebSearch { query: arguments.take_text("query")? }),
        "spawn_agent" => Tool::Task(Task {
            prompt: arguments.take_text("message")?,
            description: arguments.take_text("task_name"),
            agent: arguments.take_text("agent_type"),
        }),
        _ => {
            // Codex joins server and tool with two underscores; only two parts are certain.
            let (server, tool) = name.strip_prefix("mcp__")?.split_once("__")?;
            if server.is_empty() || tool.is_empty() || tool.contains("__") {
                return None;
            }
            let mcp = Mcp { server: server.into(), tool: tool.into(), input: json.clone() };
            return Some((Tool::Mcp(mcp), Vec::new()));
        }
    };
    Some((tool, arguments.into_rest()))
}

fn shell_with(command: Text, arguments: &mut Arguments) -> Tool {
    Tool::Shell(Shell {
        command,
        cwd: arguments.take_text("workdir"),
        timeout_ms: arguments.take("timeout_ms"),
        description: arguments.take_text("description"),
        background: arguments.take("background"),
    })
}

/// `shell` takes words (0.39 to 0.100), `shell_command` a line.
fn shell(mut arguments: Arguments) -> Option<(Tool, Vec<Argument>)> {
    let words: Option<Vec<String>> = arguments.take("command").or_else(|| arguments.take("cmd"));
    let command = match words {
        Some(words) => match words.as_slice() {
            [program, patch] if program == "apply_patch" => {
                let rest = arguments.into_rest();
                return Some((patch::read(&patch.as_str().into()), rest));
            }
            [shell, flag, line]
                if matches!(shell.rsplit('/').next(), Some("bash" | "sh" | "zsh"))
                    && matches!(flag.as_str(), "-lc" | "-c") =>
            {
                line.as_str().into()
            }
            [] => return None,
            words => Text::from(words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")),
        },
        None => arguments.take_text("command").or_else(|| arguments.take_text("cmd"))?,
    };
    let tool = shell_with(command, &mut arguments);
    Some((tool, arguments.into_rest()))
}

/// A word as a POSIX shell reads it back.
fn quoted(word: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"@%+=:,./_-".contains(&b);
    if !word.is_empty() && word.bytes().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

fn plan(arguments: &mut Arguments) -> Option<Vec<TodoItem>> {
    let mut items = Vec::new();
    let steps: Vec<Arguments> = arguments.take("plan")?;
    for mut step in steps {
        let item = TodoItem { text: step.take_text("step")?, status: step.take_text("status")? };
        if !step.into_rest().is_empty() {
            return None;
        }
        items.push(item);
    }
    Some(items)
}

/// The fields of the common tools that Codex has no counterpart for.
fn fields(kind: &str) -> Option<&'static [&'static str]> {
    Some(match kind {
        "shell" => &["command", "cwd", "timeout_ms", "description", "background"],
        "read" => &["path", "offset", "limit"],
        "write" => &["path", "content"],
        "edit" => &["path", "edits"],
        "patch" => &["patch"],
        "search" => &["pattern", "path", "glob"],
        "find" => &["pattern", "path"],
        "list" => &["path"],
        "fetch" => &["url", "prompt"],
        "web_search" => &["query"],
        "task" => &["prompt", "description", "agent"],
        "todo" => &["items"],
        "mcp" => &["server", "tool", "input"],
        _ => return None,
    })
}

fn decode_marked(name: &Text, mut arguments: Arguments) -> Option<(Tool, Vec<Argument>)> {
    let kind = arguments.take_text(MARK)?;
    let raw = |input: Json| Some((Tool::Raw(Raw { name: name.clone(), input }), Vec::new()));
    if kind == RAW {
        return raw(arguments.to_json());
    }
    if kind == WRAPPED {
        return raw(arguments.take_json("input")?);
    }
    let mut typed = Arguments::default();
    typed.push("kind", kind.as_str());
    for field in fields(&kind)? {
        if let Some(value) = arguments.take_json(field) {
            typed.push(field, &value);
        }
    }
    let tool: Tool = typed.to_json().read().ok()?;
    Some((tool, arguments.into_rest()))
}

/// A call as it is written, and how its name or input had to change.
#[derive(Clone, Debug)]
pub(super) struct Encoded {
    pub(super) call: NativeCall,
    /// Codex has no such tool.
    pub(super) kept: bool,
    /// The name was spelled with the characters that Codex allows.
    pub(super) renamed: bool,
    /// The input was no object.
    pub(super) wrapped: bool,
}

/// Writes a call so that [`decode`] reads the same tool back.
pub(super) fn encode(call: &ToolUse) -> Encoded {
    if let Some(own) = encode_own(&call.tool, &call.extra) {
        let read = decode(&own.name, own.input.clone());
        if read.0 == call.tool {
            return Encoded { call: own, kept: false, renamed: false, wrapped: false };
        }
    }
    let written = match &call.tool {
        Tool::Raw(raw) if !raw.name.is_empty() => &raw.name,
        _ => &call.name,
    };
    let (name, renamed) = allowed_name(written);
    let (input, wrapped) = match &call.tool {
        Tool::Raw(raw) => encode_raw(&name, raw, &call.extra),
        tool => (Input::Arguments(marked(tool, &call.extra)), false),
    };
    Encoded { call: NativeCall { name, input }, kept: true, renamed, wrapped }
}

/// A tool in the form of Codex's own; none when it has no counterpart.
fn encode_own(tool: &Tool, extra: &[Argument]) -> Option<NativeCall> {
    let mut arguments = Arguments::default();
    let name = match tool {
        Tool::Shell(shell) => {
            arguments.push("cmd", &shell.command);
            arguments.push_some("workdir", shell.cwd.as_ref());
            arguments.push_some("timeout_ms", shell.timeout_ms.as_ref());
            arguments.push_some("description", shell.description.as_ref());
            arguments.push_some("background", shell.background.as_ref());
            "exec_command"
        }
        Tool::Write(_) | Tool::Edit(_) | Tool::Patch(_) => {
            let input = Input::Free(patch::write(tool)?.into());
            return Some(NativeCall { name: "apply_patch".into(), input });
        }
        Tool::Todo(todo) => {
            #[derive(Serialize)]
            struct Step<'a> {
                step: &'a Text,
                status: &'a Text,
            }
            let steps: Vec<_> =
                todo.items.iter().map(|item| Step { step: &item.text, status: &item.status }).collect();
            arguments.push("plan", &steps);
            "update_plan"
        }
        Tool::WebSearch(search) => {
            arguments.push("query", &search.query);
            "web_search"
        }
        Tool::Task(task) => {
            arguments.push("message", &task.prompt);
            arguments.push_some("task_name", task.description.as_ref());
            arguments.push_some("agent_type", task.agent.as_ref());
            "spawn_agent"
        }
        Tool::Mcp(mcp) => {
            let name = Text::from(format!("mcp__{}__{}", mcp.server, mcp.tool));
            let (allowed, renamed) = allowed_name(&name);
            if renamed || !mcp.input.is_object() {
                return None;
            }
            return Some(NativeCall { name: allowed, input: Input::Arguments(mcp.input.clone()) });
        }
        _ => return None,
    };
    arguments.push_rest(extra);
    Some(NativeCall { name: name.into(), input: Input::Arguments(arguments.to_json()) })
}

/// A tool under another harness's name: its fields, the other arguments, and the mark.
fn marked(tool: &Tool, extra: &[Argument]) -> Json {
    let written = Json::of(tool).ok();
    let mut arguments = written.as_ref().and_then(Arguments::of).unwrap_or_default();
    let kind = arguments.take_text("kind").unwrap_or_default();
    arguments.push_rest(extra);
    arguments.push(MARK, kind.as_str());
    arguments.to_json()
}

/// The input of a raw call; it gets a mark where it would be read as something else.
fn encode_raw(name: &Text, raw: &Raw, extra: &[Argument]) -> (Input, bool) {
    let same = |input: &Input| {
        let (read, _) = decode(name, input.clone());
        matches!(read, Tool::Raw(read) if read.input.compact() == raw.input.compact())
    };
    if let Some(text) = raw.input.as_string() {
        let free = Input::Free(text.into());
        if same(&free) {
            return (free, false);
        }
    }
    let plain = Input::Arguments(raw.input.clone());
    if raw.input.is_object() {
        if extra.is_empty() && same(&plain) {
            return (plain, false);
        }
        let mut arguments = Arguments::of(&raw.input).unwrap_or_default();
        arguments.push_rest(extra);
        arguments.push(MARK, RAW);
        return (Input::Arguments(arguments.to_json()), false);
    }
    let mut arguments = Arguments::default();
    arguments.push("input", &raw.input);
    arguments.push(MARK, WRAPPED);
    (Input::Arguments(arguments.to_json()), true)
}

/// The greatest length of a tool name that the provider takes.
const NAME_BYTES: usize = 64;

/// A name with the characters that the provider takes (`A-Z a-z 0-9 _ -`), and whether it
/// changed.
fn allowed_name(name: &Text) -> (Text, bool) {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.len() <= NAME_BYTES && name.chars().all(fits) {
        return (name.clone(), false);
    }
    let spelled: String = name.chars().take(NAME_BYTES).map(|c| if fits(c) { c } else { '_' }).collect();
    (if spelled.is_empty() { "tool".into() } else { spelled.into() }, true)
}

#[cfg(test)]
mod tests {
    use ibid_model::{Fetch, List, Patch, Read, Search, Write};

    use super::*;

    fn decoded(name: &str, arguments: &str) -> (Tool, Vec<Argument>) {
        decode(&name.into(), Input::Arguments(Json::from_text(arguments).unwrap()))
    }

    fn call(name: &str, tool: Tool) -> ToolUse {
        ToolUse { id: "c".into(), name: name.into(), tool, extra: Vec::new() }
    }

    fn shell_of(command: &str) -> Shell {
        Shell { command: command.into(), cwd: None, timeout_ms: None, description: None, background: None }
    }

    #[test]
    fn every_versions_shell_is_a_shell() {
        let (tool, rest) = decoded(
            "shell",
            r#"{"command":["bash","-lc","cat hello.txt"],"workdir":"/w","timeout_ms":5000,"justification":"x"}"#,
        );
        let shell = Shell { cwd: Some("/w".into()), timeout_ms: Some(5000), ..shell_of("cat hello.txt") };
        assert_eq!(tool, Tool::Shell(shell));
        assert_eq!(rest.len(), 1);
        let (tool, _) = decoded("exec_command", r#"{"cmd":"ls","yield_time_ms":250}"#);
        assert_eq!(tool, Tool::Shell(shell_of("ls")));
        let (tool, _) = decoded("shell", r#"{"command":["ls","-la","a b"]}"#);
        assert_eq!(tool, Tool::Shell(shell_of("ls -la 'a b'")));
        let (tool, _) = decoded("shell_command", r#"{"command":"ls | wc"}"#);
        assert_eq!(tool, Tool::Shell(shell_of("ls | wc")));
    }

    #[test]
    fn a_call_that_the_tool_would_refuse_stays_raw() {
        for (name, arguments) in [
            ("shell", r#"{"bogus":1}"#),
            ("exec_command", r#"{"cmd":7}"#),
            ("update_plan", r#"{"plan":[{"step":"a"}]}"#),
        ] {
            assert!(matches!(decoded(name, arguments).0, Tool::Raw(_)), "{name}");
        }
    }

    #[test]
    fn an_mcp_tool_is_named_by_server_and_tool() {
        let (tool, rest) = decoded("mcp__docs__search", r#"{"q":1.50}"#);
        let input = Json::from_text(r#"{"q":1.50}"#).unwrap();
        assert_eq!(tool, Tool::Mcp(Mcp { server: "docs".into(), tool: "search".into(), input }));
        assert!(rest.is_empty());
        assert!(matches!(decoded("mcp__a__b__c", "{}").0, Tool::Raw(_)));
    }

    #[test]
    fn every_tool_is_read_back_as_it_was() {
        let raw = |name: &str, input: &str| {
            Tool::Raw(Raw { name: name.into(), input: Json::from_text(input).unwrap() })
        };
        let tools = [
            Tool::Shell(Shell { background: Some(true), ..shell_of("a\n'b'") }),
            Tool::Read(Read { path: "a".into(), offset: Some(3), limit: None }),
            Tool::Write(Write { path: "a".into(), content: "with newline\n".into() }),
            Tool::Write(Write { path: "a".into(), content: "without".into() }),
            Tool::Patch(Patch { patch: "*** Begin Patch\n*** Delete File: a\n*** End Patch".into() }),
            Tool::Search(Search { pattern: "p".into(), path: None, glob: Some("*.rs".into()) }),
            Tool::List(List { path: None }),
            Tool::Fetch(Fetch { url: "http://x".into(), prompt: None }),
            Tool::WebSearch(WebSearch { query: "q".into() }),
            Tool::Task(Task { prompt: "p".into(), description: None, agent: Some("a".into()) }),
            Tool::Todo(Todo { items: vec![TodoItem { text: "t".into(), status: "pending".into() }] }),
            Tool::Mcp(Mcp { server: "a".into(), tool: "b__c".into(), input: Json::null() }),
            raw("no_such_tool", r#"{"x":12345678901234567890123}"#),
            raw("exec", r#""free text""#),
            raw("shell", r#"{"command":"looks like Codex's own"}"#),
            raw("apply_patch", r#""*** Begin Patch\n*** End Patch""#),
            raw("odd", "[1,2]"),
        ];
        for tool in tools {
            let Encoded { call: native, .. } = encode(&call("Read", tool.clone()));
            assert_eq!(decode(&native.name, native.input).0, tool);
        }
    }

    #[test]
    fn a_name_with_other_characters_is_spelled_with_allowed_ones() {
        let tool = Tool::Raw(Raw { name: "a.b/ü".into(), input: Json::from_text("{}").unwrap() });
        let encoded = encode(&call("a.b/ü", tool));
        assert_eq!((encoded.call.name.as_str(), encoded.renamed), ("a_b__", true));
    }
}
