//! The tool calls of a session, with what became of them.

use std::collections::HashMap;

use ibid_model::{Outcome, ResultPart, Text, Timestamp, Tool, ToolResult, ToolUse};

use super::clip::Clip;
use super::{Order, family, hash, outline, paths};
use crate::answer::{Access, CallStatus, Family, ToolCall};
use crate::workspace::Workspace;

/// The longest name of a tool that is shown, in characters.
const NAME_CHARS: usize = 200;

/// The longest id of a call that is shown, in characters.
const ID_CHARS: usize = 512;

/// The calls, in the order of reading.
#[derive(Default)]
pub(crate) struct Calls {
    calls: Vec<Call>,
    /// The calls of the stream by their ids: the first that has no result yet, else the last.
    by_id: HashMap<u64, Vec<usize>>,
}

struct Call {
    order: Order,
    at: Option<Timestamp>,
    ended: Option<Timestamp>,
    id: String,
    name: String,
    family: Family,
    access: Access,
    status: CallStatus,
    answered: bool,
    detail: Clip,
    output: Clip,
    paths: Vec<String>,
}

impl Calls {
    /// Begins the records of another carrier, whose ids are its own.
    pub(crate) fn next_stream(&mut self) {
        self.by_id.clear();
    }

    /// Takes a call; returns how much text is kept of it.
    pub(crate) fn take(
        &mut self,
        call: &ToolUse,
        at: Option<Timestamp>,
        order: Order,
        (workspace, cwd): (&Workspace, Option<&str>),
    ) -> usize {
        let own = match &call.tool {
            Tool::Shell(shell) => shell.cwd.as_ref(),
            _ => None,
        };
        let mut base = match cwd {
            Some(cwd) => workspace.place_of(cwd),
            // A session that says nothing of directories belongs to the project by its place.
            None => Some(Vec::new()),
        };
        if let Some(own) = own.map(Text::to_str).filter(|own| !own.trim().is_empty()) {
            base = workspace.directory(&own, base.as_deref());
        }
        let place = paths::Place { workspace, base: base.as_deref() };
        let named = paths::of(call, place);
        let name = call.name.to_str();
        let mut family = family::family(&name, &call.tool);
        if named.patched && matches!(family, Family::Execute | Family::Other) {
            family = Family::Change;
        }
        let access = paths::access(family::access(family, &call.tool), &named);
        let detail = outline::of(&call.tool);
        let kept = detail.len();
        if !call.id.is_empty() {
            self.by_id.entry(hash(call.id.as_str())).or_default().push(self.calls.len());
        }
        self.calls.push(Call {
            order,
            at,
            ended: None,
            id: call.id.text().head(ID_CHARS).to_owned(),
            name: call.name.head(NAME_CHARS).to_owned(),
            family,
            access,
            status: CallStatus::Observed,
            answered: false,
            detail,
            output: Clip::default(),
            paths: named.paths,
        });
        kept
    }

    /// Takes a result; returns how much text is kept of it. One without a call tells nothing.
    pub(crate) fn answer(&mut self, result: &ToolResult, at: Option<Timestamp>) -> usize {
        let Some(places) = self.by_id.get(&hash(result.call.as_str())) else { return 0 };
        let open = places.iter().find(|at| self.calls.get(**at).is_some_and(|call| !call.answered));
        let Some(call) = open.or(places.last()).and_then(|at| self.calls.get_mut(*at)) else { return 0 };
        call.answered = true;
        let status = match result.outcome {
            Outcome::Ok => CallStatus::Completed,
            Outcome::Error => CallStatus::Failed,
            Outcome::Interrupted => CallStatus::Interrupted,
            Outcome::Unknown => CallStatus::Returned,
        };
        // A failure stays one, whatever is said of the call later.
        call.status = match (call.status, status) {
            (known @ (CallStatus::Failed | CallStatus::Interrupted), _) => known,
            (CallStatus::Completed, CallStatus::Returned) => CallStatus::Completed,
            (_, status) => status,
        };
        call.ended = call.ended.max(at);
        let before = call.output.len();
        for part in &result.content {
            if let ResultPart::Text(text) = part {
                call.output.push(&text.text.to_str());
            }
        }
        call.output.len() - before
    }

    pub(crate) fn sort(&mut self) {
        self.calls.sort_by_key(|call| call.order);
    }

    pub(crate) fn lengths(&self) -> impl Iterator<Item = usize> + Clone {
        self.calls.iter().flat_map(|call| [call.detail.len(), call.output.len()])
    }

    pub(crate) fn clips(&mut self) -> impl Iterator<Item = &mut Clip> {
        self.calls.iter_mut().flat_map(|call| [&mut call.detail, &mut call.output])
    }

    /// The calls as an answer has them.
    pub(crate) fn finish(self, platform: &str, session: &str) -> Vec<ToolCall> {
        let calls = self.calls.into_iter().enumerate();
        calls.map(|(number, call)| call.finish(platform, session, number + 1)).collect()
    }
}

impl Call {
    fn finish(self, platform: &str, session: &str, number: usize) -> ToolCall {
        let text = |clip: Clip| (!clip.is_blank()).then(|| clip.into_text());
        let took = self.at.zip(self.ended).map(|(at, end)| end.as_milliseconds() - at.as_milliseconds());
        ToolCall {
            id: if self.id.is_empty() { format!("{platform}-{session}-{number}") } else { self.id },
            family: self.family,
            action_label: self.name.clone(),
            tool_name: self.name,
            status: self.status,
            detail: text(self.detail),
            output: text(self.output),
            duration_ms: took.and_then(|took| u64::try_from(took).ok()),
            file_path: self.paths.first().cloned(),
            access: (!self.paths.is_empty()).then_some(self.access),
            file_paths: self.paths,
            started_at: self.at.map(Timestamp::to_iso_milliseconds),
        }
    }
}
