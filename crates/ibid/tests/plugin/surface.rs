use super::Machine;

#[test]
fn a_program_that_is_not_known_is_an_error_that_names_those_there_are() {
    let machine = Machine::new();
    for verb in ["install", "status", "verify", "uninstall"] {
        let run = machine.plugin(&[verb, "nope"]).ends(2);
        assert!(run.stderr.contains("codex-app"), "{}", run.stderr);
    }
}

#[test]
fn a_program_that_needs_no_plugin_is_a_success_that_writes_nothing() {
    let machine = Machine::new();
    let before = machine.files();
    let run = machine.plugin(&["install", "codex"]).ends(0);
    assert!(run.stdout.contains("needs no plugin"), "{}", run.stdout);
    let json = machine.plugin(&["install", "codex", "--json"]).ends(0).json();
    assert_eq!(json["needed"], false);
    machine.plugin(&["verify", "codex"]).ends(0);
    machine.plugin(&["uninstall", "codex"]).ends(0);
    assert_eq!(machine.files(), before);
    assert!(!machine.own("codex").exists());
}

#[test]
fn an_alias_means_its_program() {
    let machine = Machine::new();
    machine.plugin(&["install", " Codex-Desktop ", "--yes"]).ends(0);
    assert_eq!(machine.state("codex-app"), "installed");
}

#[test]
fn nobody_is_asked_without_a_terminal() {
    let machine = Machine::new();
    let run = machine.plugin(&["install", "codex-app"]).ends(3);
    assert!(run.stderr.contains("--yes"), "{}", run.stderr);
    assert!(!machine.own("codex-app").exists());
    assert_eq!(machine.asked(), Vec::<String>::new());
}

#[test]
fn a_dry_run_prints_the_very_plan_and_changes_nothing() {
    let machine = Machine::new();
    let dry = machine.plugin(&["install", "codex-app", "--dry-run"]).ends(0).stdout;
    assert!(!machine.own("codex-app").exists());
    let real = machine.install("codex-app").stdout;
    assert!(real.starts_with(&dry), "{dry}\n{real}");
    let files = machine.files();
    let dry = machine.plugin(&["uninstall", "codex-app", "--dry-run"]).ends(0).stdout;
    assert_eq!(machine.files(), files);
    assert!(dry.contains("codex plugin remove ibid@ibid"), "{dry}");
}

#[test]
fn the_plan_reads_as_it_should() {
    let machine = Machine::new();
    let plan = machine.plugin(&["install", "codex-app", "--dry-run"]).ends(0).stdout;
    let own = machine.own("codex-app");
    let plan = plan.replace(own.to_str().unwrap(), "OWN");
    // Sizes depend on how long the path of the program is.
    let plan: String =
        plan.lines().map(|line| line.split(": ").next().unwrap_or(line).to_owned() + "\n").collect();
    let wanted = "\
The plugin for Codex app

Plan
  1. make directory OWN/plugin/plugins/ibid/hooks (only for you)
  2. create OWN/plugin/plugins/ibid/hooks/hooks.json
  3. make directory OWN/plugin/plugins/ibid/.codex-plugin (only for you)
  4. create OWN/plugin/plugins/ibid/.codex-plugin/plugin.json
  5. make directory OWN/plugin/.agents/plugins (only for you)
  6. create OWN/plugin/.agents/plugins/marketplace.json
  7. create OWN/receipt.json
  8. create OWN/handoff.json
Then
  codex plugin marketplace add OWN/plugin
  codex plugin add ibid@ibid
";
    assert_eq!(plan, wanted);
}

#[test]
fn the_secret_is_printed_nowhere() {
    let machine = Machine::new();
    let mut printed = String::new();
    for arguments in [
        &["install", "codex-app", "--yes"][..],
        &["install", "codex-app", "--yes", "--json"],
        &["status", "codex-app", "--json"],
        &["verify", "codex-app"],
        &["uninstall", "codex-app", "--dry-run", "--json"],
    ] {
        let run = machine.plugin(arguments);
        printed.push_str(&run.stdout);
        printed.push_str(&run.stderr);
    }
    let handoff = std::fs::read(machine.own("codex-app").join("handoff.json")).unwrap();
    let handoff: serde_json::Value = serde_json::from_slice(&handoff).unwrap();
    assert!(!printed.contains(handoff["secret"].as_str().unwrap()));
}

#[test]
fn the_doctor_names_a_plugin_that_is_there_and_none_that_is_not() {
    let machine = Machine::new();
    let doctor = || crate::common::ibid(&machine.home, ["doctor"]).stdout;
    assert!(!doctor().contains("Plugins that report"), "{}", doctor());
    machine.install("codex-app");
    assert!(doctor().contains("Codex app: installed, last hook seen: none yet"), "{}", doctor());
}
