//! A model provider that is a script: what the real programs talk to when they are tested offline.
//!
//! - [`Provider`]: a server on loopback that speaks Anthropic Messages, OpenAI Responses and Chat Completions.
//! - [`Exchange`] and [`log`]: every request and its answer, in memory and in a file.
//! - [`wire`]: a request of any of the three APIs as one list of what was said.
//! - [`strict`]: what the real providers refuse.
//!
//! ```
//! use ibid_testkit::provider::{Options, Provider};
//!
//! let provider = Provider::start(Options { strict: true, ..Options::default() }).unwrap();
//! println!("a program may now be run with {} as its base address", provider.url());
//! assert!(provider.requests().is_empty());
//! ```
//!
#![doc = include_str!("scripts.md")]
//!
//! # Limits
//!
//! It is a test's partner and no model: it checks no key, no signature and no model's name, and its strict mode
//! knows only the rules that public documents and public reports name (see [`strict::Rule`]).

mod body;
mod count;
mod desk;
mod exchange;
pub mod log;
mod reply;
mod script;
mod server;
mod speak;
pub mod strict;
pub mod wire;

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use tokio::runtime;
use tokio::sync::oneshot;

pub use exchange::{Answer, Exchange};
pub use script::Keyword;

use server::Shared;

/// How a provider is set up.
#[derive(Debug, Clone)]
pub struct Options {
    /// The port on 127.0.0.1; 0 for any that is free.
    pub port: u16,
    /// A file to which every exchange is appended; see [`log`].
    pub log: Option<PathBuf>,
    /// Whether a request that breaks a rule is refused. It is noted in any case.
    pub strict: bool,
    /// The folder in which the program works, for tools that want absolute paths. Empty: paths are relative.
    pub workspace: PathBuf,
    /// Name of the image file in the workspace that `do-image` has the program read.
    pub image: String,
    /// How many tokens a prompt may have, by the estimate of the provider; `None`: any number.
    pub context_limit: Option<u64>,
    /// How many bytes a body may have, packed and unpacked.
    pub body_limit: usize,
    /// The models in the list of models. A request may name any other.
    pub models: Vec<String>,
}

impl Default for Options {
    /// Any port, no log, not strict, relative paths, `picture.png`, no limit of the context, 256 MiB.
    fn default() -> Self {
        let models = ["mock-model", "gpt-5", "gpt-5.5", "claude-sonnet-4-5", "claude-opus-4-5"];
        Self {
            port: 0,
            log: None,
            strict: false,
            workspace: PathBuf::new(),
            image: "picture.png".to_owned(),
            context_limit: None,
            body_limit: 256 << 20,
            models: models.map(str::to_owned).to_vec(),
        }
    }
}

/// A running provider. Dropping it ends it, with every connection that is open.
#[derive(Debug)]
pub struct Provider {
    port: u16,
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Provider {
    /// Starts a provider on loopback, on a thread of its own. It answers as soon as this returns.
    ///
    /// # Errors
    ///
    /// The port is taken, the log cannot be opened, or the machine gives no thread.
    pub fn start(options: Options) -> io::Result<Self> {
        let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, options.port)))?;
        listener.set_nonblocking(true)?;
        let port = listener.local_addr()?.port();
        let shared = Arc::new(Shared::new(options)?);
        let router = server::router(Arc::clone(&shared));
        let runtime = runtime::Builder::new_current_thread().enable_io().build()?;
        let listener = {
            let _inside = runtime.enter();
            tokio::net::TcpListener::from_std(listener)?
        };
        let (stop, stopped) = oneshot::channel();
        let thread = thread::Builder::new().name("mock-provider".to_owned()).spawn(move || {
            runtime.spawn(async { axum::serve(listener, router).await });
            // Ends by the word or by the loss of the sender; the runtime then drops every connection.
            let _ = runtime.block_on(stopped);
        })?;
        Ok(Self { port, shared, stop: Some(stop), thread: Some(thread) })
    }

    /// The port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The base address, without `/v1`.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Every request that was answered so far, in the order of arrival.
    pub fn requests(&self) -> Vec<Exchange> {
        self.shared.exchanges()
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            // The thread may have ended already.
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
