//! Hooks in Claude Code's `settings.json` (2.1.332): put in and taken out, and everything else stays
//! byte for byte.
//!
//! An entry of ours is a group of one command hook that runs `ibid hook claude --data ...`. The program
//! rewrites the whole file when one of its own commands sets something, so our entries are known by what
//! they run and not by how they are laid out.

use std::collections::BTreeSet;
use std::ops::Range;

use serde_json::{Map, Value, json};

use super::super::hooks::LIFECYCLE_EVENTS;
use super::outline::Outline;
use crate::core::plugin::{Grammar, PatchError, Patched, Unpatched, Wish};

/// The grammar.
pub(super) static GRAMMAR: Grammar = Grammar { apply, is_applied, remove, differences };

/// What stands between the program and the data directory in the command of a hook of ours.
const OURS: &str = " hook claude --data ";

/// How long Claude Code waits for the hook, in seconds. It ends by itself long before.
const TIMEOUT: u64 = 10;

/// The mark that some editors put before UTF-8.
const MARK: char = '\u{feff}';

/// How many keys are named of those that differ.
const NAMED: usize = 20;

fn parsed(text: &str) -> Result<Outline, PatchError> {
    let whole: Value = serde_json::from_str(text).map_err(|error| {
        // The parser's own words quote nothing; they name the place.
        PatchError::Malformed(format!("line {}, column {}: not JSON", error.line(), error.column()))
    })?;
    if !whole.is_object() {
        return Err(PatchError::Kind("the whole file".to_owned()));
    }
    let outline = Outline::of(text).ok_or_else(|| PatchError::Malformed("not JSON".to_owned()))?;
    unique(&outline, "")?;
    if let Some(hooks) = outline.member("hooks") {
        if hooks.value.members().is_none() {
            return Err(PatchError::Kind("hooks".to_owned()));
        }
        unique(&hooks.value, "hooks.")?;
        for event in LIFECYCLE_EVENTS {
            if hooks.value.member(event).is_some_and(|member| member.value.elements().is_none()) {
                return Err(PatchError::Kind(format!("hooks.{event}")));
            }
        }
    }
    Ok(outline)
}

/// A key that is there twice means one thing to one reader and another to the next.
fn unique(outline: &Outline, path: &str) -> Result<(), PatchError> {
    let mut seen = BTreeSet::new();
    for member in outline.members().unwrap_or_default() {
        if !seen.insert(&member.key) {
            return Err(PatchError::Kind(format!("{path}{} (there twice)", member.key)));
        }
    }
    Ok(())
}

fn body(text: &str) -> (&str, &str) {
    match text.strip_prefix(MARK) {
        Some(body) => text.split_at(text.len() - body.len()),
        None => ("", text),
    }
}

fn group(line: &str) -> Value {
    json!({"hooks": [{"type": "command", "command": line, "timeout": TIMEOUT}]})
}

fn apply(text: &str, wish: Wish<'_>, earlier: Option<&Value>) -> Result<Patched, PatchError> {
    let line = wish.command.line();
    let (mark, body) = body(text);
    let mut made = made_before(earlier);
    let mut body = if body.trim().is_empty() { "{}\n".to_owned() } else { body.to_owned() };
    let hooks = ["hooks".to_owned()];
    if parsed(&body)?.member("hooks").is_none() {
        body = with_member(&body, &[], "hooks", &json!({}))?;
        made.insert("hooks".to_owned());
    }
    for event in LIFECYCLE_EVENTS {
        let outline = parsed(&body)?;
        let list = outline.member("hooks").and_then(|hooks| hooks.value.member(event));
        let Some(list) = list else {
            body = with_member(&body, &hooks, event, &json!([group(&line)]))?;
            made.insert(event.to_owned());
            continue;
        };
        let ours = ours_in(&list.value);
        if ours.is_empty() {
            body = with_last(&body, &list.value, None, &group(&line), 3);
            continue;
        }
        // From the last to the first, so that places stay right.
        for hook in ours.iter().rev().filter(|hook| hook.command != line) {
            body.replace_range(hook.place.clone(), &Value::from(line.as_str()).to_string());
        }
    }
    parsed(&body)?;
    Ok(Patched { text: format!("{mark}{body}"), receipt: json!({"version": 1, "made": made}) })
}

fn is_applied(text: &str, wish: Wish<'_>) -> Result<bool, PatchError> {
    Ok(!body(text).1.trim().is_empty() && apply(text, wish, None)?.text == text)
}

/// What an earlier patch made: `hooks` itself, and lists of events.
fn made_before(receipt: Option<&Value>) -> BTreeSet<String> {
    let list = receipt.filter(|receipt| receipt.get("version") == Some(&Value::from(1)));
    let made = list.and_then(|receipt| receipt.get("made")).and_then(Value::as_array);
    made.into_iter().flatten().filter_map(|key| key.as_str().map(str::to_owned)).collect()
}

