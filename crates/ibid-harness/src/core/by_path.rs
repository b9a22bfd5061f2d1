//! A session that a person names by its file.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use ibid_carrier::fingerprint::Fingerprint;

use super::{AnyHarness, Listed, Reference};

/// How much of a file is looked at to tell whose it is.
const HEAD_BYTES: u64 = 64 * 1024;

/// The session in a file, as a listing would have it, and the harness it is of: the one that
/// recognises name and beginning best. None when no harness does.
///
/// # Errors
/// When the file cannot be read.
pub fn listed_at(
    path: &Path,
    harnesses: &[&'static dyn AnyHarness],
) -> io::Result<Option<(&'static dyn AnyHarness, Listed)>> {
    let file = File::open(path)?;
    let bytes = file.metadata()?.len();
    let mut head = Vec::new();
    file.take(HEAD_BYTES).read_to_end(&mut head)?;
    let best = harnesses
        .iter()
        .map(|harness| (harness.recognises(path, &head), *harness))
        .filter(|(certainty, _)| *certainty > 0)
        // Of equal ones the first counts, and `max_by_key` would take the last.
        .rev()
        .max_by_key(|(certainty, _)| *certainty);
    let Some((_, harness)) = best else { return Ok(None) };
    let fingerprint = Fingerprint::of_file(path).map_err(io::Error::other)?;
    let root = path.parent().unwrap_or(Path::new("")).to_owned();
    let reference = Reference { harness: harness.declaration().id, root, path: path.to_owned(), key: None };
    Ok(Some((harness, Listed { reference, fingerprint, bytes })))
}
