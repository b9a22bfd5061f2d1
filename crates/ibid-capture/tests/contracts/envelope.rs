//! The cases of the envelope.

use http::HeaderMap;
use ibid_capture::envelope::{AUTH_SUBJECT, Envelope, ORG_ID, STATUS};
use serde_json::Value;

use crate::case::{self, Case};

/// What is said under a key of a case, as an envelope.
fn envelope(case: &Case, key: &str) -> Envelope {
    serde_json::from_value(case.value[key].clone()).expect("an envelope")
}

/// Runs a case in each direction that it declares.
fn run(case: &Case) {
    let name = &case.name;
    let expected = envelope(case, "envelope");
    let headers = case.headers();
    match case.text("direction") {
        "roundtrip" => written(name, &expected, &headers),
        "encode" => written(name, &envelope(case, "encode_from"), &headers),
        "decode" => {}
        other => panic!("{name}: no direction is called {other}"),
    }
    let read = Envelope::read(&headers);
    assert_eq!(read, expected, "{name}");
    let json: Value = serde_json::to_value(&read).expect("JSON");
    assert_eq!(json, case.value["envelope"], "{name}");
    match (case.text("category"), case.value["error"]["disposition"].as_str()) {
        (_, Some("reject-400")) => {
            let invalid = read.validate().expect_err(name);
            assert_eq!((invalid.field(), STATUS), (case.value["error"]["field"].as_str().unwrap(), 400));
        }
        (_, Some("drop-field")) => {
            let field = case.value["error"]["field"].as_str().expect("a field");
            assert_eq!(json.get(field), None, "{name}");
            assert_eq!(read.validate(), Ok(()), "{name}");
        }
        (category, None) if category != "error" => assert_eq!(read.validate(), Ok(()), "{name}"),
        (_, other) => panic!("{name}: no disposition is called {other:?}"),
    }
}

/// What a producer writes is exactly what stands in the case, but for what only an edge sets.
fn written(name: &str, from: &Envelope, expected: &HeaderMap) {
    let mut expected = expected.clone();
    for trusted in [ORG_ID, AUTH_SUBJECT] {
        expected.remove(trusted);
    }
    let mut headers = HeaderMap::new();
    headers.insert("x-tapes-harness-session-id", "forged".parse().expect("a value"));
    headers.insert("x-tapes-forged", "forged".parse().expect("a value"));
    from.write(&mut headers);
    assert_eq!(headers, expected, "{name}");
}

#[test]
fn our_own_cases_hold_in_the_directions_that_they_declare() {
    case::own("envelope").iter().for_each(run);
}

#[test]
fn the_published_cases_hold_in_the_directions_that_they_declare() {
    let Some(cases) = case::published("envelope") else {
        return eprintln!("skipped: IBID_CORPUS names no published contract cases");
    };
    assert!(cases.len() >= 23, "{} cases", cases.len());
    cases.iter().for_each(run);
}
