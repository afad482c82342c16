//! A work tree for a member, against `git worktree add` alone.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crewmux::model::name::Name;
use crewmux::worktree::{Ask, make};

use crate::place::Place;
use crate::stats::{Spread, median, ns, time, times};
use crate::table::{Line, Verdict};
use crate::{Fallible, ROUNDS};

/// Files of the repository, in folders of a hundred.
const FILES: usize = 2_000;
const FILE_BYTES: usize = 4 * 1024;
const MOST: f64 = 1.3;

pub fn row() -> Fallible<Vec<Line>> {
    let place = Place::new()?;
    let repo = place.path().join("repo");
    repository(&repo)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (mut bare, mut ours) = (Vec::new(), Vec::new());
    // The first of each finds nothing in the caches.
    for round in 0..=ROUNDS {
        let tree = place.path().join(format!("bare-{round}"));
        let begun = Instant::now();
        git(&repo, &["worktree", "add", "-q", "-b", &format!("bare-{round}"), &tree.to_string_lossy()])?;
        let floor = begun.elapsed();
        let made = made(&place, &repo, round, &runtime)?;
        if round > 0 {
            bare.push(ns(floor));
            ours.push(ns(made));
        }
    }
    let (floor, spread) = (median(&bare), Spread::of(&ours));
    let ratio = spread.median / floor;
    Ok(vec![Line {
        what: format!("a work tree for a member, {FILES} files"),
        floor: format!("`git worktree add`: {}", time(floor)),
        measured: spread.show(time),
        ratio: times(ratio),
        must: "≤ 1.30×".to_owned(),
        verdict: Verdict::of(ratio <= MOST),
    }])
}

/// What the lead does before it starts the member.
fn made(place: &Place, repo: &Path, round: usize, runtime: &tokio::runtime::Runtime) -> Fallible<Duration> {
    let (home, team, member) = (place.home(), Name::parse("bench")?, Name::parse(&format!("m{round}"))?);
    let ask = Ask { home: &home, team: &team, id8: "00000000", member: &member, agent: None, from: repo, life: None };
    let begun = Instant::now();
    runtime.block_on(async { make(&ask).await?.ready(&home) })?;
    Ok(begun.elapsed())
}

fn repository(repo: &Path) -> Fallible<()> {
    std::fs::create_dir(repo)?;
    for n in 0..FILES {
        let folder = repo.join(format!("folder-{}", n / 100));
        std::fs::create_dir_all(&folder)?;
        std::fs::write(folder.join(format!("file-{n}")), format!("{n}\n").repeat(FILE_BYTES / 5))?;
    }
    git(repo, &["init", "-q"])?;
    git(repo, &["add", "-A"])?;
    git(repo, &["-c", "user.name=bench", "-c", "user.email=bench@localhost", "commit", "-q", "-m", "all of it"])
}

fn git(repo: &Path, args: &[&str]) -> Fallible<()> {
    let mut command = Command::new("git");
    command.args(args).current_dir(repo).stdin(Stdio::null()).stdout(Stdio::null());
    for inherited in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
        command.env_remove(inherited);
    }
    let status = command.status()?;
    if status.success() { Ok(()) } else { Err(format!("git {} ended with {status}", args.join(" ")).into()) }
}
