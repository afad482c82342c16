//! What an agent asks leave for: answered by a rule, by an earlier leave for always, or by a person.

use std::time::Duration;

use agent_client_protocol::v1::schema::{
    PermissionOption, PermissionOptionKind, RequestPermissionOutcome, RequestPermissionResponse,
    SelectedPermissionOutcome, ToolCallUpdateFields, ToolKind,
};
use serde_json::{Value, json};

use super::plain::one_line;
use crate::act::{Verb, Who, act};
use crate::decide::permit::{ActsOn, Call, Ruling, path_subject, ruling};
use crate::decide::teammate::Event;
use crate::model::id::RequestId;
use crate::model::message::PermissionDecision;
use crate::os::clock;
use crate::teammate::engine::Engine;
use crate::teammate::engine::acp::Asked;
use crate::teammate::run::Process;
use crate::teammate::verbs;

/// How long a permission stays open where the spec says nothing.
const EXPIRES: Duration = Duration::from_secs(600);
/// What the names of the team's own tools begin with.
const OWN_TOOLS: &str = "mcp__crewmux__";

impl Process {
    pub(super) fn permission_asked(&mut self, asked: Asked) {
        let fields = asked.request.tool_call.fields.clone();
        let title = one_line(fields.title.as_deref().unwrap_or("a tool"), 200);
        let (meta, cwd) = (asked.request.tool_call.meta.as_ref().map(|m| json!(m)), self.context.cwd());
        let call = call_of(&fields, meta, &cwd.to_string_lossy());
        let no_turn =
            matches!(&self.engine, Engine::Acp(agent) if agent.turn.as_ref().is_some_and(|t| t.cancelled.is_some()));
        if no_turn {
            return answer(asked, None);
        }
        // A plan is submitted to the lead by the team's own tool; an agent's way out of its mode is not that.
        if self.context.planning && fields.kind == Some(ToolKind::SwitchMode) {
            self.feed_note(&format!("{title}: denied, the plan is to be submitted with `submit_plan`"));
            return answer(asked, Some(PermissionDecision::Deny));
        }
        let own = self.context.spec.agent.as_ref().map(|a| a.permissions.clone()).unwrap_or_default();
        let rules = match self.context.desk.team() {
            Ok(team) => team.settings.permissions.under(&own),
            Err(_) => own,
        };
        match ruling(&rules, &call) {
            Ruling::Allow(rule) => {
                self.feed_note(&format!("{title}: allowed by the rule {rule}"));
                return answer(asked, Some(PermissionDecision::AllowOnce));
            }
            Ruling::Deny(rule) => {
                self.feed_note(&format!("{title}: denied by the rule {rule}"));
                return answer(asked, Some(PermissionDecision::Deny));
            }
            // The team's own tools ask for nothing: each of them is a verb, and who may do which is decided there.
            Ruling::None if call.names.iter().any(|name| name.starts_with(OWN_TOOLS)) => {
                return answer(asked, Some(PermissionDecision::AllowOnce));
            }
            Ruling::Ask(_) | Ruling::None => {}
        }
        let tool = call.names.first().cloned().unwrap_or_else(|| "tool".to_owned());
        let scope = call.subjects.join("\n");
        let input = fields.raw_input.clone().unwrap_or_else(|| json!({"subject": call.subjects}));
        let known = self
            .context
            .desk
            .ledger
            .view()
            .is_ok_and(|log| log.0.allowed_always(&tool, &input, Some(&scope)).is_some());
        if known {
            self.feed_note(&format!("{title}: allowed always"));
            return answer(asked, Some(PermissionDecision::AllowOnce));
        }
        self.ask_lead(asked, tool, input, title, scope, rules.expires.map_or(EXPIRES, |s| s.0));
    }

    fn ask_lead(&mut self, asked: Asked, tool: String, input: Value, title: String, scope: String, expires: Duration) {
        let request_id = clock::new_request_id();
        let verb = Verb::RequestPermission {
            request_id,
            tool,
            input,
            reason: Some(title.clone()),
            scope: Some(scope),
            expires_ms: u64::try_from(expires.as_millis()).ok(),
        };
        let who = Who::member(self.context.place.member.clone(), self.context.place.life);
        if let Err(error) = act(&mut self.context.desk, &who, verbs::fresh_id(), verb) {
            self.feed_note(&format!("{title}: denied, nobody can be asked: {error}"));
            return answer(asked, Some(PermissionDecision::Deny));
        }
        self.feed_note(&format!("? {title}  (crewmux approve {request_id})"));
        if let Engine::Acp(agent) = &mut self.engine {
            agent.asked.insert(request_id, asked);
        }
        self.step(Event::PermissionAsked(request_id));
    }

