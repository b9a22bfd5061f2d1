//! Reading OpenCode's stores: real files of 1.18.33 (the database) and 1.0.152 (the tree).

mod opencode_home;

use std::fs;
use std::path::Path;

use ibid_harness::opencode::OpenCode;
use ibid_harness::{
    Class, Codec, Control, Cursor, Fold, Reference, RootOrigin, Store, Surroundings, TextCodec, Wants,
};
use ibid_model::{
    Block, EventKind, FindingKind, Message, Origin, Outcome, Relation, ResultPart, Role, Selection,
    StopReason, Tool, essence,
};
use opencode_home::{Home, fixture, harness};
use rusqlite::Connection;

fn all_homes() -> Vec<Home> {
    vec![
        Home::with_database("1.18.33/opencode.sql"),
        Home::with_database("1.18.33/opencode-tools.sql"),
        Home::with_database("1.18.33/opencode-second-api.sql"),
        Home::with_tree("1.0.152"),
        Home::with_tree("1.0.152/tools"),
    ]
}

fn texts(messages: &[Message], origin: Origin) -> Vec<String> {
    messages.iter().filter(|m| m.origin == origin).flat_map(|m| m.texts().map(ToString::to_string)).collect()
}

#[test]
fn a_list_a_stream_and_a_full_load_say_the_same() {
    let mut count = 0;
    for home in all_homes() {
        for found in home.sessions() {
            let common = home.read(&found);
            let session = &common.session;
            assert_eq!(session.problems(), [], "{}", found.id);
            assert_eq!((&found.id, &found.meta), (&session.id, &session.meta));
            assert_eq!(found.lineage, session.lineage);
            assert_eq!(found.carriers.len(), session.carriers.len());
            let mut fold = Fold::default();
            let control = Control::default();
            let cursor = harness()
                .scan(&found.reference, &Cursor::Start, Wants::ALL, &control, &mut fold, &home.context())
                .unwrap();
            assert_eq!((fold.id.as_ref(), &fold.meta), (Some(&session.id), &session.meta));
            assert_eq!(essence(&fold.messages), essence(&session.messages));
            assert_eq!(fold.calls(), session.calls);
            let mut again = Fold::default();
            let next = harness()
                .scan(&found.reference, &cursor, Wants::ALL, &control, &mut again, &home.context())
                .unwrap();
            assert_eq!((next, again.messages.len()), (cursor, 0));
            count += 1;
        }
    }
    assert_eq!(count, 26);
}

// https://github.com/junhoyeo/tokscale/issues/446 (fault 16)
// https://github.com/ccusage/ccusage/issues/1780
#[test]
fn a_fork_counts_only_the_turns_it_added() {
    for (home, original, fork) in [
        (Home::with_database("1.18.33/opencode.sql"), "A session that is compacted", "(fork #1)"),
        (Home::with_tree("1.0.152"), "A session that is compacted", ""),
    ] {
        let parent = home
            .sessions()
            .into_iter()
            .find(|s| s.meta.title.as_ref().is_some_and(|title| title.text == original));
        let parent = parent.unwrap();
        let forked =
            |s: &ibid_harness::Discovered| s.lineage.iter().any(|l| l.parent.as_ref() == Some(&parent.id));
        let child = home.sessions().into_iter().find(forked).unwrap();
        assert!(child.meta.title.is_none_or(|title| title.text.ends_with(fork)));
        assert_eq!(child.lineage[0].relation, Relation::Forked);
        let (old, new) = (home.read(&parent).session, home.read(&home.with_id(&child.id)).session);
        assert_eq!(old.own_usage().input, Some(444));
        assert_eq!(new.own_usage().input, Some(111));
        assert_eq!(new.calls.iter().filter(|call| call.inherited).count(), 3);
        assert_eq!(new.messages.iter().filter(|message| !message.inherited).count(), 2);
        // https://github.com/openai/codex/issues/35003 (fault 57): copies keep the times of the originals.
        let times = |messages: &[Message]| messages.iter().take(4).map(|m| m.at).collect::<Vec<_>>();
        assert_eq!(times(&old.messages), times(&new.messages));
    }
}

