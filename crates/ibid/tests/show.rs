use crate::common::{
    CODEX_CHILD, CODEX_COMPACTED, CODEX_PARENT, Home, PI_BRANCHES, PI_TOOLS, command, finish, home, ibid,
    path_of, simple,
};

#[test]
fn calls_and_their_results_stand_together() {
    let run = ibid(&home(), ["show", PI_TOOLS]).ends(0);
    assert!(run.stdout.contains("  $ echo out; echo err >&2; pwd\n  │ out\n"), "{}", run.stdout);
    assert!(
        run.stdout.contains("  edit /home/dev/demo/notes.txt\n    - beta\n    + BETA\n"),
        "{}",
        run.stdout
    );
    assert!(run.stdout.contains("  $ echo broken; exit 3\n  │ failed\n"), "{}", run.stdout);
    assert!(run.stdout.contains("[picture, image/png, 72 B]"), "{}", run.stdout);
}

#[test]
fn thinking_is_folded_until_asked_for() {
    let home = home();
    let folded = ibid(&home, ["show", PI_TOOLS]).ends(0).stdout;
    assert!(folded.contains("(thinking, 51 characters)") && !folded.contains("MOCK-THINKING"));
    assert!(ibid(&home, ["show", PI_TOOLS, "--full"]).ends(0).stdout.contains("MOCK-THINKING"));
}

#[test]
fn a_range_takes_the_numbers_that_are_shown() {
    let home = home();
    let run = ibid(&home, ["show", &format!("{PI_TOOLS}#22-")]).ends(0);
    assert!(run.stdout.contains("[22] you") && run.stdout.contains("[23] mock-model"), "{}", run.stdout);
    assert!(!run.stdout.contains("[21]"));
    let beyond = ibid(&home, ["show", &format!("{PI_TOOLS}#90")]).ends(1);
    assert!(beyond.stderr.contains("there are 23"), "{}", beyond.stderr);
    ibid(&home, ["show", &format!("{PI_TOOLS}#9-3")]).ends(2);
}

#[test]
fn a_call_whose_result_is_outside_the_range_says_where_it_is() {
    let home = home();
    let run = ibid(&home, ["show", &format!("{PI_TOOLS}#3")]).ends(0);
    assert!(run.stdout.contains("(its result is message 4, outside the range)"), "{}", run.stdout);
    assert!(!ibid(&home, ["show", &format!("{PI_TOOLS}#3-4")]).ends(0).stdout.contains("outside the range"));
}

#[test]
fn a_result_without_its_call_is_shown_on_its_own() {
    let run = ibid(&home(), ["show", &format!("{PI_TOOLS}#4")]).ends(0);
    assert!(run.stdout.contains("[4] tools"), "{}", run.stdout);
    assert!(run.stdout.contains("│ out"), "{}", run.stdout);
}

#[test]
fn raw_lines_are_the_bytes_of_the_file() {
    let home = home();
    let path = path_of(&home, PI_TOOLS);
    let file = std::fs::read(path).unwrap();
    assert_eq!(ibid(&home, ["show", PI_TOOLS, "--raw"]).ends(0).bytes, file);
    let part = ibid(&home, ["show", &format!("{PI_TOOLS}#2-3"), "--raw"]).ends(0).stdout;
    let file = String::from_utf8(file).unwrap();
    assert_eq!(part.lines().count(), 2);
    assert!(part.lines().all(|line| file.lines().any(|other| other == line)));
}

#[test]
fn branches_are_listed_and_can_be_shown() {
    let home = home();
    let json = ibid(&home, ["show", PI_BRANCHES, "--branches", "--json"]).ends(0).json();
    let branches = json["branches"].as_array().unwrap();
    assert_eq!(branches.len(), 3);
    let table = ibid(&home, ["show", PI_BRANCHES, "--branches"]).ends(0).stdout;
    for branch in branches {
        let leaf = branch["leaf"].as_str().unwrap();
        let named = |line: &str| line.split(' ').next().is_some_and(|name| leaf.starts_with(name));
        assert!(table.lines().any(named), "{table}");
    }
    assert_eq!(branches.iter().filter(|branch| branch["live"] == true).count(), 1);
    let live = ibid(&home, ["show", PI_BRANCHES]).ends(0).stdout;
    assert!(live.contains("2 branches beside the one shown"), "{live}");
    let side = ibid(&home, ["show", PI_BRANCHES, "--branch", "4e3d"]).ends(0).stdout;
    assert!(side.contains("left without a summary") && !live.contains("left without a summary"));
    ibid(&home, ["show", PI_BRANCHES, "--branch", "zzz"]).ends(1);
}

// https://github.com/anthropics/claude-code/issues/92089 (fault 10)
#[test]
fn a_compaction_is_a_line_and_what_precedes_it_stays() {
    let home = home();
    let people = ibid(&home, ["show", CODEX_COMPACTED]).ends(0).stdout;
    assert!(people.contains("── compacted here") && people.contains("First question, a big one"));
    let model = ibid(&home, ["show", CODEX_COMPACTED, "--from-compaction"]).ends(0).stdout;
    let said = model.split_once("── compacted here").unwrap().1;
    assert!(!said.contains("echo mock-shell-output"), "{said}");
    let none = ibid(&home, ["show", PI_TOOLS, "--from-compaction"]).ends(0).stderr;
    assert!(none.contains("There is no compaction; this is the whole session."), "{none}");
}

