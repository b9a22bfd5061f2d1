//! An answer, before it goes over the wire.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use http_body::Frame;
use serde_json::{Value, json};

use super::exchange::{Answer, Exchange};
use super::speak::Event;

/// Whose form an error has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Anthropic,
    OpenAi,
}

impl Form {
    /// The form that the asking program understands, known by the path, or by a header where the path says nothing.
    pub(super) fn of(exchange: &Exchange) -> Self {
        let messages = exchange.path.contains("/messages");
        match messages || exchange.header("anthropic-version").is_some() {
            true => Self::Anthropic,
            false => Self::OpenAi,
        }
    }

    /// An error. `kind` is Anthropic's name for it; OpenAI has fewer names, and tells by the status.
    pub(super) fn error(self, status: u16, kind: &str, message: String) -> Reply {
        let body = match self {
            Self::Anthropic => {
                json!({ "type": "error", "error": { "type": kind, "message": message }, "request_id": "req_mock" })
            }
            Self::OpenAi => {
                let kind = if status >= 500 { "server_error" } else { "invalid_request_error" };
                json!({ "error": { "message": message, "type": kind, "param": null, "code": null } })
            }
        };
        Reply::Whole { status, body }
    }
}

/// An answer.
#[derive(Debug)]
pub(super) enum Reply {
    /// One JSON value.
    Whole { status: u16, body: Value },
    /// A stream of events, which say what `body` says.
    Stream { events: Vec<Event>, body: Value },
    /// A status and nothing else.
    Bare { status: u16 },
}

impl Reply {
    /// The answer as it stands in the log.
    pub(super) fn answer(&self) -> Answer {
        match self {
            Self::Whole { status, body } => Answer { status: *status, streamed: false, body: body.clone() },
            Self::Stream { body, .. } => Answer { status: 200, streamed: true, body: body.clone() },
            Self::Bare { status } => Answer { status: *status, streamed: false, body: Value::Null },
        }
    }
}

impl IntoResponse for Reply {
    fn into_response(self) -> Response {
        let (status, kind, body) = match self {
            Self::Whole { status, body } => (status, "application/json", Body::from(body.to_string())),
            Self::Stream { events, .. } => {
                let frames = events.iter().map(|event| Bytes::from(event.frame())).collect();
                (200, "text/event-stream", Body::new(Frames(frames)))
            }
            Self::Bare { status } => (status, "text/plain", Body::empty()),
        };
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let headers =
            [(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, "no-cache"), (REQUEST_ID, "req_mock")];
        (status, headers, body).into_response()
    }
}

const REQUEST_ID: header::HeaderName = header::HeaderName::from_static("request-id");

/// The events of a stream, each a frame of its own.
struct Frames(VecDeque<Bytes>);

impl http_body::Body for Frames {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.pop_front().map(|bytes| Ok(Frame::data(bytes))))
    }
}
