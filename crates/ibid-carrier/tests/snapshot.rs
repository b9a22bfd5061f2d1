//! Reading databases that another program has in use: everything is seen, nothing is touched.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test states what it expects, in its functions too"
)]

use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, SystemTime};

use ibid_carrier::sqlite::{Snapshot, SqliteError, read_rows};
use rusqlite::{Connection, TransactionBehavior};
use tempfile::TempDir;

struct Place {
    _directory: TempDir,
    store: PathBuf,
    cache: PathBuf,
}

impl Place {
    fn new() -> Place {
        let directory = tempfile::tempdir().unwrap();
        let (store, cache) = (directory.path().join("a store"), directory.path().join("cache"));
        fs::create_dir(&store).unwrap();
        Place { store, cache, _directory: directory }
    }

    fn database(&self) -> PathBuf {
        // Everything that has a meaning in an address and may stand in a name.
        self.store.join(if cfg!(windows) { "50% of #1 é.db" } else { "50% of #1? é.db" })
    }

    /// A writer that has the database open, with one row in it.
    fn writer(&self, journal_mode: &str) -> Connection {
        let connection = Connection::open(self.database()).unwrap();
        connection
            .execute_batch(&format!(
                "PRAGMA journal_mode = {journal_mode};
                 CREATE TABLE message (id INTEGER PRIMARY KEY, text TEXT);
                 INSERT INTO message VALUES (1, 'one');"
            ))
            .unwrap();
        connection
    }

    fn snapshot(&self) -> Result<Snapshot, SqliteError> {
        Snapshot::open(&self.database(), &self.cache)
    }

    fn copies(&self) -> Vec<PathBuf> {
        let shelves = fs::read_dir(self.cache.join("databases")).unwrap();
        let files = shelves.flat_map(|shelf| fs::read_dir(shelf.unwrap().path()).unwrap());
        let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
        files.sort();
        files
    }

    /// Names, sizes and times of everything in the store, the directory itself included.
    fn listing(&self) -> Vec<(PathBuf, u64, SystemTime)> {
        let look = |path: &Path| {
            let metadata = fs::symlink_metadata(path).unwrap();
            (path.to_owned(), metadata.len(), metadata.modified().unwrap())
        };
        let mut listing = vec![look(&self.store)];
        listing.extend(fs::read_dir(&self.store).unwrap().map(|entry| look(&entry.unwrap().path())));
        listing.sort();
        listing
    }
}

fn count(snapshot: &Snapshot) -> usize {
    read_rows(snapshot.connection(), "message", "", &[]).unwrap().rows.len()
}

// https://github.com/getpaseo/paseo/issues/3297
// fault 37
#[test]
fn reading_beside_a_writer_with_a_log_touches_nothing_and_sees_everything() {
    let place = Place::new();
    let writer = place.writer("WAL");
    writer.execute("INSERT INTO message VALUES (2, 'only in the log')", []).unwrap();
    let before = place.listing();
    assert_eq!(before.len(), 4, "the writer keeps -wal and -shm: {before:?}");
    let snapshot = place.snapshot().unwrap();
    assert!(!snapshot.is_in_place());
    assert_eq!(count(&snapshot), 2);
    snapshot.verify().unwrap();
    drop(snapshot);
    assert_eq!(place.listing(), before);
}

// fault 37
#[test]
fn reading_in_place_touches_nothing() {
    let place = Place::new();
    drop(place.writer("DELETE"));
    let before = place.listing();
    assert_eq!(before.len(), 2);
    let snapshot = place.snapshot().unwrap();
    assert!(snapshot.is_in_place());
    assert_eq!(count(&snapshot), 1);
    snapshot.verify().unwrap();
    drop(snapshot);
    assert_eq!(place.listing(), before);
}

// fault 37
#[test]
fn a_database_in_log_mode_that_nobody_has_open_is_read_in_place_without_making_a_log() {
    let place = Place::new();
    drop(place.writer("WAL"));
    let before = place.listing();
    let snapshot = place.snapshot().unwrap();
    assert!(snapshot.is_in_place());
    assert_eq!(count(&snapshot), 1);
    drop(snapshot);
    assert_eq!(place.listing(), before);
}

// https://github.com/AstroQore/vibe-bar/pull/184
// fault 50
#[test]
fn an_open_write_transaction_is_not_seen_and_does_not_hinder() {
    for mode in ["WAL", "DELETE"] {
        let place = Place::new();
        let mut writer = place.writer(mode);
        let transaction = writer.transaction_with_behavior(TransactionBehavior::Immediate).unwrap();
        transaction.execute("INSERT INTO message VALUES (2, 'not yet')", []).unwrap();
        let before = place.listing();
        let snapshot = place.snapshot().unwrap();
        assert_eq!(count(&snapshot), 1, "{mode}");
        snapshot.verify().unwrap();
        assert_eq!(place.listing(), before, "{mode}");
        transaction.commit().unwrap();
        drop(snapshot);
        assert_eq!(count(&place.snapshot().unwrap()), 2, "{mode}");
    }
}

