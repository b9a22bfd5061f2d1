//! The full read: the files of a session as one common session.
//!
//! `updates.jsonl` keeps the whole conversation, `chat_history.jsonl` what is left of it for the
//! model (measured, 1.0.41: a compaction replaces it). The conversation is taken from the first, and
//! from the second what only it has; it is taken from the second where the first is missing or knows
//! fewer prompts. No turn is taken from both.

use std::collections::{HashMap, HashSet};

use ibid_carrier::jsonl::Records;
use ibid_model::{
    Block, Event, EventKind, Finding, FindingKind, Lineage, Message, MessageId, ModelCall, Origin, Relation,
    Role, Session, Text, Timestamp, TitleOrigin, ToolResult, ToolUse,
};

use super::chat::{Chat, Row, UserRow};
use super::content::{exit, unwrapped, usage, usages};
use super::place::{self, CHAT, MARKER, SUMMARY, UPDATES, USAGE};
use super::tools;
use super::turns::{Reader, Turns, compaction, short};
use super::updates::{Place, Update};
use crate::core::{CodecError, Common, path_text};
use crate::families::files::{FilesBody, SessionFile};
use crate::families::loose::Loose;

/// How the summary of a compaction begins (1.0.41).
const SUMMARY_BEGINS: &str = "This session is being continued from a previous conversation";

/// Reads a session.
pub(super) fn to_common(id: &ibid_model::SessionId, body: &FilesBody) -> Result<Common, CodecError> {
    let mut findings = Vec::new();
    let summary = document(body, SUMMARY, &mut findings);
    let (updates, chat) = logs(body, &mut findings);
    if updates.as_ref().is_none_or(|(_, updates)| updates.iter().all(|(.., update)| update.is_none()))
        && chat.known() == 0
    {
        if body.file(UPDATES).is_some() || body.file(CHAT).is_some() {
            let reason = "none of its lines is one that it writes".to_owned();
            return Err(CodecError::Foreign { harness: "Grok", reason });
        }
        let detail = "a session is described, and its conversation is not there";
        findings.push(Finding::new(FindingKind::MissingTranscript, detail));
    }
    let kind = summary.as_ref().and_then(|summary| summary.text("session_kind"));
    let subagent = kind.as_deref() == Some("subagent");
    let author = if subagent { Origin::Agent } else { Origin::Person };
    let mut reader = Reader::new(id.as_str(), &chat, author);
    for (place, line, update) in updates.iter().flat_map(|(_, updates)| updates) {
        match update {
            Some(update) => reader.take(update, *place, *line),
            None => findings.push(
                Finding::new(FindingKind::MalformedRecord, "a line without an update")
                    .at_bytes(place.start, place.end)
                    .on_line(*line),
            ),
        }
    }
    let mut turns = reader.finish();
    let kept: HashSet<u64> = turns.prompts.keys().copied().collect();
    let missing = chat.prompts().difference(&kept).count();
    if turns.messages.is_empty() || missing > kept.difference(&chat.prompts()).count() {
        if !turns.messages.is_empty() {
            let detail = format!("{CHAT} has {missing} prompts that {UPDATES} lacks; it was used");
            findings.push(Finding::new(FindingKind::Variants, detail));
            turns = Turns {
                calls: turns.calls,
                events: turns.events,
                findings: turns.findings,
                ..Turns::default()
            };
            turns.calls.iter_mut().for_each(|call| call.message = None);
            turns.events.iter_mut().for_each(|event| event.after = None);
            turns.findings.retain(|finding| finding.kind == FindingKind::UnknownRecord);
        }
        read_chat(&chat, author, &mut turns);
    } else {
        add_from_chat(&chat, &mut turns);
    }
    findings.append(&mut located(turns.findings, body, UPDATES));
    findings.append(&mut located(unknown(&chat), body, CHAT));
    let mut session = Session::new("grok", id.clone());
    session.carriers = body.infos();
    session.head = turns.messages.last().map(|message| message.id.clone());
    session.messages = turns.messages;
    session.events = turns.events;
    session.compactions = turns.compactions;
    session.calls = turns.calls;
    if subagent {
        // The turn of its parent counts them too (measured, 1.0.41).
        session.calls.iter_mut().for_each(|call| call.inherited = true);
    }
    totals(body, &mut session, &mut findings);
    describe(summary.as_ref(), body, subagent, &mut session, &mut findings);
    if session.messages.iter().all(|message| message.origin == Origin::Harness) && !session.events.is_empty()
    {
        findings.push(Finding::new(FindingKind::NoTurns, "records, but no message of a person or a model"));
    }
    Ok(Common { session, findings })
}

