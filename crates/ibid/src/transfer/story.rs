//! Whether two sessions tell a model the same story.

use std::collections::VecDeque;

use ibid_model::{
    Block, Data, Document, Essence, Essences, Json, LossKind, Losses, Preparation, Role, Rules, Selection,
    Session, Step, Text, Tool,
};

/// What the result says otherwise than the source, beyond what the losses name; none when they
/// tell the same story. Both are brought into the strictest form first, so that what some targets
/// keep and others do not plays no part. What a harness put in front of its model is no part of the
/// story, and what a person typed is: so a text that the target would read as put in is a
/// difference, whatever it looks like.
// https://github.com/Dicklesworthstone/cross_agent_session_resumer/issues/9 (fault 28)
pub(super) fn difference(
    source: &Session,
    selection: &Selection,
    result: &Session,
    losses: &Losses,
) -> Option<String> {
    let allowed = Allowed::by(losses);
    let whole = Selection { from_compaction: selection.from_compaction, ..Selection::default() };
    let told = |as_text| Story::of(source, selection, &allowed, as_text);
    let heard = || Story::of(result, &whole, &allowed, false);
    let difference = first_difference(told(false), heard(), &allowed)?;
    // A document of text may be there as its text, when a loss speaks of documents.
    match allowed.documents {
        true => first_difference(told(true), heard(), &allowed).map(|_| difference),
        false => Some(difference),
    }
}

/// Both stories are told one part at a time, so that neither is in memory as a whole.
fn first_difference(mut told: Story<'_>, mut heard: Story<'_>, allowed: &Allowed) -> Option<String> {
    let mut number = 0;
    loop {
        number += 1;
        match (told.next(), heard.next()) {
            (None, None) => return None,
            (Some(told), Some(heard)) if same(&told, &heard, allowed) => {}
            (Some(told), Some(heard)) => {
                return Some(format!("part {number} is {} instead of {}", name(&heard), name(&told)));
            }
            (told_part, heard_part) => {
                let before = number - 1;
                let told = before + usize::from(told_part.is_some()) + told.count();
                let heard = before + usize::from(heard_part.is_some()) + heard.count();
                return Some(format!("{heard} parts instead of {told}"));
            }
        }
    }
}

/// The essence of a session that was made fit for a target. Neighbouring texts of one side are
/// one, since targets may join or split them; what may be lost is left out.
struct Story<'a> {
    preparation: Preparation<'a>,
    essences: Essences,
    /// What the last message says and was not told yet.
    said: VecDeque<Essence>,
    next: Option<Essence>,
    allowed: &'a Allowed,
    documents_as_text: bool,
}

impl<'a> Story<'a> {
    fn of(
        session: &'a Session,
        selection: &Selection,
        allowed: &'a Allowed,
        documents_as_text: bool,
    ) -> Story<'a> {
        let preparation = Preparation::new(session, selection, &Rules::STRICT);
        let (essences, said) = (Essences::default(), VecDeque::new());
        Story { preparation, essences, said, next: None, allowed, documents_as_text }
    }

    /// The next essence that counts.
    fn essence(&mut self) -> Option<Essence> {
        loop {
            match self.said.pop_front() {
                Some(Essence::Other(role, Block::Document(Document { data: Data::Text(text), .. })))
                    if self.documents_as_text =>
                {
                    return Some(Essence::Text(role, text));
                }
                Some(Essence::Other(..)) if self.allowed.others => {}
                Some(essence) => return Some(essence),
                None => match self.preparation.next()? {
                    Step::Message(message) => self.said.extend(self.essences.of(&message)),
                    Step::Compaction(_) => {}
                },
            }
        }
    }
}

impl Iterator for Story<'_> {
    type Item = Essence;

    fn next(&mut self) -> Option<Essence> {
        let mut part = self.next.take().or_else(|| self.essence())?;
        let Essence::Text(side, text) = &mut part else { return Some(part) };
        let mut joined: Option<String> = None;
        while let Some(essence) = self.essence() {
            match essence {
                Essence::Text(role, more) if *side == role || self.allowed.roles => {
                    let joined = joined.get_or_insert_with(|| text.to_string());
                    joined.push('\n');
                    joined.push_str(&more.to_str());
                }
                other => {
                    self.next = Some(other);
                    break;
                }
            }
        }
        if let Some(joined) = joined {
            *text = joined.into();
        }
        Some(part)
    }
}

