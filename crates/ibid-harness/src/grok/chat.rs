//! The lines of `chat_history.jsonl`, what goes to the model next.
//!
//! It is no full record: a compaction replaces it (measured, 1.0.41). It has what `updates.jsonl`
//! lacks: the instructions, what the program puts in, arguments as the model wrote them.

use std::collections::{HashMap, HashSet};

use ibid_carrier::jsonl::{Item, Records};
use ibid_model::{Block, Json, ProviderToken, ResultPart, Text, Thinking, TokenUse};
use serde_json::Error;

use super::updates::Place;
use crate::families::content_blocks::{blocks, parts};
use crate::families::loose::{Loose, elements, string};

/// One line.
#[derive(Clone, Debug)]
pub(super) enum Row {
    /// `system`.
    System(Text),
    /// `user`.
    User(UserRow),
    /// `reasoning`: comes before the answer that it belongs to.
    Reasoning(Thinking),
    /// `assistant`: one answer.
    Assistant(Answer),
    /// `tool_result`.
    Result {
        /// The call.
        call: Text,
        /// What the model sees.
        content: Vec<ResultPart>,
    },
    /// `backend_tool_call`: a search that the provider made by itself.
    Backend(Json),
    /// Anything else.
    Unknown(Text),
}

/// A line of type `user`.
#[derive(Clone, Debug)]
pub(super) struct UserRow {
    /// What it holds.
    pub(super) blocks: Vec<Block>,
    /// `prompt_index`: the number of the prompt, on what a person typed.
    pub(super) index: Option<u64>,
    /// `synthetic_reason`, on what the program put there.
    pub(super) synthetic: Option<Text>,
}

/// A line of type `assistant`.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    pub(super) text: Vec<Block>,
    pub(super) calls: Vec<Call>,
    pub(super) model: Option<Text>,
}

/// A call as the model wrote it.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) id: Text,
    pub(super) name: Text,
    pub(super) input: Json,
}

impl Row {
    pub(super) fn read(text: &Text) -> Result<Row, Error> {
        let line = Loose::read(text)?;
        let kind = line.text("type").unwrap_or_default();
        let content = || line.get("content");
        Ok(match kind.as_str() {
            "system" => Row::System(line.text("content").unwrap_or_default()),
            "user" => Row::User(UserRow {
                blocks: content().map(blocks).unwrap_or_default(),
                index: line.number("prompt_index"),
                synthetic: line.text("synthetic_reason"),
            }),
            "reasoning" => Row::Reasoning(thinking(&line)),
            "assistant" => Row::Assistant(Answer {
                text: content().map(blocks).unwrap_or_default(),
                calls: line.list("tool_calls").iter().filter_map(call).collect(),
                model: line.some_text("model_id"),
            }),
            "tool_result" => match line.some_text("tool_call_id") {
                Some(call) => Row::Result { call, content: content().map(parts).unwrap_or_default() },
                None => Row::Unknown(kind),
            },
            "backend_tool_call" => Row::Backend(line.whole().unwrap_or_else(Json::null)),
            _ => Row::Unknown(kind),
        })
    }
}

fn thinking(line: &Loose) -> Thinking {
    let part = |part: &Text| string(part).or_else(|| Loose::of(part)?.text("text"));
    let texts: Vec<Text> =
        line.get("summary").map(elements).unwrap_or_default().iter().filter_map(part).collect();
    let text = match texts.as_slice() {
        [one] => one.clone(),
        several => Text::from(several.iter().map(|text| text.as_str()).collect::<Vec<_>>().join("\n\n")),
    };
    let token = |value| ProviderToken { usage: TokenUse::Encrypted, provider: Some("xai".into()), value };
    Thinking { text, tokens: line.some_text("encrypted_content").map(token).into_iter().collect() }
}

fn call(written: &Text) -> Option<Call> {
    let fields = Loose::of(written)?;
    let (id, name) = (fields.some_text("id")?, fields.text("name").unwrap_or_default());
    let input = match fields.text("arguments") {
        Some(arguments) => Json::from_text(arguments.clone()).unwrap_or_else(|_| Json::string(&arguments)),
        None => fields.json("arguments").unwrap_or_else(Json::null),
    };
    Some(Call { id, name, input })
}

/// The whole file.
#[derive(Debug, Default)]
pub(super) struct Chat {
    /// The lines and where they stand.
    pub(super) rows: Vec<(Place, u64, Row)>,
    /// The row of a call by its id, and its number there.
    calls: HashMap<Text, (usize, usize)>,
    /// The row of a result by the id of its call.
    results: HashMap<Text, usize>,
    /// The numbers of prompts, and whether the program put them in by itself, such as the news that a
    /// subagent has ended (1.0.41 counts them like those of the person).
    prompts: HashMap<u64, bool>,
}

impl Chat {
    pub(super) fn new(carrier: u32, records: Records<Row>) -> Chat {
        let mut chat = Chat::default();
        for Item { line, start, end, value } in records.items {
            let at = chat.rows.len();
            match &value {
                Row::Assistant(answer) => {
                    for (number, call) in answer.calls.iter().enumerate() {
                        chat.calls.insert(call.id.clone(), (at, number));
                    }
                }
                Row::Result { call, .. } => {
                    chat.results.insert(call.clone(), at);
                }
                Row::User(UserRow { index: Some(index), synthetic, .. }) => {
                    *chat.prompts.entry(*index).or_insert(true) &= synthetic.is_some();
                }
                _ => {}
            }
            chat.rows.push((Place { carrier, start, end }, line, value));
        }
        chat
    }

    /// How many of its lines are of a type that the program writes.
    pub(super) fn known(&self) -> usize {
        self.rows.iter().filter(|(.., row)| !matches!(row, Row::Unknown(_))).count()
    }

    /// A call by its id.
    pub(super) fn call(&self, id: &str) -> Option<&Call> {
        let (row, number) = self.calls.get(id)?;
        match self.rows.get(*row) {
            Some((.., Row::Assistant(answer))) => answer.calls.get(*number),
            _ => None,
        }
    }

    /// What the model saw of a result.
    pub(super) fn result(&self, id: &str) -> Option<(Place, &[ResultPart])> {
        match self.rows.get(*self.results.get(id)?) {
            Some((place, _, Row::Result { content, .. })) => Some((*place, content)),
            _ => None,
        }
    }

    /// Whether the program put the prompt of this number in by itself; none when it is not there.
    pub(super) fn put_in(&self, index: u64) -> Option<bool> {
        self.prompts.get(&index).copied()
    }

    /// The numbers of the person's prompts in it.
    pub(super) fn prompts(&self) -> HashSet<u64> {
        self.prompts.iter().filter(|(_, put_in)| !**put_in).map(|(index, _)| *index).collect()
    }
}
