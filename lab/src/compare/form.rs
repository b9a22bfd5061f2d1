//! In which forms a piece of the source may be sent, and what the report must say of each.

use ibid_model::{Data, Document, LossKind, Tool};
use serde_json::{Map, Value};

use super::expected::Expected;
use super::piece::{Answer, Call, Part, Piece, canonical, short};
use super::target::Target;

/// What the report has to say of a pair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Need {
    /// The kinds of loss, of which one must be reported.
    pub(super) any: Vec<LossKind>,
    /// Whether it must be; else it may, and is then true.
    pub(super) required: bool,
    /// What the loss may name; anything when empty.
    pub(super) names: Vec<String>,
    /// What is different, for a person.
    pub(super) why: String,
}

impl Need {
    fn of(kind: LossKind, why: impl Into<String>) -> Need {
        Need { any: vec![kind], required: true, names: Vec::new(), why: why.into() }
    }

    fn if_told(kind: LossKind) -> Need {
        Need { any: vec![kind], required: false, names: Vec::new(), why: String::new() }
    }

    fn named(mut self, names: &[&str]) -> Need {
        self.names = names.iter().map(|name| (*name).to_owned()).collect();
        self
    }
}

/// The keys of all forms of a piece of the source.
pub(super) fn expected_keys(expected: &Expected, target: &dyn Target) -> Vec<String> {
    match &expected.piece {
        Piece::Command(command) => {
            let mut forms = vec![text_key(&flattened(&command.name, command.args.as_deref()))];
            forms.extend(target.command(command).map(|text| text_key(&text)));
            forms
        }
        Piece::Document(document) => {
            let data = document_data(document);
            let mut forms: Vec<String> = data.iter().map(|data| format!("document {data}")).collect();
            if let Data::Text(text) = &document.data {
                forms.push(text_key(text));
            }
            forms.extend(target.unread(document).map(|text| text_key(&text)));
            forms
        }
        Piece::Call(call) => {
            let mut forms = vec![format!("call {}", call.key())];
            forms.extend(raw_forms(call).into_iter().map(|form| format!("call {form}")));
            forms
        }
        Piece::Answer(answer) => answer_forms(answer, target),
        // Providers refuse it, so that no target sends it.
        Piece::Text { text, .. } if text.trim().is_empty() => Vec::new(),
        other => vec![sent_key(other)],
    }
}

/// The key of a piece of a request.
pub(super) fn sent_key(piece: &Piece) -> String {
    match piece {
        Piece::Text { text, .. } => text_key(text),
        Piece::Command(command) => text_key(&flattened(&command.name, command.args.as_deref())),
        Piece::Call(call) => format!("call {}", call.key()),
        Piece::Answer(answer) => format!("answer {}", answer.texts.join("\n")),
        Piece::Picture { picture, .. } => format!("picture {}", picture.data.as_deref().unwrap_or_default()),
        Piece::Document(document) => format!("document {}", document_data(document).unwrap_or_default()),
        Piece::Thought(thought) => format!("thought {}", thought.text),
        Piece::Other { kind, data } => {
            match serde_json::from_str(data).ok().and_then(|block| sent_document(&block)) {
                Some(data) => format!("document {data}"),
                None => format!("other {kind} {data}"),
            }
        }
    }
}

/// The keys of all ways to read a piece of a request: a call is one of the target's tools, and one of
/// its own name with its own input.
pub(super) fn sent_keys(piece: &Piece) -> Vec<String> {
    let mut keys = vec![sent_key(piece)];
    if let Piece::Call(Call { name, sent: Some(input), .. }) = piece {
        keys.push(format!("call raw {name} {}", canonical(input)));
    }
    keys
}

/// The key of a text of either side.
pub(super) fn text_key(text: &str) -> String {
    format!("text {text}")
}

fn flattened(name: &str, args: Option<&str>) -> String {
    match args.filter(|args| !args.trim().is_empty()) {
        Some(args) => format!("{name} {args}"),
        None => name.to_owned(),
    }
}

