//! The exchanges of a session's document, typed as far as reading needs.
//!
//! An exchange is what was sent to the model and what came back, each as a list of nodes with a
//! number for their kind. Names and numbers are those of the program's bundle and of public readers
//! (2026); a node of another kind is kept as an event.

use ibid_model::{
    CallId, Data, Image, Json, OtherBlock, Outcome, ProviderToken, ResultPart, Text, TextBlock, Thinking,
    Timestamp, TokenUse, ToolResult, Usage,
};

use crate::families::values::{Fields, Value};

/// Kinds of nodes that say nothing of the conversation: suggested questions (1), files that were
/// looked at (3, 4), the beginning of a call that another node has whole (7), what it cost in the
/// maker's own units (9).
const QUIET_RESPONSE: &[u64] = &[1, 3, 4, 7, 9];

/// One exchange.
#[derive(Clone, Debug, Default)]
pub(super) struct Exchange {
    /// Where it stands in the document.
    pub(super) place: (u64, u64),
    /// The id of the request.
    pub(super) request: Option<Text>,
    /// When the request was made, where its nodes say.
    pub(super) asked: Option<Timestamp>,
    /// When the answer began and ended.
    pub(super) began: Option<Timestamp>,
    pub(super) ended: Option<Timestamp>,
    /// Every time that it mentions, the first and the last.
    pub(super) first: Option<Timestamp>,
    pub(super) last: Option<Timestamp>,
    /// The directory of the workspace, and that of the terminal.
    pub(super) folder: Option<Text>,
    pub(super) terminal: Option<Text>,
    /// What the person said.
    pub(super) said: Vec<Text>,
    pub(super) images: Vec<Image>,
    /// The results of calls of the exchange before.
    pub(super) results: Vec<ToolResult>,
    /// What the model answered, in order.
    pub(super) answer: Vec<Piece>,
    /// The model, where the exchange names one.
    pub(super) model: Option<Text>,
    /// The tokens of the call.
    pub(super) usage: Option<Usage>,
    /// Nodes of other kinds.
    pub(super) others: Vec<OtherBlock>,
}

/// A piece of an answer.
#[derive(Clone, Debug)]
pub(super) enum Piece {
    /// Text.
    Text(Text),
    /// Thinking.
    Thinking(Thinking),
    /// A call; its id is mostly there.
    Call { id: Option<CallId>, name: Text, input: Json },
}

impl Exchange {
    /// Reads one element of `chatHistory`; none when it is no object.
    pub(super) fn read(value: Value<'_>) -> Option<Exchange> {
        let entry = value.fields()?;
        let inner = entry.fields("exchange");
        let fields = inner.as_ref().unwrap_or(&entry);
        let mut exchange = Exchange {
            place: value.place(),
            request: fields.filled("request_id"),
            model: fields.filled("model_id").or_else(|| entry.filled("modelId")),
            ended: entry.first(&["finishedAt", "finished_at"]).and_then(Value::time),
            ..Exchange::default()
        };
        exchange.mention(exchange.ended);
        for node in fields.items("request_nodes") {
            exchange.request_node(node);
        }
        for node in fields.items("response_nodes") {
            exchange.response_node(node);
        }
        if exchange.said.is_empty() {
            exchange.said.extend(fields.filled("request_message"));
        }
        let has_text = exchange.answer.iter().any(|piece| matches!(piece, Piece::Text(_)));
        if let Some(text) = fields.filled("response_text").filter(|_| !has_text) {
            exchange.answer.insert(0, Piece::Text(text));
        }
        Some(exchange)
    }

    fn mention(&mut self, at: Option<Timestamp>) {
        self.first = self.first.into_iter().chain(at).min();
        self.last = self.last.into_iter().chain(at).max();
    }

    fn request_node(&mut self, node: Value<'_>) {
        let Some(fields) = node.fields() else { return };
        let at = fields.time("timestamp_ms");
        self.mention(at);
        self.asked = self.asked.into_iter().chain(at).min();
        if let Some(state) = fields.fields("ide_state_node") {
            self.state(&state);
        } else if let Some(text) = fields.fields("text_node") {
            self.said.extend(text.filled("content"));
        } else if let Some(result) = fields.fields("tool_result_node") {
            self.results.extend(tool_result(&result));
        } else if let Some(image) = fields.fields("image_node").and_then(|image| read_image(&image)) {
            self.images.push(image);
        } else {
            self.other("request", &fields, node);
        }
    }