// https://github.com/AstroQore/vibe-bar/pull/184
// fault 50
#[test]
fn a_log_that_grew_is_another_state_though_the_main_file_is_the_same() {
    let place = Place::new();
    let writer = place.writer("WAL");
    let main = fs::metadata(place.database()).unwrap();
    let first = place.snapshot().unwrap();
    sleep(Duration::from_millis(30));
    writer.execute("INSERT INTO message VALUES (2, 'two')", []).unwrap();
    let now = fs::metadata(place.database()).unwrap();
    assert_eq!((main.len(), main.modified().unwrap()), (now.len(), now.modified().unwrap()));
    let second = place.snapshot().unwrap();
    assert_ne!(first.state().digest(), second.state().digest());
    assert_eq!((count(&first), count(&second)), (1, 2));
}

#[test]
fn a_database_that_is_written_while_it_is_read_in_place_fails_the_check_afterwards() {
    let place = Place::new();
    let writer = place.writer("DELETE");
    let snapshot = place.snapshot().unwrap();
    snapshot.verify().unwrap();
    writer.execute("INSERT INTO message VALUES (2, 'two')", []).unwrap();
    assert!(matches!(snapshot.verify(), Err(SqliteError::Changed { .. })));
    assert_eq!(count(&place.snapshot().unwrap()), 2);
}

#[test]
fn the_copy_is_reused_until_the_database_changes_and_then_cleared_away() {
    let place = Place::new();
    let writer = place.writer("WAL");
    sleep(Duration::from_millis(30));
    drop(place.snapshot().unwrap());
    let first = place.copies();
    assert_eq!(first.len(), 1);
    let made = fs::metadata(&first[0]).unwrap().modified().unwrap();
    drop(place.snapshot().unwrap());
    assert_eq!(place.copies(), first);
    assert_eq!(fs::metadata(&first[0]).unwrap().modified().unwrap(), made);
    writer.execute("INSERT INTO message VALUES (2, 'two')", []).unwrap();
    sleep(Duration::from_millis(30));
    drop(place.snapshot().unwrap());
    let second = place.copies();
    assert_eq!(second.len(), 1);
    assert_ne!(second, first);
}

#[cfg(unix)]
#[test]
fn copies_are_for_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    let _writer = place.writer("WAL");
    drop(place.snapshot().unwrap());
    let copy = place.copies().remove(0);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&copy), 0o600);
    assert_eq!(mode(copy.parent().unwrap()), 0o700);
    assert_eq!(mode(&place.cache.join("databases")), 0o700);
}

#[cfg(unix)]
#[test]
fn a_directory_that_cannot_be_written_can_be_read() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    let writer = place.writer("WAL");
    fs::set_permissions(&place.store, fs::Permissions::from_mode(0o500)).unwrap();
    let before = place.listing();
    assert_eq!(count(&place.snapshot().unwrap()), 1);
    assert_eq!(place.listing(), before);
    fs::set_permissions(&place.store, fs::Permissions::from_mode(0o700)).unwrap();
    drop(writer);
    fs::set_permissions(&place.store, fs::Permissions::from_mode(0o500)).unwrap();
    let before = place.listing();
    assert_eq!(count(&place.snapshot().unwrap()), 1);
    assert_eq!(place.listing(), before);
    fs::set_permissions(&place.store, fs::Permissions::from_mode(0o700)).unwrap();
}

/// Reading must not wait for someone to write into a pipe that lies where a log would.
#[cfg(unix)]
#[test]
fn a_pipe_beside_a_database_is_named_and_not_opened() {
    for suffix in ["-wal", "-journal"] {
        let place = Place::new();
        drop(place.writer("DELETE"));
        let pipe = PathBuf::from(format!("{}{suffix}", place.database().display()));
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let error = place.snapshot().unwrap_err().to_string();
        assert!(error.contains(suffix) && error.contains("not a regular file"), "{error}");
    }
}

/// The cache directory of a home on a read-only disk: only the mark of the quick check is lost.
#[test]
fn reading_in_place_needs_no_cache_directory() {
    let place = Place::new();
    drop(place.writer("DELETE"));
    fs::write(&place.cache, "a file where the directory would be").unwrap();
    let snapshot = place.snapshot().unwrap();
    assert!(snapshot.is_in_place());
    assert_eq!(count(&snapshot), 1);
}

/// A writer that died in the middle of a transaction leaves a journal with the old pages, and new
/// pages in the main file.
#[test]
fn what_a_dead_writer_left_half_done_is_rolled_back_in_the_copy_alone() {
    let place = Place::new();
    let mut writer = place.writer("DELETE");
    writer.execute_batch("PRAGMA cache_size = 1; PRAGMA cache_spill = 1;").unwrap();
    let transaction = writer.transaction_with_behavior(TransactionBehavior::Immediate).unwrap();
    for id in 2..400 {
        let text = "not yet ".repeat(100);
        transaction.execute("INSERT INTO message VALUES (?1, ?2)", (id, text)).unwrap();
    }
    // What the disk holds at this moment is what a crash would leave behind.
    let dead = Place::new();
    for suffix in ["", "-journal"] {
        let beside = |database: PathBuf| PathBuf::from(format!("{}{suffix}", database.display()));
        fs::copy(beside(place.database()), beside(dead.database())).unwrap();
    }
    transaction.rollback().unwrap();
    let before = dead.listing();
    assert_eq!(before.len(), 3);
    let snapshot = dead.snapshot().unwrap();
    assert!(!snapshot.is_in_place());
    assert_eq!(count(&snapshot), 1);
    assert_eq!(dead.listing(), before);
}

