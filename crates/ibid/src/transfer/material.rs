//! What is brought over.

use std::collections::HashSet;

use anyhow::{Result, bail};
use ibid_harness::{AnyTranscript, Common, Reference};
use ibid_model::{Finding, FindingKind, Message, Role, Session, SessionDocument, Severity};

use crate::machine::{Found, Machine};
use crate::output;

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
    /// How many secrets were replaced in it, where it is a document that says so.
    pub(crate) redactions: Option<u64>,
    /// Where it is from, for messages.
    pub(crate) place: String,
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
        let place = found.session.reference.to_string();
        let mut material = Material { parent, children: Vec::new(), findings, redactions: None, place };
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
    pub(crate) fn of_document(document: SessionDocument, place: String) -> Material {
        let piece = |session| Piece { native: None, session };
        Material {
            parent: piece(document.session),
            children: document.children.into_iter().map(piece).collect(),
            findings: document.findings,
            redactions: document.redactions,
            place,
        }
    }

    /// One session in its own form, without subagents.
    ///
    /// # Errors
    /// When it holds no session of its harness.
    pub(crate) fn of_transcript(native: AnyTranscript, place: String) -> Result<Material> {
        let Common { session, findings } = native.to_common()?;
        Ok(Material {
            parent: Piece { native: Some(native), session },
            children: Vec::new(),
            findings,
            redactions: None,
            place,
        })
    }

    /// Says whether there is a conversation to bring over.
    ///
    /// # Errors
    /// When nothing could be read at all; and when there is no turn, unless the copy is `exact`,
    /// which needs none.
    pub(crate) fn check(&self, exact: bool) -> Result<()> {
        let session = &self.parent.session;
        let turn = |message: &Message| message.role != Role::System && !message.blocks.is_empty();
        if session.messages.iter().any(turn) {
            return Ok(());
        }
        let place = output::clean_line(&self.place);
        let unread = |finding: &Finding| {
            finding.severity() == Severity::Error
                || matches!(
                    finding.kind,
                    FindingKind::MissingHeader | FindingKind::UnknownRecord | FindingKind::ForeignContent
                )
        };
        if session.messages.is_empty() && session.events.is_empty() && self.findings.iter().any(unread) {
            let name = ibid_harness::find(&session.harness).map_or("a session", |h| h.declaration().name);
            bail!("nothing in {place} could be read as {name}; nothing was written");
        }
        if !exact {
            bail!(
                "{place} has no turn of a conversation, so there is nothing to bring over; to the same harness, \
                 --out DIR with --keep-id makes an exact copy"
            );
        }
        Ok(())
    }
}
