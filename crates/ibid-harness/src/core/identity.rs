//! Ids that are derived, so that the same conversion gives the same bytes.

use ibid_model::{Session, Timestamp};
use uuid::{Builder, Uuid};

use super::Target;

/// The namespace of everything that Ibid derives.
const NAMESPACE: Uuid = Uuid::from_u128(0x9b2d_6a1e_3f57_4c08_8d7e_2a6c_51f0_b943);

/// A UUID (version 5) made from a purpose and a name: always the same for the same two.
#[must_use]
pub fn derived_uuid(purpose: &str, name: &str) -> Uuid {
    Uuid::new_v5(&NAMESPACE, format!("{purpose}\n{name}").as_bytes())
}

/// A UUID of version 7 for a time, whose other bits are made from a purpose and a name. It sorts
/// by the time, as harnesses that use version 7 expect.
#[must_use]
pub fn derived_uuid_v7(at: Timestamp, purpose: &str, name: &str) -> Uuid {
    let hash = *derived_uuid(purpose, name).as_bytes();
    let mut random = [0; 10];
    for (to, from) in random.iter_mut().zip(hash) {
        *to = from;
    }
    Builder::from_unix_timestamp_millis(u64::try_from(at.as_milliseconds()).unwrap_or(0), &random).into_uuid()
}

/// What identifies a conversion: the source, how far it went, what it begins and ends with, which
/// part was taken, and the working directory where the new session gets another. Two documents may
/// have one id or none, and a message may grow, so ids and counts are not enough.
#[must_use]
pub fn conversion_name(session: &Session, target: &Target) -> String {
    let selection = &target.selection;
    let head = session.head.as_ref().map(|id| id.as_str()).unwrap_or_default();
    let branch = selection.branch.as_ref().map(|id| id.as_str()).unwrap_or_default();
    let span = selection.span.map(|span| format!("{}-{}", span.start, span.end)).unwrap_or_default();
    let moved = target.cwd.as_ref().filter(|cwd| session.meta.cwd.as_ref() != Some(*cwd));
    let moved = moved.map(|cwd| format!("\n{cwd}")).unwrap_or_default();
    format!(
        "{}\n{}\n{head}\n{}\n{branch}\n{}\n{span}{moved}\n{}",
        session.harness,
        session.id,
        session.messages.len(),
        selection.from_compaction,
        outline(session)
    )
}

/// The shape of every message, and the words of the first two and the last one.
fn outline(session: &Session) -> Uuid {
    let mut outline = String::new();
    for message in &session.messages {
        outline.push_str(&format!("{:?}{} ", message.role, message.blocks.len()));
    }
    let last = session.messages.len().saturating_sub(1);
    let told = session.messages.iter().take(2).chain(session.messages.get(last));
    for message in told {
        // What cannot be spelled cannot be told apart; nothing of the model is of that kind.
        outline.push_str(&serde_json::to_string(&message.blocks).unwrap_or_default());
    }
    derived_uuid("outline", &outline)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_words_make_another_conversion() {
        let name = |words: &[&str]| {
            let mut session = Session::new("simple", "same");
            for (number, words) in words.iter().enumerate() {
                let (role, origin) = (ibid_model::Role::User, ibid_model::Origin::Person);
                let mut message = ibid_model::Message::new(format!("m{number}"), role, origin);
                message.blocks.push(ibid_model::Block::text(*words));
                session.messages.push(message);
            }
            conversion_name(&session, &Target::default())
        };
        assert_eq!(name(&["a", "b"]), name(&["a", "b"]));
        assert_ne!(name(&["a", "b"]), name(&["c", "b"]));
        assert_ne!(name(&["a", "b"]), name(&["a", "d"]));
    }

    #[test]
    fn another_directory_makes_another_conversion() {
        let mut session = Session::new("test", "s");
        session.meta.cwd = Some("/a".into());
        let name = |cwd: Option<&str>| {
            let target = Target { cwd: cwd.map(Into::into), ..Target::default() };
            conversion_name(&session, &target)
        };
        assert_eq!(name(None), name(Some("/a")));
        assert_eq!(name(Some("/b")), name(Some("/b")));
        assert_ne!(name(None), name(Some("/b")));
        assert_ne!(name(Some("/b")), name(Some("/c")));
    }

    #[test]
    fn a_derived_version_7_uuid_is_stable_and_sorts_by_time() {
        let early = Timestamp::from_milliseconds(1_000_000_000_000).unwrap();
        let late = Timestamp::from_milliseconds(1_700_000_000_000).unwrap();
        let a = derived_uuid_v7(early, "session", "x");
        assert_eq!(a, derived_uuid_v7(early, "session", "x"));
        assert_eq!(a.get_version_num(), 7);
        assert!(a < derived_uuid_v7(late, "session", "a"));
    }
}
