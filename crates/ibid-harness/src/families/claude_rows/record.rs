//! What one row says. Loading and scanning both start from here.

use std::sync::Arc;

use ibid_model::{Block, EventKind, Json, Origin, Role, StopReason, Text, Timestamp, TitleOrigin, Usage};

use super::content::Blocks;
use super::lenient::Link;
use super::markup::{self, Mark};
use super::recent::{self, Ambient};
use super::row::{Row, RowContent, RowUsage};

/// What stands for a model that is not known, in rows that Ibid wrote.
pub(super) const UNKNOWN_MODEL: &str = "unknown";

/// The model of rows that no model wrote.
const SYNTHETIC: &str = "<synthetic>";

/// The kind of origin of what a person typed.
pub(super) const HUMAN: &str = "human";

/// Events keep their row up to this many bytes.
const EVENT_BYTES: usize = 4 << 10;

/// The row before this one in the tree, as written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Parent {
    /// The row does not say.
    #[default]
    Unsaid,
    /// It is the first of a tree.
    Root,
    /// The row with this `uuid`.
    Row(Text),
}

/// One row, read.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    /// Its id in the tree; none for rows that are not in it.
    pub(crate) uuid: Option<Text>,
    /// The row before it in the tree.
    pub(crate) parent: Parent,
    /// When it was written.
    pub(crate) at: Option<Timestamp>,
    /// Whether there is something in the place of a time that is none.
    pub(crate) unreadable_time: bool,
    /// What it names that rarely changes from row to row.
    pub(crate) ambient: Arc<Ambient>,
    /// Whether it stands beside the main conversation.
    pub(crate) sidechain: bool,
    /// What it holds.
    pub(crate) what: What,
}

/// What a row holds.
#[derive(Clone, Debug)]
pub(crate) enum What {
    /// Content of a message.
    Turn(Box<Turn>),
    /// The place where the history was compacted.
    Boundary(Box<Boundary>),
    /// A title.
    Title(Box<TitleRow>),
    /// The end of the live branch, when the row was written.
    Leaf(Text),
    /// Something that happened.
    Event(Box<EventRow>),
    /// A row of a known kind that says nothing more.
    Known,
    /// A user or assistant row without a message that can be read.
    Malformed,
    /// A row of a kind that is not known.
    Unknown(Text),
    /// An object without a kind.
    Kindless,
}

/// The content of a user or assistant row.
#[derive(Clone, Debug)]
pub(crate) struct Turn {
    /// Who it stands for towards the model.
    pub(crate) role: Role,
    /// Who wrote it.
    pub(crate) origin: Origin,
    /// The blocks, at least one unless the model wrote it.
    pub(crate) blocks: Vec<Block>,
    /// The id of the prompt that set it off, which hooks announce too; on user rows alone.
    pub(crate) prompt: Option<Text>,
    /// The provider's id of the message.
    pub(crate) api_id: Option<Text>,
    /// The model.
    pub(crate) model: Option<Text>,
    /// Why the model stopped.
    pub(crate) stop: Option<StopReason>,
    /// The tokens of the whole API message, as far as they were known.
    pub(crate) usage: Option<Usage>,
    /// The provider's id of the request.
    pub(crate) request_id: Option<Text>,
    /// The session that made the model call, where that is another one: the row is a copy.
    pub(crate) copied_from: Option<Text>,
}

/// A compaction boundary.
#[derive(Clone, Debug)]
pub(crate) struct Boundary {
    /// The last row of the old history.
    pub(crate) after: Option<Text>,
    /// The first row of the old history that the model still sees.
    pub(crate) first_kept: Option<Text>,
    /// What started it.
    pub(crate) trigger: Option<Text>,
    /// The size of the context before, in tokens.
    pub(crate) tokens_before: Option<u64>,
}

/// A title row.
#[derive(Clone, Debug)]
pub(crate) struct TitleRow {
    /// The title.
    pub(crate) text: Text,
    /// Who made it.
    pub(crate) origin: TitleOrigin,
    /// For a summary: the row it sums up to. Old versions wrote summaries of other sessions of
    /// the same project into a file, so it only counts when the row is in this one.
    pub(crate) leaf: Option<Text>,
}

/// Something that happened.
#[derive(Clone, Debug)]
pub(crate) struct EventRow {
    /// What.
    pub(crate) kind: EventKind,
    /// What it says to people.
    pub(crate) text: Option<Text>,
    /// The row, where it is small.
    pub(crate) json: Option<Json>,
}

