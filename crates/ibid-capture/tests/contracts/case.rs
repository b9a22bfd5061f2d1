//! Cases as they lie in files, one JSON object each.

use std::path::{Path, PathBuf};
use std::{env, fs};

use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;

/// The kinds of cases, which are the folders too.
pub(crate) const KINDS: [&str; 3] = ["envelope", "thread", "hooks"];

/// One case.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) value: Value,
}

impl Case {
    /// The text under a key; empty when there is none.
    pub(crate) fn text(&self, key: &str) -> &str {
        self.value[key].as_str().unwrap_or_default()
    }

    /// The headers of a request.
    pub(crate) fn headers(&self) -> HeaderMap {
        let pairs = self.value["headers"].as_object().expect("headers");
        let pair = |(name, value): (&String, &Value)| {
            let name = HeaderName::from_bytes(name.as_bytes()).expect("a header name");
            (name, HeaderValue::from_str(value.as_str().expect("a value")).expect("a header value"))
        };
        pairs.iter().map(pair).collect()
    }
}

/// Our own cases of a kind.
pub(crate) fn own(kind: &str) -> Vec<Case> {
    cases(&folder(kind))
}

/// The published cases of a kind, where there are some.
pub(crate) fn published(kind: &str) -> Option<Vec<Case>> {
    let folder = PathBuf::from(env::var_os("IBID_CORPUS")?).join("contracts").join(kind);
    folder.is_dir().then(|| cases(&folder))
}

/// Where our own cases of a kind are.
pub(crate) fn folder(kind: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/contracts").join(kind)
}

fn cases(folder: &Path) -> Vec<Case> {
    let mut files: Vec<_> = fs::read_dir(folder)
        .expect("the cases")
        .flatten()
        .map(|file| file.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    files.sort();
    files.iter().map(|path| case(path)).collect()
}

fn case(path: &Path) -> Case {
    let value: Value = serde_json::from_slice(&fs::read(path).expect("a case")).expect("a case is JSON");
    let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
    assert_eq!(value["name"], name, "a case has the name of its file");
    Case { name, value }
}
