//! Files of sessions in a root: found, loaded, saved, deleted.

use std::path::{Path, PathBuf};

use ibid_carrier::CarrierError;
use ibid_carrier::fingerprint::Fingerprint;
use ibid_carrier::jsonl::Document;
use ibid_carrier::names::{checked_component, inside};
use ibid_carrier::plan::{Content, ContentStamp, Plan, Step};
use ibid_carrier::walk::{FileEntry, WalkOptions, list_files};
use ibid_model::{Losses, SessionId, Text};

use super::assembly::session_id;
use super::describe::describe;
use super::records::{Body, Entry, Header};
use super::{Dialect, TreeFile};
use crate::core::open::working_in;
use crate::core::{
    CodecError, Context, Deleting, HarnessId, Listed, Listing, OpenIn, Reference, Root, Saving, StoreError,
};

/// The longest name of a folder that the usual file systems take, in bytes.
const NAME_BYTES: usize = 255;

/// Which session files are under a root, at any depth.
pub(crate) fn list(harness: HarnessId, root: &Root) -> Listing {
    let options = WalkOptions { extensions: &["jsonl"], ..WalkOptions::default() };
    let (files, findings) = list_files(&root.path, &options);
    let listed = |FileEntry { path, stamp }: FileEntry| Listed {
        fingerprint: Fingerprint::of().stamped(&path, Some(stamp)).finish(),
        bytes: stamp.size,
        reference: Reference { harness, root: root.path.clone(), path, key: None },
    };
    Listing {
        sessions: files.into_iter().map(listed).collect(),
        findings,
        present: root.path.symlink_metadata().is_ok(),
    }
}

/// Reads a session file whole.
///
/// # Errors
/// When the file cannot be read.
pub(crate) fn load(
    dialect: &'static Dialect,
    reference: &Reference,
    context: &Context<'_>,
) -> Result<(SessionId, TreeFile), StoreError> {
    let document = Document::read(&reference.path, context.limits).map_err(|error| match error {
        CarrierError::NotFound { .. } => {
            StoreError::NotFound { harness: dialect.name, reference: reference.to_string() }
        }
        error => error.into(),
    })?;
    let file = TreeFile { document };
    Ok((id_of(&file), file))
}

/// A session file from its bytes.
///
/// # Errors
/// When no line of it is an entry of such a file.
pub(crate) fn from_bytes(
    dialect: &'static Dialect,
    bytes: &[u8],
) -> Result<(SessionId, TreeFile), CodecError> {
    let file = TreeFile { document: Document::from_bytes(bytes.to_vec()) };
    let records = file.document.read_records(Entry::read);
    if records.items.iter().all(|item| matches!(item.value.body, Body::Unknown(_))) {
        let reason = "none of its lines is an entry that it writes".to_owned();
        return Err(CodecError::Foreign { harness: dialect.name, reason });
    }
    Ok((id_of(&file), file))
}

/// The header, if the first entry that can be read, titles before it left out, is one.
fn header_of(document: &Document) -> Option<Header> {
    let first = document
        .lines()
        .filter_map(|line| document.text_of(line.start, line.end))
        .filter_map(|text| Entry::read(&text).ok())
        .find(|entry| !matches!(entry.body, Body::Titled { .. }))?;
    match first.body {
        Body::Header(header) => Some(header),
        _ => None,
    }
}

fn id_of(file: &TreeFile) -> SessionId {
    let said = header_of(&file.document).and_then(|header| header.id).map(SessionId::from);
    session_id(said, &file.document.path().map(|path| path.to_string_lossy()).unwrap_or_default())
}

/// The folder of a project: the path without its first separator, every other separator and colon
/// a `-`, between `--` and `--`.
pub(crate) fn project_folder(cwd: &str) -> String {
    let rest = cwd.strip_prefix(['/', '\\']).unwrap_or(cwd);
    format!("--{}--", rest.replace(['/', '\\', ':'], "-"))
}

/// The name of a session's file: of one that was loaded the name it had, of a new one the time it
/// began and its id.
fn file_name(id: &SessionId, file: &TreeFile) -> String {
    if let Some(name) = file.document.path().and_then(Path::file_name).and_then(|name| name.to_str())
        && name.ends_with(".jsonl")
        && id_of(file) == *id
    {
        return name.to_owned();
    }
    #[derive(serde::Deserialize)]
    struct Stamped {
        #[serde(rename = "type")]
        kind: Option<String>,
        timestamp: Option<String>,
    }
    let mut stamped =
        file.document.lines().map_while(|line| serde_json::from_slice::<Stamped>(line.bytes).ok());
    let begin = stamped
        .find(|line| line.kind.as_deref() != Some("title"))
        .and_then(|header| header.timestamp)
        .and_then(|text| ibid_model::Timestamp::parse(&text));
    match begin {
        Some(at) => format!("{}_{id}.jsonl", at.to_iso_milliseconds().replace([':', '.'], "-")),
        None => format!("{id}.jsonl"),
    }
}

/// Where a session file is to be saved.
pub(crate) struct SavePlace {
    /// The root.
    pub(crate) root: PathBuf,
    /// Whether the root holds the files themselves, and not a folder for each project.
    pub(crate) flat: bool,
    /// Whether a session of the same id is to be replaced.
    pub(crate) replace: bool,
}

