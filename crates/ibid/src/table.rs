//! Tables and the numbers in them.

use std::fmt;
use std::io::IsTerminal;

use comfy_table::presets::NOTHING;
use comfy_table::{Attribute, Cell, CellAlignment, ColumnConstraint, ContentArrangement};
use ibid_model::Timestamp;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// A table without lines, as wide as the terminal allows; piped output is never cut.
pub(crate) struct Table(comfy_table::Table);

impl Table {
    /// A table with these headings.
    pub(crate) fn new(headings: &[&str]) -> Table {
        let mut table = comfy_table::Table::new();
        table.load_style(NOTHING);
        if std::io::stdout().is_terminal() {
            table.set_content_arrangement(ContentArrangement::Dynamic);
        }
        let bold = |heading: &&str| Cell::new(heading).add_attribute(Attribute::Bold);
        table.set_header(headings.iter().map(bold));
        for column in table.column_iter_mut() {
            column.set_padding((0, 2));
        }
        Table(table)
    }

    /// Aligns a column to the right.
    pub(crate) fn right(mut self, column: usize) -> Table {
        if let Some(column) = self.0.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        self
    }

    /// Keeps a column in one piece, whatever the terminal's width.
    pub(crate) fn rigid(mut self, column: usize) -> Table {
        if let Some(column) = self.0.column_mut(column) {
            column.set_constraint(ColumnConstraint::ContentWidth);
        }
        self
    }

    /// Adds a row. Cells must be clean already.
    pub(crate) fn row(&mut self, cells: Vec<String>) {
        self.0.add_row(cells);
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in self.0.lines() {
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

/// The beginning of a text that fits into so many columns, with an ellipsis where it was cut.
pub(crate) fn beginning(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut cut = taken(text.chars(), columns.saturating_sub(1));
    cut.push('…');
    cut
}

/// The end of a text that fits into so many columns, with an ellipsis where it was cut: of a path
/// the end says more.
pub(crate) fn ending(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let end = taken(text.chars().rev(), columns.saturating_sub(1));
    std::iter::once('…').chain(end.chars().rev()).collect()
}

fn taken(chars: impl Iterator<Item = char>, columns: usize) -> String {
    let mut used = 0;
    let fits = |c: &char| {
        used += c.width().unwrap_or(0);
        used <= columns
    };
    chars.take_while(fits).collect()
}

/// A size for people, in powers of 1,000.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["kB", "MB", "GB", "TB"];
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64;
    let mut unit = "B";
    for next in UNITS {
        if value < 1000.0 {
            break;
        }
        value /= 1000.0;
        unit = next;
    }
    format!("{value:.1} {unit}")
}

/// A time of day for people, in the zone of this machine.
pub(crate) fn clock(at: Timestamp) -> String {
    at.to_jiff().to_zoned_datetime(jiff::tz::TimeZone::system()).strftime("%H:%M:%S").to_string()
}

/// A number of things. The word is one that takes `s`, or `es` behind `ch`.
pub(crate) fn counted(count: u64, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        count if what.ends_with("ch") => format!("{count} {what}es"),
        count => format!("{count} {what}s"),
    }
}

/// Two times for people, the second without its date when that is the same.
pub(crate) fn from_to(from: Option<Timestamp>, to: Option<Timestamp>) -> String {
    let (first, second) = (when(from), when(to));
    match (first.split_once(' '), second.split_once(' ')) {
        _ if first == second => first,
        (Some((day, _)), Some((other, time))) if day == other => format!("{first} to {time}"),
        _ => format!("{first} to {second}"),
    }
}

/// A time for people, in the zone of this machine.
pub(crate) fn when(at: Option<Timestamp>) -> String {
    match at {
        Some(at) => at
            .to_jiff()
            .to_zoned_datetime(jiff::tz::TimeZone::system())
            .strftime("%Y-%m-%d %H:%M")
            .to_string(),
        None => "unknown".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_cut_with_an_ellipsis() {
        assert_eq!(beginning("a title", 7), "a title");
        assert_eq!(beginning("a longer title", 7), "a long…");
        assert_eq!(ending("/home/dev/demo", 9), "…dev/demo");
        assert_eq!(beginning("外外外", 5), "外外…");
    }

    #[test]
    fn sizes_have_one_decimal_and_a_unit() {
        assert_eq!(size(999), "999 B");
        assert_eq!(size(1500), "1.5 kB");
        assert_eq!(size(2_000_000_000), "2.0 GB");
    }
}
