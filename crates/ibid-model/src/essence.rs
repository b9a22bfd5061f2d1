//! What a conversation says, apart from how it is cut into messages.

use crate::{Block, CallId, Message, Outcome, ResultPart, Role, Text, Tool};
use foldhash::HashMap;

/// One thing that was said or done. Two sessions with equal essences tell a model the same story.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Essence {
    /// Text, and who it stands for.
    Text(Role, Text),
    /// A tool call; calls are numbered in order, since targets change their ids.
    Call(usize, Tool),
    /// The result of a numbered call: its text, its images and other parts, and whether it failed.
    /// The number is none for a result without a call.
    Result(Option<usize>, Text, Vec<Block>, bool),
    /// A picture, document or other block.
    Other(Role, Block),
}

/// The essence of messages in order. Thinking is not part of it, and blank text is nothing.
#[must_use]
pub fn essence<'a>(messages: impl IntoIterator<Item = &'a Message>) -> Vec<Essence> {
    let mut essences = Essences::default();
    messages.into_iter().flat_map(|message| essences.of(message)).collect()
}

/// Finds the essence of messages one after the other: [`essence`] for a session that is not to be
/// in memory twice.
#[derive(Debug, Default)]
pub struct Essences {
    numbers: HashMap<CallId, usize>,
    calls: usize,
}

impl Essences {
    /// What the next message says.
    #[must_use]
    pub fn of(&mut self, message: &Message) -> Vec<Essence> {
        message.blocks.iter().filter_map(|block| self.of_block(message.role, block)).collect()
    }

    fn of_block(&mut self, role: Role, block: &Block) -> Option<Essence> {
        Some(match block {
            Block::Text(text) if text.text.is_blank() => return None,
            Block::Text(text) => Essence::Text(role, text.text.clone()),
            Block::Thinking(_) => return None,
            Block::ToolUse(call) => {
                let number = self.calls;
                self.calls += 1;
                self.numbers.insert(call.id.clone(), number);
                Essence::Call(number, call.tool.clone())
            }
            Block::ToolResult(result) => {
                let number = self.numbers.get(&result.call).copied();
                let failed = matches!(result.outcome, Outcome::Error | Outcome::Interrupted);
                let others = result.content.iter().filter_map(|part| match part {
                    ResultPart::Text(_) => None,
                    ResultPart::Image(image) => Some(Block::Image(image.clone())),
                    ResultPart::Document(document) => Some(Block::Document(document.clone())),
                    ResultPart::Other(other) => Some(Block::Other(other.clone())),
                });
                Essence::Result(number, result.text(), others.collect(), failed)
            }
            other => Essence::Other(role, other.clone()),
        })
    }
}

/// A rough number of tokens: a quarter of the bytes of all text, calls and results, and 1,500 for
/// each picture. It is for a warning, not for a bill.
#[must_use]
pub fn estimated_tokens<'a>(messages: impl IntoIterator<Item = &'a Message>) -> u64 {
    let mut bytes: usize = 0;
    let mut pictures: u64 = 0;
    for message in messages {
        for block in &message.blocks {
            match block {
                Block::Text(text) => bytes += text.text.to_str().len(),
                Block::ToolUse(call) => {
                    bytes += serde_json::to_string(&call.tool).map_or(0, |json| json.len())
                }
                Block::ToolResult(result) => {
                    for part in &result.content {
                        match part {
                            ResultPart::Text(text) => bytes += text.text.to_str().len(),
                            ResultPart::Image(_) | ResultPart::Document(_) => pictures += 1,
                            ResultPart::Other(other) => bytes += other.json.as_str().len(),
                        }
                    }
                }
                Block::Image(_) | Block::Document(_) => pictures += 1,
                Block::Thinking(_) => {}
                Block::Command(command) => bytes += command.name.len(),
                Block::Other(other) => bytes += other.json.as_str().len(),
            }
        }
    }
    (bytes as u64 / 4).saturating_add(pictures.saturating_mul(1500))
}
