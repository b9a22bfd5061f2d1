use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ibid_harness::Surroundings;
use ibid_harness::codex::plugin::Manager;
use ibid_harness::core::plugin::{
    Goal, PluginOutcome, Registered, Registrar as _, RegistrarRun, SourceOutcome, Unregistered, Withdrawn,
};

/// Writes down what it is asked, and gives the next answer: `status|text`.
const SCRIPTED: &str = r#"#!/bin/sh
printf '%s\n' "$*" >> "$HOME/log"
line=$(sed -n "$(wc -l < "$HOME/log")p" "$HOME/answers")
printf '%s\n' "${line#*|}" >&2
exit "${line%%|*}"
"#;

/// A home with a program that is Codex as far as the manager can tell.
struct Fake {
    home: tempfile::TempDir,
    machine: Surroundings,
    tree: PathBuf,
}

impl Fake {
    fn new(script: &str, answers: &[&str]) -> Fake {
        let home = tempfile::tempdir().unwrap();
        let program = home.path().join("codex");
        fs::write(&program, script).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        fs::write(home.path().join("answers"), answers.join("\n") + "\n").unwrap();
        let machine = Surroundings::isolated(home.path());
        let tree = home.path().join("the tree");
        Fake { home, machine, tree }
    }

    fn run(&self) -> RegistrarRun<'_> {
        RegistrarRun {
            program: self.home.path().join("codex"),
            machine: &self.machine,
            isolated: true,
            tree: &self.tree,
            limit: Duration::from_secs(20),
        }
    }

    fn register(&self, goal: Goal) -> Registered {
        Manager.register(&self.run(), goal)
    }

    /// What the program was asked.
    fn log(&self) -> Vec<String> {
        let log = fs::read_to_string(self.home.path().join("log")).unwrap_or_default();
        log.lines().map(|line| line.replace(self.tree.to_str().unwrap(), "TREE")).collect()
    }

    fn config(self, text: &str) -> Fake {
        let folder = self.home.path().join(".codex");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("config.toml"), text).unwrap();
        self
    }
}

fn asked(source: SourceOutcome, plugin: PluginOutcome) -> Registered {
    Registered::Asked { source, plugin }
}

const ADD: &str = "plugin marketplace add TREE";
const INSTALL: &str = "plugin add ibid@ibid";

#[test]
fn a_first_installation_adds_the_marketplace_and_the_plugin() {
    let fake = Fake::new(SCRIPTED, &["0|", "0|"]);
    assert_eq!(fake.register(Goal::Install), asked(SourceOutcome::Added, PluginOutcome::Installed));
    assert_eq!(fake.log(), [ADD, INSTALL]);
}

#[test]
fn other_bytes_than_before_are_a_refresh() {
    let fake = Fake::new(SCRIPTED, &["1|already added", "0|"]);
    assert_eq!(fake.register(Goal::Refresh), asked(SourceOutcome::AlreadyAdded, PluginOutcome::Refreshed));
}

#[test]
fn a_plugin_that_the_user_switched_off_is_left_alone_and_nothing_is_run() {
    let fake = Fake::new(SCRIPTED, &["0|", "0|"]).config("[plugins.\"ibid@ibid\"]\nenabled = false\n");
    assert_eq!(fake.register(Goal::Install), Registered::SkippedDisabled);
    assert_eq!(fake.log(), Vec::<String>::new());
}

#[test]
fn only_an_explicit_false_is_off() {
    for text in
        ["", "not toml = = ", "[plugins.\"ibid@ibid\"]\n", "[plugins.\"ibid@ibid\"]\nenabled = \"false\"\n"]
    {
        let fake = Fake::new(SCRIPTED, &["0|", "0|"]).config(text);
        assert!(!Manager.is_disabled(&fake.machine), "{text}");
    }
}

#[test]
fn a_program_that_is_not_there_is_said_to_be_absent() {
    let fake = Fake::new(SCRIPTED, &[]);
    fs::remove_file(fake.home.path().join("codex")).unwrap();
    assert_eq!(fake.register(Goal::Install), Registered::CliAbsent);
}

