//! The records of one session, from whichever of the stores: the session's own, its messages in
//! order, and the parts of each.

use std::collections::HashMap;
use std::path::Path;

use ibid_carrier::sqlite::{SqlValue, TableRows};
use ibid_model::{Finding, FindingKind, Json, SessionId, Source, Text, Timestamp, Usage};

use super::body::{EntryKind, ExportBody, Kin, RowsBody, SessionBody, TreeBody, TreeEntry};
use super::fields::Fields;
use super::usage;

/// What is known of a session apart from its messages.
#[derive(Clone, Debug, Default)]
pub(crate) struct SessionRecord {
    pub(crate) id: SessionId,
    pub(crate) title: Option<Text>,
    pub(crate) directory: Option<Text>,
    pub(crate) version: Option<Text>,
    pub(crate) parent: Option<SessionId>,
    pub(crate) agent: Option<Text>,
    pub(crate) created: Option<Timestamp>,
    pub(crate) updated: Option<Timestamp>,
    pub(crate) archived: bool,
    pub(crate) revert: Option<Revert>,
    pub(crate) usage: Option<Usage>,
    pub(crate) sources: Vec<Source>,
}

/// From where on the messages are hidden, until the next prompt deletes them.
#[derive(Clone, Debug)]
pub(crate) struct Revert {
    pub(crate) message: Text,
    /// Only the parts from this one on are hidden of that message.
    pub(crate) part: Option<Text>,
}

/// A message: its JSON, which in the tables has neither its id nor its session's.
#[derive(Clone, Debug)]
pub(crate) struct MessageRecord {
    pub(crate) id: Text,
    /// The time that the row has.
    pub(crate) created: Option<i64>,
    pub(crate) data: Text,
    pub(crate) source: Source,
    pub(crate) parts: Vec<PartRecord>,
}

/// A part of a message.
#[derive(Clone, Debug)]
pub(crate) struct PartRecord {
    pub(crate) id: Text,
    pub(crate) data: Text,
    pub(crate) source: Source,
}

/// A message of the second API, which is one record with all of its content.
#[derive(Clone, Debug)]
pub(crate) struct WholeRecord {
    pub(crate) id: Text,
    pub(crate) kind: Text,
    pub(crate) created: Option<i64>,
    pub(crate) data: Text,
    pub(crate) source: Source,
}

/// All records of one session.
#[derive(Clone, Debug, Default)]
pub(crate) struct Native {
    pub(crate) session: SessionRecord,
    pub(crate) kin: Kin,
    pub(crate) messages: Vec<MessageRecord>,
    /// The messages of the second API; empty when there are any of the first.
    pub(crate) whole: Vec<WholeRecord>,
    pub(crate) findings: Vec<Finding>,
}

impl Native {
    /// The records of a body.
    ///
    /// # Errors
    /// The sentence for the error message, when it is no session at all.
    pub(crate) fn of(body: &SessionBody) -> Result<Native, String> {
        match body {
            SessionBody::Rows(body) => of_rows(body),
            SessionBody::Tree(body) => of_tree(body),
            SessionBody::Export(body) => of_export(body),
        }
    }
}

/// A time in milliseconds, as both stores have them. Zero means that there is none.
pub(crate) fn time(milliseconds: Option<i64>) -> Option<Timestamp> {
    Timestamp::from_milliseconds(milliseconds.filter(|ms| *ms > 0)?)
}

/// Titles that the program gives to sessions without one.
pub(crate) fn is_placeholder(title: &str) -> bool {
    title.trim().is_empty() || title.starts_with("New session - ") || title.starts_with("Child session - ")
}

/// The text of a value; bytes that are no text are reported and replaced.
fn text_of(value: Option<&SqlValue>, place: (&str, &str), findings: &mut Vec<Finding>) -> Option<Text> {
    match value? {
        SqlValue::Text(text) => Some(Text::from(text.as_str())),
        SqlValue::MalformedText(bytes) | SqlValue::Blob(bytes) => {
            let text = String::from_utf8_lossy(bytes);
            if matches!(text, std::borrow::Cow::Owned(_)) {
                let finding = Finding::new(FindingKind::InvalidUtf8, "its data is not UTF-8");
                findings.push(finding.at_row(place.0, place.1));
            }
            Some(Text::from(text))
        }
        _ => None,
    }
}

