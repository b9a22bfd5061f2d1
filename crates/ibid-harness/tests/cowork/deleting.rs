//! Deleting sessions.

use std::fs;

use ibid_carrier::plan::{Engine, Policy, Step};
use ibid_harness::Store;
use ibid_harness::cowork::Cowork;

use crate::home::{FIRST, Home, PLAIN, SECOND, record, sessions};

#[test]
fn the_record_goes_to_the_trash_first_and_then_everything_of_the_session() {
    let home = Home::built();
    for place in [format!("{FIRST}/local_one.json"), format!("{FIRST}/agent/local_ditto_three.json")] {
        let reference = home.at(&place);
        let deleting = Cowork::delete(&reference, &home.context()).unwrap();
        let [Step::TrashFile { path, .. }, Step::TrashDirectory { path: folder }] =
            deleting.plan.steps.as_slice()
        else {
            panic!("{:?}", deleting.plan)
        };
        assert_eq!(*path, reference.path);
        assert_eq!(*folder, reference.path.with_extension(""));
        Engine::new(home.machine.data_dir()).commit(&deleting.plan, &Policy::within(deleting.roots)).unwrap();
        assert!(!reference.path.exists() && !folder.exists());
    }
    assert_eq!(sessions(&home.described()), ["local_two", "local_four"]);
}

#[test]
fn only_what_lies_where_records_lie_can_be_deleted() {
    let home = Home::built();
    let (organisation, account) = SECOND.split_once('/').unwrap();
    let text = record("local_x", "c", "");
    for place in [
        "local_x.json".to_owned(),
        format!("{organisation}/local_x.json"),
        format!("{SECOND}/other/local_x.json"),
        format!("{SECOND}/agent/agent/local_x.json"),
        format!("not-an-id/{account}/local_x.json"),
        format!("{SECOND}/cowork_settings.json"),
        format!("{SECOND}/local_x.jsonl"),
    ] {
        home.write(&place, &text);
        assert!(Cowork::delete(&home.at(&place), &home.context()).is_err(), "{place}");
    }
    for place in [
        format!("{SECOND}/local_gone.json"),
        format!("{SECOND}/local_four"),
        format!("{SECOND}/../../../../../outside/local_x.json"),
    ] {
        assert!(Cowork::delete(&home.at(&place), &home.context()).is_err(), "{place}");
    }
}

#[test]
fn a_subagent_goes_with_the_document_beside_it_and_nothing_else() {
    let home = Home::built();
    let child = Cowork::children(&home.at(&format!("{FIRST}/local_one.json")), &home.context()).remove(0);
    let deleting = Cowork::delete(&child, &home.context()).unwrap();
    let [Step::TrashFile { path, .. }, Step::TrashFile { path: meta, .. }] = deleting.plan.steps.as_slice()
    else {
        panic!("{:?}", deleting.plan)
    };
    assert_eq!((path, meta), (&child.path, &child.path.with_extension("meta.json")));
    let elsewhere = home.write("notes/local_x/.claude/projects/-p/c/subagents/agent-a.jsonl", "");
    assert!(Cowork::delete(&home.reference(&elsewhere), &home.context()).is_err());
}

#[cfg(unix)]
#[test]
fn no_link_leads_a_deletion_elsewhere() {
    use std::os::unix::fs::symlink;
    let home = Home::empty();
    let victim = home.session(FIRST, "local_victim", "", PLAIN);
    let elsewhere = Home::built();
    let account = home.root().join(FIRST);
    symlink(elsewhere.root().join(FIRST).join("local_one.json"), account.join("local_out.json")).unwrap();
    symlink(&victim.path, account.join("local_alias.json")).unwrap();
    let (organisation, _) = SECOND.split_once('/').unwrap();
    symlink(elsewhere.root().join(organisation), home.root().join(organisation)).unwrap();
    for place in [
        format!("{FIRST}/local_out.json"),
        format!("{FIRST}/local_alias.json"),
        format!("{SECOND}/local_four.json"),
    ] {
        assert!(Cowork::delete(&home.at(&place), &home.context()).is_err(), "{place}");
    }
    fs::write(account.join("local_thin.json"), record("local_thin", "c", "")).unwrap();
    symlink(elsewhere.root(), account.join("local_thin")).unwrap();
    let deleting = Cowork::delete(&home.at(&format!("{FIRST}/local_thin.json")), &home.context()).unwrap();
    assert_eq!(deleting.plan.steps.len(), 1, "the folder that the link leads to is not ours");
}
