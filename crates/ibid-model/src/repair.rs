//! The repairs that every target needs before a conversation can be written for it.
//!
//! Providers refuse a conversation in which a tool result does not follow its call, a call has no
//! result, a text is blank, a call id has odd characters, or thinking carries no valid signature.
//! [`prepare`] turns any view of a session into messages for which none of that is so, by the
//! [`Rules`] of the target, and says what it had to change.

use std::collections::VecDeque;

use crate::{
    Block, CallId, CarrierRole, Compaction, Json, LossKind, Losses, Message, MessageId, Origin, Outcome,
    ResultPart, Role, Selection, Session, Text, TextBlock, Thinking, TokenUse, Tool, ToolResult, ToolUse,
};
use foldhash::{HashMap, HashSet};

/// What a target does with thinking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThinkingRule {
    /// It takes none.
    Drop,
    /// It is a form for exchange, and takes everything as it is.
    Keep,
    /// It takes the text alone, and shows it to people without sending it to the model.
    Text,
    /// It takes thinking only with a token of this provider, since it sends what it finds.
    Signed(&'static str),
}

/// What a target does with the commands of the harness that a person ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandRule {
    /// It has commands of its own.
    Keep,
    /// They become plain text.
    Text,
}

/// What a target accepts.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Thinking.
    pub thinking: ThinkingRule,
    /// Commands.
    pub commands: CommandRule,
    /// Whether it has a place for system messages.
    pub system_messages: bool,
    /// Whether it has a place for text that a harness put in front of the model.
    pub injected_context: bool,
    /// Whether a message from another agent can be told from a person's.
    pub agent_messages: bool,
    /// The greatest length of a call id in bytes; longer ones are derived anew.
    pub call_id_bytes: usize,
    /// The text of the result that completes an interrupted call.
    pub interrupted: &'static str,
}

impl Rules {
    /// What the providers' APIs ask of everyone: call ids of `A-Z a-z 0-9 _ -` with at most 64
    /// characters, no thinking, no commands, no system messages.
    pub const STRICT: Rules = Rules {
        thinking: ThinkingRule::Drop,
        commands: CommandRule::Text,
        system_messages: false,
        injected_context: false,
        agent_messages: false,
        call_id_bytes: 64,
        interrupted: "[interrupted: the session has no result for this call]",
    };
}

/// A conversation that a target can take.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// The messages, in order, each the parent of the next. Their sources stay with the session.
    pub messages: Vec<Message>,
    /// The compactions, each with the number of messages before it.
    pub compactions: Vec<(usize, Compaction)>,
    /// What had to be changed or left behind.
    pub losses: Losses,
}

/// Makes the messages that the selection picks fit for a target.
///
/// The result is the same for the same input. In it every tool call is answered right behind the
/// message that makes it, by one message with nothing but results, in the order of the calls;
/// call ids are unique and within the alphabet; no text is blank; no message is empty.
#[must_use]
pub fn prepare(session: &Session, selection: &Selection, rules: &Rules) -> Prepared {
    let mut preparation = Preparation::new(session, selection, rules);
    let (mut messages, mut compactions) = (Vec::new(), Vec::new());
    for step in &mut preparation {
        match step {
            Step::Message(message) => messages.push(message),
            Step::Compaction(compaction) => compactions.push((messages.len(), compaction.clone())),
        }
    }
    Prepared { messages, compactions, losses: preparation.into_losses() }
}

/// What comes next in a conversation that a target can take.
#[derive(Debug)]
pub enum Step<'a> {
    /// A message, the child of the one before it.
    Message(Message),
    /// The history before this was compacted.
    Compaction(&'a Compaction),
}

/// The same as [`prepare`], one message at a time, so that a long session need not be in memory
/// twice.
pub struct Preparation<'a> {
    rules: Rules,
    view: Vec<&'a Message>,
    /// The message of the view that is next.
    at: usize,
    pending: VecDeque<(usize, &'a Compaction)>,
    results: Results<'a>,
    ids: Ids,
    losses: Losses,
    /// What became of the message that was taken last.
    messages: VecDeque<Message>,
    parent: Option<MessageId>,
}