// https://github.com/getagentseal/codeburn/issues/413 (fault 29)
#[test]
fn turns_that_only_look_alike_are_not_taken_for_copies() {
    let home = Home::with_database("1.18.33/opencode.sql");
    let connection = Connection::open(home.database()).unwrap();
    // The same messages at the same times, in a session as old as they are: no copy, whatever it looks like.
    connection
        .execute_batch(
            "UPDATE session SET time_created = 1796045702000 WHERE title LIKE '%A first prompt%(fork #1)'",
        )
        .unwrap();
    drop(connection);
    let session = home.titled("MOCK-REPLY step=0 <<\"A first prompt", "(fork #1)");
    assert_eq!(session.lineage, []);
    assert!(home.read(&session).session.calls.iter().all(|call| !call.inherited));
}

#[test]
fn a_reverted_turn_is_a_side_branch_and_an_archived_session_says_so() {
    for home in [Home::with_database("1.18.33/opencode.sql"), Home::with_tree("1.0.152")] {
        let found = home.titled("A session with a reverted turn", "");
        assert!(found.meta.archived);
        let session = home.read(&found).session;
        let live = session.view(&Selection::default());
        assert_eq!((live.messages.len(), live.on_other_branches), (2, 6));
        assert_eq!(session.branches().len(), 2);
        assert!(session.events.iter().any(|event| event.kind == EventKind::Rollback));
    }
}

// https://github.com/anthropics/claude-code/issues/92089 (fault 10)
#[test]
fn a_compaction_is_a_boundary_and_its_summary_no_answer() {
    for home in [Home::with_database("1.18.33/opencode.sql"), Home::with_tree("1.0.152")] {
        let session = home.read(&home.titled("A session that is compacted", "compacted")).session;
        let [compaction] = session.compactions.as_slice() else { panic!("{:?}", session.compactions) };
        assert_eq!(compaction.trigger.as_deref(), Some("manual"));
        let summary = session.message(compaction.summary.as_ref().unwrap()).unwrap();
        assert_eq!((summary.role, summary.origin), (Role::Assistant, Origin::Summary));
        let after = session.view(&Selection { from_compaction: true, ..Selection::default() });
        assert_eq!(after.messages.len(), 3);
        assert_eq!(session.view(&Selection::default()).summaries_left_out, 1);
    }
}

#[test]
fn a_compaction_that_no_summary_answers_hides_nothing() {
    let home = Home::with_database("1.18.33/opencode.sql");
    let connection = Connection::open(home.database()).unwrap();
    let sql = "UPDATE message SET data = json_remove(data, '$.finish') WHERE data LIKE '%\"summary\":true%'";
    assert!(connection.execute(sql, []).unwrap() > 0);
    drop(connection);
    let session = home.read(&home.titled("A session that is compacted", "compacted")).session;
    assert_eq!(session.compactions, []);
    assert_eq!(session.view(&Selection::default()).messages.len(), session.messages.len());
    assert_eq!(session.problems(), []);
}

// https://github.com/kenn-io/agentsview/issues/382 (fault 52)
#[test]
fn a_subagent_names_its_parent_and_the_call_that_started_it() {
    for home in [Home::with_database("1.18.33/opencode.sql"), Home::with_tree("1.0.152")] {
        let child = home.titled("mini task", "");
        assert_eq!(child.class, Class::Sidecar);
        assert_eq!(child.lineage[0].relation, Relation::Spawned);
        let parent = home.with_id(child.lineage[0].parent.as_ref().unwrap());
        assert!(parent.meta.title.as_ref().unwrap().text.contains("do-subagent please"));
        let call = child.lineage[0].call.clone().unwrap();
        let calls = home.read(&parent).session.messages;
        let task = calls.iter().flat_map(|m| &m.blocks).any(|block| {
            matches!(block, Block::ToolUse(use_) if use_.id == call && matches!(use_.tool, Tool::Task(_)))
        });
        assert!(task);
        assert_eq!(
            harness().children(&parent.reference, &home.context()),
            std::slice::from_ref(&child.reference)
        );
        assert_eq!(texts(&home.read(&child).session.messages, Origin::Person), Vec::<String>::new());
    }
}

