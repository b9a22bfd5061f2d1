//! Between rows and the common session.

use ibid_carrier::jsonl::Document;
use ibid_model::{
    Argument, Finding, FindingKind, Json, LossKind, Relation, Session, SessionId, Text, TitleOrigin, Tool,
};
use uuid::Uuid;

use super::{Body, ClaudeCode, DECLARATION, DIALECT, subagent_id};
use crate::core::{
    Carriers, Codec, CodecError, Common, Converted, Target, TextCodec, Transcript, conversion_name,
    derived_uuid,
};
use crate::families::claude_rows::{self, AgentMeta, Assembled, Assembly, Composed, Shape, compose, spawned};

impl Codec for ClaudeCode {
    fn to_common(transcript: &Transcript<Self>) -> Result<Common, CodecError> {
        let body = &transcript.body;
        let (assembly, mut findings) = claude_rows::read(&body.transcript);
        if assembly.shape() == Shape::Foreign {
            return Err(foreign());
        }
        let agent = assembly.agent_id().cloned();
        let subagent = is_subagent(transcript, agent.as_ref());
        let named = assembly.first_session().cloned();
        let Assembled { mut session, findings: more } =
            assembly.finish(DECLARATION.id.as_str(), transcript.id.clone(), subagent);
        findings.extend(more);
        claude_rows::number_lines(&body.transcript, &mut findings);
        if let Some(path) = body.transcript.path() {
            findings = findings.into_iter().map(|finding| finding.at_path(path)).collect();
        }
        if subagent {
            let meta = body.agent_meta.as_ref().and_then(|meta| AgentMeta::read(meta.bytes()));
            if let Some(description) = meta.as_ref().and_then(|meta| meta.description.as_ref()) {
                session.meta.offer_title(description, TitleOrigin::Agent);
            }
            let parent = body.spawned_by.clone().or(named.map(SessionId::from));
            let own = transcript.id.as_str().rsplit_once('/').map(|(_, agent)| agent);
            session.lineage.push(spawned(parent, own.or(agent.as_deref()), meta.as_ref()));
        }
        session.carriers = body.carriers().into_iter().map(|carrier| carrier.info).collect();
        Ok(Common { session, findings })
    }

    fn from_common(session: &Session, target: &Target) -> Result<Converted<Transcript<Self>>, CodecError> {
        let name = conversion_name(session, target);
        let (id, agent) = match &target.parent {
            None => (new_id(target.id.as_ref(), &name)?, None),
            Some(parent) => {
                let agent = match &target.id {
                    Some(id) => id.as_str().rsplit('/').next().unwrap_or_default().to_owned(),
                    None => {
                        let hash = derived_uuid("claude-code agent", &name).simple().to_string();
                        format!("a{}", hash.get(..16).unwrap_or(&hash))
                    }
                };
                (subagent_id(parent.as_str(), &agent), Some(agent))
            }
        };
        let named = target.parent.as_ref().unwrap_or(&id);
        let Composed { document, mut losses } = compose(session, target, named, agent.as_deref(), &DIALECT)?;
        let agent_meta = match agent {
            Some(_) => {
                let meta = serde_json::to_vec(&AgentMeta::of(session))?;
                Some(Document::from_bytes(meta))
            }
            None => None,
        };
        if id != session.id {
            losses.add(LossKind::SessionId, None, None);
        }
        let carried = |relation| agent_meta.is_some() && relation == Relation::Spawned;
        let lost = session.lineage.iter().filter(|lineage| !carried(lineage.relation)).count();
        losses.add_many(LossKind::Lineage, lost as u64, None, None);
        let body = Body { transcript: document, agent_meta, spawned_by: target.parent.clone() };
        Ok(Converted { value: Transcript { id, body }, losses })
    }

    fn read_call(name: &Text, input: &Json) -> (Tool, Vec<Argument>) {
        claude_rows::read_call(name, input)
    }
}

impl TextCodec for ClaudeCode {
    fn from_text(text: &[u8]) -> Result<Transcript<Self>, CodecError> {
        let transcript = Document::from_bytes(text.to_vec());
        let (assembly, _) = claude_rows::read(&transcript);
        match assembly.shape() {
            Shape::Foreign | Shape::Empty => Err(foreign()),
            Shape::Whole | Shape::Partial => {
                let id = id_of(&assembly, None);
                Ok(Transcript { id, body: Body { transcript, agent_meta: None, spawned_by: None } })
            }
        }
    }

    fn to_text(transcript: &Transcript<Self>) -> Result<Vec<u8>, CodecError> {
        Ok(transcript.body.transcript.bytes().to_vec())
    }
}

fn foreign() -> CodecError {
    CodecError::Foreign {
        harness: DECLARATION.name,
        reason: "there are no rows of type user or assistant with a message".to_owned(),
    }
}

/// What a file in the store is when its rows are another program's.
pub(super) fn foreign_content() -> Finding {
    Finding::new(FindingKind::ForeignContent, "there are no rows of type user or assistant with a message")
}

/// The id that rows without a telling file name have: what most of them name, else one that is
/// made from the first row.
pub(super) fn id_of(assembly: &Assembly, stem: Option<&str>) -> SessionId {
    match (assembly.session_id(stem), assembly.agent_id()) {
        (Some(session), Some(agent)) => subagent_id(&session, agent),
        (Some(session), None) => SessionId::from(session),
        (None, _) => match stem {
            Some(stem) => SessionId::from(stem),
            None => derived_id(assembly.first_message().unwrap_or_default()),
        },
    }
}

fn derived_id(name: &str) -> SessionId {
    SessionId::from(derived_uuid("claude-code text", name).to_string())
}

fn is_subagent(transcript: &Transcript<ClaudeCode>, agent: Option<&Text>) -> bool {
    let body = &transcript.body;
    agent.is_some() || body.agent_meta.is_some() || body.spawned_by.is_some()
}

/// The program takes nothing but a UUID.
fn new_id(wanted: Option<&SessionId>, name: &str) -> Result<SessionId, CodecError> {
    match wanted {
        None => Ok(SessionId::from(derived_uuid("claude-code session", name).to_string())),
        Some(id) if Uuid::parse_str(id.as_str()).is_ok() => Ok(id.clone()),
        Some(id) => Err(CodecError::Inexpressible {
            harness: DECLARATION.name,
            reason: format!(
                "the id {id} is not a UUID, and it takes no other; leave the id out, or give one"
            ),
        }),
    }
}
