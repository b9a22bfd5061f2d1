//! Writing into OpenCode's stores, and deleting from them.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test states what it expects"
)]

mod opencode_home;

use std::fs;
use std::path::Path;

use ibid_carrier::plan::{Engine, Policy};
use ibid_carrier::sqlite::{RowSet, SqlValue, TableRows};
use ibid_harness::opencode::OpenCode;
use ibid_harness::{
    Carriers, Codec, Content, Context, Converted, Progress, Reference, SaveOptions, Saving, Store,
    StoreError, Surroundings, Target, TextCodec, Transcript, discover,
};
use ibid_model::{
    Block, Compaction, Data, Document, Essence, Image, LossKind, Message, ModelCall, Origin, Outcome, Role,
    Rules, Selection, Session, TextBlock, Thinking, Timestamp, ToolResult, ToolUse, Usage, essence, prepare,
};
use opencode_home::{Home, fixture};
use rusqlite::Connection;

fn commit(home: &Home, saving: &Saving) {
    let engine = Engine::new(home.machine.data_dir());
    engine.commit(&saving.plan, &Policy::within(saving.roots.clone())).unwrap();
}

fn save(home: &Home, transcript: &Transcript<OpenCode>, options: &SaveOptions) -> Saving {
    let saving = OpenCode::save(transcript, options, &home.context()).unwrap();
    commit(home, &saving);
    saving
}

fn load(home: &Home, reference: &Reference) -> Transcript<OpenCode> {
    OpenCode::load(reference, &home.context()).unwrap()
}

fn rows(transcript: &Transcript<OpenCode>) -> RowSet {
    match transcript.body.carriers()[0].content {
        Content::Rows(rows) => rows.clone(),
        Content::Bytes(_) => panic!("these are no rows"),
    }
}

fn table<'a>(rows: &'a RowSet, name: &str) -> &'a TableRows {
    rows.tables.iter().find(|table| table.table == name).unwrap()
}

fn column(rows: &RowSet, name: &str, column: &str) -> Vec<SqlValue> {
    let table = table(rows, name);
    table.rows.iter().map(|row| table.value(row, column).unwrap().clone()).collect()
}

fn convert(session: &Session, target: &Target) -> Converted<Transcript<OpenCode>> {
    OpenCode::from_common(session, target).unwrap()
}

// https://github.com/handochan/aelix-ai/issues/135 (fault 58)
#[test]
fn every_row_comes_back_as_it_was() {
    let mut count = 0;
    for sql in ["1.18.33/opencode.sql", "1.18.33/opencode-tools.sql", "1.18.33/opencode-second-api.sql"] {
        let home = Home::with_database(sql);
        let (fresh, other) = (Home::empty(), Home::with_database("1.18.33/opencode-tools.sql"));
        for found in home.sessions() {
            let original = home.load(&found);
            let target = if sql.contains("tools") { &fresh } else { &other };
            for place in [&Home::empty(), target] {
                let saving = save(place, &original, &SaveOptions::default());
                assert_eq!(rows(&load(place, &saving.reference)), rows(&original), "{}", found.id);
            }
            count += 1;
        }
        assert_eq!(home.discover().findings, []);
    }
    assert_eq!(count, 14);
}

#[test]
fn every_file_of_the_tree_comes_back_byte_for_byte() {
    for fixture in ["1.0.152", "1.0.152/tools"] {
        let (home, fresh) = (Home::with_tree(fixture), Home::empty());
        for found in home.sessions() {
            let original = home.load(&found);
            let saving = save(&fresh, &original, &SaveOptions::default());
            let again = load(&fresh, &saving.reference);
            let (before, after) = (original.body.carriers(), again.body.carriers());
            assert_eq!(before.len(), after.len());
            for (before, after) in before.iter().zip(&after) {
                let (Content::Bytes(a), Content::Bytes(b)) = (before.content, after.content) else {
                    panic!()
                };
                assert_eq!(a, b, "{}", before.info.path);
            }
            let error = OpenCode::save(&original, &SaveOptions::default(), &fresh.context()).unwrap_err();
            assert!(matches!(error, StoreError::Exists { .. }), "{error}");
        }
        let plan = OpenCode::save(
            &home.load(&home.sessions()[0]),
            &SaveOptions::default(),
            &Home::empty().context(),
        );
        let steps = plan.unwrap().plan.to_string();
        assert!(steps.trim_end().lines().last().unwrap().contains("/session/"), "{steps}");
    }
}

