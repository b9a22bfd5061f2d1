//! Writing as a value: a plan says what would be written, can be shown, and is then committed as
//! a whole or not at all.
//!
//! A [`Plan`] is a list of [`Step`]s in the order in which they become visible: whoever makes a
//! plan puts the step that makes a session visible last, and for deletion first. The [`Engine`]
//! stages everything beside its target under names that no harness looks for, publishes by
//! renaming, reads back and compares, and undoes all of it on any failure. A journal in Ibid's
//! own directory makes that hold for a crash too: [`Engine::recover`] completes or undoes.
//!
//! Limits. Between the last look at the directories on the way and the rename that publishes, a
//! hostile process with the same rights could still exchange one of them for a link. Names are
//! forced onto the disk on Unix; Windows has no call for that. On systems without an exchange of
//! two files in one step (Windows, some network file systems) a replaced file has two names for a
//! moment. Paths that are not Unicode can be written on Unix only.
//!
//! ```
//! use ibid_carrier::plan::{Content, Engine, Plan, Policy, Step};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let home = tempfile::tempdir()?;
//! # let home = home.path();
//! let store = home.join("sessions");
//! let plan = Plan::new(vec![
//!     Step::MakeDirectory { path: store.clone(), private: true },
//!     Step::CreateFile {
//!         path: store.join("a.jsonl"),
//!         content: Content::from("{}\n"),
//!         private: true,
//!     },
//! ]);
//! println!("{plan}");
//! let engine = Engine::new(home.join("ibid"));
//! let committed = engine.commit(&plan, &Policy::within([store.clone()]))?;
//! assert_eq!(committed.written, [store.join("a.jsonl")]);
//! # Ok(())
//! # }
//! ```

mod changes;
mod content;
mod engine;
mod error;
pub(crate) mod files;
pub(crate) mod path_text;
mod place;
mod policy;
mod prepare;
mod recover;
pub(crate) mod stamp;
mod step;

pub use content::Content;
pub use engine::Engine;
pub use error::PlanError;
pub use policy::{Action, Committed, Point, Policy, When};
pub use recover::{Outcome, Recovered, Unfinished};
pub use stamp::ContentStamp;
pub use step::{Plan, RowSelection, Step};
