//! `stage-evidence`: lays out the programs of the evidence host as a desktop app ships them.
//!
//! ```text
//! stage-evidence development --os macos --from target/release --to dist
//! stage-evidence packaged    --os macos --from target/release --to "My Studio.app"
//! ```
//!
//! On macOS what is laid out is signed, where there is a `codesign`: without any signature launchd
//! starts no service.

mod layout;
mod plist;

use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::{env, fs, io};

use layout::{Kind, Layout, System};

const USAGE: &str = "\
Usage: stage-evidence <development|packaged> --os <macos|windows|linux> --from DIR --to DIR [--sign IDENTITY]

  development   TO/native gets the host; on macOS also the client, the service and `Harness Evidence.app`
  packaged      TO is the app itself on macOS (`Contents/` lies in it), elsewhere its folder of resources

  --os          the system that the programs are for; this one when it is not given
  --from        where the built programs lie
  --sign        the identity for codesign; `-` (ad hoc) when it is not given, `none` to leave it out
";

struct Arguments {
    kind: Kind,
    os: System,
    from: PathBuf,
    to: PathBuf,
    identity: String,
}

fn arguments(mut given: impl Iterator<Item = String>) -> Result<Arguments, String> {
    let kind = match given.next().as_deref() {
        Some("development") => Kind::Development,
        Some("packaged") => Kind::Packaged,
        _ => return Err("the first argument is `development` or `packaged`".to_owned()),
    };
    let (mut os, mut from, mut to, mut identity) = (System::this(), None, None, "-".to_owned());
    while let Some(name) = given.next() {
        let value = given.next().ok_or_else(|| format!("{name} needs a value"))?;
        match name.as_str() {
            "--os" => {
                os = Some(System::named(&value).ok_or_else(|| format!("there is no layout for {value}"))?)
            }
            "--from" => from = Some(PathBuf::from(value)),
            "--to" => to = Some(PathBuf::from(value)),
            "--sign" => identity = value,
            _ => return Err(format!("{name} means nothing here")),
        }
    }
    Ok(Arguments {
        kind,
        os: os.ok_or("--os is needed on this system")?,
        from: from.ok_or("--from is needed")?,
        to: to.ok_or("--to is needed")?,
        identity,
    })
}

/// Makes every folder, file and signature of a layout.
fn make(layout: &Layout, identity: &str) -> io::Result<()> {
    for fresh in &layout.fresh {
        if fresh.exists() {
            fs::remove_dir_all(fresh)?;
        }
    }
    for (source, target) in &layout.programs {
        let about = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", source.display()));
        if let Some(folder) = target.parent() {
            fs::create_dir_all(folder)?;
        }
        // A program that runs cannot be written over, but it can be replaced.
        if target.exists() {
            fs::remove_file(target)?;
        }
        fs::copy(source, target).map_err(about)?;
        println!("{}", target.display());
    }
    for (target, text) in &layout.plists {
        fs::write(target, text)?;
        println!("{}", target.display());
    }
    if identity == "none" || layout.signed.is_empty() {
        return Ok(());
    }
    for (target, deep) in &layout.signed {
        let mut codesign = Command::new("codesign");
        codesign.args(["--force", "--sign", identity]).args(deep.then_some("--deep")).arg(target);
        match codesign.status() {
            Ok(status) if status.success() => {}
            Ok(status) => return Err(io::Error::other(format!("codesign: {status}: {}", target.display()))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                eprintln!("not signed: there is no codesign here");
                return Ok(());
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn main() -> ExitCode {
    let arguments = match arguments(env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(problem) => {
            eprint!("stage-evidence: {problem}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let layout = Layout::of(arguments.kind, arguments.os, &arguments.from, &arguments.to);
    match make(&layout, &arguments.identity) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("stage-evidence: {error}");
            ExitCode::FAILURE
        }
    }
}
