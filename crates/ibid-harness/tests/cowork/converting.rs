//! Conversions and the text form.

use ibid_harness::claude_code::ClaudeCode;
use ibid_harness::cowork::Cowork;
use ibid_harness::{Codec, Store, Target, TextCodec, Transcript, convert};
use ibid_model::{
    CommandRule, LossKind, Message, Origin, Role, Rules, Selection, Session, ThinkingRule, Timestamp,
    essence, prepare,
};

use crate::home::{AUDIT, COMPACTED, FIRST, Fixture, Home, OLD, PLAIN, WITH_SUBAGENT, claude_transcript};

fn claude(fixture: Fixture) -> Transcript<ClaudeCode> {
    ClaudeCode::from_text(&std::fs::read(claude_transcript(fixture)).unwrap()).unwrap()
}

fn header(transcript: &Transcript<Cowork>) -> serde_json::Value {
    let bundle: serde_json::Value = serde_json::from_slice(&Cowork::to_text(transcript).unwrap()).unwrap();
    bundle["header"].clone()
}

#[test]
fn a_session_of_claude_code_says_the_same_there_and_back() {
    let rules =
        Rules { thinking: ThinkingRule::Signed("anthropic"), commands: CommandRule::Keep, ..Rules::STRICT };
    for fixture in [WITH_SUBAGENT, PLAIN, COMPACTED, OLD] {
        let source = claude(fixture);
        let there = convert::<ClaudeCode, Cowork>(&source, &Target::default()).unwrap();
        let back = convert::<Cowork, ClaudeCode>(&there.value, &Target::default()).unwrap();
        let before = ClaudeCode::to_common(&source).unwrap().session;
        let after = ClaudeCode::to_common(&back.value).unwrap().session;
        let middle = Cowork::to_common(&there.value).unwrap().session;
        assert_eq!(middle.problems(), []);
        let said = prepare(&before, &Selection::default(), &rules);
        assert_eq!(essence(middle.view(&Selection::default()).messages), essence(&said.messages));
        assert_eq!(essence(after.view(&Selection::default()).messages), essence(&said.messages));
        assert_eq!(after.own_usage(), middle.own_usage());
        let title = |session: &Session| session.meta.title.clone();
        assert_eq!((title(&middle), title(&after)), (title(&before), title(&before)));
        assert_eq!(after.meta.cwd, before.meta.cwd);
        assert_eq!(middle.meta.started, before.meta.started);
        assert!(there.losses.has(LossKind::SessionId));
    }
}

#[test]
fn a_conversion_gives_the_same_bytes_every_time() {
    let text = |_| {
        let there = convert::<ClaudeCode, Cowork>(&claude(PLAIN), &Target::default()).unwrap();
        Cowork::to_text(&there.value).unwrap()
    };
    assert_eq!(text(1), text(2));
}

#[test]
fn the_record_that_is_made_has_all_that_the_app_demands() {
    let target = Target { id: Some("local_abc".into()), ..Target::default() };
    let there = convert::<ClaudeCode, Cowork>(&claude(PLAIN), &target).unwrap().value;
    let source = ClaudeCode::to_common(&claude(PLAIN)).unwrap().session;
    let header = header(&there);
    // UUIDv5 of `local_abc` in the namespace of the format document.
    assert_eq!(header["cliSessionId"], "4c400426-f462-5dae-9b2b-9041bb15c8de");
    assert_eq!(header["processName"], "ibid-4c400426");
    assert_eq!(header["sessionId"], "local_abc");
    assert_eq!(header["cwd"].as_str(), source.meta.cwd.as_deref());
    assert_eq!(header["createdAt"].as_i64(), source.meta.started.map(Timestamp::as_milliseconds));
    assert!(header["lastActivityAt"].as_i64() >= header["createdAt"].as_i64());
    assert_eq!((header["isArchived"].as_bool(), header["hostLoopMode"].as_bool()), (Some(false), Some(true)));
    assert!(header["initialMessage"].is_string() && header["model"].is_string());
    assert!(header.get("systemPrompt").is_none());
}

#[test]
fn another_id_gets_the_prefix_and_an_empty_one_is_derived() {
    let id = |wanted: &str| {
        let target = Target { id: Some(wanted.into()), ..Target::default() };
        convert::<ClaudeCode, Cowork>(&claude(PLAIN), &target).unwrap().value.id.to_string()
    };
    assert_eq!(id("abc"), "local_abc");
    assert_eq!(id("local_abc"), "local_abc");
    assert!(id("").len() == "local_".len() + 36 && id("") == id(""));
}

