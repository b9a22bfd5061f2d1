//! The full read: the log of an agent and the state of its session as one common session.

use ibid_model::{
    Finding, FindingKind, Lineage, Origin, Relation, Session, SessionId, Text, Timestamp, TitleOrigin,
};

use super::place::{self, MAIN, STATE, WIRE};
use super::reader::{Read, read};
use super::wire::{Line, Place, time};
use crate::core::{CodecError, Common};
use crate::families::files::{FilesBody, SessionFile};
use crate::families::loose::Loose;

/// What the program calls a session that has no title.
const UNTITLED: &str = "New Session";

/// Reads a session.
pub(super) fn to_common(id: &SessionId, body: &FilesBody) -> Result<Common, CodecError> {
    let mut findings = Vec::new();
    let state = state(body, &mut findings);
    let lines = lines(body, &mut findings);
    if lines.iter().all(|(_, line)| !line.is_known()) {
        if body.file(WIRE).is_some() {
            let reason = "none of its lines is one that it writes".to_owned();
            return Err(CodecError::Foreign { harness: "Kimi Code", reason });
        }
        let detail = "a session is described, and its log is not there";
        findings.push(Finding::new(FindingKind::MissingTranscript, detail));
    }
    let path = body.file(WIRE).and_then(|(_, file)| file.path.as_deref());
    let subagent = path.and_then(place::of).is_some_and(|place| place.agent != MAIN);
    let Read { messages, head, events, compactions, calls, findings: found, cwd } = read(&lines, subagent);
    findings.extend(found.into_iter().map(|finding| match path {
        Some(path) => finding.at_path(path),
        None => finding,
    }));
    let mut session = Session::new("kimi", id.clone());
    session.carriers = body.infos();
    session.messages = messages;
    session.head = head;
    session.events = events;
    session.compactions = compactions;
    session.calls = calls;
    session.meta.cwd = cwd;
    let times = lines.iter().filter_map(|(_, line)| line.at).collect();
    describe(state.as_ref(), body, times, &mut session, &mut findings);
    let talk = session.messages.iter().any(|message| message.origin != Origin::Harness);
    if !talk && lines.iter().any(|(_, line)| line.is_mirror()) {
        findings.push(Finding::new(FindingKind::NoTurns, "lines, but no message of a person or a model"));
    }
    Ok(Common { session, findings })
}

fn state(body: &FilesBody, findings: &mut Vec<Finding>) -> Option<Loose> {
    let Some((_, file)) = body.file(STATE) else {
        let detail = format!("{STATE} is not there");
        findings.push(Finding::new(FindingKind::MissingHeader, detail));
        return None;
    };
    let read = file.document.text().and_then(Loose::of);
    if read.is_none() {
        let finding = Finding::new(FindingKind::NotJson, format!("{STATE} is no JSON object"));
        findings.push(match &file.path {
            Some(path) => finding.at_path(path),
            None => finding,
        });
    }
    read
}

fn lines(body: &FilesBody, findings: &mut Vec<Finding>) -> Vec<(Place, Line)> {
    let Some((carrier, file)) = body.file(WIRE) else { return Vec::new() };
    let records = file.document.read_records(Line::read);
    findings.extend(file.document.findings().iter().cloned());
    findings.extend(records.findings);
    let items = records.items.into_iter();
    items
        .map(|item| (Place { carrier, line: item.line, start: item.start, end: item.end }, item.value))
        .collect()
}

/// The session and the agent that a log is of, by its place.
pub(super) fn agent_of(body: &FilesBody) -> Option<(Text, Text)> {
    let place = place::of(body.path()?)?;
    Some((place::name_of(&place.session)?, Text::from(place.agent)))
}

/// What a list shows.
fn describe(
    state: Option<&Loose>,
    body: &FilesBody,
    mut times: Vec<Timestamp>,
    session: &mut Session,
    findings: &mut Vec<Finding>,
) {
    let meta = &mut session.meta;
    let prompt = session.messages.iter().find(|message| message.is_prompt());
    if let Some(text) = prompt.and_then(|prompt| prompt.texts().find(|text| !text.is_blank())) {
        meta.offer_preview(text);
    }
    meta.model = session.messages.iter().rev().find_map(|message| message.model.clone());
    let agent = agent_of(body).filter(|(_, agent)| agent != MAIN);
    if let Some(state) = state {
        let cwd = state.some_text("cwd").or_else(|| state.some_text("workDir"));
        meta.cwd = cwd.or(meta.cwd.take());
        // The title and the times are those of the session as a whole.
        if agent.is_none() {
            meta.archived = state.read_as("archived").unwrap_or(false);
            let origin = match state.read_as("isCustomTitle") {
                Some(true) => TitleOrigin::Person,
                _ => TitleOrigin::Generated,
            };
            if let Some(title) = state.some_text("title").filter(|title| title != UNTITLED) {
                meta.offer_title(&title, origin);
            }
            for name in ["createdAt", "updatedAt"].into_iter().filter(|name| state.get(name).is_some()) {
                match time(state, name) {
                    Some(time) => times.push(time),
                    None => {
                        let detail = format!("{name} of {STATE} is no time");
                        findings.push(Finding::new(FindingKind::UnreadableTime, detail));
                    }
                }
            }
        }
    }
    if times.is_empty() {
        times.extend(body.files.iter().filter_map(SessionFile::written));
    }
    meta.started = times.iter().min().copied();
    meta.updated = times.iter().max().copied();
    if let Some((parent, agent)) = agent {
        let known = state.and_then(|state| state.object("agents")?.object(&agent)).unwrap_or_default();
        let kind = known.object("labels").and_then(|labels| labels.some_text("profileName"));
        let above = known.some_text("parentAgentId").filter(|above| above != MAIN);
        let parent = match above {
            Some(above) => super::subagent_id(&parent, &above),
            None => SessionId::from(parent),
        };
        session.lineage.push(Lineage {
            relation: Relation::Spawned,
            parent: Some(parent),
            parent_path: None,
            call: None,
            agent: Some(agent),
            agent_kind: kind,
            at: None,
        });
    }
}
