//! Common -> Simple. Keys stand in alphabetical order, as txcript writes them.

use std::collections::HashMap;

use ibid_model::{
    Block, CommandRule, Data, Document, Image, Json, LossKind, Losses, Message, Outcome, ResultPart, Role,
    Rules, Session, StopReason, Thinking, ThinkingRule, TokenUse, ToolResult, ToolUse, Usage, prepare,
};

use super::{Simple, read, tools};
use crate::core::{Arguments, CodecError, Converted, Target, Transcript, conversion_name, derived_uuid};
use crate::families::documents::DocumentBody;

/// Simple is for exchange: it takes thinking with its tokens, and commands.
const RULES: Rules =
    Rules { thinking: ThinkingRule::Keep, commands: CommandRule::Keep, call_id_bytes: 256, ..Rules::STRICT };

pub(super) fn from_common(
    session: &Session,
    target: &Target,
) -> Result<Converted<Transcript<Simple>>, CodecError> {
    let prepared = prepare(session, &target.selection, &RULES);
    let mut losses = prepared.losses;
    let id = match &target.id {
        Some(id) => id.clone(),
        None if !session.id.is_empty() => session.id.clone(),
        None => derived_uuid("simple", &conversion_name(session, target)).to_string().into(),
    };
    losses.add_many(LossKind::CompactionMarker, prepared.compactions.len() as u64, None, None);
    losses.add_many(LossKind::Lineage, session.lineage.len() as u64, None, None);
    losses.add_many(LossKind::HarnessEvents, session.events.len() as u64, None, None);
    let mut usage: HashMap<&str, Usage> = HashMap::new();
    for call in &session.calls {
        match &call.message {
            Some(message) => {
                let sum = usage.entry(message.as_str()).or_default();
                *sum = sum.plus(&call.usage);
            }
            None => losses.add(LossKind::Usage, None, None),
        }
    }
    let mut writer = Writer { losses };
    let messages: Vec<Json> = prepared
        .messages
        .iter()
        .map(|message| writer.message(message, usage.remove(message.id.as_str())))
        .collect();
    let mut losses = writer.losses;
    losses.add_many(LossKind::Usage, usage.len() as u64, None, None);
    let directories =
        prepared.messages.iter().filter(|m| m.cwd.is_some() && m.cwd != session.meta.cwd).count();
    losses.add_many(LossKind::MessageDirectory, directories as u64, None, None);
    let meta = &session.meta;
    let mut document = Arguments::default();
    document.push_some("cli_version", meta.version.as_ref());
    document.push_some("cwd", target.cwd.as_ref().or(meta.cwd.as_ref()));
    document.push_some("git_branch", meta.git_branch.as_ref());
    document.push("id", &id);
    document.push("messages", &messages);
    document.push_some("model", meta.model.as_ref());
    document.push_some("timestamp", meta.started.as_ref());
    document.push_some("title", meta.title.as_ref().map(|title| &title.text));
    let mut text = document.to_json().pretty();
    text.push('\n');
    Ok(Converted { value: Transcript { id, body: DocumentBody::new(text.into_bytes()) }, losses })
}

struct Writer {
    losses: Losses,
}

impl Writer {
    fn message(&mut self, message: &Message, usage: Option<Usage>) -> Json {
        let mut object = Arguments::default();
        match message.blocks.as_slice() {
            [Block::Text(text)] => object.push("content", &text.text),
            blocks => {
                let written: Vec<Json> =
                    blocks.iter().filter_map(|block| self.block(block, message)).collect();
                object.push("content", &written);
            }
        }
        object.push_some("model", message.model.as_ref());
        object.push("role", if message.role == Role::Assistant { "assistant" } else { "user" });
        if message.role == Role::System {
            self.losses.add(LossKind::RoleChanged, None, Some(&message.id));
        }
        if let Some(stop) = &message.stop {
            object.push("stop_reason", &stop_reason(stop));
        }
        object.push_some("timestamp", message.at.as_ref());
        if let Some(usage) = usage {
            object.push("usage", &self::usage(&usage));
            if usage.reasoning.is_some() || usage.cost_usd.is_some() || usage.cache_write_1h.is_some() {
                self.losses.add(
                    LossKind::Usage,
                    Some("reasoning, cost and cache lifetimes"),
                    Some(&message.id),
                );
            }
        }
        object.to_json()
    }

