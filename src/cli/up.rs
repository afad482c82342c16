//! Launches a team.

use std::path::PathBuf;

use super::args::Globals;
use super::error::{CommandError, ErrorKind};
use super::interrupt;
use super::output;
use super::progress::Progress;
use super::values::key_value;
use crate::act::ActError;
use crate::launch::{self, Step, Up, UpOptions};
use crate::model::name::Name;
use crate::model::spec::TeamSpec;
use crate::spec::{self, LoadOptions};
use crate::store::Home;
use crate::view::count;

/// Launch a team: session, lead, a pane for each member
///
/// SPEC is a path, or a name that is looked for as teams/NAME.toml here and in the folders above up to the root of
/// the repository, then in ~/.config/crewmux/teams. Returns when every member has said that it is ready, and prints how to attach.
/// A dead team of the same name is moved aside; a living one is a conflict.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  crewmux up audit   # launch teams/audit.toml
  crewmux up ./my.toml --set out=/tmp/report.md --attach
  crewmux up --resume audit   # take over what lives, restart the rest")]
pub struct Args {
    /// The team spec: a path or a name
    #[arg(value_name = "SPEC", required_unless_present = "resume")]
    pub spec: Option<String>,
    /// Take over what lives of this team and restart the rest
    #[arg(long, value_name = "TEAM", conflicts_with_all = ["spec", "name", "cwd", "dry_run", "set"])]
    pub resume: Option<Name>,
    #[command(flatten)]
    pub launch: Launch,
    /// Show the team's session once it is up
    #[arg(long)]
    pub attach: bool,
    /// Check the spec, print what would be launched, start nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// How a spec becomes a team; `up` and `run` share it.
#[derive(clap::Args, Debug, Clone, Default)]
pub struct Launch {
    /// Call the team NAME instead of what the spec says
    #[arg(long, value_name = "NAME")]
    pub name: Option<Name>,
    /// The folder the team works in, instead of this one
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,
    /// Fill in a variable of the spec; may be repeated
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_value)]
    pub set: Vec<(String, String)>,
}

impl Launch {
    /// Reads the spec, with what the command line says about it.
    pub fn load(&self, spec: &str) -> Result<TeamSpec, CommandError> {
        let mut options = LoadOptions::from_env()?;
        options.name.clone_from(&self.name);
        options.cwd.clone_from(&self.cwd);
        options.set.clone_from(&self.set);
        let here = options.started_in.clone();
        let loaded = spec::find(Some(spec), &here).and_then(|path| spec::load(&path, &options));
        loaded.map_err(|error| spec_error(&error))
    }
}

/// Mistakes in a file that a person wrote, the offending text underlined.
pub(in crate::cli) fn spec_error(error: &spec::SpecError) -> CommandError {
    let mut out = CommandError::new(ErrorKind::Usage, error.to_string());
    if !error.mistakes().is_empty() {
        let width = output::stdout_width().unwrap_or(100).clamp(60, 120);
        out = out.snippet(error.render(false, width));
    }
    for hint in error.hints() {
        out = out.hint(hint);
    }
    out
}

/// Launches a team, with its progress on a terminal.
pub(super) fn launch(home: &Home, spec: &TeamSpec, tied: bool) -> Result<Up, ActError> {
    let progress = Progress::team(spec.members.iter().map(|m| &m.name));
    let up = launch::up(
        home,
        spec,
        UpOptions {
            tied,
            interrupted: interrupt::flag(),
            progress: &mut |name, step| match step {
                Step::Starting => progress.starting(name, "starting"),
                Step::Ready => progress.ready(name),
            },
        },
    );
    progress.finish();
    up
}

pub fn run(args: &Args, globals: &Globals) -> Result<(), CommandError> {
    let home = Home::from_env()?;
    interrupt::listen()?;
    let up = match (&args.resume, &args.spec) {
        (Some(team), _) => launch::resume(&home, team, interrupt::flag())?,
        (None, Some(spec)) => {
            let spec = args.launch.load(spec)?;
            if args.dry_run {
                return show(&spec, globals);
            }
            launch(&home, &spec, false)?
        }
        (None, None) => {
            return Err(CommandError::usage("there is no team to launch").hint("`crewmux teams` lists the specs"));
        }
    };
    for note in &up.notes {
        output::note(note);
    }
    let name = up.team.name.clone();
    if globals.json {
        let members: Vec<&Name> = up.team.teammates().map(|m| &m.name).collect();
        output::json(&serde_json::json!({"team": name, "session": up.team.tmux.session, "members": members}))?;
    } else if !args.attach {
        let active = up.team.teammates().filter(|m| m.is_active).count();
        output::line(format!("team {name} is up: {}", count(active, "member")))?;
        output::line(format!("  watch it   crewmux attach --team {name}"))?;
        output::line(format!("  look at it crewmux status --team {name}"))?;
        output::line(format!("  end it     crewmux down --team {name}"))?;
    }
    drop(up);
    if args.attach {
        let attach = super::attach::Args { pane: None, read_only: false, print: false };
        return super::attach::run(&attach, &Globals { team: Some(name), ..globals.clone() });
    }
    Ok(())
}

/// What would be launched.
fn show(spec: &TeamSpec, globals: &Globals) -> Result<(), CommandError> {
    if globals.json {
        let tasks: Vec<_> = spec
            .tasks
            .iter()
            .map(|t| serde_json::json!({"key": t.key, "blocked_by": t.blocked_by, "task": t.task}))
            .collect();
        return output::json(&serde_json::json!({
            "name": spec.name, "description": spec.description, "cwd": spec.cwd, "report": spec.report,
            "members": spec.members, "tasks": tasks,
        }));
    }
    output::line(format!("team {} in {}", spec.name, spec.cwd))?;
    for member in &spec.members {
        let what = if member.command.is_empty() { "runs tasks".to_owned() } else { member.command.join(" ") };
        output::line(crate::view::safe(&format!("  {}  {}", member.name, what), crate::view::Lines::Escape))?;
    }
    for task in &spec.tasks {
        let after =
            if task.blocked_by.is_empty() { String::new() } else { format!("  after {}", task.blocked_by.join(", ")) };
        output::line(crate::view::safe(
            &format!("  task {}: {}{after}", task.key, task.task.subject),
            crate::view::Lines::Escape,
        ))?;
    }
    Ok(())
}
