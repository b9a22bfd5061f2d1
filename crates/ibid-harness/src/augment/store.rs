//! Which documents lie in a store.

use std::path::Path;

use ibid_carrier::walk::WalkOptions;
use ibid_model::{CarrierRole, SessionId};
use memchr::memmem;

use super::Augment;
use crate::core::{Context, Listing, Reference, Root, RootOrigin, Surroundings};
use crate::families::files::{FilePlace, FilesBody, FilesHarness, files_store, list_single_files};
use crate::families::values::{Value, whole_text};

/// The name of the document within a session.
pub(super) const DOCUMENT: &str = "session.json";

/// Names the directory that stands for `~/.augment`.
const HOME: &str = "AUGMENT_HOME";

impl FilesHarness for Augment {
    const MAIN: &'static str = DOCUMENT;

    fn roots(machine: &Surroundings) -> Vec<Root> {
        vec![match machine.directory(HOME) {
            Some(home) => Root { path: home.join("sessions"), origin: RootOrigin::Variable(HOME) },
            None => {
                Root { path: machine.home().join(".augment").join("sessions"), origin: RootOrigin::Default }
            }
        }]
    }

    fn list(root: &Root, _: &Context<'_>) -> Listing {
        let options = WalkOptions { extensions: &["json"], max_depth: 0, ..WalkOptions::default() };
        list_single_files::<Augment>(root, &options, |_| true)
    }

    fn places(reference: &Reference) -> Vec<FilePlace> {
        vec![FilePlace::new(DOCUMENT, &reference.path, CarrierRole::Transcript)]
    }

    fn id(body: &FilesBody) -> SessionId {
        let Some((_, file)) = body.file(DOCUMENT) else { return SessionId::default() };
        let (text, _) = whole_text(&file.document);
        let said = Value::of(&text).ok().and_then(|value| value.fields()?.filled("sessionId"));
        let named =
            || file.path.as_deref().and_then(Path::file_stem).map(|stem| stem.to_string_lossy().into_owned());
        said.map(SessionId::from).or_else(|| named().map(SessionId::from)).unwrap_or_default()
    }

    fn recognises(path: &Path, head: &[u8]) -> u8 {
        let starts = head.trim_ascii_start().first() == Some(&b'{');
        let has = |name: &str| memmem::find(head, name.as_bytes()).is_some();
        match starts && has("\"chatHistory\"") && (has("\"sessionId\"") || has("\"exchange\"")) {
            true if path.extension().is_some_and(|ending| ending == "json") => 80,
            true => 60,
            false => 0,
        }
    }
}

files_store!(Augment);
