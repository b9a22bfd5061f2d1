//! Reading enums that are told apart by a field.

/// Implements `Deserialize` for an enum of newtype variants with a tag field.
///
/// The derived implementation buffers the value, and so loses the spelling of every
/// [`Json`](crate::Json) inside it (and any integer beyond 64 bits). This one keeps the text, reads the tag, and reads
/// the text again as the variant.
macro_rules! deserialize_tagged {
    ($name:ident, $tag:literal, { $($code:literal => $variant:ident $(($type:ty))?),+ $(,)? }) => {
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                use serde::de::Error;
                #[derive(serde::Deserialize)]
                struct Tag {
                    #[serde(rename = $tag)]
                    tag: String,
                }
                let raw = Box::<serde_json::value::RawValue>::deserialize(deserializer)?;
                let tag: Tag = serde_json::from_str(raw.get()).map_err(D::Error::custom)?;
                match tag.tag.as_str() {
                    $($code => serde_json::from_str(raw.get()).map($name::$variant).map_err(D::Error::custom),)+
                    other => Err(D::Error::unknown_variant(other, &[$($code),+])),
                }
            }
        }
    };
}

pub(crate) use deserialize_tagged;
