//! Which sessions belong to a project, and what is told of them.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::panic,
    reason = "tests show what they expect"
)]

mod support;

use ibid_evidence::Evidence;
use ibid_evidence::answer::{Access, CallStatus, Family, ProviderStatus, Reason};
use ibid_evidence::ask::DiscoverParams;
use ibid_testkit::Home;
use serde_json::json;
use support::*;

/// The three records that the documentation of the protocol gives as examples.
fn examples() -> Home {
    Home::new()
        .with_file(
            ".codex/sessions/2026/09/01/rollout-2026-09-01T10-00-00-11111111-2222-3333-4444-555555555555.jsonl",
            lines(&[
                json!({"timestamp":"2026-09-01T10:00:00.000Z","type":"session_meta","payload":{"id":"11111111-2222-3333-4444-555555555555","cwd":"/w/demo"}}),
                json!({"timestamp":"2026-09-01T10:00:01.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Add a retry"}]}}),
                json!({"timestamp":"2026-09-01T10:00:02.000Z","type":"turn_context","payload":{"model":"m-1"}}),
                json!({"timestamp":"2026-09-01T10:00:03.000Z","type":"response_item","payload":{"type":"function_call","call_id":"c1","name":"shell","arguments":"{\"command\":[\"cat\",\"src/a.rs\"],\"path\":\"src/a.rs\"}"}}),
                json!({"timestamp":"2026-09-01T10:00:05.000Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":"ok"}}),
                json!({"timestamp":"2026-09-01T10:00:06.000Z","type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":9,"output_tokens":2,"total_tokens":11}}}}),
            ]),
        )
        .with_file(
            ".claude/projects/-w-demo/s-1.jsonl",
            lines(&[
                json!({"type":"user","sessionId":"s-1","cwd":"/w/demo","timestamp":"2026-09-01T10:00:00Z","message":{"role":"user","content":"Explain lib"}}),
                json!({"type":"assistant","sessionId":"s-1","cwd":"/w/demo","timestamp":"2026-09-01T10:00:02Z","message":{"id":"m1","role":"assistant","model":"x","usage":{"input_tokens":5,"output_tokens":2},"content":[{"type":"text","text":"Reading."},{"type":"tool_use","id":"t1","name":"Read","input":{"file_path":"/w/demo/src/lib.rs"}}]}}),
                json!({"type":"user","sessionId":"s-1","cwd":"/w/demo","timestamp":"2026-09-01T10:00:03Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"…"}]}}),
            ]),
        )
        .with_file(
            ".pi/agent/sessions/--w-demo--/1788256800000_pi-1.jsonl",
            lines(&[
                json!({"type":"session","version":3,"id":"pi-1","cwd":"/w/demo","timestamp":"2026-09-01T10:00:00Z"}),
                json!({"type":"message","id":"a","timestamp":"2026-09-01T10:00:01Z","message":{"role":"user","content":[{"type":"text","text":"Write docs"}]}}),
                json!({"type":"message","id":"b","parentId":"a","timestamp":"2026-09-01T10:00:03Z","message":{"role":"assistant","model":"m","usage":{"input":5,"output":2},"content":[{"type":"text","text":"Sure"},{"type":"toolCall","id":"t1","name":"write","arguments":{"path":"/w/demo/docs/a.md"}}]}}),
                json!({"type":"message","id":"c","parentId":"b","timestamp":"2026-09-01T10:00:04Z","message":{"role":"toolResult","toolCallId":"t1","toolName":"write","isError":false,"content":[{"type":"text","text":"ok"}]}}),
            ]),
        )
}

#[test]
fn the_examples_of_the_documentation_are_summarised() {
    let home = examples();
    let before = home.snapshot();
    let discovery = discover(&home, "/w/demo");
    home.snapshot().assert_same_as(&before);
    assert_eq!(ids(&discovery), ["11111111-2222-3333-4444-555555555555", "pi-1", "s-1"]);
    let [codex, pi, claude] = &discovery.sessions[..] else { panic!() };
    assert_eq!(codex.first_seen.as_deref(), Some("2026-09-01T10:00:00.000Z"));
    assert_eq!(codex.last_seen.as_deref(), Some("2026-09-01T10:00:06.000Z"));
    assert_eq!((prompts(codex), codex.models.as_slice()), (vec!["Add a retry"], &["m-1".to_owned()][..]));
    let call = &calls(codex)[0];
    assert_eq!((call.tool_name.as_str(), call.duration_ms), ("shell", Some(2000)));
    assert_eq!((call.file_paths.as_slice(), call.access), (&["src/a.rs".to_owned()][..], Some(Access::Read)));
    let usage = codex.token_usage.unwrap();
    assert_eq!((usage.input_tokens, usage.output_tokens), (Some(9), Some(2)));
    assert_eq!(
        (prompts(claude), claude.assistant_message_count, claude.tool_call_count),
        (vec!["Explain lib"], 1, 1)
    );
    assert_eq!(calls(claude)[0].file_path.as_deref(), Some("src/lib.rs"));
    assert_eq!(claude.dialogue.as_ref().unwrap().turns[0].response.as_deref(), Some("Reading."));
    assert_eq!(claude.token_usage.unwrap().cache_read_input_tokens, None, "not observed is not zero");
    let call = &calls(pi)[0];
    assert_eq!(
        (call.family, call.status, call.access),
        (Family::Change, CallStatus::Completed, Some(Access::Change))
    );
    assert_eq!(call.output.as_deref(), Some("ok"));
    assert_eq!(discovery.coverage.in_window, 3);
}

#[test]
fn the_same_home_gives_the_same_bytes() {
    let home = examples();
    let bytes = |discovery| serde_json::to_vec(&discovery).unwrap();
    let first = bytes(discover(&home, "/w/demo"));
    let host = host(&home);
    for _ in 0..3 {
        assert!(bytes(host.discover(&DiscoverParams::of("/w/demo")).unwrap()) == first);
    }
}

// evidence defect 7
#[test]
fn first_and_last_are_the_earliest_and_the_latest_whatever_the_order() {
    let mut session = Claude::at("/w/demo", 1).says("One").answers("Two").says("Three");
    session.rows[0]["timestamp"] = json!("2026-09-01T11:00:00Z");
    session.rows[1]["timestamp"] = json!("2026-09-01T09:00:00Z");
    session.rows[2]["timestamp"] = json!("2026-09-01T10:00:00Z");
    let home = with_claude(Home::new(), "-w-demo", &session);
    let discovery = discover(&home, "/w/demo");
    let summary = only(&discovery);
    assert_eq!(summary.first_seen.as_deref(), Some("2026-09-01T09:00:00.000Z"));
    assert_eq!(summary.last_seen.as_deref(), Some("2026-09-01T11:00:00.000Z"));
}

// evidence defect 9
#[test]
fn every_prompt_is_kept_in_order_with_repeats_and_cut_at_two_hundred_characters() {
    let mut session = Claude::at("/w/demo", 1);
    for number in 0..30 {
        session = session.says(if number % 2 == 0 { "again" } else { "and again" }).answers("ok");
    }
    session = session.says(&"é".repeat(500));
    let home = with_claude(Home::new(), "-w-demo", &session);
    let discovery = discover(&home, "/w/demo");
    let summary = only(&discovery);
    assert_eq!((summary.prompt_count, summary.prompts.len()), (31, 31));
    assert_eq!(summary.prompts[2].text, "again");
    assert_eq!(summary.prompts[30].text, "é".repeat(200));
    assert_eq!(summary.token_usage.unwrap().input_tokens, Some(150), "summed, not the last one");
}

// evidence defect 9
#[test]
fn the_number_discovered_is_the_true_one_and_what_is_left_out_is_told() {
    let mut home = Home::new();
    for number in 0..7 {
        home = with_claude(home, "-w-demo", &Claude::at("/w/demo", number).says("x"));
    }
    let params = DiscoverParams { max_sessions: Some(3), ..DiscoverParams::of("/w/demo") };
    let discovery = host(&home).discover(&params).unwrap();
    let claude = provider(&discovery, "claude");
    assert_eq!((claude.discovered, claude.included), (7, 3));
    let coverage = discovery.coverage;
    assert_eq!(
        (coverage.in_window, coverage.included, coverage.omitted, coverage.windowed),
        (7, 3, 4, false)
    );
    let newest = Claude::at("", 6).id;
    assert_eq!(ids(&discovery)[0], newest);
}

// evidence defect 11
#[test]
fn what_is_not_asked_for_is_left_out_and_no_count_changes() {
    let (_folder, root) = project(&["README.md"]);
    let cwd = root.to_str().unwrap();
    let session = Claude::at(cwd, 1)
        .says("Read it")
        .calls("t", "Read", json!({"file_path": root.join("README.md")}))
        .returns("t", "x", false)
        .answers("Done");
    let home = with_claude(Home::new(), "x", &session);
    let host = host(&home);
    let all = host.discover(&DiscoverParams::of(&root)).unwrap();
    let params = DiscoverParams {
        include_tool_trace: Some(false),
        include_dialogue: Some(false),
        ..DiscoverParams::of(&root)
    };
    let few = host.discover(&params).unwrap();
    assert!(few.sessions[0].tool_activity.is_none() && few.sessions[0].dialogue.is_none());
    assert!(all.sessions[0].tool_activity.is_some() && all.sessions[0].dialogue.is_some());
    assert_eq!(few.sessions[0].tool_call_count, 1);
    assert_eq!((few.observations.len(), &few.observations), (1, &all.observations));
    assert_eq!(few.coverage, all.coverage);
}

// evidence defect 12
#[test]
fn secrets_are_replaced_and_ordinary_text_is_not() {
    let token = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    let session = Claude::at("/w/demo", 1)
        .says(&format!("Use {token} and/or /w/demo/src"))
        .calls("t", "Bash", json!({"command": format!("curl -H 'Authorization: Bearer {token}' x")}))
        .returns("t", &format!("API_KEY={token}"), true);
    let home = with_claude(Home::new(), "-w-demo", &session);
    let discovery = discover(&home, "/w/demo");
    let text = serde_json::to_string(&discovery).unwrap();
    assert!(!text.contains(&token));
    assert!(prompts(only(&discovery))[0].ends_with("and/or /w/demo/src"));
    assert_eq!(calls(only(&discovery))[0].status, CallStatus::Failed);
}

#[test]
fn an_empty_home_and_a_store_without_the_project_are_told_apart() {
    let discovery = discover(&Home::new(), "/w/demo");
    for provider in &discovery.providers {
        assert_eq!(
            (provider.status, provider.reason),
            (ProviderStatus::NoEvidence, Some(Reason::StoreMissing))
        );
    }
    let discovery = discover(&examples(), "/w/other");
    for name in ["codex", "claude", "pi"] {
        assert_eq!(provider(&discovery, name).reason, Some(Reason::NoMatch), "{name}");
    }
}

// evidence defect 9
#[test]
fn a_store_that_cannot_be_read_is_an_error_and_harms_no_other() {
    let home = examples();
    std::fs::remove_dir_all(home.path().join(".claude")).unwrap();
    let home = home.with_file(".claude/projects", "no directory");
    let discovery = discover(&home, "/w/demo");
    let claude = provider(&discovery, "claude");
    assert_eq!((claude.status, claude.reason), (ProviderStatus::Error, Some(Reason::Unreadable)));
    assert!(claude.message.is_some() && claude.unreadable == 1);
    for name in ["codex", "pi"] {
        assert_eq!(provider(&discovery, name).status, ProviderStatus::Ok, "{name}");
    }
}

#[test]
fn a_time_that_is_asked_for_leaves_out_what_lies_outside_and_says_so() {
    let home = examples();
    let at = |time: &str| ibid_model::Timestamp::parse(time).unwrap().as_milliseconds();
    let asked = |from: Option<&str>, to: Option<&str>| {
        let params =
            DiscoverParams { from_ms: from.map(at), to_ms: to.map(at), ..DiscoverParams::of("/w/demo") };
        host(&home).discover(&params).unwrap()
    };
    let some = asked(Some("2026-09-01T10:00:04Z"), Some("2026-09-01T10:00:06Z"));
    assert_eq!((some.coverage.in_window, some.coverage.windowed), (2, true));
    let claude = provider(&some, "claude");
    assert_eq!((claude.status, claude.reason), (ProviderStatus::NoEvidence, Some(Reason::Window)));
    assert_eq!((claude.discovered, claude.included), (1, 0));
    assert!(asked(Some("2026-09-02T00:00:00Z"), None).sessions.is_empty());
    assert!(asked(None, Some("2026-08-01T00:00:00Z")).sessions.is_empty());
}

#[test]
fn what_changed_is_read_again_and_what_is_gone_is_gone() {
    let first = Claude::at("/w/demo", 1).says("One");
    let second = Claude::at("/w/demo", 2).says("Other");
    let home = with_claude(with_claude(Home::new(), "-w-demo", &first), "-w-demo", &second);
    let host = host(&home);
    let ask = || host.discover(&DiscoverParams::of("/w/demo")).unwrap();
    assert_eq!(prompts(&ask().sessions[1]), ["One"]);
    let first = first.says("Two");
    std::fs::write(home.path().join(first.place("-w-demo")), first.text()).unwrap();
    assert_eq!(prompts(&ask().sessions[1]), ["One", "Two"]);
    let place = home.path().join(first.place("-w-demo"));
    std::fs::write(place.with_extension("new"), Claude::at("/w/demo", 1).says("Instead").text()).unwrap();
    std::fs::rename(place.with_extension("new"), &place).unwrap();
    assert_eq!(prompts(&ask().sessions[1]), ["Instead"]);
    std::fs::remove_file(&place).unwrap();
    let gone = ask();
    assert_eq!((ids(&gone), provider(&gone, "claude").discovered), (vec![second.id.as_str()], 1));
    std::fs::write(&place, Claude::at("/elsewhere", 1).says("Moved away").text()).unwrap();
    assert_eq!(ask().sessions.len(), 1);
}

#[test]
fn a_subagent_of_a_session_is_told_with_it() {
    let parent = Claude::at("/w/demo", 1).says("Do it").calls(
        "task",
        "Task",
        json!({"prompt": "Look", "description": "look", "subagent_type": "x"}),
    );
    let mut agent =
        Claude::at("/w/demo", 1).says("Look").calls("r", "Read", json!({"file_path": "/w/demo/a.rs"}));
    for row in &mut agent.rows {
        row["isSidechain"] = json!(true);
        row["agentId"] = json!("a1");
        row["uuid"] = json!(row["uuid"].as_str().unwrap().replace("1111-2222", "9999-2222"));
        row["parentUuid"] = json!(row["parentUuid"].as_str().map(|id| id.replace("1111-2222", "9999-2222")));
    }
    let place = format!(".claude/projects/-w-demo/{}/subagents/agent-a1.jsonl", parent.id);
    let home = with_claude(Home::new(), "-w-demo", &parent).with_file(&place, agent.text());
    let discovery = discover(&home, "/w/demo");
    let session = only(&discovery);
    assert_eq!((session.session_id.as_str(), prompts(session)), (parent.id.as_str(), vec!["Do it"]));
    let names: Vec<_> = calls(session).iter().map(|call| call.tool_name.as_str()).collect();
    assert_eq!(names, ["Task", "Read"]);
    std::fs::remove_file(home.path().join(parent.place("-w-demo"))).unwrap();
    assert_eq!(ids(&discover(&home, "/w/demo")), [format!("{}/a1", parent.id)], "an orphan is not lost");
}

#[test]
fn what_a_fork_copied_is_counted_where_it_was_made() {
    let pi = |id: &str, parent: Option<&str>, more: &str| {
        let at = if parent.is_some() { "2026-09-01T11:00:00Z" } else { "2026-09-01T10:00:00Z" };
        lines(&[
            json!({"type":"session","version":3,"id":id,"cwd":"/w/demo","timestamp":at,"parentSession":parent}),
            json!({"type":"message","id":"a","timestamp":"2026-09-01T10:00:01Z","message":{"role":"user","content":[{"type":"text","text":"Shared"}]}}),
            json!({"type":"message","id":"b","parentId":"a","timestamp":"2026-09-01T11:00:03Z","message":{"role":"user","content":[{"type":"text","text":more}]}}),
        ])
    };
    let place = |name: &str| format!(".pi/agent/sessions/--w-demo--/{name}.jsonl");
    let home = Home::new().with_file(&place("1_parent"), pi("parent", None, "More"));
    let parent = home.path().join(place("1_parent"));
    let home = home.with_file(&place("2_fork"), pi("fork", parent.to_str(), "Own"));
    let host = host(&home);
    let ask = || host.discover(&DiscoverParams::of("/w/demo")).unwrap();
    let of = |id: &str| {
        let discovery = ask();
        let found = discovery.sessions.iter().find(|session| session.session_id == id).unwrap();
        (found.prompts.iter().map(|prompt| prompt.text.clone()).collect::<Vec<_>>(), found.first_seen.clone())
    };
    assert_eq!(of("parent").0, ["Shared", "More"]);
    assert_eq!(of("fork"), (vec!["Own".to_owned()], Some("2026-09-01T11:00:03.000Z".to_owned())));
    std::fs::remove_file(parent).unwrap();
    assert_eq!(of("fork").0, ["Shared", "Own"], "an orphan keeps everything");
}

// evidence defect 6
#[test]
fn a_session_without_times_has_that_of_its_file_and_begins_no_later_than_it_ends() {
    let mut session = Claude::at("/w/demo", 1).says("One").answers("Two");
    for row in &mut session.rows {
        row.as_object_mut().unwrap().remove("timestamp");
    }
    let home = with_claude(Home::new(), "-w-demo", &session);
    let discovery = discover(&home, "/w/demo");
    let summary = only(&discovery);
    assert!(summary.first_seen.is_some() && summary.first_seen <= summary.last_seen);
    assert_eq!(summary.prompts[0].timestamp, None, "what was not recorded is not made up");
}

#[test]
fn damaged_sessions_are_counted_beside_those_that_could_be_read() {
    let good = Claude::at("/w/demo", 1).says("x");
    let place = format!(".claude/projects/-w-demo/{}.jsonl", Claude::at("", 2).id);
    let home =
        with_claude(Home::new(), "-w-demo", &good).with_file(&place, [0xFF, 0x00, b'{', b'\n'].repeat(50));
    let discovery = discover(&home, "/w/demo");
    let claude = provider(&discovery, "claude");
    assert_eq!((claude.status, claude.reason), (ProviderStatus::Ok, Some(Reason::Unreadable)));
    assert_eq!((claude.discovered, claude.unreadable), (1, 1), "{claude:?}");
    let elsewhere = discover(&home, "/w/other");
    let claude = provider(&elsewhere, "claude");
    assert_eq!((claude.status, claude.reason), (ProviderStatus::NoEvidence, Some(Reason::Unreadable)));
}

// evidence defect 9
#[test]
fn a_session_of_which_nothing_can_be_read_is_counted_on_every_platform() {
    let places = [
        ("claude", ".claude/projects/-w-demo/00000000-0000-4000-8000-000000000001.jsonl"),
        (
            "codex",
            ".codex/sessions/2026/09/01/rollout-2026-09-01T10-00-00-00000000-0000-4000-8000-000000000001.jsonl",
        ),
        ("copilot", ".copilot/session-state/00000000-0000-4000-8000-000000000001/events.jsonl"),
        ("cursor", ".cursor/projects/w-demo/agent-transcripts/c-1/c-1.jsonl"),
        ("grok", ".grok/sessions/%2Fw%2Fdemo/00000000-0000-4000-8000-000000000001/updates.jsonl"),
        ("augment", ".augment/sessions/a-1.json"),
        ("qwen", ".qwen/projects/-w-demo/chats/00000000-0000-4000-8000-000000000001.jsonl"),
        (
            "pi",
            ".pi/agent/sessions/--w-demo--/2026-09-01T10-00-00-000Z_00000000-0000-4000-8000-000000000001.jsonl",
        ),
        ("kimi", ".kimi-code/sessions/wd_demo_982f58f316c7/session_1/agents/main/wire.jsonl"),
        ("workbuddy", ".workbuddy/projects/w-demo/w-1.jsonl"),
        ("dsh", ".dsh/sessions/--w-demo--/d-1/session.jsonl"),
        ("qoder", ".qoder/projects/-w-demo/q-1.jsonl"),
    ];
    for content in [vec![0; 1000], b"no JSON\nat all\n".to_vec()] {
        let home = places.iter().fold(Home::new(), |home, (_, place)| home.with_file(place, &content));
        let discovery = discover(&home, "/w/demo");
        for (name, _) in places {
            let found = provider(&discovery, name);
            assert_eq!(
                (found.status, found.reason, found.unreadable),
                (ProviderStatus::Error, Some(Reason::Unreadable), 1),
                "{name} {:?}",
                content.first()
            );
        }
    }
}

#[test]
fn one_session_of_very_many_calls_does_not_make_an_answer_impossible() {
    let mut session = Claude::at("/w/demo", 1).says("Go");
    for number in 0..40_000 {
        session = session.calls(&format!("toolu_{number}"), "Read", json!({"file_path": "/w/demo/a.rs"}));
    }
    let other = Claude::at("/w/demo", 0).says("Short");
    let home = with_claude(with_claude(Home::new(), "-w-demo", &session), "-w-demo", &other);
    let discovery = discover(&home, "/w/demo");
    assert!(serde_json::to_vec(&discovery).unwrap().len() < 14 << 20);
    assert_eq!(discovery.sessions[0].tool_call_count, 40_000);
    assert_eq!(discovery.coverage.included + discovery.coverage.omitted, 2);
}

#[test]
fn sessions_that_are_written_replaced_and_deleted_meanwhile_are_told_as_they_were_at_some_moment() {
    let session =
        |number: u32| (0..20).fold(Claude::at("/w/demo", number), |session, _| session.says("said"));
    let home = (0..20).fold(Home::new(), |home, number| with_claude(home, "-w-demo", &session(number)));
    let host = host(&home);
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut round = 0;
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                round += 1;
                let session = session(round % 20);
                let place = home.path().join(session.place("-w-demo"));
                match round % 3 {
                    0 => drop(std::fs::remove_file(&place)),
                    1 => {
                        std::fs::write(place.with_extension("new"), session.text()).unwrap();
                        std::fs::rename(place.with_extension("new"), &place).unwrap();
                    }
                    _ => std::fs::write(&place, session.text()).unwrap(),
                }
            }
        });
        for _ in 0..40 {
            let discovery = host.discover(&DiscoverParams::of("/w/demo")).unwrap();
            for session in &discovery.sessions {
                assert!(session.prompt_count <= 20);
                assert!(session.first_seen.is_some());
            }
            let claude = provider(&discovery, "claude");
            assert_ne!(claude.status, ProviderStatus::Error, "{claude:?}");
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}