/// One row with its table.
pub(crate) struct Row<'a>(pub(crate) &'a TableRows, pub(crate) &'a [SqlValue]);

impl Row<'_> {
    fn text(&self, column: &str) -> Option<Text> {
        Some(Text::from(self.0.value(self.1, column)?.as_str()?))
    }

    fn integer(&self, column: &str) -> Option<i64> {
        self.0.value(self.1, column)?.as_integer()
    }

    fn number(&self, column: &str) -> Option<f64> {
        match self.0.value(self.1, column)? {
            SqlValue::Real(number) => Some(*number),
            SqlValue::Integer(number) => Some(*number as f64),
            _ => None,
        }
    }

    fn source(&self) -> Source {
        Source::row(0, self.0.table.as_str(), self.0.key_label(self.1))
    }
}

/// The session that a row of the table `session` describes.
pub(crate) fn session_of_row(row: &Row<'_>) -> SessionRecord {
    let count = |column: &str| row.integer(column).and_then(|count| u64::try_from(count).ok());
    let usage = usage::running_sum(
        count("tokens_input"),
        count("tokens_output"),
        count("tokens_reasoning"),
        (count("tokens_cache_read"), count("tokens_cache_write")),
        row.number("cost"),
    );
    let revert = row.text("revert");
    SessionRecord {
        id: row.text("id").unwrap_or_default().into(),
        title: row.text("title").filter(|title| !is_placeholder(title)),
        directory: row.text("directory").filter(|directory| !directory.is_empty()),
        version: row.text("version").filter(|version| !version.is_empty()),
        parent: row.text("parent_id").filter(|parent| !parent.is_empty()).map(SessionId::from),
        agent: row.text("agent"),
        created: time(row.integer("time_created")),
        updated: time(row.integer("time_updated")),
        archived: row.integer("time_archived").is_some(),
        revert: revert.as_ref().and_then(Fields::of).as_ref().and_then(revert_of),
        usage,
        sources: vec![row.source()],
    }
}

fn revert_of(fields: &Fields<'_>) -> Option<Revert> {
    Some(Revert { message: fields.text("messageID")?, part: fields.text("partID") })
}

/// The session that a record of the older store or an export describes.
pub(crate) fn session_of_record(fields: &Fields<'_>, source: Source) -> SessionRecord {
    let times = fields.object("time");
    let at = |name: &str| time(times.as_ref().and_then(|times| times.integer(name)));
    let tokens = fields.object("tokens");
    SessionRecord {
        id: fields.text("id").unwrap_or_default().into(),
        title: fields.text("title").filter(|title| !is_placeholder(title)),
        directory: fields.text("directory").filter(|directory| !directory.is_empty()),
        version: fields.text("version").filter(|version| !version.is_empty()),
        parent: fields.text("parentID").filter(|parent| !parent.is_empty()).map(SessionId::from),
        agent: fields.text("agent"),
        created: at("created"),
        updated: at("updated"),
        archived: times.as_ref().is_some_and(|times| times.integer("archived").is_some()),
        revert: fields.object("revert").as_ref().and_then(revert_of),
        usage: tokens.and_then(|tokens| usage::of_sum(&tokens, fields.number("cost"))),
        sources: vec![source],
    }
}

fn table<'a>(body: &'a RowsBody, name: &str) -> Option<&'a TableRows> {
    body.rows.tables.iter().find(|table| table.table == name)
}

