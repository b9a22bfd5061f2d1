//! What tools gave back.

use ibid_model::{Data, Document, Image, Outcome, ResultPart, Text, ToolResult};

use super::style::{FAILED, FAINT, paint};
use super::wrap::indented;
use super::{CHARS_SHOWN, LINES_SHOWN, Options};
use crate::output::{clean, clean_line};
use crate::table::size;

/// The bar in front of a result's lines.
const BAR: &str = "  │ ";

/// A result under its call.
pub(super) fn result(result: &ToolResult, options: Options) -> String {
    let mut out = String::new();
    match result.outcome {
        Outcome::Error => out.push_str(&format!("{BAR}{}\n", paint(FAILED, "failed"))),
        Outcome::Interrupted => out.push_str(&format!("{BAR}{}\n", paint(FAILED, "interrupted"))),
        Outcome::Ok | Outcome::Unknown => {}
    }
    for part in &result.content {
        let text = match part {
            ResultPart::Text(text) => shortened(&text.text, options, BAR),
            ResultPart::Image(picture) => format!("{BAR}{}\n", image(picture)),
            ResultPart::Document(paper) => format!("{BAR}{}\n", document(paper)),
            ResultPart::Other(other) => {
                let json = Text::from(format!("{} {}", other.kind, other.json.compact().as_str()));
                shortened(&json, options, BAR)
            }
            _ => format!("{BAR}(a part of a kind this Ibid has no words for)\n"),
        };
        out.push_str(&text);
    }
    if result.content.is_empty() && out.is_empty() {
        out.push_str(&format!("{BAR}{}\n", paint(FAINT, "(no output)")));
    }
    out
}

/// A text behind a bar, cut to what is worth reading, with a note of how much was cut.
pub(super) fn shortened(text: &str, options: Options, bar: &str) -> String {
    let text = clean(text);
    let text = text.trim_end();
    if text.is_empty() {
        return format!("{bar}{}\n", paint(FAINT, "(blank)"));
    }
    if options.full {
        return indented(text, bar, options.width);
    }
    let mut shown = String::new();
    let mut chars = 0;
    let mut lines = 0;
    let mut cut = false;
    for line in text.split('\n') {
        if lines == LINES_SHOWN || chars >= CHARS_SHOWN {
            cut = true;
            break;
        }
        let room = CHARS_SHOWN - chars;
        let part: String = line.chars().take(room).collect();
        cut |= part.len() < line.len();
        chars += part.chars().count();
        shown.push_str(&part);
        shown.push('\n');
        lines += 1;
    }
    let mut out = indented(&shown, bar, options.width);
    if cut {
        let rest_lines = text.split('\n').count().saturating_sub(lines);
        let rest_bytes = text.len().saturating_sub(shown.len());
        let note = match rest_lines {
            0 => format!("… {} more; --full shows all", size(rest_bytes as u64)),
            1 => format!("… 1 more line, {}; --full shows all", size(rest_bytes as u64)),
            lines => format!("… {lines} more lines, {}; --full shows all", size(rest_bytes as u64)),
        };
        out.push_str(&format!("{bar}{}\n", paint(FAINT, note)));
    }
    out
}

/// A picture, described.
pub(super) fn image(image: &Image) -> String {
    described("picture", image.media_type.as_ref(), image.name.as_ref(), &image.data)
}

/// A document, described.
pub(super) fn document(document: &Document) -> String {
    described("document", document.media_type.as_ref(), document.name.as_ref(), &document.data)
}

// https://github.com/siteboon/claudecodeui/pull/1319 (fault 42)
fn described(what: &str, media_type: Option<&Text>, name: Option<&Text>, data: &Data) -> String {
    let mut words = vec![what.to_owned()];
    words.extend(name.map(|name| clean_line(name)));
    words.extend(media_type.map(|media_type| clean_line(media_type)));
    words.push(match data {
        Data::Base64(base64) => size(base64.len() as u64 / 4 * 3),
        Data::Text(text) => size(text.len() as u64),
        Data::Url(url) => format!("at {}", clean_line(url)),
        Data::Path(path) => format!("in {}", clean_line(path)),
        Data::ProviderFile(id) => format!("kept by the provider as {}", clean_line(id)),
        Data::Absent => "not kept".to_owned(),
    });
    paint(FAINT, format!("[{}]", words.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_result_says_how_much_was_cut() {
        let text = "line\n".repeat(50);
        let shown = shortened(&text, Options::default(), "| ");
        assert_eq!(shown.lines().count(), LINES_SHOWN + 1);
        assert!(shown.contains("… 38 more lines, 189 B; --full shows all"), "{shown}");
    }

    #[test]
    fn all_of_it_is_shown_when_asked() {
        let text = "line\n".repeat(50);
        let options = Options { full: true, width: None };
        assert_eq!(shortened(&text, options, "| ").lines().count(), 50);
    }
}
