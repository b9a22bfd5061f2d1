//! Content items: the parts of messages and of results.

use std::borrow::Cow;

use ibid_model::{Block, Data, Image, Json, OtherBlock, ResultPart, Text, TextBlock};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::json::{self, Str};
use crate::families::pictures::{is_taken, media_type_of};

/// One part of a message or a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Text.
    Text(Text),
    /// A picture.
    Image(Image),
    /// Anything else, as it was written.
    Other(OtherBlock),
}

impl Part {
    pub(super) fn into_block(self) -> Block {
        match self {
            Part::Text(text) => Block::text(text),
            Part::Image(image) => Block::Image(image),
            Part::Other(other) => Block::Other(other),
        }
    }

    pub(super) fn into_result(self) -> ResultPart {
        match self {
            Part::Text(text) => ResultPart::Text(TextBlock { text }),
            Part::Image(image) => ResultPart::Image(image),
            Part::Other(other) => ResultPart::Other(other),
        }
    }
}

#[derive(Deserialize)]
struct Raw<'a> {
    #[serde(rename = "type", borrow)]
    kind: Option<Str<'a>>,
    #[serde(borrow)]
    text: Option<&'a RawValue>,
    #[serde(borrow)]
    image_url: Option<&'a RawValue>,
    #[serde(borrow)]
    file_id: Option<&'a RawValue>,
    #[serde(borrow)]
    path: Option<&'a RawValue>,
}

/// The parts of content, which is an array of items, one item, or a string.
pub(super) fn read(content: Option<&RawValue>, whole: &Text) -> Vec<Part> {
    let Some(raw) = content else { return Vec::new() };
    match raw.get().as_bytes().first() {
        Some(b'"') => json::string(Some(raw), whole).map(Part::Text).into_iter().collect(),
        Some(b'[') => {
            let items: Vec<&RawValue> = json::read(Some(raw)).unwrap_or_default();
            unwrapped(items.into_iter().filter_map(|item| part(item, whole)).collect())
        }
        Some(b'{') => part(raw, whole).into_iter().collect(),
        _ => Vec::new(),
    }
}

fn part(raw: &RawValue, whole: &Text) -> Option<Part> {
    if raw.get().starts_with('"') {
        return json::string(Some(raw), whole).map(Part::Text);
    }
    let item: Raw<'_> = json::read(Some(raw))?;
    let kind = item.kind.as_ref().map_or("", Str::as_str);
    match kind {
        "input_text" | "output_text" | "text" | "Text" | "inputText" | "reasoning_text" | "summary_text" => {
            json::string(item.text, whole).map(Part::Text)
        }
        "input_image" | "image" | "inputImage" => {
            let url = json::string(item.image_url, whole);
            let file = json::string(item.file_id, whole).map(Data::ProviderFile);
            Some(Part::Image(match (url, file) {
                (Some(url), _) => image(&url),
                (None, file) => Image { media_type: None, data: file.unwrap_or(Data::Absent), name: None },
            }))
        }
        "local_image" => json::string(item.path, whole).map(|path| Part::Image(local_image(path))),
        _ => Some(Part::Other(OtherBlock { kind: kind.into(), json: Json::part_of(whole, raw) })),
    }
}

/// The picture at an address. A `data:` address holds it in base64 already.
pub(super) fn image(url: &Text) -> Image {
    let held = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
    match held {
        Some((media_type, data)) => Image {
            media_type: (!media_type.is_empty()).then(|| Text::part_of(url, media_type)),
            data: Data::Base64(Text::part_of(url, data)),
            name: None,
        },
        None => Image { media_type: None, data: Data::Url(url.clone()), name: None },
    }
}

/// A picture in a file of the machine where the session ran.
pub(super) fn local_image(path: Text) -> Image {
    Image { media_type: None, data: Data::Path(path), name: None }
}

/// Takes the texts `<image ...>` and `</image>` away that versions since 0.100 put around a
/// picture, and keeps the path that they name.
fn unwrapped(parts: Vec<Part>) -> Vec<Part> {
    let mut kept: Vec<Part> = Vec::with_capacity(parts.len());
    let mut inside = false;
    for part in parts {
        match part {
            Part::Text(text) if inside && text.to_str().trim() == "</image>" => inside = false,
            Part::Image(mut image) => {
                if let Some(Part::Text(before)) = kept.last()
                    && opens_image(before)
                {
                    image.name = path_in(before);
                    inside = true;
                    kept.pop();
                }
                kept.push(Part::Image(image));
            }
            other => kept.push(other),
        }
    }
    kept
}

