//! Runs a team from launch to end.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::args::Globals;
use super::error::CommandError;
use super::up::Launch;
use super::{interrupt, output, up};
use crate::act::outlook::{TeamOutlook, outlook};
use crate::act::{ActError, Desk};
use crate::launch::{self, DownOptions, Hold, down};
use crate::model::name::Name;
use crate::model::time::Span;
use crate::store::{Home, Watch};
use crate::view::answers::{FailedTask, RunView};
use crate::view::count;
use crate::view::status::TaskCounts;

/// How often a dead lead is brought back.
const LEAD_RETURNS: u32 = 3;
/// How often the loop looks by itself: at signals, and at a lead that went away.
const LOOK: Duration = Duration::from_millis(250);
/// The grace of the handshakes after a second Ctrl-C has not come.
const INTERRUPT_GRACE: Duration = Duration::from_secs(10);

/// Run a team: launch it, wait until every task has ended, take it down
///
/// Exits 0 only if all tasks completed. Ctrl-C runs the shutdown handshakes and takes the team down; a second one
/// ends it at once.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  crewmux run audit --cwd ~/src/project
  crewmux run checks --timeout 10m --json")]
pub struct Args {
    /// The team spec: a path or a name
    #[arg(value_name = "SPEC")]
    pub spec: String,
    #[command(flatten)]
    pub launch: Launch,
    /// Give up after this long (exit 5)
    #[arg(long, value_name = "DURATION")]
    pub timeout: Option<Span>,
    /// Leave the team running when its tasks have ended
    #[arg(long)]
    pub keep: bool,
}

pub fn run(args: &Args, globals: &Globals) -> Result<(), CommandError> {
    let begun = Instant::now();
    let home = Home::from_env()?;
    interrupt::listen()?;
    let spec = args.launch.load(&args.spec)?;
    let up = up::launch(&home, &spec, !args.keep)?;
    for note in &up.notes {
        output::note(note);
    }
    let name = up.team.name.clone();
    let members = count(spec.members.len(), "member");
    output::note(format!("team {name} is up: {members}; `crewmux attach --team {name}` shows it"));

    let mut hold = up.hold;
    let deadline = args.timeout.map(|t| begun + t.0);
    let end = follow(&home, &name, &mut hold, deadline);
    let report = spec.report.clone();
    match end {
        End::Done(outlook) => {
            let files = match args.keep {
                true => home.team(&name).path().to_owned(),
                false => take_down(&home, &name, &hold, None)?,
            };
            finish(name, &outlook, begun.elapsed(), report, &files, globals)
        }
        End::TimedOut(outlook) => {
            if !args.keep {
                take_down(&home, &name, &hold, None)?;
            }
            let counts = outlook.counts;
            let (ended, total) = (counts.completed + counts.failed, counts.total());
            Err(CommandError::timed_out(format!(
                "team {name} was not done in time: {ended} of {total} tasks had ended"
            )))
        }
        End::Interrupted => {
            output::note("interrupted: asking the members to end (once more ends them at once)");
            take_down(&home, &name, &hold, Some(INTERRUPT_GRACE))?;
            Err(CommandError::interrupted(format!("team {name} was interrupted and is down")))
        }
        End::Failed(error) => {
            if error.code != 3 && !args.keep {
                let options = DownOptions { force: true, ..DownOptions::default() };
                if let Err(also) = down(&home, &name, &options, Some(&hold)) {
                    output::note(format!("the team could not be taken down: {also}"));
                }
            }
            Err(error.into())
        }
    }
}

enum End {
    Done(TeamOutlook),
    TimedOut(TeamOutlook),
    Interrupted,
    Failed(ActError),
}

