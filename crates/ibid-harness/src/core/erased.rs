//! The facade over all harnesses, for callers that pick one at run time.

use std::any::Any;
use std::fmt;
use std::marker::PhantomData;
use std::path::Path;

use ibid_carrier::findings::report_all;
use ibid_carrier::fingerprint::Fingerprint;
use ibid_model::{Argument, Json, Losses, Outcome, Session, SessionId, Text, Tool};

use super::scan::{Control, Cursor, Sink, Wants};
use super::{
    Carrier, Carriers, CodecError, Common, Context, Converted, Declaration, Deleting, Discovered, Listed,
    Listing, OpenIn, Reference, Root, SaveOptions, Saving, Store, StoreError, Surroundings, Target,
    TextCodec, Transcript,
};

/// A native session of some harness.
pub struct AnyTranscript {
    inner: Box<dyn ErasedTranscript>,
}

trait ErasedTranscript: Send + Sync {
    fn declaration(&self) -> &'static Declaration;
    fn id(&self) -> &SessionId;
    fn carriers(&self) -> Vec<Carrier<'_>>;
    fn to_common(&self) -> Result<Common, CodecError>;
    fn to_text(&self) -> Result<Vec<u8>, CodecError>;
    fn as_any(&self) -> &dyn Any;
}

impl<H: TextCodec> ErasedTranscript for Transcript<H> {
    fn declaration(&self) -> &'static Declaration {
        H::DECLARATION
    }
    fn id(&self) -> &SessionId {
        &self.id
    }
    fn carriers(&self) -> Vec<Carrier<'_>> {
        self.body.carriers()
    }
    fn to_common(&self) -> Result<Common, CodecError> {
        H::to_common(self)
    }
    fn to_text(&self) -> Result<Vec<u8>, CodecError> {
        H::to_text(self)
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl AnyTranscript {
    /// Hides which harness a transcript is of.
    #[must_use]
    pub fn new<H: TextCodec>(transcript: Transcript<H>) -> AnyTranscript {
        AnyTranscript { inner: Box::new(transcript) }
    }

    /// What its harness says of itself.
    #[must_use]
    pub fn declaration(&self) -> &'static Declaration {
        self.inner.declaration()
    }

    /// The session's id.
    #[must_use]
    pub fn id(&self) -> &SessionId {
        self.inner.id()
    }

    /// Its carriers, exactly as they are at rest.
    #[must_use]
    pub fn carriers(&self) -> Vec<Carrier<'_>> {
        self.inner.carriers()
    }

    /// The common session.
    ///
    /// However broken the carriers are, the list of findings stays short: more than a hundred cases
    /// of one kind are one finding with a count.
    ///
    /// # Errors
    /// When the carriers hold no session of this harness.
    pub fn to_common(&self) -> Result<Common, CodecError> {
        let mut common = self.inner.to_common()?;
        let all = std::mem::take(&mut common.findings);
        report_all(&mut common.findings, all);
        Ok(common)
    }

    /// Its text form.
    ///
    /// # Errors
    /// When a record cannot be written.
    pub fn to_text(&self) -> Result<Vec<u8>, CodecError> {
        self.inner.to_text()
    }

    /// The transcript as one of harness `H`, if it is.
    #[must_use]
    pub fn downcast<H: TextCodec>(&self) -> Option<&Transcript<H>> {
        self.inner.as_any().downcast_ref()
    }
}

impl fmt::Debug for AnyTranscript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.declaration().id, self.id())
    }
}

