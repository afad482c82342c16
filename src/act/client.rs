//! Calling verbs from a shell: directly as the operator, or through the outbox as a member.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use super::desk::Desk;
use super::door::{Done, act};
use super::error::ActError;
use super::hooks;
use super::outbox::{Reply, Wish};
use super::verb::{Answer, Verb};
use super::who::{Descent, Who};
use crate::model::id::{Life, MessageId};
use crate::model::message::{Body, Message};
use crate::model::name::Name;
use crate::os::clock;
use crate::store::{Durability, Home, Journal, Tail, Watch, lease};

/// How long a reply is waited for when nothing else limits it.
const PATIENCE: Duration = Duration::from_secs(120);
/// A wait first looks again this often, since most answers come within a millisecond or two.
const EAGER: Duration = Duration::from_micros(200);
/// How long it looks eagerly before it leaves the waiting to the kernel.
const EAGER_FOR: Duration = Duration::from_millis(20);
/// How often a waiter checks that the one it waits for still lives.
const ALIVE_CHECK: Duration = Duration::from_millis(250);

/// A caller of verbs on one team.
pub struct Client {
    pub desk: Desk,
    /// Whoever waits for a hook stops when this is set.
    pub interrupted: Option<&'static AtomicBool>,
    caller: Caller,
}

/// In a teammate's answer: the message by which the lead was asked.
pub const ASKED: &str = "asked_of_lead";

enum Caller {
    Operator,
    Member { name: Name, life: Life },
}

impl Client {
    /// Opens `team` as whoever this process is there: the member it descends from, else the operator,
    /// who may act for `member`.
    ///
    /// # Errors
    /// No such team or member, or a member that tries to act for another.
    pub fn open(home: &Home, team: &Name, member: Option<&Name>) -> Result<Self, ActError> {
        let mut desk = Desk::open(home, team)?;
        let own = Descent::find().filter(|d| d.is_of(home, team));
        let caller = match (own, member) {
            (Some(own), Some(other)) if own.member != *other => {
                let me = own.member;
                return Err(ActError::forbidden(format!("`{me}` cannot act for `{other}`")));
            }
            (Some(own), _) => Caller::Member { name: own.member, life: own.life },
            (None, Some(name)) => {
                let life = desk.member(name)?.life;
                match life.filter(|_| !name.is_lead()) {
                    Some(life) => Caller::Member { name: name.clone(), life },
                    None => Caller::Operator,
                }
            }
            (None, None) => Caller::Operator,
        };
        Ok(Self { desk, interrupted: None, caller })
    }

    /// Opens `team` as the member that this process itself is, in this life.
    ///
    /// # Errors
    /// No such team or member.
    pub fn of_member(home: &Home, team: &Name, name: &Name, life: Life) -> Result<Self, ActError> {
        let desk = Desk::open(home, team)?;
        Ok(Self { desk, interrupted: None, caller: Caller::Member { name: name.clone(), life } })
    }

    /// Who this process is in the team.
    #[must_use]
    pub fn name(&self) -> Name {
        match &self.caller {
            Caller::Operator => Name::operator(),
            Caller::Member { name, .. } => name.clone(),
        }
    }

    #[must_use]
    pub fn is_operator(&self) -> bool {
        matches!(self.caller, Caller::Operator)
    }

    /// Does a verb and waits for what it comes to.
    ///
    /// # Errors
    /// What `act` or the lead refuses with; nobody to ask (6); no answer in time (5).
    pub fn perform(&mut self, verb: Verb) -> Result<Answer, ActError> {
        self.perform_within(verb, PATIENCE)
    }

    /// [`Client::perform`] with its own limit.
    ///
    /// # Errors
    /// As [`Client::perform`].
    pub fn perform_within(&mut self, verb: Verb, patience: Duration) -> Result<Answer, ActError> {
        let id = clock::new_message_id();
        match &self.caller {
            Caller::Operator => {
                hooks::run(&mut self.desk, &verb, self.interrupted)?;
                let mut replies = Tail::end(self.desk.dir.member(&Name::lead()).control())?;
                match act(&mut self.desk, &Who::operator(), id, verb)? {
                    Done::Answer(answer) => Ok(answer),
                    Done::Asked(asked) => lead_reply(&self.desk, &mut replies, asked, patience),
                }
            }
            Caller::Member { name, life } => {
                let (name, life) = (name.clone(), *life);
                // Its teammate asks a hook first.
                let hook = hooks::patience(&mut self.desk, &verb)?;
                let mut replies = Tail::end(self.desk.dir.member(&Name::lead()).control())?;
                let answer = self.by_outbox(&name, Wish { id, life, verb }, patience.saturating_add(hook))?;
                // What the agent that leads asks of the lead is answered as the operator is.
                match answer.value[ASKED].as_str().and_then(|id| id.parse().ok()) {
                    Some(asked) => lead_reply(&self.desk, &mut replies, asked, patience),
                    None => Ok(answer),
                }
            }
        }
    }

