//! What is brought over.

use std::collections::HashSet;

use anyhow::Result;
use ibid_harness::{AnyTranscript, Common, Reference};
use ibid_model::{Finding, FindingKind, Session, SessionDocument};

use crate::machine::{Found, Machine};

/// How deep subagents of subagents are followed.
const DEPTH: usize = 16;

/// One session.
pub(crate) struct Piece {
    /// In its own form, where it has one.
    pub(crate) native: Option<AnyTranscript>,
    /// In the common form.
    pub(crate) session: Session,
}

/// A session with its subagents.
pub(crate) struct Material {
    /// The session.
    pub(crate) parent: Piece,
    /// Its subagents, and theirs.
    pub(crate) children: Vec<Piece>,
    /// What was wrong with any of them.
    pub(crate) findings: Vec<Finding>,
}

impl Material {
    /// Reads a session and its subagents. A subagent that cannot be read is a finding.
    ///
    /// # Errors
    /// When the session itself cannot be read.
    pub(crate) fn load(machine: &Machine, found: &Found) -> Result<Material> {
        let native = machine.load(found)?;
        let Common { session, findings } = native.to_common()?;
        let parent = Piece { native: Some(native), session };
        let mut material = Material { parent, children: Vec::new(), findings };
        let mut seen = HashSet::from([found.session.reference.clone()]);
        material.load_children(machine, found, &found.session.reference, &mut seen, DEPTH);
        Ok(material)
    }

    fn load_children(
        &mut self,
        machine: &Machine,
        found: &Found,
        parent: &Reference,
        seen: &mut HashSet<Reference>,
        depth: usize,
    ) {
        for reference in found.harness.children(parent, &machine.context()) {
            if depth == 0 || !seen.insert(reference.clone()) {
                continue;
            }
            let native = found.harness.load(&reference, &machine.context());
            let read = native.and_then(|native| {
                let common = native.to_common()?;
                Ok((native, common))
            });
            match read {
                Ok((native, Common { session, findings })) => {
                    self.findings.extend(findings);
                    self.children.push(Piece { native: Some(native), session });
                    self.load_children(machine, found, &reference, seen, depth - 1);
                }
                Err(error) => {
                    let finding = Finding::new(FindingKind::Unreadable, error.to_string());
                    self.findings.push(finding.at_path(&reference.path));
                }
            }
        }
    }

    /// What an Ibid document holds.
    pub(crate) fn of_document(document: SessionDocument) -> Material {
        let piece = |session| Piece { native: None, session };
        Material {
            parent: piece(document.session),
            children: document.children.into_iter().map(piece).collect(),
            findings: document.findings,
        }
    }

    /// One session in its own form, without subagents.
    ///
    /// # Errors
    /// When it holds no session of its harness.
    pub(crate) fn of_transcript(native: AnyTranscript) -> Result<Material> {
        let Common { session, findings } = native.to_common()?;
        Ok(Material { parent: Piece { native: Some(native), session }, children: Vec::new(), findings })
    }
}
