//! Simple -> common.

use std::collections::VecDeque;

use ibid_model::{
    Block, CallId, Command, Data, Document, Extent, Finding, FindingKind, Image, Json, Message, MessageId,
    ModelCall, Origin, OtherBlock, Outcome, ProviderToken, ResultPart, Role, Session, Source, StopReason,
    Text, TextBlock, Thinking, Timestamp, TitleOrigin, TokenUse, ToolResult, ToolUse, Usage,
};
use serde::Deserialize;
use uuid::Uuid;

use super::{DECLARATION, tools};
use crate::core::{Arguments, CodecError, Common};
use crate::families::documents::DocumentBody;

/// The namespace that txcript derives missing tool ids in (`formats/simple.md`).
const TOOL_NAMESPACE: Uuid = Uuid::from_bytes(*b"txcript-simple!!");

/// Enough of a document to tell that it is one.
#[derive(Deserialize)]
pub(super) struct Probe {
    #[expect(dead_code, reason = "that the key is there, with an array, is all that matters")]
    messages: Vec<serde::de::IgnoredAny>,
}

/// A document, each message as it was written.
#[derive(Deserialize)]
struct Parsed {
    #[serde(default)]
    id: Option<Json>,
    #[serde(default)]
    timestamp: Option<Json>,
    #[serde(default)]
    cwd: Option<Json>,
    #[serde(default)]
    git_branch: Option<Json>,
    #[serde(default)]
    title: Option<Json>,
    #[serde(default)]
    cli_version: Option<Json>,
    #[serde(default)]
    model: Option<Json>,
    messages: Vec<Json>,
}

#[derive(Deserialize)]
struct SimpleMessage {
    role: Text,
    content: Json,
    #[serde(default)]
    timestamp: Option<Text>,
    #[serde(default)]
    model: Option<Text>,
    #[serde(default)]
    stop_reason: Option<Json>,
    #[serde(default)]
    usage: Option<SimpleUsage>,
}

#[derive(Deserialize)]
struct SimpleUsage {
    #[serde(default)]
    input_tokens: Option<u64>,
    #[serde(default)]
    output_tokens: Option<u64>,
    #[serde(default)]
    cache_read_input_tokens: Option<u64>,
    #[serde(default)]
    cache_creation_input_tokens: Option<u64>,
}

fn string(value: Option<&Json>) -> Option<Text> {
    value.and_then(Json::as_string).map(Text::from)
}

pub(super) fn to_common(body: &DocumentBody) -> Result<Common, CodecError> {
    let foreign = |reason: String| CodecError::Foreign { harness: DECLARATION.name, reason };
    let text = body.text().map_err(foreign)?;
    let (clean, replaced) = ibid_model::replace_lone_surrogates(&text);
    let document: Parsed = serde_json::from_str(&clean)
        .map_err(|error| foreign(format!("it is no JSON object with an array `messages`: {error}")))?;
    let id = string(document.id.as_ref()).unwrap_or_default();
    let mut session = Session::new(DECLARATION.id.as_str(), id);
    session.carriers = vec![body.info()];
    let mut findings = Vec::new();
    if replaced > 0 {
        let finding = Finding::new(FindingKind::LoneSurrogate, "they read as U+FFFD").times(replaced as u64);
        findings.push(finding);
    }
    let meta = &mut session.meta;
    meta.cwd = string(document.cwd.as_ref());
    meta.git_branch = string(document.git_branch.as_ref());
    meta.version = string(document.cli_version.as_ref());
    meta.model = string(document.model.as_ref());
    if let Some(title) = string(document.title.as_ref()) {
        meta.offer_title(&title, TitleOrigin::Person);
    }
    let started = string(document.timestamp.as_ref()).and_then(|text| time(&text, &mut findings));
    if let Some(at) = started {
        meta.stamp(at);
    }
    let mut reader = Reader { session, findings, last: started, open: VecDeque::new() };
    for (number, message) in document.messages.iter().enumerate() {
        // White space between tokens is the document's, not the values'.
        reader.message(number, &message.compact());
    }
    Ok(Common { session: reader.session, findings: reader.findings })
}

fn time(text: &str, findings: &mut Vec<Finding>) -> Option<Timestamp> {
    let at = Timestamp::parse(text);
    if at.is_none() {
        findings.push(Finding::new(FindingKind::UnreadableTime, "a timestamp is not RFC 3339 with a zone"));
    }
    at
}

struct Reader {
    session: Session,
    findings: Vec<Finding>,
    last: Option<Timestamp>,
    /// Calls without an answer so far, for results that name none.
    open: VecDeque<CallId>,
}

