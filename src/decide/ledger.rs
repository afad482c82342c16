//! The request ledger: each request gets one decision or ends otherwise, and never changes after that.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::authority::{Authority, Refusal};
use super::plant::{Fault, planted};
use crate::model::id::{Life, RequestId};
use crate::model::name::Name;
use crate::model::request::{Decision, Request, RequestKind, RequestState};
use crate::model::time::Timestamp;

#[cfg(test)]
mod tests;

/// One record of the ledger's journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum LedgerRecord {
    Snapshot { requests: Vec<Request> },
    Request { event: RequestEvent, request: Box<Request> },
}

/// What happened to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequestEvent {
    Opened,
    Approved,
    Rejected,
    Expired,
    Withdrawn,
    /// The decision lies in the asker's mailbox.
    Answered,
}

impl RequestEvent {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Opened => "opened",
            Self::Approved => "approved",
            Self::Rejected => "rejected",
            Self::Expired => "expired",
            Self::Withdrawn => "withdrawn",
            Self::Answered => "answered",
        }
    }
}

impl LedgerRecord {
    /// The request that this record is about.
    #[must_use]
    pub fn request(&self) -> Option<&Request> {
        match self {
            Self::Request { request, .. } => Some(request),
            Self::Snapshot { .. } => None,
        }
    }
}

/// Who decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decider {
    pub name: Name,
    pub life: Option<Life>,
    pub authority: Authority,
}

/// What was said about a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verdict<'a> {
    pub approve: bool,
    /// Of what the decider has seen; `None` where only one version can be meant.
    pub hash: Option<&'a str>,
    pub feedback: Option<&'a str>,
    pub always: bool,
}

/// Why the ledger says no.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LedgerError {
    #[error("no request {id}; {}", open_ids(.open))]
    NotFound { id: RequestId, open: Vec<RequestId> },
    #[error("{by} may not decide this {}; {may} may", .kind.as_str())]
    NotYours { by: Name, kind: RequestKind, may: String },
    #[error("request {id} is {} already{}", .state.as_str(), by_whom(.by))]
    Ended { id: RequestId, state: RequestState, by: Option<Name> },
    #[error("request {id} expired at {at}; it has to be asked again")]
    Late { id: RequestId, at: Timestamp },
    #[error("request {id} is for another version (hash {hash}); look at it again with `plan show {id}`")]
    OtherHash { id: RequestId, hash: String },
    #[error("request {id} belongs to an earlier life of {member}")]
    OtherLife { id: RequestId, member: Name },
    #[error("request {0} is in the ledger already")]
    Known(RequestId),
    #[error("request {0} is still open")]
    StillOpen(RequestId),
    #[error("only the approval of a permission can be for always")]
    NotForAlways,
    #[error("a request enters the ledger open and undecided")]
    NotNew,
}

impl LedgerError {
    #[must_use]
    pub fn kind(&self) -> Refusal {
        match self {
            Self::NotFound { .. } => Refusal::NotFound,
            Self::NotYours { .. } => Refusal::Forbidden,
            Self::NotForAlways | Self::NotNew => Refusal::Usage,
            _ => Refusal::Conflict,
        }
    }

    #[must_use]
    pub fn exit_code(&self) -> u8 {
        self.kind().exit_code()
    }
}

/// The folded ledger.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ledger {
    requests: BTreeMap<RequestId, Request>,
}

impl Ledger {
    #[must_use]
    pub fn requests(&self) -> &BTreeMap<RequestId, Request> {
        &self.requests
    }

    #[must_use]
    pub fn get(&self, id: RequestId) -> Option<&Request> {
        self.requests.get(&id)
    }

    /// Folds one record in. What has ended stays as it ended, so a record that comes again changes nothing.
    pub fn apply(&mut self, record: LedgerRecord) {
        match record {
            LedgerRecord::Snapshot { requests } => {
                self.requests = requests.into_iter().map(|r| (r.id, r)).collect();
            }
            LedgerRecord::Request { request, .. } => {
                let settled = self.get(request.id).is_some_and(|old| {
                    (old.state != RequestState::Open && old.state != request.state)
                        || (old.answered && !request.answered)
                });
                if !settled {
                    self.requests.insert(request.id, *request);
                }
            }
        }
    }