type Updates = Vec<(Place, u64, Option<Update>)>;

/// The two logs. A log of unknown name is the one that its lines are of.
fn logs(body: &FilesBody, findings: &mut Vec<Finding>) -> (Option<(u32, Updates)>, Chat) {
    let mut reading = Vec::new();
    let updates = body.file(UPDATES).map(|(carrier, file)| {
        let records = file.document.read_records(Update::read);
        reading.extend(file.document.findings().iter().cloned());
        reading.extend(records.findings);
        let place = |start, end| Place { carrier, start, end };
        let items = records.items.into_iter();
        (carrier, items.map(|item| (place(item.start, item.end), item.line, item.value)).collect::<Updates>())
    });
    let is_chat = |updates: &(u32, Updates)| updates.1.iter().all(|(.., update)| update.is_none());
    let (chat, updates) = match (body.file(CHAT), body.file(UPDATES), updates) {
        (Some(chat), _, updates) => (Some(chat), updates),
        (None, Some(only), Some(updates)) if is_chat(&updates) => {
            reading.clear();
            (Some(only), None)
        }
        (None, _, updates) => (None, updates),
    };
    let chat = chat.map(|(carrier, file)| {
        let Records { items, findings } = file.document.read_records(Row::read);
        reading.extend(file.document.findings().iter().cloned());
        reading.extend(findings);
        Chat::new(carrier, Records { items, findings: Vec::new() })
    });
    findings.append(&mut reading);
    (updates, chat.unwrap_or_default())
}

/// A JSON document beside the logs.
fn document(body: &FilesBody, name: &str, findings: &mut Vec<Finding>) -> Option<Loose> {
    let (_, file) = body.file(name)?;
    let read = file.document.text().and_then(Loose::of);
    if read.is_none() {
        let finding = Finding::new(FindingKind::NotJson, format!("{name} is no JSON object"));
        findings.push(match &file.path {
            Some(path) => finding.at_path(path),
            None => finding,
        });
    }
    read
}

fn unknown(chat: &Chat) -> Vec<Finding> {
    let finding = |(place, line, row): &(Place, u64, Row)| match row {
        Row::Unknown(kind) => {
            let detail = format!("a row of the type {}", short(kind));
            let finding = Finding::new(FindingKind::UnknownRecord, detail);
            Some(finding.at_bytes(place.start, place.end).on_line(*line))
        }
        _ => None,
    };
    chat.rows.iter().filter_map(finding).collect()
}

/// Findings of a log with its path.
fn located(findings: Vec<Finding>, body: &FilesBody, name: &str) -> Vec<Finding> {
    match body.file(name).and_then(|(_, file)| file.path.as_deref()) {
        Some(path) => findings.into_iter().map(|finding| finding.at_path(path)).collect(),
        None => findings,
    }
}

/// Who wrote a row of type `user`, as far as the row says; none where only its text can tell.
fn author_of(row: &UserRow, author: Origin) -> Option<Origin> {
    let begins = |with: &str| {
        row.blocks
            .iter()
            .any(|block| matches!(block, Block::Text(text) if text.text.trim_start().starts_with(with)))
    };
    match (&row.synthetic, row.index) {
        (Some(_), _) if begins(SUMMARY_BEGINS) => Some(Origin::Summary),
        (Some(_), _) => Some(Origin::Harness),
        (None, Some(_)) => Some(author),
        (None, None) if begins("<user_info>") || begins("<system-reminder>") => Some(Origin::Harness),
        (None, None) => None,
    }
}

/// The blocks of a row, a prompt without its tag.
fn content(row: &UserRow, origin: Origin) -> Vec<Block> {
    let mut blocks = row.blocks.clone();
    if !matches!(origin, Origin::Harness | Origin::Summary) {
        for block in &mut blocks {
            if let Block::Text(text) = block {
                text.text = unwrapped(&text.text);
            }
        }
    }
    blocks
}

