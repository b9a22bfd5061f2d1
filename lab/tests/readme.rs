//! What the pages and the versions say is what the recorded run found.

#![allow(clippy::unwrap_used, reason = "tests state what they expect")]

use std::path::Path;

use ibid_lab::cells::Kind;
use ibid_lab::manifest::{Manifest, Named, Outcome};
use ibid_lab::pins::Pins;
use ibid_lab::{programs, table};

fn manifest() -> Manifest {
    Manifest::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("manifest.json")).unwrap()
}

#[test]
fn the_pages_show_the_recorded_run() {
    for page in table::pages(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap() {
        assert!(page.is == page.to_be, "`lab/run --write-readme` renews {}", page.path.display());
    }
}

#[test]
fn a_version_counts_as_read_only_when_all_cells_of_its_sessions_passed() {
    let manifest = manifest();
    for (name, pin) in &Pins::of_this_checkout().unwrap().programs {
        let read = ibid_harness::find(name).and_then(|h| ibid_harness::proven_to_be_read(h.declaration().id));
        let Some(read) = read else { continue };
        assert_eq!(read.version, pin.latest, "{name}");
        let is_it = |side: &Named| side.harness == *name && side.version.as_ref() == Some(&read.version);
        let cells: Vec<_> = manifest.cells.iter().filter(|cell| is_it(&cell.source)).collect();
        for kind in [Kind::Native, Kind::Evidence, Kind::Resume] {
            assert!(cells.iter().any(|cell| cell.kind == kind), "{name} has no cell {}", kind.name());
        }
        for cell in cells {
            assert_eq!(cell.outcome, Outcome::Passed, "{}", cell.name());
        }
    }
}

#[test]
fn programs_whose_sessions_ibid_only_reads_are_those_that_it_cannot_write_for() {
    for driver in programs::every() {
        let harness = ibid_harness::find(driver.id()).unwrap();
        assert_eq!(harness.declaration().capabilities.write, !driver.is_only_read(), "{}", driver.id());
    }
}

#[test]
fn a_version_counts_as_proven_only_when_all_of_its_cells_passed() {
    let manifest = manifest();
    for (name, pin) in &Pins::of_this_checkout().unwrap().programs {
        let Some(proven) = ibid_harness::find(name).and_then(|h| ibid_harness::proven(h.declaration().id))
        else {
            continue;
        };
        assert_eq!(proven.version, pin.latest, "{name}");
        let is_it = |side: &Named| side.harness == *name && side.version.as_ref() == Some(&proven.version);
        // A cell with an older version on its other side says nothing of this one.
        let cells = manifest
            .cells
            .iter()
            .filter(|cell| !cell.older && std::iter::once(&cell.source).chain(&cell.target).any(is_it));
        let cells: Vec<_> = cells.collect();
        assert!(cells.len() >= 10, "{name} has {} cells", cells.len());
        for cell in cells {
            assert_eq!(cell.outcome, Outcome::Passed, "{}", cell.name());
        }
    }
}
