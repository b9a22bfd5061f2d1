//! What taking an installation back would write.

use std::path::{Path, PathBuf};

use ibid_carrier::plan::{Content, ContentStamp, Plan, Policy, Step};
use serde::Serialize;

use super::delivery::folder_of;
use super::place::{There, look_at, real_place, text_of};
use super::receipt::sha256;
use super::{
    Delivery, Differences, Grammar, HookCommand, Piece, Plugin, PluginError, Receipt, ReceiptConfig,
};
use crate::core::Surroundings;

/// What is to be taken back.
#[derive(Clone, Copy, Debug)]
pub struct RemovalRequest<'a> {
    /// The id of the profile.
    pub profile: &'a str,
    /// What it needs.
    pub plugin: &'a Plugin,
    /// Where.
    pub machine: &'a Surroundings,
    /// What a hook runs, as this Ibid installs it: decides nothing where there is a receipt.
    pub command: &'a HookCommand,
    /// Whether files that are not as Ibid left them go too (to the trash).
    pub replace: bool,
    /// Whether links may be followed.
    pub follow_links: bool,
}

/// What taking an installation back would write: one part before the agent's own program is asked
/// to forget the plugin, and the rest after.
#[derive(Debug)]
pub struct Removal {
    /// The plan.
    pub plan: Plan,
    /// What it may do.
    pub policy: Policy,
    /// What stays, and why.
    pub left: Vec<Left>,
    /// Directories that were made for the installation, the innermost first: each goes if it is
    /// empty then.
    pub directories: Vec<PathBuf>,
}

/// Something that stays.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Left {
    /// In which file, or which one.
    pub path: PathBuf,
    /// What, and why.
    pub why: String,
}

impl Removal {
    /// What is taken back first, while the agent still knows the plugin: what redirects its
    /// requests, since nothing may listen there any more. None when that is nothing.
    ///
    /// # Errors
    /// Why it was refused.
    pub fn redirection(request: &RemovalRequest<'_>) -> Result<Option<Removal>, PluginError> {
        let Some((mut removing, delivery)) = Removing::new(request)? else { return Ok(None) };
        if delivery.registration.is_none() {
            return Ok(None);
        }
        for piece in &delivery.pieces {
            if let Piece::Patch { path, grammar } | Piece::Watched { path, grammar: Some(grammar), .. } =
                piece
            {
                removing.unpatch(path, grammar, false)?;
            }
        }
        let removal = removing.finish(Vec::new());
        Ok((!removal.plan.is_empty()).then_some(removal))
    }

    /// What is taken back when the agent has forgotten the plugin: everything else, the receipt last.
    /// None for a profile that needs nothing.
    ///
    /// # Errors
    /// Why it was refused.
    pub fn rest(request: &RemovalRequest<'_>) -> Result<Option<Removal>, PluginError> {
        let Some((mut removing, delivery)) = Removing::new(request)? else { return Ok(None) };
        let registered = delivery.registration.is_some();
        // In the opposite order: what makes an agent run hooks goes first.
        for piece in delivery.pieces.iter().rev() {
            match piece {
                Piece::Patch { path, grammar } if registered => {
                    removing.give_back(path, grammar.differences)?;
                }
                Piece::Watched { path, differences, .. } => removing.give_back(path, *differences)?,
                Piece::Patch { path, grammar } => removing.unpatch(path, grammar, true)?,
                Piece::File { path, content, .. } => removing.file(path, Some(content))?,
                Piece::Superseded { path } => removing.file(path, None)?,
            }
        }
        let others: Vec<PathBuf> = removing
            .receipt
            .iter()
            .flat_map(|receipt| &receipt.files)
            .map(|file| file.path.clone())
            .collect();
        for path in others {
            removing.file(&path, None)?;
        }
        let own = &delivery.own;
        for name in ["handoff.json", "receipt.json"] {
            removing.own(&own.join(name))?;
        }
        let mut directories: Vec<PathBuf> = vec![own.clone(), folder_of(own)];
        if let Some((tree, registrar)) = &delivery.registration {
            directories.extend(folders_of_tree(&delivery, tree));
            directories.extend(registrar.leftovers(request.machine));
        }
        directories.extend(removing.receipt.iter().flat_map(|receipt| receipt.directories.clone()));
        directories.sort_by_key(|path| std::cmp::Reverse(path.components().count()));
        directories.dedup();
        Ok(Some(removing.finish(directories)))
    }

