//! One session as an answer shows it, made from the events of a scan.
//!
//! Only what an answer needs is kept, so that a session of gigabytes takes no more memory than
//! its calls and prompts are many.

#[cfg(test)]
mod agree;
mod calls;
mod clip;
mod command;
mod family;
mod outline;
mod patch;
mod paths;
mod prompt;

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use ibid_harness::core::scan::CallLedger;
use ibid_harness::{Fact, ScanEvent, Sink};
use ibid_model::{Block, Message, Role, Text, Timestamp, Usage};
use ibid_redact::Redactor;

use self::calls::Calls;
use self::clip::Clip;
use crate::answer::{Dialogue, Prompt, Summary, TokenUsage, ToolActivity, Turn};
use crate::workspace::Workspace;

/// The most characters of a prompt that are shown.
pub(crate) const PROMPT_CHARS: usize = 200;

/// How much of a prompt is looked at for secrets, in bytes. Only its beginning is shown.
const PROMPT_READ: usize = 4 << 10;

/// The most models that are named.
const MODELS: usize = 100;

/// The summary of a session, and what lists of sessions need of it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Built {
    /// With everything that can be asked for.
    pub(crate) summary: Summary,
    /// Its latest time.
    pub(crate) last: Option<Timestamp>,
    /// Its size as JSON, in bytes.
    pub(crate) bytes: usize,
}

/// What is known of a session before its records are read.
#[derive(Clone, Debug)]
pub(crate) struct Known<'a> {
    pub(crate) id: &'a str,
    pub(crate) platform: &'a str,
    pub(crate) workspace: &'a Workspace,
    /// The directory it began in.
    pub(crate) cwd: Option<&'a str>,
    /// The times that its harness's own description has, or its files: they count when no record
    /// has any.
    pub(crate) times: [Option<Timestamp>; 2],
    /// Whether what was copied from a parent is left out, since the parent is there and has it.
    pub(crate) own_alone: bool,
}

/// Where something stands among the records of a session and its subagents: its time, or that of
/// what precedes it, then the order of reading.
type Order = (Option<Timestamp>, u64);

/// Takes the events of a session, and of its subagents one after the other.
pub(crate) struct Builder<'a> {
    known: Known<'a>,
    /// The directory of the records at this point.
    cwd: Option<Text>,
    /// The last time at this point.
    now: Option<Timestamp>,
    count: u64,
    first: Option<Timestamp>,
    last: Option<Timestamp>,
    said: Vec<Said>,
    /// The messages of the stream by their ids, and by their API ids.
    by_id: HashMap<u64, usize>,
    by_api_id: HashMap<u64, usize>,
    /// The message before, and its place when it counts.
    before: Option<(u64, Option<usize>)>,
    calls: Calls,
    ledger: CallLedger,
    /// What the harness itself summed, for sessions whose calls it does not keep.
    reported: Usage,
    models: Vec<String>,
    /// How much text is kept.
    kept: usize,
    cap: usize,
}

/// One message that counts.
struct Said {
    order: Order,
    at: Option<Timestamp>,
    role: Role,
    text: Clip,
    /// For the person's: whether anything is left once the program's own text is gone.
    prompt: bool,
}

/// How much text is kept before it is cut to what may be shown, in bytes.
const KEPT: usize = 1 << 20;

