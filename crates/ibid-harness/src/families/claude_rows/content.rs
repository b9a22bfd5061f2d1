//! The blocks of a message.

use std::sync::LazyLock;

use ibid_model::{
    Block, Data, Document, Image, Json, OtherBlock, Outcome, ProviderToken, ResultPart, Text, TextBlock,
    Thinking, TokenUse, ToolResult, ToolUse,
};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::lenient::Str;
use super::row::{RowBlock, RowContent, RowSource};
use super::tools;

/// The provider whose tokens stand in these rows.
pub(super) const PROVIDER: &str = "anthropic";

/// The same as text that all blocks share.
static PROVIDER_TEXT: LazyLock<Text> = LazyLock::new(|| Text::from(PROVIDER));

/// Reads blocks. `raw` gives the text of the block at a position, for kinds without a type; it
/// is asked only when one occurs.
pub(super) struct Blocks<'a> {
    whole: &'a Text,
    /// What the harness keeps beside the message about its one tool result.
    structured: Option<&'a RawValue>,
    raw: Option<Vec<&'a RawValue>>,
}

impl<'a> Blocks<'a> {
    pub(super) fn new(whole: &'a Text, structured: Option<&'a RawValue>) -> Blocks<'a> {
        Blocks { whole, structured, raw: None }
    }

    /// The blocks of content; a string is one text block, an empty one is none.
    ///
    /// # Errors
    /// When a string of the input of a tool cannot be read (a lone surrogate).
    pub(super) fn read(&mut self, content: RowContent<'_>) -> Result<Vec<Block>, serde_json::Error> {
        match content {
            RowContent::Absent => Ok(Vec::new()),
            RowContent::Text(text) => Ok(text.text(self.whole)?.map(Block::text).into_iter().collect()),
            RowContent::Blocks(rows) => {
                let results = rows.iter().filter(|row| row.kind.as_str() == Some("tool_result")).count();
                if results != 1 {
                    self.structured = None;
                }
                let mut blocks = Vec::with_capacity(rows.len());
                for (at, row) in rows.into_iter().enumerate() {
                    if row.object {
                        blocks.push(self.block(at, row)?);
                    }
                }
                Ok(blocks)
            }
        }
    }

    fn block(&mut self, at: usize, row: RowBlock<'_>) -> Result<Block, serde_json::Error> {
        let whole = self.whole;
        Ok(match row.kind.as_str() {
            Some("text") => match row.text.text(whole)? {
                Some(text) => Block::Text(TextBlock { text }),
                None => self.other(at, "text"),
            },
            Some("thinking") => {
                let tokens = token(TokenUse::Signature, row.signature, whole);
                Block::Thinking(Thinking { text: row.thinking.text(whole)?.unwrap_or_default(), tokens })
            }
            Some("redacted_thinking") => {
                let tokens = token(TokenUse::Redacted, row.data, whole);
                Block::Thinking(Thinking { text: Text::default(), tokens })
            }
            Some("tool_use") => {
                let name = row.name.text(whole).unwrap_or_default();
                let (tool, extra) = tools::decode(&name, row.input, whole)?;
                let id = row.id.text(whole).unwrap_or_default();
                Block::ToolUse(ToolUse { id: id.into(), name, tool, extra })
            }
            Some("tool_result") => Block::ToolResult(self.result(at, row)?),
            Some("image") => match image(row.source, whole) {
                Some(image) => Block::Image(image),
                None => self.other(at, "image"),
            },
            Some("document") => match document(row.source, row.title, whole) {
                Some(document) => Block::Document(document),
                None => self.other(at, "document"),
            },
            kind => {
                let kind = kind.unwrap_or_default().to_owned();
                self.other(at, &kind)
            }
        })
    }

    fn result(&mut self, at: usize, row: RowBlock<'_>) -> Result<ToolResult, serde_json::Error> {
        let whole = self.whole;
        let structured = self.structured.filter(|raw| raw.get() != "null");
        let interrupted = structured.is_some_and(|raw| was_interrupted(raw.get()));
        let outcome = match row.is_error.0 {
            _ if interrupted => Outcome::Interrupted,
            Some(true) => Outcome::Error,
            Some(false) => Outcome::Ok,
            None => Outcome::Unknown,
        };
        let content = match row.content {
            RowContent::Absent => Vec::new(),
            RowContent::Text(text) => {
                text.text(whole)?.map(|text| ResultPart::Text(TextBlock { text })).into_iter().collect()
            }
            RowContent::Blocks(parts) => parts
                .into_iter()
                .enumerate()
                .filter(|(_, part)| part.object)
                .map(|(place, part)| self.part(at, place, part))
                .collect::<Result<_, _>>()?,
        };
        Ok(ToolResult {
            call: row.tool_use_id.text(whole).unwrap_or_default().into(),
            content,
            outcome,
            structured: structured.map(|raw| Json::part_of(whole, raw)),
        })
    }

    fn part(&mut self, at: usize, place: usize, part: RowBlock<'_>) -> Result<ResultPart, serde_json::Error> {
        let whole = self.whole;
        let kind = part.kind.as_str().unwrap_or_default().to_owned();
        let known = match kind.as_str() {
            "text" => part.text.text(whole)?.map(|text| ResultPart::Text(TextBlock { text })),
            "image" => image(part.source, whole).map(ResultPart::Image),
            "document" => document(part.source, part.title, whole).map(ResultPart::Document),
            _ => None,
        };
        Ok(known.unwrap_or_else(|| {
            let json = self.raw_part(at, place).unwrap_or_else(Json::null);
            ResultPart::Other(OtherBlock { kind: kind.into(), json })
        }))
    }

    fn other(&mut self, at: usize, kind: &str) -> Block {
        let json = self.raw(at).map_or_else(Json::null, |raw| Json::part_of(self.whole, raw));
        Block::Other(OtherBlock { kind: kind.into(), json })
    }

    /// The block at a position as it is written.
    fn raw(&mut self, at: usize) -> Option<&'a RawValue> {
        #[derive(Deserialize)]
        struct Row<'a> {
            #[serde(borrow)]
            message: Message<'a>,
        }
        #[derive(Deserialize)]
        struct Message<'a> {
            #[serde(borrow)]
            content: Vec<&'a RawValue>,
        }
        let whole: &'a Text = self.whole;
        let raw = self.raw.get_or_insert_with(|| {
            serde_json::from_str::<Row<'a>>(whole).map(|row| row.message.content).unwrap_or_default()
        });
        raw.get(at).copied()
    }

    /// The part of the tool result at a position as it is written.
    fn raw_part(&mut self, at: usize, place: usize) -> Option<Json> {
        #[derive(Deserialize)]
        struct Result<'a> {
            #[serde(borrow)]
            content: Vec<&'a RawValue>,
        }
        let whole = self.whole;
        let result: Result<'_> = serde_json::from_str(self.raw(at)?.get()).ok()?;
        result.content.get(place).map(|raw| Json::part_of(whole, raw))
    }
}

