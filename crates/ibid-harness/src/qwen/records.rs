//! The rows of a session, typed as far as reading needs.
//!
//! One JSON object is one row: the envelope is a tree (`uuid`, `parentUuid`), and what was said is in
//! parts as Gemini's interface has them. Sources: files of 0.24.4 and 0.15.10, the program that 0.24.4
//! ships, and public files of 0.21.

use ibid_model::{Json, Text};
use serde_json::value::RawValue;

use crate::families::fields::{Recorded, Taker, raw_fields, whole_surrogates};
use crate::families::pi_tree::Parent;

/// One row.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) uuid: Option<Text>,
    pub(super) parent: Parent,
    pub(super) session: Option<Text>,
    pub(super) recorded: Recorded,
    pub(super) kind: Kind,
    pub(super) subtype: Option<Text>,
    /// Who made it (since 0.21): `real_user`, `assistant_output`, `tool_result`, `system`, ...
    pub(super) provenance: Option<Text>,
    pub(super) cwd: Option<Text>,
    pub(super) version: Option<Text>,
    pub(super) branch: Option<Text>,
    pub(super) model: Option<Text>,
    /// The subagent whose transcript it is in.
    pub(super) agent: Option<Text>,
    pub(super) agent_name: Option<Text>,
    /// The session that it was copied from.
    pub(super) forked_from: Option<Text>,
    pub(super) parts: Vec<Part>,
    pub(super) tokens: Option<Tokens>,
    pub(super) result: Ended,
    pub(super) system: System,
    /// The row as it was written.
    pub(super) whole: Json,
}

/// What a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    User,
    Assistant,
    ToolResult,
    System,
    Unknown,
}

/// One part of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Text(Text),
    Thought { text: Text, signature: Option<Text> },
    Call { id: Option<Text>, name: Text, args: Option<Json> },
    Response(Response),
    Bytes { media_type: Option<Text>, data: Text, name: Option<Text> },
    File { media_type: Option<Text>, uri: Text, name: Option<Text> },
    Other(Json),
}

/// What a tool gave back, as the model sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Response {
    pub(super) id: Option<Text>,
    pub(super) name: Option<Text>,
    pub(super) output: Option<Text>,
    pub(super) error: Option<Text>,
    /// A response of another shape.
    pub(super) json: Option<Json>,
    /// Pictures and the like that belong to it.
    pub(super) parts: Vec<Part>,
}

/// How a tool call ended, as the program notes it.
#[derive(Clone, Debug, Default)]
pub(super) struct Ended {
    pub(super) call: Option<Text>,
    pub(super) status: Option<Text>,
    pub(super) error_type: Option<Text>,
    pub(super) display: Option<Json>,
    pub(super) shown: Option<Text>,
}

/// Tokens of one call; the prompt holds what came from the cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tokens {
    pub(super) prompt: Option<u64>,
    pub(super) candidates: Option<u64>,
    pub(super) thoughts: Option<u64>,
    pub(super) total: Option<u64>,
    pub(super) cached: Option<u64>,
}

/// What a `system` row says that is used.
#[derive(Clone, Debug, Default)]
pub(super) struct System {
    /// `custom_title`.
    pub(super) title: Option<Text>,
    pub(super) title_by_person: bool,
    /// `parent_session`.
    pub(super) parent_session: Option<Text>,
    /// `slash_command`.
    pub(super) command: Option<Text>,
    /// `chat_compression`: what the history was replaced by.
    pub(super) compressed: Option<Text>,
    pub(super) replaced: bool,
    pub(super) trigger: Option<Text>,
    pub(super) tokens_before: Option<u64>,
    /// `ui_telemetry`.
    pub(super) telemetry: Option<Telemetry>,
}

/// What the program measured.
#[derive(Clone, Debug, Default)]
pub(super) struct Telemetry {
    pub(super) name: Text,
    pub(super) response: Option<Text>,
    pub(super) model: Option<Text>,
    /// The subagent that asked, where it has a transcript or is one of the program's own helpers.
    pub(super) agent: Option<Text>,
    pub(super) error: Option<Text>,
    pub(super) tokens: Tokens,
}

