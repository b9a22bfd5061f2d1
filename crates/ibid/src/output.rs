//! What the program prints: data on stdout, everything else on stderr.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::Result;
use ibid_harness::{Class, Discovered, Progress};
use ibid_model::{Finding, LossEffect, Losses, Severity};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use crate::table::{Table, counted};

/// The version of every JSON object that a command prints.
pub(crate) const JSON_VERSION: u32 = 1;

/// A reader that goes away (`ibid list | head`) is no failure worth a message.
pub(crate) fn die_quietly_on_broken_pipes() {
    let default = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let message = panic.payload_as_str().unwrap_or_default();
        if message.contains("Broken pipe") {
            std::process::exit(i32::from(crate::exit::Exit::Done.code()));
        }
        default(panic);
    }));
}

/// The reader of stdout went away (`ibid list | head`). It ends the program quietly, and as an error
/// so that what must be cleared up is.
#[derive(Debug, thiserror::Error)]
#[error("the reader of the output went away")]
pub(crate) struct ReaderGone;

/// Whether the reader of stdout went away.
pub(crate) fn is_reader_gone(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| cause.is::<ReaderGone>())
}

/// Prints to stdout.
///
/// # Errors
/// [`ReaderGone`] for a broken pipe, and when stdout cannot be written for another reason.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut out = anstream::stdout().lock();
    written(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

fn written(result: io::Result<()>) -> Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(ReaderGone.into()),
        other => Ok(other?),
    }
}

/// Prints bytes to stdout as they are.
///
/// # Errors
/// As [`print()`].
pub(crate) fn print_bytes(bytes: &[u8]) -> Result<()> {
    let mut out = io::stdout().lock();
    written(out.write_all(bytes).and_then(|()| out.flush()))
}

/// Prints one JSON object with the version in front.
///
/// # Errors
/// As [`print()`].
pub(crate) fn print_json<T: Serialize>(value: &T) -> Result<()> {
    #[derive(Serialize)]
    struct Versioned<'a, T> {
        ibid: u32,
        #[serde(flatten)]
        value: &'a T,
    }
    print_versioned(&Versioned { ibid: JSON_VERSION, value })
}

/// Prints one JSON object that has its version in it.
///
/// # Errors
/// As [`print()`].
pub(crate) fn print_versioned<T: Serialize>(value: &T) -> Result<()> {
    let mut text = serde_json::to_string_pretty(value)?;
    text.push('\n');
    print(&json_for_terminals(&text))
}

/// JSON that says the same and steers no terminal: JSON escapes only the control characters below
/// U+0020, and those above U+007F and the direction marks are written as escapes here. They can
/// stand in strings alone.
// https://github.com/vercel/ai/pull/20052 (fault 62)
pub(crate) fn json_for_terminals(json: &str) -> Cow<'_, str> {
    let steers = |c: char| matches!(c, '\u{7f}'..='\u{9f}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    if !json.contains(steers) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if steers(c) {
            let _ = write!(out, "\\u{:04x}", u32::from(c));
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// Prints a note for the person to stderr.
pub(crate) fn note(text: &str) {
    let _ = writeln!(anstream::stderr(), "{}", clean(text));
}

/// Prints an error and its causes as one sentence.
pub(crate) fn report(error: &anyhow::Error) {
    let mut message = String::new();
    for cause in error.chain() {
        let cause = cause.to_string();
        if message.ends_with(&cause) {
            continue;
        }
        if !message.is_empty() {
            message.push_str(": ");
        }
        message.push_str(&cause);
    }
    note(&format!("ibid: {message}"));
}

/// Text that is safe to print to a terminal on one line or several: escape sequences are taken
/// out whole, control characters but newline and tab too, and so are the characters that turn
/// the direction of text around.
// https://github.com/vercel/ai/pull/20052 (fault 62)
pub(crate) fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => skip_escape(&mut chars),
            '\u{9b}' => skip_control_sequence(&mut chars),
            '\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}' => skip_string(&mut chars),
            '\n' | '\t' => out.push(c),
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' => {}
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}

