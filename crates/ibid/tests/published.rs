use std::path::Path;

use crate::common::{Home, ibid};

/// Compares a page with what the program says, or renews it when `IBID_BLESS` is set.
fn compare(page: &str, says: &str) {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = here.ancestors().nth(2).unwrap().join("docs").join(page);
    if std::env::var_os("IBID_BLESS").is_some() {
        std::fs::write(&path, says).unwrap();
    }
    let is = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(is == says, "{page} is out of date; renew it with `IBID_BLESS=1 cargo test -p ibid published`");
}

#[test]
fn the_reference_of_the_command_line_is_up_to_date() {
    compare("cli.md", &ibid(&Home::new(), ["man", "--markdown"]).ends(0).stdout);
}
