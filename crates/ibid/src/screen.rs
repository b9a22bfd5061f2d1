//! Long output: through a pager on a terminal, plain otherwise.

use std::io::{self, IsTerminal, Write};
use std::process::{Child, Command, Stdio};

use anstream::{AutoStream, ColorChoice, StripStream};
use anyhow::Result;

use crate::exit::Exit;

/// Where a command writes what may be longer than a screen.
pub(crate) struct Screen {
    out: Box<dyn Write>,
    pager: Option<Child>,
}

impl Screen {
    /// Stdout; through a pager when it is a terminal and a pager can be started. `IBID_PAGER` is
    /// taken before `PAGER`; an empty value or `cat` means none.
    pub(crate) fn open(paged: bool) -> Screen {
        let stdout = io::stdout();
        let colour = AutoStream::choice(&stdout) != ColorChoice::Never;
        let pager = (paged && stdout.is_terminal()).then(start_pager).flatten();
        match pager {
            Some(mut pager) => {
                let input = pager.stdin.take();
                let out: Box<dyn Write> = match input {
                    Some(input) if colour => Box::new(io::BufWriter::new(input)),
                    Some(input) => Box::new(StripStream::new(Box::new(input) as Box<dyn Write>)),
                    None => Box::new(anstream::stdout()),
                };
                Screen { out, pager: Some(pager) }
            }
            None => {
                let out: Box<dyn Write> = if colour {
                    Box::new(io::BufWriter::new(anstream::stdout()))
                } else {
                    Box::new(StripStream::new(Box::new(io::BufWriter::new(stdout)) as Box<dyn Write>))
                };
                Screen { out, pager: None }
            }
        }
    }

    /// The columns to wrap text at; none when the output is not for a terminal.
    pub(crate) fn width() -> Option<usize> {
        if !io::stdout().is_terminal() {
            return None;
        }
        // Some terminals do not know how wide they are.
        match terminal_size::terminal_size()?.0.0 {
            0 => Some(80),
            columns => Some(usize::from(columns).max(40)),
        }
    }

    /// Writes text. Whether anybody is still reading.
    ///
    /// # Errors
    /// When it cannot be written for another reason than a reader that went away.
    pub(crate) fn write(&mut self, text: &str) -> Result<bool> {
        match self.out.write_all(text.as_bytes()) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Ends the output and waits for the pager.
    ///
    /// # Errors
    /// As [`Screen::write`].
    pub(crate) fn close(mut self) -> Result<Exit> {
        let flushed = self.out.flush();
        drop(self.out);
        if let Some(mut pager) = self.pager.take() {
            pager.wait()?;
        }
        match flushed {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
            _ => Ok(Exit::Done),
        }
    }
}

fn start_pager() -> Option<Child> {
    let named = std::env::var("IBID_PAGER").or_else(|_| std::env::var("PAGER"));
    let line = named.unwrap_or_else(|_| "less".to_owned());
    let words = shlex::split(&line)?;
    let (program, arguments) = words.split_first()?;
    if program == "cat" {
        return None;
    }
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped());
    // Colours as they are, no pager for what fits on a screen, and what was read stays visible.
    if std::env::var_os("LESS").is_none() {
        command.env("LESS", "FRX");
    }
    // Without a locale, less would print the bytes of a character instead of it.
    if std::env::var_os("LESSCHARSET").is_none() {
        command.env("LESSCHARSET", "utf-8");
    }
    command.spawn().ok()
}
