//! Tool calls and what they give back.

use ibid_model::{
    Argument, Block, Data, Document, Edit, Fetch, Find, Image, Json, List, Mcp, OtherBlock, Outcome, Patch,
    Raw, Read, Replacement, ResultPart, Search, Shell, Task, Text, TextBlock, Todo, TodoItem, Tool,
    WebSearch, Write,
};
use proptest::option;
use proptest::prelude::*;

use super::text::{any_text, json, object, path, text, word};

/// The smallest picture there is: one pixel, PNG.
pub const PIXEL: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// Names that some harness has a tool of.
const NAMES: &[&str] = &[
    "Task",
    "Bash",
    "Edit",
    "TodoWrite",
    "apply_patch",
    "exec",
    "exec_command",
    "shell",
    "update_plan",
    "spawn_agent",
    "bash",
    "read",
    "edit",
    "todowrite",
    "subagent",
    "mcp__a__b",
    "mcp__a__b__c",
];

/// Fields that some harness reads a tool by.
const FIELDS: &[&str] =
    &["input", "command", "cmd", "prompt", "patch", "path", "file_path", "todos", "ibid_tool"];

/// A call: the name that some harness gives the tool, the tool, and arguments beyond it.
#[derive(Clone, Debug)]
pub struct Call {
    /// The name.
    pub name: Text,
    /// The tool.
    pub tool: Tool,
    /// Further arguments.
    pub extra: Vec<Argument>,
}

/// A call of any tool.
pub fn call() -> impl Strategy<Value = Call> {
    let typed = typed().prop_map(|(name, tool)| Call { name: Text::from(name), tool, extra: Vec::new() });
    let with_extra = (typed.clone(), word(), json()).prop_map(|(call, name, value)| {
        // Names that no tool has as a field.
        let extra = vec![Argument { name: format!("x_{name}").into(), value }];
        Call { extra, ..call }
    });
    prop_oneof![6 => typed, 1 => with_extra, 2 => raw(), 2 => mcp()]
}

fn typed() -> BoxedStrategy<(&'static str, Tool)> {
    prop_oneof![
        shell().prop_map(|shell| ("Bash", Tool::Shell(shell))),
        (path(), option::of(0..9_999_u64), option::of(1..9_999_u64))
            .prop_map(|(path, offset, limit)| ("Read", Tool::Read(Read { path, offset, limit }))),
        (path(), any_text()).prop_map(|(path, content)| ("Write", Tool::Write(Write { path, content }))),
        (path(), prop::collection::vec(replacement(), 1..4))
            .prop_map(|(path, edits)| ("Edit", Tool::Edit(Edit { path, edits }))),
        "[a-z]{1,8}".prop_map(|line| {
            let patch = format!("*** Begin Patch\n*** Add File: {line}.txt\n+{line}\n*** End Patch");
            ("apply_patch", Tool::Patch(Patch { patch: patch.into() }))
        }),
        (text(), option::of(path()), option::of(Just(Text::from("*.rs"))))
            .prop_map(|(pattern, path, glob)| ("Grep", Tool::Search(Search { pattern, path, glob }))),
        (word(), option::of(path())).prop_map(|(name, path)| {
            ("Glob", Tool::Find(Find { pattern: format!("**/{name}.*").into(), path }))
        }),
        option::of(path()).prop_map(|path| ("LS", Tool::List(List { path }))),
        (word(), option::of(text())).prop_map(|(page, prompt)| {
            ("WebFetch", Tool::Fetch(Fetch { url: format!("https://example.com/{page}").into(), prompt }))
        }),
        text().prop_map(|query| ("WebSearch", Tool::WebSearch(WebSearch { query }))),
        (text(), option::of(text()), option::of(word())).prop_map(|(prompt, description, agent)| {
            ("Task", Tool::Task(Task { prompt, description, agent }))
        }),
        prop::collection::vec((text(), status()), 0..4).prop_map(|items| {
            let items = items.into_iter().map(|(text, status)| TodoItem { text, status }).collect();
            ("TodoWrite", Tool::Todo(Todo { items }))
        }),
    ]
    .boxed()
}

