use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use ibid_carrier::plan::{Engine, PlanError, Step};
use ibid_harness::Surroundings;
use ibid_harness::core::plugin::{
    BundledExtension, BundledFile, HookCommand, Installation, Plugin, PluginError, Removal, RemovalRequest,
    Request, State, Status,
};
use ibid_model::Timestamp;

/// An extension as a harness declares one.
static EXTENSION: BundledExtension = BundledExtension {
    folder: |machine| machine.home().join(".agent").join("extensions"),
    files: &[BundledFile { name: "ibid.ts", template: "const hook: string[] = \"__IBID_HOOK_WORDS__\"\n" }],
    superseded: &["ibid-old.ts"],
    approvals: &[],
};

static PLUGIN: Plugin = Plugin::BundledExtension(&EXTENSION);

struct Home {
    folder: tempfile::TempDir,
    machine: Surroundings,
    command: HookCommand,
}

impl Home {
    fn new() -> Home {
        Home::with_program("ibid")
    }

    fn with_program(name: &str) -> Home {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join(name);
        fs::write(&program, "").unwrap();
        let machine = Surroundings::isolated(folder.path());
        let command = HookCommand::new(&program, "agent", machine.data_dir()).unwrap();
        Home { folder, machine, command }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn extension(&self) -> PathBuf {
        self.path(".agent/extensions/ibid.ts")
    }

    fn engine(&self) -> Engine {
        Engine::new(self.machine.data_dir())
    }

    fn request(&self) -> Request<'_> {
        Request {
            profile: "agent",
            plugin: &PLUGIN,
            machine: &self.machine,
            command: &self.command,
            gateway: None,
            handoff: Some(b"{\"secret\": \"s\"}\n"),
            at: Timestamp::parse("2026-07-01T10:00:00Z").unwrap(),
            replace: false,
            follow_links: false,
        }
    }

    fn plan(&self) -> Result<Installation, PluginError> {
        Ok(Installation::plan(&self.request())?.unwrap())
    }

    fn install(&self) {
        let installation = self.plan().unwrap();
        self.engine().commit(&installation.plan, &installation.policy).unwrap();
    }

    fn removal(&self, replace: bool) -> Removal {
        let request = RemovalRequest {
            profile: "agent",
            plugin: &PLUGIN,
            machine: &self.machine,
            command: &self.command,
            replace,
            follow_links: false,
        };
        assert!(Removal::redirection(&request).unwrap().is_none());
        Removal::rest(&request).unwrap().unwrap()
    }

    fn uninstall(&self) -> Removal {
        let removal = self.removal(false);
        self.engine().commit(&removal.plan, &removal.policy).unwrap();
        removal.remove_empty_directories();
        removal
    }

    fn state(&self) -> State {
        Status::look(&PLUGIN, "agent", &self.machine, &self.command).unwrap().state
    }

    /// Everything in the home but Ibid's own data.
    fn tree(&self) -> Vec<String> {
        let mut tree = Vec::new();
        walk(self.folder.path(), self.machine.data_dir(), &mut tree);
        tree.sort();
        tree
    }
}

fn walk(folder: &Path, own: &Path, tree: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if own.starts_with(&path) {
            continue;
        }
        if entry.file_type().unwrap().is_dir() {
            tree.push(path.display().to_string());
            walk(&path, own, tree);
        } else {
            tree.push(format!("{}: {:?}", path.display(), fs::read(&path).ok()));
        }
    }
}

#[test]
fn an_extension_comes_and_goes_with_the_folders_that_were_made_for_it() {
    let home = Home::new();
    let before = home.tree();
    assert_eq!(home.state(), State::Absent);
    home.install();
    assert_eq!(home.state(), State::Installed);
    let words = serde_json::to_string(home.command.words()).unwrap().replace(',', ", ");
    assert_eq!(fs::read_to_string(home.extension()).unwrap(), format!("const hook: string[] = {words}\n"));
    assert!(home.uninstall().left.is_empty());
    assert_eq!(home.tree(), before);
    assert_eq!(home.state(), State::Absent);
    assert!(home.uninstall().plan.is_empty());
}

#[test]
fn folders_that_were_there_and_files_of_others_stay() {
    let home = Home::new();
    fs::create_dir_all(home.path(".agent/extensions")).unwrap();
    fs::write(home.path(".agent/extensions/mine.ts"), "mine").unwrap();
    let before = home.tree();
    home.install();
    home.uninstall();
    assert_eq!(home.tree(), before);
}

#[test]
fn the_extension_becomes_visible_last_and_under_its_name_alone() {
    let home = Home::new();
    let steps = home.plan().unwrap().plan.steps;
    let last = steps.last().unwrap();
    assert!(matches!(last, Step::CreateFile { path, .. } if *path == home.extension()), "{last}");
    let names: Vec<_> = steps.iter().filter_map(|step| step.path()?.file_name()).collect();
    assert!(
        names.iter().position(|name| *name == "receipt.json")
            < names.iter().position(|name| *name == "ibid.ts")
    );
}

#[test]
fn an_earlier_name_goes_before_the_new_file_comes() {
    let home = Home::new();
    fs::create_dir_all(home.path(".agent/extensions")).unwrap();
    fs::write(home.path(".agent/extensions/ibid-old.ts"), "old").unwrap();
    assert_eq!(home.state(), State::Partly);
    home.install();
    assert!(!home.path(".agent/extensions/ibid-old.ts").exists());
    assert_eq!(home.state(), State::Installed);
}

