//! Finding, reading and deleting sessions, in databases and in the older tree.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use ibid_carrier::fingerprint::Fingerprint;
use ibid_carrier::{FileStamp, file};
use ibid_model::{CarrierInfo, CarrierRole, Finding, FindingKind, Meta, SessionId};

use super::body::{EntryKind, ExportBody, RowsBody, SessionBody};
use super::database::{Digest, Shape, children as child_rows, digests, reading, rows_of, shape};
use super::records::Native;
use super::tree::{Tree, TreeSession};
use super::{assembly, kin, outline};
use crate::core::scan::{Control, Cursor, Sink, Wants, emit};
use crate::core::{
    Class, Context, Discovered, Listed, Listing, Reference, Root, StoreError, TextCodec, Transcript,
    path_text,
};

/// What tells the members of the family apart.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// The name of the database in the root.
    pub database: &'static str,
    /// What the names of the databases of other channels begin with.
    pub channel_prefix: &'static str,
    /// The version whose tables are known.
    pub version: &'static str,
    /// These tables, as SQL that makes an empty database that the program accepts.
    pub schema: &'static str,
}

/// A program of this family.
pub trait TablesHarness: TextCodec<Body = SessionBody> {
    /// Where it differs from the others.
    const LAYOUT: Layout;
}

/// The beginning of every SQLite database.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// Whether a file has the name of a database of this program.
pub(crate) fn is_database_name(layout: &Layout, path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name == layout.database || (name.starts_with(layout.channel_prefix) && name.ends_with(".db"))
}

fn unreadable(path: &Path, why: &str) -> Finding {
    Finding::new(FindingKind::Unreadable, why).at_path(path)
}

/// The databases below a root, the main one first. A root may be a database itself.
fn databases(layout: &Layout, root: &Path, findings: &mut Vec<Finding>) -> Vec<PathBuf> {
    if root.is_file() {
        return vec![root.to_owned()];
    }
    let mut found = Vec::new();
    match std::fs::read_dir(root) {
        Ok(entries) => {
            for entry in entries.flatten() {
                let path = entry.path();
                if !is_database_name(layout, &path) {
                    continue;
                }
                match std::fs::metadata(&path) {
                    Ok(metadata) if metadata.is_file() => found.push(path),
                    // Sessions may lie behind it: a store that cannot be read is not an empty one.
                    Ok(_) => findings.push(unreadable(&path, "not a regular file")),
                    Err(error) if error.kind() == std::io::ErrorKind::NotFound && !path.is_symlink() => {}
                    Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                        findings.push(unreadable(&path, "a link that leads nowhere"));
                    }
                    Err(error) => findings.push(unreadable(&path, &error.to_string())),
                }
            }
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => findings.push(unreadable(root, &error.to_string())),
    }
    found.sort_by_key(|path| (!path.ends_with(layout.database), path.clone()));
    found
}

/// The sessions under a root. A session that lies in the database and in the older tree too is
/// listed once, from the database.
pub(crate) fn list<H: TablesHarness>(root: &Root, context: &Context<'_>) -> Listing {
    let mut listing = Listing { present: root.path.exists(), ..Listing::default() };
    let mut known: BTreeMap<String, (PathBuf, Digest)> = BTreeMap::new();
    for database in databases(&H::LAYOUT, &root.path, &mut listing.findings) {
        match list_database(&database, context) {
            Ok(Ok(found)) => {
                for (key, digest) in found {
                    if let Some((other, same)) = known.get(&key) {
                        if !same.same_as(&digest) {
                            listing.findings.push(variants(&key, other, &database));
                        }
                        continue;
                    }
                    listing.sessions.push(Listed {
                        reference: reference::<H>(&root.path, &database, Some(key.clone())),
                        fingerprint: digest.fingerprint(&database),
                        bytes: digest.bytes,
                    });
                    known.insert(key, (database.clone(), digest));
                }
            }
            Ok(Err(reason)) => {
                let finding = Finding::new(FindingKind::ForeignContent, reason);
                listing.findings.push(finding.at_path(&database));
            }
            Err(StoreError::Database(error)) if error.is_absence() => {}
            Err(StoreError::Database(error)) => listing.findings.push(error.finding(&database)),
            Err(error) => {
                let finding = Finding::new(FindingKind::Unreadable, error.to_string());
                listing.findings.push(finding.at_path(&database));
            }
        }
    }
    if let Some(tree) = Tree::list(&root.path).filter(|_| root.path.is_dir()) {
        let mut seen: HashMap<String, PathBuf> = HashMap::new();
        for record in tree.sessions() {
            let session = tree.session(&record);
            let elsewhere = known.get(&session.id).map(|(database, _)| database).or(seen.get(&session.id));
            if let Some(elsewhere) = elsewhere {
                listing.findings.push(variants(&session.id, elsewhere, &record.path));
                continue;
            }
            listing.sessions.push(Listed {
                reference: reference::<H>(&root.path, &record.path, None),
                fingerprint: session.fingerprint(),
                bytes: session.bytes(),
            });
            seen.insert(session.id, record.path);
        }
        listing.findings.extend(tree.findings);
    }
    listing.sessions.sort_by(|a, b| a.reference.cmp(&b.reference));
    listing
}

