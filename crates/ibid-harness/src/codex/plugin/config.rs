//! What Codex's `config.toml` says of the plugin (0.171.0), and how two of them differ.

use std::collections::BTreeSet;
use std::path::PathBuf;

use ibid_carrier::file::read_own;
use toml::{Table, Value};

use super::{MARKETPLACE, SPEC, codex_home};
use crate::core::Surroundings;
use crate::core::plugin::PatchError;

/// The most that is read of it, in bytes.
const LIMIT: u64 = 8 << 20;

/// How many keys are named of those that differ.
const NAMED: usize = 20;

/// What the configuration says of the plugin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Known {
    /// The folder of our marketplace.
    pub(super) source: Option<PathBuf>,
    /// Whether there is an entry for the plugin.
    pub(super) is_listed: bool,
    /// Whether the user, or Codex, says in so many words that it is on or off.
    pub(super) enabled: Option<bool>,
    /// For how many of its hooks there is trust.
    pub(super) trusted: usize,
}

/// Reads the configuration; a file that is not there says nothing.
///
/// # Errors
/// Why it cannot be read, without anything of it.
pub(super) fn known(machine: &Surroundings) -> Result<Known, String> {
    let bytes = match read_own(&codex_home(machine).join("config.toml"), LIMIT) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Known::default()),
        Err(error) => return Err(format!("cannot be read ({error})")),
    };
    let table = parsed(&String::from_utf8_lossy(&bytes)).map_err(|error| error.to_string())?;
    let at = |path: &[&str]| {
        path.iter().try_fold(&Value::Table(table.clone()), |value, key| value.get(key)).cloned()
    };
    let states = at(&["hooks", "state"]);
    let of_plugin = |(key, state): &(&String, &Value)| {
        key.starts_with(&format!("{SPEC}:")) && state.get("trusted_hash").is_some_and(Value::is_str)
    };
    Ok(Known {
        source: at(&["marketplaces", MARKETPLACE, "source"])
            .and_then(|source| source.as_str().map(PathBuf::from)),
        is_listed: at(&["plugins", SPEC]).is_some(),
        enabled: at(&["plugins", SPEC, "enabled"]).and_then(|enabled| enabled.as_bool()),
        trusted: states
            .as_ref()
            .and_then(Value::as_table)
            .map_or(0, |states| states.iter().filter(of_plugin).count()),
    })
}

fn parsed(text: &str) -> Result<Table, PatchError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    text.parse::<Table>().map_err(|error| {
        // The parser's own message quotes the line.
        let before = error.span().and_then(|span| text.get(..span.start));
        let line = before.map_or(1, |before| before.matches('\n').count() + 1);
        PatchError::Malformed(format!("line {line} is not TOML"))
    })
}

/// The keys under which two configurations say something else; a comment that only the first has
/// counts too.
pub(super) fn differences(now: &str, before: &str) -> Result<Vec<String>, PatchError> {
    let (now_table, before_table) = (parsed(now)?, parsed(before)?);
    let mut keys = Vec::new();
    differ(&now_table, &before_table, "", &mut keys);
    let comments = |text: &str| -> BTreeSet<String> {
        text.lines().map(str::trim).filter(|line| line.contains('#')).map(str::to_owned).collect()
    };
    let known = comments(before);
    if comments(now).iter().any(|line| !known.contains(line)) {
        keys.push("a comment".to_owned());
    }
    if keys.len() > NAMED {
        let more = keys.len() - NAMED;
        keys.truncate(NAMED);
        keys.push(format!("{more} more"));
    }
    Ok(keys)
}

fn differ(now: &Table, before: &Table, path: &str, keys: &mut Vec<String>) {
    let all: BTreeSet<&String> = now.keys().chain(before.keys()).collect();
    for key in all {
        let name = if key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_')) {
            key.clone()
        } else {
            format!("{key:?}")
        };
        let path = if path.is_empty() { name } else { format!("{path}.{name}") };
        let empty = Table::new();
        match (now.get(key), before.get(key)) {
            (Some(a), Some(b)) if a == b => {}
            (Some(Value::Table(a)), Some(Value::Table(b))) => differ(a, b, &path, keys),
            // A table that only one has is named by what is in it, and an empty one says nothing.
            (Some(Value::Table(a)), None) => differ(a, &empty, &path, keys),
            (None, Some(Value::Table(b))) => differ(&empty, b, &path, keys),
            _ => keys.push(path),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test states what it expects")]
mod tests {
    use super::*;

    #[test]
    fn layout_is_no_difference_and_a_value_is() {
        let differences = |now: &str, before: &str| super::differences(now, before).unwrap();
        assert_eq!(differences("a = 1\n[t]\nb=2", "a=1\nt.b = 2\n"), Vec::<String>::new());
        assert_eq!(differences("[t.\"x y\"]\nb = 2\n", ""), ["t.\"x y\".b"]);
        assert_eq!(differences("", "[t]\nb = 2\n"), ["t.b"]);
        assert_eq!(differences("[t]\n", ""), Vec::<String>::new());
    }

    #[test]
    fn a_comment_that_somebody_wrote_is_a_difference() {
        assert_eq!(differences("a = 1 # mine\n", "a = 1\n").unwrap(), ["a comment"]);
        assert_eq!(differences("a = 1\n", "a = 1 # mine\n").unwrap(), Vec::<String>::new());
    }

    #[test]
    fn a_file_that_is_no_toml_is_refused_without_a_word_of_it() {
        let error = differences("ok = 1\nkey = secret-value\n", "").unwrap_err();
        assert_eq!(error.to_string(), "it cannot be parsed (line 2 is not TOML); correct it first");
    }
}
