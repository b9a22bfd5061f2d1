//! The patch that makes Codex's `config.toml` use a model provider of Ibid's.
//!
//! A desktop app is configured, not started: its traffic is redirected by the file that it reads.
//! These are pure functions from text to text; whoever calls them reads and writes the file.
//!
//! The file is the user's: everything that the patch does not name stays as it is, byte for byte,
//! line ends, order, comments and a byte order mark included. Applying twice changes nothing.
//! [`apply`] gives a [`Receipt`] of each value that it replaced, added or took out, with which
//! [`remove`] gives the very bytes back; when the file changed meanwhile, it keeps that change and
//! gives back the rest. Without a receipt only what is provably Ibid's goes, and what may be is
//! listed.
//!
//! A file that is no TOML, or in which a table of the patch is something else, is never rewritten.

mod edit;
mod layout;
mod undo;

use crate::core::edits::{self, Layer};

use self::edit::{Editor, Literal};
use self::layout::Layout;
use super::toml_text::is_header_name;

pub use self::edit::{Change, Place};

/// What the patch changed in a configuration.
pub type Receipt = edits::Receipt<Change>;

/// The key that selects a provider.
const SELECTED: &str = "model_provider";
/// The table of providers.
const PROVIDERS: &str = "model_providers";
/// The table of a provider's headers.
const HEADERS: &str = "http_headers";
/// The table of features, and the one that the patch turns off: a gateway reads bodies as they are.
const FEATURES: &str = "features";
const FEATURE: &str = "enable_request_compression";
/// The keys of a provider's table that the patch writes, apart from its header.
const MANAGED: &[&str] = &["name", "base_url", "wire_api", ENV_KEY, ENV_INSTRUCTIONS, OPENAI_AUTH];
const ENV_KEY: &str = "env_key";
const ENV_INSTRUCTIONS: &str = "env_key_instructions";
const OPENAI_AUTH: &str = "requires_openai_auth";
/// The protocol that the provider speaks.
const WIRE_API: &str = "responses";
/// The variable that holds an API key of OpenAI.
const API_KEY: &str = "OPENAI_API_KEY";

/// How Codex proves who it is to the provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Auth {
    /// With the user's ChatGPT login.
    ChatGpt,
    /// With the key in `OPENAI_API_KEY`.
    ApiKey,
}

impl Auth {
    /// What the value of `OPENAI_API_KEY` means: a key when it is there and not blank, otherwise
    /// the login. The login itself is not looked for.
    #[must_use]
    pub fn of_key(variable: Option<&str>) -> Auth {
        if variable.is_some_and(|key| !key.trim().is_empty()) { Auth::ApiKey } else { Auth::ChatGpt }
    }
}

/// What the configuration is to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch {
    /// The id of the provider; not blank.
    pub provider_id: String,
    /// Its name for people.
    pub display_name: String,
    /// Where it is, exactly as it is to be written.
    pub base_url: String,
    /// How Codex proves who it is.
    pub auth: Auth,
    /// The header that is sent with the provider's id, so that a request can be told.
    pub marker_header: Option<String>,
    /// What Codex tells a user whose key is missing.
    pub env_key_instructions: Option<String>,
    /// The variables to take out of `shell_environment_policy.set`, which would lead around the
    /// provider.
    pub scrub: Vec<String>,
}

/// A configuration with the patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patched {
    /// The text.
    pub text: String,
    /// What was changed, and what was changed by the receipt that was given.
    pub receipt: Receipt,
}

/// A configuration without the patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removed {
    /// The text.
    pub text: String,
    /// What stays, of which a person should know.
    pub left: Vec<Left>,
}

/// An entry that stays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// Its dotted key.
    pub path: String,
    /// Why.
    pub why: Why,
}

/// Why an entry stays, or could not be given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Why {
    /// Someone changed it after Ibid did.
    ChangedSince,
    /// Ibid may have written it, or the user; without a receipt nobody can tell.
    MaybeYours,
    /// It is no entry that Ibid writes.
    NotOurs,
    /// Entries of others need it.
    NeededByOthers,
    /// The place where it stood is gone.
    NoPlace,
}

impl Why {
    /// The reason, as the end of a sentence about the entry.
    #[must_use]
    pub fn sentence(self) -> &'static str {
        match self {
            Why::ChangedSince => "was changed since, and stays as it is",
            Why::MaybeYours => "may be yours, and stays",
            Why::NotOurs => "is not Ibid's, and stays",
            Why::NeededByOthers => "is needed by entries that are not Ibid's, and stays",
            Why::NoPlace => "could not be given back, as the place where it stood is gone",
        }
    }
}

