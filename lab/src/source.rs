//! Sessions that the real programs made, and how they are read from outside.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use ibid_carrier::jsonl::Limits;
use ibid_harness::{
    AnyTranscript, Carrier, Content, Context, Discovered, Progress, Surroundings, discover, listed_at,
};
use ibid_model::Session;
use ibid_testkit::provider::Exchange;
use jiff::Timestamp;
use serde_json::Value;

use crate::lab::{Lab, PICTURE_FILE};
use crate::programs::{Program, Prompt};
use crate::sandbox::{self, Provider, Sandbox, Step};

/// The prompts of a session, in order. The word with a dash tells the provider what to do.
const FIRST: &str = "do-all please: use every tool once, first turn";
const PICTURE: &str = "What do you see in this picture? Second turn";
const SUBAGENT: &str = "do-subagent please: give the small task away, third turn";
const LAST: &str = "do-odd please: and that is all, last turn";

/// The first prompt of a session that has neither pictures nor subagents in it.
const WORK: &str = "do-work please: commands and files, first turn";

/// The name of the provider's log.
pub const LOG: &str = "provider.jsonl";

/// A session that a program made.
#[derive(Clone, Debug)]
pub struct Source {
    /// The folder of its sandbox.
    pub folder: PathBuf,
    /// Its id, as the program says it.
    pub id: String,
    /// What the person asked, in order.
    pub prompts: Vec<&'static str>,
    /// When the program was started first, and when it had ended.
    pub times: (Timestamp, Timestamp),
}

/// Lets a program make a session.
pub(crate) fn make(lab: &Lab, program: &Program, folder: &Path) -> Result<Source> {
    let sandbox = lab.copy(&lab.base(program)?, folder)?;
    let started = Timestamp::now();
    let mut id = None;
    let mut prompts = Vec::new();
    let words = |text| Prompt { text, ..Prompt::default() };
    let turns = match program.driver.is_only_read() {
        true => vec![words(WORK), words(LAST)],
        false => vec![
            words(FIRST),
            Prompt { picture: Some(PICTURE_FILE), ..words(PICTURE) },
            Prompt { subagents: true, ..words(SUBAGENT) },
            words(LAST),
        ],
    };
    for prompt in turns.iter().filter(|turn| !turn.subagents || program.driver.has_subagents(program.age)) {
        let step = Step::Run(program.ask(prompt, id.as_deref()));
        let provider = Provider { log: LOG.to_owned(), strict: true, context: None };
        let done = sandbox.run(vec![step], Some(provider))?;
        let printed = done.first().context("nothing ran")?.well(&format!("`{}`", prompt.text))?;
        let said = program.driver.session_of(printed);
        let said = said.with_context(|| format!("{} does not say which session it made", program.name()))?;
        if id.as_ref().is_some_and(|id| *id != said) {
            bail!("{} went on in another session", program.name());
        }
        id = Some(said);
        prompts.push(prompt.text);
    }
    let id = id.context("there were no prompts")?;
    Ok(Source { folder: folder.to_owned(), id, prompts, times: (started, Timestamp::now()) })
}

impl Source {
    /// The requests that the provider got.
    ///
    /// # Errors
    /// When its log cannot be read.
    pub fn log(&self) -> Result<Vec<Exchange>> {
        read_log(&self.folder.join("out").join(LOG))
    }
}

/// The requests in a provider's log.
///
/// # Errors
/// When it cannot be read.
pub fn read_log(path: &Path) -> Result<Vec<Exchange>> {
    ibid_testkit::provider::log::read(path)
        .with_context(|| format!("no request reached the provider: {}", path.display()))
}

/// Runs the program under test in a sandbox, and returns what it printed.
///
/// # Errors
/// When it does not end well.
pub fn ibid(sandbox: &Sandbox, arguments: &[&str]) -> Result<String> {
    let done = sandbox.run(vec![Step::Run(sandbox::ibid(arguments))], None)?;
    let done = done.first().context("nothing ran")?;
    Ok(done.well(&format!("ibid {}", arguments.join(" ")))?.to_owned())
}

/// Runs the program under test with `--json`.
///
/// # Errors
/// When it does not end well.
pub fn ibid_json(sandbox: &Sandbox, arguments: &[&str]) -> Result<Value> {
    let mut all = arguments.to_vec();
    all.push("--json");
    Ok(serde_json::from_str(&ibid(sandbox, &all)?)?)
}

/// A session in a home, as Ibid's library reads it.
pub struct Found {
    /// The session as its harness keeps it.
    pub native: AnyTranscript,
    /// What a list shows of it.
    pub listed: Discovered,
    /// The session.
    pub session: Session,
}

impl Found {
    /// The bytes of its carriers, in their order.
    #[must_use]
    pub fn bytes(&self) -> Vec<Vec<u8>> {
        bytes_of(&self.native)
    }

    /// The bytes of those of its carriers that are files.
    #[must_use]
    pub fn files(&self) -> Vec<Vec<u8>> {
        let carriers = self.native.carriers();
        let files = carriers.iter().filter_map(|carrier| match carrier.content {
            Content::Bytes(bytes) => Some(bytes.to_vec()),
            Content::Rows(_) => None,
        });
        files.collect()
    }
}

/// The bytes of the carriers of a session, in their order.
#[must_use]
pub fn bytes_of(native: &AnyTranscript) -> Vec<Vec<u8>> {
    let carriers = native.carriers();
    let bytes = |carrier: &Carrier<'_>| match carrier.content {
        Content::Bytes(bytes) => bytes.to_vec(),
        // Rows have no bytes of their own; this form of theirs leaves nothing out.
        Content::Rows(rows) => format!("{rows:?}").into_bytes(),
    };
    carriers.iter().map(bytes).collect()
}

/// Looks for a session in a home, from outside of it.
///
/// # Errors
/// When it is not there, or cannot be read.
pub fn find(home: &Path, harness: &str, id: &str) -> Result<Found> {
    find_with(&Surroundings::isolated(home), harness, id)
}

/// Looks for a session below a root of its harness, which need not be in a home.
///
/// # Errors
/// When it is not there, or cannot be read.
pub fn find_in(root: &Path, harness: &str, id: &str) -> Result<Found> {
    let known = ibid_harness::find(harness).context("no such harness")?;
    let machine = Surroundings::isolated(root.join("no-home"));
    find_with(&machine.with_root(known.declaration().id, root), harness, id)
}

/// Reads the document at a path.
///
/// # Errors
/// When it cannot be read.
pub fn find_file(path: &Path, harness: &str) -> Result<Session> {
    let known = ibid_harness::find(harness).context("no such harness")?;
    let machine = Surroundings::isolated(path.join("no-home"));
    let context = Context { machine: &machine, limits: &Limits::default() };
    let (_, listed) = listed_at(path, &[known])?.with_context(|| format!("this is no {harness} document"))?;
    Ok(known.load(&listed.reference, &context)?.to_common()?.session)
}

fn find_with(machine: &Surroundings, harness: &str, id: &str) -> Result<Found> {
    let known = ibid_harness::find(harness).context("no such harness")?;
    let limits = Limits::default();
    let context = Context { machine, limits: &limits };
    let discoveries = discover(&[known], machine, &limits, None, &Progress::default());
    let sessions = discoveries.into_iter().flat_map(|discovery| discovery.sessions);
    let listed = sessions.into_iter().find(|session| session.id.as_str() == id);
    let listed = listed.with_context(|| format!("Ibid does not find {harness}:{id}"))?;
    let native = known.load(&listed.reference, &context)?;
    let session = native.to_common()?.session;
    Ok(Found { native, listed, session })
}
