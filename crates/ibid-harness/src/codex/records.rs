//! The records of a rollout, each told apart on its own line: the envelope
//! (`{timestamp, type, payload}`, 0.39 to 0.171) or a bare item (2025, before that).

use ibid_model::{Lineage, Relation, Role, SessionId, Text, Timestamp, Usage, replace_lone_surrogates};
use memchr::memmem;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::event::{self, Event};
use super::item::{self, Item};
use super::json::{self, Stamp, Str};

/// One record.
#[derive(Clone, Debug)]
pub(super) struct Record {
    pub(super) at: Stamp,
    pub(super) ordinal: Option<u64>,
    pub(super) body: Body,
}

/// What a record says.
#[derive(Clone, Debug)]
pub(super) enum Body {
    /// The session describes itself, or, behind that, the one it was copied from.
    Meta(Box<SessionMeta>),
    /// The settings of a turn.
    Turn(TurnContext),
    /// What the model saw or said.
    Item(Box<Item>),
    /// What the screen showed.
    Event(Box<Event>),
    /// The history of the model starts again here.
    Compacted(Text),
    /// One model call.
    Usage(Box<UsageRecord>),
    /// A record of a known kind that is no conversation.
    Quiet,
    /// A record in the envelope whose kind is not known.
    Unknown(Text),
    /// A line of what `codex exec --json` prints, which is another grammar.
    Stream,
    /// Nothing that any version of Codex writes.
    Stranger,
}

/// Where this file goes on from another one.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(super) struct HistoryBase {
    /// The id of the rollout file: the last id in its name.
    pub(super) rollout: Text,
    /// How many bytes of it count.
    pub(super) end: u64,
}

/// What a session says of itself.
#[derive(Clone, Debug, Default)]
pub(super) struct SessionMeta {
    pub(super) id: Option<SessionId>,
    pub(super) cwd: Option<Text>,
    pub(super) originator: Option<Text>,
    pub(super) version: Option<Text>,
    pub(super) git_branch: Option<Text>,
    pub(super) model: Option<Text>,
    pub(super) forked_from: Option<SessionId>,
    pub(super) history_base: Option<HistoryBase>,
    pub(super) copied_before: Option<u64>,
    pub(super) parent: Option<SessionId>,
    /// Whether the source says that it is a subagent.
    pub(super) subagent: bool,
    pub(super) agent: Option<Text>,
    pub(super) agent_kind: Option<Text>,
}

impl SessionMeta {
    /// Where the session came from.
    pub(super) fn lineage(&self) -> Vec<Lineage> {
        let mut lineages = Vec::new();
        if self.subagent || self.parent.is_some() {
            lineages.push(Lineage {
                relation: Relation::Spawned,
                parent: self.parent.clone(),
                parent_path: None,
                call: None,
                agent: self.agent.clone(),
                agent_kind: self.agent_kind.clone(),
                at: None,
            });
        }
        if let Some(parent) = self.forked_from.as_ref().filter(|parent| self.parent.as_ref() != Some(*parent))
        {
            lineages.push(Lineage::to(Relation::Forked, parent.clone()));
        }
        lineages
    }
}

/// The settings of a turn.
#[derive(Clone, Debug, Default)]
pub(super) struct TurnContext {
    pub(super) turn: Option<Text>,
    pub(super) model: Option<Text>,
    pub(super) cwd: Option<Text>,
}

/// One model call (0.171.0).
#[derive(Clone, Debug)]
pub(super) struct UsageRecord {
    pub(super) response: Option<Text>,
    pub(super) usage: Tokens,
    /// The whole thread, this call included.
    pub(super) total: Option<Tokens>,
}

/// Counters as Codex writes them: cached and cache-write tokens are inside the input, reasoning is
/// inside the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub(super) struct Tokens {
    pub(super) input_tokens: u64,
    #[serde(default)]
    pub(super) cached_input_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) cache_write_input_tokens: Option<u64>,
    pub(super) output_tokens: u64,
    #[serde(default)]
    pub(super) reasoning_output_tokens: Option<u64>,
    #[serde(default)]
    pub(super) total_tokens: u64,
}

