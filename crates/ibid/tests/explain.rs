//! `ibid explain`, over real sessions and journals that were made up around them.

use ibid_capture::join::Explained;
use ibid_capture::journal::{Entry, Journal, Observed};
use ibid_harness::Surroundings;
use ibid_model::Timestamp;
use serde_json::json;

use crate::common::{CODEX_CHILD, CODEX_PARENT, Home, Run, Snapshot, Value, full_home, ibid};

/// A Claude Code session with a subagent whose end it is told by a notification.
const CLAUDE: &str = "e9892c41-53eb-4318-8f5c-12357e8f85e3";
const PROMPT: &str = "98ae90c1-504b-4a50-ab2e-6ee0bb7aa7cd";
const NOTICE: &str = "b1689409-2616-424f-a5f9-405adb08e1b9";
const AGENT: &str = "afc6dde99f2bcef8a";

const CODEX: &str = "01a22cab-62dd-7661-aa05-129331e50dbf";
const CODEX_TURN: &str = "01a22cab-62f1-7ce3-adb2-7680a823ad62";
const CODEX_AGENT: &str = "01a22cab-632a-7a92-bd10-64a8f204bce7";

/// An OpenCode session, and its subagent.
const OPENCODE: &str = "ses_dd3555cfdffeIvywSEeo1fvPxm";
const OPENCODE_AGENT: &str = "ses_dd355583affeahk71mBYR0qIPs";
const OPENCODE_PROMPT: &str = "msg_22caaa3390013uDbSOLMM4wfJD";

/// A pi session.
const PI: &str = "01a22ca2-9faa-7568-a605-34a700f6656d";

/// What no surface may show.
const SECRET: &str = "sk-planted-secret";

/// What a program gave its hooks, event by event, kept as its hook keeps it.
struct Hooks<'a> {
    home: &'a Home,
    program: &'static str,
    /// The field that names the event.
    event: &'static str,
    common: Value,
}

impl Hooks<'_> {
    /// One event at a time of the day on which the fixtures were made.
    fn say(&self, time: &str, event: &str, fields: Value) -> &Self {
        let mut input = self.common.clone();
        input[self.event] = event.into();
        input["prompt"] = SECRET.into();
        for (name, value) in fields.as_object().unwrap() {
            input[name] = value.clone();
        }
        let lifecycle = ibid_harness::profile(self.program).unwrap().1.lifecycle.unwrap();
        let announced = (lifecycle.read)(input.to_string().as_bytes()).unwrap();
        let observed = Observed {
            at: Timestamp::parse(&format!("2026-11-30T{time}Z")).unwrap(),
            program: self.program.to_owned(),
            session: announced.observation.session.to_string(),
            observation: serde_json::value::RawValue::from_string(announced.native).unwrap(),
        };
        let machine = Surroundings::isolated(self.home.path());
        Journal::new(machine.data_dir()).append(&Entry::Observed(observed)).unwrap();
        self
    }
}

fn claude(home: &Home) -> Hooks<'_> {
    let path = home.path().join(format!(".claude/projects/-home-dev-demo/{CLAUDE}.jsonl"));
    let common = json!({"session_id": CLAUDE, "cwd": "/home/dev/demo", "transcript_path": path});
    Hooks { home, program: "claude", event: "hook_event_name", common }
}

fn codex(home: &Home) -> Hooks<'_> {
    let name = format!("rollout-2026-11-30T13-35-59-{CODEX}.jsonl");
    let path = home.path().join(".codex/sessions/2026/11/30").join(name);
    let common =
        json!({"session_id": CODEX, "cwd": "/home/dev/demo", "model": "gpt-5", "transcript_path": path});
    Hooks { home, program: "codex", event: "hook_event_name", common }
}

fn opencode(home: &Home) -> Hooks<'_> {
    let common = json!({"session_id": OPENCODE, "root_id": OPENCODE, "cwd": "/home/dev/demo"});
    Hooks { home, program: "opencode", event: "event", common }
}

fn pi(home: &Home) -> Hooks<'_> {
    let common = json!({"session_id": PI, "cwd": "/home/dev/demo", "model": "mock-model"});
    Hooks { home, program: "pi", event: "event", common }
}

