//! Points in time.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// A point in time, with the precision it was recorded in (at most nanoseconds). In JSON: RFC 3339
/// in UTC. A time that was not recorded is absent (`Option::None`); it is never "now".
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(jiff::Timestamp);

/// Milliseconds beyond which a number is no time that any harness could have meant (year 9999).
const LAST_MILLISECOND: i64 = 253_402_300_799_999;

impl Timestamp {
    /// The time that is `milliseconds` after 1970-01-01T00:00:00Z; none outside the years 1 to
    /// 9999. Zero and negative values are taken as they are: whether a harness writes 0 for
    /// "unknown" is for its own folder to know.
    #[must_use]
    pub fn from_milliseconds(milliseconds: i64) -> Option<Timestamp> {
        if milliseconds > LAST_MILLISECOND {
            return None;
        }
        jiff::Timestamp::from_millisecond(milliseconds).ok().map(Timestamp)
    }

    /// Milliseconds since 1970-01-01T00:00:00Z, rounded towards it.
    #[must_use]
    pub fn as_milliseconds(self) -> i64 {
        self.0.as_millisecond()
    }

    /// Reads RFC 3339 with a zone or an offset (`Z`, `+02:00`). A time without one
    /// (`2026-07-01 10:00:00`) is refused, since nothing says which zone it means.
    #[must_use]
    pub fn parse(text: &str) -> Option<Timestamp> {
        text.trim().parse::<jiff::Timestamp>().ok().map(Timestamp)
    }

    /// RFC 3339 in UTC with exactly three decimals and `Z`, as JavaScript's `toISOString` writes
    /// it and as most harnesses expect it.
    #[must_use]
    pub fn to_iso_milliseconds(self) -> String {
        self.0.strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string()
    }

    /// The same time as the `jiff` type, for arithmetic and time zones.
    #[must_use]
    pub fn to_jiff(self) -> jiff::Timestamp {
        self.0
    }
}

impl From<jiff::Timestamp> for Timestamp {
    fn from(time: jiff::Timestamp) -> Self {
        Timestamp(time)
    }
}

impl FromStr for Timestamp {
    type Err = jiff::Error;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.trim().parse::<jiff::Timestamp>().map(Timestamp)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl JsonSchema for Timestamp {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Timestamp".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "date-time" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offset_is_honoured() {
        let time = Timestamp::parse("2026-07-01T12:00:00+02:00").unwrap();
        assert_eq!(time.to_iso_milliseconds(), "2026-07-01T10:00:00.000Z");
    }

    // https://github.com/NousResearch/hermes-agent/issues/42409 (fault 55)
    #[test]
    fn a_time_without_a_zone_is_not_guessed() {
        assert_eq!(Timestamp::parse("2026-07-01 10:00:00"), None);
        assert_eq!(Timestamp::parse(""), None);
    }

    #[test]
    fn a_number_beyond_the_calendar_is_no_time() {
        assert_eq!(Timestamp::from_milliseconds(1_781_773_226_453_000), None);
        assert!(Timestamp::from_milliseconds(1_781_773_226_453).is_some());
    }
}
