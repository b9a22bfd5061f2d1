//! A configuration file of a program, changed in the program's own grammar. Everything here is
//! text in, text out: a file that cannot be parsed is refused and stays as it is.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::HookCommand;

/// A gateway that the program's requests are to go through.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gateway {
    /// Its origin (`http://127.0.0.1:4141`), as it goes into the configuration.
    pub url: String,
    /// How the program proves to its provider who it is.
    pub auth: GatewayAuth,
}

/// How a program authenticates through a gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GatewayAuth {
    /// With the login of a subscription.
    Subscription,
    /// With an API key of the environment.
    ApiKey,
}

/// What a patch is to bring about.
#[derive(Clone, Copy, Debug)]
pub struct Wish<'a> {
    /// The command that a hook runs.
    pub command: &'a HookCommand,
    /// The gateway, for a program whose configuration redirects it.
    pub gateway: Option<&'a Gateway>,
}

/// How one kind of configuration file is patched. The functions read and write nothing.
#[derive(Clone, Copy, Debug)]
pub struct Grammar {
    /// Puts in what is wished. Applying to its own result changes nothing. The receipt of an
    /// earlier application makes one that covers both.
    pub apply: fn(&str, Wish<'_>, Option<&Value>) -> Result<Patched, PatchError>,
    /// Whether the text is as `apply` would leave it.
    pub is_applied: fn(&str, Wish<'_>) -> Result<bool, PatchError>,
    /// Takes out what is ours: with the receipt of `apply` everything, and each replaced value is
    /// given back; without, what is provably ours.
    pub remove: fn(&str, Option<&Value>) -> Result<Unpatched, PatchError>,
    /// What the first text says that the second does not say, or says otherwise, and the other way
    /// round, as dotted keys; a comment that only the first has counts too. None when giving the
    /// second for the first loses nothing but layout.
    pub differences: fn(&str, &str) -> Result<Vec<String>, PatchError>,
}

/// A patched text.
#[derive(Clone, Debug, PartialEq)]
pub struct Patched {
    /// The text.
    pub text: String,
    /// What the patch added and replaced, in the grammar's own words: what `remove` needs to give
    /// the very bytes back.
    pub receipt: Value,
}

/// A text without the patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unpatched {
    /// The text.
    pub text: String,
    /// Keys that stay although a patch may have put them there, each with the reason, as
    /// sentences.
    pub left: Vec<String>,
}

/// Why a configuration was not patched. Nothing of the file's values is in it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PatchError {
    /// It cannot be parsed.
    #[error("it cannot be parsed ({0}); correct it first")]
    Malformed(String),
    /// A key holds something else than the patch can be put into.
    #[error("`{0}` is not of the kind it must be; correct it first")]
    Kind(String),
    /// The wish itself cannot be written in this file.
    #[error("{0}")]
    Wish(String),
}
