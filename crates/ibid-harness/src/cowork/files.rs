//! The files of one session, by their names and stamps.

use std::cmp::Reverse;
use std::fs;
use std::path::{Path, PathBuf};

use ibid_carrier::fingerprint::Fingerprint;
use ibid_carrier::jsonl::{Limits, Records, open_from_end};
use ibid_carrier::names::{checked_component, inside};
use ibid_carrier::walk::{FileEntry, WalkOptions, list_files};
use ibid_carrier::{CarrierError, FileStamp};
use ibid_model::{Finding, FindingKind, Text, Timestamp};

use super::place;
use crate::families::claude_rows;

/// What lies beside a transcript is at most this many folders below the projects.
const DEPTH: usize = 6;

/// Folders of files that go with a session and are not read.
const COMPANIONS: [&str; 2] = ["uploads", "outputs"];

/// The files of a session.
#[derive(Clone, Debug)]
pub(super) struct Files {
    /// The record.
    pub(super) record: FileEntry,
    /// The audit log.
    pub(super) audit: Option<FileEntry>,
    /// All files of the embedded Claude Code's projects that may be carried, in the order of
    /// their paths.
    pub(super) projects: Vec<FileEntry>,
    /// The folders of companions that hold something.
    pub(super) companions: Vec<PathBuf>,
    /// What cannot be read, or was not followed.
    pub(super) findings: Vec<Finding>,
}

impl Files {
    /// The files of the session whose record this is. Nothing outside the root is looked at.
    ///
    /// # Errors
    /// When the record is not there, or lies outside the root.
    pub(super) fn of(root: &Path, record: &Path) -> Result<Files, CarrierError> {
        inside(root, record)?;
        let stamp =
            FileStamp::at(record)?.ok_or_else(|| CarrierError::NotFound { path: record.to_owned() })?;
        let mut files = Files {
            record: FileEntry { path: record.to_owned(), stamp },
            audit: None,
            projects: Vec::new(),
            companions: Vec::new(),
            findings: Vec::new(),
        };
        let storage = place::storage(record);
        if storage.symlink_metadata().is_err() || !files.may_enter(root, &storage) {
            return Ok(files);
        }
        files.look_for_audit(root, place::audit(&storage));
        files.look_into_projects(root, &place::projects(&storage));
        let holds_something = |folder: &PathBuf| {
            !folder.is_symlink() && fs::read_dir(folder).is_ok_and(|mut list| list.next().is_some())
        };
        files.companions = COMPANIONS.iter().map(|name| storage.join(name)).filter(holds_something).collect();
        Ok(files)
    }

    fn may_enter(&mut self, root: &Path, path: &Path) -> bool {
        let Err(error) = inside(root, path) else { return true };
        let finding = match error {
            CarrierError::Unsafe { .. } => {
                Finding::new(FindingKind::LinkNotFollowed, "it leads out of the root")
            }
            error => Finding::new(FindingKind::Unreadable, error.to_string()),
        };
        self.findings.push(finding.at_path(path));
        false
    }

    fn look_for_audit(&mut self, root: &Path, path: PathBuf) {
        match FileStamp::at(&path) {
            Ok(None) => {}
            Ok(Some(stamp)) => {
                if self.may_enter(root, &path) {
                    self.audit = Some(FileEntry { path, stamp });
                }
            }
            Err(error) => {
                self.findings.push(Finding::new(FindingKind::Unreadable, error.to_string()).at_path(&path));
            }
        }
    }

    fn look_into_projects(&mut self, root: &Path, projects: &Path) {
        if projects.symlink_metadata().is_err() || !self.may_enter(root, projects) {
            return;
        }
        let options = WalkOptions {
            extensions: &["jsonl", "json"],
            max_depth: DEPTH,
            skip_dirs: &["memory", "tool-results"],
            ..WalkOptions::default()
        };
        let (files, findings) = list_files(projects, &options);
        self.projects = files;
        self.findings.extend(findings);
    }

    /// The folder of projects.
    pub(super) fn projects_folder(&self) -> PathBuf {
        place::projects(&place::storage(&self.record.path))
    }

    /// The files of the session as they are now. Equal ones mean that nothing of it was written.
    pub(super) fn fingerprint(&self) -> Fingerprint {
        let audit = place::audit(&place::storage(&self.record.path));
        let mut print = Fingerprint::of()
            .stamped(&self.record.path, Some(self.record.stamp))
            .stamped(&audit, self.audit.as_ref().map(|entry| entry.stamp));
        for file in &self.projects {
            print = print.stamped(&file.path, Some(file.stamp));
        }
        for folder in &self.companions {
            print = print.note(&folder.to_string_lossy());
        }
        print.finish()
    }

