//! Which sessions the demo has. `fixtures/<harness>/<version>/PROVENANCE.md` says how each was made.

use super::{Content, Sessions};

pub(super) const SOURCE: &str = "claude-code:2beb2722-0229-4018-8f0c-897a97e5366b";
pub(super) const TARGET: &str = "codex";

macro_rules! fixture {
    ($path:literal) => {
        Content::Bytes(include_bytes!(concat!("../../../../fixtures/", $path)))
    };
}

pub(super) static SESSIONS: &[Sessions] = &[
    Sessions {
        harness: "claude-code",
        files: &[
            (
                "-home-dev-demo/2beb2722-0229-4018-8f0c-897a97e5366b.jsonl",
                fixture!(
                    "claude-code/2.1.332/.claude/projects/-home-dev-demo/2beb2722-0229-4018-8f0c-897a97e5366b.jsonl"
                ),
            ),
            (
                "-home-dev-demo/e9892c41-53eb-4318-8f5c-12357e8f85e3.jsonl",
                fixture!(
                    "claude-code/2.1.332/.claude/projects/-home-dev-demo/e9892c41-53eb-4318-8f5c-12357e8f85e3.jsonl"
                ),
            ),
            (
                "-home-dev-demo/e9892c41-53eb-4318-8f5c-12357e8f85e3/subagents/agent-afc6dde99f2bcef8a.jsonl",
                fixture!(
                    "claude-code/2.1.332/.claude/projects/-home-dev-demo/e9892c41-53eb-4318-8f5c-12357e8f85e3/subagents/agent-afc6dde99f2bcef8a.jsonl"
                ),
            ),
            (
                "-home-dev-demo/e9892c41-53eb-4318-8f5c-12357e8f85e3/subagents/agent-afc6dde99f2bcef8a.meta.json",
                fixture!(
                    "claude-code/2.1.332/.claude/projects/-home-dev-demo/e9892c41-53eb-4318-8f5c-12357e8f85e3/subagents/agent-afc6dde99f2bcef8a.meta.json"
                ),
            ),
        ],
    },
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
        harness: "cowork",
        files: &[
            (
                "1a000000-0000-4000-8000-00000000000a/2a000000-0000-4000-8000-00000000000a/local_3a000000-0000-4000-8000-000000000002.json",
                fixture!(
                    "cowork/hand-written/local-agent-mode-sessions/1a000000-0000-4000-8000-00000000000a/2a000000-0000-4000-8000-00000000000a/local_3a000000-0000-4000-8000-000000000002.json"
                ),
            ),
            (
                "1a000000-0000-4000-8000-00000000000a/2a000000-0000-4000-8000-00000000000a/local_3a000000-0000-4000-8000-000000000002/.claude/.claude.json",
                fixture!(
                    "cowork/hand-written/local-agent-mode-sessions/1a000000-0000-4000-8000-00000000000a/2a000000-0000-4000-8000-00000000000a/local_3a000000-0000-4000-8000-000000000002/.claude/.claude.json"
                ),
            ),
            (
                "1a000000-0000-4000-8000-00000000000a/2a000000-0000-4000-8000-00000000000a/local_3a000000-0000-4000-8000-000000000002/.claude/projects/-sessions-demo-2/4a000000-0000-4000-8000-000000000002.jsonl",
                fixture!(
                    "cowork/hand-written/local-agent-mode-sessions/1a000000-0000-4000-8000-00000000000a/2a000000-0000-4000-8000-00000000000a/local_3a000000-0000-4000-8000-000000000002/.claude/projects/-sessions-demo-2/4a000000-0000-4000-8000-000000000002.jsonl"
                ),
            ),
            (
                "1a000000-0000-4000-8000-00000000000a/2a000000-0000-4000-8000-00000000000a/local_3a000000-0000-4000-8000-000000000002/.claude/projects/-sessions-demo-2/4a000000-0000-4000-8000-000000000002/subagents/agent-a0000002.jsonl",
                fixture!(
                    "cowork/hand-written/local-agent-mode-sessions/1a000000-0000-4000-8000-00000000000a/2a000000-0000-4000-8000-00000000000a/local_3a000000-0000-4000-8000-000000000002/.claude/projects/-sessions-demo-2/4a000000-0000-4000-8000-000000000002/subagents/agent-a0000002.jsonl"
                ),
            ),
            (
                "1a000000-0000-4000-8000-00000000000a/2a000000-0000-4000-8000-00000000000a/local_3a000000-0000-4000-8000-000000000002/.claude/projects/-sessions-demo-2/4a000000-0000-4000-8000-000000000002/subagents/agent-a0000002.meta.json",
                fixture!(
                    "cowork/hand-written/local-agent-mode-sessions/1a000000-0000-4000-8000-00000000000a/2a000000-0000-4000-8000-00000000000a/local_3a000000-0000-4000-8000-000000000002/.claude/projects/-sessions-demo-2/4a000000-0000-4000-8000-000000000002/subagents/agent-a0000002.meta.json"
                ),
            ),
        ],
    },
    Sessions {
        harness: "opencode",
        files: &[(
            "opencode.db",
            Content::Sql(include_str!("../../../../fixtures/opencode/1.18.33/opencode.sql")),
        )],
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
