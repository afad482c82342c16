//! Sends a message.

use std::path::PathBuf;

use super::args::Globals;
use super::error::CommandError;
use super::follow::{self, What};
use super::{output, team};
use super::{text, values};
use crate::act::{self, Client, Desk, Verb};
use crate::model::address::Address;
use crate::model::id::MessageId;
use crate::model::message::Lane;
use crate::model::message::Priority;
use crate::model::time::Span;
use crate::os::clock;
use crate::store::{MemberDir, cursors, mailbox};
use crate::view::answers::{Delivery, SendView};
use crate::view::mailbox::is_read;

/// Send a message to a member, the lead, the operator or everyone
///
/// TO is a name, name@team, `lead`, `operator`, or `*` for all but oneself. The text is the argument, a file, or with
/// `-` what comes in on stdin; after `--` it may begin with anything. Up to 256 KiB travel in the message, up to
/// 8 MiB beside it. Prints the message's id and, for each recipient, its place in the mailbox and what waits before it.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  crewmux send scan 'look at src/ first'
  crewmux send '*' --file plan.md --summary 'the new plan'
  git diff | crewmux send lead - --priority later")]
pub struct Args {
    /// Who gets it
    #[arg(value_name = "TO")]
    pub to: String,
    /// The text; `-` reads stdin
    #[arg(value_name = "TEXT", required_unless_present = "file", allow_hyphen_values = true)]
    pub text: Option<String>,
    /// Read the text from a file
    #[arg(long, value_name = "FILE", conflicts_with = "text")]
    pub file: Option<PathBuf>,
    /// Five to ten words that say what it is about
    #[arg(long, value_name = "TEXT")]
    pub summary: Option<String>,
    /// When it is handed over: `now` interrupts, and is for the lead and the operator
    #[arg(long, value_parser = values::priority())]
    pub priority: Option<Priority>,
    /// The message this answers
    #[arg(long, value_name = "ID")]
    pub reply_to: Option<MessageId>,
    /// The id of this message: sent twice, it is one message
    #[arg(long, value_name = "UUID")]
    pub id: Option<MessageId>,
    /// Return only when it is on disk
    #[arg(long)]
    pub durable: bool,
    /// Leave it for a member that has ended, for its next start
    #[arg(long)]
    pub queue: bool,
    /// Wait until it was read, for ever or this long (exit 5)
    #[arg(long, value_name = "DURATION", num_args = 0..=1, require_equals = true)]
    pub wait: Option<Option<Span>>,
}

impl Args {
    /// The text to send, read from where the caller keeps it.
    pub fn content(&self) -> Result<String, CommandError> {
        match (&self.file, &self.text) {
            (Some(file), _) => text::from_file(file),
            (None, Some(given)) => text::given_or_stdin(given),
            (None, None) => Err(CommandError::usage("there is no text to send").hint("give TEXT, --file FILE or -")),
        }
    }
}

pub fn run(args: &Args, globals: &Globals) -> Result<(), CommandError> {
    // The text first: what cannot be sent is a mistake whether or not a team is there.
    let text = args.content()?;
    let mut client = team::open(globals)?;
    until_there(&args.to, &mut client.desk)?;
    let send = act::Send {
        to: args.to.clone(),
        text,
        summary: args.summary.clone(),
        priority: args.priority.unwrap_or_default(),
        reply_to: args.reply_to,
        id: args.id,
        durable: args.durable,
        queue: args.queue,
    };
    let answer = team::perform(&mut client, Verb::Send(send))?;
    let mut sent: SendView = serde_json::from_value(answer.value)?;
    let waited = match args.wait {
        Some(limit) => wait(args, &mut client, &mut sent, limit),
        None => Ok(()),
    };
    // Sent is sent, read or not: the id is printed in any case.
    if globals.json {
        output::json(&sent)?;
    } else {
        output::text(&sent.text())?;
    }
    waited
}

/// Waits for a recipient that is still starting: members of one launch begin at the same time, and who is first
/// may have something to say to another. A launch ends by itself, with or without them.
fn until_there(to: &str, desk: &mut Desk) -> Result<(), CommandError> {
    let Ok(address) = to.parse::<Address>() else { return Ok(()) };
    let there = |desk: &mut Desk| -> Result<Option<()>, CommandError> {
        let team = desk.team()?;
        let starting = match &address {
            Address::One(name) => team.member(name).is_none() && team.reserved.iter().any(|m| m.name == *name),
            Address::Everyone => !team.launched,
            Address::At(..) => false,
        };
        Ok((!starting).then_some(()))
    };
    if there(desk)?.is_none() {
        let limit = desk.team()?.settings.limits.hello.0;
        let folder = What::Folders(vec![desk.dir.path().to_owned()]);
        follow::until(desk, &folder, Some(limit), there)?;
    }
    Ok(())
}

/// Waits until every recipient has read it.
fn wait(args: &Args, client: &mut Client, sent: &mut SendView, limit: Option<Span>) -> Result<(), CommandError> {
    let team = match args.to.parse() {
        Ok(Address::At(_, team)) => client.desk.home.team(&team),
        _ => client.desk.dir.clone(),
    };
    let folders = sent.deliveries.iter().map(|d| team.member(&d.to).state_dir()).collect();
    let id = sent.id;
    let all = follow::until(&mut client.desk, &What::Folders(folders), limit.map(|span| span.0), |_| {
        for delivery in sent.deliveries.iter_mut().filter(|d| d.read_at.is_none()) {
            look(&team.member(&delivery.to), id, delivery, args.queue)?;
        }
        Ok(sent.deliveries.iter().all(|d| d.read_at.is_some()).then_some(()))
    })?;
    if all.is_some() {
        return Ok(());
    }
    let slow: Vec<String> = sent.deliveries.iter().filter(|d| d.read_at.is_none()).map(|d| d.to.to_string()).collect();
    Err(CommandError::timed_out(format!("not read in time by {}", slow.join(", ")))
        .hint("it stays in the mailbox; `crewmux status` shows what they are at"))
}

fn look(dir: &MemberDir, id: MessageId, delivery: &mut Delivery, queue: bool) -> Result<(), CommandError> {
    let cursors = cursors::read(dir)?;
    if is_read(cursors.lane(Lane::Inbox), delivery.seq, id) {
        delivery.read_at = Some(clock::now());
    } else if !queue && mailbox::closed(dir, Lane::Inbox)?.is_some() {
        return Err(CommandError::failed(format!("`{}` ended before it had read the message", delivery.to))
            .hint(format!("`crewmux restart {}` starts it again", delivery.to)));
    }
    Ok(())
}
