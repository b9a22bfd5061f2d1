//! The cases of hooks: what is read of an input, in the harness's own form, and what is refused.

use ibid_harness::Lifecycle;
use serde_json::Value;

use crate::case::{self, Case};

/// What the program of a case announces.
fn lifecycle(case: &Case) -> &'static Lifecycle {
    let (_, profile) = ibid_harness::profile(case.text("harness")).expect("a profile");
    profile.lifecycle.expect("a lifecycle")
}

fn run(case: &Case) {
    let name = &case.name;
    let lifecycle = lifecycle(case);
    match (lifecycle.read)(case.text("input").as_bytes()) {
        Err(error) => {
            assert!(case.value["observation"].is_null(), "{name} was refused");
            assert_eq!(error.to_string(), case.text("error"), "{name}");
        }
        Ok(announced) => {
            let native: Value = serde_json::from_str(&announced.native).expect("JSON");
            assert_eq!(native, case.value["observation"], "{name}");
            assert!(!announced.native.contains("SECRET"), "{name}");
            assert_eq!((lifecycle.kept)(&announced.native), Some(announced.observation), "{name}");
        }
    }
}

#[test]
fn our_own_cases_are_read_or_refused_as_they_say() {
    case::own("hooks").iter().for_each(run);
}