// "already added from a different source" says both.
#[test]
fn a_marketplace_from_another_folder_is_replaced() {
    let different =
        "1|Error: marketplace 'ibid' is already added from a different source; remove it before adding";
    let fake = Fake::new(SCRIPTED, &[different, "0|", "0|", "0|"]);
    assert_eq!(fake.register(Goal::Install), asked(SourceOutcome::Replaced, PluginOutcome::Installed));
    assert_eq!(fake.log(), [ADD, "plugin marketplace remove ibid", ADD, INSTALL]);
}

#[test]
fn a_marketplace_that_cannot_be_removed_is_a_failure() {
    let fake = Fake::new(SCRIPTED, &["1|a different source", "1|Error: busy"]);
    let failed = asked(SourceOutcome::Failed("Error: busy".to_owned()), PluginOutcome::Skipped);
    assert_eq!(fake.register(Goal::Install), failed);
}

#[test]
fn words_that_are_not_known_are_a_failure_and_the_plugin_is_not_tried() {
    let fake = Fake::new(SCRIPTED, &["2|Error: the moon is full"]);
    let failed = asked(SourceOutcome::Failed("Error: the moon is full".to_owned()), PluginOutcome::Skipped);
    assert_eq!(fake.register(Goal::Install), failed);
    assert!(failed.needs_manual_retry());
    assert_eq!(fake.log(), [ADD]);
}

#[test]
fn already_installed_is_believed_only_of_bytes_that_were_confirmed() {
    let fake = Fake::new(SCRIPTED, &["1|already added", "1|ALREADY INSTALLED"]);
    assert_eq!(
        fake.register(Goal::Verify),
        asked(SourceOutcome::AlreadyAdded, PluginOutcome::AlreadyInstalled)
    );
    for goal in [Goal::Install, Goal::Refresh] {
        let fake = Fake::new(SCRIPTED, &["0|", "1|already installed", "1|it is not installed", "0|"]);
        assert_eq!(fake.register(goal), asked(SourceOutcome::Added, PluginOutcome::Refreshed));
        assert_eq!(fake.log(), [ADD, INSTALL, "plugin remove ibid@ibid", INSTALL]);
    }
}

#[test]
fn a_copy_that_cannot_be_removed_is_a_failure_and_not_added_again() {
    let fake = Fake::new(SCRIPTED, &["0|", "1|already installed", "1|in use"]);
    assert_eq!(
        fake.register(Goal::Refresh),
        asked(SourceOutcome::Added, PluginOutcome::Failed("in use".to_owned()))
    );
    assert_eq!(fake.log().len(), 3);
}

#[test]
fn a_copy_that_went_and_did_not_come_back_is_said_to_be_gone() {
    let fake = Fake::new(SCRIPTED, &["0|", "1|already installed", "0|", "1|no room"]);
    let gone = asked(SourceOutcome::Added, PluginOutcome::RemovedNotReinstalled("no room".to_owned()));
    assert_eq!(fake.register(Goal::Install), gone);
    assert!(gone.needs_manual_retry());
    let still = Fake::new(SCRIPTED, &["0|", "1|already installed", "0|", "1|already installed"]);
    let failed = PluginOutcome::Failed("already installed".to_owned());
    assert_eq!(still.register(Goal::Install), asked(SourceOutcome::Added, failed));
}

#[test]
fn words_of_a_success_are_not_looked_at() {
    let script = "#!/bin/sh\necho 'Marketplace is already added from a different source'\n";
    let fake = Fake::new(script, &[]);
    assert_eq!(fake.register(Goal::Install), asked(SourceOutcome::Added, PluginOutcome::Installed));
}

/// Codex quotes the line of its configuration that it cannot read.
#[test]
fn what_the_program_quotes_of_its_configuration_is_not_repeated() {
    let script = "#!/bin/sh\nprintf 'Error: failed to load configuration\\n\\nCaused by:\\n  key = \"sk-secret\"\\n' >&2\nexit 1\n";
    let fake = Fake::new(script, &[]);
    let failed = SourceOutcome::Failed("Error: failed to load configuration".to_owned());
    assert_eq!(fake.register(Goal::Install), asked(failed, PluginOutcome::Skipped));
}