/// What a configuration says of a provider.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Installed {
    /// Its name.
    pub name: Option<String>,
    /// Where it is.
    pub base_url: Option<String>,
    /// The protocol.
    pub wire_api: Option<String>,
    /// The variable of its key.
    pub env_key: Option<String>,
    /// Whether it takes the user's login.
    pub requires_openai_auth: Option<bool>,
    /// Whether it is the one that Codex uses.
    pub selected: bool,
}

/// Why a configuration was left alone. None of these quotes a value of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The provider has no id.
    #[error("the id of the provider is blank")]
    BlankId,
    /// The header's name cannot be sent.
    #[error("the name of the marker header is not ASCII without control characters")]
    HeaderName,
    /// The text is no TOML.
    #[error("line {line}, column {column}: not TOML: {message}")]
    Toml {
        /// The line, from 1.
        line: usize,
        /// The column in characters, from 1.
        column: usize,
        /// What the parser says.
        message: String,
    },
    /// What must be a table is something else.
    #[error("line {line}, column {column}: {path} is not a table")]
    NotATable {
        /// The dotted key.
        path: String,
        /// The line, from 1.
        line: usize,
        /// The column in characters, from 1.
        column: usize,
    },
    /// What must be a value is a table.
    #[error("line {line}, column {column}: {path} is a table, not a value")]
    NotAValue {
        /// The dotted key.
        path: String,
        /// The line, from 1.
        line: usize,
        /// The column in characters, from 1.
        column: usize,
    },
    /// The file has no place where this could be written.
    #[error("{path} cannot be written into this file")]
    Refused {
        /// The dotted key.
        path: String,
    },
}

/// The configuration with the patch. A blank text is a new file.
///
/// # Errors
///
/// When the id is blank, the header cannot be sent, the text is no TOML, or something in it that
/// must be a table is none.
pub fn apply(text: &str, patch: &Patch) -> Result<Patched, ConfigError> {
    apply_again(text, patch, Receipt::default())
}

/// The configuration with the patch, where an earlier application left a receipt: what comes back
/// covers both, so that removing gives back what stood there before the first.
///
/// # Errors
///
/// As [`apply`].
pub fn apply_again(text: &str, patch: &Patch, earlier: Receipt) -> Result<Patched, ConfigError> {
    let fresh = patched(text, patch)?;
    if !earlier.is_known() {
        let receipt = fresh.receipt();
        return Ok(Patched { text: fresh.text, receipt });
    }
    if fresh.text == text {
        return Ok(Patched { text: fresh.text, receipt: earlier });
    }
    let mut receipt = earlier;
    // As long as the file is what was left, the old patch is exchanged for the new one, and the
    // receipt does not grow.
    if let Some(before) = receipt.unwind(text) {
        let again = patched(&before, patch)?;
        receipt.push(again.layer);
        return Ok(Patched { text: again.text, receipt });
    }
    receipt.push(fresh.layer);
    Ok(Patched { text: fresh.text, receipt })
}

/// One application.
struct Fresh {
    text: String,
    layer: Layer<Change>,
}

impl Fresh {
    fn receipt(&self) -> Receipt {
        let mut receipt = Receipt::default();
        receipt.push(self.layer.clone());
        receipt
    }
}

fn patched(text: &str, patch: &Patch) -> Result<Fresh, ConfigError> {
    let id = patch.provider_id.as_str();
    if id.trim().is_empty() {
        return Err(ConfigError::BlankId);
    }
    if patch.marker_header.as_deref().is_some_and(|header| !is_header_name(header)) {
        return Err(ConfigError::HeaderName);
    }
    let mut editor = Editor::new(text);
    editor.set(&[SELECTED], Literal::Text(id))?;
    editor.set(&[PROVIDERS, id, "name"], Literal::Text(&patch.display_name))?;
    editor.set(&[PROVIDERS, id, "base_url"], Literal::Text(&patch.base_url))?;
    editor.set(&[PROVIDERS, id, "wire_api"], Literal::Text(WIRE_API))?;
    set_header(&mut editor, id, patch.marker_header.as_deref())?;
    match patch.auth {
        Auth::ChatGpt => {
            editor.take_out(&[PROVIDERS, id, ENV_KEY])?;
            editor.take_out(&[PROVIDERS, id, ENV_INSTRUCTIONS])?;
            editor.set(&[PROVIDERS, id, OPENAI_AUTH], Literal::Flag(true))?;
        }
        Auth::ApiKey => {
            editor.take_out(&[PROVIDERS, id, OPENAI_AUTH])?;
            editor.set(&[PROVIDERS, id, ENV_KEY], Literal::Text(API_KEY))?;
            match &patch.env_key_instructions {
                Some(text) => editor.set(&[PROVIDERS, id, ENV_INSTRUCTIONS], Literal::Text(text))?,
                None => editor.take_out(&[PROVIDERS, id, ENV_INSTRUCTIONS]).map(drop)?,
            }
        }
    }
    editor.set(&[FEATURES, FEATURE], Literal::Flag(false))?;
    for variable in &patch.scrub {
        editor.take_out(&["shell_environment_policy", "set", variable])?;
    }
    let layer = Layer::new(text, &editor.text, editor.steps);
    Ok(Fresh { text: editor.text, layer })
}

