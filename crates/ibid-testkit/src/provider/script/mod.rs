//! What the model says next: chosen by a keyword in the prompt, worked out from the request alone.
//!
//! The scripts are listed in `scripts.md`, which is part of the documentation of the module above.

mod act;
mod keyword;
mod mark;
mod prompt;
mod schema;
mod tools;

use serde_json::{Map, Value};

use self::act::Act;
pub use self::keyword::Keyword;
use self::mark::Mark;
use self::prompt::Prompt;
use self::tools::Toolbox;
use super::Options;
use super::wire::{self, Api};

/// The model's turn, before it is written in the form of an API.
#[derive(Debug, Clone)]
pub(super) struct Turn {
    /// Which turn it is; every id is made from it.
    pub(super) mark: Mark,
    /// What the model thinks first.
    pub(super) thought: Option<String>,
    /// What it says.
    pub(super) text: Option<String>,
    /// The tools that it calls.
    pub(super) calls: Vec<Call>,
}

/// A call of the model's.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub(super) name: String,
    pub(super) namespace: Option<String>,
    pub(super) input: Input,
}

/// What a tool is called with.
#[derive(Debug, Clone)]
pub(super) enum Input {
    /// An object.
    Json(Map<String, Value>),
    /// The text of a custom tool.
    Text(String),
}

/// The model's next turn.
pub(super) fn next(api: Api, body: &Value, options: &Options) -> Turn {
    let spoken = wire::read(api, body);
    let tools = Toolbox::offered(api, body);
    let mut prompt = Prompt::find(&spoken);
    // A title or a summary is wanted, of a prompt that may well hold a keyword.
    prompt.keyword = prompt.keyword.filter(|_| !tools.is_empty());
    let (steps, missing) = plan(&prompt, &tools);
    let acts = steps.get(prompt.step).cloned().unwrap_or_default();
    let stage = act::Stage { mark: &prompt.mark, options, prompt: &prompt };
    let calls: Vec<_> =
        acts.iter().enumerate().filter_map(|(i, act)| tools.call(*act, &stage.detail(i))).collect();
    let eager = prompt.keyword.is_some_and(Keyword::thinks) && prompt.step == 0;
    let thought = thinks(api, body, eager).then(|| prompt.thought());
    let text = match calls.first() {
        Some(_) if prompt.step % 2 == 1 => None,
        Some(call) => Some(format!("MOCK-CALL {}: {}", prompt.mark, call.name)),
        None => Some(prompt.answer(&missing)),
    };
    Turn { mark: prompt.mark, thought, text, calls }
}

/// The steps of the prompt's script that can be done with these tools, and what cannot be done.
fn plan(prompt: &Prompt, tools: &Toolbox) -> (Vec<Vec<Act>>, Vec<Act>) {
    let mut missing = Vec::new();
    let Some(keyword) = prompt.keyword else {
        return (Vec::new(), missing);
    };
    let mut steps = keyword.steps();
    for acts in &mut steps {
        acts.retain(|act| {
            let able = tools.can(*act);
            if !able && act.is_asked_for() {
                missing.push(*act);
            }
            able
        });
    }
    steps.retain(|acts| !acts.is_empty());
    (steps, missing)
}

/// Whether the model thinks in this turn: where the request asks for it, as it does on every turn of a real one.
/// Chat Completions has no word for it that every server knows, so a script can think there unasked.
fn thinks(api: Api, body: &Value, eager: bool) -> bool {
    match api {
        Api::Messages => matches!(text_at(body, "/thinking/type"), Some("enabled" | "adaptive")),
        Api::Responses => {
            body.get("reasoning").is_some_and(Value::is_object)
                && text_at(body, "/reasoning/effort") != Some("none")
        }
        Api::Chat => match text_at(body, "/reasoning_effort") {
            Some(effort) => effort != "none",
            None => eager,
        },
    }
}

fn text_at<'a>(body: &'a Value, pointer: &str) -> Option<&'a str> {
    body.pointer(pointer).and_then(Value::as_str)
}
