//! Where sessions lie: `projects/<folder>/chats/<id>.jsonl`, those put away in `chats/archive`, and
//! the transcripts of subagents in `projects/<folder>/subagents/<id>/agent-<name>.jsonl`.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use ibid_carrier::jsonl::Document;
use ibid_carrier::walk::WalkOptions;
use ibid_model::{CarrierRole, SessionId, Text};

use super::records::{Kind, Row};
use super::{DECLARATION, NOTE, Qwen, TRANSCRIPT};
use crate::core::{Class, Common, Context, Listing, Reference, Root, RootOrigin, Surroundings};
use crate::families::files::{FilePlace, FilesBody, FilesHarness, files_store, list_single_files};
use crate::families::pi_tree::Parent;

/// Where everything goes that the program writes as it runs.
const RUNTIME: &str = "QWEN_RUNTIME_DIR";

/// Stands for `~/.qwen`.
const HOME: &str = "QWEN_HOME";

const CHATS: &str = "chats";
const ARCHIVE: &str = "archive";
const SUBAGENTS: &str = "subagents";

impl FilesHarness for Qwen {
    const NEEDLES: &'static [&'static str] = &["custom_title", "parent_session", "\"rewind\""];
    const MAIN: &'static str = TRANSCRIPT;

    fn roots(machine: &Surroundings) -> Vec<Root> {
        let named = [RUNTIME, HOME].into_iter().find_map(|name| Some((name, machine.directory(name)?)));
        vec![match named {
            Some((name, directory)) => {
                Root { path: directory.join("projects"), origin: RootOrigin::Variable(name) }
            }
            None => Root { path: machine.home().join(".qwen").join("projects"), origin: RootOrigin::Default },
        }]
    }

    fn list(root: &Root, _: &Context<'_>) -> Listing {
        let options = WalkOptions { extensions: &["jsonl"], max_depth: 3, ..WalkOptions::default() };
        list_single_files::<Qwen>(root, &options, |path| is_chat(path) || is_agent(path))
    }

    fn places(reference: &Reference) -> Vec<FilePlace> {
        let path = &reference.path;
        let mut places = vec![FilePlace::new(TRANSCRIPT, path.clone(), CarrierRole::Transcript)];
        if is_agent(path) {
            places.push(FilePlace::new(NOTE, path.with_extension("meta.json"), CarrierRole::Metadata));
        }
        places
    }

    fn id(body: &FilesBody) -> SessionId {
        let first = body.file(TRANSCRIPT).and_then(|(_, file)| first_row(&file.document));
        let stem = || {
            let name = body.path()?.file_stem()?;
            Some(Text::from(name.to_string_lossy().into_owned()))
        };
        match first.map(|row| (row.session, row.agent)) {
            // Rows of a subagent name the session that started it, and only both together name it.
            Some((Some(session), Some(agent))) => SessionId::from(format!("{session}/{agent}")),
            Some((Some(session), None)) => SessionId::from(session),
            Some((None, Some(agent))) => SessionId::from(agent),
            _ => stem().map(SessionId::from).unwrap_or_default(),
        }
    }

    fn class(body: &FilesBody, common: &Common) -> Class {
        let first = body.file(TRANSCRIPT).and_then(|(_, file)| first_row(&file.document));
        let Some(first) = first else { return Class::Other };
        if first.agent.is_some() {
            Class::Sidecar
        } else if matches!(first.parent, Parent::Entry(_)) {
            Class::Partial
        } else if common.session.messages.is_empty() && common.session.events.is_empty() {
            Class::Other
        } else {
            Class::Session
        }
    }

    fn children(reference: &Reference, _: &Context<'_>) -> Vec<Reference> {
        let Some((project, id)) = project_of(&reference.path).zip(reference.path.file_stem()) else {
            return Vec::new();
        };
        let Ok(entries) = fs::read_dir(project.join(SUBAGENTS).join(id)) else { return Vec::new() };
        let mut paths: Vec<PathBuf> = entries
            .filter_map(Result::ok)
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
            .map(|entry| entry.path())
            .filter(|path| is_agent(path))
            .collect();
        paths.sort();
        let child =
            |path| Reference { harness: DECLARATION.id, root: reference.root.clone(), path, key: None };
        paths.into_iter().map(child).collect()
    }

    fn placed_for(reference: &Reference, directory: &Path, _: &Context<'_>) -> bool {
        let folder = project_of(&reference.path).and_then(|project| project.file_name().map(OsStr::to_owned));
        folder.is_some_and(|folder| folders(directory).iter().any(|own| folder == own.as_str()))
    }

    fn recognises(path: &Path, head: &[u8]) -> u8 {
        let document = Document::from_bytes(head.to_vec());
        let Some(row) = first_row(&document) else { return 0 };
        // Claude Code's rows have such an envelope too, and their messages have no parts.
        let own = row.kind != Kind::Unknown && row.session.is_some() && row.uuid.is_some();
        let certain = !row.parts.is_empty() && row.whole.as_str().contains("\"parts\"");
        match (own && (certain || row.system.telemetry.is_some()), is_chat(path) || is_agent(path)) {
            (true, true) => 95,
            (true, false) => 80,
            (false, _) => 0,
        }
    }
}

