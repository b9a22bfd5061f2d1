//! The common session of Ibid (under construction).

mod finding;
mod ids;
mod source;
mod text;
mod time;

pub use finding::{Finding, FindingKind, Severity};
pub use ids::{CallId, MessageId, SessionId};
pub use source::{CarrierInfo, CarrierRole, Extent, Source};
pub use text::{Json, Text, replace_lone_surrogates};
pub use time::Timestamp;
