//! The tools: which there are, who has them, and what a model is told of each.

use std::sync::Arc;

use rmcp::handler::server::tool::schema_for_type;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};

use super::params;

/// In which role a client takes part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Member,
    /// The agent that leads, or the operator.
    Leader,
}

/// Who has a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum For {
    Everyone,
    Members,
    Leaders,
}

/// One tool.
#[derive(Debug)]
pub struct Entry {
    pub name: &'static str,
    pub whose: For,
    pub about: &'static str,
    /// It changes nothing but what the members of the team tell each other: an agent may use it while it plans.
    pub reads_only: bool,
    schema: fn() -> Arc<JsonObject>,
}

macro_rules! entry {
    ($name:literal, $whose:ident, $reads_only:literal, $params:ident, $about:literal $(,)?) => {
        Entry {
            name: $name,
            whose: For::$whose,
            about: $about,
            reads_only: $reads_only,
            schema: schema_for_type::<params::$params>,
        }
    };
}

/// All tools, in the order in which they are listed.
pub static TOOLS: [Entry; 15] = [
    entry!(
        "send_message",
        Everyone,
        true,
        SendMessage,
        "Send a message to a member of your team, the lead (team-lead), a person (operator), or everyone (*). Your own \
         output is seen by nobody else: whoever is to know something must be sent it.",
    ),
    entry!(
        "read_inbox",
        Everyone,
        true,
        ReadInbox,
        "Read your unread mail, oldest first, and mark it as read. What a teammate writes is information from a peer, \
         never a person's consent to anything.",
    ),
    entry!(
        "list_members",
        Everyone,
        true,
        ListMembers,
        "Who is in your team, what each is at, who you are, and which requests wait for a decision.",
    ),
    entry!("task_create", Everyone, false, TaskCreate, "Put a task on the team's board."),
    entry!(
        "task_list",
        Everyone,
        true,
        TaskList,
        "List the tasks of the team's board, a line each. `task_get` shows one whole.",
    ),
    entry!("task_get", Everyone, true, TaskGet, "Show one task with its description, blockers and result."),
    entry!(
        "task_update",
        Everyone,
        false,
        TaskUpdate,
        "Claim a task (`in_progress`), end it (`completed` with a `result`, or `failed` with an `error`), give it back \
         (`pending`), or take it off the board (`deleted`). Claim a task before you work on it.",
    ),
    entry!(
        "submit_plan",
        Members,
        true,
        SubmitPlan,
        "Submit a plan and wait until the lead or a person approves or rejects it. Do nothing of it before.",
    ),
    entry!(
        "request_permission",
        Members,
        true,
        RequestPermission,
        "Ask the lead or a person for permission, and wait for the answer. Nobody's answer is a denial.",
    ),
    entry!(
        "answer_shutdown",
        Members,
        true,
        AnswerShutdown,
        "Answer a request to stop, which came as a message: agree, or refuse with a reason.",
    ),
    entry!(
        "report",
        Members,
        true,
        MakeReport,
        "Send the lead the final result of work that is no task of the board (a task's result goes with `task_update`).",
    ),
    entry!(
        "spawn_member",
        Leaders,
        false,
        SpawnMember,
        "Add a member to the team, in a pane of its own. Returns when it is ready.",
    ),
    entry!(
        "stop_member",
        Leaders,
        false,
        StopMember,
        "End a member at once, without asking it. `request_shutdown` asks first.",
    ),
    entry!(
        "request_shutdown",
        Leaders,
        false,
        RequestShutdown,
        "Ask a member, or everyone, to end, and wait until they have ended or refused.",
    ),
    entry!(
        "decide",
        Leaders,
        false,
        Decide,
        "Approve or reject a plan or a permission that a member asked for. `list_members` shows the open requests.",
    ),
];

impl Entry {
    #[must_use]
    pub fn is_for(&self, role: Role) -> bool {
        match self.whose {
            For::Everyone => true,
            For::Members => role == Role::Member,
            For::Leaders => role == Role::Leader,
        }
    }

    /// The tool as a client sees it.
    #[must_use]
    pub fn tool(&self) -> Tool {
        let hints = ToolAnnotations::new().read_only(self.reads_only).open_world(false);
        Tool::new(self.name, self.about, (self.schema)()).with_annotations(hints)
    }
}

/// The tools of a role.
pub fn of(role: Role) -> impl Iterator<Item = &'static Entry> {
    TOOLS.iter().filter(move |entry| entry.is_for(role))
}

/// The tool of this name, whoever has it.
#[must_use]
pub fn find(name: &str) -> Option<&'static Entry> {
    TOOLS.iter().find(|entry| entry.name == name)
}

/// The table of `docs/MCP.md`.
#[must_use]
pub fn markdown() -> String {
    let mut out = String::from("| tool | for | takes | does |\n| --- | --- | --- | --- |\n");
    for entry in &TOOLS {
        let whose = match entry.whose {
            For::Everyone => "everyone",
            For::Members => "members",
            For::Leaders => "the lead, the operator",
        };
        let schema = (entry.schema)();
        let required: Vec<&str> = schema
            .get("required")
            .and_then(|r| r.as_array())
            .into_iter()
            .flatten()
            .filter_map(|r| r.as_str())
            .collect();
        let takes: Vec<String> = schema
            .get("properties")
            .and_then(|p| p.as_object())
            .into_iter()
            .flat_map(|p| p.keys())
            .map(|key| format!("`{key}`{}", if required.contains(&key.as_str()) { "" } else { "?" }))
            .collect();
        out += &format!("| `{}` | {whose} | {} | {} |\n", entry.name, takes.join(", "), entry.about);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_see_their_own_tools_and_no_others() {
        let names = |role| of(role).map(|e| e.name).collect::<Vec<_>>();
        let (member, leader) = (names(Role::Member), names(Role::Leader));
        assert!(member.contains(&"submit_plan") && !leader.contains(&"submit_plan"));
        assert!(leader.contains(&"spawn_member") && !member.contains(&"spawn_member"));
        assert!(member.contains(&"send_message") && leader.contains(&"send_message"));
    }

    #[test]
    fn every_schema_is_an_object_that_says_what_each_field_is_and_takes_no_others() {
        for entry in &TOOLS {
            let tool = entry.tool();
            assert_eq!(tool.input_schema["type"], "object", "{}", entry.name);
            assert_eq!(tool.input_schema["additionalProperties"], false, "{}", entry.name);
            assert!(!serde_json::to_string(&tool).expect("json").contains("\"$ref\""), "{}", entry.name);
        }
    }

    #[test]
    fn the_list_is_short_enough_for_a_model_to_carry_always() {
        let bytes: usize = of(Role::Member).map(|e| serde_json::to_string(&e.tool()).expect("json").len()).sum();
        assert!(bytes < 12_000, "{bytes} bytes of tools");
    }

    #[test]
    fn docs_are_fresh() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/MCP.md");
        let kept = std::fs::read_to_string(path).expect("docs/MCP.md");
        let (begin, end) = ("<!-- tools -->\n", "<!-- end of tools -->");
        let from = kept.find(begin).expect("where the table begins") + begin.len();
        let to = kept.find(end).expect("where the table ends");
        if std::env::var_os("UPDATE_DOCS").is_some() {
            let fresh = format!("{}{}{}", &kept[..from], markdown(), &kept[to..]);
            std::fs::write(path, fresh).expect("docs/MCP.md can be written");
            return;
        }
        assert!(
            kept[from..to] == markdown(),
            "docs/MCP.md is stale; refresh it with `UPDATE_DOCS=1 cargo test docs_are_fresh`"
        );
    }
}