fn document_data(document: &Document) -> Option<String> {
    match &document.data {
        Data::Base64(data) | Data::Text(data) | Data::Url(data) | Data::ProviderFile(data) => {
            Some(data.to_string())
        }
        Data::Path(_) | Data::Absent => None,
    }
}

/// The data of a document in a request: Anthropic's block, and the file parts of OpenAI's APIs.
pub(super) fn sent_document(block: &Value) -> Option<String> {
    let places =
        ["/source/data", "/source/url", "/source/file_id", "/file/file_data", "/file_data", "/file_url"];
    let data = places.into_iter().find_map(|place| block.pointer(place)?.as_str())?;
    let bytes = data.strip_prefix("data:").and_then(|rest| Some(rest.split_once(";base64,")?.1));
    Some(bytes.unwrap_or(data).to_owned())
}

/// A call under its own name, with its own input, as targets write what they have no tool for.
fn raw_forms(call: &Call) -> Vec<String> {
    let name = own_name(call);
    let arguments: Map<String, Value> = call.arguments().into_iter().collect();
    let mut inputs = vec![Value::Object(arguments)];
    if let Some(input) = own_input(call).filter(|input| !input.is_object()) {
        inputs.push(Value::Object(Map::from_iter([("input".to_owned(), input.clone())])));
        inputs.push(Value::Object(Map::from_iter([(String::new(), input)])));
    }
    let names = [name.clone(), spelled(&name), told_apart(&name)];
    let form = |name: &String, input: &Value| format!("raw {name} {}", canonical(input));
    inputs.iter().flat_map(|input| names.iter().map(move |name| form(name, input))).collect()
}

fn own_name(call: &Call) -> String {
    match &call.tool {
        Tool::Raw(raw) => raw.name.to_string(),
        Tool::Mcp(mcp) => format!("mcp__{}__{}", mcp.server, mcp.tool),
        _ => call.name.clone(),
    }
}

/// The input of a call that has no type.
fn own_input(call: &Call) -> Option<Value> {
    match &call.tool {
        Tool::Raw(raw) => Some(super::piece::value(&raw.input)),
        Tool::Mcp(mcp) => Some(super::piece::value(&mcp.input)),
        _ => None,
    }
}

/// A name in the alphabet that providers take, as far as 64 characters.
fn spelled(name: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    name.chars().map(|c| if fits(c) { c } else { '_' }).take(64).collect()
}

/// A name that one of the target's tools has, so that the call is not taken for one of that tool.
fn told_apart(name: &str) -> String {
    format!("{}_", spelled(name))
}

fn answer_forms(answer: &Answer, target: &dyn Target) -> Vec<String> {
    let others = answer.others.iter().filter_map(|other| other.text.clone());
    let behind: Vec<String> = answer.texts.iter().cloned().chain(others).collect();
    let mut forms = Vec::new();
    for texts in [&answer.texts, &answer.flat, &behind] {
        let filled: Vec<&str> =
            texts.iter().map(String::as_str).filter(|text| !text.trim().is_empty()).collect();
        forms.extend([texts.join("\n"), filled.join("\n")]);
        if filled.is_empty() && answer.others.is_empty() {
            forms.extend(target.empty_answers().iter().map(|text| (*text).to_owned()));
        }
    }
    forms.sort_unstable();
    forms.dedup();
    forms.into_iter().map(|text| format!("answer {text}")).collect()
}

