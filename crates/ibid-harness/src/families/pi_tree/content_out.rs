//! The blocks of messages, as they are written.

use ibid_model::{
    Block, Data, Document, Image, Json, LossKind, Losses, Message, MessageId, ResultPart, Role, Text,
    ToolResult,
};
use serde::Serialize;

use crate::families::pictures::{is_taken, media_type_of};

/// One block of content.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub(super) enum Part {
    /// Text.
    Text { text: Text },
    /// A picture in base64.
    #[serde(rename_all = "camelCase")]
    Image { data: Text, mime_type: Text },
    /// A tool call.
    ToolCall { id: Text, name: Text, arguments: Json },
}

/// The content of a message of a person or the model; results are not part of it.
pub(super) fn message_parts(blocks: &[&Block], message: &Message, losses: &mut Losses) -> Vec<Part> {
    let mut parts = Vec::with_capacity(blocks.len());
    for block in blocks {
        match block {
            Block::Text(text) => parts.push(Part::Text { text: text.text.clone() }),
            Block::Thinking(_) => losses.add(LossKind::Thinking, None, Some(&message.id)),
            // Only the person's side has pictures.
            Block::Image(image) if message.role != Role::Assistant => {
                parts.extend(image_part(image, &message.id, losses));
            }
            Block::Image(_) => losses.add(LossKind::Image, Some("of the model"), Some(&message.id)),
            Block::Document(document) => parts.extend(document_part(document, &message.id, losses)),
            Block::ToolUse(call) => parts.push(Part::ToolCall {
                id: call.id.text().clone(),
                name: call.name.clone(),
                arguments: Json::null(),
            }),
            Block::Other(other) => losses.add(LossKind::UnknownBlock, Some(&other.kind), Some(&message.id)),
            _ => losses.add(LossKind::UnknownBlock, None, Some(&message.id)),
        }
    }
    parts
}

/// The content of a result: text and pictures.
pub(super) fn result_parts(result: &ToolResult, message: &MessageId, losses: &mut Losses) -> Vec<Part> {
    let mut parts = Vec::with_capacity(result.content.len());
    for part in &result.content {
        match part {
            ResultPart::Text(text) if text.text.is_blank() => {
                // An empty text that is alone says no more than no text at all.
                if !text.text.is_empty() || result.content.len() > 1 {
                    losses.add(LossKind::EmptyText, Some("of a result"), Some(message));
                }
            }
            ResultPart::Text(text) => parts.push(Part::Text { text: text.text.clone() }),
            ResultPart::Image(image) => parts.extend(image_part(image, message, losses)),
            ResultPart::Document(document) => parts.extend(document_part(document, message, losses)),
            ResultPart::Other(other) => {
                losses.add(LossKind::ResultFlattened, Some(&other.kind), Some(message));
                parts.push(Part::Text { text: Text::from(other.json.as_str()) });
            }
            _ => losses.add(LossKind::ResultFlattened, None, Some(message)),
        }
    }
    parts
}

fn image_part(image: &Image, message: &MessageId, losses: &mut Losses) -> Option<Part> {
    let Data::Base64(data) = &image.data else {
        losses.add(LossKind::Image, Some("not in the session"), Some(message));
        return None;
    };
    let media_type = image.media_type.clone().or_else(|| media_type_of(data).map(Text::from));
    let Some(mime_type) = media_type.filter(|kind| !data.is_blank() && is_taken(kind)) else {
        losses.add(LossKind::Image, Some("of a type that providers refuse"), Some(message));
        return None;
    };
    if image.name.is_some() {
        losses.add(LossKind::Image, Some("its name"), Some(message));
    }
    Some(Part::Image { data: data.clone(), mime_type })
}

/// A document becomes text, if it is text.
fn document_part(document: &Document, message: &MessageId, losses: &mut Losses) -> Option<Part> {
    losses.add(LossKind::Document, None, Some(message));
    match &document.data {
        Data::Text(text) if !text.is_blank() => Some(Part::Text { text: text.clone() }),
        _ => None,
    }
}
