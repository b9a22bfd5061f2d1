//! What must hold of all capture profiles together.

#![allow(clippy::unwrap_used, reason = "a test states what it expects")]

use std::collections::BTreeSet;

use ibid_harness::core::plugin::Plugin;
use ibid_harness::{Attribution, Launch, Transcripts, UserAgentRule, profile, profiles};

#[test]
fn the_profiles_are_those_of_the_envelope_in_the_order_of_the_registry() {
    let ids: Vec<&str> = profiles().map(|(_, profile)| profile.id).collect();
    assert_eq!(ids, ["claude", "codex", "codex-app", "opencode", "pi"]);
}

#[test]
fn no_name_means_two_profiles_and_none_means_unknown() {
    let mut names = BTreeSet::new();
    for (_, profile) in profiles() {
        for name in std::iter::once(&profile.id).chain(profile.aliases) {
            assert!(names.insert(name.to_ascii_lowercase()), "{name}");
            assert_eq!(*name, name.trim().to_ascii_lowercase(), "a name is written as it is compared");
        }
    }
    assert!(!names.contains("unknown") && !names.contains(""));
}

#[test]
fn a_name_is_found_in_any_case_and_with_white_space_around_it() {
    for (name, id) in [(" Claude-Code\n", "claude"), ("CODEX-DESKTOP", "codex-app"), ("pi", "pi")] {
        assert_eq!(profile(name).unwrap().1.id, id, "{name}");
    }
    for name in ["", "unknown", "claud", "codex-ap", "codex app"] {
        assert!(profile(name).is_none(), "{name}");
    }
}

#[test]
fn no_prefix_of_user_agents_begins_with_another() {
    let prefixes: Vec<&str> = profiles()
        .filter_map(|(_, profile)| match profile.user_agent {
            UserAgentRule::Prefix(prefix) => Some(prefix),
            UserAgentRule::None => None,
        })
        .collect();
    assert_eq!(prefixes, ["claude"]);
    for (place, one) in prefixes.iter().enumerate() {
        assert!(!one.is_empty());
        for (other_place, other) in prefixes.iter().enumerate() {
            assert!(place == other_place || !other.starts_with(one), "{one} and {other}");
        }
    }
}

#[test]
fn a_user_agent_is_told_by_its_beginning_in_any_case() {
    let rule = profile("claude").unwrap().1.user_agent;
    for own in ["claude-cli/2.1.332 (external, sdk-cli)", "Claude-CLI", "claude"] {
        assert!(rule.covers(own), "{own}");
    }
    for other in ["some-claude-like/1.0", "codex_exec/0.171.0", "claud", "", "cl\u{e4}ude"] {
        assert!(!rule.covers(other), "{other}");
    }
    assert!(!UserAgentRule::None.covers(""));
}

#[test]
fn who_is_known_by_hooks_has_hooks_and_a_way_to_install_them() {
    for (_, profile) in profiles() {
        if profile.attribution == Attribution::LifecycleHooks {
            assert!(profile.lifecycle.is_some(), "{}", profile.id);
            assert!(!matches!(profile.plugin, Plugin::None(_)), "{}", profile.id);
        }
    }
}

#[test]
fn a_profile_without_a_plugin_says_why() {
    for (_, profile) in profiles() {
        if let Plugin::None(why) = profile.plugin {
            assert!(why.len() > 10, "{}: {why}", profile.id);
        }
    }
}

#[test]
fn the_app_and_the_command_share_their_sessions_and_the_app_cannot_be_started() {
    let (command_of, command) = profile("codex").unwrap();
    let (app_of, app) = profile("codex-app").unwrap();
    assert_eq!(command_of, app_of);
    assert_eq!(
        (command.transcripts, app.transcripts),
        (Transcripts::CodexRollouts, Transcripts::CodexRollouts)
    );
    assert!(matches!((command.launch, app.launch), (Launch::Recipe(_), Launch::Unsupported)));
}
