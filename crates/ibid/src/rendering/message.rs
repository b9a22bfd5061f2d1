//! Messages, one after another.

use std::collections::{HashMap, HashSet};

use ibid_model::{
    Block, Compaction, Message, Origin, Role, Selection, Session, Text, Thinking, ToolResult, ToolUse, View,
};

use super::style::{CALL, FAINT, HEADING, MODEL, PERSON, paint};
use super::wrap::indented;
use super::{Options, result, tool};
use crate::output::{clean, clean_line};
use crate::table::clock;

/// Renders the messages of a view.
pub(crate) struct Renderer<'a> {
    options: Options,
    view: View<'a>,
    from_compaction: bool,
    /// The number of the view's first message, counted from 1.
    first: usize,
    results: HashMap<&'a str, &'a ToolResult>,
    /// The numbers of the messages whose results are outside the range, by their calls.
    outside: HashMap<&'a str, usize>,
    shown: HashSet<&'a str>,
    /// Which session a call handed its task to, as a name for `ibid show`.
    agents: HashMap<String, String>,
}

impl<'a> Renderer<'a> {
    /// A renderer of the messages that the selection picks. `agents` names, by call, the sessions
    /// of subagents.
    pub(crate) fn new(
        session: &'a Session,
        selection: &Selection,
        options: Options,
        agents: HashMap<String, String>,
    ) -> Renderer<'a> {
        let view = session.view(selection);
        let mut results = HashMap::new();
        for block in view.messages.iter().flat_map(|message| &message.blocks) {
            if let Block::ToolResult(result) = block {
                results.entry(result.call.as_str()).or_insert(result);
            }
        }
        let mut outside = HashMap::new();
        if selection.span.is_some() {
            let whole = session.view(&Selection { span: None, ..selection.clone() });
            for (at, message) in whole.messages.iter().enumerate() {
                for block in &message.blocks {
                    if let Block::ToolResult(result) = block {
                        outside.entry(result.call.as_str()).or_insert(at.saturating_add(1));
                    }
                }
            }
        }
        let first = selection.span.map_or(1, |span| span.start.saturating_add(1));
        let from_compaction = selection.from_compaction;
        Renderer { options, view, from_compaction, first, results, outside, shown: HashSet::new(), agents }
    }

    /// Hands out the text piece by piece until `sink` says that nobody is reading.
    ///
    /// # Errors
    /// Whatever the sink returns.
    pub(crate) fn run(mut self, mut sink: impl FnMut(&str) -> anyhow::Result<bool>) -> anyhow::Result<()> {
        let messages = self.view.messages.clone();
        for (at, message) in messages.into_iter().enumerate() {
            let marks = self.marks(at);
            let text = self.message(message, at);
            if !sink(&marks)? || !sink(&text)? {
                return Ok(());
            }
        }
        sink(&self.marks(self.view.messages.len()))?;
        Ok(())
    }

    /// The compactions that stand before message `at`.
    fn marks(&self, at: usize) -> String {
        let here = self.view.compactions.iter().filter(|(before, _)| *before == at);
        here.map(|(_, compaction)| self.compaction(compaction)).collect()
    }

    fn compaction(&self, compaction: &Compaction) -> String {
        let trigger = compaction.trigger.as_ref().map(|trigger| format!(", {}", clean_line(trigger)));
        let tokens = compaction.tokens_before.map(|tokens| format!(", {tokens} tokens before"));
        let hint = match self.from_compaction {
            true => "; the model sees what follows",
            false => "; --from-compaction shows what the model still sees",
        };
        let (trigger, tokens) = (trigger.unwrap_or_default(), tokens.unwrap_or_default());
        let line = format!("── compacted here{trigger}{tokens}{hint} ──");
        let mut out = format!("\n{}\n", paint(HEADING, line));
        if let Some(text) = &compaction.text {
            out.push_str(&result::shortened(text, self.options, "  "));
        }
        out
    }

    fn message(&mut self, message: &'a Message, at: usize) -> String {
        let mut body = String::new();
        // What a harness put in front of the model is long, and seldom what is looked for.
        let aside =
            message.role == Role::System || matches!(message.origin, Origin::Harness | Origin::Summary);
        for block in &message.blocks {
            match block {
                Block::Text(text) if aside && !text.text.is_blank() => {
                    body.push_str(&result::shortened(&text.text, self.options, "  "));
                }
                block => body.push_str(&self.block(block)),
            }
        }
        if body.is_empty() {
            return body;
        }
        let number = self.first.saturating_add(at);
        let (style, who) = match (message.role, message.origin) {
            (_, Origin::Person) => (PERSON, "you".to_owned()),
            (Role::System, _) => (FAINT, "system".to_owned()),
            (_, Origin::Model) => {
                (MODEL, message.model.as_ref().map_or_else(|| "model".to_owned(), |m| clean_line(m)))
            }
            (_, Origin::Tools) => (CALL, "tools".to_owned()),
            (_, Origin::Summary) => (FAINT, "summary of what was compacted".to_owned()),
            (_, Origin::Agent) => (PERSON, "another agent".to_owned()),
            _ => (FAINT, "harness".to_owned()),
        };
        let time = message.at.map(|at| format!("  {}", clock(at))).unwrap_or_default();
        let copied = if message.inherited { "  (copied from the parent)" } else { "" };
        let side = if message.sidechain { "  (sidechain)" } else { "" };
        let rest = paint(FAINT, format!("{time}{copied}{side}"));
        format!("\n{} {}{rest}\n{body}", paint(FAINT, format!("[{number}]")), paint(style, who))
    }

    fn block(&mut self, block: &'a Block) -> String {
        match block {
            Block::Text(text) if text.text.is_blank() => String::new(),
            Block::Text(text) => indented(&clean(&text.text), "  ", self.options.width),
            Block::Thinking(thinking) => self.thinking(thinking),
            Block::ToolUse(call) => self.call(call),
            Block::ToolResult(answer) if self.shown.contains(answer.call.as_str()) => String::new(),
            Block::ToolResult(answer) => result::result(answer, self.options),
            Block::Image(image) => format!("  {}\n", result::image(image)),
            Block::Document(document) => format!("  {}\n", result::document(document)),
            Block::Command(command) => {
                let args = command.args.as_ref().map(|args| format!(" {}", clean(args)));
                let line = format!("{}{}", clean_line(&command.name), args.unwrap_or_default());
                indented(&line, "  ", self.options.width)
            }
            Block::Other(other) => {
                let line = Text::from(format!("{} {}", other.kind, other.json.compact().as_str()));
                result::shortened(&line, self.options, "  ")
            }
            _ => String::new(),
        }
    }

    fn thinking(&self, thinking: &Thinking) -> String {
        if self.options.full && !thinking.text.is_blank() {
            let text = indented(&clean(&thinking.text), "  ", self.options.width);
            return format!("  {}\n{text}", paint(FAINT, "thinking:"));
        }
        let note = match thinking.text.chars().count() {
            0 => "(thinking, kept by the provider)".to_owned(),
            count => format!("(thinking, {count} characters)"),
        };
        format!("  {}\n", paint(FAINT, note))
    }

    fn call(&mut self, call: &'a ToolUse) -> String {
        let mut out = tool::call(call, self.options);
        if let Some(name) = self.agents.get(call.id.as_str()) {
            out.push_str(&format!("    {}\n", paint(FAINT, format!("→ ibid show {name}"))));
        }
        if let Some(answer) = self.results.get(call.id.as_str())
            && self.shown.insert(call.id.as_str())
        {
            out.push_str(&result::result(answer, self.options));
        } else if let Some(number) = self.outside.get(call.id.as_str())
            && !self.results.contains_key(call.id.as_str())
        {
            let note = format!("(its result is message {number}, outside the range)");
            out.push_str(&format!("    {}\n", paint(FAINT, note)));
        }
        out
    }
}
