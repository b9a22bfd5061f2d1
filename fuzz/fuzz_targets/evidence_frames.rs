#![no_main]

use ibid_evidence::answer::{Discovery, Observation, Observations, Summary};
use ibid_evidence::ask::{DiscoverParams, ObserveParams};
use ibid_evidence::wire::{Fault, serve};
use ibid_evidence::{Evidence, Refusal, RefusalCode};

/// Answers with what it was asked, and refuses every other question.
struct Echo;

fn refuse(length: usize) -> Result<(), Refusal> {
    let refusal = Refusal { code: RefusalCode::InvalidParams, message: "odd".to_owned() };
    if length % 2 == 1 { Err(refusal) } else { Ok(()) }
}

impl Evidence for Echo {
    fn platforms(&self) -> Vec<&'static str> {
        vec!["echo"]
    }

    fn discover(&self, params: &DiscoverParams) -> Result<Discovery, Refusal> {
        let workspace = params.workspace.to_string_lossy();
        refuse(workspace.len())?;
        let session = Summary { session_id: workspace.into_owned(), ..Summary::default() };
        let count = params.max_sessions.unwrap_or(1).min(64) as usize;
        Ok(Discovery { sessions: vec![session; count], ..Discovery::default() })
    }

    fn observe(&self, params: &ObserveParams) -> Result<Observations, Refusal> {
        refuse(params.workspace.as_os_str().len())?;
        let paths = params.sessions.iter().flat_map(|session| {
            let calls = session.tool_activity.iter().flat_map(|activity| &activity.calls);
            calls.flat_map(|call| &call.file_paths).map(|path| Observation {
                relative_path: path.clone(),
                session_id: session.session_id.clone(),
                saved_at: session.last_seen.clone().unwrap_or_default(),
                prompt: String::new(),
                provider: Some(session.platform.clone()),
                access: ibid_evidence::answer::Access::Read,
            })
        });
        Ok(Observations { observations: paths.collect() })
    }
}

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let mut output = Vec::new();
    let ended = serve(&Echo, data, &mut output);
    assert!(output.is_empty() || output.ends_with(b"\n"), "an answer has no end");
    let mut answers = 0;
    for line in output.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        answers += 1;
        let answer: serde_json::Value = serde_json::from_slice(line).expect("an answer is JSON");
        let answer = answer.as_object().expect("an answer is an object");
        let keys: Vec<&str> = answer.keys().map(String::as_str).collect();
        assert!(keys == ["version", "id", "result"] || keys == ["version", "id", "error"], "{keys:?}");
        assert_eq!(answer["version"], 1);
        assert!(answer["id"].as_u64().is_some_and(|id| (1..=u64::from(u32::MAX)).contains(&id)));
        if let Some(result) = answer.get("result") {
            assert!(result.is_object());
        } else {
            assert!(answer["error"]["code"].is_string() && answer["error"]["message"].is_string());
        }
    }
    let requests = data.split(|byte| *byte == b'\n').count();
    assert!(answers <= requests, "there are more answers than requests");
    match ended {
        Ok(_) => {}
        Err(Fault::Input(error) | Fault::Output(error)) => panic!("memory cannot fail: {error}"),
        Err(fault) => {
            let said = fault.to_string();
            assert!(said.len() < 4096 && said.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic()));
        }
    }
});
