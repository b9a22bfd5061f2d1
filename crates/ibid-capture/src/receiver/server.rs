//! Listening: one request on each connection, within bounds.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::io;
use std::net::TcpListener;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http_body_util::{BodyExt as _, Empty, Limited};
use hyper::body::{Body as _, Bytes, Incoming};
use hyper::header::HeaderName;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::sync::Semaphore;

use super::{Registry, Session};
use crate::handoff::Handoff;
use crate::report::{self, Report, SECRET_HEADER};

/// The largest body that is read: ids and a path, escaped as badly as can be.
const BODY: usize = 64 << 10;

/// The largest head of a request, and how many headers it may have.
const HEAD: usize = 16 << 10;
const HEADERS: usize = 64;

/// How long the head of a request may take, and a connection as a whole.
const HEAD_TIME: Duration = Duration::from_secs(2);
const CONNECTION_TIME: Duration = Duration::from_secs(5);

/// How many connections are served at once; others wait to be accepted.
const CONNECTIONS: usize = 256;

/// How long nothing is accepted after accepting failed (too many open files, say).
const PAUSE: Duration = Duration::from_millis(50);

/// The longest id that is believed, in bytes. Real ones have a few dozen.
const ID: usize = 4096;

/// That a session was reported for the first time.
#[derive(Clone, Copy, Debug)]
pub struct Sight<'a> {
    /// The program.
    pub program: &'a str,
    /// The root session.
    pub session: &'a str,
    /// Its directory.
    pub cwd: Option<&'a str>,
}

/// What was received from the beginning to the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Summary {
    /// Reports that were taken.
    pub reports: u64,
    /// Sessions that were seen for the first time.
    pub sessions: u64,
    /// Requests that were refused.
    pub refusals: u64,
}

/// One program that reports.
struct Program {
    handoff: Handoff,
    registry: Mutex<Registry>,
}

type OnSight = dyn Fn(Sight<'_>) + Send + Sync;

/// What hooks report to. It holds one registry for each program, and knows each by its own secret.
#[derive(Clone)]
pub struct Receiver(Arc<Shared>);

struct Shared {
    /// By the path of their reports.
    programs: BTreeMap<String, Program>,
    on_sight: Box<OnSight>,
    reports: AtomicU64,
    sessions: AtomicU64,
    refusals: AtomicU64,
}

impl fmt::Debug for Receiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").field("programs", &self.0.programs.keys()).finish_non_exhaustive()
    }
}

impl Receiver {
    /// A receiver for the programs of these handoffs. `on_sight` is called for each session once.
    #[must_use]
    pub fn new(
        handoffs: impl IntoIterator<Item = Handoff>,
        on_sight: impl Fn(Sight<'_>) + Send + Sync + 'static,
    ) -> Receiver {
        let program = |handoff: Handoff| {
            (report::path(handoff.profile()), Program { handoff, registry: Mutex::default() })
        };
        Receiver(Arc::new(Shared {
            programs: handoffs.into_iter().map(program).collect(),
            on_sight: Box::new(on_sight),
            reports: AtomicU64::new(0),
            sessions: AtomicU64::new(0),
            refusals: AtomicU64::new(0),
        }))
    }

    /// The session of a program's request, by the ids that its headers carry, in the order in which they
    /// count; see [`Registry::resolve`].
    #[must_use]
    pub fn resolve<'a>(&self, program: &str, ids: impl IntoIterator<Item = &'a str>) -> Option<Session> {
        // A registry whose writer panicked half-way says nothing.
        self.0.programs.get(&report::path(program))?.registry.lock().ok()?.resolve(ids)
    }

    /// Serves these listeners until the person interrupts it or the system asks it to end.
    ///
    /// # Errors
    /// When the system gives no means to wait.
    pub fn run_until_interrupted(&self, listeners: Vec<TcpListener>) -> io::Result<Summary> {
        self.run(listeners, interrupted())
    }