    fn response_node(&mut self, node: Value<'_>) {
        let Some(fields) = node.fields() else { return };
        let call = fields.fields("tool_use");
        let started = call.as_ref().and_then(|call| call.time("started_at_ms"));
        let at = fields.time("timestamp_ms").or(started);
        self.mention(at);
        self.mention(started);
        self.began = self.began.into_iter().chain(at).min();
        let kind = fields.count("type");
        match (kind, call) {
            (Some(kind), _) if QUIET_RESPONSE.contains(&kind) => {}
            (_, Some(call)) => match read_call(&call) {
                Some(call) => self.answer.push(call),
                None => self.other("response", &fields, node),
            },
            (Some(0), None) => self.answer.extend(fields.filled("content").map(Piece::Text)),
            // The whole text again, behind the pieces of it.
            (Some(2), None) => {
                if !self.answer.iter().any(|piece| matches!(piece, Piece::Text(_))) {
                    self.answer.extend(fields.filled("content").map(Piece::Text));
                }
            }
            _ => match (fields.fields("token_usage"), fields.get("thinking")) {
                (Some(usage), _) => self.usage = Some(read_usage(&usage)),
                (None, Some(thinking)) => self.answer.extend(read_thinking(thinking)),
                (None, None) => self.other("response", &fields, node),
            },
        }
    }

    fn other(&mut self, side: &str, fields: &Fields<'_>, node: Value<'_>) {
        let kind = fields.count("type").map_or_else(String::new, |kind| format!("-{kind}"));
        self.others.push(OtherBlock { kind: format!("{side}-node{kind}").into(), json: node.json() });
    }

    fn state(&mut self, state: &Fields<'_>) {
        for folder in state.items("workspace_folders") {
            let Some(folder) = folder.fields() else { continue };
            let path = folder.filled("folder_root").or_else(|| folder.filled("repository_root"));
            self.folder = self.folder.take().or(path);
        }
        let terminal = state.fields("current_terminal");
        let path = terminal.and_then(|terminal| terminal.filled("current_working_directory"));
        self.terminal = self.terminal.take().or(path);
    }
}

fn read_call(call: &Fields<'_>) -> Option<Piece> {
    let id = call.filled("tool_use_id").map(CallId::from);
    let name = call.text("tool_name")?;
    let input = call.get("input_json");
    // An object, or a string that holds one.
    let inside = input.and_then(Value::text).and_then(|text| Json::from_text(text).ok());
    let input = inside.or_else(|| input.map(Value::json)).unwrap_or_else(Json::null);
    Some(Piece::Call { id, name, input })
}

fn tool_result(result: &Fields<'_>) -> Option<ToolResult> {
    let call = result.filled("tool_use_id").map(CallId::from)?;
    let mut content: Vec<ResultPart> =
        result.items("content_nodes").into_iter().filter_map(result_part).collect();
    if let Some(value) = result.get("content").filter(|_| content.is_empty()) {
        content.push(match value.text() {
            Some(text) => ResultPart::Text(TextBlock { text }),
            None => ResultPart::Other(OtherBlock { kind: "content".into(), json: value.json() }),
        });
    }
    let outcome = match result.get("is_error").and_then(Value::flag) {
        Some(true) => Outcome::Error,
        Some(false) => Outcome::Ok,
        None => Outcome::Unknown,
    };
    Some(ToolResult { call, content, outcome, structured: None })
}

fn result_part(node: Value<'_>) -> Option<ResultPart> {
    let fields = node.fields()?;
    if let Some(text) = fields.text("text_content") {
        return Some(ResultPart::Text(TextBlock { text }));
    }
    match fields.fields("image_content").and_then(|image| read_image(&image)) {
        Some(image) => Some(ResultPart::Image(image)),
        None => Some(ResultPart::Other(OtherBlock { kind: "content_node".into(), json: node.json() })),
    }
}

/// `format`: 1 PNG, 2 JPEG, 3 GIF, 4 WebP.
fn read_image(image: &Fields<'_>) -> Option<Image> {
    let media_type = match image.count("format") {
        Some(1) => Some("image/png"),
        Some(2) => Some("image/jpeg"),
        Some(3) => Some("image/gif"),
        Some(4) => Some("image/webp"),
        _ => None,
    };
    Some(Image {
        media_type: media_type.map(Text::from),
        data: Data::Base64(image.filled("image_data")?),
        name: None,
    })
}

fn read_thinking(value: Value<'_>) -> Option<Piece> {
    if let Some(text) = value.text() {
        return Some(Piece::Thinking(Thinking { text, tokens: Vec::new() }));
    }
    let fields = value.fields()?;
    let text = fields.first(&["summary", "content", "text"]).and_then(Value::text).unwrap_or_default();
    let token = fields.filled("encrypted_content");
    let token = token.map(|value| ProviderToken { usage: TokenUse::Encrypted, provider: None, value });
    Some(Piece::Thinking(Thinking { text, tokens: token.into_iter().collect() }))
}

fn read_usage(usage: &Fields<'_>) -> Usage {
    Usage {
        input: usage.count("input_tokens"),
        output: usage.count("output_tokens"),
        cache_read: usage.count("cache_read_input_tokens"),
        cache_write: usage.count("cache_creation_input_tokens"),
        ..Usage::default()
    }
}
