//! What the source says, in the order in which a model must see it: made from the common session
//! alone, without a look at what the conversion wrote.

use std::collections::{HashMap, HashSet, VecDeque};

use ibid_model::{
    Block, Data, LossKind, Message, MessageId, Origin, Outcome, ResultPart, Role, Rules, Selection, Session,
    ToolResult, View,
};

use super::piece::{Answer, Call, Part, Picture, Piece, Place, Thought};
use super::sent::Sent;

/// One piece of the source.
#[derive(Clone, Debug)]
pub(super) struct Expected {
    pub(super) place: Place,
    pub(super) piece: Piece,
    /// What the report must say of it even when it is there.
    pub(super) needs: Vec<LossKind>,
    /// The losses any one of which lets it be absent.
    pub(super) absent: &'static [LossKind],
    /// Whether the target program may leave it out, since it lies before a compaction that the
    /// conversion marked.
    pub(super) compacted: bool,
}

/// The source as it is expected.
#[derive(Clone, Debug, Default)]
pub(super) struct Expectation {
    /// What a model must see.
    pub(super) pieces: Vec<Expected>,
    /// What no conversion carries: injected context, system messages.
    pub(super) aside: Vec<Expected>,
    /// The summaries of the compactions, where the conversion marked them; the last one counts.
    pub(super) summaries: Vec<String>,
    /// How many messages lie on other branches.
    pub(super) on_other_branches: u64,
    /// How many come before the compaction that the selection starts from.
    pub(super) before_compaction: u64,
    /// How many results have no call.
    pub(super) orphans: u64,
    /// The messages that were looked at.
    pub(super) messages: HashSet<MessageId>,
}

/// How the target's API puts a conversation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    /// Texts of a message come before its calls, whatever their order was.
    pub(super) texts_first: bool,
    /// Texts of the model in one message are sent as one, with nothing between them.
    pub(super) texts_joined: bool,
    /// The pictures of results follow the results, in a message of their own.
    pub(super) pictures_behind: bool,
    /// So do documents that are no text.
    pub(super) documents_behind: bool,
}

impl Expectation {
    /// What `session` says in the selection. `marked` is how many compactions the target marks.
    pub(super) fn of(session: &Session, selection: &Selection, shape: Shape, marked: bool) -> Expectation {
        let view = session.view(selection);
        let last = view.compactions.last().filter(|_| marked);
        let boundary = last.map_or(0, |(before, _)| *before);
        let mut expectation = Expectation {
            on_other_branches: view.on_other_branches as u64,
            before_compaction: view.before_compaction as u64,
            messages: view.messages.iter().map(|message| message.id.clone()).collect(),
            summaries: view
                .compactions
                .iter()
                .filter(|_| marked)
                .filter_map(|(_, compaction)| {
                    let own = compaction.text.as_ref().map(ToString::to_string);
                    own.or_else(|| {
                        let message = session.message(compaction.summary.as_ref()?)?;
                        Some(message.texts().map(|text| text.as_str()).collect::<Vec<_>>().join("\n"))
                    })
                })
                .collect(),
            ..Expectation::default()
        };
        let mut results = Results::gather(&view);
        let mut calls = 0;
        for (at, message) in view.messages.iter().enumerate() {
            let place = Place { message: message.id.clone(), number: at + 1 };
            let mut teller = Teller { place, message, compacted: at < boundary, shape, said: Vec::new() };
            if expectation.put_aside(&mut teller) {
                continue;
            }
            teller.blocks(at, &mut calls, &mut results, &view);
            expectation.pieces.append(&mut teller.said);
        }
        expectation.orphans = results.left();
        expectation
    }

    /// Adds the new prompt of the run, in the form in which it was sent.
    pub(super) fn expect_prompt(&mut self, prompt: &str, forms: Vec<String>, sent: &[Sent]) {
        let said = |form: &String| sent.iter().any(|sent| sent.text_of(Role::User) == Some(form));
        let text = forms.into_iter().find(said).unwrap_or_else(|| prompt.to_owned());
        let place = Place { message: "the new prompt".into(), number: self.messages.len() + 1 };
        let piece = Piece::Text { role: Role::User, text };
        self.pieces.push(Expected { place, piece, needs: Vec::new(), absent: &[], compacted: false });
    }

