//! All trees of a team at once, when it has ended.

use super::record::{Record, drop_empty};
use super::remove::{Settled, settle};
use crate::act::ActError;
use crate::model::name::Name;
use crate::store::Home;

/// A tree that stays, and why.
#[derive(Clone, Debug)]
pub struct Kept {
    pub record: Record,
    pub why: String,
}

/// Removes every tree of the team in which nothing was changed. Nobody of the team may live any more.
///
/// # Errors
/// When the records cannot be read. A tree that cannot be removed is among those that stay.
pub async fn sweep(home: &Home, team: &Name, id8: &str) -> Result<Vec<Kept>, ActError> {
    let mut kept = Vec::new();
    let records = Record::of_team(home, team, id8)?;
    for record in records {
        match settle(home, &record).await {
            Ok(Settled::Removed) => drop_empty(Some(&home.worktrees_of(team, id8, &record.member))),
            Ok(Settled::Kept(why)) => kept.push(Kept { record, why }),
            Err(error) => {
                let why = error.causes.iter().fold(error.message.clone(), |said, cause| format!("{said}: {cause}"));
                kept.push(Kept { record, why });
            }
        }
    }
    let team = home.worktrees_of(team, id8, &Name::lead());
    // Members whose sandbox was to have room for children, and had none.
    let members = team.parent().and_then(|dir| std::fs::read_dir(dir).ok()).into_iter().flatten().flatten();
    for member in members {
        drop_empty(Some(&member.path()));
    }
    drop_empty(team.parent());
    Ok(kept)
}

impl Kept {
    /// One line for people.
    #[must_use]
    pub fn said(&self) -> String {
        let Record { tree, .. } = &self.record;
        format!(
            "the work tree of `{}` is kept: {} ({}, branch {})",
            self.record.name(),
            self.why,
            tree.path,
            tree.branch
        )
    }
}