/// All that Claude Code announced of its session, in its order.
fn announce_claude(home: &Home) {
    let agent = |fields: Value| {
        let mut all = json!({"prompt_id": PROMPT, "agent_id": AGENT, "agent_type": "general-purpose"});
        all.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        all
    };
    let child =
        home.path().join(format!(".claude/projects/-home-dev-demo/{CLAUDE}/subagents/agent-{AGENT}.jsonl"));
    claude(home)
        .say("13:35:20.100", "SessionStart", json!({"source": "startup"}))
        .say("13:35:20.330", "UserPromptSubmit", json!({"prompt_id": PROMPT}))
        .say("13:35:20.390", "SubagentStart", agent(json!({})))
        .say("13:35:20.460", "Stop", json!({"prompt_id": PROMPT}))
        .say("13:35:20.480", "SubagentStop", agent(json!({"agent_transcript_path": child})))
        .say("13:35:20.490", "UserPromptSubmit", json!({"prompt_id": NOTICE}))
        .say("13:35:20.560", "Stop", json!({"prompt_id": NOTICE}))
        .say("13:35:20.700", "SessionEnd", json!({"reason": "other", "prompt_id": NOTICE}));
}

fn announce_codex(home: &Home) {
    let agent = json!({"turn_id": "01a22cab-its-own", "agent_id": CODEX_AGENT, "agent_type": "default"});
    codex(home)
        .say("13:35:59.200", "SessionStart", json!({"source": "startup"}))
        .say("13:35:59.240", "UserPromptSubmit", json!({"turn_id": CODEX_TURN}))
        .say("13:35:59.290", "SubagentStart", agent.clone())
        .say("13:35:59.320", "SubagentStop", agent)
        .say("13:35:59.380", "Stop", json!({"turn_id": CODEX_TURN}));
}

fn fact<'a>(answer: &'a Value, name: &str) -> &'a Value {
    answer["facts"].as_array().unwrap().iter().find(|fact| fact["name"] == name).unwrap()
}

fn holds_no_secret(run: Run) -> Run {
    assert!(!run.stdout.contains(SECRET) && !run.stderr.contains(SECRET));
    run
}

#[test]
fn the_lanes_of_a_claude_session_agree_and_each_is_named() {
    let home = full_home();
    announce_claude(&home);
    let run = holds_no_secret(ibid(&home, ["explain", CLAUDE, "--json"]).ends(0));
    let answer = run.json();
    // It is what the published schema is made from.
    let read: Explained = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(serde_json::to_value(read).unwrap(), answer);
    for name in ["id", "cwd", "started", "ended", "transcript-path"] {
        assert_eq!(fact(&answer, name)["verdict"], "agree", "{name}: {answer:#}");
    }
    // Hooks of Claude Code name no model.
    assert_eq!(fact(&answer, "models")["verdict"], "only-at-rest");
    let turns = answer["turns"].as_array().unwrap();
    assert_eq!(turns.len(), 1, "a notification is no turn of the person");
    assert_eq!((&turns[0]["id"], &turns[0]["by"]), (&json!(PROMPT), &json!("turn-id")));
    assert_eq!((&turns[0]["end"]["lane"], &turns[0]["state"]), (&json!("at-rest"), &json!("ended")));
    assert_eq!(answer["lanes"][1]["prompts_of_the_harness"], 1);
    let agent = &answer["subagents"][0];
    assert_eq!(agent["id"], AGENT);
    assert_eq!(agent["turn"]["verdict"], "agree");
    assert_eq!(agent["turn"]["at_rest"], json!({"turn": 1, "by": "call"}));
    assert_eq!(agent["turn"]["lifecycle"], json!({"turn": 1, "by": "turn-id"}));
    assert_eq!(
        (&agent["kind"]["verdict"], &agent["transcript_path"]["verdict"]),
        (&json!("agree"), &json!("agree"))
    );
    assert_eq!((&answer["complete"], answer["findings"].as_array().map(Vec::len)), (&json!(true), Some(0)));
}

