//! Colours, few and with a meaning each. Without a terminal they are taken out on the way.

use std::fmt::Display;

use anstyle::{AnsiColor, Style};

/// What a person said.
pub(super) const PERSON: Style = AnsiColor::Cyan.on_default().bold();
/// What a model said.
pub(super) const MODEL: Style = AnsiColor::Green.on_default().bold();
/// A tool call.
pub(super) const CALL: Style = AnsiColor::Yellow.on_default();
/// What failed.
pub(super) const FAILED: Style = AnsiColor::Red.on_default();
/// What is beside the point: times, results, notes of Ibid's own.
pub(super) const FAINT: Style = Style::new().dimmed();
/// A heading.
pub(super) const HEADING: Style = Style::new().bold();

/// The text in a style.
pub(super) fn paint(style: Style, text: impl Display) -> String {
    format!("{style}{text}{style:#}")
}
