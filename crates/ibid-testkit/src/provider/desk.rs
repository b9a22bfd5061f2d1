//! What a request is answered.

use serde_json::{Value, json};

use super::exchange::Exchange;
use super::reply::{Form, Reply};
use super::wire::Api;
use super::{Options, body, count, script, speak, strict};

/// Answers a request, and notes in the exchange its body and the rules that it breaks.
pub(super) fn answer(exchange: &mut Exchange, bytes: Vec<u8>, form: Form, options: &Options) -> Reply {
    let parsed = body::parse(&bytes);
    let api = exchange.api();
    if let Some(api) = api {
        exchange.refused = strict::check_parsed(api, &parsed, options.context_limit);
    }
    if !bytes.is_empty() && (parsed.value.is_none() || !parsed.surrogates.is_empty()) {
        exchange.raw = Some(bytes);
    }
    exchange.body = parsed.value;
    if exchange.header("upgrade").is_some_and(|name| name.eq_ignore_ascii_case("websocket")) {
        return form.error(426, "invalid_request_error", "there is no websocket here".to_owned());
    }
    match (exchange.method.as_str(), api) {
        ("HEAD", _) if route(exchange) == "/" => Reply::Bare { status: 200 },
        (_, Some(api)) => turn(api, exchange, form, options),
        _ => other(exchange, form, options),
    }
}

/// The path without its query and without a slash at its end.
fn route(exchange: &Exchange) -> &str {
    match exchange.path.split('?').next().unwrap_or_default().trim_end_matches('/') {
        "" => "/",
        path => path,
    }
}

/// The model's turn.
fn turn(api: Api, exchange: &Exchange, form: Form, options: &Options) -> Reply {
    let Some(body) = exchange.body.as_ref().filter(|body| body.is_object()) else {
        return form.error(400, "invalid_request_error", "the body is no JSON object".to_owned());
    };
    if options.strict && !exchange.refused.is_empty() {
        let whys: Vec<_> = exchange.refused.iter().map(ToString::to_string).collect();
        return form.error(400, "invalid_request_error", whys.join("; "));
    }
    let turn = script::next(api, body, options);
    let whole = speak::whole(api, &turn, body, count::usage(api, body, &turn));
    match body.get("stream").and_then(Value::as_bool) {
        Some(true) => Reply::Stream { events: speak::events(api, &whole), body: whole },
        _ => Reply::Whole { status: 200, body: whole },
    }
}

/// Everything but a turn.
fn other(exchange: &Exchange, form: Form, options: &Options) -> Reply {
    let route = route(exchange);
    let body = exchange.body.as_ref().unwrap_or(&Value::Null);
    let (parent, name) = route.rsplit_once('/').unwrap_or_default();
    match exchange.method.as_str() {
        "POST" if route.ends_with("/messages/count_tokens") => {
            whole(json!({ "input_tokens": count::request(Api::Messages, body) }))
        }
        "POST" if route.ends_with("/responses/input_tokens") => {
            let tokens = count::request(Api::Responses, body);
            whole(json!({ "object": "response.input_tokens", "input_tokens": tokens }))
        }
        "GET" if name == "models" => {
            let models: Vec<_> = options.models.iter().map(|name| model(name, form)).collect();
            whole(match form {
                Form::Anthropic => json!({
                    "data": models,
                    "has_more": false,
                    "first_id": options.models.first(),
                    "last_id": options.models.last(),
                }),
                Form::OpenAi => json!({ "object": "list", "data": models }),
            })
        }
        "GET" if parent.ends_with("/models") && options.models.iter().any(|model| model == name) => {
            whole(model(name, form))
        }
        method if Api::of_path(route).is_some() => {
            form.error(405, "invalid_request_error", format!("{method} is not allowed here"))
        }
        method => form.error(404, "not_found_error", format!("nothing answers to {method} {route}")),
    }
}

fn whole(body: Value) -> Reply {
    Reply::Whole { status: 200, body }
}

fn model(name: &str, form: Form) -> Value {
    match form {
        Form::Anthropic => {
            json!({ "type": "model", "id": name, "display_name": name, "created_at": "2025-12-01T00:00:00Z" })
        }
        Form::OpenAi => {
            json!({ "id": name, "object": "model", "created": 1_764_547_200, "owned_by": "mock" })
        }
    }
}