raw_fields!(Envelope {
    uuid,
    parent_uuid,
    session_id,
    timestamp,
    ts,
    r#type,
    subtype,
    provenance,
    cwd,
    version,
    git_branch,
    model,
    agent_id,
    agent_name,
    forked_from,
    message,
    parts,
    usage_metadata,
    tool_call_result,
    system_payload,
});
raw_fields!(ForkFields { session_id });
raw_fields!(MessageFields { parts, content, model });
raw_fields!(PartFields {
    text,
    thought,
    thought_signature,
    function_call,
    function_response,
    inline_data,
    file_data,
});
raw_fields!(CallFields { id, name, args });
raw_fields!(ResponseFields { id, name, response, parts });
raw_fields!(GivenFields { output, error });
raw_fields!(DataFields { mime_type, data, file_uri, display_name });
raw_fields!(EndedFields { call_id, status, error_type, result_display });
raw_fields!(UsageFields {
    prompt_token_count,
    candidates_token_count,
    thoughts_token_count,
    total_token_count,
    cached_content_token_count,
});
raw_fields!(PayloadFields {
    custom_title,
    title_source,
    parent_session_id,
    raw_command,
    info,
    compressed_history,
    ui_event,
});
raw_fields!(InfoFields { original_token_count, trigger_reason });

/// The measured event; its names are no camel case.
#[derive(serde::Deserialize, Default)]
struct EventFields<'a> {
    #[serde(rename = "event.name", borrow, default)]
    name: Option<&'a RawValue>,
    #[serde(borrow, default)]
    response_id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    model: Option<&'a RawValue>,
    #[serde(borrow, default)]
    subagent_id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error_message: Option<&'a RawValue>,
    #[serde(borrow, default)]
    input_token_count: Option<&'a RawValue>,
    #[serde(borrow, default)]
    output_token_count: Option<&'a RawValue>,
    #[serde(borrow, default)]
    thoughts_token_count: Option<&'a RawValue>,
    #[serde(borrow, default)]
    cached_content_token_count: Option<&'a RawValue>,
    #[serde(borrow, default)]
    total_token_count: Option<&'a RawValue>,
}

impl Row {
    /// Reads one row from the text of one object.
    ///
    /// # Errors
    /// When the text is not one JSON object, or has a fault that its carrier can repair.
    pub(super) fn read(whole: &Text) -> Result<Row, serde_json::Error> {
        whole_surrogates(whole)?;
        let fields: Envelope<'_> = serde_json::from_str(whole)?;
        let take = Taker { whole };
        let message: MessageFields<'_> = take.value(fields.message).unwrap_or_default();
        let kind = match take.text(fields.r#type).unwrap_or_default().as_str() {
            "user" => Kind::User,
            "assistant" => Kind::Assistant,
            "tool_result" => Kind::ToolResult,
            "system" => Kind::System,
            _ => Kind::Unknown,
        };
        let named = |raw| take.text(raw).filter(|text| !text.is_blank());
        let forked: ForkFields<'_> = take.value(fields.forked_from).unwrap_or_default();
        let ended: EndedFields<'_> = take.value(fields.tool_call_result).unwrap_or_default();
        let usage: Option<UsageFields<'_>> = take.value(fields.usage_metadata);
        let parts = message.parts.or(message.content).or(fields.parts);
        Ok(Row {
            uuid: named(fields.uuid),
            parent: match take.text(fields.parent_uuid) {
                Some(parent) if !parent.is_empty() => Parent::Entry(parent),
                _ if has_parent_field(whole) => Parent::Root,
                _ => Parent::Unsaid,
            },
            session: named(fields.session_id),
            recorded: take.recorded(fields.timestamp.or(fields.ts), None),
            kind,
            subtype: named(fields.subtype),
            provenance: named(fields.provenance),
            cwd: named(fields.cwd),
            version: named(fields.version),
            branch: named(fields.git_branch),
            model: named(fields.model).or_else(|| named(message.model)),
            agent: named(fields.agent_id),
            agent_name: named(fields.agent_name),
            forked_from: named(forked.session_id),
            parts: parts.map(|parts| read_parts(&take, parts)).unwrap_or_default(),
            tokens: usage
                .map(|usage| read_tokens(&take, &usage))
                .filter(|tokens| *tokens != Tokens::default()),
            result: Ended {
                call: named(ended.call_id),
                status: named(ended.status),
                error_type: named(ended.error_type),
                display: take.json(ended.result_display).filter(Json::is_object),
                shown: take.text(ended.result_display),
            },
            system: match (kind, fields.system_payload) {
                (Kind::System, Some(payload)) => read_system(&take, payload),
                _ => System::default(),
            },
            whole: Json::from_text(whole.clone())?,
        })
    }
}

