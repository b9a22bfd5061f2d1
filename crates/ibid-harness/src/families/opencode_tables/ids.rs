//! Ids in the program's own scheme: a prefix, twelve hexadecimal digits that sort by time, and
//! fourteen letters and digits. There they are random, here they are derived.

use crate::core::derived_uuid;

const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// The digits that stand for the time: the low 48 bits of milliseconds times 4096 and a counter.
/// They wrap about every 795 days, which the program lives with.
const LOW: u64 = (1 << 48) - 1;

/// Fourteen letters and digits that follow from a purpose and a name.
fn tail(purpose: &str, name: &str) -> String {
    let mut number = derived_uuid(purpose, name).as_u128();
    (0..14)
        .map(|_| {
            let digit = usize::try_from(number % 62).unwrap_or(0);
            number /= 62;
            char::from(DIGITS.get(digit).copied().unwrap_or(b'0'))
        })
        .collect()
}

/// The id of a session that began at this time. Newer sessions sort first.
pub(crate) fn session(milliseconds: i64, name: &str) -> String {
    let time = u64::try_from(milliseconds).unwrap_or(0).wrapping_mul(4096).wrapping_add(1);
    format!("ses_{:012x}{}", !time & LOW, tail("session", name))
}

/// Makes ids of messages and parts that ascend in the order in which they are asked for.
pub(crate) struct Ascending<'a> {
    name: &'a str,
    last: u64,
}

impl<'a> Ascending<'a> {
    pub(crate) fn new(name: &'a str) -> Ascending<'a> {
        Ascending { name, last: 0 }
    }

    /// The next id with this prefix, of something of this time. Times must not go back.
    pub(crate) fn next(&mut self, prefix: &str, milliseconds: i64) -> String {
        let time = u64::try_from(milliseconds).unwrap_or(0).wrapping_mul(4096).wrapping_add(1);
        self.last = time.max(self.last.saturating_add(1));
        format!("{prefix}_{:012x}{}", self.last & LOW, tail(&self.last.to_string(), self.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digits_are_those_of_the_program() {
        // Made by OpenCode 1.18.33 at 1796045702140 and, for the session, at 1796045702076.
        assert!(
            "msg_22caa83fc001yDjBzcGCFE1ygJ"
                .starts_with(Ascending::new("x").next("msg", 1_796_045_702_140).get(..16).unwrap())
        );
        assert!(
            "ses_dd3557c43ffeOSbbIvXkMgd4ty".starts_with(session(1_796_045_702_076, "x").get(..16).unwrap())
        );
    }

    #[test]
    fn ids_of_one_moment_still_ascend_and_are_always_the_same() {
        let make = || {
            let mut ids = Ascending::new("x");
            (0..5000).map(|_| ids.next("prt", 1_796_045_702_140)).collect::<Vec<_>>()
        };
        let ids = make();
        assert!(ids.is_sorted() && ids.iter().all(|id| id.len() == 30));
        assert_eq!(ids, make());
    }
}