impl Tokens {
    /// The same in parts that do not overlap.
    pub(super) fn usage(&self) -> Usage {
        let cached =
            self.cached_input_tokens.unwrap_or(0).saturating_add(self.cache_write_input_tokens.unwrap_or(0));
        Usage {
            input: Some(self.input_tokens.saturating_sub(cached)),
            output: Some(self.output_tokens),
            cache_read: self.cached_input_tokens,
            cache_write: self.cache_write_input_tokens,
            reasoning: self.reasoning_output_tokens,
            ..Usage::default()
        }
    }

    /// The counters for parts that do not overlap; none when input or output is not known.
    pub(super) fn of(usage: &Usage) -> Option<Tokens> {
        let cached = usage.cache_read.unwrap_or(0).saturating_add(usage.cache_write.unwrap_or(0));
        let input_tokens = usage.input?.saturating_add(cached);
        let output_tokens = usage.output?;
        Some(Tokens {
            input_tokens,
            cached_input_tokens: usage.cache_read,
            cache_write_input_tokens: usage.cache_write,
            output_tokens,
            reasoning_output_tokens: usage.reasoning,
            total_tokens: input_tokens.saturating_add(output_tokens),
        })
    }

    pub(super) fn plus(&self, other: &Tokens) -> Tokens {
        fn sum(a: Option<u64>, b: Option<u64>) -> Option<u64> {
            match (a, b) {
                (Some(a), Some(b)) => Some(a.saturating_add(b)),
                (a, b) => a.or(b),
            }
        }
        Tokens {
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            cached_input_tokens: sum(self.cached_input_tokens, other.cached_input_tokens),
            cache_write_input_tokens: sum(self.cache_write_input_tokens, other.cache_write_input_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
            reasoning_output_tokens: sum(self.reasoning_output_tokens, other.reasoning_output_tokens),
            total_tokens: self.total_tokens.saturating_add(other.total_tokens),
        }
    }
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    timestamp: Option<&'a RawValue>,
    #[serde(rename = "type", borrow)]
    kind: Option<Str<'a>>,
    #[serde(borrow)]
    payload: Option<&'a RawValue>,
    ordinal: Option<u64>,
    #[serde(borrow)]
    record_type: Option<&'a RawValue>,
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    role: Option<&'a RawValue>,
}

/// Reads one record.
///
/// # Errors
/// When the text is no object, a field of the envelope has another type, half of a surrogate pair
/// stands in it, or a key twice: the text has to be repaired then, since what holds them cannot be
/// read.
pub(super) fn read(whole: &Text) -> Result<Record, serde_json::Error> {
    if has_lone_surrogate(whole) {
        return Err(serde::de::Error::custom("lone surrogate"));
    }
    json::met_key_twice();
    let record = read_clean(whole)?;
    match json::met_key_twice() {
        true => Err(serde::de::Error::custom("duplicate field inside a field")),
        false => Ok(record),
    }
}

fn read_clean(whole: &Text) -> Result<Record, serde_json::Error> {
    let line: Envelope<'_> = serde_json::from_str(whole)?;
    let at = json::time(line.timestamp);
    let kind = line.kind.as_ref().map_or("", Str::as_str);
    let record = |body| Ok(Record { at, ordinal: line.ordinal, body });
    if let Some(payload) = line.payload
        && !kind.is_empty()
    {
        return record(enveloped(kind, payload, whole)?);
    }
    // Lines without an envelope: the header and the items of 2025.
    if line.record_type.is_some() {
        return record(Body::Quiet);
    }
    let is_header = kind.is_empty() && line.role.is_none() && line.id.is_some() && line.timestamp.is_some();
    if is_header {
        return record(Body::Meta(Box::new(meta(whole, whole)?)));
    }
    if kind.starts_with("thread.") || kind.starts_with("turn.") || kind.starts_with("item.") {
        return record(Body::Stream);
    }
    record(match item::read_bare(whole)? {
        Some(item) => Body::Item(Box::new(item)),
        None => Body::Stranger,
    })
}

fn has_lone_surrogate(text: &str) -> bool {
    let escaped = memchr::memchr(b'\\', text.as_bytes()).is_some()
        && (memmem::find(text.as_bytes(), b"\\ud").is_some()
            || memmem::find(text.as_bytes(), b"\\uD").is_some());
    escaped && replace_lone_surrogates(text).1 > 0
}

/// The header of a file that is one document.
pub(super) fn read_session(whole: &Text) -> Result<Record, serde_json::Error> {
    let line: Envelope<'_> = serde_json::from_str(whole)?;
    let body = Body::Meta(Box::new(meta(whole, whole)?));
    Ok(Record { at: json::time(line.timestamp), ordinal: None, body })
}

/// An item of a file that is one document; its type may be missing.
pub(super) fn read_old_item(whole: &Text) -> Result<Record, serde_json::Error> {
    let line: Envelope<'_> = serde_json::from_str(whole)?;
    let body = match item::read_old(whole)? {
        Some(item) => Body::Item(Box::new(item)),
        None => Body::Stranger,
    };
    Ok(Record { at: json::time(line.timestamp), ordinal: None, body })
}

fn enveloped(kind: &str, payload: &RawValue, whole: &Text) -> Result<Body, serde_json::Error> {
    Ok(match kind {
        "session_meta" => Body::Meta(Box::new(meta(payload.get(), whole)?)),
        "turn_context" => {
            let turn: RawTurn<'_> = serde_json::from_str(payload.get())?;
            let filled = |raw| json::string(raw, whole).filter(|text: &Text| !text.is_blank());
            Body::Turn(TurnContext {
                turn: filled(turn.turn_id),
                model: filled(turn.model),
                cwd: filled(turn.cwd),
            })
        }
        "response_item" => Body::Item(Box::new(item::read(payload, whole)?)),
        "event_msg" => Body::Event(Box::new(event::read(payload, whole)?)),
        "compacted" => {
            let compacted: RawCompacted<'_> = serde_json::from_str(payload.get())?;
            Body::Compacted(json::string(compacted.message, whole).unwrap_or_default())
        }
        "token_usage_record" => {
            let record: RawUsage<'_> = serde_json::from_str(payload.get())?;
            match json::read(record.usage) {
                Some(usage) => Body::Usage(Box::new(UsageRecord {
                    response: json::string(record.response_id, whole),
                    usage,
                    total: json::read(record.thread_token_usage),
                })),
                None => Body::Quiet,
            }
        }
        "world_state" | "inter_agent_communication_metadata" => Body::Quiet,
        other => Body::Unknown(other.into()),
    })
}

#[derive(Deserialize)]
struct RawTurn<'a> {
    #[serde(borrow)]
    turn_id: Option<&'a RawValue>,
    #[serde(borrow)]
    model: Option<&'a RawValue>,
    #[serde(borrow)]
    cwd: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct RawCompacted<'a> {
    #[serde(borrow)]
    message: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct RawUsage<'a> {
    #[serde(borrow)]
    response_id: Option<&'a RawValue>,
    #[serde(borrow)]
    usage: Option<&'a RawValue>,
    #[serde(borrow)]
    thread_token_usage: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct RawMeta<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    cwd: Option<&'a RawValue>,
    #[serde(borrow)]
    originator: Option<&'a RawValue>,
    #[serde(borrow)]
    cli_version: Option<&'a RawValue>,
    #[serde(borrow)]
    model: Option<&'a RawValue>,
    #[serde(borrow)]
    git: Option<&'a RawValue>,
    #[serde(borrow)]
    source: Option<&'a RawValue>,
    #[serde(borrow)]
    forked_from_id: Option<&'a RawValue>,
    #[serde(borrow)]
    history_base: Option<&'a RawValue>,
    #[serde(borrow)]
    subagent_history_start_ordinal: Option<&'a RawValue>,
    #[serde(borrow)]
    parent_thread_id: Option<&'a RawValue>,
    #[serde(borrow)]
    agent_path: Option<&'a RawValue>,
    #[serde(borrow)]
    agent_nickname: Option<&'a RawValue>,
    #[serde(borrow)]
    agent_role: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct RawGit<'a> {
    #[serde(borrow)]
    branch: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct RawBase<'a> {
    #[serde(borrow)]
    thread_id: Option<&'a RawValue>,
    end_byte_offset: Option<u64>,
}