fn row_message(place: Place, role: Role, origin: Origin, blocks: Vec<Block>) -> Message {
    let mut message = Message::new(format!("chat-{}", place.start), role, origin);
    message.blocks = blocks;
    message.sources.push(place.source());
    message
}

/// The conversation from `chat_history.jsonl` alone.
fn read_chat(chat: &Chat, author: Origin, turns: &mut Turns) {
    let mut thoughts: Vec<(Place, Block)> = Vec::new();
    let mut tools_by_call: HashMap<Text, Text> = HashMap::new();
    for (place, _, row) in &chat.rows {
        let mut message = match row {
            Row::System(text) => {
                row_message(*place, Role::System, Origin::Harness, vec![Block::text(text.clone())])
            }
            Row::User(row) => {
                let origin = author_of(row, author).unwrap_or(author);
                row_message(*place, Role::User, origin, content(row, origin))
            }
            Row::Reasoning(thinking) => {
                thoughts.push((*place, Block::Thinking(thinking.clone())));
                continue;
            }
            Row::Backend(json) => {
                let other = ibid_model::OtherBlock { kind: "backend_tool_call".into(), json: json.clone() };
                thoughts.push((*place, Block::Other(other)));
                continue;
            }
            Row::Assistant(answer) => {
                let mut message = row_message(*place, Role::Assistant, Origin::Model, Vec::new());
                for (place, block) in thoughts.drain(..) {
                    message.blocks.push(block);
                    message.sources.push(place.source());
                }
                let is_empty = |block: &Block| matches!(block, Block::Text(text) if text.text.is_empty());
                message.blocks.extend(answer.text.iter().filter(|block| !is_empty(block)).cloned());
                for call in &answer.calls {
                    tools_by_call.insert(call.id.clone(), call.name.clone());
                    let (tool, extra) = tools::decode(&call.name, &call.input);
                    let (id, name) = (call.id.clone().into(), call.name.clone());
                    message.blocks.push(Block::ToolUse(ToolUse { id, name, tool, extra }));
                    if chat.result(&call.id).is_none() {
                        let detail = "a call without a result";
                        turns.findings.push(Finding::new(FindingKind::CallWithoutResult, detail));
                    }
                }
                message.model.clone_from(&answer.model);
                message
            }
            Row::Result { call, content } => {
                let name = tools_by_call.get(call);
                if name.is_none() {
                    let finding = Finding::new(FindingKind::ResultWithoutCall, "a result without a call");
                    turns.findings.push(finding.at_bytes(place.start, place.end));
                }
                let mut result = ToolResult {
                    call: call.clone().into(),
                    content: content.clone(),
                    outcome: ibid_model::Outcome::Unknown,
                    structured: None,
                };
                if name.is_some_and(|name| name.starts_with("run_terminal_c")) {
                    result.outcome = exit(&result.text());
                }
                row_message(*place, Role::User, Origin::Tools, vec![Block::ToolResult(result)])
            }
            Row::Unknown(_) => continue,
        };
        let before = turns.messages.last().map(|message| message.id.clone());
        if row.is_prompt_or_summary() {
            leave_thoughts(&mut thoughts, before.as_ref(), &mut turns.events);
        }
        if message.origin == Origin::Summary {
            let mut done = compaction(before.clone(), None, *place);
            done.summary = Some(message.id.clone());
            turns.compactions.push(done);
        }
        message.parent = before;
        turns.messages.push(message);
    }
    let last = turns.messages.last().map(|message| message.id.clone());
    leave_thoughts(&mut thoughts, last.as_ref(), &mut turns.events);
}

/// Thoughts that no answer followed are no message.
fn leave_thoughts(thoughts: &mut Vec<(Place, Block)>, after: Option<&MessageId>, events: &mut Vec<Event>) {
    for (place, block) in thoughts.drain(..) {
        let text = match block {
            Block::Thinking(thinking) => Some(thinking.text),
            _ => None,
        };
        let (kind, sources) = (EventKind::Other("reasoning".into()), vec![place.source()]);
        events.push(Event { kind, at: None, after: after.cloned(), text, json: None, sources });
    }
}

