//! The tools of Simple: names and inputs as txcript's canonical form has them (0.14.4).

use ibid_model::{
    Edit, Fetch, Find, Json, List, Mcp, Raw, Read, Replacement, Search, Shell, Task, Text, Tool, ToolUse,
    WebSearch, Write,
};

use crate::core::Arguments;

/// The typed form of a call. Whatever does not fit stays raw.
pub(super) fn decode(name: &Text, input: &Json) -> (Tool, Vec<ibid_model::Argument>) {
    let typed = Arguments::of(input).and_then(|mut arguments| {
        let tool = typed(name, input, &mut arguments)?;
        Some((tool, arguments.into_rest()))
    });
    let Some((tool, extra)) = typed else {
        return (Tool::Raw(Raw { name: name.clone(), input: input.clone() }), Vec::new());
    };
    (tool, extra)
}

fn typed(name: &str, input: &Json, arguments: &mut Arguments) -> Option<Tool> {
    Some(match name {
        "Bash" => Tool::Shell(Shell {
            command: arguments.take_text("command")?,
            cwd: arguments.take_text("workdir"),
            timeout_ms: arguments.take("timeout_ms"),
            description: arguments.take_text("description"),
            background: arguments.take("run_in_background"),
        }),
        "Read" => Tool::Read(Read {
            path: arguments.take_text("file_path")?,
            offset: arguments.take("offset"),
            limit: arguments.take("limit"),
        }),
        "Write" => Tool::Write(Write {
            path: arguments.take_text("file_path")?,
            content: arguments.take_text("content")?,
        }),
        "Edit" => Tool::Edit(Edit {
            path: arguments.take_text("file_path")?,
            edits: vec![Replacement {
                old: arguments.take_text("old_string")?,
                new: arguments.take_text("new_string")?,
                all: arguments.take("replace_all").unwrap_or(false),
            }],
        }),
        "MultiEdit" => {
            let path = arguments.take_text("file_path")?;
            let edits: Vec<SimpleEdit> = arguments.take("edits")?;
            let edits: Vec<Replacement> = edits.into_iter().map(SimpleEdit::into_replacement).collect();
            // One edit would come back as `Edit`, so it stays raw.
            if edits.len() == 1 {
                return None;
            }
            Tool::Edit(Edit { path, edits })
        }
        "Grep" => Tool::Search(Search {
            pattern: arguments.take_text("pattern")?,
            path: arguments.take_text("path"),
            glob: arguments.take_text("glob"),
        }),
        "Glob" => {
            Tool::Find(Find { pattern: arguments.take_text("pattern")?, path: arguments.take_text("path") })
        }
        "LS" => Tool::List(List { path: arguments.take_text("path") }),
        "WebFetch" => {
            Tool::Fetch(Fetch { url: arguments.take_text("url")?, prompt: arguments.take_text("prompt") })
        }
        "WebSearch" => Tool::WebSearch(WebSearch { query: arguments.take_text("query")? }),
        "Task" => Tool::Task(Task {
            prompt: arguments.take_text("prompt")?,
            description: arguments.take_text("description"),
            agent: arguments.take_text("subagent_type"),
        }),
        _ => {
            // With more than two parts nothing says where the server's name ends.
            let (server, tool) = name.strip_prefix("mcp__")?.split_once("__")?;
            if server.is_empty() || tool.is_empty() || tool.contains("__") {
                return None;
            }
            *arguments = Arguments::default();
            Tool::Mcp(Mcp { server: server.into(), tool: tool.into(), input: input.clone() })
        }
    })
}

/// A call under its own name, which may be that of a tool that Simple has.
fn kept(call: &ToolUse, name: Text, input: Json) -> (Text, Json, bool) {
    let same = decode(&name, &input).0 == call.tool;
    (name, input, same)
}

#[derive(serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct SimpleEdit {
    old_string: Text,
    new_string: Text,
    #[serde(default)]
    replace_all: bool,
}

impl SimpleEdit {
    fn into_replacement(self) -> Replacement {
        Replacement { old: self.old_string, new: self.new_string, all: self.replace_all }
    }
}

/// The name and input of a call, and whether its tool has a canonical name.
pub(super) fn encode(call: &ToolUse) -> (Text, Json, bool) {
    let mut arguments = Arguments::default();
    let name: Text = match &call.tool {
        Tool::Shell(shell) => {
            arguments.push("command", &shell.command);
            arguments.push_some("workdir", shell.cwd.as_ref());
            arguments.push_some("timeout_ms", shell.timeout_ms.as_ref());
            arguments.push_some("description", shell.description.as_ref());
            arguments.push_some("run_in_background", shell.background.as_ref());
            "Bash".into()
        }
        Tool::Read(read) => {
            arguments.push("file_path", &read.path);
            arguments.push_some("offset", read.offset.as_ref());
            arguments.push_some("limit", read.limit.as_ref());
            "Read".into()
        }
        Tool::Write(write) => {
            arguments.push("file_path", &write.path);
            arguments.push("content", &write.content);
            "Write".into()
        }
        Tool::Edit(edit) => {
            arguments.push("file_path", &edit.path);
            match edit.edits.as_slice() {
                [one] => {
                    arguments.push("old_string", &one.old);
                    arguments.push("new_string", &one.new);
                    if one.all {
                        arguments.push("replace_all", &true);
                    }
                    "Edit".into()
                }
                many => {
                    let simple = |edit: &Replacement| SimpleEdit {
                        old_string: edit.old.clone(),
                        new_string: edit.new.clone(),
                        replace_all: edit.all,
                    };
                    let edits: Vec<SimpleEdit> = many.iter().map(simple).collect();
                    arguments.push("edits", &edits);
                    "MultiEdit".into()
                }
            }
        }
        Tool::Search(search) => {
            arguments.push("pattern", &search.pattern);
            arguments.push_some("path", search.path.as_ref());
            arguments.push_some("glob", search.glob.as_ref());
            "Grep".into()
        }
        Tool::Find(find) => {
            arguments.push("pattern", &find.pattern);
            arguments.push_some("path", find.path.as_ref());
            "Glob".into()
        }
        Tool::List(list) => {
            arguments.push_some("path", list.path.as_ref());
            "LS".into()
        }
        Tool::Fetch(fetch) => {
            arguments.push("url", &fetch.url);
            arguments.push_some("prompt", fetch.prompt.as_ref());
            "WebFetch".into()
        }
        Tool::WebSearch(search) => {
            arguments.push("query", &search.query);
            "WebSearch".into()
        }
        Tool::Task(task) => {
            arguments.push_some("description", task.description.as_ref());
            arguments.push("prompt", &task.prompt);
            arguments.push_some("subagent_type", task.agent.as_ref());
            "Task".into()
        }
        Tool::Mcp(mcp) => {
            return kept(call, format!("mcp__{}__{}", mcp.server, mcp.tool).into(), mcp.input.clone());
        }
        Tool::Raw(raw) => return kept(call, raw.name.clone(), raw.input.clone()),
        // What has no canonical name keeps its own, and the fields of the typed form.
        other => return (call.name.clone(), Json::of(other).unwrap_or_else(|_| Json::null()), false),
    };
    arguments.push_rest(&call.extra);
    let input = arguments.to_json();
    let again = decode(&name, &input);
    if again == (call.tool.clone(), call.extra.clone()) {
        (name, input, true)
    } else {
        (call.name.clone(), Json::of(&call.tool).unwrap_or_else(|_| Json::null()), false)
    }
}