/// Whether the structured form of a shell result says that the person stopped it.
pub(super) fn was_interrupted(structured: &str) -> bool {
    memchr::memmem::find(structured.as_bytes(), br#""interrupted":true"#).is_some()
        && serde_json::from_str::<Interrupted>(structured).is_ok_and(|result| result.interrupted)
}

#[derive(Deserialize)]
struct Interrupted {
    interrupted: bool,
}

fn token(usage: TokenUse, value: Str<'_>, whole: &Text) -> Vec<ProviderToken> {
    let token = |value| ProviderToken { usage, provider: Some(PROVIDER_TEXT.clone()), value };
    value.filled(whole).map(token).into_iter().collect()
}

fn data(source: RowSource<'_>, whole: &Text) -> Option<(Option<Text>, Data)> {
    let data = match source.kind.as_str()? {
        "base64" => Data::Base64(source.data.text(whole)?),
        "text" => Data::Text(source.data.text(whole)?),
        "url" => Data::Url(source.url.text(whole)?),
        "file" => Data::ProviderFile(source.file_id.text(whole)?),
        _ => return None,
    };
    Some((source.media_type.filled(whole), data))
}

fn image(source: RowSource<'_>, whole: &Text) -> Option<Image> {
    let (media_type, data) = data(source, whole)?;
    Some(Image { media_type, data, name: None })
}

fn document(source: RowSource<'_>, title: Str<'_>, whole: &Text) -> Option<Document> {
    let (media_type, data) = data(source, whole)?;
    Some(Document { media_type, data, name: title.filled(whole) })
}
