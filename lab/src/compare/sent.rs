//! What the program sent: the right request of a run, read back through the tool mapping of the
//! target.

use std::collections::HashMap;

use ibid_harness::AnyHarness;
use ibid_model::{Json, Role, Text};
use ibid_testkit::provider::Exchange;
use ibid_testkit::provider::wire::{self, Arguments, Said, Spoken};
use serde_json::Value;

use super::form;
use super::piece::{Answer, Call, Part, Picture, Piece, Thought};
use super::target::{Target, Told};

/// One piece of a request.
#[derive(Clone, Debug)]
pub(super) struct Sent {
    /// Where it stands in the body, as a JSON pointer.
    pub(super) at: String,
    /// The message or item that it stands in; none outside of the list.
    pub(super) message: Option<usize>,
    pub(super) piece: Piece,
}

impl Sent {
    /// The text, if it is one of this side.
    pub(super) fn text_of(&self, side: Role) -> Option<&str> {
        match &self.piece {
            Piece::Text { role, text } if *role == side => Some(text),
            _ => None,
        }
    }
}

/// The first request of the main conversation that holds the prompt.
pub(super) fn request<'a>(
    target: &dyn Target,
    exchanges: &'a [Exchange],
    prompt: &str,
) -> Option<&'a Exchange> {
    let prompts = target.prompts(prompt);
    exchanges.iter().find(|exchange| {
        target.is_main(exchange)
            && exchange.said().iter().any(|spoken| match &spoken.said {
                Said::User(text) => prompts.contains(text),
                _ => false,
            })
    })
}

/// What a request says.
pub(super) fn pieces(target: &dyn Target, harness: &dyn AnyHarness, exchange: &Exchange) -> Vec<Sent> {
    let body = exchange.body.as_ref().unwrap_or(&Value::Null);
    let mut reader = Reader { target, harness, body, calls: HashMap::new(), called: 0 };
    let mut pieces: Vec<Sent> = exchange.said().into_iter().map(|spoken| reader.sent(spoken)).collect();
    if target.shape().texts_first {
        texts_first(&mut pieces);
    }
    pieces
}

struct Reader<'a> {
    target: &'a dyn Target,
    harness: &'a dyn AnyHarness,
    body: &'a Value,
    /// The numbers of the calls by their ids; the latest of equal ids.
    calls: HashMap<String, usize>,
    called: usize,
}

impl Reader<'_> {
    fn sent(&mut self, spoken: Spoken) -> Sent {
        let Spoken { at, message, said } = spoken;
        let text = |role, text| Piece::Text { role, text };
        let piece = match said {
            Said::System(said) => text(Role::System, said),
            Said::User(said) => text(Role::User, said),
            Said::Assistant(said) => text(Role::Assistant, said),
            Said::Thinking { text, .. } => Piece::Thought(Thought { text, ..Thought::default() }),
            Said::Call { id, name, arguments, .. } => self.call(id, name, arguments),
            Said::Result { id, text, images, is_error } => {
                let item = self.body.pointer(&at).unwrap_or(&Value::Null);
                let read = |text: &Text| self.harness.read_answer(text);
                let told = self.target.answer(item, &read);
                let failed = item.get("is_error").map(|_| is_error);
                let (read, others) = parts(item).unwrap_or_else(|| (vec![text], Vec::new()));
                let Told { texts, failed } = told.unwrap_or(Told { texts: read, failed });
                let pictures = images.iter().map(picture).collect();
                let call = self.calls.get(&id).copied();
                Piece::Answer(Answer { call, texts, others, pictures, failed, ..Answer::default() })
            }
            Said::Image { role, image } => {
                let role = match role {
                    wire::Role::System => Role::System,
                    wire::Role::User => Role::User,
                    wire::Role::Assistant => Role::Assistant,
                };
                Piece::Picture { role, picture: picture(&image) }
            }
            Said::Other(kind) => {
                let data = self.body.pointer(&at).map(Value::to_string).unwrap_or_default();
                Piece::Other { kind, data }
            }
        };
        Sent { at, message, piece }
    }

    fn call(&mut self, id: String, name: String, arguments: Arguments) -> Piece {
        let value = match arguments {
            Arguments::Json(value) => value,
            Arguments::Text(text) => Value::String(text),
        };
        let input = Json::of(&value).unwrap_or_else(|_| Json::null());
        let (tool, extra) = self.harness.read_call(&Text::from(name.as_str()), &input);
        self.calls.insert(id.clone(), self.called);
        self.called += 1;
        Piece::Call(Call { id, name, tool, extra, sent: Some(value) })
    }
}

/// The texts of a result that is a list of parts, and its parts that are neither text nor picture; none
/// when it is one text.
fn parts(item: &Value) -> Option<(Vec<String>, Vec<Part>)> {
    let parts = item.get("content").or_else(|| item.get("output"))?.as_array()?;
    let (mut texts, mut others) = (Vec::new(), Vec::new());
    for part in parts {
        let kind = part.get("type").and_then(Value::as_str).unwrap_or_default();
        match part.get("text").and_then(Value::as_str) {
            Some(text) => texts.push(text.to_owned()),
            None if kind.contains("image") => {}
            None => {
                let text = Some(form::sent_document(part).unwrap_or_else(|| part.to_string()));
                others.push(Part { kind: kind.to_owned(), text, document: None });
            }
        }
    }
    Some((texts, others))
}

fn picture(image: &wire::Image) -> Picture {
    let data = match &image.source {
        wire::Source::Base64(data) | wire::Source::Url(data) | wire::Source::File(data) => Some(data.clone()),
        wire::Source::Unknown => None,
    };
    Picture { media_type: image.media_type.clone(), data }
}

/// Puts the texts of each message before its calls.
fn texts_first(pieces: &mut [Sent]) {
    for message in pieces.chunk_by_mut(|a, b| a.message.is_some() && a.message == b.message) {
        message.sort_by_key(|sent| matches!(sent.piece, Piece::Call(_)));
    }
}
