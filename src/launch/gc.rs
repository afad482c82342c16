//! What is left over of teams: found first, and ended only when it is provably theirs.
//!
//! A process is a team's when its life, its pid, its start time and the boot are those that the team's own files name, or
//! when it carries such a life in its environment. A tmux server is a team's by the same four. What another command is at
//! work on is left alone, and so is a team of a newer version.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::{Hold, clear, down, runtime};
use crate::act::ActError;
use crate::model::name::Name;
use crate::model::team::Team;
use crate::os::life::members_of;
use crate::os::process;
use crate::store::{Home, TeamDir, lease, roster};
use crate::worktree::{self, Record, Settled, Stage};

/// Younger than this, a socket may be one that is just being made.
const JUST_MADE: Duration = Duration::from_secs(60);
/// Between TERM and KILL.
const GRACE: Duration = Duration::from_secs(2);

/// What kind of thing is left over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A team in its place of which nobody lives.
    DeadTeam,
    /// A team that has a living lead or member, or that is not ours to judge: it stays.
    Team,
    /// A folder of a team that was being made.
    Staging,
    /// Processes of a team that was taken down.
    Processes,
    /// A tmux server of a team that was taken down.
    Server,
    /// A git work tree whose team is not there any more.
    Worktree,
    /// A socket that nobody listens on.
    Socket,
}

/// One thing that is left over.
#[derive(Clone, Debug)]
pub struct Leftover {
    pub kind: Kind,
    /// Whose it was, where that is known.
    pub team: Option<Name>,
    pub path: PathBuf,
    pub pids: Vec<u32>,
    pub detail: String,
    /// Why it stays, where it does.
    pub stays: Option<String>,
    /// Whether it is gone now.
    pub removed: bool,
    /// Whether it was to be removed, and could not be.
    pub failed: bool,
}

impl Leftover {
    fn new(kind: Kind, team: Option<&Name>, path: &Path, detail: impl Into<String>) -> Self {
        Self {
            kind,
            team: team.cloned(),
            path: path.to_owned(),
            pids: Vec::new(),
            detail: detail.into(),
            stays: None,
            removed: false,
            failed: false,
        }
    }
}

/// Looks at everything below this home, and at this user's sockets. Changes nothing.
///
/// # Errors
/// When the home cannot be read.
pub fn find_leftovers(home: &Home) -> Result<Vec<Leftover>, ActError> {
    let mut found = Vec::new();
    for name in home.teams()? {
        found.extend(team_in_its_place(home, &name)?);
    }
    for (path, name) in home.staging()? {
        let mut item = Leftover::new(Kind::Staging, Some(&name), &path, "a launch that was cut off");
        item.stays = at_work(home, &name)?;
        found.push(item);
    }
    for dead in home.dead()? {
        found.extend(of_dead(&dead.name, &dead.dir)?);
    }
    found.extend(trees(home)?);
    for base in Home::socket_bases() {
        found.extend(sockets(&base));
    }
    Ok(found)
}

/// Removes what [`find_leftovers`] finds, each looked at again under its team's lock.
///
/// # Errors
/// When the home cannot be read. What cannot be removed is said of itself.
pub fn remove_leftovers(home: &Home) -> Result<Vec<Leftover>, ActError> {
    let mut found = find_leftovers(home)?;
    for item in found.iter_mut().filter(|item| item.stays.is_none()) {
        match remove(home, item) {
            Ok(()) => item.removed = true,
            Err(error) => {
                let causes = error.causes.iter().map(|cause| format!(": {cause}"));
                item.stays = Some(causes.fold(error.message.clone(), |said, cause| said + &cause));
                item.failed = true;
            }
        }
    }
    Ok(found)
}

/// Why a team's things are not to be touched now: another command is at work on it.
fn at_work(home: &Home, name: &Name) -> Result<Option<String>, ActError> {
    let lock = home.team_lock(name)?;
    let holder = lease::text(&lock).map(|text| format!("`{}` (process {})", text.command, text.pid));
    let held = lease::is_held(&lock)?;
    Ok(held.then(|| format!("{} is at work on it", holder.unwrap_or_else(|| "another command".to_owned()))))
}

