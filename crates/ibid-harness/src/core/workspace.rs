//! Comparing directories that were written down at different times by different programs.

use std::path::{Path, PathBuf};

use unicode_normalization::{UnicodeNormalization, is_nfc};

/// A path in the form in which two of them can be compared by components: NFC, since macOS hands
/// out names decomposed that programs wrote composed. What is not Unicode is left as it is. The
/// file system is not asked.
// https://github.com/stablyai/orca/pull/10841 (fault 32)
#[must_use]
pub fn comparable_path(path: &Path) -> PathBuf {
    match path.to_str() {
        Some(text) if !is_nfc(text) => PathBuf::from(text.nfc().collect::<String>()),
        _ => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // https://github.com/anthropics/claude-code/issues/22243 (fault 32)
    #[test]
    fn a_decomposed_name_is_the_composed_one() {
        assert_eq!(comparable_path(Path::new("/u/ト\u{3099}ライフ\u{3099}")), Path::new("/u/ドライブ"));
    }

    #[test]
    fn neighbours_are_not_inside_each_other() {
        assert!(!comparable_path(Path::new("/w/foobar")).starts_with(comparable_path(Path::new("/w/foo"))));
    }
}
