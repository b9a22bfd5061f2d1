//! The folders of projects.
//!
//! Conversations: read in the bundle of Qoder CLI 1.1.52. Logs: as readers of them look for them.

/// A folder of conversations up to this length is not cut.
const SLUG_UNITS: usize = 200;

/// The folder of conversations: every UTF-16 unit outside `A-Za-z0-9` is a `-`; of a longer name the
/// first 200 units stay, with a hash of the path behind them.
pub(super) fn of_conversations(cwd: &str) -> String {
    let mut name = String::with_capacity(cwd.len());
    let mut hash: i32 = 5381;
    for unit in cwd.encode_utf16() {
        hash = hash.wrapping_mul(33) ^ i32::from(unit);
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

/// The folders of logs: separators and colons as `-`, or colons left out, or runs of separators as
/// one `-`; and the one that conversations have.
pub(super) fn of_logs(cwd: &str) -> Vec<String> {
    let path = cwd.replace('\\', "/");
    let mut runs = String::with_capacity(path.len());
    for c in path.chars().map(|c| if matches!(c, '/' | ':') { '-' } else { c }) {
        if c != '-' || !runs.ends_with('-') {
            runs.push(c);
        }
    }
    let mut slugs = vec![path.replace([':', '/'], "-")];
    for slug in [path.replace(':', "").replace('/', "-"), runs, of_conversations(cwd)] {
        if !slugs.contains(&slug) {
            slugs.push(slug);
        }
    }
    slugs
}

/// Whether the folders of conversations and of logs can be of one directory.
pub(super) fn agree(conversations: &str, logs: &str) -> bool {
    // The one folds more than the other, and may have been cut.
    let folded = |slug: &str| {
        let mut name = String::with_capacity(slug.len());
        for c in slug.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }) {
            if c != '-' || !name.ends_with('-') {
                name.push(c);
            }
        }
        name
    };
    match conversations.get(..SLUG_UNITS).filter(|_| conversations.len() > SLUG_UNITS) {
        Some(kept) => folded(logs).starts_with(&folded(kept)),
        None => folded(conversations) == folded(logs),
    }
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

    #[test]
    fn the_folder_of_logs_is_one_of_those_that_were_seen() {
        for (cwd, folders) in [
            ("/repo/demo", &["-repo-demo"][..]),
            ("/repo/my.app_v2", &["-repo-my.app_v2"]),
            ("/repo/a~b:c", &["-repo-a~b-c", "-repo-a~bc"]),
            ("C:\\repo\\my_app", &["C--repo-my_app", "C-repo-my_app"]),
            ("\\\\srv\\share", &["--srv-share", "-srv-share"]),
            ("/repo/日本", &["-repo-日本", "-repo---"]),
        ] {
            let found = of_logs(cwd);
            assert!(
                folders.iter().all(|folder| found.iter().any(|known| known == folder)),
                "{cwd}: {found:?}"
            );
        }
    }

    #[test]
    fn a_long_folder_of_conversations_is_cut_and_gets_a_hash() {
        assert_eq!(of_conversations("/repo/my.app_v2"), "-repo-my-app-v2");
        let (one, two) = (format!("/{}/a", "x".repeat(250)), format!("/{}/b", "x".repeat(250)));
        let (a, b) = (of_conversations(&one), of_conversations(&two));
        assert!(a.len() > 201 && a != b && a.get(..201) == b.get(..201));
        assert!(agree(&a, &of_logs(&one).remove(0)));
    }

    #[test]
    fn folders_of_one_directory_agree() {
        for cwd in ["/repo/my.app_v2", "C:\\repo\\my_app", "/a", "/repo/日本"] {
            assert!(of_logs(cwd).iter().all(|logs| agree(&of_conversations(cwd), logs)), "{cwd}");
        }
        assert!(!agree("-repo-demo", "-repo-demo-sub"));
    }
}
