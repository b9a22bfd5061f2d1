//! What every command needs to know of the machine, and the ways to sessions.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use clap::builder::{PossibleValue, TypedValueParser as _};
use ibid_carrier::fingerprint::Fingerprint;
use ibid_carrier::jsonl::Limits;
use ibid_carrier::plan::{Engine, Outcome};
use ibid_harness::{
    AnyHarness, AnyTranscript, Class, Context, Declaration, Discovered, Discovery, DiscoveryCache, Listed,
    Progress, Reference, Resolution, SessionName, Surroundings, discover, resolve,
};
use ibid_model::{Finding, Severity};

use crate::config::Config;
use crate::exit::Failure;
use crate::output;
use crate::table::counted;

/// Arguments that every command takes.
#[derive(Debug, clap::Args)]
pub(crate) struct GlobalArguments {
    /// Take this directory as the home, for every agent and for Ibid itself; variables such as
    /// CODEX_HOME are then ignored
    // Clap's own parser of paths refuses a blank variable.
    #[arg(long, global = true, env = "IBID_HOME", value_name = "DIR",
        value_parser = clap::builder::OsStringValueParser::new().map(PathBuf::from))]
    home: Option<PathBuf>,

    /// Look for a harness's sessions in one more directory
    #[arg(long, global = true, value_name = "HARNESS=DIR", value_parser = parse_root)]
    root: Vec<(String, PathBuf)>,

    /// Print one JSON object
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// A parser of harness names, for completions and help. What it takes is looked up later, aliases
/// and all.
#[derive(Clone)]
pub(crate) struct HarnessName {
    /// Which harnesses are offered.
    pub(crate) offered: fn(&Declaration) -> bool,
}

impl clap::builder::TypedValueParser for HarnessName {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &std::ffi::OsStr,
    ) -> Result<String, clap::Error> {
        clap::builder::NonEmptyStringValueParser::new().parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let declarations = ibid_harness::all().iter().map(|harness| harness.declaration());
        let fits = |declaration: &&'static Declaration| (self.offered)(declaration);
        Some(Box::new(
            declarations.filter(fits).map(|declaration| PossibleValue::new(declaration.id.as_str())),
        ))
    }
}

fn parse_root(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((harness, dir)) if !harness.is_empty() && !dir.is_empty() => {
            Ok((harness.to_owned(), PathBuf::from(dir)))
        }
        _ => Err("write it as HARNESS=DIR, for example codex=/backup/.codex/sessions".to_owned()),
    }
}

/// The machine, as the arguments say.
#[derive(Debug)]
pub(crate) struct Machine {
    pub(crate) surroundings: Surroundings,
    pub(crate) config: Config,
    limits: Limits,
    pub(crate) json: bool,
    /// Whether `--home` (or IBID_HOME) named the home.
    pub(crate) isolated: bool,
}

impl Machine {
    /// # Errors
    /// When there is no home, or `--root` names no harness.
    pub(crate) fn new(arguments: &GlobalArguments) -> Result<Machine> {
        let blank = |home: &std::ffi::OsStr| home.is_empty();
        let named = match &arguments.home {
            // A blank variable is one that is not set; an option without a directory is a mistake.
            Some(home) if blank(home.as_os_str()) => {
                if !std::env::var_os("IBID_HOME").is_some_and(|home| blank(&home)) {
                    bail!("--home needs a directory");
                }
                None
            }
            named => named.as_ref(),
        };
        let mut surroundings = match named {
            Some(home) => {
                let home =
                    std::path::absolute(home).with_context(|| format!("{} is no path", home.display()))?;
                if !home.exists() {
                    output::note(&format!(
                        "There is no directory {} (the home that you named).",
                        home.display()
                    ));
                }
                Surroundings::isolated(home)
            }
            None => {
                let here = Surroundings::of_this_machine()
                    .context("no home directory is known; set HOME, or give --home DIR")?;
                // What lies in the project is no part of a home that was named.
                match std::env::current_dir() {
                    Ok(project) => here.in_project(project),
                    Err(_) => here,
                }
            }
        };
        let config = Config::read(surroundings.config_dir(), surroundings.home())?;
        for (id, dir) in &config.roots {
            surroundings = surroundings.with_root(*id, dir.clone());
        }
        for (name, dir) in &arguments.root {
            let dir = std::path::absolute(dir).with_context(|| format!("{} is no path", dir.display()))?;
            surroundings = surroundings.with_root(harness(name)?.declaration().id, dir);
        }
        let settings = config.roots.iter().map(|(_, dir)| dir.clone());
        let options = arguments.root.iter().filter_map(|(_, dir)| std::path::absolute(dir).ok());
        for dir in settings.chain(options).filter(|dir| !dir.exists()) {
            output::note(&format!("There is no store at {} (named by you).", dir.display()));
        }
        let isolated = named.is_some();
        Ok(Machine { surroundings, config, limits: Limits::default(), json: arguments.json, isolated })
    }

