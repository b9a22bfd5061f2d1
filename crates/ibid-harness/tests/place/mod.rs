//! A store in a home of its own, as the tests of harnesses look into it.

use std::marker::PhantomData;
use std::path::Path;

use ibid_carrier::jsonl::Limits;
use ibid_harness::{Common, Context, Discovered, Listed, Store, Surroundings};
use ibid_testkit::Home;

/// A home, and the store of harness `H` in it.
pub(crate) struct Place<H> {
    pub(crate) home: Home,
    pub(crate) machine: Surroundings,
    harness: PhantomData<H>,
}

impl<H: Store> Place<H> {
    pub(crate) fn of(home: Home) -> Place<H> {
        let machine = Surroundings::isolated(home.path());
        Place { home, machine, harness: PhantomData }
    }

    pub(crate) fn listed(&self) -> Vec<Listed> {
        let limits = Limits::default();
        let context = Context { machine: &self.machine, limits: &limits };
        let listing = H::list(&H::roots(&self.machine).remove(0), &context);
        assert_eq!(listing.findings, []);
        listing.sessions
    }

    /// The one whose path has this in it.
    pub(crate) fn find(&self, id: &str) -> Listed {
        let found =
            self.listed().into_iter().find(|listed| listed.reference.path.to_string_lossy().contains(id));
        found.unwrap_or_else(|| panic!("{id} is listed"))
    }

    pub(crate) fn read(&self, id: &str) -> Common {
        let limits = Limits::default();
        let context = Context { machine: &self.machine, limits: &limits };
        let transcript = H::load(&self.find(id).reference, &context).unwrap();
        let common = H::to_common(&transcript).unwrap();
        assert_eq!(common.session.problems(), []);
        common
    }

    pub(crate) fn describe(&self, listed: &Listed) -> Discovered {
        let limits = Limits::default();
        H::describe(listed, &Context { machine: &self.machine, limits: &limits }).unwrap()
    }

    pub(crate) fn placed(&self, id: &str, directory: &str) -> bool {
        let limits = Limits::default();
        let context = Context { machine: &self.machine, limits: &limits };
        H::placed_for(&self.find(id).reference, Path::new(directory), &context)
    }
}
