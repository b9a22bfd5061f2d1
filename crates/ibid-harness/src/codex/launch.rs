//! Starting Codex against a gateway: a model provider of its own, given as `-c key=value`. Its
//! files stay as they are, and the variables of its built-in provider are not used, since that one
//! takes neither the protocol nor a header.

use super::toml_text::{basic_string, is_bare_key, is_header_name};
use crate::core::launch::{LaunchError, LaunchPlan, LaunchWish};

/// The pairs, in the order in which Codex is to see them.
pub(super) fn plan(wish: &LaunchWish) -> Result<LaunchPlan, LaunchError> {
    let id = wish.provider_id.as_str();
    if !is_bare_key(id) {
        return Err(LaunchError::ProviderId);
    }
    let mut pairs = vec![format!("model_provider={}", basic_string(id))];
    let mut set = |key: &str, value: String| pairs.push(format!("model_providers.{id}.{key}={value}"));
    if let Some(name) = &wish.display_name {
        set("name", basic_string(name));
    }
    set("base_url", basic_string(wish.endpoint.as_str()));
    set("wire_api", basic_string("responses"));
    if let Some(header) = &wish.marker_header {
        if !is_header_name(header) {
            return Err(LaunchError::HeaderName);
        }
        set(&format!("http_headers.{}", basic_string(header)), basic_string(id));
    }
    if wish.api_key {
        set("env_key", basic_string("OPENAI_API_KEY"));
        if let Some(instructions) = &wish.key_instructions {
            set("env_key_instructions", basic_string(instructions));
        }
    } else {
        set("requires_openai_auth", "true".to_owned());
    }
    pairs.push("features.enable_request_compression=false".to_owned());
    let arguments = pairs.into_iter().flat_map(|pair| ["-c".to_owned(), pair]).collect();
    Ok(LaunchPlan { arguments, variables: Vec::new() })
}