    /// The machine of a home that was made for one purpose, whatever the arguments say.
    pub(crate) fn of_home(home: &Path) -> Machine {
        Machine {
            surroundings: Surroundings::isolated(home),
            config: Config::default(),
            limits: Limits::default(),
            json: false,
            isolated: true,
        }
    }

    pub(crate) fn context(&self) -> Context<'_> {
        Context { machine: &self.surroundings, limits: &self.limits }
    }

    pub(crate) fn engine(&self) -> Engine {
        Engine::new(self.surroundings.data_dir()).with_cache(self.surroundings.cache_dir())
    }

    /// Finishes or undoes what an earlier run of Ibid left half done, and says so. A command that
    /// writes does this before it looks at the stores: else it would take half a write for a
    /// session that is there, and refuse or build on it.
    ///
    /// # Errors
    /// When another process of Ibid is writing all the while, or the journal cannot be read.
    pub(crate) fn settle(&self) -> Result<()> {
        for settled in self.engine().settle()? {
            let done = match &settled.outcome {
                Outcome::Completed => "finished",
                Outcome::Undone => "undone",
                Outcome::Stuck(_) => {
                    output::note("A write that was cut off could not be undone; see `ibid doctor`.");
                    continue;
                }
            };
            output::note(&format!("An earlier write that was cut off has been {done} first."));
        }
        Ok(())
    }

    /// Finds the sessions of these harnesses, with a progress bar when it takes long.
    pub(crate) fn discover(&self, harnesses: &[&'static dyn AnyHarness]) -> Vec<Discovery> {
        let mut cache = DiscoveryCache::open(self.surroundings.cache_dir());
        let progress = Progress::default();
        let found = output::with_progress("reading sessions", &progress, || {
            discover(harnesses, &self.surroundings, &self.limits, Some(&mut cache), &progress)
        });
        // A cache that cannot be written costs time, and nothing else.
        let _ = cache.store();
        found
    }

    /// The one session that a name means. A path that exists is taken first.
    ///
    /// # Errors
    /// When there is none or more than one; the message lists the candidates.
    pub(crate) fn find(&self, name: &str) -> Result<Found> {
        let name = SessionName::parse(name)?;
        let harnesses: Vec<&'static dyn AnyHarness> = match name.harness {
            Some(id) => ibid_harness::find(id.as_str()).into_iter().collect(),
            None => ibid_harness::all().to_vec(),
        };
        if let Some(path) = name.as_existing_path()
            && path.is_file()
        {
            return self.open_path(&path, &name, &harnesses);
        }
        let discoveries = self.discover(&harnesses);
        let sessions = discoveries.iter().flat_map(|discovery| &discovery.sessions);
        let listed: Vec<&Discovered> = sessions.filter(|session| is_listed(session)).collect();
        let resolution = match resolve(&name, listed.iter().copied()) {
            Resolution::Nothing => by_parts(&name, &listed),
            found => found,
        };
        match resolution {
            Resolution::One(session) => {
                let harness = by_id(session)?;
                Ok(Found { harness, session: session.clone(), name })
            }
            Resolution::Nothing => Err(Failure::nothing_found(nothing(&name.text, &discoveries)).into()),
            Resolution::Ambiguous(candidates) => match leading(&candidates) {
                Some(session) => Ok(Found { harness: by_id(session)?, session: session.clone(), name }),
                None => bail!(output::candidates(&name.text, &candidates)),
            },
        }
    }

    /// The session in a file. One that lies in a store is found there, so that its companions are
    /// known too.
    fn open_path(
        &self,
        path: &Path,
        name: &SessionName,
        harnesses: &[&'static dyn AnyHarness],
    ) -> Result<Found> {
        let path = std::path::absolute(path)?;
        let real = path.canonicalize().with_context(|| format!("{} cannot be read", path.display()))?;
        for harness in harnesses {
            let stored = self.in_stores(*harness, &real);
            match stored.as_slice() {
                [] => {}
                [one] => {
                    let session = harness.describe(one, &self.context())?;
                    return Ok(Found { harness: *harness, session, name: name.clone() });
                }
                several => {
                    let described = several.iter().filter_map(|l| harness.describe(l, &self.context()).ok());
                    let sessions: Vec<Discovered> = described.collect();
                    let candidates: Vec<&Discovered> = sessions.iter().collect();
                    bail!(output::candidates(&name.text, &candidates));
                }
            }
        }
        let recognised = ibid_harness::listed_at(&path, harnesses)
            .with_context(|| format!("{} cannot be read", path.display()))?;
        let (harness, listed) = recognised
            .or(match (name.harness, harnesses) {
                // Whoever names the harness knows better than a file name does.
                (Some(_), [harness]) => Some((*harness, listed_as(*harness, &path)?)),
                _ => None,
            })
            .ok_or_else(|| {
                Failure::nothing_found(format!(
                    "{} is not a session of any harness Ibid knows; put `harness:` before the path to try one",
                    path.display()
                ))
            })?;
        let session = harness.describe(&listed, &self.context())?;
        Ok(Found { harness, session, name: name.clone() })
    }

    /// The sessions of a harness whose file this is.
    fn in_stores(&self, harness: &dyn AnyHarness, real: &Path) -> Vec<Listed> {
        let roots = harness.roots(&self.surroundings);
        let holding =
            roots.iter().filter(|root| root.path.canonicalize().is_ok_and(|root| real.starts_with(root)));
        let is_it = |listed: &Listed| {
            listed.reference.path.file_name() == real.file_name()
                && listed.reference.path.canonicalize().is_ok_and(|path| path == real)
        };
        holding.flat_map(|root| harness.list(root, &self.context()).sessions).filter(is_it).collect()
    }

    /// What a list would show of a session that is known by its reference.
    ///
    /// # Errors
    /// When it is not there or cannot be read.
    pub(crate) fn describe(&self, harness: &dyn AnyHarness, reference: &Reference) -> Result<Discovered> {
        let mut fingerprints = harness.fingerprints(std::slice::from_ref(reference), &self.context());
        let fingerprint = fingerprints.pop().context("the harness has no fingerprint of it")??;
        let bytes = std::fs::metadata(&reference.path).map_or(0, |metadata| metadata.len());
        let listed = Listed { reference: reference.clone(), fingerprint, bytes };
        Ok(harness.describe(&listed, &self.context())?)
    }

    /// The subagents of a session, as a list would show them. One that cannot be read is left out
    /// here and named among the findings of its root.
    pub(crate) fn children(&self, found: &Found) -> Vec<Discovered> {
        let references = found.harness.children(&found.session.reference, &self.context());
        references.iter().filter_map(|reference| self.describe(found.harness, reference).ok()).collect()
    }

    /// Reads a session whole.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(crate) fn load(&self, found: &Found) -> Result<AnyTranscript> {
        let load = || found.harness.load(&found.session.reference, &self.context());
        Ok(output::with_patience("reading the session", load)?)
    }
}

