//! What a person said, without what programs put around it.

/// Tags around text that nobody typed, beside every tag that ends in `context`.
const INJECTED: &[&str] = &[
    "skill",
    "recommended_plugins",
    "local-command-caveat",
    "local-command-stdout",
    "local-command-stderr",
    "command-name",
    "command-message",
    "command-args",
    "turn_aborted",
    "system-reminder",
    "user-prompt-submit-hook",
    "ide_opened_file",
    "ide_selection",
];

/// The longest prompt that is looked through, in bytes; what is behind that is kept as it is.
const LOOKED_AT: usize = 1 << 20;

/// The text that a person typed: without blocks that a program put in, and behind the heading
/// that an editor writes before the request when it puts its own state first.
pub(crate) fn typed(text: &str) -> String {
    let (head, rest) = text.split_at_checked(text.floor_char_boundary(LOOKED_AT)).unwrap_or((text, ""));
    let mut typed = without_blocks(head);
    if let Some(request) = request(&typed) {
        typed = request.to_owned();
    }
    typed.push_str(rest);
    let typed = typed.trim();
    delegated(typed).unwrap_or(typed).to_owned()
}

/// What was asked for in a request that a program hands on to an agent:
/// `<codex_delegation>...<input>What was asked</input></codex_delegation>`.
fn delegated(text: &str) -> Option<&str> {
    let inner = text.strip_prefix("<codex_delegation>")?.strip_suffix("</codex_delegation>")?;
    let (_, input) = inner.split_once("<input>")?;
    let (input, _) = input.rsplit_once("</input>")?;
    Some(input.trim()).filter(|input| !input.is_empty())
}

fn without_blocks(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        let (before, from) = rest.split_at_checked(at).unwrap_or((rest, ""));
        out.push_str(before);
        match block_end(from) {
            Some(end) => rest = from.get(end..).unwrap_or_default(),
            None => {
                out.push('<');
                rest = from.get(1..).unwrap_or_default();
            }
        }
    }
    out.push_str(rest);
    out
}

/// Where the injected block that a text begins with ends; none when it begins with none. A tag
/// without its end is what a person typed.
fn block_end(text: &str) -> Option<usize> {
    let inner = text.strip_prefix('<')?;
    let name_end = inner.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_'))?;
    let name = inner.get(..name_end).filter(|name| (1..=64).contains(&name.len()))?;
    let lower = name.to_ascii_lowercase();
    let context = lower.strip_suffix("context").is_some_and(|before| before.ends_with(['-', '_']));
    if !context && !INJECTED.contains(&lower.as_str()) {
        return None;
    }
    let open_end = text.find('>')? + 1;
    let body = text.get(open_end..)?;
    let close = format!("</{name}>");
    let at = body.find(&close)?;
    Some(open_end + at + close.len())
}

/// What stands behind the last heading of the kind `# My request:` or `## My request for X:`.
fn request(text: &str) -> Option<&str> {
    let mut found = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        at += line.len();
        let heading = line.trim().trim_start_matches('#');
        let is_heading = line.starts_with('#')
            && heading.trim_start().to_ascii_lowercase().starts_with("my request")
            && heading.trim_end().ends_with(':')
            && heading.len() < 80;
        if is_heading {
            found = text.get(at..);
        }
    }
    found.filter(|request| !request.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_put_around_a_request_is_not_part_of_it() {
        for (text, expected) in [
            ("Fix it\n<system-reminder>\nx < y\n</system-reminder>", "Fix it"),
            ("<environment_context><cwd>/w</cwd></environment_context>\nFix it", "Fix it"),
            ("<in-app-browser-context a=\"b\">x</in-app-browser-context>Fix it", "Fix it"),
            ("# Files mentioned:\n- a\n\n## My request for Assistant:\nFix it\n", "Fix it"),
            ("a < b && b > c", "a < b && b > c"),
            ("use <skill> here", "use <skill> here"),
            ("the <context>x</context> tag", "the <context>x</context> tag"),
            ("# My request:\n", "# My request:"),
            ("<system-reminder>x</system-reminder>", ""),
            ("<codex_delegation>\n<from>a</from>\n<input>\nFix it\n</input>\n</codex_delegation>", "Fix it"),
            (
                "<codex_delegation><input> </input></codex_delegation>",
                "<codex_delegation><input> </input></codex_delegation>",
            ),
        ] {
            assert_eq!(typed(text), expected);
        }
    }
}
