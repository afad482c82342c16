//! What the teammate says: answers to its program's verbs, control mail to the lead, the lead's word as mail for the
//! program. What a disk refuses, or a lock keeps, is said later, in order: nobody waits for a word that was lost.

use std::collections::VecDeque;

use super::run::Process;
use crate::act::outbox::Reply;
use crate::model::id::MessageId;
use crate::model::message::{Body, Lane, Message};
use crate::model::name::Name;
use crate::os::again::Again;
use crate::store::{Durability, Journal, StoreError, mailbox};

/// A replies file longer than this is rotated, in bytes.
const SEGMENT_BYTES: u64 = 8 * 1024 * 1024;
/// While so many words wait, no verb is carried out: each would be answered by one more.
const MOST: usize = 1000;

pub(super) enum Word {
    Answer(Box<Reply>),
    Lead(MessageId, Box<Body>),
    Program(Box<Message>),
}

/// What could not be said yet.
#[derive(Default)]
pub(super) struct Unsaid {
    words: VecDeque<Word>,
    pub again: Again,
}

impl Unsaid {
    pub fn is_too_much(&self) -> bool {
        self.words.len() >= MOST
    }
}

impl Process {
    pub(super) fn answer(&mut self, reply: Reply) {
        self.say(Word::Answer(Box::new(reply)));
    }

    pub(super) fn tell_lead(&mut self, id: MessageId, body: Body) {
        self.say(Word::Lead(id, Box::new(body)));
    }

    pub(super) fn say(&mut self, word: Word) {
        if self.unsaid.words.is_empty() && self.says(&word) {
            return;
        }
        self.unsaid.words.push_back(word);
        self.unsaid.again.later();
    }

    /// Says what could not be said before, as far as that is possible now.
    pub(super) fn say_again(&mut self) {
        while let Some(word) = self.unsaid.words.pop_front() {
            if !self.says(&word) {
                self.unsaid.words.push_front(word);
                return self.unsaid.again.refused();
            }
        }
        self.unsaid.again.done();
    }

    /// The life is over: what cannot be said now never is.
    pub(super) fn last_words(&mut self) {
        for word in std::mem::take(&mut self.unsaid.words) {
            self.says(&word);
        }
        self.unsaid.again.done();
    }

    /// Whether it is said, or never can be.
    fn says(&self, word: &Word) -> bool {
        let (what, said) = match word {
            Word::Answer(reply) => ("answer a verb", self.write_answer(reply)),
            Word::Lead(id, body) => ("tell the lead", self.write_to_lead(*id, body)),
            Word::Program(message) => {
                let dir = &self.context.dir;
                let said = mailbox::deliver(dir, message, Lane::Inbox, Durability::Fast, true).map(drop);
                ("hand the lead's word over", said)
            }
        };
        match said {
            Ok(()) => true,
            Err(error) => {
                tracing::warn!("cannot {what}: {error}");
                !error.may_pass()
            }
        }
    }

    fn write_answer(&self, reply: &Reply) -> Result<(), StoreError> {
        Journal::open(self.context.dir.replies()).append_within(reply, SEGMENT_BYTES, 1).map(drop)
    }

    fn write_to_lead(&self, id: MessageId, body: &Body) -> Result<(), StoreError> {
        let lead = Name::lead();
        let message = Message::new(id, self.context.agent_id.clone(), lead.clone(), body);
        // What is decided must outlast a power cut; a hello is said again by the next life.
        let durability = match body {
            Body::ShutdownResponse { .. } => Durability::Durable,
            _ => Durability::Fast,
        };
        mailbox::deliver(&self.context.desk.dir.member(&lead), &message, Lane::Control, durability, false).map(drop)
    }
}
