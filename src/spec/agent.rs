//! What a spec says of agents: `agent`, `mode`, `[[member.mcp]]`, `load`, and `[permissions]`.

use super::error::{Mistake, quote};
use super::load::Places;
use super::member::{argv, env, who};
use super::preset::{PresetError, preset};
use super::program::{SearchPath, resolve};
use super::section::Section;
use crate::decide::permit;
use crate::model::agent::{AgentSpec, LoadWindow, McpServerSpec, Preset, Rules};
use crate::model::name::Name;
use crate::model::spec::EngineKind;

const RULE_KEYS: [&str; 4] = ["allow", "ask", "deny", "expires"];
const MCP_KEYS: [&str; 3] = ["name", "command", "env"];
const LOADS: [(&str, LoadWindow); 3] =
    [("now", LoadWindow::Now), ("next_minute", LoadWindow::NextMinute), ("never", LoadWindow::Never)];
/// The team's own MCP server, which every agent gets.
const OWN_SERVER: &str = "crewmux";

/// The preset that `agent` names.
pub(super) fn preset_of(section: &Section<'_, '_>) -> Option<Preset> {
    let text = section.text("agent")?;
    match preset(&text.value) {
        Ok(preset) => Some(preset),
        Err(error) => {
            let label = if matches!(error, PresetError::Unknown { .. }) { "no such preset" } else { "" };
            section.desk.note(Mistake::at(text.at, error.to_string(), label).help(error.help()));
            None
        }
    }
}

/// The agent's argv: what the spec says, else what its preset does.
pub(super) fn command(
    section: &Section<'_, '_>,
    preset: Option<&Preset>,
    name: Option<&Name>,
    places: &Places,
    search: &SearchPath,
) -> Vec<String> {
    if section.entry("command").is_some() {
        return argv(section, "command", places, std::slice::from_ref(search)).unwrap_or_default();
    }
    let Some(preset) = preset else {
        if name.is_some() && section.entry("agent").is_none() {
            let at = section.entry("engine").map_or(section.at.clone(), |(e, _)| e.span());
            section.desk.note(Mistake::at(at, format!("member {} has no agent", who(name)), "needs an agent").help(
                "write `agent = \"PRESET\"`, or `command = [\"PROGRAM\", \"ARGUMENT\", …]` for one that speaks ACP",
            ));
        }
        return Vec::new();
    };
    let Some(program) = preset.command.first() else { return Vec::new() };
    if let Err(why) = resolve(program, &places.root, std::slice::from_ref(search)) {
        note_agent(section, format!("{} is not there: {} {why}", preset.title, quote(program)), &preset.missing);
    }
    preset.command.clone()
}

fn note_agent(section: &Section<'_, '_>, message: String, help: &str) {
    let at = section.entry("agent").map_or(section.at.clone(), |(e, _)| e.span());
    section.desk.note(Mistake::at(at, message, "").help(help));
}

/// An agent's mail comes as prompts, and it plans and executes with one program.
pub(super) fn check_acp(section: &Section<'_, '_>) {
    for key in ["execute", "deliver", "settle"] {
        if let Some((entry, true)) = section.entry(key) {
            let message = format!("`{key}` is not for `engine = \"acp\"`");
            section.desk.note(
                Mistake::at(entry.span(), message, "only with `engine = \"command\"`")
                    .help("an agent gets its mail as prompts, and is ready when its session is"),
            );
        }
    }
}

/// A program in a window is driven by its terminal, whatever make of agent it is.
pub(super) fn check_command(section: &Section<'_, '_>) {
    for key in ["agent", "mode", "mcp", "load"] {
        if let Some((entry, true)) = section.entry(key) {
            let message = format!("`{key}` is not for `engine = \"command\"`");
            section.desk.note(
                Mistake::at(entry.span(), message, "only with `engine = \"acp\"`")
                    .help("leave `engine` out: `agent` alone means `acp`; or name the program in `command`"),
            );
        }
    }
}

/// All that is said of a member's agent; `None` where nothing is and no agent runs.
pub(super) fn read(
    section: &Section<'_, '_>,
    engine: EngineKind,
    preset: Option<Preset>,
    places: &Places,
    search: &SearchPath,
) -> Option<Box<AgentSpec>> {
    let load = section.word("load", &LOADS, &[]);
    let mode = section.string("mode");
    if let (Some(mode), Some(preset)) = (&mode, &preset)
        && preset.mode_ids(mode).is_empty()
        && let Some((entry, _)) = section.entry("mode")
    {
        let message = format!("{} has no mode for {}", preset.title, quote(mode));
        section.desk.note(Mistake::at(entry.span(), message, "").help("name one of the agent's own modes, or none"));
    }
    let spec = AgentSpec { load, mode, mcp: servers(section, places, search), permissions: rules(section), preset };
    (engine == EngineKind::Acp || spec != AgentSpec::default()).then(|| Box::new(spec))
}

fn servers(section: &Section<'_, '_>, places: &Places, search: &SearchPath) -> Vec<McpServerSpec> {
    let mut out: Vec<McpServerSpec> = Vec::new();
    for table in section.tables("mcp") {
        table.check_keys("`[[member.mcp]]`", &MCP_KEYS);
        let name = table.text("name");
        let taken = |n: &str| n == OWN_SERVER || out.iter().any(|s| s.name == n);
        match &name {
            None => table.desk.note(Mistake::at(table.at.clone(), "an MCP server has no `name`", "this server")),
            Some(n) if taken(&n.value) => {
                let message = format!("the MCP server's name {} is taken", quote(&n.value));
                table.desk.note(Mistake::at(n.at.clone(), message, "").help("`crewmux` is the team's own server"));
            }
            Some(_) => {}
        }
        let command = argv(&table, "command", places, std::slice::from_ref(search));
        if table.entry("command").is_none() {
            table.desk.note(Mistake::at(table.at.clone(), "an MCP server has no `command`", "this server"));
        }
        if let (Some(name), Some(command)) = (name, command) {
            out.push(McpServerSpec { name: name.value, command, env: env(&table) });
        }
    }
    out
}

/// `[permissions]` of the team, or `permissions` of a member.
pub(super) fn rules(section: &Section<'_, '_>) -> Rules {
    let Some(table) = section.table("permissions") else { return Rules::default() };
    table.check_keys("`[permissions]`", &RULE_KEYS);
    let list = |key: &str| {
        let rules = table.list(key).unwrap_or_default();
        for rule in &rules {
            if let Err(why) = permit::check(&rule.value) {
                table.desk.note(
                    Mistake::at(rule.at.clone(), format!("the rule {} {why}", quote(&rule.value)), "")
                        .help("a rule is `Tool` or `Tool(pattern)`, like `execute(git status*)` or `edit(src/**)`"),
                );
            }
        }
        rules.into_iter().map(|r| r.value).collect()
    };
    Rules { allow: list("allow"), ask: list("ask"), deny: list("deny"), expires: table.span("expires", false) }
}
