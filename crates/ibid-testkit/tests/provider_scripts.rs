//! The scripts, played with the tools of the real programs.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

mod client;
mod program;

use std::collections::HashSet;

use ibid_testkit::provider::wire::Api;
use ibid_testkit::provider::{Keyword, Options, Provider};
use program::{Call, Program, Turn, claude, codex, opencode, pi};
use serde_json::{Value, json};

fn strict() -> Provider {
    Provider::start(Options { strict: true, workspace: "/ws".into(), ..Options::default() }).unwrap()
}

fn programs() -> [(&'static str, Program); 4] {
    [("claude", claude()), ("codex", codex()), ("opencode", opencode()), ("pi", pi())]
}

/// The tools that a session calls, step by step; what one step calls at once is joined by `+`.
fn steps(turns: &[Turn]) -> Vec<String> {
    let names = |turn: &Turn| turn.calls.iter().map(|call| call.name.clone()).collect::<Vec<_>>().join("+");
    turns.iter().map(names).filter(|names| !names.is_empty()).collect()
}

fn play(mut program: Program, prompt: &str) -> Vec<Turn> {
    program.run(&strict(), prompt)
}

fn first(program: Program, keyword: &str) -> Call {
    play(program, keyword)[0].calls[0].clone()
}

#[test]
fn do_all_goes_through_every_kind_of_step_with_each_programs_own_tools() {
    let played = programs().map(|(_, program)| steps(&play(program, "please do-all of it")).join(" "));
    assert_eq!(played[0], "Bash Bash Write Edit Bash+Bash+Write Read Bash Agent");
    assert_eq!(
        played[1],
        "exec_command exec_command apply_patch apply_patch exec_command+exec_command+apply_patch view_image \
         exec_command spawn_agent wait_agent"
    );
    assert_eq!(played[2], "bash bash write edit bash+bash+write read bash task");
    assert_eq!(played[3], "bash bash write edit bash+bash+write read bash");
}

/// A program of Chat Completions whose tools have these names, each with these properties, all required.
fn with_tools(tools: &[(&'static str, &[&str])]) -> Program {
    let tools: Vec<_> = tools
        .iter()
        .map(|(name, names)| {
            let properties: serde_json::Map<_, _> =
                names.iter().map(|name| ((*name).to_owned(), json!({ "type": "string" }))).collect();
            (*name, json!({ "type": "object", "properties": properties, "required": names }))
        })
        .collect();
    Program::new(Api::Chat, &tools)
}

#[test]
fn do_work_calls_the_tools_of_copilot_grok_qwen_and_kimi() {
    let copilot = with_tools(&[
        ("bash", &["command", "description"]),
        ("create", &["path", "file_text"]),
        ("edit", &["path", "old_str", "new_str"]),
        ("task", &["name", "prompt"]),
    ]);
    let grok = with_tools(&[
        ("run_terminal_command", &["command", "description"]),
        ("write", &["file_path", "content"]),
        ("search_replace", &["file_path", "old_string", "new_string"]),
    ]);
    let qwen = with_tools(&[
        ("run_shell_command", &["command"]),
        ("write_file", &["file_path", "content"]),
        ("edit", &["file_path", "old_string", "new_string"]),
    ]);
    let kimi = with_tools(&[
        ("Bash", &["command"]),
        ("Write", &["path", "content"]),
        ("Edit", &["path", "old_string", "new_string"]),
    ]);
    let played = [copilot, grok, qwen, kimi].map(|program| play(program, "please do-work"));
    let steps = played.each_ref().map(|turns| steps(turns).join(" "));
    assert_eq!(steps[0], "bash bash create edit bash+bash+create bash");
    assert_eq!(
        steps[1],
        "run_terminal_command run_terminal_command write search_replace \
         run_terminal_command+run_terminal_command+write run_terminal_command"
    );
    assert_eq!(
        steps[2],
        "run_shell_command run_shell_command write_file edit run_shell_command+run_shell_command+write_file \
         run_shell_command"
    );
    assert_eq!(steps[3], "Bash Bash Write Edit Bash+Bash+Write Bash");
    for turns in played {
        let calls: Vec<&Call> = turns.iter().flat_map(|turn| &turn.calls).collect();
        assert!(calls[1].input["command"].as_str().unwrap().ends_with("exit 3"));
        let changes = calls[3].input.as_object().unwrap();
        assert!(changes.values().any(|value| value == "second line, changed in t1s3n0"), "{changes:?}");
    }
}

#[test]
fn every_script_ends_with_a_text_and_no_strict_rule_is_broken_on_the_way() {
    for keyword in Keyword::EVERY {
        for (name, program) in programs() {
            let turns = play(program, keyword.word());
            let last = turns.last().unwrap();
            assert!(last.text.as_deref().unwrap().starts_with("MOCK-TEXT"), "{name} {}", keyword.word());
        }
    }
}

#[test]
fn a_step_without_a_tool_for_it_is_named_in_the_last_text() {
    let turns = play(pi(), "do-subagent");
    assert_eq!(turns.len(), 1);
    assert_eq!(turns[0].text.as_deref(), Some("MOCK-TEXT t1s0: <<do-subagent>> (no tool for: subagent)"));
}

#[test]
fn a_prompt_without_a_keyword_is_answered_with_one_text() {
    for (name, program) in programs() {
        let turns = play(program, "what is undo-shells?");
        assert_eq!(turns.len(), 1, "{name}");
        assert_eq!(turns[0].text.as_deref(), Some("MOCK-TEXT t1s0: <<what is undo-shells?>>"), "{name}");
    }
}

#[test]
fn a_shell_is_called_as_each_program_declares_it() {
    let command = "echo mock shell t1s0n0 && pwd";
    let described = json!({ "command": command, "description": "Do the shell of the mock" });
    assert_eq!(first(claude(), "do-shell").input, described);
    assert_eq!(first(codex(), "do-shell").input, json!({ "cmd": command }));
    assert_eq!(first(opencode(), "do-shell").input, json!({ "command": command }));
    assert_eq!(first(pi(), "do-shell").input, json!({ "command": command }));
    // Codex 0.47.0 takes the words of the command.
    let schema = json!({ "properties": { "command": { "type": "array" } }, "required": ["command"] });
    let old = Program::new(Api::Responses, &[("shell", schema)]);
    assert_eq!(first(old, "do-shell").input, json!({ "command": ["bash", "-lc", command] }));
}

#[test]
fn a_file_is_written_and_changed_as_each_program_declares_it() {
    let edits = |program| -> Vec<Value> {
        play(program, "do-edit").into_iter().flat_map(|turn| turn.calls).map(|call| call.input).collect()
    };
    let written = edits(claude());
    let path = written[0]["file_path"].as_str().unwrap().to_owned();
    assert!(path.starts_with("/ws/mock-t1-") && path.ends_with(".txt"), "{path}");
    assert_eq!(written[0]["content"], "first line of the mock\nsecond line\n");
    let change = json!({ "file_path": path, "old_string": "second line", "new_string": "second line, changed in t1s1n0" });
    assert_eq!(written[1], change);
    assert_eq!(edits(opencode())[1]["oldString"], "second line");
    let change = json!([{ "oldText": "second line", "newText": "second line, changed in t1s1n0" }]);
    assert_eq!(edits(pi())[1]["edits"], change);
    let patches = edits(codex());
    assert!(patches[0].as_str().unwrap().starts_with("*** Begin Patch\n*** Add File: mock-t1-"));
    assert!(
        patches[1]
            .as_str()
            .unwrap()
            .contains("\n-second line\n+second line, changed in t1s1n0\n*** End Patch")
    );
}

#[test]
fn an_image_is_read_with_the_programs_own_tool() {
    assert_eq!(first(claude(), "do-image").input, json!({ "file_path": "/ws/picture.png" }));
    assert_eq!(first(codex(), "do-image").input, json!({ "path": "/ws/picture.png" }));
    assert_eq!(first(opencode(), "do-image").input, json!({ "filePath": "/ws/picture.png" }));
    assert_eq!(first(pi(), "do-image").input, json!({ "path": "/ws/picture.png" }));
}

#[test]
fn codex_waits_for_the_subagent_that_it_started() {
    let provider = strict();
    let mut program = codex();
    program.prompt("do-subagent");
    let spawn = program.ask(&provider).calls;
    assert_eq!(program.list().last().unwrap()["namespace"], "multi_agent_v1");
    program.answer(&spawn, r#"{"agent_id":"0199-a","nickname":"Maxwell"}"#);
    let wait = program.ask(&provider).calls;
    assert_eq!(wait[0].input, json!({ "targets": ["0199-a"], "timeout_ms": 10_000 }));
}

#[test]
fn claude_codes_subagent_is_waited_for_in_do_all_only() {
    assert_eq!(first(claude(), "do-subagent").input.get("run_in_background"), None);
    let calls = play(claude(), "do-all").into_iter().flat_map(|turn| turn.calls);
    let agent = calls.into_iter().find(|call| call.name == "Agent").unwrap();
    assert_eq!(agent.input["run_in_background"], false);
}

#[test]
fn codex_in_code_mode_is_spoken_to_in_javascript() {
    let mut program = Program::new(Api::Responses, &[]);
    let tools = json!([{ "type": "namespace", "name": "functions", "tools": [
        { "type": "custom", "name": "exec" },
        { "type": "function", "name": "wait", "parameters": { "properties": { "cell_id": { "type": "string" } } } },
    ]}]);
    program.list().push(json!({ "type": "additional_tools", "role": "developer", "tools": tools }));
    let turns = program.run(&strict(), "do-all");
    assert_eq!(steps(&turns).join(" "), "exec exec exec exec exec+exec+exec exec exec");
    let sources: Vec<_> =
        turns.iter().flat_map(|turn| &turn.calls).map(|call| call.input.as_str().unwrap()).collect();
    assert_eq!(sources[0], r#"text(await tools.exec_command({"cmd":"echo mock shell t1s0n0 && pwd"}));"#);
    assert!(sources[2].starts_with(r#"text(await tools.apply_patch("*** Begin Patch\n*** Add File: "#));
    assert!(sources[7].contains(r#"tools.view_image({"path":"/ws/picture.png"})"#));
}

#[test]
fn a_tool_that_is_known_by_its_schema_only_is_called_so_that_it_fits() {
    let schema = json!({
        "properties": {
            "command": { "type": "string" },
            "risk": { "enum": ["low", "high"] },
            "timeout": { "type": ["null", "integer"], "minimum": 5 },
            "where": { "anyOf": [{ "type": "null" }, { "type": "string" }] },
            "extra": { "type": "object", "properties": { "sure": { "type": "boolean" } }, "required": ["sure"] },
            "unneeded": { "type": "string" },
        },
        "required": ["command", "risk", "timeout", "where", "extra"],
    });
    let call = first(Program::new(Api::Chat, &[("run_shell_command", schema)]), "do-shell");
    let expected = json!({
        "command": "echo mock shell t1s0n0 && pwd", "risk": "low", "timeout": 5, "where": "mock", "extra": { "sure": false },
    });
    assert_eq!(call.input, expected);
}

#[test]
fn a_program_without_tools_for_files_writes_them_by_its_shell() {
    let schema = json!({ "properties": { "cmd": { "type": "string" } }, "required": ["cmd"] });
    let turns = play(Program::new(Api::Responses, &[("exec_command", schema)]), "do-edit");
    let commands: Vec<_> =
        turns.iter().flat_map(|turn| &turn.calls).map(|call| call.input["cmd"].as_str().unwrap()).collect();
    assert!(commands[0].starts_with("printf '%s\\n' 'first line of the mock' 'second line' > mock-t1-"));
    assert!(commands[1].contains("'second line, changed in t1s1n0'"));
}

#[test]
fn a_thought_is_said_where_the_request_asks_for_it() {
    for program in [claude(), codex()] {
        let turns = play(program, "do-shell");
        assert!(turns.iter().all(|turn| turn.thought.as_deref().unwrap().starts_with("MOCK-THOUGHT t1s")));
    }
    let mut silent = claude();
    silent.body.as_object_mut().unwrap().remove("thinking");
    assert_eq!(play(silent, "do-think")[0].thought, None);
    assert_eq!(play(pi(), "do-shell")[0].thought, None);
    assert!(play(pi(), "do-think")[0].thought.is_some());
    let mut asking = pi();
    asking.body["reasoning_effort"] = json!("low");
    assert!(play(asking, "hello")[0].thought.is_some());
}

#[test]
fn a_thought_is_sealed_and_its_text_left_out_where_the_program_wants_that() {
    let mut program = claude();
    program.body["thinking"] = json!({ "type": "adaptive", "display": "omitted" });
    program.prompt("hello");
    program.ask(&strict());
    let thought = program.list()[1]["content"][0].clone();
    assert_eq!((&thought["type"], &thought["thinking"]), (&json!("thinking"), &json!("")));
    assert!(!thought["signature"].as_str().unwrap().is_empty());
    let mut program = codex();
    program.prompt("hello");
    program.ask(&strict());
    assert!(program.list()[1]["encrypted_content"].is_string());
}

#[test]
fn no_text_thought_command_or_id_occurs_twice_in_a_session() {
    for (name, mut program) in programs() {
        let provider = strict();
        let mut turns = program.run(&provider, "do-all");
        turns.extend(program.run(&provider, "do-all"));
        turns.extend(program.run(&provider, "and now?"));
        let mut seen = HashSet::new();
        let texts = turns.iter().flat_map(|turn| [turn.text.clone(), turn.thought.clone()]).flatten();
        let calls = turns.iter().flat_map(|turn| &turn.calls);
        let ids = calls.clone().map(|call| call.id.clone());
        // A step may show the same image; every other call is unlike all others.
        let calls = calls.filter(|call| !call.input.to_string().contains("picture.png"));
        let inputs = calls.map(|call| call.input.to_string());
        let all: Vec<_> = texts.chain(ids).chain(inputs).collect();
        for said in &all {
            // What a wait is called with is not the script's to choose.
            assert!(seen.insert(said.clone()) || said.contains("timeout_ms"), "{name}: {said}");
        }
    }
}

#[test]
fn a_session_goes_on_with_another_provider_at_the_right_step() {
    let mut whole = claude();
    let expected = whole.run(&strict(), "do-edit");
    let mut halves = claude();
    halves.prompt("do-edit");
    let mut turns = vec![halves.ask(&strict())];
    halves.answer(&turns[0].calls, "ok");
    let second = strict();
    turns.push(halves.ask(&second));
    halves.answer(&turns[1].calls, "ok");
    turns.push(halves.ask(&second));
    assert_eq!(turns, expected);
}

#[test]
fn results_of_parallel_calls_may_stand_between_the_calls() {
    let provider = strict();
    let mut program = codex();
    program.prompt("do-all");
    let parallel = loop {
        let calls = program.ask(&provider).calls;
        program.answer(&calls, "ok");
        if calls.len() > 1 {
            break calls.len();
        }
    };
    // The order in which some programs keep parallel calls: each with its result.
    let items = program.list();
    let outputs = items.split_off(items.len() - parallel);
    let called = items.split_off(items.len() - parallel);
    for (call, output) in called.into_iter().zip(outputs) {
        items.extend([call, output]);
    }
    assert_eq!(program.ask(&provider).calls[0].name, "view_image");
}

#[test]
fn a_step_is_counted_also_where_the_program_gave_its_calls_other_ids() {
    let provider = strict();
    let mut program = opencode();
    program.prompt("do-edit");
    let mut names = Vec::new();
    for round in 0..3 {
        let turn = program.ask(&provider);
        names.extend(turn.calls.iter().map(|call| call.name.clone()));
        if turn.calls.is_empty() {
            break;
        }
        let id = format!("own-{round}");
        program.list().last_mut().unwrap()["tool_calls"][0]["id"] = json!(id);
        program.answer(&[Call { id, ..turn.calls[0].clone() }], "ok");
    }
    assert_eq!(names, ["write", "edit"]);
}

#[test]
fn what_a_program_adds_behind_the_prompt_or_a_result_is_no_prompt() {
    // (program, what it adds behind the prompt, what it adds behind each result)
    let cases: [(Program, &[&str], &[&str]); 4] = [
        (claude(), &["<system-reminder>\nBe careful.\n</system-reminder>"], &[]),
        (opencode(), &["a reminder that Kimi Code would add"], &["a note that Grok would add"]),
        (
            codex(),
            &[],
            &[
                "<subagent_notification>{}</subagent_notification>",
                "Message Type: FINAL_ANSWER\nPayload: done",
            ],
        ),
        (pi(), &["one", "two"], &["three", "four"]),
    ];
    for (mut program, behind_prompt, behind_result) in cases {
        let provider = strict();
        program.prompt("do-edit");
        for text in behind_prompt {
            program.prompt(text);
        }
        let mut called = 0;
        loop {
            let turn = program.ask(&provider);
            if turn.calls.is_empty() {
                break;
            }
            called += turn.calls.len();
            assert!(called <= 2, "the script began again");
            program.answer(&turn.calls, "ok");
            for text in behind_result {
                program.prompt(text);
            }
        }
        assert_eq!(called, 2);
    }
}

#[test]
fn an_image_that_a_program_sends_on_behind_a_result_is_no_prompt() {
    let provider = strict();
    let mut program = pi();
    program.prompt("do-image");
    let calls = program.ask(&provider).calls;
    program.answer(&calls, "Read image file [image/png]");
    let image = json!({ "type": "image_url", "image_url": { "url": "data:image/png;base64,iVBORw0KGgo=" } });
    let heading = json!({ "type": "text", "text": "Attached image(s) from tool result:" });
    program.list().push(json!({ "role": "user", "content": [heading, image] }));
    assert_eq!(program.ask(&provider).text.as_deref(), Some("MOCK-TEXT t1s1: <<do-image>>"));
}

#[test]
fn a_notice_between_a_call_and_its_result_is_no_prompt() {
    let provider = strict();
    let mut program = codex();
    program.prompt("do-edit");
    let calls = program.ask(&provider).calls;
    program.prompt("a subagent of an earlier turn has ended");
    program.answer(&calls, "ok");
    let turn = program.ask(&provider);
    assert!(turn.calls[0].input.as_str().unwrap_or_default().contains("*** Update File"));
}

#[test]
fn what_codex_says_of_the_environment_is_no_prompt() {
    let provider = strict();
    let mut program = codex();
    program.prompt("<environment_context>do-shell</environment_context>");
    let turns = program.run(&provider, "do-image");
    assert_eq!(steps(&turns), ["view_image"]);
    assert_eq!(turns[1].text.as_deref(), Some("MOCK-TEXT t1s1: <<do-image>>"));
}

#[test]
fn a_notice_after_the_last_text_is_answered_and_begins_no_script() {
    let provider = strict();
    let mut program = claude();
    program.run(&provider, "do-subagent");
    let notices = [
        "<task-notification>do-subagent is done</task-notification>",
        "Message Type: FINAL_ANSWER\nPayload: do-shell",
    ];
    for (turn, notice) in (2..).zip(notices) {
        let turns = program.run(&provider, notice);
        assert_eq!(turns.len(), 1);
        assert!(turns[0].text.as_deref().unwrap().starts_with(&format!("MOCK-TEXT t{turn}s0")));
    }
}

#[test]
fn the_task_of_a_codex_subagent_begins_a_script_of_its_own() {
    let provider = strict();
    let mut program = codex();
    program.prompt("do-subagent");
    let spawn = program.ask(&provider).calls;
    program.answer(&spawn, "aborted");
    program.list().push(json!({ "type": "agent_message", "content": [
        { "type": "input_text", "text": "Message Type: NEW_TASK\nPayload:\n" },
        { "type": "encrypted_content", "encrypted_content": "say one sentence" },
    ]}));
    let turn = program.ask(&provider);
    assert!(turn.calls.is_empty());
    assert!(turn.text.unwrap().contains("say one sentence"));
}

#[test]
fn a_request_without_tools_is_answered_with_one_text_whatever_its_prompt_holds() {
    for api in [Api::Messages, Api::Responses, Api::Chat] {
        let turns = play(Program::new(api, &[]), "Make a title of: do-all");
        assert_eq!(turns.len(), 1);
        assert_eq!(turns[0].text.as_deref(), Some("MOCK-TEXT t1s0: <<Make a title of: do-all>>"));
    }
    let mut forbidden = opencode();
    forbidden.body["tool_choice"] = json!("none");
    assert_eq!(play(forbidden, "do-all").len(), 1);
}

#[test]
fn the_last_text_of_do_odd_holds_what_is_often_broken() {
    let turns = play(pi(), "do-odd");
    let text = turns.last().unwrap().text.clone().unwrap();
    for odd in ["\u{1f9ea}", "e\u{301}", "\u{5d0}", "\u{200b}", "\"'\\n'", "</x>&amp;", "\t", "\r\n"] {
        assert!(text.contains(odd), "{odd:?} in {text:?}");
    }
    assert!(turns[0].calls[0].input["command"].as_str().unwrap().contains("\u{1f9ea}"));
}
