//! Puts messages, events and findings in their places.

use ibid_model::{
    Block, Event as Happening, EventKind, Finding, FindingKind, Message, MessageId, Origin, Role, Source,
    Text,
};

use super::{EVENT_JSON_BYTES, Reader, Step};

impl Reader {
    /// Puts a message at the end of its conversation, or in the place of one with its id; returns
    /// its position.
    pub(super) fn say(
        &mut self,
        id: Option<&Text>,
        role: Role,
        origin: Origin,
        blocks: Vec<Block>,
        step: &Step<'_>,
    ) -> usize {
        let wanted = MessageId::from(match id.or(step.event.id.as_ref()) {
            Some(id) => id.clone(),
            None => Text::from(format!("line-{}", step.line)),
        });
        let sidechain = step.event.agent.is_some();
        let key = (role, origin, sidechain, wanted.clone());
        let earlier = self.by_kind.get(&key).copied();
        let taken = self.by_id.contains(&wanted);
        if taken {
            self.find(step, FindingKind::RepeatedId, "an earlier message has this id");
        }
        if let Some((at, message)) = earlier.and_then(|at| Some((at, self.session.messages.get_mut(at)?))) {
            message.blocks = blocks;
            message.sources.push(step.source.clone());
            return at;
        }
        let id = if taken { self.unused(&wanted) } else { wanted };
        self.by_kind.insert(key, self.session.messages.len());
        let mut message = Message::new(id.clone(), role, origin);
        let thread = self.thread(&step.event.agent);
        let (last, call) = (thread.last.replace(id.clone()), thread.call.clone());
        message.parent = last.or_else(|| {
            // A subagent's conversation hangs from the call that started it.
            let at = self.called.get(call.as_ref()?)?;
            self.session.messages.get(*at).map(|message| message.id.clone())
        });
        message.at = step.at;
        message.cwd.clone_from(&self.cwd);
        message.sidechain = sidechain;
        message.blocks = blocks;
        message.sources = vec![step.source.clone()];
        let at = self.session.messages.len();
        self.by_id.insert(id);
        self.session.messages.push(message);
        at
    }

    /// An id for a message whose own is taken by one of another kind.
    pub(super) fn unused(&self, wanted: &MessageId) -> MessageId {
        let number = self.session.messages.len();
        let mut id = format!("{wanted} ({number})");
        while self.by_id.contains(id.as_str()) {
            id.push('\'');
        }
        MessageId::from(id)
    }

    pub(super) fn happened(&mut self, kind: EventKind, text: Option<Text>, step: &Step<'_>) {
        let json = Some(step.event.whole.clone()).filter(|json| json.as_str().len() <= EVENT_JSON_BYTES);
        let after = self.threads.get(&step.event.agent).and_then(|thread| thread.last.clone());
        let sources = vec![step.source.clone()];
        self.session.events.push(Happening { kind, at: step.at, after, text, json, sources });
    }

    pub(super) fn find(&mut self, step: &Step<'_>, kind: FindingKind, detail: &str) {
        // One finding of a kind for a session says enough; the others count.
        let key = Text::from(format!("{kind}{detail}"));
        if !self.strange.insert(key) {
            let same = |finding: &&mut Finding| finding.kind == kind && finding.detail == *detail;
            if let Some(first) = self.findings.iter_mut().find(same) {
                first.count = first.count.saturating_add(1);
            }
            return;
        }
        let Source { extent, .. } = &step.source;
        let mut finding = Finding::new(kind, Text::from(detail.to_owned())).on_line(step.line);
        finding.extent = Some(extent.clone());
        self.findings.push(finding);
    }
}
