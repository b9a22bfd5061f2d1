//! Which files of a project sessions touched.
//!
//! An observation names a file that is there now: a regular file inside the project, with one
//! name only, reached without leaving the project, and nothing of a `.git` directory. What is
//! observed of a summary does not depend on where the summary comes from, so that what a client
//! sends back is looked at in the same way, and as strictly.

mod confined;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use ibid_model::Timestamp;

pub(crate) use self::confined::Project;
use crate::answer::{Access, Family, Observation, Summary, ToolCall};
use crate::summary::shown_prompt;
use crate::workspace::Workspace;

/// The longest id of a session that is taken from a client, in bytes.
const LONGEST_ID: usize = 4 << 10;

/// How much of an id stands in the name of a session without prompts, in characters.
const NAMED_BY: usize = 12;

/// The most bytes of one session's observations, as JSON: thirty thousand files and more.
const SESSION: usize = 6 << 20;

/// The most bytes of the observations in one answer, as JSON.
const ANSWER: usize = 15 << 20;

/// The observations of summaries, as many as fit in an answer.
pub(crate) fn observe(workspace: &Workspace, sessions: &[Summary]) -> Vec<Observation> {
    let project = Project::of(workspace);
    let mut found: BTreeMap<(String, String), Observation> = BTreeMap::new();
    let mut bytes = 0;
    for session in sessions {
        let (touched, size) = of_session(&project, session);
        bytes += size;
        if bytes > ANSWER {
            break;
        }
        for observation in touched {
            let key = (observation.session_id.clone(), observation.relative_path.clone());
            match found.entry(key) {
                Entry::Vacant(entry) => {
                    entry.insert(observation);
                }
                // A client may send a session twice.
                Entry::Occupied(mut entry) => {
                    let known = entry.get_mut();
                    known.access = known.access.max(observation.access);
                    known.saved_at = std::mem::take(&mut known.saved_at).max(observation.saved_at);
                }
            }
        }
    }
    let mut observations: Vec<Observation> = found.into_values().collect();
    sort(&mut observations);
    observations
}

/// The order of an answer: last saved first, then by path, then by session.
pub(crate) fn sort(observations: &mut [Observation]) {
    observations.sort_by(|a, b| {
        (&b.saved_at, &a.relative_path, &a.session_id).cmp(&(&a.saved_at, &b.relative_path, &b.session_id))
    });
}

/// The observations of one session, each file once, and their size as JSON. Those beyond
/// what a session may have are left out.
pub(crate) fn of_session(project: &Project, session: &Summary) -> (Vec<Observation>, usize) {
    let mut observations = Vec::new();
    let mut bytes = 0;
    let Some(saved_at) = saved_at(session) else { return (observations, bytes) };
    let (id, platform) = (&session.session_id, &session.platform);
    if id.is_empty() || platform.is_empty() || id.len() + platform.len() > LONGEST_ID {
        return (observations, bytes);
    }
    let mut touched: BTreeMap<&str, Access> = BTreeMap::new();
    for call in session.tool_activity.iter().flat_map(|activity| &activity.calls) {
        let access = access(call);
        for path in call.file_paths.iter().chain(&call.file_path) {
            let known = touched.entry(path).or_insert(access);
            *known = (*known).max(access);
        }
    }
    let prompt = prompt(session);
    for (path, access) in touched {
        if !project.has_file(path) {
            continue;
        }
        let observation = Observation {
            relative_path: path.to_owned(),
            session_id: format!("{platform}:{id}"),
            saved_at: saved_at.clone(),
            prompt: prompt.clone(),
            provider: Some(platform.clone()),
            access,
        };
        let size = serde_json::to_vec(&observation).map_or(0, |json| json.len() + 1);
        if bytes + size > SESSION {
            break;
        }
        bytes += size;
        observations.push(observation);
    }
    (observations, bytes)
}

/// The session's last time, else its first; none when neither is a time.
fn saved_at(session: &Summary) -> Option<String> {
    let times = [&session.last_seen, &session.first_seen];
    let read = times.into_iter().flatten().find_map(|time| Timestamp::parse(time));
    read.map(Timestamp::to_iso_milliseconds)
}

/// What a call did to the files that it names. A client may have dropped the key.
fn access(call: &ToolCall) -> Access {
    let by_family = if call.family == Family::Change { Access::Change } else { Access::Read };
    call.access.unwrap_or(by_family)
}

/// The first prompt, else a name.
fn prompt(session: &Summary) -> String {
    let first = session.prompts.first().map(|prompt| shown_prompt(prompt.text.trim()));
    first.filter(|prompt| !prompt.is_empty()).unwrap_or_else(|| {
        let id: String = session.session_id.chars().take(NAMED_BY).collect();
        format!("{} Session {id}", session.platform)
    })
}
