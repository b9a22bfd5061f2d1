#![no_main]
//! Any text as a configuration of an agent: nothing panics, a patch applied twice changes nothing, and
//! with its receipt taking it out gives the very text back, or one that says the same.

use std::path::Path;

use ibid_harness::core::plugin::{Gateway, GatewayAuth, Grammar, HookCommand, Wish};
use ibid_harness::{claude_code, codex};

fn check(grammar: &Grammar, wish: Wish<'_>, text: &str, exactly: bool) {
    let _ = (grammar.remove)(text, None);
    let Ok(patched) = (grammar.apply)(text, wish, None) else { return };
    assert_eq!((grammar.is_applied)(&patched.text, wish), Ok(true));
    let again = (grammar.apply)(&patched.text, wish, Some(&patched.receipt)).expect("it was applied");
    assert_eq!(again.text, patched.text);
    let removed = (grammar.remove)(&patched.text, Some(&patched.receipt)).expect("it was applied");
    if exactly {
        assert_eq!(removed.text, text);
    } else {
        assert_eq!((grammar.differences)(&removed.text, text), Ok(Vec::new()));
    }
}

libfuzzer_sys::fuzz_target!(|text: &str| {
    let command = HookCommand::new(Path::new("/opt/ibid"), "claude", Path::new("/d")).expect("it is Unicode");
    let gateway = Gateway { url: "http://127.0.0.1:4141".to_owned(), auth: GatewayAuth::ApiKey };
    let gateway = Wish { command: &command, gateway: Some(&gateway) };
    check(codex::plugin::PLUGIN.gateway.expect("it takes one"), gateway, text, true);
    // A text that has such hooks already loses them when they are taken out.
    if !text.contains("hook") {
        check(claude_code::plugin::PLUGIN.grammar, Wish { command: &command, gateway: None }, text, false);
    }
});
