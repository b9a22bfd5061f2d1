//! The transport of macOS over a socket, with real processes.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must fail")]
#![allow(clippy::indexing_slicing, reason = "JSON in tests is looked at by keys that must be there")]

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use ibid_evidence::transport::{
    Bridge, Driver, End, Peer, REAP_GRACE, Service, Session, TransportProof, forward,
};
use ibid_evidence::wire::REQUEST_LIMIT;
use ibid_testkit::Home;
use serde_json::Value;

const DESCRIBE: &[u8] = b"{\"version\":1,\"id\":1,\"method\":\"host.describe\"}\n";

/// The real driver in an empty home.
fn host(home: &Home) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("harness-evidence-host"));
    command.env_clear().env("HOME", home.path());
    command
}

/// A stand-in for a driver.
fn shell(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    command
}

fn is_running(pid: u32) -> bool {
    let probe = Command::new("kill").args(["-0", &pid.to_string()]).stderr(Stdio::null()).status();
    probe.unwrap().success()
}

/// What a peer is told.
#[derive(Debug, PartialEq, Eq)]
enum Told {
    Line(Vec<u8>),
    Failed(String),
}

struct Tells(Sender<Told>);

impl Peer for Tells {
    fn deliver(&self, line: &[u8]) -> io::Result<()> {
        self.0.send(Told::Line(line.to_vec())).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }

    fn fail(&self, reason: &str) {
        let _ = self.0.send(Told::Failed(reason.to_owned()));
    }
}

/// A connection to a driver, and what its peer is told after the proof.
fn connection(driver: Command) -> (std::sync::Arc<Session>, Receiver<Told>) {
    let session = Session::spawn(driver).unwrap();
    let (sender, told) = channel();
    let proof = TransportProof::new(7, 8);
    session.start(&proof, Tells(sender)).unwrap();
    assert_eq!(next(&told), Told::Line(proof.line()), "the proof comes first");
    (session, told)
}

fn next(told: &Receiver<Told>) -> Told {
    told.recv_timeout(Duration::from_secs(20)).unwrap()
}

fn failed(told: &Receiver<Told>) -> String {
    match next(told) {
        Told::Failed(reason) => reason,
        Told::Line(line) => panic!("a line of {} bytes", line.len()),
    }
}

#[test]
fn lines_are_forwarded_byte_for_byte_behind_the_proof() {
    let (session, told) = connection(shell("exec cat"));
    for line in [&b"\n"[..], b"{\"a\": 1}\r\n", b"\xff\x00\xfe\n"] {
        session.receive(line);
        assert_eq!(next(&told), Told::Line(line.to_vec()));
    }
    session.close();
    assert_eq!(failed(&told), "the driver ended");
}

#[test]
fn the_real_driver_answers_through_a_connection() {
    let (session, told) = connection(host(&Home::new()));
    session.receive(b"\n");
    session.receive(DESCRIBE);
    let Told::Line(line) = next(&told) else { panic!("no answer") };
    let answer: Value = serde_json::from_slice(&line).unwrap();
    assert_eq!(answer["result"]["pid"], session.driver_pid());
}

#[test]
fn a_driver_whose_input_ends_is_reaped_in_peace() {
    let (driver, _stdout) = Driver::spawn(host(&Home::new())).unwrap();
    let begun = Instant::now();
    let status = driver.reap(REAP_GRACE).unwrap().unwrap();
    assert_eq!(status.code(), Some(0));
    assert!(begun.elapsed() < REAP_GRACE);
    assert!(driver.reap(REAP_GRACE).unwrap().is_none(), "it is reaped once");
    assert!(!is_running(driver.pid()));
}

#[test]
fn a_driver_that_does_not_end_is_killed_after_its_grace() {
    let (driver, _stdout) = Driver::spawn(shell("exec sleep 1000")).unwrap();
    let begun = Instant::now();
    let grace = Duration::from_millis(250);
    let status = driver.reap(grace).unwrap().unwrap();
    assert_eq!(status.signal(), Some(9));
    assert!(begun.elapsed() >= grace);
    assert!(!is_running(driver.pid()));
}

