//! Where sessions of pi, and of Oh My Pi, which grew out of it, may lie.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use ibid_model::Text;

use crate::core::{Root, RootOrigin, Surroundings};
use crate::families::values::Value;

/// Names the directory that holds session files themselves, without folders for projects.
const SESSION_DIR: &str = "PI_CODING_AGENT_SESSION_DIR";

/// Names the directory that stands for `~/.pi/agent`.
const AGENT_DIR: &str = "PI_CODING_AGENT_DIR";

/// Where Oh My Pi keeps data when it follows the XDG directories.
const DATA_HOME: &str = "XDG_DATA_HOME";

/// The most that is read of a settings file, in bytes.
const SETTINGS_BYTES: u64 = 1 << 20;

/// Every root, in the order in which pi looks for one to write in: the variable, the project's
/// setting, the agent's setting, the agent's own directory; then those of Oh My Pi.
pub(super) fn roots(machine: &Surroundings) -> Vec<Root> {
    let mut roots: Vec<Root> = flat(machine);
    let mut add = |root: Root| {
        if roots.iter().all(|known| known.path != root.path) {
            roots.push(root);
        }
    };
    let origin = match machine.directory(AGENT_DIR) {
        Some(_) => RootOrigin::Variable(AGENT_DIR),
        None => RootOrigin::Default,
    };
    add(Root { path: agent(machine).join("sessions"), origin });
    for path in oh_my_pi(machine) {
        // pi itself does not look there, as in a root that a person names.
        add(Root { path, origin: RootOrigin::Named });
    }
    roots
}

/// Whether a root holds the files themselves, and not a folder for each project.
pub(super) fn is_flat(root: &Path, machine: &Surroundings) -> bool {
    flat(machine).iter().any(|flat| flat.path == root)
}

pub(super) fn agent(machine: &Surroundings) -> PathBuf {
    machine.directory(AGENT_DIR).unwrap_or_else(|| machine.home().join(".pi").join("agent"))
}

/// The roots that the variable and the settings name.
fn flat(machine: &Surroundings) -> Vec<Root> {
    let mut roots = Vec::new();
    if let Some(path) = machine.directory(SESSION_DIR) {
        roots.push(Root { path, origin: RootOrigin::Variable(SESSION_DIR) });
    }
    let project = machine.project().map(|project| project.join(".pi"));
    for folder in project.into_iter().chain([agent(machine)]) {
        let Some(said) = session_dir(&folder.join("settings.json")) else { continue };
        let said = Path::new(said.as_str());
        let path = match (said.strip_prefix("~"), machine.project()) {
            (Ok(rest), _) => machine.home().join(rest),
            (Err(_), Some(project)) => project.join(said),
            // A relative one is of whatever project pi runs in.
            (Err(_), None) if said.is_absolute() => said.to_owned(),
            (Err(_), None) => continue,
        };
        if roots.iter().all(|root| root.path != path) {
            roots.push(Root { path, origin: RootOrigin::Default });
        }
    }
    roots
}

/// The setting `sessionDir` of a settings file; none when there is none that can be read.
fn session_dir(settings: &Path) -> Option<Text> {
    let mut text = String::new();
    fs::File::open(settings).ok()?.take(SETTINGS_BYTES).read_to_string(&mut text).ok()?;
    Value::of(&Text::from(text)).ok()?.fields()?.filled("sessionDir")
}

/// The stores of Oh My Pi and of its profiles, where it is there at all.
fn oh_my_pi(machine: &Surroundings) -> Vec<PathBuf> {
    let home = machine.home().join(".omp");
    let mut stores = vec![home.join("agent").join("sessions")];
    stores.extend(profiles(&home).into_iter().map(|profile| profile.join("agent").join("sessions")));
    if let Some(data) = machine.directory(DATA_HOME) {
        let data = data.join("omp");
        stores.push(data.join("sessions"));
        stores.extend(profiles(&data).into_iter().map(|profile| profile.join("sessions")));
    }
    stores.retain(|store| store.is_dir());
    stores
}

fn profiles(home: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(home.join("profiles")).into_iter().flatten().flatten();
    let mut profiles: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    profiles.sort();
    profiles
}
