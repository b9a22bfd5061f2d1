//! A program as the provider sees it: it offers tools, sends the conversation, and answers calls.

#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a part of several tests"
)]

use ibid_testkit::provider::Provider;
use ibid_testkit::provider::wire::Api;
use serde_json::{Value, json};

use crate::client::post;

/// One call of the model's, whatever the API.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Call {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) input: Value,
}

/// One turn of the model's.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Turn {
    pub(crate) thought: Option<String>,
    pub(crate) text: Option<String>,
    pub(crate) calls: Vec<Call>,
}

pub(crate) struct Program {
    pub(crate) api: Api,
    pub(crate) body: Value,
}

impl Program {
    /// With these tools, each a name and a schema; the schema of a custom tool is null.
    pub(crate) fn new(api: Api, tools: &[(&str, Value)]) -> Self {
        let tools: Vec<_> = tools.iter().map(|(name, schema)| tool(api, name, schema)).collect();
        let body = match api {
            Api::Messages => {
                json!({ "model": "m", "messages": [], "tools": tools, "thinking": { "type": "enabled" } })
            }
            Api::Responses => json!({
                "model": "m", "input": [], "tools": tools,
                "reasoning": { "summary": "auto" }, "include": ["reasoning.encrypted_content"],
            }),
            Api::Chat => json!({ "model": "m", "messages": [], "tools": tools }),
        };
        Self { api, body }
    }

    pub(crate) fn path(&self) -> &'static str {
        match self.api {
            Api::Messages => "/v1/messages",
            Api::Responses => "/v1/responses",
            Api::Chat => "/v1/chat/completions",
        }
    }

    pub(crate) fn list(&mut self) -> &mut Vec<Value> {
        let key = if self.api == Api::Responses { "input" } else { "messages" };
        self.body[key].as_array_mut().unwrap()
    }

    pub(crate) fn prompt(&mut self, text: &str) {
        self.list().push(json!({ "role": "user", "content": text }));
    }

    /// Asks the model, and puts its turn behind the conversation.
    pub(crate) fn ask(&mut self, provider: &Provider) -> Turn {
        let reply = post(provider, self.path(), &self.body);
        assert_eq!(reply.status, 200, "{}", String::from_utf8_lossy(&reply.body));
        let answer = reply.json();
        let (said, turn) = match self.api {
            Api::Messages => of_messages(&answer),
            Api::Responses => of_responses(&answer),
            Api::Chat => of_chat(&answer),
        };
        self.list().extend(said);
        turn
    }

    /// Puts the results of calls behind the conversation.
    pub(crate) fn answer(&mut self, calls: &[Call], result: &str) {
        let results: Vec<_> = calls.iter().map(|call| self.result(&call.id, result)).collect();
        match self.api {
            Api::Messages => self.list().push(json!({ "role": "user", "content": results })),
            Api::Responses | Api::Chat => self.list().extend(results),
        }
    }

    fn result(&self, id: &str, text: &str) -> Value {
        match self.api {
            Api::Messages => json!({ "type": "tool_result", "tool_use_id": id, "content": text }),
            Api::Responses => {
                let custom = self.body["input"].as_array().unwrap().iter();
                let custom = custom
                    .filter(|item| item["type"] == "custom_tool_call")
                    .any(|item| item["call_id"] == id);
                let kind = if custom { "custom_tool_call_output" } else { "function_call_output" };
                json!({ "type": kind, "call_id": id, "output": text })
            }
            Api::Chat => json!({ "role": "tool", "tool_call_id": id, "content": text }),
        }
    }

    /// Sends a prompt and answers calls until the model calls no more.
    pub(crate) fn run(&mut self, provider: &Provider, prompt: &str) -> Vec<Turn> {
        self.prompt(prompt);
        let mut turns = Vec::new();
        loop {
            let turn = self.ask(provider);
            turns.push(turn.clone());
            if turn.calls.is_empty() {
                return turns;
            }
            assert!(turns.len() < 30, "the script does not end");
            self.answer(&turn.calls, "ok");
        }
    }
}

fn tool(api: Api, name: &str, schema: &Value) -> Value {
    match api {
        Api::Messages => json!({ "name": name, "input_schema": schema }),
        Api::Responses if schema.is_null() => json!({ "type": "custom", "name": name }),
        Api::Responses => json!({ "type": "function", "name": name, "parameters": schema }),
        Api::Chat => json!({ "type": "function", "function": { "name": name, "parameters": schema } }),
    }
}