#[test]
fn subagents_are_named_with_the_way_to_them() {
    let home = home();
    let parent = ibid(&home, ["show", CODEX_PARENT]).ends(0).stdout;
    assert!(parent.contains(&format!("ibid show {CODEX_CHILD}")), "{parent}");
    let child = ibid(&home, ["show", CODEX_CHILD]).ends(0).stdout;
    assert!(child.contains("subagent of"), "{child}");
    let json = ibid(&home, ["show", CODEX_PARENT, "--json"]).ends(0).json();
    assert_eq!(json["subagents"].as_array().unwrap().len(), 1);
}

#[test]
fn json_is_the_session_and_its_findings() {
    let json = ibid(&home(), ["show", PI_TOOLS, "--json"]).ends(0).json();
    assert_eq!(json["session"]["harness"], "pi");
    assert!(json["session"]["messages"].as_array().unwrap().len() > 20);
    assert!(json["findings"].is_array());
}

// https://github.com/openai/codex/issues/30995 (fault 47)
#[test]
fn an_ambiguous_name_lists_its_candidates() {
    let run = ibid(&home(), ["show", "Demo: a named session"]).ends(2);
    assert_eq!(run.stdout, "");
    assert!(run.stderr.contains("names 3 sessions"), "{}", run.stderr);
    assert!(!run.stderr.contains(".jsonl"), "their ids tell them apart: {}", run.stderr);
    assert_eq!(run.stderr.lines().filter(|line| line.starts_with("  pi:")).count(), 3);
}

#[test]
fn sessions_that_only_their_place_tells_apart_are_named_with_it() {
    let home = home();
    let copy = home.path().join("copy/sessions/2026");
    std::fs::create_dir_all(&copy).unwrap();
    let path = path_of(&home, CODEX_COMPACTED);
    let name = std::path::Path::new(&path).file_name().unwrap();
    std::fs::copy(&path, copy.join(name)).unwrap();
    let root = format!("codex={}", home.path().join("copy/sessions").display());
    let run = ibid(&home, ["--root", &root, "show", CODEX_COMPACTED]).ends(2);
    assert!(run.stderr.contains("they have the same id; give the path of one"), "{}", run.stderr);
    assert!(run.stderr.contains(&path), "{}", run.stderr);
    ibid(&home, ["--root", &root, "show", &path]).ends(0);
}

#[test]
fn of_many_candidates_ten_are_listed() {
    let home = Home::new();
    for at in 0..12 {
        let file = simple(&home, &format!("s{at}.json"), home.path(), "hi");
        ibid(&home, ["import", &file, "--to", "pi"]).ends(0);
    }
    let run = ibid(&home, ["show", "A small talk"]).ends(2);
    assert_eq!(run.stderr.lines().filter(|line| line.starts_with("  pi:")).count(), 10, "{}", run.stderr);
    assert!(run.stderr.contains("names 12 sessions") && run.stderr.contains("and 2 more"), "{}", run.stderr);
}

#[test]
fn a_name_that_is_none_finds_nothing() {
    let run = ibid(&home(), ["show", "no-such-session"]).ends(1);
    assert!(run.stderr.contains("ibid list"), "{}", run.stderr);
}

#[test]
fn findings_go_to_stderr_with_their_place() {
    let home = home();
    let path = path_of(&home, PI_TOOLS);
    let mut text = std::fs::read(&path).unwrap();
    text.extend_from_slice(b"{\"type\":\"message\",\"id\":\"cut");
    std::fs::write(&path, text).unwrap();
    let run = ibid(&home, ["show", PI_TOOLS]).ends(0);
    assert!(run.stderr.contains("cut-line"), "{}", run.stderr);
    assert!(run.stderr.contains("read it again later"), "{}", run.stderr);
    assert!(!run.stdout.contains("cut-line"));
}

#[test]
fn what_is_only_worth_knowing_is_counted() {
    let home = home();
    let json = ibid(&home, ["convert", PI_TOOLS, "--to", "codex", "--json"]).ends(0).json();
    let session = format!("codex:{}", json["id"].as_str().unwrap());
    let folded = ibid(&home, ["show", &session]).ends(0).stderr;
    assert!(folded.contains("(1 note;") && !folded.contains("foreign-originator"), "{folded}");
    assert!(ibid(&home, ["show", &session, "--full"]).ends(0).stderr.contains("foreign-originator"));
}

#[test]
fn a_long_result_says_how_much_was_cut() {
    let home = Home::new();
    let text = serde_json::json!({"id": "long", "messages": [
        {"role": "user", "content": "print much"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "Bash", "input": {"command": "seq 50"}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "line\n".repeat(50)}]},
    ]});
    let home = home.with_file("long.json", text.to_string());
    let file = home.path().join("long.json");
    let file = file.to_str().unwrap();
    let cut = ibid(&home, ["show", file]).ends(0).stdout;
    assert!(cut.contains("… 38 more lines, 189 B; --full shows all"), "{cut}");
    assert_eq!(ibid(&home, ["show", file, "--full"]).ends(0).stdout.matches("│ line").count(), 50);
}

#[test]
fn colour_is_for_terminals_and_no_color_is_honoured() {
    let home = home();
    let run = |force: &[(&str, &str)]| {
        let mut command = command(&home);
        command.args(["show", PI_TOOLS]).envs(force.iter().copied());
        finish(command).ends(0).stdout
    };
    assert!(!run(&[]).contains('\u{1b}'));
    assert!(run(&[("CLICOLOR_FORCE", "1")]).contains('\u{1b}'));
    assert!(!run(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]).contains('\u{1b}'));
}
