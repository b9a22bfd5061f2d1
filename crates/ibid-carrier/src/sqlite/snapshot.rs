//! Reading a database that another program owns, without touching anything beside it.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::state::{beside, open_regular, short_digest};
use super::{DatabaseState, SqliteError};

/// How often a database that changes while it is copied is tried again; with the waits below,
/// about two seconds in all.
const ATTEMPTS: u32 = 10;

/// From this attempt on, a rollback journal that does not go away is taken into the copy, where
/// SQLite rolls it back as the harness itself would.
const JOURNAL_PATIENCE: u32 = 5;

/// Copies that were begun and not finished are removed after this long: their process is gone.
const ABANDONED_AFTER: Duration = Duration::from_secs(3600);

fn wait_before(attempt: u32) {
    thread::sleep(Duration::from_millis(u64::from(20 * 2_u32.pow(attempt.min(4)))));
}

/// A database at one moment, open for reading.
///
/// Without a write-ahead log it is read in place as immutable: SQLite then takes no lock and
/// creates no file, and [`verify`](Snapshot::verify) says afterwards whether it stayed as it was.
/// With a log (or a journal that is to be rolled back) a private copy is read, which only its
/// owner can open. Copies are kept in the cache directory until the database changes; reading in
/// place does without that directory where it cannot be written.
#[derive(Debug)]
pub struct Snapshot {
    connection: Connection,
    origin: PathBuf,
    state: DatabaseState,
    in_place: bool,
}

impl Snapshot {
    /// Opens the database at `database`; copies go into `cache_dir/databases`, which is made when
    /// it is missing and is readable for its owner alone.
    ///
    /// The first time a state of the database is seen, SQLite's quick check runs over it: that
    /// reads it once from end to end.
    ///
    /// # Errors
    /// [`SqliteError::NotFound`], [`SqliteError::Busy`] (it kept changing for about two seconds),
    /// [`SqliteError::Damaged`], [`SqliteError::NoSpace`], or what the operating system said.
    pub fn open(database: &Path, cache_dir: &Path) -> Result<Snapshot, SqliteError> {
        let origin = fs::canonicalize(database).map_err(|error| SqliteError::io(database, error))?;
        let shelf = cache_dir.join("databases").join(short_digest(origin.as_os_str().as_encoded_bytes()));
        for attempt in 0..ATTEMPTS {
            let before = DatabaseState::read(&origin)?;
            if before.is_fresh() || (before.has_hot_journal() && attempt < JOURNAL_PATIENCE) {
                wait_before(attempt);
                continue;
            }
            let opened = if before.is_single_file() {
                open_in_place(&origin, &shelf, &before)?
            } else {
                open_copy(&origin, &shelf, &before, attempt)?
            };
            if let Some(connection) = opened {
                let in_place = before.is_single_file();
                return Ok(Snapshot { connection, origin, state: before, in_place });
            }
            wait_before(attempt);
        }
        Err(SqliteError::Busy { path: origin, detail: "it kept changing while it was copied".to_owned() })
    }

    /// The connection to read with. It can only read.
    #[must_use]
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// The state of the database that was read; a cache may be keyed with it.
    #[must_use]
    pub fn state(&self) -> &DatabaseState {
        &self.state
    }

    /// The database that was asked for, with links resolved.
    #[must_use]
    pub fn origin(&self) -> &Path {
        &self.origin
    }

    /// Whether the original itself is being read, not a copy.
    #[must_use]
    pub fn is_in_place(&self) -> bool {
        self.in_place
    }

    /// Says whether everything read so far belongs to one moment. Call it after reading and
    /// before using what was read. A copy always does.
    ///
    /// # Errors
    /// [`SqliteError::Changed`] when the database was written while it was read in place: what was
    /// read must be thrown away, and the database opened again.
    pub fn verify(&self) -> Result<(), SqliteError> {
        if !self.in_place {
            return Ok(());
        }
        match DatabaseState::read(&self.origin) {
            Ok(now) if now == self.state => Ok(()),
            _ => Err(SqliteError::Changed { path: self.origin.clone() }),
        }
    }
}