    /// The whole ledger as one record.
    #[must_use]
    pub fn snapshot(&self) -> LedgerRecord {
        LedgerRecord::Snapshot { requests: self.requests.values().cloned().collect() }
    }

    /// What waits for a decision, oldest first.
    #[must_use]
    pub fn open_requests(&self) -> Vec<&Request> {
        self.sorted(|r| r.state == RequestState::Open)
    }

    /// The open request of this kind about this member.
    #[must_use]
    pub fn open_for(&self, member: &Name, kind: RequestKind) -> Option<&Request> {
        self.open_requests().into_iter().find(|r| r.member == *member && r.kind == kind)
    }

    /// What has ended without the answer having been sent. A withdrawn one has no asker left, unless a verb waits for it.
    #[must_use]
    pub fn unanswered(&self) -> Vec<&Request> {
        self.sorted(|r| match r.state {
            RequestState::Open => false,
            RequestState::Withdrawn => !r.answered && r.asked_by.is_some(),
            _ => !r.answered,
        })
    }

    /// The approval for always that covers this use of a tool: of the same scope, or without one of the same input.
    #[must_use]
    pub fn allowed_always(&self, tool: &str, input: &Value, scope: Option<&str>) -> Option<&Request> {
        self.grants().into_iter().find(|grant| {
            let same = match grant.body["scope"].as_str() {
                Some(covered) => scope == Some(covered),
                None => grant.body["input"] == *input,
            };
            same && grant.body["tool"].as_str() == Some(tool)
        })
    }

    /// The permissions that were given for always, oldest first.
    #[must_use]
    pub fn grants(&self) -> Vec<&Request> {
        self.sorted(|r| {
            let for_always = r.decision.as_ref().is_some_and(|d| d.approve && d.always);
            for_always && r.kind == RequestKind::Permission && r.state == RequestState::Approved
        })
    }

    /// When the next open request expires.
    #[must_use]
    pub fn next_expiry(&self) -> Option<Timestamp> {
        self.requests.values().filter(|r| r.state == RequestState::Open).filter_map(|r| r.expires).min()
    }

    /// Enters a request.
    pub fn open(&self, request: Request) -> Result<LedgerRecord, LedgerError> {
        if self.requests.contains_key(&request.id) {
            return Err(LedgerError::Known(request.id));
        }
        if request.state != RequestState::Open || request.decision.is_some() || request.answered {
            return Err(LedgerError::NotNew);
        }
        Ok(record(RequestEvent::Opened, request))
    }

    /// Decides a request: the one decision that it will ever have.
    pub fn decide(
        &self,
        id: RequestId,
        by: &Decider,
        verdict: &Verdict<'_>,
        now: Timestamp,
    ) -> Result<LedgerRecord, LedgerError> {
        let request = self.known(id)?;
        may_decide(request, by)?;
        if request.state != RequestState::Open && !planted(Fault::DecidedTwice) {
            let by = request.decision.as_ref().map(|d| d.by.clone());
            return Err(LedgerError::Ended { id, state: request.state, by });
        }
        if let Some(at) = request.expires.filter(|at| *at <= now) {
            return Err(LedgerError::Late { id, at });
        }
        if request.kind == RequestKind::Shutdown && by.life.is_some() && by.life != request.life.or(by.life) {
            return Err(LedgerError::OtherLife { id, member: request.member.clone() });
        }
        if verdict.hash.is_some_and(|hash| request.hash.as_deref() != Some(hash)) {
            return Err(LedgerError::OtherHash { id, hash: request.hash.clone().unwrap_or_else(|| "none".into()) });
        }
        if verdict.always && (request.kind != RequestKind::Permission || !verdict.approve) {
            return Err(LedgerError::NotForAlways);
        }
        let (event, state) = if verdict.approve {
            (RequestEvent::Approved, RequestState::Approved)
        } else {
            (RequestEvent::Rejected, RequestState::Rejected)
        };
        let decision = Decision {
            approve: verdict.approve,
            by: by.name.clone(),
            at: now,
            feedback: verdict.feedback.map(str::to_owned),
            always: verdict.always,
        };
        Ok(record(event, Request { state, decision: Some(decision), ..request.clone() }))
    }

