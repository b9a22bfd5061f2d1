//! What the files of pi 1.6.0 and 0.73.1 say.

use ibid_model::{
    Block, Data, EventKind, Origin, Outcome, Relation, ResultPart, Role, Selection, StopReason, TokenUse,
    Tool, essence,
};

use crate::{
    COMPACTED, FAILURES, FORKED_AT_PROMPT, FORKED_WHOLE, TOOLS, TREE, common, of_origin, prompts, read, said,
};

#[test]
fn the_live_branch_ends_at_the_last_entry_of_the_file_and_the_others_are_kept() {
    for version in ["1.6.0", "0.73.1"] {
        let begun = if version == "1.6.0" { TREE } else { "13-26-55-960Z" };
        let session = read(version, begun);
        assert_eq!(
            prompts(&session),
            [
                "First question, the root of the tree",
                "Second question, asked differently",
                "Third question, on the live branch"
            ]
        );
        let branches = session.branches();
        assert_eq!(branches.len(), 3, "{version}");
        assert!(branches.iter().skip(1).all(|branch| branch.own == 2 && branch.fork.is_some()));
    }
}

#[test]
fn a_summary_of_a_branch_that_was_left_is_written_by_the_model_and_is_no_turn() {
    let session = read("1.6.0", TREE);
    let summaries: Vec<_> =
        session.messages.iter().filter(|m| m.role == Role::User && m.origin == Origin::Model).collect();
    assert_eq!(summaries.len(), 1);
    assert!(said(summaries[0]).starts_with("The user explored a different conversation branch"));
    let counts = session.counts();
    assert_eq!((counts.prompts, counts.injected, counts.assistant), (5, 1, 5));
}

#[test]
fn what_an_extension_put_in_is_the_harness_speaking_and_its_state_is_an_event() {
    let session = read("1.6.0", TREE);
    let put_in: Vec<_> =
        of_origin(&session, Origin::Harness).into_iter().filter(|m| m.role == Role::User).collect();
    assert_eq!(said(put_in[0]), "a note put in by an extension");
    let kinds: Vec<_> = session.events.iter().map(|event| &event.kind).collect();
    assert!(kinds.contains(&&EventKind::Other("custom".into())) && kinds.contains(&&EventKind::Label));
}

// https://github.com/ccusage/ccusage/issues/950 (fault 1, as pi has it)
#[test]
fn what_a_fork_copied_is_marked_and_its_calls_count_in_the_parent() {
    let session = read("1.6.0", FORKED_WHOLE);
    let own: Vec<_> = session.messages.iter().filter(|message| !message.inherited).collect();
    assert_eq!(own.first().map(|m| m.is_prompt()), Some(true));
    assert_eq!(own.iter().filter(|m| m.role == Role::Assistant).count(), 1);
    assert!(session.calls.len() > 1);
    assert_eq!(session.calls.iter().filter(|call| !call.inherited).count(), 1);
    assert_eq!(session.own_usage().output, Some(22));
    let lineage = &session.lineage[0];
    assert_eq!(lineage.relation, Relation::Forked);
    assert_eq!(lineage.parent, Some("01a22ca2-9faa-7568-a605-34a700f6656d".into()));
}

// https://github.com/openai/codex/issues/35003 (fault 57)
#[test]
fn copied_entries_keep_the_times_that_they_had_in_the_parent() {
    let (parent, fork) = (read("1.6.0", COMPACTED), read("1.6.0", FORKED_AT_PROMPT));
    let copied: Vec<_> = fork.messages.iter().filter(|message| message.inherited).collect();
    assert!(!copied.is_empty());
    for message in copied {
        assert_eq!(parent.message(&message.id).and_then(|m| m.at), message.at);
    }
    assert!(fork.meta.started > fork.messages[0].at);
}

#[test]
fn a_compaction_says_what_it_kept_and_people_see_across_it() {
    let session = read("1.6.0", COMPACTED);
    let compaction = &session.compactions[0];
    assert!(compaction.text.as_ref().unwrap().starts_with("MOCK-REPLY"));
    assert_eq!(compaction.first_kept, Some("101d2074".into()));
    assert_eq!(compaction.tokens_before, Some(145));
    assert_eq!(compaction.after, Some("8c3ad82b".into()));
    assert_eq!(prompts(&session).len(), 4);
    let kept = session.view(&Selection { from_compaction: true, ..Selection::default() });
    assert_eq!(kept.messages[0].id, "101d2074");
    assert!(kept.before_compaction > 0);
}