#[expect(
    clippy::wrong_self_convention,
    reason = "the names are those of the traits that the facade stands for"
)]
/// A harness, chosen at run time. The methods are those of [`Store`], [`super::Codec`] and [`TextCodec`].
pub trait AnyHarness: Send + Sync {
    /// What it says of itself.
    fn declaration(&self) -> &'static Declaration;
    /// See [`Store::roots`].
    fn roots(&self, machine: &Surroundings) -> Vec<Root>;
    /// See [`Store::list`].
    fn list(&self, root: &Root, context: &Context<'_>) -> Listing;
    /// See [`Store::describe`].
    ///
    /// # Errors
    /// As there.
    fn describe(&self, listed: &Listed, context: &Context<'_>) -> Result<Discovered, StoreError>;
    /// See [`Store::placed_for`].
    fn placed_for(&self, reference: &Reference, directory: &Path, context: &Context<'_>) -> bool;
    /// See [`Store::load`].
    ///
    /// # Errors
    /// As there.
    fn load(&self, reference: &Reference, context: &Context<'_>) -> Result<AnyTranscript, StoreError>;
    /// See [`Store::scan`].
    ///
    /// # Errors
    /// As there.
    fn scan(
        &self,
        reference: &Reference,
        from: &Cursor,
        wants: Wants,
        control: &Control<'_>,
        sink: &mut dyn Sink,
        context: &Context<'_>,
    ) -> Result<Cursor, StoreError>;
    /// See [`Store::children`].
    fn children(&self, reference: &Reference, context: &Context<'_>) -> Vec<Reference>;
    /// See [`Store::save`].
    ///
    /// # Errors
    /// As there, and when the transcript is another harness's.
    fn save(
        &self,
        transcript: &AnyTranscript,
        options: &SaveOptions,
        context: &Context<'_>,
    ) -> Result<Saving, StoreError>;
    /// See [`Store::delete`].
    ///
    /// # Errors
    /// As there.
    fn delete(&self, reference: &Reference, context: &Context<'_>) -> Result<Deleting, StoreError>;
    /// See [`Store::open_in`].
    fn open_in(&self, reference: &Reference, context: &Context<'_>) -> Option<OpenIn>;
    /// See [`Store::fingerprints`].
    fn fingerprints(
        &self,
        references: &[Reference],
        context: &Context<'_>,
    ) -> Vec<Result<Fingerprint, StoreError>>;
    /// See [`Store::recognises`].
    fn recognises(&self, path: &Path, head: &[u8]) -> u8;
    /// See [`super::Codec::from_common`].
    ///
    /// # Errors
    /// As there.
    fn from_common(&self, session: &Session, target: &Target)
    -> Result<Converted<AnyTranscript>, CodecError>;
    /// See [`super::Codec::read_call`].
    fn read_call(&self, name: &Text, input: &Json) -> (Tool, Vec<Argument>);
    /// See [`super::Codec::read_answer`].
    fn read_answer(&self, text: &Text) -> (Text, Outcome);
    /// See [`TextCodec::from_text`].
    ///
    /// # Errors
    /// As there.
    fn from_text(&self, text: &[u8]) -> Result<AnyTranscript, CodecError>;
}

/// Gives a harness type the facade.
pub(crate) struct Erased<H>(PhantomData<H>);

impl<H> Erased<H> {
    pub(crate) const fn new() -> Erased<H> {
        Erased(PhantomData)
    }
}

impl<H: Store + TextCodec> AnyHarness for Erased<H> {
    fn declaration(&self) -> &'static Declaration {
        H::DECLARATION
    }
    fn roots(&self, machine: &Surroundings) -> Vec<Root> {
        let mut roots = H::roots(machine);
        for root in machine.named_roots(H::DECLARATION.id) {
            if roots.iter().all(|known| known.path != root.path) {
                roots.push(root);
            }
        }
        roots
    }
    fn list(&self, root: &Root, context: &Context<'_>) -> Listing {
        H::list(root, context)
    }
    fn describe(&self, listed: &Listed, context: &Context<'_>) -> Result<Discovered, StoreError> {
        H::describe(listed, context)
    }
    fn placed_for(&self, reference: &Reference, directory: &Path, context: &Context<'_>) -> bool {
        H::placed_for(reference, directory, context)
    }
    fn load(&self, reference: &Reference, context: &Context<'_>) -> Result<AnyTranscript, StoreError> {
        H::load(reference, context).map(AnyTranscript::new)
    }
    fn scan(
        &self,
        reference: &Reference,
        from: &Cursor,
        wants: Wants,
        control: &Control<'_>,
        sink: &mut dyn Sink,
        context: &Context<'_>,
    ) -> Result<Cursor, StoreError> {
        H::scan(reference, from, wants, control, sink, context)
    }
    fn children(&self, reference: &Reference, context: &Context<'_>) -> Vec<Reference> {
        H::children(reference, context)
    }
    fn save(
        &self,
        transcript: &AnyTranscript,
        options: &SaveOptions,
        context: &Context<'_>,
    ) -> Result<Saving, StoreError> {
        let Some(transcript) = transcript.downcast::<H>() else {
            let reason = format!("it is one of {}", transcript.declaration().name);
            return Err(CodecError::Foreign { harness: H::DECLARATION.name, reason }.into());
        };
        H::save(transcript, options, context)
    }
    fn delete(&self, reference: &Reference, context: &Context<'_>) -> Result<Deleting, StoreError> {
        H::delete(reference, context)
    }
    fn open_in(&self, reference: &Reference, context: &Context<'_>) -> Option<OpenIn> {
        H::open_in(reference, context)
    }
    fn fingerprints(
        &self,
        references: &[Reference],
        context: &Context<'_>,
    ) -> Vec<Result<Fingerprint, StoreError>> {
        H::fingerprints(references, context)
    }
    fn recognises(&self, path: &Path, head: &[u8]) -> u8 {
        H::recognises(path, head)
    }
    fn from_common(
        &self,
        session: &Session,
        target: &Target,
    ) -> Result<Converted<AnyTranscript>, CodecError> {
        let Converted { value, losses } = H::from_common(session, target)?;
        Ok(Converted { value: AnyTranscript::new(value), losses })
    }
    fn read_call(&self, name: &Text, input: &Json) -> (Tool, Vec<Argument>) {
        H::read_call(name, input)
    }
    fn read_answer(&self, text: &Text) -> (Text, Outcome) {
        H::read_answer(text)
    }
    fn from_text(&self, text: &[u8]) -> Result<AnyTranscript, CodecError> {
        H::from_text(text).map(AnyTranscript::new)
    }
}

/// Converts a native session into another harness's form, picked at run time.
///
/// # Errors
/// When the source cannot be read, or the target cannot hold it.
pub fn convert_to(
    source: &AnyTranscript,
    harness: &dyn AnyHarness,
    target: &Target,
) -> Result<(AnyTranscript, Common, Losses), CodecError> {
    let common = source.to_common()?;
    let Converted { value, mut losses } = harness.from_common(&common.session, target)?;
    losses.merge(Losses::unreadable(&common.findings));
    Ok((value, common, losses))
}
