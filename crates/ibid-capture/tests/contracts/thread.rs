//! The cases of sub-threads. Which headers tell comes from the harnesses, in the order of the
//! registry.

use crate::case::{self, Case};
use ibid_capture::envelope::thread_id;

fn run(case: &Case) {
    let rules = ibid_harness::thread_rules();
    let expected = Some(case.text("thread_id")).filter(|thread| !thread.is_empty());
    assert_eq!(thread_id(&case.headers(), &rules).as_deref(), expected, "{}", case.name);
}

#[test]
fn our_own_cases_name_their_threads() {
    case::own("thread").iter().for_each(run);
}

#[test]
fn the_published_cases_name_their_threads() {
    let Some(cases) = case::published("thread") else {
        return eprintln!("skipped: IBID_CORPUS names no published contract cases");
    };
    assert!(cases.len() >= 8, "{} cases", cases.len());
    cases.iter().for_each(run);
}
