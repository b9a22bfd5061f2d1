//! Whether a converted session tells the same story, apart from what its losses name.

use ibid_carrier::jsonl::Document;
use ibid_harness::{AnyHarness, AnyTranscript, CodecError, Content, Target};
use ibid_model::{
    Block, CommandRule, Data, Essence, FindingKind, Json, LossKind, Losses, Message, Origin, Role, Rules,
    Selection, Session, Severity, ThinkingRule, Tool, essence, prepare,
};

/// Converts a session, reads the result, and compares.
///
/// # Errors
/// With what is wrong, in words.
pub(crate) fn check(session: &Session, harness: &dyn AnyHarness) -> Result<(), String> {
    let target = Target::default();
    let name = harness.declaration().id;
    let made = match harness.from_common(session, &target) {
        Ok(made) => made,
        Err(CodecError::Inexpressible { .. }) => return Ok(()),
        Err(error) => return Err(format!("{name}: {error}")),
    };
    let again = harness.from_common(session, &target).map_err(|error| error.to_string())?;
    if bytes_of(&made.value) != bytes_of(&again.value) || made.losses != again.losses {
        return Err(format!("{name}: the same conversion gave two results"));
    }
    check_lines(&made.value).map_err(|problem| format!("{name}: {problem}"))?;
    let back = made.value.to_common().map_err(|error| format!("{name}: {error}"))?;
    if let Some(problem) = back.session.problems().first() {
        return Err(format!("{name}: {problem:?}"));
    }
    let expected = prepare(session, &Selection::default(), &rules_behind(&made.losses));
    let expected = essence(&expected.messages);
    // That nothing is there is right when nothing was.
    let view = back.session.view(&Selection::default());
    let found = essence(view.messages.iter().copied());
    let nothing = settled(&expected, &found, &made.losses).is_empty();
    let matters = |kind: FindingKind| kind != FindingKind::NoTurns || !nothing;
    let noticed = back.findings.iter().find(|f| f.severity() > Severity::Note && matters(f.kind));
    if let Some(finding) = noticed {
        return Err(format!("{name}: what was written reads with a finding: {finding}"));
    }
    check_voices(session, &back.session, &made.losses).map_err(|problem| format!("{name}: {problem}"))?;
    if !harness.declaration().capabilities.store {
        // A document for exchange is not sent to any model, and may keep what no model would take.
        return Ok(());
    }
    check_order(&view.messages).map_err(|problem| format!("{name}: {problem}"))?;
    compare(&expected, &found, &made.losses).map_err(|problem| {
        let losses: Vec<String> =
            made.losses.iter().map(|loss| format!("{} {:?} x{}", loss.kind, loss.what, loss.count)).collect();
        format!(
            "{name}: {problem}\nexpected: {expected:#?}\nfound: {found:#?}\nlosses: {}",
            losses.join(", ")
        )
    })
}

/// What a person and the model said is theirs in the result too, in the same order, and not text
/// that a harness put in.
fn check_voices(session: &Session, back: &Session, losses: &Losses) -> Result<(), String> {
    let strict = |session: &Session| {
        let prepared = prepare(session, &Selection::default(), &Rules::STRICT);
        essence(&prepared.messages)
    };
    let (expected, found) = (strict(session), strict(back));
    compare(&expected, &found, losses).map_err(|problem| {
        let losses: Vec<String> =
            losses.iter().map(|loss| format!("{} {:?} x{}", loss.kind, loss.what, loss.count)).collect();
        format!("{problem}\nsaid: {expected:#?}\nread: {found:#?}\nlosses: {}", losses.join(", "))
    })
}

/// The bytes of all carriers; of rows, their debug form.
fn bytes_of(transcript: &AnyTranscript) -> Vec<Vec<u8>> {
    let content = |content: Content<'_>| match content {
        Content::Bytes(bytes) => bytes.to_vec(),
        Content::Rows(rows) => format!("{rows:?}").into_bytes(),
    };
    transcript.carriers().into_iter().map(|carrier| content(carrier.content)).collect()
}

