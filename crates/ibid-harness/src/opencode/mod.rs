//! OpenCode: one SQLite database, and before version 1.1 a tree of JSON files.
//!
//! The records are in [`families::opencode_tables`](crate::families::opencode_tables), which its
//! forks share; where the sessions are is here.

mod capture;
pub mod hooks;
mod plugin;

use std::path::{Path, PathBuf};

use ibid_carrier::fingerprint::Fingerprint;
use ibid_model::{Argument, Json, Session, Text, Tool};

use crate::core::scan::{Control, Cursor, Sink, Wants};
use crate::core::{
    Capabilities, Carriers, Codec, CodecError, Common, Context, Converted, Declaration, Deleting, Discovered,
    Harness, HarnessId, Listed, Listing, OpenIn, Reference, ResumeRecipe, Root, RootOrigin, SaveOptions,
    Saving, Store, StoreError, Surroundings, Target, TextCodec, Transcript,
};
use crate::families::opencode_tables::body::{ExportBody, SessionBody};
use crate::families::opencode_tables::records::Native;
use crate::families::opencode_tables::store::{self, Layout, TablesHarness};
use crate::families::opencode_tables::{assembly, compose, delete, export, open, save, tools};

/// OpenCode.
pub struct OpenCode;

static DECLARATION: Declaration = Declaration {
    id: HarnessId::declare("opencode"),
    name: "OpenCode",
    aliases: &["open-code"],
    capabilities: Capabilities {
        store: true,
        write: true,
        resume: true,
        subagents: true,
        branches: false,
        compaction: true,
    },
    resume: Some(ResumeRecipe { program: "opencode", arguments: &["--session", "{id}"], in_cwd: true }),
    context_window: 200_000,
    versions_seen: &["1.18.33", "1.0.152"],
    evidence: None,
    capture: &capture::PROFILES,
    retention_days: None,
};

impl TablesHarness for OpenCode {
    const LAYOUT: Layout = Layout {
        database: "opencode.db",
        channel_prefix: "opencode-",
        version: "1.18.33",
        schema: include_str!("schema-1.18.33.sql"),
    };
}

impl Harness for OpenCode {
    const DECLARATION: &'static Declaration = &DECLARATION;
    type Body = SessionBody;
}

fn foreign(reason: String) -> CodecError {
    CodecError::Foreign { harness: DECLARATION.name, reason }
}

impl Codec for OpenCode {
    fn to_common(transcript: &Transcript<Self>) -> Result<Common, CodecError> {
        let native = Native::of(&transcript.body).map_err(foreign)?;
        let carriers = transcript.body.carriers().into_iter().map(|carrier| carrier.info).collect();
        Ok(assembly::assemble(DECLARATION.id.as_str(), &native, carriers))
    }

    fn from_common(session: &Session, target: &Target) -> Result<Converted<Transcript<Self>>, CodecError> {
        let made = compose::from_common(DECLARATION.id.as_str(), Self::LAYOUT.version, session, target);
        let Converted { value, losses } = made;
        let transcript = Transcript { id: value.key.clone(), body: SessionBody::Rows(value) };
        Ok(Converted { value: transcript, losses })
    }

    fn read_call(name: &Text, input: &Json) -> (Tool, Vec<Argument>) {
        tools::decode(name, input)
    }
}

impl TextCodec for OpenCode {
    /// Reads what `opencode export` prints.
    fn from_text(text: &[u8]) -> Result<Transcript<Self>, CodecError> {
        let body = ExportBody { path: None, bytes: text.to_vec().into() };
        let id = export::id_of(&body).map_err(foreign)?;
        Ok(Transcript { id, body: SessionBody::Export(body) })
    }

    /// Writes what `opencode export` would print, and `opencode import` takes.
    fn to_text(transcript: &Transcript<Self>) -> Result<Vec<u8>, CodecError> {
        export::to_text(&transcript.body).map_err(foreign)
    }
}

/// The folder with the databases and the older tree, on every platform.
fn data_folder(machine: &Surroundings) -> (PathBuf, RootOrigin) {
    match machine.directory("XDG_DATA_HOME") {
        Some(data) => (data.join("opencode"), RootOrigin::Variable("XDG_DATA_HOME")),
        None => (machine.home().join(".local/share/opencode"), RootOrigin::Default),
    }
}

impl Store for OpenCode {
    /// The database that `OPENCODE_DB` names comes first, since it is the one that is written to; a
    /// relative name is meant in the data folder, and `:memory:` is no file.
    fn roots(machine: &Surroundings) -> Vec<Root> {
        let (data, origin) = data_folder(machine);
        let mut roots = Vec::new();
        if let Some(named) = machine.directory("OPENCODE_DB").filter(|path| path != Path::new(":memory:")) {
            let path = data.join(named);
            if path != data.join(Self::LAYOUT.database) {
                roots.push(Root { path, origin: RootOrigin::Variable("OPENCODE_DB") });
            }
        }
        roots.push(Root { path: data, origin });
        roots
    }

    fn list(root: &Root, context: &Context<'_>) -> Listing {
        let mut listing = store::list::<OpenCode>(root, context);
        // A database of its own name in the data folder is listed with that folder.
        if root.origin == RootOrigin::Variable("OPENCODE_DB")
            && root.path.parent() == Some(data_folder(context.machine).0.as_path())
            && store::is_database_name(&Self::LAYOUT, &root.path)
        {
            listing.sessions.clear();
        }
        listing
    }

    fn describe(listed: &Listed, context: &Context<'_>) -> Result<Discovered, StoreError> {
        store::describe::<OpenCode>(listed, context)
    }

    fn load(reference: &Reference, context: &Context<'_>) -> Result<Transcript<Self>, StoreError> {
        store::load(reference, context)
    }

    fn scan(
        reference: &Reference,
        from: &Cursor,
        wants: Wants,
        control: &Control<'_>,
        sink: &mut dyn Sink,
        context: &Context<'_>,
    ) -> Result<Cursor, StoreError> {
        store::scan::<OpenCode>(reference, from, wants, control, sink, context)
    }

    fn children(reference: &Reference, context: &Context<'_>) -> Vec<Reference> {
        store::children::<OpenCode>(reference, context)
    }

    fn save(
        transcript: &Transcript<Self>,
        options: &SaveOptions,
        context: &Context<'_>,
    ) -> Result<Saving, StoreError> {
        save::save(transcript, options, context)
    }

    fn open_in(reference: &Reference, context: &Context<'_>) -> Option<OpenIn> {
        open::open_in(reference, context)
    }

    fn delete(reference: &Reference, context: &Context<'_>) -> Result<Deleting, StoreError> {
        delete::delete::<OpenCode>(reference, context)
    }

    fn fingerprints(references: &[Reference], context: &Context<'_>) -> Vec<Result<Fingerprint, StoreError>> {
        store::fingerprints::<OpenCode>(references, context)
    }

    fn recognises(path: &Path, head: &[u8]) -> u8 {
        store::recognises::<OpenCode>(path, head)
    }
}
