use crate::common::{CODEX_CHILD, CODEX_PARENT, PI_TOOLS, home, ibid, path_of};

#[test]
fn what_was_deleted_comes_back_as_it_was() {
    let home = home();
    let path = path_of(&home, CODEX_PARENT);
    let bytes = std::fs::read(&path).unwrap();
    let modified = std::fs::metadata(&path).unwrap().modified().unwrap();
    ibid(&home, ["delete", CODEX_PARENT, "--yes"]).ends(0);
    let dry = ibid(&home, ["restore", CODEX_PARENT, "--dry-run"]).ends(0);
    assert!(dry.stdout.contains("restore ") && !std::path::Path::new(&path).exists(), "{}", dry.stdout);
    let run = ibid(&home, ["restore", CODEX_PARENT]).ends(0);
    assert!(run.stdout.contains(&format!("Restored: {CODEX_PARENT}")), "{}", run.stdout);
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
    assert_eq!(std::fs::metadata(&path).unwrap().modified().unwrap(), modified);
    ibid(&home, ["show", CODEX_CHILD]).ends(0);
    ibid(&home, ["restore", "--list"]).ends(1);
}

#[test]
fn the_trash_can_be_listed() {
    let home = home();
    ibid(&home, ["delete", PI_TOOLS, "--yes"]).ends(0);
    let list = ibid(&home, ["restore"]).ends(0).stdout;
    assert!(list.contains(PI_TOOLS) && list.contains("do-script pitools"), "{list}");
    let json = ibid(&home, ["restore", "--list", "--json"]).ends(0).json();
    assert_eq!(json["trash"].as_array().unwrap().len(), 1);
}

#[test]
fn the_same_session_deleted_twice_has_to_be_named_by_its_entry() {
    let home = home();
    let path = path_of(&home, PI_TOOLS);
    let bytes = std::fs::read(&path).unwrap();
    ibid(&home, ["delete", PI_TOOLS, "--yes"]).ends(0);
    std::fs::write(&path, &bytes).unwrap();
    ibid(&home, ["delete", PI_TOOLS, "--yes"]).ends(0);
    let run = ibid(&home, ["restore", PI_TOOLS]).ends(2);
    assert!(run.stderr.contains("2 entries"), "{}", run.stderr);
    let json = ibid(&home, ["restore", "--json"]).ends(0).json();
    let entry = json["trash"][0]["id"].as_str().unwrap().to_owned();
    ibid(&home, ["restore", &entry]).ends(0);
}

#[test]
fn nothing_is_put_over_what_is_there() {
    let home = home();
    let path = path_of(&home, PI_TOOLS);
    ibid(&home, ["delete", PI_TOOLS, "--yes"]).ends(0);
    std::fs::write(&path, "new").unwrap();
    let run = ibid(&home, ["restore", PI_TOOLS]).ends(3);
    assert!(run.stderr.contains("is there already"), "{}", run.stderr);
    assert!(run.stderr.contains("restore again") && !run.stderr.contains("replac"), "{}", run.stderr);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "new");
}

#[test]
fn what_is_not_in_the_trash_is_not_found() {
    let run = ibid(&home(), ["restore", "zzz"]).ends(1);
    assert!(run.stderr.contains("--list"), "{}", run.stderr);
}
