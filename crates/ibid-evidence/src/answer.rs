//! What is answered: summaries of sessions, the state of each platform, observed files.
//!
//! Keys are in camel case. A key that is absent means *not observed*, never zero or empty, but for
//! the lists that are absent when they are empty. Times are RFC 3339 in UTC with milliseconds.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The answer of `host.describe`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Description {
    /// [`crate::PROTOCOL`].
    pub protocol: String,
    /// The process id of the host.
    pub pid: u32,
    /// The platforms, in their order.
    pub platforms: Vec<String>,
    /// The methods beside `host.describe` and `shutdown`.
    pub capabilities: Vec<String>,
}

/// The answer of `shutdown`, after which the host ends.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Shutdown {
    /// `shutting-down`.
    pub status: String,
}

impl Default for Shutdown {
    fn default() -> Shutdown {
        Shutdown { status: "shutting-down".to_owned() }
    }
}

/// The answer of `sessions.discover`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Discovery {
    /// The sessions, those that were active last first.
    pub sessions: Vec<Summary>,
    /// Every platform, in the order of the protocol.
    pub providers: Vec<Provider>,
    /// The files of the project that these sessions touched.
    pub observations: Vec<Observation>,
    /// How much of what there is the answer holds.
    pub coverage: Coverage,
}

/// The answer of `artifacts.observe`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Observations {
    /// The files: last saved first, then by path.
    pub observations: Vec<Observation>,
}

/// How much of what belongs to the project an answer holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Coverage {
    /// The sessions of the project that lie in the time that was asked for.
    pub in_window: u32,
    /// How many of them are in the answer.
    pub included: u32,
    /// How many are left out, by `maxSessions` or by the size of the answer.
    pub omitted: u32,
    /// Whether a time was asked for.
    pub windowed: bool,
}

/// One session.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// The id, as the harness knows it.
    pub session_id: String,
    /// The platform.
    pub platform: String,
    /// The earliest time in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_seen: Option<String>,
    /// The latest time in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_seen: Option<String>,
    /// What the person said, in order and with repeats, each cut at 200 characters.
    #[serde(default)]
    pub prompts: Vec<Prompt>,
    /// How often the person said something.
    #[serde(default)]
    pub prompt_count: u32,
    /// The model's messages.
    #[serde(default)]
    pub assistant_message_count: u32,
    /// The tool calls.
    #[serde(default)]
    pub tool_call_count: u32,
    /// The tool calls one by one, unless `includeToolTrace` is false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_activity: Option<ToolActivity>,
    /// What the model said, unless `includeDialogue` is false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialogue: Option<Dialogue>,
    /// The models that wrote, in the order in which they appear.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<String>,
    /// What the model calls used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_usage: Option<TokenUsage>,
}

/// One thing that the person said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Prompt {
    /// The text, redacted, at most 200 characters.
    pub text: String,
    /// When.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<String>,
}

/// The tool calls of a session.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolActivity {
    /// In order.
    #[serde(default)]
    pub calls: Vec<ToolCall>,
}

/// One tool call.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolCall {
    /// The id of the call; one that is made up from the session's where the harness gives none.
    pub id: String,
    /// What kind of work it is.
    #[serde(default)]
    pub family: Family,
    /// The name to show.
    #[serde(default)]
    pub action_label: String,
    /// The name of the tool, as the harness writes it.
    #[serde(default)]
    pub tool_name: String,
    /// How it ended.
    #[serde(default)]
    pub status: CallStatus,
    /// The input, redacted and cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The output, redacted and cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// From the call to its result, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// The first of `filePaths`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_path: Option<String>,
    /// The files of the project that the input names, relative to it, with `/`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub file_paths: Vec<String>,
    /// Whether the call changes the files that it names, or reads them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access: Option<Access>,
    /// When it was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<String>,
}

/// What kind of work a tool call is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    /// Reading and searching.
    Inspect,
    /// Changing files.
    Change,
    /// Running commands.
    Execute,
    /// Running tests, linters and builds.
    Verify,
    /// Plans, subagents, questions, waiting.
    Coordinate,
    /// Committing, pushing, pull requests, publishing.
    Deliver,
    /// Anything else.
    #[default]
    #[serde(other)]
    Other,
}

/// How a tool call ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CallStatus {
    /// It has a result, which does not say whether it went well.
    Returned,
    /// It went well.
    Completed,
    /// It went wrong.
    Failed,
    /// It was stopped.
    Interrupted,
    /// It was made; nothing is known of an end.
    #[default]
    #[serde(other)]
    Observed,
}

/// What was done to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Access {
    /// It was named, and not changed.
    Read,
    /// It was written, created, or part of a patch.
    Change,
}

/// What the model said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Dialogue {
    /// In order.
    #[serde(default)]
    pub turns: Vec<Turn>,
}

/// One message of the model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Turn {
    /// When.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<String>,
    /// The text, redacted and cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<String>,
}

/// Tokens that model calls used. What was not observed is absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TokenUsage {
    /// Input that no cache served.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Output, with reasoning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// Input that a cache served.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_read_input_tokens: Option<u64>,
    /// Input that was put into a cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_creation_input_tokens: Option<u64>,
    /// The part of the output that is reasoning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_output_tokens: Option<u64>,
    /// All of it, where the harness says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_tokens: Option<u64>,
}

/// What was found of one platform.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Provider {
    /// The platform.
    pub platform: String,
    /// Whether there is evidence.
    pub status: ProviderStatus,
    /// The sessions of the project, all of them.
    pub discovered: u32,
    /// How many of them are in the answer.
    pub included: u32,
    /// What went wrong, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Why there is nothing, or not everything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// The sessions and places that could not be read.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unreadable: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// Whether a platform has evidence of the project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ProviderStatus {
    /// There are sessions.
    Ok,
    /// There are none.
    NoEvidence,
    /// There may be some, but they could not be read.
    Error,
}

/// Why a platform has nothing, or not everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// The harness has no store on this machine.
    StoreMissing,
    /// The store has sessions, none of them of this project.
    NoMatch,
    /// The store, or sessions in it, cannot be read.
    Unreadable,
    /// Sessions of the project lie outside the time that was asked for.
    Window,
    /// Reading took longer than it may.
    Timeout,
}

/// One file of the project that a session touched.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Observation {
    /// The path relative to the project, with `/`.
    pub relative_path: String,
    /// `platform:sessionId`.
    pub session_id: String,
    /// The session's last time.
    pub saved_at: String,
    /// The session's first prompt, or a name for it.
    pub prompt: String,
    /// The platform.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// Whether the session changed the file; that it changed it counts over that it read it.
    pub access: Access,
}