/// Whether a row without a parent says so (`null`), or says nothing of one.
fn has_parent_field(whole: &str) -> bool {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Field {
        #[serde(default, deserialize_with = "present")]
        parent_uuid: bool,
    }
    fn present<'de, D: serde::Deserializer<'de>>(value: D) -> Result<bool, D::Error> {
        serde::de::IgnoredAny::deserialize(value).map(|_| true)
    }
    use serde::Deserialize as _;
    serde_json::from_str::<Field>(whole).is_ok_and(|field| field.parent_uuid)
}

fn read_parts<'a>(take: &Taker<'a>, written: &'a RawValue) -> Vec<Part> {
    if let Some(text) = take.text(Some(written)) {
        return vec![Part::Text(text)];
    }
    let parts: Vec<&'a RawValue> = take.value(Some(written)).unwrap_or_default();
    parts.into_iter().map(|part| read_part(take, part)).collect()
}

fn read_part<'a>(take: &Taker<'a>, written: &'a RawValue) -> Part {
    let other = || Part::Other(Json::part_of(take.whole, written));
    if let Some(text) = take.text(Some(written)) {
        return Part::Text(text);
    }
    let Ok(fields) = serde_json::from_str::<PartFields<'a>>(written.get()) else { return other() };
    if let Some(call) = take.value::<CallFields<'a>>(fields.function_call)
        && let Some(name) = take.text(call.name)
    {
        return Part::Call {
            id: take.text(call.id).filter(|id| !id.is_empty()),
            name,
            args: take.json(call.args),
        };
    }
    if let Some(response) = take.value::<ResponseFields<'a>>(fields.function_response) {
        let given: Option<GivenFields<'a>> = take.value(response.response);
        let given = given.unwrap_or_default();
        let (output, error) = (take.text(given.output), take.text(given.error));
        let json = take
            .json(response.response)
            .filter(|json| output.is_none() && error.is_none() && json.as_str() != "{}");
        return Part::Response(Response {
            id: take.text(response.id).filter(|id| !id.is_empty()),
            name: take.text(response.name),
            output,
            error,
            json,
            parts: response.parts.map(|parts| read_parts_flat(take, parts)).unwrap_or_default(),
        });
    }
    for (data, inline) in [(fields.inline_data, true), (fields.file_data, false)] {
        let Some(data) = take.value::<DataFields<'a>>(data) else { continue };
        let (media_type, name) = (take.text(data.mime_type), take.text(data.display_name));
        match (inline, take.text(data.data), take.text(data.file_uri)) {
            (true, Some(data), _) => return Part::Bytes { media_type, data, name },
            (false, _, Some(uri)) => return Part::File { media_type, uri, name },
            _ => {}
        }
    }
    match take.text(fields.text) {
        Some(text) if take.value(fields.thought) == Some(true) => {
            Part::Thought { text, signature: take.text(fields.thought_signature) }
        }
        Some(text) => Part::Text(text),
        None => other(),
    }
}

/// The parts inside a response: no response stands in them, whatever a file says.
fn read_parts_flat<'a>(take: &Taker<'a>, written: &'a RawValue) -> Vec<Part> {
    let parts: Vec<&'a RawValue> = take.value(Some(written)).unwrap_or_default();
    let flat = parts.into_iter().map(|part| match serde_json::from_str::<PartFields<'a>>(part.get()) {
        Ok(fields) if fields.function_response.is_none() => read_part(take, part),
        _ => Part::Other(Json::part_of(take.whole, part)),
    });
    flat.collect()
}