    /// Serves these listeners until `stop` is over.
    ///
    /// # Errors
    /// When the system gives no means to wait.
    pub fn run(&self, listeners: Vec<TcpListener>, stop: impl Future<Output = ()>) -> io::Result<Summary> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let connections = Arc::new(Semaphore::new(CONNECTIONS));
            for listener in listeners {
                listener.set_nonblocking(true)?;
                let listener = tokio::net::TcpListener::from_std(listener)?;
                tokio::spawn(accept(self.clone(), listener, Arc::clone(&connections)));
            }
            stop.await;
            Ok(self.summary())
        })
    }

    fn summary(&self) -> Summary {
        Summary {
            reports: self.0.reports.load(Ordering::Relaxed),
            sessions: self.0.sessions.load(Ordering::Relaxed),
            refusals: self.0.refusals.load(Ordering::Relaxed),
        }
    }

    async fn answer(&self, request: Request<Incoming>) -> Response<Empty<Bytes>> {
        let status = self.status(request).await;
        if status != StatusCode::NO_CONTENT {
            self.0.refusals.fetch_add(1, Ordering::Relaxed);
        }
        let mut response = Response::new(Empty::new());
        *response.status_mut() = status;
        response
    }

    async fn status(&self, request: Request<Incoming>) -> StatusCode {
        let Some(program) = self.0.programs.get(request.uri().path()) else { return StatusCode::NOT_FOUND };
        if request.method() != Method::POST {
            return StatusCode::METHOD_NOT_ALLOWED;
        }
        let mut shown = request.headers().get_all(HeaderName::from_static(SECRET_HEADER)).iter();
        let is_known = match (shown.next(), shown.next()) {
            (Some(one), None) => program.handoff.secret().is(one.as_bytes()),
            _ => false,
        };
        if !is_known {
            return StatusCode::UNAUTHORIZED;
        }
        if request.body().size_hint().lower() > BODY as u64 {
            return StatusCode::BAD_REQUEST;
        }
        let Ok(body) = Limited::new(request.into_body(), BODY).collect().await else {
            return StatusCode::BAD_REQUEST;
        };
        let Ok(report) = serde_json::from_slice::<Report>(&body.to_bytes()) else {
            return StatusCode::BAD_REQUEST;
        };
        let is_id = |id: &str| !id.trim().is_empty() && id.len() <= ID;
        if !is_id(&report.session_id) || !report.agent_id.as_deref().is_none_or(is_id) {
            return StatusCode::BAD_REQUEST;
        }
        self.take(program, report)
    }

    fn take(&self, program: &Program, report: Report) -> StatusCode {
        let (session, cwd) = (report.session_id.clone(), report.cwd.clone());
        let is_new = match program.registry.lock() {
            Ok(mut registry) => registry.take(report),
            // Its writer panicked half-way: nothing is built on that.
            Err(_) => return StatusCode::SERVICE_UNAVAILABLE,
        };
        self.0.reports.fetch_add(1, Ordering::Relaxed);
        if is_new {
            self.0.sessions.fetch_add(1, Ordering::Relaxed);
            let program = program.handoff.profile();
            (self.0.on_sight)(Sight { program, session: &session, cwd: cwd.as_deref() });
        }
        StatusCode::NO_CONTENT
    }
}

async fn accept(receiver: Receiver, listener: tokio::net::TcpListener, connections: Arc<Semaphore>) {
    // The semaphore is never closed.
    while let Ok(permit) = Arc::clone(&connections).acquire_owned().await {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        let receiver = receiver.clone();
        tokio::spawn(async move {
            let service = service_fn(|request| async { Ok::<_, Infallible>(receiver.answer(request).await) });
            let mut http = hyper::server::conn::http1::Builder::new();
            http.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME).keep_alive(false);
            http.max_buf_size(HEAD).max_headers(HEADERS);
            let connection = http.serve_connection(TokioIo::new(stream), service);
            // What is wrong with a connection is the matter of who made it.
            let _ = tokio::time::timeout(CONNECTION_TIME, connection).await;
            drop(permit);
        });
    }
}

#[cfg(unix)]
async fn interrupted() {
    use tokio::signal::unix::{SignalKind, signal};
    let terminated = async {
        match signal(SignalKind::terminate()) {
            Ok(mut signal) => drop(signal.recv().await),
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        () = terminated => {}
    }
}

#[cfg(not(unix))]
async fn interrupted() {
    let _ = tokio::signal::ctrl_c().await;
}
