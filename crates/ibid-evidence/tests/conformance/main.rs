//! The conformance suite: `fixtures/evidence/*.jsonl`, against the real program, or against the one
//! that `EVIDENCE_HOST` names. `docs/evidence-protocol.md` says how to read a case.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must fail")]
#![allow(clippy::indexing_slicing, reason = "JSON in tests is looked at by keys that must be there")]

mod schema;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use ibid_testkit::Home;
use schema::Schema;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    case: String,
    #[serde(default)]
    home: BTreeMap<String, String>,
    #[serde(default)]
    project: BTreeMap<String, String>,
    send: Vec<Part>,
    #[serde(default)]
    replies: Vec<Value>,
    exit: i32,
    #[serde(default)]
    fault: bool,
}

#[derive(Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum Part {
    Text(String),
    Repeat { repeat: String, times: usize },
    Hex { hex: String },
}

/// The folders of a case, and what stands for them.
struct Place {
    home: Home,
    project: Home,
}

impl Place {
    fn fill(&self, text: &str) -> String {
        let quoted = |home: &Home| serde_json::to_string(&real(home)).unwrap().trim_matches('"').to_owned();
        let slug: String = real(&self.project).chars().map(folded).collect();
        text.replace("<home>", &quoted(&self.home))
            .replace("<project>", &quoted(&self.project))
            .replace("<project-folded>", &slug)
    }

    fn lay_out(&self, root: &Home, files: &BTreeMap<String, String>) {
        for (path, content) in files {
            let path = root.path().join(self.fill(path));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, self.fill(content)).unwrap();
        }
    }
}

/// The real path, without what Windows puts before it.
fn real(home: &Home) -> String {
    let path = home.path().canonicalize().unwrap();
    let path = path.to_str().unwrap();
    path.strip_prefix(r"\\?\").unwrap_or(path).to_owned()
}

fn folded(character: char) -> char {
    if character.is_ascii_alphanumeric() { character } else { '-' }
}

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> =
        text.bytes().map(|digit| u8::try_from(char::from(digit).to_digit(16).unwrap()).unwrap()).collect();
    digits.chunks_exact(2).map(|pair| pair[0] * 16 + pair[1]).collect()
}

fn program() -> OsString {
    std::env::var_os("EVIDENCE_HOST")
        .unwrap_or_else(|| assert_cmd::cargo::cargo_bin!("harness-evidence-host").into())
}

/// Why a reply is not the one that is expected.
fn difference(expected: &Value, found: &Value, pid: u32, place: &str) -> Option<String> {
    let differs = || Some(format!("at {place:?}: expected {expected}, found {found}"));
    match (expected, found) {
        (Value::String(word), _) if word == "<any>" => None,
        (Value::String(word), Value::String(text)) if word == "<text>" => {
            text.is_empty().then(differs).flatten()
        }
        (Value::String(word), _) if word == "<pid>" => (found != &json!(pid)).then(differs).flatten(),
        (Value::Object(wanted), Value::Object(has)) => {
            let open = wanted.contains_key("...");
            if let Some(key) = has.keys().find(|key| !open && !wanted.contains_key(*key)) {
                return Some(format!("at {place:?}: nobody expects {key}"));
            }
            wanted.iter().filter(|(key, _)| *key != "...").find_map(|(key, value)| match has.get(key) {
                Some(inner) => difference(value, inner, pid, &format!("{place}/{key}")),
                None => Some(format!("at {place:?}: {key} is missing")),
            })
        }
        (Value::Array(wanted), Value::Array(has)) if wanted.len() == has.len() => wanted
            .iter()
            .zip(has)
            .enumerate()
            .find_map(|(index, (one, other))| difference(one, other, pid, &format!("{place}/{index}"))),
        _ => (expected != found).then(differs).flatten(),
    }
}

fn run(case: &Case, responses: &Schema) -> Result<(), String> {
    let place = Place { home: Home::new(), project: Home::new() };
    place.lay_out(&place.home, &case.home);
    place.lay_out(&place.project, &case.project);
    let mut input = Vec::new();
    for part in &case.send {
        match part {
            Part::Text(text) => input.extend(place.fill(text).bytes()),
            Part::Repeat { repeat, times } => input.extend(repeat.repeat(*times).bytes()),
            Part::Hex { hex: digits } => input.extend(hex(digits)),
        }
    }
    let mut command = Command::new(program());
    command.env_clear().env("HOME", place.home.path()).env("USERPROFILE", place.home.path());
    for name in ["SystemRoot", "PATH"] {
        command.envs(std::env::var_os(name).map(|value| (name, value)));
    }
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (pid, mut stdin) = (child.id(), child.stdin.take().unwrap());
    // A host that ends at a fault reads no more.
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();

    let stdout = String::from_utf8(output.stdout).map_err(|error| error.to_string())?;
    let mut replies = Vec::new();
    for line in stdout.lines() {
        let reply: Value = serde_json::from_str(line).map_err(|error| format!("{error}: {line}"))?;
        responses.check(&reply)?;
        replies.push(reply);
    }
    let expected: Value = serde_json::from_str(&place.fill(&json!(case.replies).to_string())).unwrap();
    if let Some(difference) = difference(&expected, &Value::Array(replies), pid, "") {
        return Err(difference);
    }
    if output.status.code() != Some(case.exit) {
        return Err(format!("it ended with {:?}", output.status.code()));
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    if case.fault && !(stderr.starts_with("[evidence-host] ") && stderr.lines().count() == 1) {
        return Err(format!("a fault is one line of stderr, not {stderr:?}"));
    }
    Ok(())
}

fn suite(name: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/evidence").join(name);
    let text = fs::read_to_string(path).unwrap();
    let responses = Schema::published("evidence-response-1.json");
    let requests = Schema::published("evidence-request-1.json");
    let mut failures = Vec::new();
    for line in text.lines() {
        let case: Case = serde_json::from_str(line).unwrap_or_else(|error| panic!("{name}: {error}: {line}"));
        let refused = |reply: &Value| {
            reply["error"]["code"] == "invalid-params" || reply["error"]["code"] == "unknown-method"
        };
        if let ([Part::Text(request)], [reply]) = (case.send.as_slice(), case.replies.as_slice()) {
            // Whatever is answered is what the schema says can be asked, and nothing else is.
            let request: Value = serde_json::from_str(request).unwrap();
            let says = requests.check(&request);
            if says.is_ok() == refused(reply) {
                failures.push(format!("{}: the schema of requests says {says:?}", case.case));
            }
        }
        if let Err(difference) = run(&case, &responses) {
            failures.push(format!("{}: {difference}", case.case));
        }
    }
    assert!(failures.is_empty(), "{name}:\n{}", failures.join("\n"));
}

#[test]
fn envelopes_are_read_strictly() {
    suite("envelope.jsonl");
}

#[test]
fn frames_are_bounded() {
    suite("limits.jsonl");
}

#[test]
fn methods_answer_or_refuse() {
    suite("methods.jsonl");
}

#[test]
fn sessions_of_a_project_are_discovered() {
    suite("discover.jsonl");
}

#[test]
fn files_of_a_project_are_observed() {
    suite("observe.jsonl");
}
