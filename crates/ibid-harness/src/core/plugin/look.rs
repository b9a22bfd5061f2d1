//! What is installed, each statement with what shows it.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::place::{There, look_at, real_place, text_of};
use super::receipt::sha256;
use super::{Delivery, Grammar, HookCommand, Piece, Plugin, PluginError, Receipt, UnfilledSlot, Wish};
use crate::core::Surroundings;

/// How a plugin stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum State {
    /// The profile needs none.
    NotNeeded,
    /// Nothing of it is there.
    Absent,
    /// Everything is as this Ibid would install it.
    Installed,
    /// Some of it is there and some is not.
    Partly,
    /// Somebody changed it since it was installed.
    Drifted,
    /// It is what another Ibid, or one at another place, installed.
    OldCopy,
    /// The user switched it off in the agent.
    Disabled,
}

/// What a piece of evidence means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Weight {
    /// It is as it must be.
    Fine,
    /// It is missing.
    Missing,
    /// It was changed since.
    Changed,
    /// It is an older one.
    Old,
    /// It was switched off.
    Off,
    /// The user has not approved it (yet), so the agent does not run it.
    Unapproved,
    /// Nobody can tell.
    Unknown,
}

/// One statement about an installation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Evidence {
    /// What it means.
    pub weight: Weight,
    /// Which file shows it.
    pub path: PathBuf,
    /// What it is, as the end of a sentence about the file.
    pub said: String,
}

impl Evidence {
    /// A statement.
    pub fn new(weight: Weight, path: &Path, said: impl Into<String>) -> Evidence {
        Evidence { weight, path: path.to_owned(), said: said.into() }
    }
}

/// How a plugin stands, and what shows it.
#[derive(Clone, Debug)]
pub struct Status {
    /// In one word.
    pub state: State,
    /// What shows it.
    pub evidence: Vec<Evidence>,
    /// The receipt, when there is one that can be read.
    pub receipt: Option<Receipt>,
    /// What belongs on the machine; none for a profile that needs nothing.
    pub delivery: Option<Delivery>,
}

impl Status {
    /// Whether everything is as this Ibid would install it, and nothing waits for the user.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        let waits = |evidence: &Evidence| evidence.weight == Weight::Unapproved;
        match self.state {
            State::NotNeeded => true,
            State::Installed => !self.evidence.iter().any(waits),
            _ => false,
        }
    }

    /// Looks at a machine. Reads files, and changes none.
    ///
    /// # Errors
    /// Only for a template of Ibid's own: what cannot be read on the machine is evidence.
    pub fn look(
        plugin: &Plugin,
        profile: &str,
        machine: &Surroundings,
        command: &HookCommand,
    ) -> Result<Status, UnfilledSlot> {
        let path = super::delivery::own_folder(machine, profile).join("receipt.json");
        let (receipt, trouble) = match Receipt::read(&path) {
            Ok(receipt) => (receipt, None),
            Err(error) => (None, Some(Evidence::new(Weight::Changed, &path, error.to_string()))),
        };
        let gateway = receipt.as_ref().and_then(|receipt| receipt.gateway.as_ref());
        let Some(delivery) = Delivery::of(plugin, profile, machine, command, gateway, None)? else {
            let (state, evidence) = (State::NotNeeded, Vec::new());
            return Ok(Status { state, evidence, receipt: None, delivery: None });
        };
        let mut evidence: Vec<Evidence> = Vec::new();
        for piece in &delivery.pieces {
            match piece {
                Piece::File { path, content, .. } => {
                    evidence.push(of_file(path, Some(content), receipt.as_ref()));
                }
                Piece::Superseded { path } => {
                    if matches!(look_at(path), Ok(There::File(_))) {
                        let said = "an older copy of the plugin, which runs beside the other";
                        evidence.push(Evidence::new(Weight::Old, path, said));
                    }
                }
                Piece::Patch { path, grammar } => {
                    let wish = Wish { command, gateway };
                    evidence.push(of_patch(path, grammar, wish, machine, receipt.as_ref()));
                }
                Piece::Watched { .. } => {}
            }
        }
        let planned = |path: &Path| {
            let is_it = |piece: &Piece| matches!(piece, Piece::File { path: other, .. } if other == path);
            delivery.pieces.iter().any(is_it)
        };
        let others = receipt.iter().flat_map(|receipt| &receipt.files).filter(|file| !planned(&file.path));
        evidence.extend(others.map(|file| of_file(&file.path, None, receipt.as_ref())));
        if let Some((tree, registrar)) = &delivery.registration {
            evidence.extend(registrar.look(machine, tree));
        }
        if let Some(receipt) = &receipt {
            evidence.push(of_program(receipt));
        }
        let is_there = |evidence: &Evidence| {
            matches!(evidence.weight, Weight::Fine | Weight::Changed | Weight::Old | Weight::Off)
        };
        if receipt.is_none() && trouble.is_none() && evidence.iter().any(is_there) {
            let said = "the receipt is gone: what was there before cannot be given back";
            evidence.push(Evidence::new(Weight::Missing, &path, said));
        }
        evidence.extend(trouble);
        Ok(Status { state: state_of(&evidence), evidence, receipt, delivery: Some(delivery) })
    }
}

