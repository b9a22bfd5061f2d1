//! The names of rollout files.
//!
//! `rollout-<YYYY-MM-DDThh-mm-ss>-<thread id>.jsonl`, behind a revert (0.171)
//! `rollout-<...>-<thread id>_<rollout id>.jsonl`, compressed with `.zst` behind that. The time is
//! local time; the earliest files have a date alone and are one JSON document (`.json`).

use ibid_model::Timestamp;

/// What the name of a rollout file says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RolloutName<'a> {
    /// When it was made, in local time, as written; sorts by time.
    pub(super) time: &'a str,
    /// The id of the thread.
    pub(super) thread: &'a str,
    /// The id of the file, where it is another than the thread's.
    pub(super) rollout: Option<&'a str>,
    /// Whether it is compressed.
    pub(super) compressed: bool,
}

/// `YYYY-MM-DDThh-mm-ss`.
const TIME: &str = "0000-00-00T00-00-00";
/// `YYYY-MM-DD`.
const DATE: &str = "0000-00-00";

impl<'a> RolloutName<'a> {
    /// Reads a file name; none when it is not one of a rollout.
    pub(super) fn of(file_name: &'a str) -> Option<RolloutName<'a>> {
        let (stem, compressed) = match file_name.strip_suffix(".zst") {
            Some(stem) => (stem, true),
            None => (file_name, false),
        };
        let (stem, extension) = stem.rsplit_once('.')?;
        let is_document = extension == "json" && !compressed;
        if !is_document && !extension.eq_ignore_ascii_case("jsonl") {
            return None;
        }
        let rest = stem.strip_prefix("rollout-")?;
        let (time, ids) = split_time(rest, TIME).or_else(|| split_time(rest, DATE)).unwrap_or(("", rest));
        let (thread, rollout) = match ids.split_once('_') {
            Some((thread, rollout)) if is_uuid(thread) && is_uuid(rollout) => (thread, Some(rollout)),
            _ => (ids, None),
        };
        (!thread.is_empty()).then_some(RolloutName { time, thread, rollout, compressed })
    }

    /// The id by which another file names this one as its base.
    pub(super) fn rollout_id(&self) -> &'a str {
        self.rollout.unwrap_or(self.thread)
    }
}

fn is_uuid(text: &str) -> bool {
    text.len() == 36 && uuid::Uuid::try_parse(text).is_ok()
}

/// Splits a time of the shape of `pattern`, and the `-` behind it, off the beginning.
fn split_time<'a>(text: &'a str, pattern: &str) -> Option<(&'a str, &'a str)> {
    let (time, rest) = text.split_at_checked(pattern.len())?;
    let fits = time.bytes().zip(pattern.bytes()).all(|(have, want)| match want {
        b'0' => have.is_ascii_digit(),
        want => have == want,
    });
    let rest = rest.strip_prefix('-')?;
    fits.then_some((time, rest))
}

/// The place of a new rollout below the root, by UTC.
pub(super) fn place(at: Timestamp, id: &str) -> String {
    let time = at.to_jiff();
    format!(
        "sessions/{}/rollout-{}-{id}.jsonl",
        time.strftime("%Y/%m/%d"),
        time.strftime("%Y-%m-%dT%H-%M-%S")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_holds_the_time_and_the_ids() {
        let thread = "01a22caf-1bd8-7d91-b797-11d4d26c86d7";
        let rollout = "01a22caf-2113-7c43-b199-788f72630b02";
        let name = format!("rollout-2026-11-30T13-40-04-{thread}_{rollout}.jsonl.zst");
        let read = RolloutName::of(&name).unwrap();
        assert_eq!((read.thread, read.rollout_id(), read.compressed), (thread, rollout, true));
        assert_eq!(read.time, "2026-11-30T13-40-04");
        let old = RolloutName::of("rollout-2025-01-15-codex-legacy-001.json").unwrap();
        assert_eq!((old.thread, old.rollout_id()), ("codex-legacy-001", "codex-legacy-001"));
    }

    #[test]
    fn other_names_are_none() {
        for name in [
            "session_index.jsonl",
            "rollout-.jsonl",
            "rollout-x.txt",
            "xrollout-a.jsonl",
            "rollout-a.jsonl.bak",
        ] {
            assert_eq!(RolloutName::of(name), None, "{name}");
        }
    }

    #[test]
    fn a_new_file_lies_in_the_folder_of_its_day() {
        let at = Timestamp::parse("2025-01-02T03:04:05.678Z").unwrap();
        assert_eq!(place(at, "x"), "sessions/2025/01/02/rollout-2025-01-02T03-04-05-x.jsonl");
    }
}
