//! `--fix`: what can be put right without anybody losing anything.

use crate::act::Descent;
use crate::cli::error::CommandError;
use crate::model::name::Name;
use crate::store::{Home, mend, roster};
use crate::view::answers::{Finding, Severity};

pub(super) fn team(home: &Home, name: &Name) -> Result<Vec<Finding>, CommandError> {
    if Descent::find().is_some() {
        return Err(CommandError::forbidden("a member cannot mend its team's files; the operator can"));
    }
    let dir = home.team(name);
    // A roster that cannot be read is found by the look that follows; a newer team's files are not ours to write.
    if let Ok(team) = roster::read_team(&dir)
        && let Err(error) = roster::check_version(&dir, &team)
    {
        return Ok(vec![
            Finding::new(Severity::Warning, format!("team {name}"), error.to_string())
                .hint("nothing of it was mended; use the crewmux that made it"),
        ]);
    }
    let mut found = Vec::new();
    for mend in [mend::torn_lines, mend::leavings, mend::modes] {
        for mended in mend(&dir)? {
            let shown = mended.path.strip_prefix(dir.path()).unwrap_or(&mended.path).display().to_string();
            found.push(Finding::mended(format!("{name}: {shown}"), mended.what));
        }
    }
    Ok(found)
}
