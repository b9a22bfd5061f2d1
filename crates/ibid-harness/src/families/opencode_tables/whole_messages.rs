//! Messages of the second API, which are one record each.

use ibid_model::{
    Block, CallId, Data, Document, EventKind, Image, Message, ModelCall, Origin, Outcome, ResultPart, Role,
    Text, TextBlock, Thinking, Timestamp, ToolResult, ToolUse,
};

use super::assembly::{Assembly, stamp};
use super::fields::Fields;
use super::records::{WholeRecord, time};
use super::{tools, usage};

/// Takes one record.
pub(super) fn take(assembly: &mut Assembly, record: &WholeRecord) {
    let Some(fields) = Fields::of(&record.data) else {
        assembly.malformed("the message is no JSON object", &record.source);
        return;
    };
    let own = || fields.object("time").and_then(|times| times.integer("created"));
    let at = time(record.created).or_else(|| time(own()));
    stamp(&mut assembly.session.meta, at);
    match record.kind.as_str() {
        "user" => user(assembly, record, &fields, at),
        "assistant" => assistant(assembly, record, &fields, at),
        "synthetic" | "system" => {
            let role = if record.kind == "system" { Role::System } else { Role::User };
            let mut message = Message::new(record.id.clone(), role, Origin::Harness);
            message.at = at;
            message.sources = vec![record.source.clone()];
            message.blocks = fields.text("text").map(Block::text).into_iter().collect();
            assembly.push(message);
        }
        "model-switched" => assembly.event(EventKind::Model, at, None, &record.source),
        "agent-switched" => assembly.event(EventKind::Mode, at, fields.text("agent"), &record.source),
        _ => assembly.event(EventKind::Other(record.kind.clone()), at, fields.text("text"), &record.source),
    }
}

fn user(assembly: &mut Assembly, record: &WholeRecord, fields: &Fields<'_>, at: Option<Timestamp>) {
    let origin = if assembly.is_subagent() { Origin::Agent } else { Origin::Person };
    let mut message = Message::new(record.id.clone(), Role::User, origin);
    message.at = at;
    message.sources = vec![record.source.clone()];
    message.blocks.extend(fields.text("text").map(Block::text));
    message.blocks.extend(fields.objects("files").iter().filter_map(file));
    assembly.push(message);
}

fn file(fields: &Fields<'_>) -> Option<Block> {
    let uri = fields.text("uri")?;
    let media_type = fields.text("mime");
    let data = match (uri.strip_prefix("file://"), uri.split_once(";base64,")) {
        (Some(path), _) => Data::Path(Text::part_of(&uri, path)),
        (None, Some((_, content))) => Data::Base64(Text::part_of(&uri, content)),
        (None, None) => Data::Url(uri.clone()),
    };
    let picture = media_type.as_deref().is_some_and(|mime| mime.starts_with("image/"));
    let name = fields.text("name");
    Some(if picture {
        Block::Image(Image { media_type, data, name })
    } else {
        Block::Document(Document { media_type, data, name })
    })
}

fn assistant(assembly: &mut Assembly, record: &WholeRecord, fields: &Fields<'_>, at: Option<Timestamp>) {
    let model = fields.object("model").and_then(|model| model.text("id"));
    if let Some(model) = &model {
        assembly.session.meta.model = Some(model.clone());
    }
    let completed = fields.object("time").and_then(|times| time(times.integer("completed")));
    let mut message = Message::new(record.id.clone(), Role::Assistant, Origin::Model);
    message.at = at;
    message.model.clone_from(&model);
    message.stop = fields.text("finish").map(|word| usage::stop_reason(&word));
    message.sources = vec![record.source.clone()];
    let mut results = Vec::new();
    for part in fields.objects("content") {
        match part.text("type").as_deref() {
            Some("text") => message.blocks.push(Block::text(part.text("text").unwrap_or_default())),
            Some("reasoning") => {
                let text = part.text("text").unwrap_or_default();
                message.blocks.push(Block::Thinking(Thinking { text, tokens: Vec::new() }));
            }
            Some("tool") => match tool(&part) {
                Some((call, result)) => {
                    message.blocks.push(Block::ToolUse(call));
                    match result {
                        Some(result) => results.push(result),
                        None => assembly.count_open_call(),
                    }
                }
                None => assembly.malformed("the call has no tool or no state", &record.source),
            },
            _ => assembly.malformed("a part of the message has no kind that is known", &record.source),
        }
    }
    let like = Message { at: completed.or(at), blocks: Vec::new(), ..message.clone() };
    let id = assembly.push(message);
    assembly.push_results(&id, results, &like);
    if let Some(tokens) = fields.object("tokens") {
        assembly.call(ModelCall {
            api_id: None,
            request_id: None,
            message: Some(id),
            model,
            at: completed.or(at),
            usage: usage::of_call(&tokens, fields.number("cost")),
            inherited: false,
            sources: vec![record.source.clone()],
        });
    }
    if let Some(error) = fields.object("error") {
        assembly.event(EventKind::Error, completed.or(at), error.text("message"), &record.source);
    }
}

fn tool(part: &Fields<'_>) -> Option<(ToolUse, Option<ToolResult>)> {
    let name = part.text("name")?;
    let id: CallId = part.text("id")?.into();
    let state = part.object("state")?;
    let input = state.json("input").unwrap_or_else(|| crate::core::Arguments::default().to_json());
    // Its tools name a file `path`, which no tool of the first API does: those calls stay raw.
    let (tool, extra) = tools::decode(&name, &input);
    let call = ToolUse { id: id.clone(), name, tool, extra };
    let outcome = match state.text("status").as_deref() {
        Some("completed") => exit(&state),
        Some("error") => Outcome::Error,
        _ => return Some((call, None)),
    };
    let mut content: Vec<ResultPart> = Vec::new();
    for part in state.objects("content") {
        match (part.text("type").as_deref(), part.text("text")) {
            (Some("text"), Some(text)) => content.push(ResultPart::Text(TextBlock { text })),
            (Some("file"), _) => match file(&part) {
                Some(Block::Image(image)) => content.push(ResultPart::Image(image)),
                Some(Block::Document(document)) => content.push(ResultPart::Document(document)),
                _ => {}
            },
            _ => {}
        }
    }
    let failed = state.object("error").and_then(|error| error.text("message"));
    if let Some(text) = failed.or_else(|| state.text("error")) {
        content.push(ResultPart::Text(TextBlock { text }));
    }
    Some((call, Some(ToolResult { call: id, content, outcome, structured: state.json("structured") })))
}

fn exit(state: &Fields<'_>) -> Outcome {
    let exit = state.object("structured").and_then(|structured| structured.integer("exit"));
    if exit.is_some_and(|exit| exit != 0) { Outcome::Error } else { Outcome::Ok }
}