#[test]
fn an_id_that_no_harness_writes_does_not_fill_the_answer() {
    let header = json!({"type":"session","version":3,"id":"x".repeat(20 << 20),"cwd":"/w/demo","timestamp":"2026-09-01T10:00:00Z"});
    let message = json!({"type":"message","id":"a","timestamp":"2026-09-01T10:00:01Z","message":{"role":"user","content":[{"type":"text","text":"Hi"}]}});
    let home = Home::new().with_file(".pi/agent/sessions/--w-demo--/1_x.jsonl", lines(&[header, message]));
    let discovery = discover(&home, "/w/demo");
    assert!(serde_json::to_vec(&discovery).unwrap().len() < 100_000);
    assert_eq!(provider(&discovery, "pi").status, ProviderStatus::Error);
}

#[cfg(unix)]
#[test]
fn a_link_out_of_a_store_is_not_followed_and_not_passed_over_in_silence() {
    let session = Claude::at("/w/demo", 1).says("x");
    let home = Home::new().with_file(&format!("outside/{}.jsonl", session.id), session.text());
    std::fs::create_dir_all(home.path().join(".claude/projects")).unwrap();
    std::os::unix::fs::symlink(home.path().join("outside"), home.path().join(".claude/projects/-w-demo"))
        .unwrap();
    let discovery = discover(&home, "/w/demo");
    let claude = provider(&discovery, "claude");
    assert_eq!((claude.status, claude.reason), (ProviderStatus::Error, Some(Reason::Unreadable)));
    assert_eq!((claude.discovered, claude.unreadable), (0, 1));
}
