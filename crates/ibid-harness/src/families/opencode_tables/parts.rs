//! Parts of messages and the blocks that they are.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ibid_model::{
    Block, CallId, Data, Document, Image, Json, OtherBlock, Outcome, ProviderToken, ResultPart, Text,
    TextBlock, Thinking, Timestamp, TokenUse, ToolResult, ToolUse,
};

use super::fields::Fields;
use super::records::time;
use super::tools;

/// A `file` part: a picture, or any other file.
pub(crate) fn file(fields: &Fields<'_>) -> Option<Block> {
    let url = fields.text("url")?;
    let media_type = fields.text("mime");
    let name = fields.text("filename");
    let picture = media_type.as_deref().is_some_and(|mime| mime.starts_with("image/"));
    let data = data(&url, picture);
    Some(if picture {
        Block::Image(Image { media_type, data, name })
    } else {
        Block::Document(Document { media_type, data, name })
    })
}

/// Where the bytes are that an address leads to.
fn data(url: &Text, picture: bool) -> Data {
    if let Some(rest) = url.strip_prefix("data:") {
        let Some((kind, content)) = rest.split_once(',') else { return Data::Url(url.clone()) };
        if !kind.ends_with(";base64") {
            return Data::Url(url.clone());
        }
        if kind.starts_with("text/")
            && !picture
            && let Some(text) = STANDARD.decode(content).ok().and_then(|bytes| String::from_utf8(bytes).ok())
        {
            return Data::Text(Text::from(text));
        }
        return Data::Base64(Text::part_of(url, content));
    }
    match url.strip_prefix("file://") {
        Some(path) => Data::Path(Text::part_of(url, path)),
        None => Data::Url(url.clone()),
    }
}

/// The address that leads to these bytes; none when they are not in the session.
pub(crate) fn address(data: &Data, media_type: Option<&str>) -> Option<String> {
    let media_type = media_type.unwrap_or("application/octet-stream");
    match data {
        Data::Base64(content) => Some(format!("data:{media_type};base64,{content}")),
        Data::Text(text) => Some(format!("data:text/plain;base64,{}", STANDARD.encode(text.as_bytes()))),
        Data::Url(url) => Some(url.to_string()),
        Data::Path(path) => Some(format!("file://{path}")),
        _ => None,
    }
}

/// A `reasoning` part. Its tokens are in `metadata`, under the provider's name.
pub(crate) fn reasoning(fields: &Fields<'_>) -> Block {
    let mut tokens = Vec::new();
    if let Some(metadata) = fields.object("metadata") {
        for (provider, _) in metadata.iter() {
            let Some(own) = metadata.object(provider) else { continue };
            for (key, usage) in [
                ("signature", TokenUse::Signature),
                ("reasoningEncryptedContent", TokenUse::Encrypted),
                ("redactedData", TokenUse::Redacted),
            ] {
                if let Some(value) = own.text(key).filter(|value| !value.is_blank()) {
                    tokens.push(ProviderToken { usage, provider: Some(Text::from(provider)), value });
                }
            }
        }
    }
    Block::Thinking(Thinking { text: fields.text("text").unwrap_or_default(), tokens })
}

/// What a `tool` part says: the call, its result unless it has none, and when it ended.
pub(crate) struct ToolPart {
    pub(crate) call: ToolUse,
    pub(crate) result: Option<ToolResult>,
    pub(crate) ended: Option<Timestamp>,
}

/// A `tool` part.
pub(crate) fn tool(fields: &Fields<'_>, part_id: &Text) -> Option<ToolPart> {
    let name = fields.text("tool")?;
    let id: CallId = fields.text("callID").unwrap_or_else(|| part_id.clone()).into();
    let state = fields.object("state")?;
    let input = state.json("input").unwrap_or_else(empty_object);
    let (tool, extra) = tools::decode(&name, &input);
    let ended = state.object("time").and_then(|times| time(times.integer("end")));
    let result = match state.text("status").as_deref() {
        Some("completed") => Some(completed(&id, &state)),
        Some("error") => Some(failed(&id, &state)),
        _ => None,
    };
    Some(ToolPart { call: ToolUse { id, name, tool, extra }, result, ended })
}

fn empty_object() -> Json {
    crate::core::Arguments::default().to_json()
}

fn completed(id: &CallId, state: &Fields<'_>) -> ToolResult {
    let output = match (state.text("output"), state.json("output")) {
        (Some(text), _) => ResultPart::Text(TextBlock { text }),
        // The program always writes a string, and shows the model nothing else.
        (None, Some(json)) => ResultPart::Other(OtherBlock { kind: "output".into(), json }),
        (None, None) => ResultPart::Text(TextBlock { text: Text::default() }),
    };
    let mut content = vec![output];
    content.extend(attachments(state));
    ToolResult { call: id.clone(), content, outcome: outcome(state), structured: state.json("metadata") }
}

/// How a completed call ended: a command says it with its exit status, and has none when it was
/// stopped.
fn outcome(state: &Fields<'_>) -> Outcome {
    let Some(metadata) = state.object("metadata") else { return Outcome::Ok };
    match metadata.raw("exit") {
        None | Some("0") => Outcome::Ok,
        Some("null") => Outcome::Interrupted,
        Some(_) => Outcome::Error,
    }
}

/// The error of a call that the person stopped, in 1.0.152.
pub(super) const ABORTED: &str = "Tool execution aborted";

fn failed(id: &CallId, state: &Fields<'_>) -> ToolResult {
    let metadata = state.object("metadata");
    let interrupted = metadata.as_ref().is_some_and(|metadata| metadata.flag("interrupted"));
    let partial = metadata.and_then(|metadata| metadata.text("output")).filter(|_| interrupted);
    let text = partial.or_else(|| state.text("error")).unwrap_or_default();
    let outcome = match text.as_str() {
        _ if interrupted => Outcome::Interrupted,
        ABORTED => Outcome::Interrupted,
        _ => Outcome::Error,
    };
    let mut content = vec![ResultPart::Text(TextBlock { text })];
    content.extend(attachments(state));
    ToolResult { call: id.clone(), content, outcome, structured: state.json("metadata") }
}

fn attachments(state: &Fields<'_>) -> impl Iterator<Item = ResultPart> {
    state.objects("attachments").into_iter().filter_map(|attachment| match file(&attachment)? {
        Block::Image(image) => Some(ResultPart::Image(image)),
        Block::Document(document) => Some(ResultPart::Document(document)),
        _ => None,
    })
}
