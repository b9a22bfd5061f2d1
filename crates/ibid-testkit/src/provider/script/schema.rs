//! A tool's arguments, filled from its JSON schema.
//!
//! What a script wants to say goes into the properties that are called as other tools call them; what else is
//! required gets the plainest value of its type.

use serde_json::{Map, Value, json};

/// A value for the first of these properties that the schema has.
pub(super) struct Field {
    /// The names that programs give it.
    pub(super) names: &'static [&'static str],
    pub(super) value: Value,
}

/// How deep a required object may hold required objects.
const DEPTH: usize = 8;

/// An object that fits the schema. Where the schema names no properties, every field goes by its first name.
pub(super) fn fill(schema: &Value, fields: &[Field]) -> Map<String, Value> {
    fill_to(schema, fields, DEPTH)
}

fn fill_to(schema: &Value, fields: &[Field], depth: usize) -> Map<String, Value> {
    let mut filled = Map::new();
    let Some(properties) = schema.get("properties").and_then(Value::as_object).filter(|map| !map.is_empty())
    else {
        let names = fields.iter().filter_map(|field| Some((*field.names.first()?, &field.value)));
        filled.extend(names.map(|(name, value)| (name.to_owned(), value.clone())));
        return filled;
    };
    for field in fields {
        let name = field.names.iter().find(|name| properties.contains_key(**name));
        if let Some((name, property)) = name.and_then(|name| properties.get_key_value(*name)) {
            filled.insert(name.clone(), suited(property, &field.value));
        }
    }
    let required = schema.get("required").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    for name in required.iter().filter_map(Value::as_str) {
        if !filled.contains_key(name) {
            let property = properties.get(name).unwrap_or(&Value::Null);
            filled.insert(name.to_owned(), plainest(property, depth));
        }
    }
    filled
}

/// A text where an array is asked for is a command line, whose words a shell takes apart.
fn suited(property: &Value, value: &Value) -> Value {
    match value {
        Value::String(text) if kind(property) == "array" => json!(["bash", "-lc", text]),
        _ => value.clone(),
    }
}

fn plainest(property: &Value, depth: usize) -> Value {
    let choice = property.get("const").or_else(|| property.get("enum")?.as_array()?.first());
    if let Some(choice) = choice {
        return choice.clone();
    }
    match kind(property) {
        "boolean" => json!(false),
        "integer" | "number" => property.get("minimum").cloned().unwrap_or(json!(1)),
        "array" => match property.get("minItems").and_then(Value::as_u64) {
            Some(1..) if depth > 0 => {
                json!([plainest(property.get("items").unwrap_or(&Value::Null), depth - 1)])
            }
            _ => json!([]),
        },
        "object" if depth > 0 => Value::Object(fill_to(property, &[], depth - 1)),
        "object" => json!({}),
        "null" => Value::Null,
        _ => json!("mock"),
    }
}

/// The type of a property, of several the first that is not null.
fn kind(property: &Value) -> &str {
    let own = match property.get("type") {
        Some(Value::String(kind)) => Some(kind.as_str()),
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null"),
        _ => None,
    };
    own.unwrap_or_else(|| {
        let choices =
            ["anyOf", "oneOf"].into_iter().filter_map(|key| property.get(key)?.as_array()).flatten();
        let kinds = choices.filter_map(|choice| choice.get("type")?.as_str());
        kinds.into_iter().find(|kind| *kind != "null").unwrap_or("string")
    })
}
