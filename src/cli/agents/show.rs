//! One definition.

use super::{broken, library};
use crate::agent::definition::{Definition, Isolation, Library, Source, Writes};
use crate::cli::args::Globals;
use crate::cli::error::CommandError;
use crate::cli::output;
use crate::spec::did_you_mean;
use crate::view::plain::{Lines, safe};

/// Show one agent definition whole: its keys, then its prompt
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  crewmux agents show verification
  crewmux agents show Explore --json")]
pub struct Args {
    /// The definition's name
    pub name: String,
}

pub fn run(args: &Args, globals: &Globals) -> Result<(), CommandError> {
    let library = library()?;
    let Some(definition) = library.get(&args.name) else { return Err(unknown(&args.name, &library)) };
    if globals.json {
        let mut value = serde_json::to_value(definition)?;
        value["prompt"] = definition.prompt.clone().into();
        return output::json(&value);
    }
    output::text(&page(definition))
}

/// A name that is not there; a file that is broken and could have been meant is shown.
fn unknown(name: &str, library: &Library) -> CommandError {
    let stem_is = |file: &&crate::agent::definition::Broken| file.path.file_stem().is_some_and(|stem| stem == name);
    if let Some(file) = library.broken().iter().find(stem_is) {
        return broken(file);
    }
    CommandError::not_found(format!("no agent definition is named `{name}`")).hint(did_you_mean(
        name,
        "definitions",
        &library.names(),
    ))
}

fn page(definition: &Definition) -> String {
    let mut lines = vec![
        format!("name:             {}", definition.name),
        format!("description:      {}", definition.description),
        format!("tools:            {}", definition.tools_text()),
        format!("model:            {}", definition.model.as_str()),
        format!("permission_mode:  {}", definition.permission_mode.map_or("accept_edits (default)", |m| m.as_str())),
        format!("max_turns:        {}", definition.max_turns),
    ];
    let mut add = |key: &str, value: String| lines.push(format!("{key:<17} {value}"));
    if definition.writes == Writes::OwnTmp {
        add("writes:", "a temporary folder of its own; the project is read-only, kept by the sandbox".to_owned());
    }
    if definition.isolation == Isolation::Worktree {
        add("isolation:", "worktree".to_owned());
    }
    if definition.background {
        add("background:", "always".to_owned());
    }
    if !definition.required_mcp_servers.is_empty() {
        add("required_mcp_servers:", definition.required_mcp_servers.join(", "));
    }
    if let Some(color) = &definition.color {
        add("color:", color.clone());
    }
    if !definition.ignored.is_empty() {
        add("ignored keys:", definition.ignored.join(", "));
    }
    add(
        "source:",
        match &definition.source {
            Source::BuiltIn => "built-in".to_owned(),
            Source::File(path) => path.display().to_string(),
        },
    );
    let head: Vec<String> = lines.iter().map(|line| safe(line, Lines::Escape).into_owned()).collect();
    format!("{}\n\n{}\n", head.join("\n"), safe(&definition.prompt, Lines::Keep))
}
