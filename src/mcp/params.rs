//! What each tool takes. The schemas that a client sees are made of these types, and nothing that they do not name is
//! accepted.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

/// How soon a message is handed over.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Urgency {
    /// Interrupts what the recipient does. The lead's and the operator's alone.
    Now,
    #[default]
    Next,
    Later,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SendMessage {
    /// A member's name, `team-lead`, `operator`, or `*` for everyone but yourself.
    pub to: String,
    /// The whole text: the recipient knows nothing of your conversation.
    pub text: String,
    /// Five to ten words that say what it is about.
    #[serde(default)]
    pub summary: Option<String>,
    #[serde(default)]
    pub priority: Urgency,
    /// The id of the message that this one answers.
    #[serde(default)]
    pub reply_to: Option<String>,
    /// Return only when every recipient has read it.
    #[serde(default)]
    pub wait: bool,
    /// How long to wait at most (300).
    #[serde(default)]
    pub timeout_seconds: Option<u64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadInbox {
    /// How many messages at most, oldest first (20).
    #[serde(default)]
    #[schemars(range(min = 1, max = 100))]
    pub limit: Option<usize>,
    /// What was read already, too.
    #[serde(default)]
    pub all: bool,
    /// Only mail of this sender.
    #[serde(default)]
    pub from: Option<String>,
    /// Leave it unread.
    #[serde(default)]
    pub peek: bool,
    /// One message alone, by its id.
    #[serde(default)]
    pub id: Option<String>,
    /// With `id`: the character at which its text begins, for one that was cut.
    #[serde(default)]
    pub offset: usize,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListMembers {}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskCreate {
    /// What is to be done, in a line.
    pub subject: String,
    /// All that whoever takes it needs to know.
    #[serde(default)]
    pub description: String,
    /// The member who alone may take it; without it whoever is first.
    #[serde(default)]
    pub owner: Option<String>,
    /// Ids of tasks that must be completed before it begins.
    #[serde(default)]
    pub blocked_by: Vec<String>,
    /// Capabilities that its taker must have.
    #[serde(default)]
    pub requires: Vec<String>,
    /// The program and its arguments, for a member of engine `worker`.
    #[serde(default)]
    pub run: Option<Vec<String>>,
    /// How long one attempt may take.
    #[serde(default)]
    pub timeout_seconds: Option<u64>,
    /// How often a failed attempt is tried again.
    #[serde(default)]
    pub retries: u32,
}

/// Where a task stands.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Status {
    Pending,
    InProgress,
    Completed,
    Failed,
    Deleted,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskList {
    /// Only tasks of this status.
    #[serde(default)]
    pub status: Option<Status>,
    /// Only tasks of this member.
    #[serde(default)]
    pub owner: Option<String>,
    /// Only those that you could claim now.
    #[serde(default)]
    pub claimable: bool,
    /// How many at most (50).
    #[serde(default)]
    #[schemars(range(min = 1, max = 200))]
    pub limit: Option<usize>,
    /// Only tasks after this id, for the rest of a long list.
    #[serde(default)]
    pub after: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskGet {
    /// The task's id.
    pub id: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskUpdate {
    /// The task's id. Without one, `in_progress` claims the next that you can have.
    #[serde(default)]
    pub id: Option<String>,
    /// `in_progress` claims it, `completed` and `failed` end it, `pending` gives it back, `deleted` takes it off the
    /// board.
    #[serde(default)]
    pub status: Option<Status>,
    /// What came of it, with `completed` or `failed`; the lead reads it.
    #[serde(default)]
    pub result: Option<String>,
    /// Why it failed, with `failed`.
    #[serde(default)]
    pub error: Option<String>,
    /// Gives it to this member, who alone may take it then. The lead's and the operator's alone.
    #[serde(default)]
    pub owner: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SubmitPlan {
    /// The whole plan, as Markdown.
    pub plan: String,
    /// Five to ten words that say what it is about.
    #[serde(default)]
    pub summary: Option<String>,
    /// How long to wait for the decision (3600); it stays open after that.
    #[serde(default)]
    pub timeout_seconds: Option<u64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequestPermission {
    /// What it is for, in a word: a tool, an action.
    pub tool: String,
    /// What exactly would be done.
    #[serde(default)]
    pub input: Value,
    /// Why, for the person who decides.
    #[serde(default)]
    pub reason: Option<String>,
    /// What a permission for always would cover; without it, this very input.
    #[serde(default)]
    pub scope: Option<String>,
    /// When it counts as denied (300).
    #[serde(default)]
    pub timeout_seconds: Option<u64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnswerShutdown {
    /// Whether you agree to stop. If so, finish what you hold first: you are ended then.
    pub approve: bool,
    /// Why not; whoever asked reads it.
    #[serde(default)]
    pub reason: Option<String>,
    /// The request's id; the open one where it is not given.
    #[serde(default)]
    pub request_id: Option<String>,
}

/// How the work that is reported on ended.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Outcome {
    #[default]
    Completed,
    Failed,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MakeReport {
    /// What came of the work, in a line or two.
    pub summary: String,
    /// The whole result. Put what is long into a file and name it.
    #[serde(default)]
    pub result: String,
    #[serde(default)]
    pub status: Outcome,
    /// Why it failed.
    #[serde(default)]
    pub error: Option<String>,
    /// A file that holds more.
    #[serde(default)]
    pub output_file: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SpawnMember {
    /// The new member's name.
    pub name: String,
    /// Its program and arguments, for engine `command`.
    #[serde(default)]
    pub command: Vec<String>,
    /// `command` or `worker`, or another engine of a team's spec; `command` where a program is given, else `worker`.
    #[serde(default)]
    pub engine: Option<String>,
    /// Its first instructions: it knows nothing of your conversation.
    #[serde(default)]
    pub prompt: Option<String>,
    /// It may only plan until its plan is approved.
    #[serde(default)]
    pub plan_mode: bool,
    /// The folder it works in; the team's where it is not given.
    #[serde(default)]
    pub cwd: Option<String>,
    /// What it can do, for tasks that require it.
    #[serde(default)]
    pub capabilities: Vec<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StopMember {
    /// Who is ended at once; what it had in progress goes back to the board.
    pub name: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequestShutdown {
    /// Who is asked to end; everyone where it is not given.
    #[serde(default)]
    pub name: Option<String>,
    /// Why, for the member.
    #[serde(default)]
    pub reason: Option<String>,
    /// How long it has for its answer before it is ended (30).
    #[serde(default)]
    pub grace_seconds: Option<u64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Decide {
    /// The request's id, as `list_members` shows it.
    pub request_id: String,
    pub approve: bool,
    /// A word to whoever asked; with a rejected plan, what to change.
    #[serde(default)]
    pub feedback: Option<String>,
    /// A permission: for the same tool and scope from now on, too.
    #[serde(default)]
    pub always: bool,
}
