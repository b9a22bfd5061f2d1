//! What `stage-evidence` lays out, on any system.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must fail")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

const SERVICE: &str = "Contents/XPCServices/com.qoder.harness-studio.evidence.xpc/Contents";

/// A folder of built programs, each with its own name in it.
fn built() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for program in [
        "harness-evidence-host",
        "harness-evidence-host.exe",
        "harness-evidence-client",
        "harness-evidence-xpc",
    ] {
        let path = folder.path().join(program);
        fs::write(&path, program).unwrap();
        #[cfg(unix)]
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
    folder
}

/// Without signing: what is staged here is no program.
fn stage(kind: &str, os: &str, from: &Path, to: &Path) -> Command {
    let mut command = signing(kind, os, from, to);
    command.args(["--sign", "none"]);
    command
}

fn signing(kind: &str, os: &str, from: &Path, to: &Path) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("stage-evidence"));
    command.args([kind, "--os", os, "--from"]).arg(from).arg("--to").arg(to);
    command
}

fn done(mut command: Command) -> Output {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output
}

/// Every file below a folder, and what is in it.
fn files(folder: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path: PathBuf = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_string_lossy().replace('\\', "/");
                found.insert(name, fs::read_to_string(&path).unwrap());
            }
        }
    }
    found
}

/// The entries of a property list that are strings.
fn strings(plist: &str) -> BTreeMap<&str, &str> {
    let lines: Vec<&str> = plist.lines().map(str::trim).collect();
    let pairs = lines.windows(2).filter_map(|pair| {
        let key = pair.first()?.strip_prefix("<key>")?.strip_suffix("</key>")?;
        Some((key, pair.get(1)?.strip_prefix("<string>")?.strip_suffix("</string>")?))
    });
    pairs.collect()
}

#[test]
fn windows_and_linux_get_the_host_among_their_resources() {
    let from = built();
    for (os, name) in
        [("linux", "native/harness-evidence-host"), ("windows", "native/harness-evidence-host.exe")]
    {
        for kind in ["development", "packaged"] {
            let to = tempfile::tempdir().unwrap();
            done(stage(kind, os, from.path(), to.path()));
            let found = files(to.path());
            assert_eq!(found.keys().collect::<Vec<_>>(), [name]);
        }
    }
}

#[test]
fn the_development_app_has_the_client_and_the_service_with_its_host() {
    let (from, to) = (built(), tempfile::tempdir().unwrap());
    done(stage("development", "macos", from.path(), to.path()));
    let app = "native/Harness Evidence.app";
    let found = files(to.path());
    let mut expected = [
        format!("{app}/Contents/Info.plist"),
        format!("{app}/Contents/MacOS/harness-evidence-client"),
        format!("{app}/{SERVICE}/Info.plist"),
        format!("{app}/{SERVICE}/MacOS/harness-evidence-host"),
        format!("{app}/{SERVICE}/MacOS/harness-evidence-xpc"),
        "native/harness-evidence-client".to_owned(),
        "native/harness-evidence-host".to_owned(),
        "native/harness-evidence-xpc".to_owned(),
    ];
    expected.sort();
    assert_eq!(found.keys().collect::<Vec<_>>(), expected.iter().collect::<Vec<_>>());

    for (name, content) in &found {
        if !name.ends_with("Info.plist") {
            assert!(name.ends_with(content.as_str()), "{name} is {content}");
        }
    }
    let app_list = &found[&format!("{app}/Contents/Info.plist")];
    let keys = strings(app_list);
    assert_eq!(keys["CFBundleIdentifier"], "com.qoder.harness-studio.evidence-development");
    assert_eq!(keys["CFBundleExecutable"], "harness-evidence-client");
    assert_eq!(keys["CFBundlePackageType"], "APPL");
    assert!(app_list.contains("<key>LSUIElement</key>\n\t<true/>"));
}

#[test]
fn the_service_is_named_as_the_client_calls_it() {
    let (from, to) = (built(), tempfile::tempdir().unwrap());
    done(stage("development", "macos", from.path(), to.path()));
    let found = files(to.path());
    let list = &found[&format!("native/Harness Evidence.app/{SERVICE}/Info.plist")];
    let keys = strings(list);
    assert_eq!(keys["CFBundleIdentifier"], ibid_evidence::transport::SERVICE);
    assert_eq!(keys["CFBundleExecutable"], "harness-evidence-xpc");
    assert_eq!(keys["CFBundlePackageType"], "XPC!");
    assert_eq!(keys["CFBundleVersion"], "1");
    assert_eq!(keys["ServiceType"], "Application");
}