fn variants(id: &str, used: &Path, other: &Path) -> Finding {
    let detail = format!("session {id} is also in {}, which is used", used.display());
    Finding::new(FindingKind::Variants, detail).at_path(other)
}

fn reference<H: TablesHarness>(root: &Path, path: &Path, key: Option<String>) -> Reference {
    Reference { harness: H::DECLARATION.id, root: root.to_owned(), path: path.to_owned(), key }
}

type Found = Result<BTreeMap<String, Digest>, String>;

/// The sessions of a database, or why it is none of this family.
fn list_database(database: &Path, context: &Context<'_>) -> Result<Found, StoreError> {
    reading(database, context.machine.cache_dir(), |connection| match shape(connection)? {
        Shape::Known(own) => Ok(Ok(digests(connection, &own, None)?)),
        Shape::Foreign(reason) => Ok(Err(reason)),
    })
}

pub(super) fn not_found<H: TablesHarness>(reference: &Reference) -> StoreError {
    StoreError::NotFound { harness: H::DECLARATION.name, reference: reference.to_string() }
}

fn is_database(path: &Path) -> bool {
    let mut head = [0; 16];
    let read = std::fs::File::open(path).and_then(|mut file| std::io::Read::read_exact(&mut file, &mut head));
    read.is_ok() && head == MAGIC
}

/// The key of a reference to a database; a database that a person named by its path has none, and
/// is meant when there is only one session in it.
fn key_of<H: TablesHarness>(reference: &Reference, context: &Context<'_>) -> Result<String, StoreError> {
    if let Some(key) = &reference.key {
        return Ok(key.clone());
    }
    match list_database(&reference.path, context)? {
        Err(reason) => Err(foreign::<H>(reason)),
        Ok(found) => {
            let count = found.len();
            match found.into_keys().next().filter(|_| count == 1) {
                Some(only) => Ok(only),
                None => {
                    let reason = format!("the database holds {count} sessions; name one by its id");
                    Err(StoreError::NoPlace { harness: H::DECLARATION.name, reason })
                }
            }
        }
    }
}

fn foreign<H: TablesHarness>(reason: String) -> StoreError {
    crate::core::CodecError::Foreign { harness: H::DECLARATION.name, reason }.into()
}

/// What a list shows of a session.
///
/// # Errors
/// When it cannot be read.
pub(crate) fn describe<H: TablesHarness>(
    listed: &Listed,
    context: &Context<'_>,
) -> Result<Discovered, StoreError> {
    let reference = &listed.reference;
    if reference.key.is_some() || is_database(&reference.path) {
        return describe_row::<H>(listed, context);
    }
    let Some((tree, session)) = tree_session(reference) else { return describe_whole::<H>(listed, context) };
    let carriers = session.carriers();
    // Messages are small; of the parts, those of the first prompts are all that a list needs.
    let body = tree.load(&session.without_parts(), context.limits.file_bytes)?;
    let mut body = with_kin(body, &tree, &session);
    let mut read = 0;
    let native = loop {
        let native = Native::of(&SessionBody::Tree(body.clone())).map_err(foreign::<H>)?;
        let asked = native.messages.iter().filter(|message| assembly::is_user(message)).nth(read);
        let told = read > 0 && assembly::has_typed_text(&native);
        let Some(message) = asked.filter(|_| !told && native.session.parent.is_none()) else { break native };
        read += 1;
        let parts = tree.load(&session.with_parts_of(&message.id), context.limits.file_bytes)?;
        body.files.extend(parts.files.into_iter().filter(|file| file.kind == EntryKind::Part));
    };
    let common = assembly::assemble(H::DECLARATION.id.as_str(), &native, carriers);
    Ok(Discovered {
        reference: reference.clone(),
        class: class(native.session.parent.is_some()),
        id: common.session.id,
        meta: common.session.meta,
        lineage: common.session.lineage,
        carriers: common.session.carriers,
        fingerprint: session.fingerprint(),
        bytes: session.bytes(),
        findings: common.findings,
    })
}