    /// Ends every open request whose time is over.
    #[must_use]
    pub fn expire(&self, now: Timestamp) -> Vec<LedgerRecord> {
        let over = |at: Timestamp| at <= now && !planted(Fault::NeverExpires);
        let late = self.sorted(|r| r.state == RequestState::Open && r.expires.is_some_and(over));
        late.into_iter().map(|r| end(r, RequestEvent::Expired, RequestState::Expired)).collect()
    }

    /// Takes one open request back.
    pub fn withdraw(&self, id: RequestId) -> Result<LedgerRecord, LedgerError> {
        let request = self.known(id)?;
        if request.state != RequestState::Open {
            let by = request.decision.as_ref().map(|d| d.by.clone());
            return Err(LedgerError::Ended { id, state: request.state, by });
        }
        Ok(end(request, RequestEvent::Withdrawn, RequestState::Withdrawn))
    }

    /// Takes back what is open of a life that has ended.
    #[must_use]
    pub fn withdraw_life(&self, member: &Name, life: Life) -> Vec<LedgerRecord> {
        let void = self.sorted(|r| r.state == RequestState::Open && r.member == *member && r.life == Some(life));
        void.into_iter().map(|r| end(r, RequestEvent::Withdrawn, RequestState::Withdrawn)).collect()
    }

    /// Notes that the answer was sent; `None` if that is noted already.
    pub fn answered(&self, id: RequestId) -> Result<Option<LedgerRecord>, LedgerError> {
        let request = self.known(id)?;
        if request.state == RequestState::Open {
            return Err(LedgerError::StillOpen(id));
        }
        let noted = || record(RequestEvent::Answered, Request { answered: true, ..request.clone() });
        Ok((!request.answered).then(noted))
    }

    fn known(&self, id: RequestId) -> Result<&Request, LedgerError> {
        self.get(id)
            .ok_or_else(|| LedgerError::NotFound { id, open: self.open_requests().iter().map(|r| r.id).collect() })
    }

    fn sorted(&self, which: impl Fn(&Request) -> bool) -> Vec<&Request> {
        let mut found: Vec<&Request> = self.requests.values().filter(|r| which(r)).collect();
        found.sort_by_key(|r| (r.created_at, r.id));
        found
    }
}

/// One decides only what one was asked: a shutdown its subject, plans and permissions who leads.
fn may_decide(request: &Request, by: &Decider) -> Result<(), LedgerError> {
    let (may, who) = match request.kind {
        RequestKind::Shutdown => (by.name == request.member, request.member.to_string()),
        RequestKind::Plan | RequestKind::Permission => {
            (by.authority.commands() && by.name != request.member, "the operator or the lead".into())
        }
    };
    if may { Ok(()) } else { Err(LedgerError::NotYours { by: by.name.clone(), kind: request.kind, may: who }) }
}

fn end(request: &Request, event: RequestEvent, state: RequestState) -> LedgerRecord {
    record(event, Request { state, ..request.clone() })
}

fn record(event: RequestEvent, request: Request) -> LedgerRecord {
    LedgerRecord::Request { event, request: Box::new(request) }
}

fn open_ids(open: &[RequestId]) -> String {
    match open {
        [] => "none is open".into(),
        ids => format!("open: {}", ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")),
    }
}

fn by_whom(by: &Option<Name>) -> String {
    by.as_ref().map_or_else(String::new, |name| format!(", by {name}"))
}
