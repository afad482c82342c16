//! Joining in two phases: a place is reserved, and becomes a member's when its teammate said hello.
//! What joins together joins whole or not at all.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::state::{Batch, Effect, EventRecord, Finish, Lead, Phase, STOP_GRACE, Seat, Start, Why};
use crate::decide::plant::{Fault, planted};
use crate::model::id::{Life, MessageId, SpawnId};
use crate::model::message::Body;
use crate::model::name::{AgentId, Name};
use crate::model::spec::MemberSpec;
use crate::model::team::Member;
use crate::model::time::Timestamp;

impl Member {
    /// The roster entry of a member that is to join.
    #[must_use]
    pub fn reserve(spec: MemberSpec, team: &Name, spawn_id: SpawnId, now: Timestamp) -> Self {
        Self {
            agent_id: AgentId::new(spec.name.clone(), team.clone()),
            name: spec.name.clone(),
            agent_type: spec.agent_type.clone().unwrap_or_else(|| "general-purpose".to_owned()),
            engine: spec.engine.as_str().to_owned(),
            color: spec.color.clone().unwrap_or_else(|| "default".to_owned()),
            model: spec.model.clone(),
            joined_at: now,
            is_active: true,
            plan_mode_required: spec.plan_mode_required,
            cwd: spec.cwd.clone(),
            worktree: None,
            sandbox: spec.confinement(spec.plan_mode_required, true).as_str().to_owned(),
            pane_id: None,
            pid: None,
            start_time: None,
            life: None,
            restarts: 0,
            exit: None,
            spawn_id,
            plan_id: None,
            spec: Some(spec),
            extra: Map::new(),
        }
    }
}

impl Lead {
    /// Gives each of `names` its next life and launches them together.
    pub(super) fn launch(&mut self, names: &[Name], batch: SpawnId, now: Timestamp, out: &mut Vec<Effect>) {
        let deadline = now.plus(self.team.settings.limits.hello.0);
        let lead_life = self.team.lead_life;
        let (mut starts, mut trees) = (Vec::new(), Vec::new());
        for name in names {
            let Some(entry) = self.entry(name) else { continue };
            let isolated = super::trees::isolated(entry);
            let (spawn_id, planning) = (entry.spawn_id, entry.plan_mode_required && entry.plan_id.is_none());
            let old_pane = entry.pane_id.clone().zip(entry.pid);
            self.starts += 1;
            let count = self.starts.to_string();
            let life = Life::derived(&["life", &spawn_id.to_string(), &lead_life.to_string(), &count]);
            let seat = self.seats.entry(name.clone()).or_insert_with(|| Seat::new(life, Phase::Ending, planning));
            seat.life = life;
            seat.phase = if isolated { Phase::Preparing } else { Phase::Starting { deadline } };
            seat.planning = planning;
            seat.why = None;
            seat.forced = false;
            seat.making = true;
            seat.placed = false;
            seat.lost_terminal = false;
            seat.found_dead = false;
            seat.stop_by = None;
            seat.batch = Some(batch);
            if let Some(entry) = self.entry_mut(name) {
                entry.life = Some(life);
            }
            self.batches.entry(batch).or_default().names.insert(name.clone());
            if isolated {
                trees.push(Effect::MakeTree { name: name.clone(), life });
            } else {
                starts.push(Start { name: name.clone(), life, spawn_id, old_pane });
            }
        }
        out.push(Effect::SaveTeam);
        out.extend(trees);
        if !starts.is_empty() {
            out.push(Effect::Launch(starts));
        }
    }

    /// The next life of a member that is in the roster already.
    pub(super) fn launch_again(&mut self, name: &Name, now: Timestamp, out: &mut Vec<Effect>) {
        if self.team.member(name).is_some_and(Member::is_guest) {
            return self.expect(name, out);
        }
        // The execution of an approved plan is what was wanted, not one more try.
        let executes = self.seats.get(name).is_some_and(|s| s.planning)
            && self.team.member(name).is_some_and(|m| m.plan_id.is_some());
        let batch = self.batch_of_its_own(name);
        if let Some(member) = self.team.member_mut(name) {
            member.restarts += u32::from(!executes);
        }
        self.launch(std::slice::from_ref(name), batch, now, out);
    }

    pub(super) fn batch_of_its_own(&self, name: &Name) -> SpawnId {
        SpawnId::derived(&["again", name.as_str(), &self.starts.to_string(), &self.team.lead_life.to_string()])
    }

