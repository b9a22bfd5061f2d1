//! As much of JSON Schema as the published schemas use. A keyword that is not known fails, so that
//! nothing passes unseen.

use serde_json::Value;

pub(crate) struct Schema(Value);

impl Schema {
    pub(crate) fn published(name: &str) -> Schema {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema").join(name);
        Schema(serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap())
    }

    /// # Errors
    /// Where the value differs, and how.
    pub(crate) fn check(&self, value: &Value) -> Result<(), String> {
        self.at(&self.0, value, "")
    }

    fn at(&self, schema: &Value, value: &Value, place: &str) -> Result<(), String> {
        let Some(keywords) = schema.as_object() else { return Ok(()) };
        for (keyword, rule) in keywords {
            let holds = match keyword.as_str() {
                "$schema" | "$defs" | "title" | "description" | "default" | "format" => true,
                "$ref" => {
                    let pointer = rule.as_str().unwrap().trim_start_matches('#');
                    self.at(self.0.pointer(pointer).unwrap(), value, place)?;
                    true
                }
                "anyOf" | "oneOf" => {
                    let fit =
                        rule.as_array().unwrap().iter().filter(|one| self.at(one, value, place).is_ok());
                    let count = fit.count();
                    if keyword == "oneOf" { count == 1 } else { count > 0 }
                }
                "const" => rule == value,
                "enum" => rule.as_array().unwrap().contains(value),
                "type" => match rule {
                    Value::Array(names) => names.iter().any(|name| is_a(name, value)),
                    name => is_a(name, value),
                },
                "minimum" => value.as_f64().is_none_or(|number| number >= rule.as_f64().unwrap()),
                "maximum" => value.as_f64().is_none_or(|number| number <= rule.as_f64().unwrap()),
                "required" => value.as_object().is_none_or(|object| {
                    rule.as_array().unwrap().iter().all(|key| object.contains_key(key.as_str().unwrap()))
                }),
                "properties" => {
                    for (key, inner) in value.as_object().into_iter().flatten() {
                        if let Some(rule) = rule.get(key) {
                            self.at(rule, inner, &format!("{place}/{key}"))?;
                        }
                    }
                    true
                }
                "additionalProperties" => {
                    assert_eq!(rule, &Value::Bool(false));
                    let known = schema["properties"].as_object().unwrap();
                    value.as_object().is_none_or(|object| object.keys().all(|key| known.contains_key(key)))
                }
                "items" => {
                    for (index, inner) in value.as_array().into_iter().flatten().enumerate() {
                        self.at(rule, inner, &format!("{place}/{index}"))?;
                    }
                    true
                }
                unknown => panic!("the schema has a keyword that this test does not know: {unknown}"),
            };
            if !holds {
                return Err(format!("at {place:?}: {keyword} {rule} does not hold for {value}"));
            }
        }
        Ok(())
    }
}

fn is_a(name: &Value, value: &Value) -> bool {
    match name.as_str().unwrap() {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        unknown => panic!("no type: {unknown}"),
    }
}
