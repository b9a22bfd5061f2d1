//! The patch of Codex's `config.toml`: what it writes, what it leaves alone, and what removing it
//! gives back.

#![allow(clippy::unwrap_used, reason = "a test states what it expects")]

use ibid_harness::codex::config::{
    Auth, ConfigError, Patch, Why, apply, installed, is_applied, plugin_is_disabled, remove,
};
use proptest::prelude::*;

fn patch() -> Patch {
    Patch {
        provider_id: "ibid".to_owned(),
        display_name: "Ibid".to_owned(),
        base_url: "http://127.0.0.1:4141/v1".to_owned(),
        auth: Auth::ChatGpt,
        marker_header: Some("X-Ibid-Provider".to_owned()),
        env_key_instructions: None,
        scrub: vec!["OPENAI_BASE_URL".to_owned()],
    }
}

const OF_A_USER: &str = "# mine\nmodel = \"gpt-5\" # and why\nmodel_provider = 'theirs'\n\n\
    [model_providers.theirs]\nname = \"Theirs\"\nhttp_headers = { X-Team = \"a\" }\n\n\
    [shell_environment_policy.set]\nOPENAI_BASE_URL = \"http://elsewhere\"\nKEEP = \"1\"\n\n\
    [tui] # last\ntheme = \"dark\"\n";

fn parsed(text: &str) -> toml::Table {
    text.parse().unwrap()
}

#[test]
fn a_new_file_says_the_whole_patch() {
    for blank in ["", "\n", "  \n\n"] {
        let text = apply(blank, &patch()).unwrap().text;
        let said = parsed(&text);
        assert_eq!(said["model_provider"].as_str(), Some("ibid"));
        let provider = &said["model_providers"]["ibid"];
        assert_eq!(provider["wire_api"].as_str(), Some("responses"));
        assert_eq!(provider["requires_openai_auth"].as_bool(), Some(true));
        assert_eq!(provider["http_headers"]["X-Ibid-Provider"].as_str(), Some("ibid"));
        assert_eq!(said["features"]["enable_request_compression"].as_bool(), Some(false));
    }
}

#[test]
fn what_a_user_wrote_stays_and_comes_back_to_the_byte() {
    let patched = apply(OF_A_USER, &patch()).unwrap();
    for kept in
        ["# mine", "# and why", "[model_providers.theirs]", "X-Team = \"a\"", "KEEP = \"1\"", "[tui] # last"]
    {
        assert!(patched.text.contains(kept), "{kept}");
    }
    assert!(!patched.text.contains("http://elsewhere"));
    let removed = remove(&patched.text, "ibid", Some(&patched.receipt)).unwrap();
    assert_eq!(removed.text, OF_A_USER);
    assert!(removed.left.is_empty());
}

#[test]
fn applying_again_changes_no_byte() {
    for text in ["", OF_A_USER] {
        let once = apply(text, &patch()).unwrap().text;
        assert!(!is_applied(text, &patch()).unwrap() && is_applied(&once, &patch()).unwrap());
        assert_eq!(apply(&once, &patch()).unwrap().text, once);
    }
}

#[test]
fn without_a_receipt_only_what_is_provably_ours_goes_and_the_rest_is_listed() {
    let patched = apply(OF_A_USER, &patch()).unwrap();
    let removed = remove(&patched.text, "ibid", None).unwrap();
    let said = parsed(&removed.text);
    assert!(said.get("model_provider").is_none() && said["model_providers"].get("ibid").is_none());
    assert!(said["model_providers"].get("theirs").is_some());
    let flag = removed.left.iter().find(|left| left.path == "features.enable_request_compression").unwrap();
    assert_eq!(flag.why, Why::MaybeYours);
    assert_eq!(remove(&removed.text, "ibid", None).unwrap().text, removed.text);
}

#[test]
fn a_file_without_the_patch_is_given_back_untouched() {
    assert_eq!(remove(OF_A_USER, "ibid", None).unwrap().text, OF_A_USER);
    assert_eq!(installed(OF_A_USER, "ibid").unwrap(), None);
}