fn read_tokens<'a>(take: &Taker<'a>, fields: &UsageFields<'a>) -> Tokens {
    Tokens {
        prompt: take.count(fields.prompt_token_count),
        candidates: take.count(fields.candidates_token_count),
        thoughts: take.count(fields.thoughts_token_count),
        total: take.count(fields.total_token_count),
        cached: take.count(fields.cached_content_token_count),
    }
}

fn read_system<'a>(take: &Taker<'a>, payload: &'a RawValue) -> System {
    let Ok(fields) = serde_json::from_str::<PayloadFields<'a>>(payload.get()) else {
        return System::default();
    };
    let info: InfoFields<'a> = take.value(fields.info).unwrap_or_default();
    let history: Option<Vec<&'a RawValue>> = take.value(fields.compressed_history);
    // The summary is the first content; what follows it is kept from the history.
    let first = history.as_ref().and_then(|history| history.first());
    let first: MessageFields<'a> =
        first.and_then(|first| serde_json::from_str(first.get()).ok()).unwrap_or_default();
    let texts = first.parts.map(|parts| read_parts_flat(take, parts)).unwrap_or_default();
    let texts: Vec<Text> = texts
        .into_iter()
        .filter_map(|part| match part {
            Part::Text(text) => Some(text),
            _ => None,
        })
        .collect();
    let event: Option<EventFields<'a>> = take.value(fields.ui_event);
    System {
        title: take.text(fields.custom_title),
        title_by_person: take.text(fields.title_source).is_some_and(|source| source == "manual"),
        parent_session: take.text(fields.parent_session_id).filter(|id| !id.is_blank()),
        command: take.text(fields.raw_command),
        compressed: match texts.as_slice() {
            [] => None,
            [text] => Some(text.clone()),
            texts => Some(Text::from(texts.iter().map(Text::as_str).collect::<Vec<_>>().join("\n"))),
        },
        replaced: history.is_some(),
        trigger: take.text(info.trigger_reason),
        tokens_before: take.count(info.original_token_count),
        telemetry: event.map(|event| Telemetry {
            name: take.text(event.name).unwrap_or_default(),
            response: take.text(event.response_id),
            model: take.text(event.model),
            agent: take.text(event.subagent_id),
            error: take.text(event.error_message),
            tokens: Tokens {
                prompt: take.count(event.input_token_count),
                candidates: take.count(event.output_token_count),
                thoughts: take.count(event.thoughts_token_count),
                total: take.count(event.total_token_count),
                cached: take.count(event.cached_content_token_count),
            },
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Row {
        Row::read(&Text::from(text)).unwrap()
    }

    #[test]
    fn what_was_said_may_be_in_parts_or_a_string() {
        let said = Part::Text("hi".into());
        for text in [
            r#"{"type":"user","message":{"parts":[{"text":"hi"}]}}"#,
            r#"{"type":"user","message":{"content":"hi"}}"#,
            r#"{"type":"user","parts":["hi"]}"#,
        ] {
            assert_eq!(read(text).parts, std::slice::from_ref(&said));
        }
    }

    #[test]
    fn a_field_of_another_type_does_not_hide_its_row() {
        let row = read(
            r#"{"type":"assistant","uuid":7,"message":{"parts":[7,{"functionCall":{"id":1}}]},"usageMetadata":[]}"#,
        );
        assert_eq!((row.kind, row.uuid, row.tokens), (Kind::Assistant, None, None));
        assert!(matches!(row.parts.as_slice(), [Part::Other(_), Part::Other(_)]));
    }

    #[test]
    fn a_response_within_a_response_is_not_taken_apart() {
        let inner = r#"{"functionResponse":{"parts":[{"functionResponse":{"response":{"output":"x"}}}]}}"#;
        let row = read(&format!(r#"{{"type":"tool_result","message":{{"parts":[{inner}]}}}}"#));
        let [Part::Response(response)] = row.parts.as_slice() else { panic!("{:?}", row.parts) };
        assert!(matches!(response.parts.as_slice(), [Part::Other(_)]));
    }
}