    /// The lead's word. False: no agent waits for it.
    pub(in crate::teammate) fn permission_decided(
        &mut self,
        id: RequestId,
        decision: PermissionDecision,
        reason: Option<&str>,
    ) -> bool {
        let Engine::Acp(agent) = &mut self.engine else { return false };
        let Some(asked) = agent.asked.remove(&id) else { return false };
        let word = match decision {
            PermissionDecision::AllowOnce => "allowed",
            PermissionDecision::AllowAlways => "allowed always",
            PermissionDecision::Deny => "denied",
        };
        let why = reason.map_or_else(String::new, |r| format!(": {}", one_line(r, 200)));
        agent.feed.note(&format!("{word}{why}"));
        answer(asked, Some(decision));
        true
    }

    /// What is asked for a turn dies with it.
    pub(super) fn withdraw_permissions(&mut self) {
        let Engine::Acp(agent) = &mut self.engine else { return };
        for (request_id, asked) in std::mem::take(&mut agent.asked) {
            answer(asked, None);
            let who = Who::member(self.context.place.member.clone(), self.context.place.life);
            let verb = Verb::Withdraw { request_id };
            if let Err(error) = act(&mut self.context.desk, &who, verbs::fresh_id(), verb) {
                tracing::warn!("cannot take a permission request back: {error}");
            }
            self.step(Event::PermissionWithdrawn(request_id));
        }
    }

    fn feed_note(&mut self, text: &str) {
        if let Engine::Acp(agent) = &mut self.engine {
            agent.feed.note(text);
        }
    }
}

/// Answers with the agent's own option for the decision; without a decision the call is cancelled.
fn answer(asked: Asked, decision: Option<PermissionDecision>) {
    let option = decision.and_then(|decision| option_for(&asked.request.options, decision));
    let outcome = match option {
        Some(option) => RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new(option.option_id.clone())),
        None => RequestPermissionOutcome::Cancelled,
    };
    if let Err(error) = asked.responder.respond(RequestPermissionResponse::new(outcome)) {
        tracing::warn!("cannot answer the agent's request: {error}");
    }
}

/// Never more than was given: `always` may fall back to `once`, a denial only to another denial.
fn option_for(options: &[PermissionOption], decision: PermissionDecision) -> Option<&PermissionOption> {
    use PermissionOptionKind::{AllowAlways, AllowOnce, RejectAlways, RejectOnce};
    let kinds: &[PermissionOptionKind] = match decision {
        // The team remembers `always` itself, for what was asked; the agent's own `always` may cover more.
        PermissionDecision::AllowOnce | PermissionDecision::AllowAlways => &[AllowOnce, AllowAlways],
        PermissionDecision::Deny => &[RejectOnce, RejectAlways],
    };
    let kinds = if decision == PermissionDecision::AllowOnce { &kinds[..1] } else { kinds };
    kinds.iter().find_map(|kind| options.iter().find(|o| o.kind == *kind))
}

/// A tool call as the rules of a spec see it.
fn call_of(fields: &ToolCallUpdateFields, meta: Option<Value>, cwd: &str) -> Call {
    let kind = fields.kind.and_then(|kind| json!(kind).as_str().map(str::to_owned));
    let own = meta.as_ref().and_then(|m| m.pointer("/claudeCode/toolName")?.as_str().map(str::to_owned));
    let mut names: Vec<String> = [own, fields.name.clone(), kind].into_iter().flatten().collect();
    let input = fields.raw_input.as_ref().unwrap_or(&Value::Null);
    let text = |key: &str| input.get(key).and_then(Value::as_str).map(str::to_owned);
    let title = fields.title.as_deref().unwrap_or_default();
    if let Some((server, tool)) = mcp_tool(input, title, fields.kind) {
        names.insert(0, format!("mcp__{server}__{tool}"));
        return Call { names, subjects: vec![tool], acts_on: ActsOn::Other };
    }
    // Some agents give a command line as the title alone.
    let titled = || (fields.kind == Some(ToolKind::Execute) && !title.is_empty()).then(|| title.to_owned());
    if let Some(command) = command_of(input).or_else(titled) {
        return Call { names, subjects: vec![command], acts_on: ActsOn::Command };
    }
    let mut paths: Vec<String> = fields.locations.iter().flatten().map(|l| l.path.display().to_string()).collect();
    paths.extend(["file_path", "path", "filePath", "abs_path", "notebook_path"].iter().filter_map(|key| text(key)));
    if let Some(Value::Object(changes)) = input.get("changes") {
        paths.extend(changes.keys().cloned());
    }
    if !paths.is_empty() {
        let mut subjects: Vec<String> = paths.iter().map(|path| path_subject(path, cwd)).collect();
        subjects.sort();
        subjects.dedup();
        return Call { names, subjects, acts_on: ActsOn::Paths };
    }
    let other = text("url").or_else(|| text("query")).or_else(|| fields.title.clone());
    Call { names, subjects: other.into_iter().collect(), acts_on: ActsOn::Other }
}

