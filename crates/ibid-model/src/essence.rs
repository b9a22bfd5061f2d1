//! What a conversation says, apart from how it is cut into messages.

use crate::{Block, Message, Outcome, ResultPart, Role, Text, Tool};
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
    let mut said = Vec::new();
    let mut calls: HashMap<&str, usize> = HashMap::default();
    let mut called = 0;
    for message in messages {
        for block in &message.blocks {
            match block {
                Block::Text(text) if text.text.is_blank() => {}
                Block::Text(text) => said.push(Essence::Text(message.role, text.text.clone())),
                Block::Thinking(_) => {}
                Block::ToolUse(call) => {
                    said.push(Essence::Call(called, call.tool.clone()));
                    calls.insert(call.id.as_str(), called);
                    called += 1;
                }
                Block::ToolResult(result) => {
                    let number = calls.get(result.call.as_str()).copied();
                    let failed = matches!(result.outcome, Outcome::Error | Outcome::Interrupted);
                    let others = result.content.iter().filter_map(|part| match part {
                        ResultPart::Text(_) => None,
                        ResultPart::Image(image) => Some(Block::Image(image.clone())),
                        ResultPart::Document(document) => Some(Block::Document(document.clone())),
                        ResultPart::Other(other) => Some(Block::Other(other.clone())),
                    });
                    said.push(Essence::Result(number, result.text(), others.collect(), failed));
                }
                other => said.push(Essence::Other(message.role, other.clone())),
            }
        }
    }
    said
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
                Block::Text(text) => bytes += text.text.len(),
                Block::ToolUse(call) => {
                    bytes += serde_json::to_string(&call.tool).map_or(0, |json| json.len())
                }
                Block::ToolResult(result) => {
                    for part in &result.content {
                        match part {
                            ResultPart::Text(text) => bytes += text.text.len(),
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
