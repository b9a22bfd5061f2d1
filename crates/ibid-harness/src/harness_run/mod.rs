//! Harness runs: traces of trials that a comparison of harnesses keeps inside the project.
//!
//! Known from a public reader of them; nothing that writes them was run. See
//! `docs/formats/harness-run.md`.

mod reading;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use ibid_carrier::walk::{WalkOptions, list_files};
use ibid_model::{Argument, CarrierRole, Json, Session, SessionId, Text, Tool};
use memchr::memmem;

use crate::core::{
    Capabilities, Class, Codec, CodecError, Common, Context, Converted, Declaration, EvidencePlatform,
    Harness, HarnessId, Listing, Reference, Root, RootOrigin, Surroundings, Target, Transcript,
};
use crate::families::claude_rows;
use crate::families::files::{FilePlace, FilesBody, FilesHarness, add_listed, files_store, not_written};

/// Harness runs.
#[derive(Clone, Copy, Debug)]
pub struct HarnessRun;

static DECLARATION: Declaration = Declaration {
    id: HarnessId::declare("harness-run"),
    name: "Harness run",
    aliases: &["harness-runs", "better-harness"],
    capabilities: Capabilities {
        store: true,
        write: false,
        resume: false,
        subagents: false,
        branches: false,
        compaction: false,
    },
    resume: None,
    context_window: 200_000,
    versions_seen: &[],
    evidence: Some(EvidencePlatform { rank: 12, name: "harness-run" }),
    capture: &[],
    retention_days: None,
};

/// Where a project keeps its runs.
const FOLDERS: [&str; 2] = [".better-harness", "harness-runs"];

/// The trace of a trial.
const TRACE: &str = "trace.jsonl";

/// What says which revision of a harness a variant is.
const REVISION: &str = "revision.json";

impl Harness for HarnessRun {
    const DECLARATION: &'static Declaration = &DECLARATION;
    type Body = FilesBody;
}

impl Codec for HarnessRun {
    fn to_common(transcript: &Transcript<HarnessRun>) -> Result<Common, CodecError> {
        reading::to_common(transcript)
    }

    fn from_common(_: &Session, target: &Target) -> Result<Converted<Transcript<HarnessRun>>, CodecError> {
        not_written::<HarnessRun>(target)
    }

    fn read_call(name: &Text, input: &Json) -> (Tool, Vec<Argument>) {
        claude_rows::read_call(name, input)
    }
}

fn name(path: Option<&Path>) -> String {
    path.and_then(Path::file_name).unwrap_or(OsStr::new("")).to_string_lossy().into_owned()
}

impl FilesHarness for HarnessRun {
    const MAIN: &'static str = TRACE;

    fn roots(machine: &Surroundings) -> Vec<Root> {
        let root = machine.project().map(|project| project.join(FOLDERS[0]).join(FOLDERS[1]));
        root.map(|path| Root { path, origin: RootOrigin::Default }).into_iter().collect()
    }

    fn list(root: &Root, _: &Context<'_>) -> Listing {
        let options = WalkOptions { extensions: &["jsonl"], ..WalkOptions::default() };
        let (files, findings) = list_files(&root.path, &options);
        let present = root.path.symlink_metadata().is_ok();
        let mut listing = Listing { sessions: Vec::new(), findings, present };
        let traces = files.into_iter().map(|file| file.path).filter(|path| path.ends_with(TRACE));
        let reference =
            |path| Reference { harness: DECLARATION.id, root: root.path.clone(), path, key: None };
        add_listed::<HarnessRun>(&mut listing, traces.map(reference));
        listing
    }

    // The trace is named for its trial and variant, which are in nothing but its path.
    fn places(reference: &Reference) -> Vec<FilePlace> {
        let trial = reference.path.parent();
        let variant = trial.and_then(Path::parent);
        let trace = format!("{}/{}/{TRACE}", name(variant), name(trial));
        let mut places = vec![FilePlace::new(trace, &reference.path, CarrierRole::Transcript)];
        places.extend(
            variant.map(|variant| FilePlace::new(REVISION, variant.join(REVISION), CarrierRole::Metadata)),
        );
        places
    }

    fn id(body: &FilesBody) -> SessionId {
        reading::session_id(body)
    }

    fn class(_: &FilesBody, common: &Common) -> Class {
        let session = &common.session;
        match session.messages.is_empty() && session.events.is_empty() {
            true => Class::Other,
            false => Class::Session,
        }
    }

    fn directory(reference: &Reference) -> Option<PathBuf> {
        let below = reference.path.strip_prefix(&reference.root).ok()?;
        (below.components().count() > 1).then(|| reference.path.parent().map(Path::to_owned)).flatten()
    }

    /// A run belongs to the project that it lies in.
    fn placed_for(reference: &Reference, directory: &Path, _: &Context<'_>) -> bool {
        let runs = FOLDERS.iter().fold(directory.to_owned(), |path, folder| path.join(folder));
        reference.path.starts_with(runs)
    }

    fn recognises(path: &Path, head: &[u8]) -> u8 {
        let has = |word: &[u8]| memmem::find(head, word).is_some();
        let calls = has(b"\"tool-call-started\"") && has(b"\"toolCallId\"");
        match (path.ends_with(TRACE), calls) {
            (true, true) => 95,
            (false, true) => 70,
            (true, false) if has(b"\"run-started\"") => 80,
            _ => 0,
        }
    }
}

files_store!(HarnessRun);
