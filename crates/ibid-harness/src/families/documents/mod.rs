//! Sessions that are one JSON document in any file: interchange forms, which have no store.

use std::path::{Path, PathBuf};

use bytes::Bytes;
use ibid_carrier::file;
use ibid_carrier::fingerprint::Fingerprint;
use ibid_carrier::names::checked_component;
use ibid_carrier::plan::{Content as FileContent, Plan, Step};
use ibid_model::{CarrierInfo, CarrierRole, Losses, Text};

use crate::core::scan::{Control, Cursor, Sink, Wants, emit};
use crate::core::{
    Carrier, Carriers, Class, Content, Context, Deleting, Discovered, Listed, Reference, SaveOptions, Saving,
    StoreError, TextCodec, Transcript, path_text,
};

/// The exact bytes of a document, and where they came from.
#[derive(Clone, Debug)]
pub struct DocumentBody {
    /// The file, if it came from one.
    pub path: Option<PathBuf>,
    /// The bytes.
    pub bytes: Bytes,
}

impl DocumentBody {
    /// A document without a file.
    #[must_use]
    pub fn new(bytes: impl Into<Bytes>) -> DocumentBody {
        DocumentBody { path: None, bytes: bytes.into() }
    }

    /// What it is, as a carrier.
    #[must_use]
    pub fn info(&self) -> CarrierInfo {
        CarrierInfo {
            path: self.path.as_deref().map(path_text).unwrap_or_default(),
            role: CarrierRole::Transcript,
            key: None,
            bytes: Some(self.bytes.len() as u64),
        }
    }

    /// The document as text.
    ///
    /// # Errors
    /// The sentence for the error message, when the bytes are not UTF-8.
    pub fn text(&self) -> Result<Text, String> {
        match std::str::from_utf8(&self.bytes) {
            Ok(text) => Ok(Text::from(text)),
            Err(error) => Err(format!("it is not UTF-8 at byte {}", error.valid_up_to())),
        }
    }
}

impl Carriers for DocumentBody {
    fn carriers(&self) -> Vec<Carrier<'_>> {
        vec![Carrier { info: self.info(), content: Content::Bytes(&self.bytes) }]
    }
}

/// A harness whose sessions are documents.
pub trait DocumentHarness: TextCodec<Body = DocumentBody> {
    /// The ending of a file that is made.
    const EXTENSION: &'static str;
}

/// Reads a document from its file.
///
/// # Errors
/// When the file cannot be read, or is not such a document.
pub fn load<H: DocumentHarness>(
    reference: &Reference,
    context: &Context<'_>,
) -> Result<Transcript<H>, StoreError> {
    let stored = file::read(&reference.path, context.limits.file_bytes)?;
    let mut transcript = H::from_text(&stored.bytes)?;
    transcript.body.path = Some(reference.path.clone());
    Ok(transcript)
}

/// What a list would show of a document.
///
/// # Errors
/// As [`load`].
pub fn describe<H: DocumentHarness>(
    listed: &Listed,
    context: &Context<'_>,
) -> Result<Discovered, StoreError> {
    let transcript = load::<H>(&listed.reference, context)?;
    let common = H::to_common(&transcript)?;
    Ok(Discovered {
        reference: listed.reference.clone(),
        class: Class::Session,
        id: common.session.id,
        meta: common.session.meta,
        lineage: common.session.lineage,
        carriers: vec![transcript.body.info()],
        fingerprint: listed.fingerprint.clone(),
        bytes: listed.bytes,
        findings: common.findings,
    })
}

/// Streams a document. It is not append-only, so it is read as a whole.
///
/// # Errors
/// As [`load`], and when the control stops it.
pub fn scan<H: DocumentHarness>(
    reference: &Reference,
    from: &Cursor,
    wants: Wants,
    control: &Control<'_>,
    sink: &mut dyn Sink,
    context: &Context<'_>,
) -> Result<Cursor, StoreError> {
    let now = Cursor::Whole { fingerprint: Fingerprint::of_file(&reference.path)?.to_string() };
    if *from == now {
        return Ok(now);
    }
    let common = H::to_common(&load::<H>(reference, context)?)?;
    if emit(&common, wants, control, sink) {
        Ok(now)
    } else {
        Err(StoreError::Stopped(reference.to_string()))
    }
}

