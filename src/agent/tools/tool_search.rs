//! ToolSearch: tools that are not shown until they are looked for.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{BoxFuture, Context, Kind, Outcome, Possible, Tool, parse, schema};
use crate::agent::mcp_client::Servers;
use crate::agent::wire::ToolSpec;

pub struct ToolSearch(pub Arc<Servers>);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// Words to look for in names and descriptions; or `select:NAME,NAME` for tools whose names are known.
    query: String,
    /// How many to show.
    #[serde(default = "most")]
    max_results: usize,
}

fn most() -> usize {
    5
}

impl Tool for ToolSearch {
    fn name(&self) -> &str {
        "ToolSearch"
    }

    fn spec(&self, _possible: &Possible) -> ToolSpec {
        let names: Vec<String> = self.0.hidden().into_iter().map(|(name, _)| name).collect();
        let text = format!(
            "Finds tools of MCP servers that are not in your list yet, and puts them into it: call them from the next turn on. \
             There are: {}",
            super::cut::head(&names.join(", "), 8_000)
        );
        ToolSpec::new(self.name(), text, schema::<Input>())
    }

    fn is_listed(&self, _possible: &Possible) -> bool {
        self.0.hides()
    }

    fn kind(&self) -> Kind {
        Kind::Think
    }

    fn call<'a>(&'a self, input: Value, _cx: &'a Context) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            let Input { query, max_results } = match parse("ToolSearch", input) {
                Ok(input) => input,
                Err(refused) => return refused,
            };
            let found = fitting(&query, self.0.hidden(), max_results.clamp(1, 50));
            if found.is_empty() {
                return Outcome::text("No hidden tool fits. Look for other words.");
            }
            let lines: Vec<String> = found
                .iter()
                .map(|(name, tool)| {
                    let text = tool.description.as_deref().unwrap_or_default();
                    json!({ "name": name, "description": text, "input_schema": *tool.input_schema }).to_string()
                })
                .collect();
            self.0.show(found.into_iter().map(|(name, _)| name));
            Outcome::text(format!("In your list from the next turn on:\n{}", lines.join("\n")))
        })
    }
}

type Named = (String, rmcp::model::Tool);

/// Those named, or those with the most of the words in them.
fn fitting(query: &str, tools: Vec<Named>, most: usize) -> Vec<Named> {
    if let Some(names) = query.strip_prefix("select:") {
        let names: Vec<&str> = names.split(',').map(str::trim).collect();
        return tools.into_iter().filter(|(name, _)| names.contains(&name.as_str())).take(most).collect();
    }
    let words: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
    let mut scored: Vec<(usize, Named)> = tools
        .into_iter()
        .map(|(name, tool)| {
            let text = format!("{name} {}", tool.description.as_deref().unwrap_or_default()).to_lowercase();
            let score = words
                .iter()
                .map(|w| usize::from(text.contains(w)) + usize::from(name.to_lowercase().contains(w)))
                .sum();
            (score, (name, tool))
        })
        .filter(|(score, _)| *score > 0)
        .collect();
    scored.sort_by(|(a, (one, _)), (b, (other, _))| b.cmp(a).then_with(|| one.cmp(other)));
    scored.into_iter().take(most).map(|(_, named)| named).collect()
}
