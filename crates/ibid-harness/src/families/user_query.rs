//! What a person typed, and what the program put around it.
//!
//! Cursor and WorkBuddy send what was typed between `<user_query>` and `</user_query>`, behind a
//! description of the machine, the open files, rules and skills. In transcripts of subagents and of
//! older versions the tags may be missing.

use ibid_model::Text;

const OPEN: &str = "<user_query>";
const CLOSE: &str = "</user_query>";

/// The tags of what the programs put around a prompt, as public transcripts show them.
const CONTEXT: &[&str] = &[
    "additional_data",
    "agent_requestable_workspace_rules",
    "agent_skills",
    "agent_transcripts",
    "always_applied_workspace_rules",
    "attached_files",
    "available_skills",
    "available_subagent_models",
    "available_subagent_types",
    "craft_mode",
    "current_file",
    "cursor_commands",
    "cursor_rules",
    "dynamic_tools",
    "external_links",
    "git_status",
    "hooks_context",
    "image_files",
    "linter_errors",
    "manually_attached_skills",
    "mcp_file_system",
    "mcp_meta_tool_servers",
    "mcp_meta_tools",
    "open_and_recently_viewed_files",
    "open_files",
    "project_context",
    "project_layout",
    "recently_viewed_files",
    "rules",
    "system-reminder",
    "system_notification",
    "system_reminder",
    "task-notification",
    "task_notification",
    "terminal_files_information",
    "timestamp",
    "user_info",
    "user_rules",
];

/// Of these, what also stands behind a prompt.
const BEHIND: &[&str] = &["system-reminder", "system_reminder", "task-notification", "task_notification"];

/// A part of the text of a user's row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Typed by the person (or, for a subagent, given by its parent).
    Typed(Text),
    /// Put there by the program.
    Context(Text),
}

/// Whether a text says which part of it was typed.
pub(crate) fn has_query(text: &str) -> bool {
    text.contains(OPEN)
}

/// The parts of a text, in order, without white space at their ends; blank ones are left out.
/// `tagged` says that some text of the row has the tags, so that one without them is not typed.
pub(crate) fn parts(text: &Text, tagged: bool) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut add = |part: fn(Text) -> Part, found: &str| {
        let found = found.trim();
        if !found.is_empty() {
            parts.push(part(Text::part_of(text, found)));
        }
    };
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once(OPEN) {
        add(Part::Context, before);
        // A query ends at its last closing tag before the next one begins: the person may have
        // typed one too. A query that is never closed goes on to the end.
        let next = after.find(OPEN).unwrap_or(after.len());
        let (own, following) = after.split_at_checked(next).unwrap_or((after, ""));
        match own.rsplit_once(CLOSE) {
            Some((typed, behind)) => {
                add(Part::Typed, typed);
                add(Part::Context, behind);
            }
            None => add(Part::Typed, own),
        }
        rest = following;
    }
    if tagged {
        add(Part::Context, rest);
        return parts;
    }
    let mut rest = rest.trim();
    while let Some((context, behind)) = leading_context(rest) {
        add(Part::Context, context);
        rest = behind.trim_start();
    }
    let mut end = rest;
    while let Some((before, _)) = reminder_behind(end) {
        end = before.trim_end();
    }
    let behind = rest.get(end.len()..).unwrap_or_default();
    add(Part::Typed, end);
    add(Part::Context, behind);
    parts
}

/// A reminder at the end of a text, and what stands before it.
fn reminder_behind(text: &str) -> Option<(&str, &str)> {
    let inner = text.strip_suffix('>')?;
    let name =
        BEHIND.iter().find(|name| inner.strip_suffix(**name).is_some_and(|rest| rest.ends_with("</")))?;
    let start = text.rfind(&format!("<{name}>"))?;
    text.split_at_checked(start)
}

/// A block of context at the beginning of a text, and what follows it.
fn leading_context(text: &str) -> Option<(&str, &str)> {
    let inner = text.strip_prefix('<')?;
    let name = CONTEXT.iter().find(|name| {
        let behind = inner.strip_prefix(**name);
        behind.is_some_and(|behind| behind.starts_with(['>', ' ']))
    })?;
    let close = format!("</{name}>");
    let end = text.find(&close)? + close.len();
    text.split_at_checked(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(text: &str) -> Part {
        Part::Typed(text.into())
    }

    fn context(text: &str) -> Part {
        Part::Context(text.into())
    }

    fn parts_of(text: &str) -> Vec<Part> {
        parts(&text.into(), has_query(text))
    }

    #[test]
    fn what_stands_between_the_tags_was_typed_and_what_stands_around_them_was_not() {
        let text =
            "<user_info>\nOS: linux\n</user_info>\n<user_query>\n Rename foo \n</user_query>\nBe brief.";
        let expected =
            [context("<user_info>\nOS: linux\n</user_info>"), typed("Rename foo"), context("Be brief.")];
        assert_eq!(parts_of(text), expected);
    }

    #[test]
    fn two_queries_in_one_text_are_two() {
        let text = "<user_query>a</user_query><user_query>b</user_query>";
        assert_eq!(parts_of(text), [typed("a"), typed("b")]);
    }

    #[test]
    fn a_closing_tag_that_the_person_typed_is_theirs() {
        let text = "<user_query>What is </user_query> for?</user_query>";
        assert_eq!(parts_of(text), [typed("What is </user_query> for?")]);
    }

    #[test]
    fn a_query_that_is_not_closed_goes_on_to_the_end() {
        assert_eq!(parts_of("<user_query>\ncut"), [typed("cut")]);
    }

    #[test]
    fn without_the_tags_leading_context_is_told_from_what_was_typed() {
        let text = "<rules>x</rules>\n<open_files a=\"1\">y</open_files> Use <rules> well";
        let expected = [
            context("<rules>x</rules>"),
            context("<open_files a=\"1\">y</open_files>"),
            typed("Use <rules> well"),
        ];
        assert_eq!(parts_of(text), expected);
    }

    #[test]
    fn reminders_behind_what_was_typed_were_not_typed() {
        let text = "Sort it\n<system-reminder>a</system-reminder>\n<system-reminder>b</system-reminder>\n";
        let behind = "<system-reminder>a</system-reminder>\n<system-reminder>b</system-reminder>";
        assert_eq!(parts_of(text), [typed("Sort it"), context(behind)]);
        assert_eq!(parts_of("What is </system-reminder>"), [typed("What is </system-reminder>")]);
        assert_eq!(parts_of("Look at <rules>x</rules>"), [typed("Look at <rules>x</rules>")]);
    }

    #[test]
    fn a_tag_that_is_none_of_the_programs_was_typed() {
        assert_eq!(parts_of("<div>hi</div>"), [typed("<div>hi</div>")]);
        assert_eq!(parts_of("<rules> and no end"), [typed("<rules> and no end")]);
        assert_eq!(parts_of("<rulesets>x</rulesets>"), [typed("<rulesets>x</rulesets>")]);
    }

    #[test]
    fn a_text_beside_a_tagged_one_was_not_typed() {
        assert_eq!(parts(&"open files".into(), true), [context("open files")]);
        assert_eq!(parts(&" \n".into(), false), []);
    }
}
