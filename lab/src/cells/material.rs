//! Sources that are no program of their own: Cowork's session, and documents.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use ibid_model::Session;

use super::DOCUMENTS_OF;
use crate::lab::{Lab, overlay};
use crate::sandbox::{OUT, Sandbox, WORKSPACE};
use crate::source::{find, find_file, ibid};

/// One of them.
pub(super) struct Material {
    /// The id of its harness.
    pub(super) harness: &'static str,
    put: fn(&Lab, &Sandbox) -> Result<Put>,
}

/// A session, and the words that bring it over.
type Put = (Session, Vec<String>);

/// The session of the fixtures that has the most in it.
const COWORK_SESSION: &str = "local_3a000000-0000-4000-8000-000000000001";

impl Material {
    /// All of them.
    pub(super) const ALL: [Material; 3] = [
        Material { harness: "cowork", put: cowork },
        Material { harness: "simple", put: |lab, sandbox| document(lab, sandbox, "simple") },
        Material { harness: "ibid", put: |lab, sandbox| document(lab, sandbox, "ibid") },
    ];

    /// Puts it into a sandbox; returns the session, and the words that bring it over.
    pub(super) fn put(&self, lab: &Lab, sandbox: &Sandbox) -> Result<Put> {
        (self.put)(lab, sandbox)
    }
}

/// The fixtures of this checkout.
fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures")
}

/// Puts Cowork's store into a home.
pub(super) fn put_cowork(sandbox: &Sandbox) -> Result<()> {
    let store = sandbox.home().join(".config/Claude/local-agent-mode-sessions");
    fs::create_dir_all(&store)?;
    overlay(&fixtures().join("cowork/hand-written/local-agent-mode-sessions"), &store)
}

/// Cowork's session, whose transcript is Claude Code's. The place it names is not on this machine.
fn cowork(_: &Lab, sandbox: &Sandbox) -> Result<Put> {
    put_cowork(sandbox)?;
    let session = find(&sandbox.home(), "cowork", COWORK_SESSION)?.session;
    let words = ["convert", &format!("cowork:{COWORK_SESSION}"), "--cwd", WORKSPACE];
    Ok((session, words.map(str::to_owned).to_vec()))
}

/// A document that Ibid made of a session of a real program's.
fn document(lab: &Lab, sandbox: &Sandbox, format: &str) -> Result<Put> {
    let source = lab.source(lab.program(DOCUMENTS_OF.0, DOCUMENTS_OF.1)?)?;
    let maker = lab.copy(&source.folder, &sandbox.out().join("maker"))?;
    let name = format!("{}:{}", DOCUMENTS_OF.0, source.id);
    let text = ibid(&maker, &["export", &name, "--format", format, "--reveal"])?;
    let path = sandbox.out().join("document.json");
    fs::write(&path, text).context("the document")?;
    let session = find_file(&path, format)?;
    Ok((session, ["import", &format!("{OUT}/document.json")].map(str::to_owned).to_vec()))
}
