//! The tools of this family: names and inputs on one side, what they ask for on the other.

use ibid_model::{
    Argument, Edit, Fetch, Find, Json, List, Mcp, Patch, Raw, Read, Replacement, Search, Shell, Task, Text,
    Todo, TodoItem, Tool, Write,
};

use crate::core::Arguments;

/// What a call asks for, and the arguments beyond that. A call of any other tool, or with an input
/// that would not come back as it was, is raw.
pub(crate) fn decode(name: &Text, input: &Json) -> (Tool, Vec<Argument>) {
    let typed = Arguments::of(input).and_then(|mut arguments| {
        let tool = typed(name, input, &mut arguments)?;
        Some((tool, arguments.into_rest()))
    });
    typed.unwrap_or_else(|| (Tool::Raw(Raw { name: name.clone(), input: input.clone() }), Vec::new()))
}

/// An argument that may be absent; none (the call stays raw) when it is there and of another type.
fn optional<T: serde::de::DeserializeOwned>(arguments: &mut Arguments, name: &str) -> Option<Option<T>> {
    let there = arguments.has(name);
    let value = arguments.take(name);
    (value.is_some() == there).then_some(value)
}

fn optional_text(arguments: &mut Arguments, name: &str) -> Option<Option<Text>> {
    Some(optional::<String>(arguments, name)?.map(Text::from))
}

fn typed(name: &str, input: &Json, arguments: &mut Arguments) -> Option<Tool> {
    Some(match name {
        "bash" => Tool::Shell(Shell {
            command: arguments.take_text("command")?,
            cwd: optional_text(arguments, "workdir")?,
            timeout_ms: optional(arguments, "timeout")?,
            description: optional_text(arguments, "description")?,
            background: optional(arguments, "background")?,
        }),
        "read" => Tool::Read(Read {
            path: arguments.take_text("filePath")?,
            offset: optional(arguments, "offset")?,
            limit: optional(arguments, "limit")?,
        }),
        "write" => Tool::Write(Write {
            path: arguments.take_text("filePath")?,
            content: arguments.take_text("content")?,
        }),
        "edit" => {
            let path = arguments.take_text("filePath")?;
            let (old, new) = (arguments.take_text("oldString")?, arguments.take_text("newString")?);
            let all = optional(arguments, "replaceAll")?.unwrap_or(false);
            Tool::Edit(Edit { path, edits: vec![Replacement { old, new, all }] })
        }
        "apply_patch" => Tool::Patch(Patch { patch: arguments.take_text("patchText")? }),
        "grep" => Tool::Search(Search {
            pattern: arguments.take_text("pattern")?,
            path: optional_text(arguments, "path")?,
            glob: optional_text(arguments, "include")?,
        }),
        "glob" => Tool::Find(Find {
            pattern: arguments.take_text("pattern")?,
            path: optional_text(arguments, "path")?,
        }),
        "list" => Tool::List(List { path: optional_text(arguments, "path")? }),
        "webfetch" => Tool::Fetch(Fetch {
            url: arguments.take_text("url")?,
            prompt: optional_text(arguments, "prompt")?,
        }),
        "task" => Tool::Task(Task {
            prompt: arguments.take_text("prompt")?,
            description: optional_text(arguments, "description")?,
            agent: optional_text(arguments, "subagent_type")?,
        }),
        "todowrite" => Tool::Todo(Todo { items: todo_items(arguments)? }),
        _ => {
            let (server, tool) = name.strip_prefix("mcp__")?.split_once("__")?;
            *arguments = Arguments::default();
            Tool::Mcp(Mcp { server: server.into(), tool: tool.into(), input: input.clone() })
        }
    })
}

/// One entry of a list of things to do, as far as the common model has it.
#[derive(serde::Serialize, serde::Deserialize)]
struct Item {
    content: Text,
    status: Text,
    #[serde(flatten, skip_serializing)]
    more: std::collections::BTreeMap<String, serde::de::IgnoredAny>,
}

/// The list of things to do. One whose entries have more than text and status (a priority) also
/// stays an argument, so that nothing of it is lost.
fn todo_items(arguments: &mut Arguments) -> Option<Vec<TodoItem>> {
    let written = arguments.take_json("todos")?;
    let items: Vec<Item> = written.read().ok()?;
    if items.iter().any(|item| !item.more.is_empty()) {
        arguments.push("todos", &written);
    }
    Some(items.into_iter().map(|item| TodoItem { text: item.content, status: item.status }).collect())
}

