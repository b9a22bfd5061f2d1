//! A session as a Markdown page.

use std::collections::HashMap;
use std::fmt::Write as _;

use ibid_model::{
    Block, Data, Message, Origin, Role, Selection, Session, SessionDocument, Thinking, Timestamp, ToolResult,
};

use crate::output::{clean, clean_line};
use crate::rendering;

/// The page: facts in front, then the messages of the live branch, then those of the subagents.
///
/// `part` says which messages of how many there are, where the document holds only some.
pub(crate) fn markdown(document: &SessionDocument, selection: &Selection, part: Option<&str>) -> String {
    let mut page = front_matter(document, part);
    let title = title(&document.session);
    let _ = writeln!(page, "\n# {title}");
    messages(&mut page, &document.session, selection, "##");
    for child in &document.children {
        let _ = writeln!(page, "\n## Subagent: {}", self::title(child));
        messages(&mut page, child, &Selection::default(), "###");
    }
    page
}

fn title(session: &Session) -> String {
    let text = session.meta.title.as_ref().map(|title| &title.text).or(session.meta.preview.as_ref());
    text.map_or_else(|| "Session".to_owned(), |text| clean_line(text.head(200)))
}

fn front_matter(document: &SessionDocument, part: Option<&str>) -> String {
    let session = &document.session;
    let meta = &session.meta;
    let mut page = String::from("---\n");
    let mut fact = |name: &str, value: Option<&str>| {
        if let Some(value) = value {
            // A JSON string is a YAML string too, whatever is in it.
            let _ = writeln!(page, "{name}: {}", serde_json::Value::from(clean_line(value)));
        }
    };
    let time = |at: Option<Timestamp>| at.map(Timestamp::to_iso_milliseconds);
    fact("title", Some(&title(session)));
    fact("harness", Some(&session.harness));
    fact("id", Some(session.id.as_str()));
    fact("directory", meta.cwd.as_deref());
    fact("model", meta.model.as_deref());
    fact("started", time(meta.started).as_deref());
    fact("updated", time(meta.updated).as_deref());
    if let Some(part) = part {
        let _ = writeln!(page, "messages: {part}");
    }
    if let Some(redactions) = document.redactions {
        let _ = writeln!(page, "redactions: {redactions}");
    }
    page.push_str("---\n");
    page
}

fn messages(page: &mut String, session: &Session, selection: &Selection, heading: &str) {
    let view = session.view(selection);
    let blocks = view.messages.iter().flat_map(|message| &message.blocks);
    let mut results: HashMap<&str, &ToolResult> = HashMap::new();
    for block in blocks {
        if let Block::ToolResult(result) = block {
            results.entry(result.call.as_str()).or_insert(result);
        }
    }
    let mut called: Vec<&str> = Vec::new();
    for (at, message) in view.messages.iter().enumerate() {
        if view.compactions.iter().any(|(before, _)| *before == at) {
            page.push_str("\n*The history was compacted here.*\n");
        }
        let mut body = String::new();
        // What a harness put there is no Markdown: its tags would be taken for HTML.
        let written =
            matches!(message.origin, Origin::Person | Origin::Model) && message.role != Role::System;
        for block in &message.blocks {
            match block {
                Block::Text(text) if !written && !text.text.is_blank() => {
                    body.push_str(&fenced(&clean(&text.text)));
                }
                Block::ToolUse(call) => {
                    called.push(call.id.as_str());
                    let answer = results.get(call.id.as_str()).copied();
                    body.push_str(&fenced(&rendering::plain_call(call, answer)));
                }
                Block::ToolResult(result) if called.contains(&result.call.as_str()) => {}
                Block::ToolResult(result) => body.push_str(&fenced(&rendering::plain_result(result))),
                other => body.push_str(&block_text(other)),
            }
        }
        if !body.is_empty() {
            let _ = write!(page, "\n{heading} {}\n{body}", who(message));
        }
    }
}

fn who(message: &Message) -> String {
    let name = match (message.role, message.origin) {
        (_, Origin::Person) => "You".to_owned(),
        (Role::System, _) => "System".to_owned(),
        (_, Origin::Model) => message.model.as_ref().map_or_else(|| "Model".to_owned(), |m| clean_line(m)),
        (_, Origin::Tools) => "Tools".to_owned(),
        (_, Origin::Summary) => "Summary".to_owned(),
        (_, Origin::Agent) => "Another agent".to_owned(),
        _ => "Harness".to_owned(),
    };
    match message.at {
        Some(at) => format!("{name} ({})", at.to_iso_milliseconds()),
        None => name,
    }
}

fn block_text(block: &Block) -> String {
    match block {
        Block::Text(text) if text.text.is_blank() => String::new(),
        Block::Text(text) => format!("\n{}\n", clean(&text.text).trim_end()),
        Block::Thinking(thinking) => self::thinking(thinking),
        Block::Command(command) => {
            let args = command.args.as_ref().map(|args| format!(" {}", clean_line(args))).unwrap_or_default();
            format!("\n`{}{args}`\n", clean_line(&command.name).replace('`', "'"))
        }
        Block::Image(image) => mention("picture", image.name.as_deref(), &image.data),
        Block::Document(document) => mention("document", document.name.as_deref(), &document.data),
        Block::Other(other) => fenced(&clean(&format!("{} {}", other.kind, other.json.compact().as_str()))),
        _ => String::new(),
    }
}

fn thinking(thinking: &Thinking) -> String {
    if thinking.text.is_blank() {
        return String::new();
    }
    let lines: Vec<String> =
        clean(&thinking.text).trim_end().lines().map(|line| format!("> {line}\n")).collect();
    format!("\n> *Thinking*\n>\n{}", lines.concat())
}

fn mention(what: &str, name: Option<&str>, data: &Data) -> String {
    let name = name.map(|name| format!(" {}", clean_line(name))).unwrap_or_default();
    let place = match data {
        Data::Url(url) => format!(" at {}", clean_line(url)),
        Data::Path(path) => format!(" in {}", clean_line(path)),
        _ => String::new(),
    };
    format!("\n*[{what}{name}{place}]*\n")
}

/// Text in a code block whose fence is longer than any in the text.
fn fenced(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("\n{fence}text\n{}\n{fence}\n", text.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_longer_than_what_it_holds() {
        assert_eq!(fenced("a ```` b"), "\n`````text\na ```` b\n`````\n");
        assert_eq!(fenced("plain"), "\n```text\nplain\n```\n");
    }

    #[test]
    fn what_a_harness_put_there_is_no_markup() {
        let mut session = Session::new("test", "s");
        for (origin, text) in [(Origin::Harness, "<task-notification>done"), (Origin::Person, "*do* it")] {
            let mut message = Message::new(text, Role::User, origin);
            message.parent = session.messages.last().map(|message| message.id.clone());
            message.blocks.push(Block::text(text));
            session.messages.push(message);
        }
        let page = markdown(&SessionDocument::new(session), &Selection::default(), None);
        assert!(page.contains("```text\n<task-notification>done\n```"), "{page}");
        assert!(page.contains("\n\n*do* it\n"), "{page}");
    }

    #[test]
    fn a_title_cannot_break_out_of_the_front_matter() {
        let mut session = Session::new("test", "s");
        session.meta.preview = Some("x\"\n---\nevil: true".into());
        let page = markdown(&SessionDocument::new(session), &Selection::default(), None);
        assert!(page.starts_with("---\ntitle: \"x\\\" --- evil: true\"\n"), "{page}");
    }
}
