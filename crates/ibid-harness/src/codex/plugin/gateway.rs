//! Codex's requests through a gateway of this machine: a model provider of Ibid's in `config.toml`.

use serde_json::Value;

use super::super::config::{self, Auth, ConfigError, Patch, Receipt};
use crate::core::plugin::{GatewayAuth, Grammar, PatchError, Patched, Unpatched, Wish};

/// The grammar.
pub(super) static GRAMMAR: Grammar =
    Grammar { apply, is_applied, remove, differences: super::config::differences };

/// The id of the provider.
const PROVIDER: &str = "ibid";

/// What the configuration is to say. With a key Codex speaks to `/v1/responses`, with a login to
/// `/responses`, and appends only the last part itself.
fn patch(wish: Wish<'_>) -> Result<Patch, PatchError> {
    let gateway = wish.gateway.ok_or_else(|| PatchError::Wish("no gateway was named".to_owned()))?;
    let origin = gateway.url.trim_end_matches('/');
    let (auth, base_url) = match gateway.auth {
        GatewayAuth::Subscription => (Auth::ChatGpt, origin.to_owned()),
        GatewayAuth::ApiKey => (Auth::ApiKey, format!("{origin}/v1")),
    };
    Ok(Patch {
        provider_id: PROVIDER.to_owned(),
        display_name: "Ibid".to_owned(),
        base_url,
        auth,
        marker_header: None,
        env_key_instructions: None,
        scrub: Vec::new(),
    })
}

fn apply(text: &str, wish: Wish<'_>, earlier: Option<&Value>) -> Result<Patched, PatchError> {
    let earlier = earlier.and_then(receipt_of).unwrap_or_default();
    let patched = config::apply_again(text, &patch(wish)?, earlier).map_err(refused)?;
    let unwritten = |_| PatchError::Wish("what was replaced cannot be written down".to_owned());
    let receipt = serde_json::to_value(&patched.receipt).map_err(unwritten)?;
    Ok(Patched { text: patched.text, receipt })
}

fn is_applied(text: &str, wish: Wish<'_>) -> Result<bool, PatchError> {
    config::is_applied(text, &patch(wish)?).map_err(refused)
}

fn remove(text: &str, receipt: Option<&Value>) -> Result<Unpatched, PatchError> {
    let receipt = receipt.and_then(receipt_of);
    let removed = config::remove(text, PROVIDER, receipt.as_ref()).map_err(refused)?;
    let left = removed.left.iter().map(|left| format!("{} {}", left.path, left.why.sentence())).collect();
    Ok(Unpatched { text: removed.text, left })
}

/// A receipt that cannot be read is as good as none: then only what is provably Ibid's goes.
fn receipt_of(value: &Value) -> Option<Receipt> {
    serde_json::from_value(value.clone()).ok()
}

fn refused(error: ConfigError) -> PatchError {
    match error {
        ConfigError::Toml { line, column, .. } => {
            PatchError::Malformed(format!("line {line}, column {column}: not TOML"))
        }
        ConfigError::NotATable { path, .. } | ConfigError::NotAValue { path, .. } => PatchError::Kind(path),
        other => PatchError::Wish(other.to_string()),
    }
}
