//! The programs that load files of a folder by themselves.

use std::fs;
use std::os::unix::fs::symlink;

use super::Machine;

/// Each program with its file.
const EXTENSIONS: [(&str, &str); 2] =
    [("opencode", ".config/opencode/plugin/ibid.js"), ("pi", ".pi/agent/extensions/ibid.ts")];

#[test]
fn the_whole_circle_leaves_what_was_there() {
    for (profile, file) in EXTENSIONS {
        let folder = file.rsplit_once('/').unwrap().0;
        for others in [false, true] {
            let machine = Machine::new();
            if others {
                machine.write(&format!("{folder}/mine.js"), "mine");
            }
            let before = machine.files();
            let run = machine.install(profile);
            assert!(run.stdout.contains("Nothing has to be approved"), "{}", run.stdout);
            let text = machine.read(file);
            assert!(text.contains(&format!("\"hook\", \"{profile}\", \"--data\"")), "{text}");
            assert!(!text.contains("__IBID_"), "{text}");
            let names: Vec<_> =
                fs::read_dir(machine.path(folder)).unwrap().map(|entry| entry.unwrap().file_name()).collect();
            assert_eq!(names.len(), 1 + usize::from(others), "{names:?}");
            assert_eq!(machine.state(profile), "installed");
            machine.uninstall(profile);
            assert_eq!(machine.files(), before);
            assert_eq!(machine.path(folder).exists(), others);
            assert_eq!(machine.path(folder.split('/').next().unwrap()).exists(), others);
        }
    }
}

#[test]
fn a_file_that_was_edited_is_neither_replaced_nor_removed_unasked() {
    for (profile, file) in EXTENSIONS {
        let machine = Machine::new();
        machine.install(profile);
        machine.write(file, "// mine now\n");
        assert_eq!(machine.state(profile), "drifted");
        let run = machine.plugin(&["install", profile, "--yes"]).ends(3);
        assert!(run.stderr.contains("--replace"), "{}", run.stderr);
        let run = machine.uninstall(profile);
        assert!(run.stdout.contains("not as Ibid left it"), "{}", run.stdout);
        assert_eq!(machine.read(file), "// mine now\n");
        let json = machine.plugin(&["install", profile, "--yes", "--replace", "--json"]).ends(0).json();
        let backup = json["backups"][0].as_str().unwrap();
        assert_eq!(fs::read_to_string(backup).unwrap(), "// mine now\n");
    }
}

#[test]
fn a_folder_that_is_a_link_out_of_the_home_is_refused() {
    for (profile, file) in EXTENSIONS {
        let outside = tempfile::tempdir().unwrap();
        let machine = Machine::new();
        let folder = machine.path(file.rsplit_once('/').unwrap().0);
        fs::create_dir_all(folder.parent().unwrap()).unwrap();
        symlink(outside.path(), &folder).unwrap();
        machine.plugin(&["install", profile, "--yes"]).ends(3);
        machine.plugin(&["install", profile, "--yes", "--follow-link"]).ends(2);
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
    }
}