impl Record {
    /// Reads a row from its text, which is exactly one JSON value.
    ///
    /// # Errors
    /// When it is no object, or a string that is needed cannot be read (a lone surrogate).
    pub(crate) fn read(text: &Text) -> Result<Record, serde_json::Error> {
        let mut row: Row<'_> = serde_json::from_str(text)?;
        let what = what(&mut row, text)?;
        let said = row.timestamp.as_str().and_then(Timestamp::parse);
        let ambient = recent::ambient(&row);
        Ok(Record {
            unreadable_time: said.is_none() && row.timestamp.as_str().is_some(),
            // The first moment there is stands for a time that nobody knew, in rows that Ibid wrote.
            at: said.filter(|at| at.as_milliseconds() != 0),
            uuid: row.uuid.filled(text),
            parent: match row.parent {
                Link::Absent => Parent::Unsaid,
                Link::Null => Parent::Root,
                Link::To(uuid) => Parent::Row(Text::from_cow(text, uuid)),
            },
            ambient,
            sidechain: row.sidechain.is_set(),
            what,
        })
    }

    /// Whether the row is one that only this program writes: a user or assistant row with a
    /// message.
    pub(crate) fn is_turn(&self) -> bool {
        matches!(self.what, What::Turn(_))
    }
}

fn what(row: &mut Row<'_>, text: &Text) -> Result<What, serde_json::Error> {
    let Some(kind) = std::mem::take(&mut row.kind).0 else { return Ok(What::Kindless) };
    Ok(match &*kind {
        "user" => user(row, text)?,
        "assistant" => assistant(row, text)?,
        "system" => system(row, text),
        "summary" => title(row.summary.clone().filled(text), TitleOrigin::Summary, row, text),
        "custom-title" => title(row.custom_title.clone().filled(text), TitleOrigin::Person, row, text),
        "agent-name" => title(row.agent_name.clone().filled(text), TitleOrigin::Agent, row, text),
        "ai-title" => title(row.ai_title.clone().filled(text), TitleOrigin::Generated, row, text),
        "last-prompt" => match row.leaf.clone().filled(text) {
            Some(leaf) => What::Leaf(leaf),
            None => What::Known,
        },
        "queue-operation" => event(EventKind::Queue, row.operation.clone().filled(text), text),
        "mode" => event(EventKind::Mode, row.mode.clone().filled(text), text),
        "permission-mode" => event(EventKind::Permission, row.permission_mode.clone().filled(text), text),
        "attachment" => {
            let said = row.attachment.prompt.clone().filled(text);
            event(EventKind::Attachment, said.or(row.attachment.kind.clone().filled(text)), text)
        }
        "file-history-snapshot" | "file-history-delta" => event(EventKind::Snapshot, None, text),
        "pr-link" | "worktree-state" | "relocated" | "frame-link" | "bridge-session" | "tag" => {
            event(EventKind::Other(Text::from(kind)), None, text)
        }
        // Rows for the program's own use; `progress` quotes what subagents say, whose own files
        // have it.
        "progress" | "api-request" | "api-request-shape" | "api-request-blob" | "tools-used"
        | "cost-state" | "atis-latch" | "hook-progress" | "started" | "result" => What::Known,
        _ => What::Unknown(Text::from(kind)),
    })
}

fn title(title: Option<Text>, origin: TitleOrigin, row: &Row<'_>, text: &Text) -> What {
    match title {
        // A row of the tree is never a title, whatever it says.
        Some(title) if matches!(row.parent, Link::Absent) => {
            let leaf = (origin == TitleOrigin::Summary).then(|| row.leaf.clone().filled(text)).flatten();
            What::Title(Box::new(TitleRow { text: title, origin, leaf }))
        }
        _ => What::Known,
    }
}

fn event(kind: EventKind, said: Option<Text>, text: &Text) -> What {
    let json = (text.len() <= EVENT_BYTES).then(|| Json::from_text(text.clone()).ok()).flatten();
    What::Event(Box::new(EventRow { kind, text: said, json }))
}

fn system(row: &mut Row<'_>, text: &Text) -> What {
    let said = row.content.clone().filled(text);
    match row.subtype.as_str() {
        Some("compact_boundary") => What::Boundary(Box::new(Boundary {
            after: row.logical_parent.clone().filled(text),
            first_kept: [&row.compact.preserved, &row.compact.preserved_messages]
                .into_iter()
                .find_map(|preserved| preserved.head.clone().filled(text)),
            trigger: row.compact.trigger.clone().filled(text),
            tokens_before: row.compact.tokens_before.0,
        })),
        // Newer versions keep commands and their output apart from what the model sees.
        Some("local_command") => {
            let Some(said) = said else { return What::Known };
            let (origin, block) = match markup::command(&said) {
                Some(command) => (Origin::Person, Block::Command(command)),
                None => (Origin::Harness, Block::text(said)),
            };
            What::Turn(Box::new(Turn::new(Role::System, origin, vec![block])))
        }
        subtype => {
            let kind = match subtype {
                Some("api_error" | "error" | "api_refusal") => EventKind::Error,
                Some("stop_hook_summary") => EventKind::Hook,
                Some("turn_duration") => EventKind::Turn,
                Some(other) => EventKind::Other(other.into()),
                None => EventKind::Other("system".into()),
            };
            event(kind, said, text)
        }
    }
}

