//! A session made of a common one.

use ibid_carrier::jsonl::Document;
use ibid_model::{
    Block, LossKind, Losses, Origin, Relation, Role, Selection, Session, SessionId, Text, Timestamp,
};
use serde::Serialize;
use uuid::Uuid;

use super::body::{Body, SessionBody, SubagentBody};
use super::place::{self, PREFIX};
use super::{Cowork, subagent_id};
use crate::core::{CodecError, Converted, Target, Transcript, conversion_name, derived_uuid};
use crate::families::claude_rows::{AgentMeta, Composed, Dialect, compose};

/// The namespace of CLI session ids, which is txcript's: the same session gets the same id.
const CLI_SESSIONS: Uuid = Uuid::from_u128(0x3c7a_e152_8b4d_4e0f_9a61_2dc8_7f15_b904);

/// How the rows that Ibid writes are to be: those of the newest embedded CLI that was seen.
static DIALECT: Dialect = Dialect { kin: &["claude-code", "cowork"], version: "2.1.234", purpose: "cowork" };

/// The id of the CLI session that holds the conversation of a session.
pub(super) fn cli_session(session: &str) -> String {
    Uuid::new_v5(&CLI_SESSIONS, session.as_bytes()).to_string()
}

/// The record that is written: what the app demands, and what it needs to run on the host.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Written<'a> {
    session_id: &'a str,
    process_name: String,
    cli_session_id: &'a str,
    cwd: &'a str,
    created_at: i64,
    last_activity_at: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'a Text>,
    is_archived: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a Text>,
    host_loop_mode: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    initial_message: Option<&'a Text>,
}

/// Makes a session, or a subagent of one that was made before.
pub(super) fn from_common(
    session: &Session,
    target: &Target,
) -> Result<Converted<Transcript<Cowork>>, CodecError> {
    match &target.parent {
        None => a_session(session, target),
        Some(parent) => a_subagent(session, target, parent),
    }
}

fn a_session(session: &Session, target: &Target) -> Result<Converted<Transcript<Cowork>>, CodecError> {
    let id = new_id(session, target);
    let cli = cli_session(id.as_str());
    let Composed { document, mut losses } =
        compose(session, target, &SessionId::from(cli.as_str()), None, &DIALECT)?;
    let times = Times::of(session, &target.selection, &mut losses);
    let short = cli.get(..8).unwrap_or(&cli);
    let cwd = target.cwd.as_ref().or(session.meta.cwd.as_ref());
    let record = serde_json::to_vec(&Written {
        session_id: id.as_str(),
        process_name: format!("ibid-{short}"),
        cli_session_id: &cli,
        cwd: cwd.map(Text::as_str).unwrap_or_default(),
        created_at: times.created,
        last_activity_at: times.last_activity,
        model: session.meta.model.as_ref(),
        is_archived: false,
        title: session.meta.title.as_ref().map(|title| &title.text),
        host_loop_mode: true,
        initial_message: initial_message(session, &target.selection),
    })?;
    changes(session, &id, &mut losses, |_| true);
    let body = SessionBody {
        record: Document::from_bytes(record),
        transcript: Some(document),
        audit: None,
        beside: Vec::new(),
        companions: Vec::new(),
        agent: place::is_agent(id.as_str()),
        converted: true,
        findings: Vec::new(),
    };
    Ok(Converted { value: Transcript { id, body: Body::Session(Box::new(body)) }, losses })
}

fn a_subagent(
    session: &Session,
    target: &Target,
    parent: &SessionId,
) -> Result<Converted<Transcript<Cowork>>, CodecError> {
    let wanted = target.id.as_ref().and_then(|id| id.as_str().rsplit('/').next()).filter(|id| !id.is_empty());
    let agent = match wanted {
        Some(agent) => agent.to_owned(),
        None => {
            let name = conversion_name(session, target);
            let hash = derived_uuid("cowork agent", &name).simple().to_string();
            format!("a{}", hash.get(..16).unwrap_or(&hash))
        }
    };
    // A subagent of a subagent is in the folder of the same session.
    let above = parent.as_str().split('/').next().unwrap_or_default();
    let id = subagent_id(above, &agent);
    let cli = SessionId::from(cli_session(above));
    let Composed { document, mut losses } = compose(session, target, &cli, Some(&agent), &DIALECT)?;
    changes(session, &id, &mut losses, |relation| relation != Relation::Spawned);
    let body = SubagentBody {
        transcript: document,
        meta: Some(Document::from_bytes(serde_json::to_vec(&AgentMeta::of(session))?)),
        spawned_by: Some(parent.clone()),
        findings: Vec::new(),
    };
    Ok(Converted { value: Transcript { id, body: Body::Subagent(Box::new(body)) }, losses })
}

/// The app lists no session whose id does not begin with `local_`.
fn new_id(session: &Session, target: &Target) -> SessionId {
    match target.id.as_ref().map(SessionId::as_str).filter(|id| !id.is_empty()) {
        Some(id) if id.starts_with(PREFIX) => SessionId::from(id),
        Some(id) => SessionId::from(format!("{PREFIX}{id}")),
        None => {
            let name = conversion_name(session, target);
            SessionId::from(format!("{PREFIX}{}", derived_uuid("cowork session", &name)))
        }
    }
}

fn changes(session: &Session, id: &SessionId, losses: &mut Losses, lost: impl Fn(Relation) -> bool) {
    if *id != session.id {
        losses.add(LossKind::SessionId, None, None);
    }
    let lineage = session.lineage.iter().filter(|lineage| lost(lineage.relation)).count();
    losses.add_many(LossKind::Lineage, lineage as u64, None, None);
}

/// The first text of the first thing that a person said; later messages are not searched.
fn initial_message<'a>(session: &'a Session, selection: &Selection) -> Option<&'a Text> {
    let view = session.view(selection);
    let person =
        |message: &&&'a ibid_model::Message| message.role == Role::User && message.origin == Origin::Person;
    let first = view.messages.iter().find(person)?;
    first.blocks.iter().find_map(|block| match block {
        Block::Text(text) => Some(&text.text),
        _ => None,
    })
}

/// The times of a record, in milliseconds.
struct Times {
    created: i64,
    last_activity: i64,
}

impl Times {
    /// The app demands both; where nothing has a time, zero stands for an unknown one.
    fn of(session: &Session, selection: &Selection, losses: &mut Losses) -> Times {
        let view = session.view(selection);
        let said = || view.messages.iter().filter_map(|message| message.at);
        let first = said().min();
        if session.meta.started.is_none() {
            let kind = if first.is_some() { LossKind::TimeFilled } else { LossKind::FieldFilled };
            losses.add(kind, Some("createdAt"), None);
        }
        let created = session.meta.started.or(first).map_or(0, Timestamp::as_milliseconds);
        let last = said().max().map_or(created, Timestamp::as_milliseconds);
        Times { created, last_activity: last.max(created) }
    }
}
