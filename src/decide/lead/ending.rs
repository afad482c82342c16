//! What follows when a life is over, and the verbs that end one without a handshake.

use serde_json::{Value, json};

use super::state::{Effect, EventRecord, Finish, Lead, Phase, SHUTDOWN_GRACE, STOP_GRACE, Why};
use crate::decide::plant::{Fault, planted};
use crate::decide::restart;
use crate::model::id::{Life, MessageId};
use crate::model::name::Name;
use crate::model::request::RequestKind;
use crate::model::team::Exit;
use crate::model::time::Timestamp;

/// Reasons a teammate gives in its exit record; the lead acts on these words.
pub mod reason {
    /// The program ended by itself.
    pub const EXITED: &str = "exited";
    /// The shutdown handshake.
    pub const SHUTDOWN: &str = "shutdown";
    /// Ended by `stop`, or by a TERM to the teammate.
    pub const STOPPED: &str = "stopped";
    /// Its pane was closed by a person, or the terminal went away.
    pub const PANE_CLOSED: &str = "pane closed";
    /// The plan was approved; the execution is to follow.
    pub const PLAN_APPROVED: &str = "plan approved";
    /// It did not do what it must, and was ended for it.
    pub const STUCK: &str = "stuck";
    /// The teammate left no record: it was killed.
    pub const KILLED: &str = "killed";
}

/// The exit record of a life that left none.
#[must_use]
pub fn exit_of(life: Life, reason: &str, now: Timestamp) -> Exit {
    Exit { life: Some(life), code: None, signal: None, reason: reason.to_owned(), at: now }
}

impl Lead {
    #[expect(clippy::too_many_arguments, reason = "the fields of one event")]
    pub(super) fn life_ended(
        &mut self,
        name: &Name,
        life: Life,
        exit: Exit,
        last_words: &str,
        left: &[u32],
        now: Timestamp,
        out: &mut Vec<Effect>,
    ) {
        let Some(seat) = self.seats.get_mut(name) else { return };
        // One that was looked for while it is being made is ended again as soon as it is there.
        if seat.life != life || seat.making || matches!(seat.phase, Phase::Out | Phase::Away | Phase::Waiting { .. }) {
            return;
        }
        if self.ledger.open_for(name, RequestKind::Shutdown).is_some_and(|r| r.life == Some(life)) {
            // It went before it could answer; whoever asked wanted it gone.
            seat.say_why(Why::Shutdown);
        }
        let (why, batch) = (seat.why, seat.batch.take());
        seat.stop_by = None;
        let exit = match why {
            // What it says of itself is what it made of our signal.
            Some(Why::Stuck) => Exit { code: None, reason: reason::STUCK.to_owned(), ..exit },
            _ => exit,
        };
        if !left.is_empty() {
            out.push(Effect::Log(EventRecord::of("processes_left", name).with("pids", left)));
        }
        if !planted(Fault::TasksKept) {
            out.push(Effect::ReturnTasks { name: name.clone(), life });
        }
        self.withdraw_life(name, life, out);
        let mut record = EventRecord::of("member_left", name).with("reason", &exit.reason);
        if let Some(code) = exit.code {
            record = record.with("code", code);
        }
        if let Some(signal) = exit.signal {
            record = record.with("signal", signal);
        }
        out.push(Effect::Log(record.with("life", life)));

        let joining = self.team.reserved.iter().any(|m| m.name == *name);
        if let (true, Some(batch)) = (joining, batch) {
            return self.join_failed(name, batch, &described(&exit, last_words, why), out);
        }
        if let Some(batch) = batch {
            self.batches.remove(&batch);
            if why != Some(Why::Restart) {
                self.answer_failed_start(name, &described(&exit, last_words, why), out);
            }
        }
        if let Some(member) = self.team.member_mut(name) {
            member.exit = Some(exit.clone());
        }
        match self.after(name, why, &exit, now) {
            Next::Execute | Next::Again => self.launch_again(name, now, out),
            Next::Later(until) => {
                out.push(Effect::Log(EventRecord::of("member_restarting", name).with("at", until)));
                if let Some(seat) = self.seats.get_mut(name) {
                    seat.phase = Phase::Waiting { until };
                    seat.why = None;
                }
            }
            Next::Out(why_not) => self.out(name, why, &exit, why_not, out),
        }
        out.push(Effect::SaveTeam);
    }

