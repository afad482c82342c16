//! Verbs that stay: they look again when something in the team's folders changed, until there is what they wait for.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::error::{CommandError, ErrorKind};
use super::output;
use crate::act::Desk;
use crate::store::Watch;

/// A lease that falls free changes no file, so one looks by oneself this often too.
const TICK: Duration = Duration::from_millis(250);

/// What of a team is watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// The team's own files and every member's mail and state.
    Everything,
    /// These folders.
    Folders(Vec<PathBuf>),
}

/// Asks `look` again and again until it has an answer; `None` when `limit` is over.
///
/// # Errors
/// What `look` fails with; a quiet end when the reader of stdout has gone.
pub fn until<T>(
    desk: &mut Desk,
    what: &What,
    limit: Option<Duration>,
    mut look: impl FnMut(&mut Desk) -> Result<Option<T>, CommandError>,
) -> Result<Option<T>, CommandError> {
    let start = Instant::now();
    // Watched before the first look, so that nothing falls in between.
    let mut watch = Watch::start(std::iter::empty::<PathBuf>());
    let mut watched = BTreeSet::new();
    loop {
        for dir in folders(desk, what) {
            if watched.insert(dir.clone()) {
                watch.add(&dir);
            }
        }
        if let Some(found) = look(desk)? {
            return Ok(Some(found));
        }
        let left = limit.map_or(TICK, |limit| limit.saturating_sub(start.elapsed()));
        if left.is_zero() {
            return Ok(None);
        }
        watch.wait_blocking(left.min(TICK));
        if output::reader_gone() {
            return Err(CommandError::new(ErrorKind::Closed, "stdout is closed"));
        }
    }
}

fn folders(desk: &mut Desk, what: &What) -> Vec<PathBuf> {
    match what {
        What::Folders(folders) => folders.clone(),
        What::Everything => {
            let dir = desk.dir.clone();
            let mut out = vec![dir.path().to_owned()];
            // A team that cannot be read is what the look itself says.
            if let Ok(team) = desk.team() {
                for member in team.members.iter().chain(&team.reserved) {
                    let member = dir.member(&member.name);
                    out.extend([member.mail_dir(), member.state_dir()]);
                }
            }
            out
        }
    }
}

/// The end of a verb that stays because its team has been taken down.
pub fn team_has_gone(desk: &Desk) {
    output::note(format!("note: team `{}` has ended", desk.name));
}
