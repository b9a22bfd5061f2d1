//! An assistant message cut at its model calls.

use ibid_model::{Block, Source, StopReason, Text, Timestamp, ToolResult, Usage};

use super::assembly::Assembly;
use super::fields::Fields;
use super::records::MessageRecord;
use super::{parts, usage};

/// One model call's share of an assistant message.
#[derive(Default)]
pub(super) struct Step {
    pub(super) blocks: Vec<Block>,
    pub(super) results: Vec<ToolResult>,
    pub(super) ended: Option<Timestamp>,
    pub(super) usage: Option<Usage>,
    reason: Option<Text>,
    pub(super) sources: Vec<Source>,
    finished: bool,
}

impl Step {
    fn is_begun(&self) -> bool {
        self.finished || !self.blocks.is_empty()
    }
}

impl Assembly {
    /// The message cut at its model calls. Each begins with a `step-start` part; older versions
    /// have several in one message.
    pub(super) fn steps(&mut self, record: &MessageRecord, at: Option<Timestamp>) -> Vec<Step> {
        let mut steps = Vec::new();
        let mut step = Step::default();
        for part in &record.parts {
            let Some(fields) = Fields::of(&part.data) else {
                self.malformed("the part is no JSON object", &part.source);
                continue;
            };
            let kind = fields.text("type").unwrap_or_default();
            let content = matches!(kind.as_str(), "text" | "reasoning" | "file" | "tool");
            if (kind == "step-start" && step.is_begun()) || (content && step.finished) {
                steps.push(std::mem::take(&mut step));
            }
            step.sources.push(part.source.clone());
            match kind.as_str() {
                "step-start" => {}
                "text" => step.blocks.push(Block::text(fields.text("text").unwrap_or_default())),
                "reasoning" => step.blocks.push(parts::reasoning(&fields)),
                "file" => match parts::file(&fields) {
                    Some(block) => step.blocks.push(block),
                    None => self.malformed("the file has no address", &part.source),
                },
                "tool" => match parts::tool(&fields, &part.id) {
                    Some(tool) => {
                        step.blocks.push(Block::ToolUse(tool.call));
                        step.ended = step.ended.max(tool.ended);
                        match tool.result {
                            Some(result) => step.results.push(result),
                            None => self.count_open_call(),
                        }
                    }
                    None => self.malformed("the call has no tool or no state", &part.source),
                },
                "step-finish" => {
                    step.finished = true;
                    step.reason = fields.text("reason");
                    let tokens = fields.object("tokens");
                    step.usage = tokens.map(|tokens| usage::of_call(&tokens, fields.number("cost")));
                }
                _ => self.other_part(&kind, &fields, part, at),
            }
        }
        steps.push(step);
        steps
    }
}

/// Why the model stopped at the end of a step.
pub(super) fn stop(
    step: &Step,
    fields: &Fields<'_>,
    error: Option<&Fields<'_>>,
    last: bool,
) -> Option<StopReason> {
    if last && let Some(error) = error {
        return Some(usage::stop_of_error(error.text("name").as_deref().unwrap_or_default()));
    }
    let whole = fields.text("finish").filter(|_| last);
    whole.or_else(|| step.reason.clone()).map(|word| usage::stop_reason(&word))
}
