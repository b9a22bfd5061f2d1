//! What happens in a session, one turn after the other.

use ibid_model::{
    Block, Command, Origin, OtherBlock, ProviderToken, Role, StopReason, Text, Thinking, TokenUse, Usage,
};
use proptest::option;
use proptest::prelude::*;

use super::text::{any_text, json, text, word};
use super::tools::{Answer, Call, answer, call, document, image};

/// One thing that happens.
#[derive(Clone, Debug)]
pub(super) enum Turn {
    /// Something on the person's side, or the system's.
    Said { role: Role, origin: Origin, blocks: Vec<Block> },
    /// The model answers.
    Answered(Box<Reply>),
    /// A result that no call asked for.
    OrphanResult(Answer),
    /// The history is replaced by a summary, as a message or beside the messages.
    Compacted { summary: Text, as_message: bool, keeps: Option<prop::sample::Index>, tokens: Option<u64> },
    /// The conversation goes on from an earlier message.
    Branched(prop::sample::Index),
    /// Something that is no conversation.
    Happened(Text),
}

/// An answer of the model.
#[derive(Clone, Debug)]
pub(super) struct Reply {
    pub(super) blocks: Vec<Block>,
    /// The calls, when each gets its result, and what stands behind it in the same message.
    pub(super) calls: Vec<(Call, Given, Vec<Block>)>,
    pub(super) stop: Option<StopReason>,
    pub(super) usage: Option<Usage>,
    pub(super) model: Option<&'static str>,
}

/// When a call gets its result.
#[derive(Clone, Debug)]
pub(super) enum Given {
    /// At once, in the message behind.
    AtOnce(Answer),
    /// After what happens next.
    Late(Answer),
    /// Never.
    Never,
}

pub(super) fn turn() -> impl Strategy<Value = Turn> {
    prop_oneof![
        6 => said(),
        8 => reply().prop_map(|reply| Turn::Answered(Box::new(reply))),
        1 => answer().prop_map(Turn::OrphanResult),
        1 => (text(), any::<bool>(), option::of(any::<prop::sample::Index>()), option::of(0..500_000_u64))
            .prop_map(|(summary, as_message, keeps, tokens)| Turn::Compacted {
                summary, as_message, keeps, tokens,
            }),
        1 => any::<prop::sample::Index>().prop_map(Turn::Branched),
        1 => word().prop_map(Turn::Happened),
    ]
}

fn said() -> impl Strategy<Value = Turn> {
    let block = prop_oneof![
        8 => any_text().prop_map(Block::text),
        1 => image().prop_map(Block::Image),
        1 => document(),
        1 => (word(), option::of(text())).prop_map(|(name, args)| {
            Block::Command(Command { name: format!("/{name}").into(), args })
        }),
        1 => json().prop_map(|json| Block::Other(OtherBlock { kind: "gadget".into(), json })),
    ];
    let who = prop_oneof![
        10 => Just((Role::User, Origin::Person)),
        1 => Just((Role::User, Origin::Harness)),
        1 => Just((Role::User, Origin::Agent)),
        1 => Just((Role::System, Origin::Harness)),
    ];
    (who, prop::collection::vec(block, 0..3)).prop_map(|((role, origin), blocks)| Turn::Said {
        role,
        origin,
        blocks,
    })
}

fn reply() -> impl Strategy<Value = Reply> {
    let block = prop_oneof![
        5 => any_text().prop_map(Block::text),
        2 => thinking().prop_map(Block::Thinking),
    ]
    .boxed();
    let behind = prop_oneof![
        4 => Just(Vec::new()),
        1 => prop::collection::vec(block.clone(), 1..3),
    ];
    let given = prop_oneof![
        7 => answer().prop_map(Given::AtOnce),
        1 => answer().prop_map(Given::Late),
        1 => Just(Given::Never),
    ];
    let stop = prop_oneof![
        Just(StopReason::EndTurn),
        Just(StopReason::ToolUse),
        Just(StopReason::MaxTokens),
        Just(StopReason::StopSequence),
        Just(StopReason::Aborted),
        Just(StopReason::Error),
        Just(StopReason::Refusal),
        word().prop_map(StopReason::Other),
    ];
    let model = prop::sample::select(vec!["claude-sonnet-4-5", "gpt-5.5", "gemini-2.5-pro", "local-model"]);
    (
        prop::collection::vec(block, 0..3),
        prop::collection::vec((call(), given, behind), 0..3),
        option::weighted(0.8, stop),
        option::weighted(0.8, usage()),
        option::weighted(0.9, model),
    )
        .prop_map(|(blocks, calls, stop, usage, model)| Reply { blocks, calls, stop, usage, model })
}

fn thinking() -> impl Strategy<Value = Thinking> {
    let token = (
        prop::sample::select(vec![TokenUse::Signature, TokenUse::Encrypted, TokenUse::Redacted]),
        option::of(prop::sample::select(vec!["anthropic", "openai"])),
        "[A-Za-z0-9+/]{0,24}",
    )
        .prop_map(|(usage, provider, value)| ProviderToken {
            usage,
            provider: provider.map(Text::from),
            value: value.into(),
        });
    (any_text(), prop::collection::vec(token, 0..2)).prop_map(|(text, tokens)| Thinking { text, tokens })
}

/// Token counts whose parts fit together.
pub fn usage() -> impl Strategy<Value = Usage> {
    let count = || option::weighted(0.8, 0..2_000_000_u64);
    (
        count(),
        count(),
        count(),
        option::of((0..9_999_u64, 0..9_999_u64)),
        0..100_u64,
        option::of(0..10_000_u32),
    )
        .prop_map(|(input, output, cache_read, writes, reasoning, cents)| Usage {
            input,
            output,
            cache_read,
            cache_write: writes.map(|(five, hour)| five + hour),
            cache_write_5m: writes.map(|(five, _)| five),
            cache_write_1h: writes.map(|(_, hour)| hour),
            reasoning: output.map(|output| output * reasoning / 100),
            cost_usd: cents.map(|cents| f64::from(cents) / 100.0),
        })
}
