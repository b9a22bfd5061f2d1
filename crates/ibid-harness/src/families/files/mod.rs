//! Sessions that are one file or a few, each read whole: JSONL logs, JSON documents, and what lies
//! beside them.
//!
//! A harness of this kind says which sessions lie in a root ([`FilesHarness::list`]), which files a
//! session is made of ([`FilesHarness::places`]), and what they mean ([`Codec::to_common`]). Loading,
//! describing, scanning, fingerprints, deleting and the text form are here.
//!
//! [`Codec::to_common`]: crate::core::Codec::to_common

mod describe;
pub(crate) mod fields;
mod text;

use std::path::{Component, Path, PathBuf};

use ibid_carrier::fingerprint::Fingerprint;
use ibid_carrier::jsonl::{Document, Limits};
use ibid_carrier::names::inside;
use ibid_carrier::plan::{Plan, Step};
use ibid_carrier::walk::{FileEntry, WalkOptions, list_files};
use ibid_carrier::{CarrierError, FileStamp};
use ibid_model::{CarrierInfo, CarrierRole, Finding, FindingKind, SessionId, Timestamp};

pub use describe::describe;
pub use text::{from_text, to_text};

use crate::core::scan::{Control, Cursor, Sink, Wants, emit};
use crate::core::{
    Carrier, Carriers, Class, Codec, CodecError, Common, Content, Context, Converted, Deleting, Listed,
    Listing, Reference, Root, SaveOptions, Saving, StoreError, Surroundings, Target, TextCodec, Transcript,
    path_text,
};

/// One file of a session.
#[derive(Clone, Debug)]
pub struct SessionFile {
    /// Its name within the session (`events.jsonl`, `agents/main/wire.jsonl`), by which the harness
    /// knows it again.
    pub name: String,
    /// Its part.
    pub role: CarrierRole,
    /// Where it lies; none when it came from a text.
    pub path: Option<PathBuf>,
    /// What the file system said of it when it was opened; none when it came from a text.
    pub stamp: Option<FileStamp>,
    /// Its content, decompressed.
    pub document: Document,
}

impl SessionFile {
    /// A file that lies nowhere.
    #[must_use]
    pub fn unplaced(name: impl Into<String>, role: CarrierRole, document: Document) -> SessionFile {
        SessionFile { name: name.into(), role, path: None, stamp: None, document }
    }

    /// When it was last written, for records that carry no time.
    #[must_use]
    pub fn written(&self) -> Option<Timestamp> {
        let stamp = self.stamp.filter(|stamp| stamp.mtime_ns > 0)?;
        Timestamp::from_milliseconds(stamp.mtime_ns / 1_000_000)
    }

    fn info(&self) -> CarrierInfo {
        CarrierInfo {
            path: self.path.as_deref().map(path_text).unwrap_or_default(),
            role: self.role,
            key: None,
            bytes: Some(self.stamp.map_or(self.document.bytes().len() as u64, |stamp| stamp.size)),
        }
    }
}

/// The files of a session that are there, in the order of [`FilesHarness::places`]; a
/// [`Source`](ibid_model::Source) counts carriers in this order.
#[derive(Clone, Debug, Default)]
pub struct FilesBody {
    /// The files.
    pub files: Vec<SessionFile>,
}

impl FilesBody {
    /// The file of this name, and its number among the carriers.
    #[must_use]
    pub fn file(&self, name: &str) -> Option<(u32, &SessionFile)> {
        let at = self.files.iter().position(|file| file.name == name)?;
        Some((u32::try_from(at).ok()?, self.files.get(at)?))
    }

    /// The path of the first file.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.files.first()?.path.as_deref()
    }

    /// What the common session says of its carriers.
    #[must_use]
    pub fn infos(&self) -> Vec<CarrierInfo> {
        self.files.iter().map(SessionFile::info).collect()
    }
}

impl Carriers for FilesBody {
    fn carriers(&self) -> Vec<Carrier<'_>> {
        fn carrier(file: &SessionFile) -> Carrier<'_> {
            Carrier { info: file.info(), content: Content::Bytes(file.document.bytes()) }
        }
        self.files.iter().map(carrier).collect()
    }
}

/// Where one file of a session may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePlace {
    /// See [`SessionFile::name`].
    pub name: String,
    /// The path.
    pub path: PathBuf,
    /// Its part.
    pub role: CarrierRole,
}

