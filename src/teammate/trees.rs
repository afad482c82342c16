//! Work trees for the children of the member's agent: asked for through the outbox, since a sandbox can be narrowed and
//! not widened. Made beside the teammate's loop; the answer follows when it is there.

use std::path::PathBuf;

use serde_json::json;

use super::context::Context;
use super::engine::{EngineEvent, Events};
use crate::act::outbox::Reply;
use crate::act::{ActError, Answer, Verb};
use crate::model::id::{Life, MessageId};
use crate::model::name::Name;
use crate::store::Home;
use crate::worktree::{self, Ask, Record, Settled};

/// What is asked for.
pub(super) struct TreeAsk {
    agent: String,
    what: What,
}

enum What {
    Add,
    Remove { discard: bool },
}

/// In whose name.
struct Of {
    home: Home,
    team: Name,
    id8: String,
    member: Name,
    life: Life,
    from: PathBuf,
}

impl TreeAsk {
    /// `None` for a verb that is about something else.
    pub fn of(verb: &Verb) -> Option<Self> {
        match verb {
            Verb::WorktreeAdd { agent } => Some(Self { agent: agent.clone(), what: What::Add }),
            Verb::WorktreeRemove { agent, discard } => {
                Some(Self { agent: agent.clone(), what: What::Remove { discard: *discard } })
            }
            _ => None,
        }
    }

    /// Sees to it; `EngineEvent::Answered` follows.
    pub fn carry_out(self, context: &Context, to: MessageId, told: Events) {
        let of = Of {
            home: context.desk.home.clone(),
            team: context.place.team.clone(),
            id8: context.id8.clone(),
            member: context.place.member.clone(),
            life: context.place.life,
            from: context.cwd(),
        };
        tokio::spawn(async move {
            let result = self.perform(&of).await;
            let _ = told.send(EngineEvent::Answered(Box::new(Reply::new(to, result))));
        });
    }

    async fn perform(self, of: &Of) -> Result<Answer, ActError> {
        if !worktree::is_agent_word(&self.agent) {
            return Err(ActError::usage(format!("`{}` is no name for a child's work tree", self.agent))
                .hint("it is `agent-` and eight digits or small letters"));
        }
        match self.what {
            What::Add => add(of, &self.agent).await,
            What::Remove { discard } => remove(of, &self.agent, discard).await,
        }
    }
}

async fn add(of: &Of, agent: &str) -> Result<Answer, ActError> {
    let ask = Ask {
        home: &of.home,
        team: &of.team,
        id8: &of.id8,
        member: &of.member,
        agent: Some(agent),
        from: &of.from,
        life: Some(of.life),
    };
    let mut made = worktree::make(&ask).await?;
    made.ready(&of.home)?;
    let tree = &made.record.tree;
    let git = worktree::commits(tree)?;
    Ok(Answer::of(json!({
        "path": tree.path, "branch": tree.branch, "base": tree.base, "cwd": tree.cwd, "reused": made.reused, "git": git,
    })))
}

/// Removed, or kept and why: to keep what was changed is no failure.
async fn remove(of: &Of, agent: &str, discard: bool) -> Result<Answer, ActError> {
    let record = Record::read(&of.home, &of.team, &of.id8, &of.member, Some(agent))?
        .ok_or_else(|| ActError::not_found(format!("there is no work tree `{agent}` of `{}`", of.member)))?;
    let kept = if discard {
        worktree::discard(&of.home, &record).await?;
        None
    } else {
        match worktree::settle(&of.home, &record).await? {
            Settled::Removed => None,
            Settled::Kept(why) => Some(why),
        }
    };
    let tree = &record.tree;
    Ok(Answer::of(json!({
        "removed": kept.is_none(), "path": tree.path, "branch": tree.branch, "why": kept,
    })))
}