#[test]
fn a_driver_does_not_outlive_its_connection() {
    let session = Session::spawn(shell("exec sleep 1000")).unwrap();
    let pid = session.driver_pid();
    assert!(is_running(pid));
    drop(session);
    assert!(!is_running(pid));
}

#[test]
fn a_driver_that_reads_nothing_is_no_reason_to_wait_and_ends_its_connection_alone() {
    let (hung, told) = connection(shell("exec sleep 1000"));
    let (sane, other) = connection(shell("exec cat"));
    let begun = Instant::now();
    for _ in 0..16 {
        hung.receive(&vec![b'a'; 1024 * 1024]);
    }
    assert!(begun.elapsed() < Duration::from_secs(3));
    let reason = failed(&told);
    assert!(reason.contains("faster than the driver reads them"), "{reason}");
    sane.receive(b"still there\n");
    assert_eq!(next(&other), Told::Line(b"still there\n".to_vec()));
}

#[test]
fn a_request_that_is_too_long_ends_the_connection() {
    let (session, told) = connection(shell("exec cat"));
    session.receive(&vec![b'a'; REQUEST_LIMIT + 1]);
    assert_eq!(failed(&told), "a request exceeded its size limit");
}

#[test]
fn a_driver_that_ends_or_says_too_much_ends_the_connection() {
    for (script, reason) in [
        ("exit 3", "the driver ended"),
        ("printf half", "the driver ended inside of an answer"),
        ("head -c 17000000 /dev/zero; exec sleep 1000", "an answer exceeded its size limit"),
    ] {
        let (session, told) = connection(shell(script));
        assert_eq!(failed(&told), reason);
        drop(session);
    }
}

#[test]
fn a_driver_that_is_missing_refuses_the_connection() {
    assert!(Session::spawn(Command::new("/nowhere/harness-evidence-host")).is_err());
}

/// Keeps what is sent, until it is gone.
struct Kept(std::cell::RefCell<Vec<Vec<u8>>>, usize);

impl Service for Kept {
    fn send(&self, line: &[u8]) -> io::Result<()> {
        let mut kept = self.0.borrow_mut();
        if kept.len() == self.1 {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        kept.push(line.to_vec());
        Ok(())
    }
}

#[test]
fn a_bridge_begins_with_a_blank_line_and_forwards_what_it_reads() {
    let service = Kept(Vec::new().into(), usize::MAX);
    assert_eq!(forward(&b"one\r\n\n\xfftwo"[..], &service), End::InputOver);
    assert_eq!(*service.0.borrow(), [&b"\n"[..], b"one\r\n", b"\n", b"\xfftwo"]);
}

#[test]
fn a_bridge_fails_at_a_line_that_is_too_long_and_when_the_service_is_gone() {
    let long = vec![b'a'; REQUEST_LIMIT];
    let end = forward(&long[..], &Kept(Vec::new().into(), usize::MAX));
    assert_eq!((end.code(), end), (1, End::Failed("a request exceeded its size limit".to_owned())));
    for lines in [0, 1] {
        let end = forward(&b"one\n"[..], &Kept(Vec::new().into(), lines));
        assert!(matches!(&end, End::Failed(reason) if reason.contains("service")), "{end:?}");
    }
}

#[test]
fn a_bridge_whose_answers_nobody_reads_ends_in_peace() {
    struct Closed;
    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let (bridge, ends) = Bridge::new(Closed);
    bridge.deliver(b"answer\n");
    bridge.end(End::Failed("later".to_owned()));
    let first = ends.recv().unwrap();
    assert_eq!((first.code(), first), (0, End::ReaderGone));
}

/// The variable that names the socket of the stand-in for NSXPC.
const SOCKET: &str = "IBID_TEST_SOCKET";

/// The peer at the other end of a socket. What is delivered is told from a failure by a letter.
struct Socket(UnixStream);

impl Peer for Socket {
    fn deliver(&self, line: &[u8]) -> io::Result<()> {
        (&self.0).write_all(&[b"D", line].concat())
    }

