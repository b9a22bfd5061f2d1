//! What in a request of Codex tells where it belongs.

use ibid_model::ThreadRule;

/// Every request names its thread and the root session, and a subagent's thread is not the session
/// (measured with 0.171.0 and 0.140.0). One header without the other is no shape that the program
/// has, so it tells nothing.
pub static THREADS: &[ThreadRule] = &[ThreadRule::Differs { thread: "thread-id", session: "session-id" }];
