//! Streaming a session.

use ibid_model::TitleOrigin;

use super::place::{Named, named};
use super::{ClaudeCode, agents};
use crate::core::scan::{Control, Cursor, Fact, ScanEvent, Sink, Wants};
use crate::core::{Context, Reference, Store, StoreError};
use crate::families::claude_rows::{StreamSource, spawned, stream};

/// Streams a session from the cursor on.
///
/// # Errors
/// When the transcript cannot be read, was rewritten since the cursor, or the control stops.
pub(super) fn scan(
    reference: &Reference,
    from: &Cursor,
    wants: Wants,
    control: &Control<'_>,
    sink: &mut dyn Sink,
    context: &Context<'_>,
) -> Result<Cursor, StoreError> {
    let path = &reference.path;
    let subagent = matches!(named(path), Named::Subagent { .. } | Named::LooseSubagent(_));
    let source = StreamSource { path, from, subagent, limits: context.limits };
    let opening = || opening(reference, wants, context).unwrap_or_default();
    stream(&source, wants, control, sink, opening)
}

/// What the file's place and the document beside it say.
fn opening(reference: &Reference, wants: Wants, context: &Context<'_>) -> Option<Vec<ScanEvent>> {
    if !wants.metadata {
        return None;
    }
    let listed = super::store::listed_at(reference)?;
    let found = ClaudeCode::describe(&listed, context).ok()?;
    let mut events = vec![ScanEvent::Fact(Fact::Id(found.id.clone()))];
    if let Named::Subagent { .. } | Named::LooseSubagent(_) = named(&reference.path) {
        let meta = agents::meta_of(&reference.path);
        if let Some(description) = meta.as_ref().and_then(|meta| meta.description.clone()) {
            events.push(ScanEvent::Fact(Fact::Title(description, TitleOrigin::Agent)));
        }
        let parent = found.lineage.iter().find_map(|lineage| lineage.parent.clone());
        let agent = found.id.as_str().rsplit_once('/').map(|(_, agent)| agent);
        events.push(ScanEvent::Lineage(spawned(parent, agent, meta.as_ref())));
    }
    Some(events)
}
