//! StructuredOutput: the answer in a form that was prescribed.

use serde_json::Value;

use super::services::ToolEvent;
use super::{BoxFuture, Context, Kind, Outcome, Possible, Tool};
use crate::agent::wire::ToolSpec;

/// Takes an answer of this form, and ends the turn with it.
pub struct StructuredOutput {
    pub form: Value,
}

/// How deep a value is looked into.
const DEEPEST: usize = 64;

impl Tool for StructuredOutput {
    fn name(&self) -> &str {
        "StructuredOutput"
    }

    fn spec(&self, _possible: &Possible) -> ToolSpec {
        let text = "Gives your final answer in the form that is wanted. Call it once, when the work is done.";
        ToolSpec::new(self.name(), text, self.form.clone())
    }

    fn kind(&self) -> Kind {
        Kind::Think
    }

    fn call<'a>(&'a self, input: Value, cx: &'a Context) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            if let Err(why) = fits(&input, &self.form, "the answer", 0) {
                return Outcome::error(format!("The answer does not have its form: {why}. Call it again."));
            }
            cx.show(ToolEvent::Structured(input.clone()));
            Outcome { ends_turn: true, ..Outcome::text(input.to_string()) }
        })
    }
}

/// Whether a value has the form of a JSON schema, as far as types, properties, items and listed values go.
fn fits(value: &Value, form: &Value, at: &str, deep: usize) -> Result<(), String> {
    if deep > DEEPEST {
        return Err(format!("{at} is too deep"));
    }
    let types: Vec<&str> = match &form["type"] {
        Value::String(one) => vec![one],
        Value::Array(all) => all.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    if !types.is_empty() && !types.iter().any(|kind| is_of(value, kind)) {
        return Err(format!("{at} is not of type {}", types.join(" or ")));
    }
    if let Some(listed) = form["enum"].as_array()
        && !listed.contains(value)
    {
        return Err(format!("{at} is none of {}", Value::Array(listed.clone())));
    }
    if let Some(object) = value.as_object() {
        for name in form["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if !object.contains_key(name) {
                return Err(format!("{at} has no `{name}`"));
            }
        }
        for (name, part) in object {
            match form["properties"].get(name) {
                Some(form) => fits(part, form, &format!("{at}.{name}"), deep + 1)?,
                None if form["additionalProperties"] == Value::Bool(false) => {
                    return Err(format!("{at} has `{name}`, which is not part of it"));
                }
                None => {}
            }
        }
    }
    if let (Some(list), Some(form)) = (value.as_array(), form.get("items").filter(|form| form.is_object())) {
        for (n, part) in list.iter().enumerate() {
            fits(part, form, &format!("{at}[{n}]"), deep + 1)?;
        }
    }
    Ok(())
}

fn is_of(value: &Value, kind: &str) -> bool {
    match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|n| n.fract() == 0.0),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_form_is_held_against_every_part() {
        let form = json!({
            "type": "object", "required": ["n"], "additionalProperties": false,
            "properties": {
                "n": {"type": "integer"},
                "word": {"enum": ["a", "b"]},
                "list": {"type": "array", "items": {"type": ["string", "null"]}},
            },
        });
        for good in [json!({"n": 1}), json!({"n": 2.0, "word": "a"}), json!({"n": 1, "list": ["x", null]})] {
            assert_eq!(fits(&good, &form, "it", 0), Ok(()), "{good}");
        }
        for (bad, says) in [
            (json!([]), "it is not of type object"),
            (json!({}), "it has no `n`"),
            (json!({"n": 1.5}), "it.n is not of type integer"),
            (json!({"n": 1, "word": "c"}), "it.word is none of"),
            (json!({"n": 1, "list": ["x", 1]}), "it.list[1] is not of type string or null"),
            (json!({"n": 1, "x": 1}), "it has `x`"),
        ] {
            assert!(fits(&bad, &form, "it", 0).unwrap_err().contains(says), "{bad}");
        }
    }
}
