//! What is true of every harness: traits, the facade, discovery, names.

mod arguments;
mod by_path;
mod cache;
pub mod capture;
mod declaration;
mod discover;
pub mod edits;
mod erased;
mod fold;
pub mod hook_object;
mod identity;
pub mod launch;
pub(crate) mod open;
pub mod plugin;
mod proven;
mod resolve;
pub mod scan;
mod store;
mod surroundings;
mod transcript;
mod workspace;

pub use arguments::Arguments;
pub use by_path::listed_at;
pub use cache::DiscoveryCache;
pub use declaration::{Capabilities, Declaration, EvidencePlatform, HarnessId, ResumeRecipe};
pub use discover::{Progress, discover};
pub(crate) use erased::Erased;
pub use erased::{AnyHarness, AnyTranscript, convert_to};
pub use fold::Fold;
pub use identity::{conversion_name, derived_uuid, derived_uuid_v7};
pub use open::OpenIn;
pub use proven::{Proven, proven, proven_to_be_read};
pub use resolve::{NameError, Resolution, SessionName, resolve};
pub use store::{
    Class, Context, Deleting, Discovered, Discovery, Listed, Listing, Reference, SaveOptions, Saved, Saving,
    Store, StoreError, path_text,
};
pub use surroundings::{Platform, Root, RootOrigin, Surroundings};
pub use transcript::{
    Carrier, Carriers, Codec, CodecError, Common, Content, Converted, Harness, Target, TextCodec, Transcript,
    convert,
};
pub use workspace::comparable_path;
