//! Which tree a person means.

use super::hold::holder;
use super::record::Record;
use crate::act::ActError;
use crate::model::name::Name;
use crate::store::{Home, StoreError, roster};

/// The one tree that `word` names: a member, `member/agent-…`, a branch, or the tree's path. Where several teams had a
/// member of that name, the living team's is meant.
///
/// # Errors
/// None (3), or several (2), each named.
pub fn find(home: &Home, team: Option<&Name>, word: &str) -> Result<Record, ActError> {
    let (all, _) = Record::all(home)?;
    let fits = |r: &&Record| {
        team.is_none_or(|team| r.team == *team) && (r.name() == word || r.tree.branch == word || r.tree.path == word)
    };
    let found: Vec<&Record> = all.iter().filter(fits).collect();
    let living: Vec<&Record> = found.iter().copied().filter(|r| lives(home, r)).collect();
    match (found.as_slice(), living.as_slice()) {
        ([one], _) | (_, [one]) => Ok((*one).clone()),
        ([], _) => {
            let error = ActError::not_found(match team {
                Some(team) => format!("no work tree `{word}` of team `{team}`"),
                None => format!("no work tree `{word}`"),
            });
            Err(error.hint("`crewmux worktree list` shows those that there are"))
        }
        (several, _) => {
            let mut error = ActError::usage(format!("{} work trees are called `{word}`", several.len()));
            error.causes = several.iter().map(|r| format!("{} of team `{}`", r.tree.path, r.team)).collect();
            Err(error.hint("name the one that is meant by its path"))
        }
    }
}

/// Whether the team that the tree was made for is still there, or the agent that works in it outside any team.
#[must_use]
pub fn lives(home: &Home, record: &Record) -> bool {
    match roster::read_team(&home.team(&record.team)) {
        Ok(team) if team.id8() == record.id8 => true,
        Ok(_) | Err(StoreError::NoTeam(_)) => holder(home, record).map_or(true, |holder| holder.is_some()),
        // It may be that very team.
        Err(_) => true,
    }
}
