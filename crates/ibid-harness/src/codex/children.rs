//! The subagents of a thread.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use ibid_model::SessionId;
use memchr::memmem;

use super::files::{self, RolloutFile};
use super::{DECLARATION, store};
use crate::core::{Context, Reference};

/// How much of a header is looked at: the parent stands before the instructions, which are long.
const HEAD_BYTES: u64 = 16 << 10;

/// The threads that name this one as their parent, sorted by path. A subagent begins after its
/// parent began and before it was last written, so only files of those days are looked at.
pub(super) fn children(reference: &Reference, context: &Context<'_>) -> Vec<Reference> {
    let own = match files::header(&reference.path, context.limits) {
        Ok(Some(meta)) => meta.id.unwrap_or_else(|| store::named_id(&reference.path)),
        _ => store::named_id(&reference.path),
    };
    let first_day = first_day(&own, &reference.path);
    let (files, _) = files::rollouts(&reference.root);
    let (groups, _) = files::groups(files);
    let candidates = groups.into_iter().filter_map(|group| group.live().cloned()).filter(|file| {
        file.path != reference.path
            && file.name().is_some_and(|name| name.time.get(..10).is_none_or(|day| day >= first_day.as_str()))
    });
    candidates
        .filter(|file| is_child(file, &own, context))
        .map(|file| Reference {
            harness: DECLARATION.id,
            root: reference.root.clone(),
            path: file.path,
            key: None,
        })
        .collect()
}

/// The day before the thread began, as names write it: their time is local, so a day more or less
/// is possible. Empty when nothing tells, which is before every day.
fn first_day(id: &SessionId, path: &Path) -> String {
    let began = super::records::time_of_id(id.as_str());
    if let Some(began) = began {
        let day = began.to_jiff() - jiff::SignedDuration::from_hours(24);
        return day.strftime("%Y-%m-%d").to_string();
    }
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    super::names::RolloutName::of(&name).and_then(|name| name.time.get(..10)).unwrap_or_default().to_owned()
}

fn is_child(file: &RolloutFile, own: &SessionId, context: &Context<'_>) -> bool {
    let compressed = file.name().is_some_and(|name| name.compressed);
    if !compressed {
        let mut head = Vec::new();
        let read = File::open(&file.path).and_then(|open| open.take(HEAD_BYTES).read_to_end(&mut head));
        if read.is_err() || memmem::find(&head, own.as_str().as_bytes()).is_none() {
            return false;
        }
    }
    let meta = files::header(&file.path, context.limits).ok().flatten();
    meta.is_some_and(|meta| meta.parent.as_ref() == Some(own))
}
