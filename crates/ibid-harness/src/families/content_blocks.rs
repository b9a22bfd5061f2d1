//! Blocks of content as several programs write them: `{"type": "text", "text": ...}` and its kin.

use ibid_model::{Block, Data, Document, Image, Json, OtherBlock, ResultPart, Text, TextBlock, Thinking};

use super::loose::{Loose, elements, string};

/// The blocks of a content: a string, one block or a list of blocks.
pub(crate) fn blocks(content: &Text) -> Vec<Block> {
    if let Some(text) = string(content) {
        return vec![Block::text(text)];
    }
    match content.trim_start().starts_with('[') {
        true => elements(content).iter().map(block).collect(),
        false => vec![block(content)],
    }
}

/// One block.
fn block(written: &Text) -> Block {
    let fields = Loose::of(written).unwrap_or_default();
    let kind = fields.text("type").unwrap_or_default();
    let typed = match kind.as_str() {
        "text" => fields.text("text").map(Block::text),
        "think" => fields.text("think").map(|text| Block::Thinking(Thinking { text, tokens: Vec::new() })),
        "image" | "image_url" => Some(Block::Image(image(&fields))),
        "resource_link" => fields.some_text("uri").map(|uri| {
            let (media_type, name) = (fields.text("mimeType"), fields.text("name"));
            Block::Document(Document { media_type, data: Data::Url(uri), name })
        }),
        _ => None,
    };
    typed.unwrap_or_else(|| other(kind, written))
}

/// A block of a kind that has no type, as it was written.
pub(crate) fn other(kind: Text, written: &Text) -> Block {
    let json = Json::from_text(written.clone()).unwrap_or_else(|_| Json::null());
    let kind = if kind.is_empty() { "content".into() } else { kind };
    Block::Other(OtherBlock { kind, json })
}

/// A picture: `data` and `mimeType`, or a `url`, in the block or in an object `image_url`.
fn image(fields: &Loose) -> Image {
    if let Some(data) = fields.some_text("data") {
        return Image { media_type: fields.text("mimeType"), data: Data::Base64(data), name: None };
    }
    let url = fields.some_text("url").or_else(|| {
        let inner = fields.object("image_url")?;
        inner.some_text("url")
    });
    let Some(url) = url else { return Image { media_type: None, data: Data::Absent, name: None } };
    let inline = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
    match inline {
        Some((media_type, data)) => Image {
            media_type: Some(Text::part_of(&url, media_type)),
            data: Data::Base64(Text::part_of(&url, data)),
            name: None,
        },
        None => Image { media_type: None, data: Data::Url(url), name: None },
    }
}

/// What a tool gave back, as parts.
pub(crate) fn parts(content: &Text) -> Vec<ResultPart> {
    blocks(content).into_iter().map(part).collect()
}

/// A block as a part of a result.
pub(crate) fn part(block: Block) -> ResultPart {
    match block {
        Block::Text(text) => ResultPart::Text(text),
        Block::Image(image) => ResultPart::Image(image),
        Block::Document(document) => ResultPart::Document(document),
        Block::Other(other) => ResultPart::Other(other),
        Block::Thinking(thinking) => ResultPart::Text(TextBlock { text: thinking.text }),
        _ => ResultPart::Text(TextBlock { text: Text::default() }),
    }
}
