use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::{Machine, mode};

const SETTINGS: &str = ".claude/settings.json";

const USERS: &str = "{\n    \"model\": \"opus\",\n    \"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"say done\"}]}]},\n    \"env\": {\"KEY\": \"sk-secret\"}\n}";

#[test]
fn the_whole_circle_gives_the_very_bytes_back() {
    for settings in [Some(USERS), Some("{}"), Some("{ }\r\n"), Some(" \n"), Some(""), None] {
        let machine = Machine::new();
        if let Some(text) = settings {
            machine.write(SETTINGS, text);
        }
        let before = machine.files();
        let run = machine.install("claude");
        assert!(run.stdout.contains("Nothing has to be approved"), "{}", run.stdout);
        assert_eq!(machine.state("claude"), "installed");
        let run = machine.uninstall("claude");
        assert!(!run.stdout.contains("What stays"), "{}", run.stdout);
        assert_eq!(machine.files(), before, "{settings:?}");
        assert_eq!(machine.path(".claude").exists(), settings.is_some());
        assert!(!machine.own("claude").exists());
    }
}

#[test]
fn hooks_and_settings_of_the_user_and_the_mode_of_the_file_stay() {
    let machine = Machine::new().with(SETTINGS, USERS);
    fs::set_permissions(machine.path(SETTINGS), fs::Permissions::from_mode(0o640)).unwrap();
    machine.install("claude");
    let text = machine.read(SETTINGS);
    assert!(text.contains("say done") && text.contains("\"env\": {\"KEY\": \"sk-secret\"}\n}"), "{text}");
    assert_eq!(mode(&machine.path(SETTINGS)), 0o640);
    machine.uninstall("claude");
    assert_eq!(mode(&machine.path(SETTINGS)), 0o640);
}

#[test]
fn what_was_written_meanwhile_stays_and_is_listed() {
    let machine = Machine::new().with(SETTINGS, USERS);
    machine.install("claude");
    let text = machine.read(SETTINGS).replace("\"opus\"", "\"sonnet\"");
    machine.write(SETTINGS, &text);
    let json = machine.plugin(&["uninstall", "claude", "--yes", "--json"]).ends(0).json();
    assert_eq!(json["left"][0]["why"], "model was written since, and stays");
    assert_eq!(machine.read(SETTINGS), USERS.replace("\"opus\"", "\"sonnet\""));
}

#[test]
fn what_was_written_between_two_installations_stays_too() {
    let machine = Machine::new().with(SETTINGS, USERS);
    machine.install("claude");
    machine.write(SETTINGS, &machine.read(SETTINGS).replace("\"opus\"", "\"sonnet\""));
    machine.install("claude");
    machine.uninstall("claude");
    assert_eq!(machine.read(SETTINGS), USERS.replace("\"opus\"", "\"sonnet\""));
}

/// Commands of Claude Code that set something write the whole file anew.
#[test]
fn a_file_that_was_laid_out_anew_and_says_the_same_gives_the_very_bytes_back() {
    let machine = Machine::new().with(SETTINGS, USERS);
    let before = machine.files();
    machine.install("claude");
    let value: serde_json::Value = serde_json::from_str(&machine.read(SETTINGS)).unwrap();
    machine.write(SETTINGS, &serde_json::to_string_pretty(&value).unwrap());
    assert_eq!(machine.state("claude"), "installed");
    machine.uninstall("claude");
    assert_eq!(machine.files(), before);
}

#[test]
fn settings_that_cannot_be_parsed_are_refused_untouched_and_not_quoted() {
    for text in ["{\"env\": sk-secret}", "// mine\n{}", "[]", "{\"hooks\": 1}", "\u{fffd}\u{0}"] {
        let machine = Machine::new().with(SETTINGS, text);
        let before = machine.files();
        let run = machine.plugin(&["install", "claude", "--yes"]).ends(2);
        assert!(run.stderr.contains("settings.json"), "{}", run.stderr);
        assert!(!run.stderr.contains("sk-secret"), "{}", run.stderr);
        assert_eq!(machine.files(), before);
        assert!(!machine.own("claude").exists());
    }
}

#[test]
fn settings_that_are_a_link_are_refused_and_followed_when_asked_for() {
    let machine = Machine::new().with("dotfiles/settings.json", USERS);
    fs::create_dir_all(machine.path(".claude")).unwrap();
    symlink("../dotfiles/settings.json", machine.path(SETTINGS)).unwrap();
    let before = machine.files();
    let run = machine.plugin(&["install", "claude", "--yes"]).ends(3);
    assert!(run.stderr.contains("--follow-link"), "{}", run.stderr);
    assert_eq!(machine.files(), before);
    machine.plugin(&["install", "claude", "--yes", "--follow-link"]).ends(0);
    assert!(machine.path(SETTINGS).is_symlink());
    assert!(machine.read("dotfiles/settings.json").contains(" hook claude "));
    assert_eq!(machine.state("claude"), "installed");
    machine.plugin(&["uninstall", "claude", "--yes"]).ends(3);
    machine.plugin(&["uninstall", "claude", "--yes", "--follow-link"]).ends(0);
    assert_eq!(machine.files(), before);
}

#[test]
fn without_the_receipt_our_hooks_go_and_the_rest_stays() {
    let machine = Machine::new().with(SETTINGS, USERS);
    machine.install("claude");
    fs::remove_file(machine.own("claude").join("receipt.json")).unwrap();
    let run = machine.uninstall("claude");
    assert!(run.stdout.contains("is an empty list now, and stays"), "{}", run.stdout);
    let text = machine.read(SETTINGS);
    assert!(!text.contains(" hook claude ") && text.contains("say done"), "{text}");
    assert_eq!(machine.state("claude"), "absent");
}

#[test]
fn hooks_that_somebody_took_out_are_seen_and_put_back() {
    let machine = Machine::new().with(SETTINGS, USERS);
    let before = machine.files();
    machine.install("claude");
    machine.write(SETTINGS, USERS);
    assert_eq!(machine.state("claude"), "drifted");
    machine.plugin(&["verify", "claude"]).ends(1);
    machine.install("claude");
    assert_eq!(machine.state("claude"), "installed");
    machine.uninstall("claude");
    assert_eq!(machine.files(), before);
}

#[test]
fn a_gateway_is_refused_for_a_program_that_takes_none_from_its_configuration() {
    let machine = Machine::new();
    let run = machine.plugin(&["install", "claude", "--yes", "--gateway", "http://127.0.0.1:1"]).ends(2);
    assert!(run.stderr.contains("takes no gateway"), "{}", run.stderr);
}
