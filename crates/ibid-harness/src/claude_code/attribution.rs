//! What in a request of Claude Code tells where it belongs.

use ibid_model::ThreadRule;

/// Requests of a subagent carry its id in a header of their own, and those of the main thread do
/// not have that header (measured with 2.1.332 and 2.1.197).
pub static THREADS: &[ThreadRule] = &[ThreadRule::Present("x-claude-code-agent-id")];