fn team_in_its_place(home: &Home, name: &Name) -> Result<Option<Leftover>, ActError> {
    let dir = home.team(name);
    if lease::is_held_by_living(&dir.lead_lease())? {
        return Ok(None);
    }
    let stays = |detail: String, why: String| {
        let mut item = Leftover::new(Kind::Team, Some(name), dir.path(), detail);
        item.stays = Some(why);
        item
    };
    let team = match clear::read(&dir) {
        Ok(Some(team)) => roster::check_version(&dir, &team).map(|()| Some(team)).map_err(ActError::from),
        other => other,
    };
    let team = match team {
        Ok(team) => team,
        Err(error) => return Ok(Some(stays("it cannot be judged".to_owned(), error.to_string()))),
    };
    let living = clear::living(&dir)?;
    let (without, mend) = match &team {
        Some(_) => ("", format!("`crewmux up --resume {name}` or ")),
        None => (", nor a roster that can be read", String::new()),
    };
    let mut item = match (living.is_empty(), &team) {
        (false, _) => {
            let names: Vec<&str> = living.iter().map(Name::as_str).collect();
            let detail = format!("it has no lead{without}, and members live: {}", names.join(", "));
            stays(detail, format!("{mend}`crewmux down --force --team {name}`"))
        }
        (true, team) => {
            let detail = match team {
                Some(team) if team.launched => {
                    format!("nobody lives; `crewmux up --resume {name}` would start it again")
                }
                Some(_) => "nobody lives; it never came up".to_owned(),
                None => "nobody lives; its roster cannot be read".to_owned(),
            };
            Leftover::new(Kind::DeadTeam, Some(name), dir.path(), detail)
        }
    };
    item.pids = left_of(&dir, team.as_ref())?;
    if item.stays.is_none() {
        item.stays = at_work(home, name)?;
    }
    Ok(Some(item))
}

/// The processes that a team's own files name and that still run.
fn left_of(dir: &TeamDir, team: Option<&Team>) -> Result<Vec<u32>, ActError> {
    let marks = clear::marks(dir, team)?;
    let mut pids: Vec<u32> = marks.iter().flat_map(|(_, mark)| members_of(mark, &[])).map(|id| id.pid).collect();
    if let Some(lead) = lease::text(&dir.lead_lease()).and_then(|text| text.process())
        && process::is_alive(lead)
    {
        pids.push(lead.pid);
    }
    pids.sort_unstable();
    pids.dedup();
    Ok(pids)
}

fn of_dead(name: &Name, dir: &TeamDir) -> Result<Vec<Leftover>, ActError> {
    let team = match clear::read(dir) {
        Ok(team) => team,
        // A newer crewmux's, or a folder that is not ours to read: there is nothing to say of what still runs.
        Err(_) => return Ok(Vec::new()),
    };
    let mut found = Vec::new();
    let pids = left_of(dir, team.as_ref())?;
    if !pids.is_empty() {
        let mut item = Leftover::new(Kind::Processes, Some(name), dir.path(), "they outlived their team");
        item.pids = pids;
        found.push(item);
    }
    let Some(team) = team else { return Ok(found) };
    if clear::server_lives(&team) {
        let socket = PathBuf::from(&team.tmux.socket);
        let mut item = Leftover::new(Kind::Server, Some(name), &socket, "a tmux server without its team");
        item.pids = vec![team.tmux.server_pid];
        found.push(item);
    }
    for item in &mut found {
        item.stays = roster::check_version(dir, &team).err().map(|error| error.to_string());
    }
    Ok(found)
}

/// Work trees whose team was taken down. Those of a team in its place go with that team.
fn trees(home: &Home) -> Result<Vec<Leftover>, ActError> {
    let (records, unreadable) = Record::all(home)?;
    let mut found = Vec::new();
    for record in records.iter().filter(|record| !worktree::lives(home, record)) {
        let detail = format!("{}, branch {}", record.name(), record.tree.branch);
        let mut item = Leftover::new(Kind::Worktree, Some(&record.team), Path::new(&record.tree.path), detail);
        item.stays = match why_tree_stays(home, record)? {
            None => at_work(home, &record.team)?,
            stays => stays,
        };
        found.push(item);
    }
    for path in unreadable {
        let mut item = Leftover::new(Kind::Worktree, None, &path, "what was written down of a work tree");
        item.stays = Some("it cannot be read, or a newer crewmux wrote it".to_owned());
        found.push(item);
    }
    Ok(found)
}

/// Somebody may still work in it, or something in it would be lost.
fn why_tree_stays(home: &Home, record: &Record) -> Result<Option<String>, ActError> {
    if let Some(pids) = still_running(home, record)? {
        return Ok(Some(pids));
    }
    if record.stage != Stage::Ready {
        return Ok(None);
    }
    let why = runtime()?.block_on(worktree::why_kept(record))?.1;
    let help = format!("`crewmux worktree diff {0}`, `merge`, `rm`", record.tree.path);
    Ok(why.map(|why| format!("{why}; {help}")))
}

