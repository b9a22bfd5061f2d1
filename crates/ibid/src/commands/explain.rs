//! `ibid explain`: one session as its lanes tell it.

use anyhow::Result;
use ibid_harness::Common;

use crate::exit::Exit;
use crate::lanes::Lanes;
use crate::located;
use crate::machine::Machine;
use crate::output;
use crate::rendering;
use crate::screen::Screen;

/// Say which evidence there is for a session, and whether it agrees
///
/// A session is told by the files or rows that its agent stored, and by what the agent announced
/// through hooks while it ran (`ibid plugin`). For each fact, turn and subagent this shows what either
/// says, where (file and bytes, or event and time), and whether they agree. Nothing is chosen where
/// they do not, and what neither says is unknown.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The session: `harness:id`, the beginning of an id, a title, or a file
    session: String,

    /// Do not use a pager
    #[arg(long)]
    no_pager: bool,
}

/// # Errors
/// When there is no such session, or it cannot be read.
pub(crate) fn run(machine: &Machine, arguments: &Arguments) -> Result<Exit> {
    let found = machine.find(&arguments.session)?;
    let transcript = machine.load(&found)?;
    let Common { session, mut findings } = transcript.to_common()?;
    let (lanes, unread) = output::with_patience("reading the lanes", || Lanes::of(machine, &found, &session));
    findings.extend(unread);
    let explained = lanes.explain(&session, &findings, &located::facts(&transcript, &session));
    if machine.json {
        output::print_versioned(&explained)?;
        return Ok(Exit::Done);
    }
    let mut screen = Screen::open(!arguments.no_pager);
    screen.write(&rendering::explained(&explained, &session, Screen::width()))?;
    let exit = screen.close()?;
    if let Some(text) = output::findings_below("What was found:", &explained.findings, true) {
        output::note(&format!("\n{text}"));
    }
    Ok(exit)
}
