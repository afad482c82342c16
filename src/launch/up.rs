//! `up`: a team from its spec, all of it or nothing.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::{Hold, clear, confine, make, of_tmux, repair, runtime};
use crate::act::{ActError, Desk, client};
use crate::lead::lead_pane;
use crate::model::name::Name;
use crate::model::spec::{Isolation, TeamSpec};
use crate::model::team::{Member, State, Status, Team};
use crate::os::process;
use crate::store::{Home, Tail, TeamDir, document, lease, roster};
use crate::tmux::Tmux;
use crate::worktree::{Kept, left_behind};

/// The socket's name in the team's socket folder; numbered where a server of that name is left to a person.
pub(super) const SOCKET: &str = "tmux";
/// The size of a session that nobody looks at.
const SIZE: (u16, u16) = (200, 50);
/// A launch is a burst of changes, several of each member: one look for all of this long, since a look reads the roster
/// and the state of whoever is not ready.
const BURST: Duration = Duration::from_millis(3);
/// How long a lead may take to begin.
const LEAD_LIMIT: Duration = Duration::from_secs(15);

/// How to launch.
pub struct UpOptions<'a> {
    /// The lead ends the team when this process is gone.
    pub tied: bool,
    /// Set by a signal: the launch is undone.
    pub interrupted: &'a AtomicBool,
    /// Told of every member's state as it changes: starting, ready, failed.
    pub progress: &'a mut dyn FnMut(&Name, Step),
}

/// How far a member is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Starting,
    Ready,
}

/// A team that is up.
pub struct Up {
    pub team: Team,
    /// What else there is to say.
    pub notes: Vec<String>,
    pub hold: Hold,
}

/// Launches the team of `spec`.
///
/// # Errors
/// A living team of that name (7), a program that does not start (1), no tmux (1), interrupted (130).
/// Nothing of the team is left then.
pub fn up(home: &Home, spec: &TeamSpec, options: UpOptions<'_>) -> Result<Up, ActError> {
    let name = &spec.name;
    confine::can_confine(&spec.members)?;
    confine::can_confine_hooks(&spec.hooks)?;
    let hold = Hold::take(home, name, "crewmux up")?;
    let mut notes = Vec::new();
    make_room(home, name, &mut notes)?;

    let tmux = Tmux::new(free_socket(&home.socket_dir(name)?));
    runtime()?.block_on(tmux.version()).map_err(|e| of_tmux("use tmux", &e))?;
    notes.extend(confine::note(home, &spec.members));
    let dir = make::make(home, spec, &tmux.socket().to_string_lossy(), options.tied)?;
    let launched = start_lead(home, name, Path::new(&spec.cwd), &tmux, None)
        .and_then(|()| wait_launched(&dir, home, name, options));
    match launched {
        Ok(team) => {
            notes.extend(not_in_trees(&team));
            Ok(Up { team, notes, hold })
        }
        Err(error) => Err(undo(home, name, &dir, &tmux, error)),
    }
}

/// Starts a lead for a team that has none: it takes over who lives and restarts the rest.
///
/// # Errors
/// No such team (3), one that has a lead (7), no tmux (1).
pub fn resume(home: &Home, name: &Name, interrupted: &AtomicBool) -> Result<Up, ActError> {
    Desk::open(home, name)?;
    let hold = Hold::take(home, name, "crewmux up --resume")?;
    let team = resume_held(home, name, interrupted, &hold)?;
    Ok(Up { team, notes: Vec::new(), hold })
}

/// [`resume`] for who holds the team's lock already.
///
/// # Errors
/// As [`resume`].
pub fn resume_held(home: &Home, name: &Name, interrupted: &AtomicBool, _hold: &Hold) -> Result<Team, ActError> {
    let mut desk = Desk::open(home, name)?;
    if desk.lead_alive()? {
        return Err(ActError::conflict(format!("team `{name}` has a lead"))
            .hint(format!("`crewmux status --team {name}` shows it")));
    }
    let team = desk.team()?.clone();
    if !team.launched {
        return Err(ActError::conflict(format!("team `{name}` never came up"))
            .hint("`crewmux up SPEC` launches it anew; `crewmux down` removes what is left"));
    }
    repair::before_resume(&desk.dir, &team)?;
    let folder = home.socket_dir(name)?;
    let own = clear::server_lives(&team).then(|| PathBuf::from(&team.tmux.socket));
    let tmux = Tmux::new(own.unwrap_or_else(|| free_socket(&folder)));
    runtime()?.block_on(tmux.version()).map_err(|e| of_tmux("use tmux", &e))?;
    start_lead(home, name, Path::new(&team.cwd), &tmux, Some(&team))?;
    let (before, begun) = (team.lead_life, Instant::now());
    let resumed =
        wait_for(&folders(&desk.dir, team.teammates()), LEAD_LIMIT.saturating_add(limit(&team)), interrupted, || {
            let team = crate::store::roster::read_team(&desk.dir)?;
            let led = team.lead_life != before && desk.lead_alive()?;
            let starting = team.teammates().any(|m| m.is_active && !m.is_guest() && !lives(&desk.dir, m));
            // A member that keeps failing waits longer and longer between two starts; nobody waits for that.
            let enough = begun.elapsed() > limit(&team);
            Ok((led && (!starting || enough)).then_some(team))
        })?;
    resumed.ok_or_else(|| {
        ActError::timed_out(format!("team `{name}` did not come back in time"))
            .hint(format!("`crewmux status --team {name}` shows how far it is"))
    })
}

