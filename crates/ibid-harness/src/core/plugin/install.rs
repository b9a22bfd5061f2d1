//! What an installation would write.

use std::path::{Path, PathBuf};

use ibid_carrier::plan::{Content, ContentStamp, Plan, Policy, Step};
use ibid_model::Timestamp;

use super::delivery::folder_of;
use super::place::{There, look_at, real_place, text_of};
use super::receipt::{encoded, sha256};
use super::{
    Delivery, FileRole, Gateway, Goal, Grammar, HookCommand, Piece, Plugin, PluginError, Receipt,
    ReceiptConfig, ReceiptFile, Wish,
};
use crate::core::Surroundings;

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The id of the profile.
    pub profile: &'a str,
    /// What it needs.
    pub plugin: &'a Plugin,
    /// Where.
    pub machine: &'a Surroundings,
    /// What a hook runs.
    pub command: &'a HookCommand,
    /// The gateway to point the agent at; none keeps the one that is installed, if one is.
    pub gateway: Option<&'a Gateway>,
    /// What the handoff file is to hold; none when nothing is to be handed over.
    pub handoff: Option<&'a [u8]>,
    /// Now.
    pub at: Timestamp,
    /// Whether a file that is not as Ibid left it may be replaced.
    pub replace: bool,
    /// Whether links may be followed.
    pub follow_links: bool,
}

/// What an installation would write.
#[derive(Debug)]
pub struct Installation {
    /// The one plan: all of it, or nothing.
    pub plan: Plan,
    /// What the plan may do.
    pub policy: Policy,
    /// The receipt that the plan writes.
    pub receipt: Receipt,
    /// What the agent's plugin manager is asked for.
    pub goal: Goal,
    /// What belongs on the machine.
    pub delivery: Delivery,
}

impl Installation {
    /// Plans an installation; none for a profile that needs nothing. Reads files, and changes none.
    ///
    /// # Errors
    /// Why it was refused. A configuration that cannot be parsed is refused and stays as it is.
    pub fn plan(request: &Request<'_>) -> Result<Option<Installation>, PluginError> {
        let own = super::delivery::own_folder(request.machine, request.profile);
        let receipt_path = own.join("receipt.json");
        let earlier = Receipt::read(&receipt_path)
            .map_err(|error| PluginError::Unreadable { path: receipt_path.clone(), error })?;
        let kept = earlier.as_ref().and_then(|earlier| earlier.gateway.clone());
        let gateway = request.gateway.cloned().or(kept);
        let delivery = Delivery::of(
            request.plugin,
            request.profile,
            request.machine,
            request.command,
            gateway.as_ref(),
            request.handoff,
        )?;
        let Some(delivery) = delivery else { return Ok(None) };
        let mut receipt = Receipt::new(request.profile, request.at, request.command.words());
        receipt.gateway = gateway;
        receipt.directories = earlier.iter().flat_map(|earlier| earlier.directories.clone()).collect();
        receipt.delivered = digest_of_tree(&delivery);
        let (goal, confirmed) = match &earlier {
            Some(earlier) if earlier.delivered == receipt.delivered && earlier.confirmed => {
                (Goal::Verify, true)
            }
            Some(earlier) if !earlier.delivered.is_empty() => (Goal::Refresh, false),
            _ => (Goal::Install, false),
        };
        receipt.confirmed = confirmed;
        let mut planning = Planning {
            request,
            earlier: earlier.as_ref(),
            receipt,
            steps: Vec::new(),
            made: Vec::new(),
            roots: delivery.roots.clone(),
        };
        let (tree, rest): (Vec<&Piece>, Vec<&Piece>) = delivery
            .pieces
            .iter()
            .partition(|piece| matches!(piece, Piece::File { role: FileRole::Tree, .. }));
        for piece in tree {
            planning.piece(piece)?;
        }
        // The receipt holds what the configuration was: it is there before anything of the agent is
        // touched.
        planning.directory(&receipt_path, true);
        let at = planning.steps.len();
        for piece in rest {
            planning.piece(piece)?;
        }
        planning.stale(&delivery)?;
        let Planning { receipt, mut steps, roots, .. } = planning;
        let bytes = receipt
            .to_bytes()
            .map_err(|error| PluginError::Unreadable { path: receipt_path.clone(), error })?;
        steps.insert(at, write(&receipt_path, bytes, true)?);
        let plan = Plan::new(steps).label("title", format!("the plugin for {}", request.profile));
        Ok(Some(Installation { plan, policy: Policy::within(roots), receipt, goal, delivery }))
    }

