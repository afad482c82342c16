//! Carrying out what the lead decided, in order.

use std::collections::VecDeque;
use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;

use super::ends::end_all;
use super::panes::teammate_pane;
use super::run::Process;
use crate::decide::lead::{Effect, Event, EventRecord, Start};
use crate::model::id::RequestId;
use crate::model::message::Lane;
use crate::model::name::Name;
use crate::os::process;
use crate::store::{Journal, MemberDir, StoreError, document, intake::Intake, mailbox};
use crate::tmux::{Pane, PaneSpec};

/// A segment of `dead.jsonl` longer than this, in bytes, is followed by a new one …
const DEAD_BYTES: u64 = 64 * 1024 * 1024;
/// … and so many older ones stay.
const DEAD_KEPT: usize = 4;
/// After this the disk is asked again to take what it refused.
const AGAIN: Duration = Duration::from_millis(500);

impl Process {
    /// Carries out whatever has been decided, and what follows from it, until nothing is left.
    pub(super) async fn settle(&mut self) {
        if self.again.is_some_and(|at| Instant::now() < at) {
            return;
        }
        self.again = None;
        while !self.pending.is_empty() && self.again.is_none() {
            let effects = std::mem::take(&mut self.pending);
            self.carry(effects).await;
        }
        if self.again.is_none() && self.save() {
            self.held_up = false;
            self.say_again();
            if self.unsaid.is_empty() {
                self.mail_is_done();
            }
        }
    }

    /// Carries out what was decided, in order. What the disk refuses is tried again a moment later, and all that follows
    /// waits for it: nobody is told of what is not on disk.
    pub(super) async fn carry(&mut self, effects: Vec<Effect>) {
        let mut effects = VecDeque::from(together(effects));
        let mut ends = Vec::new();
        while let Some(effect) = effects.pop_front() {
            if !self.on_disk(&effect) {
                effects.push_front(effect);
                effects.extend(std::mem::take(&mut self.pending));
                self.pending = effects.into();
                break;
            }
            match effect {
                Effect::SaveTeam => self.roster_dirty = true,
                Effect::Log(record) => self.log(&record),
                Effect::Ledger(_) | Effect::ReturnStale { .. } | Effect::CloseMail { .. } | Effect::OpenMail { .. } => {
                }
                Effect::ReturnTasks { life, .. } => drop(self.teammates.remove(&life)),
                Effect::Mail { to, id, body } => self.mail(to, id, body),
                Effect::WritePlan { id, text } => self.write_plan(id, &text),
                Effect::Launch(starts) => self.launch(starts),
                Effect::Expect { name } => self.expect(&name),
                Effect::Watch { name, life } => self.ending(&name, life).watch(),
                Effect::MakeTree { name, life } => self.make_tree(&name, life),
                Effect::SettleTree { name } => self.settle_tree(&name),
                Effect::EndLife { name, life, grace } => ends.push((self.ending(&name, life), grace)),
                Effect::ClosePane { pane_id, pid, .. } => {
                    // Asked to end first: a closed pane would be taken for a person's wish.
                    end_all(std::mem::take(&mut ends));
                    if let Some(tmux) = &self.tmux
                        && let Err(error) = tmux.close_panes(&[(pane_id, pid)]).await
                    {
                        tracing::warn!("cannot close a pane: {error}");
                    }
                }
                Effect::Finish(finish) => self.finish = Some(finish),
            }
        }
        end_all(ends);
    }

    /// Puts on disk what the effect needs, or is; whether that is there now.
    fn on_disk(&mut self, effect: &Effect) -> bool {
        match effect {
            effect if self.keeps_note(effect) => true,
            Effect::Ledger(record) => {
                let kept = self.ledger.update(|_, _| Ok::<_, std::convert::Infallible>(((), vec![record.clone()])));
                kept.map_err(|error| self.hold_up("write the ledger", &error)).is_ok()
            }
            // What is told must be true on disk first.
            Effect::Mail { .. } | Effect::Launch(_) | Effect::MakeTree { .. } | Effect::Finish(_) => self.save(),
            Effect::ReturnTasks { name, life } => {
                let returned = self.return_tasks(name, *life);
                self.is_kept("return the tasks of an ended life", returned)
            }
            Effect::ReturnStale { name, current } => {
                let returned = self.return_stale(name, *current);
                self.is_kept("return the tasks of ended lives", returned)
            }
            Effect::CloseMail { name, reason } => {
                let closed = close_mail(self, name, reason).map(|count| {
                    if count > 0 {
                        self.log(&EventRecord::of("mail_undelivered", name).with("count", count));
                    }
                });
                self.is_kept("close a mailbox", closed)
            }
            Effect::OpenMail { name } => {
                let opened = mailbox::reopen(&self.desk.dir.member(name), "its member is started again");
                self.is_kept("open a mailbox", opened)
            }
            _ => true,
        }
    }

