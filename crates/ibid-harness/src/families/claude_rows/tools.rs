//! The tools of the program, and those of the model.
//!
//! A call is typed only where writing it gives the same call again (names and inputs as in
//! `docs/formats/tools.md`); every other one stays raw. Arguments that the typed form has no
//! field for ride along.

use ibid_model::{
    Argument, Edit, Fetch, Find, Json, List, LossKind, Losses, Mcp, MessageId, Patch, Raw, Read, Search,
    Shell, Task, Text, Todo, Tool, ToolUse, WebSearch, Write,
};
use serde::Serialize;
use serde_json::value::RawValue;

use super::input::{Input, replacements, todos};
use crate::core::Arguments;
use crate::families::mcp_name;

/// The longest tool name that the provider takes.
const NAME_BYTES: usize = 128;

type Decoded = Result<Option<Tool>, serde_json::Error>;

/// Reads a call: the tool, and the arguments beyond it.
///
/// # Errors
/// When a string that the tool needs cannot be read (a lone surrogate).
pub(super) fn decode(
    name: &Text,
    input: Option<&RawValue>,
    whole: &Text,
) -> Result<(Tool, Vec<Argument>), serde_json::Error> {
    let Some(input) = input else {
        let input = Json::from_text("{}")?;
        return Ok((Tool::Raw(Raw { name: name.clone(), input }), Vec::new()));
    };
    if let Some(read) = reader(name)
        && let Some(mut arguments) = Input::of(input, whole)
        && let Some(tool) = read(&mut arguments)?
    {
        return Ok((tool, arguments.rest()));
    }
    let tool = match mcp_name::parts(name) {
        Some((server, tool)) => {
            let (server, tool) = (Text::part_of(name, server), Text::part_of(name, tool));
            Tool::Mcp(Mcp { server, tool, input: Json::part_of(whole, input) })
        }
        None => Tool::Raw(Raw { name: name.clone(), input: unwrapped(input, whole) }),
    };
    Ok((tool, Vec::new()))
}

/// Reads a call as the program sends it to the provider. One whose strings cannot be read stays raw.
pub(crate) fn read_call(name: &Text, input: &Json) -> (Tool, Vec<Argument>) {
    let whole = Text::from(input.as_str());
    let raw: Option<&RawValue> = serde_json::from_str(&whole).ok();
    decode(name, raw, &whole)
        .unwrap_or_else(|_| (Tool::Raw(Raw { name: name.clone(), input: input.clone() }), Vec::new()))
}

/// The input of a tool without a type. The program takes objects only; one that holds nothing
/// but an `input` that is none stands for that value, since conversions write it so.
fn unwrapped(input: &RawValue, whole: &Text) -> Json {
    if input.get().len() < 1 << 20
        && let Some(arguments) = Input::of(input, whole)
        && let Some(value) = arguments.only("input")
        && !value.is_object()
    {
        return value;
    }
    Json::part_of(whole, input)
}

fn reader(name: &str) -> Option<fn(&mut Input<'_>) -> Decoded> {
    Some(match name {
        "Bash" => |input| {
            let Some(command) = input.text("command")? else { return Ok(None) };
            Ok(Some(Tool::Shell(Shell {
                command,
                cwd: input.text("cwd")?,
                timeout_ms: input.value("timeout"),
                description: input.text("description")?,
                background: input.value("run_in_background"),
            })))
        },
        "Read" => |input| {
            let Some(path) = input.text("file_path")? else { return Ok(None) };
            Ok(Some(Tool::Read(Read { path, offset: input.value("offset"), limit: input.value("limit") })))
        },
        "Write" => |input| {
            let (Some(path), Some(content)) = (input.text("file_path")?, input.text("content")?) else {
                return Ok(None);
            };
            Ok(Some(Tool::Write(Write { path, content })))
        },
        "Edit" => |input| {
            let Some(path) = input.text("file_path")? else { return Ok(None) };
            let Some(edit) = input.replacement()? else { return Ok(None) };
            Ok(Some(Tool::Edit(Edit { path, edits: vec![edit] })))
        },
        "MultiEdit" => |input| {
            let Some(path) = input.text("file_path")? else { return Ok(None) };
            let Some(edits) = input.take("edits").and_then(replacements) else { return Ok(None) };
            Ok(Some(Tool::Edit(Edit { path, edits })))
        },
        "Grep" => |input| {
            let Some(pattern) = input.text("pattern")? else { return Ok(None) };
            Ok(Some(Tool::Search(Search { pattern, path: input.text("path")?, glob: input.text("glob")? })))
        },
        "Glob" => |input| {
            let Some(pattern) = input.text("pattern")? else { return Ok(None) };
            Ok(Some(Tool::Find(Find { pattern, path: input.text("path")? })))
        },
        "LS" => |input| Ok(Some(Tool::List(List { path: input.text("path")? }))),
        "WebFetch" => |input| {
            let Some(url) = input.text("url")? else { return Ok(None) };
            Ok(Some(Tool::Fetch(Fetch { url, prompt: input.text("prompt")? })))
        },
        "WebSearch" => |input| {
            let Some(query) = input.text("query")? else { return Ok(None) };
            Ok(Some(Tool::WebSearch(WebSearch { query })))
        },
        "Task" | "Agent" => |input| {
            let Some(prompt) = input.text("prompt")? else { return Ok(None) };
            let description = input.text("description")?;
            Ok(Some(Tool::Task(Task { prompt, description, agent: input.text("subagent_type")? })))
        },
        // What an item holds beyond the typed form stays with the whole list.
        "TodoWrite" => |input| {
            let Some((items, plain)) = input.json("todos").and_then(todos) else { return Ok(None) };
            if plain {
                input.take("todos");
            }
            Ok(Some(Tool::Todo(Todo { items })))
        },
        // Not a tool of the program: what a conversion writes for a patch.
        "apply_patch" => |input| {
            let Some(patch) = input.text("input")? else { return Ok(None) };
            Ok(patch.trim_start().starts_with("*** Begin Patch").then_some(Tool::Patch(Patch { patch })))
        },
        _ => return None,
    })
}

