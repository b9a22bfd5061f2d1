//! What is published about the model is what the types say.

#![allow(clippy::unwrap_used, reason = "a test states what it expects")]

use std::fmt::Write as _;
use std::path::PathBuf;

use ibid_model::{FindingKind, LossEffect, LossKind, Severity};

fn published(path: &str, made: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    if std::env::var_os("IBID_BLESS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, made).unwrap();
    }
    let published = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(published == made, "{} is stale; run this test with IBID_BLESS=1", path.display());
}

#[test]
fn the_published_schema_is_the_one_of_the_types() {
    published("docs/schema/ibid-session-1.json", &ibid_model::schema().unwrap());
}

#[test]
fn every_finding_is_published() {
    let mut page = String::from(
        "# Findings\n\nA finding says what is wrong with an input, and where: the path, the line (counted from 1), the \
         bytes (counted from 0, the end not included) or the database row. It never quotes what people or models wrote. \
         The rest of the input is read all the same. Names are stable.\n\n\
         | name | severity | meaning | what to do |\n| --- | --- | --- | --- |\n",
    );
    for kind in FindingKind::ALL {
        let severity = match kind.severity() {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        writeln!(page, "| `{}` | {severity} | {} | {} |", kind.code(), kind.meaning().trim(), kind.advice())
            .unwrap();
    }
    published("docs/findings.md", &page);
}

#[test]
fn every_loss_is_published() {
    let mut page = String::from(
        "# Losses\n\nA conversion reports everything that it changed, added or left behind. An entry has a kind, a count, \
         the messages it concerns (at most 20 of them) and, where the kind alone does not say it, what exactly. Names are \
         stable. *Changed* means that the content is there in another form, *added* that the target says something \
         that the source does not, *dropped* that the content is not in the target.\n\n\
         | name | effect | meaning |\n| --- | --- | --- |\n",
    );
    for kind in LossKind::ALL {
        let effect = match kind.effect() {
            LossEffect::Changed => "changed",
            LossEffect::Added => "added",
            LossEffect::Dropped => "dropped",
        };
        writeln!(page, "| `{}` | {effect} | {} |", kind.code(), kind.meaning().trim()).unwrap();
    }
    published("docs/losses.md", &page);
}
