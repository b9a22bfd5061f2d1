//! Strings that stand in row after row.
//!
//! A session names its directory, its version, its model in every row. They are kept once for
//! each run of equal ones: that takes less memory, and the threads that read a large file do not
//! have to count references to the same buffer together.

use std::cell::RefCell;
use std::sync::Arc;

use ibid_model::Text;

use super::lenient::Str;
use super::record::UNKNOWN_MODEL;
use super::row::Row;

/// What a row names that rarely changes from row to row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ambient {
    /// The session.
    pub(crate) session: Option<Text>,
    /// The working directory.
    pub(crate) cwd: Option<Text>,
    /// The git branch.
    pub(crate) git_branch: Option<Text>,
    /// The version of the program.
    pub(crate) version: Option<Text>,
    /// The subagent.
    pub(crate) agent: Option<Text>,
}

impl Ambient {
    fn is_of(&self, row: &Row<'_>) -> bool {
        let same = |known: &Option<Text>, said: &Str<'_>| known.as_deref() == filled(said);
        same(&self.session, &row.session)
            && same(&self.cwd, &row.cwd)
            && same(&self.git_branch, &row.git_branch)
            && same(&self.version, &row.version)
            && same(&self.agent, &row.agent)
    }

    /// Copies, so that nothing here keeps a whole file in memory.
    fn of(row: &Row<'_>) -> Ambient {
        let text = |said: &Str<'_>| filled(said).map(Text::from);
        Ambient {
            session: text(&row.session),
            cwd: text(&row.cwd),
            git_branch: text(&row.git_branch),
            version: text(&row.version),
            agent: text(&row.agent),
        }
    }
}

#[derive(Default)]
struct Recent {
    ambient: Arc<Ambient>,
    model: Text,
}

thread_local! {
    /// The last values that this thread read.
    static RECENT: RefCell<Recent> = RefCell::default();
}

fn filled<'s>(said: &'s Str<'_>) -> Option<&'s str> {
    said.as_str().filter(|string| !string.is_empty())
}

/// What a row names, shared with the row before it where that names the same.
pub(super) fn ambient(row: &Row<'_>) -> Arc<Ambient> {
    RECENT.with_borrow_mut(|recent| {
        if !recent.ambient.is_of(row) {
            recent.ambient = Arc::new(Ambient::of(row));
        }
        Arc::clone(&recent.ambient)
    })
}

/// A model, shared with the last one where they are equal; none when it is empty.
pub(super) fn model(said: &Str<'_>) -> Option<Text> {
    let said = filled(said).filter(|said| *said != UNKNOWN_MODEL)?;
    RECENT.with_borrow_mut(|recent| {
        if recent.model.as_str() != said {
            recent.model = Text::from(said);
        }
        Some(recent.model.clone())
    })
}
