//! How many tokens a request has, by estimate.
//!
//! No tokenizer is asked. A token is taken as four characters of ASCII or one other character, which is
//! near enough for English and for source code, and more than the truth for most other writing. An image is taken
//! as 1,600 tokens, what Anthropic names as the most for one; its base64 is not counted.

use serde_json::Value;

use super::speak::Usage;
use super::wire::{self, Api, Arguments, Said};

const IMAGE: u64 = 1_600;

/// What every message costs beside its text.
const MESSAGE: u64 = 4;

/// The tokens of a request: all that it says, and the tools that it offers.
pub(super) fn request(api: Api, body: &Value) -> u64 {
    let said =
        wire::read(api, body).iter().map(|spoken| piece(&spoken.said).saturating_add(MESSAGE)).sum::<u64>();
    let tools = body.get("tools").map_or(0, |tools| text(&tools.to_string()));
    said.saturating_add(tools)
}

/// Both sides of an answer.
pub(super) fn usage(api: Api, body: &Value, turn: &super::script::Turn) -> Usage {
    let said = [turn.thought.as_deref(), turn.text.as_deref()];
    let output = said.into_iter().flatten().map(text).sum::<u64>() + 20 * turn.calls.len() as u64 + 1;
    Usage { input: request(api, body).max(1), output }
}

fn piece(said: &Said) -> u64 {
    match said {
        Said::System(said) | Said::User(said) | Said::Assistant(said) | Said::Thinking { text: said, .. } => {
            text(said)
        }
        Said::Call { name, arguments, .. } => {
            let arguments = match arguments {
                Arguments::Json(value) => text(&value.to_string()),
                Arguments::Text(said) => text(said),
            };
            text(name).saturating_add(arguments)
        }
        Said::Result { text: said, images, .. } => text(said).saturating_add(IMAGE * images.len() as u64),
        Said::Image { .. } => IMAGE,
        Said::Other(_) => 0,
    }
}

fn text(text: &str) -> u64 {
    let ascii = text.bytes().filter(u8::is_ascii).count() as u64;
    let others = text.chars().filter(|c| !c.is_ascii()).count() as u64;
    ascii.div_ceil(4).saturating_add(others)
}