/// A carrier of bytes is one JSON document, or every line of it is one object; nowhere is half of
/// a surrogate pair.
fn check_lines(transcript: &AnyTranscript) -> Result<(), String> {
    for carrier in transcript.carriers() {
        let Content::Bytes(bytes) = carrier.content else { continue };
        let whole = std::str::from_utf8(bytes).map_err(|error| error.to_string())?;
        if let Ok(json) = Json::from_text(whole) {
            if json.without_lone_surrogates().1 > 0 {
                return Err("half of a surrogate pair was written".to_owned());
            }
            continue;
        }
        if !whole.is_empty() && !whole.ends_with('\n') {
            return Err("the last line has no end".to_owned());
        }
        let document = Document::from_bytes(bytes.to_vec());
        let records = document.read_records(|text| serde_json::from_str::<serde_json::Value>(text));
        if let Some(finding) = records.findings.first() {
            return Err(format!("a line was written that reads with a finding: {finding}"));
        }
    }
    Ok(())
}

/// Calls are answered right behind them, each once, under ids that providers accept; no text is
/// blank.
fn check_order(messages: &[&Message]) -> Result<(), String> {
    let mut open: Vec<&str> = Vec::new();
    for message in messages {
        let results = message.blocks.iter().filter(|block| matches!(block, Block::ToolResult(_))).count();
        if !open.is_empty() && results == 0 && message.origin != Origin::Harness {
            return Err(format!("calls {open:?} are not answered right behind them"));
        }
        for block in &message.blocks {
            match block {
                Block::ToolUse(call) => {
                    let id = call.id.as_str();
                    let fits = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
                    if id.is_empty() || id.len() > 64 || !id.bytes().all(fits) {
                        return Err(format!("no provider accepts the call id {id:?}"));
                    }
                    open.push(id);
                }
                Block::ToolResult(result) => match open.iter().position(|id| *id == result.call.as_str()) {
                    Some(at) => {
                        open.remove(at);
                    }
                    None => return Err(format!("a result answers no open call: {}", result.call)),
                },
                Block::Text(text) if text.text.is_blank() => {
                    return Err("a blank text was written".to_owned());
                }
                _ => {}
            }
        }
    }
    if open.is_empty() { Ok(()) } else { Err(format!("calls {open:?} are never answered")) }
}

/// The rules that a target must have, judged by the losses that only they bring about.
fn rules_behind(losses: &Losses) -> Rules {
    Rules {
        thinking: ThinkingRule::Keep,
        commands: match losses.has(LossKind::CommandFlattened) {
            true => CommandRule::Text,
            false => CommandRule::Keep,
        },
        system_messages: !losses.has(LossKind::SystemMessage),
        injected_context: !losses.has(LossKind::InjectedContext),
        ..Rules::STRICT
    }
}

fn compare(expected: &[Essence], found: &[Essence], losses: &Losses) -> Result<(), String> {
    let expected = settled(expected, found, losses);
    let (expected, found) = match losses.has(LossKind::Regrouped) {
        true => (joined(&expected), joined(found)),
        false => (expected, found.to_vec()),
    };
    let mut rest = found.iter().peekable();
    for wanted in &expected {
        if rest.next_if(|next| same(wanted, next, losses)).is_some() {
            continue;
        }
        // Of several that are the same, the one that is not in its place is the one that was lost.
        if matches!(wanted, Essence::Other(_, block) if losses.has(loss_of(block))) {
            continue;
        }
        return Err(match rest.next() {
            Some(next) => format!("expected {wanted:?}, found {next:?}"),
            None => format!("expected {wanted:?}, and nothing more is there"),
        });
    }
    match rest.next() {
        Some(more) => Err(format!("nothing more was expected, found {more:?}")),
        None => Ok(()),
    }
}

/// What is expected without the pictures, documents and other blocks that a loss speaks of and
/// that are nowhere as they were; a document of text may be there as its text.
fn settled(expected: &[Essence], found: &[Essence], losses: &Losses) -> Vec<Essence> {
    let mut settled = Vec::with_capacity(expected.len());
    for part in expected {
        let Essence::Other(role, block) = part else {
            settled.push(part.clone());
            continue;
        };
        let there = |other: &Essence| matches!(other, Essence::Other(_, other) if same_block(block, other));
        if found.iter().any(there) || !losses.has(loss_of(block)) {
            settled.push(part.clone());
        } else if let Block::Document(document) = block
            && let Data::Text(text) = &document.data
        {
            let there = |other: &Essence| matches!(other, Essence::Text(_, other) if words_of(text, other));
            if found.iter().any(there) {
                settled.push(Essence::Text(*role, text.clone()));
            }
        }
    }
    settled
}