/// Plans to write a session file.
///
/// # Errors
/// When the id cannot be a part of a name, the folder's name would be too long, or a file of the
/// root has this id already and is not to be replaced.
pub(crate) fn save(
    dialect: &'static Dialect,
    harness: HarnessId,
    (id, file): (&SessionId, &TreeFile),
    place: SavePlace,
) -> Result<Saving, StoreError> {
    let SavePlace { root, flat, replace } = place;
    checked_component(id.as_str())?;
    let name = file_name(id, file);
    checked_component(&name)?;
    let mut notes = Vec::new();
    let folder = match flat {
        true => root.clone(),
        false => root.join(folder_name(dialect, file, &mut notes)?),
    };
    let path = folder.join(&name);
    let mut taken = taken_by(&root, id).into_iter();
    if let Some(other) = taken.find(|other| !replace || *other != path) {
        return Err(StoreError::Exists {
            harness: dialect.name,
            id: id.to_string(),
            place: other.display().to_string(),
        });
    }
    let content = Content::from(file.document.shared_bytes());
    let plan = Plan::new(vec![
        Step::MakeDirectory { path: folder, private: true },
        Step::CreateFile { path: path.clone(), content, private: true },
    ])
    .label("harness", harness.as_str())
    .label("session", id.as_str());
    Ok(Saving {
        plan,
        roots: vec![root.clone()],
        id: id.clone(),
        reference: Reference { harness, root, path, key: None },
        losses: Losses::none(),
        notes,
    })
}

fn folder_name(
    dialect: &'static Dialect,
    file: &TreeFile,
    notes: &mut Vec<String>,
) -> Result<String, StoreError> {
    let cwd: Option<Text> = header_of(&file.document).and_then(|header| header.cwd);
    let Some(cwd) = cwd else {
        let old = file.document.path().and_then(Path::parent).and_then(Path::file_name);
        let old = old.map(|name| name.to_string_lossy().into_owned());
        if let Some(old) = old.filter(|old| old.starts_with("--") && old.ends_with("--")) {
            return Ok(old);
        }
        notes.push(format!(
            "The session names no working directory, so {} finds it by its path only.",
            dialect.name
        ));
        return Ok(project_folder(""));
    };
    let name = project_folder(&cwd);
    if name.len() > NAME_BYTES || name.chars().any(char::is_control) {
        let reason = format!(
            "its working directory makes a folder name of {} bytes that no file system takes; give another one",
            name.len()
        );
        return Err(StoreError::NoPlace { harness: dialect.name, reason });
    }
    Ok(name)
}

/// Files of the root whose names say that they hold this session.
fn taken_by(root: &Path, id: &SessionId) -> Vec<PathBuf> {
    let options = WalkOptions { extensions: &["jsonl"], ..WalkOptions::default() };
    let ends = format!("_{id}.jsonl");
    let is = format!("{id}.jsonl");
    let (files, _) = list_files(root, &options);
    files
        .into_iter()
        .map(|file| file.path)
        .filter(|path| {
            let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
            name == is || name.ends_with(&ends)
        })
        .collect()
}

/// Plans to move a session file to the trash.
///
/// # Errors
/// When the path is no session file under its root.
pub(crate) fn delete(dialect: &'static Dialect, reference: &Reference) -> Result<Deleting, StoreError> {
    let not_found = || StoreError::NotFound { harness: dialect.name, reference: reference.to_string() };
    if reference.path.extension().is_none_or(|extension| extension != "jsonl") {
        return Err(not_found());
    }
    inside(&reference.root, &reference.path)?;
    let expected = ContentStamp::of(&reference.path).map_err(|_| not_found())?;
    let plan = Plan::new(vec![Step::TrashFile { path: reference.path.clone(), expected: Some(expected) }])
        .label("harness", reference.harness.as_str());
    Ok(Deleting { plan, roots: vec![reference.root.clone()] })
}

/// The running program that may have a session open: one of this name that works in the session's
/// directory.
///
/// Measured with pi 1.6.0: it keeps no lock, no file open and no list of what it has open, but names
/// its process `pi`, and writes a session that was moved away anew, without its beginning.
pub(crate) fn open_in(
    dialect: &'static Dialect,
    process: &str,
    reference: &Reference,
    context: &Context<'_>,
) -> Option<OpenIn> {
    let fingerprint = Fingerprint::of_file(&reference.path).ok()?;
    let bytes = reference.path.metadata().ok()?.len();
    let listed = Listed { reference: reference.clone(), fingerprint, bytes };
    let cwd = describe(dialect, &listed, context.limits).ok()?.meta.cwd?;
    let directory = Path::new(cwd.as_str());
    let found = working_in(process, directory)?;
    Some(OpenIn { process: Some(found), sign: format!("{process} runs in {}", directory.display()) })
}

/// The fingerprint of each file as it is now.
pub(crate) fn fingerprints(
    dialect: &'static Dialect,
    references: &[Reference],
) -> Vec<Result<Fingerprint, StoreError>> {
    let one = |reference: &Reference| {
        if !reference.path.exists() {
            return Err(StoreError::NotFound { harness: dialect.name, reference: reference.to_string() });
        }
        Ok(Fingerprint::of_file(&reference.path)?)
    };
    references.iter().map(one).collect()
}

/// Whether the beginning of a file is a header of a version up to 3, from a file of the usual name
/// or any other.
pub(crate) fn recognises(path: &Path, head: &[u8], newest: u64) -> u8 {
    let document = Document::from_bytes(head.to_vec());
    let Some(header) = header_of(&document) else { return 0 };
    let fits = header.id.is_some() && header.version.unwrap_or(1) <= newest;
    match (fits, super::place::id_of_path(&path.to_string_lossy()).is_some()) {
        (true, true) => 90,
        (true, false) => 70,
        (false, _) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_folder_is_named_as_the_program_names_it() {
        for (cwd, folder) in [
            ("/home/dev/demo with spaces", "--home-dev-demo with spaces--"),
            (r"C:\Users\me", "--C--Users-me--"),
            ("/", "----"),
        ] {
            assert_eq!(project_folder(cwd), folder);
        }
    }
}
