//! What every fuzz target of a harness checks: nothing panics, the bytes are kept, the common
//! session is consistent, and what is written from it tells the same story when it is read again:
//! the same texts, calls and results in the same order and by the same side, but for what the
//! losses name.

#[path = "../../crates/ibid-harness/tests/fidelity/mod.rs"]
mod fidelity;

use ibid_harness::{AnyHarness, Content};
use ibid_model::Session;

/// Reads bytes as the text form of a harness, and checks what must hold for any bytes.
pub fn harness(name: &str, data: &[u8]) {
    let harness = ibid_harness::find(name).unwrap_or_else(|| panic!("no harness is called {name}"));
    let Ok(transcript) = harness.from_text(data) else { return };
    if transcript.carriers().len() == 1
        && let Some(Content::Bytes(bytes)) = transcript.carriers().first().map(|carrier| carrier.content)
    {
        assert!(bytes == data, "the bytes were not kept");
    }
    let Ok(common) = transcript.to_common() else { return };
    consistent(&common.session);
    told_again(&common.session, harness);
    told_again(&common.session, another(data));
}

/// The invariants of the model.
pub fn consistent(session: &Session) {
    let problems = session.problems();
    assert!(problems.is_empty(), "{problems:?}");
    let _ = session.branches();
    let _ = session.counts();
}

/// What the conversion property asks of generated sessions holds for every session.
fn told_again(session: &Session, harness: &dyn AnyHarness) {
    if let Err(problem) = fidelity::check(session, harness) {
        panic!("{problem}");
    }
}

/// One of the harnesses that can be written, each for some inputs.
fn another(data: &[u8]) -> &'static dyn AnyHarness {
    let writable: Vec<_> =
        ibid_harness::all().iter().filter(|harness| harness.declaration().capabilities.write).collect();
    *writable[data.len() % writable.len()]
}