impl FilePlace {
    /// A place.
    #[must_use]
    pub fn new(name: impl Into<String>, path: impl Into<PathBuf>, role: CarrierRole) -> FilePlace {
        FilePlace { name: name.into(), path: path.into(), role }
    }
}

/// A harness whose sessions are files. `files_store!` makes it a [`Store`](crate::core::Store).
pub trait FilesHarness: TextCodec<Body = FilesBody> {
    /// Words of the lines between the two ends of a long transcript that a list depends on, such as
    /// the type of a record with a title.
    const NEEDLES: &'static [&'static str] = &[];

    /// What a text that is one file's bytes is called within a session; see [`FilePlace::name`].
    const MAIN: &'static str;

    /// See [`Store::roots`](crate::core::Store::roots).
    fn roots(machine: &Surroundings) -> Vec<Root>;

    /// See [`Store::list`](crate::core::Store::list); [`listed`] and [`list_single_files`] help.
    fn list(root: &Root, context: &Context<'_>) -> Listing;

    /// The files of a session, those that may be absent too, always in one order, the one that
    /// makes the session visible first. May look at directories, and reads no file.
    fn places(reference: &Reference) -> Vec<FilePlace>;

    /// The session's id, from what is written in it, else from its name.
    fn id(body: &FilesBody) -> SessionId;

    /// What kind of thing a body is that [`to_common`](Codec::to_common) could read.
    fn class(body: &FilesBody, common: &Common) -> Class {
        let _ = body;
        if common.session.messages.is_empty() && common.session.events.is_empty() {
            Class::Other
        } else {
            Class::Session
        }
    }

    /// The directory that is the session's own, if it has one: it goes to the trash as a whole.
    fn directory(reference: &Reference) -> Option<PathBuf> {
        let _ = reference;
        None
    }

    /// See [`Store::children`](crate::core::Store::children).
    fn children(reference: &Reference, context: &Context<'_>) -> Vec<Reference> {
        let _ = (reference, context);
        Vec::new()
    }

    /// See [`Store::placed_for`](crate::core::Store::placed_for).
    fn placed_for(reference: &Reference, directory: &Path, context: &Context<'_>) -> bool {
        let _ = (reference, directory, context);
        false
    }

    /// See [`Store::recognises`](crate::core::Store::recognises).
    fn recognises(path: &Path, head: &[u8]) -> u8;
}

/// A session for a listing: its fingerprint over all places, and their size.
///
/// # Errors
/// When a place can be neither looked at nor found absent.
pub fn listed<H: FilesHarness>(reference: Reference) -> Result<Listed, CarrierError> {
    let (fingerprint, bytes) = stamps::<H>(&reference)?;
    Ok(Listed { reference, fingerprint, bytes })
}

/// Adds sessions to a listing; what cannot be looked at is a finding.
pub fn add_listed<H: FilesHarness>(listing: &mut Listing, references: impl IntoIterator<Item = Reference>) {
    for reference in references {
        let path = reference.path.clone();
        match listed::<H>(reference) {
            Ok(listed) => listing.sessions.push(listed),
            Err(error) => {
                let finding = Finding::new(FindingKind::Unreadable, error.to_string());
                listing.findings.push(finding.at_path(&path));
            }
        }
    }
    listing.sessions.sort_by(|a, b| a.reference.cmp(&b.reference));
}

/// Which files under a root are sessions of one file each.
pub fn list_single_files<H: FilesHarness>(
    root: &Root,
    options: &WalkOptions<'_>,
    is_session: impl Fn(&Path) -> bool,
) -> Listing {
    let (files, findings) = list_files(&root.path, options);
    let listed = |FileEntry { path, stamp }: FileEntry| Listed {
        fingerprint: Fingerprint::of().stamped(&path, Some(stamp)).finish(),
        bytes: stamp.size,
        reference: Reference { harness: H::DECLARATION.id, root: root.path.clone(), path, key: None },
    };
    Listing {
        sessions: files.into_iter().filter(|file| is_session(&file.path)).map(listed).collect(),
        findings,
        present: root.path.symlink_metadata().is_ok(),
    }
}

fn stamps<H: FilesHarness>(reference: &Reference) -> Result<(Fingerprint, u64), CarrierError> {
    let mut fingerprint = Fingerprint::of();
    let mut bytes = 0_u64;
    for place in H::places(reference) {
        let stamp = FileStamp::at(&place.path)?;
        bytes = bytes.saturating_add(stamp.map_or(0, |stamp| stamp.size));
        fingerprint = fingerprint.stamped(&place.path, stamp);
    }
    Ok((fingerprint.finish(), bytes))
}