#[test]
fn a_compaction_that_keeps_nothing_has_no_first_kept_message() {
    let text = concat!(
        r#"{"type":"session","version":3,"id":"s"}"#,
        "\n",
        r#"{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":"x"}}"#,
        "\n",
        r#"{"type":"compaction","id":"c","parentId":"a","summary":"S","firstKeptEntryId":"c","tokensBefore":1}"#,
        "\n",
        r#"{"type":"compaction","id":"d","parentId":"c","summary":"T","firstKeptEntryId":"gone","tokensBefore":1}"#,
        "\n",
    );
    let session = common(text.as_bytes()).session;
    assert!(session.compactions.iter().all(|c| c.first_kept.is_none() && c.after == Some("a".into())));
}

#[test]
fn a_file_without_ids_is_one_chain_and_reads_as_the_program_migrates_it() {
    let old = read("hand-written", "2025-11-20");
    assert_eq!(old.branches().len(), 1);
    assert_eq!(old.compactions[0].first_kept, Some("entry-3".into()));
    let migrated = read("hand-written/migrated-by-1.6.0", "2025-11-20");
    let story = essence(&migrated.messages);
    assert_eq!(essence(&old.messages)[..], story[..essence(&old.messages).len()]);
    let kept = |session: &ibid_model::Session| {
        said(session.message(session.compactions[0].first_kept.as_ref().unwrap()).unwrap())
    };
    assert_eq!(kept(&old), kept(&migrated));
}

#[test]
fn what_version_2_calls_a_hook_message_is_what_version_3_calls_custom() {
    for version in ["hand-written", "hand-written/migrated-by-1.6.0"] {
        let session = read(version, "2025-12-20");
        assert_eq!(said(of_origin(&session, Origin::Harness)[0]), "Put in by a hook");
        assert_eq!(session.counts().injected, 1);
    }
}

#[test]
fn a_command_that_the_person_ran_is_neither_a_prompt_nor_a_call() {
    let session = read("1.6.0", COMPACTED);
    let ran: Vec<_> = of_origin(&session, Origin::Tools).into_iter().filter(|m| m.has_text()).collect();
    assert_eq!(said(ran[0]), "Ran `echo typed by the person`\n```\ntyped by the person\n\n```");
    assert_eq!(ran.len(), 1);
    let hidden: Vec<_> =
        session.events.iter().filter(|e| e.kind == EventKind::Other("bashExecution".into())).collect();
    assert!(hidden[0].text.as_ref().unwrap().contains("kept out of the context"));
    assert_eq!(session.counts().tool_calls, 1);
}

#[test]
fn failed_and_stopped_answers_say_so() {
    let session = read("1.6.0", FAILURES);
    let stops: Vec<_> = session.messages.iter().filter_map(|m| m.stop.clone()).collect();
    assert!(stops.contains(&StopReason::Error) && stops.contains(&StopReason::Aborted));
    let errors: Vec<_> = session.events.iter().filter(|event| event.kind == EventKind::Error).collect();
    assert!(errors[0].text.as_ref().unwrap().contains("scripted provider error"));
    let results = session.messages.iter().flat_map(|m| &m.blocks);
    assert!(results.into_iter().any(|b| matches!(b, Block::ToolResult(r) if r.outcome == Outcome::Error)));
}

#[test]
fn pictures_are_read_from_prompts_and_from_results() {
    let prompt = read("1.6.0", COMPACTED);
    let picture = prompt.messages.iter().flat_map(|m| &m.blocks).find_map(|block| match block {
        Block::Image(image) => Some(image),
        _ => None,
    });
    assert_eq!(picture.unwrap().media_type, Some("image/png".into()));
    let result = read("1.6.0", TOOLS);
    let pictures = result.messages.iter().flat_map(|m| &m.blocks).filter(|block| match block {
        Block::ToolResult(result) => result.content.iter().any(
            |part| matches!(part, ResultPart::Image(image) if matches!(&image.data, Data::Base64(data) if data.starts_with("iVBOR"))),
        ),
        _ => false,
    });
    assert_eq!(pictures.count(), 1);
}

