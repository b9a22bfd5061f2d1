//! The two sides, and what each is asked to do.

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use ibid_carrier::jsonl::Limits;
use ibid_harness::{
    AnyHarness, Context, DiscoveryCache, Progress, Surroundings, Target, discover, find, listed_at,
};
use txcript::harness::claude_code::{ClaudeCode, ClaudeStore};
use txcript::harness::codex::{Codex, CodexStore};
use txcript::{Codec as _, Common, Store as _, Transcript};

use crate::measure::peak_kb;

type Said = Result<String, Box<dyn Error>>;

/// Runs a job and prints its figures.
pub fn run(side: &str, job: &str, path: &Path) -> ExitCode {
    if job == "metadata" {
        // One thread is what is measured.
        let _ = rayon::ThreadPoolBuilder::new().num_threads(1).build_global();
    }
    let cache = tempfile::tempdir().ok();
    let cache = cache.as_ref().map(|dir| dir.path());
    if (side, job) == ("ibid", "discover-again")
        && let Err(error) = ibid("discover-again", path, cache)
    {
        eprintln!("{error}");
        return ExitCode::FAILURE;
    }
    let start = Instant::now();
    let said = match side {
        "ibid" => ibid(job, path, cache),
        _ => txcript(job, path),
    };
    let seconds = start.elapsed().as_secs_f64();
    match said {
        Ok(said) => {
            println!("{seconds} {} {said}", peak_kb());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn ibid(job: &str, path: &Path, cache: Option<&Path>) -> Said {
    let machine = Surroundings::isolated(path);
    let limits = Limits::default();
    let context = Context { machine: &machine, limits: &limits };
    let claude = find("claude-code").ok_or("no Claude Code")?;
    let codex = find("codex").ok_or("no Codex")?;
    let one = || -> Result<_, Box<dyn Error>> {
        let (_, listed) = listed_at(path, &[claude])?.ok_or("not a session")?;
        Ok(listed)
    };
    match job {
        "metadata" => {
            let found = claude.describe(&one()?, &context)?;
            Ok(format!("updated {}", found.meta.updated.map(|at| at.to_string()).unwrap_or_default()))
        }
        "load" => {
            let common = claude.load(&one()?.reference, &context)?.to_common()?;
            Ok(format!(
                "{} messages of {} model calls",
                common.session.messages.len(),
                common.session.calls.len()
            ))
        }
        "convert" => {
            let common = claude.load(&one()?.reference, &context)?.to_common()?;
            let made = codex.from_common(&common.session, &Target::default())?;
            let carriers = made.value.carriers();
            let bytes = carriers.iter().filter_map(|carrier| carrier.info.bytes).sum::<u64>();
            Ok(format!(
                "{:.1} MB made, {} kinds of loss named",
                bytes as f64 / 1e6,
                made.losses.iter().count()
            ))
        }
        "discover-claude" => Ok(found(&[claude], &machine, &limits, None)),
        "discover" => Ok(found(&[claude, codex], &machine, &limits, None)),
        "discover-again" => {
            let mut cache = DiscoveryCache::open(cache.ok_or("no cache directory")?);
            let said = found(&[claude, codex], &machine, &limits, Some(&mut cache));
            cache.store()?;
            Ok(said)
        }
        other => Err(format!("no job is called {other}").into()),
    }
}

fn found(
    harnesses: &[&'static dyn AnyHarness],
    machine: &Surroundings,
    limits: &Limits,
    cache: Option<&mut DiscoveryCache>,
) -> String {
    let found = discover(harnesses, machine, limits, cache, &Progress::default());
    format!("{} sessions", found.iter().map(|discovery| discovery.sessions.len()).sum::<usize>())
}

fn txcript(job: &str, path: &Path) -> Said {
    let project = path.parent().unwrap_or(path);
    let claude = ClaudeStore::new(path.join(".claude/projects"));
    let codex = CodexStore::new(path.join(".codex/sessions"));
    match job {
        "metadata" => {
            let found = ClaudeStore::new(project).discover()?;
            Ok(format!(
                "{} session, started {}",
                found.len(),
                found.first().map(|f| f.meta.timestamp.to_string()).unwrap_or_default()
            ))
        }
        "load" => {
            let common = load(path)?;
            Ok(format!("{} messages", common.body.len()))
        }
        "convert" => {
            let made: Transcript<Codex> = Codex::from_common(&load(path)?)?;
            let text = txcript::TextCodec::to_text(&made)?;
            Ok(format!("{:.1} MB made", text.len() as f64 / 1e6))
        }
        "discover-claude" => Ok(format!("{} sessions", claude.discover()?.len())),
        "discover" | "discover-again" => {
            Ok(format!("{} sessions", claude.discover()?.len() + codex.discover()?.len()))
        }
        other => Err(format!("no job is called {other}").into()),
    }
}

fn load(session: &Path) -> Result<Transcript<Common>, Box<dyn Error>> {
    let store = ClaudeStore::new(session.parent().unwrap_or(session));
    let native: Transcript<ClaudeCode> = store.load(&session.to_path_buf())?;
    Ok(ClaudeCode::to_common(&native)?)
}
