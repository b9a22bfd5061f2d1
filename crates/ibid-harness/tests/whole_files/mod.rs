//! What must hold of every session of a harness whose sessions are whole files.

use std::fs;
use std::path::Path;

use ibid_carrier::jsonl::Limits;
use ibid_harness::{
    AnyHarness, Class, Common, Content, Context, Control, Cursor, Discovered, Fold, Surroundings, Wants,
};
use ibid_testkit::Snapshot;

/// Reads every session of a machine and checks that a list, a load and a scan say the same of it,
/// that its carriers are the bytes of its files, that it is consistent, and that its text form gives
/// it again. Nothing may be touched. Returns what was found, in the order of the listings.
pub(crate) fn read_all(name: &str, machine: &Surroundings) -> Vec<(Discovered, Common)> {
    let harness = ibid_harness::find(name).unwrap();
    let limits = Limits::default();
    let context = Context { machine, limits: &limits };
    let before = Snapshot::of(machine.home());
    let mut read = Vec::new();
    for root in harness.roots(machine) {
        for listed in harness.list(&root, &context).sessions {
            let found = harness.describe(&listed, &context).unwrap();
            let now =
                harness.fingerprints(std::slice::from_ref(&listed.reference), &context).remove(0).unwrap();
            assert_eq!(now, listed.fingerprint);
            if found.class == Class::Foreign {
                continue;
            }
            let common = read_one(harness, &found, &context);
            read.push((found, common));
        }
    }
    Snapshot::of(machine.home()).assert_same_as(&before);
    read
}

fn read_one(harness: &'static dyn AnyHarness, found: &Discovered, context: &Context<'_>) -> Common {
    let transcript = harness.load(&found.reference, context).unwrap();
    for carrier in transcript.carriers() {
        let Content::Bytes(bytes) = carrier.content else { panic!("files hold bytes") };
        assert_eq!(bytes, fs::read(Path::new(carrier.info.path.as_str())).unwrap());
    }
    let common = transcript.to_common().unwrap();
    let session = &common.session;
    assert_eq!(session.problems(), []);
    assert_eq!((&found.id, &found.meta, &found.lineage), (&session.id, &session.meta, &session.lineage));
    assert_eq!(found.carriers, session.carriers);
    let mut fold = Fold::default();
    let (start, control) = (Cursor::Start, Control::default());
    harness.scan(&found.reference, &start, Wants::ALL, &control, &mut fold, context).unwrap();
    assert_eq!(
        (fold.id.as_ref(), &fold.meta, &fold.messages),
        (Some(&session.id), &session.meta, &session.messages)
    );
    assert_eq!((fold.calls(), &fold.events), (session.calls.clone(), &session.events));
    let text = transcript.to_text().unwrap();
    if !session.messages.is_empty() {
        let again = harness.from_text(&text).unwrap();
        assert!(again.to_text().unwrap() == text, "the text form gives the session again");
        assert_eq!(again.to_common().unwrap().session.messages.len(), session.messages.len());
    }
    common
}
