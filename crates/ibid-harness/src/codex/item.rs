//! Response items: what the model saw and said.

use ibid_model::{Argument, Json, OtherBlock, Role, Text, Timestamp, Tool};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::answers::{self, Answer};
use super::content::{self, Part};
use super::json::{self, Str};
use super::records::role;
use super::tools::{self, Input};

/// A response item.
#[derive(Clone, Debug)]
pub(super) struct Item {
    /// When it was made, where the item says it itself (0.171.0).
    pub(super) made: Option<Timestamp>,
    /// The turn it belongs to, where the item says so (0.171.0).
    pub(super) turn: Option<Text>,
    pub(super) kind: Kind,
}

/// What kind of item.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// A message.
    Message(Message),
    /// What the model thought.
    Reasoning { text: Text, token: Option<Text> },
    /// A tool call.
    Call(Call),
    /// A tool's answer.
    Output { call: Option<Text>, answer: Answer },
    /// A message between agents.
    Agent { parts: Vec<Part> },
    /// Something the model did that has no type here.
    Other(OtherBlock),
    /// No conversation.
    Quiet,
    /// An item of a kind that is not known.
    Unknown(Text),
}

/// A message.
#[derive(Clone, Debug)]
pub(super) struct Message {
    pub(super) role: Role,
    pub(super) parts: Vec<Part>,
    pub(super) injected: Option<Injected>,
    /// Whether only the look of its texts says that it was put there, so that a person may have
    /// typed it all the same.
    pub(super) doubtful: bool,
    /// A call in the form of an old API that programs other than Codex write.
    pub(super) call: Option<Call>,
}

/// Who put a user message there that no person typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Injected {
    /// Codex itself.
    Harness,
    /// A subagent.
    Agent,
}

/// A tool call.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) id: Option<Text>,
    pub(super) name: Text,
    pub(super) tool: Tool,
    pub(super) extra: Vec<Argument>,
}

#[derive(Deserialize)]
struct Raw<'a> {
    #[serde(rename = "type", borrow)]
    kind: Option<Str<'a>>,
    #[serde(borrow)]
    role: Option<Str<'a>>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    name: Option<&'a RawValue>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    #[serde(borrow)]
    call_id: Option<&'a RawValue>,
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    output: Option<&'a RawValue>,
    #[serde(borrow)]
    tools: Option<&'a RawValue>,
    #[serde(borrow)]
    summary: Option<&'a RawValue>,
    #[serde(borrow)]
    encrypted_content: Option<&'a RawValue>,
    #[serde(borrow)]
    action: Option<&'a RawValue>,
    #[serde(borrow)]
    function_call: Option<&'a RawValue>,
    #[serde(rename = "internal_chat_message_metadata_passthrough", borrow)]
    passthrough: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Passthrough<'a> {
    #[serde(borrow)]
    turn_id: Option<&'a RawValue>,
    #[serde(borrow)]
    create_time: Option<&'a RawValue>,
    #[serde(borrow)]
    content_item_kinds: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct OldCall<'a> {
    #[serde(borrow)]
    name: Option<&'a RawValue>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

/// Reads the payload of a `response_item`.
///
/// # Errors
/// When it is no object, or its type or role is no string.
pub(super) fn read(payload: &RawValue, whole: &Text) -> Result<Item, serde_json::Error> {
    let raw: Raw<'_> = serde_json::from_str(payload.get())?;
    Ok(item(&raw, payload.get(), whole))
}

/// Reads a line of the format before the envelope, which is an item itself; none when no version
/// of Codex writes such a line.
///
/// # Errors
/// As [`read`].
pub(super) fn read_bare(whole: &Text) -> Result<Option<Item>, serde_json::Error> {
    let raw: Raw<'_> = serde_json::from_str(whole)?;
    let known = match raw.kind.as_ref().map_or("", Str::as_str) {
        "message" => raw.role.is_some() && raw.content.is_some(),
        "function_call" | "function_call_output" | "custom_tool_call" | "custom_tool_call_output" => {
            raw.call_id.is_some()
        }
        "reasoning" => raw.summary.is_some(),
        "local_shell_call" | "web_search_call" => raw.action.is_some(),
        _ => false,
    };
    Ok(known.then(|| item(&raw, whole, whole)))
}

