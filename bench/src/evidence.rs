//! The evidence host on a home of many sessions over five harnesses: the first discovery of a
//! project, and one more in the same process.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Instant;

use ibid_evidence::ask::DiscoverParams;
use ibid_evidence::{Evidence, Host};
use ibid_harness::Surroundings;
use ibid_testkit::big::{Subject, claude_session, codex_session};

use crate::measure::peak_kb;

/// The directory of the project that is asked about.
const PROJECT: &str = "/home/dev/demo";

/// One session in so many is of the project.
const ONE_IN: u64 = 50;

/// Makes the home and measures, each time in a process of its own.
pub fn bench(scale: u64) -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let home = folder.path();
    let each = 2_000 / scale;
    eprintln!("making a home of {} sessions of five harnesses", 5 * each);
    let bytes = make(home, each, 200_000)?;
    println!(
        "a home of {} sessions, {:.2} GB, {} of them of the project",
        5 * each,
        bytes as f64 / 1e9,
        5 * each / ONE_IN
    );
    for most in [100, 500] {
        println!("maxSessions {most}:");
        for _ in 0..3 {
            let worker = Command::new(std::env::current_exe()?)
                .args(["--evidence-worker", &most.to_string()])
                .arg(home)
                .output()?;
            io::stdout().write_all(&worker.stdout)?;
            if !worker.status.success() {
                return Err(io::Error::other(String::from_utf8_lossy(&worker.stderr).into_owned()));
            }
        }
    }
    Ok(())
}

/// Asks twice and prints what it took.
pub fn work(most: &str, home: &Path) -> ExitCode {
    let host = Host::new(Surroundings::isolated(home));
    let params = DiscoverParams { max_sessions: most.parse().ok(), ..DiscoverParams::of(PROJECT) };
    let ask = || {
        let start = Instant::now();
        let discovery = host.discover(&params);
        (start.elapsed().as_secs_f64(), discovery)
    };
    let (first, discovery) = ask();
    let peak = peak_kb();
    let again: Vec<f64> = (0..3).map(|_| ask().0).collect();
    let best = again.iter().copied().fold(f64::INFINITY, f64::min);
    match discovery {
        Ok(discovery) => {
            let bytes = discovery
                .sessions
                .iter()
                .map(|s| serde_json::to_vec(s).map_or(0, |json| json.len()))
                .sum::<usize>();
            println!(
                "    first {first:.3} s, again {best:.3} s, peak {:.0} MB (first {:.0}); {} of {} sessions, {:.1} MB",
                peak_kb() as f64 / 1024.0,
                peak as f64 / 1024.0,
                discovery.coverage.included,
                discovery.coverage.in_window,
                bytes as f64 / 1e6,
            );
            for provider in discovery.providers.iter().filter(|provider| provider.discovered > 0) {
                print!("    {} {}", provider.platform, provider.discovered);
            }
            println!();
            ExitCode::SUCCESS
        }
        Err(refusal) => {
            eprintln!("{refusal}");
            ExitCode::FAILURE
        }
    }
}

fn make(home: &Path, each: u64, mean: u64) -> io::Result<u64> {
    let mut bytes = 0;
    for host in 0..5 {
        for number in 0..each {
            let mut subject = Subject::numbered(host * 1_000_000 + number);
            if number % ONE_IN == 0 {
                PROJECT.clone_into(&mut subject.cwd);
            }
            let size = match number % 10 {
                9 => mean * 4,
                1..=3 => mean,
                _ => mean / 2,
            };
            bytes += match host {
                0 => claude(home, &subject, size),
                1 => codex(home, &subject, size),
                2 => pi(home, &subject, size),
                3 => copilot(home, &subject, size),
                _ => grok(home, &subject, size),
            }?;
        }
    }
    Ok(bytes)
}

fn create(path: &Path) -> io::Result<BufWriter<File>> {
    fs::create_dir_all(path.parent().unwrap_or(path))?;
    Ok(BufWriter::new(File::create(path)?))
}

fn iso(milliseconds: i64) -> String {
    ibid_model::Timestamp::from_milliseconds(milliseconds)
        .map(|at| at.to_iso_milliseconds())
        .unwrap_or_default()
}

fn claude(home: &Path, subject: &Subject, bytes: u64) -> io::Result<u64> {
    let folder = subject.cwd.replace('/', "-");
    let path = home.join(".claude/projects").join(folder).join(format!("{}.jsonl", subject.id));
    let mut out = create(&path)?;
    let written = claude_session(&mut out, subject, bytes)?;
    out.flush().map(|()| written)
}

