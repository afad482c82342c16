//! Which tools an agent gets: one pure function for every role.

/// A tool that starts children, and the name it also goes by.
pub const AGENT: &str = "Agent";
/// The other name of [`AGENT`].
pub const AGENT_ALIAS: &str = "Task";
pub const TASK_STOP: &str = "TaskStop";
pub const TASK_OUTPUT: &str = "TaskOutput";
pub const SEND_MESSAGE: &str = "SendMessage";
pub const EXIT_PLAN_MODE: &str = "ExitPlanMode";
pub const ASK_USER: &str = "AskUser";
pub const STRUCTURED_OUTPUT: &str = "StructuredOutput";

/// What no subagent may have: it starts no children, ends none, and talks to no person.
const NO_SUBAGENT: [&str; 5] = [AGENT, TASK_STOP, TASK_OUTPUT, EXIT_PLAN_MODE, ASK_USER];
/// What main loops alone have: others hear of an agent by these.
const MAIN_LOOPS: [&str; 5] = [SEND_MESSAGE, "TaskCreate", "TaskGet", "TaskList", "TaskUpdate"];
/// Making and ending whole teams, which is a person's own agent's to do.
const TEAMS: [&str; 2] = ["TeamCreate", "TeamDelete"];
/// What a definition from a file never gets, whatever it asks for.
const NO_CUSTOM: [&str; 3] = ["TeamCreate", "TeamDelete", ASK_USER];
/// What a coordinator has: to start, tell, stop and report. It acts on nothing itself.
const COORDINATOR: [&str; 4] = [AGENT, SEND_MESSAGE, TASK_STOP, STRUCTURED_OUTPUT];
/// What works without anybody watching.
pub const BACKGROUND: [&str; 15] = [
    "Read",
    "Write",
    "Edit",
    "NotebookEdit",
    "Glob",
    "Grep",
    "Bash",
    "WebFetch",
    "WebSearch",
    "TodoWrite",
    "Skill",
    "ToolSearch",
    STRUCTURED_OUTPUT,
    "EnterWorktree",
    "ExitWorktree",
];

/// What tools of MCP servers begin with: `mcp__SERVER__TOOL`.
const MCP: &str = "mcp__";
/// The team's own MCP server. Our own agent has that server's tools as its own.
pub const TEAM_SERVER: &str = "crewmux";

/// For whom tools are chosen.
#[derive(Clone, Copy, Debug)]
pub enum Role<'a> {
    /// A person's own agent, outside any team.
    Alone,
    /// The main loop of a team's member.
    Teammate,
    /// Starts workers and judges what they report.
    Coordinator,
    /// A child with a conversation of its own.
    Subagent { custom: bool, background: bool, list: List<'a> },
    /// A child that goes on with its parent's conversation.
    Fork,
}

/// What a definition says of tools.
#[derive(Clone, Copy, Debug, Default)]
pub struct List<'a> {
    /// `tools`: these and no others; `None` for all.
    pub only: Option<&'a [String]>,
    /// `disallowed_tools`.
    pub without: &'a [String],
}

/// The name of a tool as it is kept: an alias is read as what it stands for.
#[must_use]
pub fn canonical(name: &str) -> &str {
    if name == AGENT_ALIAS { AGENT } else { name }
}

/// The server of an MCP tool's name; `None` for a tool of our own.
#[must_use]
pub fn mcp_server(name: &str) -> Option<&str> {
    name.strip_prefix(MCP)?.split_once("__").map(|(server, _)| server).filter(|server| !server.is_empty())
}

/// The tools of `all` that an agent in this role gets, in their order and each once.
#[must_use]
pub fn tools_for<'t>(role: &Role<'_>, all: &[&'t str]) -> Vec<&'t str> {
    // A fork's list must be its parent's byte for byte: nothing is looked at.
    if matches!(role, Role::Fork) {
        return all.to_vec();
    }
    let mut out: Vec<&str> = Vec::with_capacity(all.len());
    for name in all.iter().copied().filter(|name| gets(role, name)) {
        if !out.contains(&name) {
            out.push(name);
        }
    }
    out
}

/// Whether the role has the tool.
#[must_use]
pub fn gets(role: &Role<'_>, name: &str) -> bool {
    let own = canonical(name);
    match role {
        Role::Fork => true,
        Role::Coordinator => COORDINATOR.contains(&own),
        // Attached beside the agent's own tools it would give each of them a second time.
        Role::Alone => mcp_server(name) != Some(TEAM_SERVER),
        Role::Teammate => mcp_server(name) != Some(TEAM_SERVER) && !TEAMS.contains(&own),
        Role::Subagent { custom, background, list } => subagent_gets(*custom, *background, list, name),
    }
}

fn subagent_gets(custom: bool, background: bool, list: &List<'_>, name: &str) -> bool {
    if let Some(server) = mcp_server(name) {
        // What was made to be given passes all fixed lists; a definition still may send it away by its very name.
        return server != TEAM_SERVER && !named(list.without, name);
    }
    let own = canonical(name);
    let fixed = [&NO_SUBAGENT[..], &MAIN_LOOPS, &TEAMS];
    if fixed.iter().any(|list| list.contains(&own)) || (custom && NO_CUSTOM.contains(&own)) {
        return false;
    }
    (!background || BACKGROUND.contains(&own))
        && list.only.is_none_or(|only| named(only, own))
        && !named(list.without, own)
}

fn named(list: &[String], name: &str) -> bool {
    list.iter().any(|entry| canonical(entry) == name || (mcp_server(name).is_some() && is_server(entry, name)))
}

/// `mcp__SERVER` names all tools of a server.
fn is_server(entry: &str, name: &str) -> bool {
    entry.strip_prefix(MCP).is_some_and(|server| !server.is_empty() && mcp_server(name) == Some(server))
}

#[cfg(test)]
#[path = "filter_tests.rs"]
mod tests;
