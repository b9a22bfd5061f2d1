//! Which sessions belong to a project.
//!
//! Each platform is searched on its own threads, within its own time, and none can harm another
//! ([`crew`]). What is found is remembered by the fingerprints of the files ([`memory`]).

mod belongs;
mod crew;
mod memory;
mod mention;
mod platform;
mod status;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use ibid_carrier::jsonl::Limits;
use ibid_harness::{AnyHarness, Surroundings};

use self::crew::Crew;
use self::memory::Memory;
use self::mention::Needles;
use self::platform::Found;
use crate::answer::{Coverage, Discovery, Observation, Summary};
use crate::artifacts::{self, Project};
use crate::ask::DiscoverParams;
use crate::host::Host;
use crate::summary::Built;
use crate::workspace::Workspace;

/// How many sessions are in an answer unless the question says.
const SESSIONS: u32 = 100;

/// How many sessions are in an answer at most.
const MOST_SESSIONS: u32 = 500;

/// The largest file that is read as a whole, in bytes, for harnesses whose files cannot be read as
/// a stream. A larger one counts as unreadable; it must not take the memory of the machine.
const WHOLE_FILE: u64 = 512 << 20;

/// How many projects are told apart in what is remembered.
const PROJECTS: usize = 16;

/// How long a discovery may take, and how long its answer may be.
#[derive(Clone, Copy, Debug)]
pub struct Budgets {
    /// How long each platform may take. All of them are searched at the same time.
    pub platform: Duration,
    /// The size of the sessions of an answer and their observations as JSON, in bytes. The first
    /// session is always part of the answer.
    pub answer: usize,
}

impl Default for Budgets {
    /// Twenty seconds, and 12 MiB: well within the minute and the 16 MiB of the protocol.
    fn default() -> Budgets {
        Budgets { platform: Duration::from_secs(20), answer: 12 << 20 }
    }
}

/// One platform of the protocol: its harness, the threads that read for it, and what they read.
pub(crate) struct Platform {
    pub(crate) rank: u8,
    pub(crate) name: &'static str,
    pub(crate) harness: &'static dyn AnyHarness,
    crew: Crew,
    memory: Mutex<Memory>,
}

impl Platform {
    pub(crate) fn of(harness: &'static dyn AnyHarness) -> Option<Platform> {
        let evidence = harness.declaration().evidence?;
        Some(Platform {
            rank: evidence.rank,
            name: evidence.name,
            harness,
            crew: Crew::default(),
            memory: Mutex::default(),
        })
    }
}

/// Numbers for the projects that were asked for last.
#[derive(Default)]
pub(crate) struct Workspaces {
    known: Mutex<(u64, Vec<(ProjectKey, u64)>)>,
}

/// The two paths of a project, by which it is told apart.
type ProjectKey = (std::path::PathBuf, Option<std::path::PathBuf>);

impl Workspaces {
    fn number(&self, workspace: &Workspace) -> u64 {
        let key = (workspace.logical().to_owned(), workspace.canonical().map(ToOwned::to_owned));
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let (last, projects) = &mut *known;
        if let Some(at) = projects.iter().position(|(project, _)| *project == key) {
            let project = projects.remove(at);
            let number = project.1;
            projects.push(project);
            return number;
        }
        *last += 1;
        let number = *last;
        projects.push((key, number));
        if projects.len() > PROJECTS {
            projects.remove(0);
        }
        number
    }
}

/// A question, as every platform needs it.
pub(crate) struct Question {
    pub(crate) machine: Surroundings,
    pub(crate) limits: Limits,
    pub(crate) workspace: Workspace,
    /// The project's number in what is remembered.
    pub(crate) project: u64,
    pub(crate) needles: Needles,
    pub(crate) sessions: usize,
    pub(crate) window: Window,
    /// When to be done with finding out which sessions belong to the project.
    pub(crate) judged_by: Instant,
    pub(crate) deadline: Instant,
}

/// The time that is asked for.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Window {
    from: Option<i64>,
    to: Option<i64>,
}

impl Window {
    fn is_set(self) -> bool {
        self.from.is_some() || self.to.is_some()
    }