/// The server and the name of a tool of an MCP server, by what each make of agent says of it.
fn mcp_tool(input: &Value, title: &str, kind: Option<ToolKind>) -> Option<(String, String)> {
    let text = |pointer: &str| input.pointer(pointer).and_then(Value::as_str);
    if let (Some(server), Some(tool)) = (text("/server"), text("/tool")) {
        return Some((server.to_owned(), tool.to_owned()));
    }
    // Codex asks by a question, in which the tool's name stands.
    if let (Some(server), Some(message)) = (text("/server_name"), text("/request/message")) {
        let tool = message.split_once("tool \"")?.1.split_once('"')?.0;
        return Some((server.to_owned(), tool.to_owned()));
    }
    // Gemini CLI names it in the title, `tool (server MCP Server)`. A command line is another kind of call.
    let (tool, server) = title.strip_suffix(" MCP Server)")?.split_once(" (")?;
    let plain = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_-".contains(c));
    (kind == Some(ToolKind::Other) && plain(tool) && plain(server)).then(|| (server.to_owned(), tool.to_owned()))
}

/// The command line of a shell's call: a string, or the words of one.
fn command_of(input: &Value) -> Option<String> {
    match input.get("command").or_else(|| input.get("cmd"))? {
        Value::String(line) => Some(line.clone()),
        Value::Array(words) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            match words.as_slice() {
                // A shell's own words say nothing; its line does.
                [shell, flag, line] if flag.starts_with('-') && flag.ends_with('c') && shell.ends_with("sh") => {
                    Some((*line).to_owned())
                }
                words => Some(words.join(" ")),
            }
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use agent_client_protocol::v1::schema::PermissionOptionId;

    use super::*;

    fn option(id: &str, kind: PermissionOptionKind) -> PermissionOption {
        PermissionOption::new(PermissionOptionId::new(id.to_owned()), id.to_owned(), kind)
    }

    #[test]
    fn the_agent_s_own_options_are_taken_and_never_for_more() {
        use PermissionOptionKind::{AllowAlways, AllowOnce, RejectOnce};
        let all = [option("yes-all", AllowAlways), option("yes", AllowOnce), option("abort", RejectOnce)];
        let id = |decision| option_for(&all, decision).map(|o| o.option_id.to_string());
        assert_eq!(id(PermissionDecision::AllowOnce).as_deref(), Some("yes"));
        assert_eq!(id(PermissionDecision::AllowAlways).as_deref(), Some("yes"));
        assert_eq!(id(PermissionDecision::Deny).as_deref(), Some("abort"));
        let few = [option("yes-all", AllowAlways)];
        assert!(option_for(&few, PermissionDecision::AllowOnce).is_none(), "once is not always");
        assert!(option_for(&few, PermissionDecision::Deny).is_none());
    }

    #[test]
    fn calls_of_every_make_are_read() {
        let call = |kind, input: Value| {
            let fields = ToolCallUpdateFields::new().kind(kind).raw_input(input).title("a title".to_owned());
            call_of(&fields, Some(json!({"claudeCode": {"toolName": "Bash"}})), "/w")
        };
        let shell = call(ToolKind::Execute, json!({"command": "git status"}));
        assert_eq!((shell.names, shell.subjects), (vec!["Bash".into(), "execute".into()], vec!["git status".into()]));
        let words = call(ToolKind::Execute, json!({"command": ["/bin/bash", "-lc", "ls; rm x"]}));
        assert_eq!((words.subjects, words.acts_on), (vec!["ls; rm x".to_owned()], ActsOn::Command));
        let edit = call(ToolKind::Edit, json!({"file_path": "/w/src/a.rs"}));
        assert_eq!((edit.subjects, edit.acts_on), (vec!["src/a.rs".to_owned()], ActsOn::Paths));
        let mcp = call(ToolKind::Other, json!({"server": "crewmux", "tool": "send_message"}));
        assert_eq!(mcp.names[0], "mcp__crewmux__send_message");
        let question = "Allow the crewmux MCP server to run tool \"send_message\"?";
        let mcp = call(ToolKind::Execute, json!({"server_name": "crewmux", "request": {"message": question}}));
        assert_eq!(mcp.names[0], "mcp__crewmux__send_message");
        let titled =
            |kind, title: &str| call_of(&ToolCallUpdateFields::new().kind(kind).title(title.to_owned()), None, "/w");
        let mcp = titled(ToolKind::Other, "send_message (crewmux MCP Server)");
        assert_eq!(mcp.names[0], "mcp__crewmux__send_message");
        let shell = titled(ToolKind::Execute, "x (crewmux MCP Server)");
        assert_eq!((shell.names[0].as_str(), shell.acts_on), ("execute", ActsOn::Command));
        assert_eq!(shell.subjects, ["x (crewmux MCP Server)"]);
    }
}
