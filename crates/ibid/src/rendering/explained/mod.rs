//! The joined record of a session.

mod places;

use ibid_capture::join::{
    Bound, Evidence, Explained, Fact, Lane, LaneReport, LaneState, Matched, Said, Spawned, State, Subagent,
    Subject, Tie, Turn, TurnOf, Verdict,
};
use ibid_model::{Session, Text, Timestamp};

use self::places::Places;
use super::style::{FAILED, FAINT, HEADING, paint};
use super::wrap::indented;
use crate::output::clean_line;
use crate::table::counted;

/// The record as people read it, at most `width` columns wide.
pub(crate) fn explained(explained: &Explained, session: &Session, width: Option<usize>) -> String {
    let mut page = Page { out: String::new(), width, places: Places::default() };
    let title = session.meta.title.as_ref().map(|title| &title.text).or(session.meta.preview.as_ref());
    let title = title.map_or_else(|| "(no title)".to_owned(), |text| clean_line(text.head(200)));
    page.line("", &paint(HEADING, title));
    let name = format!("{}:{}", explained.session.harness, clean_line(explained.session.id.as_str()));
    page.line("", &paint(FAINT, name));
    page.heading("Lanes");
    explained.lanes.iter().for_each(|lane| page.lane(lane));
    page.heading("Facts");
    explained.facts.iter().for_each(|fact| page.fact(fact));
    page.heading("Turns");
    if explained.turns.is_empty() {
        page.line("  ", "none of a person");
    }
    explained.turns.iter().for_each(|turn| page.turn(turn));
    if !explained.subagents.is_empty() {
        page.heading("Subagents");
        explained.subagents.iter().for_each(|agent| page.subagent(agent));
    }
    let legend = page.places.legend();
    if !legend.is_empty() {
        page.heading("Files");
        legend.iter().for_each(|line| page.line("  ", line));
    }
    page.out
}

/// The line about the lifecycle lane in the header of a session.
pub(super) fn at_a_glance(explained: &Explained) -> String {
    let observations =
        explained.lanes.iter().find(|lane| lane.lane == Lane::Lifecycle).and_then(|lane| lane.records);
    let announced = explained.turns.iter().filter(|turn| turn.lanes.contains(&Lane::Lifecycle)).count();
    let unfinished = explained.turns.iter().filter(|turn| turn.state == State::Unfinished).count();
    let mut words =
        vec![counted(observations.unwrap_or(0), "observation"), counted(announced as u64, "turn")];
    if unfinished > 0 {
        words.push(format!("{unfinished} unfinished"));
    }
    words.push(if disagrees(explained) {
        "disagrees; see `ibid explain`".to_owned()
    } else {
        "agrees".to_owned()
    });
    format!("lifecycle: {}", words.join(", "))
}

/// Whether the lanes say different things anywhere.
fn disagrees(explained: &Explained) -> bool {
    explained.findings.iter().any(|finding| finding.kind == ibid_model::FindingKind::LanesDisagree)
}

/// How much further to the right a line goes on.
const HANG: &str = "    ";

struct Page {
    out: String,
    width: Option<usize>,
    places: Places,
}

impl Page {
    /// One line; what does not fit goes on below, further to the right.
    fn line(&mut self, indent: &str, text: &str) {
        let room = self.width.map(|width| width.saturating_sub(HANG.len()));
        for (number, line) in indented(text, indent, room).lines().enumerate() {
            self.out.push_str(if number == 0 { "" } else { HANG });
            self.out.push_str(line);
            self.out.push('\n');
        }
    }

    fn heading(&mut self, text: &str) {
        self.out.push('\n');
        self.line("", &paint(HEADING, text));
    }

    /// What a lane says: its name, what it says, and where.
    fn said(&mut self, lane: Lane, text: &str, evidence: Option<&Evidence>) {
        let place = evidence.map(|evidence| self.places.of(evidence)).unwrap_or_default();
        let line = format!("{:<10} {text}  {place}", name(lane));
        self.line("      ", line.trim_end());
    }