#[test]
fn what_the_program_put_into_a_prompt_is_not_what_the_person_said() {
    let home = Home::with_database("1.18.33/opencode.sql");
    let found = home.titled("MOCK-REPLY step=0 << file", "");
    assert_eq!(found.meta.preview.as_deref(), Some("\"What is in this picture?\""));
    let session = home.read(&found).session;
    assert_eq!(texts(&session.messages, Origin::Person), ["\"What is in this picture?\""]);
    assert!(
        texts(&session.messages, Origin::Harness).iter().any(|text| text.starts_with("Called the Read tool"))
    );
    let prompt = session.messages.iter().find(|message| message.origin == Origin::Person).unwrap();
    let picture = prompt.blocks.iter().find_map(|block| match block {
        Block::Image(image) => Some(image),
        _ => None,
    });
    let picture = picture.unwrap();
    assert_eq!(
        (picture.name.as_deref(), picture.media_type.as_deref()),
        (Some("dot.png"), Some("image/png"))
    );
    assert!(matches!(&picture.data, ibid_model::Data::Base64(data) if data.starts_with("iVBOR")));
}

#[test]
fn thinking_keeps_the_provider_s_signature() {
    let home = Home::with_database("1.18.33/opencode.sql");
    let session = home.read(&home.titled("A session that is compacted", "compacted")).session;
    let tokens = session.messages.iter().flat_map(|m| &m.blocks).filter_map(|block| match block {
        Block::Thinking(thinking) => Some(&thinking.tokens),
        _ => None,
    });
    for tokens in tokens {
        assert_eq!(tokens[0].provider.as_deref(), Some("anthropic"));
        assert_eq!(tokens[0].value, "bW9jay1zaWduYXR1cmU=");
    }
}

#[test]
fn a_failing_command_a_stopped_one_and_a_failing_tool_are_told_apart() {
    let home = Home::with_database("1.18.33/opencode-tools.sql");
    let outcomes = |home: &Home, title: &str| -> Vec<(String, Outcome)> {
        let session = home.read(&home.titled(title, "")).session;
        let results = session.messages.iter().flat_map(|m| &m.blocks).filter_map(|block| match block {
            Block::ToolResult(result) => Some((result.text().to_string(), result.outcome)),
            _ => None,
        });
        results.collect()
    };
    let all = outcomes(&home, "Every tool once");
    assert!(all.contains(&("broken\n".to_owned(), Outcome::Error)));
    assert!(all.contains(&("File not found: /home/dev/demo/absent.txt".to_owned(), Outcome::Error)));
    assert_eq!(all.iter().filter(|(_, outcome)| *outcome == Outcome::Ok).count(), 10);
    let home = Home::with_database("1.18.33/opencode.sql");
    assert_eq!(outcomes(&home, "A session with an abort")[0].1, Outcome::Interrupted);
    let home = Home::with_tree("1.0.152");
    assert_eq!(outcomes(&home, "A session with an abort")[0].1, Outcome::Interrupted);
}

#[test]
fn a_picture_that_a_tool_read_is_part_of_its_result() {
    for home in [Home::with_database("1.18.33/opencode-tools.sql"), Home::with_tree("1.0.152/tools")] {
        let session = home.read(&home.titled("Every tool once", "")).session;
        let pictures = session.messages.iter().flat_map(|m| &m.blocks).filter(|block| {
            matches!(block, Block::ToolResult(result)
                if result.content.iter().any(|part| matches!(part, ResultPart::Image(_))))
        });
        assert_eq!(pictures.count(), 1);
    }
}