impl Row {
    fn is_prompt_or_summary(&self) -> bool {
        matches!(self, Row::User(UserRow { synthetic: None, .. }))
    }
}

/// Adds what only `chat_history.jsonl` has to the conversation of `updates.jsonl`: instructions, what
/// the program put in, the tokens of thoughts. Each row goes before the next one that both have.
fn add_from_chat(chat: &Chat, turns: &mut Turns) {
    let typed: HashSet<Text> = turns
        .messages
        .iter()
        .filter(|message| message.is_prompt())
        .flat_map(|message| message.texts().cloned().collect::<Vec<_>>())
        .collect();
    let mut waiting: Vec<Message> = Vec::new();
    let mut before: HashMap<usize, Vec<Message>> = HashMap::new();
    let mut thoughts = Vec::new();
    for (place, _, row) in &chat.rows {
        let both = match row {
            Row::System(text) => {
                let message =
                    row_message(*place, Role::System, Origin::Harness, vec![Block::text(text.clone())]);
                before.entry(0).or_default().push(message);
                continue;
            }
            Row::User(row) => {
                let known = row.index.and_then(|index| turns.prompts.get(&index)).copied();
                let put_in = |at: &usize| {
                    turns.messages.get(*at).is_some_and(|message| message.origin == Origin::Harness)
                };
                match known.filter(|at| row.synthetic.is_none() || put_in(at)) {
                    Some(at) => Some(at),
                    None => {
                        let origin = author_of(row, Origin::Person).unwrap_or_else(|| {
                            let blocks = content(row, Origin::Person);
                            let copy = |block: &Block| match block {
                                Block::Text(text) => typed.contains(&text.text),
                                _ => true,
                            };
                            // A compaction says the last prompt again.
                            if blocks.iter().all(copy) { Origin::Harness } else { Origin::Person }
                        });
                        waiting.push(row_message(*place, Role::User, origin, content(row, origin)));
                        continue;
                    }
                }
            }
            Row::Reasoning(thinking) => {
                thoughts.extend(thinking.tokens.iter().cloned());
                continue;
            }
            Row::Assistant(answer) => {
                let at = answer.calls.iter().find_map(|call| turns.asked.get(&call.id)).copied();
                let tokens = std::mem::take(&mut thoughts);
                if let Some(message) = at.and_then(|at| turns.messages.get_mut(at)) {
                    message.model = answer.model.clone().or(message.model.take());
                    let thought = message.blocks.iter_mut().rev().find_map(|block| match block {
                        Block::Thinking(thinking) => Some(thinking),
                        _ => None,
                    });
                    if let Some(thought) = thought {
                        thought.tokens.extend(tokens);
                    }
                }
                at
            }
            Row::Result { .. } | Row::Backend(_) | Row::Unknown(_) => None,
        };
        if let Some(at) = both {
            if let Some(message) = turns.messages.get_mut(at) {
                message.sources.push(place.source());
            }
            before.entry(at).or_default().append(&mut waiting);
        }
    }
    let mut summary = None;
    let messages = std::mem::take(&mut turns.messages);
    for (at, mut message) in messages.into_iter().enumerate() {
        for mut added in before.remove(&at).unwrap_or_default() {
            added.parent = message.parent.replace(added.id.clone());
            if added.origin == Origin::Summary {
                summary = Some(added.id.clone());
            }
            turns.messages.push(added);
        }
        turns.messages.push(message);
    }
    for mut added in waiting {
        added.parent = turns.messages.last().map(|message| message.id.clone());
        if added.origin == Origin::Summary {
            summary = Some(added.id.clone());
        }
        turns.messages.push(added);
    }
    // What goes to the model begins with the summary of the last compaction.
    if let Some(last) = turns.compactions.last_mut() {
        last.summary = summary;
    }
}

