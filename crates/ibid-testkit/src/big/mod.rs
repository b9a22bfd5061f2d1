//! Large sessions and large homes, the same bytes every time.
//!
//! The rows are like those that Claude Code 2.1 and Codex 0.100 write: texts with escapes and
//! letters beyond ASCII, one row for each block of an answer with the usage on each, tool results
//! with their structured mirror, running token counts. They are written as a stream, so that a
//! session of any size can be made in little memory.

mod claude;
mod codex;
mod random;

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

pub use claude::claude_session;
pub use codex::codex_session;

use random::Random;

/// What a generated session is about.
#[derive(Clone, Debug)]
pub struct Subject {
    /// The session's id.
    pub id: String,
    /// Its working directory.
    pub cwd: String,
    /// When it begins, in milliseconds since 1970.
    pub begin_ms: i64,
    /// What all else follows from.
    pub seed: u64,
}

impl Subject {
    /// The subject number `number`: ten projects in turn, a session every seven minutes.
    #[must_use]
    pub fn numbered(number: u64) -> Subject {
        let mut random = Random::new(number.wrapping_mul(0x51_7c_c1_b7));
        Subject {
            id: random.uuid(),
            cwd: format!("/home/dev/project-{}", number % 10),
            begin_ms: 1_764_000_000_000 + i64::try_from(number % 100_000).unwrap_or(0) * 420_000,
            seed: number,
        }
    }
}

/// Fills `home` with Claude Code sessions of `bytes` altogether, in `.claude/projects`.
///
/// # Errors
/// When the disk does not take them.
pub fn claude_home(home: &Path, sessions: u64, bytes: u64) -> io::Result<()> {
    for number in 0..sessions {
        let subject = Subject::numbered(number);
        let folder = subject.cwd.replace(['/', '.'], "-");
        let path = home.join(".claude/projects").join(folder).join(format!("{}.jsonl", subject.id));
        write(&path, |out| claude_session(out, &subject, share(bytes, sessions, number)))?;
    }
    Ok(())
}

/// Fills `home` with Codex rollouts of `bytes` altogether, in `.codex/sessions`.
///
/// # Errors
/// When the disk does not take them.
pub fn codex_home(home: &Path, sessions: u64, bytes: u64) -> io::Result<()> {
    for number in 0..sessions {
        let subject = Subject::numbered(number.wrapping_add(1_000_000));
        let stamp = random::iso(subject.begin_ms);
        let (day, time) = stamp.split_at(10);
        let time = time.get(1..9).unwrap_or_default().replace(':', "-");
        let name = format!("rollout-{day}T{time}-{}.jsonl", subject.id);
        let path = home.join(".codex/sessions").join(day.replace('-', "/")).join(name);
        write(&path, |out| codex_session(out, &subject, share(bytes, sessions, number)))?;
    }
    Ok(())
}

/// The size of one session: most are small, some large, as in real homes.
fn share(bytes: u64, sessions: u64, number: u64) -> u64 {
    let mean = bytes / sessions.max(1);
    match number % 10 {
        0 => mean * 4,
        1..=3 => mean,
        _ => mean / 2,
    }
}

fn write(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<u64>) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut out = BufWriter::with_capacity(1 << 20, File::create(path)?);
    fill(&mut out)?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    type Generator = fn(&mut dyn Write, &Subject, u64) -> io::Result<u64>;

    #[test]
    fn a_session_is_the_same_every_time_and_about_as_large_as_asked() {
        for generator in [claude_session as Generator, codex_session] {
            let make = || {
                let mut bytes = Vec::new();
                let written = generator(&mut bytes, &Subject::numbered(7), 300_000).expect("memory takes it");
                assert_eq!(written, bytes.len() as u64);
                bytes
            };
            let first = make();
            assert!((300_000..360_000).contains(&first.len()), "{}", first.len());
            assert!(first == make());
        }
    }

    #[test]
    fn every_line_is_one_object() {
        for generator in [claude_session as Generator, codex_session] {
            let mut bytes = Vec::new();
            generator(&mut bytes, &Subject::numbered(3), 200_000).expect("memory takes it");
            let text = String::from_utf8(bytes).expect("it is UTF-8");
            assert!(text.ends_with('\n'));
            for line in text.lines() {
                let json = ibid_model::Json::from_text(line).expect("it is JSON");
                assert!(json.is_object());
            }
        }
    }

    #[test]
    fn a_home_has_as_many_sessions_as_asked_with_different_ids() {
        let home = crate::Home::new();
        claude_home(home.path(), 12, 120_000).expect("the disk takes it");
        codex_home(home.path(), 12, 120_000).expect("the disk takes it");
        let names: BTreeSet<_> =
            home.files("").iter().map(|path| path.file_name().map(ToOwned::to_owned)).collect();
        assert_eq!(names.len(), 24);
    }
}