    pub(super) fn spawn(
        &mut self,
        asker: MessageId,
        spawn_id: SpawnId,
        spec: MemberSpec,
        now: Timestamp,
        out: &mut Vec<Effect>,
    ) {
        let name = spec.name.clone();
        if let Some(there) = self.entry(&name).cloned() {
            if there.spawn_id == spawn_id {
                // Reserved by an earlier word of the same id, or by the launch: the answer is what becomes of that.
                let reserved = self.team.member(&name).is_none();
                match self.seats.get_mut(&name).filter(|_| reserved) {
                    Some(seat) => seat.on_up.push(asker),
                    None => self.reply(asker, 0, None, spawned(&there), out),
                }
                return;
            }
            let hint = if there.is_active {
                "choose another name; `crewmux status` shows who is there".to_owned()
            } else {
                format!("it has ended: `crewmux restart {name}` starts it again")
            };
            let error = Some(format!("the name `{name}` is taken"));
            return self.reply_with_hint(asker, 7, error, Some(hint), Value::Null, out);
        }
        let earlier = self.team.teammates().chain(&self.team.reserved).find(|m| m.spawn_id == spawn_id);
        if let Some(earlier) = earlier {
            let error = Some(format!("spawn id {spawn_id} is that of `{}`", earlier.name));
            return self.reply(asker, 7, error, Value::Null, out);
        }
        if self.maker_gone {
            return self.reply(asker, 4, Some("the team is closing".to_owned()), Value::Null, out);
        }
        if !self.team.launched {
            // A launch that fails takes everything with it, and this one would have been told that it is there.
            let error = Some("the team is still being launched".to_owned());
            let hint = Some("try again when `crewmux status` shows it".to_owned());
            return self.reply_with_hint(asker, 7, error, hint, Value::Null, out);
        }
        let limit = self.team.settings.limits.max_members;
        let count = self.team.teammates().filter(|m| m.is_active).count() + self.team.reserved.len();
        if count >= limit {
            let error = Some(format!("the team has {count} members, its limit is {limit}"));
            let hint = Some("raise `max_members` under `[limits]` of the spec, or stop a member".to_owned());
            return self.reply_with_hint(asker, 7, error, hint, Value::Null, out);
        }
        let team = self.team.name.clone();
        let mut member = Member::reserve(spec, &team, spawn_id, now);
        member.confine(self.confines);
        if member.is_guest() {
            // Nothing is to be started: it is a member from now on, and its program comes when it comes.
            self.team.members.push(member);
            out.push(Effect::Log(EventRecord::of("member_joined", &name)));
            self.expect(&name, out);
            return self.reply(asker, 0, None, self.team.member(&name).map_or(Value::Null, spawned), out);
        }
        self.team.reserved.push(member);
        self.batches.insert(spawn_id, Batch { askers: vec![asker], ..Batch::default() });
        out.push(Effect::Log(EventRecord::of("member_reserved", &name).with("spawn_id", spawn_id)));
        self.launch(&[name], spawn_id, now, out);
    }

    #[expect(clippy::too_many_arguments, reason = "the fields of one event")]
    pub(super) fn pane_started(
        &mut self,
        name: &Name,
        life: Life,
        pane_id: String,
        pid: u32,
        start_time: String,
        now: Timestamp,
        out: &mut Vec<Effect>,
    ) {
        // A pane that comes up when its life is not wanted any more goes again. One whose life is still being
        // ended closes when that is done.
        let phase = self.seats.get_mut(name).filter(|seat| seat.life == life).map(|seat| {
            seat.making = false;
            seat.phase
        });
        if matches!(phase, None | Some(Phase::Ending | Phase::Waiting { .. } | Phase::Away | Phase::Out)) {
            match phase {
                Some(_) => self.end_late(name, out),
                None => out.push(Effect::EndLife { name: name.clone(), life, grace: STOP_GRACE }),
            }
            let undone = self.team.reserved.iter().any(|m| m.name == *name);
            if phase.is_none() || (phase == Some(Phase::Out) && !undone) {
                out.push(Effect::ClosePane { name: name.clone(), pane_id, pid });
                return;
            }
        }
        if let Some(entry) = self.entry_mut(name) {
            entry.pane_id = Some(pane_id);
            entry.pid = Some(pid);
            entry.start_time = Some(start_time);
        }
        out.push(Effect::SaveTeam);
        let batch = self.seats.get_mut(name).and_then(|seat| {
            seat.placed = true;
            seat.batch
        });
        if let Some(batch) = batch {
            self.complete_if_ready(batch, now, out);
        }
    }