#[test]
fn every_place_that_is_named_holds_what_it_is_named_for() {
    let home = full_home();
    announce_claude(&home);
    let answer = ibid(&home, ["explain", CLAUDE, "--json"]).ends(0).json();
    let read = |place: &Value| {
        let bytes = std::fs::read(place["path"].as_str().unwrap()).unwrap();
        let extent = if place["lane"] == "at-rest" { &place["extent"]["bytes"] } else { place };
        let at = |name: &str| usize::try_from(extent[name].as_u64().unwrap()).unwrap();
        serde_json::from_slice::<Value>(bytes.get(at("start")..at("end")).unwrap()).unwrap()
    };
    let turn = &answer["turns"][0];
    assert_eq!(read(&turn["at_rest"])["promptId"], PROMPT);
    for place in turn["lifecycle"].as_array().unwrap() {
        assert!(read(place).to_string().contains(PROMPT));
    }
    for name in ["models", "id", "cwd", "started", "ended"] {
        let said = &fact(&answer, name)["at_rest"][0];
        assert!(read(&said["evidence"]).to_string().contains(said["value"].as_str().unwrap()), "{name}");
    }
}

#[test]
fn a_codex_turn_gets_its_end_from_the_lifecycle_lane_and_its_subagent_a_turn_by_time() {
    let home = full_home();
    announce_codex(&home);
    let answer = ibid(&home, ["explain", CODEX_PARENT, "--json"]).ends(0).json();
    let turn = &answer["turns"][0];
    assert_eq!((&turn["by"], &turn["state"]), (&json!("turn-id"), &json!("ended")));
    assert_eq!((&turn["begin"]["lane"], &turn["end"]["lane"]), (&json!("at-rest"), &json!("lifecycle")));
    assert_eq!(fact(&answer, "models")["verdict"], "agree");
    let agent = &answer["subagents"][0];
    assert_eq!((&agent["id"], &agent["session"]), (&json!(CODEX_AGENT), &json!(CODEX_AGENT)));
    // The id that Codex names there is of the subagent's own turn.
    assert_eq!(agent["turn"]["lifecycle"], json!({"turn": 1, "by": "time"}));
    assert_eq!(agent["turn"]["verdict"], "agree");
    // The subagent by itself has the observations that name it.
    let child = ibid(&home, ["explain", CODEX_CHILD, "--json"]).ends(0).json();
    assert_eq!(child["lanes"][1]["records"], 2);
    assert_eq!(fact(&child, "parent")["verdict"], "agree");
    assert_eq!(fact(&child, "id")["lifecycle"][0]["value"], CODEX);
}

#[test]
fn the_lanes_of_an_opencode_session_are_joined_by_the_id_of_the_prompt() {
    let home = full_home();
    let agent = json!({"session_id": OPENCODE_AGENT, "parent_id": OPENCODE, "agent": "general"});
    opencode(&home)
        .say("13:35:10.080", "session.created", json!({}))
        .say("13:35:10.130", "chat.message", json!({"message_id": OPENCODE_PROMPT, "origin": "person"}))
        .say("13:35:11.300", "session.created", agent.clone())
        .say("13:35:11.420", "session.idle", agent)
        .say("13:35:11.620", "session.idle", json!({"message_id": OPENCODE_PROMPT}));
    let answer = ibid(&home, ["explain", OPENCODE, "--json"]).ends(0).json();
    let turns = answer["turns"].as_array().unwrap();
    assert_eq!((turns.len(), &turns[0]["by"], &turns[0]["state"]), (1, &json!("turn-id"), &json!("ended")));
    // The place at rest is a row.
    assert_eq!(turns[0]["at_rest"]["extent"]["row"]["key"], OPENCODE_PROMPT);
    let agent = &answer["subagents"][0];
    assert_eq!((&agent["id"], &agent["turn"]["verdict"]), (&json!(OPENCODE_AGENT), &json!("agree")));
    assert_eq!(agent["turn"]["at_rest"]["by"], "call");
    assert_eq!(agent["kind"]["verdict"], "agree");
    // Its hooks name no transcript, and nothing announces an end.
    assert_eq!(fact(&answer, "transcript-path")["verdict"], "unknown");
    assert_eq!(fact(&answer, "ended")["verdict"], "only-at-rest");
}

