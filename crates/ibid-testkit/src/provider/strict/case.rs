//! A request as the rules look at it.

use serde_json::Value;

use crate::provider::wire::{self, Api, Spoken};

pub(super) struct Case<'a> {
    pub(super) api: Api,
    pub(super) body: &'a Value,
    /// What it says, in order.
    pub(super) spoken: Vec<Spoken>,
}

/// One entry of `messages` or of `input`.
#[derive(Clone, Copy)]
pub(super) struct Message<'a> {
    pub(super) index: usize,
    pub(super) value: &'a Value,
}

impl<'a> Case<'a> {
    pub(super) fn new(api: Api, body: &'a Value) -> Self {
        Self { api, body, spoken: wire::read(api, body) }
    }

    /// Name of the list that holds the conversation.
    pub(super) fn list(&self) -> &'static str {
        match self.api {
            Api::Responses => "input",
            Api::Messages | Api::Chat => "messages",
        }
    }

    /// The conversation's entries.
    pub(super) fn messages(&self) -> impl Iterator<Item = Message<'a>> + use<'a> {
        list(self.body, self.list()).iter().enumerate().map(|(index, value)| Message { index, value })
    }

    /// JSON Pointer of an entry.
    pub(super) fn at(&self, message: Message<'_>) -> String {
        format!("/{}/{}", self.list(), message.index)
    }

    /// What an entry says. What was said is in the order of the entries.
    pub(super) fn said(&self, message: Message<'_>) -> std::slice::Iter<'_, Spoken> {
        let start = self.spoken.partition_point(|spoken| spoken.message < Some(message.index));
        let length = self
            .spoken
            .get(start..)
            .unwrap_or_default()
            .partition_point(|spoken| spoken.message == Some(message.index));
        self.spoken.get(start..start + length).unwrap_or_default().iter()
    }
}

impl<'a> Message<'a> {
    pub(super) fn role(&self) -> &'a str {
        text(self.value, "role")
    }

    /// The content where it is a list.
    pub(super) fn blocks(&self) -> &'a [Value] {
        list(self.value, "content")
    }
}

pub(super) fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

pub(super) fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}
