//! The receiver as anything on the machine may talk to it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on must fail"
)]

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use ibid_capture::handoff::Handoff;
use ibid_capture::receiver::{Receiver, Summary};
use ibid_capture::report::{self, Delivery, Report};
use tokio::sync::oneshot;

/// A receiver for two programs that runs.
struct Running {
    receiver: Receiver,
    address: SocketAddr,
    app: Handoff,
    pi: Handoff,
    seen: Arc<Mutex<Vec<String>>>,
    stop: oneshot::Sender<()>,
    thread: JoinHandle<Summary>,
}

fn running() -> Running {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (app, pi) = (Handoff::new("codex-app", address).unwrap(), Handoff::new("pi", address).unwrap());
    let seen = Arc::new(Mutex::new(Vec::new()));
    let lines = Arc::clone(&seen);
    let receiver = Receiver::new([app.clone(), pi.clone()], move |sight| {
        lines.lock().unwrap().push(format!("{} {} {:?}", sight.program, sight.session, sight.cwd));
    });
    let (stop, stopped) = oneshot::channel();
    let running = receiver.clone();
    let thread = std::thread::spawn(move || {
        let stopped = async { drop(stopped.await) };
        running.run(vec![listener], stopped).unwrap()
    });
    Running { receiver, address, app, pi, seen, stop, thread }
}

impl Running {
    /// What is answered to these bytes, to the end of the connection.
    fn raw(&self, request: &[u8]) -> String {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        // One that is refused early may be closed before all of it was sent.
        let _ = stream.write_all(request);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8(answer).unwrap()
    }

    fn post(&self, path: &str, headers: &str, body: &str) -> u16 {
        let request = format!(
            "POST {path} HTTP/1.1\r\nhost: x\r\n{headers}content-length: {}\r\n\r\n{body}",
            body.len()
        );
        let answer = self.raw(request.as_bytes());
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {answer:?}"));
        assert_eq!(body, "", "an answer has no body");
        assert!(!answer.contains(self.app.secret().reveal()));
        head.split(' ').nth(1).unwrap().parse().unwrap()
    }

    fn ends(self) -> Summary {
        self.stop.send(()).unwrap();
        self.thread.join().unwrap()
    }
}

fn secret(handoff: &Handoff) -> String {
    format!("x-tapes-lifecycle-secret: {}\r\n", handoff.secret().reveal())
}

const PATH: &str = "/_tapes/codex-app/lifecycle";
const BODY: &str = r#"{"session_id":"s \u0001 🧪","cwd":"/w"}"#;

#[test]
fn a_report_with_the_secret_is_taken_and_everything_else_refused() {
    let running = running();
    let good = secret(&running.app);
    let upper = good.to_uppercase().replace("X-TAPES-LIFECYCLE-SECRET", "x-tapes-lifecycle-secret");
    let cases: Vec<(&str, &str, String, String, u16)> = vec![
        ("taken", PATH, good.clone(), BODY.to_owned(), 204),
        ("no secret", PATH, String::new(), BODY.to_owned(), 401),
        ("a blank secret", PATH, "x-tapes-lifecycle-secret: \r\n".to_owned(), BODY.to_owned(), 401),
        ("the secret and more", PATH, good.replace("\r\n", "0\r\n"), BODY.to_owned(), 401),
        ("another case", PATH, upper, BODY.to_owned(), 401),
        ("twice", PATH, format!("{good}{good}"), BODY.to_owned(), 401),
        ("another program's secret", PATH, secret(&running.pi), BODY.to_owned(), 401),
        ("a wrong secret and no body", PATH, secret(&running.pi), String::new(), 401),
        ("no JSON", PATH, good.clone(), "session".to_owned(), 400),
        ("nothing", PATH, good.clone(), String::new(), 400),
        (
            "a key that is not known",
            PATH,
            good.clone(),
            r#"{"session_id":"s","cwd":"/","prompt":"x"}"#.to_owned(),
            400,
        ),
        (
            "a key twice",
            PATH,
            good.clone(),
            r#"{"session_id":"s","session_id":"t","cwd":"/"}"#.to_owned(),
            400,
        ),
        ("a blank session", PATH, good.clone(), r#"{"session_id":" \t","cwd":"/"}"#.to_owned(), 400),
        (
            "a blank subagent",
            PATH,
            good.clone(),
            r#"{"session_id":"s","cwd":"/","agent_id":""}"#.to_owned(),
            400,
        ),
        ("an endless id", PATH, good.clone(), format!(r#"{{"session_id":"{}"}}"#, "x".repeat(5000)), 400),
        ("a large body", PATH, good.clone(), format!("{BODY}{}", " ".repeat(70_000)), 400),
        ("another path", "/_tapes/claude/lifecycle", good.clone(), BODY.to_owned(), 404),
        ("a longer path", "/_tapes/codex-app/lifecycle/", good.clone(), BODY.to_owned(), 404),
    ];
    for (name, path, headers, body, expected) in &cases {
        assert_eq!(running.post(path, headers, body), *expected, "{name}");
    }
    let get = running.raw(format!("GET {PATH} HTTP/1.1\r\nhost: x\r\n{good}\r\n").as_bytes());
    assert!(get.starts_with("HTTP/1.1 405"), "{get}");
    assert_eq!(*running.seen.lock().unwrap(), ["codex-app s \u{1} 🧪 Some(\"/w\")"]);
    assert!(running.receiver.resolve("pi", ["s \u{1} 🧪"]).is_none(), "each program has its own sessions");
    assert_eq!(running.receiver.resolve("codex-app", ["s \u{1} 🧪"]).unwrap().cwd.as_deref(), Some("/w"));
    assert_eq!(running.ends(), Summary { reports: 1, sessions: 1, refusals: cases.len() as u64 });
}

#[test]
fn what_a_hook_sends_is_taken() {
    let running = running();
    for agent_id in [None, Some("child".to_owned())] {
        let said = Report { session_id: "root".to_owned(), cwd: None, agent_id };
        assert_eq!(report::send(&running.app, &said, Duration::from_secs(5)), Delivery::Taken);
    }
    assert_eq!(running.receiver.resolve("codex-app", ["child", "root"]).unwrap().id, "root");
    assert_eq!(running.ends(), Summary { reports: 2, sessions: 1, refusals: 0 });
}

#[test]
fn a_head_without_end_and_a_client_that_says_nothing_are_cut_off() {
    let running = running();
    let answer = running.raw(format!("POST {PATH} HTTP/1.1\r\nx: {}", "y".repeat(100_000)).as_bytes());
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{answer}");
    let many: String = (0..200).map(|n| format!("h{n}: v\r\n")).collect();
    let answer = running.raw(format!("POST {PATH} HTTP/1.1\r\n{many}\r\n").as_bytes());
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{answer}");
    let begun = Instant::now();
    running.raw(b"POST");
    let slow =
        format!("POST {PATH} HTTP/1.1\r\nhost: x\r\n{}content-length: 9\r\n\r\n{{", secret(&running.app));
    running.raw(slow.as_bytes());
    assert!(begun.elapsed() < Duration::from_secs(12), "{:?}", begun.elapsed());
    running.ends();
}

#[test]
fn clients_that_hang_leave_room_for_others() {
    let running = running();
    let hanging: Vec<TcpStream> = (0..100).map(|_| TcpStream::connect(running.address).unwrap()).collect();
    let said = Report { session_id: "s".to_owned(), cwd: None, agent_id: None };
    assert_eq!(report::send(&running.pi, &said, Duration::from_secs(5)), Delivery::Taken);
    drop(hanging);
    running.ends();
}