#[test]
fn a_stale_table_is_brought_up_to_date_where_it_stands_and_keeps_its_comment() {
    let stale =
        "[model_providers.ibid] # ours\nname = \"Old\"\nbase_url = \"http://127.0.0.1:1/v1\" # the port\n";
    let patched = apply(stale, &patch()).unwrap();
    assert!(patched.text.contains("[model_providers.ibid] # ours\n"), "{}", patched.text);
    assert!(patched.text.contains("base_url = \"http://127.0.0.1:4141/v1\" # the port"), "{}", patched.text);
    assert_eq!(patched.text.matches("model_providers.ibid]").count(), 1, "{}", patched.text);
    assert_eq!(remove(&patched.text, "ibid", Some(&patched.receipt)).unwrap().text, stale);
}

#[test]
fn another_way_to_log_in_takes_the_keys_of_the_first_away() {
    let key = Patch { auth: Auth::ApiKey, env_key_instructions: Some("Set it.".to_owned()), ..patch() };
    let by_key = apply("", &key).unwrap().text;
    let installed_by_key = installed(&by_key, "ibid").unwrap().unwrap();
    assert_eq!(installed_by_key.env_key.as_deref(), Some("OPENAI_API_KEY"));
    assert_eq!(installed_by_key.requires_openai_auth, None);
    let by_login = apply(&by_key, &patch()).unwrap().text;
    let installed_by_login = installed(&by_login, "ibid").unwrap().unwrap();
    assert_eq!((installed_by_login.env_key, installed_by_login.requires_openai_auth), (None, Some(true)));
    assert!(!by_login.contains("env_key_instructions"));
    assert!(installed_by_login.selected);
    let back = apply(&by_login, &key).unwrap().text;
    assert_eq!(parsed(&back), parsed(&by_key));
}

#[test]
fn a_renamed_header_replaces_ours_and_leaves_a_users() {
    let first = apply("", &patch()).unwrap().text;
    let theirs = first.replace("X-Ibid-Provider = \"ibid\"", "X-Ibid-Provider = \"ibid\"\nX-Team = \"a\"");
    let renamed = apply(&theirs, &Patch { marker_header: Some("X-New".to_owned()), ..patch() }).unwrap().text;
    let headers = parsed(&renamed)["model_providers"]["ibid"]["http_headers"].as_table().unwrap().clone();
    let names: Vec<&str> = headers.keys().map(String::as_str).collect();
    assert!(names.contains(&"X-New") && !names.contains(&"X-Ibid-Provider"), "{names:?}");
    let dropped = apply(&first, &Patch { marker_header: None, ..patch() }).unwrap().text;
    assert!(parsed(&dropped)["model_providers"]["ibid"].get("http_headers").is_none(), "{dropped}");
}

#[test]
fn every_spelling_of_toml_comes_back_to_the_byte() {
    for text in [
        "model_provider='literal'\r\n[a]\r\nb=1\r\n",
        "\u{feff}model = \"x\"\n",
        "model = \"no newline\"",
        "model_providers.theirs.name = \"dotted\"\n",
        "model_providers = { theirs = { name = \"inline\" } }\n",
        "[\"model_providers\".\"theirs\"]\n\"name\" = \"quoted\"\n",
        "[[list]]\na = 1\n[[list]]\na = 2\n",
        "x = '''\n[model_providers.ibid]\nname = \"only text\"\n'''\n",
        "features.enable_request_compression = true # mine\n",
        "shell_environment_policy = { set = { OPENAI_BASE_URL = \"u\", B = \"2\" } }\n",
    ] {
        match apply(text, &patch()) {
            Ok(patched) => {
                let said = parsed(patched.text.trim_start_matches('\u{feff}'));
                assert_eq!(said["model_provider"].as_str(), Some("ibid"), "{text}");
                let removed = remove(&patched.text, "ibid", Some(&patched.receipt)).unwrap();
                assert_eq!(removed.text, text);
            }
            Err(error) => assert!(matches!(error, ConfigError::NotATable { .. }), "{text}: {error}"),
        }
    }
}

