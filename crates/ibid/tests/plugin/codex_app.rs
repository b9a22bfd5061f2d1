use std::fs;

use super::{Machine, mode};

const CONFIG: &str = ".codex/config.toml";

const USERS: &str = "# mine\nmodel = \"gpt-5\"   # the large one\n\n[features]\nx = true\n";

#[test]
fn installing_registers_last_and_says_what_to_approve() {
    let machine = Machine::new().with(CONFIG, USERS);
    let run = machine.install("codex-app");
    assert_eq!(machine.asked(), ["plugin marketplace add TREE", "plugin add ibid@ibid"]);
    assert!(run.stdout.contains("has taken the plugin"), "{}", run.stdout);
    assert!(run.stdout.contains("/hooks"), "{}", run.stdout);
    let own = machine.own("codex-app");
    for file in ["handoff.json", "receipt.json", "plugin/plugins/ibid/hooks/hooks.json"] {
        assert_eq!(mode(&own.join(file)), 0o600, "{file}");
    }
    assert_eq!(mode(&own), 0o700);
}

#[test]
fn the_whole_circle_gives_the_very_bytes_back() {
    let without_newline = USERS.trim_end();
    for config in [Some(USERS), Some(without_newline), Some(""), None] {
        let machine = Machine::new();
        if let Some(text) = config {
            machine.write(CONFIG, text);
        }
        let before = machine.files();
        machine.install("codex-app");
        assert!(machine.read(CONFIG).contains("[plugins.\"ibid@ibid\"]"));
        let run = machine.uninstall("codex-app");
        assert!(!run.stdout.contains("What stays"), "{}", run.stdout);
        assert_eq!(machine.files(), before, "{config:?}");
        assert!(!machine.own("codex-app").exists());
        assert_eq!(machine.state("codex-app"), "absent");
    }
}

#[test]
fn what_was_written_meanwhile_stays_and_is_listed() {
    let machine = Machine::new().with(CONFIG, USERS);
    machine.install("codex-app");
    let trust = "\n[hooks.state.\"ibid@ibid:hooks/hooks.json:stop:0:0\"]\ntrusted_hash = \"sha256:A\"\n";
    machine.write(CONFIG, &(machine.read(CONFIG) + trust));
    let json = machine.plugin(&["uninstall", "codex-app", "--yes", "--json"]).ends(0).json();
    let left: Vec<&str> =
        json["left"].as_array().unwrap().iter().map(|left| left["why"].as_str().unwrap()).collect();
    let key = r#"hooks.state."ibid@ibid:hooks/hooks.json:stop:0:0".trusted_hash"#;
    assert_eq!(left, [format!("{key} was written since, and stays")]);
    let config = machine.read(CONFIG);
    assert_eq!(config.strip_prefix(USERS).unwrap().trim(), trust.trim());
}

#[test]
fn taking_it_back_twice_is_no_failure_and_the_second_time_does_nothing() {
    let machine = Machine::new().with(CONFIG, USERS);
    machine.uninstall("codex-app");
    machine.install("codex-app");
    machine.uninstall("codex-app");
    let asked = machine.asked();
    let files = machine.files();
    let json = machine.plugin(&["uninstall", "codex-app", "--yes", "--json"]).ends(0).json();
    assert_eq!(json["plan"]["steps"].as_array().unwrap().len(), 0);
    assert_eq!(json["unregistered"]["outcome"], "not-registered");
    assert_eq!(machine.asked(), asked);
    assert_eq!(machine.files(), files);
}

#[test]
fn without_the_receipt_it_is_taken_back_all_the_same() {
    let machine = Machine::new().with(CONFIG, USERS);
    let before = machine.files();
    machine.install("codex-app");
    fs::remove_file(machine.own("codex-app").join("receipt.json")).unwrap();
    assert_eq!(machine.state("codex-app"), "partly");
    machine.uninstall("codex-app");
    assert_eq!(machine.files(), before);
    assert!(!machine.own("codex-app").exists());
}