fn of_rows(body: &RowsBody) -> Result<Native, String> {
    let described = table(body, "session").ok_or("there is no table `session`")?;
    let row = described.rows.first().ok_or("there is no row of the session")?;
    let mut native =
        Native { session: session_of_row(&Row(described, row)), kin: body.kin.clone(), ..Native::default() };
    let mut parts: HashMap<Text, Vec<PartRecord>> = HashMap::new();
    if let Some(table) = table(body, "part") {
        for row in &table.rows {
            let row = Row(table, row);
            let id = row.text("id").unwrap_or_default();
            let Some(data) = text_of(row.0.value(row.1, "data"), (&table.table, &id), &mut native.findings)
            else {
                continue;
            };
            let message = row.text("message_id").unwrap_or_default();
            parts.entry(message).or_default().push(PartRecord { id, data, source: row.source() });
        }
    }
    if let Some(table) = table(body, "message") {
        for row in &table.rows {
            let row = Row(table, row);
            let id = row.text("id").unwrap_or_default();
            let Some(data) = text_of(row.0.value(row.1, "data"), (&table.table, &id), &mut native.findings)
            else {
                continue;
            };
            let mut parts = parts.remove(&id).unwrap_or_default();
            parts.sort_by(|a, b| a.id.cmp(&b.id));
            let created = row.integer("time_created");
            native.messages.push(MessageRecord { id, created, data, source: row.source(), parts });
        }
    }
    native.messages.sort_by(|a, b| (a.created, &a.id).cmp(&(b.created, &b.id)));
    report_orphans(parts.values().map(Vec::len).sum(), &mut native.findings);
    if native.messages.is_empty()
        && let Some(table) = table(body, "session_message")
    {
        native.whole = whole_records(table, &mut native.findings);
    }
    Ok(native)
}

fn report_orphans(count: usize, findings: &mut Vec<Finding>) {
    if count > 0 {
        let detail = "parts of messages that are not there were left out of the conversation";
        findings.push(Finding::new(FindingKind::MalformedRecord, detail).times(count as u64));
    }
}

/// The messages of the second API, in order.
fn whole_records(table: &TableRows, findings: &mut Vec<Finding>) -> Vec<WholeRecord> {
    let mut records: Vec<(Option<i64>, WholeRecord)> = Vec::new();
    for row in &table.rows {
        let row = Row(table, row);
        let id = row.text("id").unwrap_or_default();
        let Some(data) = text_of(row.0.value(row.1, "data"), (&table.table, &id), findings) else { continue };
        let kind = row.text("type").unwrap_or_default();
        let created = row.integer("time_created");
        records.push((row.integer("seq"), WholeRecord { id, kind, created, data, source: row.source() }));
    }
    records.sort_by(|a, b| (a.0, &a.1.id).cmp(&(b.0, &b.1.id)));
    records.into_iter().map(|(_, record)| record).collect()
}

/// The text of a file; bytes that are not UTF-8 are reported and replaced.
pub(crate) fn file_text(bytes: &[u8], path: &Path, findings: &mut Vec<Finding>) -> Text {
    let text = String::from_utf8_lossy(bytes);
    if matches!(text, std::borrow::Cow::Owned(_)) {
        findings.push(Finding::new(FindingKind::InvalidUtf8, "the file is not UTF-8").at_path(path));
    }
    Text::from(text.trim_start_matches('\u{feff}'))
}

fn stem(path: &Path) -> Text {
    Text::from(path.file_stem().unwrap_or_default().to_string_lossy().into_owned())
}

/// A message or part of the older store, and the folder it belongs to.
fn entry_record(
    body: &TreeBody,
    carrier: usize,
    entry: &TreeEntry,
    findings: &mut Vec<Finding>,
) -> Option<(PartRecord, Text)> {
    let path = body.root.join(&entry.path);
    let data = file_text(&entry.bytes, &path, findings);
    let Some(fields) = Fields::of(&data) else {
        findings.push(Finding::new(FindingKind::NotJson, "the file is no JSON object").at_path(&path));
        return None;
    };
    let id = fields.text("id").unwrap_or_else(|| stem(&entry.path));
    let folder = entry.path.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
    let owner = match entry.kind {
        EntryKind::Part => fields.text("messageID").unwrap_or_else(|| Text::from(folder)),
        _ => stem(&entry.path),
    };
    let source = Source::whole(u32::try_from(carrier).unwrap_or(u32::MAX));
    Some((PartRecord { id, data, source }, owner))
}

