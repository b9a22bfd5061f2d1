use std::net::TcpListener;

use super::Machine;

const CONFIG: &str = ".codex/config.toml";

const USERS: &str =
    "# mine\nmodel = \"m\"\nmodel_provider = \"corp\"  # ours\n\n[model_providers.corp]\nname = \"Corp\"\n";

fn install(machine: &Machine, url: &str, more: &[&str]) -> crate::common::Run {
    let arguments = [&["install", "codex-app", "--yes", "--gateway", url], more].concat();
    machine.plugin(&arguments)
}

/// Something that listens, and where.
fn gateway() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    (listener, url)
}

#[test]
fn a_gateway_comes_and_goes_and_the_very_bytes_come_back() {
    let (_listener, url) = gateway();
    for config in [Some(USERS), Some(USERS.trim_end()), Some(""), None] {
        let machine = Machine::new();
        if let Some(text) = config {
            machine.write(CONFIG, text);
        }
        let before = machine.files();
        install(&machine, &url, &[]).ends(0);
        let text = machine.read(CONFIG);
        assert!(text.contains("model_provider = \"ibid\"") && text.contains(&url), "{text}");
        assert_eq!(machine.state("codex-app"), "installed");
        let run = machine.uninstall("codex-app");
        assert!(!run.stdout.contains("What stays"), "{}", run.stdout);
        assert_eq!(machine.files(), before, "{config:?}");
    }
}

#[test]
fn with_an_api_key_the_path_of_the_api_is_named() {
    let (_listener, url) = gateway();
    let machine = Machine::new();
    install(&machine, &url, &["--codex-auth", "api-key"]).ends(0);
    let text = machine.read(CONFIG);
    assert!(text.contains(&format!("base_url = \"{url}/v1\"")), "{text}");
    assert!(text.contains("env_key = \"OPENAI_API_KEY\""), "{text}");
}

#[test]
fn a_gateway_where_nothing_listens_is_refused_and_the_flag_is_named() {
    let (listener, url) = gateway();
    drop(listener);
    let machine = Machine::new().with(CONFIG, USERS);
    let before = machine.files();
    let run = install(&machine, &url, &[]).ends(3);
    assert!(run.stderr.contains("--not-listening"), "{}", run.stderr);
    assert_eq!(machine.files(), before);
    install(&machine, &url, &["--not-listening"]).ends(0);
}

#[test]
fn installing_again_without_naming_it_keeps_the_gateway() {
    let (_listener, url) = gateway();
    let machine = Machine::new().with(CONFIG, USERS);
    let before = machine.files();
    install(&machine, &url, &[]).ends(0);
    let text = machine.read(CONFIG);
    machine.install("codex-app");
    assert_eq!(machine.read(CONFIG), text);
    machine.uninstall("codex-app");
    assert_eq!(machine.files(), before);
}

#[test]
fn a_configuration_that_cannot_be_parsed_is_refused_untouched_and_codex_is_not_asked() {
    let (_listener, url) = gateway();
    for text in ["key = \"sk-secret\"\n= broken", "model_providers = 3\n"] {
        let machine = Machine::new().with(CONFIG, text);
        let before = machine.files();
        let run = install(&machine, &url, &[]).ends(2);
        assert!(run.stderr.contains("config.toml") && !run.stderr.contains("sk-secret"), "{}", run.stderr);
        assert_eq!(machine.files(), before);
        assert_eq!(machine.asked(), Vec::<String>::new());
        assert!(!machine.own("codex-app").exists());
    }
}

#[test]
fn without_the_receipt_the_redirection_goes_all_the_same() {
    let (_listener, url) = gateway();
    let machine = Machine::new().with(CONFIG, USERS);
    install(&machine, &url, &[]).ends(0);
    std::fs::remove_file(machine.own("codex-app").join("receipt.json")).unwrap();
    machine.uninstall("codex-app");
    let text = machine.read(CONFIG);
    assert!(!text.contains(&url) && !text.contains("\"ibid\""), "{text}");
    assert!(text.contains("[model_providers.corp]"), "{text}");
}

#[test]
fn a_provider_that_somebody_chose_meanwhile_stays_chosen() {
    let (_listener, url) = gateway();
    let machine = Machine::new().with(CONFIG, USERS);
    install(&machine, &url, &[]).ends(0);
    machine.write(
        CONFIG,
        &machine.read(CONFIG).replace("model_provider = \"ibid\"", "model_provider = \"new\""),
    );
    assert_eq!(machine.state("codex-app"), "drifted");
    let run = machine.uninstall("codex-app");
    assert!(run.stdout.contains("model_provider"), "{}", run.stdout);
    let text = machine.read(CONFIG);
    assert!(text.contains("model_provider = \"new\"") && !text.contains(&url), "{text}");
}