/// The processes of the team that the tree was made for, where some outlived it.
fn still_running(home: &Home, record: &Record) -> Result<Option<String>, ActError> {
    for dead in home.dead()?.into_iter().filter(|dead| dead.name == record.team) {
        // One whose roster cannot be read may be the one.
        let team = clear::read(&dead.dir).ok().flatten();
        if team.as_ref().is_some_and(|team| team.id8() != record.id8) {
            continue;
        }
        let pids: Vec<String> = left_of(&dead.dir, team.as_ref())?.iter().map(u32::to_string).collect();
        if !pids.is_empty() {
            return Ok(Some(format!("processes of its team still run: {}", pids.join(", "))));
        }
    }
    Ok(None)
}

/// Removes a tree in which nothing was changed.
fn settle_tree(home: &Home, path: &Path) -> Result<(), ActError> {
    let (records, _) = Record::all(home)?;
    let Some(record) = records.into_iter().find(|record| Path::new(&record.tree.path) == path) else { return Ok(()) };
    if worktree::lives(home, &record) {
        return Err(ActError::conflict("its team lives by now"));
    }
    if let Some(pids) = still_running(home, &record)? {
        return Err(ActError::conflict(pids));
    }
    match runtime()?.block_on(worktree::settle(home, &record))? {
        Settled::Removed => {
            worktree::tidy(home, &record);
            Ok(())
        }
        Settled::Kept(why) => Err(ActError::conflict(why)),
    }
}

/// Sockets that nobody listens on, in the folders of this user's teams.
fn sockets(base: &Path) -> Vec<Leftover> {
    let entries = |dir: &Path| fs::read_dir(dir).into_iter().flatten().flatten().map(|e| e.path()).collect::<Vec<_>>();
    let own = rustix::process::getuid().as_raw();
    let dead = |path: &PathBuf| {
        fs::symlink_metadata(path).is_ok_and(|meta| {
            let age = meta.modified().ok().and_then(|at| SystemTime::now().duration_since(at).ok());
            meta.file_type().is_socket() && meta.uid() == own && age.is_some_and(|age| age > JUST_MADE)
        }) && !clear::is_listened_on(path)
    };
    let found = entries(base).into_iter().filter(|folder| folder.is_dir()).flat_map(|folder| entries(&folder));
    found.filter(dead).map(|path| Leftover::new(Kind::Socket, None, &path, "nobody listens on it")).collect()
}

fn remove(home: &Home, item: &Leftover) -> Result<(), ActError> {
    let _hold = item.team.as_ref().map(|name| Hold::take(home, name, "crewmux gc")).transpose()?;
    match (item.kind, &item.team) {
        (Kind::DeadTeam, Some(name)) => bury(home, name),
        (Kind::Staging, _) => remove_folder(&item.path),
        (Kind::Processes, Some(_)) => {
            let dir = TeamDir::at(item.path.clone());
            down::end_lead(&dir, GRACE);
            clear::end_lives(&dir, clear::read(&dir)?.as_ref(), GRACE)
        }
        (Kind::Server, Some(name)) => end_server(home, name, &item.path),
        (Kind::Worktree, Some(_)) => settle_tree(home, &item.path),
        (Kind::Socket, _) => remove_socket(&item.path),
        _ => Ok(()),
    }
}

/// A team that was dead a moment ago, if it still is.
fn bury(home: &Home, name: &Name) -> Result<(), ActError> {
    let dir = home.team(name);
    let lives = |what: &str| Err(ActError::conflict(format!("{what} lives by now")));
    if lease::is_held_by_living(&dir.lead_lease())? {
        return lives("its lead");
    }
    if !clear::living(&dir)?.is_empty() {
        return lives("a member");
    }
    clear::end_all(home, name, clear::read(&dir)?.as_ref(), GRACE)?;
    clear::close_files(&dir)?;
    clear::bury(home, name).map(drop)
}

fn end_server(home: &Home, name: &Name, socket: &Path) -> Result<(), ActError> {
    for dead in home.dead()?.into_iter().filter(|dead| dead.name == *name) {
        if let Some(team) = clear::read(&dead.dir)?.filter(|team| Path::new(&team.tmux.socket) == socket)
            && clear::server_lives(&team)
            && let Some(left) = clear::close_tmux(&team)?
        {
            return Err(ActError::conflict(left));
        }
    }
    Ok(())
}

fn remove_folder(path: &Path) -> Result<(), ActError> {
    fs::remove_dir_all(path).map_err(|e| crate::store::StoreError::io("remove", path, e).into())
}

fn remove_socket(path: &Path) -> Result<(), ActError> {
    if clear::is_listened_on(path) {
        return Err(ActError::conflict("somebody listens on it by now"));
    }
    fs::remove_file(path).map_err(|e| ActError::from(crate::store::StoreError::io("remove", path, e)))?;
    // The folder goes with its last socket.
    if let Some(folder) = path.parent() {
        let _ = fs::remove_dir(folder);
    }
    Ok(())
}
