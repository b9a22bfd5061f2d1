//! The record that the app keeps of a session: one JSON object, of which a few fields are needed.
//! The carrier keeps its exact bytes; each field is read by itself, so that one of another type
//! costs no other.

use std::path::Path;

use ibid_model::{Finding, FindingKind, Json, Meta, Text, Timestamp, Title, TitleOrigin};

use crate::core::Arguments;

/// What the app demands of a record; it silently lists none that lacks one.
const REQUIRED: [&str; 4] = ["processName", "cwd", "createdAt", "lastActivityAt"];

/// What the app's numbers may be at most, so that they are exact.
const MOST_MILLISECONDS: f64 = 9e15;

/// The fields of a record that are needed.
#[derive(Clone, Debug, Default)]
pub(super) struct Record {
    /// The session's id; `Some` of an empty one where it is empty or of another type, none where
    /// the record has no such field.
    pub(super) session_id: Option<Text>,
    /// The CLI session that holds the conversation.
    pub(super) cli_session_id: Option<Text>,
    /// The working directory, which may be empty.
    pub(super) cwd: Option<Text>,
    /// The title.
    pub(super) title: Option<Text>,
    /// The model.
    pub(super) model: Option<Text>,
    /// The first prompt.
    pub(super) initial_message: Option<Text>,
    /// When the session began.
    pub(super) created: Option<Timestamp>,
    /// When something last happened in it.
    pub(super) last_activity: Option<Timestamp>,
    /// Whether the app hides it.
    pub(super) archived: bool,
    /// What is wrong with the record.
    pub(super) findings: Vec<Finding>,
}

impl Record {
    /// Reads a record. What is wrong with single fields is in the findings, without a path.
    ///
    /// # Errors
    /// Why the bytes are no record at all.
    pub(super) fn read(bytes: &[u8]) -> Result<Record, String> {
        let (json, mut findings) = text_of(bytes)?;
        let mut members = Arguments::of(&json).ok_or_else(|| "it is no JSON object".to_owned())?;
        findings.extend(missing(&members));
        let mut fields = Fields { members: &mut members, findings };
        let session_id = fields.session_id();
        Ok(Record {
            session_id,
            cli_session_id: fields.text("cliSessionId").filter(|id| !id.is_empty()),
            cwd: fields.text("cwd"),
            title: fields.text("title"),
            model: fields.text("model"),
            initial_message: fields.text("initialMessage"),
            created: fields.time("createdAt"),
            last_activity: fields.time("lastActivityAt"),
            archived: fields.flag("isArchived"),
            findings: {
                fields.text("processName");
                fields.findings
            },
        })
    }

    /// The id, where the record has one.
    pub(super) fn id(&self) -> Option<&Text> {
        self.session_id.as_ref().filter(|id| !id.is_empty())
    }

    /// The facts for a list: what the record says, and of the conversation's what it does not.
    pub(super) fn facts(&self, conversation: Meta) -> Meta {
        let filled = |own: &Option<Text>| own.clone().filter(|text| !text.is_blank());
        let mut meta = conversation;
        if let Some(text) = filled(&self.title) {
            // Whether a person or a model named it, only the conversation can tell.
            let origin = meta.title.filter(|title| title.text == text).map(|title| title.origin);
            meta.title = Some(Title { text, origin: origin.unwrap_or(TitleOrigin::Generated) });
        }
        meta.cwd = filled(&self.cwd).or(meta.cwd);
        meta.model = filled(&self.model).or(meta.model);
        meta.started = self.created.or(meta.started);
        meta.updated = meta.updated.max(self.last_activity).or(self.created);
        meta.archived = self.archived;
        if let Some(prompt) = &self.initial_message {
            meta.offer_preview(prompt);
        }
        meta
    }
}

