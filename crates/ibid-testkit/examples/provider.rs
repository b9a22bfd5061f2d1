//! The scripted model as a program of its own, for trying a coding agent by hand:
//!
//! ```text
//! cargo run -p ibid-testkit --example provider -- PORT LOG WORKSPACE [strict]
//! ```
//!
//! It prints its address and runs until its standard input ends.

use std::io::{self, Read};

use ibid_testkit::provider::{Options, Provider};

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (port, log, workspace, strict) = match arguments.as_slice() {
        [port, log, workspace] => (port, log, workspace, false),
        [port, log, workspace, strict] if strict == "strict" => (port, log, workspace, true),
        _ => return Err(io::Error::other("usage: provider PORT LOG WORKSPACE [strict]")),
    };
    let provider = Provider::start(Options {
        port: port.parse().map_err(io::Error::other)?,
        log: Some(log.into()),
        workspace: workspace.into(),
        strict,
        ..Options::default()
    })?;
    println!("{}", provider.url());
    io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}
