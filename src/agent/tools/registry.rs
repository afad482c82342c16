//! All tools of an agent, and the way a call takes.

use std::sync::Arc;

use serde_json::Value;

use super::{Context, Outcome, Possible, Tool, gate};
use crate::agent::wire::ToolSpec;

/// The tools of one agent, in the order in which they are shown. Cheap to clone.
#[derive(Clone, Default)]
pub struct Registry {
    tools: Vec<Arc<dyn Tool>>,
}

impl Registry {
    #[must_use]
    pub fn new(tools: Vec<Arc<dyn Tool>>) -> Self {
        Self { tools }
    }

    /// Adds a tool. The first of a name wins: no server can replace a tool of ours.
    pub fn add(&mut self, tool: Arc<dyn Tool>) {
        if self.get(tool.name()).is_none() {
            self.tools.push(tool);
        }
    }

    /// Takes away those that do not pass.
    pub fn retain(&mut self, keep: impl Fn(&dyn Tool) -> bool) {
        self.tools.retain(|tool| keep(tool.as_ref()));
    }

    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn Tool>> {
        self.tools.iter()
    }

    /// By its name or another that it answers to.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        let named = self.tools.iter().find(|tool| tool.name() == name);
        named.or_else(|| self.tools.iter().find(|tool| tool.aliases().contains(&name)))
    }

    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.tools.iter().map(|tool| tool.name().to_owned()).collect()
    }

    /// What the model is shown.
    #[must_use]
    pub fn specs(&self, possible: &Possible) -> Vec<ToolSpec> {
        let shown = |tool: &&Arc<dyn Tool>| {
            tool.is_listed(possible) && (!tool.is_deferred() || possible.loaded.contains(tool.name()))
        };
        self.tools.iter().filter(shown).map(|tool| tool.spec(possible)).collect()
    }

    /// Does one call: whatever the model sent, the answer is one for the model. `cx` is that of the call.
    pub async fn call(&self, name: &str, input: Value, cx: &Context) -> Outcome {
        if cx.cancel.is_cancelled() {
            return Outcome::cancelled();
        }
        let Some(tool) = self.get(name) else { return self.unknown(name) };
        let bytes = size(&input);
        if bytes > cx.limits.input_bytes {
            return Outcome::error(format!(
                "{name} got {bytes} bytes of arguments; {} are the most. Nothing was done. Write long content in parts, or \
                 let a command make it.",
                cx.limits.input_bytes
            ));
        }
        match gate::admit(tool.as_ref(), &input, cx).await {
            Ok(()) => tool.call(input, cx).await,
            Err(refused) => refused,
        }
    }

    fn unknown(&self, name: &str) -> Outcome {
        let shown: String = name.chars().take(80).collect();
        let names = self.names();
        let mut near: Vec<(usize, &str)> =
            names.iter().map(|other| (strsim::damerau_levenshtein(&shown, other), other.as_str())).collect();
        near.sort_unstable();
        let near: Vec<&str> = near.iter().take_while(|(far, _)| *far <= 3).map(|(_, name)| *name).take(3).collect();
        let hint = if near.is_empty() {
            format!("There are: {}", names.join(", "))
        } else {
            format!("Did you mean {}?", near.join(", "))
        };
        Outcome::error(format!("There is no tool {shown:?}. {hint}"))
    }
}

/// About how long the value is as text, without making that text.
fn size(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len() + 2,
        Value::Array(all) => all.iter().map(|one| size(one) + 1).sum::<usize>() + 1,
        Value::Object(all) => all.iter().map(|(key, one)| key.len() + size(one) + 4).sum::<usize>() + 1,
        _ => 4,
    }
}

#[cfg(test)]
#[path = "registry_tests.rs"]
mod tests;
