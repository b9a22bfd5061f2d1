//! What stands above the messages.

use ibid_capture::join::Explained;
use ibid_harness::{Declaration, Discovered};
use ibid_model::{Branch, Origin, Relation, Role, Selection, Session};

use super::explained::at_a_glance;
use super::style::{FAINT, HEADING, paint};
use crate::output::{clean_line, label};
use crate::table::{Table, counted, from_to, when};

/// How many characters of a branch's id are shown at least.
const LEAF_CHARS: usize = 8;

/// What stands above the messages of a session.
pub(crate) struct Header<'a> {
    /// The harness.
    pub(crate) harness: &'static Declaration,
    /// The session.
    pub(crate) session: &'a Session,
    /// Its subagents.
    pub(crate) children: &'a [Discovered],
    /// What its lanes say together, where there are observations of it.
    pub(crate) explained: Option<&'a Explained>,
    /// What is shown of it.
    pub(crate) selection: &'a Selection,
}

impl Header<'_> {
    /// The lines.
    pub(crate) fn text(&self) -> String {
        let meta = &self.session.meta;
        let title = meta.title.as_ref().map(|title| &title.text).or(meta.preview.as_ref());
        let title = title.map_or_else(|| "(no title)".to_owned(), |text| clean_line(text.head(200)));
        let mut lines = vec![paint(HEADING, title)];
        lines.push(paint(FAINT, format!("{}:{}", self.harness.id, clean_line(self.session.id.as_str()))));
        let mut place = Vec::new();
        place.extend(meta.model.as_ref().map(|model| clean_line(model)));
        place.extend(meta.cwd.as_ref().map(|cwd| clean_line(cwd)));
        place.extend(meta.git_branch.as_ref().map(|branch| format!("on {}", clean_line(branch))));
        if !place.is_empty() {
            lines.push(paint(FAINT, place.join("  ")));
        }
        lines.push(paint(FAINT, self.counts()));
        lines.extend(self.explained.map(|explained| paint(FAINT, at_a_glance(explained))));
        lines.extend(self.lineage().map(|line| paint(FAINT, line)));
        lines.extend(self.branches().map(|line| paint(FAINT, line)));
        for child in self.children {
            let name = format!("{}:{}", child.reference.harness, clean_line(child.id.as_str()));
            lines.push(paint(FAINT, format!("subagent: ibid show {name}  {}", label(child))));
        }
        let mut text = lines.join("\n");
        text.push('\n');
        text
    }

    fn counts(&self) -> String {
        let counts = self.session.counts();
        let usage = self.session.own_usage();
        let mut words = vec![from_to(self.session.meta.started, self.session.meta.updated)];
        words.push(counted(counts.prompts, "prompt"));
        words.push(counted(counts.assistant, "answer"));
        words.push(counted(counts.tool_calls, "tool call"));
        if let Some(output) = usage.output {
            let input =
                usage.input.unwrap_or(0) + usage.cache_read.unwrap_or(0) + usage.cache_write.unwrap_or(0);
            words.push(format!("{input} tokens in, {output} out"));
        }
        words.join(", ")
    }

    fn lineage(&self) -> impl Iterator<Item = String> {
        self.session.lineage.iter().map(|lineage| {
            let relation = match lineage.relation {
                Relation::Forked => "forked from",
                Relation::Resumed => "continues",
                Relation::Spawned => "subagent of",
                Relation::Compacted => "goes on from the summary of",
                Relation::Converted => "converted from",
                _ => "related to",
            };
            let parent = lineage.parent.as_ref().map(|id| clean_line(id.as_str()));
            let parent = parent.or(lineage.parent_path.as_ref().map(|path| clean_line(path)));
            format!("{relation} {}", parent.unwrap_or_else(|| "an unknown session".to_owned()))
        })
    }

    fn branches(&self) -> Option<String> {
        let others = self.session.branches().len().saturating_sub(1);
        if others == 0 || self.selection.branch.is_some() {
            return None;
        }
        Some(format!("{} beside the one shown; --branches lists them", counted(others as u64, "branch")))
    }
}

/// The branches of a session, as a table.
pub(crate) fn branches(session: &Session) -> String {
    let mut table = Table::new(&["branch", "messages of its own", "last", "begins with"]).right(1).rigid(0);
    let branches = session.branches();
    let is_told = |length: &usize| {
        let begin = |branch: &Branch| branch.leaf.as_str().chars().take(*length).collect::<String>();
        branches.iter().all(|branch| {
            let begin = begin(branch);
            session.messages.iter().filter(|message| message.id.as_str().starts_with(&begin)).count() <= 1
        })
    };
    // An id is named by any beginning that is one message's alone.
    let length = (LEAF_CHARS..=64).find(is_told).unwrap_or(usize::MAX);
    for branch in branches.iter() {
        let path = session.path_to(&branch.leaf);
        let own = path.iter().rev().take(branch.own).rev().filter_map(|at| session.messages.get(*at));
        let said = own
            .filter(|message| message.role != Role::System && message.origin != Origin::Harness)
            .find_map(|message| message.texts().find(|text| !text.is_blank()).cloned());
        let leaf: String = clean_line(branch.leaf.as_str()).chars().take(length).collect();
        table.row(vec![
            if branch.live { format!("{leaf} (live)") } else { leaf },
            branch.own.to_string(),
            when(session.message(&branch.leaf).and_then(|message| message.at)),
            said.map(|text| clean_line(text.head(60))).unwrap_or_default(),
        ]);
    }
    table.to_string()
}
