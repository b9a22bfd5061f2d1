//! Words for a POSIX shell.

use std::borrow::Cow;

/// One word as a POSIX shell reads it back: bare when it holds only letters, digits and
/// `._-/@:+,=`, else in single quotes.
#[must_use]
pub fn posix_word(word: &str) -> Cow<'_, str> {
    let bare = |byte: u8| byte.is_ascii_alphanumeric() || b"._-/@:+,=".contains(&byte);
    if !word.is_empty() && word.bytes().all(bare) {
        return Cow::Borrowed(word);
    }
    Cow::Owned(format!("'{}'", word.replace('\'', r"'\''")))
}

/// Words as one line.
#[must_use]
pub fn posix_line<W: AsRef<str>>(words: &[W]) -> String {
    words.iter().map(|word| posix_word(word.as_ref())).collect::<Vec<_>>().join(" ")
}

#[cfg(all(test, unix))]
#[allow(clippy::unwrap_used, reason = "a test states what it expects")]
mod tests {
    use std::process::Command;

    use super::*;

    /// What `/bin/sh` makes of a line: the words that a program would get.
    fn words_of_a_shell(line: &str) -> Vec<String> {
        let script = format!("set -- {line}\nfor word; do printf '%s\\001' \"$word\"; done");
        let output = Command::new("/bin/sh").arg("-c").arg(script).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        text.split_terminator('\u{1}').map(str::to_owned).collect()
    }

    #[test]
    fn a_shell_reads_every_word_back_as_it_was() {
        let words = [
            "/opt/ibid",
            "",
            "two words",
            "it's",
            "''",
            "$HOME",
            "`id`",
            "$(id)",
            "a\\b",
            "\"q\"",
            "*",
            "~",
            "a;b",
            "a&b|c",
            "new\nline",
            "tab\there",
            "#no",
            "naïve 外",
            "-x",
            "a=b",
            "!",
            "{a,b}",
            "<x>",
        ];
        assert_eq!(words_of_a_shell(&posix_line(&words)), words);
    }

    #[test]
    fn a_plain_path_stays_bare() {
        assert_eq!(
            posix_line(&["/usr/bin/ibid", "hook", "--data=/x", "a@b:1,2+3"]),
            "/usr/bin/ibid hook --data=/x a@b:1,2+3"
        );
    }
}