#[test]
fn a_packaged_app_keeps_what_it_has() {
    let (from, to) = (built(), tempfile::tempdir().unwrap());
    let app = to.path().join("Studio.app");
    fs::create_dir_all(app.join("Contents/MacOS")).unwrap();
    fs::write(app.join("Contents/MacOS/studio"), "studio").unwrap();
    fs::write(app.join("Contents/Info.plist"), "its own").unwrap();
    done(stage("packaged", "macos", from.path(), &app));
    let found = files(&app);
    let names: Vec<&str> = found.keys().map(String::as_str).collect();
    let mut expected = [
        "Contents/Info.plist".to_owned(),
        "Contents/MacOS/harness-evidence-client".to_owned(),
        "Contents/MacOS/studio".to_owned(),
        "Contents/Resources/native/harness-evidence-host".to_owned(),
        format!("{SERVICE}/Info.plist"),
        format!("{SERVICE}/MacOS/harness-evidence-host"),
        format!("{SERVICE}/MacOS/harness-evidence-xpc"),
    ];
    expected.sort();
    assert_eq!(names, expected);
    assert_eq!(found["Contents/Info.plist"], "its own");
}

#[test]
fn staging_again_replaces_what_was_there() {
    let (from, to) = (built(), tempfile::tempdir().unwrap());
    done(stage("development", "macos", from.path(), to.path()));
    let stale = to.path().join("native/Harness Evidence.app/Contents/MacOS/stale");
    fs::write(&stale, "").unwrap();
    let first = files(to.path());
    done(stage("development", "macos", from.path(), to.path()));
    assert!(!stale.exists());
    assert_eq!(files(to.path()).len(), first.len() - 1);
}

#[test]
fn a_program_that_is_not_built_is_named() {
    let (from, to) = (built(), tempfile::tempdir().unwrap());
    fs::remove_file(from.path().join("harness-evidence-xpc")).unwrap();
    let output = stage("development", "macos", from.path(), to.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("harness-evidence-xpc"));
    let output = Command::new(assert_cmd::cargo::cargo_bin!("stage-evidence")).arg("ship").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// The targets that are signed, in order, by a `codesign` that writes down what it is told.
    fn signed(kind: &str, to: &Path) -> Vec<String> {
        let (from, tools) = (built(), tempfile::tempdir().unwrap());
        let log = tools.path().join("log");
        let codesign = tools.path().join("codesign");
        fs::write(&codesign, format!("#!/bin/sh\necho \"$*\" >> '{}'\n", log.display())).unwrap();
        fs::set_permissions(&codesign, PermissionsExt::from_mode(0o755)).unwrap();
        let mut command = signing(kind, "macos", from.path(), to);
        command.env("PATH", tools.path());
        done(command);
        let log = fs::read_to_string(log).unwrap();
        log.lines().map(|line| line.replace(&format!("{}/", to.display()), "")).collect()
    }

    #[test]
    fn what_is_inside_is_signed_before_what_contains_it() {
        let to = tempfile::tempdir().unwrap();
        let service = SERVICE.strip_suffix("/Contents").unwrap();
        assert_eq!(
            signed("packaged", to.path()),
            [
                format!("--force --sign - {SERVICE}/MacOS/harness-evidence-host"),
                format!("--force --sign - {service}"),
                "--force --sign - Contents/MacOS/harness-evidence-client".to_owned(),
                "--force --sign - Contents/Resources/native/harness-evidence-host".to_owned(),
            ]
        );
    }

    #[test]
    fn the_development_app_is_signed_as_a_whole() {
        let to = tempfile::tempdir().unwrap();
        assert_eq!(signed("development", to.path()), ["--force --sign - --deep native/Harness Evidence.app"]);
    }

    #[test]
    fn without_codesign_it_says_that_nothing_is_signed() {
        let (from, to) = (built(), tempfile::tempdir().unwrap());
        let mut command = signing("development", "macos", from.path(), to.path());
        command.env("PATH", to.path());
        let output = done(command);
        assert_eq!(String::from_utf8_lossy(&output.stderr), "not signed: there is no codesign here\n");
    }

    #[test]
    fn programs_stay_executable() {
        let (from, to) = (built(), tempfile::tempdir().unwrap());
        done(stage("packaged", "linux", from.path(), to.path()));
        let mode = fs::metadata(to.path().join("native/harness-evidence-host")).unwrap().permissions().mode();
        assert_eq!(mode & 0o111, 0o111);
    }
}
