//! Homes of their own.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use ibid_carrier::jsonl::Limits;
use ibid_carrier::plan::{Committed, Engine, PlanError, Policy};
use ibid_harness::cowork::Cowork;
use ibid_harness::{
    Class, Content, Context, Discovered, Listing, Platform, Reference, Root, RootOrigin, Saving, Store,
    Surroundings, Transcript,
};
use ibid_model::{Finding, FindingKind};
use tempfile::TempDir;

/// The account of the first organisation.
pub(crate) const FIRST: &str = "1a000000-0000-4000-8000-00000000000a/2a000000-0000-4000-8000-00000000000a";

/// The account of the second.
pub(crate) const SECOND: &str = "1b000000-0000-4000-8000-00000000000b/2b000000-0000-4000-8000-00000000000b";

/// A throw-away home.
pub(crate) struct Home {
    pub(crate) folder: TempDir,
    pub(crate) machine: Surroundings,
    pub(crate) limits: Limits,
}

/// A transcript of the fixtures: version, project and session.
pub(crate) type Fixture = (&'static str, &'static str, &'static str);

/// One with a subagent.
pub(crate) const WITH_SUBAGENT: Fixture =
    ("2.1.332", "-home-dev-demo", "e9892c41-53eb-4318-8f5c-12357e8f85e3");

pub(crate) const PLAIN: Fixture = ("2.1.197", "-home-dev-demo", "c8ac9671-9c90-41bf-872f-11834414b9a1");

pub(crate) const COMPACTED: Fixture = ("2.1.332", "-home-dev-demo", "659ed322-30a7-4483-9dd9-e91b6dae9048");

pub(crate) const OLD: Fixture = ("1.0.60", "-home-dev-demo", "7ab4f3b2-f7c3-48e6-84fe-e3e7e4d0cda4");

pub(crate) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

pub(crate) fn claude_transcript((version, project, id): Fixture) -> PathBuf {
    let projects = fixtures().join("claude-code").join(version).join(".claude/projects");
    projects.join(project).join(format!("{id}.jsonl"))
}

/// A record with all that the app demands, for the session and CLI session of this number, with
/// more fields.
pub(crate) fn record(id: &str, cli: &str, more: &str) -> String {
    format!(
        r#"{{"sessionId":"{id}","processName":"p","cliSessionId":"{cli}","cwd":"/home/dev/demo","createdAt":1785578400000,"lastActivityAt":1785578414000,"isArchived":false{more}}}"#
    )
}

impl Home {
    /// One without anything.
    pub(crate) fn empty() -> Home {
        let folder = tempfile::tempdir().unwrap();
        let machine = Surroundings::isolated(folder.path()).on(Platform::Linux);
        Home { folder, machine, limits: Limits::default() }
    }

    /// One with the sessions that are written by hand.
    pub(crate) fn by_hand() -> Home {
        let home = Home::empty();
        let from = fixtures().join("cowork/hand-written/local-agent-mode-sessions");
        copy_tree(&from, &home.root());
        home
    }

    /// One with two organisations, an agent session, and a real transcript in each session.
    pub(crate) fn built() -> Home {
        let home = Home::empty();
        let odd = r#","title":5,"aFieldOfALaterVersion":{"n":[1.50,1e2,null]},"s":"\ud83d""#;
        home.session(FIRST, "local_one", odd, WITH_SUBAGENT);
        home.write(&format!("{FIRST}/local_one/audit.jsonl"), AUDIT);
        home.session(FIRST, "local_two", r#","title":"Given in the app","model":"m-1""#, PLAIN);
        home.session(&format!("{FIRST}/agent"), "local_ditto_three", "", COMPACTED);
        home.session(SECOND, "local_four", r#","emailAddress":"dev@example.com""#, OLD);
        home
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join(".config/Claude/local-agent-mode-sessions")
    }

    pub(crate) fn context(&self) -> Context<'_> {
        Context { machine: &self.machine, limits: &self.limits }
    }

    /// Writes a file below the root.
    pub(crate) fn write(&self, place: &str, content: &str) -> PathBuf {
        let path = self.root().join(place);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    /// Makes a session with the fixture's transcript, and the subagents beside that.
    pub(crate) fn session(&self, account: &str, id: &str, more: &str, fixture: Fixture) -> Reference {
        let path = self.write(&format!("{account}/{id}.json"), &record(id, fixture.2, more));
        let project = path.with_extension("").join(".claude/projects").join(fixture.1);
        let from = claude_transcript(fixture);
        fs::create_dir_all(&project).unwrap();
        fs::copy(&from, project.join(from.file_name().unwrap())).unwrap();
        if from.with_extension("").is_dir() {
            copy_tree(&from.with_extension(""), &project.join(fixture.2));
        }
        self.reference(&path)
    }

    pub(crate) fn reference(&self, path: &Path) -> Reference {
        let harness = ibid_harness::find("cowork").unwrap().declaration().id;
        Reference { harness, root: self.root(), path: path.to_owned(), key: None }
    }

    /// The reference of a record by its place below the root.
    pub(crate) fn at(&self, place: &str) -> Reference {
        self.reference(&self.root().join(place))
    }

    pub(crate) fn list(&self) -> Listing {
        Cowork::list(&Root { path: self.root(), origin: RootOrigin::Default }, &self.context())
    }

    /// What a list shows of all that can be described.
    pub(crate) fn described(&self) -> Vec<Discovered> {
        let listing = self.list();
        listing.sessions.iter().filter_map(|listed| Cowork::describe(listed, &self.context()).ok()).collect()
    }

    /// What a list shows of the session with this id.
    pub(crate) fn find(&self, id: &str) -> Discovered {
        let found = self.described().into_iter().find(|found| found.id == id);
        found.unwrap_or_else(|| panic!("{id} is listed"))
    }

    pub(crate) fn load(&self, reference: &Reference) -> Transcript<Cowork> {
        Cowork::load(reference, &self.context()).unwrap()
    }

    pub(crate) fn commit(&self, saving: &Saving) -> Result<Committed, PlanError> {
        let policy = Policy::within(saving.roots.clone());
        Engine::new(self.machine.data_dir()).commit(&saving.plan, &policy)
    }

    /// Makes a record the one that was written last, or long ago.
    pub(crate) fn touch(&self, record: &Path, seconds_ago: u64) {
        let time = SystemTime::now() - Duration::from_secs(seconds_ago);
        fs::File::options().append(true).open(record).unwrap().set_modified(time).unwrap();
    }

    /// An account with nothing in it.
    pub(crate) fn with_account(self, account: &str) -> Home {
        fs::create_dir_all(self.root().join(account)).unwrap();
        self
    }
}

pub(crate) const AUDIT: &str = concat!(
    r#"{"type":"system","subtype":"init","_audit_timestamp":"2026-08-05T10:00:02.000Z","_audit_hmac":"10"}"#,
    "\n",
    r#"{"type":"result","total_cost_usd":0.012300,"_audit_hmac":"14"}"#,
    "\n"
);

pub(crate) fn copy_tree(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_tree(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Everything about a tree of files that reading must not change.
pub(crate) fn snapshot(folder: &Path) -> Vec<(PathBuf, u64, Option<SystemTime>)> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).unwrap().flatten() {
            let metadata = entry.metadata().unwrap();
            if metadata.is_dir() {
                open.push(entry.path());
            }
            found.push((entry.path(), metadata.len(), metadata.modified().ok()));
        }
    }
    found.sort();
    found
}

/// The bytes of the carriers, with the part of their paths behind the session's own folder.
pub(crate) fn carriers(transcript: &Transcript<Cowork>) -> Vec<(String, Vec<u8>)> {
    use ibid_harness::Carriers;
    let carriers = transcript.body.carriers();
    let named = carriers.iter().map(|carrier| {
        let Content::Bytes(bytes) = carrier.content else { panic!("files only") };
        let path = carrier.info.path.as_str();
        let name = path.split_once("/local_").map_or(path, |(_, name)| name);
        (name.to_owned(), bytes.to_vec())
    });
    named.collect()
}

pub(crate) fn count(findings: &[Finding], kind: FindingKind) -> usize {
    findings.iter().filter(|finding| finding.kind == kind).count()
}

/// The sessions, without subagents.
pub(crate) fn sessions(found: &[Discovered]) -> Vec<&str> {
    found.iter().filter(|found| found.class == Class::Session).map(|found| found.id.as_str()).collect()
}
