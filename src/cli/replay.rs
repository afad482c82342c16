//! Tells a team's story from its folder.

use std::path::{Path, PathBuf};

use super::args::Globals;
use super::error::CommandError;
use super::output;
use crate::store::TeamDir;
use crate::view::replay::Story;

/// Tell a team's story in order of time, from an archive or any team's folder
///
/// DIR is what `down --archive DIR` wrote, or a team's own folder, living or under dead/. Events and mail come as they
/// followed each other; what programs printed lies in members/NAME/output.log, plans in plans/.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  crewmux replay ~/audits
  crewmux replay ~/audits/audit --control --json")]
pub struct Args {
    /// The folder of a team, or one that holds a single team's
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// Also what lead and teammates said to each other
    #[arg(long)]
    pub control: bool,
}

pub fn run(args: &Args, globals: &Globals) -> Result<(), CommandError> {
    let dir = TeamDir::at(team_folder(&args.dir)?);
    let mut story = Story::open(&dir, args.control)?;
    let color = output::color_on_stdout();
    while let Some(told) = story.tell()? {
        if globals.json {
            output::json_line(&told.json())?;
        } else {
            output::text(&told.line(color))?;
        }
    }
    Ok(())
}

/// The folder itself, or the one team's folder in it.
fn team_folder(dir: &Path) -> Result<PathBuf, CommandError> {
    let is_team = |dir: &Path| dir.join("team.json").is_file();
    if is_team(dir) {
        return Ok(dir.to_owned());
    }
    let entries = std::fs::read_dir(dir)
        .map_err(|e| CommandError::not_found(format!("cannot read {}", dir.display())).cause(&e))?;
    let mut teams: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(|path| is_team(path)).collect();
    teams.sort();
    match teams.as_slice() {
        [one] => Ok(one.clone()),
        [] => Err(CommandError::not_found(format!("no team lies in {}", dir.display()))
            .hint("`crewmux down --archive DIR` writes one there")),
        several => {
            let names: Vec<String> = several.iter().map(|path| path.display().to_string()).collect();
            Err(CommandError::not_found(format!("{} teams lie in {}", several.len(), dir.display()))
                .hint(format!("name one of {}", names.join(", "))))
        }
    }
}
