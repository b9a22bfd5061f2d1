//! `harness-evidence-host`: the evidence host over the standard streams. `ibid host` is the same.

use std::process::ExitCode;

use ibid_evidence::answer::{Discovery, Observations, Provider, ProviderStatus};
use ibid_evidence::ask::{DiscoverParams, ObserveParams};
use ibid_evidence::{Evidence, Refusal, wire};

/// The platforms of the protocol, none of which this build reads.
struct Unread;

impl Evidence for Unread {
    fn platforms(&self) -> Vec<&'static str> {
        vec![
            "qoder",
            "codex",
            "claude",
            "cursor",
            "copilot",
            "grok",
            "augment",
            "qwen",
            "pi",
            "kimi",
            "workbuddy",
            "dsh",
            "harness-run",
        ]
    }

    fn discover(&self, _: &DiscoverParams) -> Result<Discovery, Refusal> {
        let unread = |platform: &str| Provider {
            platform: platform.to_owned(),
            status: ProviderStatus::Error,
            discovered: 0,
            included: 0,
            message: Some("this build does not read it".to_owned()),
            reason: None,
            unreadable: 0,
        };
        let providers = self.platforms().into_iter().map(unread).collect();
        Ok(Discovery { providers, ..Discovery::default() })
    }

    fn observe(&self, _: &ObserveParams) -> Result<Observations, Refusal> {
        Ok(Observations::default())
    }
}

fn main() -> ExitCode {
    ExitCode::from(wire::run_alone("harness-evidence-host", |_| Unread))
}