fn class(subagent: bool) -> Class {
    if subagent { Class::Sidecar } else { Class::Session }
}

fn describe_row<H: TablesHarness>(listed: &Listed, context: &Context<'_>) -> Result<Discovered, StoreError> {
    let database = &listed.reference.path;
    let discovered = |class, id: SessionId, meta, lineage, findings| Discovered {
        reference: listed.reference.clone(),
        class,
        carriers: vec![CarrierInfo {
            path: path_text(database),
            role: CarrierRole::Rows,
            key: Some(id.text().clone()),
            bytes: None,
        }],
        id,
        meta,
        lineage,
        fingerprint: listed.fingerprint.clone(),
        bytes: listed.bytes,
        findings,
    };
    let key = match key_of::<H>(&listed.reference, context) {
        Err(StoreError::Codec(error)) => {
            let finding = Finding::new(FindingKind::ForeignContent, error.to_string()).at_path(database);
            let name = path_text(database);
            return Ok(discovered(Class::Foreign, name.into(), Meta::default(), Vec::new(), vec![finding]));
        }
        key => key?,
    };
    reading(database, context.machine.cache_dir(), |connection| {
        let own = match shape(connection)? {
            Shape::Known(own) => own,
            Shape::Foreign(reason) => return Err(foreign::<H>(reason)),
        };
        let Some(outline) = outline::of_row(connection, &own, &key)? else {
            return Err(not_found::<H>(&listed.reference));
        };
        let digest = digests(connection, &own, Some(&key))?.remove(&key).unwrap_or_default();
        let class = class(outline.subagent);
        let found = discovered(class, outline.id, outline.meta, outline.lineage, Vec::new());
        Ok(Discovered { fingerprint: digest.fingerprint(database), bytes: digest.bytes, ..found })
    })
}

fn describe_whole<H: TablesHarness>(
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
        carriers: common.session.carriers,
        fingerprint: listed.fingerprint.clone(),
        bytes: listed.bytes,
        findings: common.findings,
    })
}

/// The root of the tree that a record lies in.
fn tree_root(record: &Path) -> Option<&Path> {
    let folder = record.parent()?.parent()?;
    let storage = folder.parent()?;
    (folder.ends_with("session") && storage.ends_with(super::tree::STORAGE)).then(|| storage.parent())?
}

pub(super) fn tree_session(reference: &Reference) -> Option<(Tree, TreeSession)> {
    let tree = Tree::at(tree_root(&reference.path)?);
    let record = tree.record(&reference.path)?;
    let session = tree.session(&record);
    Some((tree, session))
}

fn with_kin(mut body: super::body::TreeBody, tree: &Tree, session: &TreeSession) -> super::body::TreeBody {
    let record = session.entries.first().and_then(|(_, entry)| super::tree::read_record(&entry.path));
    if let Some(record) = record {
        body.kin = tree.kin(&record, session);
    }
    body
}

/// Reads a session whole.
///
/// # Errors
/// When it cannot be read, or is not there.
pub(crate) fn load<H: TablesHarness>(
    reference: &Reference,
    context: &Context<'_>,
) -> Result<Transcript<H>, StoreError> {
    if reference.key.is_some() || is_database(&reference.path) {
        let key = key_of::<H>(reference, context)?;
        return reading(&reference.path, context.machine.cache_dir(), |connection| {
            let own = match shape(connection)? {
                Shape::Known(own) => own,
                Shape::Foreign(reason) => return Err(foreign::<H>(reason)),
            };
            let rows = rows_of(connection, &own, &key)?;
            if rows.tables.first().is_none_or(|table| table.table != "session") {
                return Err(not_found::<H>(reference));
            }
            let id = SessionId::from(key.as_str());
            let mut body =
                RowsBody { database: reference.path.clone(), key: id.clone(), rows, kin: Default::default() };
            let parent = Native::of(&SessionBody::Rows(body.clone_session())).map_err(foreign::<H>)?;
            body.kin = kin::of_row(connection, &key, parent.session.parent.as_ref())?;
            Ok(Transcript { id, body: SessionBody::Rows(body) })
        });
    }
    if FileStamp::at(&reference.path)?.is_none() {
        return Err(not_found::<H>(reference));
    }
    if let Some((tree, session)) = tree_session(reference) {
        let body = with_kin(tree.load(&session, context.limits.file_bytes)?, &tree, &session);
        let body = SessionBody::Tree(body);
        let id = Native::of(&body).map_err(foreign::<H>)?.session.id;
        return Ok(Transcript { id, body });
    }
    let stored = file::read(&reference.path, context.limits.file_bytes)?;
    let mut transcript = H::from_text(&stored.bytes)?;
    if let SessionBody::Export(ExportBody { path, .. }) = &mut transcript.body {
        *path = Some(reference.path.clone());
    }
    Ok(transcript)
}