files_store!(Qwen);

/// Whether a session that lies here was put away.
pub(super) fn is_archived(path: &Path) -> bool {
    path.parent().is_some_and(|folder| is_called(folder, ARCHIVE))
}

fn is_called(path: &Path, name: &str) -> bool {
    path.file_name() == Some(OsStr::new(name))
}

/// A session of its own, also one that was put away.
fn is_chat(path: &Path) -> bool {
    let mut above = path.ancestors().skip(1);
    match above.next() {
        Some(folder) if is_called(folder, CHATS) => true,
        _ => above.next().is_some_and(|folder| is_called(folder, CHATS)),
    }
}

/// The transcript of a subagent.
fn is_agent(path: &Path) -> bool {
    let named = path.file_name().is_some_and(|name| {
        let name = name.to_string_lossy();
        name.starts_with("agent-") && name.ends_with(".jsonl")
    });
    named && path.ancestors().nth(2).is_some_and(|folder| is_called(folder, SUBAGENTS))
}

/// The folder of the project that a session lies in.
fn project_of(path: &Path) -> Option<&Path> {
    let mut above = path.ancestors().skip(1);
    above.find(|folder| is_called(folder, CHATS) || is_called(folder, SUBAGENTS))?.parent()
}

/// What the folder of a directory can be called: every character outside A-Z, a-z and 0-9 is a `-`,
/// counted as JavaScript counts or by characters, and on Windows in lower case.
fn folders(directory: &Path) -> Vec<String> {
    let text = directory.to_string_lossy();
    let fold =
        |c: char, width: usize| if c.is_ascii_alphanumeric() { c.to_string() } else { "-".repeat(width) };
    let units: String = text.chars().map(|c| fold(c, c.len_utf16())).collect();
    let characters: String = text.chars().map(|c| fold(c, 1)).collect();
    let lower = [units.to_ascii_lowercase(), characters.to_ascii_lowercase()];
    [units, characters].into_iter().chain(lower).collect()
}

/// The first row that can be read.
fn first_row(document: &Document) -> Option<Row> {
    let lines = document.lines().filter(|line| !line.bytes.trim_ascii().is_empty());
    let read = |text: Text| {
        Row::read(&text).ok().or_else(|| {
            // Several rows on one line: a lost newline.
            let mut values =
                serde_json::Deserializer::from_str(&text).into_iter::<&serde_json::value::RawValue>();
            Row::read(&Text::from(values.next()?.ok()?.get().to_owned())).ok()
        })
    };
    lines.filter_map(|line| document.text_of(line.start, line.end)).find_map(read)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_named_as_the_program_names_it() {
        for (directory, folder) in [
            ("/repo/my.app_v2", "-repo-my-app-v2"),
            ("/repo/My App (x)!", "-repo-My-App--x--"),
            ("/repo/日本", "-repo---"),
            ("/repo/𝒳", "-repo---"),
            (r"C:\repo\my_app", "C--repo-my-app"),
        ] {
            assert_eq!(folders(Path::new(directory))[0], folder);
        }
        assert!(folders(Path::new(r"C:\Repo")).contains(&"c--repo".to_owned()));
    }

    #[test]
    fn what_lies_elsewhere_is_no_session() {
        assert!(
            is_chat(Path::new("/p/-w/chats/a.jsonl")) && is_chat(Path::new("/p/-w/chats/archive/a.jsonl"))
        );
        assert!(is_agent(Path::new("/p/-w/subagents/a/agent-b.jsonl")));
        assert!(
            !is_chat(Path::new("/p/-w/a.jsonl")) && !is_agent(Path::new("/p/-w/subagents/agent-b.jsonl"))
        );
    }
}
