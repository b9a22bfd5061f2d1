//! Starting Claude Code against a gateway. It appends `/v1/messages` itself, and its credentials
//! stay as they are.

use crate::core::launch::{LaunchError, LaunchPlan, LaunchWish};

/// One variable, and nothing else.
#[allow(clippy::unnecessary_wraps, reason = "the shape of every planner")]
pub(super) fn plan(wish: &LaunchWish) -> Result<LaunchPlan, LaunchError> {
    let variables = vec![("ANTHROPIC_BASE_URL", wish.endpoint.to_string())];
    Ok(LaunchPlan { arguments: Vec::new(), variables })
}