    fn lane(&mut self, lane: &LaneReport) {
        let mut words = Vec::new();
        match (lane.state, lane.lane) {
            (LaneState::Present, Lane::AtRest) => {
                words.push(counted(lane.records.unwrap_or(0), "message"));
                words.push(format!("{} to {}", moment(lane.first), moment(lane.last)));
            }
            (LaneState::Present, _) => {
                let programs: Vec<String> = lane.programs.iter().map(|program| clean_line(program)).collect();
                let count = counted(lane.records.unwrap_or(0), "observation");
                words.push(format!("{count} of {}", programs.join(", ")));
                words.push(format!("{} to {}", moment(lane.first), moment(lane.last)));
            }
            (LaneState::Silent, _) => words.push("nothing in the journal is about this session".to_owned()),
            (LaneState::NoLane, _) => {
                words.push("unknown: this harness has no hooks that Ibid reads".to_owned());
            }
            (LaneState::NotInstalled, _) => {
                words
                    .push("unknown: no plugin of Ibid is installed in it (`ibid plugin install`)".to_owned());
            }
            (LaneState::Unreadable, _) => words.push("unknown: the journal could not be read".to_owned()),
        }
        let counts = [
            (lane.repeated, "repeated observation"),
            (lane.prompts_of_the_harness, "prompt of the harness itself"),
            (lane.extra_stops, "extra stop"),
            (lane.unread, "part of the journal that could not be read"),
        ];
        words.extend(counts.into_iter().filter(|(count, _)| *count > 0).map(|(count, what)| match what {
            "prompt of the harness itself" if count > 1 => format!("{count} prompts of the harness itself"),
            "part of the journal that could not be read" if count > 1 => {
                format!("{count} parts of the journal that could not be read")
            }
            what => counted(count, what),
        }));
        if lane.rotated_away {
            words.push("older entries were removed from the journal".to_owned());
        }
        self.line("  ", &format!("{:<10} {}", name(lane.lane), words.join(", ")));
    }

    fn fact(&mut self, fact: &Fact) {
        self.line("  ", &format!("{:<16} {}", fact.name.to_string(), verdict(fact.verdict)));
        fact.at_rest.iter().for_each(|said| self.value(Lane::AtRest, said));
        fact.lifecycle.iter().for_each(|said| self.value(Lane::Lifecycle, said));
    }

    fn value(&mut self, lane: Lane, said: &Said) {
        let mut text = clean_line(&said.value);
        if let Some(Evidence::Lifecycle { event, at, .. }) = &said.evidence {
            text.push_str(&format!("  {} {}", clean_line(event), moment(Some(*at))));
        }
        if said.times > 1 {
            text.push_str(&format!("  {} times", said.times));
        }
        self.said(lane, &text, said.evidence.as_ref());
    }

    fn turn(&mut self, turn: &Turn) {
        let by = match (turn.by, turn.lanes.as_slice()) {
            (Matched::TurnId, _) => "matched by its id",
            (Matched::Time, _) => "matched by time",
            (Matched::None, [Lane::AtRest]) => "only at rest",
            (Matched::None, _) => "only announced",
        };
        let id = turn.id.as_ref().map(|id| format!("  {}", clean_line(id))).unwrap_or_default();
        let span = span(turn.begin.as_ref(), turn.end.as_ref());
        self.line("  ", &format!("{:>3}  {span}, {}, {by}{id}", turn.number, state(turn.state)));
        self.evidence("prompt", turn.at_rest.as_ref(), &turn.lifecycle);
        if turn.end.as_ref().is_some_and(|end| end.lane == Lane::Lifecycle) && turn.at_rest.is_some() {
            self.line("      ", &paint(FAINT, "the end is from the lifecycle lane alone"));
        }
        if !turn.candidates.is_empty() {
            self.line("      ", "its time allows more than one match; it may be:");
            for candidate in &turn.candidates {
                self.observation(candidate);
            }
        }
    }

    fn evidence(&mut self, what: &str, at_rest: Option<&Evidence>, lifecycle: &[Evidence]) {
        if let Some(evidence) = at_rest {
            self.said(Lane::AtRest, what, Some(evidence));
        }
        lifecycle.iter().for_each(|evidence| self.observation(evidence));
    }

    fn observation(&mut self, evidence: &Evidence) {
        match evidence {
            Evidence::Lifecycle { event, at, .. } => {
                let text = format!("{} {}", clean_line(event), moment(Some(*at)));
                self.said(Lane::Lifecycle, &text, Some(evidence));
            }
            evidence => self.said(Lane::AtRest, "prompt", Some(evidence)),
        }
    }