/// [`clean`] text on one line, its white space folded.
pub(crate) fn clean_line(text: &str) -> String {
    clean(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

type Chars<'a> = std::iter::Peekable<std::str::Chars<'a>>;

fn skip_escape(chars: &mut Chars<'_>) {
    match chars.next() {
        Some('[') => skip_control_sequence(chars),
        Some(']' | 'P' | 'X' | '^' | '_') => skip_string(chars),
        // Two-character sequences with an intermediate: ESC ( B
        Some(' '..='/') => {
            chars.next();
        }
        _ => {}
    }
}

fn skip_control_sequence(chars: &mut Chars<'_>) {
    for c in chars.by_ref() {
        if ('\u{40}'..='\u{7e}').contains(&c) {
            return;
        }
    }
}

/// Skips to the string terminator. One that never comes ends at the line, so that a cut sequence
/// does not take the rest of the text with it.
fn skip_string(chars: &mut Chars<'_>) {
    while let Some(c) = chars.peek().copied() {
        match c {
            '\n' => return,
            '\u{7}' | '\u{9c}' => {
                chars.next();
                return;
            }
            '\u{1b}' => {
                chars.next();
                if chars.peek() == Some(&'\\') {
                    chars.next();
                }
                return;
            }
            _ => {
                chars.next();
            }
        }
    }
}

/// Runs something that may take long, with a progress bar on stderr once half a second is over;
/// as long as nothing is counted, it turns.
pub(crate) fn with_progress<T>(what: &'static str, progress: &Progress, run: impl FnOnce() -> T) -> T {
    if !io::stderr().is_terminal() {
        return run();
    }
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            let mut bar: Option<ProgressBar> = None;
            let begin = Instant::now();
            while !over.load(Ordering::Relaxed) {
                std::thread::park_timeout(Duration::from_millis(50));
                if begin.elapsed() >= Duration::from_millis(500) {
                    advance(bar.get_or_insert_with(|| ProgressBar::no_length().with_message(what)), progress);
                }
            }
            if let Some(bar) = bar {
                bar.finish_and_clear();
            }
        });
        let result = run();
        over.store(true, Ordering::Relaxed);
        watcher.thread().unpark();
        result
    })
}

fn advance(bar: &ProgressBar, progress: &Progress) {
    let (found, read) = progress.counts();
    let template = if found == 0 { "{msg} {spinner}" } else { "{msg} {bar:30} {pos}/{len}" };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    if found > 0 {
        bar.set_length(found as u64);
        bar.set_position(read as u64);
    }
    bar.tick();
}

/// Runs something of unknown length that may take long.
pub(crate) fn with_patience<T>(what: &'static str, run: impl FnOnce() -> T) -> T {
    with_progress(what, &Progress::default(), run)
}

/// How many candidates are listed.
const CANDIDATES_SHOWN: usize = 10;

/// The message that lists what an ambiguous name could mean. Subagents of a candidate are left out;
/// sessions that only their place tells apart are listed with it.
pub(crate) fn candidates(name: &str, candidates: &[&Discovered]) -> String {
    let key = |session: &Discovered| (session.reference.harness, session.id.clone());
    let is_part = |session: &Discovered| {
        let parent = session.lineage.iter().find_map(|lineage| lineage.parent.as_ref());
        session.class == Class::Sidecar
            && parent.is_some_and(|parent| {
                candidates.iter().any(|other| key(other) == (session.reference.harness, parent.clone()))
            })
    };
    let shown: Vec<&Discovered> = candidates.iter().copied().filter(|session| !is_part(session)).collect();
    let names: HashSet<_> = shown.iter().map(|session| key(session)).collect();
    let twins = names.len() < shown.len();
    let mut message = format!("`{}` names {} sessions; say which:", clean_line(name), shown.len());
    for session in shown.iter().take(CANDIDATES_SHOWN) {
        let _ = write!(
            message,
            "\n  {}:{}  {}",
            session.reference.harness,
            clean_line(session.id.as_str()),
            label(session)
        );
        if twins {
            let _ = write!(message, "\n      {}", clean_line(&session.reference.to_string()));
        }
    }
    if shown.len() > CANDIDATES_SHOWN {
        let _ = write!(message, "\n  and {} more", shown.len() - CANDIDATES_SHOWN);
    }
    match (twins, names.len()) {
        (true, 1) => message.push_str("\nthey have the same id; give the path of one"),
        (true, _) => message.push_str("\nsome have the same id; give the path of one"),
        _ => {}
    }
    message
}

