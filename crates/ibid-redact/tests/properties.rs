//! What holds for every text.

mod cases;

use ibid_redact::{Kind, Redactor};
use proptest::prelude::*;
use serde_json::Value;

/// Texts made of the pieces that rules look at, so that they meet in unforeseen ways.
fn piece() -> impl Strategy<Value = String> {
    let fixed = prop::sample::select(vec![
        "password",
        "token",
        "api_key",
        "client_secret",
        "Authorization",
        "Cookie",
        "DB_PASSWORD",
        "--token",
        "is",
        "Bearer ",
        "Basic ",
        "=",
        ": ",
        " ",
        "\"",
        "'",
        "`",
        "\\\"",
        "\\\\\\\"",
        "\\",
        "\n",
        "\\n",
        ",",
        ";",
        "&",
        "?",
        "@",
        "://",
        "https://u:",
        "<password>",
        "</password>",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "$",
        "é",
        "\u{1f511}",
        "\u{1b}[32m",
        "eyJ",
        "eyJhbGciOiJIUzI1NiJ9.",
        "sk-",
        ";base64,",
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        "hunter2",
        "a1b2c3d4e5f6g7h8",
        "sid=fake0F4k3",
        "MIIFAKEfake0F4k3Fake9NotReal7Q2w",
        ".",
        "-",
        "_",
        "%3D",
        "123456789:AA",
        "sig=",
    ])
    .prop_map(str::to_owned);
    let positive = prop::sample::select(cases::positives::CASES)
        .prop_map(|(around, secret, _)| around.replace("{}", &secret.concat()));
    let negative = prop::sample::select(cases::negatives::CASES).prop_map(str::to_owned);
    prop_oneof![8 => fixed, 2 => positive, 1 => negative, 2 => "[A-Za-z0-9_-]{1,40}", 1 => any::<String>()]
}

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(piece(), 0..24).prop_map(|pieces| pieces.concat())
}

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 48, 6, |inner| {
        let name = prop_oneof![
            prop::sample::select(vec![
                "password",
                "token",
                "cookie",
                "authorization",
                "name",
                "value",
                "apiKey",
                "text"
            ])
            .prop_map(str::to_owned),
            any::<String>(),
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((name, inner.clone()), 0..6)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
            // JSON as text inside JSON.
            inner.prop_map(|value| Value::from(value.to_string())),
        ]
    })
}

/// Whether two values differ in strings only, and not in names or order.
fn same_but_for_strings(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::String(_), Value::String(_)) => true,
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(l, r)| same_but_for_strings(l, r))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .zip(right)
                    .all(|((l, left), (r, right))| l == r && same_but_for_strings(left, right))
        }
        (left, right) => left == right,
    }
}

fn marks(text: &str) -> u64 {
    Kind::ALL.iter().map(|kind| text.matches(&format!("[redacted:{}]", kind.code())).count() as u64).sum()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn redacting_twice_changes_nothing_more(text in text()) {
        let redactor = Redactor::new();
        let once = redactor.redact(&text).text.into_owned();
        let twice = redactor.redact(&once);
        prop_assert_eq!(&twice.text, &once);
        prop_assert!(twice.counts.is_empty());
    }

    #[test]
    fn the_counts_are_the_marks_that_came_in(text in text()) {
        let redacted = Redactor::new().redact(&text);
        prop_assert_eq!(marks(&redacted.text), marks(&text) + redacted.counts.total());
    }

    #[test]
    fn a_text_grows_by_no_more_than_a_mark_for_each_replacement(text in text()) {
        let redacted = Redactor::new().redact(&text);
        let longest = "[redacted:google-oauth-token]".len();
        prop_assert!(redacted.text.len() <= text.len() + longest * redacted.counts.total() as usize);
        // A replaced value has at least three bytes, and a name and a joint before it.
        prop_assert!(redacted.counts.total() as usize * 6 <= text.len());
    }

    #[test]
    fn json_stays_json_of_the_same_structure(value in json(), pretty in any::<bool>()) {
        let text = if pretty { format!("{value:#}") } else { value.to_string() };
        let redacted = Redactor::new().redact_json(&text);
        let back: Value = serde_json::from_str(&redacted.text).expect("still JSON");
        prop_assert!(same_but_for_strings(&value, &back));
    }

    #[test]
    fn redacting_json_twice_changes_nothing_more(value in json()) {
        let redactor = Redactor::new();
        let once = redactor.redact_json(&value.to_string()).text.into_owned();
        prop_assert_eq!(&redactor.redact_json(&once).text, &once);
    }

    #[test]
    fn broken_json_never_panics(value in json(), cut in any::<prop::sample::Index>()) {
        let text = value.to_string();
        let kept: String = text.chars().take(cut.index(text.chars().count() + 1)).collect();
        let redactor = Redactor::new();
        redactor.redact_json(&kept);
        redactor.redact(&kept);
    }
}

#[test]
fn one_redactor_serves_many_threads() {
    fn assert_shareable<T: Send + Sync + Clone + 'static>(_: &T) {}
    assert_shareable(&Redactor::new());
}

#[test]
fn merged_counts_add_up() {
    let redactor = Redactor::new();
    let mut counts = redactor.redact(concat!("password=hun", "ter2")).counts;
    counts.merge(&redactor.redact(concat!("DB_PASSWORD=hun", "ter2 AUTH_TOKEN=fake0F4k3", "Fake9")).counts);
    assert_eq!(counts.of(Kind::Password), 2);
    assert_eq!(counts.iter().collect::<Vec<_>>(), [("password", 2), ("token", 1)]);
    assert_eq!(counts.total(), 3);
}

#[test]
fn kind_names_are_kebab_case_and_unlike_each_other() {
    let mut codes: Vec<_> = Kind::ALL.iter().map(|kind| kind.code()).collect();
    assert!(codes.iter().all(|code| code.bytes().all(|b| b.is_ascii_lowercase() || b == b'-')));
    codes.sort_unstable();
    codes.dedup();
    assert_eq!(codes.len(), Kind::ALL.len());
}

// Found by fuzzing.
#[test]
fn a_token_in_the_name_of_a_secret_goes_too() {
    let text = concat!("fxoxe.xoxp", "-sKdEsv2SKdsKdsv2SE-SECRET=KSKsvE-SECRE18E_ ");
    let redactor = Redactor::new();
    let once = redactor.redact(text);
    assert_eq!(once.text, "fxoxe.[redacted:slack-token]=[redacted:secret] ");
    assert_eq!(redactor.redact(&once.text).text, once.text);
}
