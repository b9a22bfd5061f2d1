//! The entries of a pi-style session file, typed as far as reading needs.
//!
//! One JSON object is one entry. A field of another type than expected reads as absent, so that
//! one odd value never hides the rest of its entry; the bytes stay in the document.
//!
//! Sources: pi's own `docs/session-format.md` and `docs/message-types.md` (1.6.0), files of 0.73.1
//! and 1.6.0, and files of late 2025 without ids (version 1).

use ibid_model::{Json, Text};
use serde::Deserialize;
use serde_json::value::RawValue;

pub(crate) use crate::families::fields::Recorded;
use crate::families::fields::whole_surrogates;
pub(super) use crate::families::fields::{Taker, is_duplicate};

/// What an entry says of the entry it continues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Parent {
    /// Nothing: entries of version 1 have no such field.
    Unsaid,
    /// It begins a tree.
    Root,
    /// The entry with this id.
    Entry(Text),
}

/// One entry.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// Its id within the file.
    pub(crate) id: Option<Text>,
    /// What it continues.
    pub(crate) parent: Parent,
    /// When it was recorded.
    pub(crate) recorded: Recorded,
    /// What it is.
    pub(crate) body: Body,
}

/// What an entry is.
#[derive(Clone, Debug)]
pub(crate) enum Body {
    /// `session`: the first entry, which describes the file.
    Header(Header),
    /// `message`.
    Message(Box<Said>),
    /// `custom_message`: text that an extension put in front of the model.
    Injected { content: Option<Text> },
    /// `compaction`.
    Compaction(Box<Compacted>),
    /// `branch_summary`: what happened on a branch that was left.
    BranchSummary { summary: Option<Text>, usage: Option<Text> },
    /// `model_change`.
    Model { provider: Option<Text>, model: Option<Text> },
    /// `thinking_level_change`.
    ThinkingLevel(Option<Text>),
    /// `session_info`: the name that a person gave; a blank one takes it away.
    Named(Option<Text>),
    /// `title` (before the header, rewritten in place) and `title_change` of Oh My Pi: the title,
    /// and whether a person gave it.
    Titled { title: Option<Text>, by_person: bool },
    /// `label`: a mark on another entry; none takes it away.
    Label { label: Option<Text>, json: Json },
    /// `usage`: a model call beside the conversation.
    Usage { model: Option<Text>, usage: Option<Text> },
    /// `leaf`: the conversation goes on from another entry (OpenClaw).
    Leaf { target: Option<Text> },
    /// `custom`, `context_edit`: state that is no conversation.
    State { kind: &'static str, json: Json },
    /// An entry of a type that is not known.
    Unknown(Text),
}

/// The header.
#[derive(Clone, Debug, Default)]
pub(crate) struct Header {
    /// The session's id.
    pub(crate) id: Option<Text>,
    /// The version of the format; absent in version 1.
    pub(crate) version: Option<u64>,
    /// The working directory.
    pub(crate) cwd: Option<Text>,
    /// The file that it was forked from (`parentSession`, in version 1 `branchedFrom`).
    pub(crate) parent: Option<Text>,
    /// The title that it began with (Oh My Pi).
    pub(crate) title: Option<Text>,
}

/// A compaction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Compacted {
    /// The summary.
    pub(crate) summary: Option<Text>,
    /// The first entry that is kept.
    pub(crate) first_kept: Option<Text>,
    /// The same in version 1: its number, the header being 0.
    pub(crate) first_kept_index: Option<u64>,
    /// The size of the context before, in tokens.
    pub(crate) tokens_before: Option<u64>,
    /// What the summary cost.
    pub(crate) usage: Option<Text>,
}