/// What may differ, since a loss says so.
struct Allowed {
    tools: bool,
    documents: bool,
    others: bool,
    flattened: bool,
    status: bool,
    roles: bool,
}

impl Allowed {
    fn by(losses: &Losses) -> Allowed {
        let any = |kinds: &[LossKind]| kinds.iter().any(|kind| losses.has(*kind));
        // A document of a result becomes text, where it is text.
        let flattened = any(&[LossKind::ResultFlattened, LossKind::Document]);
        Allowed {
            tools: any(&[
                LossKind::ToolKeptRaw,
                LossKind::ToolRenamed,
                LossKind::InputWrapped,
                LossKind::LoneSurrogate,
            ]),
            documents: any(&[LossKind::Document]),
            others: flattened || any(&[LossKind::Image, LossKind::Document, LossKind::UnknownBlock]),
            flattened,
            status: any(&[LossKind::ResultStatus]),
            roles: any(&[LossKind::RoleChanged]),
        }
    }
}

fn same(told: &Essence, heard: &Essence, allowed: &Allowed) -> bool {
    match (told, heard) {
        (Essence::Text(a, told), Essence::Text(b, heard)) => {
            (a == b || allowed.roles) && same_words(told, heard)
        }
        (Essence::Call(_, told), Essence::Call(_, heard)) => allowed.tools || same_call(told, heard),
        (Essence::Result(a, told, parts, failed), Essence::Result(b, heard, others, also)) => {
            let completed = *told == Rules::STRICT.interrupted;
            let texts = completed || allowed.flattened || same_words(told, heard);
            let status = completed || allowed.status || failed == also;
            a == b && texts && status && (allowed.others || same_parts(parts, others))
        }
        (Essence::Other(_, told), Essence::Other(_, heard)) => same_block(told, heard),
        _ => false,
    }
}

/// Inputs are compared as values: some targets write the keys of an object in an order of their own.
fn same_call(told: &Tool, heard: &Tool) -> bool {
    match (told, heard) {
        (Tool::Raw(told), Tool::Raw(heard)) => {
            told.name == heard.name && same_json(&told.input, &heard.input)
        }
        (Tool::Mcp(told), Tool::Mcp(heard)) => {
            told.server == heard.server && told.tool == heard.tool && same_json(&told.input, &heard.input)
        }
        _ => told == heard,
    }
}

fn same_json(told: &Json, heard: &Json) -> bool {
    told.compact() == heard.compact()
        || matches!(
            (told.read::<serde_json::Value>(), heard.read::<serde_json::Value>()),
            (Ok(told), Ok(heard)) if told == heard
        )
}

/// White space is the first thing that formats differ in.
fn same_words(told: &Text, heard: &Text) -> bool {
    let (told, heard) = (told.to_str(), heard.to_str());
    told == heard
        || told.split_whitespace().flat_map(str::chars).eq(heard.split_whitespace().flat_map(str::chars))
}

fn same_parts(told: &[Block], heard: &[Block]) -> bool {
    told.len() == heard.len() && told.iter().zip(heard).all(|(told, heard)| same_block(told, heard))
}

fn same_block(told: &Block, heard: &Block) -> bool {
    match (told, heard) {
        (Block::Image(told), Block::Image(heard)) => told.data == heard.data,
        (Block::Document(told), Block::Document(heard)) => told.data == heard.data,
        _ => told == heard,
    }
}

