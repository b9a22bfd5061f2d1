#![allow(clippy::unwrap_used, reason = "a test states what it expects")]

use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::core::plugin::HookCommand;

fn command(ibid: &str) -> HookCommand {
    HookCommand::new(Path::new(ibid), "claude", Path::new("/d")).unwrap()
}

fn applied(text: &str) -> Patched {
    apply(text, Wish { command: &command("/opt/ibid"), gateway: None }, None).unwrap()
}

const USERS: &str = r#"{
    "model": "opus",
    "hooks": {
        "Stop": [
            { "matcher": "", "hooks": [{ "type": "command", "command": "say done" }] }
        ],
        "Other": []
    },
    "theme":   "dark"
}
"#;

#[test]
fn a_new_file_has_one_group_for_each_event() {
    let text = applied("").text;
    let value: Value = serde_json::from_str(&text).unwrap();
    let hooks = value.get("hooks").unwrap().as_object().unwrap();
    assert_eq!(hooks.keys().map(String::as_str).collect::<Vec<_>>(), LIFECYCLE_EVENTS);
    for list in hooks.values() {
        assert_eq!(*list, json!([group("/opt/ibid hook claude --data /d")]));
    }
    assert!(text.starts_with("{\n  \"hooks\": {\n    \"") && text.ends_with("\n}\n"), "{text}");
}

#[test]
fn what_the_user_wrote_stays_byte_for_byte() {
    let text = applied(USERS).text;
    for kept in [
        "{\n    \"model\": \"opus\",\n    \"hooks\": {\n",
        "            { \"matcher\": \"\", \"hooks\": [{ \"type\": \"command\", \"command\": \"say done\" }] },\n            {\n",
        "        \"Other\": [],\n",
        "    \"theme\":   \"dark\"\n}\n",
    ] {
        assert!(text.contains(kept), "{kept}\n{text}");
    }
}

#[test]
fn applying_again_changes_nothing_and_is_seen() {
    for text in ["", "{}", "{\"a\":1}", USERS, "\u{feff}{ }\r\n", "{\"hooks\": {\"Stop\": []}}"] {
        let once = applied(text).text;
        assert_eq!(applied(&once).text, once);
        let command = command("/opt/ibid");
        let wish = Wish { command: &command, gateway: None };
        assert!(is_applied(&once, wish).unwrap());
        assert!(!is_applied(text, wish).unwrap());
    }
}

#[test]
fn an_ibid_at_another_place_takes_the_place_of_the_old_one() {
    let once = applied(USERS);
    let moved = command("/usr/local/my bin/ibid");
    let again = apply(&once.text, Wish { command: &moved, gateway: None }, Some(&once.receipt)).unwrap();
    assert!(!again.text.contains("/opt/ibid"), "{}", again.text);
    assert_eq!(again.receipt, once.receipt);
    assert_eq!(remove(&again.text, Some(&again.receipt)).unwrap().text, USERS);
}

#[test]
fn removing_gives_back_what_was_there() {
    for text in [
        USERS,
        "{\"a\":1}",
        "{\n\t\"a\": 1\n}\n",
        "{\"hooks\": {\"Stop\": [{\"hooks\": []}]}}",
        "{\"hooks\": {}}",
    ] {
        let patched = applied(text);
        assert_eq!(
            remove(&patched.text, Some(&patched.receipt)).unwrap(),
            Unpatched { text: text.to_owned(), left: vec![] }
        );
    }
}

/// As the program's own commands leave the file: indented anew, keys in another order.
#[test]
fn removing_works_on_a_file_that_was_laid_out_anew() {
    let patched = applied(USERS);
    let value: Value = serde_json::from_str(&patched.text).unwrap();
    let anew = serde_json::to_string(&value).unwrap();
    let removed = remove(&anew, Some(&patched.receipt)).unwrap();
    assert_eq!(differences(&removed.text, USERS).unwrap(), Vec::<String>::new());
}

#[test]
fn without_a_receipt_only_what_is_ours_goes_and_the_rest_is_listed() {
    let removed = remove(&applied(USERS).text, None).unwrap();
    assert!(!removed.text.contains("/opt/ibid"));
    assert!(removed.text.contains("say done"));
    assert!(
        removed.left.iter().any(|left| left.contains("hooks.SessionStart is an empty list")),
        "{:?}",
        removed.left
    );
}

#[test]
fn a_hook_of_somebody_else_that_speaks_of_ibid_is_not_ours() {
    for command in [
        "echo ibid hook claude --data /d",
        "/opt/my-ibid hook claude --data /d",
        "/opt/ibid hook pi --data /d",
    ] {
        assert!(!is_ours(command), "{command}");
    }
    for command in ["/opt/ibid hook claude --data /d", "'/o pt/ibid' hook claude --data '/d d'"] {
        assert!(is_ours(command), "{command}");
    }
}

#[test]
fn what_is_not_as_it_must_be_is_refused_and_not_quoted() {
    for (text, said) in [
        ("{\"a\": sk-secret}", "line 1, column 7: not JSON"),
        ("// a comment\n{}", "line 1, column 1"),
        ("[]", "the whole file"),
        ("{\"hooks\": []}", "`hooks`"),
        ("{\"hooks\": {\"Stop\": {}}}", "`hooks.Stop`"),
        ("{\"hooks\": {}, \"hooks\": {}}", "there twice"),
    ] {
        let command = command("/opt/ibid");
        let error = apply(text, Wish { command: &command, gateway: None }, None).unwrap_err();
        assert!(error.to_string().contains(said), "{error}");
        assert!(!error.to_string().contains("sk-secret"));
        assert!(remove(text, None).is_err());
    }
}

#[test]
fn a_difference_is_named_by_its_key() {
    assert_eq!(
        differences("{\"a\": {\"b\": 1, \"c\": 2}}", "{\"a\": {\"c\": 2}, \"d\": 3}").unwrap(),
        ["a.b", "d"]
    );
    assert_eq!(differences("{\"a\":1,\"b\":2}", "{ \"b\": 2, \"a\": 1 }").unwrap(), Vec::<String>::new());
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map(".{0,6}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    /// Whatever else is in the file, and however it is laid out: patching loses nothing, and taking it
    /// back says what was said before.
    #[test]
    fn a_patched_file_says_what_it_said_and_gives_it_back(
        rest in proptest::collection::btree_map("[a-g]{1,3}", value(), 0..4),
        events in proptest::collection::btree_map("(Stop|SessionStart|Mine)", proptest::collection::vec(value(), 0..3), 0..3),
        has_hooks in any::<bool>(),
        is_pretty in any::<bool>(),
    ) {
        let mut map: Map<String, Value> = rest.into_iter().collect();
        if has_hooks {
            map.insert("hooks".to_owned(), events.into_iter().map(|(key, list)| (key, Value::from(list))).collect::<Map<_, _>>().into());
        }
        let text = if is_pretty { serde_json::to_string_pretty(&map) } else { serde_json::to_string(&map) }.unwrap();
        let patched = applied(&text);
        let mut now: Map<String, Value> = serde_json::from_str(&patched.text).unwrap();
        prop_assert_eq!(&applied(&patched.text).text, &patched.text);
        let removed = remove(&patched.text, Some(&patched.receipt)).unwrap();
        prop_assert_eq!(&removed.text, &text);
        now.remove("hooks");
        map.remove("hooks");
        prop_assert_eq!(now, map);
    }
}