    fn after(&mut self, name: &Name, why: Option<Why>, exit: &Exit, now: Timestamp) -> Next {
        let closing = self.maker_gone;
        let Some(member) = self.team.member(name) else { return Next::Out(None) };
        let (approved, restart) = (member.plan_id.is_some(), member.spec.as_ref().map(|s| s.restart));
        let guest = member.is_guest();
        let Some(seat) = self.seats.get_mut(name) else { return Next::Out(None) };
        match why {
            _ if closing => return Next::Out(None),
            Some(Why::Restart) => return Next::Again,
            Some(Why::Shutdown | Why::Stop | Why::Rollback) => return Next::Out(None),
            Some(Why::Execute) => return Next::Execute,
            Some(Why::Stuck) | None => {}
        }
        if guest && exit.reason != reason::SHUTDOWN {
            // Its program has gone for now; whoever started it may start it again.
            return Next::Again;
        }
        if seat.planning && approved {
            return Next::Execute;
        }
        if seat.lost_terminal && exit.reason == reason::PANE_CLOSED {
            return Next::Again;
        }
        if matches!(exit.reason.as_str(), reason::SHUTDOWN | reason::STOPPED | reason::PANE_CLOSED) {
            return Next::Out(None);
        }
        match restart::decide(restart.unwrap_or_default(), &seat.failures, exit, now) {
            restart::Restart::After(pause) => {
                seat.failures.push(now);
                if std::mem::take(&mut seat.found_dead) { Next::Again } else { Next::Later(now.plus(pause)) }
            }
            restart::Restart::No(why) => Next::Out(Some(why)),
        }
    }

    /// The member has ended for good.
    fn out(&mut self, name: &Name, why: Option<Why>, exit: &Exit, why_not: Option<String>, out: &mut Vec<Effect>) {
        let Some(seat) = self.seats.get_mut(name) else { return };
        seat.phase = Phase::Out;
        seat.why = None;
        let forced = std::mem::take(&mut seat.forced);
        let (askers, starters) = (std::mem::take(&mut seat.on_out), std::mem::take(&mut seat.on_up));
        if let Some(member) = self.team.member_mut(name) {
            member.is_active = false;
            // A pane whose program ended by itself stays, so that a person can read its last words.
            let closes = matches!(why, Some(Why::Shutdown | Why::Stop)) || exit.reason == reason::SHUTDOWN;
            if let (true, Some(pane_id), Some(pid)) = (closes, member.pane_id.take(), member.pid) {
                out.push(Effect::ClosePane { name: name.clone(), pane_id, pid });
            }
        }
        let mut record = EventRecord::of("member_ended", name).with("reason", &exit.reason);
        if let Some(why_not) = &why_not {
            record = record.with("not_restarted", why_not);
        }
        out.push(Effect::Log(record));
        out.push(Effect::CloseMail { name: name.clone(), reason: format!("`{name}` has ended: {}", exit.reason) });
        if self.is_isolated(name) {
            out.push(Effect::SettleTree { name: name.clone() });
        }
        out.push(Effect::SaveTeam);
        for asker in askers {
            self.reply(asker, 0, None, json!({"stopped": [name]}), out);
        }
        for asker in starters {
            let error = Some(format!("`{name}` was not started: it has ended ({})", exit.reason));
            self.reply(asker, 1, error, Value::Null, out);
        }
        self.group_out(name, forced || exit.reason == reason::KILLED);
    }

    fn answer_failed_start(&mut self, name: &Name, reason: &str, out: &mut Vec<Effect>) {
        let askers = self.seats.get_mut(name).map(|s| std::mem::take(&mut s.on_up)).unwrap_or_default();
        for asker in askers {
            self.reply(asker, 1, Some(format!("`{name}` did not start: {reason}")), Value::Null, out);
        }
    }

    pub(super) fn stop(&mut self, asker: MessageId, name: &Name, now: Timestamp, out: &mut Vec<Effect>) {
        let Some(seat) = self.seats.get_mut(name) else { return self.nobody(asker, name, out) };
        match seat.phase {
            Phase::Out => self.reply(asker, 0, None, json!({"stopped": [], "already_ended": [name]}), out),
            Phase::Waiting { .. } | Phase::Away => {
                seat.on_out.push(asker);
                self.out_while_waiting(name, Why::Stop, now, out);
            }
            _ => {
                seat.on_out.push(asker);
                self.end(name, Why::Stop, STOP_GRACE, out);
            }
        }
    }

    /// A member between two lives ends without another one.
    pub(super) fn out_while_waiting(&mut self, name: &Name, why: Why, now: Timestamp, out: &mut Vec<Effect>) {
        let away = self.seats.get(name).filter(|seat| seat.phase == Phase::Away).map(|seat| seat.life);
        let Some(member) = self.team.member_mut(name) else { return };
        if let Some(life) = away {
            // Nobody had come for this life: what it ends by is this word.
            let why = if why == Why::Shutdown { reason::SHUTDOWN } else { reason::STOPPED };
            member.exit = Some(exit_of(life, why, now));
        }
        let Some(exit) = member.exit.clone() else { return };
        self.out(name, Some(why), &exit, None, out);
    }