fn of_tree(body: &TreeBody) -> Result<Native, String> {
    let record = body.files.first().filter(|file| file.kind == EntryKind::Session);
    let record = record.ok_or("there is no record of the session")?;
    let mut native = Native { kin: body.kin.clone(), findings: body.findings.clone(), ..Native::default() };
    let path = body.root.join(&record.path);
    let text = file_text(&record.bytes, &path, &mut native.findings);
    let fields = Fields::of(&text).ok_or("the record of the session is no JSON object")?;
    native.session = session_of_record(&fields, Source::whole(0));
    if native.session.id.is_empty() {
        native.session.id = stem(&record.path).into();
    }
    let mut parts: HashMap<Text, Vec<PartRecord>> = HashMap::new();
    for (carrier, entry) in body.files.iter().enumerate() {
        match entry.kind {
            EntryKind::Message => {
                let Some((record, _)) = entry_record(body, carrier, entry, &mut native.findings) else {
                    continue;
                };
                let PartRecord { id, data, source } = record;
                native.messages.push(MessageRecord { id, created: None, data, source, parts: Vec::new() });
            }
            EntryKind::Part => {
                if let Some((part, owner)) = entry_record(body, carrier, entry, &mut native.findings) {
                    parts.entry(owner).or_default().push(part);
                }
            }
            EntryKind::Session | EntryKind::Companion => {}
        }
    }
    native.messages.sort_by(|a, b| a.id.cmp(&b.id));
    for message in &mut native.messages {
        message.parts = parts.remove(&message.id).unwrap_or_default();
        message.parts.sort_by(|a, b| a.id.cmp(&b.id));
    }
    report_orphans(parts.values().map(Vec::len).sum(), &mut native.findings);
    Ok(native)
}

fn of_export(body: &ExportBody) -> Result<Native, String> {
    let text = std::str::from_utf8(&body.bytes)
        .map_err(|error| format!("it is not UTF-8 at byte {}", error.valid_up_to()))?;
    let whole = Text::from(text);
    let fields = Fields::of(&whole).ok_or("it is no JSON object")?;
    let info = fields.object("info").ok_or("it has no `info`")?;
    if !fields.has("messages") {
        return Err("it has no `messages`".to_owned());
    }
    let mut native = Native {
        session: session_of_record(&info, range(&whole, fields.raw("info").unwrap_or_default())),
        ..Native::default()
    };
    if native.session.id.is_empty() {
        return Err("its `info` has no `id`".to_owned());
    }
    for (number, message) in fields.objects("messages").into_iter().enumerate() {
        let Some(raw) = message.raw("info") else {
            let finding = Finding::new(FindingKind::MalformedRecord, "a message has no `info`");
            native.findings.push(finding);
            continue;
        };
        let data = Text::part_of(&whole, raw);
        let id = Fields::of(&data).and_then(|info| info.text("id"));
        let id = id.unwrap_or_else(|| Text::from(format!("message-{number}")));
        let parts = message.elements("parts").into_iter().enumerate().map(|(at, raw)| {
            let data = Text::part_of(&whole, raw);
            let own = Fields::of(&data).and_then(|part| part.text("id"));
            let id = own.unwrap_or_else(|| Text::from(format!("{id}-part-{at}")));
            PartRecord { id, data, source: range(&whole, raw) }
        });
        let parts = parts.collect();
        let source = range(&whole, raw);
        native.messages.push(MessageRecord { id, created: None, data, source, parts });
    }
    Ok(native)
}

/// The bytes of `whole` that `part`, a slice of it, is.
fn range(whole: &Text, part: &str) -> Source {
    let start = (part.as_ptr() as usize).saturating_sub(whole.as_str().as_ptr() as usize);
    Source::bytes(0, start as u64, start.saturating_add(part.len()) as u64)
}

/// A small value as it was written; none when it is too large to go into an event.
pub(crate) fn small(json: Option<Json>) -> Option<Json> {
    json.filter(|json| json.as_str().len() <= 2048)
}