/// The subagent that a name means which is shortened before its slash too, as lists show it.
fn by_parts<'a>(name: &SessionName, sessions: &[&'a Discovered]) -> Resolution<'a> {
    let Some((whole, part)) = name.text.split_once('/') else { return Resolution::Nothing };
    let whole = whole.trim_end_matches(['…', '.']);
    if whole.is_empty() || part.is_empty() {
        return Resolution::Nothing;
    }
    let fits = |session: &&Discovered| {
        name.harness.is_none_or(|harness| session.reference.harness == harness)
            && session
                .id
                .as_str()
                .split_once('/')
                .is_some_and(|(own, rest)| own.starts_with(whole) && rest.starts_with(part))
    };
    let found: Vec<&Discovered> = sessions.iter().copied().filter(fits).collect();
    match found.as_slice() {
        [] => Resolution::Nothing,
        [one] => Resolution::One(one),
        _ => Resolution::Ambiguous(found),
    }
}

/// A file as a session of a harness, whatever it looks like.
fn listed_as(harness: &dyn AnyHarness, path: &Path) -> Result<Listed> {
    let fingerprint = Fingerprint::of_file(path)?;
    let bytes = std::fs::metadata(path)?.len();
    let root = path.parent().unwrap_or(path).to_owned();
    let reference = Reference { harness: harness.declaration().id, root, path: path.to_owned(), key: None };
    Ok(Listed { reference, fingerprint, bytes })
}

/// A session that a name meant.
#[derive(Clone)]
pub(crate) struct Found {
    pub(crate) harness: &'static dyn AnyHarness,
    pub(crate) session: Discovered,
    pub(crate) name: SessionName,
}