fn shell() -> impl Strategy<Value = Shell> {
    let timeout = option::weighted(0.3, prop_oneof![Just(120_000_u64), 1..600_000_u64]);
    (
        text(),
        option::weighted(0.2, path()),
        timeout,
        option::weighted(0.3, text()),
        option::weighted(0.2, any::<bool>()),
    )
        .prop_map(|(command, cwd, timeout_ms, description, background)| Shell {
            command,
            cwd,
            timeout_ms,
            description,
            background,
        })
}

fn replacement() -> impl Strategy<Value = Replacement> {
    (text(), any_text(), prop::bool::weighted(0.2)).prop_map(|(old, new, all)| Replacement { old, new, all })
}

fn status() -> impl Strategy<Value = Text> {
    prop::sample::select(vec!["pending", "in_progress", "completed"]).prop_map(Text::from)
}

fn raw() -> impl Strategy<Value = Call> {
    let name = prop_oneof![
        4 => word().prop_map(|word| format!("custom_{word}")),
        1 => word().prop_map(|word| format!("name with {word}.and/signs")),
        1 => prop::sample::select(NAMES).prop_map(str::to_owned),
    ];
    let input = prop_oneof![
        4 => object(),
        1 => text().prop_map(|text| Json::string(&text)),
        1 => json(),
        1 => (prop::sample::select(FIELDS), json())
            .prop_map(|(field, value)| Json::from_text(format!("{{\"{field}\":{value}}}")).expect("JSON")),
    ];
    (name, input).prop_map(|(name, input)| {
        let name = Text::from(name);
        Call { name: name.clone(), tool: Tool::Raw(Raw { name, input }), extra: Vec::new() }
    })
}

fn mcp() -> impl Strategy<Value = Call> {
    (word(), word(), object()).prop_map(|(server, tool, input)| Call {
        name: format!("mcp__{server}__{tool}").into(),
        tool: Tool::Mcp(Mcp { server, tool, input }),
        extra: Vec::new(),
    })
}

/// What a call gave back.
#[derive(Clone, Debug)]
pub struct Answer {
    /// What the model saw.
    pub content: Vec<ResultPart>,
    /// How it ended.
    pub outcome: Outcome,
    /// The structured form.
    pub structured: Option<Json>,
}

/// What a call gave back, in every form.
pub fn answer() -> impl Strategy<Value = Answer> {
    let part = prop_oneof![
        6 => any_text().prop_map(|text| ResultPart::Text(TextBlock { text })),
        1 => image().prop_map(ResultPart::Image),
        1 => json().prop_map(|json| ResultPart::Other(OtherBlock { kind: "widget".into(), json })),
    ];
    let outcome = prop_oneof![
        5 => Just(Outcome::Ok),
        2 => Just(Outcome::Error),
        1 => Just(Outcome::Unknown),
        1 => Just(Outcome::Interrupted),
    ];
    (prop::collection::vec(part, 0..3), outcome, option::weighted(0.3, object()))
        .prop_map(|(content, outcome, structured)| Answer { content, outcome, structured })
}

/// A picture: mostly here, sometimes elsewhere.
pub fn image() -> impl Strategy<Value = Image> {
    let types = prop_oneof![
        6 => Just(Some("image/png")),
        1 => Just(None),
        1 => prop::sample::select(vec!["ima&ge/png", "image/png,x", "a;base64,b", ""]).prop_map(Some),
    ];
    let here = types.prop_map(|media_type| Image {
        media_type: media_type.map(Text::from),
        data: Data::Base64(PIXEL.into()),
        name: None,
    });
    let elsewhere = prop_oneof![
        Just(Data::Absent),
        path().prop_map(Data::Path),
        word().prop_map(|name| Data::Url(format!("https://example.com/{name}.png").into())),
        word().prop_map(Data::ProviderFile),
    ]
    .prop_map(|data| Image { media_type: None, data, name: None });
    prop_oneof![5 => here, 1 => elsewhere]
}

/// A document of text, of bytes, or elsewhere.
pub fn document() -> impl Strategy<Value = Block> {
    let data = prop_oneof![
        text().prop_map(Data::Text),
        Just(Data::Base64("JVBERi0xLjQK".into())),
        path().prop_map(Data::Path),
    ];
    (data, option::of(word())).prop_map(|(data, name)| {
        let media_type = match &data {
            Data::Text(_) => "text/plain",
            _ => "application/pdf",
        };
        Block::Document(Document { media_type: Some(media_type.into()), data, name })
    })
}