/// Whether a text is the tag that stands before a picture.
fn opens_image(text: &str) -> bool {
    text.starts_with("<image") && text.trim_end().ends_with('>')
}

fn path_in(tag: &Text) -> Option<Text> {
    let (_, rest) = tag.split_once("path=\"")?;
    let (path, _) = rest.rsplit_once('"')?;
    (!path.is_empty()).then(|| Text::part_of(tag, path))
}

/// A content item as it is written.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Item<'a> {
    InputText { text: Cow<'a, str> },
    OutputText { text: Cow<'a, str> },
    InputImage { image_url: String },
}

impl Item<'_> {
    /// The text, if it is one.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Item::InputText { text } | Item::OutputText { text } => Some(text),
            Item::InputImage { .. } => None,
        }
    }
}

/// Adds a part of a result; says whether it could be said.
pub(super) fn push_result<'a>(items: &mut Vec<Item<'a>>, part: &'a ResultPart) -> bool {
    match part {
        ResultPart::Text(text) => {
            items.push(Item::InputText { text: text.text.to_str() });
            true
        }
        ResultPart::Image(image) => push_image(items, image),
        _ => false,
    }
}

/// Adds a picture, within the tags that hold its name if it has one; says whether its bytes are
/// here and of a type that is sent.
pub(super) fn push_image(items: &mut Vec<Item<'_>>, image: &Image) -> bool {
    // For any other type, and for an address, the program sends a note that it left a picture out
    // (measured with 0.171.0).
    let Data::Base64(data) = &image.data else { return false };
    let kind = image.media_type.as_deref().or_else(|| media_type_of(data));
    let Some(kind) = kind.filter(|kind| is_taken(kind)) else { return false };
    let image_url = format!("data:{kind};base64,{data}");
    // A text that looks like such a tag would be taken for the picture's.
    let looks_tagged = items.last().and_then(Item::text).is_some_and(opens_image);
    let name = image.name.as_deref().filter(|name| !name.is_empty());
    let tag = match name {
        Some(name) => format!("<image path=\"{name}\">"),
        None if looks_tagged => "<image>".to_owned(),
        None => {
            items.push(Item::InputImage { image_url });
            return true;
        }
    };
    items.push(Item::InputText { text: tag.into() });
    items.push(Item::InputImage { image_url });
    items.push(Item::InputText { text: "</image>".into() });
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(content: &str) -> Vec<Part> {
        let whole = Text::from(content);
        let raw: &RawValue = serde_json::from_str(&whole).unwrap();
        read(Some(raw), &whole)
    }

    // https://github.com/openai/codex/issues/24676 (fault 42)
    #[test]
    fn a_picture_shares_the_memory_of_its_record() {
        let whole = Text::from(r#"[{"type":"input_image","image_url":"data:image/png;base64,AAAA"}]"#);
        let raw: &RawValue = serde_json::from_str(&whole).unwrap();
        let parts = read(Some(raw), &whole);
        let [Part::Image(Image { data: Data::Base64(data), media_type, .. })] = parts.as_slice() else {
            panic!("{parts:?}")
        };
        assert_eq!(media_type.as_deref(), Some("image/png"));
        assert_eq!(data.as_str().as_ptr(), whole.get(whole.find("AAAA").unwrap()..).unwrap().as_ptr());
    }

    #[test]
    fn the_tags_around_a_picture_are_no_text() {
        let content = r#"[{"type":"input_text","text":"<image name=[Image #1] path=\"dot.png\">"},
            {"type":"input_image","image_url":"data:image/png;base64,AAAA"},
            {"type":"input_text","text":"</image>"},{"type":"input_text","text":"What?"}]"#;
        let parts = parts(content);
        let [Part::Image(image), Part::Text(text)] = parts.as_slice() else { panic!("{parts:?}") };
        assert_eq!((image.name.as_deref(), text.as_str()), (Some("dot.png"), "What?"));
    }

    #[test]
    fn an_item_of_another_kind_is_kept_as_written() {
        let parts = parts(r#"[{"type":"encrypted_content","encrypted_content":"x"}]"#);
        let [Part::Other(other)] = parts.as_slice() else { panic!("{parts:?}") };
        assert_eq!(other.json.as_str(), r#"{"type":"encrypted_content","encrypted_content":"x"}"#);
    }
}
