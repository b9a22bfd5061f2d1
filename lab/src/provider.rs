//! The scripted provider, as a sandbox runs it.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use ibid_testkit::provider::{Options, Provider as Running};

use crate::lab::PICTURE_FILE;
use crate::programs::PORT;
use crate::sandbox::Provider;

/// Starts the provider that is wanted, with its log in the folder `out`.
///
/// # Errors
/// When it cannot listen or write its log.
pub(crate) fn start(wanted: &Provider, out: &Path, workspace: &str) -> Result<Running> {
    let options = Options {
        port: PORT,
        log: Some(out.join(&wanted.log)),
        strict: wanted.strict,
        context_limit: wanted.context,
        workspace: PathBuf::from(workspace),
        image: PICTURE_FILE.to_owned(),
        ..Options::default()
    };
    Running::start(options).context("the provider")
}