#[test]
fn installing_again_verifies_and_rotates_the_secret() {
    let machine = Machine::new();
    let first = machine.plugin(&["install", "codex-app", "--yes", "--json"]).ends(0).json();
    assert_eq!(first["goal"], "install");
    let handoff = || -> serde_json::Value {
        serde_json::from_slice(&fs::read(machine.own("codex-app").join("handoff.json")).unwrap()).unwrap()
    };
    let before = handoff();
    let config = machine.read(CONFIG);
    let again = machine.plugin(&["install", "codex-app", "--yes", "--json"]).ends(0).json();
    assert_eq!(again["goal"], "verify");
    assert_ne!(handoff()["secret"], before["secret"]);
    assert_eq!(handoff()["proxy_addr"], before["proxy_addr"]);
    assert_eq!(machine.read(CONFIG), config);
}

#[test]
fn other_bytes_are_delivered_as_a_refresh() {
    let machine = Machine::new();
    machine.install("codex-app");
    let receipt = machine.own("codex-app").join("receipt.json");
    let text = fs::read_to_string(&receipt).unwrap();
    let kept: serde_json::Value = serde_json::from_str(&text).unwrap();
    fs::write(&receipt, text.replace(kept["delivered"].as_str().unwrap(), &"0".repeat(64))).unwrap();
    let json = machine.plugin(&["install", "codex-app", "--yes", "--json"]).ends(0).json();
    assert_eq!(json["goal"], "refresh");
    assert_eq!(json["registered"]["plugin"]["outcome"], "refreshed");
}

#[test]
fn a_missing_program_fails_nothing_and_the_commands_are_printed() {
    let machine = Machine::new().without_codex();
    let run = machine.install("codex-app");
    assert!(run.stdout.contains("codex plugin marketplace add "), "{}", run.stdout);
    assert!(run.stdout.contains("Run this by hand"), "{}", run.stdout);
    assert_eq!(machine.state("codex-app"), "partly");
    let before_anything = Machine::new().files();
    machine.uninstall("codex-app");
    assert_eq!(machine.files(), before_anything);
}

#[test]
fn a_program_that_refuses_fails_nothing_and_the_commands_are_printed() {
    let machine = Machine::new().with("codex.refuses", "Error: the moon is full\n");
    let run = machine.install("codex-app");
    assert!(run.stdout.contains("the moon is full"), "{}", run.stdout);
    assert!(run.stdout.contains("codex plugin add ibid@ibid"), "{}", run.stdout);
    // Once it no longer refuses, the same command reaches the goal.
    fs::remove_file(machine.path("codex.refuses")).unwrap();
    machine.install("codex-app");
    assert!(machine.read(CONFIG).contains("[plugins.\"ibid@ibid\"]"));
}

#[test]
fn as_long_as_codex_knows_the_plugin_its_files_stay() {
    let machine = Machine::new();
    machine.install("codex-app");
    machine.write("codex.refuses", "Error: busy\n");
    let run = machine.plugin(&["uninstall", "codex-app", "--yes"]).ends(2);
    assert!(run.stderr.contains("busy") && run.stderr.contains("--without-program"), "{}", run.stderr);
    assert!(machine.own("codex-app").join("plugin").exists());
    let run = machine.plugin(&["uninstall", "codex-app", "--yes", "--without-program"]).ends(0);
    assert!(run.stdout.contains("codex plugin remove ibid@ibid"), "{}", run.stdout);
    assert!(!machine.own("codex-app").exists());
}

#[test]
fn a_plugin_that_the_user_switched_off_stays_off_and_codex_is_not_asked() {
    let machine = Machine::new().with(CONFIG, "[plugins.\"ibid@ibid\"]\nenabled = false\n");
    let before = machine.read(CONFIG);
    let run = machine.install("codex-app");
    assert!(run.stdout.contains("switched the plugin off"), "{}", run.stdout);
    assert_eq!(machine.asked(), Vec::<String>::new());
    assert_eq!(machine.read(CONFIG), before);
    assert_eq!(machine.state("codex-app"), "disabled");
    machine.plugin(&["verify", "codex-app"]).ends(1);
}

