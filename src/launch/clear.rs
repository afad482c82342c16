//! Ending what is left of a team that has no lead, and putting its files away.

use std::path::Path;
use std::time::Duration;

use super::{of_tmux, runtime};
use crate::act::ActError;
use crate::hook;
use crate::lead::bury_unread;
use crate::model::name::Name;
use crate::model::team::{Member, Team};
use crate::os::life::{LIFE_VARIABLE, LifeMark, end_life};
use crate::os::process::{self, ProcessId};
use crate::store::{Home, StateLog, StoreError, TeamDir, lease, mailbox, roster};
use crate::tmux::Tmux;
use crate::worktree::{Kept, sweep};

/// Ends every life that the team's files name, and what hooks of its lead left. Who could not be ended is named.
pub(super) fn end_lives(dir: &TeamDir, team: Option<&Team>, grace: Duration) -> Result<(), ActError> {
    let marks = marks(dir, team)?;
    // Each waits for its own processes: together they take one grace, not one each.
    let left: Vec<(Name, Vec<ProcessId>)> = std::thread::scope(|scope| {
        let hooks = team.and_then(hook::left_of).map(|tree| scope.spawn(move || tree.end(grace)));
        let ends: Vec<_> = marks
            .iter()
            .map(|(name, mark)| (name, scope.spawn(move || end_life(mark, &[std::process::id()], grace))))
            .collect();
        let of_hooks = hooks.map(|end| (Name::lead(), end.join().map(|(_, left)| left).unwrap_or_default()));
        let of_lives =
            ends.into_iter().map(|(name, end)| (name.clone(), end.join().map(|r| r.left).unwrap_or_default()));
        of_lives.chain(of_hooks).collect()
    });
    let stuck: Vec<String> = left
        .into_iter()
        .filter(|(_, left)| !left.is_empty())
        .map(|(name, left)| {
            let pids: Vec<String> = left.iter().map(|p| p.pid.to_string()).collect();
            format!("`{name}`: {}", pids.join(", "))
        })
        .collect();
    if stuck.is_empty() {
        return Ok(());
    }
    let mut error = ActError::failed("some processes cannot be ended");
    error.causes = stuck;
    Err(error.hint("`ps -o pid,stat,wchan,cmd -p PID` shows what they wait for"))
}

/// The lives that the team's files name: those of its roster, and those of the leases in its folder, which also a team has
/// whose roster cannot be read.
pub(super) fn marks(dir: &TeamDir, team: Option<&Team>) -> Result<Vec<(Name, LifeMark)>, ActError> {
    let recorded = team.into_iter().flat_map(|team| team.teammates().chain(&team.reserved).map(move |m| (team, m)));
    let mut marks: Vec<(Name, LifeMark)> =
        recorded.filter_map(|(team, m)| Some((m.name.clone(), mark(dir, team, m)?))).collect();
    for name in dir.members_on_disk()? {
        let Some(text) = lease::text(&dir.member(&name).lease()) else { continue };
        if marks.iter().all(|(_, mark)| mark.life != text.life) {
            let teammate = Some(ProcessId { pid: text.pid, start_time: text.start_time });
            marks.push((name, LifeMark { teammate, life: text.life, boot_id: text.boot_id }));
        }
    }
    Ok(marks)
}

fn mark(dir: &TeamDir, team: &Team, member: &Member) -> Option<LifeMark> {
    let life = member.life?;
    let text = lease::text(&dir.member(&member.name).lease()).filter(|text| text.life == life);
    let recorded = member.pid.zip(member.start_time.as_ref().and_then(|s| s.parse().ok()));
    let (teammate, boot_id) = match (text, recorded) {
        (Some(text), _) => (Some(ProcessId { pid: text.pid, start_time: text.start_time }), text.boot_id),
        (None, Some((pid, start_time))) => (Some(ProcessId { pid, start_time }), team.tmux.boot_id.clone()),
        (None, None) => (None, team.tmux.boot_id.clone()),
    };
    Some(LifeMark { teammate, life, boot_id })
}

/// What became of a team of which everything was ended.
#[derive(Debug, Default)]
pub(super) struct Ended {
    /// What was left alone.
    pub notes: Vec<String>,
    /// Work trees that stay.
    pub kept: Vec<Kept>,
}

/// Ends every life that the team's files name, closes its panes and removes its unchanged work trees. `team` is `None` where the
/// roster cannot be read: then its leases say who lives, and its trees are left to [`super::gc`].
pub(super) fn end_all(home: &Home, name: &Name, team: Option<&Team>, grace: Duration) -> Result<Ended, ActError> {
    end_lives(&home.team(name), team, grace)?;
    let Some(team) = team else {
        return Ok(Ended { notes: close_own_server(home, name)?.into_iter().collect(), kept: Vec::new() });
    };
    let notes = close_tmux(team)?.into_iter().collect();
    Ok(Ended { notes, kept: sweep_trees(home, team)? })
}

/// Ends the server that listens on the team's own socket, where no roster says which one it is.
fn close_own_server(home: &Home, name: &Name) -> Result<Option<String>, ActError> {
    let tmux = Tmux::new(home.socket_dir(name)?.join(super::up::SOCKET));
    match runtime()?.block_on(tmux.server_pid()).ok().flatten() {
        Some(pid) => runtime()?.block_on(close_panes(&tmux, pid, Vec::new())),
        None => Ok(None),
    }
}

