//! What the lanes have of one session: the stored session with its subagents, and the observations
//! of it in the journal.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use ibid_capture::join::{self, AtRest, Availability, Explained, Lifecycle, Sighting};
use ibid_capture::journal::{Entry, Filter, Journal, Kept};
use ibid_harness::{CaptureProfile, Discovered, profiles};
use ibid_model::{Finding, FindingKind, Lineage, Relation, Session, SessionId, Source, Text};

use crate::machine::{Found, Machine};

/// Subagents of subagents are followed this far.
const DEPTH: usize = 16;

/// More subagents than this are not read.
const SUBAGENTS: usize = 4_096;

/// The lanes of one session, as far as they were read.
pub(crate) struct Lanes {
    subagents: Vec<Session>,
    root: SessionId,
    agent: Vec<Text>,
    lifecycle: Lifecycle,
}

impl Lanes {
    /// Reads the journal, and the subagents whole. What could not be read of those comes back with
    /// it.
    pub(crate) fn of(machine: &Machine, found: &Found, session: &Session) -> (Lanes, Vec<Finding>) {
        let (root, agent) = identity(machine, found, session);
        let lifecycle = lifecycle(machine, found, &root);
        let (subagents, findings) = subagents(machine, found);
        (Lanes { subagents, root, agent, lifecycle }, findings)
    }

    /// Reads the journal alone; of the subagents it knows what a list shows. None when there is
    /// nothing of the session in the journal.
    pub(crate) fn at_a_glance(
        machine: &Machine,
        found: &Found,
        session: &Session,
        children: &[Discovered],
    ) -> Option<Lanes> {
        if !Journal::new(machine.surroundings.data_dir()).path().exists() {
            return None;
        }
        let (root, agent) = identity(machine, found, session);
        let lifecycle = lifecycle(machine, found, &root);
        if lifecycle.sightings.is_empty() {
            return None;
        }
        let subagents = children.iter().map(as_listed).collect();
        Some(Lanes { subagents, root, agent, lifecycle })
    }

    /// What they say together. `places` are records that say what no message does.
    pub(crate) fn explain(
        &self,
        session: &Session,
        findings: &[Finding],
        places: &BTreeMap<Text, Source>,
    ) -> Explained {
        let resolved = self.resolved(session);
        let rest = AtRest {
            session,
            subagents: &self.subagents,
            root: &self.root,
            agent: &self.agent,
            findings,
            places,
            resolved: &resolved,
        };
        join::explain(&rest, &self.lifecycle)
    }

    /// Where the paths that either lane names lead.
    fn resolved(&self, session: &Session) -> BTreeMap<Text, Text> {
        let mut paths: BTreeSet<&Text> = session.meta.cwd.iter().collect();
        paths.extend(session.messages.iter().filter_map(|message| message.cwd.as_ref()));
        for stored in std::iter::once(session).chain(&self.subagents) {
            paths.extend(stored.carriers.iter().map(|carrier| &carrier.path));
        }
        for observation in self.lifecycle.sightings.iter().map(|sighting| &sighting.observation) {
            let agent = observation.agent.as_ref().and_then(|agent| agent.transcript_path.as_ref());
            paths.extend(
                [observation.cwd.as_ref(), observation.transcript_path.as_ref(), agent].into_iter().flatten(),
            );
        }
        let real = |path: &Text| {
            let real = Path::new(path.as_str()).canonicalize().ok()?;
            Some((path.clone(), Text::from(real.to_str()?)))
        };
        paths.into_iter().filter_map(real).collect()
    }
}

/// The programs that write this harness's sessions and announce what they do.
fn announcing(found: &Found) -> Vec<&'static CaptureProfile> {
    let own = found.harness.declaration().id;
    profiles()
        .filter(|(id, profile)| *id == own && profile.lifecycle.is_some())
        .map(|(_, profile)| profile)
        .collect()
}

fn spawned(lineage: &[Lineage]) -> Option<&Lineage> {
    lineage.iter().find(|lineage| lineage.relation == Relation::Spawned)
}

