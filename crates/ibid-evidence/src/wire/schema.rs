//! JSON Schemas of every frame, made from the types.

use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};

use super::ENVELOPE_VERSION;
use crate::RefusalCode;
use crate::answer::{Description, Discovery, Observations, Shutdown};
use crate::ask::{DiscoverParams, ObserveParams};
use crate::transport::TransportProof;

/// The JSON Schema of the frames that a client sends, as published in `docs/schema/`.
///
/// # Errors
/// Never in practice; a schema is JSON.
pub fn request_schema() -> Result<String, serde_json::Error> {
    let mut frames = Frames::new(SchemaSettings::draft2020_12().for_deserialize());
    let nothing = json!({"description": "Ignored.", "type": ["object", "null"]});
    frames.request("HostDescribeRequest", "host.describe", nothing.clone(), false);
    let params = frames.of::<DiscoverParams>();
    frames.request("SessionsDiscoverRequest", "sessions.discover", params, true);
    let params = frames.of::<ObserveParams>();
    frames.request("ArtifactsObserveRequest", "artifacts.observe", params, true);
    frames.request("ShutdownRequest", "shutdown", nothing, false);
    frames.open = &["Family", "CallStatus"];
    frames.text("Evidence request", "A frame that a client sends.")
}

/// The JSON Schema of the frames that a client gets, as published in `docs/schema/`.
///
/// # Errors
/// Never in practice; a schema is JSON.
pub fn response_schema() -> Result<String, serde_json::Error> {
    let mut frames = Frames::new(SchemaSettings::draft2020_12().for_serialize());
    frames.response::<Description>("HostDescribeResponse");
    frames.response::<Discovery>("SessionsDiscoverResponse");
    frames.response::<Observations>("ArtifactsObserveResponse");
    frames.response::<Shutdown>("ShutdownResponse");
    let codes = RefusalCode::ALL.map(RefusalCode::as_str);
    let error = json!({
        "type": "object",
        "properties": {
            "code": {"description": "What kind of error it is.", "type": "string", "enum": codes},
            "message": {"description": "What is wrong, and what to do, in a sentence.", "type": "string"},
        },
        "required": ["code", "message"],
    });
    frames.envelope(
        "CallErrorResponse",
        "A call that failed; the host goes on.",
        ("error", error),
        &["error"],
    );
    let proof = frames.of::<TransportProof>();
    frames.any_of.push(proof);
    frames.text("Evidence response", "A frame that a client gets.")
}

struct Frames {
    generator: SchemaGenerator,
    definitions: Map<String, Value>,
    any_of: Vec<Value>,
    /// The types of which unknown values are taken for one that is known.
    open: &'static [&'static str],
}

impl Frames {
    fn new(settings: SchemaSettings) -> Frames {
        Frames {
            generator: settings.into_generator(),
            definitions: Map::new(),
            any_of: Vec::new(),
            open: &[],
        }
    }

    fn of<T: JsonSchema>(&mut self) -> Value {
        Schema::into(self.generator.subschema_for::<T>())
    }

    fn request(&mut self, name: &str, method: &str, params: Value, required: bool) {
        let about = format!("A call of `{method}`.");
        let needed: &[&str] = if required { &["method", "params"] } else { &["method"] };
        self.envelope(name, &about, ("params", params), needed);
        let properties = self.definitions.get_mut(name).and_then(|frame| frame.get_mut("properties"));
        if let Some(Value::Object(properties)) = properties {
            properties.insert("method".to_owned(), json!({"const": method}));
        }
    }

    fn response<T: JsonSchema>(&mut self, name: &str) {
        let result = self.of::<T>();
        self.envelope(name, "A call that was answered.", ("result", result), &["result"]);
    }

    /// Adds a frame: the version, the id, and what else it has.
    fn envelope(&mut self, name: &str, about: &str, (key, value): (&str, Value), needed: &[&str]) {
        let id = json!({
            "description": "The id of the call, chosen by the client.",
            "type": "integer",
            "minimum": 1,
            "maximum": u32::MAX,
        });
        let needed = [&["version", "id"], needed].concat();
        let frame = json!({
            "description": about,
            "type": "object",
            "properties": {"version": {"const": ENVELOPE_VERSION}, "id": id, key: value},
            "required": needed,
            "additionalProperties": false,
        });
        self.definitions.insert(name.to_owned(), frame);
        self.any_of.push(json!({"$ref": format!("#/$defs/{name}")}));
    }

    fn text(mut self, title: &str, about: &str) -> Result<String, serde_json::Error> {
        for (name, known) in self.generator.take_definitions(true) {
            let schema = match self.open.contains(&name.as_str()) {
                true => {
                    json!({"anyOf": [known, {"description": "Anything else: nothing is known of it.", "type": "string"}]})
                }
                false => known,
            };
            self.definitions.insert(name, schema);
        }
        let schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": title,
            "description": about,
            "anyOf": self.any_of,
            "$defs": self.definitions,
        });
        let mut text = serde_json::to_string_pretty(&schema)?;
        text.push('\n');
        Ok(text)
    }
}
