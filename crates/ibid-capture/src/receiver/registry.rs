//! The sessions of one program that hooks have reported.

use std::collections::{BTreeSet, HashMap, VecDeque};

use crate::report::Report;

/// How many root sessions are known at once.
const ROOTS: usize = 1024;

/// How many times a subagent is named by a root, over all roots.
const CHILDREN: usize = 16 * 1024;

/// A root session, as it was reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// Its id.
    pub id: String,
    /// Its directory, as it was last reported.
    pub cwd: Option<String>,
}

/// The sessions of one program: the oldest is forgotten, with its subagents, when there are too many.
#[derive(Debug)]
pub struct Registry {
    most_roots: usize,
    most_children: usize,
    roots: HashMap<String, Root>,
    /// The roots, the one that was seen first in front.
    order: VecDeque<String>,
    children: HashMap<String, Child>,
    /// How many pairs of a root and a subagent are known.
    named: usize,
}

impl Default for Registry {
    /// 1024 roots, and 16384 times that one names a subagent.
    fn default() -> Registry {
        Registry::bounded(ROOTS, CHILDREN)
    }
}

#[derive(Debug, Default)]
struct Root {
    cwd: Option<String>,
    children: BTreeSet<String>,
}

/// A subagent, with the roots that named it. One that was named by two stays nobody's as long as either
/// is known: it must not become the other's when one is forgotten.
#[derive(Debug, Default)]
struct Child {
    roots: BTreeSet<String>,
    is_ambiguous: bool,
}

impl Registry {
    fn bounded(most_roots: usize, most_children: usize) -> Registry {
        Registry {
            most_roots,
            most_children,
            roots: HashMap::new(),
            order: VecDeque::new(),
            children: HashMap::new(),
            named: 0,
        }
    }

    /// Takes a report, and says whether its session is one that was not known.
    pub fn take(&mut self, report: Report) -> bool {
        let Report { session_id, cwd, agent_id } = report;
        let is_new = !self.roots.contains_key(&session_id);
        if is_new {
            while self.roots.len() >= self.most_roots {
                self.forget_oldest();
            }
            self.order.push_back(session_id.clone());
        }
        let root = self.roots.entry(session_id.clone()).or_default();
        if cwd.is_some() {
            root.cwd = cwd;
        }
        if let Some(child) = agent_id.filter(|child| *child != session_id) {
            self.name_child(&session_id, child);
        }
        is_new
    }

    fn name_child(&mut self, root: &str, child: String) {
        if self.roots.get(root).is_some_and(|root| root.children.contains(&child)) {
            return;
        }
        while self.named >= self.most_children && self.order.front().is_some_and(|oldest| oldest != root) {
            self.forget_oldest();
        }
        if self.named >= self.most_children {
            // The root has all of them itself. What it names now belongs to nobody, and what another
            // one named before stays unclear.
            if let Some(known) = self.children.get_mut(&child) {
                known.is_ambiguous = true;
            }
            return;
        }
        let known = self.children.entry(child.clone()).or_default();
        known.roots.insert(root.to_owned());
        known.is_ambiguous |= known.roots.len() > 1;
        if let Some(root) = self.roots.get_mut(root) {
            root.children.insert(child);
        }
        self.named += 1;
    }

    fn forget_oldest(&mut self) {
        let Some(oldest) = self.order.pop_front() else { return };
        for child in self.roots.remove(&oldest).unwrap_or_default().children {
            self.named = self.named.saturating_sub(1);
            if let Some(known) = self.children.get_mut(&child) {
                known.roots.remove(&oldest);
                if known.roots.is_empty() {
                    self.children.remove(&child);
                }
            }
        }
    }

