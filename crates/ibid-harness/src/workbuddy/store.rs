//! Which sessions lie in a store: `projects/<folder of the project>/<id>.jsonl`.

use std::path::Path;

use ibid_carrier::jsonl::Document;
use ibid_carrier::walk::WalkOptions;
use ibid_model::{CarrierRole, SessionId};

use super::WorkBuddy;
use super::records::{Body, Row};
use crate::core::{Context, Listing, Reference, Root, RootOrigin, Surroundings, comparable_path};
use crate::families::files::{FilePlace, FilesBody, FilesHarness, files_store, list_single_files};
use crate::families::project_folder::folder_names;

/// The name of the transcript within a session.
pub(super) const TRANSCRIPT: &str = "transcript.jsonl";

/// Names the directory that stands for `~/.workbuddy`.
const HOME: &str = "WORKBUDDY_DIR";

impl FilesHarness for WorkBuddy {
    const NEEDLES: &'static [&'static str] = &["\"ai-title\""];
    const MAIN: &'static str = TRANSCRIPT;

    fn roots(machine: &Surroundings) -> Vec<Root> {
        vec![match machine.directory(HOME) {
            Some(home) => Root { path: home.join("projects"), origin: RootOrigin::Variable(HOME) },
            None => {
                Root { path: machine.home().join(".workbuddy").join("projects"), origin: RootOrigin::Default }
            }
        }]
    }

    fn list(root: &Root, _: &Context<'_>) -> Listing {
        let options = WalkOptions { extensions: &["jsonl"], max_depth: 1, ..WalkOptions::default() };
        let in_folder = |path: &Path| path.parent().is_some_and(|folder| folder != root.path);
        list_single_files::<WorkBuddy>(root, &options, in_folder)
    }

    fn places(reference: &Reference) -> Vec<FilePlace> {
        vec![FilePlace::new(TRANSCRIPT, &reference.path, CarrierRole::Transcript)]
    }

    fn id(body: &FilesBody) -> SessionId {
        let Some((_, file)) = body.file(TRANSCRIPT) else { return SessionId::default() };
        let mut lines = file.document.lines().filter_map(|line| file.document.text_of(line.start, line.end));
        let said = lines.find_map(|text| Row::read(&text).ok()?.session);
        let named =
            || file.path.as_deref().and_then(Path::file_stem).map(|stem| stem.to_string_lossy().into_owned());
        said.map(SessionId::from).or_else(|| named().map(SessionId::from)).unwrap_or_default()
    }

    fn placed_for(reference: &Reference, directory: &Path, _: &Context<'_>) -> bool {
        let folder = reference.path.parent().and_then(Path::file_name);
        let name = folder.map(|folder| comparable_path(Path::new(folder)));
        name.as_deref().and_then(Path::to_str).is_some_and(|name| folder_names(directory).contains(name))
    }

    fn recognises(path: &Path, head: &[u8]) -> u8 {
        let records = Document::from_bytes(head.to_vec()).read_records(Row::read);
        let in_place = path.components().any(|component| component.as_os_str() == ".workbuddy");
        let Some(first) = records.items.first() else { return 0 };
        let known = !matches!(first.value.body, Body::Unknown { .. } | Body::Malformed(_));
        // Rows of Codex's oldest files look alike and name no session.
        match (known && first.value.session.is_some(), in_place) {
            (true, true) => 90,
            (true, false) => 45,
            (false, _) => 0,
        }
    }
}

files_store!(WorkBuddy);