fn lives(dir: &TeamDir, member: &Member) -> bool {
    lease::is_held(&dir.member(&member.name).lease()).unwrap_or(false)
        && status(dir, member)
            .is_some_and(|s| !matches!(s, State::Starting | State::Stopping | State::Exited | State::Failed))
}

/// What the current life of a member says of itself.
fn status(dir: &TeamDir, member: &Member) -> Option<State> {
    let status: Option<Status> = document::read_json(&dir.member(&member.name).status()).ok().flatten();
    status.filter(|s| Some(s.life) == member.life).map(|s| s.state)
}

/// A dead team of the same name makes room; a living one does not.
fn make_room(home: &Home, name: &Name, notes: &mut Vec<String>) -> Result<(), ActError> {
    let dir = home.team(name);
    if !dir.exists() {
        return Ok(());
    }
    if lease::is_held(&dir.lead_lease())? {
        return Err(ActError::conflict(format!("team `{name}` is up already"))
            .hint("`--name NAME` launches under another name")
            .hint(format!("`crewmux attach --team {name}` shows it; `crewmux down --team {name}` ends it")));
    }
    let team = clear::read(&dir)?;
    if let Some(team) = &team {
        roster::check_version(&dir, team)?;
    }
    let living = clear::living(&dir)?;
    if team.as_ref().is_none_or(|team| team.launched) && !living.is_empty() {
        let names: Vec<String> = living.iter().map(ToString::to_string).collect();
        let error = ActError::conflict(format!("team `{name}` has no lead, but members live: {}", names.join(", ")));
        let error = match team {
            Some(_) => error.hint(format!("`crewmux up --resume {name}` gives it a lead again")),
            None => error.cause("its roster cannot be read"),
        };
        return Err(error.hint(format!("`crewmux down --team {name} --force` ends it")));
    }
    let ended = clear::end_all(home, name, team.as_ref(), Duration::from_secs(2))?;
    notes.extend(ended.notes);
    notes.extend(ended.kept.iter().map(Kept::said));
    let buried = clear::bury(home, name)?;
    notes.push(format!("a dead team `{name}` was moved to {}", buried.path().display()));
    Ok(())
}

/// A socket that nobody listens on: a server that was left since it holds a person's panes keeps its own.
fn free_socket(folder: &Path) -> PathBuf {
    let numbered = (2..).map(|n| folder.join(format!("{SOCKET}-{n}")));
    let mut all = std::iter::once(folder.join(SOCKET)).chain(numbered);
    all.find(|path| !clear::is_listened_on(path)).unwrap_or_else(|| folder.join(SOCKET))
}

fn start_lead(home: &Home, name: &Name, cwd: &Path, tmux: &Tmux, old: Option<&Team>) -> Result<(), ActError> {
    let pane = lead_pane(home.root(), name, cwd, process::me())
        .map_err(|e| ActError::failed("cannot find the running binary").cause(e.to_string()))?;
    runtime()?.block_on(async {
        // The same server may still hold the members' panes: the lead goes back to its own.
        let place = old.map(|t| &t.tmux);
        let same_server = match place {
            Some(place) => tmux.server_pid().await.ok().flatten() == Some(place.server_pid),
            None => false,
        };
        if same_server
            && let Some(me) = old.and_then(|t| t.member(&Name::lead()))
            && let (Some(id), Some(pid)) = (me.pane_id.as_ref(), me.pid)
            && tmux.respawn_pane(id, pid, &pane).await.is_ok()
        {
            return Ok(());
        }
        if same_server {
            let session = format!("={}", make::session(name));
            let added = tmux.add_panes(&session, std::slice::from_ref(&pane), 1, None).await;
            return added.map(drop).map_err(|e| of_tmux("give the lead a pane", &e));
        }
        let _ = std::fs::remove_file(tmux.socket());
        tmux.start(&make::session(name), SIZE, &pane).await.map(drop).map_err(|e| of_tmux("start tmux", &e))
    })
}

fn limit(team: &Team) -> Duration {
    let limits = &team.settings.limits;
    let isolated = |m: &Member| m.spec.as_ref().is_some_and(|s| s.isolation == Isolation::Worktree);
    let trees = match team.teammates().chain(&team.reserved).any(isolated) {
        true => limits.worktree.0,
        false => Duration::ZERO,
    };
    limits.hello.0.saturating_add(trees).saturating_add(Duration::from_secs(10))
}

