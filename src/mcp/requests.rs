//! Plans, permissions, shutdowns: asked, waited for, decided.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::answer::Result;
use super::params::{AnswerShutdown, Decide, MakeReport, Outcome, RequestPermission, SubmitPlan};
use super::session::Session;
use super::wait::{Call, Waited};
use crate::act::permission::EXPIRES;
use crate::act::{ActError, Verb};
use crate::model::id::{MessageId, RequestId};
use crate::model::message::ReportStatus;
use crate::model::request::{Request, RequestKind, RequestState};
use crate::os::clock;
use crate::view::answers::PermissionView;

/// How long a plan's decision is waited for where nothing is said.
const DECISION: Duration = Duration::from_secs(3600);
/// What a wait for an expiry gets beyond it: the lead has to write it down.
const MARGIN: Duration = Duration::from_secs(10);
/// How often, and how many times, one looks for the mail that says what the tool has said already.
const SETTLE: (Duration, u32) = (Duration::from_millis(50), 20);

pub(super) async fn submit_plan(call: &Call, given: SubmitPlan) -> Result {
    let id = clock::new_request_id();
    let me = call.session.name().clone();
    let plans = move |client: &mut crate::act::Client| {
        Ok(client.desk.team()?.members.iter().any(|member| member.name == me && member.plans()))
    };
    let plans = call.session.with(plans).await?;
    let verb = Verb::SubmitPlan { request_id: id, plan: given.plan, summary: given.summary };
    call.session.perform(verb).await?;
    let limit = given.timeout_seconds.map_or(DECISION, Duration::from_secs);
    match ended(call, id, "waiting for the decision on your plan", limit).await? {
        Waited::Found(request) => {
            // After the approval another life carries the plan out, and the decision is the first that it hears.
            if !plans || request.state != RequestState::Approved {
                settle(call, &request);
            }
            let feedback = request.decision.as_ref().and_then(|d| d.feedback.clone());
            let next = match request.state {
                RequestState::Approved => "carry it out as you wrote it",
                RequestState::Rejected => "change it as the feedback says and submit it again",
                _ => "it is void; nothing of it is to be done",
            };
            Ok(json!({"id": id, "state": request.state, "feedback": feedback, "next": next}))
        }
        Waited::TimedOut => Ok(json!({"id": id, "state": "open", "next": "nobody has decided yet; the decision will \
            come as a message, and nothing of the plan is to be done before"})),
        Waited::Cancelled => Err(cancelled()),
    }
}

pub(super) async fn request_permission(call: &Call, given: RequestPermission) -> Result {
    let id = clock::new_request_id();
    let expires = given.timeout_seconds.map_or(EXPIRES, Duration::from_secs);
    let verb = Verb::RequestPermission {
        request_id: id,
        tool: given.tool,
        input: given.input,
        reason: given.reason,
        scope: given.scope,
        expires_ms: Some(u64::try_from(expires.as_millis()).unwrap_or(u64::MAX)),
    };
    call.session.perform(verb).await?;
    let waited = ended(call, id, "waiting for permission", expires.saturating_add(MARGIN)).await;
    match waited {
        Ok(Waited::Found(request)) => {
            settle(call, &request);
            let view = PermissionView::of(id, Some(&request));
            Ok(json!({"id": id, "decision": view.decision, "state": view.state, "feedback": view.feedback}))
        }
        // Nobody is to decide for a call that is over.
        Ok(Waited::Cancelled) => {
            let _ = call.session.perform(Verb::Withdraw { request_id: id }).await;
            Err(cancelled())
        }
        Ok(Waited::TimedOut) => {
            let _ = call.session.perform(Verb::Withdraw { request_id: id }).await;
            Ok(json!({"id": id, "decision": "deny", "state": "expired", "feedback": "no lead was there to ask"}))
        }
        Err(error) => Err(error),
    }
}

