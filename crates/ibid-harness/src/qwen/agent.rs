//! What the program notes of a subagent beside its transcript (`agent-<id>.meta.json`, 0.24.4).

use ibid_model::{CarrierRole, Text};

use crate::families::fields::{Taker, raw_fields};
use crate::families::files::FilesBody;

/// What is used of the note.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct AgentNote {
    /// The session that started it.
    pub(super) parent: Option<Text>,
    /// The call that did.
    pub(super) call: Option<Text>,
    /// Its kind.
    pub(super) kind: Option<Text>,
    /// A short name of its task.
    pub(super) description: Option<Text>,
}

raw_fields!(NoteFields { parent_session_id, tool_use_id, agent_type, description });

impl AgentNote {
    /// The note beside a transcript; empty when there is none, or none that can be read.
    pub(super) fn of(body: &FilesBody) -> AgentNote {
        let note =
            body.files.iter().find(|file| file.role == CarrierRole::Metadata && file.name == super::NOTE);
        note.and_then(|note| AgentNote::read(note.document.bytes())).unwrap_or_default()
    }

    fn read(bytes: &[u8]) -> Option<AgentNote> {
        let whole = Text::from(std::str::from_utf8(bytes).ok()?.to_owned());
        let fields: NoteFields<'_> = serde_json::from_str(&whole).ok()?;
        let take = Taker { whole: &whole };
        let named = |raw| take.text(raw).filter(|text| !text.is_blank());
        Some(AgentNote {
            parent: named(fields.parent_session_id),
            call: named(fields.tool_use_id),
            kind: named(fields.agent_type),
            description: named(fields.description),
        })
    }
}