    fn block(&mut self, block: &Block, message: &Message) -> Option<Json> {
        match block {
            Block::Text(text) => Some(typed("text", &[("text", &text.text)])),
            Block::Thinking(thinking) => Some(self::thinking(thinking)),
            Block::Command(command) => {
                let mut input = Arguments::default();
                input.push_some("args", command.args.as_ref());
                let mut object = Arguments::default();
                object.push("input", &input.to_json());
                object.push("name", &command.name);
                object.push("type", "tool_use");
                Some(object.to_json())
            }
            Block::ToolUse(call) => Some(self.tool_use(call, message)),
            Block::ToolResult(result) => Some(self.tool_result(result, message)),
            Block::Image(image) => self.image(image, message),
            Block::Document(document) => self.document(document, message),
            _ => {
                self.losses.add(LossKind::UnknownBlock, None, Some(&message.id));
                None
            }
        }
    }

    fn tool_use(&mut self, call: &ToolUse, message: &Message) -> Json {
        let (name, input, mapped) = tools::encode(call);
        if !mapped {
            self.losses.add(LossKind::ToolKeptRaw, Some(&call.name), Some(&message.id));
        }
        let mut object = Arguments::default();
        object.push("id", &call.id);
        object.push("input", &input);
        object.push("name", &name);
        object.push("type", "tool_use");
        object.to_json()
    }

    fn tool_result(&mut self, result: &ToolResult, message: &Message) -> Json {
        let mut object = Arguments::default();
        let mut kept: Vec<&ResultPart> = result.content.iter().collect();
        let content = match result.content.as_slice() {
            [] => Json::string(""),
            [ResultPart::Text(text)] => Json::string(&text.text),
            // A value that is no typed block stands by itself, a block in a list.
            [ResultPart::Other(other)] if other.kind == "json" => other.json.clone(),
            parts => {
                let written: Vec<Json>;
                (kept, written) =
                    parts.iter().filter_map(|part| Some((part, self.part(part, message)?))).unzip();
                Json::of(&written).unwrap_or_else(|_| Json::null())
            }
        };
        if !matches!(result.content.as_slice(), [] | [ResultPart::Text(_)]) {
            self.flattened(&kept, &content, message);
        }
        object.push("content", &content);
        if result.structured.is_some() {
            self.losses.add(LossKind::StructuredResult, None, Some(&message.id));
        }
        match result.outcome {
            Outcome::Error => object.push("is_error", &true),
            Outcome::Interrupted => {
                object.push("is_error", &true);
                self.losses.add(LossKind::ResultStatus, Some("interrupted"), Some(&message.id));
            }
            Outcome::Unknown => self.losses.add(LossKind::ResultStatus, Some("unknown"), Some(&message.id)),
            Outcome::Ok => {}
        }
        object.push("tool_use_id", &result.call);
        object.push("type", "tool_result");
        object.to_json()
    }

    /// A value of any shape may read as text or as typed parts.
    fn flattened(&mut self, parts: &[&ResultPart], content: &Json, message: &Message) {
        let read = read::parts(content);
        let same = |(part, read): (&&ResultPart, &ResultPart)| match (*part, read) {
            (ResultPart::Other(part), ResultPart::Other(read)) => part.json == read.json,
            (ResultPart::Image(part), ResultPart::Image(read)) => part.data == read.data,
            (part, read) => part == read,
        };
        if read.len() != parts.len() || !parts.iter().zip(&read).all(same) {
            self.losses.add(LossKind::ResultFlattened, None, Some(&message.id));
        }
    }