/// The `message` of a message entry.
#[derive(Clone, Debug, Default)]
pub(crate) struct Said {
    /// `user`, `assistant`, `toolResult`, `system`, `bashExecution`, ...
    pub(crate) role: Option<Text>,
    /// A string, or an array of blocks, as JSON.
    pub(crate) content: Option<Text>,
    /// The prompt sections of a system message by name, as JSON.
    pub(crate) sections: Option<Text>,
    /// The API: `anthropic-messages`, `openai-completions`, ...
    pub(crate) api: Option<Text>,
    /// The provider that answered.
    pub(crate) provider: Option<Text>,
    /// The model that answered.
    pub(crate) model: Option<Text>,
    /// The provider's id of the answer.
    pub(crate) response_id: Option<Text>,
    /// Its tokens, as JSON.
    pub(crate) usage: Option<Text>,
    /// Why it stopped.
    pub(crate) stop_reason: Option<Text>,
    /// What the provider or the harness said when it failed.
    pub(crate) error_message: Option<Text>,
    /// The call that a result answers.
    pub(crate) tool_call_id: Option<Text>,
    /// The harness's structured form of a result.
    pub(crate) details: Option<Json>,
    /// Whether a result is an error.
    pub(crate) is_error: Option<bool>,
    /// A command that a person ran.
    pub(crate) command: Option<Text>,
    /// Its output.
    pub(crate) output: Option<Text>,
    /// Its exit code.
    pub(crate) exit_code: Option<i64>,
    /// Whether it was stopped.
    pub(crate) cancelled: bool,
    /// Whether the model is kept from seeing it.
    pub(crate) exclude_from_context: bool,
    /// The text of a summary.
    pub(crate) summary: Option<Text>,
    /// The size of the context before a compaction.
    pub(crate) tokens_before: Option<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct EntryFields<'a> {
    #[serde(rename = "type", borrow, default)]
    kind: Option<&'a RawValue>,
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    parent_id: Option<Option<&'a RawValue>>,
    #[serde(borrow, default)]
    timestamp: Option<&'a RawValue>,
    #[serde(borrow, default)]
    message: Option<&'a RawValue>,
    #[serde(borrow, default)]
    version: Option<&'a RawValue>,
    #[serde(borrow, default)]
    cwd: Option<&'a RawValue>,
    #[serde(borrow, default)]
    parent_session: Option<&'a RawValue>,
    #[serde(borrow, default)]
    branched_from: Option<&'a RawValue>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    summary: Option<&'a RawValue>,
    #[serde(borrow, default)]
    first_kept_entry_id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    first_kept_entry_index: Option<&'a RawValue>,
    #[serde(borrow, default)]
    tokens_before: Option<&'a RawValue>,
    #[serde(borrow, default)]
    usage: Option<&'a RawValue>,
    #[serde(borrow, default)]
    provider: Option<&'a RawValue>,
    #[serde(borrow, default)]
    model_id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    model: Option<&'a RawValue>,
    #[serde(borrow, default)]
    thinking_level: Option<&'a RawValue>,
    #[serde(borrow, default)]
    name: Option<&'a RawValue>,
    #[serde(borrow, default)]
    title: Option<&'a RawValue>,
    #[serde(borrow, default)]
    source: Option<&'a RawValue>,
    #[serde(borrow, default)]
    label: Option<&'a RawValue>,
    #[serde(borrow, default)]
    target_id: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SaidFields<'a> {
    #[serde(borrow, default)]
    role: Option<&'a RawValue>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    sections: Option<&'a RawValue>,
    #[serde(borrow, default)]
    timestamp: Option<&'a RawValue>,
    #[serde(borrow, default)]
    api: Option<&'a RawValue>,
    #[serde(borrow, default)]
    provider: Option<&'a RawValue>,
    #[serde(borrow, default)]
    model: Option<&'a RawValue>,
    #[serde(borrow, default)]
    response_id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    usage: Option<&'a RawValue>,
    #[serde(borrow, default)]
    stop_reason: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error_message: Option<&'a RawValue>,
    #[serde(borrow, default)]
    tool_call_id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    details: Option<&'a RawValue>,
    #[serde(borrow, default)]
    is_error: Option<&'a RawValue>,
    #[serde(borrow, default)]
    command: Option<&'a RawValue>,
    #[serde(borrow, default)]
    output: Option<&'a RawValue>,
    #[serde(borrow, default)]
    exit_code: Option<&'a RawValue>,
    #[serde(borrow, default)]
    cancelled: Option<&'a RawValue>,
    #[serde(borrow, default)]
    exclude_from_context: Option<&'a RawValue>,
    #[serde(borrow, default)]
    summary: Option<&'a RawValue>,
    #[serde(borrow, default)]
    tokens_before: Option<&'a RawValue>,
}

fn present<'de, D: serde::Deserializer<'de>>(d: D) -> Result<Option<Option<&'de RawValue>>, D::Error> {
    Option::<&'de RawValue>::deserialize(d).map(Some)
}

