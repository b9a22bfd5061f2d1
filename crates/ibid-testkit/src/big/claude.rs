//! Claude Code transcripts.

use std::io::{self, Write};

use super::Subject;
use super::random::{Random, iso};

/// Writes a transcript of at least `bytes`, whole turns of it, and returns its size.
///
/// # Errors
/// When `out` does not take it.
pub fn claude_session(out: &mut dyn Write, subject: &Subject, bytes: u64) -> io::Result<u64> {
    let mut rows = Rows {
        out,
        subject,
        random: Random::new(subject.seed),
        parent: None,
        at: subject.begin_ms,
        written: 0,
    };
    let title = rows.random.text(30).replace("\\n", " ");
    rows.line(&format!("{{\"type\":\"summary\",\"summary\":\"{title}\",\"leafUuid\":\"{}\"}}", subject.id))?;
    while rows.written < bytes {
        rows.turn()?;
    }
    Ok(rows.written)
}

struct Rows<'a> {
    out: &'a mut dyn Write,
    subject: &'a Subject,
    random: Random,
    parent: Option<String>,
    at: i64,
    written: u64,
}

impl Rows<'_> {
    fn turn(&mut self) -> io::Result<()> {
        let length = 20 + self.random.below(400);
        let prompt = self.random.text(length);
        self.row("user", &format!("\"message\":{{\"role\":\"user\",\"content\":\"{prompt}\"}}"), "")?;
        for _ in 0..self.random.below(6) {
            self.step()?;
        }
        let length = 60 + self.random.below(1_200);
        let answer = self.random.text(length);
        self.answer(&[format!("{{\"type\":\"text\",\"text\":\"{answer}\"}}")], "end_turn")
    }

    /// An answer with a tool call, and the result.
    fn step(&mut self) -> io::Result<()> {
        let call = format!("toolu_{}", self.random.token(24));
        let (thought, said) = (self.random.text(300), self.random.text(80));
        let signature = self.random.token(320);
        let (name, input) = self.tool();
        self.answer(
            &[
                format!("{{\"type\":\"thinking\",\"thinking\":\"{thought}\",\"signature\":\"{signature}\"}}"),
                format!("{{\"type\":\"text\",\"text\":\"{said}\"}}"),
                format!("{{\"type\":\"tool_use\",\"id\":\"{call}\",\"name\":\"{name}\",\"input\":{input}}}"),
            ],
            "tool_use",
        )?;
        let length = self.random.result_length();
        let result = self.random.text(length);
        let failed = self.random.below(12) == 0;
        let message = format!(
            "\"message\":{{\"role\":\"user\",\"content\":[{{\"tool_use_id\":\"{call}\",\"type\":\"tool_result\",\
             \"content\":\"{result}\",\"is_error\":{failed}}}]}}"
        );
        let mirror = format!(
            ",\"toolUseResult\":{{\"stdout\":\"{result}\",\"stderr\":\"\",\"interrupted\":false,\"isImage\":false}}"
        );
        self.row("user", &message, &mirror)
    }

    fn tool(&mut self) -> (&'static str, String) {
        let text = self.random.text(60);
        match self.random.below(4) {
            0 => ("Read", format!("{{\"file_path\":\"{}/src/lib.rs\",\"limit\":200}}", self.subject.cwd)),
            1 => ("Bash", format!("{{\"command\":\"rg -n '{text}'\",\"description\":\"Search\"}}")),
            2 => {
                let new = self.random.text(400);
                let file = format!("{}/src/main.rs", self.subject.cwd);
                (
                    "Edit",
                    format!(
                        "{{\"file_path\":\"{file}\",\"old_string\":\"{text}\",\"new_string\":\"{new}\"}}"
                    ),
                )
            }
            _ => ("Grep", format!("{{\"pattern\":\"{text}\",\"path\":\"{}\"}}", self.subject.cwd)),
        }
    }

    /// One row for each block, all with one message id; the last has the final usage.
    fn answer(&mut self, blocks: &[String], stop: &str) -> io::Result<()> {
        let id = format!("msg_{}", self.random.token(24));
        let request = format!("req_{}", self.random.token(24));
        let (read, write) = (20_000 + self.random.below(90_000), self.random.below(3_000));
        let output = 40 + self.random.below(1_500);
        for (number, block) in blocks.iter().enumerate() {
            let last = number + 1 == blocks.len();
            let (stop, output) = if last { (format!("\"{stop}\""), output) } else { ("null".to_owned(), 2) };
            let message = format!(
                "\"message\":{{\"model\":\"claude-sonnet-4-5-20250929\",\"id\":\"{id}\",\"type\":\"message\",\
                 \"role\":\"assistant\",\"content\":[{block}],\"stop_reason\":{stop},\"stop_sequence\":null,\
                 \"usage\":{{\"input_tokens\":4,\"cache_creation_input_tokens\":{write},\
                 \"cache_read_input_tokens\":{read},\"cache_creation\":{{\"ephemeral_5m_input_tokens\":{write},\
                 \"ephemeral_1h_input_tokens\":0}},\"output_tokens\":{output},\"service_tier\":\"standard\"}}}},\
                 \"requestId\":\"{request}\""
            );
            self.row("assistant", &message, "")?;
        }
        Ok(())
    }

    fn row(&mut self, kind: &str, message: &str, rest: &str) -> io::Result<()> {
        let uuid = self.random.uuid();
        let parent = self.parent.as_ref().map_or("null".to_owned(), |parent| format!("\"{parent}\""));
        self.at += 900 + i64::try_from(self.random.below(4_000)).unwrap_or(0);
        let Subject { id, cwd, .. } = self.subject;
        let line = format!(
            "{{\"parentUuid\":{parent},\"isSidechain\":false,\"userType\":\"external\",\"cwd\":\"{cwd}\",\
             \"sessionId\":\"{id}\",\"version\":\"2.1.197\",\"gitBranch\":\"main\",\"type\":\"{kind}\",{message},\
             \"uuid\":\"{uuid}\",\"timestamp\":\"{}\"{rest}}}",
            iso(self.at)
        );
        self.parent = Some(uuid);
        self.line(&line)
    }

    fn line(&mut self, line: &str) -> io::Result<()> {
        self.out.write_all(line.as_bytes())?;
        self.out.write_all(b"\n")?;
        self.written += line.len() as u64 + 1;
        Ok(())
    }
}