/// Opens the original as immutable. `None`: it changed meanwhile.
fn open_in_place(
    origin: &Path,
    shelf: &Path,
    before: &DatabaseState,
) -> Result<Option<Connection>, SqliteError> {
    // The mark says that the quick check has passed on exactly this state. Where none can be left
    // (a home on a read-only disk), the check runs each time.
    let mark = shelf.join(format!("{}.checked", before.digest()));
    let checked = mark.exists();
    let result = open_immutable(origin).and_then(|connection| {
        if !checked {
            quick_check(&connection, origin)?;
        }
        Ok(connection)
    });
    if DatabaseState::read(origin)? != *before {
        return Ok(None);
    }
    let connection = result?;
    if !checked && make_private_directory(shelf).and_then(|()| create_private(&mark)).is_ok() {
        remove_stale(shelf, &mark);
    }
    Ok(Some(connection))
}

/// Opens a copy of this state, made now or earlier. `None`: it changed meanwhile.
fn open_copy(
    origin: &Path,
    shelf: &Path,
    before: &DatabaseState,
    attempt: u32,
) -> Result<Option<Connection>, SqliteError> {
    // A log that is being written this very moment may get another content of the same size and
    // time; wait once, and if it goes on, use a copy that nobody else will find.
    let fresh = before.wal_is_fresh();
    if fresh && attempt == 0 {
        return Ok(None);
    }
    let name = if fresh { format!("once-{}.db", unique()) } else { format!("{}.db", before.digest()) };
    let shelved = shelf.join(name);
    if !fresh && shelved.exists() {
        match open_immutable(&shelved) {
            Ok(connection) => return Ok(Some(connection)),
            // Another process replaced it just now.
            Err(_) if !shelved.exists() => {}
            Err(error) => return Err(error),
        }
    }
    make_private_directory(shelf)?;
    let draft = Draft::new(shelf);
    let result = draft.fill(origin, before);
    if !before.copied_whole(&DatabaseState::read(origin)?) {
        return Ok(None);
    }
    result?;
    draft.settle(origin)?;
    fs::rename(&draft.database, &shelved).map_err(|error| SqliteError::io(&shelved, error))?;
    match open_immutable(&shelved) {
        Ok(connection) => {
            remove_stale(shelf, &shelved);
            Ok(Some(connection))
        }
        // Another process that reads a later state cleared it away.
        Err(_) if !shelved.exists() => Ok(None),
        Err(error) => Err(error),
    }
}

/// A copy in the making. Dropping it removes what is left of it.
struct Draft {
    database: PathBuf,
}

impl Draft {
    fn new(shelf: &Path) -> Draft {
        Draft { database: shelf.join(format!("draft-{}", unique())) }
    }

    /// Copies the log first and the main file second: a checkpoint between the two would change
    /// the main file's time, which is looked at again afterwards.
    fn fill(&self, origin: &Path, state: &DatabaseState) -> Result<(), SqliteError> {
        // SQLite moves the log into the main file afterwards, which may then be as large as both.
        let needed = state.bytes().saturating_mul(2).saturating_add(1 << 20);
        let shelf = self.database.parent().unwrap_or(&self.database);
        let available = fs4::available_space(shelf).map_err(|error| SqliteError::io(shelf, error))?;
        if available < needed {
            return Err(SqliteError::NoSpace { path: shelf.to_owned(), needed, available });
        }
        if state.has_wal() {
            copy_private(&beside(origin, "-wal"), &beside(&self.database, "-wal"))?;
        }
        if state.has_hot_journal() {
            copy_private(&beside(origin, "-journal"), &beside(&self.database, "-journal"))?;
        }
        copy_private(origin, &self.database)
    }