#[test]
fn the_first_message_stands_in_the_record_as_it_was_and_no_later_one_does() {
    let mut session = Session::new("test", "s");
    let mut parent = None;
    for (id, block) in [
        ("a", ibid_model::Block::Command(ibid_model::Command { name: "/init".into(), args: None })),
        ("b", ibid_model::Block::text("  later\n")),
    ] {
        let mut message = Message::new(id, Role::User, Origin::Person);
        message.blocks.push(block);
        message.parent = parent.replace(message.id.clone());
        session.messages.push(message);
    }
    let made = |session: &Session| Cowork::from_common(session, &Target::default()).unwrap().value;
    assert!(header(&made(&session)).get("initialMessage").is_none());
    session.messages.remove(0);
    session.messages[0].parent = None;
    assert_eq!(header(&made(&session))["initialMessage"], "  later\n");
}

#[test]
fn a_time_that_nobody_knows_is_filled_in_reported_and_read_as_unknown() {
    let mut session = Session::new("test", "s");
    let mut message = Message::new("m", Role::User, Origin::Person);
    message.blocks.push(ibid_model::Block::text("go"));
    session.messages.push(message);
    let made = Cowork::from_common(&session, &Target::default()).unwrap();
    assert!(made.losses.has(LossKind::FieldFilled));
    let meta = Cowork::to_common(&made.value).unwrap().session.meta;
    assert_eq!((meta.started, meta.updated), (None, None));
}

#[test]
fn what_lies_beside_the_conversation_is_named_when_it_is_left_behind() {
    let home = Home::by_hand();
    let found = home.find("local_3a000000-0000-4000-8000-000000000001");
    let made = convert::<Cowork, ClaudeCode>(&home.load(&found.reference), &Target::default()).unwrap();
    let left: Vec<_> = made
        .losses
        .iter()
        .filter(|loss| loss.kind == LossKind::Companion)
        .filter_map(|loss| loss.what.clone())
        .collect();
    assert_eq!(left, ["audit log", "outputs", "uploads"]);
}

#[test]
fn the_text_form_holds_record_conversation_and_audit_log() {
    let home = Home::built();
    for name in ["local_one", "local_two"] {
        let transcript = home.load(&home.at(&format!("{FIRST}/{name}.json")));
        let text = Cowork::to_text(&transcript).unwrap();
        let again = Cowork::from_text(&text).unwrap();
        assert_eq!(again.id, transcript.id);
        assert_eq!(Cowork::to_text(&again).unwrap(), text);
        let (before, after) = (Cowork::to_common(&transcript).unwrap(), Cowork::to_common(&again).unwrap());
        assert_eq!(
            (after.session.meta, after.session.messages),
            (before.session.meta, before.session.messages)
        );
    }
    let text =
        String::from_utf8(Cowork::to_text(&home.load(&home.at(&format!("{FIRST}/local_one.json")))).unwrap());
    let text = text.unwrap();
    assert!(
        text.contains("1.50")
            && text.contains("1e2")
            && text.contains(r"\ud83d")
            && text.contains("0.012300")
    );
    let bare = home.load(&home.at(&format!("{FIRST}/local_two.json")));
    assert!(!String::from_utf8(Cowork::to_text(&bare).unwrap()).unwrap().contains("\"audit\""));
}

#[test]
fn the_text_form_has_a_header_and_lines_that_are_no_records_survive() {
    assert!(Cowork::from_text(br#"{"transcript":[]}"#).is_err());
    assert!(Cowork::from_text(br#"{"header":5}"#).is_err());
    assert_eq!(Cowork::from_text(br#"{"header":{}}"#).unwrap().id, "");
    let home = Home::built();
    let path = home.find("local_one").carriers[0].path.to_string();
    let torn = format!("{}{{\"type\":\"us\n5\n", std::fs::read_to_string(&path).unwrap());
    std::fs::write(&path, &torn).unwrap();
    let transcript = home.load(&home.at(&format!("{FIRST}/local_one.json")));
    let again = Cowork::from_text(&Cowork::to_text(&transcript).unwrap()).unwrap();
    let ibid_harness::cowork::Body::Session(body) = &again.body else { panic!() };
    assert_eq!(body.transcript.as_ref().unwrap().bytes(), torn.as_bytes());
    assert_eq!(body.audit.as_ref().unwrap().bytes(), AUDIT.as_bytes());
    let bundle = home.folder.path().join("bundle.json");
    std::fs::write(&bundle, Cowork::to_text(&transcript).unwrap()).unwrap();
    let reference =
        ibid_harness::Reference { root: home.folder.path().to_owned(), path: bundle, ..home.at("anything") };
    assert_eq!(Cowork::load(&reference, &home.context()).unwrap().id, "local_one");
}
