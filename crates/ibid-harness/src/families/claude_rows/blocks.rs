//! From the model's blocks to written ones.

use ibid_model::{
    Block, Data, Document, Image, LossKind, Losses, MessageId, Outcome, ResultPart, Thinking, TokenUse,
    ToolResult,
};

use super::content::PROVIDER;
use super::tools;
use super::written::{self, Content, Source, TypedBlock};
use crate::families::pictures::{is_taken, media_type_of};

/// Parts of tool results, beside the typed ones, that the provider takes.
const RESULT_KINDS: &[&str] = &["search_result", "tool_reference", "browser_state"];

/// Writes the blocks of one message.
pub(super) struct BlockWriter<'s> {
    pub(super) message: &'s MessageId,
    pub(super) losses: &'s mut Losses,
}

impl BlockWriter<'_> {
    /// A block of the person's side; none for what cannot stand there, which is then a loss.
    pub(super) fn user<'a>(&mut self, block: &'a Block) -> Option<written::Block<'a>> {
        match block {
            Block::Text(text) => Some(typed(TypedBlock::Text { text: &text.text })),
            Block::Image(image) => self.image(image).map(written::Block::Typed),
            Block::Document(document) => self.document(document).map(written::Block::Typed),
            Block::ToolResult(result) => Some(self.result(result)),
            _ => None,
        }
    }

    /// A block of the model's side.
    pub(super) fn assistant<'a>(&mut self, block: &'a Block) -> Option<written::Block<'a>> {
        match block {
            Block::Text(text) => Some(typed(TypedBlock::Text { text: &text.text })),
            Block::Thinking(thinking) => self.thinking(thinking),
            Block::ToolUse(call) => {
                let tools::Encoded { name, input } = tools::encode(call, self.message, self.losses);
                Some(typed(TypedBlock::ToolUse { id: call.id.as_str(), name, input }))
            }
            Block::Image(_) => self.lose(LossKind::Image),
            Block::Document(_) => self.lose(LossKind::Document),
            _ => None,
        }
    }

    fn lose<T>(&mut self, kind: LossKind) -> Option<T> {
        self.losses.add(kind, None, Some(self.message));
        None
    }

    fn thinking<'a>(&mut self, thinking: &'a Thinking) -> Option<written::Block<'a>> {
        let own = thinking
            .tokens
            .iter()
            .find(|token| token.provider.as_deref() == Some(PROVIDER) && token.usage != TokenUse::Encrypted);
        match own.map(|token| (token.usage, token.value.as_str())) {
            Some((TokenUse::Redacted, data)) => Some(typed(TypedBlock::RedactedThinking { data })),
            Some((_, signature)) => Some(typed(TypedBlock::Thinking { thinking: &thinking.text, signature })),
            None => self.lose(LossKind::Thinking),
        }
    }

    fn result<'a>(&mut self, result: &'a ToolResult) -> written::Block<'a> {
        let content = match result.content.as_slice() {
            [] => Content::Text(""),
            [ResultPart::Text(text)] => Content::Text(&text.text),
            parts => {
                let blocks: Vec<_> = parts.iter().filter_map(|part| self.part(part)).collect();
                Content::Blocks(blocks)
            }
        };
        let is_error = match result.outcome {
            Outcome::Error | Outcome::Interrupted => Some(true),
            Outcome::Ok => Some(false),
            Outcome::Unknown => None,
        };
        // The program sends only the texts of a failed result (measured with 2.1.332).
        if is_error == Some(true) && result.content.iter().any(|part| matches!(part, ResultPart::Image(_))) {
            let what = "kept with a failed call, and not sent";
            self.losses.add(LossKind::Image, Some(what), Some(self.message));
        }
        typed(TypedBlock::ToolResult { tool_use_id: result.call.as_str(), content, is_error })
    }

    fn part<'a>(&mut self, part: &'a ResultPart) -> Option<written::Block<'a>> {
        match part {
            // The provider refuses a message with an empty text.
            ResultPart::Text(text) if text.text.is_blank() => self.lose(LossKind::EmptyText),
            ResultPart::Text(text) => Some(typed(TypedBlock::Text { text: &text.text })),
            ResultPart::Image(image) => self.image(image).map(written::Block::Typed),
            ResultPart::Document(document) => self.document(document).map(written::Block::Typed),
            ResultPart::Other(other) if RESULT_KINDS.contains(&other.kind.as_str()) => {
                Some(written::Block::Raw(&other.json))
            }
            ResultPart::Other(other) => {
                self.losses.add(LossKind::ResultFlattened, Some(&other.kind), Some(self.message));
                Some(typed(TypedBlock::Text { text: other.json.as_str() }))
            }
            _ => None,
        }
    }

    fn image<'a>(&mut self, image: &'a Image) -> Option<TypedBlock<'a>> {
        let source = match &image.data {
            Data::Base64(data) => image
                .media_type
                .as_deref()
                .or_else(|| media_type_of(data))
                .filter(|media_type| is_taken(media_type))
                .map(|media_type| Source::Base64 { media_type, data }),
            Data::Url(url) => Some(Source::Url { url }),
            Data::ProviderFile(file_id) => Some(Source::File { file_id }),
            _ => None,
        };
        match source {
            Some(source) => {
                if image.name.is_some() {
                    self.losses.add(LossKind::Image, Some("name"), Some(self.message));
                }
                Some(TypedBlock::Image { source })
            }
            None => self.lose(LossKind::Image),
        }
    }

    fn document<'a>(&mut self, document: &'a Document) -> Option<TypedBlock<'a>> {
        // The provider documents these two types and refuses a request with any other.
        const PDF: &str = "application/pdf";
        const PLAIN: &str = "text/plain";
        let source = match (&document.data, document.media_type.as_deref()) {
            (Data::Base64(data), None | Some(PDF)) => Source::Base64 { media_type: PDF, data },
            (Data::Base64(_), Some(_)) => return self.lose(LossKind::Document),
            (Data::Text(data), kind) => {
                if kind.is_some_and(|kind| kind != PLAIN) {
                    self.losses.add(LossKind::Document, Some("its type"), Some(self.message));
                }
                Source::Text { media_type: PLAIN, data }
            }
            (Data::Url(url), _) => Source::Url { url },
            (Data::ProviderFile(file_id), _) => Source::File { file_id },
            _ => return self.lose(LossKind::Document),
        };
        Some(TypedBlock::Document { title: document.name.as_deref(), source })
    }
}

fn typed(block: TypedBlock<'_>) -> written::Block<'_> {
    written::Block::Typed(block)
}