#[test]
fn turns_of_pi_which_have_no_ids_are_joined_by_time() {
    let home = full_home();
    pi(&home)
        .say("13:26:24.970", "session_start", json!({"reason": "startup"}))
        .say("13:26:24.980", "input", json!({"source": "interactive"}))
        .say("13:26:25.210", "agent_settled", json!({}))
        .say("13:26:25.640", "input", json!({"source": "interactive"}))
        .say("13:26:25.700", "agent_settled", json!({}));
    let answer = ibid(&home, ["explain", PI, "--json"]).ends(0).json();
    let turns = answer["turns"].as_array().unwrap();
    assert_eq!(turns.len(), 2);
    assert!(turns.iter().all(|turn| turn["by"] == "time" && turn["state"] == "ended"), "{turns:#?}");
    assert_eq!(fact(&answer, "models")["verdict"], "agree");
    // A prompt that was announced 20 seconds later is none of these.
    pi(&home).say("13:26:45", "input", json!({"source": "interactive"}));
    let answer = ibid(&home, ["explain", PI, "--json"]).ends(0).json();
    let last = &answer["turns"][2];
    assert_eq!(
        (&last["by"], &last["lanes"], &last["state"]),
        (&json!("none"), &json!(["lifecycle"]), &json!("unfinished"))
    );
}

#[test]
fn a_value_on_which_the_lanes_disagree_is_shown_twice_and_named() {
    let home = full_home();
    announce_codex(&home);
    let stray = json!({"source": "resume", "model": "another-model", "cwd": "/somewhere else"});
    codex(&home).say("13:36:30", "SessionStart", stray);
    let run = ibid(&home, ["explain", CODEX_PARENT, "--json"]).ends(0);
    let answer = run.json();
    for (name, value) in [("models", "another-model"), ("cwd", "/somewhere else")] {
        assert_eq!(fact(&answer, name)["verdict"], "disagree");
        assert!(fact(&answer, name)["lifecycle"].to_string().contains(value));
    }
    assert_eq!(answer["findings"][0]["kind"], "lanes-disagree");
    let shown = ibid(&home, ["show", CODEX_PARENT]).ends(0);
    assert!(shown.stdout.contains("disagrees; see `ibid explain`"), "{}", shown.stdout);
    assert!(shown.stderr.contains("lanes-disagree"), "{}", shown.stderr);
}

#[test]
fn a_hook_that_ran_twice_doubles_nothing_and_order_does_not_matter() {
    let (once, twice) = (full_home(), full_home());
    announce_codex(&once);
    announce_codex(&twice);
    announce_codex(&twice);
    let [once, twice] =
        [&once, &twice].map(|home| ibid(home, ["explain", CODEX_PARENT, "--json"]).ends(0).json());
    assert_eq!(twice["lanes"][1]["repeated"], 5);
    assert_eq!(once["lanes"][1]["records"], twice["lanes"][1]["records"]);
    for part in ["turns", "subagents"] {
        let states = |answer: &Value| {
            let all = answer[part].as_array().unwrap().clone();
            all.iter()
                .map(|one| (one["id"].clone(), one["state"].clone(), one["end"]["at"].clone()))
                .collect::<Vec<_>>()
        };
        assert_eq!(states(&once), states(&twice));
    }
}

#[test]
fn lost_hooks_leave_turns_unfinished_or_to_the_stored_session() {
    let home = full_home();
    claude(&home).say("13:35:20.330", "UserPromptSubmit", json!({"prompt_id": PROMPT}));
    codex(&home).say("13:35:59.240", "UserPromptSubmit", json!({"turn_id": CODEX_TURN}));
    codex(&home).say("13:35:59.250", "UserPromptSubmit", json!({"turn_id": "never-stored"}));
    // The rows say that the answer ended.
    let answer = ibid(&home, ["explain", CLAUDE, "--json"]).ends(0).json();
    assert_eq!(answer["turns"][0]["state"], "ended");
    let answer = ibid(&home, ["explain", CODEX_PARENT, "--json"]).ends(0).json();
    let turns = answer["turns"].as_array().unwrap();
    assert_eq!(turns.iter().filter(|turn| turn["state"] == "unfinished").count(), 2);
    let lost = turns.iter().find(|turn| turn["id"] == "never-stored").unwrap();
    assert_eq!(lost["lanes"], json!(["lifecycle"]));
}