fn state_of(evidence: &[Evidence]) -> State {
    let has = |weight: Weight| evidence.iter().any(|evidence| evidence.weight == weight);
    let anything = [Weight::Fine, Weight::Changed, Weight::Old, Weight::Off].into_iter().any(has);
    if !anything {
        return State::Absent;
    }
    let order = [
        (Weight::Off, State::Disabled),
        (Weight::Missing, State::Partly),
        (Weight::Changed, State::Drifted),
        (Weight::Old, State::OldCopy),
    ];
    order.into_iter().find(|(weight, _)| has(*weight)).map_or(State::Installed, |(_, state)| state)
}

fn of_file(path: &Path, wanted: Option<&[u8]>, receipt: Option<&Receipt>) -> Evidence {
    let there = match look_at(path) {
        Ok(There::File(bytes)) => bytes,
        Ok(There::Nothing) => return Evidence::new(Weight::Missing, path, "not there"),
        Ok(There::Other) => return Evidence::new(Weight::Changed, path, "not a plain file any more"),
        Err(error) => return Evidence::new(Weight::Changed, path, reason(&error)),
    };
    if wanted == Some(&there) {
        return Evidence::new(Weight::Fine, path, "as this Ibid installs it");
    }
    let left = receipt.and_then(|receipt| receipt.file(path)).map(|file| &file.sha256);
    match (left == Some(&sha256(&there)), wanted) {
        (true, None) => Evidence::new(Weight::Fine, path, "as it was installed"),
        (true, Some(_)) => {
            Evidence::new(Weight::Old, path, "as another Ibid, or one at another place, installed it")
        }
        (false, _) => Evidence::new(Weight::Changed, path, "not as it was installed"),
    }
}

fn of_patch(
    path: &Path,
    grammar: &Grammar,
    wish: Wish<'_>,
    machine: &Surroundings,
    receipt: Option<&Receipt>,
) -> Evidence {
    let installed = receipt.is_some_and(|receipt| receipt.config(path).is_some());
    let text = real_place(path, machine, true).and_then(|real| match look_at(&real)? {
        There::Nothing => Ok(None),
        There::File(bytes) => text_of(path, bytes).map(Some),
        There::Other => Err(PluginError::NotAFile { path: path.to_owned() }),
    });
    let text = match text {
        Ok(Some(text)) => text,
        Ok(None) => return Evidence::new(Weight::Missing, path, "not there"),
        Err(error) => return Evidence::new(unless(installed), path, reason(&error)),
    };
    match (grammar.is_applied)(&text, wish) {
        Ok(true) => Evidence::new(Weight::Fine, path, "has what this Ibid puts in"),
        Ok(false) if installed && receipt.is_some_and(|receipt| receipt.command != wish.command.words()) => {
            Evidence::new(Weight::Old, path, "has what another Ibid, or one at another place, put in")
        }
        Ok(false) if installed => Evidence::new(Weight::Changed, path, "has not all of what was put in"),
        // Without a receipt the text itself says whether anything of Ibid's is in it.
        Ok(false) => match (grammar.remove)(&text, None) {
            Ok(without) if without.text != text => {
                Evidence::new(Weight::Old, path, "has entries of an Ibid that is not this one")
            }
            _ => Evidence::new(Weight::Missing, path, "has no entries of Ibid"),
        },
        Err(error) => Evidence::new(unless(installed), path, error.to_string()),
    }
}

/// What cannot be read was changed, when it could be read once.
fn unless(installed: bool) -> Weight {
    if installed { Weight::Changed } else { Weight::Unknown }
}

fn of_program(receipt: &Receipt) -> Evidence {
    let program = receipt.command.first().map_or(Path::new(""), Path::new);
    if program.is_file() {
        Evidence::new(Weight::Fine, program, "the program that the hooks run")
    } else {
        Evidence::new(Weight::Missing, program, "not there: the hooks run nothing")
    }
}

/// An error without the path, which the evidence has already.
fn reason(error: &PluginError) -> String {
    match error {
        PluginError::Unreadable { error, .. } => format!("cannot be read ({error})"),
        PluginError::Patch { error, .. } => error.to_string(),
        PluginError::NotAFile { .. } => "not a plain file".to_owned(),
        other => other.to_string(),
    }
}
