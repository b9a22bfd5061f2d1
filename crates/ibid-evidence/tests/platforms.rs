//! Every platform of the protocol: with sessions, without a store, and with a broken one.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests show what they expect"
)]

mod support;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ibid_carrier::jsonl::Limits;
use ibid_evidence::answer::{Discovery, ProviderStatus, Reason};
use ibid_harness::{AnyHarness, Progress, Surroundings};
use ibid_testkit::Home;
use support::*;

/// The harnesses that the protocol has names for, in its order.
fn platforms() -> Vec<(&'static str, &'static dyn AnyHarness)> {
    let mut all: Vec<_> = ibid_harness::all()
        .iter()
        .filter_map(|harness| harness.declaration().evidence.map(|evidence| (evidence, *harness)))
        .collect();
    all.sort_by_key(|(evidence, _)| *evidence);
    all.into_iter().map(|(evidence, harness)| (evidence.name, harness)).collect()
}

/// The versions whose files are among the fixtures.
fn versions(harness: &dyn AnyHarness) -> Vec<String> {
    let folder = Home::fixtures().join(harness.declaration().id.as_str());
    let entries =
        std::fs::read_dir(&folder).unwrap_or_else(|_| panic!("no fixtures at {}", folder.display()));
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// The home with these fixtures. What lies in a project lies in the home itself, which is one then.
fn laid_out(home: Home, id: &str, version: &str) -> Home {
    let project = format!("{id}/{version}/project");
    match Home::fixtures().join(&project).is_dir() {
        true => home.with_tree(&project, ""),
        false => home.with(id, version),
    }
}

/// The directory that most of its sessions are of; the home when none says.
fn workspace(harness: &'static dyn AnyHarness, home: &Home) -> PathBuf {
    let machine = Surroundings::isolated(home.path()).in_project(home.path());
    let found = ibid_harness::discover(&[harness], &machine, &Limits::default(), None, &Progress::default());
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for cwd in found.iter().flat_map(|found| &found.sessions).filter_map(|session| session.meta.cwd.as_ref())
    {
        *counts.entry(cwd.to_string()).or_default() += 1;
    }
    let most = counts.into_iter().max_by_key(|(_, count)| *count).map(|(cwd, _)| PathBuf::from(cwd));
    most.unwrap_or_else(|| {
        let told = Path::new("/home/dev/demo");
        let demo = discover(home, told);
        if demo.sessions.is_empty() { home.path().to_owned() } else { told.to_owned() }
    })
}

fn shown(discovery: &Discovery, name: &str) -> String {
    let provider = provider(discovery, name);
    let status = serde_json::to_value(provider.status).unwrap();
    let reason = provider.reason.map(|reason| serde_json::to_value(reason).unwrap());
    let reason = reason.as_ref().and_then(|reason| reason.as_str()).unwrap_or_default();
    let found = if provider.discovered > 0 { provider.discovered.to_string() } else { String::new() };
    format!("{} {reason}{found}", status.as_str().unwrap())
}

#[test]
fn every_platform_is_told_with_sessions_without_a_store_and_with_a_broken_one() {
    let everything = || {
        platforms().into_iter().fold(Home::new(), |home, (_, harness)| {
            let id = harness.declaration().id.as_str();
            versions(harness).iter().fold(home, |home, version| laid_out(home, id, version))
        })
    };
    println!(
        "{:<14} {:<14} {:<30} {:<22} with its store broken",
        "platform", "fixtures", "no store", "sessions"
    );
    for (name, harness) in platforms() {
        for version in versions(harness) {
            let home = laid_out(Home::new(), harness.declaration().id.as_str(), &version);
            let project = workspace(harness, &home);
            let before = home.snapshot();
            let found = discover(&home, &project);
            home.snapshot().assert_same_as(&before);
            assert_eq!(provider(&found, name).status, ProviderStatus::Ok, "{name} {version}: {project:?}");
            for session in &found.sessions {
                assert_eq!(session.platform, name);
                assert!(!session.session_id.is_empty());
                let seen = session.first_seen.as_ref().or(session.last_seen.as_ref()).unwrap();
                assert!(ibid_model::Timestamp::parse(seen).is_some(), "{name} {version}");
                assert!(session.first_seen <= session.last_seen, "{name} {version}");
            }
            let said = found.sessions.iter().map(|session| session.prompt_count + session.tool_call_count);
            assert!(said.sum::<u32>() > 0, "{name} {version}: something was said or done");

            let nothing = discover(&Home::new(), "/home/dev/demo");
            let missing = provider(&nothing, name);
            assert_eq!(
                (missing.status, missing.reason),
                (ProviderStatus::NoEvidence, Some(Reason::StoreMissing)),
                "{name}"
            );

            let all = everything();
            // One that keeps sessions in the project is asked about the home as a project.
            let roots =
                |project: &Path| harness.roots(&Surroundings::isolated(all.path()).in_project(project));
            let inside = |project: &Path| roots(project).iter().any(|root| root.path.starts_with(all.path()));
            let demo = Path::new("/home/dev/demo");
            let asked = if inside(demo) { demo } else { all.path() };
            let whole = discover(&all, asked);
            for root in roots(asked).iter().filter(|root| root.path.exists()) {
                if root.path.is_dir() {
                    std::fs::remove_dir_all(&root.path).unwrap();
                }
                std::fs::write(&root.path, "broken").unwrap();
            }
            let broken = discover(&all, asked);
            let told = provider(&broken, name);
            assert!(
                told.status == ProviderStatus::Error || told.unreadable > 0,
                "{name}: a store that cannot be read is no absent one: {told:?}"
            );
            for (other, _) in platforms().iter().filter(|(other, _)| *other != name) {
                assert_eq!(provider(&broken, other), provider(&whole, other), "{other} beside {name}");
            }
            println!(
                "{name:<14} {version:<14} {:<30} {:<22} {}",
                shown(&nothing, name),
                shown(&found, name),
                shown(&broken, name)
            );
        }
    }
}