    fn by_outbox(&mut self, name: &Name, wish: Wish, patience: Duration) -> Result<Answer, ActError> {
        let dir = self.desk.dir.member(name);
        let lease = dir.lease();
        if !lease::is_held(&lease)? {
            return Err(gone(name));
        }
        let mut replies = Tail::end(dir.replies())?;
        Journal::open(dir.outbox()).append(&wish, Durability::Fast)?;
        let mut alive = Instant::now();
        let answer = wait(&[dir.path()], patience, || {
            for line in replies.read(1 << 20)?.lines {
                match line.parse::<Reply>() {
                    Ok(reply) if reply.to == wish.id => return Ok(Some(reply)),
                    _ => {}
                }
            }
            if alive.elapsed() > ALIVE_CHECK {
                alive = Instant::now();
                // What another life holds by now: the one that was asked answers no more.
                let other = lease::text(&lease).is_some_and(|text| text.life != wish.life);
                if other || !lease::is_held(&lease)? {
                    return Err(gone(name));
                }
            }
            Ok(None)
        })?;
        match answer {
            Some(reply) => reply.into_result(),
            None => Err(ActError::timed_out(format!("the teammate of `{name}` did not answer within {patience:?}"))
                .hint("the verb lies in its outbox and may still be done; `crewmux status` shows its state")),
        }
    }
}

fn gone(name: &Name) -> ActError {
    ActError::new(6, format!("the teammate of `{name}` is not running"))
        .hint(format!("`crewmux restart {name}` starts it again; `crewmux status` shows its state"))
}

fn lead_reply(desk: &Desk, replies: &mut Tail, asked: MessageId, patience: Duration) -> Result<Answer, ActError> {
    let dir = desk.dir.member(&Name::lead());
    let mut alive = Instant::now();
    let reply = wait(&[dir.mail_dir()], patience, || {
        for line in replies.read(1 << 20)?.lines {
            let Ok(message) = line.parse::<Message>() else { continue };
            if message.kind != "reply" {
                continue;
            }
            match message.typed() {
                Some(Body::Reply { to, code, error, hint, answer }) if to == asked => {
                    return Ok(Some((code, error, hint, answer)));
                }
                _ => {}
            }
        }
        if alive.elapsed() > ALIVE_CHECK {
            alive = Instant::now();
            if !desk.lead_alive()? {
                return Err(ActError::no_lead(&desk.name).cause("it went away while it was asked"));
            }
        }
        Ok(None)
    })?;
    match reply {
        Some((0, _, _, value)) => Ok(Answer::of(value)),
        Some((code, error, hint, _)) => {
            let mut refused = ActError::new(code, error.unwrap_or_else(|| "the lead refused".to_owned()));
            refused.hints.extend(hint);
            Err(refused)
        }
        None => Err(ActError::timed_out(format!("the lead did not answer within {patience:?}"))
            .hint("`crewmux status` shows what it is at")),
    }
}

/// Asks `look` until it has an answer or `patience` is over: eagerly at first, then when something in
/// one of `dirs` changes. It also looks by itself from time to time, so that a lost wake-up costs a moment only.
///
/// # Errors
/// Whatever `look` fails with.
pub fn wait<T>(
    dirs: &[impl AsRef<std::path::Path>],
    patience: Duration,
    mut look: impl FnMut() -> Result<Option<T>, ActError>,
) -> Result<Option<T>, ActError> {
    let start = Instant::now();
    while start.elapsed() < EAGER_FOR.min(patience) {
        if let Some(found) = look()? {
            return Ok(Some(found));
        }
        std::thread::sleep(EAGER);
    }
    let mut watch = Watch::start(dirs);
    loop {
        if let Some(found) = look()? {
            return Ok(Some(found));
        }
        let left = patience.saturating_sub(start.elapsed());
        if left.is_zero() {
            return Ok(None);
        }
        watch.wait_blocking(left.min(ALIVE_CHECK));
    }
}