/// `usage.json`: the totals of the session, what it inherited included, and of each turn.
fn totals(body: &FilesBody, session: &mut Session, findings: &mut Vec<Finding>) {
    let Some(counts) = document(body, USAGE, findings) else { return };
    let Some((carrier, _)) = body.file(USAGE) else { return };
    session.reported_usage =
        counts.object("session").map(|all| usage(&all)).filter(|usage| !usage.is_unknown());
    if !session.calls.is_empty() {
        return;
    }
    for turn in counts.list("turns").iter().filter_map(Loose::of) {
        let at = turn.text("endedAt").and_then(|time| Timestamp::parse(&time));
        for (model, usage) in usages(&turn) {
            let model = model.or_else(|| turn.some_text("primaryModelId"));
            let sources = vec![ibid_model::Source::whole(carrier)];
            let (api_id, request_id, message, inherited) = (None, None, None, false);
            session.calls.push(ModelCall {
                api_id,
                request_id,
                message,
                model,
                at,
                usage,
                inherited,
                sources,
            });
        }
    }
}

/// What a list shows.
fn describe(
    summary: Option<&Loose>,
    body: &FilesBody,
    subagent: bool,
    session: &mut Session,
    findings: &mut Vec<Finding>,
) {
    let own: Vec<&Message> = session.messages.iter().filter(|message| !message.inherited).collect();
    let meta = &mut session.meta;
    let mut times: Vec<Timestamp> = own.iter().filter_map(|message| message.at).collect();
    times.extend(session.calls.iter().filter(|call| !call.inherited).filter_map(|call| call.at));
    let prompt = session.messages.iter().find(|message| message.is_prompt());
    if let Some(text) = prompt.and_then(|prompt| prompt.texts().find(|text| !text.is_blank())) {
        meta.offer_preview(text);
    }
    meta.model = session.messages.iter().rev().find_map(|message| message.model.clone());
    let marker = body.file(MARKER).and_then(|(_, file)| file.document.text().cloned());
    let marker = marker.map(|path| Text::part_of(&path, path.trim_end_matches(['\r', '\n'])));
    match summary {
        Some(summary) => {
            let info = summary.object("info").unwrap_or_default();
            meta.cwd = info.some_text("cwd").or_else(|| summary.some_text("cwd"));
            let title = summary.some_text("generated_title");
            let origin = match summary.read_as::<bool>("title_is_manual") {
                Some(true) => TitleOrigin::Person,
                _ => TitleOrigin::Generated,
            };
            title.into_iter().for_each(|title| meta.offer_title(&title, origin));
            if let Some(title) = summary.some_text("session_summary") {
                meta.offer_title(&title, TitleOrigin::Summary);
            }
            meta.model = meta.model.take().or_else(|| summary.some_text("current_model_id"));
            meta.git_branch = summary.some_text("head_branch");
            for name in ["created_at", "createdAt", "updated_at", "updatedAt"] {
                if let Some(time) = summary.text(name) {
                    match Timestamp::parse(&time) {
                        Some(time) => times.push(time),
                        None => findings.push(Finding::new(
                            FindingKind::UnreadableTime,
                            format!("{name} of {SUMMARY} is no time"),
                        )),
                    }
                }
            }
            let parent = summary.some_text("parent_session_id");
            if subagent || parent.is_some() {
                session.lineage.push(lineage(summary, subagent, parent));
            }
        }
        None => {
            let detail = format!("{SUMMARY} is not there or cannot be read");
            findings.push(Finding::new(FindingKind::MissingHeader, detail));
        }
    }
    meta.cwd = meta.cwd.take().or(marker.filter(|path| !path.is_blank())).or_else(|| {
        // The name of the group is the whole path, written so that it can be a name.
        let group = body.path()?.parent()?.parent()?.file_name()?.to_str()?;
        place::decoded(group).map(|path| path_text(&path))
    });
    if times.is_empty() {
        times.extend(body.files.iter().filter(|file| file.name != MARKER).filter_map(SessionFile::written));
    }
    meta.started = times.iter().min().copied();
    meta.updated = times.iter().max().copied();
}

/// A fork names its parent; a subagent does not, and its parent names it.
fn lineage(summary: &Loose, subagent: bool, parent: Option<Text>) -> Lineage {
    Lineage {
        relation: if subagent { Relation::Spawned } else { Relation::Forked },
        parent: parent.map(Into::into),
        parent_path: None,
        call: None,
        agent: None,
        agent_kind: summary.some_text("agent_name").filter(|_| subagent),
        at: None,
    }
}