/// The same record with another value in one of its fields, which is added when it is not there.
/// The order and spelling of everything else stay.
///
/// # Errors
/// Why the bytes are no record at all.
pub(super) fn with_field(bytes: &[u8], name: &str, value: &str) -> Result<Vec<u8>, String> {
    let (json, _) = exact_text_of(bytes)?;
    let members = Arguments::of(&json).ok_or_else(|| "it is no JSON object".to_owned())?;
    let mut changed = Arguments::default();
    let mut found = false;
    for member in members.into_rest() {
        if member.name == name {
            found = true;
            changed.push(name, value);
        } else {
            changed.push(&member.name, &member.value);
        }
    }
    if !found {
        changed.push(name, value);
    }
    Ok(changed.to_json().as_str().as_bytes().to_vec())
}

/// The findings, each at the record's path.
pub(super) fn at(path: Option<&Path>, findings: Vec<Finding>) -> impl Iterator<Item = Finding> {
    let path = path.map(Path::to_owned);
    findings.into_iter().map(move |finding| match &path {
        Some(path) if finding.path.is_none() => finding.at_path(path),
        _ => finding,
    })
}

/// The record as JSON whose strings can all be read, and what had to be repaired.
fn text_of(bytes: &[u8]) -> Result<(Json, Vec<Finding>), String> {
    let (json, mut findings) = exact_text_of(bytes)?;
    let (json, lone) = json.without_lone_surrogates();
    if lone > 0 {
        let detail = "half of a surrogate pair in the record";
        findings.push(Finding::new(FindingKind::LoneSurrogate, detail).times(lone as u64));
    }
    Ok((json, findings))
}

/// The record as JSON, with strings as they are written.
fn exact_text_of(bytes: &[u8]) -> Result<(Json, Vec<Finding>), String> {
    let mut findings = Vec::new();
    let unmarked = bytes.strip_prefix(b"\xEF\xBB\xBF");
    if unmarked.is_some() {
        findings.push(Finding::new(FindingKind::ByteOrderMark, "three bytes before the record"));
    }
    let text = String::from_utf8_lossy(unmarked.unwrap_or(bytes));
    if let std::borrow::Cow::Owned(_) = text {
        findings.push(Finding::new(FindingKind::InvalidUtf8, "bytes in the record that are not UTF-8"));
    }
    let json = Json::from_text(text.into_owned()).map_err(|error| format!("it is no JSON: {error}"))?;
    Ok((json, findings))
}

fn missing(members: &Arguments) -> Option<Finding> {
    let missing: Vec<&str> = REQUIRED.into_iter().filter(|name| !members.has(name)).collect();
    let detail = format!("the app lists no record without {}", missing.join(" and "));
    (!missing.is_empty()).then(|| Finding::new(FindingKind::MalformedRecord, detail))
}

struct Fields<'a> {
    members: &'a mut Arguments,
    findings: Vec<Finding>,
}

