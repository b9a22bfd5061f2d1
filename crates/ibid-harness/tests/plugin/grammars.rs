//! The grammars of configuration files: patching and taking back gives the very bytes back, whatever
//! else is in the file.

use std::path::Path;

use ibid_harness::core::plugin::{Gateway, GatewayAuth, Grammar, HookCommand, Wish};
use ibid_harness::{claude_code, codex};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

/// Lines of a `config.toml`, those that the patch touches among them.
const TOML: &[&str] = &[
    "model = \"m\"   # large",
    "model_provider = \"corp\" # chosen",
    "'quoted' = '''\nliteral [model_providers.ibid]\n'''",
    "features.web = true",
    "[features]\nenable_request_compression = true",
    "[features]",
    "[model_providers.corp]\nname = \"Corp\"\nhttp_headers = { X = \"ibid\" }",
    "[model_providers.ibid]\nname = \"stale\" # mine\nbase_url = \"http://old\"\nenv_key = \"K\"",
    "[model_providers.ibid.http_headers]\n\"X-Old\" = \"ibid\"\n\"X-Mine\" = \"v\"",
    "[[list]]\na = 1\n[[list]]\na = 2",
    "[plugins.\"ibid@ibid\"]\nenabled = true",
    "",
    "# a comment [x]",
    "\t",
];

const JSON: &[&str] = &[
    "\"model\": \"opus\"",
    "\"hooks\": {}",
    "\"hooks\": {\"Stop\": []}",
    "\"hooks\" : { \"Stop\" : [ {\"hooks\": [{\"type\": \"command\", \"command\": \"x\"}]} ], \"Mine\": 1 }",
    "\"env\": {\"A\\u0041\": \"\\\"}{\"}",
    "\"list\": [1, [2, {\"hooks\": 3}]]",
];

fn wish(
    command: &HookCommand,
    gateway: Option<&Gateway>,
    grammar: &Grammar,
    text: &str,
) -> Result<(), TestCaseError> {
    let wish = Wish { command, gateway };
    let Ok(patched) = (grammar.apply)(text, wish, None) else { return Ok(()) };
    prop_assert!((grammar.is_applied)(&patched.text, wish).unwrap(), "{text}\n{}", patched.text);
    let again = (grammar.apply)(&patched.text, wish, Some(&patched.receipt)).unwrap();
    prop_assert_eq!(&again.text, &patched.text);
    prop_assert_eq!(&again.receipt, &patched.receipt);
    let removed = (grammar.remove)(&patched.text, Some(&patched.receipt)).unwrap();
    prop_assert_eq!(&removed.text, text);
    prop_assert!(removed.left.is_empty());
    prop_assert!((grammar.differences)(&removed.text, text).unwrap().is_empty());
    // Without the receipt, it is never more than that which goes.
    let without = (grammar.remove)(&patched.text, None).unwrap();
    prop_assert!((grammar.remove)(&without.text, None).is_ok());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_gateway_in_codexs_configuration_is_taken_back_to_the_byte(
        lines in subsequence(TOML, 0..=TOML.len()).prop_shuffle(),
        end in select(&["\n", "\r\n"][..]),
        finish in any::<bool>(),
        mark in any::<bool>(),
        key in any::<bool>(),
    ) {
        let mut text = lines.join("\n").replace('\n', end);
        if finish { text.push_str(end) }
        if mark { text.insert(0, '\u{feff}') }
        let command = HookCommand::new(Path::new("/opt/ibid"), "codex-app", Path::new("/d")).unwrap();
        let auth = if key { GatewayAuth::ApiKey } else { GatewayAuth::Subscription };
        let gateway = Gateway { url: "http://127.0.0.1:4141".to_owned(), auth };
        wish(&command, Some(&gateway), codex::plugin::PLUGIN.gateway.unwrap(), &text)?;
    }

    #[test]
    fn hooks_in_claudes_settings_are_taken_back_to_the_byte(
        members in subsequence(JSON, 0..=JSON.len()).prop_shuffle(),
        gap in select(&["", " ", "\n  ", "\n\t", "\r\n    "][..]),
        mark in any::<bool>(),
    ) {
        let inside: Vec<String> = members.iter().map(|member| format!("{gap}{member}")).collect();
        let end = gap.trim_end_matches([' ', '\t']);
        let mut text = match inside.is_empty() {
            true => "{}".to_owned(),
            false => format!("{{{}{end}}}{end}", inside.join(",")),
        };
        if mark { text.insert(0, '\u{feff}') }
        let command = HookCommand::new(Path::new("/opt/my ibid/ibid"), "claude", Path::new("/d")).unwrap();
        wish(&command, None, claude_code::plugin::PLUGIN.grammar, &text)?;
    }
}
