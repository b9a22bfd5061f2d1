//! What every fuzz target of a harness checks: nothing panics, the bytes are kept, the common
//! session is consistent, and what is written from it can be read again.

use ibid_harness::{AnyTranscript, Content, Target};
use ibid_model::{Essence, Rules, Selection, Session, essence, prepare};

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
    let made = harness.from_common(&common.session, &Target::default());
    if let Ok(made) = made {
        again(&common.session, &made.value);
    }
}

/// The invariants of the model.
pub fn consistent(session: &Session) {
    let problems = session.problems();
    assert!(problems.is_empty(), "{problems:?}");
    let _ = session.branches();
    let _ = session.counts();
}

/// What was written says what was prepared: the same texts in order, and the same calls and
/// results in order. A text that looks like one of the target's own asides may read as one, and
/// one behind a call may stand before or behind its result, but it is there.
fn again(session: &Session, made: &AnyTranscript) {
    let there = made.to_common().unwrap_or_else(|error| panic!("what was written cannot be read: {error}"));
    consistent(&there.session);
    let story = |session: &Session, rules: &Rules| -> (Vec<String>, Vec<String>) {
        let prepared = prepare(session, &Selection::default(), rules);
        let said = essence(&prepared.messages);
        let (texts, calls): (Vec<_>, Vec<_>) =
            said.iter().partition(|thing| matches!(thing, Essence::Text(..)));
        let tell = |things: Vec<&Essence>| things.into_iter().filter_map(kind).collect();
        (tell(texts), tell(calls))
    };
    let with_asides = Rules { injected_context: true, system_messages: true, ..Rules::STRICT };
    let said = story(session, &Rules::STRICT);
    if said != story(&there.session, &Rules::STRICT) {
        let heard = story(&there.session, &with_asides);
        assert_eq!(said, heard, "what was written says something else");
    }
}

fn kind(thing: &Essence) -> Option<String> {
    match thing {
        Essence::Text(_, text) => Some(text.to_string()),
        Essence::Call(number, _) => Some(format!("call {number}")),
        Essence::Result(number, ..) => Some(format!("result {number:?}")),
        Essence::Other(..) => None,
    }
}