    /// What the disk refused waits; for a lock that somebody keeps, all others must not.
    fn is_kept(&mut self, what: &str, result: Result<(), StoreError>) -> bool {
        match result {
            Ok(()) => return true,
            Err(error @ StoreError::Io { .. }) => self.hold_up(what, &error),
            Err(error) => {
                self.trouble(what, &error);
                return true;
            }
        }
        false
    }

    /// One write of the roster for everything that changed since the last. Whether it is written.
    fn save(&mut self) -> bool {
        if !self.roster_dirty {
            return true;
        }
        let team = self.lead.team.clone();
        let written = self.roster.update(|file| *file = team);
        self.roster_dirty = written.is_err();
        written.map_err(|error| self.hold_up("write the roster", &error)).is_ok()
    }

    fn hold_up(&mut self, what: &str, error: &dyn std::fmt::Display) {
        self.again = Some(Instant::now() + AGAIN);
        // Said once, however often it is tried.
        if !std::mem::replace(&mut self.held_up, true) {
            self.trouble(what, error);
        }
    }

    fn write_plan(&mut self, id: RequestId, text: &str) {
        let path = self.desk.dir.plans().join(format!("{id}.md"));
        if path.exists() {
            return;
        }
        if let Err(error) = document::replace_bytes(&path, text.as_bytes(), document::Sync::Durable) {
            self.trouble("write a plan", &error);
        }
    }

    /// Makes the panes of a batch, all new ones in one go, and tells what came of each.
    fn launch(&mut self, starts: Vec<Start>) {
        let mut jobs = Vec::new();
        for start in starts {
            match self.pane_spec(&start) {
                Ok(spec) => jobs.push((start, spec)),
                Err(error) => {
                    let _ = self.told.send(Event::PaneFailed { name: start.name, life: start.life, error });
                }
            }
        }
        let Some(tmux) = self.tmux.clone() else {
            for (start, _) in jobs {
                let error = "the lead does not run inside tmux".to_owned();
                let _ = self.told.send(Event::PaneFailed { name: start.name, life: start.life, error });
            }
            return;
        };
        let session = format!("={}", self.lead.team.tmux.session);
        let per_window = self.lead.team.settings.layout.panes_per_window;
        let lead_pane = self.lead.team.member(&Name::lead()).and_then(|m| m.pane_id.clone());
        let endings: Vec<_> = jobs.iter().map(|(s, _)| self.ending(&s.name, s.life)).collect();
        let told = self.told.clone();
        let lives: Vec<_> = jobs.iter().map(|(s, _)| (s.name.clone(), s.life)).collect();
        let work = tokio::spawn(async move {
            let lead_window = match &lead_pane {
                Some(id) => tmux.pane(id).await.ok().flatten().map(|p| p.window_id),
                None => None,
            };
            let mut made: Vec<Result<Pane, String>> = vec![Err(String::new()); jobs.len()];
            // After the death of their server the panes are all gone: one look instead of a question for each.
            if jobs.iter().filter(|(start, _)| start.old_pane.is_some()).count() > 1
                && let Ok(there) = tmux.panes().await
            {
                for (start, _) in &mut jobs {
                    start.old_pane = start.old_pane.take().filter(|(id, _)| there.iter().any(|pane| pane.id == *id));
                }
            }
            let fresh: Vec<usize> = (0..jobs.len()).filter(|n| jobs[*n].0.old_pane.is_none()).collect();
            let specs: Vec<PaneSpec> = fresh.iter().map(|n| jobs[*n].1.clone()).collect();
            match tmux.add_panes(&session, &specs, per_window, lead_window.as_deref()).await {
                Ok(panes) => fresh.iter().zip(panes).for_each(|(n, pane)| made[*n] = Ok(pane)),
                Err(error) => fresh.iter().for_each(|n| made[*n] = Err(error.to_string())),
            }
            for (n, (start, spec)) in jobs.iter().enumerate() {
                if let Some((id, pid)) = &start.old_pane {
                    let old = Pane { id: id.clone(), pid: *pid };
                    let pane = tmux.restart_pane(&old, spec, &session, per_window, lead_window.as_deref()).await;
                    made[n] = pane.map_err(|e| e.to_string());
                }
            }
            for (((start, _), pane), mut ending) in jobs.into_iter().zip(made).zip(endings) {
                let event = match pane {
                    Ok(pane) => {
                        // A teammate that is gone already still gets its end told.
                        let start_time = process::stat(pane.pid).map(|s| s.start_time).unwrap_or_default();
                        ending.teammate = Some(process::ProcessId { pid: pane.pid, start_time });
                        let started = Event::PaneStarted {
                            name: start.name,
                            life: start.life,
                            pane_id: pane.id,
                            pid: pane.pid,
                            start_time: start_time.to_string(),
                        };
                        let _ = told.send(started);
                        ending.watch();
                        continue;
                    }
                    Err(error) => Event::PaneFailed { name: start.name, life: start.life, error },
                };
                let _ = told.send(event);
            }
        });
        // The end of each waits for word of its pane, so there is word in any case.
        let told = self.told.clone();
        tokio::spawn(async move {
            let Err(error) = work.await else { return };
            for (name, life) in lives {
                let _ = told.send(Event::PaneFailed { name, life, error: error.to_string() });
            }
        });
    }

