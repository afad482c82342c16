//! A member's final answer to the lead, for work that is no task of the board.

use serde_json::json;

use super::desk::Desk;
use super::error::ActError;
use super::verb::Answer;
use super::who::Who;
use crate::model::id::MessageId;
use crate::model::message::{Body, Lane, MAX_INLINE_BYTES, Message, Report, ReportStatus};
use crate::store::{Durability, mailbox};

/// Largest summary, in bytes.
const MAX_SUMMARY_BYTES: usize = 4 * 1024;

/// What is reported.
#[derive(Debug)]
pub(super) struct Said {
    pub status: ReportStatus,
    pub summary: String,
    pub result: String,
    pub error: Option<String>,
    pub output_file: Option<String>,
}

pub(super) fn report(desk: &mut Desk, who: &Who, id: MessageId, said: Said) -> Result<Answer, ActError> {
    let Said { status, summary, result, error, output_file } = said;
    if summary.trim().is_empty() {
        return Err(ActError::usage("a report says in its summary what came of the work"));
    }
    let size = result.len() + error.as_ref().map_or(0, String::len);
    for (what, size, most) in
        [("the summary", summary.len(), MAX_SUMMARY_BYTES), ("the result", size, MAX_INLINE_BYTES)]
    {
        if size > most {
            return Err(ActError::usage(format!("{what} has {size} bytes, at most {most} are allowed"))
                .hint("put it into a file under $CREWMUX_SCRATCH and name that"));
        }
    }
    let own = desk.dir.member(&who.name).output_log().to_string_lossy().into_owned();
    let report = Report {
        status,
        error,
        task_id: None,
        summary: summary.clone(),
        result,
        usage: None,
        worktree: None,
        output_file: output_file.unwrap_or(own),
    };
    let lead = desk.team()?.reports_to(&who.name);
    let mut message = Message::new(id, who.agent_id(&desk.name), lead.clone(), &Body::Report(Box::new(report)));
    message.summary = Some(summary);
    let sent = mailbox::deliver(&desk.dir.member(&lead), &message, Lane::Inbox, Durability::Fast, true)?;
    Ok(Answer::of(json!({"id": id, "to": lead, "seq": sent.seq})))
}