/// A call as it is written.
pub(super) struct Encoded {
    pub(super) name: Text,
    pub(super) input: Json,
}

/// Writes a call under the program's own name for it, or under its own.
pub(super) fn encode(call: &ToolUse, message: &MessageId, losses: &mut Losses) -> Encoded {
    let (name, arguments) = match own_form(&call.tool) {
        Some((name, arguments)) => (name, arguments),
        None => return keep(call, message, losses),
    };
    let name = match alias(name, &call.name) {
        true => call.name.clone(),
        false => Text::from(name),
    };
    if name == "apply_patch" {
        losses.add(LossKind::ToolKeptRaw, Some(&call.name), Some(message));
    }
    let whole_list = call.extra.iter().any(|argument| same_todos(argument, &call.tool));
    let mut with_rest = if whole_list { Arguments::default() } else { arguments.clone() };
    with_rest.push_rest(&call.extra);
    let input = with_rest.to_json();
    if reads_as(&name, &input, &call.tool) {
        return Encoded { name, input };
    }
    // An argument of another harness has the name of one of this program's: it gets another.
    let mut apart = arguments;
    for argument in &call.extra {
        losses.add(LossKind::ToolRenamed, Some(&argument.name), Some(message));
        apart.push(&format!("extra_{}", argument.name), &argument.value);
    }
    Encoded { name, input: apart.to_json() }
}

/// Whether the argument is the list of things to do with all that its items hold.
fn same_todos(argument: &Argument, tool: &Tool) -> bool {
    let Tool::Todo(todo) = tool else { return false };
    argument.name == "todos" && todos(argument.value.clone()).is_some_and(|(items, _)| items == todo.items)
}

/// Whether `name` is what the program, in one version or another, calls the tool named `own`.
fn alias(own: &str, name: &str) -> bool {
    own == name || matches!((own, name), ("Agent", "Task") | ("Edit", "MultiEdit"))
}

fn reads_as(name: &Text, input: &Json, tool: &Tool) -> bool {
    let whole = Text::from(input.as_str());
    let Ok(raw) = serde_json::from_str::<&RawValue>(&whole) else { return false };
    decode(name, Some(raw), &whole).is_ok_and(|(read, _)| read == *tool)
}

