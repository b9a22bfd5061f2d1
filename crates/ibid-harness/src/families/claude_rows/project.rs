//! The folder of a project.

use unicode_normalization::UnicodeNormalization;

/// A folder name up to this length is not cut.
const SLUG_UNITS: usize = 200;

/// The name of the folder for a working directory: every UTF-16 unit outside `A-Za-z0-9` becomes
/// `-`; of a longer name the first 200 units stay, with a hash of the path behind them. Measured
/// with 2.1.332.
// https://github.com/lossless-claude/lcm/issues/534 (fault 5)
// https://github.com/Untrivial-ai/agent-orchestrator/pull/1612 (fault 6)
pub(crate) fn slug(cwd: &str) -> String {
    let mut name = String::with_capacity(cwd.len());
    let mut hash: i32 = 0;
    for unit in cwd.encode_utf16() {
        hash = hash.wrapping_mul(31).wrapping_add(i32::from(unit));
        let plain = u8::try_from(unit).ok().filter(u8::is_ascii_alphanumeric);
        name.push(plain.map_or('-', char::from));
    }
    if name.len() > SLUG_UNITS {
        name.truncate(SLUG_UNITS);
        name.push('-');
        name.push_str(&base_36(hash.unsigned_abs()));
    }
    name
}

/// The names that the folder of a working directory may have: macOS hands out names decomposed
/// that other programs write composed.
// https://github.com/anthropics/claude-code/issues/22243 (fault 32)
pub(crate) fn slugs(cwd: &str) -> Vec<String> {
    let mut slugs = vec![slug(cwd)];
    for form in [cwd.nfc().collect::<String>(), cwd.nfd().collect::<String>()] {
        let slug = slug(&form);
        if !slugs.contains(&slug) {
            slugs.push(slug);
        }
    }
    slugs
}

fn base_36(mut number: u32) -> String {
    let mut digits = Vec::new();
    loop {
        digits.push(char::from_digit(number % 36, 36).unwrap_or('0'));
        number /= 36;
        if number == 0 {
            break;
        }
    }
    digits.iter().rev().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // https://github.com/lossless-claude/lcm/issues/534 (fault 5)
    #[test]
    fn every_unit_that_is_no_letter_or_digit_becomes_a_dash() {
        assert_eq!(slug("/home/dev/My Project_2.0 (ö)"), "-home-dev-My-Project-2-0----");
        assert_eq!(slug(r"C:\Users\x"), "C--Users-x");
        assert_eq!(slug("/a/😀"), "-a---");
    }

    // https://github.com/Untrivial-ai/agent-orchestrator/pull/1612 (fault 6)
    #[test]
    fn a_long_name_is_cut_and_gets_a_hash_of_the_whole_path() {
        let (one, two) = (format!("/{}/a", "x".repeat(250)), format!("/{}/b", "x".repeat(250)));
        let (one, two) = (slug(&one), slug(&two));
        assert!(one.len() > 201 && one.len() < 210 && one.starts_with("-xxx"));
        assert_eq!(one.get(..201), two.get(..201));
        assert_ne!(one, two);
    }

    #[test]
    fn the_hash_is_the_one_of_strings_in_java() {
        assert_eq!(base_36(96_354), "22ci");
        assert_eq!(
            "abc".encode_utf16().fold(0_i32, |h, u| h.wrapping_mul(31).wrapping_add(i32::from(u))),
            96_354
        );
    }
}