#[derive(Deserialize)]
struct RawSource<'a> {
    #[serde(borrow)]
    subagent: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct RawSubagent<'a> {
    #[serde(borrow)]
    thread_spawn: Option<&'a RawValue>,
    #[serde(borrow)]
    other: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct RawSpawn<'a> {
    #[serde(borrow)]
    parent_thread_id: Option<&'a RawValue>,
    #[serde(borrow)]
    agent_path: Option<&'a RawValue>,
    #[serde(borrow)]
    agent_nickname: Option<&'a RawValue>,
    #[serde(borrow)]
    agent_role: Option<&'a RawValue>,
}

fn meta(payload: &str, whole: &Text) -> Result<SessionMeta, serde_json::Error> {
    let raw: RawMeta<'_> = serde_json::from_str(payload)?;
    let text = |raw: Option<&RawValue>| json::string(raw, whole).filter(|text| !text.is_blank());
    let id = |raw: Option<&RawValue>| text(raw).map(SessionId::from);
    let subagent = json::read::<RawSource<'_>>(raw.source).and_then(|source| source.subagent);
    let kinds = json::read::<RawSubagent<'_>>(subagent);
    let spawn = kinds.as_ref().and_then(|kinds| json::read::<RawSpawn<'_>>(kinds.thread_spawn));
    let spawn = spawn.as_ref();
    // A kind alone (`review`), or one of the user's own (`{"other": ...}`).
    let kind = text(subagent).or_else(|| text(kinds.as_ref().and_then(|kinds| kinds.other)));
    let base = json::read::<RawBase<'_>>(raw.history_base);
    let history_base = base.and_then(|base| {
        Some(HistoryBase { rollout: text(base.thread_id)?, end: base.end_byte_offset.unwrap_or(u64::MAX) })
    });
    Ok(SessionMeta {
        id: id(raw.id),
        cwd: text(raw.cwd),
        originator: text(raw.originator),
        version: text(raw.cli_version),
        git_branch: json::read::<RawGit<'_>>(raw.git).and_then(|git| text(git.branch)),
        model: text(raw.model),
        forked_from: id(raw.forked_from_id),
        history_base,
        copied_before: json::read(raw.subagent_history_start_ordinal),
        parent: id(raw.parent_thread_id)
            .or_else(|| text(spawn.and_then(|spawn| spawn.parent_thread_id)).map(SessionId::from)),
        subagent: subagent.is_some_and(|raw| raw.get() != "null"),
        agent: text(raw.agent_path)
            .or_else(|| text(spawn.and_then(|spawn| spawn.agent_path)))
            .or_else(|| text(raw.agent_nickname))
            .or_else(|| text(spawn.and_then(|spawn| spawn.agent_nickname))),
        agent_kind: text(raw.agent_role).or_else(|| text(spawn.and_then(|spawn| spawn.agent_role))).or(kind),
    })
}

/// Who a message says it is from.
pub(super) fn role(name: &str) -> Option<Role> {
    match name {
        "user" => Some(Role::User),
        "assistant" => Some(Role::Assistant),
        "developer" | "system" => Some(Role::System),
        _ => None,
    }
}

/// The time of day of a version 7 UUID.
pub(super) fn time_of_id(id: &str) -> Option<Timestamp> {
    let uuid = uuid::Uuid::try_parse(id).ok()?;
    let (seconds, nanos) = uuid.get_timestamp().filter(|_| uuid.get_version_num() == 7)?.to_unix();
    let milliseconds =
        i64::try_from(seconds).ok()?.checked_mul(1000)?.checked_add(i64::from(nanos / 1_000_000))?;
    Timestamp::from_milliseconds(milliseconds)
}