/// What a part is, without what it says.
fn name(essence: &Essence) -> String {
    match essence {
        Essence::Text(role, text) => {
            let side = match role {
                Role::User => "the person",
                Role::Assistant => "the model",
                Role::System => "the system",
            };
            format!("a text of {} characters by {side}", text.chars().count())
        }
        Essence::Call(number, tool) => format!("call {} ({})", number + 1, tool.kind()),
        Essence::Result(number, text, parts, failed) => {
            let number = number.map_or_else(|| "no call".to_owned(), |number| format!("call {}", number + 1));
            let end = if *failed { ", failed" } else { "" };
            format!(
                "the result of {number} ({} characters, {} other parts{end})",
                text.chars().count(),
                parts.len()
            )
        }
        Essence::Other(..) => "a picture or document".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ibid_model::{
        Data, Document, List, Message, Origin, Outcome, ResultPart, TextBlock, ToolResult, ToolUse,
    };

    fn session(texts: &[(Role, &str)]) -> Session {
        let mut session = Session::new("test", "s");
        let mut parent = None;
        for (at, (role, text)) in texts.iter().enumerate() {
            let mut message = Message::new(format!("m{at}"), *role, Origin::Person);
            message.blocks.push(Block::text(*text));
            message.parent = parent.replace(message.id.clone());
            session.messages.push(message);
        }
        session
    }

    fn compare(a: &[(Role, &str)], b: &[(Role, &str)]) -> Option<String> {
        difference(&session(a), &Selection::default(), &session(b), &Losses::none())
    }

    #[test]
    fn a_message_that_is_split_tells_the_same_story() {
        assert_eq!(compare(&[(Role::User, "a\n\nb")], &[(Role::User, "a"), (Role::User, "b")]), None);
    }

    #[test]
    fn a_text_of_a_person_that_the_target_takes_for_an_aside_is_a_difference() {
        let said = [(Role::User, "<context>mine</context>"), (Role::Assistant, "hello")];
        let mut result = session(&said);
        result.messages[0].origin = Origin::Harness;
        let losses = Losses::none();
        assert!(difference(&session(&said), &Selection::default(), &result, &losses).is_some());
        let mut source = session(&said);
        source.messages[0].origin = Origin::Harness;
        assert_eq!(difference(&source, &Selection::default(), &result, &losses), None);
        result.messages[0].origin = Origin::Person;
        assert!(difference(&source, &Selection::default(), &result, &losses).is_some());
    }

    #[test]
    fn a_document_of_text_may_be_there_as_its_text_when_a_loss_says_so() {
        let mut source = session(&[(Role::User, "look")]);
        let data = Data::Text("the notes".into());
        source.messages[0].blocks.push(Block::Document(Document { media_type: None, data, name: None }));
        let result = session(&[(Role::User, "look"), (Role::User, "the notes")]);
        let compare = |losses: &Losses| difference(&source, &Selection::default(), &result, losses);
        assert!(compare(&Losses::none()).is_some());
        let mut losses = Losses::none();
        losses.add(LossKind::Document, None, None);
        assert_eq!(compare(&losses), None);
    }

    /// A call that gives back this.
    fn called(content: Vec<ResultPart>) -> Session {
        let mut session = session(&[(Role::User, "go"), (Role::Assistant, ""), (Role::User, "")]);
        let call = ToolUse {
            id: "c".into(),
            name: "look".into(),
            tool: Tool::List(List { path: None }),
            extra: Vec::new(),
        };
        let result = ToolResult { call: "c".into(), content, outcome: Outcome::Ok, structured: None };
        session.messages[1].blocks = vec![Block::ToolUse(call)];
        session.messages[2].blocks = vec![Block::ToolResult(result)];
        session
    }

    // Pi and Codex write a document of a result as text; the conversion was refused.
    #[test]
    fn a_document_of_a_result_that_became_text_tells_the_same_story() {
        let text = |text: &str| ResultPart::Text(TextBlock { text: text.into() });
        let data = Data::Text("inside".into());
        let document = ResultPart::Document(Document { media_type: None, data, name: None });
        let source = called(vec![text("seen"), document]);
        let result = called(vec![text("seen"), text("inside")]);
        let mut losses = Losses::none();
        let compare = |losses: &Losses| difference(&source, &Selection::default(), &result, losses);
        assert!(compare(&losses).is_some());
        losses.add(LossKind::Document, None, None);
        assert_eq!(compare(&losses), None);
    }

    #[test]
    fn a_message_that_is_missing_is_named() {
        let both = [(Role::User, "hi"), (Role::Assistant, "hello")];
        let difference = compare(&both, &both[..1]).unwrap();
        assert_eq!(difference, "1 parts instead of 2");
        let other = compare(&both, &[(Role::User, "hi"), (Role::Assistant, "bye")]).unwrap();
        assert!(other.contains("part 2 is a text of 3 characters by the model"), "{other}");
    }
}