/// Streams a session. No carrier of this family is append-only, so it is read as a whole.
///
/// # Errors
/// As [`load`], and when the control stops it.
pub(crate) fn scan<H: TablesHarness>(
    reference: &Reference,
    from: &Cursor,
    wants: Wants,
    control: &Control<'_>,
    sink: &mut dyn Sink,
    context: &Context<'_>,
) -> Result<Cursor, StoreError> {
    let now = Cursor::Whole { fingerprint: fingerprint::<H>(reference, context)?.to_string() };
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

/// The sessions that this one started.
pub(crate) fn children<H: TablesHarness>(reference: &Reference, context: &Context<'_>) -> Vec<Reference> {
    if let Some(key) = &reference.key {
        let found =
            reading(&reference.path, context.machine.cache_dir(), |connection| child_rows(connection, key));
        let of = |key| self::reference::<H>(&reference.root, &reference.path, Some(key));
        return found.unwrap_or_default().into_iter().map(of).collect();
    }
    let Some((tree, session)) = tree_session(reference) else { return Vec::new() };
    let of = |path: PathBuf| self::reference::<H>(&reference.root, &path, None);
    tree.children(&session.id).into_iter().map(of).collect()
}

fn fingerprint<H: TablesHarness>(
    reference: &Reference,
    context: &Context<'_>,
) -> Result<Fingerprint, StoreError> {
    if let Some(key) = &reference.key {
        return reading(&reference.path, context.machine.cache_dir(), |connection| {
            let Shape::Known(own) = shape(connection)? else { return Err(not_found::<H>(reference)) };
            let digest = digests(connection, &own, Some(key))?.remove(key);
            digest.map(|digest| digest.fingerprint(&reference.path)).ok_or_else(|| not_found::<H>(reference))
        });
    }
    match tree_session(reference) {
        Some((_, session)) => Ok(session.fingerprint()),
        None => Ok(Fingerprint::of_file(&reference.path)?),
    }
}

/// The carriers of sessions as they are now. Of a database all sessions are looked at once.
pub(crate) fn fingerprints<H: TablesHarness>(
    references: &[Reference],
    context: &Context<'_>,
) -> Vec<Result<Fingerprint, StoreError>> {
    let mut by_database: HashMap<&Path, BTreeMap<String, Digest>> = HashMap::new();
    for reference in references.iter().filter(|reference| reference.key.is_some()) {
        if let std::collections::hash_map::Entry::Vacant(place) = by_database.entry(&reference.path)
            && let Ok(Ok(found)) = list_database(&reference.path, context)
        {
            place.insert(found);
        }
    }
    let one = |reference: &Reference| {
        let digest =
            reference.key.as_ref().and_then(|key| by_database.get(reference.path.as_path())?.get(key));
        match digest {
            Some(digest) => Ok(digest.fingerprint(&reference.path)),
            None => fingerprint::<H>(reference, context),
        }
    };
    references.iter().map(one).collect()
}

/// Whether a file could be a database, a record of the older tree or an export.
pub(crate) fn recognises<H: TablesHarness>(path: &Path, head: &[u8]) -> u8 {
    if head.starts_with(MAGIC) {
        return if is_database_name(&H::LAYOUT, path) { 80 } else { 0 };
    }
    let text = head.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{');
    let has = |needle: &[u8]| memchr::memmem::find(head, needle).is_some();
    if !text {
        0
    } else if tree_root(path).is_some() {
        90
    } else if has(b"\"info\"") && has(b"\"ses_") {
        60
    } else {
        0
    }
}
