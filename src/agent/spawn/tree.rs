//! A child's own work tree. In a team its teammate makes it, asked through the outbox, since a sandbox can be narrowed and
//! not widened; outside one this process does.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::kept::Kept;
use super::run::Afterwards;
use super::seed::Seed;
use crate::act::Verb;
use crate::agent::tools::Context;
use crate::agent::tools::team::Seat;
use crate::model::name::Name;
use crate::store::Home;
use crate::worktree::{self, Ask, Held, Record, Settled};

/// The team's and member's name in the branches of who works outside any team.
const ALONE: (&str, &str) = ("agent", "main");

enum From {
    Team(Seat),
    Alone(Home, Box<Record>, Held),
}

pub(super) struct ChildTree {
    path: PathBuf,
    /// The folder in it that stands for the caller's.
    cwd: PathBuf,
    branch: String,
    /// What a commit in it writes outside it.
    git: Vec<PathBuf>,
    word: String,
    from: From,
}

impl ChildTree {
    /// What a commit in it writes outside it, for the child's sandbox.
    pub fn git(&self) -> &[PathBuf] {
        &self.git
    }

    /// Where the child works, and on which branch.
    pub fn place(&self) -> (PathBuf, String) {
        (self.cwd.clone(), self.branch.clone())
    }

    /// The child's task, with how the paths in it are to be read.
    pub fn introduce(&self, prompt: &str, callers: &Path) -> String {
        format!(
            "You work in the git work tree {cwd}, on the branch {branch}. It is a copy of {callers} for you alone: a path below {callers} \
             stands below {cwd}, and files that were read there are to be read again here. Commit your work on this branch; change \
             nothing below {callers}.\n\n{prompt}",
            cwd = self.cwd.display(),
            branch = self.branch,
            callers = callers.display(),
        )
    }

    /// Removes it if nothing was changed in it; else path and branch of what stays.
    async fn settle(self) -> Option<(String, String)> {
        let removed = match &self.from {
            From::Team(seat) => {
                let verb = Verb::WorktreeRemove { agent: self.word.clone(), discard: false };
                seat.perform(verb).await.is_ok_and(|answer| answer["removed"] != Value::Bool(false))
            }
            From::Alone(home, record, _held) => {
                let removed = matches!(worktree::settle(home, record).await, Ok(Settled::Removed));
                worktree::tidy(home, record);
                removed
            }
        };
        (!removed).then(|| (self.path.display().to_string(), self.branch))
    }
}

/// The word by which a child's tree is known: it follows from its id.
fn word(id: &str) -> String {
    format!("agent-{}", &id[1..])
}

impl Seed {
    /// A work tree for the child `id`, from where its caller stands.
    pub(super) async fn make_tree(&self, id: &str, caller: &Context) -> Result<ChildTree, String> {
        let word = word(id);
        match &self.seat {
            Some(seat) => {
                let made = seat.perform(Verb::WorktreeAdd { agent: word.clone() }).await.map_err(|e| e.as_text())?;
                let field = |key: &str| made[key].as_str().map(str::to_owned);
                let (path, branch) = field("path")
                    .zip(field("branch"))
                    .ok_or_else(|| format!("the teammate's answer says no path: {made}"))?;
                let cwd = field("cwd").unwrap_or_else(|| path.clone());
                let git = serde_json::from_value(made["git"].clone()).unwrap_or_default();
                Ok(ChildTree { path: path.into(), cwd: cwd.into(), branch, git, word, from: From::Team(seat.clone()) })
            }
            None => self.make_alone(word, &caller.here().cwd).await,
        }
    }

    async fn make_alone(&self, word: String, from: &Path) -> Result<ChildTree, String> {
        let words = |error: crate::act::ActError| {
            let causes = error.causes.iter().map(|cause| format!(": {cause}"));
            std::iter::once(error.message.clone()).chain(causes).collect::<String>()
        };
        let home = Home::from_env().map_err(|e| e.to_string())?;
        let name = |text: &str| Name::parse(text).map_err(|e| e.to_string());
        let (team, member) = (name(ALONE.0)?, name(ALONE.1)?);
        let id8 = self.nest.id8();
        let held = worktree::hold(&home, &team, &id8, &member, Some(&word)).map_err(words)?;
        let ask = Ask { home: &home, team: &team, id8: &id8, member: &member, agent: Some(&word), from, life: None };
        let mut made = worktree::make(&ask).await.map_err(words)?;
        made.ready(&home).map_err(words)?;
        let tree = &made.record.tree;
        let (path, cwd, branch) = (tree.path.clone().into(), tree.cwd.clone().into(), tree.branch.clone());
        let git = worktree::commits(tree).map_err(words)?;
        Ok(ChildTree { path, cwd, branch, git, word, from: From::Alone(home, Box::new(made.record), held) })
    }

    /// The tree of a child that goes on in it.
    pub(super) fn tree_again(&self, kept: &Kept) -> Option<ChildTree> {
        let (cwd, branch) = kept.worktree.clone()?;
        let word = word(kept.id.as_str());
        let from = match &self.seat {
            Some(seat) => From::Team(seat.clone()),
            None => {
                let home = Home::from_env().ok()?;
                let (team, member) = (Name::parse(ALONE.0).ok()?, Name::parse(ALONE.1).ok()?);
                let record = Record::read(&home, &team, &self.nest.id8(), &member, Some(&word)).ok()??;
                let held = worktree::hold(&home, &team, &self.nest.id8(), &member, Some(&word)).ok()?;
                From::Alone(home, Box::new(record), held)
            }
        };
        Some(ChildTree { path: cwd.clone(), cwd, branch, git: kept.git.clone(), word, from })
    }

    /// What is done with the tree when the child has ended.
    pub(super) fn afterwards(&self, tree: Option<ChildTree>) -> Afterwards {
        Box::new(move || {
            Box::pin(async move {
                match tree {
                    Some(tree) => tree.settle().await,
                    None => None,
                }
            })
        })
    }
}