    fn part(&mut self, part: &ResultPart, message: &Message) -> Option<Json> {
        match part {
            ResultPart::Text(text) => Some(typed("text", &[("text", &text.text)])),
            ResultPart::Image(image) => self.image(image, message),
            // In a list a value without a type would make the list itself a value.
            ResultPart::Other(other) => match read::kind(&other.json) {
                Some(_) => Some(other.json.clone()),
                None => Some(typed("text", &[("text", other.json.as_str())])),
            },
            ResultPart::Document(document) => {
                self.losses.add(LossKind::Document, document.name.as_deref(), Some(&message.id));
                None
            }
            _ => {
                self.losses.add(LossKind::UnknownBlock, None, Some(&message.id));
                None
            }
        }
    }

    fn image(&mut self, image: &Image, message: &Message) -> Option<Json> {
        let Data::Base64(data) = &image.data else {
            self.losses.add(LossKind::Image, Some("its bytes are not in the session"), Some(&message.id));
            return None;
        };
        let mut source = Arguments::default();
        source.push("data", data);
        source.push_some("media_type", image.media_type.as_ref());
        source.push("type", "base64");
        let mut object = Arguments::default();
        object.push("source", &source.to_json());
        object.push("type", "image");
        Some(object.to_json())
    }

    fn document(&mut self, document: &Document, message: &Message) -> Option<Json> {
        let mut source = Arguments::default();
        match &document.data {
            Data::Base64(data) => {
                source.push("data", data);
                source.push_some("media_type", document.media_type.as_ref());
                source.push("type", "base64");
            }
            Data::Text(text) => {
                source.push("text", text);
                source.push("type", "text");
            }
            Data::Path(path) => {
                source.push("path", path);
                source.push("type", "path");
            }
            _ => {
                self.losses.add(LossKind::Document, document.name.as_deref(), Some(&message.id));
                return None;
            }
        }
        let name = document.name.as_deref().unwrap_or("document");
        let mut artifact = Arguments::default();
        artifact.push("id", name);
        artifact.push("name", name);
        artifact.push("source", &source.to_json());
        let mut object = Arguments::default();
        object.push("artifact", &artifact.to_json());
        object.push("type", "artifact");
        Some(object.to_json())
    }
}

/// A block of string fields, which all sort before `type`.
fn typed(kind: &str, fields: &[(&str, &str)]) -> Json {
    let mut object = Arguments::default();
    for (name, value) in fields {
        object.push(name, value);
    }
    object.push("type", kind);
    object.to_json()
}

fn thinking(thinking: &Thinking) -> Json {
    let of = |signed: bool| {
        let mut tokens = thinking.tokens.iter();
        tokens.find(|token| (token.usage == TokenUse::Signature) == signed).map(|token| &token.value)
    };
    let mut object = Arguments::default();
    object.push_some("encrypted", of(false));
    object.push_some("signature", of(true));
    object.push("text", &thinking.text);
    object.push("type", "thinking");
    object.to_json()
}

fn usage(usage: &Usage) -> Json {
    let mut object = Arguments::default();
    object.push_some("cache_creation_input_tokens", usage.cache_write.as_ref());
    object.push_some("cache_read_input_tokens", usage.cache_read.as_ref());
    object.push_some("input_tokens", usage.input.as_ref());
    object.push_some("output_tokens", usage.output.as_ref());
    object.to_json()
}

fn stop_reason(stop: &StopReason) -> Json {
    let word = match stop {
        StopReason::EndTurn => "end_turn",
        StopReason::ToolUse => "tool_use",
        StopReason::MaxTokens => "max_tokens",
        StopReason::StopSequence => "stop_sequence",
        StopReason::Aborted => "aborted",
        StopReason::Error => "error",
        StopReason::Other(word) => {
            let mut other = Arguments::default();
            other.push("other", word);
            return other.to_json();
        }
        _ => {
            let mut other = Arguments::default();
            other.push("other", "refusal");
            return other.to_json();
        }
    };
    Json::string(word)
}
