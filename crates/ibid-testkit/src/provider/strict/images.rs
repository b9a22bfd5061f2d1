//! Rules about images.

use base64::{Engine, engine::general_purpose::STANDARD};

use super::case::Case;
use super::{Refusal, Rule};
use crate::provider::wire::{Api, Image, Role, Said, Source};

const TYPES: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];

pub(super) fn check(case: &Case<'_>) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    for spoken in &case.spoken {
        let (images, by_user) = match &spoken.said {
            Said::Image { role, image } => (std::slice::from_ref(image), *role == Role::User),
            Said::Result { images, .. } => (images.as_slice(), false),
            _ => continue,
        };
        for image in images {
            refusals.extend(one(image, &spoken.at));
            if case.api == Api::Chat && !by_user {
                let why = "an image stands in a message that is not the user's";
                refusals.push(Refusal::new(Rule::ImageRole, spoken.at.clone(), why));
            }
        }
    }
    refusals
}

fn one(image: &Image, at: &str) -> Option<Refusal> {
    let Source::Base64(data) = &image.source else { return None };
    let stated = image.media_type.as_deref().unwrap_or_default();
    if !TYPES.contains(&stated) {
        return Some(Refusal::new(Rule::ImageType, at, format!("the media type {stated:?} is not known")));
    }
    match STANDARD.decode(data) {
        Ok(bytes) if !bytes.is_empty() => {
            let real = sniff(&bytes).filter(|real| *real != stated)?;
            Some(Refusal::new(Rule::ImageType, at, format!("the image is called {stated} and is {real}")))
        }
        _ => Some(Refusal::new(Rule::ImageData, at, "the image's base64 is broken, or empty")),
    }
}

/// The type that an image's first bytes tell.
fn sniff(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [b'G', b'I', b'F', b'8', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}