/// The request once it has ended.
async fn ended(call: &Call, id: RequestId, what: &str, limit: Duration) -> Result<Waited<Request>> {
    let folder = call.session.desk()?.dir.path().to_owned();
    call.until(what, std::slice::from_ref(&folder), limit, |desk| {
        if !folder.exists() {
            return Err(ActError::not_found(format!("team `{}` has ended", desk.name)));
        }
        desk.ended_request(id)
    })
    .await
}

fn cancelled() -> ActError {
    ActError::failed("the call was cancelled")
}

/// The decision also lies in the mailbox, for who does not wait. Who did has read it.
fn settle(call: &Call, request: &Request) {
    let mail = MessageId::derived(&["decision", &request.id.to_string(), request.state.as_str()]);
    tokio::spawn(mark_read(Arc::clone(&call.session), mail));
}

async fn mark_read(session: Arc<Session>, mail: MessageId) {
    for _ in 0..SETTLE.1 {
        tokio::time::sleep(SETTLE.0).await;
        match session.perform(Verb::Ack { ids: vec![mail], up_to: None }).await {
            Ok(answer) if answer.value["read"].as_u64() == Some(0) => {}
            _ => return,
        }
    }
}

pub(super) async fn answer_shutdown(call: &Call, given: AnswerShutdown) -> Result {
    let me = call.session.name().clone();
    let named = given.request_id.as_deref().map(request_id).transpose()?;
    let open = call
        .session
        .with(move |client| {
            let ledger = &client.desk.ledger.view()?.0;
            Ok(ledger.open_for(&me, RequestKind::Shutdown).map(|r| r.id))
        })
        .await?;
    let Some(request_id) = named.or(open) else {
        return Err(ActError::not_found("nobody asks you to stop"));
    };
    if !given.approve && given.reason.as_ref().is_none_or(|reason| reason.trim().is_empty()) {
        return Err(ActError::usage("say in `reason` why you go on; whoever asked reads it"));
    }
    decided(call, request_id, given.approve, given.reason, false).await
}

pub(super) async fn decide(call: &Call, given: Decide) -> Result {
    decided(call, request_id(&given.request_id)?, given.approve, given.feedback, given.always).await
}

async fn decided(call: &Call, id: RequestId, approve: bool, feedback: Option<String>, always: bool) -> Result {
    // Bound to what the ledger shows now: a plan that changed meanwhile is another one.
    let known =
        move |client: &mut crate::act::Client| Ok(client.desk.ledger.view()?.0.get(id).and_then(|r| r.hash.clone()));
    let hash = call.session.with(known).await?;
    let verb = Verb::Decide { request_id: id, approve, hash, feedback, always };
    Ok(call.session.perform(verb).await?.value)
}

pub(super) async fn report(call: &Call, given: MakeReport) -> Result {
    let status = match given.status {
        Outcome::Completed => ReportStatus::Completed,
        Outcome::Failed => ReportStatus::Failed,
    };
    let verb = Verb::Report {
        status,
        summary: given.summary,
        result: given.result,
        error: given.error,
        output_file: given.output_file,
    };
    Ok(call.session.perform(verb).await?.value)
}

fn request_id(text: &str) -> Result<RequestId> {
    text.trim()
        .parse()
        .map_err(|_| ActError::usage(format!("`{text}` is no id of a request")).hint("give the whole id"))
}

/// What a request asks, for whoever is to decide it.
pub(super) fn line(request: &crate::view::RequestView) -> Value {
    let mut out = json!({
        "id": request.id, "kind": request.kind, "member": request.member,
        "summary": super::answer::cut(&request.summary, 200).0,
    });
    if let Some(detail) = request.detail() {
        out["what"] = json!(super::answer::cut(&detail, 1_000).0);
    }
    if let Some(plan) = request.body.get("plan").and_then(Value::as_str) {
        out["plan"] = match super::answer::cut(plan, super::answer::MOST_TEXT) {
            (plan, 0) => json!(plan),
            (plan, more) => json!(format!("{plan}\n… {more} more characters")),
        };
    }
    out
}