fn wait_launched(dir: &TeamDir, home: &Home, name: &Name, options: UpOptions<'_>) -> Result<Team, ActError> {
    let mut desk = Desk::open(home, name)?;
    let first = desk.team()?.clone();
    let begun = Instant::now();
    let UpOptions { progress, interrupted, .. } = options;
    for member in &first.reserved {
        progress(&member.name, Step::Starting);
    }
    // Whose status still says that they start.
    let mut starting: BTreeSet<Name> = first.reserved.iter().map(|m| m.name.clone()).collect();
    let mut led = false;
    let limit = LEAD_LIMIT.saturating_add(limit(&first));
    let up = wait_for(&folders(dir, &first.reserved), limit, interrupted, || {
        std::thread::sleep(BURST);
        // A lead may take its lease and give the launch up between two looks: the lease still names it.
        led |= lease::text(&dir.lead_lease()).is_some();
        let held = lease::is_held(&dir.lead_lease())?;
        let team = desk.team()?;
        if team.launched {
            // Each hears its welcome, or is done already: from then on they carry verbs out.
            starting.retain(|name| {
                let Some(member) = team.member(name) else { return false };
                let heard = status(dir, member).is_some_and(|state| state != State::Starting);
                if heard {
                    progress(name, Step::Ready);
                }
                !heard && lease::is_held(&dir.member(name).lease()).unwrap_or(true)
            });
            if !held || starting.is_empty() {
                return Ok(Some(team.clone()));
            }
        }
        if led && !held {
            return Err(launch_error(dir, name));
        }
        if !led && begun.elapsed() > LEAD_LIMIT {
            return Err(ActError::failed(format!("the lead of `{name}` did not start"))
                .hint("`crewmux doctor` looks at this machine"));
        }
        Ok(None)
    })?;
    up.ok_or_else(|| ActError::timed_out(format!("team `{name}` did not come up in time")))
}

/// The folders in which a launch shows: the roster's, and each member's with its status.
fn folders<'a>(dir: &TeamDir, members: impl IntoIterator<Item = &'a Member>) -> Vec<PathBuf> {
    let states = members.into_iter().map(|m| dir.member(&m.name).state_dir());
    std::iter::once(dir.path().to_owned()).chain(states).collect()
}

/// [`client::wait`], ended by a signal with exit code 130.
fn wait_for<T>(
    dirs: &[PathBuf],
    limit: Duration,
    interrupted: &AtomicBool,
    mut look: impl FnMut() -> Result<Option<T>, ActError>,
) -> Result<Option<T>, ActError> {
    client::wait(dirs, limit, || {
        if interrupted.load(Ordering::Relaxed) {
            return Err(ActError::new(130, "interrupted"));
        }
        look()
    })
}

/// Why the lead gave the launch up, as it wrote it into the events.
fn launch_error(dir: &TeamDir, name: &Name) -> ActError {
    #[derive(serde::Deserialize)]
    struct Failed {
        #[serde(rename = "type")]
        kind: String,
        reason: Option<String>,
    }
    let mut why = None;
    let mut events = Tail::new(dir.events(), crate::store::Position::default());
    while let Ok(batch) = events.read(1 << 20) {
        for line in &batch.lines {
            match line.parse::<Failed>() {
                Ok(event) if event.kind == "launch_failed" => why = event.reason,
                _ => {}
            }
        }
        if !batch.more {
            break;
        }
    }
    let error = ActError::failed(format!("team `{name}` was not launched"));
    match why {
        Some(why) => error.cause(why),
        None => error.cause("the lead ended before the members were ready"),
    }
}

/// Work trees begin from a commit: what was changed since then is in none of them.
fn not_in_trees(team: &Team) -> Option<String> {
    let tree = team.teammates().find_map(|m| m.worktree.as_ref())?;
    let changed = runtime().ok()?.block_on(left_behind(Path::new(&tree.repo)));
    (changed > 0).then(|| {
        format!("{changed} changed or new files of {} are not committed, so they are not in the work trees", tree.repo)
    })
}

/// Undoes a launch: nothing runs, nothing is left but a dead team's files for whoever wants to look.
fn undo(home: &Home, name: &Name, dir: &TeamDir, tmux: &Tmux, error: ActError) -> ActError {
    let mut kept = Vec::new();
    let undone = (|| {
        super::down::end_lead(dir, Duration::from_secs(2));
        let mut team = clear::read(dir)?;
        // The lead may not have come as far as writing where it is.
        if let (Some(team), Ok(Some(pid))) = (&mut team, runtime()?.block_on(tmux.server_pid())) {
            team.tmux.server_pid = pid;
            team.tmux.server_start = process::stat(pid).map(|s| s.start_time.to_string()).unwrap_or_default();
        }
        kept = clear::end_all(home, name, team.as_ref(), Duration::from_secs(1))?.kept;
        clear::bury(home, name)
    })();
    let error = kept.iter().fold(error, |error, kept| error.hint(kept.said()));
    match undone {
        Ok(buried) => error.hint(format!("what was there lies in {}", buried.path().display())),
        Err(also) => error
            .cause(format!("and it could not be undone: {also}"))
            .hint(format!("`crewmux down --team {name} --force`")),
    }
}
