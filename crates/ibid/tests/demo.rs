use std::process::Stdio;

use crate::common::{Home, command, finish, ibid, program};

#[test]
fn it_walks_through_everything_and_leaves_nothing_behind() {
    let home = Home::new();
    let temporary = Home::new();
    let mut command = command(&home);
    command.arg("demo").env("TMPDIR", temporary.path()).env("TMP", temporary.path());
    let run = finish(command).ends(0);
    for step in ["list", "show", "explain", "convert", "delete", "restore"] {
        assert!(
            run.stdout.contains(&format!("$ ibid {step} "))
                || run.stdout.contains(&format!("$ ibid {step}\n")),
            "{step}"
        );
    }
    assert!(run.stdout.contains("8 observations of claude") && run.stdout.contains("turn 1 agrees"));
    assert!(
        run.stdout.contains("Written and read back") && run.stdout.contains("Restored:"),
        "{}",
        run.stdout
    );
    assert!(std::fs::read_dir(temporary.path()).unwrap().next().is_none(), "something was left behind");
    assert!(std::fs::read_dir(home.path()).unwrap().next().is_none(), "the home was touched");
}

#[test]
fn a_reader_that_goes_away_leaves_nothing_behind() {
    let home = Home::new();
    let temporary = Home::new();
    let mut command = command(&home);
    command.arg("demo").env("TMPDIR", temporary.path()).env("TMP", temporary.path());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert!(std::fs::read_dir(temporary.path()).unwrap().next().is_none(), "something was left behind");
}

#[test]
fn every_harness_with_a_store_that_is_written_has_a_session_in_it() {
    let home = Home::new();
    let kept = home.path().join("demo");
    ibid(&home, ["demo", "--keep", kept.to_str().unwrap()]).ends(0);
    let mut overview = program();
    overview.arg("--home").arg(&kept).arg("--json");
    let json = finish(overview).ends(0).json();
    let listed = json["harnesses"].as_array().unwrap();
    let declarations = ibid_harness::all().iter().map(|harness| harness.declaration());
    for written in declarations.filter(|of| of.capabilities.store && of.capabilities.write) {
        let of_harness = listed.iter().find(|listed| listed["harness"] == written.id.as_str()).unwrap();
        assert!(of_harness["sessions"].as_u64().unwrap() > 0, "{of_harness}");
    }
}

#[test]
fn a_directory_that_is_not_empty_is_left_alone() {
    let home = Home::new().with_file("mine/file", "mine");
    ibid(&home, ["demo", "--keep", home.path().join("mine").to_str().unwrap()]).ends(3);
}
