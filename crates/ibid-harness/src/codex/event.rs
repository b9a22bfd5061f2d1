//! Event messages: what the screen showed. In old files, and in those of some other programs,
//! they are all that is left of the conversation.

use ibid_model::{Json, Outcome, Text};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::content::{self, Part};
use super::item::joined;
use super::json::{self, Str};
use super::records::Tokens;

/// An event.
#[derive(Clone, Debug)]
pub(super) enum Event {
    /// A person said something.
    User { parts: Vec<Part>, lane: Lane },
    /// The model said something.
    Agent { text: Text, lane: Lane },
    /// What the model thought.
    Reasoning(Text),
    /// Counters; none when the process has made no call yet.
    Tokens(Option<TokenCount>),
    /// A turn of this id began.
    TurnBegan(Option<Text>),
    /// A turn of this id ended.
    TurnEnded(Option<Text>),
    /// The turn was stopped.
    Aborted { turn: Option<Text>, reason: Text },
    /// The structured form of a tool's result.
    Result(Structured),
    /// The last turns were undone.
    RolledBack(u64),
    /// The thread got a name.
    Name(Text),
    /// Something failed.
    Error { text: Text, json: Json },
    /// A mode began or ended.
    Mode { kind: Text, json: Json },
    /// No conversation.
    Quiet,
}

/// Which vocabulary an event belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lane {
    /// `user_message` and `agent_message` (legacy files).
    Message,
    /// `item_completed` (paginated files).
    Completed,
}

/// Counters of the last call and of the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TokenCount {
    pub(super) total: Tokens,
    pub(super) last: Option<Tokens>,
}

/// What an event says about a tool's result.
#[derive(Clone, Debug)]
pub(super) struct Structured {
    pub(super) call: Text,
    pub(super) outcome: Outcome,
    /// The output, for files whose results are in events only.
    pub(super) text: Option<Text>,
    pub(super) json: Json,
}

#[derive(Deserialize)]
struct Raw<'a> {
    #[serde(rename = "type", borrow)]
    kind: Option<Str<'a>>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    #[serde(borrow)]
    text: Option<&'a RawValue>,
    #[serde(rename = "kind", borrow)]
    sort: Option<&'a RawValue>,
    #[serde(borrow)]
    images: Option<&'a RawValue>,
    #[serde(borrow)]
    local_images: Option<&'a RawValue>,
    #[serde(borrow)]
    info: Option<&'a RawValue>,
    #[serde(borrow)]
    turn_id: Option<&'a RawValue>,
    #[serde(borrow)]
    reason: Option<&'a RawValue>,
    #[serde(borrow)]
    num_turns: Option<&'a RawValue>,
    #[serde(borrow)]
    thread_name: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    #[serde(borrow)]
    item: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct RawInfo<'a> {
    total_token_usage: Tokens,
    #[serde(borrow)]
    last_token_usage: Option<&'a RawValue>,
}

/// Reads the payload of an `event_msg`.
///
/// # Errors
/// When it is no object, or its type is no string.
pub(super) fn read(payload: &RawValue, whole: &Text) -> Result<Event, serde_json::Error> {
    let raw: Raw<'_> = serde_json::from_str(payload.get())?;
    let string = |raw| json::string(raw, whole);
    let all = || Json::part_of(whole, payload);
    Ok(match raw.kind.as_ref().map_or("", Str::as_str) {
        "user_message" => match string(raw.sort).as_deref() {
            // Versions of autumn 2025 tell what they put there by this event too.
            Some("user_instructions" | "environment_context") => Event::Quiet,
            _ => Event::User { parts: user_parts(&raw, whole), lane: Lane::Message },
        },
        "agent_message" => {
            Event::Agent { text: string(raw.message).unwrap_or_default(), lane: Lane::Message }
        }
        "agent_reasoning" => Event::Reasoning(string(raw.text).unwrap_or_default()),
        "token_count" => Event::Tokens(json::read::<RawInfo<'_>>(raw.info).map(|info| TokenCount {
            total: info.total_token_usage,
            last: json::read(info.last_token_usage),
        })),
        "task_started" | "turn_started" => Event::TurnBegan(string(raw.turn_id)),
        "task_complete" | "turn_complete" => Event::TurnEnded(string(raw.turn_id)),
        "turn_aborted" => Event::Aborted {
            turn: string(raw.turn_id),
            reason: string(raw.reason).unwrap_or_else(|| "interrupted".into()),
        },
        "exec_command_end" | "patch_apply_end" | "mcp_tool_call_end" => {
            structured(payload, whole).map_or(Event::Quiet, Event::Result)
        }
        "thread_rolled_back" => Event::RolledBack(json::read(raw.num_turns).unwrap_or(0)),
        "thread_name_updated" => string(raw.thread_name).map_or(Event::Quiet, Event::Name),
        "error" | "stream_error" => {
            let text = string(raw.message).or_else(|| {
                let error: Option<Raw<'_>> = json::read(raw.error);
                error.and_then(|error| string(error.message))
            });
            Event::Error { text: text.unwrap_or_default(), json: all() }
        }
        kind @ ("entered_review_mode" | "exited_review_mode") => {
            Event::Mode { kind: kind.into(), json: all() }
        }
        "item_completed" => raw.item.map_or(Event::Quiet, |item| completed(item, whole)),
        _ => Event::Quiet,
    })
}

