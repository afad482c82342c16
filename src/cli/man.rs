//! Manual pages.

use std::path::PathBuf;

use super::args::Globals;
use super::error::CommandError;
use super::error::{ErrorKind, ResultExt};
use super::{docs, output};

/// Write the manual pages into a folder, or print the main one
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  crewmux man ~/.local/share/man/man1
  crewmux man | man -l -")]
pub struct Args {
    /// Where to write a page for each verb
    #[arg(value_name = "DIR")]
    pub dir: Option<PathBuf>,
}

pub fn run(args: &Args, _globals: &Globals) -> Result<(), CommandError> {
    let pages = docs::man_pages()?;
    let Some(dir) = &args.dir else {
        return pages.first().map_or(Ok(()), |(_, page)| output::text(page));
    };
    std::fs::create_dir_all(dir).or_fail(ErrorKind::Failed, || format!("cannot make the folder {}", dir.display()))?;
    for (name, page) in &pages {
        let path = dir.join(name);
        std::fs::write(&path, page).or_fail(ErrorKind::Failed, || format!("cannot write {}", path.display()))?;
    }
    output::note(format!("{} pages in {}", pages.len(), dir.display()));
    Ok(())
}
