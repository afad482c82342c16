//! Which team a verb is about, and who calls.

use super::args::Globals;
use super::error::CommandError;
use super::{interrupt, output};
use crate::act::{Answer, Client, Descent, Verb};
use crate::model::name::Name;
use crate::store::{Home, lease};

/// Opens the team that the command line means, as whoever calls.
pub fn open(globals: &Globals) -> Result<Client, CommandError> {
    let home = Home::from_env()?;
    let team = resolve(globals, &home)?;
    Ok(Client::open(&home, &team, globals.member.as_ref())?)
}

/// `--team`, else `$CREWMUX_TEAM`, else the team of the member that this process descends from, else the only
/// running one.
pub fn resolve(globals: &Globals, home: &Home) -> Result<Name, CommandError> {
    if let Some(team) = globals.named_team()? {
        return Ok(team);
    }
    if let Some(own) = Descent::find()
        && own.is_of(home, &own.team)
    {
        return Ok(own.team);
    }
    only_running(home)
}

/// The one team whose lead runs.
fn only_running(home: &Home) -> Result<Name, CommandError> {
    let teams = home.teams()?;
    // A lease that cannot be asked about is no reason to pick another team: it counts as running.
    let running = |name: &&Name| lease::is_held(&home.team(name).lead_lease()).unwrap_or(true);
    let running: Vec<Name> = teams.iter().filter(running).cloned().collect();
    match running.as_slice() {
        [one] => Ok(one.clone()),
        [] if teams.is_empty() => {
            Err(CommandError::not_found("no team is running").hint("`crewmux up SPEC` launches one"))
        }
        [] => Err(CommandError::not_found("no team is running")
            .because(format!("without a lead: {}", list(&teams)))
            .hint("name one with `--team NAME`, or bring its lead back with `crewmux up --resume NAME`")),
        several => Err(CommandError::not_found(format!("{} teams are running: {}", several.len(), list(several)))
            .hint("name one with `--team NAME`, or set CREWMUX_TEAM")),
    }
}

fn list(names: &[Name]) -> String {
    names.iter().map(Name::as_str).collect::<Vec<_>>().join(", ")
}

/// A runtime for what a verb waits for.
pub fn runtime() -> Result<tokio::runtime::Runtime, CommandError> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|e| CommandError::failed("cannot start the runtime").cause(&e))
}

/// Does a verb; what the caller should know besides goes to stderr.
pub fn perform(client: &mut Client, verb: Verb) -> Result<Answer, CommandError> {
    noted(client.perform(verb)?)
}

/// [`perform`] for a verb that a hook may hold up: a person can interrupt that, and nothing of the hook is left.
pub fn perform_past_hooks(client: &mut Client, verb: Verb) -> Result<Answer, CommandError> {
    if client.is_operator() && !client.desk.team()?.settings.hooks.run.is_empty() {
        interrupt::listen()?;
        client.interrupted = Some(interrupt::flag());
    }
    perform(client, verb)
}

/// Says an answer's notes on stderr.
pub fn noted(answer: Answer) -> Result<Answer, CommandError> {
    for note in &answer.notes {
        output::note(format!("note: {note}"));
    }
    Ok(answer)
}

#[cfg(test)]
#[path = "team_tests.rs"]
mod tests;
