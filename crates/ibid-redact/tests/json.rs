//! What `redact_json` keeps, and what it changes.

use ibid_redact::{Kind, Redactor};

fn redacted(text: &str) -> String {
    let out = Redactor::new().redact_json(text).text.into_owned();
    let parsed: Result<serde_json::Value, _> = serde_json::from_str(&out);
    assert!(parsed.is_ok(), "{out}");
    out
}

#[test]
fn only_the_string_under_the_telling_name_changes() {
    let text = concat!(
        r#"{ "b":1.50,"password" : "hun"#,
        r#"ter2", "a":[1e3,-0.0,null],"big":12345678901234567890 }"#
    );
    let expected =
        r#"{ "b":1.50,"password" : "[redacted:password]", "a":[1e3,-0.0,null],"big":12345678901234567890 }"#;
    assert_eq!(redacted(text), expected);
}

#[test]
fn numbers_and_booleans_under_a_telling_name_are_kept() {
    let text = r#"{"token":123456789,"password":null,"secret":true,"max_tokens":4096}"#;
    assert_eq!(redacted(text), text);
}

#[test]
fn a_secret_inside_a_longer_string_goes_and_the_escapes_around_it_stay() {
    let text = concat!(
        r#"{"text":"caf\u00e9 \/ \ud83d\ude00\n"#,
        "gh",
        r#"p_FAKEfake0F4k3Fake9NotReal7Q2w123\tend \u0041"}"#
    );
    assert_eq!(
        redacted(text),
        r#"{"text":"caf\u00e9 \/ \ud83d\ude00\n[redacted:github-token]\tend \u0041"}"#
    );
}

#[test]
fn a_lone_surrogate_beside_a_secret_is_kept() {
    let text = concat!(r#"["\ud800 password=\"hun"#, r#"ter2\" \udc00"]"#);
    let out = Redactor::new().redact_json(text).text.into_owned();
    assert_eq!(out, r#"["\ud800 password=\"[redacted:password]\" \udc00"]"#);
}

// fault 63: https://github.com/NousResearch/hermes-agent/pull/82895
#[test]
fn json_inside_a_string_is_redacted_by_its_names_at_every_depth() {
    let mut text =
        serde_json::json!({ "client_secret": concat!("fake~S3cr3t", "-v4lue"), "n": 1 }).to_string();
    let mut expected = serde_json::json!({ "client_secret": "[redacted:secret]", "n": 1 }).to_string();
    for _ in 0..6 {
        text = serde_json::json!({ "arguments": text, "id": 7 }).to_string();
        expected = serde_json::json!({ "arguments": expected, "id": 7 }).to_string();
        assert_eq!(redacted(&text), expected);
    }
}

#[test]
fn strings_of_an_array_under_a_telling_name_are_redacted() {
    let text =
        concat!(r#"{"headers":{"Authorization":["Bearer FAKEfake0F4k3"#, r#"Fake9"],"Accept":["*/*"]}}"#);
    let expected = r#"{"headers":{"Authorization":["Bearer [redacted:authorization]"],"Accept":["*/*"]}}"#;
    assert_eq!(redacted(text), expected);
}

#[test]
fn a_name_and_value_pair_of_strings_is_read_as_one_entry() {
    let text = concat!(
        r#"[{"name":"X-Api-Key","value":"FAKEfake0F4k3"#,
        r#"Fake9"},{"name":"Accept","value":"FAKEfake"}]"#
    );
    let expected =
        r#"[{"name":"X-Api-Key","value":"[redacted:api-key]"},{"name":"Accept","value":"FAKEfake"}]"#;
    assert_eq!(redacted(text), expected);
}

#[test]
fn a_name_written_with_escapes_still_tells() {
    let text = concat!(r#"{"p\u0061ssword":"hun"#, r#"ter2"}"#);
    assert_eq!(redacted(text), r#"{"p\u0061ssword":"[redacted:password]"}"#);
}

#[test]
fn cookies_and_private_keys_are_redacted_in_place() {
    let text = concat!(
        r#"{"cookie":"sid=fake0F4k3Fake9","private_key":"-----BEGIN PRIV"#,
        r#"ATE KEY-----\nMIIFAKEfake0F4k3Fake9NotReal7Q2w\n-----END PRIV"#,
        r#"ATE KEY-----\n"}"#
    );
    let expected = r#"{"cookie":"[redacted:cookie]","private_key":"[redacted:private-key]\n"}"#;
    assert_eq!(redacted(text), expected);
}

#[test]
fn several_values_one_after_another_are_all_redacted() {
    let text = concat!("{\"password\":\"hun", "ter2\"}\n{\"password\":\"fake", "pw9\"}\n");
    let out = Redactor::new().redact_json(text);
    assert_eq!(out.text, "{\"password\":\"[redacted:password]\"}\n{\"password\":\"[redacted:password]\"}\n");
    assert_eq!(out.counts.of(Kind::Password), 2);
}

#[test]
fn a_text_that_is_no_json_is_redacted_as_text() {
    let out = Redactor::new().redact_json(concat!("{ not json, DB_PASSWORD=hun", "ter2"));
    assert_eq!(out.text, "{ not json, DB_PASSWORD=[redacted:password]");
}

#[test]
fn a_json_text_without_secrets_is_borrowed() {
    let text = r#"{"token_count": 12, "path": "/home/u/tokens/file.rs", "nested": "{\"a\": \"b\"}"}"#;
    assert!(matches!(Redactor::new().redact_json(text).text, std::borrow::Cow::Borrowed(_)));
}

#[test]
fn ten_million_open_brackets_are_walked_without_recursion() {
    let text = "[".repeat(10_000_000);
    assert_eq!(Redactor::new().redact_json(&text).text, text);
}

#[test]
fn the_signature_of_a_thinking_block_is_kept() {
    let text = r#"{"type":"thinking","thinking":"","signature":"EqMBCkYIBhgCKkBq1w9sT7vYkZ0n3fHc8Lr5"}"#;
    assert_eq!(redacted(text), text);
}