/// Closes the panes that the team recorded, and the server if nobody else's pane is on it. The note says
/// what was left alone.
pub(super) fn close_tmux(team: &Team) -> Result<Option<String>, ActError> {
    if team.tmux.socket.is_empty() || team.tmux.server_pid == 0 || team.tmux.boot_id != process::boot_id() {
        return Ok(None);
    }
    let pid = team.tmux.server_pid;
    let same = server_lives(team);
    let tmux = Tmux::new(&team.tmux.socket);
    runtime()?.block_on(async {
        if !same || tmux.server_pid().await.ok().flatten() != Some(pid) {
            if !is_listened_on(tmux.socket()) {
                let _ = std::fs::remove_file(tmux.socket());
            }
            return Ok(None);
        }
        let recorded =
            team.members.iter().chain(&team.reserved).filter_map(|m| Some((m.pane_id.clone()?, m.pid?))).collect();
        close_panes(&tmux, pid, recorded).await
    })
}

/// Closes those panes of the server `pid` that are the team's, and the server with the last of them.
async fn close_panes(tmux: &Tmux, pid: u32, recorded: Vec<(String, u32)>) -> Result<Option<String>, ActError> {
    let others: Vec<_> = match tmux.panes().await {
        Ok(panes) => panes.into_iter().filter(|p| !recorded.contains(&(p.id.clone(), p.pid))).collect(),
        // A server that does not answer holds nothing that could be asked about.
        Err(_) => Vec::new(),
    };
    // A pane whose recorded program is gone and in which nothing else was started is still ours, and one that came up
    // when its lead could not write it down any more.
    let (stray, foreign): (Vec<_>, Vec<_>) =
        others.into_iter().filter(|p| !p.dead).partition(|p| stray(p.pid).is_some());
    let late: Vec<LifeMark> = stray.iter().filter_map(|p| self::stray(p.pid)).collect();
    let ours: Vec<(String, u32)> = recorded.into_iter().chain(stray.into_iter().map(|p| (p.id, p.pid))).collect();
    let closed = match foreign.is_empty() {
        true => tmux.kill_server(pid).await.map_err(|e| of_tmux("end the team's tmux server", &e)),
        false => tmux.close_panes(&ours).await.map_err(|e| of_tmux("close the team's panes", &e)),
    };
    for mark in &late {
        let _ = end_life(mark, &[std::process::id()], Duration::from_secs(1));
    }
    closed?;
    if foreign.is_empty() {
        return Ok(None);
    }
    let ids: Vec<String> = foreign.into_iter().map(|p| p.id).collect();
    Ok(Some(format!(
        "panes that are not the team's are left: {} (on the server {})",
        ids.join(", "),
        tmux.socket().display()
    )))
}

/// The life that a pane's process was started for. On a team's own server only its leads give a pane such a mark: what a
/// person opens there has that of the server.
fn stray(pid: u32) -> Option<LifeMark> {
    let life = process::environ_value(pid, LIFE_VARIABLE)?.to_str()?.parse().ok()?;
    let teammate = process::stat(pid).ok().map(|stat| stat.id());
    Some(LifeMark { teammate, life, boot_id: process::boot_id() })
}

/// Closes every journal, so that no late writer is told that its words arrived.
pub(super) fn close_files(dir: &TeamDir) -> Result<(), ActError> {
    let reason = "the team is down";
    for name in dir.members_on_disk()? {
        let member = dir.member(&name);
        mailbox::close(&member, reason)?;
        member.clear_tmp()?;
        bury_unread(dir, &member, &name, reason)?;
        for path in [member.outbox(), member.replies()] {
            if path.exists() {
                mailbox::close_journal(&path, reason)?;
            }
        }
    }
    StateLog::<crate::act::board::BoardLog>::open(dir.tasks()).close(reason)?;
    for path in [dir.requests(), dir.events()] {
        if path.exists() {
            mailbox::close_journal(&path, reason)?;
        }
    }
    Ok(())
}

/// Whether a process listens on the socket.
pub(super) fn is_listened_on(socket: &Path) -> bool {
    std::os::unix::net::UnixStream::connect(socket).is_ok()
}

/// Whether the recorded tmux server still runs.
pub(super) fn server_lives(team: &Team) -> bool {
    let start: Option<u64> = team.tmux.server_start.parse().ok();
    team.tmux.boot_id == process::boot_id()
        && process::stat(team.tmux.server_pid).is_ok_and(|s| Some(s.start_time) == start && !s.has_ended())
}

/// Puts a team's files under `dead/` and removes its socket folder.
pub(super) fn bury(home: &Home, name: &Name) -> Result<TeamDir, ActError> {
    let buried = home.bury(name)?;
    if let Ok(folder) = home.socket_dir(name) {
        // A server that holds panes of a person's stays within reach.
        let sockets = std::fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path());
        for socket in sockets.filter(|path| !is_listened_on(path)) {
            let _ = std::fs::remove_file(socket);
        }
        let _ = std::fs::remove_dir(&folder);
    }
    Ok(buried)
}

/// Removes the work trees of the team in which nothing was changed; those that stay. Nobody of the team lives any more.
pub(super) fn sweep_trees(home: &Home, team: &Team) -> Result<Vec<Kept>, ActError> {
    runtime()?.block_on(sweep(home, &team.name, &team.id8()))
}

/// Which members of the team live, by their leases: whether or not a roster names them.
pub(super) fn living(dir: &TeamDir) -> Result<Vec<Name>, ActError> {
    let mut living = Vec::new();
    for name in dir.members_on_disk()? {
        if lease::is_held_by_living(&dir.member(&name).lease())? {
            living.push(name);
        }
    }
    Ok(living)
}

/// Reads a roster, `None` where there is none that can be read.
pub(super) fn read(dir: &TeamDir) -> Result<Option<Team>, ActError> {
    match roster::read_team(dir) {
        Ok(team) => Ok(Some(team)),
        Err(StoreError::Invalid { .. } | StoreError::NoTeam(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
