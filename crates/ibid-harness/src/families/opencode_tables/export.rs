//! The document that the program's `export` prints and its `import` takes.

use std::collections::HashMap;

use ibid_carrier::sqlite::{RowSet, SqlValue, TableRows};
use ibid_model::{Json, LossKind, Losses, SessionId, Text};

use super::body::{ExportBody, RowsBody, SessionBody};
use super::compose::GLOBAL;
use super::fields::Fields;
use super::records::Native;
use crate::core::Arguments;

/// The session as such a document: for rows of the version seen, what the program itself prints.
pub(crate) fn to_text(body: &SessionBody) -> Result<Vec<u8>, String> {
    let native = match body {
        SessionBody::Export(body) => return Ok(body.bytes.to_vec()),
        body => Native::of(body)?,
    };
    let info = match body {
        SessionBody::Rows(body) => info_of_rows(body)?,
        _ => info_of_record(body)?,
    };
    let id = native.session.id.as_str();
    let in_rows = matches!(body, SessionBody::Rows(_));
    let own = |data: &Text, ids: &[(&str, &str)]| -> Option<Json> {
        let json = Json::from_text(data.clone()).ok()?;
        if !in_rows {
            return json.is_object().then_some(json);
        }
        let mut object = Arguments::of(&json)?;
        for (name, value) in ids {
            object.take_json(name);
            object.push(name, value);
        }
        Some(object.to_json())
    };
    let mut messages = Vec::with_capacity(native.messages.len());
    for message in &native.messages {
        let Some(info) = own(&message.data, &[("id", &message.id), ("sessionID", id)]) else { continue };
        let parts: Vec<Json> = message
            .parts
            .iter()
            .filter_map(|part| {
                own(&part.data, &[("id", &part.id), ("sessionID", id), ("messageID", &message.id)])
            })
            .collect();
        let mut object = Arguments::default();
        object.push("info", &info);
        object.push("parts", &parts);
        messages.push(object.to_json());
    }
    let mut document = Arguments::default();
    document.push("info", &info);
    document.push("messages", &messages);
    let mut text = document.to_json().pretty();
    text.push('\n');
    Ok(text.into_bytes())
}

fn info_of_record(body: &SessionBody) -> Result<Json, String> {
    let SessionBody::Tree(tree) = body else { return Err("it has no record of the session".to_owned()) };
    let record = tree.files.first().ok_or("it has no record of the session")?;
    let text = String::from_utf8_lossy(&record.bytes);
    Json::from_text(text.into_owned()).map_err(|error| error.to_string())
}

/// How columns of `session` are called in the document, in the program's order. Those in braces
/// are JSON in the column.
const COLUMNS: [(&str, &str); 16] = [
    ("id", "id"),
    ("slug", "slug"),
    ("project_id", "projectID"),
    ("workspace_id", "workspaceID"),
    ("directory", "directory"),
    ("path", "path"),
    ("parent_id", "parentID"),
    ("title", "title"),
    ("agent", "agent"),
    ("model", "{model}"),
    ("version", "version"),
    ("(summary)", "summary"),
    ("(usage)", "cost"),
    ("metadata", "{metadata}"),
    ("revert", "{revert}"),
    ("permission", "{permission}"),
];

/// A number as JavaScript prints it.
fn number(value: &SqlValue) -> Option<Json> {
    match value {
        SqlValue::Integer(number) => Json::of(number).ok(),
        SqlValue::Real(number) if number.fract() == 0.0 && number.abs() < 9e15 => {
            Json::of(&(*number as i64)).ok()
        }
        SqlValue::Real(number) => Json::of(number).ok(),
        _ => None,
    }
}