    /// The root session of a request, by the ids that it carries, in the order in which they count. An id
    /// is a root's own, or else a subagent's that one root has named; ids that lead to different roots
    /// lead to none.
    #[must_use]
    pub fn resolve<'a>(&self, ids: impl IntoIterator<Item = &'a str>) -> Option<Session> {
        let mut found = ids.into_iter().filter_map(|id| self.root_of(id));
        let (id, root) = found.next()?;
        if found.any(|(other, _)| other != id) {
            return None;
        }
        Some(Session { id: id.to_owned(), cwd: root.cwd.clone() })
    }

    fn root_of(&self, id: &str) -> Option<(&str, &Root)> {
        if let Some((id, root)) = self.roots.get_key_value(id) {
            return Some((id, root));
        }
        let child = self.children.get(id).filter(|child| !child.is_ambiguous)?;
        let (id, root) = self.roots.get_key_value(child.roots.first()?)?;
        Some((id, root))
    }

    /// How many root sessions are known.
    #[must_use]
    pub fn len(&self) -> usize {
        self.roots.len()
    }

    /// Whether none is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.roots.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn report(session: &str, agent: Option<&str>) -> Report {
        Report {
            session_id: session.to_owned(),
            cwd: Some(format!("/{session}")),
            agent_id: agent.map(str::to_owned),
        }
    }

    fn id(registry: &Registry, ids: &[&str]) -> Option<String> {
        registry.resolve(ids.iter().copied()).map(|session| session.id)
    }

    #[test]
    fn an_id_is_matched_exactly_or_not_at_all() {
        let mut registry = Registry::default();
        assert!(registry.take(report("root", None)));
        assert!(!registry.take(report("root", Some("child"))));
        assert_eq!(id(&registry, &["root"]).as_deref(), Some("root"));
        assert_eq!(id(&registry, &["child"]).as_deref(), Some("root"));
        for other in ["roo", "root ", "ROOT", "", "root2", "childx"] {
            assert_eq!(id(&registry, &[other]), None, "{other}");
        }
    }

    #[test]
    fn ids_count_in_their_order_and_must_agree() {
        let mut registry = Registry::default();
        registry.take(report("a", Some("child")));
        registry.take(report("b", None));
        assert_eq!(id(&registry, &["child", "a"]).as_deref(), Some("a"));
        assert_eq!(id(&registry, &["unknown", "b"]).as_deref(), Some("b"));
        assert_eq!(id(&registry, &["child", "b"]), None);
        assert_eq!(id(&registry, &[]), None);
    }

    #[test]
    fn a_subagent_of_two_roots_is_nobodys_even_when_one_is_forgotten() {
        let mut registry = Registry::default();
        registry.take(report("first", Some("child")));
        registry.take(report("second", Some("child")));
        assert_eq!(id(&registry, &["child"]), None);
        for n in 0..ROOTS - 1 {
            registry.take(report(&format!("r{n}"), None));
        }
        assert_eq!((id(&registry, &["first"]), id(&registry, &["second"]).is_some()), (None, true));
        assert_eq!(id(&registry, &["child"]), None);
        assert_eq!(id(&registry, &["child", "second"]).as_deref(), Some("second"));
    }

    #[test]
    fn the_directory_is_the_last_that_was_reported() {
        let mut registry = Registry::default();
        registry.take(report("a", None));
        registry.take(Report { cwd: None, ..report("a", None) });
        assert_eq!(registry.resolve(["a"]).unwrap().cwd.as_deref(), Some("/a"));
        registry.take(Report { cwd: Some("/elsewhere".to_owned()), ..report("a", None) });
        assert_eq!(registry.resolve(["a"]).unwrap().cwd.as_deref(), Some("/elsewhere"));
    }

    #[test]
    fn one_root_with_too_many_subagents_loses_none_of_its_own_to_another() {
        let mut registry = Registry::default();
        registry.take(report("other", Some("shared")));
        for n in 0..CHILDREN + 10 {
            registry.take(report("root", Some(&format!("c{n}"))));
        }
        assert_eq!(registry.named, CHILDREN);
        assert_eq!(id(&registry, &["c0"]).as_deref(), Some("root"));
        assert_eq!(id(&registry, &[&format!("c{}", CHILDREN + 5)]), None);
        registry.take(report("later", Some("c1")));
        assert_eq!(id(&registry, &["c1"]).as_deref(), Some("later"), "its first root was forgotten whole");
        assert_eq!(id(&registry, &["root"]), None);
    }

    /// What is known of the last `ROOTS_KEPT` roots, worked out from all reports.
    fn expected(reports: &[(u8, Option<u8>)], asked: &str) -> Option<String> {
        let mut order: Vec<u8> = Vec::new();
        let mut named: Vec<(u8, u8)> = Vec::new();
        for (root, child) in reports {
            if !order.contains(root) {
                order.push(*root);
                if order.len() > ROOTS_KEPT {
                    let gone = order.remove(0);
                    named.retain(|(root, _)| *root != gone);
                }
            }
            named.extend(child.map(|child| (*root, child)));
        }
        if let Some(root) = order.iter().find(|root| format!("r{root}") == asked) {
            return Some(format!("r{root}"));
        }
        let of: BTreeSet<u8> =
            named.iter().filter(|(_, child)| format!("c{child}") == asked).map(|(root, _)| *root).collect();
        match of.len() {
            1 => of.first().map(|root| format!("r{root}")),
            _ => None,
        }
    }

    const ROOTS_KEPT: usize = 8;

    proptest! {
        #[test]
        fn what_is_forgotten_is_unknown_and_never_anothers(
            reports in proptest::collection::vec((0..14_u8, proptest::option::of(0..6_u8)), 1..80),
        ) {
            let mut registry = Registry::bounded(ROOTS_KEPT, 1000);
            for (root, child) in &reports {
                registry.take(report(&format!("r{root}"), child.map(|child| format!("c{child}")).as_deref()));
                prop_assert!(registry.len() <= ROOTS_KEPT && registry.order.len() == registry.len());
            }
            for asked in (0..14).map(|n| format!("r{n}")) {
                prop_assert_eq!(id(&registry, &[&asked]), expected(&reports, &asked));
            }
            for asked in (0..6).map(|n| format!("c{n}")) {
                // A subagent that two roots named stays nobody's after one of them was forgotten.
                if let Some(found) = id(&registry, &[&asked]) {
                    prop_assert_eq!(Some(found), expected(&reports, &asked));
                }
            }
        }
    }
}
