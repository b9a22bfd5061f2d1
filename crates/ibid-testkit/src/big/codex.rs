//! Codex rollouts.

use std::io::{self, Write};

use super::Subject;
use super::random::{Random, iso};

/// Writes a rollout of at least `bytes`, whole turns of it, and returns its size.
///
/// # Errors
/// When `out` does not take it.
pub fn codex_session(out: &mut dyn Write, subject: &Subject, bytes: u64) -> io::Result<u64> {
    let mut lines = Lines {
        out,
        subject,
        random: Random::new(subject.seed),
        at: subject.begin_ms,
        written: 0,
        total: [0; 4],
    };
    let Subject { id, cwd, .. } = subject;
    let begin = iso(subject.begin_ms);
    lines.line(
        "session_meta",
        &format!(
            "{{\"id\":\"{id}\",\"timestamp\":\"{begin}\",\"cwd\":\"{cwd}\",\"originator\":\"codex_cli_rs\",\
             \"cli_version\":\"0.100.0\",\"source\":\"cli\",\"model_provider\":\"openai\",\
             \"git\":{{\"branch\":\"main\"}}}}"
        ),
    )?;
    lines.message(
        "user",
        &format!(
            "<environment_context>\\n  <cwd>{cwd}</cwd>\\n  <shell>bash</shell>\\n</environment_context>"
        ),
    )?;
    while lines.written < bytes {
        lines.turn()?;
    }
    Ok(lines.written)
}

struct Lines<'a> {
    out: &'a mut dyn Write,
    subject: &'a Subject,
    random: Random,
    at: i64,
    written: u64,
    /// Input, cached input, output, reasoning.
    total: [u64; 4],
}

impl Lines<'_> {
    fn turn(&mut self) -> io::Result<()> {
        let cwd = &self.subject.cwd;
        let context = format!(
            "{{\"cwd\":\"{cwd}\",\"approval_policy\":\"never\",\"sandbox_policy\":{{\"type\":\"danger-full-access\"}},\
             \"model\":\"gpt-5.5\",\"effort\":\"medium\",\"summary\":\"auto\"}}"
        );
        self.line("turn_context", &context)?;
        let length = 20 + self.random.below(400);
        let prompt = self.random.text(length);
        self.message("user", &prompt)?;
        self.event("user_message", &format!("\"message\":\"{prompt}\",\"kind\":\"plain\""))?;
        for _ in 0..self.random.below(6) {
            self.step()?;
        }
        let length = 60 + self.random.below(1_200);
        let answer = self.random.text(length);
        self.event("agent_message", &format!("\"message\":\"{answer}\""))?;
        self.message("assistant", &answer)?;
        self.tokens()
    }

    fn step(&mut self) -> io::Result<()> {
        let (summary, sealed) = (self.random.text(160), self.random.token(600));
        self.event("agent_reasoning", &format!("\"text\":\"{summary}\""))?;
        let reasoning = format!(
            "{{\"type\":\"reasoning\",\"summary\":[{{\"type\":\"summary_text\",\"text\":\"{summary}\"}}],\
             \"content\":null,\"encrypted_content\":\"{sealed}\"}}"
        );
        self.line("response_item", &reasoning)?;
        let call = format!("call_{}", self.random.token(24));
        let pattern = self.random.below(1_000_000);
        let arguments = format!(
            "{{\\\"command\\\":[\\\"bash\\\",\\\"-lc\\\",\\\"rg -n {pattern} src\\\"],\\\"workdir\\\":\\\"{}\\\"}}",
            self.subject.cwd
        );
        let line = format!(
            "{{\"type\":\"function_call\",\"name\":\"shell\",\"arguments\":\"{arguments}\",\"call_id\":\"{call}\"}}"
        );
        self.line("response_item", &line)?;
        self.tokens()?;
        let length = self.random.result_length();
        let output = self.random.text(length);
        let code = u64::from(self.random.below(12) == 0);
        let line = format!(
            "{{\"type\":\"function_call_output\",\"call_id\":\"{call}\",\"output\":\"{{\\\"output\\\":\\\"{}\\\",\
             \\\"metadata\\\":{{\\\"exit_code\\\":{code},\\\"duration_seconds\\\":0.2}}}}\"}}",
            output.replace('\\', "\\\\").replace('"', "\\\"")
        );
        self.line("response_item", &line)
    }

    fn tokens(&mut self) -> io::Result<()> {
        let input = 20_000 + self.random.below(90_000);
        let last = [input, input - input / 10, 40 + self.random.below(1_500), self.random.below(40)];
        for (total, last) in self.total.iter_mut().zip(last) {
            *total += last;
        }
        let counts = |[input, cached, output, reasoning]: [u64; 4]| {
            format!(
                "{{\"input_tokens\":{input},\"cached_input_tokens\":{cached},\"output_tokens\":{output},\
                 \"reasoning_output_tokens\":{reasoning},\"total_tokens\":{}}}",
                input + output
            )
        };
        let info = format!(
            "\"info\":{{\"total_token_usage\":{},\"last_token_usage\":{},\"model_context_window\":258400}},\
             \"rate_limits\":null",
            counts(self.total),
            counts(last)
        );
        self.event("token_count", &info)
    }

    fn message(&mut self, role: &str, text: &str) -> io::Result<()> {
        let kind = if role == "user" { "input_text" } else { "output_text" };
        let line = format!(
            "{{\"type\":\"message\",\"role\":\"{role}\",\"content\":[{{\"type\":\"{kind}\",\"text\":\"{text}\"}}]}}"
        );
        self.line("response_item", &line)
    }

    fn event(&mut self, kind: &str, fields: &str) -> io::Result<()> {
        self.line("event_msg", &format!("{{\"type\":\"{kind}\",{fields}}}"))
    }

    fn line(&mut self, kind: &str, payload: &str) -> io::Result<()> {
        self.at += 300 + i64::try_from(self.random.below(2_000)).unwrap_or(0);
        let line =
            format!("{{\"timestamp\":\"{}\",\"type\":\"{kind}\",\"payload\":{payload}}}\n", iso(self.at));
        self.out.write_all(line.as_bytes())?;
        self.written += line.len() as u64;
        Ok(())
    }
}