#[test]
fn an_earlier_name_that_cannot_go_leaves_the_old_copy_and_no_new_one() {
    let home = Home::new();
    fs::create_dir_all(home.path(".agent/extensions")).unwrap();
    fs::write(home.path(".agent/extensions/ibid-old.ts"), "old").unwrap();
    let installation = home.plan().unwrap();
    fs::write(home.path(".agent/extensions/ibid-old.ts"), "changed meanwhile").unwrap();
    let error = home.engine().commit(&installation.plan, &installation.policy).unwrap_err();
    assert!(matches!(error, PlanError::Changed { .. }), "{error}");
    assert!(!home.extension().exists());
    assert!(home.path(".agent/extensions/ibid-old.ts").exists());
    assert!(!home.machine.data_dir().join("plugins/agent/handoff.json").exists());
}

#[test]
fn a_file_of_somebody_else_is_refused_and_with_a_flag_kept_as_a_backup() {
    let home = Home::new();
    fs::create_dir_all(home.path(".agent/extensions")).unwrap();
    fs::write(home.extension(), "theirs").unwrap();
    let error = home.plan().unwrap_err();
    assert!(matches!(error, PluginError::Foreign { .. }) && error.is_refusal(), "{error}");
    assert!(error.to_string().contains("--replace"), "{error}");
    let installation = Installation::plan(&Request { replace: true, ..home.request() }).unwrap().unwrap();
    let committed = home.engine().commit(&installation.plan, &installation.policy).unwrap();
    assert_eq!(fs::read_to_string(&committed.backups[0]).unwrap(), "theirs");
}

#[test]
fn what_was_edited_since_is_seen_and_neither_replaced_nor_removed_unasked() {
    let home = Home::new();
    home.install();
    fs::write(home.extension(), "edited").unwrap();
    assert_eq!(home.state(), State::Drifted);
    assert!(matches!(home.plan().unwrap_err(), PluginError::Foreign { .. }));
    let removal = home.uninstall();
    assert_eq!(removal.left.len(), 1);
    assert_eq!(fs::read_to_string(home.extension()).unwrap(), "edited");
    let removal = home.removal(true);
    home.engine().commit(&removal.plan, &removal.policy).unwrap();
    assert!(!home.extension().exists());
}

#[test]
fn a_copy_of_an_ibid_at_another_place_is_an_old_one_and_is_brought_up_to_date() {
    let home = Home::new();
    home.install();
    let other = home.path("elsewhere");
    fs::write(&other, "").unwrap();
    let command = HookCommand::new(&other, "agent", home.machine.data_dir()).unwrap();
    let moved = Home { command, folder: home.folder, machine: home.machine };
    assert_eq!(moved.state(), State::OldCopy);
    moved.install();
    assert_eq!(moved.state(), State::Installed);
    fs::remove_file(other).unwrap();
    assert_eq!(moved.state(), State::Partly);
}

#[test]
fn a_folder_that_is_a_link_is_refused_and_followed_only_below_the_home() {
    let home = Home::new();
    fs::create_dir_all(home.path("dotfiles/agent")).unwrap();
    symlink(home.path("dotfiles/agent"), home.path(".agent")).unwrap();
    let error = home.plan().unwrap_err();
    assert!(error.to_string().contains("--follow-link"), "{error}");
    let follow = Request { follow_links: true, ..home.request() };
    let installation = Installation::plan(&follow).unwrap().unwrap();
    home.engine().commit(&installation.plan, &installation.policy).unwrap();
    assert!(home.path("dotfiles/agent/extensions/ibid.ts").exists());

    let outside = tempfile::tempdir().unwrap();
    let home = Home::new();
    symlink(outside.path(), home.path(".agent")).unwrap();
    let follow = Request { follow_links: true, ..home.request() };
    assert!(matches!(Installation::plan(&follow).unwrap_err(), PluginError::LeadsOut { .. }));
}

#[test]
fn a_planted_link_in_the_place_of_the_file_is_not_written_through() {
    let home = Home::new();
    fs::create_dir_all(home.path(".agent/extensions")).unwrap();
    fs::write(home.path("precious"), "mine").unwrap();
    symlink(home.path("precious"), home.extension()).unwrap();
    assert!(matches!(home.plan().unwrap_err(), PluginError::Link { .. }));
    assert_eq!(fs::read_to_string(home.path("precious")).unwrap(), "mine");
}

/// Failing at every point of a commit leaves nothing at all, and then the same plan can be carried
/// out.
#[test]
fn a_failure_at_any_point_undoes_everything() {
    for fail_at in 0.. {
        let home = Home::new();
        fs::create_dir_all(home.path(".agent/extensions")).unwrap();
        fs::write(home.path(".agent/extensions/ibid-old.ts"), "old").unwrap();
        let before = home.tree();
        let installation = home.plan().unwrap();
        let mut points = 0;
        let committed = home.engine().commit_observed(&installation.plan, &installation.policy, &mut |_| {
            points += 1;
            if points == fail_at + 1 { Err(io::Error::other("now")) } else { Ok(()) }
        });
        if committed.is_ok() {
            assert!(points > 20, "{points}");
            break;
        }
        assert_eq!(home.tree(), before, "failed at {fail_at}");
        assert!(!home.machine.data_dir().join("plugins/agent/receipt.json").exists());
        home.install();
        assert_eq!(home.state(), State::Installed);
    }
}
