//! The account trees below the root: `<organisation>/<account>`, both of them UUIDs.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use ibid_carrier::names::inside;
use ibid_model::{Finding, FindingKind};
use uuid::Uuid;

use super::DECLARATION;
use super::place::{self, AGENT};
use crate::core::StoreError;

/// One account's folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Account {
    /// The folder.
    pub(super) path: PathBuf,
    /// The name of the organisation's folder.
    pub(super) organisation: String,
    /// The name of the account's own.
    pub(super) account: String,
}

impl Account {
    /// Its path below the root, as a person names it.
    pub(super) fn name(&self) -> String {
        format!("{}/{}", self.organisation, self.account)
    }

    fn of(root: &Path, organisation: &str, account: &str) -> Account {
        let path = root.join(organisation).join(account);
        Account { path, organisation: organisation.to_owned(), account: account.to_owned() }
    }

    fn is_called(&self, name: &str) -> bool {
        [&self.name(), &self.account, &self.organisation]
            .into_iter()
            .any(|own| own.eq_ignore_ascii_case(name))
    }
}

/// The accounts below a root, in the order of their paths. A link that leads out of the root is
/// reported and not followed.
pub(super) fn accounts(root: &Path, findings: &mut Vec<Finding>) -> Vec<Account> {
    let mut accounts = Vec::new();
    let is_uuid = |name: &str| Uuid::parse_str(name).is_ok();
    for organisation in folders(root, root, is_uuid, findings) {
        for account in folders(root, &root.join(&organisation), is_uuid, findings) {
            accounts.push(Account::of(root, &organisation, &account));
        }
    }
    accounts
}

/// The records in an account's folder and in its `agent` folder, in the order of their paths.
pub(super) fn records(root: &Path, account: &Account, findings: &mut Vec<Finding>) -> Vec<PathBuf> {
    let mut records = files(root, &account.path, findings);
    for agent in folders(root, &account.path, |name| name == AGENT, findings) {
        records.extend(files(root, &account.path.join(agent), findings));
    }
    records.sort();
    records
}

/// The names of the folders in `parent` that are wanted, sorted.
fn folders(
    root: &Path,
    parent: &Path,
    wanted: impl Fn(&str) -> bool,
    findings: &mut Vec<Finding>,
) -> Vec<String> {
    let named = |path: &Path| path.file_name().and_then(|name| name.to_str()).map(str::to_owned);
    let mut names: Vec<String> = entries(parent, findings)
        .into_iter()
        .filter(|path| named(path).is_some_and(|name| wanted(&name)))
        .filter(|path| path.is_dir() && stays_inside(root, path, findings))
        .filter_map(|path| named(&path))
        .collect();
    names.sort();
    names
}

/// The records directly in a folder. A session's folder without its record is reported: its
/// conversation may be whole, but nothing says which session it is.
// https://github.com/openai/codex/issues/31074 (fault 46)
fn files(root: &Path, parent: &Path, findings: &mut Vec<Finding>) -> Vec<PathBuf> {
    let entries = entries(parent, findings);
    for folder in &entries {
        let record = folder.with_extension("json");
        let is_session = folder.extension().is_none() && place::is_record(&record);
        if is_session && entries.binary_search(&record).is_err() && place::projects(folder).is_dir() {
            let detail = "the folder of a session whose record is not there";
            findings.push(Finding::new(FindingKind::MissingHeader, detail).at_path(folder));
        }
    }
    entries
        .into_iter()
        .filter(|path| place::is_record(path) && path.is_file() && stays_inside(root, path, findings))
        .collect()
}

// https://github.com/can1357/oh-my-pi/issues/11476 (fault 39)
fn entries(parent: &Path, findings: &mut Vec<Finding>) -> Vec<PathBuf> {
    match fs::read_dir(parent) {
        Ok(entries) => {
            let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
            paths.sort();
            paths
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
        Err(error) => {
            let finding = Finding::new(FindingKind::Unreadable, error.kind().to_string());
            findings.push(finding.at_path(parent));
            Vec::new()
        }
    }
}

fn stays_inside(root: &Path, path: &Path, findings: &mut Vec<Finding>) -> bool {
    if !path.is_symlink() || inside(root, path).is_ok() {
        return true;
    }
    findings.push(Finding::new(FindingKind::LinkNotFollowed, "it leads out of the root").at_path(path));
    false
}

/// The account to save in, and what the person should know of the choice: the one that is asked
/// for, else the one with the record that was written last (of equals the last by path).
///
/// `origin` is the account that a session was loaded from, which may be made anew in a root that
/// has none yet; so may one that is asked for by both of its names.
///
/// # Errors
/// When there is none, or none of that name, or several.
pub(super) fn choose(
    root: &Path,
    asked: Option<&str>,
    origin: Option<(String, String)>,
) -> Result<(Account, Option<String>), StoreError> {
    let all = accounts(root, &mut Vec::new());
    if let Some(asked) = asked {
        return named(root, all, asked).map(|account| (account, None));
    }
    let count = all.len();
    let newest = all.into_iter().max_by_key(|account| (last_written(root, account), account.path.clone()));
    match (newest, origin) {
        (Some(account), _) => {
            let which = if count == 1 {
                "the only one".to_owned()
            } else {
                format!("the most recently active of {count}")
            };
            let note = format!("the session goes to the account {}, {which}", account.name());
            Ok((account, Some(note)))
        }
        (None, Some((organisation, account))) => {
            let account = Account::of(root, &organisation, &account);
            let note = format!("the session goes to the account {}, where it came from", account.name());
            Ok((account, Some(note)))
        }
        (None, None) => Err(no_place(format!(
            "there is no account in {}; open Cowork once in the Claude app, so that it makes one, and try again",
            root.display()
        ))),
    }
}

fn named(root: &Path, all: Vec<Account>, asked: &str) -> Result<Account, StoreError> {
    let known: Vec<String> = all.iter().map(Account::name).collect();
    let mut fitting = all.into_iter().filter(|account| account.is_called(asked));
    match (fitting.next(), fitting.next()) {
        (Some(account), None) => return Ok(account),
        (Some(_), Some(_)) => {
            return Err(no_place(format!(
                "the organisation {asked} has several accounts; name one of {}",
                known.join(", ")
            )));
        }
        (None, _) => {}
    }
    if let Some((organisation, account)) = asked.split_once('/')
        && let (Ok(_), Ok(_)) = (Uuid::try_parse(organisation), Uuid::try_parse(account))
    {
        return Ok(Account::of(root, organisation, account));
    }
    let known =
        if known.is_empty() { "there is none".to_owned() } else { format!("there are {}", known.join(", ")) };
    Err(no_place(format!("no account is called {asked}; {known}")))
}

fn last_written(root: &Path, account: &Account) -> Option<SystemTime> {
    let records = records(root, account, &mut Vec::new());
    records.iter().filter_map(|record| fs::metadata(record).ok()?.modified().ok()).max()
}

pub(super) fn no_place(reason: String) -> StoreError {
    StoreError::NoPlace { harness: DECLARATION.name, reason }
}
