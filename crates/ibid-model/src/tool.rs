//! Tool calls: what is common to the tools of many harnesses, and a lossless form for the rest.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{CallId, Json, Text};

/// One replacement of an [`Tool::Edit`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Replacement {
    /// The text that is looked for.
    pub old: Text,
    /// The text that takes its place.
    pub new: Text,
    /// Whether every occurrence is replaced, not only one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub all: bool,
}

/// One entry of a [`Tool::Todo`] list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TodoItem {
    /// What is to be done.
    pub text: Text,
    /// Where it stands, in the harness's own word (`pending`, `in_progress`, `completed`, ...).
    pub status: Text,
}

/// What a tool call asks for. A harness maps its own tool to one of these only when the mapping
/// back gives the same value again; every other call is [`Tool::Raw`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Tool {
    /// Runs a shell command.
    Shell(Shell),
    /// Reads a file.
    Read(Read),
    /// Writes a whole file.
    Write(Write),
    /// Replaces text in one file.
    Edit(Edit),
    /// Applies a patch in the `*** Begin Patch` grammar to any number of files.
    Patch(Patch),
    /// Searches file contents.
    Search(Search),
    /// Finds files by name.
    Find(Find),
    /// Lists a directory.
    List(List),
    /// Fetches a web page.
    Fetch(Fetch),
    /// Searches the web.
    WebSearch(WebSearch),
    /// Hands a task to a subagent.
    Task(Task),
    /// Replaces the list of things to do.
    Todo(Todo),
    /// Calls a tool of an MCP server.
    Mcp(Mcp),
    /// Any other tool, with the name and the input that the source has.
    Raw(Raw),
}

macro_rules! tool_inputs {
    ($($(#[$doc:meta])+ $name:ident { $($(#[$field_doc:meta])+ $field:ident: $type:ty,)+ })+) => {
        $(
            $(#[$doc])+
            #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
            pub struct $name { $($(#[$field_doc])+ pub $field: $type,)+ }
        )+
    };
}

tool_inputs! {
    /// Input of [`Tool::Shell`].
    Shell {
        /// The command line, as a shell reads it.
        command: Text,
        /// The directory it runs in, when the call names one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cwd: Option<Text>,
        /// Its time limit in milliseconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        timeout_ms: Option<u64>,
        /// What the model says it is for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        description: Option<Text>,
        /// Whether it runs in the background; absent when the call does not say.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        background: Option<bool>,
    }
    /// Input of [`Tool::Read`].
    Read {
        /// The file.
        path: Text,
        /// The first line, in the harness's own counting.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        offset: Option<u64>,
        /// How many lines.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u64>,
    }
    /// Input of [`Tool::Write`].
    Write {
        /// The file.
        path: Text,
        /// All of its new content.
        content: Text,
    }
    /// Input of [`Tool::Edit`].
    Edit {
        /// The file.
        path: Text,
        /// The replacements, in order; at least one.
        edits: Vec<Replacement>,
    }
    /// Input of [`Tool::Patch`].
    Patch {
        /// The patch.
        patch: Text,
    }
    /// Input of [`Tool::Search`].
    Search {
        /// What is looked for.
        pattern: Text,
        /// Where.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        path: Option<Text>,
        /// Which files.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        glob: Option<Text>,
    }
    /// Input of [`Tool::Find`].
    Find {
        /// The pattern of names.
        pattern: Text,
        /// Where.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        path: Option<Text>,
    }
    /// Input of [`Tool::List`].
    List {
        /// The directory, when the call names one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        path: Option<Text>,
    }
    /// Input of [`Tool::Fetch`].
    Fetch {
        /// The address.
        url: Text,
        /// What to look for on the page.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        prompt: Option<Text>,
    }
    /// Input of [`Tool::WebSearch`].
    WebSearch {
        /// What is looked for.
        query: Text,
    }
    /// Input of [`Tool::Task`].
    Task {
        /// The task.
        prompt: Text,
        /// A short name of the task.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        description: Option<Text>,
        /// The kind of subagent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<Text>,
    }
    /// Input of [`Tool::Todo`].
    Todo {
        /// The whole list.
        items: Vec<TodoItem>,
    }
    /// Input of [`Tool::Mcp`].
    Mcp {
        /// The server's name.
        server: Text,
        /// The tool's name on that server.
        tool: Text,
        /// The input.
        input: Json,
    }
    /// Input of [`Tool::Raw`].
    Raw {
        /// The tool's name.
        name: Text,
        /// The input; a string where the tool takes free text.
        input: Json,
    }
}

crate::tagged::deserialize_tagged!(Tool, "kind", {
    "shell" => Shell, "read" => Read, "write" => Write, "edit" => Edit, "patch" => Patch,
    "search" => Search, "find" => Find, "list" => List, "fetch" => Fetch,
    "web_search" => WebSearch, "task" => Task, "todo" => Todo, "mcp" => Mcp, "raw" => Raw,
});

impl Tool {
    /// The kind of tool, as in JSON.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Tool::Shell(_) => "shell",
            Tool::Read(_) => "read",
            Tool::Write(_) => "write",
            Tool::Edit(_) => "edit",
            Tool::Patch(_) => "patch",
            Tool::Search(_) => "search",
            Tool::Find(_) => "find",
            Tool::List(_) => "list",
            Tool::Fetch(_) => "fetch",
            Tool::WebSearch(_) => "web_search",
            Tool::Task(_) => "task",
            Tool::Todo(_) => "todo",
            Tool::Mcp(_) => "mcp",
            Tool::Raw(_) => "raw",
        }
    }
}

/// An argument of a call that the typed form has no field for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Argument {
    /// Its name.
    pub name: Text,
    /// Its value.
    pub value: Json,
}

/// A call of a tool by the model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolUse {
    /// Joins the call and its result.
    pub id: CallId,
    /// The tool's name as the harness wrote it.
    pub name: Text,
    /// What it asks for.
    pub tool: Tool,
    /// Arguments beyond the typed form, in the order written. A target that takes any arguments
    /// gets them too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extra: Vec<Argument>,
}

/// How a tool call ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The harness does not say.
    #[default]
    Unknown,
    /// It did what was asked.
    Ok,
    /// It failed.
    Error,
    /// It was stopped, or the session ended before it did.
    Interrupted,
}

/// One part of what a tool gave back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ResultPart {
    /// Text.
    Text(crate::TextBlock),
    /// A picture.
    Image(crate::Image),
    /// A document.
    Document(crate::Document),
    /// Anything else, as it was written.
    Other(crate::OtherBlock),
}

crate::tagged::deserialize_tagged!(ResultPart, "type", {
    "text" => Text(crate::TextBlock), "image" => Image(crate::Image), "document" => Document(crate::Document),
    "other" => Other(crate::OtherBlock),
});

/// What a tool gave back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolResult {
    /// The call it answers.
    pub call: CallId,
    /// What the model saw.
    pub content: Vec<ResultPart>,
    /// How it ended.
    pub outcome: Outcome,
    /// The harness's own structured form of the result, which the model did not see.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured: Option<Json>,
}

impl ToolResult {
    /// The text parts, joined by newlines.
    #[must_use]
    pub fn text(&self) -> Text {
        let mut texts = self.content.iter().filter_map(|part| match part {
            ResultPart::Text(text) => Some(&text.text),
            _ => None,
        });
        let Some(first) = texts.next() else { return Text::default() };
        let Some(second) = texts.next() else { return first.clone() };
        let mut joined = format!("{first}\n{second}");
        for text in texts {
            joined.push('\n');
            joined.push_str(&text.to_str());
        }
        Text::from(joined)
    }
}