/// Makes the marker header the only one whose value is the provider's id: every other such header
/// is one that an older patch wrote.
fn set_header(editor: &mut Editor, id: &str, wanted: Option<&str>) -> Result<(), ConfigError> {
    let table = [PROVIDERS.to_owned(), id.to_owned(), HEADERS.to_owned()];
    let text = editor.text.clone();
    let layout = Layout::of(&text)?;
    let leaves = layout.leaves_below(&table);
    let old: Vec<_> = leaves
        .iter()
        .filter(|(path, entry)| path.len() == 4 && layout.string(&entry.value).as_deref() == Some(id))
        .map(|(path, _)| path)
        .filter(|path| path.last().map(String::as_str) != wanted)
        .collect();
    for path in &old {
        editor.take_out(path)?;
    }
    if let Some(header) = wanted {
        editor.set(&[PROVIDERS, id, HEADERS, header], Literal::Text(id))?;
    } else if !old.is_empty() {
        let text = editor.text.clone();
        let layout = Layout::of(&text)?;
        let emptied =
            layout.find(&table).is_some_and(|found| found.entry.inside.as_ref().is_some_and(Vec::is_empty));
        if emptied {
            editor.take_out(&table)?;
        }
    }
    Ok(())
}

/// The configuration without the patch of this provider.
///
/// With the receipt, the text from before comes back byte for byte when nothing else changed in
/// it; otherwise every change of ours is taken back at its place, what someone changed since stays
/// and is listed. Without one (or with one of another version), the provider's table and its
/// selection go, and what may be ours is listed.
///
/// # Errors
///
/// When the id is blank, or the text is no TOML.
pub fn remove(text: &str, provider_id: &str, receipt: Option<&Receipt>) -> Result<Removed, ConfigError> {
    if provider_id.trim().is_empty() {
        return Err(ConfigError::BlankId);
    }
    Layout::of(text)?;
    let mut left = Vec::new();
    let Some(receipt) = receipt.filter(|receipt| receipt.is_known() && !receipt.is_empty()) else {
        let mut editor = Editor::new(text);
        undo::provable(&mut editor, provider_id, &mut left)?;
        return Ok(Removed { text: editor.text, left });
    };
    let mut text = text.to_owned();
    for layer in receipt.layers().iter().rev() {
        if let Some(before) = layer.exactly_before(&text) {
            text = before;
            continue;
        }
        let mut editor = Editor::new(&text);
        undo::layer(&mut editor, layer, &mut left)?;
        text = editor.text;
    }
    Ok(Removed { text, left })
}

/// Whether the configuration says all of the patch, so that applying it would change nothing.
///
/// # Errors
///
/// As [`apply`].
pub fn is_applied(text: &str, patch: &Patch) -> Result<bool, ConfigError> {
    Ok(patched(text, patch)?.text == text)
}

/// What the configuration says of a provider; none when it has no such provider.
///
/// # Errors
///
/// When the text is no TOML.
pub fn installed(text: &str, provider_id: &str) -> Result<Option<Installed>, ConfigError> {
    let layout = Layout::of(text)?;
    let table = [PROVIDERS.to_owned(), provider_id.to_owned()];
    let has_header = layout.tables().any(|section| section.path.starts_with(&table));
    if !has_header && layout.leaves_below(&table).is_empty() && layout.find(&table).is_none() {
        return Ok(None);
    }
    let value = |path: &[&str]| layout.find(path).map(|found| layout.slice(&found.entry.value));
    let string = |key: &str| {
        let value = value(&[PROVIDERS, provider_id, key])?;
        layout::parsed(value)?.as_str().map(str::to_owned)
    };
    let selected = value(&[SELECTED]).is_some_and(|value| Literal::Text(provider_id).is_said(value));
    Ok(Some(Installed {
        name: string("name"),
        base_url: string("base_url"),
        wire_api: string("wire_api"),
        env_key: string(ENV_KEY),
        requires_openai_auth: value(&[PROVIDERS, provider_id, OPENAI_AUTH])
            .and_then(|value| layout::parsed(value)?.as_bool()),
        selected,
    }))
}

/// Whether the configuration says, in so many words, that this plugin is off
/// (`[plugins."<spec>"] enabled = false`). A file that cannot be read says nothing.
#[must_use]
pub fn plugin_is_disabled(text: &str, spec: &str) -> bool {
    Layout::of(text).is_ok_and(|layout| {
        let found = layout.find(&["plugins", spec, "enabled"]);
        found.is_some_and(|found| Literal::Flag(false).is_said(layout.slice(&found.entry.value)))
    })
}