/// Reads an item of the first versions, where a message needs no type.
///
/// # Errors
/// As [`read`].
pub(super) fn read_old(whole: &Text) -> Result<Option<Item>, serde_json::Error> {
    let raw: Raw<'_> = serde_json::from_str(whole)?;
    let known = raw.role.is_some() || raw.kind.is_some();
    Ok(known.then(|| item(&raw, whole, whole)))
}

fn item(raw: &Raw<'_>, payload: &str, whole: &Text) -> Item {
    let passthrough: Option<Passthrough<'_>> = json::read(raw.passthrough);
    let passthrough = passthrough.as_ref();
    let written = raw.kind.as_ref().map_or("", Str::as_str);
    // Several programs leave the type of a message out.
    let kind = if written.is_empty() && raw.role.is_some() { "message" } else { written };
    let call_id = || json::string(raw.call_id, whole).filter(|id| !id.is_empty());
    let name = |default: &str| json::string(raw.name, whole).unwrap_or_else(|| default.into());
    let kind = match kind {
        "message" => message(raw, passthrough, whole),
        "reasoning" => Kind::Reasoning {
            text: reasoning(raw, whole),
            token: json::string(raw.encrypted_content, whole).filter(|token| !token.is_blank()),
        },
        "function_call" => Kind::Call(call(call_id(), name("unknown"), arguments(raw.arguments, whole))),
        "custom_tool_call" => {
            let input = match json::string(raw.input, whole) {
                Some(text) => Input::Free(text),
                None => arguments(raw.input, whole),
            };
            Kind::Call(call(call_id(), name("unknown"), input))
        }
        "local_shell_call" => {
            let id = call_id().or_else(|| json::string(raw.id, whole));
            Kind::Call(call(id, "local_shell".into(), arguments(raw.action, whole)))
        }
        "tool_search_call" => {
            Kind::Call(call(call_id(), "tool_search".into(), arguments(raw.arguments, whole)))
        }
        "function_call_output" | "custom_tool_call_output" => {
            Kind::Output { call: call_id(), answer: answers::read(raw.output, whole) }
        }
        "tool_search_output" => {
            let found = raw.tools.map(|tools| {
                Part::Other(OtherBlock { kind: "tools".into(), json: Json::part_of(whole, tools) })
            });
            let parts = found.map(Part::into_result).into_iter().collect();
            Kind::Output { call: call_id(), answer: Answer { parts, ..Answer::default() } }
        }
        "agent_message" => Kind::Agent { parts: content::read(raw.content, whole) },
        "web_search_call" | "image_generation_call" => match Json::from_text(Text::part_of(whole, payload)) {
            Ok(json) => Kind::Other(OtherBlock { kind: kind.into(), json }),
            Err(_) => Kind::Quiet,
        },
        "ghost_snapshot"
        | "additional_tools"
        | "compaction"
        | "context_compaction"
        | "compaction_summary"
        | "compaction_trigger"
        | "configuration_update" => Kind::Quiet,
        other => Kind::Unknown(other.into()),
    };
    Item {
        made: passthrough
            .and_then(|passthrough| json::read::<f64>(passthrough.create_time))
            .and_then(json::seconds),
        turn: passthrough.and_then(|passthrough| json::string(passthrough.turn_id, whole)),
        kind,
    }
}

fn call(id: Option<Text>, name: Text, input: Input) -> Call {
    let (tool, extra) = tools::decode(&name, input);
    Call { id, name, tool, extra }
}

/// Arguments are a string of JSON; other programs write the object itself. What is no JSON is
/// kept as a string.
fn arguments(raw: Option<&RawValue>, whole: &Text) -> Input {
    let Some(raw) = raw else { return Input::Arguments(Json::null()) };
    Input::Arguments(match json::string(Some(raw), whole) {
        Some(text) => Json::from_text(text.clone()).unwrap_or_else(|_| Json::string(&text)),
        None => Json::part_of(whole, raw),
    })
}

/// The summary, which is what people are shown; where there is none, the thinking itself.
fn reasoning(raw: &Raw<'_>, whole: &Text) -> Text {
    let mut parts = content::read(raw.summary, whole);
    if parts.is_empty() {
        parts = content::read(raw.content, whole);
    }
    joined(parts)
}

