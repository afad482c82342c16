//! A call's arguments: their schema, and reading them.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::Outcome;

/// The schema of `T`, in the form that models are given: everything in place, without titles.
#[must_use]
pub fn schema<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|s| {
        s.meta_schema = None;
        s.inline_subschemas = true;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    if let Some(object) = schema.as_object_mut() {
        object.remove("title");
        object.remove("description");
        object.insert("additionalProperties".to_owned(), Value::Bool(false));
        if !object.contains_key("properties") {
            object.insert("properties".to_owned(), Value::Object(serde_json::Map::new()));
        }
    }
    schema
}

/// Reads the arguments of a call.
///
/// # Errors
/// What the model gets to see: what is wrong, and where.
pub fn parse<T: DeserializeOwned>(tool: &str, input: Value) -> Result<T, Outcome> {
    if !input.is_object() {
        let got = match input {
            Value::String(_) => "a text that is no JSON object",
            Value::Array(_) => "a list",
            Value::Null => "nothing",
            _ => "a bare value",
        };
        return Err(Outcome::error(format!(
            "{tool} takes its arguments as one JSON object and got {got}. Nothing was done; call it again."
        )));
    }
    serde_json::from_value(input).map_err(|error| {
        Outcome::error(format!(
            "{tool} cannot read its arguments: {error}. Nothing was done; call it again as its schema says."
        ))
    })
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Two {
        /// The first.
        #[expect(dead_code, reason = "only its place in the schema matters")]
        a: String,
        #[expect(dead_code, reason = "only its place in the schema matters")]
        b: Option<u32>,
    }

    #[test]
    fn a_schema_is_plain() {
        let schema = schema::<Two>();
        assert_eq!(schema["type"], "object");
        assert_eq!(schema["required"], json!(["a"]));
        assert_eq!(schema["properties"]["a"]["description"], "The first.");
        assert_eq!(schema.get("$schema"), None);
        assert_eq!(schema.get("title"), None);
    }

    #[test]
    fn wrong_arguments_are_named() {
        for (input, says) in [
            (json!("{\"a\":"), "no JSON object"),
            (json!([1]), "a list"),
            (json!(null), "nothing"),
            (json!({}), "missing field `a`"),
            (json!({"a": 1}), "invalid type: integer `1`"),
            (json!({"a": "x", "c": 1}), "unknown field `c`"),
        ] {
            let error = parse::<Two>("Two", input).unwrap_err();
            assert!(error.is_error && error.as_text().contains(says), "{}", error.as_text());
        }
    }
}
