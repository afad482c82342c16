//! The member's own verbs: lines in its outbox, carried out here and answered in its replies.

use serde_json::json;

use super::context::Context;
use super::mail::Inbox;
use super::sandbox;
use crate::act::client::ASKED;
use crate::act::outbox::{Reply, Wish};
use crate::act::{ActError, Answer, Done, Verb, Who, act};
use crate::decide::teammate::{Effect, Event, Teammate};
use crate::model::id::{RequestId, TaskId};
use crate::model::request::RequestKind;
use crate::os::clock;
use crate::store::{Durability, Journal, StoreError, Tail, hole, journal};

/// An outbox longer than this is rotated, in bytes.
const SEGMENT_BYTES: u64 = 8 * 1024 * 1024;

/// So much of an outbox is read in one look.
const BATCH_BYTES: usize = 1024 * 1024;

/// The outbox as this life reads it: what earlier lives wrote is void.
pub(super) struct Outbox {
    tail: Tail,
    /// Up to this byte the file takes no room any more.
    emptied: u64,
    /// The last look did not come to the end.
    more: bool,
}

/// What carrying a verb out means for the teammate itself.
#[derive(Default)]
pub(super) struct Outcome {
    pub effects: Vec<Effect>,
    pub events: Vec<Event>,
    /// The program said that it is ready.
    pub ready: bool,
}

impl Outbox {
    pub fn open(context: &Context) -> Result<Self, StoreError> {
        begin_anew(context)?;
        Ok(Self { tail: Tail::end(context.dir.outbox())?, emptied: 0, more: false })
    }

    /// The next wishes. Not all of them at once: whoever writes without end must not keep its teammate from what else is to
    /// be done; [`Self::has_more`] says to come again. Also answers to what is no verb.
    pub fn poll(&mut self, context: &Context) -> Result<(Vec<Wish>, Vec<Reply>), StoreError> {
        let (mut wishes, mut refused) = (Vec::new(), Vec::new());
        let batch = self.tail.read(BATCH_BYTES)?;
        for line in &batch.lines {
            match line.parse::<Wish>() {
                Ok(wish) if wish.life == context.place.life => wishes.push(wish),
                Ok(_) => {}
                Err(error) if line.marker.is_none() => refused.extend(unreadable(&line.json, &error)),
                Err(_) => {}
            }
        }
        self.more = batch.more;
        self.make_room();
        Ok((wishes, refused))
    }

    pub fn has_more(&self) -> bool {
        self.more
    }

    /// What was read is of no use to anyone, and whoever writes much must not fill the disk with it.
    fn make_room(&mut self) {
        if self.tail.position().offset.saturating_sub(self.emptied) <= SEGMENT_BYTES {
            return;
        }
        match hole::empty_read(&self.tail, self.emptied) {
            Ok(emptied) => self.emptied = self.emptied.max(emptied),
            Err(error) => tracing::warn!("{error}"),
        }
    }
}

/// The answer to a line that is JSON but no verb of ours: whoever wrote it may still wait for one.
fn unreadable(json: &str, error: &serde_json::Error) -> Option<Reply> {
    #[derive(serde::Deserialize)]
    struct Id {
        id: crate::model::id::MessageId,
    }
    let Id { id } = serde_json::from_str(json).ok()?;
    let refused = ActError::usage("that is not a verb of this version").cause(error.to_string());
    Some(Reply::new(id, Err(refused)))
}

/// A long outbox of earlier lives gives way to a new file. Only now: no program of this life runs yet, whose sandbox
/// would know the old one.
fn begin_anew(context: &Context) -> Result<(), StoreError> {
    let path = context.dir.outbox();
    if sandbox::confines(context) {
        context.dir.make_own_words()?;
    }
    if !std::fs::metadata(&path).is_ok_and(|file| file.len() > SEGMENT_BYTES) {
        return Ok(());
    }
    let outbox = Journal::open(&path);
    let mut locked = outbox.lock()?;
    let rotated = locked.rotate_if(SEGMENT_BYTES)?;
    if rotated {
        locked.keep_older(1)?;
    }
    locked.finish(Durability::Fast)?;
    if rotated { journal::touch(&path) } else { Ok(()) }
}