#[test]
fn observations_of_a_session_whose_id_only_begins_alike_never_enter() {
    let home = full_home();
    let mut hooks = codex(&home);
    for id in [format!("{CODEX}\u{1f980} x/y"), CODEX.chars().take(35).collect()] {
        hooks.common["session_id"] = id.into();
        hooks.say("13:35:59.240", "UserPromptSubmit", json!({"turn_id": "turn \u{1f9ed}"}));
    }
    let answer = ibid(&home, ["explain", CODEX_PARENT, "--json"]).ends(0).json();
    assert_eq!((&answer["lanes"][1]["records"], answer["turns"].as_array().unwrap().len()), (&json!(0), 1));
    assert!(!ibid(&home, ["show", CODEX_PARENT]).ends(0).stdout.contains("lifecycle"));
}

#[test]
fn without_a_lifecycle_lane_the_stored_session_is_explained_and_the_rest_is_unknown() {
    let home = full_home();
    let before = crate::common::stores(&home);
    let list = ibid(&home, ["list", "--json"]).ends(0).json();
    let sessions = list["sessions"].as_array().unwrap();
    assert!(sessions.len() > 20);
    for session in sessions {
        let name = format!("{}:{}", session["harness"].as_str().unwrap(), session["id"].as_str().unwrap());
        let answer = ibid(&home, ["explain", &name, "--json"]).ends(0).json();
        assert_eq!(answer["session"]["id"], session["id"]);
        let state = &answer["lanes"][1]["state"];
        assert!(state == "not-installed" || state == "no-lane", "{name}: {state}");
        assert_eq!(answer["complete"], false, "what hooks would have said is unknown");
        assert!(answer["facts"].as_array().unwrap().iter().all(|fact| fact["lifecycle"].is_null()));
    }
    let after: Vec<Snapshot> = crate::common::stores(&home);
    assert!(before == after, "explaining writes nothing");
}

#[test]
fn the_page_names_each_file_once_and_fits_the_reader() {
    let home = full_home();
    announce_claude(&home);
    let page = holds_no_secret(ibid(&home, ["explain", CLAUDE]).ends(0)).stdout;
    for part in
        ["Lanes\n", "Facts\n", "Turns\n", "Subagents\n", "Files\n", "matched by its id", "turn 1 agrees"]
    {
        assert!(page.contains(part), "{part}:\n{page}");
    }
    let transcript = format!("{CLAUDE}.jsonl");
    assert!(page.lines().any(|line| line.starts_with("  [1] ") && line.ends_with(&transcript)), "{page}");
}

#[test]
fn show_says_in_one_line_what_was_announced() {
    let home = full_home();
    let before = ibid(&home, ["show", CLAUDE]).ends(0).stdout;
    assert!(!before.contains("lifecycle"));
    assert!(ibid(&home, ["show", CLAUDE, "--json"]).ends(0).json()["lifecycle"].is_null());
    announce_claude(&home);
    let after = ibid(&home, ["show", CLAUDE]).ends(0).stdout;
    assert!(after.contains("lifecycle: 8 observations, 1 turn, agrees\n"), "{after}");
    let without: Vec<&str> = after.lines().filter(|line| !line.contains("lifecycle: ")).collect();
    assert_eq!(without, before.lines().collect::<Vec<_>>());
    let answer = ibid(&home, ["show", CLAUDE, "--json"]).ends(0).json();
    assert_eq!(answer["lifecycle"]["turns"][0]["by"], "turn-id");
    assert_eq!(answer["lifecycle"]["subagents"][0]["turn"]["verdict"], "agree");
}

#[test]
fn a_session_that_is_not_there_is_not_explained() {
    ibid(&full_home(), ["explain", "codex:no-such-session"]).ends(1);
}

#[test]
fn a_part_of_the_journal_that_cannot_be_read_is_said_and_the_rest_is_read() {
    let home = full_home();
    announce_codex(&home);
    let folder = Surroundings::isolated(home.path()).data_dir().join("lifecycle");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|end| end == "jsonl") {
            let mut text = std::fs::read_to_string(&path).unwrap();
            text.push_str(&format!("{{\"torn\":\"{SECRET}\n"));
            std::fs::write(&path, text).unwrap();
        }
    }
    let answer = holds_no_secret(ibid(&home, ["explain", CODEX_PARENT, "--json"]).ends(0)).json();
    assert_eq!((&answer["complete"], &answer["lanes"][1]["records"]), (&json!(false), &json!(5)));
    assert_eq!(answer["lanes"][1]["unread"], 1);
}
