//! Forks: children that go on with their parent's conversation, byte for byte, so that a provider's prompt cache serves them all.

use std::collections::BTreeMap;

use crate::agent::definition::FORK;
use crate::agent::filter::{
    AGENT, ASK_USER, EXIT_PLAN_MODE, SEND_MESSAGE, TASK_OUTPUT, TASK_STOP, TEAM_SERVER, mcp_server,
};
use crate::agent::identity::{ForkBase, Identity};
use crate::agent::tools::Registry;
use crate::agent::wire::{Block, ResultPart, Role, Turn};

/// The tag around a directive. Sought in every message of a user: who has one is a fork.
const OPENING: &str = "<fork-directive>";
const CLOSING: &str = "</fork-directive>";

/// The answer to every call of the turn that forked. Always the same, so that all forks share these bytes, too.
const PLACEHOLDER: &str = "Started in the background. What it comes to is told in a later message.";

const RULES: &str = "\
You are a fork: you have this whole conversation, and you are not the main agent any more. It goes on without you and sees your last \
message only.
- Do what stands below with your own tools. You start no agents, and you ask nobody anything.
- No words between calls: work, and write at the end.
- Stay in the scope below, even where the conversation points elsewhere. Leave what others of its forks do to them.
- Commit what you changed, where this is a repository, before you report.
- Your report begins with `Scope:` and that scope in one line; then the result, the key files, the changed files with their commits, and the \
issues you met. At most 500 words. Then stop.";

/// Why `who` cannot fork, if it cannot.
pub(super) fn refused(who: &Identity) -> Option<&'static str> {
    const AGAIN: &str = "a fork cannot start agents: do it yourself, with your own tools";
    let marked = |base: &ForkBase| base.turns.iter().any(is_directive);
    if who.source == FORK || who.base.as_deref().is_some_and(marked) {
        return Some(AGAIN);
    }
    (who.depth > 0).then_some("an agent that was started by another starts none: do it yourself, with your own tools")
}

/// Whether a turn tells a fork what to do.
fn is_directive(turn: &Turn) -> bool {
    turn.role == Role::User && turn.content.iter().filter_map(Block::as_text).any(|text| text.contains(OPENING))
}

/// The message that follows the turn which forked: an answer to each of its calls, and last the directive.
pub(super) fn opening(base: &ForkBase, prompt: &str) -> Turn {
    let answers = base
        .calls
        .calls()
        .map(|(id, ..)| Block::tool_result(id, vec![ResultPart::text(PLACEHOLDER)], false))
        .collect::<Vec<_>>();
    // What the prompt holds of the marker stays a word in it.
    let prompt = prompt.replace(CLOSING, "</ fork-directive>");
    let directive = Block::text(format!("{OPENING}\n{RULES}\n\n{prompt}\n{CLOSING}"));
    Turn::user(answers.into_iter().chain(Some(directive)).collect())
}

/// What stands in a fork's list and is refused when it calls.
pub(super) fn refusals(tools: &Registry) -> BTreeMap<String, String> {
    const MAIN_ONLY: [&str; 11] = [
        AGENT,
        SEND_MESSAGE,
        TASK_STOP,
        TASK_OUTPUT,
        EXIT_PLAN_MODE,
        ASK_USER,
        "TaskCreate",
        "TaskGet",
        "TaskList",
        "TaskUpdate",
        "TeamCreate",
    ];
    let is_refused =
        |name: &str| MAIN_ONLY.contains(&name) || name == "TeamDelete" || mcp_server(name) == Some(TEAM_SERVER);
    let names = tools.names().into_iter().filter(|name| is_refused(name));
    names
        .map(|name| {
            (
                name.clone(),
                format!("{name} is the main agent's; you are a fork of it. Do your part with the other tools."),
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;
    use uuid::Uuid;

    use super::*;
    use crate::agent::AgentId;
    use crate::agent::wire::{Head, RequestBody};

    fn base(turns: Vec<Turn>) -> ForkBase {
        let head = Head {
            model: "m".to_owned(),
            max_tokens: 1,
            thinking: None,
            temperature: None,
            system: Vec::new(),
            tools: Vec::new(),
        };
        let calls =
            Turn::assistant(vec![Block::tool_use("t1", "Agent", json!({})), Block::tool_use("t2", "Read", json!({}))]);
        ForkBase { body: RequestBody::new(&head), head, turns, calls }
    }

    fn who(source: &str, depth: u32, base: ForkBase) -> Identity {
        Identity {
            agent: AgentId::main(),
            trace: Uuid::nil(),
            depth,
            source: source.to_owned(),
            base: Some(Arc::new(base)),
        }
    }

    #[test]
    fn every_call_has_the_same_answer_and_the_directive_is_last_and_whole() {
        let (one, other) = (opening(&base(Vec::new()), "do A"), opening(&base(Vec::new()), "B </fork-directive> C"));
        assert_eq!(one.content.len(), 3);
        assert_eq!(one.content[..2], other.content[..2]);
        let text = other.content[2].as_text().unwrap();
        assert_eq!(text.matches(CLOSING).count(), 1);
        assert!(text.starts_with(OPENING) && text.ends_with(CLOSING) && text.contains("B </ fork-directive> C"));
    }

    #[test]
    fn a_fork_forks_no_more_by_its_source_or_by_the_mark_in_its_messages() {
        assert_eq!(refused(&who("main", 0, base(Vec::new()))), None);
        assert!(refused(&who(FORK, 1, base(Vec::new()))).is_some());
        let marked = vec![opening(&base(Vec::new()), "do A")];
        assert!(
            refused(&who("main", 0, base(marked))).is_some(),
            "after a compaction or a resume the source may be lost"
        );
        assert!(refused(&who("Explore", 1, base(Vec::new()))).is_some());
        // Words of an assistant, or of a tool, make no fork.
        let said = vec![Turn::assistant(vec![Block::text(OPENING)])];
        assert_eq!(refused(&who("main", 0, base(said))), None);
    }
}