/// Carries one verb out in the member's name.
pub(super) fn carry_out(
    context: &mut Context,
    teammate: &mut Teammate,
    inbox: &mut Inbox,
    wish: Wish,
) -> (Reply, Outcome) {
    let mut outcome = Outcome::default();
    let id = wish.id;
    let result = perform(context, teammate, inbox, wish, &mut outcome);
    (Reply::new(id, result), outcome)
}

fn perform(
    context: &mut Context,
    teammate: &mut Teammate,
    inbox: &mut Inbox,
    wish: Wish,
    outcome: &mut Outcome,
) -> Result<Answer, ActError> {
    let me = context.place.member.clone();
    let who = match context.desk.team()?.is_led_by(&me) {
        true => Who::leader(me, context.place.life),
        false => Who::member(me, context.place.life),
    };
    match wish.verb {
        Verb::Ready => {
            outcome.ready = true;
            Ok(Answer::of(json!({"ready": true})))
        }
        Verb::Ack { ids, up_to } => Ok(Answer::of(json!({"read": inbox.ack(&ids, up_to)?}))),
        Verb::Decide { request_id, approve, feedback, .. } if own_shutdown(context, teammate, request_id)? => {
            let effects = teammate
                .own_decision(request_id, approve, feedback)
                .map_err(|(code, text)| ActError::new(code, text))?;
            outcome.effects = effects;
            let state = if approve { "approved" } else { "rejected" };
            Ok(Answer::of(json!({"id": request_id, "state": state})))
        }
        verb => {
            let about = Concern::of(&verb);
            let done = act(&mut context.desk, &who, wish.id, verb)?;
            let answer = match done {
                Done::Answer(answer) => answer,
                Done::Asked(id) => Answer::of(json!({ (ASKED): id })),
            };
            outcome.events.extend(about.event(&answer));
            Ok(answer)
        }
    }
}

/// Whether a request is this member's own shutdown, be it open or decided already.
fn own_shutdown(context: &mut Context, teammate: &Teammate, id: RequestId) -> Result<bool, ActError> {
    if teammate.asked().is_some_and(|(asked, _)| asked == id) {
        return Ok(true);
    }
    let request = context.desk.ledger.view()?.0.get(id);
    Ok(request.is_some_and(|r| r.kind == RequestKind::Shutdown && r.member == context.place.member))
}

/// What a verb of the program means for its teammate's state.
enum Concern {
    Claim,
    End,
    Plan,
    Permission,
    Withdrawal,
    Nothing,
}

impl Concern {
    fn of(verb: &Verb) -> Self {
        match verb {
            Verb::TaskClaim { .. } => Self::Claim,
            Verb::TaskDone { .. } | Verb::TaskFail { .. } | Verb::TaskRelease { .. } => Self::End,
            Verb::SubmitPlan { .. } => Self::Plan,
            Verb::RequestPermission { .. } => Self::Permission,
            Verb::Withdraw { .. } => Self::Withdrawal,
            _ => Self::Nothing,
        }
    }

    fn event(&self, answer: &Answer) -> Option<Event> {
        let id = || answer.value["id"].as_str();
        let task = || id().and_then(|id| id.parse::<TaskId>().ok());
        match self {
            Self::Claim => Some(Event::TaskTaken { id: task()?, epoch: answer.value["epoch"].as_u64()? }),
            Self::End => Some(Event::TaskLeft { id: task()? }),
            Self::Plan => Some(Event::PlanSubmitted(id()?.parse().ok()?)),
            Self::Permission => Some(Event::PermissionAsked(id()?.parse().ok()?)),
            Self::Withdrawal => Some(Event::PermissionWithdrawn(id()?.parse().ok()?)),
            Self::Nothing => None,
        }
    }
}

/// A time-ordered id for a message of the teammate's own.
pub(super) fn fresh_id() -> crate::model::id::MessageId {
    clock::new_message_id()
}
