//! Writing as a value: a plan says what would be written, can be shown, and is then committed as
//! a whole or not at all.
//!
//! A [`Plan`] is a list of [`Step`]s in the order in which they become visible: whoever makes a
//! plan puts the step that makes a session visible last, and for deletion first.

mod content;
mod error;
pub(crate) mod path_text;
mod policy;
mod stamp;
mod step;

pub use content::Content;
pub use error::PlanError;
pub use policy::{Action, Committed, Point, Policy, When};
pub use stamp::FileStamp;
pub use step::{Plan, RowSelection, Step};