/// What the report must say of a piece that was sent in one of its forms.
///
/// # Errors
/// What is different, when no loss allows it.
pub(super) fn judge(expected: &Expected, sent: &Piece, target: &dyn Target) -> Result<Vec<Need>, String> {
    let mut needs = Vec::new();
    match (&expected.piece, sent) {
        (Piece::Text { role, .. }, Piece::Text { role: side, .. }) if role != side => {
            needs.push(Need::of(LossKind::RoleChanged, "it stands on the other side"));
        }
        (Piece::Command(command), Piece::Text { text, .. })
            if *text == flattened(&command.name, command.args.as_deref()) =>
        {
            needs.push(Need::of(LossKind::CommandFlattened, "a command is plain text"));
        }
        (Piece::Document(Document { data: Data::Text(text), .. }), Piece::Text { text: sent, .. })
            if *text == **sent && !target.tells_documents() =>
        {
            needs.push(Need::of(LossKind::Document, "a document is plain text"));
        }
        (Piece::Call(own), Piece::Call(call)) => judge_call(own, call, &mut needs),
        (Piece::Answer(own), Piece::Answer(answer)) => judge_answer(own, answer, &mut needs)?,
        (Piece::Picture { picture, .. }, Piece::Picture { picture: seen, .. }) if !picture.is(seen) => {
            needs.push(Need::of(LossKind::Image, "the picture has another type"));
        }
        _ => {}
    }
    Ok(needs)
}

fn judge_call(own: &Call, sent: &Call, needs: &mut Vec<Need>) {
    if own.id != sent.id {
        let why = format!("the call has the id {} instead of {}", short(&sent.id), short(&own.id));
        needs.push(Need::of(LossKind::CallIdChanged, why));
    }
    let name = own_name(own);
    let kept = [name.clone(), spelled(&name), told_apart(&name)].contains(&sent.name);
    let names = [own.name.as_str(), name.as_str()];
    match own.key() == sent.key() {
        true if kept => needs.push(Need::if_told(LossKind::ToolKeptRaw).named(&names)),
        true => {}
        false => {
            let why = format!("it is sent as {} and not as a tool of the target", short(&sent.name));
            needs.push(Need::of(LossKind::ToolKeptRaw, why).named(&names));
        }
    }
    if sent.name != name {
        match kept {
            true => needs
                .push(Need::of(LossKind::ToolRenamed, format!("the tool is named {}", short(&sent.name)))),
            false => needs.push(Need::if_told(LossKind::ToolRenamed)),
        }
    }
    let wrapped = own_input(own).is_some_and(|input| !input.is_object())
        && sent.sent.as_ref().is_some_and(Value::is_object);
    if wrapped {
        needs.push(Need::of(LossKind::InputWrapped, "the input is wrapped in an object").named(&names));
    }
    if has_lone_surrogate(own) {
        needs.push(Need::of(LossKind::LoneSurrogate, "half of a surrogate pair was replaced"));
    }
}

fn has_lone_surrogate(call: &Call) -> bool {
    let input = match &call.tool {
        Tool::Raw(raw) => Some(&raw.input),
        Tool::Mcp(mcp) => Some(&mcp.input),
        _ => None,
    };
    let extra = call.extra.iter().map(|argument| &argument.value);
    input.into_iter().chain(extra).any(|json| json.without_lone_surrogates().1 > 0)
}

fn judge_answer(own: &Answer, sent: &Answer, needs: &mut Vec<Need>) -> Result<(), String> {
    let (told, heard) = (own.texts.join("\n"), sent.texts.join("\n"));
    let mut as_they_are: Vec<&Part> = sent.others.iter().collect();
    for other in &own.others {
        if let Some(at) = as_they_are.iter().position(|sent| is_same_part(other, sent)) {
            as_they_are.swap_remove(at);
            continue;
        }
        let kind = match other.document {
            Some(_) => LossKind::Document,
            None => LossKind::ResultFlattened,
        };
        needs.push(Need::of(kind, format!("a part of the result, {}, is text or gone", short(&other.kind))));
    }
    if let Some(part) = as_they_are.first() {
        return Err(format!("the result has a part {} more", short(&part.kind)));
    }
    let blank = own.texts.iter().any(|text| text.trim().is_empty());
    if own.others.is_empty() && told != heard && !told.trim().is_empty() {
        needs.push(Need::of(LossKind::EmptyText, "a blank text of the result is gone"));
    } else if blank {
        needs.push(Need::if_told(LossKind::EmptyText));
    }
    if own.texts.len() > 1 {
        needs.push(Need::if_told(LossKind::ResultFlattened));
    }
    let mut left = sent.pictures.iter();
    for picture in &own.pictures {
        if !left.clone().next().is_some_and(|seen| picture.is(seen)) {
            needs.push(Need::of(LossKind::Image, "a picture of the result is missing"));
            continue;
        }
        left.next();
    }
    if let Some(extra) = left.next() {
        return Err(format!("the result has a picture {} more", short(extra.data.as_deref().unwrap_or("?"))));
    }
    match (own.failed, sent.failed) {
        (Some(own), Some(sent)) if own != sent => {
            let why = if own {
                "the failed call reads as a good one"
            } else {
                "the good call reads as a failed one"
            };
            needs.push(Need::of(LossKind::ResultStatus, why));
        }
        _ => {}
    }
    Ok(())
}