/// The id that observations name, and for a subagent the ids that they may give it.
fn identity(machine: &Machine, found: &Found, session: &Session) -> (SessionId, Vec<Text>) {
    let Some(lineage) = spawned(&session.lineage) else { return (session.id.clone(), Vec::new()) };
    let mut agent = vec![session.id.text().clone()];
    agent.extend(lineage.agent.clone());
    let Some(mut root) = lineage.parent.clone() else { return (session.id.clone(), agent) };
    // The parent may be a subagent itself.
    let discovered = machine.discover(&[found.harness]);
    let sessions: Vec<&Discovered> = discovered.iter().flat_map(|found| &found.sessions).collect();
    for _ in 0..DEPTH {
        let parent = sessions.iter().find(|other| other.id == root);
        match parent.and_then(|parent| spawned(&parent.lineage)).and_then(|lineage| lineage.parent.clone()) {
            Some(next) => root = next,
            None => break,
        }
    }
    (root, agent)
}

/// The subagents of a session and theirs, read whole.
fn subagents(machine: &Machine, found: &Found) -> (Vec<Session>, Vec<Finding>) {
    let (mut sessions, mut findings) = (Vec::new(), Vec::new());
    let mut known =
        BTreeSet::from([(found.session.reference.path.clone(), found.session.reference.key.clone())]);
    let mut level = vec![found.session.reference.clone()];
    for _ in 0..DEPTH {
        let children = level.iter().flat_map(|parent| found.harness.children(parent, &machine.context()));
        level = children.filter(|child| known.insert((child.path.clone(), child.key.clone()))).collect();
        for child in &level {
            if sessions.len() >= SUBAGENTS {
                let detail = format!("more than {SUBAGENTS} subagents; the rest was not read");
                findings.push(Finding::new(FindingKind::Oversize, detail));
                return (sessions, findings);
            }
            match found.harness.load(child, &machine.context()).and_then(|read| Ok(read.to_common()?)) {
                Ok(common) => sessions.push(common.session),
                Err(_) => {
                    let detail = "a subagent could not be read";
                    findings.push(Finding::new(FindingKind::Unreadable, detail).at_path(&child.path));
                }
            }
        }
    }
    (sessions, findings)
}

/// A subagent as a list knows it.
fn as_listed(child: &Discovered) -> Session {
    let mut session = Session::new(child.reference.harness.as_str(), child.id.clone());
    session.meta = child.meta.clone();
    session.lineage.clone_from(&child.lineage);
    session.carriers.clone_from(&child.carriers);
    session
}

/// The observations of a session.
fn lifecycle(machine: &Machine, found: &Found, root: &SessionId) -> Lifecycle {
    let programs = announcing(found);
    if programs.is_empty() {
        return Lifecycle { availability: Availability::NoLane, ..Lifecycle::default() };
    }
    let data = machine.surroundings.data_dir();
    let installed = programs.iter().any(|profile| data.join("plugins").join(profile.id).exists());
    let journal = Journal::new(data);
    let ids = programs.iter().flat_map(|profile| std::iter::once(&profile.id).chain(profile.aliases));
    let reading = journal.read(&Filter::session(root.as_str()).of(ids.copied()));
    let availability = match (reading.entries.is_empty(), installed) {
        (true, false) if reading.findings.is_empty() => Availability::NotInstalled,
        (true, _) if !reading.findings.is_empty() => Availability::Unreadable,
        _ => Availability::Open,
    };
    let mut lifecycle = Lifecycle {
        availability,
        rotated_away: reading.removed.segments > 0,
        findings: reading.findings,
        ..Lifecycle::default()
    };
    for kept in reading.entries {
        match sighting(&programs, &kept) {
            Some(Ok(sighting)) => lifecycle.sightings.push(sighting),
            Some(Err(finding)) => lifecycle.findings.push(finding),
            None => {}
        }
    }
    lifecycle
}

/// The observation of an entry, in the form that all harnesses share.
fn sighting(programs: &[&'static CaptureProfile], kept: &Kept) -> Option<Result<Sighting, Finding>> {
    let Entry::Observed(observed) = &kept.entry else { return None };
    let is_it = |profile: &&&CaptureProfile| {
        profile.id == observed.program || profile.aliases.contains(&observed.program.as_str())
    };
    let lifecycle = programs.iter().find(is_it)?.lifecycle?;
    Some(match (lifecycle.kept)(observed.observation.get()) {
        Some(observation) => Ok(Sighting {
            at: observed.at,
            program: observed.program.as_str().into(),
            place: Some(kept.place.clone()),
            observation,
        }),
        None => {
            let detail = "an observation in a form that this Ibid does not know";
            let finding = Finding::new(FindingKind::MalformedRecord, detail).at_path(&kept.place.path);
            Err(finding.at_bytes(kept.place.start, kept.place.end))
        }
    })
}
