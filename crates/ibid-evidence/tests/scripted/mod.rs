//! An [`Evidence`] that does what the name of the workspace says, so that the driver can be tested
//! on everything that one may do.

use std::path::Path;
use std::time::Duration;

use ibid_evidence::answer::{Dialogue, Discovery, Observation, Observations, Summary, ToolActivity, Turn};
use ibid_evidence::ask::{DiscoverParams, ObserveParams};
use ibid_evidence::{Evidence, Refusal, RefusalCode};

/// What a panic says; nobody may ever read it.
pub(crate) const SECRET: &str = "what a person wrote\nin two lines";

pub(crate) struct Scripted;

fn act(workspace: &Path) -> Result<(), Refusal> {
    match workspace.to_str() {
        Some("panic") => panic!("{SECRET}"),
        Some("slow") => std::thread::sleep(Duration::from_millis(300)),
        Some("refuse") => {
            return Err(Refusal {
                code: RefusalCode::InvalidParams,
                message: "the workspace is blank".into(),
            });
        }
        _ => {}
    }
    Ok(())
}

impl Evidence for Scripted {
    fn platforms(&self) -> Vec<&'static str> {
        vec!["first", "second"]
    }

    fn discover(&self, params: &DiscoverParams) -> Result<Discovery, Refusal> {
        act(&params.workspace)?;
        let mut discovery = Discovery::default();
        if params.workspace == Path::new("huge") {
            let turn = Turn { timestamp: None, response: Some("x".repeat(1024 * 1024)) };
            let dialogue = Some(Dialogue { turns: vec![turn; 17] });
            discovery.sessions.push(Summary { dialogue, ..Summary::default() });
        }
        discovery.sessions.push(Summary {
            session_id: params.workspace.to_string_lossy().into_owned(),
            platform: "first".to_owned(),
            prompt_count: params.max_sessions.unwrap_or(100),
            tool_activity: (params.include_tool_trace != Some(false)).then(ToolActivity::default),
            dialogue: (params.include_dialogue != Some(false)).then(Dialogue::default),
            ..Summary::default()
        });
        Ok(discovery)
    }

    fn observe(&self, params: &ObserveParams) -> Result<Observations, Refusal> {
        act(&params.workspace)?;
        let observed = params.sessions.iter().map(|session| Observation {
            relative_path: "README.md".to_owned(),
            session_id: format!("{}:{}", session.platform, session.session_id),
            saved_at: "2026-07-01T10:00:00.000Z".to_owned(),
            prompt: String::new(),
            provider: None,
            access: ibid_evidence::answer::Access::Read,
        });
        Ok(Observations { observations: observed.collect() })
    }
}