/// A hook of ours in the list of an event.
struct Ours {
    /// Its group, by its place in the list; none when the group has other hooks too.
    group: Option<usize>,
    command: String,
    /// Where the string of the command stands.
    place: Range<usize>,
}

fn ours_in(list: &Outline) -> Vec<Ours> {
    let mut ours = Vec::new();
    for (at, group) in list.elements().unwrap_or_default().iter().enumerate() {
        let hooks = group.member("hooks").and_then(|hooks| hooks.value.elements()).unwrap_or_default();
        for hook in hooks {
            let Some(command) =
                hook.member("command").filter(|command| command.value.text().is_some_and(is_ours))
            else {
                continue;
            };
            ours.push(Ours {
                group: (hooks.len() == 1 && group.members().is_some_and(|members| members.len() == 1))
                    .then_some(at),
                command: command.value.text().unwrap_or_default().to_owned(),
                place: command.value.span.clone(),
            });
        }
    }
    ours
}

/// Whether a command is one of ours, whichever `ibid` it runs.
fn is_ours(command: &str) -> bool {
    command.split_once(OURS).is_some_and(|(program, _)| {
        let program = program.trim_end_matches('\'').trim_end_matches(".exe");
        program.ends_with("/ibid") || program.ends_with("\\ibid")
    })
}

fn remove(text: &str, receipt: Option<&Value>) -> Result<Unpatched, PatchError> {
    let (mark, whole) = body(text);
    if whole.trim().is_empty() {
        return Ok(Unpatched { text: text.to_owned(), left: Vec::new() });
    }
    let made = made_before(receipt);
    let mut body = whole.to_owned();
    let mut left = Vec::new();
    parsed(&body)?;
    for event in LIFECYCLE_EVENTS {
        while let Some(found) = first_ours(&body, event)? {
            match found {
                Some((list, at)) => body = without_part(&body, &list, at),
                None => {
                    left.push(format!("hooks.{event}: a hook of Ibid shares a group with others, and stays"));
                    break;
                }
            }
        }
        let outline = parsed(&body)?;
        let Some(hooks) = outline.member("hooks") else { continue };
        let emptied = hooks.value.member(event).is_some_and(|list| list.value.parts().is_empty());
        if emptied && made.contains(event) {
            let members = hooks.value.members().unwrap_or_default();
            if let Some(at) = members.iter().position(|member| member.key == event) {
                body = without_part(&body, &hooks.value, at);
            }
        } else if emptied && receipt.is_none() && body != whole {
            left.push(format!("hooks.{event} is an empty list now, and stays"));
        }
    }
    let outline = parsed(&body)?;
    let emptied = outline.member("hooks").is_some_and(|hooks| hooks.value.parts().is_empty());
    if emptied && made.contains("hooks") {
        let members = outline.members().unwrap_or_default();
        if let Some(at) = members.iter().position(|member| member.key == "hooks") {
            body = without_part(&body, &outline, at);
        }
    }
    Ok(Unpatched { text: format!("{mark}{body}"), left })
}

/// The list of an event with the place of a group of ours in it; `Some(None)` when a hook of ours is
/// there in a group that is not ours alone.
#[allow(clippy::option_option, reason = "nothing there, and there but not to be taken, are two answers")]
fn first_ours(body: &str, event: &str) -> Result<Option<Option<(Outline, usize)>>, PatchError> {
    let outline = parsed(body)?;
    let list = outline.member("hooks").and_then(|hooks| hooks.value.member(event));
    let Some(list) = list else { return Ok(None) };
    let ours = ours_in(&list.value);
    if ours.is_empty() {
        return Ok(None);
    }
    Ok(Some(ours.iter().find_map(|hook| hook.group).map(|at| (list.value.clone(), at))))
}

/// The text with one more member in the object at this path.
fn with_member(body: &str, path: &[String], key: &str, value: &Value) -> Result<String, PatchError> {
    let outline = parsed(body)?;
    let mut object = &outline;
    for part in path {
        let member = object.member(part).ok_or_else(|| PatchError::Kind(part.clone()))?;
        object = &member.value;
    }
    Ok(with_last(body, object, Some(key), value, path.len() + 1))
}

