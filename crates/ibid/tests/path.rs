use std::path::Path;

use crate::common::{PI_TOOLS, home, ibid};

#[test]
fn a_session_lives_in_files_that_exist() {
    let home = home();
    let run = ibid(&home, ["path", "Three facts"]).ends(0);
    let paths: Vec<&str> = run.stdout.lines().collect();
    assert_eq!(paths.len(), 3, "a thread that was reverted twice has three files");
    assert!(paths.iter().all(|path| Path::new(path).is_file()), "{paths:?}");
}

#[test]
fn a_file_names_its_session() {
    let home = home();
    let path = ibid(&home, ["path", PI_TOOLS]).ends(0).stdout;
    let json = ibid(&home, ["path", path.trim(), "--json"]).ends(0).json();
    assert_eq!(format!("pi:{}", json["id"].as_str().unwrap()), PI_TOOLS);
}
