//! What holds for every harness that sessions can be written for.

#![allow(clippy::expect_used, clippy::panic, reason = "a test states what it expects")]

mod fidelity;

use ibid_carrier::jsonl::Limits;
use ibid_harness::{AnyHarness, Context, Control, Cursor, Surroundings, Wants, all};
use ibid_testkit::{Home, sessions};
use proptest::prelude::*;

fn writable() -> impl Iterator<Item = &'static dyn AnyHarness> {
    all().iter().copied().filter(|harness| harness.declaration().capabilities.write)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, max_shrink_iters: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    // https://github.com/Dicklesworthstone/cross_agent_session_resumer/issues/9 (fault 28)
    #[test]
    fn a_conversion_loses_only_what_it_reports(session in sessions::session()) {
        for harness in writable() {
            if let Err(problem) = fidelity::check(&session, harness) {
                return Err(TestCaseError::fail(problem));
            }
        }
    }
}

/// Homes that hold all fixtures between them.
fn homes() -> Vec<Home> {
    let mut homes = Vec::new();
    for harness in std::fs::read_dir(Home::fixtures()).expect("there are fixtures").flatten() {
        let name = harness.file_name().to_string_lossy().into_owned();
        for version in std::fs::read_dir(harness.path()).into_iter().flatten().flatten() {
            if version.path().is_dir() {
                homes.push(Home::new().with(&name, &version.file_name().to_string_lossy()));
            }
        }
    }
    homes
}

#[test]
fn real_sessions_convert_to_every_harness_and_lose_only_what_is_reported() {
    let limits = Limits::default();
    let mut converted = 0;
    for home in homes() {
        let machine = Surroundings::isolated(home.path());
        let context = Context { machine: &machine, limits: &limits };
        for source in all() {
            for root in source.roots(&machine) {
                for listed in source.list(&root, &context).sessions {
                    let place = &listed.reference;
                    let Ok(transcript) = source.load(place, &context) else { continue };
                    let Ok(common) = transcript.to_common() else { continue };
                    for target in writable() {
                        if let Err(problem) = fidelity::check(&common.session, target) {
                            panic!("{place} to {problem}");
                        }
                        converted += 1;
                    }
                }
            }
        }
    }
    assert!(converted > 0);
}

// https://github.com/getpaseo/paseo/issues/3297 (fault 37)
#[test]
fn finding_and_reading_everything_leaves_no_trace() {
    let limits = Limits::default();
    for home in homes() {
        let machine = Surroundings::isolated(home.path());
        let context = Context { machine: &machine, limits: &limits };
        // Ibid's own cache is made beforehand: a harness's folders are what must not change.
        std::fs::create_dir_all(machine.cache_dir()).expect("a folder can be made");
        let before = home.snapshot();
        for harness in all() {
            for root in harness.roots(&machine) {
                for listed in harness.list(&root, &context).sessions {
                    let _ = harness.describe(&listed, &context);
                    let _ = harness.load(&listed.reference, &context).map(|session| session.to_common());
                    let mut sink = |_| true;
                    let (from, control) = (Cursor::Start, Control::default());
                    let _ = harness.scan(&listed.reference, &from, Wants::ALL, &control, &mut sink, &context);
                    let _ = harness.fingerprints(std::slice::from_ref(&listed.reference), &context);
                    let _ = harness.children(&listed.reference, &context);
                }
            }
        }
        let cache = machine.cache_dir().strip_prefix(home.path()).expect("it lies in the home").to_owned();
        let touched = home.snapshot().differences_from(&before);
        let touched: Vec<_> =
            touched.into_iter().filter(|line| !line.contains(&*cache.to_string_lossy())).collect();
        assert!(touched.is_empty(), "{}", touched.join("\n"));
    }
}
