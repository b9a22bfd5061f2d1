//! Where a lane says something.

use ibid_model::{Extent, Session, Source, Text, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Sighting;

/// A lane of evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Lane {
    /// The session as its harness stored it.
    AtRest,
    /// What the harness announced while it ran.
    Lifecycle,
}

/// The place where a lane says something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "lane", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Evidence {
    /// In a carrier of the session.
    AtRest {
        /// The carrier.
        path: Text,
        /// Where in it. `whole` when the fact was read from no single record.
        extent: Extent,
    },
    /// In the journal.
    Lifecycle {
        /// The program that announced it.
        program: Text,
        /// The harness's name of the event.
        event: Text,
        /// When the hook ran.
        at: Timestamp,
        /// The journal file; none when the observation is from elsewhere.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        path: Option<Text>,
        /// The first byte of the entry.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        start: Option<u64>,
        /// The byte behind the entry.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        end: Option<u64>,
    },
}

impl Evidence {
    /// The place of a record of this session.
    pub(super) fn of_source(session: &Session, source: &Source) -> Option<Evidence> {
        let carrier = session.carriers.get(usize::try_from(source.carrier).ok()?)?;
        Some(Evidence::AtRest { path: carrier.path.clone(), extent: source.extent.clone() })
    }

    /// The first carrier of a session, for a fact that no message has.
    pub(super) fn of_carrier(session: &Session) -> Option<Evidence> {
        let carrier = session.carriers.first()?;
        Some(Evidence::AtRest { path: carrier.path.clone(), extent: Extent::Whole })
    }

    /// The place of an observation.
    pub(super) fn of_sighting(sighting: &Sighting) -> Evidence {
        let place = sighting.place.as_ref();
        Evidence::Lifecycle {
            program: sighting.program.clone(),
            event: sighting.observation.event.clone(),
            at: sighting.at,
            path: place.map(|place| Text::from(place.path.to_string_lossy().into_owned())),
            start: place.map(|place| place.start),
            end: place.map(|place| place.end),
        }
    }
}
