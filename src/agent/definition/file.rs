//! From a Markdown file to a [`Definition`].

use std::ops::Range;
use std::path::Path;

use saphyr::YamlData;

use super::front::{self, Entry, Node};
use super::{Definition, FORK, Isolation, Model, Source, TURNS, Writes};
use crate::agent::filter;
use crate::agent::permission::Mode;
use crate::model::name::Name;
use crate::spec::{Mistake, SpecError, did_you_mean, quote};

/// Keys, and the names under which other agents write them.
const KEYS: [(&str, &str); 11] = [
    ("name", "name"),
    ("description", "description"),
    ("tools", "tools"),
    ("disallowed_tools", "disallowedTools"),
    ("model", "model"),
    ("permission_mode", "permissionMode"),
    ("max_turns", "maxTurns"),
    ("isolation", "isolation"),
    ("background", "background"),
    ("required_mcp_servers", "requiredMcpServers"),
    ("color", "color"),
];

/// More turns than this is no limit.
const MOST_TURNS: i64 = 10_000;

/// Reads a definition. `foreign`: the file was written for another agent too, whose keys are passed over.
///
/// # Errors
/// Everything that is wrong with it, each at its place.
pub fn parse(text: &str, path: &Path, foreign: bool) -> Result<Definition, SpecError> {
    let shown = path.display().to_string();
    let fail = |mistakes| SpecError::in_text(&shown, text, mistakes);
    let parts = front::split(text).map_err(|mistake| fail(vec![mistake]))?;
    let mut masked = String::new();
    let entries = front::entries(text, parts.yaml.clone(), &mut masked).map_err(|mistake| fail(vec![mistake]))?;
    let mut reading = Reading { mistakes: Vec::new(), foreign, definition: blank(path, parts.body) };
    for entry in &entries {
        reading.take(entry);
    }
    reading.check(parts.yaml);
    if reading.mistakes.is_empty() { Ok(reading.definition) } else { Err(fail(reading.mistakes)) }
}

fn blank(path: &Path, body: &str) -> Definition {
    Definition {
        name: String::new(),
        description: String::new(),
        tools: None,
        disallowed_tools: Vec::new(),
        model: Model::Inherit,
        permission_mode: None,
        max_turns: TURNS,
        isolation: Isolation::None,
        background: false,
        required_mcp_servers: Vec::new(),
        color: None,
        writes: Writes::ByMode,
        prompt: body.trim().to_owned(),
        source: Source::File(path.to_owned()),
        ignored: Vec::new(),
    }
}

struct Reading {
    mistakes: Vec<Mistake>,
    foreign: bool,
    definition: Definition,
}

impl Reading {
    fn note(&mut self, mistake: Mistake) {
        self.mistakes.push(mistake);
    }

    fn take(&mut self, entry: &Entry<'_>) {
        let known = KEYS.iter().find(|(own, other)| entry.key == *own || entry.key == *other);
        let Some((key, _)) = known else { return self.unknown(entry) };
        let value = &entry.value;
        if value.is_null() {
            let message = format!("`{key}` has no value");
            return self.note(Mistake::at(entry.key_at.clone(), message, "").help("write one, or leave the key out"));
        }
        match *key {
            "name" => self.name(value),
            "description" => self.definition.description = self.text(key, value).trim().to_owned(),
            "tools" => self.tools(value),
            "disallowed_tools" => self.definition.disallowed_tools = self.tool_names(key, value),
            "model" => self.definition.model = Model::parse(self.text(key, value).trim()),
            "permission_mode" => self.mode(value),
            "max_turns" => self.turns(value),
            "isolation" => self.isolation(value),
            "background" => self.background(value),
            "required_mcp_servers" => {
                self.definition.required_mcp_servers = self.words(key, value).into_iter().map(|(w, _)| w).collect();
            }
            _ => self.definition.color = Some(self.text(key, value)),
        }
    }

    fn unknown(&mut self, entry: &Entry<'_>) {
        if self.foreign {
            return self.definition.ignored.push(entry.key.clone());
        }
        let known: Vec<&str> = KEYS.iter().map(|(key, _)| *key).collect();
        let message = format!("there is no key {}", quote(&entry.key));
        let help = did_you_mean(&entry.key, "keys", &known);
        self.note(Mistake::at(entry.key_at.clone(), message, "not known").help(help));
    }

    fn wrong(&mut self, key: &str, at: &Range<usize>, wanted: &str) {
        self.note(Mistake::at(at.clone(), format!("`{key}` is {wanted}"), format!("{wanted} is wanted here")));
    }

    fn text(&mut self, key: &str, value: &Node<'_>) -> String {
        value.text().unwrap_or_else(|| {
            self.wrong(key, &value.at, "a text");
            String::new()
        })
    }