// https://github.com/vshulcz/deja-vu/issues/993
// fault 39
#[test]
fn absent_damaged_and_foreign_files_are_told_apart() {
    let place = Place::new();
    let absent = place.snapshot().unwrap_err();
    assert!(absent.is_absence());

    fs::write(place.database(), "not a database, whatever its name says").unwrap();
    let foreign = place.snapshot().unwrap_err();
    assert_eq!(foreign.finding(&place.database()).kind.code(), "damaged-database");

    fs::remove_file(place.database()).unwrap();
    let writer = place.writer("DELETE");
    let text = "some text to fill the pages".repeat(1000);
    writer.execute("INSERT INTO message VALUES (2, ?1)", [text]).unwrap();
    drop(writer);
    let mut file = fs::OpenOptions::new().write(true).open(place.database()).unwrap();
    file.seek(SeekFrom::Start(4096 * 3)).unwrap();
    file.write_all(&[0xff; 4096]).unwrap();
    drop(file);
    let damaged = place.snapshot().unwrap_err();
    assert_eq!(damaged.finding(&place.database()).kind.code(), "damaged-database");

    fs::remove_file(place.database()).unwrap();
    fs::create_dir(place.database()).unwrap();
    assert!(matches!(place.snapshot(), Err(SqliteError::Damaged { .. })));
}

#[test]
fn a_database_that_never_rests_is_busy_and_not_empty() {
    let place = Place::new();
    drop(place.writer("DELETE"));
    let stop = std::sync::atomic::AtomicBool::new(false);
    let begun = std::sync::Barrier::new(3);
    std::thread::scope(|threads| {
        // Two of them, without a rest: on a loaded machine one may have to wait for its turn.
        for _ in 0..2 {
            threads.spawn(|| {
                let file = fs::OpenOptions::new().write(true).open(place.database()).unwrap();
                file.set_modified(SystemTime::now()).unwrap();
                begun.wait();
                while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                    file.set_modified(SystemTime::now()).unwrap();
                    std::thread::yield_now();
                }
            });
        }
        begun.wait();
        // A writer that has to wait for the processor is at rest for that long; it is not for ever.
        let looks = (0..50).find_map(|_| match place.snapshot() {
            Ok(snapshot) => {
                let rows: i64 = snapshot
                    .connection()
                    .query_row("SELECT count(*) FROM message", [], |row| row.get(0))
                    .unwrap();
                assert!(rows > 0, "a database that is busy is not empty");
                None
            }
            Err(error) => Some(error),
        });
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        let busy = looks.expect("fifty looks at a database that never rests find it busy once");
        assert!(matches!(busy, SqliteError::Busy { .. }), "{busy}");
        assert_eq!(busy.finding(&place.database()).kind.code(), "busy");
    });
}

/// Every row that a writer commits holds the sum of those before it: a copy that mixes two moments
/// would not add up.
#[test]
fn copies_made_beside_a_busy_writer_each_belong_to_one_moment() {
    let place = Place::new();
    let writer = place.writer("WAL");
    writer.execute_batch("PRAGMA wal_autocheckpoint = 20; DELETE FROM message;").unwrap();
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|threads| {
        threads.spawn(|| {
            let mut writer = Connection::open(place.database()).unwrap();
            writer.busy_timeout(Duration::from_secs(5)).unwrap();
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                let transaction = writer.transaction_with_behavior(TransactionBehavior::Immediate).unwrap();
                for _ in 0..20 {
                    transaction
                        .execute("INSERT INTO message (text) SELECT count(*) FROM message", [])
                        .unwrap();
                }
                transaction.commit().unwrap();
                sleep(Duration::from_millis(30));
            }
        });
        let mut seen = 0;
        for _ in 0..10 {
            let snapshot = match place.snapshot() {
                Ok(snapshot) => snapshot,
                Err(SqliteError::Busy { .. }) => continue,
                Err(error) => panic!("{error}"),
            };
            let rows = read_rows(snapshot.connection(), "message", "", &[]).unwrap().rows;
            if snapshot.verify().is_err() {
                continue;
            }
            assert_eq!(rows.len() % 20, 0);
            for (at, row) in rows.iter().enumerate() {
                assert_eq!(row[1].as_str(), Some(at.to_string().as_str()));
            }
            seen += 1;
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(seen > 0);
    });
}

#[test]
fn the_connection_cannot_write() {
    let place = Place::new();
    let _writer = place.writer("WAL");
    let snapshot = place.snapshot().unwrap();
    assert!(snapshot.connection().execute("DELETE FROM message", []).is_err());
}