impl Reader {
    fn message(&mut self, number: usize, json: &Json) {
        let Ok(written) = json.read::<SimpleMessage>() else {
            self.skip(number, "it has no role and content");
            return;
        };
        let role = match written.role.to_ascii_lowercase().as_str() {
            "user" => Role::User,
            "assistant" => Role::Assistant,
            _ => {
                self.skip(number, "its role is neither user nor assistant");
                return;
            }
        };
        let blocks = self.blocks(number, role, &written.content);
        if let Some(at) = written.timestamp.and_then(|text| time(&text, &mut self.findings)) {
            self.last = Some(at);
            self.session.meta.stamp(at);
        }
        let only_results =
            !blocks.is_empty() && blocks.iter().all(|block| matches!(block, Block::ToolResult(_)));
        let origin = match role {
            Role::Assistant => Origin::Model,
            _ if only_results => Origin::Tools,
            _ => Origin::Person,
        };
        let mut message = Message::new(format!("m{number}"), role, origin);
        message.parent = self.session.messages.last().map(|message| message.id.clone());
        message.at = self.last;
        message.blocks = blocks;
        message.sources = vec![Source { carrier: 0, extent: place(number) }];
        if let Some(model) = &written.model {
            self.session.meta.model = Some(model.clone());
        }
        if message.is_prompt() {
            let preview = message.texts().next().cloned().unwrap_or_default();
            self.session.meta.offer_preview(&preview);
        }
        message.stop = written.stop_reason.as_ref().and_then(stop_reason);
        if let Some(usage) = written.usage {
            self.call(&message.id, written.model.clone(), usage, message.at, number);
        }
        message.model = written.model;
        self.session.head = Some(message.id.clone());
        self.session.messages.push(message);
    }

    fn skip(&mut self, number: usize, why: &str) {
        let mut finding =
            Finding::new(FindingKind::MalformedRecord, format!("message {} is left out: {why}", number + 1));
        finding.extent = Some(place(number));
        self.findings.push(finding);
    }

    fn call(
        &mut self,
        message: &MessageId,
        model: Option<Text>,
        usage: SimpleUsage,
        at: Option<Timestamp>,
        number: usize,
    ) {
        let usage = Usage {
            input: usage.input_tokens,
            output: usage.output_tokens,
            cache_read: usage.cache_read_input_tokens,
            cache_write: usage.cache_creation_input_tokens,
            ..Usage::default()
        };
        self.session.calls.push(ModelCall {
            api_id: None,
            request_id: None,
            message: Some(message.clone()),
            model,
            at,
            usage,
            inherited: false,
            sources: vec![Source { carrier: 0, extent: place(number) }],
        });
    }

    fn blocks(&mut self, number: usize, role: Role, content: &Json) -> Vec<Block> {
        if let Some(text) = content.as_string() {
            return if text.is_empty() { Vec::new() } else { vec![Block::text(text)] };
        }
        let Ok(written) = content.read::<Vec<Json>>() else {
            self.skip(number, "its content is neither text nor a list of blocks");
            return Vec::new();
        };
        written.iter().enumerate().map(|(place, block)| self.block(number, place, role, block)).collect()
    }

    fn block(&mut self, number: usize, place: usize, role: Role, json: &Json) -> Block {
        let kind = Arguments::of(json).and_then(|mut block| block.take_text("type")).unwrap_or_default();
        let read = Arguments::of(json).and_then(|block| match kind.as_str() {
            "text" => text(block),
            "thinking" => thinking(block),
            "tool_use" => self.tool_use(number, place, role, block),
            "tool_result" => Some(self.tool_result(block)),
            "image" => image(block),
            "artifact" => artifact(block),
            _ => None,
        });
        read.unwrap_or_else(|| {
            let finding = Finding::new(
                FindingKind::UnknownRecord,
                format!("message {} has a block of another shape", number + 1),
            );
            self.findings.push(finding);
            Block::Other(OtherBlock { kind, json: json.clone() })
        })
    }

    fn tool_use(&mut self, number: usize, place: usize, role: Role, mut block: Arguments) -> Option<Block> {
        let name = block.take_text("name")?;
        let input = block.take_json("input").unwrap_or_else(Json::null);
        if role == Role::User && name.starts_with('/') {
            let args = Arguments::of(&input).and_then(|mut input| input.take_text("args"));
            return Some(Block::Command(Command { name, args }));
        }
        let id = match block.take_text("id") {
            Some(id) => CallId::from(id),
            None => {
                let derived = format!("{}:{number}:{place}", self.session.id);
                CallId::from(Uuid::new_v5(&TOOL_NAMESPACE, derived.as_bytes()).to_string())
            }
        };
        self.open.push_back(id.clone());
        let (tool, extra) = tools::decode(&name, &input);
        Some(Block::ToolUse(ToolUse { id, name, tool, extra }))
    }