    /// The seat's life turns out to run after it was taken for ended. The next one starts when it is gone.
    pub(super) fn end_late(&mut self, name: &Name, out: &mut Vec<Effect>) {
        let Some(seat) = self.seats.get_mut(name) else { return };
        if matches!(seat.phase, Phase::Waiting { .. }) {
            seat.phase = Phase::Ending;
            seat.why = Some(Why::Restart);
        }
        out.push(Effect::EndLife { name: name.clone(), life: seat.life, grace: STOP_GRACE });
    }

    pub(super) fn pane_failed(&mut self, name: &Name, life: Life, error: &str, now: Timestamp, out: &mut Vec<Effect>) {
        let Some(seat) = self.seats.get_mut(name).filter(|seat| seat.life == life && seat.making) else { return };
        seat.making = false;
        let exit = super::ending::exit_of(life, "no pane", now);
        self.life_ended(name, life, exit, error, &[], now, out);
    }

    #[expect(clippy::too_many_arguments, reason = "the fields of one message")]
    pub(super) fn hello(
        &mut self,
        name: &Name,
        spawn_id: SpawnId,
        life: Life,
        pid: u32,
        start_time: u64,
        now: Timestamp,
        out: &mut Vec<Effect>,
    ) {
        let reserved = self.entry(name).is_some_and(|m| m.spawn_id == spawn_id);
        let Some(seat) = self.seats.get_mut(name).filter(|seat| reserved && seat.life == life) else {
            out.push(Effect::Log(EventRecord::of("hello_refused", name).with("life", life)));
            // Started by an earlier lead, or too late: nobody wants it, and it holds the member's lease.
            if self.seats.values().all(|seat| seat.life != life) && life != self.team.lead_life {
                out.push(Effect::EndLife { name: name.clone(), life, grace: STOP_GRACE });
            }
            return;
        };
        let batch = seat.batch;
        match seat.phase {
            Phase::Starting { .. } => seat.phase = Phase::Ready,
            // Said again after a crash of ours: the answer is the same message.
            Phase::Up => return self.welcome(name, out),
            // Nobody waits for it, and whoever ended it may have looked before its pane came up.
            Phase::Ending | Phase::Waiting { .. } | Phase::Out => return self.end_late(name, out),
            Phase::Away => return self.came(name, pid, start_time, out),
            Phase::Ready | Phase::Preparing => return,
        }
        if let Some(entry) = self.entry_mut(name) {
            entry.pid = Some(pid);
            entry.start_time = Some(start_time.to_string());
        }
        if let Some(batch) = batch {
            self.complete_if_ready(batch, now, out);
        }
    }

    /// A batch is complete when all of it said hello and the panes are known: who is told that a member is there
    /// finds its pane in the roster.
    fn complete_if_ready(&mut self, id: SpawnId, now: Timestamp, out: &mut Vec<Effect>) {
        let ready = |n: &Name| self.seats.get(n).is_some_and(|s| s.phase == Phase::Ready && s.placed);
        let enough = |names: &BTreeSet<Name>| match planted(Fault::JoinedInPart) {
            true => names.iter().any(ready),
            false => names.iter().all(ready),
        };
        if self.batches.get(&id).is_some_and(|b| b.failed.is_none() && enough(&b.names)) {
            self.complete_batch(id, now, out);
        }
    }

    /// Everyone of a batch said hello: one roster write, then the welcomes and the answers.
    pub(super) fn complete_batch(&mut self, id: SpawnId, now: Timestamp, out: &mut Vec<Effect>) {
        let Some(batch) = self.batches.remove(&id) else { return };
        for name in &batch.names {
            if let Some(at) = self.team.reserved.iter().position(|m| m.name == *name) {
                let mut member = self.team.reserved.remove(at);
                member.joined_at = now;
                self.team.members.push(member);
                out.push(Effect::Log(EventRecord::of("member_joined", name)));
            } else {
                out.push(Effect::Log(EventRecord::of("member_restarted", name)));
            }
            if let Some(member) = self.team.member_mut(name) {
                member.is_active = true;
                member.exit = None;
            }
        }
        if batch.is_launch {
            self.team.launched = true;
            out.push(Effect::Log(EventRecord::team("team_launched").with("members", batch.names.len())));
        }
        if !planted(Fault::ToldTooEarly) {
            out.push(Effect::SaveTeam);
        }
        for name in &batch.names {
            let mut askers = Vec::new();
            if let Some(seat) = self.seats.get_mut(name) {
                seat.phase = Phase::Up;
                seat.batch = None;
                askers = std::mem::take(&mut seat.on_up);
            }
            self.welcome(name, out);
            let answer = self.team.member(name).map_or(Value::Null, spawned);
            for asker in askers.iter().chain(&batch.askers) {
                self.reply(*asker, 0, None, answer.clone(), out);
            }
        }
    }

