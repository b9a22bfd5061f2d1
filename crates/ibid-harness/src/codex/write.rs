//! From the common session to a rollout.
//!
//! What is written is a legacy file, which every version since 0.47.0 resumes: `session_meta`,
//! response items, an event for each prompt so that listings show it, a `turn_context` where the
//! model changes, and counters. No provider is named, since a name that is not the configured one
//! makes resuming fail; nor are approval and sandbox settings, which are the person's to choose.

use ibid_model::{
    CommandRule, LossKind, Losses, Relation, Rules, Session, SessionId, ThinkingRule, Timestamp, TitleOrigin,
};
use serde::Serialize;

use super::ahead::first_time;
use super::lines::Lines;
use super::messages::Messages;
use super::{Codex, DECLARATION, Rollout, Rollouts, names};
use crate::core::{CodecError, Converted, Target, Transcript, conversion_name, derived_uuid_v7};

/// What Codex accepts. Thinking is shown to people by an event and not sent, since the provider
/// takes only what it encrypted itself.
pub(super) const RULES: Rules =
    Rules { thinking: ThinkingRule::Text, commands: CommandRule::Text, ..Rules::STRICT };

/// The version whose form is written, where the source names none of Codex.
const WRITTEN_AS: &str = "0.140.0";

/// The originator of what is written here.
const ORIGINATOR: &str = "ibid";

#[derive(Serialize)]
struct SessionMeta<'a> {
    id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    forked_from_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_thread_id: Option<&'a str>,
    timestamp: String,
    cwd: &'a str,
    originator: &'a str,
    cli_version: &'a str,
    source: Origin<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    git: Option<Git<'a>>,
}

#[derive(Serialize)]
struct Git<'a> {
    branch: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Origin<'a> {
    Cli,
    Subagent(Subagent<'a>),
}

#[derive(Serialize)]
struct Subagent<'a> {
    thread_spawn: Spawn<'a>,
}

#[derive(Serialize)]
struct Spawn<'a> {
    parent_thread_id: &'a str,
    depth: u32,
    agent_path: Option<&'a str>,
    agent_nickname: Option<&'a str>,
    agent_role: Option<&'a str>,
}

pub(super) fn from_common(
    session: &Session,
    target: &Target,
) -> Result<Converted<Transcript<Codex>>, CodecError> {
    let mut losses = Losses::none();
    let first = || first_time(session, &target.selection);
    let started = session.meta.started.or_else(first).or_else(|| Timestamp::from_milliseconds(0));
    let Some(started) = started else {
        let reason = "it has no time at all".to_owned();
        return Err(CodecError::Inexpressible { harness: DECLARATION.name, reason });
    };
    let id = target.id.clone().unwrap_or_else(|| {
        let name = conversion_name(session, target);
        SessionId::from(derived_uuid_v7(started, "codex session", &name).to_string())
    });
    let cwd = target.cwd.clone().or_else(|| session.meta.cwd.clone()).unwrap_or_default();
    let spawned = session.lineage.iter().find(|lineage| lineage.relation == Relation::Spawned);
    let from_codex = session.harness == DECLARATION.id.as_str();
    let version = session.meta.version.as_deref().filter(|_| from_codex).unwrap_or(WRITTEN_AS);
    let source = match &target.parent {
        Some(parent) => Origin::Subagent(Subagent {
            thread_spawn: Spawn {
                parent_thread_id: parent.as_str(),
                depth: 1,
                agent_path: None,
                agent_nickname: spawned.and_then(|lineage| lineage.agent.as_deref()),
                agent_role: spawned.and_then(|lineage| lineage.agent_kind.as_deref()),
            },
        }),
        None => Origin::Cli,
    };
    let meta = SessionMeta {
        id: id.as_str(),
        forked_from_id: None,
        parent_thread_id: target.parent.as_ref().map(SessionId::as_str),
        timestamp: started.to_iso_milliseconds(),
        cwd: &cwd,
        originator: ORIGINATOR,
        cli_version: version,
        source,
        git: session.meta.git_branch.as_deref().map(|branch| Git { branch }),
    };
    let mut lines = Lines::default();
    lines.push(started, "session_meta", &meta)?;
    Messages::new(session, started, &cwd, &mut lines, &mut losses).write(&target.selection)?;
    of_the_session(session, target, &id, &cwd, &mut losses);
    let document = lines.finish();
    let files = vec![Rollout { document, place: Some(names::place(started, id.as_str())), stored: None }];
    let title = session.meta.title.as_ref();
    let name = title.filter(|title| title.origin == TitleOrigin::Person).map(|title| title.text.clone());
    losses.add_many(LossKind::Title, u64::from(title.is_some() && name.is_none()), None, None);
    Ok(Converted { value: Transcript { id, body: Rollouts { files, base: Vec::new(), name } }, losses })
}

/// What a rollout does not say of the session as a whole.
fn of_the_session(session: &Session, target: &Target, id: &SessionId, cwd: &str, losses: &mut Losses) {
    let mut lost = |kind, count: usize, what: Option<&str>| losses.add_many(kind, count as u64, what, None);
    lost(LossKind::SessionId, usize::from(*id != session.id), None);
    let moved = session.meta.cwd.as_deref().is_some_and(|before| before != cwd);
    lost(LossKind::DirectoryChanged, usize::from(moved), None);
    let told = |relation: Relation| relation == Relation::Spawned && target.parent.is_some();
    let untold = session.lineage.iter().filter(|lineage| !told(lineage.relation)).count();
    lost(LossKind::Lineage, untold, None);
    lost(LossKind::HarnessEvents, session.events.len(), None);
}
