//! What is published about the joined record is what the types say.

#![allow(clippy::unwrap_used, reason = "a test states what it expects")]

use std::path::PathBuf;

#[test]
fn the_published_schema_of_the_joined_record_is_the_one_of_the_types() {
    let made = ibid_capture::join::schema().unwrap();
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema/ibid-explain-1.json");
    if std::env::var_os("IBID_BLESS").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    let published = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(published == made, "{} is stale; run this test with IBID_BLESS=1", path.display());
}