    fn tool_result(&mut self, mut block: Arguments) -> Block {
        let call = match block.take_text("tool_use_id") {
            Some(id) => {
                let id = CallId::from(id);
                self.open.retain(|open| *open != id);
                id
            }
            None => self.open.pop_front().unwrap_or_default(),
        };
        let outcome = match block.take::<bool>("is_error") {
            Some(true) => Outcome::Error,
            Some(false) | None => Outcome::Ok,
        };
        let content = block.take_json("content").map(|content| parts(&content)).unwrap_or_default();
        Block::ToolResult(ToolResult { call, content, outcome, structured: None })
    }
}

fn place(number: usize) -> Extent {
    Extent::row("messages", number.to_string())
}

fn stop_reason(json: &Json) -> Option<StopReason> {
    if let Some(word) = json.as_string() {
        return Some(match word.as_str() {
            "end_turn" => StopReason::EndTurn,
            "tool_use" => StopReason::ToolUse,
            "max_tokens" => StopReason::MaxTokens,
            "stop_sequence" => StopReason::StopSequence,
            "aborted" => StopReason::Aborted,
            "error" => StopReason::Error,
            _ => StopReason::Other(word.into()),
        });
    }
    Arguments::of(json)?.take_text("other").map(StopReason::Other)
}

fn text(mut block: Arguments) -> Option<Block> {
    Some(Block::text(block.take_text("text")?))
}

fn thinking(mut block: Arguments) -> Option<Block> {
    let text = block.take_text("text")?;
    let mut tokens = Vec::new();
    if let Some(value) = block.take_text("signature") {
        tokens.push(ProviderToken { usage: TokenUse::Signature, provider: None, value });
    }
    if let Some(value) = block.take_text("encrypted") {
        tokens.push(ProviderToken { usage: TokenUse::Encrypted, provider: None, value });
    }
    Some(Block::Thinking(Thinking { text, tokens }))
}

fn image(mut block: Arguments) -> Option<Block> {
    let mut source = Arguments::of(&block.take_json("source")?)?;
    let data = source.take_text("data")?;
    Some(Block::Image(Image {
        media_type: source.take_text("media_type"),
        data: Data::Base64(data),
        name: None,
    }))
}

fn artifact(mut block: Arguments) -> Option<Block> {
    let mut artifact = Arguments::of(&block.take_json("artifact")?)?;
    let mut source = Arguments::of(&artifact.take_json("source")?)?;
    let data = match source.take_text("type")?.as_str() {
        "text" => Data::Text(source.take_text("text")?),
        "base64" => Data::Base64(source.take_text("data")?),
        "path" => Data::Path(source.take_text("path")?),
        _ => return None,
    };
    Some(Block::Document(Document {
        media_type: source.take_text("media_type"),
        data,
        name: artifact.take_text("name"),
    }))
}

/// The type of a typed block.
pub(super) fn kind(json: &Json) -> Option<Text> {
    Arguments::of(json).and_then(|mut block| block.take_text("type"))
}

/// What a result holds: text as it is, a list of typed parts, or any other JSON.
pub(super) fn parts(content: &Json) -> Vec<ResultPart> {
    if let Some(text) = content.as_string() {
        return vec![ResultPart::Text(TextBlock { text: text.into() })];
    }
    if content.as_str() == "null" {
        return Vec::new();
    }
    let typed = |json: &Json| -> Option<ResultPart> {
        let mut block = Arguments::of(json)?;
        match block.take_text("type")?.as_str() {
            "text" => Some(ResultPart::Text(TextBlock { text: block.take_text("text")? })),
            "image" => match image(block)? {
                Block::Image(image) => Some(ResultPart::Image(image)),
                _ => None,
            },
            _ => None,
        }
    };
    let other = |json: &Json, kind: Text| ResultPart::Other(OtherBlock { kind, json: json.clone() });
    // A list of typed blocks is what a result is made of; any other JSON is one value.
    match content.read::<Vec<Json>>() {
        Ok(list) if !list.is_empty() && list.iter().all(|json| kind(json).is_some()) => list
            .iter()
            .map(|json| typed(json).unwrap_or_else(|| other(json, kind(json).unwrap_or_default())))
            .collect(),
        _ => vec![other(content, "json".into())],
    }
}