/// Plans to write a document into the directory that the options name.
///
/// # Errors
/// When no directory is named, the id makes no file name, or the file is there.
pub fn save<H: DocumentHarness>(
    transcript: &Transcript<H>,
    options: &SaveOptions,
) -> Result<Saving, StoreError> {
    let harness = H::DECLARATION;
    let Some(root) = options.root.clone() else {
        let reason = "it is a document and has no store; name a directory with `--out`".to_owned();
        return Err(StoreError::NoPlace { harness: harness.name, reason });
    };
    let name = format!("{}.{}", file_stem(transcript.id.as_str())?, H::EXTENSION);
    let path = root.join(name);
    if !options.replace && path.symlink_metadata().is_ok() {
        let place = path.display().to_string();
        return Err(StoreError::Exists { harness: harness.name, id: transcript.id.to_string(), place });
    }
    let steps = vec![
        Step::MakeDirectory { path: root.clone(), private: false },
        Step::CreateFile {
            path: path.clone(),
            content: FileContent::Bytes(transcript.body.bytes.clone()),
            private: true,
        },
    ];
    Ok(Saving {
        plan: Plan::new(steps).label("harness", harness.id.as_str()).label("session", transcript.id.as_str()),
        roots: vec![root.clone()],
        id: transcript.id.clone(),
        reference: Reference { harness: harness.id, root, path, key: None },
        losses: Losses::none(),
        notes: Vec::new(),
    })
}

/// The name of a document's file. An id may hold what a name cannot (that of a subagent names its
/// parent before a slash); the document itself keeps the id.
fn file_stem(id: &str) -> Result<String, StoreError> {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    let stem: String = id.chars().map(plain).collect();
    let stem = stem.trim_start_matches(['-', '.']);
    Ok(checked_component(if stem.is_empty() { "session" } else { stem })?.to_owned())
}

/// Plans to move a document to the trash.
///
/// # Errors
/// When it is not there.
pub fn delete<H: DocumentHarness>(reference: &Reference) -> Result<Deleting, StoreError> {
    let there = ibid_carrier::names::inside(&reference.root, &reference.path)?;
    let plan = Plan::new(vec![Step::TrashFile { path: there, expected: None }])
        .label("harness", H::DECLARATION.id.as_str());
    Ok(Deleting { plan, roots: vec![reference.root.clone()] })
}

/// The stamps of documents.
#[must_use]
pub fn fingerprints(references: &[Reference]) -> Vec<Result<Fingerprint, StoreError>> {
    references.iter().map(|reference| Ok(Fingerprint::of_file(&reference.path)?)).collect()
}

/// Implements `Store` for a document harness.
macro_rules! document_store {
    ($harness:ty, $recognises:expr) => {
        impl $crate::core::Store for $harness {
            fn roots(_: &$crate::core::Surroundings) -> Vec<$crate::core::Root> {
                Vec::new()
            }
            fn list(_: &$crate::core::Root, _: &$crate::core::Context<'_>) -> $crate::core::Listing {
                $crate::core::Listing::default()
            }
            fn describe(
                listed: &$crate::core::Listed,
                context: &$crate::core::Context<'_>,
            ) -> Result<$crate::core::Discovered, $crate::core::StoreError> {
                $crate::families::documents::describe::<$harness>(listed, context)
            }
            fn load(
                reference: &$crate::core::Reference,
                context: &$crate::core::Context<'_>,
            ) -> Result<$crate::core::Transcript<Self>, $crate::core::StoreError> {
                $crate::families::documents::load(reference, context)
            }
            fn scan(
                reference: &$crate::core::Reference,
                from: &$crate::core::scan::Cursor,
                wants: $crate::core::scan::Wants,
                control: &$crate::core::scan::Control<'_>,
                sink: &mut dyn $crate::core::scan::Sink,
                context: &$crate::core::Context<'_>,
            ) -> Result<$crate::core::scan::Cursor, $crate::core::StoreError> {
                $crate::families::documents::scan::<$harness>(reference, from, wants, control, sink, context)
            }
            fn save(
                transcript: &$crate::core::Transcript<Self>,
                options: &$crate::core::SaveOptions,
                _: &$crate::core::Context<'_>,
            ) -> Result<$crate::core::Saving, $crate::core::StoreError> {
                $crate::families::documents::save(transcript, options)
            }
            fn delete(
                reference: &$crate::core::Reference,
                _: &$crate::core::Context<'_>,
            ) -> Result<$crate::core::Deleting, $crate::core::StoreError> {
                $crate::families::documents::delete::<$harness>(reference)
            }
            fn fingerprints(
                references: &[$crate::core::Reference],
                _: &$crate::core::Context<'_>,
            ) -> Vec<Result<ibid_carrier::fingerprint::Fingerprint, $crate::core::StoreError>> {
                $crate::families::documents::fingerprints(references)
            }
            fn recognises(path: &std::path::Path, head: &[u8]) -> u8 {
                let recognises: fn(&std::path::Path, &[u8]) -> u8 = $recognises;
                recognises(path, head)
            }
        }
    };
}

pub(crate) use document_store;

/// Whether the beginning of a file is that of a JSON object, and holds this key early on.
#[must_use]
pub fn begins_with_key(path: &Path, head: &[u8], key: &str) -> bool {
    let json = path.extension().is_none_or(|ending| ending.eq_ignore_ascii_case("json"));
    let head = head.get(..head.len().min(4096)).unwrap_or(head);
    let object = head.iter().find(|b| !b.is_ascii_whitespace()) == Some(&b'{');
    let quoted = format!("\"{key}\"");
    json && object && memchr::memmem::find(head, quoted.as_bytes()).is_some()
}