fn user_parts(raw: &Raw<'_>, whole: &Text) -> Vec<Part> {
    let texts = |raw| -> Vec<Text> {
        let list: Vec<Str<'_>> = json::read(raw).unwrap_or_default();
        list.into_iter().map(|text| text.text(whole)).collect()
    };
    let pictures = texts(raw.images).into_iter().map(|url| Part::Image(content::image(&url)));
    let files = texts(raw.local_images).into_iter().map(|path| Part::Image(content::local_image(path)));
    let text = json::string(raw.message, whole).map(Part::Text);
    pictures.chain(files).chain(text).collect()
}

#[derive(Deserialize)]
struct RawItem<'a> {
    #[serde(rename = "type", borrow)]
    kind: Option<Str<'a>>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    summary_text: Option<&'a RawValue>,
}

fn completed(item: &RawValue, whole: &Text) -> Event {
    let Some(raw) = json::read::<RawItem<'_>>(Some(item)) else { return Event::Quiet };
    match raw.kind.as_ref().map_or("", Str::as_str) {
        "UserMessage" => Event::User { parts: content::read(raw.content, whole), lane: Lane::Completed },
        "AgentMessage" => {
            Event::Agent { text: joined(content::read(raw.content, whole)), lane: Lane::Completed }
        }
        "Reasoning" => Event::Reasoning(joined(content::read(raw.summary_text, whole))),
        "CommandExecution" | "FileChange" | "McpToolCall" => {
            structured(item, whole).map_or(Event::Quiet, Event::Result)
        }
        _ => Event::Quiet,
    }
}

#[derive(Deserialize)]
struct RawResult<'a> {
    #[serde(borrow)]
    call_id: Option<&'a RawValue>,
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    exit_code: Option<i64>,
    success: Option<bool>,
    #[serde(borrow)]
    status: Option<&'a RawValue>,
    #[serde(borrow)]
    aggregated_output: Option<&'a RawValue>,
    #[serde(borrow)]
    stdout: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct RawMcpResult<'a> {
    #[serde(rename = "Ok", borrow)]
    ok: Option<&'a RawValue>,
    #[serde(rename = "Err", borrow)]
    err: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct RawMcpOk {
    #[serde(rename = "isError", alias = "is_error")]
    is_error: Option<bool>,
}

fn structured(payload: &RawValue, whole: &Text) -> Option<Structured> {
    let raw: RawResult<'_> = json::read(Some(payload))?;
    let call = json::string(raw.call_id, whole).or_else(|| json::string(raw.id, whole))?;
    let status = json::string(raw.status, whole);
    let mcp = json::read::<RawMcpResult<'_>>(raw.result).and_then(|result| {
        let failed = json::read::<RawMcpOk>(result.ok).and_then(|ok| ok.is_error);
        result.err.map(|_| true).or(failed).map(|failed| !failed)
    });
    let ended_well = raw.exit_code.map(|code| code == 0).or(raw.success).or(mcp);
    let outcome = match (ended_well, status.as_deref()) {
        (Some(true), _) => Outcome::Ok,
        (Some(false), _) | (None, Some("failed")) => Outcome::Error,
        (None, Some("declined" | "interrupted")) => Outcome::Interrupted,
        (None, Some("completed")) => Outcome::Ok,
        (None, _) => Outcome::Unknown,
    };
    let text = json::string(raw.aggregated_output, whole)
        .filter(|text| !text.is_empty())
        .or_else(|| json::string(raw.stdout, whole));
    Some(Structured { call, outcome, text, json: Json::part_of(whole, payload) })
}
