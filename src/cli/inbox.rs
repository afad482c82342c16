//! Reads a mailbox.

use super::args::Globals;
use super::error::CommandError;
use super::follow::{self, What};
use super::values::someone;
use super::{output, team};
use crate::act::send::read_text;
use crate::act::{Client, Desk, Verb};
use crate::model::message::Message;
use crate::model::name::Name;
use crate::store::TeamDir;
use crate::view::inbox::{MailView, mail};
use crate::view::mailbox::Mailbox;
use serde_json::json;

/// Read one's own mailbox, or with --member another's
///
/// Shows what is unread. Nothing moves without --ack, which marks what was shown as read.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  crewmux inbox --ack
  crewmux inbox --follow --json | while read -r message; do …; done
  crewmux inbox --member scan --all")]
pub struct Args {
    /// What was read already, too
    #[arg(long)]
    pub all: bool,
    /// Stay, and show mail as it comes
    #[arg(long)]
    pub follow: bool,
    /// Mark what is shown as read
    #[arg(long)]
    pub ack: bool,
    /// Only mail of this sender
    #[arg(long, value_name = "NAME", value_parser = someone)]
    pub from: Option<Name>,
    /// Only mail of this type (text, report, task_assigned, …)
    #[arg(long = "type", value_name = "TYPE")]
    pub kind: Option<String>,
}

pub fn run(args: &Args, globals: &Globals) -> Result<(), CommandError> {
    let mut client = team::open(globals)?;
    let member = globals.member.clone();
    let mut mailbox = Mailbox::of(&mut client, member.as_ref())?;
    if args.ack && member.is_some_and(|m| m.is_lead()) && client.desk.team()?.agent_leads() {
        return Err(CommandError::forbidden("the agent that leads marks its own mail as read")
            .hint("without --ack its mailbox can be read"));
    }
    let shown = show(args, globals.json, &mut client, &mut mailbox)?;
    if !args.follow {
        if shown == 0 && !globals.json {
            output::note(if args.all { "no mail" } else { "no unread mail" });
        }
        return Ok(());
    }
    let folder = mailbox.dir().mail_dir();
    // The client is needed inside, so what is watched is asked of a desk of its own.
    let mut desk = Desk::open(&client.desk.home, &client.desk.name)?;
    follow::until(&mut desk, &What::Folders(vec![folder]), None, |_| {
        if client.desk.dir.exists() {
            show(args, globals.json, &mut client, &mut mailbox)?;
        }
        Ok(mailbox.has_ended().then_some(()))
    })?;
    if client.desk.dir.exists() {
        output::note("note: this mailbox is closed");
    } else {
        follow::team_has_gone(&client.desk);
    }
    Ok(())
}

/// Prints what is new and wanted, and marks it as read where that is asked for. How many messages it was.
fn show(args: &Args, json: bool, client: &mut Client, mailbox: &mut Mailbox) -> Result<usize, CommandError> {
    let style = output::style();
    let mut shown = mailbox.read(&mut client.desk)?;
    shown.retain(|view| args.wants(view));
    for view in &shown {
        if json {
            output::json_line(view)?;
        } else {
            output::text(&mail(&with_text(&client.desk.dir, view), &style))?;
        }
    }
    let unread = || shown.iter().filter(|view| !view.read).map(|view| view.message.id);
    if args.ack && unread().next().is_some() {
        team::perform(client, Verb::Ack { ids: unread().collect(), up_to: None })?;
    }
    Ok(shown.len())
}

impl Args {
    fn wants(&self, view: &MailView) -> bool {
        (self.all || !view.read)
            && self.from.as_ref().is_none_or(|from| view.message.from.name == *from)
            && self.kind.as_ref().is_none_or(|kind| view.message.kind == *kind)
    }
}

/// The same with the text of a blob in place of its name.
fn with_text(team: &TeamDir, view: &MailView) -> MailView {
    let mut view = view.clone();
    if view.message.body.get("blob").is_some()
        && let Some(content) = read_text(team, &view.message)
    {
        view.message = Message { body: json!({"content": content}), ..view.message };
    }
    view
}
