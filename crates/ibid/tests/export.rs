use crate::common::{CODEX_PARENT, Home, PI_TOOLS, Value, home, ibid, simple};

/// Put together so that nobody takes this file for a leak.
const SECRET: &str = concat!("ghp", "_x7Kq2ZpV9rTnB4mWsL8cYd3HfJ6gA1eU5oQi");

fn with_secret() -> (Home, String) {
    let home = Home::new();
    let file = simple(&home, "s.json", home.path(), &format!("use the token {SECRET} please"));
    (home, file)
}

#[test]
fn secrets_are_replaced_and_counted_in_every_format() {
    let (home, file) = with_secret();
    for format in ["ibid", "simple", "markdown"] {
        let run = ibid(&home, ["export", &file, "--format", format]).ends(0);
        assert!(!run.stdout.contains(SECRET), "{format}: {}", run.stdout);
        assert!(run.stdout.contains("[redacted:github-token]"), "{format}: {}", run.stdout);
        assert!(run.stderr.contains("Secrets replaced"), "{}", run.stderr);
        assert!(run.stdout.contains("redactions"), "{format} does not say how many: {}", run.stdout);
    }
}

#[test]
fn only_what_is_written_is_counted() {
    let (home, file) = with_secret();
    for (format, count) in [("simple", 1), ("markdown", 1), ("ibid", 2)] {
        let json = ibid(&home, ["export", &file, "--format", format, "--json"]).ends(0).json();
        let text = json["text"].as_str().unwrap();
        assert_eq!(text.matches("[redacted:").count(), count, "{format}");
        assert_eq!(json["redactions"]["total"], count, "{format}");
        let said = [format!("redactions: {count}"), format!("\"redactions\": {count}")];
        assert!(said.iter().any(|said| text.contains(said)), "{format}: {text}");
    }
}

#[test]
fn importing_a_redacted_document_says_so() {
    let (home, file) = with_secret();
    for (format, said) in [("ibid", "2 secrets were replaced"), ("simple", "1 secret was replaced")] {
        let out = home.path().join(format);
        let out = out.to_str().unwrap();
        ibid(&home, ["export", &file, "--format", format, "--out", out]).ends(0);
        let run = ibid(&home, ["import", out, "--from", "simple", "--to", "codex", "--dry-run"]).ends(0);
        assert!(run.stderr.contains(said), "{}", run.stderr);
    }
}

#[test]
fn reveal_leaves_them() {
    let (home, file) = with_secret();
    let run = ibid(&home, ["export", &file, "--format", "markdown", "--reveal"]).ends(0);
    assert!(run.stdout.contains(SECRET));
    assert!(!run.stdout.contains("redactions"));
}

#[test]
fn an_ibid_document_holds_everything_and_can_be_imported() {
    let home = home();
    let out = home.path().join("session.ibid.json");
    let out = out.to_str().unwrap();
    ibid(&home, ["export", CODEX_PARENT, "--out", out]).ends(0);
    let document: Value = serde_json::from_slice(&std::fs::read(out).unwrap()).unwrap();
    assert_eq!(document["ibid"], 1);
    assert_eq!(document["children"].as_array().unwrap().len(), 1);
    assert_eq!(document["redactions"], 0);
    let json = ibid(&home, ["import", out, "--to", "codex", "--new-id", "--json"]).ends(0).json();
    assert_eq!(json["subagents"].as_array().unwrap().len(), 1);
}

#[test]
fn a_page_begins_with_the_facts() {
    let run = ibid(&home(), ["export", PI_TOOLS, "--format", "markdown"]).ends(0);
    assert!(
        run.stdout.starts_with("---\ntitle: \"do-script pitools: use every tool once\"\n"),
        "{}",
        run.stdout
    );
    assert!(run.stdout.contains("```text\n$ echo out; echo err >&2; pwd\n│ out\n"), "{}", run.stdout);
}

#[test]
fn a_file_that_is_there_is_not_overwritten() {
    let home = home().with_file("mine.md", "mine");
    let out = home.path().join("mine.md");
    let out = out.to_str().unwrap();
    let run = ibid(&home, ["export", PI_TOOLS, "--format", "markdown", "--out", out]).ends(3);
    assert!(run.stderr.contains("--replace"), "{}", run.stderr);
    assert_eq!(std::fs::read_to_string(out).unwrap(), "mine");
    ibid(&home, ["export", PI_TOOLS, "--format", "markdown", "--out", out, "--replace"]).ends(0);
    assert_ne!(std::fs::read_to_string(out).unwrap(), "mine");
}

#[test]
fn json_tells_what_was_written() {
    let (home, file) = with_secret();
    let out = home.path().join("x.json");
    let json = ibid(&home, ["export", &file, "--out", out.to_str().unwrap(), "--json"]).ends(0).json();
    assert_eq!(json["path"], out.to_str().unwrap());
    // The beginning of what a person said is there twice: in the message and in the preview.
    assert_eq!(json["redactions"]["kinds"]["github-token"], 2);
}

#[test]
fn a_range_exports_these_messages_alone() {
    let run = ibid(&home(), ["export", &format!("{PI_TOOLS}#22-23"), "--format", "markdown"]).ends(0);
    assert!(run.stdout.contains("A second prompt") && !run.stdout.contains("echo out"), "{}", run.stdout);
    assert!(run.stdout.contains("\nmessages: 22-23 of 23\n"), "{}", run.stdout);
}