impl<'a> Preparation<'a> {
    /// Begins with the first message that the selection picks.
    #[must_use]
    pub fn new(session: &'a Session, selection: &Selection, rules: &Rules) -> Preparation<'a> {
        let view = session.view(selection);
        let mut losses = Losses::none();
        losses.add_many(LossKind::SideBranch, view.on_other_branches as u64, None, None);
        losses.add_many(LossKind::BeforeCompaction, view.before_compaction as u64, None, None);
        losses.add_many(LossKind::CompactionSummary, view.summaries_left_out as u64, None, None);
        companions(session, &mut losses);
        Preparation {
            rules: *rules,
            at: 0,
            pending: view.compactions.into(),
            results: Results::gather(&view.messages),
            view: view.messages,
            ids: Ids::default(),
            losses,
            messages: VecDeque::new(),
            parent: None,
        }
    }

    /// What had to be changed or left behind in all that the iterator gave; of one that was read
    /// to its end, the results that answer no call too.
    #[must_use]
    pub fn into_losses(mut self) -> Losses {
        if self.at >= self.view.len() {
            self.losses.add_many(LossKind::OrphanResult, self.results.left() as u64, None, None);
        }
        self.losses
    }
}

impl<'a> Iterator for Preparation<'a> {
    type Item = Step<'a>;

    fn next(&mut self) -> Option<Step<'a>> {
        loop {
            if let Some(mut message) = self.messages.pop_front() {
                message.parent = self.parent.replace(message.id.clone());
                return Some(Step::Message(message));
            }
            let message = self.view.get(self.at).copied();
            let due = |(before, _): &mut (usize, &Compaction)| message.is_none() || *before <= self.at;
            if let Some((_, compaction)) = self.pending.pop_front_if(due) {
                return Some(Step::Compaction(compaction));
            }
            self.take(message?, self.at);
            self.at += 1;
        }
    }
}

/// What lies beside the conversation goes with no conversion.
fn companions(session: &Session, losses: &mut Losses) {
    for carrier in &session.carriers {
        match carrier.role {
            CarrierRole::Audit => losses.add(LossKind::Companion, Some("audit log"), None),
            CarrierRole::Companion => {
                let name = carrier.path.rsplit(['/', '\\']).next();
                losses.add(LossKind::Companion, name, None);
            }
            CarrierRole::Transcript | CarrierRole::Record | CarrierRole::Metadata | CarrierRole::Rows => {}
        }
    }
}

/// The results of a view, by the call that they answer, in order.
struct Results<'a> {
    by_call: HashMap<&'a str, VecDeque<(Place, &'a ToolResult)>>,
}

/// Where a block stands: the message of the view, and the block of the message.
type Place = (usize, usize);

