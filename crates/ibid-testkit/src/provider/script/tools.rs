//! The tools that a request offers, and how each act is done with them.
//!
//! The names are those that were seen in the requests of Codex 0.47.0 to 0.171.0, Claude Code 1.0.60 to 2.1.332,
//! OpenCode 1.0.152 to 1.18.33, pi 0.73.1 to 1.6.0, Copilot CLI 1.0.102, Grok 1.0.41, Qwen Code 0.24.4 and Kimi
//! Code 2.1.0, and, behind them, what other programs call such tools.

use serde_json::{Value, json};

use super::act::{Act, Detail};
use super::schema::{Field, fill};
use super::{Call, Input};
use crate::provider::wire::Api;

const SHELL: &[&str] = &[
    "exec_command",
    "shell_command",
    "shell",
    "Bash",
    "bash",
    "run_shell_command",
    "run_terminal_command",
    "execute_command",
    "run_terminal_cmd",
    "run_command",
    "terminal",
    "execute",
];
const PATCH: &str = "apply_patch";
const WRITE: &[&str] = &["Write", "write", PATCH, "write_file", "create_file", "write_to_file", "create"];
const EDIT: &[&str] =
    &["Edit", "edit", PATCH, "replace", "edit_file", "search_replace", "str_replace", "replace_in_file"];
const IMAGE: &[&str] = &["view_image", "Read", "read", "read_file", "view"];
const SUBAGENT: &[&str] = &["Agent", "Task", "task", "spawn_agent"];
const WAIT: &[&str] = &["wait_agent", "wait"];

/// Codex, models of code mode: the one tool through which JavaScript calls all others.
const CODE: &str = "exec";

/// The tools of a request.
pub(super) struct Toolbox(Vec<Tool>);

struct Tool {
    name: String,
    namespace: Option<String>,
    /// It takes text instead of an object.
    custom: bool,
    schema: Value,
}

impl Toolbox {
    /// The tools that a request offers; none where it forbids their use.
    pub(super) fn offered(api: Api, body: &Value) -> Self {
        let mut tools = Vec::new();
        let forbidden = [body.get("tool_choice"), body.pointer("/tool_choice/type")];
        if forbidden.into_iter().flatten().any(|choice| choice == "none") {
            return Self(tools);
        }
        collect(list(body, "tools"), None, &mut tools);
        if api == Api::Responses {
            // Codex in code mode: the tools stand at the head of the input.
            for item in list(body, "input").iter().filter(|item| text(item, "type") == "additional_tools") {
                collect(list(item, "tools"), None, &mut tools);
            }
        }
        Self(tools)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether there is a way to do this.
    pub(super) fn can(&self, act: Act) -> bool {
        let shell = || self.find(SHELL).is_some() || self.code().is_some();
        match act {
            Act::Subagent | Act::AwaitedSubagent => self.find(SUBAGENT).is_some(),
            Act::Wait => self.find(WAIT).is_some(),
            Act::Image => self.find(IMAGE).is_some() || self.code().is_some(),
            Act::Write | Act::SecondFile => self.find(WRITE).is_some() || shell(),
            Act::Edit => self.find(EDIT).is_some() || shell(),
            Act::Shell | Act::FailingShell | Act::SleepingShell | Act::OddShell => shell(),
        }
    }

    /// The call that does this; `None` when there is no tool for it.
    pub(super) fn call(&self, act: Act, detail: &Detail) -> Option<Call> {
        let (names, fields) = match act {
            Act::Shell | Act::FailingShell | Act::SleepingShell | Act::OddShell => {
                (SHELL, shell(act, detail))
            }
            Act::Write | Act::SecondFile => (WRITE, write(act, detail)),
            Act::Edit => (EDIT, edit(act, detail)),
            Act::Image => (IMAGE, vec![path(detail.image())]),
            Act::Subagent | Act::AwaitedSubagent => (SUBAGENT, subagent(act, detail)),
            Act::Wait => (WAIT, wait(detail)),
        };
        if let Some(tool) = self.find(names) {
            let input = match tool.custom {
                true => Input::Text(patch(act, detail)?),
                false => Input::Json(tool.fill(fields)),
            };
            return Some(tool.call(input));
        }
        if let Some(tool) = self.code() {
            return Some(tool.call(Input::Text(script(act, detail)?)));
        }
        let tool = self.find(SHELL)?;
        Some(tool.call(Input::Json(tool.fill(vec![command(by_shell(act, detail)?)]))))
    }

    /// The tool that stands first in the list of names. A custom tool's text has a form of its own, which is
    /// known of patches only.
    fn find(&self, names: &[&str]) -> Option<&Tool> {
        let known = |tool: &&Tool| !tool.custom || tool.name == PATCH;
        let found =
            names.iter().find_map(|name| self.0.iter().filter(known).find(|tool| tool.name == *name))?;
        // Codex in code mode has a `wait` that waits for a script.
        let other = found.name == "wait" && found.schema.pointer("/properties/cell_id").is_some();
        (!other).then_some(found)
    }

    fn code(&self) -> Option<&Tool> {
        self.0.iter().find(|tool| tool.custom && tool.name == CODE)
    }
}

impl Tool {
    fn call(&self, input: Input) -> Call {
        Call { name: self.name.clone(), namespace: self.namespace.clone(), input }
    }

