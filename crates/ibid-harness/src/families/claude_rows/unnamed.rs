//! Calls and results that carry no id, as some writers leave them.

use std::collections::VecDeque;

use ibid_model::{Block, CallId};
use serde::{Deserialize, Serialize};

/// How many open calls without an id are remembered.
const OPEN: usize = 256;

/// Gives ids to calls without one, and to their results: the first result belongs to the first
/// call that has none yet.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Unnamed {
    count: u64,
    open: VecDeque<u64>,
}

impl Unnamed {
    /// Fills in the ids that are missing.
    pub(super) fn name(&mut self, blocks: &mut [Block]) {
        for block in blocks {
            match block {
                Block::ToolUse(call) if call.id.is_empty() => {
                    self.count += 1;
                    if self.open.len() >= OPEN {
                        self.open.pop_front();
                    }
                    self.open.push_back(self.count);
                    call.id = id(self.count);
                }
                Block::ToolResult(result) if result.call.is_empty() => {
                    let number = self.open.pop_front().unwrap_or_else(|| {
                        self.count += 1;
                        self.count
                    });
                    result.call = id(number);
                }
                _ => {}
            }
        }
    }
}

fn id(number: u64) -> CallId {
    CallId::from(format!("unnamed-{number}"))
}