/// The one candidate whose subagents all the others are. Lists fold them under it, and so does its
/// name.
fn leading<'a>(candidates: &[&'a Discovered]) -> Option<&'a Discovered> {
    let is_part = |session: &Discovered| {
        session.class == Class::Sidecar
            && candidates.iter().any(|other| {
                other.reference.harness == session.reference.harness
                    && session.lineage.iter().any(|lineage| lineage.parent.as_ref() == Some(&other.id))
            })
    };
    let mut leading = candidates.iter().filter(|session| !is_part(session));
    match (leading.next(), leading.next()) {
        (Some(one), None) => Some(one),
        _ => None,
    }
}

/// Whether lists show it.
pub(crate) fn is_listed(session: &Discovered) -> bool {
    matches!(session.class, Class::Session | Class::Sidecar | Class::Partial)
}

/// The harness of a session.
///
/// # Errors
/// Never for a session that discovery found.
pub(crate) fn by_id(session: &Discovered) -> Result<&'static dyn AnyHarness> {
    harness(session.reference.harness.as_str())
}

/// The harness of a name.
///
/// # Errors
/// When there is none; the message lists those there are.
pub(crate) fn harness(name: &str) -> Result<&'static dyn AnyHarness> {
    ibid_harness::find(name).with_context(|| {
        let known: Vec<&str> = ibid_harness::all().iter().map(|h| h.declaration().id.as_str()).collect();
        format!("no harness is called {name}; there are {}", known.join(", "))
    })
}

/// The ids of the harnesses of which this holds, for a message that names the choice.
pub(crate) fn ids_of(holds: impl Fn(&'static dyn AnyHarness) -> bool) -> String {
    let ids = ibid_harness::all().iter().filter(|harness| holds(**harness));
    ids.map(|harness| harness.declaration().id.as_str()).collect::<Vec<_>>().join(", ")
}

/// What a look at the machine could not read.
pub(crate) struct Unread<'a> {
    /// Places: roots, directories and databases.
    pub(crate) places: Vec<&'a Finding>,
    /// What could not be read of sessions, and of files that are none as far as could be read.
    pub(crate) parts: Vec<Finding>,
    sessions: u64,
}

impl<'a> Unread<'a> {
    /// What these discoveries could not read.
    pub(crate) fn of(discoveries: &'a [Discovery]) -> Unread<'a> {
        let mut unread = Unread {
            places: discoveries.iter().flat_map(|discovery| &discovery.findings).collect(),
            parts: Vec::new(),
            sessions: 0,
        };
        for session in discoveries.iter().flat_map(|discovery| &discovery.sessions) {
            let before = unread.parts.len();
            let errors = session.findings.iter().filter(|finding| finding.severity() == Severity::Error);
            unread.parts.extend(errors.cloned().map(|finding| match finding.path {
                Some(_) => finding,
                None => finding.at_path(&session.reference.path),
            }));
            unread.sessions += u64::from(unread.parts.len() > before);
        }
        unread
    }

    /// Whether everything was read that Ibid reads.
    pub(crate) fn is_empty(&self) -> bool {
        self.failed_places() == 0 && self.parts.is_empty()
    }

    /// How many places should have been read and were not. That a store is there which Ibid does
    /// not read at all is a note.
    fn failed_places(&self) -> u64 {
        self.places.iter().filter(|finding| finding.severity() > Severity::Note).count() as u64
    }

    /// How much it is; none when everything was read.
    pub(crate) fn sentence(&self) -> Option<String> {
        let places = self.failed_places();
        let places = (places > 0).then(|| format!("{} could not be read", counted(places, "place")));
        let sessions = match self.sessions {
            0 => None,
            1 => Some("1 session has parts that could not be read".to_owned()),
            count => Some(format!("{count} sessions have parts that could not be read")),
        };
        let parts: Vec<String> = places.into_iter().chain(sessions).collect();
        (!parts.is_empty()).then(|| format!("{}; `ibid doctor` names them", parts.join(", and ")))
    }
}

fn nothing(name: &str, discoveries: &[Discovery]) -> String {
    let sessions = discoveries.iter().flat_map(|discovery| &discovery.sessions);
    let searched = sessions.filter(|session| is_listed(session)).count();
    let name = output::clean_line(name);
    let of = match discoveries.iter().map(|discovery| discovery.harness).collect::<HashSet<_>>().len() {
        1 => discoveries.first().map(|one| format!(" --harness {}", one.harness)).unwrap_or_default(),
        _ => String::new(),
    };
    let mut message =
        format!("no session is called `{name}` among the {searched} that `ibid list --all{of}` shows");
    if let Some(unread) = Unread::of(discoveries).sentence() {
        message.push_str(&format!("; {unread}"));
    }
    message
}