/// The texts of parts, joined by blank lines.
pub(super) fn joined(parts: Vec<Part>) -> Text {
    let mut texts = parts.into_iter().filter_map(|part| match part {
        Part::Text(text) if !text.is_blank() => Some(text),
        _ => None,
    });
    let Some(first) = texts.next() else { return Text::default() };
    let rest: Vec<Text> = texts.collect();
    if rest.is_empty() {
        return first;
    }
    let mut all = first.to_string();
    for text in rest {
        all.push_str("\n\n");
        all.push_str(&text.to_str());
    }
    all.into()
}

fn message(raw: &Raw<'_>, passthrough: Option<&Passthrough<'_>>, whole: &Text) -> Kind {
    let name = raw.role.as_ref().map_or("", Str::as_str);
    // The result of a call in the form of an old API.
    if name == "function" || name == "tool" {
        return Kind::Output {
            call: json::string(raw.call_id, whole),
            answer: answers::read(raw.content, whole),
        };
    }
    let Some(role) = role(name) else { return Kind::Unknown(format!("message of role {name}").into()) };
    let parts = content::read(raw.content, whole);
    let kinds: Vec<Str<'_>> =
        json::read(passthrough.and_then(|passthrough| passthrough.content_item_kinds)).unwrap_or_default();
    let (injected, doubtful) = match (role, told_by(&kinds)) {
        (Role::User, Some(told)) => (told, false),
        (Role::User, None) => {
            let look = look_of(&parts);
            (look, look.is_some())
        }
        _ => (None, false),
    };
    let call = json::read::<OldCall<'_>>(raw.function_call).map(|old| {
        let name = json::string(old.name, whole).unwrap_or_else(|| "unknown".into());
        call(None, name, arguments(old.arguments, whole))
    });
    Kind::Message(Message { role, parts, injected, doubtful, call })
}

/// How text begins that Codex puts in front of the model as if the user had said it.
const SCAFFOLDING: [&str; 13] = [
    "<environment_context>",
    "<user_instructions>",
    "<instructions>",
    "<INSTRUCTIONS>",
    "# AGENTS.md instructions",
    "<permissions instructions>",
    "<permissions>",
    "<skill>",
    "<skills_instructions>",
    "<turn_aborted>",
    "<collaboration_mode>",
    "<sandbox_mode>",
    "<approval_policy>",
];

/// How a notice of a subagent begins.
const NOTICES: [&str; 2] = ["<subagent_notification>", "<subagent"];

/// Who put the message there, when the kinds of its items say it (0.171.0): nobody, for what a
/// person typed.
fn told_by(kinds: &[Str<'_>]) -> Option<Option<Injected>> {
    let told: Vec<&str> =
        kinds.iter().map(Str::as_str).filter(|kind| !kind.is_empty() && *kind != "unknown").collect();
    if told.is_empty() || !told.iter().all(|kind| kind.contains('.')) {
        return None;
    }
    if told.iter().any(|kind| kind.starts_with("user.")) {
        return Some(None);
    }
    let notice = told.iter().all(|kind| kind.contains("subagent"));
    Some(Some(if notice { Injected::Agent } else { Injected::Harness }))
}

/// Who seems to have put a message there, by how its texts begin. It is nobody when there is
/// anything but texts.
fn look_of(parts: &[Part]) -> Option<Injected> {
    let mut texts = Vec::with_capacity(parts.len());
    for part in parts {
        let Part::Text(text) = part else { return None };
        texts.push(text.to_str());
    }
    look_of_texts(texts.iter().map(|text| &**text))
}

/// Who seems to have put a message of these texts there.
pub(super) fn look_of_texts<'a>(texts: impl IntoIterator<Item = &'a str>) -> Option<Injected> {
    let mut by = None;
    for text in texts {
        let text = text.trim_start();
        let begins = |starts: &[&str]| starts.iter().any(|start| text.starts_with(start));
        if begins(&NOTICES) {
            by = by.or(Some(Injected::Agent));
        } else if begins(&SCAFFOLDING) {
            by = Some(Injected::Harness);
        } else {
            return None;
        }
    }
    by
}
