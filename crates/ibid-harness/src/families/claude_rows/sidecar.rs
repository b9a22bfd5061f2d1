//! What a subagent's own file is told by the small document beside it.

use ibid_model::{Json, Lineage, Relation, Session, SessionId, Text};
use serde::{Deserialize, Serialize};

/// `agent-<id>.meta.json`, as far as it is needed (2.1.197 and 2.1.332).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AgentMeta {
    /// The kind of subagent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) agent_type: Option<Text>,
    /// A short name of its task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) description: Option<Text>,
    /// The call in the parent that started it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tool_use_id: Option<Text>,
    /// 1 when the main conversation started it, more when another subagent did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) spawn_depth: Option<u64>,
}

impl AgentMeta {
    /// Reads the document. A field of another type reads as absent.
    pub(crate) fn read(bytes: &[u8]) -> Option<AgentMeta> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Fields {
            agent_type: Option<Json>,
            description: Option<Json>,
            tool_use_id: Option<Json>,
            spawn_depth: Option<Json>,
        }
        let fields: Fields = serde_json::from_slice(bytes).ok()?;
        let text = |field: Option<Json>| {
            field.and_then(|json| json.as_string()).filter(|text| !text.is_empty()).map(Text::from)
        };
        Some(AgentMeta {
            agent_type: text(fields.agent_type),
            description: text(fields.description),
            tool_use_id: text(fields.tool_use_id),
            spawn_depth: fields.spawn_depth.and_then(|json| json.read().ok()),
        })
    }

    /// What the document of a converted subagent says.
    pub(crate) fn of(session: &Session) -> AgentMeta {
        let spawned = session.lineage.iter().find(|lineage| lineage.relation == Relation::Spawned);
        AgentMeta {
            agent_type: spawned.and_then(|lineage| lineage.agent_kind.clone()),
            description: session.meta.title.as_ref().map(|title| title.text.clone()),
            tool_use_id: spawned.and_then(|lineage| lineage.call.as_ref()).map(|call| call.text().clone()),
            spawn_depth: Some(1),
        }
    }
}

/// The relation of a subagent to what started it.
pub(crate) fn spawned(parent: Option<SessionId>, agent: Option<&str>, meta: Option<&AgentMeta>) -> Lineage {
    Lineage {
        relation: Relation::Spawned,
        parent,
        parent_path: None,
        call: meta.and_then(|meta| meta.tool_use_id.clone()).map(Into::into),
        agent: agent.map(Text::from),
        agent_kind: meta.and_then(|meta| meta.agent_type.clone()),
        at: None,
    }
}
