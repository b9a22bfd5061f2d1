//! What belongs on a machine for one profile.

use std::path::{Path, PathBuf};

use super::{
    Approval, Gateway, Grammar, HOOK_LINE, HOOK_WORDS, HookCommand, PatchError, Plugin, Registrar, Slot,
    UnfilledSlot, fill,
};
use crate::core::Surroundings;

/// Everything that belongs on a machine for one profile, in the order in which it becomes visible:
/// what makes an agent run hooks comes last.
#[derive(Clone, Debug)]
pub struct Delivery {
    /// The pieces.
    pub pieces: Vec<Piece>,
    /// Ibid's own folder for the profile.
    pub own: PathBuf,
    /// The folders and files of the agent that are written to.
    pub roots: Vec<PathBuf>,
    /// The folder that the agent's plugin manager is given, with the manager.
    pub registration: Option<(PathBuf, &'static dyn Registrar)>,
    /// What the user has to approve.
    pub approvals: &'static [Approval],
}

/// One thing of a delivery.
#[derive(Clone, Debug)]
pub enum Piece {
    /// A file that is Ibid's as a whole.
    File {
        /// Where.
        path: PathBuf,
        /// What it holds.
        content: Vec<u8>,
        /// What it is for.
        role: FileRole,
    },
    /// A file that an earlier release of Ibid put there.
    Superseded {
        /// Where.
        path: PathBuf,
    },
    /// A configuration file of the agent that gets a patch.
    Patch {
        /// Where.
        path: PathBuf,
        /// How.
        grammar: &'static Grammar,
    },
    /// A configuration file of the agent that the agent's own plugin manager writes to.
    Watched {
        /// Where.
        path: PathBuf,
        /// How it is compared.
        differences: Differences,
        /// How a patch of an earlier installation is taken out.
        grammar: Option<&'static Grammar>,
    },
}

/// What two configurations say differently, as [`Grammar::differences`].
pub type Differences = fn(&str, &str) -> Result<Vec<String>, PatchError>;

/// What a file of Ibid's is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileRole {
    /// It is what the agent's plugin manager copies.
    Tree,
    /// It lies among the agent's extensions.
    Extension,
    /// It tells a hook where a process listens, and holds a secret that is new each time.
    Handoff,
}

impl Delivery {
    /// What belongs on the machine; none for a profile that needs nothing.
    ///
    /// # Errors
    /// When a template has a slot that nothing fills.
    pub fn of(
        plugin: &Plugin,
        profile: &str,
        machine: &Surroundings,
        command: &HookCommand,
        gateway: Option<&Gateway>,
        handoff: Option<&[u8]>,
    ) -> Result<Option<Delivery>, UnfilledSlot> {
        let own = own_folder(machine, profile);
        let handoff = handoff.map(|content| Piece::File {
            path: own.join("handoff.json"),
            content: content.to_vec(),
            role: FileRole::Handoff,
        });
        let mut pieces = Vec::new();
        let (mut roots, mut registration) = (vec![own.clone()], None);
        let approvals = match plugin {
            Plugin::None(_) => return Ok(None),
            Plugin::BundledExtension(extension) => {
                pieces.extend(handoff);
                let folder = (extension.folder)(machine);
                let earlier = extension.superseded.iter();
                pieces.extend(earlier.map(|name| Piece::Superseded { path: folder.join(name) }));
                let (line, words) = (command.line(), command.words());
                let values = [(HOOK_WORDS, Slot::Words(words)), (HOOK_LINE, Slot::Text(&line))];
                for file in extension.files {
                    let content = fill(file.template, &values)?.into_bytes();
                    let path = folder.join(file.name);
                    pieces.push(Piece::File { path, content, role: FileRole::Extension });
                }
                roots.push(folder);
                extension.approvals
            }
            Plugin::SettingsHooks(settings) => {
                pieces.extend(handoff);
                let path = (settings.file)(machine);
                roots.push(folder_of(&path));
                pieces.push(Piece::Patch { path, grammar: settings.grammar });
                settings.approvals
            }
            Plugin::HookManifest(manifest) => {
                let tree = own.join("plugin");
                for file in (manifest.tree)(command)? {
                    let path = file.place.split('/').fold(tree.clone(), |path, part| path.join(part));
                    let content = file.content.into_bytes();
                    pieces.push(Piece::File { path, content, role: FileRole::Tree });
                }
                let path = (manifest.config)(machine);
                roots.push(folder_of(&path));
                pieces.push(match (gateway, manifest.gateway) {
                    (Some(_), Some(grammar)) => Piece::Patch { path, grammar },
                    (_, grammar) => Piece::Watched { path, differences: manifest.differences, grammar },
                });
                pieces.extend(handoff);
                registration = Some((tree, manifest.registrar));
                manifest.approvals
            }
        };
        Ok(Some(Delivery { pieces, own, roots, registration, approvals }))
    }

    /// Where the receipt is.
    #[must_use]
    pub fn receipt_path(&self) -> PathBuf {
        self.own.join("receipt.json")
    }
}

/// Ibid's own folder for a profile.
pub(super) fn own_folder(machine: &Surroundings, profile: &str) -> PathBuf {
    machine.data_dir().join("plugins").join(profile)
}

pub(super) fn folder_of(path: &Path) -> PathBuf {
    path.parent().unwrap_or(path).to_owned()
}