    fn pane_spec(&mut self, start: &Start) -> Result<PaneSpec, String> {
        let team = &self.lead.team;
        let member = team
            .members
            .iter()
            .chain(&team.reserved)
            .find(|m| m.name == start.name)
            .ok_or_else(|| "it is not in the roster".to_owned())?
            .clone();
        self.member_dir(&start.name)?;
        self.watch_member(&start.name);
        teammate_pane(&self.home, &self.desk.name, &member, start).map_err(|e| e.to_string())
    }

    /// Makes ready for a program that somebody else starts.
    fn expect(&mut self, name: &Name) {
        if let Err(error) = self.member_dir(name) {
            self.trouble("make a member's folder", &error);
        }
        self.watch_member(name);
    }

    /// The member's folder, made where it is not there yet.
    pub(super) fn member_dir(&self, name: &Name) -> Result<MemberDir, String> {
        let dir = self.desk.dir.member(name);
        if !dir.exists() {
            dir.create().map_err(|e| e.to_string())?;
        }
        if !dir.env().exists() {
            // A member that joined later gets the environment that the team was launched with.
            document::share(&self.desk.dir.member(&Name::lead()).env(), &dir.env()).map_err(|e| e.to_string())?;
        }
        Ok(dir)
    }
}

/// Closes a member's mailbox; what lay there unread is noted as undelivered. How much that was.
fn close_mail(process: &mut Process, name: &Name, reason: &str) -> Result<usize, StoreError> {
    let dir = process.desk.dir.member(name);
    let noted = mailbox::close_after(&dir, reason, || bury_unread(&process.desk.dir, &dir, name, reason))?;
    Ok(noted.unwrap_or(0))
}

/// Notes every unread message of an ended member in `dead.jsonl`; how many there were.
///
/// # Errors
/// When the mailbox cannot be read or the note cannot be written.
pub fn bury_unread(
    team: &crate::store::TeamDir,
    dir: &crate::store::MemberDir,
    name: &Name,
    reason: &str,
) -> Result<usize, StoreError> {
    let mut intake = Intake::open(dir, Lane::Inbox)?;
    intake.poll()?;
    let dead = Journal::open(team.dead_letters());
    intake.for_each_waiting(|message| {
        let record = json!({"type": "undelivered", "member": name, "reason": reason, "message": message});
        dead.append_within(&record, DEAD_BYTES, DEAD_KEPT).map(drop)
    })
}

/// Starts that nothing but notes lies between are made together: one write of the roster and one call of tmux for all.
fn together(effects: Vec<Effect>) -> Vec<Effect> {
    let (mut out, mut starts) = (Vec::with_capacity(effects.len()), Vec::new());
    for effect in effects {
        match effect {
            Effect::Launch(more) => starts.extend(more),
            Effect::SaveTeam | Effect::Log(_) | Effect::Ledger(_) | Effect::ReturnTasks { .. } => out.push(effect),
            _ => {
                if !starts.is_empty() {
                    out.push(Effect::Launch(std::mem::take(&mut starts)));
                }
                out.push(effect);
            }
        }
    }
    if !starts.is_empty() {
        out.push(Effect::Launch(starts));
    }
    out
}