/// The program's own name and input for a typed call.
fn own_form(tool: &Tool) -> Option<(&'static str, Arguments)> {
    let mut input = Arguments::default();
    let name = match tool {
        Tool::Shell(shell) => {
            input.push("command", &shell.command);
            input.push_some("cwd", shell.cwd.as_ref());
            input.push_some("timeout", shell.timeout_ms.as_ref());
            input.push_some("description", shell.description.as_ref());
            input.push_some("run_in_background", shell.background.as_ref());
            "Bash"
        }
        Tool::Read(read) => {
            input.push("file_path", &read.path);
            input.push_some("offset", read.offset.as_ref());
            input.push_some("limit", read.limit.as_ref());
            "Read"
        }
        Tool::Write(write) => {
            input.push("file_path", &write.path);
            input.push("content", &write.content);
            "Write"
        }
        Tool::Edit(edit) => return edit_form(edit),
        Tool::Patch(patch) => {
            input.push("input", &patch.patch);
            "apply_patch"
        }
        Tool::Search(search) => {
            input.push("pattern", &search.pattern);
            input.push_some("path", search.path.as_ref());
            input.push_some("glob", search.glob.as_ref());
            "Grep"
        }
        Tool::Find(find) => {
            input.push("pattern", &find.pattern);
            input.push_some("path", find.path.as_ref());
            "Glob"
        }
        Tool::List(list) => {
            input.push_some("path", list.path.as_ref());
            "LS"
        }
        Tool::Fetch(fetch) => {
            input.push("url", &fetch.url);
            input.push_some("prompt", fetch.prompt.as_ref());
            "WebFetch"
        }
        Tool::WebSearch(search) => {
            input.push("query", &search.query);
            "WebSearch"
        }
        Tool::Task(task) => {
            input.push_some("description", task.description.as_ref());
            input.push("prompt", &task.prompt);
            input.push_some("subagent_type", task.agent.as_ref());
            "Agent"
        }
        Tool::Todo(todo) => {
            #[derive(Serialize)]
            struct Item<'a> {
                content: &'a Text,
                status: &'a Text,
            }
            let items = todo.items.iter().map(|item| Item { content: &item.text, status: &item.status });
            input.push("todos", &items.collect::<Vec<_>>());
            "TodoWrite"
        }
        _ => return None,
    };
    Some((name, input))
}

fn edit_form(edit: &Edit) -> Option<(&'static str, Arguments)> {
    #[derive(Serialize)]
    struct Item<'a> {
        old_string: &'a Text,
        new_string: &'a Text,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        replace_all: bool,
    }
    let mut input = Arguments::default();
    input.push("file_path", &edit.path);
    match edit.edits.as_slice() {
        [] => None,
        [one] => {
            input.push("old_string", &one.old);
            input.push("new_string", &one.new);
            input.push_some("replace_all", one.all.then_some(&true));
            Some(("Edit", input))
        }
        several => {
            let items = several.iter().map(|edit| Item {
                old_string: &edit.old,
                new_string: &edit.new,
                replace_all: edit.all,
            });
            input.push("edits", &items.collect::<Vec<_>>());
            Some(("MultiEdit", input))
        }
    }
}

/// Writes a call that has no counterpart with its own name and input.
fn keep(call: &ToolUse, message: &MessageId, losses: &mut Losses) -> Encoded {
    let (wanted, input) = match &call.tool {
        Tool::Mcp(mcp) => (format!("mcp__{}__{}", mcp.server, mcp.tool), mcp.input.clone()),
        Tool::Raw(raw) => (raw.name.to_string(), raw.input.clone()),
        other => (call.name.to_string(), Json::of(other).unwrap_or_else(|_| Json::null())),
    };
    if !matches!(call.tool, Tool::Mcp(_)) {
        losses.add(LossKind::ToolKeptRaw, Some(&wanted), Some(message));
    }
    let input = match input.is_object() {
        true => {
            // An object that holds nothing but an `input` reads as the value that it holds.
            let whole = Text::from(input.as_str());
            let raw: Option<&RawValue> = serde_json::from_str(&whole).ok();
            if matches!(call.tool, Tool::Raw(_)) && raw.is_some_and(|raw| unwrapped(raw, &whole) != input) {
                losses.add(LossKind::InputWrapped, Some(&wanted), Some(message));
            }
            input.compact()
        }
        false => {
            losses.add(LossKind::InputWrapped, Some(&wanted), Some(message));
            let mut arguments = Arguments::default();
            arguments.push("input", &input);
            arguments.to_json()
        }
    };
    let mut name = allowed(&wanted);
    // A name that would make another tool of it is not used.
    if !reads_as(&Text::from(name.as_str()), &input, &call.tool) && reader(&name).is_some() {
        name.push('_');
    }
    if name != wanted {
        losses.add(LossKind::ToolRenamed, Some(&wanted), Some(message));
    }
    Encoded { name: name.into(), input }
}

