//! HTTP: requests in, answers out, every one of them kept.

use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{future, io};

use axum::Router;
use axum::body::{Body, HttpBody};
use axum::extract::{Request, State};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;

use super::body::{self, Trouble};
use super::exchange::Exchange;
use super::log::Log;
use super::reply::{Form, Reply};
use super::{Options, desk};

/// Headers that prove who somebody is. A log must not hold them, not even those of a test.
const SECRET: [&str; 6] =
    ["authorization", "x-api-key", "api-key", "x-goog-api-key", "cookie", "proxy-authorization"];

/// What all connections share.
#[derive(Debug)]
pub(super) struct Shared {
    options: Options,
    exchanges: Mutex<Vec<Exchange>>,
    log: Option<Mutex<Log>>,
    arrived: AtomicU64,
}

impl Shared {
    pub(super) fn new(options: Options) -> io::Result<Self> {
        let log = options.log.as_deref().map(Log::append_to).transpose()?.map(Mutex::new);
        Ok(Self { options, exchanges: Mutex::default(), log, arrived: AtomicU64::new(0) })
    }

    /// What came so far, in the order of arrival.
    pub(super) fn exchanges(&self) -> Vec<Exchange> {
        let mut exchanges = locked(&self.exchanges).clone();
        exchanges.sort_by_key(|exchange| exchange.number);
        exchanges
    }

    /// Keeps an exchange before its answer goes out, so that a program that is ended by the answer still left its
    /// request. An exchange that cannot be logged is not answered.
    fn keep(&self, exchange: Exchange) -> io::Result<()> {
        let logged = self.log.as_ref().map_or(Ok(()), |log| locked(log).write(&exchange));
        locked(&self.exchanges).push(exchange);
        logged
    }
}

/// No code panics while it holds these locks, and if one did, what was kept before is still right.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The service. Every request comes to one place, known path or not, since every one is kept.
pub(super) fn router(shared: Arc<Shared>) -> Router {
    Router::new().fallback(serve).with_state(shared)
}

async fn serve(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let number = shared.arrived.fetch_add(1, Ordering::Relaxed) + 1;
    let (head, body) = request.into_parts();
    let mut exchange = Exchange {
        number,
        time: Timestamp::now(),
        method: head.method.to_string(),
        path: head.uri.path_and_query().map_or_else(|| head.uri.to_string(), ToString::to_string),
        headers: headers(&head.headers),
        body: None,
        raw: None,
        refused: Vec::new(),
        answer: None,
    };
    let limit = shared.options.body_limit;
    let packing = exchange.header("content-encoding").map(str::to_owned);
    let bytes = match gather(body, limit).await {
        Ok(bytes) => body::unpack(packing.as_deref(), bytes, limit),
        Err(trouble) => Err(trouble),
    };
    let form = Form::of(&exchange);
    let reply = match bytes {
        Ok(bytes) => desk::answer(&mut exchange, bytes, form, &shared.options),
        Err(trouble) => refuse(form, &trouble, limit),
    };
    exchange.answer = Some(reply.answer());
    match shared.keep(exchange) {
        Ok(()) => reply.into_response(),
        Err(error) => {
            form.error(500, "api_error", format!("the log cannot be written: {error}")).into_response()
        }
    }
}

/// The whole of a body, up to a limit.
async fn gather(mut body: Body, limit: usize) -> Result<Vec<u8>, Trouble> {
    let mut bytes = Vec::new();
    while let Some(frame) = future::poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        let frame = frame.map_err(|error| Trouble::Broken(io::Error::other(error)))?;
        if let Ok(data) = frame.into_data() {
            if bytes.len() + data.len() > limit {
                return Err(Trouble::TooLong);
            }
            bytes.extend_from_slice(&data);
        }
    }
    Ok(bytes)
}

fn refuse(form: Form, trouble: &Trouble, limit: usize) -> Reply {
    match trouble {
        Trouble::TooLong => {
            form.error(413, "request_too_large", format!("the body is longer than {limit} bytes"))
        }
        Trouble::Packed(name) => {
            let why = format!("the content encoding {name:?} is not known");
            form.error(415, "invalid_request_error", why)
        }
        Trouble::Broken(error) => {
            form.error(400, "invalid_request_error", format!("the body cannot be read: {error}"))
        }
    }
}

fn headers(headers: &HeaderMap) -> Vec<(String, String)> {
    let text = |name: &str, value: &[u8]| match SECRET.contains(&name) {
        true => "(left out)".to_owned(),
        false => String::from_utf8_lossy(value).into_owned(),
    };
    headers.iter().map(|(name, value)| (name.to_string(), text(name.as_str(), value.as_bytes()))).collect()
}
