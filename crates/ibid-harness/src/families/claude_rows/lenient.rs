//! Fields that may have another type than they should.
//!
//! A record with one odd field is still a record: a value of another type reads as absent, and
//! the carrier keeps it as it was written.

use std::borrow::Cow;
use std::fmt;

use ibid_model::Text;
use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// The methods of a visitor for values that are not of the type it looks for: they read as the
/// default.
macro_rules! other_types_are_absent {
    ($($kind:ident),+) => { $(other_types_are_absent!(@ $kind);)+ };
    (@ scalar) => {
        fn visit_bool<E: serde::de::Error>(self, _: bool) -> Result<Self::Value, E> { Ok(Default::default()) }
        fn visit_i64<E: serde::de::Error>(self, _: i64) -> Result<Self::Value, E> { Ok(Default::default()) }
        fn visit_u64<E: serde::de::Error>(self, _: u64) -> Result<Self::Value, E> { Ok(Default::default()) }
        fn visit_f64<E: serde::de::Error>(self, _: f64) -> Result<Self::Value, E> { Ok(Default::default()) }
        fn visit_unit<E: serde::de::Error>(self) -> Result<Self::Value, E> { Ok(Default::default()) }
    };
    (@ string) => {
        fn visit_str<E: serde::de::Error>(self, _: &str) -> Result<Self::Value, E> { Ok(Default::default()) }
    };
    (@ list) => {
        fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
            while list.next_element::<serde::de::IgnoredAny>()?.is_some() {}
            Ok(Default::default())
        }
    };
    (@ object) => {
        fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            while map.next_entry::<serde::de::IgnoredAny, serde::de::IgnoredAny>()?.is_some() {}
            Ok(Default::default())
        }
    };
}
pub(super) use other_types_are_absent;

/// A string; anything else is none.
#[derive(Clone, Debug, Default)]
pub(super) struct Str<'a>(pub(super) Option<Cow<'a, str>>);

impl Str<'_> {
    /// The string as text, sharing the memory of `whole` where it stands there as it is.
    pub(super) fn text(self, whole: &Text) -> Option<Text> {
        self.0.map(|string| Text::from_cow(whole, string))
    }

    /// The same, with an empty string as none.
    pub(super) fn filled(self, whole: &Text) -> Option<Text> {
        self.text(whole).filter(|text| !text.is_empty())
    }

    pub(super) fn as_str(&self) -> Option<&str> {
        self.0.as_deref()
    }
}

impl<'de> Deserialize<'de> for Str<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Strings;
        impl<'de> Visitor<'de> for Strings {
            type Value = Str<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }
            fn visit_borrowed_str<E: Error>(self, string: &'de str) -> Result<Str<'de>, E> {
                Ok(Str(Some(Cow::Borrowed(string))))
            }
            fn visit_str<E: Error>(self, string: &str) -> Result<Str<'de>, E> {
                Ok(Str(Some(Cow::Owned(string.to_owned()))))
            }
            other_types_are_absent!(scalar, list, object);
        }
        deserializer.deserialize_any(Strings)
    }
}

/// A string as it stands in the row; anything else is none. It is for long strings: one with
/// escapes is not decoded before somebody reads it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Written<'a>(Option<&'a RawValue>);

impl<'a> Written<'a> {
    pub(super) fn of(raw: &'a RawValue) -> Written<'a> {
        Written(raw.get().starts_with('"').then_some(raw))
    }

    /// The string as text that shares the memory of `whole`.
    ///
    /// # Errors
    /// When it holds a lone surrogate.
    pub(super) fn text(self, whole: &Text) -> Result<Option<Text>, serde_json::Error> {
        self.0.map(|raw| Text::of_json_string(whole, raw)).transpose()
    }
}

impl<'de> Deserialize<'de> for Written<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <&RawValue>::deserialize(deserializer).map(Written::of)
    }
}