fn info_of_rows(body: &RowsBody) -> Result<Json, String> {
    let table = body.rows.tables.iter().find(|table| table.table == "session");
    let table = table.ok_or("there is no table `session`")?;
    let row = table.rows.first().ok_or("there is no row of the session")?;
    let value = |column: &str| table.value(row, column);
    let numbers = |names: &[(&str, &str)]| {
        let mut object = Arguments::default();
        for (column, name) in names {
            object.push_some(name, value(column).and_then(number).as_ref());
        }
        object
    };
    let mut info = Arguments::default();
    for (column, name) in COLUMNS {
        match (column, name.strip_prefix('{').and_then(|name| name.strip_suffix('}'))) {
            ("(summary)", _) => {
                let mut summary = numbers(&[
                    ("summary_additions", "additions"),
                    ("summary_deletions", "deletions"),
                    ("summary_files", "files"),
                ]);
                let diffs = value("summary_diffs").and_then(SqlValue::as_str);
                summary.push_some("diffs", diffs.and_then(|json| Json::from_text(json).ok()).as_ref());
                if summary != Arguments::default() {
                    info.push("summary", &summary.to_json());
                }
            }
            ("(usage)", _) => {
                info.push_some("cost", value("cost").and_then(number).as_ref());
                let cache = numbers(&[("tokens_cache_read", "read"), ("tokens_cache_write", "write")]);
                let mut tokens = numbers(&[
                    ("tokens_input", "input"),
                    ("tokens_output", "output"),
                    ("tokens_reasoning", "reasoning"),
                ]);
                if tokens != Arguments::default() {
                    tokens.push("cache", &cache.to_json());
                    info.push("tokens", &tokens.to_json());
                }
            }
            (column, Some(name)) => {
                let json = value(column).and_then(SqlValue::as_str);
                info.push_some(name, json.and_then(|json| Json::from_text(json).ok()).as_ref());
            }
            (column, None) => info.push_some(name, value(column).and_then(SqlValue::as_str).as_ref()),
        }
    }
    let time = numbers(&[
        ("time_created", "created"),
        ("time_updated", "updated"),
        ("time_compacting", "compacting"),
        ("time_archived", "archived"),
    ]);
    info.push("time", &time.to_json());
    Ok(info.to_json())
}

/// The rows that such a document becomes, as the program's `import` makes them, and what has no
/// column.
pub(crate) fn to_rows(body: &ExportBody, version: &str) -> Result<(RowsBody, Losses), String> {
    let native = Native::of(&SessionBody::Export(body.clone()))?;
    let whole = Text::from(String::from_utf8_lossy(&body.bytes));
    let info = Fields::of(&whole).and_then(|document| Some(Text::from(document.raw("info")?)));
    let info = info.ok_or("it has no `info`")?;
    let fields = Fields::of(&info).ok_or("its `info` is no object")?;
    let id = native.session.id.clone();
    let mut losses = Losses::none();
    let session = session_row(&fields, version, &mut losses);
    let (mut messages, mut parts) = (Vec::new(), Vec::new());
    let mut made = HashMap::new();
    for message in &native.messages {
        let Some(time) = message_time(&message.data) else {
            losses.add(LossKind::UnreadableRecords, Some("a message without a time"), None);
            continue;
        };
        let Some(data) = without(&message.data, &["id", "sessionID"]) else { continue };
        made.insert(message.id.clone(), ());
        messages.push(vec![
            SqlValue::from(message.id.as_str()),
            SqlValue::from(id.as_str()),
            SqlValue::Integer(time),
            SqlValue::Integer(time),
            SqlValue::from(data.as_str()),
        ]);
        for part in &message.parts {
            let Some(data) = without(&part.data, &["id", "sessionID", "messageID"]) else {
                losses.add(LossKind::UnreadableRecords, Some("a part that is no object"), None);
                continue;
            };
            parts.push(vec![
                SqlValue::from(part.id.as_str()),
                SqlValue::from(message.id.as_str()),
                SqlValue::from(id.as_str()),
                SqlValue::Integer(time),
                SqlValue::Integer(time),
                SqlValue::from(data.as_str()),
            ]);
        }
    }
    let table = |name: &str, columns: Vec<String>, rows| TableRows {
        table: name.to_owned(),
        columns,
        key: vec!["id".to_owned()],
        rows,
    };
    let named = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let mut tables = vec![session];
    if !messages.is_empty() {
        let columns = named(&["id", "session_id", "time_created", "time_updated", "data"]);
        tables.push(table("message", columns, messages));
    }
    if !parts.is_empty() {
        let columns = named(&["id", "message_id", "session_id", "time_created", "time_updated", "data"]);
        tables.push(table("part", columns, parts));
    }
    let rows = RowSet { tables };
    Ok((RowsBody { database: Default::default(), key: id, rows, kin: Default::default() }, losses))
}