/// Whether a part of a result was sent as it is.
fn is_same_part(own: &Part, sent: &Part) -> bool {
    if own.kind != sent.kind {
        return false;
    }
    match &own.document {
        Some(document) => document_data(document) == sent.text,
        None => {
            let json = |text: &Option<String>| serde_json::from_str::<Value>(text.as_deref()?).ok();
            let (own, sent) = (json(&own.text), json(&sent.text));
            own.is_some() && own.map(|own| canonical(&own)) == sent.map(|sent| canonical(&sent))
        }
    }
}

/// What is different between two pieces of one kind, of which none is a form of the other; none
/// when they have nothing to do with each other.
pub(super) fn difference(own: &Piece, sent: &Piece, same_call: bool) -> Option<String> {
    match (own, sent) {
        (Piece::Text { role: a, text: own }, Piece::Text { role: b, text }) if a == b => {
            Some(format!("the text is {} instead of {}", at_difference(text, own), at_difference(own, text)))
        }
        (Piece::Answer(own), Piece::Answer(sent)) if same_call => {
            let (own, sent) = (own.texts.join("\n"), sent.texts.join("\n"));
            Some(format!(
                "the result is {} instead of {}",
                at_difference(&sent, &own),
                at_difference(&own, &sent)
            ))
        }
        (Piece::Call(own), Piece::Call(sent)) if own.id == sent.id || own.which() == sent.which() => {
            Some(call_difference(own, sent))
        }
        (Piece::Thought(_), Piece::Thought(thought)) => {
            Some(format!("the thought is {}", short(&thought.text)))
        }
        (Piece::Picture { role: a, .. }, Piece::Picture { role: b, .. }) if a == b => {
            Some("it is another picture".to_owned())
        }
        _ => None,
    }
}

fn call_difference(own: &Call, sent: &Call) -> String {
    if own.which() != sent.which() {
        return format!("the call is one of {} instead of {}", short(&sent.which()), short(&own.which()));
    }
    let (told, heard) = (own.arguments(), sent.arguments());
    let names: std::collections::BTreeSet<&String> = told.keys().chain(heard.keys()).collect();
    let parts = names.into_iter().filter_map(|name| match (told.get(name), heard.get(name)) {
        (Some(own), Some(sent)) if canonical(own) == canonical(sent) => None,
        (Some(own), Some(sent)) => Some(format!(
            "the argument {name} is {} instead of {}",
            short(&canonical(sent)),
            short(&canonical(own))
        )),
        (Some(_), None) => Some(format!("the argument {name} is missing")),
        (None, Some(_)) => Some(format!("there is an argument {name} more")),
        (None, None) => None,
    });
    parts.collect::<Vec<_>>().join("; ")
}

/// A text from a little before the first place where it differs from another.
fn at_difference(text: &str, other: &str) -> String {
    const BEFORE: usize = 12;
    let same = text.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
    let from: String = text.chars().skip(same.saturating_sub(BEFORE)).collect();
    let dots = if same > BEFORE { "…" } else { "" };
    format!("{dots}{}", short(&from))
}
