//! How programs are started so that their traffic goes to a gateway.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test states what it expects")]

use ibid_harness::core::launch::{Endpoint, LaunchError, LaunchPlan, LaunchWish};
use ibid_harness::{Launch, profile, profiles};

fn wish() -> LaunchWish {
    LaunchWish {
        endpoint: Endpoint::of("127.0.0.1:4141/v1").unwrap(),
        provider_id: "ibid-1".to_owned(),
        display_name: Some("Ibid".to_owned()),
        marker_header: Some("X-Ibid-Provider".to_owned()),
        api_key: false,
        key_instructions: None,
    }
}

fn plan(id: &str, wish: &LaunchWish) -> Result<LaunchPlan, LaunchError> {
    match profile(id).unwrap().1.launch {
        Launch::Recipe(planner) => planner(wish),
        other => panic!("{id}: {other:?}"),
    }
}

#[test]
fn those_that_can_be_started_stand_in_the_order_of_the_registry() {
    let launchable = profiles().filter(|(_, profile)| matches!(profile.launch, Launch::Recipe(_)));
    assert_eq!(launchable.map(|(_, profile)| profile.id).collect::<Vec<_>>(), ["claude", "codex"]);
}

#[test]
fn claude_code_gets_one_variable() {
    let plan = plan("claude", &wish()).unwrap();
    assert_eq!(plan.variables, [("ANTHROPIC_BASE_URL", "http://127.0.0.1:4141/v1".to_owned())]);
    assert!(plan.arguments.is_empty());
}

#[test]
fn codex_gets_a_provider_in_pairs() {
    let arguments = plan("codex", &wish()).unwrap().arguments;
    let pairs: Vec<&str> = arguments.iter().skip(1).step_by(2).map(String::as_str).collect();
    assert!(arguments.iter().step_by(2).all(|word| word == "-c"));
    assert_eq!(
        pairs,
        [
            r#"model_provider="ibid-1""#,
            r#"model_providers.ibid-1.name="Ibid""#,
            r#"model_providers.ibid-1.base_url="http://127.0.0.1:4141/v1""#,
            r#"model_providers.ibid-1.wire_api="responses""#,
            r#"model_providers.ibid-1.http_headers."X-Ibid-Provider"="ibid-1""#,
            "model_providers.ibid-1.requires_openai_auth=true",
            "features.enable_request_compression=false",
        ]
    );
    let by_key = LaunchWish { api_key: true, key_instructions: Some("Set \"it\".".to_owned()), ..wish() };
    let arguments = plan("codex", &by_key).unwrap().arguments;
    let with = |text: &str| arguments.iter().any(|word| word == text);
    assert!(with(r#"model_providers.ibid-1.env_key="OPENAI_API_KEY""#));
    assert!(with(r#"model_providers.ibid-1.env_key_instructions="Set \"it\".""#));
    assert!(!arguments.iter().any(|word| word.contains("requires_openai_auth")));
}

#[test]
fn no_value_becomes_toml_of_its_own() {
    let sly = LaunchWish { display_name: Some("a\"\n[mcp_servers.x]".to_owned()), ..wish() };
    for pair in plan("codex", &sly).unwrap().arguments.iter().skip(1).step_by(2) {
        let said: toml::Table = pair.parse().unwrap();
        assert!(said.get("mcp_servers").is_none() && said.len() == 1, "{pair}");
    }
    for id in ["", "a b", "a.b", "a\"b", "é"] {
        let wish = LaunchWish { provider_id: id.to_owned(), ..wish() };
        assert_eq!(plan("codex", &wish), Err(LaunchError::ProviderId), "{id}");
    }
    for header in ["", "X-\u{e9}", "X\n"] {
        let wish = LaunchWish { marker_header: Some(header.to_owned()), ..wish() };
        assert_eq!(plan("codex", &wish), Err(LaunchError::HeaderName), "{header}");
    }
}