    /// Lets SQLite bring log or journal into the copy, so that one file is left, and checks it.
    fn settle(&self, origin: &Path) -> Result<(), SqliteError> {
        let named = |error| SqliteError::at(origin, error);
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&self.database, flags).map_err(named)?;
        harden(&connection).map_err(named)?;
        // In exclusive mode the log needs no shared-memory file.
        connection.pragma_update(None, "locking_mode", "EXCLUSIVE").map_err(named)?;
        let mode: String =
            connection.query_row("PRAGMA journal_mode = DELETE", [], |row| row.get(0)).map_err(named)?;
        if mode != "delete" {
            let detail = format!("its log could not be brought in: journal mode {mode}");
            return Err(SqliteError::Damaged { path: origin.to_owned(), detail });
        }
        quick_check(&connection, origin)?;
        connection.close().map_err(|(_, error)| named(error))
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        for suffix in ["", "-wal", "-journal", "-shm"] {
            // Nothing is there after success; after a failure the hourly clearing comes again.
            let _ = fs::remove_file(beside(&self.database, suffix));
        }
    }
}

fn unique() -> String {
    uuid::Uuid::new_v4().simple().to_string()
}

fn create_private(path: &Path) -> Result<File, SqliteError> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map_err(|error| SqliteError::io(path, error))
}

fn copy_private(from: &Path, to: &Path) -> Result<(), SqliteError> {
    // The log may be removed meanwhile: the look afterwards sees it.
    let Some((mut source, _)) = open_regular(from)? else { return Ok(()) };
    let mut target = create_private(to)?;
    io::copy(&mut source, &mut target).map(drop).map_err(|error| SqliteError::io(to, error))
}

fn make_private_directory(path: &Path) -> Result<(), SqliteError> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(|error| SqliteError::io(path, error))
}

/// Removes what is kept of earlier states of the same database. A reader that still has one open
/// keeps it (on Windows the removal fails instead, and the next one gets it).
fn remove_stale(shelf: &Path, keep: &Path) {
    let Ok(entries) = fs::read_dir(shelf) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        let age = entry.metadata().and_then(|metadata| metadata.modified()).ok();
        let age = age.and_then(|time| SystemTime::now().duration_since(time).ok()).unwrap_or_default();
        let draft = entry.file_name().to_string_lossy().starts_with("draft-");
        if path != keep && (!draft || age > ABANDONED_AFTER) {
            let _ = fs::remove_file(path);
        }
    }
}

/// A database from another program is input: its schema must not make SQLite call functions or
/// write anywhere.
fn harden(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    connection.pragma_update(None, "temp_store", "MEMORY")
}

fn open_immutable(path: &Path) -> Result<Connection, SqliteError> {
    let named = |error| SqliteError::at(path, error);
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let uri = format!("file:{}?mode=ro&immutable=1", uri_path(path));
    let connection = Connection::open_with_flags(uri, flags).map_err(named)?;
    harden(&connection).map_err(named)?;
    connection.pragma_update(None, "query_only", true).map_err(named)?;
    // SQLite reads nothing until it is asked: a file that is no database shows here.
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(())).map_err(named)?;
    Ok(connection)
}

/// The path as SQLite's `file:` addresses spell it: every byte that is not plain is escaped.
fn uri_path(path: &Path) -> String {
    let bytes = path.as_os_str().as_encoded_bytes();
    // Resolved paths on Windows begin with a mark that has no place in an address.
    let bytes = bytes.strip_prefix(br"\\?\").filter(|_| cfg!(windows)).unwrap_or(bytes);
    let mut out = String::with_capacity(bytes.len() + 1);
    // `C:\dir` is written `/C:/dir`.
    if cfg!(windows) {
        out.push('/');
    }
    for byte in bytes {
        match byte {
            b'\\' if cfg!(windows) => out.push('/'),
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b':' => {
                out.push(char::from(*byte));
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// SQLite's own check of the structure. It does not say that it failed when it cannot run (a
/// schema that needs an extension which is not here): reading then still checks each page.
fn quick_check(connection: &Connection, origin: &Path) -> Result<(), SqliteError> {
    let verdict = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0));
    match verdict {
        Ok(verdict) if verdict == "ok" => Ok(()),
        Ok(detail) => Err(SqliteError::Damaged { path: origin.to_owned(), detail }),
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::Unknown) => Ok(()),
        Err(error) => Err(SqliteError::at(origin, error)),
    }
}