fn user(row: &mut Row<'_>, text: &Text) -> Result<What, serde_json::Error> {
    let message = std::mem::take(&mut row.message);
    if !message.object || matches!(message.content, RowContent::Absent) {
        return Ok(What::Malformed);
    }
    let whole = matches!(message.content, RowContent::Text(_));
    let mut blocks = Blocks::new(text, row.tool_use_result).read(message.content)?;
    if blocks.is_empty() {
        return Ok(What::Malformed);
    }
    let origin = user_origin(row, &blocks);
    // The program writes a command as a string; a text in a block that it says a person typed is one.
    if origin == Origin::Person
        && (whole || row.origin.kind.as_str() != Some(HUMAN))
        && let [Block::Text(only)] = blocks.as_slice()
        && let Some(command) = markup::command(&only.text)
    {
        blocks = vec![Block::Command(command)];
    }
    let mut turn = Turn::new(Role::User, origin, blocks);
    turn.prompt = std::mem::take(&mut row.prompt).filled(text);
    Ok(What::Turn(Box::new(turn)))
}

fn user_origin(row: &Row<'_>, blocks: &[Block]) -> Origin {
    if row.compact_summary.is_set() {
        return Origin::Summary;
    }
    if blocks.iter().all(|block| matches!(block, Block::ToolResult(_))) {
        return Origin::Tools;
    }
    let first = blocks.iter().find_map(|block| match block {
        Block::Text(text) => Some(&text.text),
        _ => None,
    });
    let mark = first.and_then(|text| markup::mark(&text.to_str()));
    match row.origin.kind.as_str() {
        // What the row says is worth more than what its text looks like.
        Some(HUMAN) => return Origin::Person,
        Some("task-notification") => return Origin::Agent,
        Some("user") | None => {}
        Some(_) if mark == Some(Mark::Agent) => return Origin::Agent,
        Some(_) => return Origin::Harness,
    }
    match mark {
        Some(Mark::Agent) => Origin::Agent,
        Some(Mark::Harness) => Origin::Harness,
        None if row.meta.is_set() || row.transcript_only.is_set() => Origin::Harness,
        // The conversation of a subagent: the other side is the agent that started it.
        None if row.sidechain.is_set() => Origin::Agent,
        None => Origin::Person,
    }
}

fn assistant(row: &mut Row<'_>, text: &Text) -> Result<What, serde_json::Error> {
    let message = std::mem::take(&mut row.message);
    if !message.object || matches!(message.content, RowContent::Absent) {
        return Ok(What::Malformed);
    }
    let blocks = Blocks::new(text, None).read(message.content)?;
    let synthetic = row.api_error.is_set() || message.model.as_str() == Some(SYNTHETIC);
    let origin = if synthetic { Origin::Harness } else { Origin::Model };
    let mut turn = Turn::new(Role::Assistant, origin, blocks);
    turn.api_id = message.id.filled(text);
    if synthetic {
        turn.stop = row.api_error.is_set().then_some(StopReason::Error);
    } else {
        turn.model = recent::model(&message.model);
        turn.stop = message.stop_reason.filled(text).map(stop);
        turn.usage = message.usage.map(usage).filter(|usage| !usage.is_unknown());
    }
    turn.copied_from = match row.request_session.as_str() {
        Some(made_by) if row.session.as_str().is_some_and(|own| own != made_by) => {
            row.request_session.clone().filled(text)
        }
        _ => None,
    };
    turn.request_id = std::mem::take(&mut row.request).filled(text);
    Ok(What::Turn(Box::new(turn)))
}

impl Turn {
    fn new(role: Role, origin: Origin, blocks: Vec<Block>) -> Turn {
        Turn {
            role,
            origin,
            blocks,
            prompt: None,
            api_id: None,
            model: None,
            stop: None,
            usage: None,
            request_id: None,
            copied_from: None,
        }
    }
}

fn stop(reason: Text) -> StopReason {
    match reason.as_str() {
        "end_turn" => StopReason::EndTurn,
        "tool_use" => StopReason::ToolUse,
        "max_tokens" => StopReason::MaxTokens,
        "stop_sequence" => StopReason::StopSequence,
        "refusal" => StopReason::Refusal,
        _ => StopReason::Other(reason),
    }
}

/// The program's counts do not overlap: `input_tokens` has neither cache reads nor writes.
fn usage(row: RowUsage) -> Usage {
    Usage {
        input: row.input.0,
        output: row.output.0,
        cache_read: row.cache_read.0,
        cache_write: row.cache_write.0,
        cache_write_5m: row.lifetimes.five_minutes.0,
        cache_write_1h: row.lifetimes.one_hour.0,
        reasoning: row.details.thinking.0,
        cost_usd: None,
    }
}
