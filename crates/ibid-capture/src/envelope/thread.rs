//! Which thread of a session a request belongs to.

use http::HeaderMap;
use ibid_model::ThreadRule;

use super::read::single;

/// The id of the sub-thread that a request belongs to, verbatim; none when it is the main thread's,
/// or when no rule can tell. The first rule that finds one decides, so their order is precedence.
///
/// An empty value is no evidence, and neither is a header that is repeated with another value.
#[must_use]
pub fn thread_id<'rules>(
    headers: &HeaderMap,
    rules: impl IntoIterator<Item = &'rules ThreadRule>,
) -> Option<String> {
    let value = |name: &str| single(headers, name).filter(|value| !value.is_empty());
    let found = |rule: &ThreadRule| match rule {
        ThreadRule::Present(thread) => value(thread),
        ThreadRule::Differs { thread, session } => {
            let (thread, session) = (value(thread)?, value(session)?);
            (thread != session).then_some(thread)
        }
        _ => None,
    };
    rules.into_iter().find_map(found).map(ToOwned::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: &[ThreadRule] =
        &[ThreadRule::Present("x-agent"), ThreadRule::Differs { thread: "x-thread", session: "x-session" }];

    fn found(pairs: &[(&'static str, &'static str)]) -> Option<String> {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(*name, http::HeaderValue::from_static(value));
        }
        thread_id(&headers, RULES)
    }

    #[test]
    fn a_header_that_only_sub_threads_have_is_their_id() {
        assert_eq!(found(&[("x-agent", "a b/c")]).as_deref(), Some("a b/c"));
        assert_eq!(found(&[("x-agent", "")]), None);
    }

    #[test]
    fn a_pair_tells_a_sub_thread_when_it_is_whole_and_differs() {
        assert_eq!(found(&[("x-thread", "t"), ("x-session", "s")]).as_deref(), Some("t"));
        for pair in
            [&[("x-thread", "s"), ("x-session", "s")][..], &[("x-thread", "t")], &[("x-session", "s")]]
        {
            assert_eq!(found(pair), None);
        }
        assert_eq!(found(&[("x-thread", "t"), ("x-session", "")]), None);
        assert_eq!(found(&[("x-thread", ""), ("x-session", "s")]), None);
    }

    #[test]
    fn the_first_rule_that_finds_one_decides() {
        let all = [("x-agent", "a"), ("x-thread", "t"), ("x-session", "s")];
        assert_eq!(found(&all).as_deref(), Some("a"));
        let empty = [("x-agent", ""), ("x-thread", "t"), ("x-session", "s")];
        assert_eq!(found(&empty).as_deref(), Some("t"));
    }

    #[test]
    fn a_header_that_contradicts_itself_is_no_evidence() {
        assert_eq!(found(&[("x-agent", "a"), ("x-agent", "b")]), None);
        let twice = [("x-thread", "t"), ("x-session", "s"), ("x-session", "t")];
        assert_eq!(found(&twice), None);
    }

    #[test]
    fn without_rules_nothing_is_a_sub_thread() {
        let mut headers = HeaderMap::new();
        headers.insert("x-agent", http::HeaderValue::from_static("a"));
        assert_eq!(thread_id(&headers, []), None);
    }
}
