//! What a comparison found.

use std::collections::BTreeMap;
use std::fmt;

use ibid_model::LossKind;

use super::ledger::Unneeded;
use super::piece::Place;

/// Something of the source, with what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// Where it stands in the source.
    pub place: Place,
    /// What it is.
    pub what: String,
}

/// Something that was sent in another form than the source has it, and no loss says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// Where it stands in the source.
    pub place: Place,
    /// Where it stands in the request's body, as a JSON pointer.
    pub at: String,
    /// What it is.
    pub what: String,
    /// What is different.
    pub how: String,
    /// The losses, any one of which would have said so; none where nothing allows it.
    pub unreported: Vec<LossKind>,
}

/// Something that was sent and is in no part of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extra {
    /// Where it stands in the request's body, as a JSON pointer.
    pub at: String,
    /// What it is.
    pub what: String,
}

/// Something that was sent in another place than where the source has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misplaced {
    /// Where it stands in the source.
    pub place: Place,
    /// Where it stands in the request's body, as a JSON pointer.
    pub at: String,
    /// What it is.
    pub what: String,
}

/// How many pieces were sent, by what they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Texts of either side.
    pub texts: usize,
    /// Tool calls.
    pub calls: usize,
    /// Results of tools.
    pub results: usize,
    /// Pictures, in results too.
    pub pictures: usize,
    /// Thoughts.
    pub thoughts: usize,
}

/// What a comparison found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// The number of the exchange that was looked at; none when no request of the main conversation
    /// holds the prompt.
    pub request: Option<u64>,
    /// What was sent of the conversation.
    pub sent: Counts,
    /// What the source has and the request does not, and no loss says so.
    pub missing: Vec<Missing>,
    /// What is different, and no loss says so.
    pub changed: Vec<Changed>,
    /// What nobody said.
    pub extra: Vec<Extra>,
    /// What was sent once more than it was said.
    pub twice: Vec<Extra>,
    /// What was sent in another place.
    pub out_of_order: Vec<Misplaced>,
    /// What is missing or changed, and the loss that says so.
    pub explained: Vec<(Missing, LossKind)>,
    /// The losses that are reported and did not happen.
    pub unneeded: Vec<Unneeded>,
    /// The rules of the providers that the request breaks.
    pub refusals: Vec<String>,
    /// What the program added of itself, by the rule that knows it.
    pub added: BTreeMap<&'static str, usize>,
    /// How many pieces the program left out since they come before a compaction that is marked.
    pub compacted: usize,
}

/// How many differences of one sort are printed.
const SHOWN: usize = 5;

impl Verdict {
    /// Whether the request holds the whole conversation, and the report says exactly what it does not.
    #[must_use]
    pub fn passes(&self) -> bool {
        self.request.is_some() && self.differences() == 0
    }

    /// How many differences there are.
    #[must_use]
    pub fn differences(&self) -> usize {
        self.missing.len()
            + self.changed.len()
            + self.extra.len()
            + self.twice.len()
            + self.out_of_order.len()
            + self.unneeded.len()
            + self.refusals.len()
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(request) = self.request else {
            return writeln!(f, "no request of the main conversation holds the prompt");
        };
        let Counts { texts, calls, results, pictures, thoughts } = self.sent;
        let end = if self.passes() { "the whole conversation" } else { "not the conversation" };
        writeln!(
            f,
            "request {request}: {end} ({texts} texts, {calls} calls, {results} results, {pictures} pictures, \
             {thoughts} thoughts)"
        )?;
        if self.compacted > 0 {
            writeln!(f, "  {} before the compaction, left out by the program", self.compacted)?;
        }
        list(f, "missing", &self.missing, |f, one| write!(f, "{}: {}", one.place, one.what))?;
        list(f, "changed", &self.changed, |f, one| {
            write!(f, "{} ({}): {}: {}", one.place, one.at, one.what, one.how)?;
            match one.unreported.as_slice() {
                [] => Ok(()),
                kinds => write!(f, " (not reported: {})", codes(kinds)),
            }
        })?;
        list(f, "extra", &self.extra, |f, one| write!(f, "{}: {}", one.at, one.what))?;
        list(f, "twice", &self.twice, |f, one| write!(f, "{}: {}", one.at, one.what))?;
        list(f, "out of order", &self.out_of_order, |f, one| {
            write!(f, "{} ({}): {}", one.place, one.at, one.what)
        })?;
        list(f, "reported, and not seen", &self.unneeded, |f, one| {
            write!(f, "{} × {}", one.kind, one.count)?;
            if let Some(what) = &one.what {
                write!(f, " ({what:?})")?;
            }
            let names: Vec<&str> = one.messages.iter().take(SHOWN).map(|id| id.as_str()).collect();
            if names.is_empty() { Ok(()) } else { write!(f, " of {}", names.join(", ")) }
        })?;
        list(f, "refused", &self.refusals, |f, one| f.write_str(one))?;
        let mut kinds: BTreeMap<LossKind, usize> = BTreeMap::new();
        self.explained.iter().for_each(|(_, kind)| *kinds.entry(*kind).or_default() += 1);
        let kinds: Vec<String> = kinds.iter().map(|(kind, count)| format!("{kind} × {count}")).collect();
        if !kinds.is_empty() {
            writeln!(f, "  as reported: {}", kinds.join(", "))?;
        }
        let added: Vec<String> = self.added.iter().map(|(rule, count)| format!("{rule} × {count}")).collect();
        if !added.is_empty() {
            writeln!(f, "  added by the program: {}", added.join(", "))?;
        }
        Ok(())
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "message {} [{}]", self.number, self.message)
    }
}

fn codes(kinds: &[LossKind]) -> String {
    kinds.iter().map(|kind| kind.code()).collect::<Vec<_>>().join(" or ")
}

fn list<T>(
    f: &mut fmt::Formatter<'_>,
    title: &str,
    all: &[T],
    line: impl Fn(&mut fmt::Formatter<'_>, &T) -> fmt::Result,
) -> fmt::Result {
    for (number, one) in all.iter().enumerate() {
        if number == SHOWN {
            return writeln!(f, "  {title}: and {} more", all.len() - SHOWN);
        }
        write!(f, "  {title}: ")?;
        line(f, one)?;
        writeln!(f)?;
    }
    Ok(())
}