fn string(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

pub(crate) fn of_messages(answer: &Value) -> (Vec<Value>, Turn) {
    let blocks = answer["content"].as_array().unwrap();
    let find = |kind: &str| blocks.iter().find(|block| block["type"] == kind);
    let calls = blocks.iter().filter(|block| block["type"] == "tool_use").map(|block| Call {
        id: string(&block["id"]).unwrap(),
        name: string(&block["name"]).unwrap(),
        input: block["input"].clone(),
    });
    let turn = Turn {
        thought: find("thinking").and_then(|block| string(&block["thinking"])),
        text: find("text").and_then(|block| string(&block["text"])),
        calls: calls.collect(),
    };
    (vec![json!({ "role": "assistant", "content": blocks })], turn)
}

pub(crate) fn of_responses(answer: &Value) -> (Vec<Value>, Turn) {
    let items = answer["output"].as_array().unwrap();
    let find = |kind: &str, place: &str| {
        let item = items.iter().find(|item| item["type"] == kind)?;
        string(item.pointer(place)?)
    };
    let calls = items.iter().filter_map(|item| {
        let input = match item["type"].as_str()? {
            "function_call" => serde_json::from_str(item["arguments"].as_str()?).unwrap(),
            "custom_tool_call" => item["input"].clone(),
            _ => return None,
        };
        Some(Call { id: string(&item["call_id"])?, name: string(&item["name"])?, input })
    });
    let turn = Turn {
        thought: find("reasoning", "/summary/0/text"),
        text: find("message", "/content/0/text"),
        calls: calls.collect(),
    };
    (items.clone(), turn)
}

pub(crate) fn of_chat(answer: &Value) -> (Vec<Value>, Turn) {
    let message = &answer["choices"][0]["message"];
    let calls = message["tool_calls"].as_array().into_iter().flatten().map(|call| Call {
        id: string(&call["id"]).unwrap(),
        name: string(&call["function"]["name"]).unwrap(),
        input: serde_json::from_str(call["function"]["arguments"].as_str().unwrap()).unwrap(),
    });
    let turn = Turn {
        thought: string(&message["reasoning_content"]),
        text: string(&message["content"]),
        calls: calls.collect(),
    };
    (vec![message.clone()], turn)
}

/// A schema with these properties; a name that ends in `?` is not required.
fn schema(properties: &[(&str, &str)]) -> Value {
    let plain = |name: &str| name.trim_end_matches('?').to_owned();
    let all: serde_json::Map<_, _> =
        properties.iter().map(|(name, kind)| (plain(name), json!({ "type": kind }))).collect();
    let required: Vec<_> =
        properties.iter().filter(|(name, _)| !name.ends_with('?')).map(|(name, _)| *name).collect();
    json!({ "type": "object", "properties": all, "required": required })
}

fn tools<'a>(list: &[(&'a str, &[(&str, &str)])]) -> Vec<(&'a str, Value)> {
    list.iter().map(|(name, properties)| (*name, schema(properties))).collect()
}

/// Claude Code 2.1.332, with the properties that matter.
pub(crate) fn claude() -> Program {
    Program::new(
        Api::Messages,
        &tools(&[
            (
                "Agent",
                &[
                    ("description", "string"),
                    ("prompt", "string"),
                    ("subagent_type?", "string"),
                    ("run_in_background?", "boolean"),
                ],
            ),
            ("Bash", &[("command", "string"), ("timeout?", "number"), ("description?", "string")]),
            (
                "Edit",
                &[
                    ("file_path", "string"),
                    ("old_string", "string"),
                    ("new_string", "string"),
                    ("replace_all?", "boolean"),
                ],
            ),
            ("Read", &[("file_path", "string"), ("limit?", "integer")]),
            ("Write", &[("file_path", "string"), ("content", "string")]),
        ]),
    )
}

/// Codex 0.171.0 with a model of the older kind. Its subagents are in a namespace.
pub(crate) fn codex() -> Program {
    let mut list = tools(&[
        ("exec_command", &[("cmd", "string"), ("workdir?", "string")]),
        ("view_image", &[("path", "string")]),
    ]);
    list.push(("apply_patch", Value::Null));
    let mut program = Program::new(Api::Responses, &list);
    let agents = tools(&[
        ("spawn_agent", &[("message?", "string"), ("model?", "string")]),
        ("wait_agent", &[("targets", "array"), ("timeout_ms?", "number")]),
    ]);
    let agents: Vec<_> = agents.iter().map(|(name, schema)| tool(Api::Responses, name, schema)).collect();
    let namespace = json!({ "type": "namespace", "name": "multi_agent_v1", "tools": agents });
    program.body["tools"].as_array_mut().unwrap().extend([namespace, json!({ "type": "web_search" })]);
    program
}

/// OpenCode 1.18.33.
pub(crate) fn opencode() -> Program {
    Program::new(
        Api::Chat,
        &tools(&[
            ("bash", &[("command", "string"), ("timeout?", "integer"), ("workdir?", "string")]),
            (
                "edit",
                &[
                    ("filePath", "string"),
                    ("oldString", "string"),
                    ("newString", "string"),
                    ("replaceAll?", "boolean"),
                ],
            ),
            ("read", &[("filePath", "string"), ("offset?", "integer")]),
            (
                "task",
                &[
                    ("description", "string"),
                    ("prompt", "string"),
                    ("subagent_type", "string"),
                    ("command?", "string"),
                ],
            ),
            ("write", &[("content", "string"), ("filePath", "string")]),
        ]),
    )
}

/// pi 1.6.0, which has no subagents.
pub(crate) fn pi() -> Program {
    Program::new(
        Api::Chat,
        &tools(&[
            ("read", &[("path", "string"), ("offset?", "number")]),
            ("bash", &[("command", "string"), ("timeout?", "number")]),
            ("edit", &[("path", "string"), ("edits", "array")]),
            ("write", &[("path", "string"), ("content", "string")]),
        ]),
    )
}
