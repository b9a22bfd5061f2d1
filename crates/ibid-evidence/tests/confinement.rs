//! Which files are observed: only those that are in the project, whatever a summary says.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::panic,
    reason = "tests show what they expect"
)]

mod support;

use std::path::Path;
use std::time::{Duration, Instant};

use ibid_evidence::answer::{Access, Observation, Summary};
use ibid_evidence::ask::{DiscoverParams, ObserveParams};
use ibid_evidence::{Evidence, Host};
use ibid_harness::Surroundings;
use ibid_testkit::Home;
use serde_json::{Value, json};
use support::*;

fn observe(root: &Path, sessions: Value) -> Vec<Observation> {
    let params = json!({ "workspace": root, "sessions": sessions });
    let params: ObserveParams = serde_json::from_value(params).unwrap();
    Host::new(Surroundings::isolated("/nowhere")).observe(&params).unwrap().observations
}

/// A summary with one call that names these paths.
fn naming(paths: &[&str]) -> Value {
    json!([{
        "sessionId": "s", "platform": "claude", "lastSeen": "2026-09-01T10:00:00.000Z",
        "toolActivity": { "calls": [{ "id": "c", "family": "change", "filePaths": paths }] },
    }])
}

fn observed(root: &Path, paths: &[&str]) -> Vec<String> {
    observe(root, naming(paths)).into_iter().map(|observation| observation.relative_path).collect()
}

// evidence defect 1
#[cfg(unix)]
#[test]
fn only_regular_files_inside_the_project_are_observed() {
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::symlink;
    let (folder, root) = project(&[
        "README.md",
        "docs/kept.md",
        "a b/ü.txt",
        ".git/config",
        "sub/.git/x",
        "target/real/in.md",
    ]);
    let outside = folder.path().canonicalize().unwrap().join("outside");
    write(&outside.join("secret.txt"));
    symlink(outside.join("secret.txt"), root.join("link-out.txt")).unwrap();
    symlink(root.join("README.md"), root.join("link-in.txt")).unwrap();
    symlink(&outside, root.join("dir-out")).unwrap();
    symlink("../outside", root.join("dir-out-relative")).unwrap();
    symlink("target/real", root.join("dir-in")).unwrap();
    symlink(root.join("target/real"), root.join("dir-in-absolute")).unwrap();
    symlink("docs/../../outside", root.join("dir-out-through")).unwrap();
    symlink(".git", root.join("git-link")).unwrap();
    symlink("loop-b", root.join("loop-a")).unwrap();
    symlink("loop-a", root.join("loop-b")).unwrap();
    std::fs::hard_link(outside.join("secret.txt"), root.join("hard.txt")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        root.join("pipe"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    std::fs::write(root.join(std::ffi::OsStr::from_bytes(b"bad-\xff.txt")), "x").unwrap();
    let absolute = root.join("README.md");
    let rows: &[(&str, &str, bool)] = &[
        ("a file at the root", "README.md", true),
        ("a file below", "docs/kept.md", true),
        ("a name with a space and a letter beyond ASCII", "a b/ü.txt", true),
        ("through a link to a directory inside", "dir-in/in.md", true),
        ("the same with an absolute link", "dir-in-absolute/in.md", true),
        ("missing", "docs/gone.md", false),
        ("with ..", "docs/../README.md", false),
        ("out with ..", "../outside/secret.txt", false),
        ("absolute inside", absolute.to_str().unwrap(), false),
        ("absolute outside", "/etc/passwd", false),
        ("with .", "./README.md", false),
        ("a link to a file outside", "link-out.txt", false),
        ("a link to a file inside", "link-in.txt", false),
        ("through a link to a directory outside", "dir-out/secret.txt", false),
        ("the same with a relative link", "dir-out-relative/secret.txt", false),
        ("the same with .. in the link", "dir-out-through/secret.txt", false),
        ("through links in a circle", "loop-a/x", false),
        ("a second name of a file outside", "hard.txt", false),
        ("a directory", "docs", false),
        ("a pipe", "pipe", false),
        ("git's own", ".git/config", false),
        ("git's own in another case", ".GIT/config", false),
        ("git's own further down", "sub/.git/x", false),
        ("git's own through a link", "git-link/config", false),
        ("a name that is not UTF-8, as it is shown", "bad-\u{fffd}.txt", false),
        ("with a NUL", "README.md\0", false),
        ("nothing", "", false),
        ("the project itself", ".", false),
        ("a file taken for a directory", "README.md/x", false),
    ];
    println!("{:<48} {:<42} observed", "what", "path");
    for (what, path, expected) in rows {
        let found = observed(&root, &[path]);
        let shown = format!("{path:?}");
        println!("{what:<48} {shown:<42} {}", !found.is_empty());
        assert_eq!(found, if *expected { vec![(*path).to_owned()] } else { vec![] }, "{what}");
    }
    let all: Vec<&str> = rows.iter().map(|(_, path, _)| *path).collect();
    assert_eq!(observed(&root, &all).len(), rows.iter().filter(|(_, _, expected)| *expected).count());
}

// evidence defect 1
#[cfg(unix)]
#[test]
fn a_directory_that_becomes_a_link_meanwhile_never_leads_out() {
    let (folder, root) = project(&["dir/kept.md"]);
    let outside = folder.path().canonicalize().unwrap().join("outside");
    write(&outside.join("secret.txt"));
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                std::fs::rename(root.join("dir"), root.join("aside")).unwrap();
                std::os::unix::fs::symlink(&outside, root.join("dir")).unwrap();
                std::fs::remove_file(root.join("dir")).unwrap();
                std::fs::rename(root.join("aside"), root.join("dir")).unwrap();
            }
        });
        let begin = Instant::now();
        let mut kept = 0;
        // On a busy machine a second may pass in which no look falls on the directory itself.
        let more = |kept: i32| kept == 0 && begin.elapsed() < Duration::from_secs(60);
        while begin.elapsed() < Duration::from_secs(1) || more(kept) {
            for path in observed(&root, &["dir/secret.txt", "dir/kept.md"]) {
                assert_eq!(path, "dir/kept.md");
                kept += 1;
            }
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(kept > 0, "the directory was there at times");
    });
}