    /// The plan that writes down that the agent's plugin manager took what it was given, once the
    /// installation was committed.
    ///
    /// # Errors
    /// When the receipt cannot be read.
    pub fn confirmation(&self) -> Result<(Plan, Policy), PluginError> {
        let path = self.delivery.receipt_path();
        let mut receipt = self.receipt.clone();
        receipt.confirmed = true;
        let bytes =
            receipt.to_bytes().map_err(|error| PluginError::Unreadable { path: path.clone(), error })?;
        let plan = Plan::new(vec![write(&path, bytes, true)?]);
        Ok((plan, Policy::within([self.delivery.own.clone()])))
    }
}

/// A plan as it grows.
struct Planning<'a> {
    request: &'a Request<'a>,
    earlier: Option<&'a Receipt>,
    receipt: Receipt,
    steps: Vec<Step>,
    /// Directories that earlier steps make.
    made: Vec<PathBuf>,
    roots: Vec<PathBuf>,
}

impl Planning<'_> {
    fn piece(&mut self, piece: &Piece) -> Result<(), PluginError> {
        match piece {
            Piece::File { path, content, role } => self.file(path, content, *role),
            Piece::Superseded { path } => self.superseded(path),
            Piece::Patch { path, grammar } => self.patch(path, grammar),
            Piece::Watched { path, .. } => self.watched(path),
        }
    }

    fn place(&mut self, path: &Path) -> Result<PathBuf, PluginError> {
        let real = real_place(path, self.request.machine, self.request.follow_links)?;
        if real != path {
            self.roots.push(folder_of(&real));
        }
        Ok(real)
    }

    fn directory(&mut self, path: &Path, private: bool) {
        let before = self.made.len();
        directory_of(path, private, self.request.machine, &mut self.made, &mut self.steps);
        for made in self.made.iter().skip(before) {
            if !self.receipt.directories.contains(made) {
                self.receipt.directories.push(made.clone());
            }
        }
    }

    fn file(&mut self, path: &Path, content: &[u8], role: FileRole) -> Result<(), PluginError> {
        let real = self.place(path)?;
        let digest = sha256(content);
        self.receipt.files.push(ReceiptFile { path: path.to_owned(), sha256: digest });
        match look_at(&real)? {
            There::Nothing => self.directory(&real, role != FileRole::Extension),
            There::File(there) if there == content => return Ok(()),
            There::File(there) => {
                let known = self.earlier.and_then(|earlier| earlier.file(path));
                let ours = known.is_some_and(|file| file.sha256 == sha256(&there));
                if role == FileRole::Extension && !ours && !self.request.replace {
                    return Err(PluginError::Foreign { path: path.to_owned() });
                }
            }
            There::Other => return Err(PluginError::NotAFile { path: path.to_owned() }),
        }
        self.steps.push(write(&real, content.to_vec(), role != FileRole::Extension)?);
        Ok(())
    }

    fn superseded(&mut self, path: &Path) -> Result<(), PluginError> {
        match look_at(path)? {
            There::Nothing => Ok(()),
            There::Other => Err(PluginError::NotAFile { path: path.to_owned() }),
            There::File(_) => self.trash(path),
        }
    }

    fn trash(&mut self, path: &Path) -> Result<(), PluginError> {
        let path = self.place(path)?;
        let expected = Some(ContentStamp::with_content(&path)?);
        self.steps.push(Step::TrashFile { path, expected });
        Ok(())
    }

    fn patch(&mut self, path: &Path, grammar: &Grammar) -> Result<(), PluginError> {
        let real = self.place(path)?;
        let there = match look_at(&real)? {
            There::Nothing => None,
            There::File(bytes) => Some(bytes),
            There::Other => return Err(PluginError::NotAFile { path: path.to_owned() }),
        };
        let text = text_of(path, there.clone().unwrap_or_default())?;
        let gateway = self.receipt.gateway.clone();
        let wish = Wish { command: self.request.command, gateway: gateway.as_ref() };
        let known = self.earlier.and_then(|earlier| earlier.config(path)).cloned();
        let patch = known.as_ref().and_then(|known| known.patch.as_ref());
        let refused = |error| PluginError::Patch { path: path.to_owned(), error };
        let patched = (grammar.apply)(&text, wish, patch).map_err(refused)?;
        let before = match &known {
            Some(known) => known.before.clone(),
            None => there.as_deref().map(encoded),
        };
        // Once somebody else has written to the file, giving back what was there at first would lose that.
        let now = Some(sha256(text.as_bytes()));
        let untouched = known.as_ref().is_none_or(|known| known.after == now);
        let after = untouched.then(|| sha256(patched.text.as_bytes()));
        let patch = Some(patched.receipt);
        self.receipt.configs.push(ReceiptConfig { path: path.to_owned(), before, after, patch });
        if there.is_some() && patched.text == text {
            return Ok(());
        }
        if there.is_none() {
            self.directory(&real, true);
        }
        self.steps.push(write(&real, patched.text.into_bytes(), there.is_none())?);
        Ok(())
    }

    fn watched(&mut self, path: &Path) -> Result<(), PluginError> {
        if let Some(known) = self.earlier.and_then(|earlier| earlier.config(path)) {
            self.receipt.configs.push(known.clone());
            return Ok(());
        }
        let before = match look_at(&real_place(path, self.request.machine, true)?)? {
            There::Nothing => None,
            There::File(bytes) => Some(encoded(&bytes)),
            There::Other => return Err(PluginError::NotAFile { path: path.to_owned() }),
        };
        self.receipt.configs.push(ReceiptConfig { path: path.to_owned(), before, after: None, patch: None });
        Ok(())
    }

    /// What an earlier installation put there and this one does not goes, as long as it is as it was
    /// left.
    fn stale(&mut self, delivery: &Delivery) -> Result<(), PluginError> {
        let Some(earlier) = self.earlier else { return Ok(()) };
        let now = |path: &Path| {
            let is_it = |piece: &Piece| match piece {
                Piece::File { path: other, .. } | Piece::Superseded { path: other } => other == path,
                _ => false,
            };
            delivery.pieces.iter().any(is_it)
        };
        for file in earlier.files.iter().filter(|file| !now(&file.path)) {
            let within = self.roots.iter().any(|root| file.path.starts_with(root));
            match look_at(&file.path)? {
                There::Nothing => {}
                There::File(bytes) if within && sha256(&bytes) == file.sha256 => self.trash(&file.path)?,
                _ => self.receipt.files.push(file.clone()),
            }
        }
        Ok(())
    }
}

