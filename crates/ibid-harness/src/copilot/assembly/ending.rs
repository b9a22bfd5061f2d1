//! What can be said of a session once all of its events were read.

use std::collections::HashSet;

use ibid_model::{
    Block, Finding, FindingKind, Message, MessageId, Origin, Role, Text, Timestamp, TitleOrigin, ToolResult,
    ToolUse,
};

use super::Reader;
use crate::copilot::content;
use crate::copilot::records::Answer;
use crate::copilot::workspace::Workspace;
use crate::core::Common;

impl Reader {
    pub(super) fn finish(mut self, workspace: Workspace, written: Option<Timestamp>) -> Common {
        self.leftover_thoughts();
        let Reader { mut session, mut findings, spending, mut threads, .. } = self;
        let meta = &mut session.meta;
        if let Some(name) = &workspace.name {
            let origin = if workspace.user_named { TitleOrigin::Person } else { TitleOrigin::Generated };
            meta.offer_title(name, origin);
        }
        meta.cwd = meta.cwd.take().or(workspace.cwd);
        meta.git_branch = meta.git_branch.take().or(workspace.branch);
        meta.started = meta.started.or(workspace.created).or(written);
        meta.updated = meta.updated.or(workspace.updated).or(written);
        session.head = threads.remove(&None).and_then(|main| main.last);
        let (calls, reported) = spending.finish();
        (session.calls, session.reported_usage) = (calls, reported);
        let calls = session.messages.iter().flat_map(|message| &message.blocks);
        let mut open: HashSet<&str> = HashSet::new();
        for block in calls {
            match block {
                Block::ToolUse(ToolUse { id, .. }) => open.insert(id.as_str()),
                Block::ToolResult(ToolResult { call, .. }) => open.remove(call.as_str()),
                _ => false,
            };
        }
        if !open.is_empty() {
            let finding = Finding::new(FindingKind::CallWithoutResult, "tool calls without a result");
            findings.push(finding.times(open.len() as u64));
        }
        if session.messages.is_empty() && !session.events.is_empty() {
            findings
                .push(Finding::new(FindingKind::NoTurns, "events, but no message of a person or a model"));
        }
        Common { session, findings }
    }

    /// Thoughts at the very end of a file that no answer followed.
    fn leftover_thoughts(&mut self) {
        let mut left: Vec<(Option<Text>, Vec<Text>)> = self
            .threads
            .iter_mut()
            .map(|(agent, thread)| (agent.clone(), std::mem::take(&mut thread.thoughts)))
            .filter(|(_, thoughts)| !thoughts.is_empty())
            .collect();
        left.sort_by(|a, b| a.0.cmp(&b.0));
        for (agent, thoughts) in left {
            let number = self.session.messages.len();
            let id = self.unused(&MessageId::from(format!("thoughts-{number}")));
            let mut message = Message::new(id.clone(), Role::Assistant, Origin::Model);
            message.sidechain = agent.is_some();
            message.parent = self.thread(&agent).last.replace(id.clone());
            message.blocks = content::thoughts(thoughts, &Answer::default());
            self.by_id.insert(id);
            self.session.messages.push(message);
        }
    }
}