impl Fields<'_> {
    /// A value of a type; one of another type is a finding, and `null` is nothing.
    fn take<T: serde::de::DeserializeOwned>(&mut self, name: &str, wanted: &str) -> Option<T> {
        if let Some(value) = self.members.take::<Option<T>>(name) {
            return value;
        }
        if self.members.has(name) {
            let detail = format!("{name} is not {wanted}, and reads as absent");
            self.findings.push(Finding::new(FindingKind::MalformedRecord, detail));
        }
        None
    }

    fn text(&mut self, name: &str) -> Option<Text> {
        self.take::<String>(name, "a string").map(Text::from)
    }

    fn session_id(&mut self) -> Option<Text> {
        let present = self.members.has("sessionId");
        present.then(|| self.text("sessionId").unwrap_or_default())
    }

    fn flag(&mut self, name: &str) -> bool {
        self.take::<bool>(name, "a boolean").unwrap_or(false)
    }

    /// Milliseconds, perhaps with a fraction. Zero says that the time is not known.
    // https://github.com/NousResearch/hermes-agent/issues/42409 (fault 55)
    fn time(&mut self, name: &str) -> Option<Timestamp> {
        let number = self.take::<serde_json::Number>(name, "a number")?;
        let float = || number.as_f64().filter(|value| value.abs() < MOST_MILLISECONDS);
        // The cast cuts the fraction off; the value is within the exact integers.
        #[allow(clippy::cast_possible_truncation, reason = "checked to be below 9e15")]
        let milliseconds = number.as_i64().or_else(|| float().map(|value| value as i64));
        if milliseconds == Some(0) {
            return None;
        }
        let time = milliseconds.and_then(Timestamp::from_milliseconds);
        if time.is_none() {
            let detail = format!("{name} is no time in this calendar");
            self.findings.push(Finding::new(FindingKind::UnreadableTime, detail));
        }
        time
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Record {
        Record::read(json.as_bytes()).unwrap()
    }

    const WHOLE: &str =
        r#""sessionId":"local_1","processName":"p","cwd":"/w","lastActivityAt":1785664800000"#;

    // https://github.com/handochan/aelix-ai/issues/135 (fault 58)
    #[test]
    fn a_field_of_another_type_is_reported_and_costs_no_other() {
        let record =
            read(&format!(r#"{{{WHOLE},"title":5,"model":{{}},"isArchived":"no","createdAt":"x"}}"#));
        assert_eq!(record.id().unwrap(), "local_1");
        assert_eq!(record.cwd.unwrap(), "/w");
        assert_eq!((record.title, record.model, record.created), (None, None, None));
        let kinds: Vec<_> = record.findings.iter().map(|finding| finding.kind).collect();
        assert_eq!(kinds, [FindingKind::MalformedRecord; 4]);
    }

    // https://github.com/NousResearch/hermes-agent/issues/42409 (fault 55)
    #[test]
    fn times_are_milliseconds_and_one_outside_the_calendar_is_absent() {
        let at = |number: &str| read(&format!(r#"{{{WHOLE},"createdAt":{number}}}"#));
        assert_eq!(at("1785664800123.9").created, Timestamp::from_milliseconds(1_785_664_800_123));
        for number in ["1e300", "9e15", "99999999999999999999", "253402300800000"] {
            let record = at(number);
            assert_eq!(record.created, None, "{number}");
            assert_eq!(record.findings[0].kind, FindingKind::UnreadableTime, "{number}");
        }
        assert!(at("0").findings.is_empty());
    }

    #[test]
    fn what_the_app_demands_and_does_not_find_is_named() {
        let record = read(r#"{"sessionId":"local_1","cwd":"","createdAt":1785664800000}"#);
        assert!(record.findings[0].detail.contains("processName and lastActivityAt"));
    }

    #[test]
    fn a_lone_surrogate_costs_nothing_else() {
        let record = read(&format!(r#"{{{WHOLE},"createdAt":1,"title":"a\ud83d","odd\udc00":1}}"#));
        assert_eq!(record.title.unwrap(), "a\u{fffd}");
        assert_eq!((record.findings[0].kind, record.findings[0].count), (FindingKind::LoneSurrogate, 2));
    }

    #[test]
    fn a_changed_field_leaves_the_spelling_of_the_others() {
        let record = br#"{"a":1.50,"sessionId":"","b":{"c": [1e2]},"s":"\ud83d"}"#;
        let changed = with_field(record, "sessionId", "local_1").unwrap();
        assert_eq!(changed, br#"{"a":1.50,"sessionId":"local_1","b":{"c":[1e2]},"s":"\ud83d"}"#);
        assert_eq!(with_field(b"{}", "cwd", "/w").unwrap(), br#"{"cwd":"/w"}"#);
    }

    #[test]
    fn what_is_no_object_is_no_record() {
        for bytes in [&b""[..], b"[]", b"5", b"{\"sessionId\":\"local_1\",\"cre"] {
            assert!(Record::read(bytes).is_err());
        }
    }
}