#[test]
fn an_answer_that_failed_says_so_and_has_no_tokens() {
    let home = Home::with_database("1.18.33/opencode.sql");
    let session = home.read(&home.titled("A session with a provider error", "")).session;
    assert_eq!(session.messages[1].stop, Some(StopReason::Error));
    assert_eq!(session.calls, []);
    assert!(session.own_usage().is_unknown());
    let error = session.events.iter().find(|event| event.kind == EventKind::Error).unwrap();
    assert_eq!(error.text.as_deref(), Some("APIError: scripted provider error"));
}

#[test]
fn a_command_that_the_person_typed_is_not_the_model_s() {
    let home = Home::with_database("1.18.33/opencode.sql");
    let session = home.read(&home.titled("A session that is compacted", "compacted")).session;
    let typed = session.messages.iter().find(|m| m.role == Role::Assistant && m.origin == Origin::Person);
    assert!(matches!(&typed.unwrap().blocks[0], Block::ToolUse(call) if call.name == "bash"));
    assert_eq!(session.calls.len(), 4);
}

#[test]
fn sessions_of_the_second_api_are_not_empty() {
    let home = Home::with_database("1.18.33/opencode-second-api.sql");
    let found = home.sessions().remove(0);
    assert_eq!(found.meta.preview.as_deref(), Some("do-tools please: through the second API"));
    assert_eq!(found.meta.model.as_deref(), Some("mock-model"));
    let session = home.read(&found).session;
    let counts = session.counts();
    assert_eq!((counts.prompts, counts.assistant, counts.tool_calls, counts.tool_results), (3, 5, 2, 2));
}

#[test]
fn the_text_form_is_what_the_program_exports() {
    let home = Home::with_database("1.18.33/opencode.sql");
    let transcript = home.load(&home.titled("MOCK-REPLY step=0 <<\"A first prompt\">>", "prompt\">>"));
    let text = String::from_utf8(OpenCode::to_text(&transcript).unwrap()).unwrap();
    assert_eq!(text, fs::read_to_string(fixture("1.18.33/export.json")).unwrap());
    let home = Home::with_tree("1.0.152");
    let transcript = home.load(&home.titled("MOCK-REPLY step=0 <<A first prompt>>", ""));
    let text = String::from_utf8(OpenCode::to_text(&transcript).unwrap()).unwrap();
    assert_eq!(text.trim_end(), fs::read_to_string(fixture("1.0.152/export.json")).unwrap().trim_end());
}

#[test]
fn an_export_says_what_the_store_says() {
    let home = Home::with_database("1.18.33/opencode.sql");
    let stored = home.read(&home.titled("MOCK-REPLY step=0 <<\"A first prompt\">>", "prompt\">>")).session;
    let bytes = fs::read(fixture("1.18.33/export.json")).unwrap();
    let transcript = OpenCode::from_text(&bytes).unwrap();
    assert_eq!(OpenCode::to_text(&transcript).unwrap(), bytes);
    let exported = OpenCode::to_common(&transcript).unwrap().session;
    assert_eq!(essence(&exported.messages), essence(&stored.messages));
    assert_eq!((exported.own_usage(), exported.meta), (stored.own_usage(), stored.meta));
}

