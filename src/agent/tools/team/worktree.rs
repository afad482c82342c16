//! EnterWorktree and ExitWorktree: a git work tree of the agent's own. The teammate makes it: a sandbox can be narrowed,
//! and not widened from inside.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::Seat;
use crate::act::Verb;
use crate::agent::tools::{BoxFuture, Context, Kind, Outcome, Possible, Tool, ToolEvent, locked, parse, schema};
use crate::agent::wire::ToolSpec;

pub struct EnterWorktree(pub Seat);
pub struct ExitWorktree(pub Seat);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Enter {}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum What {
    /// Folder and branch stay.
    Keep,
    /// Refused where something was changed in it.
    Remove,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Exit {
    action: What,
    /// With remove: also what was changed and not committed, and commits that are nowhere else.
    #[serde(default)]
    discard: bool,
}

/// The word by which an agent's tree is known: it follows from its id, so one agent has one tree.
fn word(cx: &Context) -> String {
    let hash = blake3::hash(cx.agent.as_str().as_bytes()).to_hex();
    let id = cx.agent.as_str().strip_prefix('a').filter(|id| id.len() == 8).unwrap_or(&hash[..8]);
    format!("agent-{id}")
}

async fn enter(seat: &Seat, input: Value, cx: &Context) -> Result<Outcome, Outcome> {
    let Enter {} = parse("EnterWorktree", input)?;
    let here = cx.here();
    if let Some((_, tree)) = &here.left {
        return Err(Outcome::error(format!("You are in the work tree {} already.", tree.display())));
    }
    let made = seat.perform(Verb::WorktreeAdd { agent: word(cx) }).await?;
    let path = |key: &str| made[key].as_str().map(std::path::PathBuf::from);
    let Some((tree, cwd)) = path("path").zip(path("cwd").or_else(|| path("path"))) else {
        return Err(Outcome::error(format!("The work tree was made, and the answer does not say where: {made}")));
    };
    {
        let mut here = locked(&cx.here);
        here.left = Some((here.cwd.clone(), tree));
        here.cwd.clone_from(&cwd);
    }
    cx.show(ToolEvent::Moved(cwd.clone()));
    Ok(Outcome::text(format!(
        "You work in {} from now on, on the branch {}. Paths below {} stand there below the new folder; files that you have read \
         are to be read again there. Commit your work; ExitWorktree leaves the tree.",
        cwd.display(),
        made["branch"].as_str().unwrap_or("?"),
        here.cwd.display()
    )))
}

async fn exit(seat: &Seat, input: Value, cx: &Context) -> Result<Outcome, Outcome> {
    let Exit { action, discard } = parse("ExitWorktree", input)?;
    let Some((before, tree)) = cx.here().left else {
        return Err(Outcome::error("You are in no work tree that you have entered."));
    };
    let mut said = format!("The work tree {} stays as it is.", tree.display());
    if action == What::Remove {
        let answer = seat.perform(Verb::WorktreeRemove { agent: word(cx), discard }).await?;
        if answer["removed"] == Value::Bool(false) {
            return Err(Outcome::error(format!(
                "{} was not removed, and you are still in it: {}. Commit and leave it with keep, or say discard.",
                tree.display(),
                answer["why"].as_str().unwrap_or("something was changed in it")
            )));
        }
        said = format!("The work tree {} is removed.", tree.display());
    }
    {
        let mut here = locked(&cx.here);
        here.cwd.clone_from(&before);
        here.left = None;
    }
    cx.show(ToolEvent::Moved(before.clone()));
    Ok(Outcome::text(format!("{said} You work in {} again.", before.display())))
}

impl Tool for EnterWorktree {
    fn name(&self) -> &str {
        "EnterWorktree"
    }

    fn spec(&self, _possible: &Possible) -> ToolSpec {
        let text = "Makes a git work tree on a branch of its own, and works in it from then on: for changes that are to stay apart.";
        ToolSpec::new(self.name(), text, schema::<Enter>())
    }

    fn is_listed(&self, possible: &Possible) -> bool {
        possible.repository
    }

    fn kind(&self) -> Kind {
        Kind::Edit
    }

    fn call<'a>(&'a self, input: Value, cx: &'a Context) -> BoxFuture<'a, Outcome> {
        Box::pin(async move { enter(&self.0, input, cx).await.unwrap_or_else(|refused| refused) })
    }
}

impl Tool for ExitWorktree {
    fn name(&self) -> &str {
        "ExitWorktree"
    }

    fn spec(&self, _possible: &Possible) -> ToolSpec {
        let text = "Leaves the work tree that EnterWorktree made, and keeps or removes it.";
        ToolSpec::new(self.name(), text, schema::<Exit>())
    }

    fn is_listed(&self, possible: &Possible) -> bool {
        possible.repository
    }

    fn kind(&self) -> Kind {
        Kind::Edit
    }

    fn call<'a>(&'a self, input: Value, cx: &'a Context) -> BoxFuture<'a, Outcome> {
        Box::pin(async move { exit(&self.0, input, cx).await.unwrap_or_else(|refused| refused) })
    }
}