fn codex(home: &Path, subject: &Subject, bytes: u64) -> io::Result<u64> {
    let stamp = iso(subject.begin_ms);
    let (day, time) = stamp.split_at(10);
    let name = format!("rollout-{day}T{}-{}.jsonl", time[1..9].replace(':', "-"), subject.id);
    let mut out = create(&home.join(".codex/sessions").join(day.replace('-', "/")).join(name))?;
    let written = codex_session(&mut out, subject, bytes)?;
    out.flush().map(|()| written)
}

/// Some prose, another for every number.
fn prose(number: u64, length: usize) -> String {
    const WORDS: [&str; 16] = [
        "the", "parser", "reads", "a", "record", "and", "keeps", "every", "byte", "of", "it", "in", "order",
        "until\\n", "naïve", "cache",
    ];
    let mut text = String::with_capacity(length + 16);
    let mut state = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    while text.len() < length {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        text.push_str(WORDS[(state % 16) as usize]);
        text.push(' ');
    }
    text
}

/// Writes turns of a prompt, a call, its result and an answer, until there are enough bytes.
fn turns(
    out: &mut impl Write,
    subject: &Subject,
    bytes: u64,
    turn: impl Fn(u64, i64, &dyn Fn(u64, usize) -> String) -> String,
) -> io::Result<u64> {
    let mut written = 0;
    let mut number = 0;
    while written < bytes {
        number += 1;
        let at = subject.begin_ms + i64::try_from(number).unwrap_or(0) * 20_000;
        let text = |part: u64, length: usize| prose(subject.seed * 1_000 + number * 10 + part, length);
        let lines = turn(number, at, &text);
        out.write_all(lines.as_bytes())?;
        written += lines.len() as u64;
    }
    Ok(written)
}

fn pi(home: &Path, subject: &Subject, bytes: u64) -> io::Result<u64> {
    let folder = format!("--{}--", subject.cwd.trim_start_matches('/').replace('/', "-"));
    let name = format!("{}_{}.jsonl", subject.begin_ms, subject.id);
    let mut out = create(&home.join(".pi/agent/sessions").join(folder).join(name))?;
    let (id, cwd) = (&subject.id, &subject.cwd);
    writeln!(
        out,
        r#"{{"type":"session","version":3,"id":"{id}","cwd":"{cwd}","timestamp":"{}"}}"#,
        iso(subject.begin_ms)
    )?;
    let written = turns(&mut out, subject, bytes, |n, at, text| {
        let parent = if n == 1 { "null".to_owned() } else { format!("\"d{}\"", n - 1) };
        let t = |plus: i64| iso(at + plus * 1000);
        format!(
            concat!(
                r#"{{"type":"message","id":"a{n}","parentId":{parent},"timestamp":"{t0}","message":{{"role":"user","content":[{{"type":"text","text":"{p}"}}]}}}}"#,
                "\n",
                r#"{{"type":"message","id":"b{n}","parentId":"a{n}","timestamp":"{t1}","message":{{"role":"assistant","model":"m","usage":{{"input":500,"output":20}},"content":[{{"type":"text","text":"{s}"}},{{"type":"toolCall","id":"t{n}","name":"read","arguments":{{"path":"{cwd}/src/f{n}.rs"}}}}]}}}}"#,
                "\n",
                r#"{{"type":"message","id":"c{n}","parentId":"b{n}","timestamp":"{t2}","message":{{"role":"toolResult","toolCallId":"t{n}","toolName":"read","isError":false,"content":[{{"type":"text","text":"{r}"}}]}}}}"#,
                "\n",
                r#"{{"type":"message","id":"d{n}","parentId":"c{n}","timestamp":"{t3}","message":{{"role":"assistant","model":"m","usage":{{"input":900,"output":90}},"content":[{{"type":"text","text":"{q}"}}]}}}}"#,
                "\n",
            ),
            n = n,
            parent = parent,
            cwd = cwd,
            t0 = t(0),
            t1 = t(2),
            t2 = t(3),
            t3 = t(5),
            p = text(0, 200),
            s = text(1, 60),
            r = text(2, 3_000),
            q = text(3, 600),
        )
    })?;
    out.flush().map(|()| written)
}

