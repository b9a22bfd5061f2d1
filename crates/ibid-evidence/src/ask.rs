//! What can be asked: the parameters of the methods.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::Summary;

/// The parameters of `sessions.discover`. Keys that are not named here are ignored.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DiscoverParams {
    /// The directory of the project: absolute, or beginning with `~`.
    pub workspace: PathBuf,
    /// How many sessions at most, the newest first: 1 to 500; 100 when absent. What is outside is
    /// moved to the nearest bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_sessions: Option<u32>,
    /// Whether summaries have `toolActivity`; they have when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include_tool_trace: Option<bool>,
    /// Whether summaries have `dialogue`; they have when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include_dialogue: Option<bool>,
    /// The beginning of the time that is asked for, in milliseconds since 1970, inclusive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_ms: Option<i64>,
    /// The end of the time that is asked for, in milliseconds since 1970, inclusive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_ms: Option<i64>,
}

impl DiscoverParams {
    /// A question about a project, with nothing else said.
    #[must_use]
    pub fn of(workspace: impl Into<PathBuf>) -> DiscoverParams {
        DiscoverParams {
            workspace: workspace.into(),
            max_sessions: None,
            include_tool_trace: None,
            include_dialogue: None,
            from_ms: None,
            to_ms: None,
        }
    }
}

/// The parameters of `artifacts.observe`. Keys that are not named here are ignored.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ObserveParams {
    /// The directory of the project: absolute, or beginning with `~`.
    pub workspace: PathBuf,
    /// Summaries as `sessions.discover` gives them.
    #[serde(default)]
    pub sessions: Vec<Summary>,
}