/// What a list calls a session: its title, or else what a person said first.
pub(crate) fn label(session: &Discovered) -> String {
    let meta = &session.meta;
    let text = meta.title.as_ref().map(|title| &title.text).or(meta.preview.as_ref());
    text.map_or_else(|| "(no title)".to_owned(), |text| clean_line(text.head(200)))
}

/// Losses for people.
pub(crate) fn losses_text(losses: &Losses) -> String {
    if losses.is_empty() {
        return "Losses: none\n".to_owned();
    }
    let mut table = Table::new(&["losses", "times", "", "what it means"]).right(1);
    for loss in losses {
        let what = loss.what.as_ref().map(|what| format!(" ({})", clean_line(what))).unwrap_or_default();
        let effect = match loss.kind.effect() {
            LossEffect::Changed => "changed",
            LossEffect::Added => "added",
            LossEffect::Dropped => "left behind",
        };
        table.row(vec![
            format!("{}{what}", loss.kind.code()),
            loss.count.to_string(),
            effect.to_owned(),
            loss.kind.meaning().trim().to_owned(),
        ]);
    }
    table.to_string()
}

/// Prints findings for people.
pub(crate) fn findings_text<'a>(findings: impl IntoIterator<Item = &'a Finding>) -> String {
    let mut text = String::new();
    for finding in findings {
        let _ = writeln!(text, "  {}\n      {}", clean_line(&finding.to_string()), finding.kind.advice());
    }
    text
}

/// Findings below what a person reads: those that matter, and how many notes there are besides.
/// None when there is nothing.
pub(crate) fn findings_below(heading: &str, findings: &[Finding], all: bool) -> Option<String> {
    let matters = |finding: &&Finding| all || finding.severity() > Severity::Note;
    let text = findings_text(findings.iter().filter(matters));
    let notes = findings.iter().filter(|finding| !matters(finding)).count();
    let notes = match notes {
        0 => String::new(),
        count => format!("({}; `--json` has everything)", counted(count as u64, "note")),
    };
    let lines = [if text.is_empty() { "" } else { heading }, text.trim_end(), &notes];
    let lines: Vec<&str> = lines.into_iter().filter(|line| !line.is_empty()).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    // https://github.com/NousResearch/hermes-agent/issues/40103 (fault 62)
    #[test]
    fn whole_escape_sequences_go_and_text_stays() {
        assert_eq!(clean("a\u{1b}[31mred\u{1b}[0m b"), "ared b");
        assert_eq!(clean("x\u{1b}]52;c;aGk=\u{7}y"), "xy");
        assert_eq!(clean("x\u{1b}]0;title\u{1b}\\y"), "xy");
        assert_eq!(clean("c1 \u{9b}2Jdone"), "c1 done");
        assert_eq!(clean("naïve 外주 é"), "naïve 外주 é");
    }

    #[test]
    fn json_says_the_same_and_steers_no_terminal() {
        let value = serde_json::json!({"title": "a\u{9b}2Jb\u{202e}c\u{7f}é"});
        let text = json_for_terminals(&value.to_string()).into_owned();
        assert_eq!(text, r#"{"title":"a\u009b2Jb\u202ec\u007fé"}"#);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
    }

    #[test]
    fn a_sequence_that_never_ends_takes_its_line_only() {
        assert_eq!(clean("a\u{1b}]52;c;zzz\nb"), "a\nb");
    }

    #[test]
    fn direction_marks_cannot_disguise_a_name() {
        assert_eq!(clean_line("exe\u{202e}txt.\n  x"), "exetxt. x");
    }
}
