//! `down`: the shutdown handshakes, then the lead, the panes and the files.

use std::path::PathBuf;
use std::time::Duration;

use super::archive::Archive;
use super::{Hold, clear};
use crate::act::{ActError, Client, Verb};
use crate::model::name::Name;
use crate::os::pidfd::Pidfd;
use crate::store::{Home, TeamDir, lease, roster};
use crate::worktree::Kept;

/// How to take a team down.
#[derive(Clone, Debug, Default)]
pub struct DownOptions {
    /// How long members may take to agree and go.
    pub grace: Option<Duration>,
    /// End them without asking.
    pub force: bool,
    /// Leave the files where they are.
    pub keep_files: bool,
    /// Copy the files there.
    pub archive: Option<PathBuf>,
    pub reason: Option<String>,
}

/// What a `down` left.
#[derive(Clone, Debug)]
pub struct Downed {
    /// Where the team's files are now.
    pub files: PathBuf,
    pub forced: Vec<String>,
    /// Work trees that stay, since something was changed in them.
    pub worktrees: Vec<Kept>,
    pub notes: Vec<String>,
}

/// Takes a team down. `hold` is the lock, where the caller has it already.
///
/// # Errors
/// A member that refuses (1): it and its team go on. Members alive without a lead to ask them (6).
/// Processes that cannot be ended, an archive that cannot be written (1): what is left is done by the next `down`.
/// Where the archive would lie there is something already (7).
pub fn down(home: &Home, name: &Name, options: &DownOptions, hold: Option<&Hold>) -> Result<Downed, ActError> {
    let mut client = Client::open(home, name, None)?;
    if !client.is_operator() {
        return Err(ActError::forbidden("a member cannot end its team; the operator can"));
    }
    let _own = match hold {
        Some(_) => None,
        None => Some(Hold::take(home, name, "crewmux down")?),
    };
    let dir = client.desk.dir.clone();
    if let Some(team) = clear::read(&dir)? {
        roster::check_version(&dir, &team)?;
    }
    let archive = options.archive.as_ref().map(|folder| Archive::plan(home, folder, name)).transpose()?;
    let asked = match client.desk.lead_alive()? {
        true => ask_everyone(&mut client, options)?,
        false => None,
    };
    if asked.is_some() {
        end_lead(&dir, Duration::from_secs(if options.force { 1 } else { 5 }));
    } else if !options.force {
        let living = clear::living(&dir)?;
        if !living.is_empty() {
            let names: Vec<String> = living.iter().map(ToString::to_string).collect();
            let error = ActError::new(
                6,
                format!("no lead is running in team `{name}`, and members live: {}", names.join(", ")),
            );
            let error = match clear::read(&dir)? {
                Some(_) => error.hint(format!("`crewmux up --resume {name}` starts a lead, which can ask them to end")),
                None => error.cause("its roster cannot be read, so no lead can be started"),
            };
            return Err(error.hint("`--force` ends them without asking"));
        }
    }
    let forced = asked.unwrap_or_default();
    let clear::Ended { mut notes, kept: worktrees } =
        clear::end_all(home, name, clear::read(&dir)?.as_ref(), Duration::from_secs(2))?;
    notes.extend(worktrees.iter().map(Kept::said));
    clear::close_files(&dir)?;
    if let Some(archive) = &archive {
        notes.push(format!("archived in {}", archive.write(&dir)?.display()));
    }
    let files = match options.keep_files {
        true => dir.path().to_owned(),
        false => clear::bury(home, name)?.path().to_owned(),
    };
    Ok(Downed { files, forced, worktrees, notes })
}

/// Who had to be forced; `None` where the lead went away while it was asked, so that nobody leads now.
fn ask_everyone(client: &mut Client, options: &DownOptions) -> Result<Option<Vec<String>>, ActError> {
    let grace = options.grace.unwrap_or(crate::decide::lead::SHUTDOWN_GRACE);
    let verb = Verb::Shutdown {
        name: None,
        reason: Some(options.reason.clone().unwrap_or_else(|| "the team is being taken down".to_owned())),
        grace_ms: u64::try_from(grace.as_millis()).ok(),
        force: options.force,
    };
    // A lead that is stuck is no reason to wait long for what is done without it all the same.
    let patience = match options.force {
        true => grace.min(Duration::from_secs(5)) + Duration::from_secs(2),
        false => grace + Duration::from_secs(20),
    };
    match client.perform_within(verb, patience) {
        Ok(answer) => {
            let names = answer.value["forced"].as_array().cloned().unwrap_or_default();
            Ok(Some(names.iter().filter_map(|n| n.as_str().map(str::to_owned)).collect()))
        }
        // Forced ends do not depend on a lead that answers.
        Err(error) if options.force && matches!(error.code, 5 | 6) => Ok(Some(Vec::new())),
        Err(error) if error.code == 6 => Ok(None),
        Err(error) if error.code == 1 => Err(error.hint("the team is still up; `--force` ends it without asking")),
        Err(error) => Err(error),
    }
}

/// Ends the lead process that the lease names: TERM, then KILL after `grace`.
pub(super) fn end_lead(dir: &TeamDir, grace: Duration) {
    let path = dir.lead_lease();
    let Some(lead) = lease::text(&path).and_then(|text| text.process()) else { return };
    if !lease::is_held(&path).unwrap_or(false) {
        return;
    }
    let Ok(pidfd) = Pidfd::open(lead) else { return };
    let _ = pidfd.signal(rustix::process::Signal::TERM);
    let _ = pidfd.signal(rustix::process::Signal::CONT);
    if !pidfd.wait_blocking(grace) {
        let _ = pidfd.signal(rustix::process::Signal::KILL);
        let _ = pidfd.wait_blocking(Duration::from_secs(2));
    }
    // The lease goes with the process; a look a moment early must not see it held.
    let _ = lease::is_held_by_living(&path);
}

/// Takes a team down from a process of its own, outside the team's tmux: for a lead that ends its team and
/// with it the terminal it runs on.
///
/// # Errors
/// When that process cannot be started.
pub fn start_take_down(home: &Home, team: &Name) -> Result<(), ActError> {
    use std::os::unix::process::CommandExt;
    let failed = |e: std::io::Error| ActError::failed("cannot start the take-down").cause(e.to_string());
    let mut command = std::process::Command::new(std::env::current_exe().map_err(failed)?);
    command
        .args(["down", "--force", "--team", team.as_str()])
        .env("CREWMUX_HOME", home.root())
        .env_remove("TMUX")
        .env_remove("TMUX_PANE")
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .process_group(0);
    command.spawn().map(drop).map_err(failed)
}
