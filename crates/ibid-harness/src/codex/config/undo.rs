//! Taking the patch back: by its receipt, or as far as it is provable without one.

use super::edit::{Change, Editor, Literal, Place, lines_at};
use super::layout::{Layout, Path, parsed};
use super::{ConfigError, FEATURE, FEATURES, HEADERS, Left, MANAGED, PROVIDERS, SELECTED, Why};
use crate::codex::toml_text::dotted;
use crate::core::edits::{Layer, Step};

/// Takes the steps of one application back one by one, newest first. What someone changed
/// meanwhile stays, and is listed.
pub(super) fn layer(
    editor: &mut Editor,
    layer: &Layer<Change>,
    left: &mut Vec<Left>,
) -> Result<(), ConfigError> {
    for step in layer.steps.iter().rev() {
        match &step.what {
            Change::Replaced { path } => put_back(editor, path, step, left)?,
            Change::Added { path, value } => take_away(editor, path, value, left)?,
            Change::Table { path, blank } => {
                // A table to which someone added is theirs too, and stays without our entries.
                editor.take_out_table(path, *blank)?;
            }
            Change::Removed { path, place } => insert_again(editor, path, place, step, left)?,
        }
    }
    Ok(())
}

/// Gives a replaced value back, when ours still stands there.
fn put_back(
    editor: &mut Editor,
    path: &[String],
    step: &Step<Change>,
    left: &mut Vec<Left>,
) -> Result<(), ConfigError> {
    let text = editor.text.clone();
    let layout = Layout::of(&text)?;
    let Some(found) = layout.find(path) else { return Ok(()) };
    if !same(layout.slice(&found.entry.value), &step.now) {
        left.push(Left { path: dotted(path), why: Why::ChangedSince });
        return Ok(());
    }
    let range = found.entry.value.clone();
    if !editor.splice(range, &step.was, step.what.clone()) {
        left.push(Left { path: dotted(path), why: Why::NoPlace });
    }
    Ok(())
}

/// Takes an added entry out, when it is still ours.
fn take_away(
    editor: &mut Editor,
    path: &[String],
    value: &str,
    left: &mut Vec<Left>,
) -> Result<(), ConfigError> {
    let text = editor.text.clone();
    let layout = Layout::of(&text)?;
    let Some(found) = layout.find(path) else { return Ok(()) };
    if !same(layout.slice(&found.entry.value), value) {
        left.push(Left { path: dotted(path), why: Why::ChangedSince });
        return Ok(());
    }
    if is_needed(&layout, path) {
        left.push(Left { path: dotted(path), why: Why::NeededByOthers });
        return Ok(());
    }
    if !editor.take_out_ours(path)? {
        left.push(Left { path: dotted(path), why: Why::NoPlace });
    }
    Ok(())
}

/// Whether an entry is the name of a provider to which someone added keys: Codex refuses a whole
/// file in which a provider has no name.
fn is_needed(layout: &Layout<'_>, path: &[String]) -> bool {
    let [container, provider, key] = path else { return false };
    container == PROVIDERS && key == "name" && {
        let table = [container.clone(), provider.clone()];
        layout
            .leaves_below(&table)
            .iter()
            .any(|(leaf, entry)| !is_managed(layout, provider, leaf, &entry.value))
    }
}

