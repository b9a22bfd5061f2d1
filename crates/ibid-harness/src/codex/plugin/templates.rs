//! The files of the plugin, and where they lie below the root of its marketplace.

use sha2::{Digest as _, Sha256};

use super::identity::Identity;
use crate::core::plugin::{HOOK_LINE, HookCommand, Slot, TreeFile, UnfilledSlot, fill};

/// The registrations: one command for each event that is read.
const HOOKS: &str = include_str!("hooks.json");

/// The plugin's manifest. It declares hooks alone, by their usual place, and neither tools, apps nor
/// skills.
const PLUGIN: &str = include_str!("plugin.json");

/// The marketplace's manifest, which offers this one plugin.
const MARKETPLACE: &str = include_str!("marketplace.json");

/// How many hexadecimal digits of the digest are in a version.
const DIGITS: usize = 12;

/// The files of a marketplace with one plugin. Codex copies a plugin by its version, so the digest
/// of the bytes is part of it: other bytes are another version. (Codex 0.171.0 takes the copy anew
/// also for the same version, 0.146.0 did not.)
///
/// # Errors
/// When a template has a slot that nothing fills.
pub fn tree(
    identity: &Identity,
    marketplace: &str,
    marketplace_name: &str,
    command: &HookCommand,
) -> Result<Vec<TreeFile>, UnfilledSlot> {
    let folder = format!("plugins/{}", identity.name);
    let source = format!("./{folder}");
    let hooks = fill(HOOKS, &[(HOOK_LINE, Slot::Text(&command.line()))])?;
    let market = fill(
        MARKETPLACE,
        &[
            ("MARKETPLACE_NAME", Slot::Text(marketplace)),
            ("MARKETPLACE_DISPLAY_NAME", Slot::Text(marketplace_name)),
            ("PLUGIN_NAME", Slot::Text(&identity.name)),
            ("PLUGIN_SOURCE_PATH", Slot::Text(&source)),
        ],
    )?;
    let manifest = |version: &str| {
        let mut values =
            vec![("PLUGIN_NAME", Slot::Text(&identity.name)), ("PLUGIN_VERSION", Slot::Text(version))];
        values.extend(identity.slots().map(|(name, text)| (name, Slot::Text(text))));
        fill(PLUGIN, &values)
    };
    let digest = digest_of(&[&hooks, &manifest(&identity.version)?]);
    let plugin = manifest(&format!("{}-b{digest}", identity.version))?;
    let file = |place: String, content: String| TreeFile { place, content };
    Ok(vec![
        file(format!("{folder}/hooks/hooks.json"), hooks),
        file(format!("{folder}/.codex-plugin/plugin.json"), plugin),
        file(".agents/plugins/marketplace.json".to_owned(), market),
    ])
}

/// The beginning of the digest of these texts.
fn digest_of(texts: &[&str]) -> String {
    let mut hasher = Sha256::new();
    for text in texts {
        // Lengths keep one text from running into the next.
        hasher.update((text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    }
    let digest: String = hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    digest.chars().take(DIGITS).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test states what it expects")]
#[allow(clippy::indexing_slicing, reason = "JSON in tests is looked at by keys that must be there")]
mod tests {
    use std::path::Path;

    use serde_json::Value;

    use super::*;
    use crate::codex::hooks::LIFECYCLE_EVENTS;

    fn files(ibid: &str) -> Vec<(String, Value)> {
        let command = HookCommand::new(Path::new(ibid), "codex-app", Path::new("/d")).unwrap();
        let identity = Identity::new("ibid", "0.1.0").display_name("Ibid \"quoted\"\n");
        let tree = tree(&identity, "ibid", "Ibid", &command).unwrap();
        let parsed = |file: TreeFile| (file.place, serde_json::from_str(&file.content).unwrap());
        tree.into_iter().map(parsed).collect()
    }

    #[test]
    fn the_manifest_registers_exactly_the_events_that_are_read_in_their_order() {
        let files = files("/opt/ibid");
        let hooks = files[0].1["hooks"].as_object().unwrap();
        assert_eq!(hooks.keys().map(String::as_str).collect::<Vec<_>>(), LIFECYCLE_EVENTS);
        assert_eq!(hooks.len(), 5);
        for registrations in hooks.values() {
            let command = "/opt/ibid hook codex-app --data /d";
            let one = serde_json::json!([{"hooks": [{"type": "command", "command": command}]}]);
            assert_eq!(*registrations, one);
        }
    }

    #[test]
    fn the_files_lie_where_codex_looks_for_them() {
        let places: Vec<String> = files("/opt/ibid").into_iter().map(|(place, _)| place).collect();
        assert_eq!(
            places,
            [
                "plugins/ibid/hooks/hooks.json",
                "plugins/ibid/.codex-plugin/plugin.json",
                ".agents/plugins/marketplace.json"
            ]
        );
    }

    #[test]
    fn the_plugin_has_hooks_and_nothing_else_and_no_blank_text() {
        let plugin = files("/opt/ibid").remove(1).1;
        let keys: Vec<&str> = plugin.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(keys, ["name", "version", "description", "author", "interface"]);
        let interface = &plugin["interface"];
        assert_eq!(interface["displayName"], "Ibid \"quoted\"\n");
        for unset in [&plugin["description"], &plugin["author"]["name"], &interface["longDescription"]] {
            assert_eq!(*unset, "ibid");
        }
        assert_eq!(interface["developerName"], plugin["author"]["name"]);
        assert_eq!(interface["capabilities"], serde_json::json!(["Lifecycle hooks"]));
    }

    #[test]
    fn the_marketplace_names_the_plugin_by_its_place() {
        let market = files("/opt/ibid").remove(2).1;
        assert_eq!(market["name"], "ibid");
        let source = serde_json::json!({"source": "local", "path": "./plugins/ibid"});
        assert_eq!(market["plugins"][0]["source"], source);
    }

    #[test]
    fn other_bytes_are_another_version() {
        let version = |ibid: &str| files(ibid)[1].1["version"].as_str().unwrap().to_owned();
        assert_eq!(version("/opt/ibid"), version("/opt/ibid"));
        assert_ne!(version("/opt/ibid"), version("/opt/other"));
        assert!(version("/opt/ibid").starts_with("0.1.0-b"));
    }

    #[test]
    fn a_path_that_spells_a_slot_or_needs_escapes_survives() {
        let ibid = r#"/o pt/"__IBID_PLUGIN_NAME__"/\it's"#;
        let line = files(ibid)[0].1["hooks"]["Stop"][0]["hooks"][0]["command"].as_str().unwrap().to_owned();
        assert_eq!(line, r#"'/o pt/"__IBID_PLUGIN_NAME__"/\it'\''s' hook codex-app --data /d"#);
    }
}