    fn fill(&self, mut fields: Vec<Field>) -> serde_json::Map<String, Value> {
        // OpenCode calls its subagent for everything `general`, Claude Code `general-purpose`.
        if self.name == "task" {
            for field in fields.iter_mut().filter(|field| field.names == AGENT_TYPE) {
                field.value = json!("general");
            }
        }
        fill(&self.schema, &fields)
    }
}

fn collect(values: &[Value], namespace: Option<&str>, tools: &mut Vec<Tool>) {
    for value in values {
        let kind = text(value, "type");
        if kind == "namespace" && namespace.is_none() {
            collect(list(value, "tools"), value.get("name").and_then(Value::as_str), tools);
            continue;
        }
        // Chat Completions keeps a tool's own members one level deeper.
        let own = value.get("function").or_else(|| value.get("custom")).unwrap_or(value);
        let schema = ["input_schema", "parameters"].into_iter().find_map(|key| own.get(key));
        if let Some(name) = own.get("name").and_then(Value::as_str) {
            tools.push(Tool {
                name: name.to_owned(),
                namespace: namespace.map(str::to_owned),
                custom: kind == "custom" && schema.is_none(),
                schema: schema.cloned().unwrap_or_default(),
            });
        }
    }
}

const AGENT_TYPE: &[&str] = &["subagent_type"];

fn field(names: &'static [&'static str], value: impl Into<Value>) -> Field {
    Field { names, value: value.into() }
}

fn command(text: String) -> Field {
    field(&["command", "cmd", "script"], text)
}

fn path(path: String) -> Field {
    field(&["file_path", "filePath", "path", "absolute_path"], path)
}

fn shell(act: Act, detail: &Detail) -> Vec<Field> {
    let description = field(&["description"], format!("Do the {} of the mock", act.name()));
    vec![command(detail.command(act).unwrap_or_default()), description]
}

fn patch_field(act: Act, detail: &Detail) -> Option<Field> {
    patch(act, detail).map(|text| field(&["input", "patch", "patchText"], text))
}

fn write(act: Act, detail: &Detail) -> Vec<Field> {
    let content = field(&["content", "file_text", "contents"], content(&detail.lines()));
    [path(detail.path(act)), content].into_iter().chain(patch_field(act, detail)).collect()
}

fn edit(act: Act, detail: &Detail) -> Vec<Field> {
    let (old, new) = detail.change();
    let edits = json!([{ "oldText": old, "newText": new }]);
    let fields = [
        path(detail.path(act)),
        field(&["old_string", "oldString", "oldText", "old_str"], old),
        field(&["new_string", "newString", "newText", "new_str"], new),
        field(&["edits"], edits),
    ];
    fields.into_iter().chain(patch_field(act, detail)).collect()
}

fn subagent(act: Act, detail: &Detail) -> Vec<Field> {
    let mut fields = vec![
        field(&["description"], "mock task"),
        field(&["prompt", "message"], detail.task()),
        field(AGENT_TYPE, "general-purpose"),
        field(&["task_name"], "mock_task"),
    ];
    if act == Act::AwaitedSubagent {
        fields.push(field(&["run_in_background"], false));
    }
    fields
}

fn wait(detail: &Detail) -> Vec<Field> {
    // The least that Codex allows.
    let timeout = field(&["timeout_ms"], 10_000);
    match detail.agents.is_empty() {
        true => vec![timeout],
        false => vec![field(&["targets", "ids"], json!(detail.agents)), timeout],
    }
}

fn content(lines: &[String]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// A patch in the form of Codex's `apply_patch`.
fn patch(act: Act, detail: &Detail) -> Option<String> {
    let [first, second] = detail.lines();
    let file = detail.file(act);
    let body = match act {
        Act::Write | Act::SecondFile => format!("*** Add File: {file}\n+{first}\n+{second}\n"),
        Act::Edit => {
            let (old, new) = detail.change();
            format!("*** Update File: {file}\n@@\n {first}\n-{old}\n+{new}\n")
        }
        _ => return None,
    };
    Some(format!("*** Begin Patch\n{body}*** End Patch\n"))
}

/// The same by a shell, for programs without a tool for it.
fn by_shell(act: Act, detail: &Detail) -> Option<String> {
    let [first, second] = detail.lines();
    let second = match act {
        Act::Write | Act::SecondFile => second,
        Act::Edit => detail.change().1,
        _ => return detail.command(act),
    };
    Some(format!("printf '%s\\n' '{first}' '{second}' > {}", detail.file(act)))
}

/// The same in JavaScript, for Codex in code mode.
fn script(act: Act, detail: &Detail) -> Option<String> {
    let source = match act {
        Act::Image => {
            let path = json!({ "path": detail.image() });
            format!("const seen = await tools.view_image({path});\nimage(seen.image_url);")
        }
        Act::Write | Act::SecondFile | Act::Edit => {
            format!("text(await tools.apply_patch({}));", json!(patch(act, detail)?))
        }
        _ => format!("text(await tools.exec_command({}));", json!({ "cmd": detail.command(act)? })),
    };
    Some(source)
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}
