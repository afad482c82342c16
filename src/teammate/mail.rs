//! A member's mail as its teammate hands it over.

use serde_json::json;

use super::context::Context;
use super::engine::command::Command;
use crate::act::send::read_text;
use crate::model::id::MessageId;
use crate::model::message::{Lane, Priority};
use crate::model::spec::{Deliver, EngineKind};
use crate::store::StoreError;
use crate::store::intake::{Intake, Queued, Waiting};

/// Most messages of one prompt, and most bytes of them on file.
const BATCH: usize = 64;
const BATCH_BYTES: u64 = 256 * 1024;

/// The data lane on its way to the engine.
pub(super) struct Inbox {
    intake: Intake,
    /// With the engine, not confirmed yet.
    on_the_way: Vec<MessageId>,
}

impl Inbox {
    pub fn open(context: &Context) -> Result<Self, StoreError> {
        Ok(Self { intake: Intake::open(&context.dir, Lane::Inbox)?, on_the_way: Vec::new() })
    }

    pub fn queued(&self) -> u64 {
        (self.intake.waiting().len() + self.on_the_way.len()) as u64
    }

    /// Reads what is new.
    pub fn poll(&mut self) -> Result<usize, StoreError> {
        self.intake.poll()
    }

    /// Hands the next batch to a program that takes mail on its input or as a paste; `now` before `next`
    /// before `later`, first in first out within each.
    pub fn hand_over(&mut self, context: &Context, engine: &Command) -> Result<(), StoreError> {
        let deliver = context.spec.deliver;
        if deliver == Deliver::Mailbox || !self.on_the_way.is_empty() || self.intake.waiting().is_empty() {
            return Ok(());
        }
        // A paste is one message: each ends with its own Enter.
        let most = if deliver == Deliver::Paste { 1 } else { 64 };
        // The queue is in order already, so the first few of each priority are enough.
        let mut firsts: [Vec<MessageId>; 3] = Default::default();
        for waiting in self.intake.waiting() {
            let same = &mut firsts[match waiting.priority {
                Priority::Now => 0,
                Priority::Next => 1,
                Priority::Later => 2,
            }];
            if same.len() < most {
                same.push(waiting.id);
            }
        }
        let ids: Vec<MessageId> = firsts.into_iter().flatten().take(most).collect();
        let mut batch = self.intake.begin(&ids)?;
        batch.sort_by_key(|w| (w.message.priority, w.seq));
        let mut bytes = Vec::new();
        for waiting in &batch {
            match deliver {
                Deliver::Paste => bytes.extend(text(context, waiting).into_bytes()),
                _ => bytes.extend(line(context, waiting)),
            }
        }
        debug_assert!(batch.len() <= most);
        self.on_the_way = batch.iter().map(|w| w.id).collect();
        engine.deliver(self.on_the_way.clone(), bytes);
        Ok(())
    }

    /// The next batch for an agent, in the order in which it is to be read. It counts as handed over; whether it was
    /// read, the end of the turn says.
    pub fn take_batch(&mut self) -> Result<Vec<Waiting>, StoreError> {
        if self.intake.waiting().is_empty() {
            return Ok(Vec::new());
        }
        let mut order: Vec<&Queued> = self.intake.waiting().iter().collect();
        order.sort_by_key(|w| (w.priority, w.seq));
        let mut bytes = 0;
        let within = |w: &&Queued| {
            bytes += w.line_bytes();
            bytes < BATCH_BYTES
        };
        let mut ids: Vec<MessageId> = order.iter().take(BATCH).copied().take_while(within).map(|w| w.id).collect();
        if ids.is_empty() {
            ids.extend(order.first().map(|w| w.id));
        }
        let mut batch = self.intake.begin(&ids)?;
        batch.sort_by_key(|w| (w.message.priority, w.seq));
        self.intake.finish()?;
        Ok(batch)
    }

    /// Who sent the first message that is not to wait.
    pub fn urgent(&self) -> Result<Option<String>, StoreError> {
        let Some(urgent) = self.intake.waiting().iter().find(|w| w.priority == Priority::Now) else {
            return Ok(None);
        };
        Ok(self.intake.peek(urgent)?.map(|message| message.from.name.to_string()))
    }

    /// The turn that took these is over.
    pub fn read(&mut self, ids: &[MessageId]) -> Result<(), StoreError> {
        self.intake.mark_read(ids)
    }

    /// The turn that took these broke.
    pub fn give_back(&mut self, ids: &[MessageId]) -> Result<(), StoreError> {
        self.intake.give_back(ids)
    }

    /// What the last life's agent took and did not answer.
    pub fn give_back_unread(&mut self) -> Result<(), StoreError> {
        self.intake.give_back_unread()
    }

    /// The engine has these: they are handed over, and as its input they are read.
    pub fn arrived(&mut self, ids: &[MessageId]) -> Result<(), StoreError> {
        debug_assert!(ids.iter().all(|id| self.on_the_way.contains(id)));
        self.on_the_way.clear();
        self.intake.finish_read().map(drop)
    }

    /// The engine took nothing: the messages wait for the next life, marked.
    pub fn came_back(&mut self) -> Result<(), StoreError> {
        self.on_the_way.clear();
        self.intake.abandon()
    }

    /// A worker reads its mail itself: everything that waits, at once.
    pub fn take_all(&mut self) -> Result<Vec<Waiting>, StoreError> {
        let ids: Vec<MessageId> = self.intake.waiting().iter().map(|w| w.id).collect();
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let taken = self.intake.begin(&ids)?;
        self.intake.finish_read()?;
        Ok(taken)
    }

    /// `inbox --ack`: these are read, or all up to a seq. How many were not before.
    pub fn ack(&mut self, ids: &[MessageId], up_to: Option<u64>) -> Result<usize, StoreError> {
        self.intake.poll()?;
        crate::act::ack_with(&mut self.intake, ids, up_to)
    }
}

/// One message as a JSON line, as on file, with a blob's text put in.
fn line(context: &Context, waiting: &Waiting) -> Vec<u8> {
    let mut message = json!(waiting.message);
    if let Some(map) = message.as_object_mut() {
        map.insert("seq".to_owned(), json!(waiting.seq));
        map.insert("ts".to_owned(), json!(waiting.ts));
        if waiting.redelivered {
            map.insert("redelivered".to_owned(), json!(true));
        }
        if waiting.message.body.get("blob").is_some() {
            map.insert("body".to_owned(), json!({"content": text(context, waiting)}));
        }
    }
    let mut bytes = message.to_string().into_bytes();
    bytes.push(b'\n');
    bytes
}

/// What a person would read.
pub(super) fn text(context: &Context, waiting: &Waiting) -> String {
    read_text(&context.desk.dir, &waiting.message)
        .unwrap_or_else(|| waiting.message.summary.clone().unwrap_or_else(|| waiting.message.kind.clone()))
}

/// Whether mail is pushed to the program rather than fetched by it.
pub(super) fn pushes(context: &Context) -> bool {
    context.spec.engine == EngineKind::Acp
        || context.spec.engine == EngineKind::Command && context.spec.deliver != Deliver::Mailbox
}