#[test]
fn what_cannot_be_parsed_or_is_no_table_is_refused_with_its_place() {
    let malformed = apply("a = 1\nmodel = \n", &patch()).unwrap_err();
    assert!(matches!(malformed, ConfigError::Toml { line: 2, .. }), "{malformed}");
    for text in ["model_providers = 3\n", "features = \"on\"\n"] {
        let error = apply(text, &patch()).unwrap_err();
        assert!(matches!(error, ConfigError::NotATable { line: 1, .. }), "{text}: {error}");
    }
    assert!(remove("a = ", "ibid", None).is_err() && is_applied("a = ", &patch()).is_err());
    for blank in ["", "  "] {
        let patch = Patch { provider_id: blank.to_owned(), ..patch() };
        assert_eq!(apply("", &patch).unwrap_err(), ConfigError::BlankId);
    }
}

#[test]
fn a_value_cannot_become_toml_of_its_own() {
    let sly = Patch { display_name: "a\"\n[mcp_servers.x]\ncommand = \"y".to_owned(), ..patch() };
    let said = parsed(&apply("", &sly).unwrap().text);
    assert!(said.get("mcp_servers").is_none());
    assert_eq!(said["model_providers"]["ibid"]["name"].as_str(), Some(sly.display_name.as_str()));
}

#[test]
fn what_someone_changed_since_stays_and_ours_goes() {
    let patched = apply(OF_A_USER, &patch()).unwrap();
    let since = format!("{}\n[added]\nby = \"them\"\n", patched.text.replace("\"dark\"", "\"light\""));
    let removed = remove(&since, "ibid", Some(&patched.receipt)).unwrap();
    let wanted = format!("{OF_A_USER}\n[added]\nby = \"them\"\n").replace("\"dark\"", "\"light\"");
    assert_eq!(parsed(&removed.text), parsed(&wanted));
}

#[test]
fn only_an_explicit_no_disables_a_plugin() {
    assert!(plugin_is_disabled("[plugins.\"ibid@ibid\"]\nenabled = false\n", "ibid@ibid"));
    for other in ["", "[plugins.\"ibid@ibid\"]\n", "[plugins.\"ibid@ibid\"]\nenabled = \"false\"\n", "a = "] {
        assert!(!plugin_is_disabled(other, "ibid@ibid"), "{other}");
    }
}

fn document() -> impl Strategy<Value = String> {
    let key = prop::sample::select(vec![
        "model",
        "model_provider",
        "a",
        "b-c",
        "\"quo ted\"",
        "features",
        "profile",
        "x1",
    ]);
    let value = prop::sample::select(vec![
        "1",
        "true",
        "\"text\"",
        "'lit'",
        "[1, 2]",
        "{ k = 1 }",
        "1979-05-27",
        "\"é # no comment\"",
    ]);
    let table = prop::sample::select(vec![
        "[features]",
        "[model_providers]",
        "[model_providers.theirs]",
        "[shell_environment_policy.set]",
        "[tui]",
        "[[hooks]]",
        "[model_providers.ibid]",
        "[ spaced . out ]",
        "[a.b.c]",
    ]);
    let line = prop_oneof![
        4 => (key, value, prop::bool::ANY).prop_map(|(k, v, c)| format!("{k} = {v}{}", if c { " # why" } else { "" })),
        2 => table.prop_map(str::to_owned),
        1 => Just(String::new()),
        1 => Just("# a comment".to_owned()),
        1 => Just("OPENAI_BASE_URL = \"u\"".to_owned()),
    ];
    let end = prop::sample::select(vec!["\n", "\r\n"]);
    (prop::collection::vec(line, 0..14), end, prop::bool::ANY).prop_map(|(lines, end, last)| {
        let mut text = lines.join(end);
        if last {
            text.push_str(end);
        }
        text
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_patch_taken_back_with_its_receipt_gives_the_bytes(text in document(), by_key in any::<bool>()) {
        let auth = if by_key { Auth::ApiKey } else { Auth::ChatGpt };
        let patch = Patch { auth, ..patch() };
        if let Ok(patched) = apply(&text, &patch) {
            prop_assert!(patched.text.parse::<toml::Table>().is_ok(), "{}", patched.text);
            prop_assert_eq!(&apply(&patched.text, &patch).unwrap().text, &patched.text);
            let removed = remove(&patched.text, "ibid", Some(&patched.receipt)).unwrap();
            prop_assert_eq!(removed.text, text);
        }
    }
}