/// The loss of a block that is neither a text nor of a tool.
fn loss_of(block: &Block) -> LossKind {
    match block {
        Block::Image(_) => LossKind::Image,
        Block::Document(_) => LossKind::Document,
        Block::Command(_) => LossKind::CommandFlattened,
        _ => LossKind::UnknownBlock,
    }
}

/// Whether a text has every word of another.
fn words_of(text: &str, other: &str) -> bool {
    words(text).all(|word| other.contains(word))
}

fn same(wanted: &Essence, found: &Essence, losses: &Losses) -> bool {
    match (wanted, found) {
        (Essence::Text(a, text), Essence::Text(b, other)) => {
            text == other && (a == b || losses.has(LossKind::RoleChanged))
        }
        // Of several commands, some may have been kept as what they are.
        (Essence::Text(a, text), Essence::Other(b, Block::Command(command))) => {
            let args = command.args.as_deref().unwrap_or_default();
            let flat = format!("{} {args}", command.name);
            a == b && losses.has(LossKind::CommandFlattened) && flat.trim_end() == text.trim_end()
        }
        (Essence::Call(a, tool), Essence::Call(b, other)) => a == b && same_tool(tool, other, losses),
        (Essence::Result(a, text, parts, failed), Essence::Result(b, other, others, other_failed)) => {
            let interrupted = text.as_str() == Rules::STRICT.interrupted;
            let status = failed == other_failed || losses.has(LossKind::ResultStatus);
            let reshaped =
                [LossKind::ResultFlattened, LossKind::EmptyText, LossKind::Document, LossKind::Image];
            let reshaped = reshaped.into_iter().any(|kind| losses.has(kind));
            let content = match reshaped {
                true => words_of(text, other),
                false => text == other && parts.len() == others.len(),
            };
            a == b && (interrupted || (status && content))
        }
        (Essence::Other(a, block), Essence::Other(b, other)) => {
            same_block(block, other) && (a == b || losses.has(LossKind::RoleChanged))
        }
        _ => false,
    }
}

fn same_tool(tool: &Tool, other: &Tool, losses: &Losses) -> bool {
    if tool == other {
        return true;
    }
    match (tool, other) {
        (Tool::Raw(a), Tool::Raw(b)) => {
            (a.name == b.name || losses.has(LossKind::ToolRenamed))
                && (same_json(&a.input, &b.input) || losses.has(LossKind::InputWrapped))
        }
        (Tool::Mcp(a), Tool::Mcp(b)) => {
            (&a.server, &a.tool) == (&b.server, &b.tool) && same_json(&a.input, &b.input)
        }
        (_, Tool::Raw(_)) => losses.has(LossKind::ToolKeptRaw),
        // A name that the target has a tool of is that tool there.
        (Tool::Raw(_), _) => losses.has(LossKind::ToolKeptRaw),
        _ => false,
    }
}

/// Pictures are the same when their bytes are: types and names may be named or not.
fn same_block(block: &Block, other: &Block) -> bool {
    match (block, other) {
        (Block::Image(a), Block::Image(b)) => a.data == b.data,
        (Block::Document(a), Block::Document(b)) => a.data == b.data,
        (Block::Other(a), Block::Other(b)) => same_json(&a.json, &b.json),
        _ => block == other,
    }
}

/// Values are the same when they are spelled the same, but for white space and for separators of
/// lines, which are written as escapes.
fn same_json(a: &Json, b: &Json) -> bool {
    let spelled =
        |json: &Json| json.compact().as_str().replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029");
    spelled(a) == spelled(b)
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_whitespace()
}

/// Neighbouring texts of one role as one.
fn joined(story: &[Essence]) -> Vec<Essence> {
    let mut joined: Vec<Essence> = Vec::new();
    for part in story {
        if let (Essence::Text(role, text), Some(Essence::Text(last, all))) = (part, joined.last_mut())
            && role == last
        {
            *all = format!("{}\n{}", all.trim(), text.trim()).into();
            continue;
        }
        joined.push(match part {
            Essence::Text(role, text) => Essence::Text(*role, text.trim().into()),
            other => other.clone(),
        });
    }
    for part in &mut joined {
        if let Essence::Text(Role::User | Role::Assistant | Role::System, text) = part {
            *text = words(text).collect::<Vec<_>>().join(" ").into();
        }
    }
    joined
}
