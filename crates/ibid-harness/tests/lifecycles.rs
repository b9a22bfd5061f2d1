//! What holds for the lifecycle of every program, so that a new one cannot forget it.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on must fail")]

use std::collections::BTreeSet;
use std::path::Path;
use std::{fs, io};

use ibid_harness::{Lifecycle, profiles};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// Stands where nothing may come through.
const SECRET: &str = "hunter2-SECRET";

fn lifecycles() -> impl Iterator<Item = (&'static str, &'static Lifecycle)> {
    profiles().filter_map(|(_, profile)| Some((profile.id, profile.lifecycle?)))
}

/// The payloads of the harness of each profile, as the real programs gave them.
fn payloads() -> Vec<(&'static str, &'static Lifecycle, String, Vec<u8>)> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/hooks");
    let mut payloads = Vec::new();
    for (harness, profile) in profiles() {
        let Some(lifecycle) = profile.lifecycle else { continue };
        let mut files = Vec::new();
        let _ = below(&fixtures.join(harness.as_str()), &mut files);
        for path in files.into_iter().filter(|path| path.extension().is_some_and(|end| end == "json")) {
            let input = fs::read(&path).expect("a payload");
            payloads.push((profile.id, lifecycle, path.display().to_string(), input));
        }
    }
    payloads
}

fn below(folder: &Path, files: &mut Vec<std::path::PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() { below(&path, files)? } else { files.push(path) }
    }
    Ok(())
}

#[test]
fn there_are_lifecycles_with_real_payloads() {
    assert!(lifecycles().count() >= 3);
    assert!(payloads().len() >= 80, "{} payloads", payloads().len());
}

#[test]
fn no_event_is_listed_twice_or_both_read_and_not_read() {
    for (id, lifecycle) in lifecycles() {
        let all: Vec<_> = lifecycle.events.iter().chain(lifecycle.unread).collect();
        assert!(!lifecycle.events.is_empty(), "{id}");
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len(), "{id}");
    }
}

#[test]
fn what_a_real_payload_announced_is_what_its_kept_form_says() {
    for (id, lifecycle, path, input) in payloads() {
        let Ok(announced) = (lifecycle.read)(&input) else { continue };
        assert_eq!((lifecycle.kept)(&announced.native), Some(announced.observation), "{id}: {path}");
        assert!(!announced.native.contains('\n'), "a journal keeps it in one line");
    }
}

/// Asked of the programs that run a hook command themselves; what a bundled plugin gives to ours is
/// shown with the plugin.
#[test]
fn every_event_of_a_program_with_recorded_payloads_is_among_them_or_in_a_contract_case() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/contracts/hooks");
    let mut files = Vec::new();
    below(&cases, &mut files).expect("the cases");
    let cases: Vec<String> = files.iter().filter_map(|path| fs::read_to_string(path).ok()).collect();
    for (id, lifecycle) in lifecycles() {
        let seen: BTreeSet<String> = payloads()
            .iter()
            .filter(|(of, ..)| *of == id)
            .filter_map(|(_, lifecycle, _, input)| (lifecycle.read)(input).ok())
            .map(|announced| announced.observation.event.as_str().to_owned())
            .collect();
        if seen.is_empty() {
            continue;
        }
        for event in lifecycle.events {
            let named = cases.iter().any(|case| case.contains(&format!("\\\"{event}\\\"")));
            assert!(seen.contains(*event) || named, "{id}: {event}");
        }
    }
}

#[test]
fn what_is_refused_is_not_quoted() {
    let inputs = [
        SECRET.to_owned(),
        format!("\"{SECRET}\""),
        json!([SECRET]).to_string(),
        json!({ "hook_event_name": SECRET, "event": SECRET, "session_id": [SECRET] }).to_string(),
        json!({ SECRET: SECRET }).to_string(),
    ];
    for (id, lifecycle) in lifecycles() {
        for input in &inputs {
            let error = (lifecycle.read)(input.as_bytes()).expect_err(id);
            let shown = format!("{error} {error:?}");
            assert!(!shown.contains("SECRET"), "{id}: {shown}");
        }
    }
}

#[test]
fn nothing_beside_the_one_object_is_read() {
    for (id, lifecycle, path, input) in payloads() {
        if (lifecycle.read)(&input).is_err() {
            continue;
        }
        let text = String::from_utf8(input).expect("text");
        for other in
            [format!("[{text}]"), format!("{text}{text}"), format!("{text}x"), format!("\u{feff}{text}")]
        {
            assert!((lifecycle.read)(other.as_bytes()).is_err(), "{id}: {path}");
        }
        assert!((lifecycle.read)(format!("\n\t {text} \r\n").as_bytes()).is_ok(), "{id}: {path}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]
    #[test]
    fn a_secret_beside_the_identities_of_a_real_payload_never_comes_through(
        keys in proptest::collection::vec(".{0,12}", 1..6),
    ) {
        for (id, lifecycle, path, input) in payloads() {
            if (lifecycle.read)(&input).is_err() {
                continue;
            }
            let mut object: Map<String, Value> = serde_json::from_slice(&input).expect("an object");
            for key in &keys {
                object.insert(format!("{key}{SECRET}"), json!({ "session_id": SECRET, SECRET: [SECRET] }));
            }
            for said in ["prompt", "last_assistant_message", "compact_summary", "tool_input", "env", "text"] {
                object.insert(said.into(), SECRET.into());
            }
            let input = serde_json::to_vec(&object).expect("JSON");
            let Ok(announced) = (lifecycle.read)(&input) else { continue };
            let common = serde_json::to_string(&announced.observation).expect("JSON");
            for shown in [&announced.native, &common] {
                prop_assert!(!shown.contains("SECRET"), "{}: {}", id, path);
            }
        }
    }
}
