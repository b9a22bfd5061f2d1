//! What holds for every harness that sessions can be written for.

#![allow(clippy::expect_used, clippy::panic, reason = "a test states what it expects")]

mod fidelity;

use ibid_carrier::jsonl::Limits;
use ibid_carrier::plan::{Engine, Policy};
use ibid_harness::{
    AnyHarness, Context, Control, Cursor, Fold, SaveOptions, StoreError, Surroundings, Target, Wants, all,
};
use ibid_model::{Session, essence};
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

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, max_shrink_iters: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_saved_is_found_and_listed_and_scanned_as_it_was_written(session in sessions::session()) {
        for harness in writable().filter(|harness| harness.declaration().capabilities.resume) {
            if let Err(problem) = save_and_find(&session, harness) {
                return Err(TestCaseError::fail(format!("{}: {problem}", harness.declaration().id)));
            }
        }
    }
}

/// Saves a converted session in an empty home, and reads it back in every way there is.
fn save_and_find(session: &Session, harness: &'static dyn AnyHarness) -> Result<(), String> {
    let Ok(made) = harness.from_common(session, &Target::default()) else { return Ok(()) };
    let home = Home::new();
    let machine = Surroundings::isolated(home.path());
    let limits = Limits::default();
    let context = Context { machine: &machine, limits: &limits };
    let saving = match harness.save(&made.value, &SaveOptions::default(), &context) {
        Ok(saving) => saving,
        // A store that a program must have made first, or a session without what its place needs.
        Err(StoreError::NoPlace { .. } | StoreError::Unsupported { .. } | StoreError::Carrier(_)) => {
            return Ok(());
        }
        Err(error) => return Err(error.to_string()),
    };
    let engine = Engine::new(machine.data_dir());
    engine.commit(&saving.plan, &Policy::within(saving.roots)).map_err(|error| error.to_string())?;
    let listed: Vec<_> =
        harness.roots(&machine).iter().flat_map(|root| harness.list(root, &context).sessions).collect();
    let place = listed.iter().find(|listed| listed.reference == saving.reference);
    let place = place.ok_or_else(|| format!("{} is not listed", saving.reference))?;
    let described = harness.describe(place, &context).map_err(|error| error.to_string())?;
    let loaded = harness.load(&place.reference, &context).map_err(|error| error.to_string())?;
    let common = loaded.to_common().map_err(|error| error.to_string())?.session;
    let written = made.value.to_common().map_err(|error| error.to_string())?.session;
    let same_story = essence(&common.messages) == essence(&written.messages);
    if common.id != saving.id || !same_story || common.calls.len() != written.calls.len() {
        return Err("what was loaded is not what was written".to_owned());
    }
    if described.id != common.id || described.meta != common.meta {
        return Err(format!("a list shows {:?}, a load says {:?}", described.meta, common.meta));
    }
    let mut fold = Fold::default();
    let (from, control) = (Cursor::Start, Control::default());
    harness
        .scan(&place.reference, &from, Wants::ALL, &control, &mut fold, &context)
        .map_err(|error| error.to_string())?;
    if fold.meta != common.meta || fold.calls() != common.calls {
        return Err(format!("a scan says {:?}, a load {:?}", fold.meta, common.meta));
    }
    match essence(&fold.messages) == essence(&common.messages) {
        true => Ok(()),
        false => Err("a scan and a load tell different stories".to_owned()),
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
