//! One platform that misbehaves harms no other, and no caller.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::panic,
    reason = "tests show what they expect"
)]

mod support;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use ibid_carrier::fingerprint::Fingerprint;
use ibid_evidence::answer::{ProviderStatus, Reason};
use ibid_evidence::ask::DiscoverParams;
use ibid_evidence::{Budgets, Evidence, Host};
use ibid_harness::{
    AnyHarness, AnyTranscript, CodecError, Context, Control, Converted, Cursor, Declaration, Deleting,
    Discovered, EvidencePlatform, Listed, Listing, OpenIn, Reference, Root, SaveOptions, Saving, Sink,
    StoreError, Surroundings, Target, Wants, find,
};
use ibid_model::{Argument, Json, Outcome, Session, Text, Tool};
use ibid_testkit::Home;
use support::*;

/// pi, but for one thing.
struct Misbehaving {
    declaration: Declaration,
    how: How,
}

#[derive(PartialEq)]
enum How {
    PanicsInRoots,
    PanicsInList,
    PanicsInDescribe,
    PanicsInScan,
    HangsInList,
    HangsInDescribe,
}

static RELEASED: AtomicBool = AtomicBool::new(false);

fn pi() -> &'static dyn AnyHarness {
    find("pi").unwrap()
}

impl Misbehaving {
    fn make(how: How) -> &'static dyn AnyHarness {
        let declaration = Declaration {
            aliases: &[],
            evidence: Some(EvidencePlatform { rank: 0, name: "qoder" }),
            versions_seen: &[],
            name: "Misbehaving",
            resume: None,
            retention_days: None,
            ..*pi().declaration()
        };
        Box::leak(Box::new(Misbehaving { declaration, how }))
    }

    fn does(&self, panics: How, hangs: Option<How>) {
        assert!(self.how != panics, "a secret that no message shows");
        while Some(&self.how) == hangs.as_ref() && !RELEASED.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl AnyHarness for Misbehaving {
    fn declaration(&self) -> &'static Declaration {
        // It lives as long as the test does.
        let declaration: &Declaration = &self.declaration;
        Box::leak(Box::new(Declaration { ..*declaration }))
    }
    fn roots(&self, machine: &Surroundings) -> Vec<Root> {
        self.does(How::PanicsInRoots, None);
        pi().roots(machine)
    }
    fn list(&self, root: &Root, context: &Context<'_>) -> Listing {
        self.does(How::PanicsInList, Some(How::HangsInList));
        pi().list(root, context)
    }
    fn describe(&self, listed: &Listed, context: &Context<'_>) -> Result<Discovered, StoreError> {
        if listed.reference.path.to_string_lossy().contains("bad") {
            self.does(How::PanicsInDescribe, Some(How::HangsInDescribe));
        }
        pi().describe(listed, context)
    }
    fn placed_for(&self, reference: &Reference, directory: &Path, context: &Context<'_>) -> bool {
        pi().placed_for(reference, directory, context)
    }
    fn load(&self, reference: &Reference, context: &Context<'_>) -> Result<AnyTranscript, StoreError> {
        pi().load(reference, context)
    }
    fn scan(
        &self,
        reference: &Reference,
        from: &Cursor,
        wants: Wants,
        control: &Control<'_>,
        sink: &mut dyn Sink,
        context: &Context<'_>,
    ) -> Result<Cursor, StoreError> {
        if reference.path.to_string_lossy().contains("bad") {
            self.does(How::PanicsInScan, None);
        }
        pi().scan(reference, from, wants, control, sink, context)
    }
    fn children(&self, reference: &Reference, context: &Context<'_>) -> Vec<Reference> {
        pi().children(reference, context)
    }
    fn save(&self, t: &AnyTranscript, o: &SaveOptions, c: &Context<'_>) -> Result<Saving, StoreError> {
        pi().save(t, o, c)
    }
    fn delete(&self, reference: &Reference, context: &Context<'_>) -> Result<Deleting, StoreError> {
        pi().delete(reference, context)
    }
    fn open_in(&self, reference: &Reference, context: &Context<'_>) -> Option<OpenIn> {
        pi().open_in(reference, context)
    }
    fn fingerprints(&self, r: &[Reference], c: &Context<'_>) -> Vec<Result<Fingerprint, StoreError>> {
        pi().fingerprints(r, c)
    }
    fn recognises(&self, path: &Path, head: &[u8]) -> u8 {
        pi().recognises(path, head)
    }
    fn from_common(&self, s: &Session, t: &Target) -> Result<Converted<AnyTranscript>, CodecError> {
        pi().from_common(s, t)
    }
    fn read_call(&self, name: &Text, input: &Json) -> (Tool, Vec<Argument>) {
        pi().read_call(name, input)
    }
    fn read_answer(&self, text: &Text) -> (Text, Outcome) {
        pi().read_answer(text)
    }
    fn from_text(&self, text: &[u8]) -> Result<AnyTranscript, CodecError> {
        pi().from_text(text)
    }
}

