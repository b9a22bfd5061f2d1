//! Where a step may write.

use std::fs;
use std::path::{Component, Path, PathBuf};

use super::PlanError;

/// The path with every link in its directories resolved, as far as they exist. The last component
/// is not resolved: a link there is for the step to judge.
///
/// Refuses relative paths, `..`, and directories that are dangling links.
pub(super) fn resolve(path: &Path) -> Result<PathBuf, PlanError> {
    let outside = || PlanError::Outside { path: path.to_owned() };
    if !path.is_absolute() || path.components().any(|part| part == Component::ParentDir) {
        return Err(outside());
    }
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Err(outside()) };
    Ok(resolve_directory(parent)?.join(name))
}

fn resolve_directory(path: &Path) -> Result<PathBuf, PlanError> {
    match fs::canonicalize(path) {
        Ok(resolved) => return Ok(resolved),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(PlanError::io("look at", path, error)),
    }
    if fs::symlink_metadata(path).is_ok() {
        return Err(PlanError::NotPlain { path: path.to_owned() });
    }
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => Ok(resolve_directory(parent)?.join(name)),
        _ => Err(PlanError::Missing { path: path.to_owned() }),
    }
}

/// The roots of a policy, resolved.
pub(super) struct Roots(Vec<PathBuf>);

impl Roots {
    pub(super) fn new(roots: &[PathBuf]) -> Result<Roots, PlanError> {
        roots.iter().map(|root| resolve_directory(root)).collect::<Result<_, _>>().map(Roots)
    }

    /// The resolved path, when it lies within one of the roots, and that root.
    pub(super) fn admit(&self, path: &Path) -> Result<(PathBuf, &Path), PlanError> {
        let resolved = resolve(path)?;
        match self.0.iter().find(|root| resolved.starts_with(root)) {
            Some(root) => Ok((resolved, root)),
            None => Err(PlanError::Outside { path: resolved }),
        }
    }
}

/// Looks once more, right before something is published: a directory on the way may have become a
/// link since it was resolved.
pub(super) fn check_still_resolved(path: &Path) -> Result<(), PlanError> {
    if resolve(path)? == path { Ok(()) } else { Err(PlanError::Outside { path: path.to_owned() }) }
}