/// See [`Store::load`](crate::core::Store::load).
///
/// # Errors
/// When none of the files can be read.
pub fn load<H: FilesHarness>(
    reference: &Reference,
    context: &Context<'_>,
) -> Result<Transcript<H>, StoreError> {
    let body = read_body::<H>(reference, context.limits)?;
    Ok(Transcript { id: H::id(&body), body })
}

fn read_body<H: FilesHarness>(reference: &Reference, limits: &Limits) -> Result<FilesBody, StoreError> {
    let mut body = FilesBody::default();
    for place in H::places(reference) {
        stays_inside(&reference.root, &place.path)?;
        match Document::read(&place.path, limits) {
            Ok(document) => body.files.push(SessionFile {
                name: place.name,
                role: place.role,
                stamp: document.stamp(),
                path: Some(place.path),
                document,
            }),
            Err(CarrierError::NotFound { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    match body.files.is_empty() {
        true => Err(StoreError::NotFound { harness: H::DECLARATION.name, reference: reference.to_string() }),
        false => Ok(body),
    }
}

/// Refuses a file of a session that a link leads out of the root to: it is none of the store, and may
/// be anything. One directly in the root was met by a listing, which follows no such link, or is named
/// by a person, who may name a link.
fn stays_inside(root: &Path, path: &Path) -> Result<(), CarrierError> {
    let Ok(below) = path.strip_prefix(root) else { return Ok(()) };
    let mut at = root.to_owned();
    let is_link = |name: Component<'_>| {
        at.push(name);
        at.is_symlink()
    };
    // A link that leads nowhere is an absent file.
    let linked = below.components().count() > 1 && below.components().any(is_link) && path.exists();
    if linked { inside(root, path).map(|_| ()) } else { Ok(()) }
}

/// See [`Store::scan`](crate::core::Store::scan). The files are read as a whole, and again as a
/// whole after a change.
///
/// # Errors
/// As [`load`], and when the control stops it.
pub fn scan<H: FilesHarness>(
    reference: &Reference,
    from: &Cursor,
    wants: Wants,
    control: &Control<'_>,
    sink: &mut dyn Sink,
    context: &Context<'_>,
) -> Result<Cursor, StoreError> {
    let now = Cursor::Whole { fingerprint: stamps::<H>(reference)?.0.to_string() };
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

/// See [`Store::fingerprints`](crate::core::Store::fingerprints).
pub fn fingerprints<H: FilesHarness>(references: &[Reference]) -> Vec<Result<Fingerprint, StoreError>> {
    let not_there = |reference: &Reference| StoreError::NotFound {
        harness: H::DECLARATION.name,
        reference: reference.to_string(),
    };
    let fingerprint = |reference: &Reference| match FileStamp::at(&reference.path)? {
        None => Err(not_there(reference)),
        Some(_) => Ok(stamps::<H>(reference)?.0),
    };
    references.iter().map(fingerprint).collect()
}

/// See [`Store::delete`](crate::core::Store::delete): the session's own directory, or each of its
/// files, the one that makes it visible first.
///
/// # Errors
/// When the session is not there, or not below its root.
pub fn delete<H: FilesHarness>(reference: &Reference) -> Result<Deleting, StoreError> {
    let visible = inside(&reference.root, &reference.path)?;
    if FileStamp::at(&visible)?.is_none() {
        let reference = reference.to_string();
        return Err(StoreError::NotFound { harness: H::DECLARATION.name, reference });
    }
    let mut steps = Vec::new();
    match H::directory(reference) {
        Some(directory) => steps.push(Step::TrashDirectory { path: inside(&reference.root, &directory)? }),
        None => {
            // What lies outside the root belongs to another part of the program, and stays.
            let own = |place: &FilePlace| place.path.starts_with(&reference.root);
            for place in H::places(reference).into_iter().filter(own) {
                if let Some(stamp) = FileStamp::at(&place.path)? {
                    let path = inside(&reference.root, &place.path)?;
                    steps.push(Step::TrashFile { path, expected: Some(stamp.into()) });
                }
            }
        }
    }
    let name = reference.path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let plan = Plan::new(steps)
        .label("harness", H::DECLARATION.id.as_str())
        .label("session", name.unwrap_or_default());
    Ok(Deleting { plan, roots: vec![reference.root.clone()] })
}

/// What a harness answers that Ibid reads and does not write.
///
/// # Errors
/// Always.
pub fn not_written<H: Codec>(_: &Target) -> Result<Converted<Transcript<H>>, CodecError> {
    let name = H::DECLARATION.name;
    Err(CodecError::Inexpressible {
        harness: name,
        reason: format!("Ibid reads sessions of {name} and does not write them; choose another target"),
    })
}

/// What a store answers that Ibid reads and does not write.
///
/// # Errors
/// Always.
pub fn not_saved<H: Codec>(_: &SaveOptions) -> Result<Saving, StoreError> {
    let reason = "sessions are read and not written; convert it to another harness, or export it";
    Err(StoreError::Unsupported { harness: H::DECLARATION.name, reason })
}

/// Implements `Store` for a [`FilesHarness`].
macro_rules! files_store {
    ($harness:ty) => {
        impl $crate::core::Store for $harness {
            fn roots(machine: &$crate::core::Surroundings) -> Vec<$crate::core::Root> {
                <$harness as $crate::families::files::FilesHarness>::roots(machine)
            }
            fn list(root: &$crate::core::Root, context: &$crate::core::Context<'_>) -> $crate::core::Listing {
                <$harness as $crate::families::files::FilesHarness>::list(root, context)
            }
            fn describe(
                listed: &$crate::core::Listed,
                context: &$crate::core::Context<'_>,
            ) -> Result<$crate::core::Discovered, $crate::core::StoreError> {
                $crate::families::files::describe::<$harness>(listed, context)
            }
            fn placed_for(
                reference: &$crate::core::Reference,
                directory: &std::path::Path,
                context: &$crate::core::Context<'_>,
            ) -> bool {
                <$harness as $crate::families::files::FilesHarness>::placed_for(reference, directory, context)
            }
            fn load(
                reference: &$crate::core::Reference,
                context: &$crate::core::Context<'_>,
            ) -> Result<$crate::core::Transcript<Self>, $crate::core::StoreError> {
                $crate::families::files::load(reference, context)
            }
            fn scan(
                reference: &$crate::core::Reference,
                from: &$crate::core::scan::Cursor,
                wants: $crate::core::scan::Wants,
                control: &$crate::core::scan::Control<'_>,
                sink: &mut dyn $crate::core::scan::Sink,
                context: &$crate::core::Context<'_>,
            ) -> Result<$crate::core::scan::Cursor, $crate::core::StoreError> {
                $crate::families::files::scan::<$harness>(reference, from, wants, control, sink, context)
            }
            fn children(
                reference: &$crate::core::Reference,
                context: &$crate::core::Context<'_>,
            ) -> Vec<$crate::core::Reference> {
                <$harness as $crate::families::files::FilesHarness>::children(reference, context)
            }
            fn save(
                _: &$crate::core::Transcript<Self>,
                options: &$crate::core::SaveOptions,
                _: &$crate::core::Context<'_>,
            ) -> Result<$crate::core::Saving, $crate::core::StoreError> {
                $crate::families::files::not_saved::<$harness>(options)
            }
            fn delete(
                reference: &$crate::core::Reference,
                _: &$crate::core::Context<'_>,
            ) -> Result<$crate::core::Deleting, $crate::core::StoreError> {
                $crate::families::files::delete::<$harness>(reference)
            }
            fn fingerprints(
                references: &[$crate::core::Reference],
                _: &$crate::core::Context<'_>,
            ) -> Vec<Result<ibid_carrier::fingerprint::Fingerprint, $crate::core::StoreError>> {
                $crate::families::files::fingerprints::<$harness>(references)
            }
            fn recognises(path: &std::path::Path, head: &[u8]) -> u8 {
                <$harness as $crate::families::files::FilesHarness>::recognises(path, head)
            }
        }

        impl $crate::core::TextCodec for $harness {
            fn from_text(text: &[u8]) -> Result<$crate::core::Transcript<Self>, $crate::core::CodecError> {
                $crate::families::files::from_text(text)
            }

            fn to_text(
                transcript: &$crate::core::Transcript<Self>,
            ) -> Result<Vec<u8>, $crate::core::CodecError> {
                $crate::families::files::to_text(transcript)
            }
        }
    };
}

pub(crate) use files_store;

#[cfg(test)]
mod tests;
