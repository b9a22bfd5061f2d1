//! Finding every session of every harness.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use ibid_carrier::jsonl::Limits;
use ibid_model::{Finding, FindingKind, SessionId};
use rayon::prelude::*;

use super::{
    AnyHarness, Context, Discovered, Discovery, DiscoveryCache, HarnessId, Listed, Root, Surroundings,
};

/// How far a discovery has come, for a progress bar.
#[derive(Debug, Default)]
pub struct Progress {
    found: AtomicUsize,
    read: AtomicUsize,
}

impl Progress {
    /// How many sessions were found, and how many of them are read.
    #[must_use]
    pub fn counts(&self) -> (usize, usize) {
        (self.found.load(Ordering::Relaxed), self.read.load(Ordering::Relaxed))
    }
}

/// Finds the sessions of these harnesses, in all of their roots. Sessions whose fingerprint the
/// cache knows are not read again; the cache is brought up to date, and what is gone from a root
/// that could be listed is forgotten.
///
/// One entry for each root comes back, whether or not it is there: an unreadable root has a
/// finding, and is not an empty one.
#[must_use]
pub fn discover(
    harnesses: &[&'static dyn AnyHarness],
    machine: &Surroundings,
    limits: &Limits,
    cache: Option<&mut DiscoveryCache>,
    progress: &Progress,
) -> Vec<Discovery> {
    let context = Context { machine, limits };
    let roots: Vec<(&'static dyn AnyHarness, Root)> = harnesses
        .iter()
        .flat_map(|harness| harness.roots(machine).into_iter().map(|root| (*harness, root)))
        .collect();
    let listings: Vec<_> =
        roots.into_par_iter().map(|(h, root)| (h, h.list(&root, &context), root)).collect();
    let known = cache.as_deref();
    let mut discoveries = Vec::with_capacity(listings.len());
    for (harness, listing, root) in listings {
        progress.found.fetch_add(listing.sessions.len(), Ordering::Relaxed);
        let read: Vec<Result<Discovered, Box<Finding>>> = listing
            .sessions
            .par_iter()
            .map(|listed| {
                let found = match known.and_then(|cache| cache.get(listed)) {
                    Some(discovered) => Ok(discovered),
                    None => describe(harness, listed, &context),
                };
                progress.read.fetch_add(1, Ordering::Relaxed);
                found
            })
            .collect();
        let mut discovery = Discovery {
            harness: harness.declaration().id,
            root,
            present: listing.present,
            sessions: Vec::with_capacity(read.len()),
            findings: listing.findings,
        };
        for found in read {
            match found {
                Ok(session) => discovery.sessions.push(session),
                Err(finding) => discovery.findings.push(*finding),
            }
        }
        discovery.sessions.sort_by(|a, b| {
            (Reverse(a.meta.updated), &a.reference).cmp(&(Reverse(b.meta.updated), &b.reference))
        });
        discoveries.push(discovery);
    }
    if let Some(cache) = cache {
        cache.replace(&discoveries);
    }
    name_copies(&mut discoveries);
    discoveries
}

/// A session that lies in two roots of a harness stays two entries, since the two may differ; each
/// root but the first one has a finding that names the other place.
fn name_copies(discoveries: &mut [Discovery]) {
    let mut first: HashMap<(HarnessId, SessionId), PathBuf> = HashMap::new();
    for discovery in discoveries {
        for session in &discovery.sessions {
            let place = &session.reference;
            match first.entry((discovery.harness, session.id.clone())) {
                Entry::Vacant(entry) => {
                    entry.insert(place.path.clone());
                }
                Entry::Occupied(entry) if !entry.get().starts_with(&place.root) => {
                    let detail = format!("the same session lies at {} too", entry.get().display());
                    discovery.findings.push(Finding::new(FindingKind::Variants, detail).at_path(&place.path));
                }
                Entry::Occupied(_) => {}
            }
        }
    }
}

fn describe(
    harness: &dyn AnyHarness,
    listed: &Listed,
    context: &Context<'_>,
) -> Result<Discovered, Box<Finding>> {
    harness.describe(listed, context).map_err(|error| {
        Box::new(Finding::new(FindingKind::Unreadable, error.to_string()).at_path(&listed.reference.path))
    })
}