fn copilot(home: &Path, subject: &Subject, bytes: u64) -> io::Result<u64> {
    let mut out = create(&home.join(".copilot/session-state").join(&subject.id).join("events.jsonl"))?;
    let (id, cwd) = (&subject.id, &subject.cwd);
    writeln!(
        out,
        r#"{{"type":"session.start","id":"s","parentId":null,"timestamp":"{}","data":{{"sessionId":"{id}","version":1,"context":{{"cwd":"{cwd}"}}}}}}"#,
        iso(subject.begin_ms)
    )?;
    let written = turns(&mut out, subject, bytes, |n, at, text| {
        let t = |plus: i64| iso(at + plus * 1000);
        format!(
            concat!(
                r#"{{"type":"user.message","id":"a{n}","timestamp":"{t0}","data":{{"content":"{p}"}}}}"#,
                "\n",
                r#"{{"type":"assistant.message","id":"b{n}","timestamp":"{t1}","data":{{"messageId":"m{n}","content":"{s}","outputTokens":9,"model":"g","toolRequests":[{{"toolCallId":"t{n}","name":"view","arguments":{{"path":"{cwd}/src/f{n}.rs"}}}}]}}}}"#,
                "\n",
                r#"{{"type":"tool.execution_start","id":"c{n}","timestamp":"{t2}","data":{{"toolCallId":"t{n}","toolName":"view","arguments":{{"path":"{cwd}/src/f{n}.rs"}}}}}}"#,
                "\n",
                r#"{{"type":"tool.execution_complete","id":"d{n}","timestamp":"{t3}","data":{{"toolCallId":"t{n}","success":true,"result":{{"content":"{r}"}}}}}}"#,
                "\n",
                r#"{{"type":"assistant.message","id":"e{n}","timestamp":"{t4}","data":{{"messageId":"q{n}","content":"{q}","outputTokens":90,"model":"g"}}}}"#,
                "\n",
            ),
            n = n,
            cwd = cwd,
            t0 = t(0),
            t1 = t(1),
            t2 = t(2),
            t3 = t(3),
            t4 = t(5),
            p = text(0, 200),
            s = text(1, 60),
            r = text(2, 3_000),
            q = text(3, 600),
        )
    })?;
    out.flush().map(|()| written)
}

fn grok(home: &Path, subject: &Subject, bytes: u64) -> io::Result<u64> {
    let (id, cwd) = (&subject.id, &subject.cwd);
    let folder = home.join(".grok/sessions").join(cwd.replace('/', "%2F")).join(id);
    let mut out = create(&folder.join("updates.jsonl"))?;
    let update = |at: i64, update: &str| {
        format!(
            r#"{{"timestamp":{},"method":"session/update","params":{{"sessionId":"{id}","update":{update}}}}}"#,
            at / 1000
        ) + "\n"
    };
    let written = turns(&mut out, subject, bytes, |n, at, text| {
        let said = |kind: &str, text: String| {
            format!(
                r#"{{"sessionUpdate":"{kind}","content":{{"type":"text","text":"{text}"}},"_meta":{{"modelId":"m"}}}}"#
            )
        };
        [
            update(at, &said("user_message_chunk", text(0, 200))),
            update(at + 1_000, &format!(r#"{{"sessionUpdate":"tool_call","toolCallId":"t{n}","title":"Read file","rawInput":{{"target_file":"{cwd}/src/f{n}.rs"}},"_meta":{{"x.ai/tool":{{"name":"read_file"}}}}}}"#)),
            update(at + 2_000, &format!(r#"{{"sessionUpdate":"tool_call_update","toolCallId":"t{n}","status":"completed","content":[{{"type":"content","content":{{"type":"text","text":"{}"}}}}]}}"#, text(2, 3_000))),
            update(at + 3_000, &said("agent_message_chunk", text(3, 600))),
            update(at + 4_000, r#"{"sessionUpdate":"turn_completed","usage":{"inputTokens":7,"outputTokens":2}}"#),
        ]
        .concat()
    })?;
    out.flush()?;
    let mut summary = create(&folder.join("summary.json"))?;
    write!(
        summary,
        r#"{{"info":{{"id":"{id}","cwd":"{cwd}"}},"created_at":"{}","updated_at":"{}"}}"#,
        iso(subject.begin_ms),
        iso(subject.begin_ms + 20_000 * 50)
    )?;
    summary.flush().map(|()| written)
}
