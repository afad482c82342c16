//! Members with a git work tree of their own: made before their pane, looked after when they have ended.

use super::state::{Effect, EventRecord, Lead, Phase, Start};
use crate::model::id::Life;
use crate::model::name::Name;
use crate::model::spec::Isolation;
use crate::model::team::Member;
use crate::model::time::Timestamp;
use crate::model::tree::Tree;

impl Lead {
    /// Whether the member works in a tree of its own.
    pub(super) fn is_isolated(&self, name: &Name) -> bool {
        self.entry(name).is_some_and(isolated)
    }

    /// The tree is there: the pane follows, and from now on the time for the hello runs.
    pub(super) fn tree_ready(
        &mut self,
        name: &Name,
        life: Life,
        tree: Tree,
        reused: bool,
        now: Timestamp,
        out: &mut Vec<Effect>,
    ) {
        let making = self.seats.get_mut(name).filter(|s| s.life == life && s.making);
        let wanted = making.as_ref().is_some_and(|s| s.phase == Phase::Preparing);
        if let (false, Some(seat)) = (wanted, making) {
            // What works in it, such as its setup, was begun after the look for what is to be ended.
            seat.making = false;
            return self.end_late(name, out);
        }
        if !wanted {
            // It was ended meanwhile. Whoever came after it in that place settles or uses the tree by himself.
            if self.seats.get(name).is_none_or(|s| s.phase == Phase::Out) {
                out.push(Effect::SettleTree { name: name.clone() });
            }
            return;
        }
        let word = if reused { "worktree_reused" } else { "worktree_made" };
        out.push(Effect::Log(described(word, name, &tree).with("base", &tree.base)));
        let Some(entry) = self.entry_mut(name) else { return };
        entry.worktree = Some(tree);
        let (spawn_id, old_pane) = (entry.spawn_id, entry.pane_id.clone().zip(entry.pid));
        let deadline = now.plus(self.team.settings.limits.hello.0);
        if let Some(seat) = self.seats.get_mut(name) {
            seat.phase = Phase::Starting { deadline };
        }
        out.push(Effect::SaveTeam);
        out.push(Effect::Launch(vec![Start { name: name.clone(), life, spawn_id, old_pane }]));
    }

    pub(super) fn tree_failed(&mut self, name: &Name, life: Life, error: &str, now: Timestamp, out: &mut Vec<Effect>) {
        if let Some(seat) = self.seats.get_mut(name).filter(|s| s.life == life && s.making) {
            seat.making = false;
            let exit = super::ending::exit_of(life, "no work tree", now);
            self.life_ended(name, life, exit, error, &[], now, out);
        }
    }

    pub(super) fn tree_settled(&mut self, name: &Name, tree: &Tree, kept: Option<String>, out: &mut Vec<Effect>) {
        match kept {
            Some(why) => out.push(Effect::Log(described("worktree_kept", name, tree).with("why", why))),
            None => {
                out.push(Effect::Log(described("worktree_removed", name, tree)));
                if let Some(entry) = self.entry_mut(name)
                    && entry.worktree.as_ref() == Some(tree)
                {
                    entry.worktree = None;
                    out.push(Effect::SaveTeam);
                }
            }
        }
    }
}

pub(super) fn isolated(member: &Member) -> bool {
    member.spec.as_ref().is_some_and(|spec| spec.isolation == Isolation::Worktree)
}

fn described(word: &'static str, name: &Name, tree: &Tree) -> EventRecord {
    EventRecord::of(word, name).with("path", &tree.path).with("branch", &tree.branch)
}