/// The text with one more last part in an object (with its key) or array, laid out like the parts that
/// are there: on lines of their own, or all on one.
fn with_last(body: &str, container: &Outline, key: Option<&str>, value: &Value, depth: usize) -> String {
    let parts = container.parts();
    let unit = indent_unit(body);
    let inner = body.get(container.span.clone()).unwrap_or_default();
    let own_lines = parts.is_empty() && depth_is_laid_out(body) || inner.contains('\n');
    let end = if body.contains("\r\n") { "\r\n" } else { "\n" };
    let indent = match parts.first().and_then(|part| indent_before(body, part.start)) {
        Some(indent) => indent.to_owned(),
        None => unit.repeat(depth),
    };
    let rendered = if own_lines { pretty(value, &indent, &unit, end) } else { spaced(value) };
    let item = match key {
        Some(key) => format!("{}: {rendered}", Value::from(key)),
        None => rendered,
    };
    let mut text = body.to_owned();
    match parts.last() {
        Some(last) if own_lines => text.insert_str(last.end, &format!(",{end}{indent}{item}")),
        Some(last) => text.insert_str(last.end, &format!(", {item}")),
        None if own_lines => {
            let outer = indent.strip_suffix(unit.as_str()).unwrap_or_default();
            let inside = container.span.start + 1..container.span.end - 1;
            text.replace_range(inside, &format!("{end}{indent}{item}{end}{outer}"));
        }
        None => text.replace_range(container.span.start + 1..container.span.end - 1, &item),
    }
    text
}

/// Whether the file is laid out on lines; one without any content is, from now on.
fn depth_is_laid_out(body: &str) -> bool {
    let trimmed = body.trim();
    trimmed == "{}" || trimmed.contains('\n')
}

/// What stands before a part on its line, when that is white space alone.
fn indent_before(body: &str, at: usize) -> Option<&str> {
    let before = body.get(..at)?;
    let line = before.rsplit_once('\n')?.1;
    line.chars().all(|c| c == ' ' || c == '\t').then_some(line)
}

/// The indentation of the first line that has one.
fn indent_unit(body: &str) -> String {
    let indented = body.lines().find(|line| line.starts_with([' ', '\t']) && !line.trim().is_empty());
    let unit = indented.map(|line| line.chars().take_while(|c| *c == ' ' || *c == '\t').collect::<String>());
    unit.unwrap_or_else(|| "  ".to_owned())
}

/// A value over several lines, its first at the place where it is put.
fn pretty(value: &Value, indent: &str, unit: &str, end: &str) -> String {
    let deeper = format!("{indent}{unit}");
    let lines = |parts: Vec<String>, open: char, close: char| {
        let inside = parts.join(&format!(",{end}{deeper}"));
        format!("{open}{end}{deeper}{inside}{end}{indent}{close}")
    };
    match value {
        Value::Object(map) if !map.is_empty() => {
            let member = |(key, value): (&String, &Value)| {
                format!("{}: {}", Value::from(key.as_str()), pretty(value, &deeper, unit, end))
            };
            lines(map.iter().map(member).collect(), '{', '}')
        }
        Value::Array(list) if !list.is_empty() => {
            lines(list.iter().map(|value| pretty(value, &deeper, unit, end)).collect(), '[', ']')
        }
        other => other.to_string(),
    }
}

/// A value on one line, with a space behind commas and colons.
fn spaced(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let members =
                map.iter().map(|(key, value)| format!("{}: {}", Value::from(key.as_str()), spaced(value)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
        }
        Value::Array(list) => format!("[{}]", list.iter().map(spaced).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}

/// The text without one part of an object or array, and without the comma that set it apart.
fn without_part(body: &str, container: &Outline, at: usize) -> String {
    let parts = container.parts();
    let Some(part) = parts.get(at) else { return body.to_owned() };
    let before = at.checked_sub(1).and_then(|before| parts.get(before));
    let range = match (before, parts.get(at + 1)) {
        (Some(before), _) => before.end..part.end,
        (None, Some(next)) => part.start..next.start,
        (None, None) => container.span.start + 1..container.span.end - 1,
    };
    let mut text = body.to_owned();
    text.replace_range(range, "");
    text
}

fn differences(now: &str, before: &str) -> Result<Vec<String>, PatchError> {
    let value = |text: &str| -> Result<Map<String, Value>, PatchError> {
        let text = body(text).1;
        if text.trim().is_empty() {
            return Ok(Map::new());
        }
        parsed(text)?;
        serde_json::from_str(text).map_err(|_| PatchError::Malformed("not JSON".to_owned()))
    };
    let mut keys = Vec::new();
    differ(&value(now)?, &value(before)?, "", &mut keys);
    if keys.len() > NAMED {
        let more = keys.len() - NAMED;
        keys.truncate(NAMED);
        keys.push(format!("{more} more"));
    }
    Ok(keys)
}

fn differ(now: &Map<String, Value>, before: &Map<String, Value>, path: &str, keys: &mut Vec<String>) {
    let all: BTreeSet<&String> = now.keys().chain(before.keys()).collect();
    for key in all {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        match (now.get(key), before.get(key)) {
            (a, b) if a == b => {}
            (Some(Value::Object(a)), Some(Value::Object(b))) => differ(a, b, &path, keys),
            _ => keys.push(path),
        }
    }
}

#[cfg(test)]
#[path = "grammar_tests.rs"]
mod tests;