    /// The size of all of them, in bytes.
    pub(super) fn bytes(&self) -> u64 {
        let audit = self.audit.as_ref().map_or(0, |entry| entry.stamp.size);
        let projects: u64 = self.projects.iter().map(|entry| entry.stamp.size).sum();
        self.record.stamp.size + audit + projects
    }

    /// The transcripts of subagents, each subagent once: of several copies the largest counts,
    /// and the others are named.
    // https://github.com/AgentWorkforce/relayhistory/pull/97 (fault 7)
    pub(super) fn subagents(&self, findings: &mut Vec<Finding>) -> Vec<&FileEntry> {
        let mut found: Vec<(&FileEntry, String)> = Vec::new();
        for file in &self.projects {
            let Some(own) = place::subagent(&file.path) else { continue };
            match found.iter_mut().find(|(_, agent)| *agent == own.agent) {
                None => found.push((file, own.agent)),
                Some((known, _)) => {
                    let (kept, other) =
                        if file.stamp.size > known.stamp.size { (file, *known) } else { (*known, file) };
                    *known = kept;
                    let detail = format!("another transcript of the subagent is {}", kept.path.display());
                    findings.push(Finding::new(FindingKind::Variants, detail).at_path(&other.path));
                }
            }
        }
        found.into_iter().map(|(file, _)| file).collect()
    }

    /// The fingerprint of a subagent of the session: its own files, and the record, which has the
    /// id of its parent.
    pub(super) fn subagent_fingerprint(&self, transcript: &FileEntry) -> Fingerprint {
        let meta = self.agent_meta(&transcript.path);
        Fingerprint::of()
            .stamped(&transcript.path, Some(transcript.stamp))
            .stamped(&place::agent_meta(&transcript.path), meta.map(|entry| entry.stamp))
            .stamped(&self.record.path, Some(self.record.stamp))
            .finish()
    }

    /// The document beside a subagent's transcript.
    pub(super) fn agent_meta(&self, transcript: &Path) -> Option<&FileEntry> {
        let path = place::agent_meta(transcript);
        self.projects.iter().find(|entry| entry.path == path)
    }

    /// The conversation of a CLI session: searched in every project, since the name of a project
    /// cannot be rebuilt. Of several, that with the later last row counts.
    ///
    /// What is wrong (no such file, an id that is no file name, several) goes into `findings`.
    pub(super) fn transcript(
        &self,
        cli: &str,
        limits: &Limits,
        findings: &mut Vec<Finding>,
    ) -> Option<&FileEntry> {
        let record = &self.record.path;
        if let Err(error) = checked_component(cli) {
            findings.push(Finding::new(FindingKind::UnsafeName, error.to_string()).at_path(record));
            return None;
        }
        let name = format!("{cli}.jsonl");
        let in_project = self.projects_folder();
        let is_it = |entry: &&FileEntry| {
            entry.path.file_name().is_some_and(|own| *own == *name)
                && entry.path.parent().and_then(Path::parent) == Some(&in_project)
        };
        let found: Vec<&FileEntry> = self.projects.iter().filter(is_it).collect();
        if found.is_empty() {
            let detail = "the conversation that the record names is not there, or cannot be read";
            findings.push(Finding::new(FindingKind::MissingTranscript, detail).at_path(record));
        }
        if found.len() < 2 {
            return found.into_iter().next();
        }
        let live = found.iter().copied().max_by_key(|entry| {
            (last_time(&entry.path, limits), entry.stamp.size, Reverse(entry.path.clone()))
        })?;
        for other in found.iter().filter(|other| other.path != live.path) {
            let detail =
                format!("another conversation of this id, which goes on later, is {}", live.path.display());
            findings.push(Finding::new(FindingKind::Variants, detail).at_path(&other.path));
        }
        Some(live)
    }
}

/// The time of the last row that has one.
fn last_time(path: &Path, limits: &Limits) -> Option<Timestamp> {
    let mut lines = open_from_end(path, limits).ok()??;
    while let Ok(Some(line)) = lines.next() {
        let mut records = Records::default();
        line.read_into(&mut records, |text| claude_rows::Record::read(&Text::from(text)));
        if let Some(at) = records.items.iter().rev().find_map(|item| item.value.at) {
            return Some(at);
        }
    }
    None
}