fn message_time(data: &Text) -> Option<i64> {
    Fields::of(data)?.object("time")?.integer("created")
}

fn without(data: &Text, names: &[&str]) -> Option<Json> {
    let mut object = Arguments::of(&Json::from_text(data.clone()).ok()?)?;
    for name in names {
        object.take_json(name);
    }
    Some(object.to_json())
}

/// The row of `session`. Without a project it goes to the one that the program moves sessions out
/// of by itself.
fn session_row(fields: &Fields<'_>, version: &str, losses: &mut Losses) -> TableRows {
    let (mut columns, mut row) = (Vec::new(), Vec::new());
    let mut put = |column: &str, value: SqlValue| {
        columns.push(column.to_owned());
        row.push(value);
    };
    let required =
        [("project_id", GLOBAL), ("slug", ""), ("directory", "/"), ("title", ""), ("version", version)];
    for (column, name) in COLUMNS {
        let inner = name.strip_prefix('{').and_then(|name| name.strip_suffix('}'));
        let value = match (column.starts_with('('), inner) {
            (true, _) => None,
            (false, Some(name)) => fields.json(name).map(|json| SqlValue::from(json.compact().as_str())),
            (false, None) => fields.text(name).map(|text| SqlValue::from(text.as_str())),
        };
        let fallback = || required.iter().find(|(name, _)| *name == column).map(|(_, v)| SqlValue::from(*v));
        if let Some(value) = value.or_else(fallback) {
            put(column, value);
        }
    }
    let groups: [(&str, &[(&str, &str)]); 3] = [
        (
            "summary",
            &[
                ("summary_additions", "additions"),
                ("summary_deletions", "deletions"),
                ("summary_files", "files"),
            ],
        ),
        (
            "tokens",
            &[("tokens_input", "input"), ("tokens_output", "output"), ("tokens_reasoning", "reasoning")],
        ),
        (
            "time",
            &[
                ("time_created", "created"),
                ("time_updated", "updated"),
                ("time_compacting", "compacting"),
                ("time_archived", "archived"),
            ],
        ),
    ];
    for (group, names) in groups {
        let group = fields.object(group);
        for (column, name) in names {
            let value = group.as_ref().and_then(|group| group.integer(name));
            // Both times must be there.
            let value = value.or_else(|| matches!(*column, "time_created" | "time_updated").then_some(1));
            if let Some(value) = value {
                put(column, SqlValue::Integer(value));
            }
        }
    }
    if let Some(cost) = fields.number("cost") {
        put("cost", SqlValue::Real(cost));
    }
    if let Some(cache) = fields.object("tokens").and_then(|tokens| tokens.object("cache")) {
        for (column, name) in [("tokens_cache_read", "read"), ("tokens_cache_write", "write")] {
            if let Some(value) = cache.integer(name) {
                put(column, SqlValue::Integer(value));
            }
        }
    }
    if let Some(diffs) = fields.object("summary").and_then(|summary| summary.json("diffs")) {
        put("summary_diffs", SqlValue::from(diffs.compact().as_str()));
    }
    let known = |name: &str| {
        matches!(name, "summary" | "tokens" | "cost" | "time")
            || COLUMNS.iter().any(|(_, own)| own.trim_matches(['{', '}']) == name)
    };
    for (name, _) in fields.iter().filter(|(name, _)| !known(name)) {
        losses.add(LossKind::UnreadableRecords, Some(name), None);
    }
    TableRows { table: "session".to_owned(), columns, key: vec!["id".to_owned()], rows: vec![row] }
}

/// The id of a document, without reading all of it.
pub(crate) fn id_of(body: &ExportBody) -> Result<SessionId, String> {
    Native::of(&SessionBody::Export(body.clone())).map(|native| native.session.id)
}
