//! stub
use ibid_model::Session;
use super::Codex;
use crate::core::{CodecError, Converted, Target, Transcript};
pub(super) fn from_common(_: &Session, _: &Target) -> Result<Converted<Transcript<Codex>>, CodecError> { Err(CodecError::Inexpressible{harness:"Codex",reason:String::new()}) }