impl<'a> Builder<'a> {
    pub(crate) fn new(known: Known<'a>) -> Builder<'a> {
        let cwd = known.cwd.map(Text::from);
        Builder {
            known,
            cwd,
            now: None,
            count: 0,
            first: None,
            last: None,
            said: Vec::new(),
            by_id: HashMap::new(),
            by_api_id: HashMap::new(),
            before: None,
            calls: Calls::default(),
            ledger: CallLedger::default(),
            reported: Usage::default(),
            models: Vec::new(),
            kept: 0,
            cap: usize::MAX,
        }
    }

    /// Goes on with the records of a subagent that began in this directory.
    pub(crate) fn next_stream(&mut self, cwd: Option<&str>) {
        self.cwd = cwd.map(Text::from).or_else(|| self.known.cwd.map(Text::from));
        // What it has from its session is in its session.
        self.known.own_alone = true;
        self.now = None;
        self.by_id.clear();
        self.by_api_id.clear();
        self.before = None;
        self.calls.next_stream();
    }

    fn stamp(&mut self, at: Option<Timestamp>) {
        let Some(at) = at else { return };
        self.first = Some(self.first.map_or(at, |first| first.min(at)));
        self.last = Some(self.last.map_or(at, |last| last.max(at)));
        self.now = Some(at);
    }

    fn order(&mut self) -> Order {
        self.count += 1;
        (self.now, self.count)
    }

    fn model(&mut self, model: Option<&Text>) {
        // What a harness writes in place of a model stands in angle brackets.
        let Some(model) = model.filter(|model| !model.is_blank() && !model.starts_with('<')) else { return };
        if self.models.len() < MODELS && !self.models.iter().any(|known| *known == **model) {
            self.models.push(model.head(PROMPT_CHARS).to_owned());
        }
    }

    fn message(&mut self, message: &Message) {
        if message.inherited && self.known.own_alone {
            return;
        }
        self.stamp(message.at);
        if let Some(cwd) = &message.cwd {
            self.cwd = Some(cwd.clone());
        }
        if message.role == Role::Assistant {
            self.model(message.model.as_ref());
        }
        let counts = message.role == Role::Assistant || message.is_prompt();
        if counts {
            self.said(message);
        } else {
            self.before = Some((hash(message.id.as_str()), None));
        }
        for block in &message.blocks {
            match block {
                Block::ToolUse(call) => {
                    let order = self.order();
                    let cwd = self.cwd.as_ref().map(Text::to_str);
                    let cwd = cwd.as_deref();
                    self.kept += self.calls.take(call, message.at, order, (self.known.workspace, cwd));
                }
                Block::ToolResult(result) => self.kept += self.calls.answer(result, message.at),
                _ => {}
            }
        }
        if self.kept > KEPT {
            self.shorten();
        }
    }

    /// Takes what was said, as a message of its own or as a further piece of one that was begun.
    fn said(&mut self, message: &Message) {
        let id = hash(message.id.as_str());
        let api_id = message.api_id.as_ref().map(|id| hash(&id.to_str()));
        // As a full load joins them: a piece of the last message, or one with the API id of any.
        let last = self.before.filter(|(before, _)| *before == id).and_then(|(_, said)| said);
        let begun = last.or_else(|| self.by_api_id.get(&api_id?).max(self.by_id.get(&id)).copied());
        let at = match begun {
            Some(at) => at,
            None => {
                let order = self.order();
                self.said.push(Said {
                    order,
                    at: message.at,
                    role: message.role,
                    text: Clip::default(),
                    prompt: false,
                });
                self.said.len() - 1
            }
        };
        self.by_id.insert(id, at);
        self.before = Some((id, Some(at)));
        if let Some(api_id) = api_id {
            self.by_api_id.insert(api_id, at);
        }
        let Some(said) = self.said.get_mut(at) else { return };
        let before = said.text.len();
        if said.role == Role::Assistant {
            for text in message.texts() {
                said.text.push(&text.to_str());
            }
        } else {
            let text = prompt::typed(&person(message));
            said.prompt |= !text.is_empty();
            if said.text.is_blank() {
                said.text = Clip::whole(shown_prompt(&text));
            }
        }
        self.kept = (self.kept + said.text.len()).saturating_sub(before);
    }

    /// Lets go of text that the answer cannot show. What is shown gets only less as more comes.
    fn shorten(&mut self) {
        let texts = self.said.iter().map(|said| said.text.len()).chain(self.calls.lengths());
        self.cap = clip::cap(texts);
        let mut kept = 0;
        for clip in self.said.iter_mut().map(|said| &mut said.text).chain(self.calls.clips()) {
            clip.shorten(self.cap);
            kept += clip.len();
        }
        // So that text is looked through seldom, however many texts there are.
        self.kept = kept / 2;
    }

    /// The summary of what was taken.
    pub(crate) fn finish(mut self, redactor: &Redactor) -> Built {
        let (first, last) = self.times();
        let calls = self.ledger.into_calls();
        let mut usage = Usage::default();
        let mut models = std::mem::take(&mut self.models);
        for call in &calls {
            usage = usage.plus(&call.usage);
            if let Some(model) =
                call.model.as_ref().filter(|model| !model.is_blank() && !model.starts_with('<'))
                && models.len() < MODELS
                && !models.iter().any(|known| *known == **model)
            {
                models.push(model.head(PROMPT_CHARS).to_owned());
            }
        }
        if usage.is_unknown() {
            usage = self.reported;
        }
        self.said.sort_by_key(|said| said.order);
        self.calls.sort();
        let mut clips: Vec<&mut Clip> =
            self.said.iter_mut().map(|said| &mut said.text).chain(self.calls.clips()).collect();
        clip::settle(&mut clips, redactor);
        let mut prompts = Vec::new();
        let mut turns = Vec::new();
        let mut answers = 0_u32;
        for said in self.said {
            let timestamp = said.at.map(Timestamp::to_iso_milliseconds);
            if said.role == Role::Assistant {
                answers = answers.saturating_add(1);
                if !said.text.is_blank() {
                    turns.push(Turn { timestamp, response: Some(said.text.into_text()) });
                }
            } else if said.prompt {
                prompts.push(Prompt { text: said.text.into_text(), timestamp });
            }
        }
        let calls = self.calls.finish(self.known.platform, self.known.id);
        let count = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
        let mut summary = Summary {
            session_id: self.known.id.to_owned(),
            platform: self.known.platform.to_owned(),
            first_seen: first.map(Timestamp::to_iso_milliseconds),
            last_seen: last.map(Timestamp::to_iso_milliseconds),
            prompt_count: count(prompts.len()),
            prompts,
            assistant_message_count: answers,
            tool_call_count: count(calls.len()),
            tool_activity: Some(ToolActivity { calls }),
            dialogue: Some(Dialogue { turns }),
            models,
            token_usage: token_usage(&usage),
        };
        let bytes = bound(&mut summary);
        Built { summary, last: last.or(first), bytes }
    }

    /// The earliest and the latest time: of the records where they have any.
    fn times(&self) -> (Option<Timestamp>, Option<Timestamp>) {
        if self.first.is_some() {
            return (self.first, self.last);
        }
        match self.known.times {
            [Some(first), Some(last)] => (Some(first.min(last)), Some(first.max(last))),
            [first, last] => (first.or(last), last.or(first)),
        }
    }
}

impl Sink for Builder<'_> {
    fn take(&mut self, event: ScanEvent) -> bool {
        match event {
            // Of a fork the times of what was copied are among them, and cannot be told apart.
            ScanEvent::Fact(Fact::Stamp(at)) if !self.known.own_alone => self.stamp(Some(at)),
            ScanEvent::Fact(Fact::Cwd(cwd)) => self.cwd = Some(cwd),
            ScanEvent::Message(message) => self.message(&message),
            ScanEvent::ReportedUsage(usage) => self.reported = usage,
            ScanEvent::Call(mut call) if !(call.inherited && self.known.own_alone) => {
                self.stamp(call.at);
                call.sources = Vec::new();
                self.ledger.take(call);
            }
            _ => {}
        }
        true
    }
}