/// Follows the team until nothing is left to do. A lead that dies is brought back, so many times.
fn follow(home: &Home, name: &Name, hold: &mut Hold, deadline: Option<Instant>) -> End {
    let mut desk = match Desk::open(home, name) {
        Ok(desk) => desk,
        Err(error) => return End::Failed(error),
    };
    let mut watch = Watch::start([desk.dir.path()]);
    let mut returns = 0;
    let mut told = Told::default();
    loop {
        if interrupt::count() > 0 {
            return End::Interrupted;
        }
        let now = match outlook(&mut desk) {
            Ok(now) => now,
            Err(error) => return End::Failed(error),
        };
        told.progress(&now);
        if now.done {
            return End::Done(now);
        }
        if deadline.is_some_and(|at| at <= Instant::now()) {
            return End::TimedOut(now);
        }
        match desk.lead_alive() {
            Ok(true) => {}
            Ok(false) if returns < LEAD_RETURNS => {
                returns += 1;
                output::note(format!("the lead is gone; bringing it back ({returns} of {LEAD_RETURNS})"));
                if let Err(error) = launch::resume_held(home, name, interrupt::flag(), hold) {
                    output::note(format!("that failed: {error}"));
                }
            }
            Ok(false) => {
                let error = ActError::new(6, format!("the lead of {name} died {} times", LEAD_RETURNS + 1));
                return End::Failed(error.hint("`crewmux events` says what happened before"));
            }
            Err(error) => return End::Failed(error),
        }
        watch.wait_blocking(LOOK);
    }
}

/// What was said on a terminal while it ran.
#[derive(Default)]
struct Told(Option<(usize, usize, usize)>);

impl Told {
    fn progress(&mut self, now: &TeamOutlook) {
        use std::io::IsTerminal;
        let counts = now.counts;
        let seen = (counts.completed, counts.failed, counts.in_progress);
        if counts.total() > 0 && self.0 != Some(seen) && std::io::stderr().is_terminal() {
            output::note(format!(
                "  {} of {} tasks done, {} running{}",
                counts.completed,
                counts.total(),
                counts.in_progress,
                if counts.failed > 0 { format!(", {} failed", counts.failed) } else { String::new() }
            ));
        }
        self.0 = Some(seen);
    }
}

/// The handshakes, then `down`; where the team's files lie then. Who refuses, or a second signal, is ended without being asked.
fn take_down(home: &Home, name: &Name, hold: &Hold, grace: Option<Duration>) -> Result<PathBuf, CommandError> {
    let before = interrupt::count();
    let options = DownOptions { grace, reason: Some("the run is over".to_owned()), ..DownOptions::default() };
    let downed = std::thread::scope(|scope| {
        let asked = scope.spawn(|| down(home, name, &options, Some(hold)));
        while !asked.is_finished() {
            if interrupt::count() > before.max(1) || (before == 0 && interrupt::count() > 0) {
                let force = DownOptions { force: true, ..DownOptions::default() };
                // The first attempt ends with the team it works on.
                return down(home, name, &force, Some(hold));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        asked.join().unwrap_or_else(|_| Err(ActError::failed("the end of the team was cut off")))
    });
    let downed = match downed {
        Err(error) if error.code == 1 => {
            output::note(format!("{error}; ending the team all the same"));
            down(home, name, &DownOptions { force: true, ..DownOptions::default() }, Some(hold))
        }
        other => other,
    }?;
    for note in downed.notes {
        output::note(note);
    }
    Ok(downed.files)
}

fn finish(
    team: Name,
    outlook: &TeamOutlook,
    took: Duration,
    report: Option<String>,
    files: &Path,
    globals: &Globals,
) -> Result<(), CommandError> {
    let counts = outlook.counts;
    let failed = |list: &[(crate::model::id::TaskId, String, String)]| -> Vec<FailedTask> {
        list.iter()
            .map(|(id, subject, error)| FailedTask { id: *id, subject: subject.clone(), error: error.clone() })
            .collect()
    };
    let mut all = failed(&outlook.failed);
    all.extend(failed(&outlook.stuck));
    let view = RunView {
        team: team.clone(),
        ok: outlook.all_completed,
        tasks: TaskCounts {
            pending: counts.pending,
            in_progress: counts.in_progress,
            completed: counts.completed,
            failed: counts.failed,
        },
        failed: all,
        duration_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        report: report.filter(|path| std::path::Path::new(path).exists()),
    };
    if globals.json {
        output::json(&view)?;
    } else {
        output::text(&view.text(&output::style()))?;
    }
    if outlook.all_completed {
        return Ok(());
    }
    let mut error = CommandError::failed(format!("not everything in team {team} was completed"));
    for (member, how) in &outlook.failed_members {
        error = error.because(format!("`{member}` {how}"));
    }
    Err(error.hint(format!("the team's files lie in {}", files.display())))
}
