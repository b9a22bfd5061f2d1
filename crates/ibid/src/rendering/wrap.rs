//! Breaking lines at words.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The text in lines, each behind `indent`, broken at words where a width is given. A word longer
/// than a line is broken anywhere.
pub(super) fn indented(text: &str, indent: &str, width: Option<usize>) -> String {
    let mut out = String::with_capacity(text.len() + indent.len());
    let room = width.map(|width| width.saturating_sub(indent.width()).max(20));
    for line in text.trim_end_matches(['\n', ' ', '\t']).split('\n') {
        match room {
            Some(room) if line.width() > room => {
                for piece in broken(line, room) {
                    push(&mut out, indent, &piece);
                }
            }
            _ => push(&mut out, indent, line),
        }
    }
    out
}

fn push(out: &mut String, indent: &str, line: &str) {
    let line = line.trim_end();
    out.push_str(if line.is_empty() { indent.trim_end() } else { indent });
    out.push_str(line);
    out.push('\n');
}

/// A line in pieces of at most `room` columns. What the line is indented by stays in front of
/// every piece.
fn broken(line: &str, room: usize) -> Vec<String> {
    let lead: String = line.chars().take_while(|c| *c == ' ').take(room / 2).collect();
    let mut pieces = Vec::new();
    let mut piece = lead.clone();
    let mut used = lead.width();
    for word in line.trim_start_matches(' ').split_inclusive(' ') {
        let wide = word.trim_end().width();
        if used + wide > room && used > lead.width() {
            pieces.push(std::mem::replace(&mut piece, lead.clone()));
            used = lead.width();
        }
        if used + wide > room {
            for c in word.chars() {
                let columns = c.width().unwrap_or(0);
                if used + columns > room && used > lead.width() {
                    pieces.push(std::mem::replace(&mut piece, lead.clone()));
                    used = lead.width();
                }
                piece.push(c);
                used += columns;
            }
        } else {
            piece.push_str(word);
            used += word.width();
        }
    }
    pieces.push(piece);
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words_and_keep_their_indent() {
        let text = "  one two three four five six seven eight";
        let wrapped = indented(text, "> ", Some(22));
        assert_eq!(wrapped, ">   one two three four\n>   five six seven\n>   eight\n");
    }

    #[test]
    fn a_long_word_is_broken_anywhere_and_wide_characters_count_twice() {
        let wrapped = indented(&"外".repeat(15), "", Some(20));
        assert_eq!(wrapped, format!("{}\n{}\n", "外".repeat(10), "外".repeat(5)));
    }

    #[test]
    fn without_a_width_nothing_is_broken() {
        let text = "word ".repeat(100);
        assert_eq!(indented(&text, "", None).lines().count(), 1);
    }
}