impl Entry {
    /// Reads one entry from the text of one object.
    ///
    /// # Errors
    /// When the text is not one JSON object, or has a fault that its carrier can repair and that
    /// would go unseen inside values which are only taken apart later, with the text around it
    /// lost: half of a surrogate pair, a key that stands twice.
    pub(crate) fn read(whole: &Text) -> Result<Entry, serde_json::Error> {
        whole_surrogates(whole)?;
        let fields: EntryFields<'_> = serde_json::from_str(whole)?;
        let take = Taker { whole };
        let said = match fields.message.map(|raw| serde_json::from_str::<SaidFields<'_>>(raw.get())) {
            Some(Err(error)) if is_duplicate(&error) => return Err(error),
            read => read.and_then(Result::ok),
        };
        let parent = match fields.parent_id {
            None => Parent::Unsaid,
            Some(raw) => take.text(raw).map_or(Parent::Root, Parent::Entry),
        };
        let recorded = take.recorded(fields.timestamp, said.as_ref().and_then(|said| said.timestamp));
        let kind = take.text(fields.kind).unwrap_or_default();
        let body = match kind.as_str() {
            "session" => Body::Header(Header {
                id: take.text(fields.id),
                version: take.count(fields.version),
                cwd: take.text(fields.cwd),
                parent: take.text(fields.parent_session).or_else(|| take.text(fields.branched_from)),
                title: take.text(fields.title),
            }),
            "message" => match said {
                Some(said) => Body::Message(Box::new(read_said(&take, &said))),
                None => Body::Unknown(kind),
            },
            "custom_message" => Body::Injected { content: take.raw(fields.content) },
            "compaction" => Body::Compaction(Box::new(Compacted {
                summary: take.text(fields.summary),
                first_kept: take.text(fields.first_kept_entry_id),
                first_kept_index: take.count(fields.first_kept_entry_index),
                tokens_before: take.count(fields.tokens_before),
                usage: take.raw(fields.usage),
            })),
            "branch_summary" => {
                Body::BranchSummary { summary: take.text(fields.summary), usage: take.raw(fields.usage) }
            }
            "model_change" => {
                Body::Model { provider: take.text(fields.provider), model: take.text(fields.model_id) }
            }
            "thinking_level_change" => Body::ThinkingLevel(take.text(fields.thinking_level)),
            "session_info" => Body::Named(take.text(fields.name)),
            "title" | "title_change" => Body::Titled {
                title: take.text(fields.title),
                by_person: take.text(fields.source).as_deref() == Some("user"),
            },
            "label" => Body::Label { label: take.text(fields.label), json: whole_json(whole)? },
            "usage" => Body::Usage { model: take.text(fields.model), usage: take.raw(fields.usage) },
            "leaf" => Body::Leaf { target: take.text(fields.target_id) },
            "custom" => Body::State { kind: "custom", json: whole_json(whole)? },
            "context_edit" => Body::State { kind: "context_edit", json: whole_json(whole)? },
            _ => Body::Unknown(kind),
        };
        Ok(Entry { id: take.text(fields.id), parent, recorded, body })
    }
}

fn whole_json(whole: &Text) -> Result<Json, serde_json::Error> {
    Json::from_text(whole.clone())
}

fn read_said<'a>(take: &Taker<'a>, said: &SaidFields<'a>) -> Said {
    Said {
        role: take.text(said.role),
        content: take.raw(said.content),
        sections: take.raw(said.sections),
        api: take.text(said.api),
        provider: take.text(said.provider),
        model: take.text(said.model),
        response_id: take.text(said.response_id).filter(|id| !id.is_blank()),
        usage: take.raw(said.usage),
        stop_reason: take.text(said.stop_reason),
        error_message: take.text(said.error_message),
        tool_call_id: take.text(said.tool_call_id),
        details: take.json(said.details).filter(|details| details.is_object() && details.as_str() != "{}"),
        is_error: take.value(said.is_error),
        command: take.text(said.command),
        output: take.text(said.output),
        exit_code: take.value(said.exit_code),
        cancelled: take.value(said.cancelled).unwrap_or(false),
        exclude_from_context: take.value(said.exclude_from_context).unwrap_or(false),
        summary: take.text(said.summary),
        tokens_before: take.count(said.tokens_before),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use ibid_model::Timestamp;

    fn read(text: &str) -> Entry {
        Entry::read(&Text::from(text)).unwrap()
    }

    #[test]
    fn a_field_of_another_type_does_not_hide_its_entry() {
        let entry = read(r#"{"type":"session","id":7,"version":"3","cwd":null,"timestamp":{}}"#);
        assert_eq!(entry.recorded, Recorded::Unreadable);
        let Body::Header(header) = entry.body else { panic!("no header") };
        assert_eq!((header.id, header.version, header.cwd), (None, None, None));
    }

    #[test]
    fn no_parent_and_a_null_parent_are_told_apart() {
        assert_eq!(read(r#"{"type":"label"}"#).parent, Parent::Unsaid);
        assert_eq!(read(r#"{"type":"label","parentId":null}"#).parent, Parent::Root);
        assert_eq!(read(r#"{"type":"label","parentId":"a"}"#).parent, Parent::Entry("a".into()));
    }

    // https://github.com/NousResearch/hermes-agent/issues/42409 (fault 55)
    #[test]
    fn a_time_without_a_zone_is_unreadable_and_the_milliseconds_of_the_message_are_used_instead() {
        let bare = r#"{"type":"message","timestamp":"2026-07-01 10:00:00","message":{"role":"user"}}"#;
        assert_eq!(read(bare).recorded, Recorded::Unreadable);
        let inner = r#"{"type":"message","message":{"role":"user","timestamp":1783600001000}}"#;
        assert_eq!(read(inner).recorded.time(), Timestamp::parse("2026-07-09T12:26:41Z"));
        assert_eq!(read(r#"{"type":"message","message":{"role":"user"}}"#).recorded, Recorded::Unsaid);
    }
}