    fn name(&mut self, value: &Node<'_>) {
        let name = self.text("name", value);
        if let Err(error) = Name::parse(&name) {
            let message = format!("{} is not a name: {error}", quote(&name));
            self.note(Mistake::at(value.at.clone(), message, ""));
        } else if name == FORK {
            let mistake = Mistake::at(value.at.clone(), "the name `fork` is taken", "choose another name");
            self.note(mistake.help("a fork is a child without a type"));
        }
        self.definition.name = name;
    }

    /// A list, or words with commas between them as other agents write it.
    fn words(&mut self, key: &str, value: &Node<'_>) -> Vec<(String, Range<usize>)> {
        match &value.data {
            YamlData::Sequence(items) => {
                let mut out = Vec::new();
                for item in items {
                    let node = Node { at: value.at.clone(), data: item.data.clone() };
                    match node.text() {
                        Some(text) => out.push((text.trim().to_owned(), value.at.clone())),
                        None => self.wrong(key, &value.at, "a list of names"),
                    }
                }
                out
            }
            _ => {
                let text = self.text(key, value);
                let words = split_outside_parentheses(&text);
                words.into_iter().map(|word| (word, value.at.clone())).collect()
            }
        }
    }

    fn tool_names(&mut self, key: &str, value: &Node<'_>) -> Vec<String> {
        let mut out = Vec::new();
        for (word, at) in self.words(key, value) {
            if word.contains(['(', ')', ' ']) {
                let message = format!("{} is not the name of a tool", quote(&word));
                self.note(Mistake::at(at, message, "").help(
                    "a definition gives a tool or does not; what may be done with it is said by rules of permission (`allow`, \
                     `ask`, `deny`)",
                ));
            } else if !word.is_empty() {
                out.push(filter::canonical(&word).to_owned());
            }
        }
        out
    }

    fn tools(&mut self, value: &Node<'_>) {
        let names = self.tool_names("tools", value);
        let all = names.iter().any(|name| name == "*" || name == "all");
        self.definition.tools = (!all).then_some(names);
    }

    fn mode(&mut self, value: &Node<'_>) {
        let word = self.text("permission_mode", value);
        let read = match word.as_str() {
            "acceptEdits" => Some(Mode::AcceptEdits),
            "bypassPermissions" => Some(Mode::Bypass),
            "readOnly" => Some(Mode::ReadOnly),
            other => Mode::parse(other),
        };
        if read.is_none() {
            let known = Mode::ALL.map(Mode::as_str);
            let message = format!("there is no permission mode {}", quote(&word));
            let help = did_you_mean(&word, "permission modes", &known);
            self.note(Mistake::at(value.at.clone(), message, "").help(help));
        }
        self.definition.permission_mode = read;
    }

    fn turns(&mut self, value: &Node<'_>) {
        match value.text().and_then(|text| text.parse::<i64>().ok()).filter(|n| (1..=MOST_TURNS).contains(n)) {
            Some(turns) => self.definition.max_turns = u32::try_from(turns).unwrap_or(TURNS),
            None => self.wrong("max_turns", &value.at, &format!("a number from 1 to {MOST_TURNS}")),
        }
    }

    fn isolation(&mut self, value: &Node<'_>) {
        match value.text().as_deref() {
            Some("none") => self.definition.isolation = Isolation::None,
            Some("worktree") => self.definition.isolation = Isolation::Worktree,
            _ => self.wrong("isolation", &value.at, "`none` or `worktree`"),
        }
    }

    fn background(&mut self, value: &Node<'_>) {
        match value.text().as_deref() {
            Some("true") => self.definition.background = true,
            Some("false") => self.definition.background = false,
            _ => self.wrong("background", &value.at, "`true` or `false`"),
        }
    }

    /// What must be there.
    fn check(&mut self, yaml: Range<usize>) {
        // The line of dashes above it.
        let at = yaml.start.saturating_sub(4)..yaml.start.saturating_sub(1);
        let wrong_already = |reading: &Self, key: &str| reading.mistakes.iter().any(|m| m.message.contains(key));
        for (key, empty) in
            [("name", self.definition.name.is_empty()), ("description", self.definition.description.is_empty())]
        {
            if empty && !wrong_already(self, key) {
                let message = format!("the front matter has no `{key}`");
                self.note(Mistake::at(at.clone(), message, "").help(format!("write `{key}: …` in it")));
            }
        }
        if self.definition.prompt.is_empty() {
            let mistake = Mistake::at(at, "the definition has no prompt", "only front matter stands here");
            self.note(mistake.help("write below the front matter what the agent is to do and how"));
        }
    }
}

/// Commas inside parentheses belong to what stands there.
fn split_outside_parentheses(text: &str) -> Vec<String> {
    let mut depth = 0usize;
    let mut out = vec![String::new()];
    for c in text.chars() {
        match c {
            ',' if depth == 0 => {
                out.push(String::new());
                continue;
            }
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if let Some(last) = out.last_mut() {
            last.push(c);
        }
    }
    out.into_iter().map(|word| word.trim().to_owned()).collect()
}