    /// Removes the directories that the installation made and that are empty now. One that is not,
    /// or cannot be removed, stays.
    pub fn remove_empty_directories(&self) {
        for directory in &self.directories {
            // Fails for one that holds something, which is what is wanted.
            let _ = std::fs::remove_dir(directory);
        }
    }
}

/// The folders between the tree's root and its files, and the root.
fn folders_of_tree(delivery: &Delivery, tree: &Path) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    for piece in &delivery.pieces {
        if let Piece::File { path, .. } = piece {
            let above = path.ancestors().skip(1).take_while(|above| above.starts_with(tree));
            folders.extend(above.map(Path::to_owned));
        }
    }
    folders
}

/// A removal as it grows.
struct Removing<'a> {
    request: &'a RemovalRequest<'a>,
    receipt: Option<Receipt>,
    steps: Vec<Step>,
    roots: Vec<PathBuf>,
    left: Vec<Left>,
    done: Vec<PathBuf>,
}

impl<'a> Removing<'a> {
    fn new(request: &'a RemovalRequest<'a>) -> Result<Option<(Removing<'a>, Delivery)>, PluginError> {
        let own = super::delivery::own_folder(request.machine, request.profile);
        // One that cannot be read is as good as gone; what stays for want of it is listed.
        let receipt = Receipt::read(&own.join("receipt.json")).unwrap_or(None);
        let gateway = receipt.as_ref().and_then(|receipt| receipt.gateway.clone());
        let delivery = Delivery::of(
            request.plugin,
            request.profile,
            request.machine,
            request.command,
            gateway.as_ref(),
            None,
        )?;
        let Some(delivery) = delivery else { return Ok(None) };
        let roots = delivery.roots.clone();
        let (steps, left, done) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Some((Removing { request, receipt, steps, roots, left, done }, delivery)))
    }

    fn finish(self, directories: Vec<PathBuf>) -> Removal {
        let title = format!("the plugin for {}", self.request.profile);
        let plan = Plan::new(self.steps).label("title", title);
        Removal { plan, policy: Policy::within(self.roots), left: self.left, directories }
    }

    fn leave(&mut self, path: &Path, why: impl Into<String>) {
        self.left.push(Left { path: path.to_owned(), why: why.into() });
    }

    fn place(&mut self, path: &Path) -> Result<PathBuf, PluginError> {
        let real = real_place(path, self.request.machine, self.request.follow_links)?;
        if real != path {
            self.roots.push(folder_of(&real));
        }
        Ok(real)
    }

    /// One file that is Ibid's as a whole.
    fn file(&mut self, path: &Path, delivered: Option<&[u8]>) -> Result<(), PluginError> {
        if self.done.iter().any(|done| done == path) || !self.roots.iter().any(|root| path.starts_with(root))
        {
            return Ok(());
        }
        self.done.push(path.to_owned());
        let there = match look_at(path)? {
            There::Nothing => return Ok(()),
            There::Other => {
                self.leave(path, "it is no plain file any more");
                return Ok(());
            }
            There::File(bytes) => bytes,
        };
        let kept = self.receipt.as_ref().and_then(|receipt| receipt.file(path));
        let known = kept.is_some_and(|file| file.sha256 == sha256(&there)) || delivered == Some(&there);
        // What lies in Ibid's own folder is Ibid's, whoever changed it; it can be brought back.
        let own = super::delivery::own_folder(self.request.machine, self.request.profile);
        if known || self.request.replace || path.starts_with(own) {
            return self.own(path);
        }
        let why = "it is not as Ibid left it, or an older copy; --replace moves it to the trash";
        self.leave(path, why);
        Ok(())
    }

    fn own(&mut self, path: &Path) -> Result<(), PluginError> {
        if !matches!(look_at(path)?, There::File(_)) || self.planned(path) {
            return Ok(());
        }
        let real = self.place(path)?;
        let expected = Some(ContentStamp::with_content(&real)?);
        self.steps.push(Step::TrashFile { path: real, expected });
        Ok(())
    }

    fn planned(&self, path: &Path) -> bool {
        self.steps.iter().any(|step| step.path() == Some(path))
    }

    /// A configuration as text; none when there is no file.
    fn text(&self, path: &Path) -> Result<Option<String>, PluginError> {
        // Only a file that is to be changed needs a place that may be written.
        let real = real_place(path, self.request.machine, true)?;
        match look_at(&real)? {
            There::Nothing => Ok(None),
            There::Other => Err(PluginError::NotAFile { path: path.to_owned() }),
            There::File(bytes) => text_of(path, bytes).map(Some),
        }
    }

    fn kept(&self, path: &Path) -> Option<ReceiptConfig> {
        self.receipt.as_ref()?.config(path).cloned()
    }

    /// Takes a patch out of a configuration: the very bytes where nothing else changed, else what
    /// is ours. Before the last word (`finally`) what differs from before is not yet listed.
    fn unpatch(&mut self, path: &Path, grammar: &Grammar, finally: bool) -> Result<(), PluginError> {
        let Some(text) = self.text(path)? else { return Ok(()) };
        let kept = self.kept(path);
        let patch = kept.as_ref().and_then(|kept| kept.patch.as_ref());
        if kept.is_some() && patch.is_none() {
            return Ok(());
        }
        let refused = |error| PluginError::Patch { path: path.to_owned(), error };
        let unpatched = (grammar.remove)(&text, patch).map_err(refused)?;
        for key in unpatched.left {
            self.leave(path, key);
        }
        let before = self.before(path, kept.as_ref());
        let untouched = kept.is_some_and(|kept| kept.after == Some(sha256(text.as_bytes())));
        match before {
            Some(before) if untouched && finally => self.becomes(path, before),
            Some(before) if finally => self.settle(path, &unpatched.text, before, grammar.differences),
            _ if unpatched.text == text => Ok(()),
            _ => self.becomes(path, Some(unpatched.text.into_bytes())),
        }
    }

    /// Gives a configuration back that the agent's own program has rewritten, when it says again
    /// what it said before.
    fn give_back(&mut self, path: &Path, differences: Differences) -> Result<(), PluginError> {
        let Some(text) = self.text(path)? else { return Ok(()) };
        let kept = self.kept(path);
        match self.before(path, kept.as_ref()) {
            Some(before) => self.settle(path, &text, before, differences),
            None => Ok(()),
        }
    }

    /// What was there before the installation, as far as the receipt says: none when it does not,
    /// and `Some(None)` when there was no file.
    #[allow(clippy::option_option, reason = "no file, and no knowledge of one, are two answers")]
    fn before(&mut self, path: &Path, kept: Option<&ReceiptConfig>) -> Option<Option<Vec<u8>>> {
        match kept?.bytes_before() {
            Ok(before) => Some(before),
            Err(_) => {
                self.leave(path, "the receipt does not say what it was before");
                None
            }
        }
    }

    /// The file becomes what it was, when that loses nothing but layout; else the text, and what
    /// differs is listed.
    fn settle(
        &mut self,
        path: &Path,
        text: &str,
        before: Option<Vec<u8>>,
        differences: Differences,
    ) -> Result<(), PluginError> {
        let refused = |error| PluginError::Patch { path: path.to_owned(), error };
        let was = text_of(path, before.clone().unwrap_or_default())?;
        let differences = if text == was { Vec::new() } else { differences(text, &was).map_err(refused)? };
        if differences.is_empty() {
            return self.becomes(path, before);
        }
        for key in differences {
            self.leave(path, format!("{key} was written since, and stays"));
        }
        self.becomes(path, Some(text.as_bytes().to_vec()))
    }

    fn becomes(&mut self, path: &Path, wanted: Option<Vec<u8>>) -> Result<(), PluginError> {
        let Some(text) = self.text(path)? else { return Ok(()) };
        if wanted.as_deref() == Some(text.as_bytes()) {
            return Ok(());
        }
        let real = self.place(path)?;
        let expected = ContentStamp::with_content(&real)?;
        self.steps.push(match wanted {
            None => Step::TrashFile { path: real, expected: Some(expected) },
            Some(bytes) => {
                Step::ReplaceFile { path: real, expected, content: Content::from(bytes), private: false }
            }
        });
        Ok(())
    }
}