/// A name in the alphabet of the provider.
fn allowed(name: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let name: String = name.chars().take(NAME_BYTES - 1).map(|c| if fits(c) { c } else { '_' }).collect();
    if name.is_empty() { "tool".to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, input: &str) -> (Tool, Vec<Argument>) {
        let whole = Text::from(input);
        let raw: &RawValue = serde_json::from_str(&whole).unwrap();
        decode(&name.into(), Some(raw), &whole).unwrap()
    }

    fn again(name: &str, input: &str) -> (Text, Json, Losses) {
        let (tool, extra) = read(name, input);
        let call = ToolUse { id: "c".into(), name: name.into(), tool, extra };
        let mut losses = Losses::none();
        let written = encode(&call, &"m".into(), &mut losses);
        let (tool, extra) = read(&written.name, written.input.as_str());
        assert_eq!((&tool, &extra), (&call.tool, &call.extra));
        (written.name, written.input, losses)
    }

    #[test]
    fn every_typed_call_is_written_as_it_was_read() {
        for (name, input) in [
            ("Bash", r#"{"command":"ls","timeout":5,"description":"List","run_in_background":true}"#),
            ("Read", r#"{"file_path":"/a","offset":1,"limit":2}"#),
            ("Write", r#"{"file_path":"/a","content":"x\ny"}"#),
            ("Edit", r#"{"file_path":"/a","old_string":"x","new_string":"y","replace_all":true}"#),
            (
                "MultiEdit",
                r#"{"file_path":"/a","edits":[{"old_string":"x","new_string":"y"},{"old_string":"1","new_string":"2","replace_all":true}]}"#,
            ),
            ("Grep", r#"{"pattern":"x","path":".","glob":"*.rs"}"#),
            ("Glob", r#"{"pattern":"*.rs"}"#),
            ("LS", r#"{"path":"/a"}"#),
            ("WebFetch", r#"{"url":"http://127.0.0.1","prompt":"read"}"#),
            ("WebSearch", r#"{"query":"x"}"#),
            ("Task", r#"{"description":"d","prompt":"p","subagent_type":"t"}"#),
            ("Agent", r#"{"description":"d","prompt":"p"}"#),
            ("TodoWrite", r#"{"todos":[{"content":"a","status":"pending"}]}"#),
            ("mcp__files__list_all", r#"{"a":1.50}"#),
        ] {
            let (written, json, losses) = again(name, input);
            assert_eq!((written.as_str(), json.as_str()), (name, input));
            assert!(losses.is_empty(), "{name}: {losses:?}");
        }
    }

    #[test]
    fn arguments_beyond_the_type_ride_along() {
        let input = r#"{"pattern":"x","-n":true,"output_mode":"content"}"#;
        let (tool, extra) = read("Grep", input);
        assert!(matches!(tool, Tool::Search(_)));
        assert_eq!(extra.len(), 2);
        assert_eq!(again("Grep", input).1.as_str(), input);
    }

    #[test]
    fn todo_items_keep_what_has_no_type() {
        let input = r#"{"todos":[{"content":"a","status":"pending","activeForm":"doing a"}]}"#;
        assert!(matches!(read("TodoWrite", input).0, Tool::Todo(_)));
        assert_eq!(again("TodoWrite", input).1.as_str(), input);
    }

    #[test]
    fn an_input_that_does_not_fit_stays_raw() {
        for (name, input) in [
            ("Bash", r#"{"command":["ls"]}"#),
            ("MultiEdit", r#"{"file_path":"/a","edits":[{"old_string":"x","new_string":"y","line":3}]}"#),
            ("MultiEdit", r#"{"file_path":"/a","edits":[]}"#),
            ("TodoWrite", r#"{"todos":["broken"]}"#),
            ("Write", r#"{"file_path":"/a"}"#),
            ("mcp__a__b__c", "{}"),
        ] {
            let (tool, _) = read(name, input);
            assert!(matches!(tool, Tool::Raw(_)), "{name}");
            assert_eq!(again(name, input).1.as_str(), input);
        }
    }

    #[test]
    fn an_input_that_is_no_object_is_wrapped_and_read_back() {
        let input = Json::string("*** free text");
        let tool = Tool::Raw(Raw { name: "custom tool".into(), input });
        let call = ToolUse { id: "c".into(), name: "custom tool".into(), tool, extra: Vec::new() };
        let mut losses = Losses::none();
        let written = encode(&call, &"m".into(), &mut losses);
        assert_eq!(written.name, "custom_tool");
        assert_eq!(written.input.as_str(), r#"{"input":"*** free text"}"#);
        assert!(losses.has(LossKind::InputWrapped) && losses.has(LossKind::ToolRenamed));
        let Tool::Raw(raw) = read("custom_tool", written.input.as_str()).0 else { panic!() };
        assert_eq!(raw.input, Json::string("*** free text"));
    }

    #[test]
    fn a_raw_call_never_comes_back_as_another_tool() {
        let input = Json::from_text(r#"{"command":"ls"}"#).unwrap();
        let tool = Tool::Raw(Raw { name: "Bash".into(), input });
        let call = ToolUse { id: "c".into(), name: "Bash".into(), tool, extra: Vec::new() };
        let written = encode(&call, &"m".into(), &mut Losses::none());
        assert!(matches!(read(&written.name, written.input.as_str()).0, Tool::Raw(_)));
    }
}
