//! Which sessions the demo has. `fixtures/<harness>/<version>/PROVENANCE.md` says how each was made.

use super::{Content, Sessions};

pub(super) const SOURCE: &str = "codex:01a22cab-62dd-7661-aa05-129331e50dbf";
pub(super) const TARGET: &str = "pi";

macro_rules! fixture {
    ($path:literal) => {
        Content::Bytes(include_bytes!(concat!("../../../../fixtures/", $path)))
    };
}

pub(super) static SESSIONS: &[Sessions] = &[
    Sessions {
        harness: "codex",
        files: &[
            (
                "sessions/2026/11/30/rollout-2026-11-30T13-35-59-01a22cab-62dd-7661-aa05-129331e50dbf.jsonl",
                fixture!(
                    "codex/0.171.0/.codex/sessions/2026/11/30/rollout-2026-11-30T13-35-59-01a22cab-62dd-7661-aa05-129331e50dbf.jsonl"
                ),
            ),
            (
                "sessions/2026/11/30/rollout-2026-11-30T13-35-59-01a22cab-632a-7a92-bd10-64a8f204bce7.jsonl",
                fixture!(
                    "codex/0.171.0/.codex/sessions/2026/11/30/rollout-2026-11-30T13-35-59-01a22cab-632a-7a92-bd10-64a8f204bce7.jsonl"
                ),
            ),
        ],
    },
    Sessions {
        harness: "pi",
        files: &[(
            "--home-dev-demo--/2026-11-30T13-26-24-938Z_01a22ca2-9faa-7568-a605-34a700f6656d.jsonl",
            fixture!(
                "pi/1.6.0/.pi/agent/sessions/--home-dev-demo--/2026-11-30T13-26-24-938Z_01a22ca2-9faa-7568-a605-34a700f6656d.jsonl"
            ),
        )],
    },
];