#[test]
fn an_export_becomes_the_rows_that_it_was_made_from() {
    let home = Home::with_database("1.18.33/opencode.sql");
    let fresh = Home::empty();
    let export = OpenCode::from_text(&fs::read(fixture("1.18.33/export.json")).unwrap()).unwrap();
    let saving = save(&fresh, &export, &SaveOptions::default());
    assert!(saving.losses.is_empty(), "{:?}", saving.losses);
    let (made, original) = (load(&fresh, &saving.reference), home.load(&home.with_id(&export.id)));
    assert_eq!(OpenCode::to_text(&made).unwrap(), OpenCode::to_text(&original).unwrap());
    for name in ["session", "message", "part"] {
        assert_eq!(column(&rows(&made), name, "id"), column(&rows(&original), name, "id"));
    }
}

/// The sessions of the fixtures of all harnesses that have some.
fn sessions_of_all_harnesses() -> Vec<Session> {
    let mut sessions = Vec::new();
    let fixtures = fixture("..");
    for folder in ["claude-code", "codex", "pi"] {
        for version in fs::read_dir(fixtures.join(folder)).unwrap().flatten() {
            sessions.extend(sessions_in(&Surroundings::isolated(version.path())));
        }
    }
    for sql in ["1.18.33/opencode.sql", "1.18.33/opencode-tools.sql", "1.18.33/opencode-second-api.sql"] {
        sessions.extend(sessions_in(&Home::with_database(sql).machine.clone()));
        let home = Home::with_database(sql);
        sessions.extend(home.sessions().iter().map(|found| home.read(found).session));
    }
    let tree = Home::with_tree("1.0.152");
    sessions.extend(tree.sessions().iter().map(|found| tree.read(found).session));
    sessions
}

fn sessions_in(machine: &Surroundings) -> Vec<Session> {
    let limits = ibid_carrier::jsonl::Limits::default();
    let context = Context { machine, limits: &limits };
    let mut sessions = Vec::new();
    for harness in ibid_harness::all() {
        for discovery in discover(&[*harness], machine, &limits, None, &Progress::default()) {
            for found in discovery.sessions {
                let loaded = harness.load(&found.reference, &context).unwrap();
                sessions.extend(loaded.to_common().ok().map(|common| common.session));
            }
        }
    }
    sessions
}

/// What the target's rules leave of a session, as the conversion asks for it.
fn expected(session: &Session) -> Vec<Essence> {
    let rules = Rules { injected_context: session.harness == "opencode", ..Rules::STRICT };
    let mut said = essence(&prepare(session, &Selection::default(), &rules).messages);
    // What is not in the session cannot be sent for certain, and is left behind.
    let elsewhere = |data: &Data| match data {
        Data::Path(_) => true,
        Data::Url(url) => !url.starts_with("data:"),
        _ => false,
    };
    said.retain(|essence| match essence {
        Essence::Other(_, Block::Image(image)) => !elsewhere(&image.data),
        Essence::Other(_, Block::Document(document)) => {
            document.media_type.as_deref() == Some("text/plain") || !elsewhere(&document.data)
        }
        _ => true,
    });
    said
}

/// A session in which a person shows this.
fn shown(block: Block) -> Session {
    let mut session = Session::new("test", "s");
    session.meta.cwd = Some("/home/dev/demo".into());
    let mut message = Message::new("m", Role::User, Origin::Person);
    message.at = Timestamp::parse("2026-07-01T10:00:00Z");
    message.blocks = vec![Block::text("look"), block];
    session.messages.push(message);
    session
}

