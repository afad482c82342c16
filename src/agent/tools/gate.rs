//! The gate that every call passes: may it run, and who is asked.

use serde_json::Value;

use super::context::{Context, locked};
use super::{Outcome, Tool};
use crate::agent::permission::{Call, Decision, Question, Reply, decide};

/// Lets the call through, or says to the model why not.
pub(super) async fn admit(tool: &dyn Tool, input: &Value, cx: &Context) -> Result<(), Outcome> {
    if let Some(reason) = cx.refused.get(tool.name()) {
        return Err(Outcome::error(reason.clone()));
    }
    let subject = tool.subject(input, cx);
    let mode = cx.mode();
    let call = Call {
        tool: tool.name(),
        kind: tool.kind(),
        subject: &subject.text,
        outside: subject.outside,
        confined: cx.confine.confines(mode),
        background: cx.background,
        attended: cx.asker.is_attended(),
    };
    let decision = decide(mode, &locked(&cx.rules), &call);
    let reason = match decision {
        Decision::Allow => return Ok(()),
        Decision::Deny(reason) => return Err(denied(tool.name(), &reason)),
        Decision::Ask(reason) => reason,
    };
    let question = Question {
        agent: cx.agent.clone(),
        call: cx.call.clone(),
        tool: tool.name().to_owned(),
        kind: tool.kind(),
        subject: subject.text.clone(),
        input: input.clone(),
        reason,
    };
    let reply = tokio::select! {
        reply = cx.asker.ask(question) => reply,
        () = cx.cancel.cancelled() => return Err(Outcome::cancelled()),
    };
    match reply {
        Reply::AllowOnce => Ok(()),
        Reply::AllowAlways => {
            locked(&cx.rules).allow_always(tool.name(), &subject.text);
            Ok(())
        }
        Reply::Deny(reason) => Err(denied(tool.name(), &reason)),
    }
}

fn denied(tool: &str, reason: &str) -> Outcome {
    Outcome::error(format!(
        "{tool} was not permitted: {reason}. Nothing was done. Do not try the same in another way; go on without it, or \
         say what you need and why."
    ))
}
