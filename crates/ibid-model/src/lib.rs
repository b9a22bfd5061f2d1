//! The common session: what Ibid says about a conversation with a coding agent, whichever agent
//! it was.
//!
//! A [`Session`] has [`Message`]s made of typed [`Block`]s, standing in the order of the file and
//! joined to a tree by their parents; the [`ModelCall`]s with their tokens, each once;
//! [`Compaction`]s, [`Lineage`] and [`Event`]s; and for all of these the [`Source`]s they were
//! read from. Two kinds of report go with it: a [`Finding`] says what is wrong with an input, a
//! [`Loss`] what a conversion changed or left behind.
//!
//! [`Session::view`] picks the messages that are meant (the live branch, across compactions,
//! unless asked otherwise), and [`prepare`] repairs them for a target. [`SessionDocument`] is the
//! JSON form, with a published schema.
//!
//! # Example
//!
//! ```
//! use ibid_model::{Block, Message, Origin, Role, Rules, Selection, Session, prepare};
//!
//! let mut session = Session::new("codex", "0199aaaa-0000-7000-8000-000000000001");
//! let mut message = Message::new("m1", Role::User, Origin::Person);
//! message.blocks.push(Block::text("What does this repository do?"));
//! session.messages.push(message);
//! assert!(session.problems().is_empty());
//!
//! let prepared = prepare(&session, &Selection::default(), &Rules::STRICT);
//! assert_eq!(prepared.messages.len(), 1);
//! assert!(prepared.losses.is_empty());
//! ```
//!
//! # Limits
//!
//! The model does no input or output, and knows no harness. Text is Unicode: bytes and lone
//! surrogates that are none read as U+FFFD here, while the carriers keep them exactly.

mod block;
mod document;
mod essence;
mod event;
mod finding;
mod ids;
mod json;
mod lineage;
mod loss;
mod message;
mod observation;
mod repair;
mod session;
mod source;
mod tagged;
mod text;
mod thread_rule;
mod time;
mod tool;
mod usage;
mod view;

pub use block::{
    Block, Command, Data, Document, Image, OtherBlock, ProviderToken, TextBlock, Thinking, TokenUse,
};
pub use document::{DocumentError, SessionDocument, VERSION, schema};
pub use essence::{Essence, Essences, essence, estimated_tokens};
pub use event::{Event, EventKind};
pub use finding::{Finding, FindingKind, Severity};
pub use ids::{CallId, MessageId, SessionId};
pub use json::{Json, replace_lone_surrogates};
pub use lineage::{Compaction, Lineage, Relation};
pub use loss::{Loss, LossEffect, LossKind, Losses};
pub use message::{Message, Origin, Role, StopReason};
pub use observation::{Boundary, Observation, ObservedAgent};
pub use repair::{CommandRule, Preparation, Prepared, Rules, Step, ThinkingRule, prepare};
pub use session::{Branch, Counts, Meta, Problem, Session, Title, TitleOrigin};
pub use source::{CarrierInfo, CarrierRole, Extent, RowPlace, Source};
pub use text::Text;
pub use thread_rule::ThreadRule;
pub use time::Timestamp;
pub use tool::{
    Argument, Edit, Fetch, Find, List, Mcp, Outcome, Patch, Raw, Read, Replacement, ResultPart, Search,
    Shell, Task, Todo, TodoItem, Tool, ToolResult, ToolUse, WebSearch, Write,
};
pub use usage::{ModelCall, Usage};
pub use view::{Selection, Span, View};
