//! Native sessions, and the common one among them.

use ibid_carrier::sqlite::RowSet;
use ibid_model::{
    Argument, CarrierInfo, Finding, Json, Losses, Outcome, Raw, Selection, Session, SessionId, Text, Tool,
};

use super::Declaration;

/// A harness, as a type.
pub trait Harness: Sized + Send + Sync + 'static {
    /// What it says of itself.
    const DECLARATION: &'static Declaration;
    /// A session in its own form: its carriers, exactly as they are at rest.
    type Body: Carriers + Clone + Send + Sync + 'static;
}

/// A session in the form of harness `H`.
pub struct Transcript<H: Harness> {
    /// The session's id.
    pub id: SessionId,
    /// Its carriers.
    pub body: H::Body,
}

// Derived implementations would ask the same of `H`, which is only a name.
impl<H: Harness> Clone for Transcript<H> {
    fn clone(&self) -> Self {
        Transcript { id: self.id.clone(), body: self.body.clone() }
    }
}

impl<H: Harness> std::fmt::Debug for Transcript<H> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", H::DECLARATION.id, self.id)
    }
}

/// The content of one carrier.
#[derive(Clone, Copy, Debug)]
pub enum Content<'a> {
    /// The bytes of a file (decompressed, if it is compressed).
    Bytes(&'a [u8]),
    /// Rows of a database.
    Rows(&'a RowSet),
}

/// One carrier with its content.
#[derive(Clone, Debug)]
pub struct Carrier<'a> {
    /// What it is.
    pub info: CarrierInfo,
    /// What is in it.
    pub content: Content<'a>,
}

/// What a native session is made of.
pub trait Carriers {
    /// The carriers, in the order that [`ibid_model::Source::carrier`] counts.
    fn carriers(&self) -> Vec<Carrier<'_>>;
}

/// The common session as a conversion passes it around.
#[derive(Clone, Debug)]
pub struct Common {
    /// The session.
    pub session: Session,
    /// What was wrong with the input.
    pub findings: Vec<Finding>,
}

/// What a conversion should make.
#[derive(Clone, Debug, Default)]
pub struct Target {
    /// The id of the new session; none derives one from the source, so that the same conversion
    /// gives the same id.
    pub id: Option<SessionId>,
    /// The working directory of the new session; none keeps the source's.
    pub cwd: Option<Text>,
    /// Which part of the source.
    pub selection: Selection,
    /// For a subagent: the id of its parent in the target, which was converted before it.
    pub parent: Option<SessionId>,
    /// The home of the target program, where paths inside records depend on it.
    pub home: Option<Text>,
}

/// A conversion's result.
#[derive(Clone, Debug)]
pub struct Converted<T> {
    /// What was made.
    pub value: T,
    /// What it lost.
    pub losses: Losses,
}

/// Why a session cannot be read or made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CodecError {
    /// The text or carrier is not one of this harness at all.
    #[error("this is not a session of {harness}: {reason}")]
    Foreign {
        /// The harness.
        harness: &'static str,
        /// What was expected and what is there.
        reason: String,
    },
    /// The session cannot be expressed in the target.
    #[error("{harness} cannot hold this session: {reason}")]
    Inexpressible {
        /// The target.
        harness: &'static str,
        /// What it lacks, and what to do.
        reason: String,
    },
    /// A record could not be written as JSON.
    #[error("a record could not be written: {0}")]
    Json(#[from] serde_json::Error),
}

/// Between a harness's own form and the common one.
pub trait Codec: Harness {
    /// Reads a native session. Whatever cannot be read is a finding; the rest is read.
    ///
    /// # Errors
    /// When the body is not one of this harness at all.
    fn to_common(transcript: &Transcript<Self>) -> Result<Common, CodecError>;

    /// Makes a native session. The same session and target give the same bytes. Whatever cannot
    /// be expressed is in the losses.
    ///
    /// # Errors
    /// When the target cannot hold such a session at all.
    fn from_common(session: &Session, target: &Target) -> Result<Converted<Transcript<Self>>, CodecError>;

    /// A tool call as the program sends it to a model, read as one in its sessions is: what it asks
    /// for, and the arguments beyond that. Free text is a JSON string. The default, for harnesses
    /// without tools of their own, keeps every call raw.
    fn read_call(name: &Text, input: &Json) -> (Tool, Vec<Argument>) {
        (Tool::Raw(Raw { name: name.clone(), input: input.clone() }), Vec::new())
    }

    /// The text of a result as the program sends it to a model, read as one in its sessions is: the
    /// text without what says how the call ended, and how it ended. The default takes the text for
    /// nothing but text.
    fn read_answer(text: &Text) -> (Text, Outcome) {
        (text.clone(), Outcome::Unknown)
    }
}

/// Between a harness's own form and one text, without any file system.
pub trait TextCodec: Codec {
    /// Reads a native session from its text form.
    ///
    /// # Errors
    /// When the text is not one of this harness.
    fn from_text(text: &[u8]) -> Result<Transcript<Self>, CodecError>;

    /// Writes a native session as text. For a session of one file these are the file's bytes.
    ///
    /// # Errors
    /// When a record cannot be written.
    fn to_text(transcript: &Transcript<Self>) -> Result<Vec<u8>, CodecError>;
}

/// Converts a session of one harness into one of another.
///
/// # Errors
/// When the source is none of `A`, or `B` cannot hold it.
pub fn convert<A: Codec, B: Codec>(
    source: &Transcript<A>,
    target: &Target,
) -> Result<Converted<Transcript<B>>, CodecError> {
    let common = A::to_common(source)?;
    let mut made = B::from_common(&common.session, target)?;
    made.losses.merge(Losses::unreadable(&common.findings));
    Ok(made)
}