    /// Whether the message is one that no conversion carries.
    fn put_aside(&mut self, teller: &mut Teller<'_>) -> bool {
        let message = teller.message;
        let holds = |test: fn(&Block) -> bool| !message.blocks.is_empty() && message.blocks.iter().any(test);
        let pictures = holds(|block| matches!(block, Block::Image(_) | Block::Document(_)));
        let only_results = message.blocks.iter().all(|block| matches!(block, Block::ToolResult(_)));
        let absent: &'static [LossKind] = match (message.role, message.origin) {
            (Role::System, _) => &[LossKind::SystemMessage],
            (_, Origin::Harness) if !pictures && !only_results => &[LossKind::InjectedContext],
            _ => return false,
        };
        let text = message.texts().map(|text| text.as_str()).collect::<Vec<_>>().join("\n");
        let piece = Piece::Text { role: message.role, text };
        self.aside.push(teller.piece(piece, absent));
        true
    }
}

/// Tells what one message says.
struct Teller<'a> {
    place: Place,
    message: &'a Message,
    compacted: bool,
    shape: Shape,
    said: Vec<Expected>,
}

impl Teller<'_> {
    fn piece(&self, piece: Piece, absent: &'static [LossKind]) -> Expected {
        let (place, compacted) = (self.place.clone(), self.compacted);
        Expected { place, piece, needs: Vec::new(), absent, compacted }
    }

    fn blocks(&mut self, at: usize, calls: &mut usize, results: &mut Results<'_>, view: &View<'_>) {
        let role = self.message.role;
        let mut called = Vec::new();
        let mut answers = Vec::new();
        let mut reached = (0, 0);
        for block in &self.message.blocks {
            let (piece, absent): (Piece, &'static [LossKind]) = match block {
                Block::ToolResult(_) => continue,
                Block::ToolUse(call) => {
                    let number = *calls;
                    *calls += 1;
                    let piece = Piece::Call(Call {
                        id: call.id.to_string(),
                        name: call.name.to_string(),
                        tool: call.tool.clone(),
                        extra: call.extra.clone(),
                        sent: None,
                    });
                    let call_piece = self.piece(piece, &[]);
                    match self.shape.texts_first {
                        true => called.push(call_piece),
                        false => self.said.push(call_piece),
                    }
                    let found = results.take(call.id.as_str(), at);
                    let mut answer = self.answer(number, found, at, view);
                    if let Some((place, _)) = found {
                        if answer.needs.is_empty() && place < reached {
                            answer.needs.push(LossKind::ResultsMoved);
                        }
                        if answer.needs.is_empty() {
                            reached = place;
                        }
                    }
                    answers.push(answer);
                    continue;
                }
                Block::Text(text) => {
                    let absent: &[LossKind] = if text.text.is_blank() { &[LossKind::EmptyText] } else { &[] };
                    (Piece::Text { role, text: text.text.to_string() }, absent)
                }
                Block::Thinking(thinking) => {
                    let sealed_by = thinking.tokens.iter().filter_map(|token| token.provider.as_ref());
                    let thought = Thought {
                        text: thinking.text.to_string(),
                        model: self.message.model.as_ref().map(ToString::to_string),
                        sealed_by: sealed_by.map(ToString::to_string).collect(),
                    };
                    (Piece::Thought(thought), &[LossKind::Thinking, LossKind::ThinkingToken])
                }
                Block::Image(image) => {
                    (Piece::Picture { role, picture: Picture::of(image) }, &[LossKind::Image])
                }
                Block::Document(document) => (Piece::Document(document.clone()), &[LossKind::Document]),
                Block::Command(command) => (Piece::Command(command.clone()), &[]),
                Block::Other(other) => {
                    let (kind, data) = (other.kind.to_string(), other.json.as_str().to_owned());
                    (Piece::Other { kind, data }, &[LossKind::UnknownBlock])
                }
                _ => continue,
            };
            let piece = self.piece(piece, absent);
            self.said.push(piece);
        }
        if self.shape.texts_joined && role == Role::Assistant {
            self.join_texts();
        }
        self.said.append(&mut called);
        self.put_answers(answers);
    }

    fn join_texts(&mut self) {
        let mut joined: Vec<Expected> = Vec::with_capacity(self.said.len());
        for next in std::mem::take(&mut self.said) {
            let filled = |piece: &Piece| match piece {
                Piece::Text { text, .. } => Some(text.clone()).filter(|text| !text.trim().is_empty()),
                _ => None,
            };
            let before = joined.iter_mut().rev().find(|before| filled(&before.piece).is_some());
            match (before.map(|before| &mut before.piece), filled(&next.piece)) {
                (Some(Piece::Text { text: before, .. }), Some(text)) => before.push_str(&text),
                _ => joined.push(next),
            }
        }
        self.said = joined;
    }

    fn put_answers(&mut self, answers: Vec<Expected>) {
        let (mut pictures, mut documents) = (Vec::new(), Vec::new());
        for mut answer in answers {
            if self.shape.documents_behind
                && let Piece::Answer(said) = &mut answer.piece
            {
                let apart =
                    said.others.extract_if(.., |other| other.document.is_some() && other.text.is_none());
                documents.extend(apart.filter_map(|other| other.document));
            }
            if self.shape.pictures_behind
                && let Piece::Answer(said) = &mut answer.piece
            {
                pictures.append(&mut said.pictures);
            }
            self.said.push(answer);
        }
        for picture in pictures {
            let picture = self.piece(Piece::Picture { role: Role::User, picture }, &[LossKind::Image]);
            self.said.push(picture);
        }
        for document in documents {
            let document = self.piece(Piece::Document(document), &[LossKind::Document]);
            self.said.push(document);
        }
    }

    /// The result of a call; one that says that there is none where the source has none.
    fn answer(
        &self,
        number: usize,
        found: Option<(Spot, &ToolResult)>,
        at: usize,
        view: &View<'_>,
    ) -> Expected {
        let Some((place, result)) = found else {
            let texts = vec![Rules::STRICT.interrupted.to_owned()];
            let said = Answer { call: Some(number), texts, failed: Some(true), ..Answer::default() };
            let mut added = self.piece(Piece::Answer(said), &[]);
            added.needs.push(LossKind::OrphanCallCompleted);
            return added;
        };
        let mut said = answer_of(result);
        said.call = Some(number);
        let mut answer = self.piece(Piece::Answer(said), &[]);
        if stands_between(view, at, place.0) {
            answer.needs.push(LossKind::ResultsMoved);
        }
        answer
    }
}