/// A string or `null`; another type is absent.
#[derive(Clone, Debug, Default)]
pub(super) enum Link<'a> {
    /// The key is not there, or holds neither a string nor `null`.
    #[default]
    Absent,
    /// The key holds `null`.
    Null,
    /// The key holds a string.
    To(Cow<'a, str>),
}

impl<'de> Deserialize<'de> for Link<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let string = Option::<Str<'de>>::deserialize(deserializer)?;
        Ok(match string {
            None => Link::Null,
            Some(Str(Some(string))) => Link::To(string),
            Some(Str(None)) => Link::Absent,
        })
    }
}

/// A boolean; anything else is none.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flag(pub(super) Option<bool>);

impl Flag {
    pub(super) fn is_set(self) -> bool {
        self.0 == Some(true)
    }
}

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Booleans;
        impl<'de> Visitor<'de> for Booleans {
            type Value = Flag;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a boolean")
            }
            fn visit_bool<E: Error>(self, value: bool) -> Result<Flag, E> {
                Ok(Flag(Some(value)))
            }
            fn visit_i64<E: Error>(self, _: i64) -> Result<Flag, E> {
                Ok(Flag(None))
            }
            fn visit_u64<E: Error>(self, _: u64) -> Result<Flag, E> {
                Ok(Flag(None))
            }
            fn visit_f64<E: Error>(self, _: f64) -> Result<Flag, E> {
                Ok(Flag(None))
            }
            fn visit_unit<E: Error>(self) -> Result<Flag, E> {
                Ok(Flag(None))
            }
            other_types_are_absent!(string, list, object);
        }
        deserializer.deserialize_any(Booleans)
    }
}

/// A count; anything else is none.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Count(pub(super) Option<u64>);

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Counts;
        impl<'de> Visitor<'de> for Counts {
            type Value = Count;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a count")
            }
            fn visit_u64<E: Error>(self, value: u64) -> Result<Count, E> {
                Ok(Count(Some(value)))
            }
            fn visit_bool<E: Error>(self, _: bool) -> Result<Count, E> {
                Ok(Count(None))
            }
            fn visit_i64<E: Error>(self, _: i64) -> Result<Count, E> {
                Ok(Count(None))
            }
            fn visit_f64<E: Error>(self, _: f64) -> Result<Count, E> {
                Ok(Count(None))
            }
            fn visit_unit<E: Error>(self) -> Result<Count, E> {
                Ok(Count(None))
            }
            other_types_are_absent!(string, list, object);
        }
        deserializer.deserialize_any(Counts)
    }
}

/// Reads an object key by key, each into its field; of a key that stands twice the last counts,
/// as for the program that wrote it. Whatever is no object reads as the default.
pub(super) trait Fields<'de>: Default {
    /// Takes the value of `key`, or skips it.
    fn field<A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error>;
    /// Called once when the value is an object.
    fn is_object(&mut self) {}
}

/// Reads a value by its [`Fields`].
pub(super) fn read_fields<'de, T: Fields<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    struct Objects<T>(std::marker::PhantomData<T>);
    impl<'de, T: Fields<'de>> Visitor<'de> for Objects<T> {
        type Value = T;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
            let mut value = T::default();
            value.is_object();
            while let Some(Str(key)) = map.next_key()? {
                value.field(key.as_deref().unwrap_or_default(), &mut map)?;
            }
            Ok(value)
        }
        other_types_are_absent!(scalar, string, list);
    }
    deserializer.deserialize_any(Objects(std::marker::PhantomData))
}

/// Skips a value.
pub(super) fn skip<'de, A: MapAccess<'de>>(map: &mut A) -> Result<(), A::Error> {
    map.next_value::<IgnoredAny>().map(|_| ())
}

/// The elements of a list, or none for anything else.
pub(super) fn elements<'de, T: Deserialize<'de>, A: SeqAccess<'de>>(mut list: A) -> Result<Vec<T>, A::Error> {
    let mut elements = Vec::new();
    while let Some(element) = list.next_element()? {
        elements.push(element);
    }
    Ok(elements)
}