fn encode_typed(tool: &Tool, extra: &[Argument]) -> Option<(&'static str, Arguments)> {
    let mut arguments = Arguments::default();
    let name = match tool {
        Tool::Shell(shell) => {
            arguments.push("command", &shell.command);
            arguments.push_some("timeout", shell.timeout_ms.as_ref());
            arguments.push_some("workdir", shell.cwd.as_ref());
            arguments.push_some("description", shell.description.as_ref());
            arguments.push_some("background", shell.background.as_ref());
            "bash"
        }
        Tool::Read(read) => {
            arguments.push("filePath", &read.path);
            arguments.push_some("offset", read.offset.as_ref());
            arguments.push_some("limit", read.limit.as_ref());
            "read"
        }
        Tool::Write(write) => {
            arguments.push("filePath", &write.path);
            arguments.push("content", &write.content);
            "write"
        }
        Tool::Edit(edit) => {
            let [one] = edit.edits.as_slice() else { return None };
            arguments.push("filePath", &edit.path);
            arguments.push("oldString", &one.old);
            arguments.push("newString", &one.new);
            if one.all {
                arguments.push("replaceAll", &true);
            }
            "edit"
        }
        Tool::Patch(patch) => {
            arguments.push("patchText", &patch.patch);
            "apply_patch"
        }
        Tool::Search(search) => {
            arguments.push("pattern", &search.pattern);
            arguments.push_some("path", search.path.as_ref());
            arguments.push_some("include", search.glob.as_ref());
            "grep"
        }
        Tool::Find(find) => {
            arguments.push("pattern", &find.pattern);
            arguments.push_some("path", find.path.as_ref());
            "glob"
        }
        Tool::List(list) => {
            arguments.push_some("path", list.path.as_ref());
            "list"
        }
        Tool::Fetch(fetch) => {
            arguments.push("url", &fetch.url);
            arguments.push_some("prompt", fetch.prompt.as_ref());
            "webfetch"
        }
        Tool::Task(task) => {
            arguments.push_some("description", task.description.as_ref());
            arguments.push("prompt", &task.prompt);
            arguments.push_some("subagent_type", task.agent.as_ref());
            "task"
        }
        Tool::Todo(todo) => {
            if !extra.iter().any(|argument| argument.name == "todos") {
                let item = |item: &TodoItem| Item {
                    content: item.text.clone(),
                    status: item.status.clone(),
                    more: Default::default(),
                };
                arguments.push("todos", &todo.items.iter().map(item).collect::<Vec<_>>());
            }
            "todowrite"
        }
        _ => return None,
    };
    Some((name, arguments))
}

/// A call in the form of this family.
#[derive(Debug)]
pub(crate) struct Encoded {
    /// The tool's name.
    pub(crate) name: Text,
    /// The input, always an object.
    pub(crate) input: Json,
    /// Whether the tool has no counterpart and kept its own name.
    pub(crate) raw: bool,
    /// Whether the name had characters that providers refuse.
    pub(crate) renamed: bool,
    /// Whether the input was no object.
    pub(crate) wrapped: bool,
}

/// The call as the program would have written it. What has no counterpart keeps its name and
/// input.
pub(crate) fn encode(name: &Text, tool: &Tool, extra: &[Argument]) -> Encoded {
    if let Some((native, mut arguments)) = encode_typed(tool, extra) {
        arguments.push_rest(extra);
        let (native, input) = (Text::from(native), arguments.to_json());
        if decode(&native, &input).0 == *tool {
            return Encoded { name: native, input, raw: false, renamed: false, wrapped: false };
        }
    }
    let (name, input) = match tool {
        Tool::Mcp(mcp) => {
            let full = Text::from(format!("mcp__{}__{}", mcp.server, mcp.tool));
            let same = matches!(decode(&full, &mcp.input), (Tool::Mcp(back), _) if back == *mcp);
            if same && spelled(&full) == full {
                let input = mcp.input.clone();
                return Encoded { name: full, input, raw: false, renamed: false, wrapped: false };
            }
            (name.clone(), mcp.input.clone())
        }
        Tool::Raw(raw) => (raw.name.clone(), raw.input.clone()),
        typed => (name.clone(), plain_input(typed, extra)),
    };
    let spelled = spelled(&name);
    let wrapped = !input.is_object();
    let input = if wrapped {
        let mut arguments = Arguments::default();
        arguments.push("input", &input);
        arguments.to_json()
    } else {
        input
    };
    let raw =
        !matches!(tool, Tool::Raw(_)) || spelled != name || wrapped || decode(&spelled, &input).0 != *tool;
    Encoded { renamed: spelled != name, name: spelled, input, raw, wrapped }
}

