//! What the lead says by mail. What a disk refuses, or a lock keeps, is said later, in order for each that it is said to;
//! until then a decision is not noted as told, so that a lead who dies before leaves the telling to the next.

use std::collections::{BTreeSet, VecDeque};
use std::convert::Infallible;

use super::run::Process;
use crate::decide::lead::Effect;
use crate::decide::ledger::{LedgerRecord, RequestEvent};
use crate::model::id::MessageId;
use crate::model::message::{Body, Message};
use crate::model::name::Name;
use crate::os::again::Again;
use crate::store::{Durability, StoreError, mailbox};

/// What could not be said yet.
#[derive(Default)]
pub(super) struct Unsaid {
    words: VecDeque<Word>,
    pub again: Again,
}

enum Word {
    Mail {
        to: Name,
        id: MessageId,
        body: Box<Body>,
    },
    /// That what was said before it was said.
    Told(Box<LedgerRecord>),
}

impl Word {
    fn concerns(&self) -> Option<&Name> {
        match self {
            Self::Mail { to, .. } => Some(to),
            Self::Told(record) => record.request().map(|request| &request.member),
        }
    }
}

impl Unsaid {
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    fn waits_for(&self, name: &Name) -> bool {
        self.words.iter().any(|word| word.concerns() == Some(name))
    }
}

impl Process {
    pub(super) fn mail(&mut self, to: Name, id: MessageId, body: Box<Body>) {
        if !self.unsaid.waits_for(&to) {
            match self.deliver(&to, id, &body) {
                Ok(()) => return,
                Err(error) => self.trouble("send mail", &error),
            }
        }
        self.unsaid.words.push_back(Word::Mail { to, id, body });
        self.unsaid.again.later();
    }

    /// Keeps the note that somebody was told until he is; whether it has to be kept.
    pub(super) fn keeps_note(&mut self, effect: &Effect) -> bool {
        let Effect::Ledger(record @ LedgerRecord::Request { event: RequestEvent::Answered, request }) = effect else {
            return false;
        };
        let waits = self.unsaid.waits_for(&request.member);
        if waits {
            self.unsaid.words.push_back(Word::Told(Box::new(record.clone())));
        }
        waits
    }

    /// Says what could not be said before, where that is possible now.
    pub(super) fn say_again(&mut self) {
        if self.unsaid.is_empty() || self.unsaid.again.is_not_yet() {
            return;
        }
        let mut deaf = BTreeSet::new();
        for word in std::mem::take(&mut self.unsaid.words) {
            let of = word.concerns().cloned();
            if of.as_ref().is_some_and(|name| deaf.contains(name)) || !self.says(&word) {
                deaf.extend(of);
                self.unsaid.words.push_back(word);
            }
        }
        if self.unsaid.is_empty() { self.unsaid.again.done() } else { self.unsaid.again.refused() }
    }

    fn says(&mut self, word: &Word) -> bool {
        match word {
            Word::Mail { to, id, body } => self.deliver(to, *id, body).is_ok(),
            Word::Told(record) => {
                let record = record.as_ref();
                self.ledger.update(|_, _| Ok::<_, Infallible>(((), vec![record.clone()]))).is_ok()
            }
        }
    }

    /// An error: it may go another time.
    fn deliver(&mut self, to: &Name, id: MessageId, body: &Body) -> Result<(), StoreError> {
        let to = if to.is_operator() && !self.lead.team.agent_leads() { Name::lead() } else { to.clone() };
        let dir = self.desk.dir.member(&to);
        let message = Message::new(id, self.lead.team.lead_agent_id.clone(), to, body);
        let durability = match body {
            Body::PlanApprovalResponse { .. } | Body::PermissionResponse { .. } | Body::ShutdownRequest { .. } => {
                Durability::Durable
            }
            _ => Durability::Fast,
        };
        match mailbox::deliver(&dir, &message, body.lane(), durability, true) {
            Err(error) if error.may_pass() => Err(error),
            // Nobody is there any more to hear it.
            Ok(_) | Err(StoreError::Closed { .. }) => Ok(()),
            Err(error) => {
                self.trouble("send mail", &error);
                Ok(())
            }
        }
    }
}
