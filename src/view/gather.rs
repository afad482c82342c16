//! The state of a team as its files and leases have it now. Cheap: tails and small files alone, so that the lead's
//! screen can be drawn again whenever something changed.

use std::time::Duration;

use super::requests::RequestView;
use super::status::{Alive, LeadView, MemberView, StatusView, TaskCounts};
use crate::act::outlook::Counts;
use crate::act::{ActError, Desk};
use crate::decide::lead::reason;
use crate::model::message::Lane;
use crate::model::name::Name;
use crate::model::sandbox::Mode;
use crate::model::team::{Exit, Member, State, Status};
use crate::model::time::Timestamp;
use crate::os::{clock, process};
use crate::store::{LeaseText, MemberDir, backlog, document, lease};

/// Control mail is taken within milliseconds; one that lets it lie for so long does not answer.
const UNANSWERED: Duration = Duration::from_secs(5);

impl From<Counts> for TaskCounts {
    fn from(counts: Counts) -> Self {
        let Counts { pending, in_progress, completed, failed } = counts;
        Self { pending, in_progress, completed, failed }
    }
}

/// Looks at the whole team.
///
/// # Errors
/// When roster, board or ledger cannot be read.
pub fn status(desk: &mut Desk) -> Result<StatusView, ActError> {
    let now = clock::now();
    let team = desk.team()?.clone();
    let lead_alive = desk.lead_alive()?;
    let lead_pid = lease::text(&desk.dir.lead_lease()).filter(|_| lead_alive).map(|text| text.pid);
    let mail = desk.mailbox(&Name::operator())?;
    let lead = LeadView { alive: lead_alive, pid: lead_pid, unread: backlog::unread(&mail, Lane::Inbox)? };

    let counts = TaskCounts::of(desk.board.view()?.board.tasks().values());
    let ledger = &desk.ledger.view()?.0;
    let open_requests: Vec<RequestView> = ledger.open_requests().into_iter().map(RequestView::from).collect();

    let joining = team.reserved.iter().filter(|m| team.member(&m.name).is_none());
    let mut members = Vec::with_capacity(team.members.len());
    for (member, joined) in team.teammates().map(|m| (m, true)).chain(joining.map(|m| (m, false))) {
        let mut view = look(&desk.dir.member(&member.name), member, joined, now);
        view.task = desk.board.view()?.board.held_by(&member.name).next().map(|t| t.id);
        members.push(view);
    }
    Ok(StatusView {
        team: team.name,
        at: now,
        cwd: team.cwd,
        session: team.tmux.session,
        lead,
        members,
        tasks: counts,
        requests: open_requests.len(),
        open_requests,
    })
}

fn look(dir: &MemberDir, member: &Member, joined: bool, now: Timestamp) -> MemberView {
    let alive = match lease::is_held(&dir.lease()) {
        Ok(true) => Alive::Yes,
        Ok(false) => Alive::No,
        Err(_) => Alive::Unknown,
    };
    // What an earlier life said of itself says nothing of this one.
    let said: Option<Status> = document::read_json(&dir.status()).ok().flatten();
    let said = said.filter(|s| alive == Alive::Yes && member.life == Some(s.life));
    let holder = lease::text(&dir.lease()).filter(|_| alive == Alive::Yes);
    let exit = exit_of(dir, member);
    let seen = Seen { alive, joined, said: said.as_ref(), holder: holder.as_ref(), exit: exit.as_ref() };
    let state = state(dir, member, &seen, now);
    let since = match (&said, &exit) {
        (Some(said), _) => Some(said.updated_at),
        (None, Some(exit)) if alive != Alive::Yes => Some(exit.at),
        _ => None,
    };
    MemberView {
        name: member.name.clone(),
        agent_id: member.agent_id.clone(),
        engine: member.engine.clone(),
        state,
        alive,
        pid: holder.map(|h| h.pid).or(member.pid.filter(|_| alive == Alive::Unknown)),
        pane_id: member.pane_id.clone(),
        unread: backlog::unread(dir, Lane::Inbox).unwrap_or(0),
        queued: said.as_ref().map_or(0, |s| s.queued),
        task: None,
        restarts: member.restarts,
        exit,
        since,
        activity: said.and_then(|s| s.activity),
        color: member.color.clone(),
        sandbox: member.sandbox.clone(),
        unconfined: member.sandbox == Mode::Off.as_str(),
        state_dirs: member.spec.as_ref().map_or_else(Vec::new, |spec| spec.state_dirs.clone()),
    }
}

/// How its last life ended: as the roster has it, or as the life itself left it where the lead has not seen that yet.
fn exit_of(dir: &MemberDir, member: &Member) -> Option<Exit> {
    let left: Option<Exit> = document::read_json(&dir.exit()).ok().flatten();
    left.filter(|exit| exit.life.is_some() && exit.life == member.life).or_else(|| member.exit.clone())
}

struct Seen<'a> {
    alive: Alive,
    joined: bool,
    said: Option<&'a Status>,
    holder: Option<&'a LeaseText>,
    exit: Option<&'a Exit>,
}

fn state(dir: &MemberDir, member: &Member, seen: &Seen<'_>, now: Timestamp) -> String {
    let ended = seen.exit.filter(|exit| exit.life == member.life || !member.is_active);
    match (seen.alive, ended) {
        (Alive::Unknown, _) => "unknown",
        (Alive::Yes, _) if is_deaf(dir, seen.holder, now) => "unresponsive",
        // Its lease is taken before its first word is written, and held beyond its last.
        (Alive::Yes, _) => match seen.said.map_or(State::Starting, |s| s.state) {
            State::Exited | State::Failed => State::Stopping,
            state => state,
        }
        .as_str(),
        (Alive::No, _) if !seen.joined => State::Starting.as_str(),
        // Its program comes and goes; its place and its mail stay.
        (Alive::No, _) if member.is_guest() && member.is_active => "away",
        // Between planning and execution: who waits for its end waits for the execution's.
        (Alive::No, Some(exit)) if member.is_active && exit.reason == reason::PLAN_APPROVED => State::Starting.as_str(),
        (Alive::No, Some(exit)) if ended_well(exit) => State::Exited.as_str(),
        (Alive::No, Some(_)) => State::Failed.as_str(),
        (Alive::No, None) if !member.is_active => State::Exited.as_str(),
        // The roster has it as living, nobody holds its lease and no record says how it ended: killed, or just
        // being started again.
        (Alive::No, None) => "unknown",
    }
    .to_owned()
}

/// Whether a life ended as it was meant to.
fn ended_well(exit: &Exit) -> bool {
    match exit.reason.as_str() {
        reason::SHUTDOWN | reason::STOPPED | reason::PANE_CLOSED | reason::PLAN_APPROVED => true,
        reason::KILLED => false,
        _ => exit.is_success() || (exit.code.is_none() && exit.signal.is_none()),
    }
}

/// A teammate that is stopped, or that lets its control mail lie.
fn is_deaf(dir: &MemberDir, holder: Option<&LeaseText>, now: Timestamp) -> bool {
    let stopped = holder
        .and_then(|text| process::stat(text.pid).ok().filter(|stat| stat.start_time == text.start_time))
        .is_some_and(|stat| matches!(stat.state, 'T' | 't'));
    stopped
        || backlog::waits_since(dir, Lane::Control).ok().flatten().is_some_and(|since| now.since(since) > UNANSWERED)
}

#[cfg(test)]
#[path = "gather_tests.rs"]
mod tests;