    pub(super) fn welcome(&self, name: &Name, out: &mut Vec<Effect>) {
        let (Some(member), Some(seat)) = (self.team.member(name), self.seats.get(name)) else { return };
        let body = Box::new(Body::Welcome { spawn_id: member.spawn_id, life: seat.life });
        let id = MessageId::derived(&["welcome", &seat.life.to_string()]);
        out.push(Effect::Mail { to: name.clone(), id, body });
    }

    /// A life that never joined has ended: its whole batch is undone.
    pub(super) fn join_failed(&mut self, name: &Name, id: SpawnId, reason: &str, out: &mut Vec<Effect>) {
        let Some(batch) = self.batches.get_mut(&id) else { return };
        let first = batch.failed.is_none();
        if first {
            batch.failed = Some(format!("`{name}` did not start: {reason}"));
            out.push(Effect::Log(EventRecord::of("spawn_failed", name).with("reason", reason)));
        }
        let others: Vec<Name> = batch.names.iter().filter(|n| *n != name).cloned().collect();
        if first {
            for other in &others {
                self.end(other, Why::Rollback, STOP_GRACE, out);
            }
        }
        if let Some(seat) = self.seats.get_mut(name) {
            seat.phase = Phase::Out;
        }
        let all_out = |lead: &Self| {
            lead.batches
                .get(&id)
                .is_some_and(|b| b.names.iter().all(|n| lead.seats.get(n).is_none_or(|s| s.phase == Phase::Out)))
        };
        if !all_out(self) {
            return;
        }
        let Some(batch) = self.batches.remove(&id) else { return };
        let error = batch.failed.unwrap_or_default();
        for name in &batch.names {
            let seat = self.seats.remove(name);
            let (starters, stoppers) = seat.map(|s| (s.on_up, s.on_out)).unwrap_or_default();
            for asker in stoppers {
                self.reply(asker, 0, None, json!({"stopped": [name]}), out);
            }
            for asker in starters {
                self.reply(asker, 1, Some(error.clone()), Value::Null, out);
            }
            self.group_out(name, false);
            if let Some(at) = self.team.reserved.iter().position(|m| m.name == *name) {
                let member = self.team.reserved.remove(at);
                if super::trees::isolated(&member) {
                    out.push(Effect::SettleTree { name: name.clone() });
                }
                if let (false, Some(pane_id), Some(pid)) = (batch.is_launch, member.pane_id, member.pid) {
                    out.push(Effect::ClosePane { name: name.clone(), pane_id, pid });
                }
            }
        }
        out.push(Effect::SaveTeam);
        for asker in batch.askers {
            self.reply(asker, 1, Some(error.clone()), Value::Null, out);
        }
        if batch.is_launch && !self.finished {
            self.finished = true;
            out.push(Effect::Log(EventRecord::team("launch_failed").with("reason", &error)));
            out.push(Effect::Finish(Finish::LaunchFailed(error)));
        }
    }

    /// Ends a launch that nobody waits for any more.
    pub(super) fn abandon_launch(&mut self, reason: &str, out: &mut Vec<Effect>) {
        let Some((&id, _)) = self.batches.iter().find(|(_, b)| b.is_launch) else { return };
        let names: Vec<Name> = self.batches.get(&id).map(|b| b.names.iter().cloned().collect()).unwrap_or_default();
        if let Some(batch) = self.batches.get_mut(&id) {
            batch.failed.get_or_insert_with(|| reason.to_owned());
        }
        for name in names {
            self.end(&name, Why::Rollback, STOP_GRACE, out);
        }
    }
}

impl Seat {
    pub(super) fn new(life: Life, phase: Phase, planning: bool) -> Self {
        Self {
            life,
            phase,
            stop_by: None,
            why: None,
            forced: false,
            making: false,
            placed: false,
            lost_terminal: false,
            found_dead: false,
            planning,
            failures: Vec::new(),
            batch: None,
            on_up: Vec::new(),
            on_out: Vec::new(),
        }
    }
}

pub(super) fn spawned(member: &Member) -> Value {
    json!({"agent_id": member.agent_id, "pane_id": member.pane_id, "pid": member.pid, "life": member.life})
}
