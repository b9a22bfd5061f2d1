//! What the rows say for a list.

use std::sync::Arc;

use ibid_model::{FindingKind, Role, Text, TitleOrigin};

use super::assembly::{Assembly, NAMES};
use super::recent::Ambient;
use super::record::{Parent, Record, What};
use super::tally::Place;

impl Assembly {
    pub(super) fn facts(&mut self, place: Place, record: &Record) {
        match &record.what {
            What::Turn(turn) if turn.role != Role::System => self.own_rows += 1,
            What::Malformed => self.foreign_turns += 1,
            What::Unknown(_) | What::Kindless => self.foreign_rows += 1,
            _ => {}
        }
        if let Some(at) = record.at {
            self.meta.stamp(at);
        } else if record.unreadable_time {
            self.tally.add(FindingKind::UnreadableTime, "a timestamp that is no time, or has no zone", place);
        }
        let first = |known: &mut Option<Text>, said: &Option<Text>| {
            if known.is_none() {
                known.clone_from(said);
            }
        };
        let ambient = &record.ambient;
        if !self.ambient.as_ref().is_some_and(|last| Arc::ptr_eq(last, ambient)) {
            first(&mut self.meta.cwd, &ambient.cwd);
            first(&mut self.meta.git_branch, &ambient.git_branch);
            first(&mut self.meta.version, &ambient.version);
            self.name_session(ambient);
            self.ambient = Some(Arc::clone(ambient));
        }
        if let Some((_, count)) = self.session_at.and_then(|at| self.sessions.get_mut(at)) {
            *count += 1;
        }
        if let What::Turn(turn) = &record.what
            && turn.model.is_some()
        {
            let [main, any] = &mut self.models;
            if !record.sidechain {
                main.clone_from(&turn.model);
            }
            any.clone_from(&turn.model);
        }
    }

    /// Takes the session and the subagent that the rows from here on name.
    fn name_session(&mut self, ambient: &Ambient) {
        self.session_at = ambient.session.as_ref().and_then(|session| {
            let known = self.sessions.iter().position(|(known, _)| known == session);
            if known.is_none() && self.sessions.len() < NAMES {
                self.sessions.push((session.clone(), 0));
                return Some(self.sessions.len() - 1);
            }
            known
        });
        if let Some(agent) = &ambient.agent
            && self.agents.len() < NAMES
            && !self.agents.contains(agent)
        {
            self.agents.push(agent.clone());
        }
    }

    /// The id that the rows name most often, the first of equals; `preferred` if any row names it.
    pub(crate) fn session_id(&self, preferred: Option<&str>) -> Option<Text> {
        let named = preferred.and_then(|stem| self.sessions.iter().find(|(id, _)| *id == stem));
        let most = || self.sessions.iter().rev().max_by_key(|(_, count)| *count);
        named.or_else(most).map(|(id, _)| id.clone())
    }

    /// The one subagent that all rows are of.
    pub(crate) fn agent_id(&self) -> Option<&Text> {
        match self.agents.as_slice() {
            [one] if self.messages.iter().all(|message| message.sidechain) => Some(one),
            _ => None,
        }
    }

    /// The working directory that the first row with one names.
    pub(crate) fn first_cwd(&self) -> Option<&Text> {
        self.meta.cwd.as_ref()
    }

    /// The first session that a row names.
    pub(crate) fn first_session(&self) -> Option<&Text> {
        self.sessions.first().map(|(id, _)| id)
    }

    /// The id of the first message.
    pub(crate) fn first_message(&self) -> Option<&str> {
        self.messages.first().map(|message| message.id.as_str())
    }

    /// The rows that summaries are of.
    pub(super) fn summary_leaves(&self) -> impl Iterator<Item = &Text> {
        self.summaries.iter().filter_map(|summary| summary.leaf.as_ref())
    }

    /// Whether an answer and something that a person said were read: what is copied and what a
    /// session is about is known then.
    pub(super) fn has_beginning(&self) -> bool {
        self.meta.preview.is_some() && self.has_answer()
    }

    fn has_answer(&self) -> bool {
        self.open.iter().any(Option::is_some)
    }

    /// Whether all but what a person said is known of the beginning of a subagent's file.
    pub(super) fn lacks_only_prompt(&self) -> bool {
        let aside = self.messages.first().is_some_and(|message| message.sidechain);
        let meta = &self.meta;
        let known = [&meta.cwd, &meta.version, &meta.git_branch].into_iter().all(Option::is_some);
        aside && self.has_answer() && known && meta.started.is_some() && self.first_chained.is_some()
    }

    /// Whether the first rows may have been copied from another session.
    pub(super) fn may_be_copied(&self) -> bool {
        let old = self.meta.version.as_ref().is_some_and(|version| version.starts_with("1."));
        let first = self.messages.first().and_then(|message| message.at);
        let answer = self.messages.iter().find(|message| message.role == Role::Assistant);
        self.copied_from.is_some() || (old && answer.and_then(|message| message.at) == first)
    }

    /// The parent of the first row of the tree, when no row has that id yet.
    pub(super) fn missing_parent(&self) -> Option<&Text> {
        match &self.first_chained {
            Some(Parent::Row(parent)) if !self.has_row(parent) => Some(parent),
            _ => None,
        }
    }

    /// Takes what only the whole says about a list's facts.
    pub(super) fn finish_meta(&mut self, subagent: bool) {
        for summary in std::mem::take(&mut self.summaries) {
            if summary.leaf.as_ref().is_some_and(|leaf| self.has_row(leaf)) {
                self.meta.offer_title(&summary.text, TitleOrigin::Summary);
            }
        }
        let [main, any] = std::mem::take(&mut self.models);
        self.meta.model = if subagent { any } else { main };
    }
}