#[test]
fn every_tool_of_the_program_has_its_typed_form_and_an_unknown_one_stays_raw() {
    let session = read("1.6.0", TOOLS);
    let kinds: Vec<&str> = session
        .messages
        .iter()
        .flat_map(|message| &message.blocks)
        .filter_map(|block| match block {
            Block::ToolUse(call) => Some(call.tool.kind()),
            _ => None,
        })
        .collect();
    assert_eq!(kinds, ["shell", "write", "edit", "read", "read", "shell", "edit", "read", "raw"]);
    let edit = session.messages.iter().flat_map(|m| &m.blocks).find_map(|block| match block {
        Block::ToolUse(call) => match &call.tool {
            Tool::Edit(edit) => Some(edit.clone()),
            _ => None,
        },
        _ => None,
    });
    assert_eq!(edit.unwrap().edits[0].new, "BETA");
}

#[test]
fn the_name_of_a_field_is_no_signature_and_a_signature_names_its_provider() {
    let session = read("1.6.0", TOOLS);
    let thoughts: Vec<_> = session
        .messages
        .iter()
        .flat_map(|message| &message.blocks)
        .filter_map(|block| match block {
            Block::Thinking(thinking) => Some(thinking),
            _ => None,
        })
        .collect();
    let token = &thoughts[0].tokens[0];
    assert_eq!((token.usage, token.provider.as_deref()), (TokenUse::Signature, Some("mockant")));
    // The last answer came over chat completions, with the signature "reasoning_content".
    assert!(thoughts.last().unwrap().tokens.is_empty());
}

#[test]
fn tokens_do_not_overlap_and_what_a_summary_cost_is_a_call_without_a_message() {
    let session = read("1.6.0", COMPACTED);
    let usage = session.calls[0].usage;
    assert_eq!(
        (usage.input, usage.output, usage.cache_read, usage.cache_write),
        (Some(111), Some(22), Some(5), Some(7))
    );
    assert_eq!((usage.cache_write_1h, usage.cache_write_5m, usage.cost_usd), (Some(0), Some(7), Some(0.0)));
    assert_eq!(session.calls.iter().filter(|call| call.message.is_none()).count(), 1);
}

#[test]
fn an_answer_id_that_comes_again_is_another_call() {
    let answer = |id: &str, parent: &str| {
        format!(
            r#"{{"type":"message","id":"{id}","parentId":"{parent}","message":{{"role":"assistant","content":[],"model":"m","responseId":"same","usage":{{"input":3,"output":2}}}}}}"#
        )
    };
    let text = format!(
        "{}\n{}\n{}\n",
        r#"{"type":"session","version":3,"id":"s"}"#,
        answer("a", "x").replace("\"x\"", "null"),
        answer("b", "a")
    );
    let session = common(text.as_bytes()).session;
    assert_eq!(session.calls.len(), 2);
    assert_eq!(session.own_usage().input, Some(6));
}

#[test]
fn the_system_entry_of_1_6_is_a_system_message_and_no_turn() {
    let session = read("1.6.0", TOOLS);
    let system = &session.messages[0];
    assert_eq!((system.role, system.origin), (Role::System, Origin::Harness));
    assert!(said(system).contains("<cwd>\n/home/dev/demo\n</cwd>"));
    assert_eq!(session.counts().injected, 0);
}

#[test]
fn the_last_name_counts_and_a_blank_one_takes_it_away() {
    let named = read("1.6.0", COMPACTED);
    assert_eq!(named.meta.title.unwrap().text, "Demo: a named session");
    let text = concat!(
        r#"{"type":"session","version":3,"id":"s"}"#,
        "\n",
        r#"{"type":"session_info","id":"a","parentId":null,"name":"first"}"#,
        "\n",
        r#"{"type":"session_info","id":"b","parentId":"a","name":""}"#,
        "\n",
    );
    assert_eq!(common(text.as_bytes()).session.meta.title, None);
}

#[test]
fn a_list_entry_has_place_model_and_first_words() {
    let session = read("0.73.1", "13-26-45-651Z");
    assert_eq!(session.meta.cwd.as_deref(), Some("/home/dev/demo"));
    assert_eq!(session.meta.model.as_deref(), Some("mock-model"));
    assert_eq!(session.meta.preview.as_deref(), Some("do-script pitools: use every tool once"));
    assert!(session.meta.started < session.meta.updated);
}