/// The step that makes a file hold these bytes.
fn write(path: &Path, content: Vec<u8>, private: bool) -> Result<Step, PluginError> {
    let content = Content::from(content);
    Ok(match look_at(path)? {
        There::Nothing => Step::CreateFile { path: path.to_owned(), content, private },
        _ => {
            let expected = ContentStamp::with_content(path)?;
            Step::ReplaceFile { path: path.to_owned(), expected, content, private }
        }
    })
}

/// The step that makes the directory of a file, where it is missing, and which directories that is.
fn directory_of(
    path: &Path,
    private: bool,
    machine: &Surroundings,
    made: &mut Vec<PathBuf>,
    steps: &mut Vec<Step>,
) {
    let folder = folder_of(path);
    if folder.is_dir() || made.contains(&folder) {
        return;
    }
    let missing = folder.ancestors().take_while(|above| !above.is_dir() && *above != machine.home());
    let mut missing: Vec<PathBuf> =
        missing.filter(|above| !made.contains(&above.to_path_buf())).map(Path::to_owned).collect();
    missing.reverse();
    made.extend(missing);
    steps.push(Step::MakeDirectory { path: folder, private });
}

/// The digest of what the agent's plugin manager is given; empty when there is none.
fn digest_of_tree(delivery: &Delivery) -> String {
    let mut all = Vec::new();
    for piece in &delivery.pieces {
        if let Piece::File { path, content, role: FileRole::Tree } = piece {
            let place = path.strip_prefix(&delivery.own).unwrap_or(path);
            all.extend_from_slice(format!("{} {}\n", sha256(content), place.display()).as_bytes());
        }
    }
    if all.is_empty() { String::new() } else { sha256(&all) }
}