// Measured with 1.18.33: one such file in the history makes the program end every later turn with
// "URL scheme must be http, https, or data, got file:", "Failed to download ..." or "'file part media
// type ...' functionality not supported".
#[test]
fn a_file_that_the_program_cannot_send_is_left_behind() {
    let document = |kind: &str, data: Data| {
        Block::Document(Document { media_type: Some(kind.into()), data, name: None })
    };
    let image = |data: Data| Block::Image(Image { media_type: None, data, name: None });
    let file = || Data::Path("/home/dev/demo/a".into());
    let bytes = || Data::Base64("iVBORw0KGgo=".into());
    for (block, kept, lost) in [
        (document("application/pdf", bytes()), true, 0),
        (document("application/pdf", file()), false, 1),
        (document("application/octet-stream", bytes()), false, 1),
        (document("text/markdown", Data::Text("# a".into())), true, 0),
        (document("text/markdown", file()), false, 1),
        (document("text/plain", file()), true, 1),
        (image(bytes()), true, 0),
        (image(file()), false, 1),
        (image(Data::Url("https://example.com/a.png".into())), false, 1),
    ] {
        let made = convert(&shown(block.clone()), &Target::default());
        let parts = column(&rows(&made.value), "part", "data");
        let written =
            parts.iter().filter(|data| data.as_str().is_some_and(|data| data.contains(r#""file""#)));
        assert_eq!(written.count(), usize::from(kept), "{block:?}");
        let losses = made.losses.count(LossKind::Document) + made.losses.count(LossKind::Image);
        assert_eq!(losses, lost, "{block:?}");
    }
}

// Measured with 1.18.33: without its type the program takes a picture for something that no model reads.
#[test]
fn a_picture_of_unknown_type_gets_the_one_that_its_bytes_tell() {
    let bytes = Data::Base64("/9j/4AAQ".into());
    let image = Block::Image(Image { media_type: None, data: bytes, name: None });
    let made = convert(&shown(image), &Target::default());
    let parts = column(&rows(&made.value), "part", "data");
    assert!(
        parts.iter().any(|data| data.as_str().is_some_and(|data| data.contains("data:image/jpeg;base64,")))
    );
}

// https://github.com/Dicklesworthstone/cross_agent_session_resumer/issues/9 (fault 28)
#[test]
fn a_converted_session_reads_as_what_was_said() {
    let all = sessions_of_all_harnesses();
    assert!(all.len() > 60, "{}", all.len());
    for session in &all {
        let made = convert(session, &Target::default());
        let common = OpenCode::to_common(&made.value).unwrap();
        assert_eq!(common.session.problems(), []);
        let view = common.session.view(&Selection::default());
        let (said, heard) = (expected(session), essence(view.messages.iter().copied()));
        assert_eq!(said.len(), heard.len(), "{} {}", session.harness, session.id);
        for (said, heard) in said.iter().zip(&heard) {
            let raw = matches!(said, Essence::Call(..)) && made.losses.has(LossKind::ToolKeptRaw);
            assert!(said == heard || raw, "{} {}:\n{said:?}\n{heard:?}", session.harness, session.id);
        }
        assert_eq!(rows(&made.value), rows(&convert(session, &Target::default()).value));
        well_formed(&rows(&made.value));
    }
}

/// What the program was measured to need.
fn well_formed(rows: &RowSet) {
    let text = |value: &SqlValue| value.as_str().unwrap().to_owned();
    assert!(column(rows, "session", "id").iter().all(|id| text(id).starts_with("ses_")));
    for (name, prefix) in [("message", "msg_"), ("part", "prt_")] {
        if rows.tables.iter().all(|table| table.table != name) {
            continue;
        }
        let ids: Vec<String> = column(rows, name, "id").iter().map(text).collect();
        assert!(ids.iter().all(|id| id.starts_with(prefix) && id.len() == 30));
        assert!(ids.is_sorted(), "the program orders by id");
        let times: Vec<i64> =
            column(rows, name, "time_created").iter().map(|time| time.as_integer().unwrap()).collect();
        assert!(
            times.is_sorted() && times[0] >= column(rows, "session", "time_created")[0].as_integer().unwrap()
        );
        for data in column(rows, name, "data") {
            let data: serde_json::Value = serde_json::from_str(data.as_str().unwrap()).unwrap();
            if name == "message" {
                assert!(data["time"]["created"].is_i64() && data["agent"].is_string());
                let model = if data["role"] == "user" { &data["model"] } else { &data };
                assert!(model["providerID"].is_string() && model["modelID"].is_string());
                let answer = ["mode", "parentID"].iter().all(|key| data[key].is_string())
                    && data["path"]["root"].is_string()
                    && data["cost"].is_number()
                    && data["tokens"]["cache"]["read"].is_u64();
                assert!(data["role"] == "user" || answer, "{data}");
            }
            if data["type"] == "tool" {
                let state = &data["state"];
                assert!(state["input"].is_object() && state["time"]["end"].is_i64());
                let kind = if state["status"] == "completed" { "output" } else { "error" };
                assert!(state[kind].is_string());
            }
            // https://github.com/openclaw/openclaw/issues/101836 (fault 27): signatures stay behind.
            assert!(data["type"] != "reasoning");
        }
    }
}

fn message(id: &str, role: Role, at: i64, blocks: Vec<Block>) -> Message {
    let origin = if role == Role::Assistant { Origin::Model } else { Origin::Person };
    let mut message = Message::new(id, role, origin);
    message.at = Timestamp::from_milliseconds(at);
    message.blocks = blocks;
    message
}

fn call(id: &str) -> Block {
    let input = ibid_model::Json::from_text("{\"n\":1.50}").unwrap();
    let tool = ibid_model::Tool::Raw(ibid_model::Raw { name: "count".into(), input });
    Block::ToolUse(ToolUse { id: id.into(), name: "count".into(), tool, extra: Vec::new() })
}

fn small(messages: Vec<Message>) -> Session {
    let mut session = Session::new("elsewhere", "s1");
    let mut parent = None;
    for mut message in messages {
        message.parent = parent.replace(message.id.clone());
        session.messages.push(message);
    }
    session
}

fn parts(transcript: &Transcript<OpenCode>) -> Vec<serde_json::Value> {
    let data = column(&rows(transcript), "part", "data");
    data.iter().map(|data| serde_json::from_str(data.as_str().unwrap()).unwrap()).collect()
}

// https://github.com/Dicklesworthstone/cross_agent_session_resumer/pull/13 (fault 25)
#[test]
fn a_result_stands_in_the_part_of_its_call() {
    let result = ToolResult {
        call: "c1".into(),
        content: vec![ibid_model::ResultPart::Text(TextBlock { text: "2".into() })],
        outcome: Outcome::Ok,
        structured: None,
    };
    let made = convert(
        &small(vec![
            message("a", Role::User, 1_000, vec![Block::text("count")]),
            message("b", Role::Assistant, 2_000, vec![Block::text("I count"), call("c1")]),
            message("x", Role::User, 2_500, vec![Block::text("hurry")]),
            message("c", Role::User, 3_000, vec![Block::ToolResult(result)]),
        ]),
        &Target::default(),
    );
    let parts = parts(&made.value);
    let kinds: Vec<&str> = parts.iter().map(|part| part["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["text", "step-start", "text", "tool", "text"]);
    assert_eq!(parts[3]["callID"], "c1");
    assert_eq!(parts[3]["state"]["output"], "2");
    assert!(rows(&made.value).tables[2].rows[3][5].as_str().unwrap().contains("1.50"));
    assert!(made.losses.has(LossKind::ResultsMoved));
}

#[test]
fn metadata_that_says_another_end_than_the_result_is_left_behind() {
    let cases = [
        (Outcome::Ok, r#"{"exit":5}"#, "fine", LossKind::StructuredResult),
        (Outcome::Unknown, r#"{"exit":null}"#, "fine", LossKind::StructuredResult),
        (Outcome::Error, r#"{"interrupted":true}"#, "no", LossKind::StructuredResult),
        (Outcome::Error, "{}", "Tool execution aborted", LossKind::ResultStatus),
    ];
    for (outcome, metadata, text, loss) in cases {
        let result = ToolResult {
            call: "c1".into(),
            content: vec![ibid_model::ResultPart::Text(TextBlock { text: text.into() })],
            outcome,
            structured: ibid_model::Json::from_text(metadata).ok(),
        };
        let mut session = small(vec![
            message("a", Role::User, 1_000, vec![Block::text("Q")]),
            message("b", Role::Assistant, 2_000, vec![call("c1")]),
            message("c", Role::User, 3_000, vec![Block::ToolResult(result)]),
        ]);
        session.harness = "opencode".into();
        let made = convert(&session, &Target::default());
        let back = OpenCode::to_common(&made.value).unwrap().session;
        let blocks = back.messages.iter().flat_map(|message| &message.blocks);
        let read = blocks.into_iter().find_map(|block| match block {
            Block::ToolResult(result) => Some(result.outcome),
            _ => None,
        });
        let failed = |outcome| matches!(outcome, Outcome::Error | Outcome::Interrupted);
        assert_eq!(failed(read.unwrap()), failed(outcome), "{metadata}");
        assert!(made.losses.has(loss), "{metadata}");
    }
}

#[test]
fn a_call_without_a_result_is_an_interrupted_one() {
    let made = convert(
        &small(vec![
            message("a", Role::User, 1_000, vec![Block::text("count")]),
            message("b", Role::Assistant, 2_000, vec![call("c1")]),
        ]),
        &Target::default(),
    );
    let part = parts(&made.value).into_iter().find(|part| part["type"] == "tool").unwrap();
    assert_eq!(
        (&part["state"]["status"], &part["state"]["metadata"]["interrupted"]),
        (&"error".into(), &true.into())
    );
    let session = OpenCode::to_common(&made.value).unwrap().session;
    let outcome = session.messages.iter().flat_map(|m| &m.blocks).find_map(|block| match block {
        Block::ToolResult(result) => Some(result.outcome),
        _ => None,
    });
    assert_eq!(outcome, Some(Outcome::Interrupted));
}

#[test]
fn a_compaction_is_marked_the_way_the_program_does() {
    let mut summary = message("s", Role::User, 2_500, vec![Block::text("what happened so far")]);
    summary.origin = Origin::Summary;
    let mut session = small(vec![
        message("a", Role::User, 1_000, vec![Block::text("one")]),
        message("b", Role::Assistant, 2_000, vec![Block::text("two")]),
        summary,
        message("c", Role::User, 3_000, vec![Block::text("three")]),
    ]);
    session.compactions.push(Compaction {
        after: Some("b".into()),
        summary: Some("s".into()),
        text: None,
        first_kept: Some("b".into()),
        trigger: Some("auto".into()),
        tokens_before: None,
        at: None,
        sources: Vec::new(),
    });
    let made = convert(&session, &Target::default());
    assert!(!made.losses.has(LossKind::CompactionSummary) && !made.losses.has(LossKind::CompactionMarker));
    let again = OpenCode::to_common(&made.value).unwrap().session;
    let [compaction] = again.compactions.as_slice() else { panic!("{:?}", again.compactions) };
    assert_eq!(compaction.trigger.as_deref(), Some("auto"));
    let selection = Selection { from_compaction: true, ..Selection::default() };
    let seen: Vec<_> =
        again.view(&selection).messages.iter().flat_map(|m| m.texts().map(ToString::to_string)).collect();
    assert_eq!(seen, ["what happened so far", "two", "three"]);
}

#[test]
fn tokens_model_and_stop_reason_are_carried_and_thinking_is_not() {
    let mut answer = message("b", Role::Assistant, 2_000, vec![Block::text("two")]);
    answer.blocks.insert(0, Block::Thinking(Thinking { text: "hm".into(), tokens: Vec::new() }));
    answer.model = Some("m1".into());
    answer.stop = Some(ibid_model::StopReason::MaxTokens);
    let mut session = small(vec![message("a", Role::User, 1_000, vec![Block::text("one")]), answer]);
    let usage = Usage {
        input: Some(10),
        output: Some(20),
        reasoning: Some(5),
        cache_read: Some(3),
        cache_write: Some(4),
        cost_usd: Some(0.25),
        ..Usage::default()
    };
    session.calls.push(ModelCall {
        api_id: None,
        request_id: None,
        message: Some("b".into()),
        model: Some("m1".into()),
        at: None,
        usage,
        inherited: false,
        sources: Vec::new(),
    });
    let made = convert(&session, &Target::default());
    let again = OpenCode::to_common(&made.value).unwrap().session;
    assert_eq!(again.calls[0].usage, usage);
    assert_eq!((again.messages[1].model.as_deref(), again.meta.model.as_deref()), (Some("m1"), Some("m1")));
    assert_eq!(again.messages[1].stop, Some(ibid_model::StopReason::MaxTokens));
    assert!(made.losses.has(LossKind::Thinking) && !made.losses.has(LossKind::Usage));
}

#[test]
fn times_never_go_back_and_missing_ones_are_filled() {
    let mut without = message("b", Role::Assistant, 1, vec![Block::text("two")]);
    without.at = None;
    let made = convert(
        &small(vec![
            message("a", Role::User, 5_000, vec![Block::text("one")]),
            without,
            message("c", Role::User, 4_000, vec![Block::text("three")]),
        ]),
        &Target::default(),
    );
    let times: Vec<_> =
        column(&rows(&made.value), "message", "time_created").iter().map(SqlValue::as_integer).collect();
    assert_eq!(times, [Some(5_000); 3]);
    assert_eq!((made.losses.count(LossKind::TimeFilled), made.losses.count(LossKind::Time)), (1, 1));
}

#[test]
fn a_subagent_is_a_child_of_the_session_that_its_parent_became() {
    let target = Target { parent: Some("ses_parent".into()), cwd: Some("/w".into()), ..Target::default() };
    let made = convert(&small(vec![message("a", Role::User, 1_000, vec![Block::text("task")])]), &target);
    let rows = rows(&made.value);
    assert_eq!(column(&rows, "session", "parent_id"), [SqlValue::from("ses_parent")]);
    assert_eq!(column(&rows, "session", "directory"), [SqlValue::from("/w")]);
    assert!(column(&rows, "session", "title")[0].as_str().unwrap().starts_with("Child session - "));
}

#[test]
fn a_saved_session_is_listed_with_what_it_says() {
    let home = Home::with_database("1.18.33/opencode.sql");
    let mut session = small(vec![message("a", Role::User, 1_796_045_702_140, vec![Block::text("one")])]);
    session.meta.cwd = Some("/home/dev/demo".into());
    let made = convert(&session, &Target::default()).value;
    let saving = save(&home, &made, &SaveOptions::default());
    assert_eq!(saving.notes, Vec::<String>::new());
    let found = home.with_id(&saving.id);
    assert_eq!(found.reference, saving.reference);
    assert_eq!((found.meta.preview.as_deref(), found.meta.title), (Some("one"), None));
    assert_eq!(home.sessions().len(), 12);
    let again = OpenCode::save(&made, &SaveOptions::default(), &home.context()).unwrap_err();
    assert!(matches!(again, StoreError::Exists { .. }));
    let replacing = SaveOptions { replace: true, ..SaveOptions::default() };
    let saving = OpenCode::save(&made, &replacing, &home.context()).unwrap();
    let engine = Engine::new(home.machine.data_dir());
    engine.commit(&saving.plan, &Policy::within(saving.roots.clone()).replacing()).unwrap();
    assert_eq!(home.sessions().len(), 12);
}

#[test]
fn a_home_without_a_database_gets_one_that_the_program_takes_over() {
    let home = Home::empty();
    let made =
        convert(&small(vec![message("a", Role::User, 1_000, vec![Block::text("one")])]), &Target::default());
    let saving = save(&home, &made.value, &SaveOptions::default());
    assert!(saving.notes[0].contains("1.18.33"));
    let connection = Connection::open(home.database()).unwrap();
    let count = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(count("SELECT count(*) FROM migration"), 38);
    assert_eq!(count("SELECT count(*) FROM project WHERE id = 'global'"), 1);
    assert_eq!(count("SELECT count(*) FROM pragma_foreign_key_check"), 0);
    assert_eq!(
        connection.query_row("PRAGMA integrity_check", [], |row| row.get::<_, String>(0)).unwrap(),
        "ok"
    );
}

#[test]
fn an_id_that_the_program_would_not_find_is_refused_or_fixed() {
    let home = Home::empty();
    let target = Target { id: Some("0199aaaa-0000-7000".into()), ..Target::default() };
    let made =
        convert(&small(vec![message("a", Role::User, 1_000, vec![Block::text("one")])]), &target).value;
    let error = OpenCode::save(&made, &SaveOptions::default(), &home.context()).unwrap_err();
    assert!(error.to_string().contains("begins with `ses`"), "{error}");
    let fixed = save(&home, &made, &SaveOptions { fix_id: true, ..SaveOptions::default() });
    assert_eq!(fixed.id, "ses_0199aaaa00007000");
    assert_eq!(home.read(&home.with_id(&fixed.id)).session.messages.len(), 1);
}

#[test]
fn a_column_that_is_missing_or_not_known_is_named() {
    let source = Home::with_database("1.18.33/opencode.sql");
    let original = source.load(&source.titled("A session with a reverted turn", ""));
    for (change, named) in [
        ("ALTER TABLE session DROP COLUMN revert", "`revert`"),
        ("ALTER TABLE session RENAME COLUMN slug TO nickname", "`slug`"),
        (
            "CREATE TABLE p2 AS SELECT * FROM part; DROP TABLE part; \
          CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, time_created, time_updated, data, weight NOT NULL)",
            "`weight`",
        ),
    ] {
        let home = Home::with_database("1.18.33/opencode-tools.sql");
        Connection::open(home.database()).unwrap().execute_batch(change).unwrap();
        let error = OpenCode::save(&original, &SaveOptions::default(), &home.context()).unwrap_err();
        assert!(error.to_string().contains(named), "{error}");
    }
    let home = Home::with_database("1.18.33/opencode-tools.sql");
    let more = "ALTER TABLE session ADD COLUMN mood text DEFAULT 'fine' NOT NULL; ALTER TABLE session DROP COLUMN workspace_id";
    let connection = Connection::open(home.database()).unwrap();
    connection.execute_batch("DROP INDEX session_workspace_idx").unwrap();
    connection.execute_batch(more).unwrap();
    drop(connection);
    let saving = save(&home, &original, &SaveOptions::default());
    assert!(home.sessions().iter().any(|session| session.id == saving.id));
}

#[test]
fn a_deleted_session_leaves_no_row_and_can_be_restored() {
    let home = Home::with_database("1.18.33/opencode.sql");
    let found = home.titled("MOCK-REPLY step=0 <<\"A first prompt\">>", "prompt\">>");
    let before = rows(&home.load(&found));
    let deleting = OpenCode::delete(&found.reference, &home.context()).unwrap();
    let engine = Engine::new(home.machine.data_dir());
    let committed = engine.commit(&deleting.plan, &Policy::within(deleting.roots.clone())).unwrap();
    assert!(home.sessions().iter().all(|session| session.id != found.id));
    let connection = Connection::open(home.database()).unwrap();
    for (table, column) in [("part", "session_id"), ("message", "session_id"), ("event", "aggregate_id")] {
        let sql = format!("SELECT count(*) FROM {table} WHERE {column} = ?1");
        let left: i64 = connection.query_row(&sql, [found.id.as_str()], |row| row.get(0)).unwrap();
        assert_eq!(left, 0, "{table}");
    }
    drop(connection);
    let trash = ibid_carrier::trash::Trash::new(home.machine.data_dir());
    let plan = trash.restore_plan(&committed.trashed[0]).unwrap();
    engine.commit(&plan, &Policy::within(deleting.roots)).unwrap();
    assert_eq!(rows(&home.load(&found)), before);
}

#[test]
fn a_session_deleted_from_the_tree_takes_its_files_along() {
    let home = Home::with_tree("1.0.152");
    let found = home.titled("A session with an abort", "");
    let files: Vec<String> = found.carriers.iter().map(|carrier| carrier.path.to_string()).collect();
    let deleting = OpenCode::delete(&found.reference, &home.context()).unwrap();
    assert!(deleting.plan.to_string().lines().next().unwrap().contains("/session/"));
    let engine = Engine::new(home.machine.data_dir());
    engine.commit(&deleting.plan, &Policy::within(deleting.roots)).unwrap();
    assert!(files.iter().all(|file| !Path::new(file).exists()));
    assert_eq!(home.sessions().len(), 9);
}
