//! The seal of our own cases: a file `DIGEST` beside them, which is the SHA-256 of a line
//! `<name>  <SHA-256 of the file>` for each, sorted by name. Whoever uses the cases elsewhere
//! computes it again, so that no copy can drift unseen. `IBID_BLESS=1` writes it.

use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

use sha2::{Digest, Sha256};

use crate::case;

fn hex(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in Sha256::digest(bytes) {
        write!(text, "{byte:02x}").expect("a string");
    }
    text
}

/// The digest of the cases in a folder.
fn digest(folder: &Path) -> String {
    let mut files: Vec<_> = fs::read_dir(folder)
        .expect("the cases")
        .flatten()
        .map(|file| (file.file_name().into_string().expect("a name"), file.path()))
        .filter(|(name, _)| name != "DIGEST")
        .collect();
    files.sort();
    let line = |(name, path): &(String, _)| format!("{name}  {}\n", hex(&fs::read(path).expect("a case")));
    hex(files.iter().map(line).collect::<String>().as_bytes())
}

#[test]
fn the_seal_of_each_kind_of_cases_is_whole() {
    for kind in case::KINDS {
        let folder = case::folder(kind);
        let digest = format!("{}\n", digest(&folder));
        if env::var_os("IBID_BLESS").is_some() {
            fs::write(folder.join("DIGEST"), &digest).expect("the seal is written");
        }
        let sealed = fs::read_to_string(folder.join("DIGEST")).expect("a seal");
        assert_eq!(sealed, digest, "a case of {kind} was changed, added or removed");
    }
}

#[test]
fn a_changed_an_added_and_a_removed_case_break_the_seal() {
    let copy = tempfile::tempdir().expect("a folder");
    for file in fs::read_dir(case::folder("thread")).expect("the cases").flatten() {
        fs::copy(file.path(), copy.path().join(file.file_name())).expect("a copy");
    }
    let sealed = digest(copy.path());
    let of = |change: &dyn Fn()| {
        change();
        digest(copy.path())
    };
    let added = copy.path().join("zz.json");
    assert_ne!(of(&|| fs::write(&added, "{}").expect("written")), sealed);
    assert_ne!(
        of(&|| fs::write(&added, "{ }").expect("written")),
        of(&|| fs::write(&added, "{}").expect("written"))
    );
    assert_eq!(of(&|| fs::remove_file(&added).expect("removed")), sealed);
    let renamed = copy.path().join("main-thread.json");
    assert_ne!(of(&|| fs::remove_file(&renamed).expect("removed")), sealed);
}