/// The most bytes of one summary as JSON. One session of a hundred thousand calls must not make
/// an answer impossible.
pub(crate) const SUMMARY: usize = 6 << 20;

/// Leaves out what makes a summary longer than any answer can hold: the dialogue first, then the
/// calls, then the later prompts. The counts stay. Returns the size.
fn bound(summary: &mut Summary) -> usize {
    let size = |summary: &Summary| serde_json::to_vec(summary).map_or(0, |json| json.len());
    let mut bytes = size(summary);
    if bytes > SUMMARY {
        summary.dialogue = None;
        bytes = size(summary);
    }
    if bytes > SUMMARY {
        summary.tool_activity = None;
        bytes = size(summary);
    }
    while bytes > SUMMARY && !summary.prompts.is_empty() {
        summary.prompts.truncate(summary.prompts.len() / 2);
        bytes = size(summary);
    }
    bytes
}

/// What a person said in a message, as one text.
fn person(message: &Message) -> String {
    let mut text = String::new();
    for block in &message.blocks {
        let (name, args) = match block {
            Block::Text(block) => (block.text.to_str(), None),
            Block::Command(command) => (command.name.to_str(), command.args.as_ref()),
            Block::Image(_) => ("[image]".into(), None),
            Block::Document(_) => ("[document]".into(), None),
            _ => continue,
        };
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&name);
        if let Some(args) = args {
            text.push(' ');
            text.push_str(&args.to_str());
        }
    }
    text
}

/// The beginning of a prompt, without secrets.
pub(crate) fn shown_prompt(text: &str) -> String {
    let read = text.get(..text.floor_char_boundary(PROMPT_READ)).unwrap_or_default();
    let redacted = Redactor::new().redact(read).text;
    let end = redacted.char_indices().nth(PROMPT_CHARS).map_or(redacted.len(), |(end, _)| end);
    redacted.get(..end).unwrap_or_default().trim_end().to_owned()
}

fn token_usage(usage: &Usage) -> Option<TokenUsage> {
    let tokens = TokenUsage {
        input_tokens: usage.input,
        output_tokens: usage.output,
        cache_read_input_tokens: usage.cache_read,
        cache_creation_input_tokens: usage.cache_write,
        reasoning_output_tokens: usage.reasoning,
        total_tokens: None,
    };
    (tokens != TokenUsage::default()).then_some(tokens)
}

/// Ids are kept as numbers, so that very many of them take little.
fn hash(id: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    hasher.finish()
}
