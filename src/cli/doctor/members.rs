//! Who of a team lives, and whether roster, leases and cursors say the same.

use crate::act::{ActError, Desk};
use crate::model::message::Lane;
use crate::model::name::Name;
use crate::model::team::{Member, Status, Team};
use crate::os::process;
use crate::store::{MemberDir, cursors, document, journal, lease};
use crate::view::answers::{Finding, Severity};
use crate::view::gather;
use crate::view::status::{Alive, MemberView};

pub(super) fn look(desk: &mut Desk) -> Result<Vec<Finding>, ActError> {
    let status = gather::status(desk)?;
    let team = desk.team()?.clone();
    let name = team.name.clone();
    let mut found = vec![lead(&team, status.lead.alive.then_some(status.lead.pid).flatten())];
    if !team.tmux.boot_id.is_empty() && team.tmux.boot_id != process::boot_id() {
        let text = "launched before this machine was started anew: nothing of it runs";
        let hint = format!("`crewmux up --resume {name}` starts it again");
        found.push(Finding::new(Severity::Broken, format!("team {name}"), text).hint(hint));
    }
    let mut fine = 0;
    for view in &status.members {
        let dir = desk.dir.member(&view.name);
        let before = found.len();
        found.extend(life(&name, team.member(&view.name), view));
        found.extend(own_files(&name, &dir, view));
        fine += usize::from(found.len() == before);
    }
    if fine > 0 {
        let text = format!("{fine} of {} are as the roster has them", status.members.len());
        found.push(Finding::new(Severity::Fine, format!("{name}: members"), text));
    }
    Ok(found)
}

fn lead(team: &Team, pid: Option<u32>) -> Finding {
    let name = &team.name;
    let what = format!("{name}: lead");
    match pid {
        Some(pid) => Finding::new(Severity::Fine, what, format!("runs as process {pid}")),
        None => Finding::new(Severity::Broken, what, "does not run: nobody is started, and nothing is decided")
            .hint(format!("`crewmux up --resume {name}` brings it back; `crewmux down --team {name}` ends the team")),
    }
}

fn life(team: &Name, member: Option<&Member>, view: &MemberView) -> Option<Finding> {
    let name = &view.name;
    let what = format!("{team}: {name}");
    let active = member.is_none_or(|m| m.is_active);
    let (severity, text, hint) = match (view.state.as_str(), view.alive) {
        ("unresponsive", _) => (
            Severity::Broken,
            "is stopped, or lets its control mail lie".to_owned(),
            match view.pid {
                Some(pid) => format!("`kill -CONT {pid}` lets it go on; `crewmux restart {name}` starts it anew"),
                None => format!("`crewmux restart {name}` starts it anew"),
            },
        ),
        (_, Alive::Unknown) => {
            (Severity::Broken, "its lease cannot be looked at".to_owned(), "check who owns its folder".to_owned())
        }
        (_, Alive::Yes) if !active => (
            Severity::Broken,
            "has ended by the roster, and yet its teammate runs".to_owned(),
            format!("`crewmux restart {name}` takes it back in"),
        ),
        ("unknown", Alive::No) => (
            Severity::Broken,
            "is in the roster as living, and its teammate is gone without a word".to_owned(),
            format!("`crewmux restart {name}` starts it again, where the lead does not"),
        ),
        _ => return None,
    };
    Some(Finding::new(severity, what, text).hint(hint))
}

fn own_files(team: &Name, dir: &MemberDir, view: &MemberView) -> Vec<Finding> {
    let name = &view.name;
    let mut found = Vec::new();
    for lane in [Lane::Inbox, Lane::Control] {
        let Ok(last) = journal::last_seq(&dir.lane(lane)) else { continue };
        let handed = cursors::read(dir).map_or(0, |c| c.lane(lane).handed);
        if handed > last {
            let what = format!("{team}: {name}: {lane:?}").to_lowercase();
            let text =
                format!("its cursor stands at {handed}, the file ends at {last}: the mailbox was cut or replaced");
            let hint = "nothing to do: its next look goes by ids, and may hand some mail over twice";
            found.push(Finding::new(Severity::Warning, what, text).hint(hint));
        }
    }
    let status = document::read_json::<Status>(&dir.status());
    if let (Alive::Yes, Ok(Some(status))) = (view.alive, &status)
        && status.watch == "polling"
    {
        let text = "looks at its mailbox every 200 ms: it got no inotify watch";
        let hint = format!("raise fs.inotify.max_user_instances, then `crewmux restart {name}`");
        found.push(Finding::new(Severity::Warning, format!("{team}: {name}"), text).hint(hint));
    }
    if let Err(error) = status {
        let text = format!("its status cannot be read: {error}");
        let hint = "it is written anew with its next change of state";
        found.push(Finding::new(Severity::Warning, format!("{team}: {name}"), text).hint(hint));
    }
    if view.alive == Alive::Yes && lease::text(&dir.lease()).is_none() {
        let text = "its lease is held and does not say by whom";
        let hint = format!("`fuser {}` names the process", dir.lease().display());
        found.push(Finding::new(Severity::Warning, format!("{team}: {name}"), text).hint(hint));
    }
    found
}
