//! pi: a coding agent whose sessions are trees in JSONL files.
//!
//! Known from running 1.6.0 (npm `@earendil-works/pi-coding-agent`) and 0.73.1 (npm
//! `@mariozechner/pi-coding-agent`), their documentation, and files of late 2025; see
//! `docs/formats/pi.md`. Sessions of Oh My Pi, which grew out of pi, are read too.

mod capture;
mod extension;
pub mod hooks;
mod roots;

use std::path::{Path, PathBuf};

use ibid_carrier::fingerprint::Fingerprint;
use ibid_model::{Argument, Json, Origin, Session, Text, Tool};

use crate::core::scan::{Control, Cursor, Sink, Wants};
use crate::core::{
    Capabilities, Codec, CodecError, Common, Context, Converted, Declaration, Deleting, Discovered,
    EvidencePlatform, Harness, HarnessId, Listed, Listing, OpenIn, Reference, ResumeRecipe, Root,
    SaveOptions, Saving, Store, StoreError, Surroundings, Target, TextCodec, Transcript,
};
use crate::families::pi_tree::{self, Dialect, TreeFile};

/// pi.
#[derive(Clone, Copy, Debug)]
pub struct Pi;

static DECLARATION: Declaration = Declaration {
    id: HarnessId::declare("pi"),
    name: "pi",
    aliases: &["pi-coding-agent"],
    capabilities: Capabilities {
        store: true,
        write: true,
        resume: true,
        subagents: false,
        branches: true,
        compaction: true,
    },
    // Asked for by path, it opens a session of any project; asked for by id under -p it does
    // nothing at all when the project is another, and reports success (1.6.0 and 0.73.1).
    resume: Some(ResumeRecipe { program: "pi", arguments: &["--session", "{path}"], in_cwd: true }),
    context_window: 200_000,
    versions_seen: &["1.6.0", "0.73.1"],
    evidence: Some(EvidencePlatform { rank: 8, name: "pi" }),
    capture: &capture::PROFILES,
    retention_days: None,
};

static DIALECT: Dialect =
    Dialect { harness: "pi", name: "pi", leaf_entries: false, origin: |_| Origin::Person };

/// The newest version of the format that was seen.
const FORMAT: u64 = 3;

fn transcript((id, body): (ibid_model::SessionId, TreeFile)) -> Transcript<Pi> {
    Transcript { id, body }
}

impl Harness for Pi {
    const DECLARATION: &'static Declaration = &DECLARATION;
    type Body = TreeFile;
}

impl Codec for Pi {
    fn to_common(transcript: &Transcript<Pi>) -> Result<Common, CodecError> {
        pi_tree::to_common(&DIALECT, &transcript.body)
    }

    fn from_common(session: &Session, target: &Target) -> Result<Converted<Transcript<Pi>>, CodecError> {
        let Converted { value, losses } = pi_tree::from_common(&DIALECT, session, target)?;
        Ok(Converted { value: transcript(value), losses })
    }

    fn read_call(name: &Text, input: &Json) -> (Tool, Vec<Argument>) {
        pi_tree::read_call(name, input)
    }
}

impl TextCodec for Pi {
    fn from_text(text: &[u8]) -> Result<Transcript<Pi>, CodecError> {
        pi_tree::from_bytes(&DIALECT, text).map(transcript)
    }

    fn to_text(transcript: &Transcript<Pi>) -> Result<Vec<u8>, CodecError> {
        Ok(transcript.body.document.bytes().to_vec())
    }
}

impl Store for Pi {
    fn roots(machine: &Surroundings) -> Vec<Root> {
        roots::roots(machine)
    }

    fn list(root: &Root, _: &Context<'_>) -> Listing {
        pi_tree::list(DECLARATION.id, root)
    }

    fn describe(listed: &Listed, context: &Context<'_>) -> Result<Discovered, StoreError> {
        pi_tree::describe(&DIALECT, listed, context.limits)
    }

    fn load(reference: &Reference, context: &Context<'_>) -> Result<Transcript<Pi>, StoreError> {
        pi_tree::load(&DIALECT, reference, context).map(transcript)
    }

    fn scan(
        reference: &Reference,
        from: &Cursor,
        wants: Wants,
        control: &Control<'_>,
        sink: &mut dyn Sink,
        context: &Context<'_>,
    ) -> Result<Cursor, StoreError> {
        pi_tree::scan_file(&DIALECT, &reference.path, from, wants, control, sink, context.limits)
    }

    fn save(
        transcript: &Transcript<Pi>,
        options: &SaveOptions,
        context: &Context<'_>,
    ) -> Result<Saving, StoreError> {
        let root: PathBuf = options
            .root
            .clone()
            .or_else(|| Pi::roots(context.machine).into_iter().next().map(|root| root.path))
            .unwrap_or_default();
        let place = pi_tree::SavePlace {
            flat: roots::is_flat(&root, context.machine),
            root,
            replace: options.replace,
        };
        pi_tree::save(&DIALECT, DECLARATION.id, (&transcript.id, &transcript.body), place)
    }

    fn open_in(reference: &Reference, context: &Context<'_>) -> Option<OpenIn> {
        pi_tree::open_in(&DIALECT, "pi", reference, context)
    }

    fn delete(reference: &Reference, _: &Context<'_>) -> Result<Deleting, StoreError> {
        pi_tree::delete(&DIALECT, reference)
    }

    fn fingerprints(references: &[Reference], _: &Context<'_>) -> Vec<Result<Fingerprint, StoreError>> {
        pi_tree::fingerprints(&DIALECT, references)
    }

    fn recognises(path: &Path, head: &[u8]) -> u8 {
        pi_tree::recognises(path, head, FORMAT)
    }
}