/// The fields of a typed call under the names of the common model.
fn plain_input(tool: &Tool, extra: &[Argument]) -> Json {
    let mut arguments = Json::of(tool).ok().as_ref().and_then(Arguments::of).unwrap_or_default();
    arguments.take_json("kind");
    arguments.push_rest(extra);
    arguments.to_json()
}

/// The name with the characters and the length that every provider takes.
fn spelled(name: &str) -> Text {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.len() <= 64 && name.chars().all(fits) {
        return Text::from(name);
    }
    let clean: String = name.chars().map(|c| if fits(c) { c } else { '_' }).take(64).collect();
    if clean.is_empty() { Text::from("tool") } else { Text::from(clean) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn there_and_back(name: &str, input: &str) -> (Tool, String) {
        let (name, input) = (Text::from(name), Json::from_text(input).unwrap());
        let (tool, extra) = decode(&name, &input);
        let encoded = encode(&name, &tool, &extra);
        assert_eq!(encoded.name, name);
        assert_eq!(decode(&encoded.name, &encoded.input), (tool.clone(), extra));
        (tool, encoded.input.as_str().to_owned())
    }

    #[test]
    fn each_tool_comes_back_as_it_was_called() {
        for (name, input) in [
            ("bash", r#"{"command":"ls","timeout":5,"workdir":"/w","description":"d"}"#),
            ("read", r#"{"filePath":"/a","offset":1,"limit":2}"#),
            ("write", r#"{"filePath":"/a","content":"x"}"#),
            ("edit", r#"{"filePath":"/a","oldString":"x","newString":"y","replaceAll":true}"#),
            ("apply_patch", r#"{"patchText":"*** Begin Patch"}"#),
            ("grep", r#"{"pattern":"x","path":"/w","include":"*.rs"}"#),
            ("glob", r#"{"pattern":"*"}"#),
            ("webfetch", r#"{"url":"http://h/","format":"text"}"#),
            ("task", r#"{"description":"d","prompt":"p","subagent_type":"general","task_id":"ses_1"}"#),
            ("todowrite", r#"{"todos":[{"content":"a","status":"pending","priority":"high"}]}"#),
        ] {
            let (tool, back) = there_and_back(name, input);
            assert!(!matches!(tool, Tool::Raw(_)), "{name}");
            assert_eq!(back, input);
        }
    }

    #[test]
    fn an_input_that_does_not_fit_stays_raw() {
        for (name, input) in [
            ("read", r#"{"file":"/a"}"#),
            ("bash", r#"{"command":"ls","timeout":"5"}"#),
            ("todowrite", r#"{"todos":"[]"}"#),
            ("invalid", r#"{"tool":"x","error":"y"}"#),
            ("github_search", r#"{"q":1.50}"#),
        ] {
            assert!(matches!(there_and_back(name, input).0, Tool::Raw(_)), "{name}");
        }
    }

    #[test]
    fn several_replacements_in_one_call_have_no_counterpart_and_say_so() {
        let edit = |old: &str| Replacement { old: old.into(), new: "n".into(), all: false };
        let tool = Tool::Edit(Edit { path: "/a".into(), edits: vec![edit("a"), edit("b")] });
        let encoded = encode(&"MultiEdit".into(), &tool, &[]);
        assert!(encoded.raw);
        assert_eq!(encoded.name, "MultiEdit");
    }

    #[test]
    fn a_free_text_input_is_wrapped() {
        let tool = Tool::Raw(Raw { name: "js repl".into(), input: Json::string("1+1") });
        let encoded = encode(&"js repl".into(), &tool, &[]);
        assert_eq!(encoded.input.as_str(), r#"{"input":"1+1"}"#);
        assert_eq!(encoded.name, "js_repl");
        assert!(encoded.wrapped && encoded.renamed);
    }
}