#[test]
fn what_is_no_export_is_refused_with_the_reason() {
    for (text, reason) in
        [("[]", "object"), ("{\"info\":{}}", "messages"), ("{\"info\":{},\"messages\":[]}", "id")]
    {
        let error = OpenCode::from_text(text.as_bytes()).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
}

// https://github.com/getpaseo/paseo/issues/3297 (fault 37)
#[test]
fn reading_a_database_in_use_leaves_no_trace() {
    let home = Home::with_database("1.18.33/opencode.sql");
    let in_use = Connection::open(home.database()).unwrap();
    in_use.execute_batch("UPDATE session SET title = title").unwrap();
    let before = home.snapshot();
    assert!(before.iter().any(|(path, ..)| path.to_string_lossy().ends_with("-wal")));
    for found in home.sessions() {
        home.read(&found);
        harness().children(&found.reference, &home.context());
        harness().delete(&found.reference, &home.context()).unwrap();
    }
    assert_eq!(home.snapshot(), before);
}

// https://github.com/AstroQore/vibe-bar/pull/184 (fault 50)
#[test]
fn a_write_into_the_log_changes_the_fingerprint_of_its_session_alone() {
    let home = Home::with_database("1.18.33/opencode.sql");
    let before = home.sessions();
    let in_use = Connection::open(home.database()).unwrap();
    let written = before[3].id.to_string();
    let sql = "UPDATE part SET data = data || ' ', time_updated = time_updated + 1 WHERE id = \
               (SELECT min(id) FROM part WHERE session_id = ?1)";
    assert_eq!(in_use.execute(sql, [&written]).unwrap(), 1);
    let after = home.sessions();
    for old in &before {
        let new = after.iter().find(|new| new.id == old.id).unwrap();
        assert_eq!(new.fingerprint == old.fingerprint, old.id != written.as_str(), "{}", old.id);
    }
    let references: Vec<Reference> = after.iter().map(|session| session.reference.clone()).collect();
    for (now, session) in harness().fingerprints(&references, &home.context()).into_iter().zip(&after) {
        assert_eq!(now.unwrap(), session.fingerprint);
    }
}

// https://github.com/can1357/oh-my-pi/issues/11476 (fault 39)
#[test]
fn a_damaged_database_is_a_finding_and_not_an_empty_one() {
    let home = Home::empty();
    fs::create_dir_all(home.data()).unwrap();
    fs::write(home.database(), [b"SQLite format 3\0".as_slice(), &[7; 5000]].concat()).unwrap();
    let discovery = home.discover();
    assert!(discovery.present && discovery.sessions.is_empty());
    assert_eq!(discovery.findings[0].kind, FindingKind::DamagedDatabase);
}

#[test]
fn no_store_is_no_fault() {
    let discovery = Home::empty().discover();
    assert!(!discovery.present);
    assert_eq!(discovery.findings, []);
}

#[test]
fn a_database_of_another_program_is_named_as_such() {
    for (sql, reason) in [
        ("CREATE TABLE sessions(id); CREATE TABLE messages(id); CREATE TABLE files(id)", "older program"),
        ("CREATE TABLE sessions(id INTEGER PRIMARY KEY, title TEXT)", "no table `session`"),
        ("CREATE TABLE session(id TEXT, title, directory, time_created)", "no column `time_updated`"),
    ] {
        let home = Home::empty();
        fs::create_dir_all(home.data()).unwrap();
        Connection::open(home.database()).unwrap().execute_batch(sql).unwrap();
        let discovery = home.discover();
        assert!(discovery.sessions.is_empty());
        assert_eq!(discovery.findings[0].kind, FindingKind::ForeignContent);
        assert!(discovery.findings[0].detail.contains(reason), "{}", discovery.findings[0]);
        let (_, listed) = ibid_harness::listed_at(&home.database(), ibid_harness::all()).unwrap().unwrap();
        assert_eq!(OpenCode::describe(&listed, &home.context()).unwrap().class, Class::Foreign);
    }
}

#[test]
fn a_session_in_both_stores_is_listed_once() {
    let home = Home::with_tree("1.0.152");
    let twice = home.titled("A session with an abort", "");
    home.make_database("opencode.db", "1.18.33/opencode.sql");
    let connection = Connection::open(home.database()).unwrap();
    connection.pragma_update(None, "foreign_keys", false).unwrap();
    let sql = "INSERT INTO session (id, project_id, slug, directory, title, version, time_created, time_updated) \
               VALUES (?1, 'global', '', '/home/dev', 'here too', '1.18.33', 1, 2)";
    connection.execute(sql, [twice.id.as_str()]).unwrap();
    drop(connection);
    let discovery = home.discover();
    let found: Vec<_> = discovery.sessions.iter().filter(|session| session.id == twice.id).collect();
    assert_eq!(found.len(), 1);
    assert!(found[0].reference.key.is_some());
    let variants: Vec<_> = discovery.findings.iter().filter(|f| f.kind == FindingKind::Variants).collect();
    assert_eq!(variants.len(), 1);
    assert_eq!(discovery.sessions.len(), 12 + 9);
}

#[test]
fn databases_of_other_channels_are_found() {
    let home = Home::with_database("1.18.33/opencode.sql");
    home.make_database("opencode-dev.db", "1.18.33/opencode-tools.sql");
    assert_eq!(home.sessions().len(), 11 + 2);
}

#[cfg(unix)]
#[test]
fn what_lies_in_the_place_of_a_database_and_is_none_is_named() {
    let home = Home::with_database("1.18.33/opencode.sql");
    let folder = home.data();
    fs::create_dir(folder.join("opencode-a.db")).unwrap();
    std::os::unix::fs::symlink("/nowhere/at/all.db", folder.join("opencode-b.db")).unwrap();
    let discovery = home.discover();
    let of = |name: &str| -> Vec<(FindingKind, String)> {
        let about = discovery.findings.iter().filter(|f| f.path.as_ref().is_some_and(|p| p.ends_with(name)));
        about.map(|finding| (finding.kind, finding.detail.to_string())).collect()
    };
    assert_eq!(of("opencode-a.db"), [(FindingKind::Unreadable, "not a regular file".to_owned())]);
    assert_eq!(of("opencode-b.db"), [(FindingKind::Unreadable, "a link that leads nowhere".to_owned())]);
    assert_eq!(discovery.sessions.len(), 11);
}

// https://github.com/specstoryai/getspecstory/issues/136 (fault 36)
#[test]
fn variables_name_the_database_and_the_data_folder() {
    let roots = |machine: Surroundings| -> Vec<(String, RootOrigin)> {
        let roots = OpenCode::roots(&machine).into_iter();
        roots.map(|root| (root.path.to_string_lossy().replace('\\', "/"), root.origin)).collect()
    };
    let machine = || Surroundings::isolated("/h");
    let default = ("/h/.local/share/opencode".to_owned(), RootOrigin::Default);
    assert_eq!(roots(machine()), std::slice::from_ref(&default));
    assert_eq!(roots(machine().with_variable("OPENCODE_DB", " ")), std::slice::from_ref(&default));
    assert_eq!(roots(machine().with_variable("OPENCODE_DB", ":memory:")), std::slice::from_ref(&default));
    let named = roots(machine().with_variable("OPENCODE_DB", "/d/own.db"));
    assert_eq!(named, [("/d/own.db".to_owned(), RootOrigin::Variable("OPENCODE_DB")), default]);
    let moved = roots(machine().with_variable("XDG_DATA_HOME", "/x"));
    assert_eq!(moved, [("/x/opencode".to_owned(), RootOrigin::Variable("XDG_DATA_HOME"))]);
}

// https://github.com/anomalyco/opencode/pull/17758 (fault 20)
#[test]
fn one_bad_row_does_not_hide_the_others() {
    let home = Home::with_database("1.18.33/opencode.sql");
    let found = home.titled("A session with an abort", "");
    let connection = Connection::open(home.database()).unwrap();
    connection.pragma_update(None, "foreign_keys", false).unwrap();
    let id = found.id.as_str();
    connection
        .execute_batch(&format!(
            r#"INSERT INTO message VALUES ('msg_a', '{id}', 1796045728010, 1, 'not json');
               INSERT INTO message VALUES ('msg_b', '{id}', 1796045728011, 1, '{{"role":"user","time":"when"}}');
               INSERT INTO part VALUES ('prt_b', 'msg_b', '{id}', 1, 1, '{{"type":"text","text":"half \ud83d"}}');
               INSERT INTO part VALUES ('prt_c', 'msg_b', '{id}', 1, 1, '{{"type":"hologram"}}');
               INSERT INTO part VALUES ('prt_d', 'msg_gone', '{id}', 1, 1, '{{"type":"text","text":"lost"}}');"#
        ))
        .unwrap();
    drop(connection);
    let common = home.read(&found);
    assert_eq!(common.session.problems(), []);
    assert!(texts(&common.session.messages, Origin::Person).contains(&"half \u{fffd}".to_owned()));
    let kinds: Vec<FindingKind> = common.findings.iter().map(|finding| finding.kind).collect();
    assert_eq!(kinds.iter().filter(|kind| **kind == FindingKind::MalformedRecord).count(), 2);
    assert!(kinds.contains(&FindingKind::UnknownRecord));
}

// https://github.com/getagentseal/codeburn/pull/1233 (fault 51)
#[test]
fn ids_are_keys_and_never_paths_or_patterns() {
    let home = Home::with_database("1.18.33/opencode.sql");
    let at = |key: &str| Reference {
        harness: harness().declaration().id,
        root: home.data(),
        path: home.database(),
        key: Some(key.to_owned()),
    };
    for key in ["ses_%", "../opencode.db", "' OR 1=1 --", ""] {
        assert!(OpenCode::load(&at(key), &home.context()).is_err(), "{key}");
        assert!(OpenCode::delete(&at(key), &home.context()).is_err(), "{key}");
    }
    let tree = Home::with_tree("1.0.152");
    let record = tree.titled("A session with an abort", "").reference.path;
    let text = fs::read_to_string(&record).unwrap().replace("\"id\": \"ses_", "\"id\": \"../../ses_");
    fs::write(record.with_file_name("ses_zzz.json"), text).unwrap();
    assert_eq!(tree.sessions().len(), 10 + 1);
}

#[test]
fn a_file_tells_whose_it_is() {
    let tree = Home::with_tree("1.0.152");
    let record = tree.titled("A session with an abort", "").reference.path;
    for (path, id) in
        [(record.as_path(), "ses_dd355e07bffe"), (&fixture("1.18.33/export.json"), "ses_dd3557c43ffe")]
    {
        let (by, listed) = ibid_harness::listed_at(path, ibid_harness::all()).unwrap().unwrap();
        assert_eq!(by.declaration().id.as_str(), "opencode");
        let found = by.describe(&listed, &tree.context()).unwrap();
        assert!(found.id.as_str().starts_with(id));
    }
    assert_eq!(OpenCode::recognises(Path::new("other.json"), b"{\"messages\":[]}"), 0);
}

// https://github.com/NousResearch/hermes-agent/issues/42409 (fault 55)
#[test]
fn a_time_of_zero_is_unknown_and_others_are_milliseconds() {
    let home = Home::with_database("1.18.33/opencode.sql");
    let found = home.titled("A session with an abort", "");
    let connection = Connection::open(home.database()).unwrap();
    let id = found.id.as_str();
    connection.execute("UPDATE session SET time_created = 0 WHERE id = ?1", [id]).unwrap();
    let sql = "UPDATE message SET time_created = 0, data = json_remove(data, '$.time') \
               WHERE id = (SELECT min(id) FROM message WHERE session_id = ?1)";
    connection.execute(sql, [id]).unwrap();
    drop(connection);
    let common = home.read(&found);
    assert_eq!(common.session.messages[0].at, None);
    assert!(common.findings.iter().any(|finding| finding.kind == FindingKind::UnreadableTime));
    let second = common.session.messages[1].at.unwrap();
    assert_eq!(second.to_iso_milliseconds(), "2026-11-30T13:35:23.958Z");
    assert_eq!(common.session.meta.started, Some(second));
    assert_eq!(home.with_id(&found.id).meta, common.session.meta);
}

// https://github.com/klein-t/teebe/pull/77 (fault 35)
#[test]
fn an_answer_keeps_the_directory_it_was_given_in() {
    let home = Home::with_database("1.18.33/opencode.sql");
    let found = home.titled("A session with an abort", "");
    let connection = Connection::open(home.database()).unwrap();
    let sql = "UPDATE message SET data = json_set(data, '$.path.cwd', '/w/tree') WHERE data LIKE '%\"finish\":\"stop\"%'";
    assert!(connection.execute(sql, []).unwrap() > 0);
    drop(connection);
    let session = home.read(&found).session;
    assert_eq!(session.meta.cwd.as_deref(), Some("/home/dev/demo"));
    assert_eq!(session.messages.last().unwrap().cwd.as_deref(), Some("/w/tree"));
}
