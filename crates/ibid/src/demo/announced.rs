//! What an agent would have announced of one of the demo's sessions: made up, in the form in which it
//! is given to hooks, and kept as a hook keeps it.

use anyhow::{Context as _, Result};
use ibid_capture::journal::{Entry, Journal, Observed};
use ibid_harness::Surroundings;
use ibid_model::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;

/// The session that it is about.
pub(crate) const ANNOUNCED: &str = "claude-code:e9892c41";

#[derive(Deserialize)]
struct Hook<'a> {
    at: Timestamp,
    program: String,
    #[serde(borrow)]
    input: &'a RawValue,
}

/// Fills the journal of a home.
///
/// # Errors
/// When it cannot be written.
pub(super) fn announce(machine: &Surroundings) -> Result<()> {
    let journal = Journal::new(machine.data_dir());
    for line in include_str!("announced.jsonl").lines() {
        let hook: Hook<'_> = serde_json::from_str(line)?;
        let (_, profile) = ibid_harness::profile(&hook.program).context("the program is known")?;
        let lifecycle = profile.lifecycle.context("the program announces")?;
        let announced = (lifecycle.read)(hook.input.get().as_bytes())?;
        journal.append(&Entry::Observed(Observed {
            at: hook.at,
            program: hook.program,
            session: announced.observation.session.to_string(),
            observation: RawValue::from_string(announced.native)?,
        }))?;
    }
    Ok(())
}