    fn subagent(&mut self, agent: &Subagent) {
        let kind = agent.kind.at_rest.iter().chain(&agent.kind.lifecycle).next();
        let kind = kind.map(|kind| format!(" ({})", clean_line(kind))).unwrap_or_default();
        let late = if agent.late { ", announced after the end of the session" } else { "" };
        let only = match agent.lanes.as_slice() {
            [Lane::AtRest] => ", only at rest",
            [Lane::Lifecycle] => ", only announced",
            _ => "",
        };
        let span = span(agent.begin.as_ref(), agent.end.as_ref());
        let what = format!("{}{kind}  {span}, {}{only}{late}", clean_line(&agent.id), state(agent.state));
        self.line("  ", &what);
        self.line("      ", &turn_of(&agent.turn));
        self.subject("kind", &agent.kind);
        self.subject("transcript", &agent.transcript_path);
        if let Some(within) = &agent.within {
            self.line("      ", &format!("started by {}", clean_line(within.as_str())));
        }
        let call = if agent.turn.at_rest.is_some_and(|of| of.by == Tie::Call) { "call" } else { "session" };
        self.evidence(call, agent.at_rest.as_ref(), &agent.lifecycle);
        if !agent.candidates.is_empty() {
            let ids: Vec<String> = agent.candidates.iter().map(|id| clean_line(id.as_str())).collect();
            self.line("      ", &format!("more than one stored session may be it: {}", ids.join(", ")));
        }
    }

    /// A fact of a subagent; both values where they differ.
    fn subject(&mut self, what: &str, subject: &Subject) {
        if matches!(subject.verdict, Verdict::Disagree | Verdict::SamePlace) {
            let values =
                |values: &[Text]| values.iter().map(|v| clean_line(v)).collect::<Vec<_>>().join(", ");
            let stored = subject.at_rest.as_ref().map(|value| clean_line(value)).unwrap_or_default();
            let text = format!(
                "{what} {}: {stored} at rest, {} announced",
                verdict(subject.verdict),
                values(&subject.lifecycle)
            );
            self.line("      ", &text);
        }
    }
}

fn name(lane: Lane) -> &'static str {
    match lane {
        Lane::AtRest => "at rest",
        Lane::Lifecycle => "lifecycle",
        _ => "other",
    }
}

/// The turn that started a subagent, and how that is known.
fn turn_of(turn: &TurnOf) -> String {
    let by = |of: Spawned| match of.by {
        Tie::Call => "by its call",
        Tie::TurnId => "by the id of the turn",
        Tie::Time => "by time",
        Tie::Parent => "by the subagent that started it",
    };
    match (turn.at_rest, turn.lifecycle) {
        (None, None) => "turn unknown".to_owned(),
        (Some(of), None) => format!("turn {} {}, only at rest", of.turn, by(of)),
        (None, Some(of)) => format!("turn {} {}, only announced", of.turn, by(of)),
        (Some(stored), Some(said)) if stored.turn == said.turn => {
            format!("turn {} agrees: {} at rest, {} announced", stored.turn, by(stored), by(said))
        }
        (Some(stored), Some(said)) => format!(
            "turn {}: {} {} at rest, {} {} announced",
            paint(FAILED, "disagrees"),
            stored.turn,
            by(stored),
            said.turn,
            by(said)
        ),
    }
}

fn verdict(verdict: Verdict) -> String {
    match verdict {
        Verdict::Agree => "agrees".to_owned(),
        Verdict::SamePlace => "same place, other spelling".to_owned(),
        Verdict::Disagree => paint(FAILED, "disagrees"),
        Verdict::OnlyAtRest => "only at rest".to_owned(),
        Verdict::OnlyLifecycle => "only announced".to_owned(),
        _ => "unknown".to_owned(),
    }
}

fn state(state: State) -> &'static str {
    match state {
        State::Ended => "ended",
        State::Unfinished => "unfinished",
        State::Unknown => "end unknown",
    }
}

fn span(begin: Option<&Bound>, end: Option<&Bound>) -> String {
    let from = moment(begin.map(|bound| bound.at));
    match end {
        Some(end) => format!("{from} to {}", moment(Some(end.at))),
        None => format!("from {from}"),
    }
}

/// A time to the millisecond, in UTC as the evidence has it.
fn moment(at: Option<Timestamp>) -> String {
    at.map_or_else(|| "unknown".to_owned(), Timestamp::to_iso_milliseconds)
}