#[test]
fn a_marketplace_of_the_same_name_that_is_somebody_elses_stays_when_the_plugin_is_off() {
    let theirs = "[marketplaces.ibid]\nsource_type = \"local\"\nsource = \"/theirs\"\n\n[plugins.\"ibid@ibid\"]\nenabled = false\n";
    let machine = Machine::new().with(CONFIG, theirs);
    machine.install("codex-app");
    machine.uninstall("codex-app");
    assert_eq!(machine.asked(), Vec::<String>::new());
    assert_eq!(machine.read(CONFIG), theirs);
}

#[test]
fn each_way_of_drifting_has_its_evidence() {
    let machine = Machine::new();
    machine.install("codex-app");
    assert_eq!(machine.state("codex-app"), "installed");
    let says = |what: &str| {
        let run = machine.plugin(&["verify", "codex-app"]).ends(1);
        assert!(run.stdout.contains(what), "{what}: {}", run.stdout);
    };
    says("no hook of the plugin is trusted");

    let hooks = machine.own("codex-app").join("plugin/plugins/ibid/hooks/hooks.json");
    let kept = fs::read(&hooks).unwrap();
    fs::write(&hooks, "{}").unwrap();
    assert_eq!(machine.state("codex-app"), "drifted");
    says("not as it was installed");
    fs::remove_file(&hooks).unwrap();
    assert_eq!(machine.state("codex-app"), "partly");
    fs::write(&hooks, kept).unwrap();

    let cache = machine.path(".codex/plugins/cache/ibid/ibid");
    let version = fs::read_dir(&cache).unwrap().next().unwrap().unwrap().path();
    fs::rename(&version, cache.join("0.0.9")).unwrap();
    assert_eq!(machine.state("codex-app"), "old-copy");
    says("Codex's copy is of another version");
    fs::rename(cache.join("0.0.9"), &version).unwrap();
    assert_eq!(machine.state("codex-app"), "installed");

    let config = machine.read(CONFIG);
    machine.write(CONFIG, &config.replace("enabled = true", "enabled = false"));
    assert_eq!(machine.state("codex-app"), "disabled");
    machine.write(CONFIG, &config.replace("source = \"", "source = \"/other"));
    assert_eq!(machine.state("codex-app"), "drifted");
}

#[test]
fn it_is_verified_when_trust_is_there_and_a_hook_was_seen() {
    let machine = Machine::new();
    machine.install("codex-app");
    let trust = "\n[hooks.state.\"ibid@ibid:hooks/hooks.json:stop:0:0\"]\ntrusted_hash = \"sha256:A\"\n";
    machine.write(CONFIG, &(machine.read(CONFIG) + trust));
    let run = machine.plugin(&["verify", "codex-app"]).ends(1);
    assert!(run.stderr.contains("No hook has been seen yet"), "{}", run.stderr);
    // What the installed hook runs, as a shell runs it.
    let hooks: serde_json::Value = serde_json::from_slice(
        &fs::read(machine.own("codex-app").join("plugin/plugins/ibid/hooks/hooks.json")).unwrap(),
    )
    .unwrap();
    let line = hooks["hooks"]["Stop"][0]["hooks"][0]["command"].as_str().unwrap();
    machine.write("input", r#"{"hook_event_name":"Stop","session_id":"s","cwd":"/w","turn_id":"t"}"#);
    let mut shell = std::process::Command::new("/bin/sh");
    shell.arg("-c").arg(line).stdin(fs::File::open(machine.path("input")).unwrap());
    assert!(shell.status().unwrap().success());
    let json = machine.plugin(&["verify", "codex-app", "--json"]).ends(0).json();
    assert_eq!(json["verified"], true);
    assert!(json["last_hook"].is_string());
}