#[test]
fn ten_thousand_paths_are_looked_at_quickly() {
    let (_folder, root) = project(&[]);
    let names: Vec<String> = (0..10_000).map(|number| format!("d{}/e/f{number}.rs", number % 100)).collect();
    for name in names.iter().step_by(10) {
        write(&root.join(name));
    }
    let paths: Vec<&str> = names.iter().map(String::as_str).collect();
    let begin = Instant::now();
    assert_eq!(observed(&root, &paths).len(), 1_000);
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
}

// evidence defect 2
#[test]
fn what_discover_answers_can_be_observed_and_gives_the_same() {
    let (_folder, root) = project(&["README.md", "src/a.rs", "src/b.rs"]);
    let cwd = root.to_str().unwrap();
    let one = Claude::at(cwd, 1)
        .says("Change it")
        .calls("t1", "Bash", json!({"command": "true"}))
        .calls("t2", "Read", json!({"file_path": root.join("README.md")}))
        .calls(
            "t3",
            "Edit",
            json!({"file_path": root.join("src/a.rs"), "old_string": "x", "new_string": "y"}),
        )
        .calls("t4", "Read", json!({"file_path": root.join("src/a.rs")}));
    let two = Claude::at(cwd, 2).calls("t1", "Read", json!({"file_path": root.join("src/b.rs")}));
    let home = with_claude(with_claude(Home::new(), "x", &one), "x", &two);
    let discovery = host(&home).discover(&DiscoverParams::of(&root)).unwrap();
    let seen: Vec<(&str, Access)> =
        discovery.observations.iter().map(|o| (o.relative_path.as_str(), o.access)).collect();
    assert_eq!(
        seen,
        [("src/b.rs", Access::Read), ("README.md", Access::Read), ("src/a.rs", Access::Change)],
        "that it was changed counts over that it was read"
    );
    assert!(discovery.observations.iter().all(|o| o.session_id.starts_with("claude:")));
    let sent = serde_json::to_value(&discovery.sessions).unwrap();
    assert_eq!(observe(&root, sent), discovery.observations);
}

#[test]
fn what_a_client_sends_is_not_trusted() {
    let (_folder, root) = project(&["README.md"]);
    let call = json!({ "id": "c", "family": "inspect", "filePaths": ["README.md"], "access": "change" });
    let with = |key: &str, value: Value| {
        let mut session = json!({
            "sessionId": "s", "platform": "p", "lastSeen": "2026-09-01T10:00:00Z",
            "prompts": [{ "text": "x" }], "toolActivity": { "calls": [call.clone()] },
        });
        session[key] = value;
        observe(&root, json!([session]))
    };
    assert_eq!(with("ok", json!(1)).len(), 1);
    assert!(with("lastSeen", json!("yesterday")).is_empty());
    assert!(with("lastSeen", Value::Null).is_empty());
    assert!(with("sessionId", json!("")).is_empty());
    assert!(with("sessionId", json!("s".repeat(100_000))).is_empty());
    let long = with("prompts", json!([{ "text": "y".repeat(1_000_000) }]));
    assert_eq!(long[0].prompt, "y".repeat(200));
    let unnamed = with("prompts", json!([]));
    assert_eq!(unnamed[0].prompt, "p Session s");
    let cut = with("sessionId", json!("日本語日本語日本語日本語日本語"));
    assert_eq!(with("prompts", json!([{ "text": " " }]))[0].prompt, "p Session s");
    assert_eq!(cut[0].session_id.chars().count(), 17);
}

// evidence defect 4
#[test]
fn a_session_without_prompts_is_named_by_whole_characters_of_its_id() {
    let (_folder, root) = project(&["README.md"]);
    let session: Summary = serde_json::from_value(json!({
        "sessionId": "日本語日本語日本語日本語日本語", "platform": "p", "lastSeen": "2026-09-01T10:00:00Z",
        "toolActivity": { "calls": [{ "id": "c", "filePath": "README.md" }] },
    }))
    .unwrap();
    let params = ObserveParams { workspace: root, sessions: vec![session] };
    let observations = Host::new(Surroundings::isolated("/nowhere")).observe(&params).unwrap().observations;
    assert_eq!(observations[0].prompt, "p Session 日本語日本語日本語日本語");
}

#[test]
fn a_project_that_is_gone_has_no_files() {
    let (folder, root) = project(&["README.md"]);
    drop(folder);
    assert!(observed(&root, &["README.md"]).is_empty());
}