#[test]
fn a_long_or_steering_text_is_one_short_line() {
    let script =
        "#!/bin/sh\nprintf 'a\\033[31mb\\n\\tc' >&2; head -c 300000 /dev/zero | tr '\\0' x >&2\nexit 1\n";
    let fake = Fake::new(script, &[]);
    let Registered::Asked { source: SourceOutcome::Failed(said), .. } = fake.register(Goal::Install) else {
        panic!("it failed")
    };
    assert!(said.starts_with("a [31mb c"), "{said}");
    assert_eq!(said.chars().count(), 201);
    assert!(said.ends_with('…'));
}

#[test]
fn a_failure_without_words_names_the_status() {
    let fake = Fake::new("#!/bin/sh\nexit 7\n", &[]);
    let failed = SourceOutcome::Failed("exited with exit status: 7".to_owned());
    assert_eq!(fake.register(Goal::Install), asked(failed, PluginOutcome::Skipped));
}

#[test]
fn a_program_that_does_not_end_is_ended_with_what_it_started() {
    let fake = Fake::new("#!/bin/sh\nsleep 60 &\nsleep 60\n", &[]);
    let begun = Instant::now();
    let run = RegistrarRun { limit: Duration::from_millis(300), ..fake.run() };
    let Registered::Asked { source: SourceOutcome::Failed(said), .. } = Manager.register(&run, Goal::Install)
    else {
        panic!("it was ended")
    };
    assert!(said.contains("did not end within 0.3 s"), "{said}");
    assert!(begun.elapsed() < Duration::from_secs(10));
}

#[test]
fn nothing_is_on_stdin_and_a_named_home_hides_the_variable_of_another() {
    let script =
        "#!/bin/sh\nread line && echo 'there was input' >&2 && exit 1\n[ -z \"$CODEX_HOME\" ] || exit 1\n";
    let fake = Fake::new(script, &[]);
    assert_eq!(fake.register(Goal::Install), asked(SourceOutcome::Added, PluginOutcome::Installed));
}

const REGISTERED: &str =
    "[marketplaces.ibid]\nsource = \"TREE\"\n\n[plugins.\"ibid@ibid\"]\nenabled = true\n";

fn registered(fake: Fake) -> Fake {
    let config = REGISTERED.replace("TREE", fake.tree.to_str().unwrap());
    fake.config(&config)
}

#[test]
fn unregistering_removes_the_plugin_and_then_the_marketplace() {
    let fake =
        registered(Fake::new(SCRIPTED, &["0|", "1|marketplace `ibid` is not configured or installed"]));
    let (plugin, source) = (Withdrawn::Removed, Withdrawn::NotThere);
    assert_eq!(Manager.unregister(&fake.run()), Unregistered::Asked { plugin, source });
    assert_eq!(fake.log(), ["plugin remove ibid@ibid", "plugin marketplace remove ibid"]);
}

#[test]
fn what_is_not_registered_is_not_asked_for() {
    let fake = Fake::new(SCRIPTED, &["0|"]).config("model = \"m\"\n");
    assert_eq!(Manager.unregister(&fake.run()), Unregistered::NotRegistered);
    assert_eq!(fake.log(), Vec::<String>::new());
}

#[test]
fn a_marketplace_of_the_same_name_that_is_somebody_elses_stays() {
    let fake = Fake::new(SCRIPTED, &["0|"]).config(REGISTERED);
    assert_eq!(Manager.unregister(&fake.run()), Unregistered::Foreign);
    assert_eq!(fake.log(), Vec::<String>::new());
}

#[test]
fn the_commands_for_a_person_are_quoted_for_a_shell() {
    assert_eq!(
        Manager.commands(Path::new("/my data/plugin")),
        ["codex plugin marketplace add '/my data/plugin'", "codex plugin add ibid@ibid"]
    );
    assert_eq!(
        Manager.undo_commands(),
        ["codex plugin remove ibid@ibid", "codex plugin marketplace remove ibid"]
    );
}