    /// Whether a time lies in it. What has no time is not left out for that.
    pub(crate) fn holds(self, at: Option<ibid_model::Timestamp>) -> bool {
        let Some(at) = at.map(ibid_model::Timestamp::as_milliseconds) else { return true };
        self.from.is_none_or(|from| from <= at) && self.to.is_none_or(|to| at <= to)
    }
}

/// Searches every platform.
pub(crate) fn discover(host: &Host, workspace: Workspace, params: &DiscoverParams) -> Discovery {
    let most = params.max_sessions.unwrap_or(SESSIONS).clamp(1, MOST_SESSIONS);
    let window = Window { from: params.from_ms, to: params.to_ms };
    let now = Instant::now();
    let question = Arc::new(Question {
        machine: host.machine().clone().in_project(workspace.logical()),
        limits: Limits { file_bytes: WHOLE_FILE, ..Limits::default() },
        needles: Needles::of(&workspace),
        project: host.workspaces.number(&workspace),
        workspace,
        sessions: most as usize,
        window,
        // What hangs before this must leave time for what does not.
        judged_by: now + host.budgets.platform * 2 / 3,
        deadline: now + host.budgets.platform,
    });
    let found: Vec<Found> = std::thread::scope(|scope| {
        let searches: Vec<_> = host
            .platforms
            .iter()
            .map(|platform| {
                let question = Arc::clone(&question);
                std::thread::Builder::new()
                    .name(format!("evidence-{}", platform.name))
                    .spawn_scoped(scope, move || platform.search(&question))
            })
            .collect();
        let done = searches.into_iter().map(|search| search.ok().and_then(|search| search.join().ok()));
        done.map(|found| found.unwrap_or_else(Found::broken)).collect()
    });
    answer(host, &question, found, params)
}

/// Joins what the platforms found.
fn answer(host: &Host, question: &Question, found: Vec<Found>, params: &DiscoverParams) -> Discovery {
    let mut sessions: Vec<(usize, Arc<Built>)> = Vec::new();
    let mut in_window = 0_usize;
    for (number, found) in found.iter().enumerate() {
        in_window += found.in_window;
        sessions.extend(found.sessions.iter().map(|session| (number, Arc::clone(session))));
    }
    // What has no time stands behind; the rest is in the order of platforms and ids.
    sessions.sort_by(|(p, a), (q, b)| {
        (b.last, p, &a.summary.session_id).cmp(&(a.last, q, &b.summary.session_id))
    });
    sessions.truncate(question.sessions);
    let project = Project::of(&question.workspace);
    let mut observations: Vec<Observation> = Vec::new();
    let mut summaries: Vec<Summary> = Vec::new();
    let mut included: BTreeMap<usize, usize> = BTreeMap::new();
    let mut bytes = 0;
    for (number, session) in sessions {
        // Counted with everything that can be asked for: what is asked for changes no count.
        let (touched, size) = artifacts::of_session(&project, &session.summary);
        bytes += session.bytes + size;
        if bytes > host.budgets.answer && !summaries.is_empty() {
            break;
        }
        observations.extend(touched);
        *included.entry(number).or_default() += 1;
        summaries.push(asked_for(&session.summary, params));
    }
    artifacts::sort(&mut observations);
    let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    let names = host.platforms.iter().map(|platform| platform.name);
    let providers = names
        .zip(found)
        .enumerate()
        .map(|(at, (name, found))| status::provider(name, &found, included.get(&at).copied().unwrap_or(0)));
    Discovery {
        providers: providers.collect(),
        coverage: Coverage {
            in_window: number(in_window),
            included: number(summaries.len()),
            omitted: number(in_window.saturating_sub(summaries.len())),
            windowed: question.window.is_set(),
        },
        sessions: summaries,
        observations,
    }
}

/// A summary without what the question does not want.
// evidence defect 11
fn asked_for(summary: &Summary, params: &DiscoverParams) -> Summary {
    let mut summary = summary.clone();
    if params.include_tool_trace == Some(false) {
        summary.tool_activity = None;
    }
    if params.include_dialogue == Some(false) {
        summary.dialogue = None;
    }
    summary
}
