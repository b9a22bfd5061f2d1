//! How a program is started so that its traffic goes to a gateway: a plan, which nobody carries out
//! here. Planners are pure; they spawn, write and look at nothing.

use std::fmt;

/// Where a gateway listens, with whatever path its owner puts before the provider's own.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Endpoint(String);

impl Endpoint {
    /// The endpoint that a person or a program named: white space around it and slashes at its end
    /// go, and one without a scheme gets `http://`. None when nothing is left.
    #[must_use]
    pub fn of(text: &str) -> Option<Endpoint> {
        let text = text.trim().trim_end_matches('/');
        if text.is_empty() {
            return None;
        }
        Some(Endpoint(if text.contains("://") { text.to_owned() } else { format!("http://{text}") }))
    }

    /// The endpoint as text, without a slash at its end.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a launch is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchWish {
    /// Where the gateway listens, with what this program does not append itself (`/v1`, say).
    pub endpoint: Endpoint,
    /// The id of the provider that the gateway stands for. One for each process, where the program
    /// writes it into requests and transcripts.
    pub provider_id: String,
    /// Its name for people.
    pub display_name: Option<String>,
    /// The header that is to carry the provider's id.
    pub marker_header: Option<String>,
    /// Whether an API key in the environment is used rather than a login.
    pub api_key: bool,
    /// What a person is told whose key is missing.
    pub key_instructions: Option<String>,
}

/// How to start it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LaunchPlan {
    /// Arguments that go before a person's own, so that those win.
    pub arguments: Vec<String>,
    /// Variables to set.
    pub variables: Vec<(&'static str, String)>,
}

/// Why there is no plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// The id could not stand as a key.
    #[error("the id of the provider must be letters, digits, `-` and `_`")]
    ProviderId,
    /// The header could not be sent.
    #[error("the name of the marker header is not ASCII without control characters")]
    HeaderName,
}

/// Makes a plan of a wish.
pub type Planner = fn(&LaunchWish) -> Result<LaunchPlan, LaunchError>;

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test states what it expects")]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_has_a_scheme_and_no_slash_at_its_end() {
        for (text, endpoint) in [
            (" 127.0.0.1:4141/ ", "http://127.0.0.1:4141"),
            ("https://gw.example/a//", "https://gw.example/a"),
            ("http://[::1]:80", "http://[::1]:80"),
        ] {
            assert_eq!(Endpoint::of(text).unwrap().as_str(), endpoint);
        }
        for nothing in ["", "  ", "/", " // "] {
            assert_eq!(Endpoint::of(nothing), None);
        }
    }
}
