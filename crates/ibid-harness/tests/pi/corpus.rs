//! Against public session files: `IBID_CORPUS` names the folder that holds them and the table of
//! what each should yield.

use std::fs;
use std::path::{Path, PathBuf};

use ibid_carrier::jsonl::Limits;
use ibid_harness::pi::Pi;
use ibid_harness::{
    Class, Codec, Context, Control, Cursor, Fold, Store, Surroundings, Target, TextCodec, Wants,
};
use ibid_model::essence;

struct Row {
    file: String,
    class: String,
    layout: String,
    id: String,
    numbers: Vec<u64>,
}

fn rows(corpus: &Path) -> Vec<Row> {
    let table = fs::read_to_string(corpus.join("EXPECT.tsv")).unwrap();
    let row = |line: &str| {
        let cells: Vec<&str> = line.split('\t').collect();
        Row {
            file: cells[0].to_owned(),
            class: cells[1].to_owned(),
            layout: cells[2].to_owned(),
            id: cells[3].to_owned(),
            numbers: cells[6..13].iter().map(|cell| cell.parse().unwrap()).collect(),
        }
    };
    table.lines().filter(|line| line.starts_with("pi/")).map(row).collect()
}

#[test]
fn every_public_file_yields_what_the_table_says() {
    let Some(corpus) = std::env::var_os("IBID_CORPUS").map(PathBuf::from) else {
        eprintln!("skipped: IBID_CORPUS names no corpus");
        return;
    };
    let rows = rows(&corpus);
    assert!(!rows.is_empty());
    for row in rows {
        check(&corpus, &row);
    }
}

fn check(corpus: &Path, row: &Row) {
    let file = &row.file;
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join(&row.layout);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::copy(corpus.join(file), &path).unwrap();
    let machine = Surroundings::isolated(home.path());
    let limits = Limits::default();
    let context = Context { machine: &machine, limits: &limits };
    let root = Pi::roots(&machine).remove(0);
    let listing = Pi::list(&root, &context);
    assert_eq!(listing.sessions.len(), 1, "{file}");
    let listed = &listing.sessions[0];
    let described = Pi::describe(listed, &context).unwrap();
    let class = match described.class {
        Class::Session => "session",
        Class::Partial => "partial",
        Class::Foreign => "foreign",
        Class::Sidecar => "sidecar",
        Class::Other => "other",
    };
    assert_eq!((class, described.id.as_str()), (row.class.as_str(), row.id.as_str()), "{file}");

    let transcript = Pi::load(&listed.reference, &context).unwrap();
    assert!(Pi::to_text(&transcript).unwrap() == fs::read(&path).unwrap(), "{file}");
    let common = Pi::to_common(&transcript).unwrap();
    let session = &common.session;
    assert_eq!(session.problems(), [], "{file}");
    assert_eq!((&session.id, &session.meta), (&described.id, &described.meta), "{file}");
    assert_eq!(session.lineage, described.lineage, "{file}");
    let counts = session.counts();
    let sum = |part: fn(&ibid_model::Usage) -> Option<u64>| {
        session.calls.iter().filter_map(|call| part(&call.usage)).sum::<u64>()
    };
    let numbers = vec![
        counts.prompts,
        counts.injected,
        counts.assistant,
        counts.tool_calls,
        counts.tool_results,
        sum(|usage| usage.input),
        sum(|usage| usage.output),
    ];
    assert_eq!(numbers, row.numbers, "{file}");

    let mut fold = Fold::default();
    Pi::scan(&listed.reference, &Cursor::Start, Wants::ALL, &Control::default(), &mut fold, &context)
        .unwrap();
    assert_eq!((&fold.meta, &fold.lineage), (&session.meta, &session.lineage), "{file}");
    assert_eq!(fold.head, session.head, "{file}");
    assert_eq!(fold.calls(), session.calls, "{file}");
    assert_eq!(fold.compactions, session.compactions, "{file}");
    assert!(essence(&fold.messages) == essence(&session.messages), "{file}");

    let converted = Pi::from_common(session, &Target::default()).unwrap();
    let back = Pi::to_common(&converted.value).unwrap();
    assert_eq!(back.session.problems(), [], "{file}");
    assert_eq!(back.findings, [], "{file}");
}