impl<'a> Results<'a> {
    fn gather(messages: &[&'a Message]) -> Results<'a> {
        let mut by_call: HashMap<&str, VecDeque<(Place, &ToolResult)>> = HashMap::default();
        for (at, message) in messages.iter().enumerate() {
            for (number, block) in message.blocks.iter().enumerate() {
                if let Block::ToolResult(result) = block {
                    by_call.entry(result.call.as_str()).or_default().push_back(((at, number), result));
                }
            }
        }
        Results { by_call }
    }

    /// The first result of the call that stands behind position `at` and has not been taken.
    fn take(&mut self, call: &CallId, at: usize) -> Option<(Place, &'a ToolResult)> {
        let queue = self.by_call.get_mut(call.as_str())?;
        let place = queue.iter().position(|((message, _), _)| *message >= at)?;
        queue.remove(place)
    }

    fn left(&self) -> usize {
        self.by_call.values().map(VecDeque::len).sum()
    }
}

/// The call ids of the target.
#[derive(Default)]
struct Ids {
    used: HashSet<CallId>,
}

impl Ids {
    fn assign(&mut self, id: &CallId, limit: usize) -> CallId {
        let fits = |id: &str| {
            !id.is_empty()
                && id.len() <= limit
                && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
        };
        if fits(id.as_str()) && self.used.insert(id.clone()) {
            return id.clone();
        }
        for attempt in 0_u64.. {
            let name = format!("{attempt}:{}", id.as_str());
            let derived = uuid::Uuid::new_v5(&CALL_NAMESPACE, name.as_bytes()).simple().to_string();
            let derived = CallId::from(format!("call_{derived}"));
            if self.used.insert(derived.clone()) {
                return derived;
            }
        }
        id.clone()
    }
}

/// The namespace of call ids that are derived from ones a target refuses.
const CALL_NAMESPACE: uuid::Uuid = uuid::Uuid::from_u128(0x5d0c_9a52_6f0e_4a43_9c55_1b1d_0c61_7ad1);

impl Preparation<'_> {
    fn take(&mut self, message: &Message, at: usize) {
        if message.role == Role::System && !self.rules.system_messages {
            self.losses.add(LossKind::SystemMessage, None, Some(&message.id));
            return;
        }
        let pictures = message.blocks.iter().any(|b| matches!(b, Block::Image(_) | Block::Document(_)));
        let only_results = message.blocks.iter().all(|b| matches!(b, Block::ToolResult(_)));
        // Of what a harness put in, pictures and documents are content, and its text is not.
        let put_in = message.origin == Origin::Harness && !self.rules.injected_context && !only_results;
        if put_in && !pictures {
            self.losses.add(LossKind::InjectedContext, None, Some(&message.id));
            return;
        }
        let mut kept = Vec::with_capacity(message.blocks.len());
        let mut answers = Vec::new();
        let mut reached = (0, 0);
        for block in &message.blocks {
            match block {
                Block::ToolResult(_) => {}
                Block::Text(_) | Block::Command(_) if put_in => {
                    self.losses.add(LossKind::InjectedContext, None, Some(&message.id));
                }
                // Only the model calls tools; the result has no call then.
                Block::ToolUse(_) if message.role != Role::Assistant => {
                    self.losses.add(LossKind::UnknownBlock, Some("tool_use"), Some(&message.id));
                }
                Block::ToolUse(call) => {
                    let (call, answer) = self.call(call, message, at, &mut reached);
                    kept.push(Block::ToolUse(call));
                    answers.push(answer);
                }
                other => kept.extend(self.block(other, message)),
            }
        }
        if kept.is_empty() {
            if !only_results || message.blocks.is_empty() {
                self.losses.add(LossKind::EmptyMessage, None, Some(&message.id));
            }
            return;
        }
        // What the source was read from does not go along; cloning it, and blocks that are already
        // here, costs as much as the rest.
        let mut copy = Message {
            id: message.id.clone(),
            parent: None,
            role: message.role,
            origin: message.origin,
            at: message.at,
            model: message.model.clone(),
            turn: message.turn.clone(),
            api_id: message.api_id.clone(),
            stop: message.stop.clone(),
            cwd: message.cwd.clone(),
            sidechain: message.sidechain,
            inherited: message.inherited,
            blocks: kept,
            sources: Vec::new(),
        };
        match copy.origin {
            Origin::Tools => copy.origin = Origin::Person,
            // What is left of it has no mark of its own where its text has none.
            Origin::Harness if put_in => {
                self.losses.add(LossKind::AgentMessage, Some("a picture that was put in"), Some(&message.id));
            }
            Origin::Agent if !self.rules.agent_messages && copy.role == Role::User => {
                self.losses.add(LossKind::AgentMessage, None, Some(&message.id));
            }
            _ => {}
        }
        self.messages.push_back(copy);
        if !answers.is_empty() {
            self.answer(message, answers);
        }
    }

    fn answer(&mut self, call: &Message, answers: Vec<ToolResult>) {
        let mut message = Message::new(format!("{}:results", call.id), Role::User, Origin::Tools);
        message.at = call.at;
        message.cwd.clone_from(&call.cwd);
        message.inherited = call.inherited;
        message.sidechain = call.sidechain;
        message.blocks = answers.into_iter().map(Block::ToolResult).collect();
        self.messages.push_back(message);
    }

    /// Whether something other than results stands between a call and its result.
    fn moved(&self, call: usize, (result, number): Place) -> bool {
        let other = |block: &Block| !matches!(block, Block::ToolResult(_));
        let between = self.view.get(call + 1..result).unwrap_or_default();
        let beside = self.view.get(result).map(|message| message.blocks.as_slice()).unwrap_or_default();
        between.iter().any(|message| message.blocks.iter().any(other))
            || beside.iter().take(number).any(other)
    }

    /// A call and its result, fit for the target. `reached` is the furthest place of the message's
    /// results that keep their order: one that stands before it changes places with it.
    fn call(
        &mut self,
        call: &ToolUse,
        message: &Message,
        at: usize,
        reached: &mut Place,
    ) -> (ToolUse, ToolResult) {
        let id = self.ids.assign(&call.id, self.rules.call_id_bytes);
        if id != call.id {
            self.losses.add(LossKind::CallIdChanged, None, Some(&message.id));
        }
        let mut copy = call.clone();
        copy.id = id.clone();
        self.clean_call(&mut copy, message);
        let answer = match self.results.take(&call.id, at) {
            Some((place, result)) => {
                let mut result = result.clone();
                result.call = id;
                self.clean_result(&mut result, message);
                if self.moved(at, place) || place < *reached {
                    self.losses.add(LossKind::ResultsMoved, None, Some(&message.id));
                } else {
                    *reached = place;
                }
                result
            }
            None => {
                self.losses.add(LossKind::OrphanCallCompleted, None, Some(&message.id));
                let text = TextBlock { text: Text::from(self.rules.interrupted) };
                ToolResult {
                    call: id,
                    content: vec![ResultPart::Text(text)],
                    outcome: Outcome::Interrupted,
                    structured: None,
                }
            }
        };
        (copy, answer)
    }

    fn block(&mut self, block: &Block, message: &Message) -> Option<Block> {
        match block {
            Block::Text(text) if text.text.is_blank() => {
                self.losses.add(LossKind::EmptyText, None, Some(&message.id));
                None
            }
            Block::Thinking(thinking) => self.thinking(thinking, message),
            Block::Command(command) if self.rules.commands == CommandRule::Text => {
                self.losses.add(LossKind::CommandFlattened, None, Some(&message.id));
                let text = match &command.args {
                    Some(args) if !args.is_blank() => format!("{} {args}", command.name),
                    _ => command.name.to_string(),
                };
                Some(Block::text(text))
            }
            Block::Other(other) => {
                self.losses.add(LossKind::UnknownBlock, Some(&other.kind), Some(&message.id));
                None
            }
            other => Some(other.clone()),
        }
    }

    fn thinking(&mut self, thinking: &Thinking, message: &Message) -> Option<Block> {
        let kept = match self.rules.thinking {
            ThinkingRule::Drop => None,
            ThinkingRule::Keep => Some(thinking.clone()),
            ThinkingRule::Text if thinking.text.is_blank() => None,
            ThinkingRule::Text => {
                if !thinking.tokens.is_empty() {
                    self.losses.add(LossKind::ThinkingToken, None, Some(&message.id));
                }
                Some(Thinking { text: thinking.text.clone(), tokens: Vec::new() })
            }
            ThinkingRule::Signed(provider) => {
                let own = |token: &&crate::ProviderToken| {
                    token.provider.as_deref() == Some(provider) && !token.value.is_blank()
                };
                let tokens: Vec<_> = thinking.tokens.iter().filter(own).cloned().collect();
                let signed =
                    tokens.iter().any(|t| matches!(t.usage, TokenUse::Signature | TokenUse::Redacted));
                signed.then(|| Thinking { text: thinking.text.clone(), tokens })
            }
        };
        if kept.is_none() {
            self.losses.add(LossKind::Thinking, None, Some(&message.id));
        }
        kept.map(Block::Thinking)
    }

    fn clean_call(&mut self, call: &mut ToolUse, message: &Message) {
        let input = match &mut call.tool {
            Tool::Raw(raw) => Some(&mut raw.input),
            Tool::Mcp(mcp) => Some(&mut mcp.input),
            _ => None,
        };
        let extra = call.extra.iter_mut().map(|argument| &mut argument.value);
        for json in input.into_iter().chain(extra) {
            clean(json, &mut self.losses, &message.id);
        }
    }

    fn clean_result(&mut self, result: &mut ToolResult, message: &Message) {
        for part in &mut result.content {
            if let ResultPart::Other(other) = part {
                clean(&mut other.json, &mut self.losses, &message.id);
            }
        }
        if let Some(json) = &mut result.structured {
            clean(json, &mut self.losses, &message.id);
        }
    }
}

fn clean(json: &mut Json, losses: &mut Losses, message: &MessageId) {
    let (clean, count) = json.without_lone_surrogates();
    if count > 0 {
        losses.add_many(LossKind::LoneSurrogate, count as u64, None, Some(message));
        *json = clean;
    }
}

#[cfg(test)]
mod tests;
