//! Ids of tool calls for formats that leave some of them out.

use std::collections::{HashSet, VecDeque};

use ibid_model::{CallId, SessionId, Text};

/// How many open calls are looked at for one that a result without an id may answer.
const OPEN_CALLS: usize = 64;

/// Gives calls and results their ids, in the order of the records. What it gives depends on what
/// came before alone, so that ids stay when a session grows.
#[derive(Debug)]
pub(crate) struct CallIds {
    prefix: String,
    called: HashSet<CallId>,
    /// Calls since the last prompt that have no id of their own, and that no result has answered.
    open: VecDeque<(CallId, Text)>,
    calls: u64,
    results: u64,
}

impl CallIds {
    /// Ids for a session.
    pub(crate) fn new(harness: &str, session: &SessionId) -> CallIds {
        CallIds {
            prefix: format!("{harness}-{session}-"),
            called: HashSet::new(),
            open: VecDeque::new(),
            calls: 0,
            results: 0,
        }
    }

    /// The id of a call: its own, else one of the harness, the session and its number among such
    /// calls, from 1.
    pub(crate) fn call(&mut self, own: Option<CallId>, name: &Text) -> CallId {
        let id = own.unwrap_or_else(|| {
            self.calls += 1;
            let id = self.unused("", self.calls);
            self.open.push_back((id.clone(), name.clone()));
            id
        });
        self.called.insert(id.clone());
        id
    }

    /// Whether a call has this id.
    pub(crate) fn has(&self, id: &CallId) -> bool {
        self.called.contains(id)
    }

    /// A person spoke: what was called before is not answered any more.
    pub(crate) fn prompt(&mut self) {
        self.open.clear();
    }

    /// The id of the call that a result answers: the one that it names; else the first open call
    /// without an id, of the same tool if the result names one.
    pub(crate) fn result(&mut self, own: Option<CallId>, name: Option<&Text>) -> CallId {
        match own {
            Some(own) if self.called.contains(&own) || self.open.is_empty() => own,
            _ => {
                let mut open = self.open.iter().take(OPEN_CALLS);
                let same = name.and_then(|name| open.position(|(_, called)| called == name));
                match self.open.remove(same.unwrap_or(0)) {
                    Some((call, _)) => call,
                    None => {
                        self.results += 1;
                        self.unused("result-", self.results)
                    }
                }
            }
        }
    }

    fn unused(&self, kind: &str, number: u64) -> CallId {
        let mut id = format!("{}{kind}{number}", self.prefix);
        while self.called.contains(id.as_str()) {
            id.push('-');
        }
        CallId::from(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids() -> CallIds {
        CallIds::new("x", &"s".into())
    }

    #[test]
    fn a_call_without_an_id_gets_its_number() {
        let mut ids = ids();
        assert_eq!(ids.call(Some("own".into()), &"a".into()), "own");
        assert_eq!(ids.call(None, &"a".into()), "x-s-1");
        assert_eq!(ids.call(Some("x-s-2".into()), &"a".into()), "x-s-2");
        assert_eq!(ids.call(None, &"a".into()), "x-s-2-");
    }

    #[test]
    fn a_result_answers_the_first_open_call_of_its_tool() {
        let mut ids = ids();
        ids.call(None, &"a".into());
        ids.call(None, &"b".into());
        assert_eq!(ids.result(None, Some(&"b".into())), "x-s-2");
        assert_eq!(ids.result(Some("unknown".into()), None), "x-s-1");
        assert_eq!(ids.result(Some("unknown".into()), None), "unknown");
        assert_eq!(ids.result(None, None), "x-s-result-1");
    }

    #[test]
    fn a_call_before_a_prompt_is_not_answered_behind_it() {
        let mut ids = ids();
        ids.call(None, &"a".into());
        ids.prompt();
        assert_eq!(ids.result(None, Some(&"a".into())), "x-s-result-1");
    }
}
