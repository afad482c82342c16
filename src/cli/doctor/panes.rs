//! Whether the panes on the team's tmux server are those that the roster names.

use crate::act::Desk;
use crate::cli::error::CommandError;
use crate::cli::pane::{self, Place};
use crate::store::lease;
use crate::view::answers::{Finding, Severity};

pub(super) fn look(desk: &mut Desk) -> Result<Vec<Finding>, CommandError> {
    let place = Place::of(desk)?;
    let team = desk.team()?.clone();
    let what = format!("{}: panes", team.name);
    let panes = match pane::block_on(async {
        place.check().await?;
        Ok(place.tmux.panes().await?)
    }) {
        Ok(panes) => panes,
        // Without a lead there may be no server, which is said of the lead.
        Err(_) if !desk.lead_alive()? => return Ok(Vec::new()),
        Err(error) => {
            let hint = error.hints.first().cloned().unwrap_or_else(|| format!("`crewmux attach --team {}`", team.name));
            return Ok(vec![Finding::new(Severity::Broken, what, error.message).hint(hint)]);
        }
    };
    let mut found = Vec::new();
    for member in team.teammates().filter(|m| m.is_active) {
        let (Some(id), Some(pid)) = (&member.pane_id, member.pid) else { continue };
        if lease::is_held(&desk.dir.member(&member.name).lease())?
            && !panes.iter().any(|pane| pane.id == *id && pane.pid == pid)
        {
            let text = format!("its pane {id} is not there any more, and its process {pid} lives");
            let hint = format!("`crewmux restart {}` gives it a pane again", member.name);
            found.push(Finding::new(Severity::Warning, format!("{}: {}", team.name, member.name), text).hint(hint));
        }
    }
    let recorded = |id: &str, pid: u32| {
        team.members.iter().chain(&team.reserved).any(|m| m.pane_id.as_deref() == Some(id) && m.pid == Some(pid))
    };
    let others: Vec<&str> =
        panes.iter().filter(|pane| !pane.dead && !recorded(&pane.id, pane.pid)).map(|pane| pane.id.as_str()).collect();
    if !others.is_empty() {
        let text = format!("not of the team, and left alone when it ends: {}", others.join(", "));
        found.push(
            Finding::new(Severity::Warning, what, text)
                .hint("nothing to do where a person opened them; else close them"),
        );
    }
    Ok(found)
}
