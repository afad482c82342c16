//! Asking for permission: a member's question that the lead enters into the ledger and a person decides.

use std::time::Duration;

use serde_json::{Value, json};

use super::ask::to_lead;
use super::desk::Desk;
use super::error::ActError;
use super::verb::Answer;
use super::who::Who;
use crate::model::id::{MessageId, RequestId};
use crate::model::message::Body;
use crate::model::request::{Request, RequestKind, RequestState};
use crate::os::clock;

/// How long a permission is waited for where the asker names no time.
pub const EXPIRES: Duration = Duration::from_secs(300);
/// The longest that one may wait: what lies open for days is read by nobody.
const LONGEST: Duration = Duration::from_secs(24 * 3600);
/// Largest input that is put before a person, as JSON, in bytes.
pub const MAX_INPUT_BYTES: usize = 64 * 1024;
/// Largest name of a tool and largest scope, in bytes.
const MAX_WORD_BYTES: usize = 512;
/// Largest reason, in bytes.
const MAX_REASON_BYTES: usize = 4 * 1024;

/// What somebody wants to be allowed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wanted {
    pub tool: String,
    pub input: Value,
    pub reason: Option<String>,
    /// What an approval for always would cover; without it this very input.
    pub scope: Option<String>,
}

impl Wanted {
    /// Refuses what no person could read.
    fn check(&self) -> Result<(), ActError> {
        if self.tool.trim().is_empty() {
            return Err(ActError::usage("a permission names the tool that it is for"));
        }
        let size = self.input.to_string().len();
        let scope = self.scope.as_ref().map_or(0, String::len);
        let reason = self.reason.as_ref().map_or(0, String::len);
        for (what, size, most) in [
            ("the tool's name", self.tool.len(), MAX_WORD_BYTES),
            ("the scope", scope, MAX_WORD_BYTES),
            ("the reason", reason, MAX_REASON_BYTES),
            ("the input", size, MAX_INPUT_BYTES),
        ] {
            if size > most {
                return Err(ActError::usage(format!("{what} has {size} bytes, at most {most} are allowed"))
                    .hint("say in short what is to be done; a person reads it"));
            }
        }
        Ok(())
    }
}

/// The question as control mail to the lead.
///
/// # Errors
/// What no person could read (2); no living member (4).
pub fn ask(
    desk: &mut Desk,
    who: &Who,
    request_id: RequestId,
    wanted: Wanted,
    expires_ms: Option<u64>,
) -> Result<Answer, ActError> {
    let Some(life) = who.life else {
        return Err(ActError::forbidden("only a living member asks for permission"));
    };
    wanted.check()?;
    if let Some(known) = desk.ledger.view()?.0.get(request_id) {
        return Err(ActError::conflict(format!(
            "request {request_id} is in the ledger already: {}",
            known.state.as_str()
        ))
        .hint("each question has an id of its own"));
    }
    let wait = expires_ms.map_or(EXPIRES, Duration::from_millis).min(LONGEST);
    if wait.is_zero() {
        return Err(ActError::usage("a permission that expires at once can be given by nobody"));
    }
    let expires = clock::now().plus(wait);
    let Wanted { tool, input, reason, scope } = wanted;
    let body = Body::PermissionRequest { request_id, life, tool, input, reason, scope, expires };
    to_lead(desk, who, MessageId::derived(&["permission", &request_id.to_string()]), &body)?;
    Ok(Answer::of(json!({"id": request_id, "state": "open", "expires": expires})))
}

/// Takes an open permission request back.
pub(super) fn withdraw(desk: &mut Desk, who: &Who, request_id: RequestId) -> Result<Answer, ActError> {
    let Some(life) = who.life else {
        return Err(ActError::forbidden("only a living member takes its request back"));
    };
    // The lead may not have entered it yet: what the ledger does not know is left to the lead.
    if let Some(known) = desk.ledger.view()?.0.get(request_id) {
        withdrawable(known, who)?;
    }
    let body = Body::Withdraw { request_id, life };
    to_lead(desk, who, MessageId::derived(&["withdraw", &request_id.to_string()]), &body)?;
    Ok(Answer::of(json!({"id": request_id, "state": RequestState::Withdrawn})))
}

fn withdrawable(request: &Request, who: &Who) -> Result<(), ActError> {
    if request.member != who.name || request.kind != RequestKind::Permission {
        return Err(ActError::forbidden(format!(
            "request {} is no permission that `{}` asked for",
            request.id, who.name
        )));
    }
    if request.state != RequestState::Open {
        return Err(ActError::conflict(format!("request {} is {} already", request.id, request.state.as_str())));
    }
    Ok(())
}