/// Two sessions of pi, one of them with `bad` in its name, and one of Claude Code.
fn home() -> Home {
    let session = |id: &str| {
        lines(&[
            serde_json::json!({"type":"session","version":3,"id":id,"cwd":"/w/demo","timestamp":"2026-09-01T10:00:00Z"}),
            serde_json::json!({"type":"message","id":"a","timestamp":"2026-09-01T10:00:01Z","message":{"role":"user","content":[{"type":"text","text":"Hello"}]}}),
        ])
    };
    let home = Home::new()
        .with_file(".pi/agent/sessions/--w-demo--/1_good.jsonl", session("good"))
        .with_file(".pi/agent/sessions/--w-demo--/2_bad.jsonl", session("bad"));
    with_claude(home, "-w-demo", &Claude::at("/w/demo", 1).says("Hello"))
}

fn asked(how: How, home: &Home) -> (Host, ibid_evidence::answer::Discovery, Duration) {
    let harnesses = [Misbehaving::make(how), find("claude-code").unwrap()];
    let budgets = Budgets { platform: Duration::from_millis(500), ..Budgets::default() };
    let host = Host::of(Surroundings::isolated(home.path()), &harnesses).within(budgets);
    let begin = Instant::now();
    let discovery = host.discover(&DiscoverParams::of("/w/demo")).unwrap();
    (host, discovery, begin.elapsed())
}

// evidence defect 4
#[test]
fn a_panic_is_the_error_of_one_platform() {
    for (how, left) in [
        (How::PanicsInRoots, &[][..]),
        (How::PanicsInList, &[]),
        (How::PanicsInDescribe, &["good"]),
        (How::PanicsInScan, &["good"]),
    ] {
        let home = home();
        let (_, discovery, _) = asked(how, &home);
        let qoder = provider(&discovery, "qoder");
        assert_eq!(qoder.status, ProviderStatus::Error);
        assert!(!qoder.message.as_ref().unwrap().contains("secret"));
        assert_eq!(provider(&discovery, "claude").status, ProviderStatus::Ok);
        let found: Vec<&str> = discovery
            .sessions
            .iter()
            .filter(|session| session.platform == "qoder")
            .map(|session| session.session_id.as_str())
            .collect();
        assert_eq!(found, left, "what could be read is there");
    }
}

// evidence defect 15
#[test]
fn what_takes_too_long_is_left_behind_and_not_begun_again_meanwhile() {
    for (how, left) in [(How::HangsInList, 0), (How::HangsInDescribe, 1)] {
        RELEASED.store(false, Ordering::Relaxed);
        let home = home();
        let (host, discovery, took) = asked(how, &home);
        assert!(took < Duration::from_secs(20), "{took:?}");
        let qoder = provider(&discovery, "qoder");
        assert_eq!((qoder.status, qoder.reason), (ProviderStatus::Error, Some(Reason::Timeout)));
        assert_eq!(discovery.sessions.iter().filter(|session| session.platform == "qoder").count(), left);
        assert_eq!(provider(&discovery, "claude").status, ProviderStatus::Ok);
        let begin = Instant::now();
        let again = host.discover(&DiscoverParams::of("/w/demo")).unwrap();
        let qoder = provider(&again, "qoder");
        assert_eq!((qoder.status, qoder.reason), (ProviderStatus::Error, Some(Reason::Timeout)));
        assert!(begin.elapsed() < Duration::from_millis(400), "it is not waited for twice");
        RELEASED.store(true, Ordering::Relaxed);
        let begin = Instant::now();
        while provider(&host.discover(&DiscoverParams::of("/w/demo")).unwrap(), "qoder").status
            != ProviderStatus::Ok
        {
            assert!(begin.elapsed() < Duration::from_secs(30), "it is searched again once it came back");
        }
    }
}

#[cfg(unix)]
#[test]
fn a_pipe_in_a_store_keeps_nobody_waiting() {
    let home = home();
    for place in [".pi/agent/sessions/--w-demo--/3_pipe.jsonl", ".claude/projects/-w-demo/pipe.jsonl"] {
        rustix::fs::mknodat(
            rustix::fs::CWD,
            home.path().join(place),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o600),
            0,
        )
        .unwrap();
    }
    let discovery = discover(&home, "/w/demo");
    assert_eq!(discovery.sessions.len(), 3);
}