/// Puts an entry that was taken out where it stood.
fn insert_again(
    editor: &mut Editor,
    path: &[String],
    place: &Place,
    step: &Step<Change>,
    left: &mut Vec<Left>,
) -> Result<(), ConfigError> {
    let text = editor.text.clone();
    let layout = Layout::of(&text)?;
    if layout.find(path).is_some() {
        left.push(Left { path: dotted(path), why: Why::ChangedSince });
        return Ok(());
    }
    let spliced = match place {
        Place::Table { table, after, lines } => {
            let section = layout.tables().find(|section| section.path == *table);
            section.map(|section| {
                let before =
                    after.as_ref().and_then(|path| section.entries.iter().rfind(|entry| entry.path == *path));
                let first = before.map_or(section.header.end, |entry| entry.value.end);
                let mut at =
                    if before.is_none() && table.is_empty() { first } else { layout.line_end_at(first) };
                for _ in 0..*lines {
                    let next = layout.line_end_at(at);
                    let line = text.get(at..next).unwrap_or_default().trim();
                    if !(line.is_empty() || line.starts_with('#')) || next == at {
                        break;
                    }
                    at = next;
                }
                // A last line without an end was taken out with the end of the line before it.
                let line = step.was.trim_end_matches(['\r', '\n']).trim_start_matches(['\r', '\n']);
                let ended = step.was.ends_with('\n');
                let (at, now) = if ended
                    && text
                        .get(..at)
                        .is_some_and(|before| before.is_empty() || before.ends_with(['\n', '\u{feff}']))
                {
                    (at, step.was.clone())
                } else {
                    lines_at(&text, at, &[line])
                };
                editor.splice(at..at, &now, step.what.clone())
            })
        }
        Place::Inline { table, after, gap } => layout.find(table).map(|host| {
            let inside = host.entry.inside.as_deref().unwrap_or_default();
            let before = after.as_ref().and_then(|path| inside.iter().rfind(|entry| entry.path == *path));
            let open = host.entry.value.start + 1;
            let at = match (before, inside.first()) {
                (Some(before), _) => before.value.end,
                (None, Some(first)) => first.key.start,
                (None, None) => {
                    let blank = layout.slice(&(open..host.entry.value.end));
                    let blank = blank.len() - blank.trim_start().len();
                    open + (*gap).min(blank)
                }
            };
            editor.splice(at..at, &step.was, step.what.clone())
        }),
    };
    if spliced != Some(true) {
        left.push(Left { path: dotted(path), why: Why::NoPlace });
    }
    Ok(())
}

/// Whether two pieces of TOML say the same value.
fn same(one: &str, other: &str) -> bool {
    if one == other {
        return true;
    }
    match (parsed(one), parsed(other)) {
        (Some(one), Some(other)) => match (one.as_str(), other.as_str()) {
            (Some(one), Some(other)) => one == other,
            _ => one.as_bool().is_some() && one.as_bool() == other.as_bool(),
        },
        _ => false,
    }
}

/// Whether an entry of a provider's table is one that the patch writes.
fn is_managed(layout: &Layout<'_>, provider: &str, leaf: &[String], value: &std::ops::Range<usize>) -> bool {
    match leaf {
        [_, _, key] => MANAGED.contains(&key.as_str()),
        [_, _, headers, _] => headers == HEADERS && layout.string(value).as_deref() == Some(provider),
        _ => false,
    }
}

/// Takes out what is ours without a receipt: the table of our provider, and its selection. Lists
/// what may be ours and stays.
pub(super) fn provable(editor: &mut Editor, provider: &str, left: &mut Vec<Left>) -> Result<(), ConfigError> {
    let table: Path = vec![PROVIDERS.to_owned(), provider.to_owned()];
    let text = editor.text.clone();
    let layout = Layout::of(&text)?;
    let leaves = layout.leaves_below(&table);
    let (ours, others): (Vec<_>, Vec<_>) =
        leaves.iter().partition(|(leaf, entry)| is_managed(&layout, provider, leaf, &entry.value));
    let selected = layout.find(&[SELECTED]).and_then(|found| layout.string(&found.entry.value));
    if selected.as_deref() == Some(provider) {
        editor.take_out(&[SELECTED])?;
    }
    for (leaf, _) in &ours {
        // Codex refuses a whole file in which a provider has no name.
        if !others.is_empty() && leaf.last().is_some_and(|key| key == "name") {
            left.push(Left { path: dotted(leaf), why: Why::NeededByOthers });
            continue;
        }
        editor.take_out(leaf)?;
    }
    left.extend(others.iter().map(|(leaf, _)| Left { path: dotted(leaf), why: Why::NotOurs }));
    if others.is_empty() {
        take_out_containers(editor, &table)?;
    }
    let text = editor.text.clone();
    let layout = Layout::of(&text)?;
    if let Some(found) = layout.find(&[FEATURES, FEATURE])
        && Literal::Flag(false).is_said(layout.slice(&found.entry.value))
    {
        left.push(Left { path: dotted(&[FEATURES, FEATURE]), why: Why::MaybeYours });
    }
    Ok(())
}

/// Takes out what is left of a provider's table when its entries are gone.
fn take_out_containers(editor: &mut Editor, table: &[String]) -> Result<(), ConfigError> {
    let headers = [table, &[HEADERS.to_owned()]].concat();
    for path in [headers.as_slice(), table] {
        editor.take_out_table(path, true)?;
        let text = editor.text.clone();
        let layout = Layout::of(&text)?;
        let is_empty = |entry: &super::layout::Entry| entry.inside.as_ref().is_some_and(Vec::is_empty);
        if layout.find(path).is_some_and(|found| is_empty(found.entry)) {
            editor.take_out(path)?;
        }
    }
    Ok(())
}