    pub(super) fn restart(&mut self, asker: MessageId, name: &Name, now: Timestamp, out: &mut Vec<Effect>) {
        let closing = self.maker_gone;
        let Some(seat) = self.seats.get_mut(name) else { return self.nobody(asker, name, out) };
        if closing {
            return self.reply(asker, 4, Some("the team is closing".to_owned()), Value::Null, out);
        }
        let joining = matches!(seat.phase, Phase::Preparing | Phase::Starting { .. } | Phase::Ready);
        if self.team.member(name).is_none() && !joining {
            // Its start is being undone, with all that was to start beside it.
            return self.reply(asker, 7, Some(format!("`{name}` did not start")), Value::Null, out);
        }
        let leaves = matches!(seat.why, Some(Why::Shutdown | Why::Stop | Why::Rollback));
        if leaves || self.asked_to_go(name) {
            let hint = Some(format!("`crewmux restart {name}` starts it again once it has ended"));
            let error = Some(format!("`{name}` is being ended"));
            return self.reply_with_hint(asker, 7, error, hint, Value::Null, out);
        }
        let Some(seat) = self.seats.get_mut(name) else { return };
        seat.on_up.push(asker);
        seat.failures.clear();
        match seat.phase {
            Phase::Out => {
                if let Some(member) = self.team.member_mut(name) {
                    member.is_active = true;
                }
                if !planted(Fault::MailStaysClosed) {
                    out.push(Effect::OpenMail { name: name.clone() });
                }
                self.launch_again(name, now, out);
            }
            Phase::Waiting { .. } => self.launch_again(name, now, out),
            // There is nothing to start, and a place for whoever comes.
            Phase::Away => self.answer_expected(name, out),
            Phase::Preparing | Phase::Starting { .. } | Phase::Ready => {}
            Phase::Up | Phase::Ending => self.end(name, Why::Restart, STOP_GRACE, out),
        }
    }

    /// A teammate that cannot enforce a limit itself is ended; its restart policy decides what follows.
    pub(super) fn stuck(&mut self, name: &Name, life: Life, why: &str, out: &mut Vec<Effect>) {
        if self.seats.get(name).is_some_and(|s| s.life == life && s.phase == Phase::Up) {
            out.push(Effect::Log(EventRecord::of("member_stuck", name).with("reason", why)));
            self.end(name, Why::Stuck, STOP_GRACE, out);
        }
    }

    pub(super) fn nobody(&self, asker: MessageId, name: &Name, out: &mut Vec<Effect>) {
        let error = Some(format!("no member `{name}` in this team"));
        self.reply_with_hint(asker, 3, error, Some("`crewmux status` shows who is there".to_owned()), Value::Null, out);
    }

    /// The maker is gone: an unfinished launch is undone, a tied team is ended by its handshakes.
    pub(super) fn maker_gone(&mut self, now: Timestamp, out: &mut Vec<Effect>) {
        if !self.team.launched {
            return self.abandon_launch("the command that launched the team is gone", out);
        }
        if !self.team.tied_to_maker || self.maker_gone {
            return;
        }
        self.maker_gone = true;
        out.push(Effect::Log(EventRecord::team("maker_gone")));
        let reason = Some("the command that ran this team is gone".to_owned());
        self.ask_everyone(MessageId::derived(&["maker gone"]), reason, SHUTDOWN_GRACE, now, out);
    }

    pub(super) fn finish_if_done(&mut self, out: &mut Vec<Effect>) {
        let nobody = self.seats.values().all(|s| s.phase == Phase::Out);
        if self.maker_gone && nobody && !self.finished {
            self.finished = true;
            out.push(Effect::Finish(Finish::TakeDown));
        }
    }
}

enum Next {
    /// The planning is over: its execution follows.
    Execute,
    Again,
    Later(Timestamp),
    Out(Option<String>),
}

/// How a start failed, with the program's last lines.
fn described(exit: &Exit, last_words: &str, why: Option<Why>) -> String {
    let mut text = match (exit.code, exit.signal) {
        _ if why == Some(Why::Stuck) => "it did not say hello in time".to_owned(),
        (Some(code), _) => format!("its program ended with code {code}"),
        (None, Some(signal)) => format!("its program was ended by signal {signal}"),
        (None, None) => exit.reason.clone(),
    };
    let words = last_words.trim();
    if !words.is_empty() {
        text.push_str("\n  last lines:");
        for line in words.lines() {
            text.push_str("\n  | ");
            text.push_str(line);
        }
    }
    text
}