    fn fail(&self, reason: &str) {
        let _ = (&self.0).write_all(format!("F{reason}\n").as_bytes());
        let _ = self.0.shutdown(std::net::Shutdown::Both);
    }
}

impl Service for Socket {
    fn send(&self, line: &[u8]) -> io::Result<()> {
        (&self.0).write_all(line)
    }
}

/// The client as a process of its own: this program, started again for that one purpose.
#[test]
#[ignore = "it is the process that another test starts"]
fn bridges_to_a_socket() {
    let socket = UnixStream::connect(std::env::var_os(SOCKET).unwrap()).unwrap();
    let (bridge, ends) = Bridge::new(io::stdout());
    let bridge = std::sync::Arc::new(bridge);
    let (answers, deliver) = (socket.try_clone().unwrap(), std::sync::Arc::clone(&bridge));
    std::thread::spawn(move || {
        for line in BufReader::new(answers).split(b'\n').map_while(Result::ok) {
            match line.split_first() {
                Some((b'D', line)) => deliver.deliver(&[line, b"\n"].concat()),
                _ => deliver.end(End::Failed(String::from_utf8_lossy(&line).into_owned())),
            }
        }
        deliver.end(End::Failed("the service is gone".to_owned()));
    });
    std::thread::spawn(move || bridge.end(forward(io::stdin().lock(), &Socket(socket))));
    let end = ends.recv().unwrap();
    std::process::exit(i32::from(end.code()));
}

#[test]
fn three_processes_work_together_and_the_proof_names_two_of_them() {
    let folder = Home::new();
    let path = folder.path().join("s");
    let listener = UnixListener::bind(&path).unwrap();
    let mut client = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "bridges_to_a_socket", "--ignored", "--nocapture"])
        .env(SOCKET, &path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (socket, _) = listener.accept().unwrap();

    // The service: this process.
    let session = Session::spawn(host(&folder)).unwrap();
    let driver = session.driver_pid();
    let proof = TransportProof::new(std::process::id(), client.id());
    session.start(&proof, Socket(socket.try_clone().unwrap())).unwrap();
    let service = std::thread::spawn(move || {
        let mut requests = BufReader::new(socket);
        let mut line = Vec::new();
        while requests.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
            session.receive(&line);
            line.clear();
        }
        session.close();
    });

    // The studio: also this process, at the client's pipes.
    let mut stdin = client.stdin.take().unwrap();
    let mut stdout = BufReader::new(client.stdout.take().unwrap());
    let mut answer = || {
        let mut line = String::new();
        // The test program of the client has its own words before the first frame.
        while !line.starts_with('{') {
            line.clear();
            assert_ne!(stdout.read_line(&mut line).unwrap(), 0, "the client ended");
        }
        serde_json::from_str::<Value>(&line).unwrap()
    };
    let event = answer()["event"].clone();
    assert_eq!(event["type"], "transport");
    assert_eq!(
        (event["servicePid"].as_u64(), event["bridgePid"].as_u64()),
        (Some(u64::from(std::process::id())), Some(u64::from(client.id())),)
    );
    stdin.write_all(DESCRIBE).unwrap();
    assert_eq!(answer()["result"]["pid"], driver);
    assert!(driver != client.id() && driver != std::process::id());

    drop(stdin);
    assert_eq!(client.wait().unwrap().code(), Some(0), "a client whose input is over ends in peace");
    service.join().unwrap();
    let begun = Instant::now();
    while is_running(driver) {
        assert!(begun.elapsed() < REAP_GRACE, "the driver outlives its client");
        std::thread::sleep(Duration::from_millis(20));
    }
    stdout.read_to_end(&mut Vec::new()).unwrap();
}
