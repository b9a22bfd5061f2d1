//! The tags that the program puts around text which nobody typed, and around commands.

use ibid_model::{Command, Text};

/// Tags at the beginning of a text that mark it as put there by the program.
const INJECTED: &[&str] = &[
    "local-command-stdout",
    "local-command-stderr",
    "local-command-caveat",
    "bash-stdout",
    "bash-stderr",
    "task-notification",
    "system-reminder",
    "user-prompt-submit-hook",
];

/// The tag of a report that a subagent or another task sends.
const NOTIFICATION: &str = "task-notification";

/// What the tag at the beginning of a text says about who wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// The program.
    Harness,
    /// Another agent, through the program.
    Agent,
}

/// Reads the mark at the beginning of a text.
pub(super) fn mark(text: &str) -> Option<Mark> {
    let rest = text.trim_start().strip_prefix('<')?;
    let tag = INJECTED.iter().find(|tag| {
        rest.strip_prefix(**tag).is_some_and(|rest| rest.starts_with(['>', ' ', '\n', '/', '\t']))
    })?;
    Some(if *tag == NOTIFICATION { Mark::Agent } else { Mark::Harness })
}

/// Whether text that a person typed would be read as something else.
pub(super) fn is_mistakable(text: &Text) -> bool {
    mark(text).is_some() || command(text).is_some()
}

/// The command that a text is, when it is nothing but the tags of one: `<command-name>`, and
/// perhaps `<command-message>`, `<command-args>` and `<command-contents>`, in any order.
pub(super) fn command(text: &Text) -> Option<Command> {
    if !text.to_str().trim_start().starts_with("<command-") {
        return None;
    }
    let mut rest = text.trim();
    let (mut name, mut args) = (None, None);
    while !rest.is_empty() {
        let (tag, after) = rest.strip_prefix('<')?.split_once('>')?;
        if !matches!(tag, "command-name" | "command-message" | "command-args" | "command-contents") {
            return None;
        }
        let (value, after) = after.split_once(&format!("</{tag}>"))?;
        match tag {
            "command-name" => name = Some(value.trim()),
            "command-args" => args = Some(value.trim()),
            _ => {}
        }
        rest = after.trim_start();
    }
    let name = name.filter(|name| !name.is_empty())?;
    let name = match name.starts_with('/') {
        true => Text::part_of(text, name),
        false => Text::from(format!("/{name}")),
    };
    let args = args.filter(|args| !args.is_empty()).map(|args| Text::part_of(text, args));
    Some(Command { name, args })
}

/// Writes a command as the program does; none when it could not be read back as it is.
pub(super) fn command_text(command: &Command) -> Option<String> {
    let word = command.name.strip_prefix('/').unwrap_or(&command.name);
    let mut text = format!(
        "<command-name>/{word}</command-name>\n            <command-message>{word}</command-message>\n            <command-args>"
    );
    text.push_str(command.args.as_deref().unwrap_or_default());
    text.push_str("</command-args>");
    let text = Text::from(text);
    (self::command(&text).as_ref() == Some(command)).then(|| text.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_read_whatever_the_order_of_its_tags() {
        let text = Text::from(
            "<command-message>compact</command-message>\n<command-name>/compact</command-name>\n<command-args>keep <b></command-args>",
        );
        let command = command(&text).unwrap();
        assert_eq!((command.name.as_str(), command.args.as_deref()), ("/compact", Some("keep <b>")));
    }

    #[test]
    fn text_beside_the_tags_makes_it_text() {
        assert_eq!(command(&"<command-name>/x</command-name> and more".into()), None);
        assert_eq!(command(&"<command-name>/x".into()), None);
        assert_eq!(command(&"<command-args>x</command-args>".into()), None);
    }

    #[test]
    fn a_command_is_written_as_it_is_read() {
        let written = Command { name: "/init".into(), args: Some("now".into()) };
        assert_eq!(command(&command_text(&written).unwrap().into()), Some(written));
        let impossible = Command { name: "/a".into(), args: Some("</command-args>".into()) };
        assert_eq!(command_text(&impossible), None);
    }

    #[test]
    fn only_the_whole_name_of_a_tag_is_a_mark() {
        assert_eq!(mark("<local-command-stdout>x"), Some(Mark::Harness));
        assert_eq!(mark("\n <task-notification>\n"), Some(Mark::Agent));
        assert_eq!(mark("<bash-stdouts>"), None);
        assert_eq!(mark("see <system-reminder>"), None);
    }
}