/// Whether something other than results stands between two messages of the view.
fn stands_between(view: &View<'_>, call: usize, result: usize) -> bool {
    let between = view.messages.get(call + 1..result).unwrap_or_default();
    between.iter().flat_map(|message| &message.blocks).any(|block| !matches!(block, Block::ToolResult(_)))
}

fn answer_of(result: &ToolResult) -> Answer {
    let failed = match result.outcome {
        Outcome::Error | Outcome::Interrupted => Some(true),
        Outcome::Ok => Some(false),
        Outcome::Unknown => None,
    };
    let mut answer = Answer { failed, ..Answer::default() };
    for part in &result.content {
        match part {
            ResultPart::Text(text) => {
                answer.texts.push(text.text.to_string());
                answer.flat.push(text.text.to_string());
            }
            ResultPart::Image(image) => answer.pictures.push(Picture::of(image)),
            ResultPart::Document(document) => {
                let text = match &document.data {
                    Data::Text(text) => Some(text.to_string()),
                    _ => None,
                };
                let document = Some(document.clone());
                answer.put_other(Part { kind: "document".to_owned(), text, document });
            }
            ResultPart::Other(other) => {
                let text = Some(other.json.as_str().to_owned());
                answer.put_other(Part { kind: other.kind.to_string(), text, document: None });
            }
            _ => {}
        }
    }
    answer
}

/// The results of a view by the call that they answer.
struct Results<'a> {
    by_call: HashMap<&'a str, VecDeque<(Spot, &'a ToolResult)>>,
}

/// Where a block stands: the message of the view, and the block of the message.
type Spot = (usize, usize);

impl<'a> Results<'a> {
    fn gather(view: &View<'a>) -> Results<'a> {
        let mut by_call: HashMap<&str, VecDeque<_>> = HashMap::new();
        for (at, message) in view.messages.iter().enumerate() {
            for (number, block) in message.blocks.iter().enumerate() {
                if let Block::ToolResult(result) = block {
                    by_call.entry(result.call.as_str()).or_default().push_back(((at, number), result));
                }
            }
        }
        Results { by_call }
    }

    /// The first result of the call that does not stand before it.
    fn take(&mut self, call: &str, at: usize) -> Option<(Spot, &'a ToolResult)> {
        let queue = self.by_call.get_mut(call)?;
        let place = queue.iter().position(|((message, _), _)| *message >= at)?;
        queue.remove(place)
    }

    fn left(&self) -> u64 {
        self.by_call.values().map(|queue| queue.len() as u64).sum()
    }
}
