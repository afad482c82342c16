//! The lead's eye on the board: what happens there becomes events, and limits that a teammate does not
//! keep are kept by the lead.

use std::time::Duration;

use serde_json::json;

use super::run::Process;
use crate::act::ActError;
use crate::decide::authority::Authority;
use crate::decide::board::{Board, Caller, Changed, TaskEvent};
use crate::decide::lead::{Event, EventRecord};
use crate::model::id::Life;
use crate::model::name::Name;
use crate::model::task::TaskResult;
use crate::model::time::Timestamp;
use crate::os::clock;
use crate::store::StoreError;

/// How far past its limit a task is when its teammate must be stuck.
const MARGIN: Duration = Duration::from_secs(10);

impl Process {
    /// Takes in what is new on the board.
    pub(super) fn look_board(&mut self) -> Result<(), ActError> {
        self.desk.board.view()?;
        for news in self.desk.board.take_news() {
            for (n, task) in news.tasks.iter().enumerate() {
                // The first is what the verb was about, and so is every new one; the others changed with it.
                let kind = if n == 0 || task.is_new { event_name(news.event) } else { "task_followed" };
                let mut record = EventRecord::team(kind)
                    .with("task_id", task.id)
                    .with("subject", &task.subject)
                    .with("status", task.status)
                    .with("by", &news.by);
                record.member.clone_from(&task.owner);
                self.log(&record);
            }
        }
        self.expire_tasks()
    }

    /// When a task in progress will be so far over its limit that the lead has to act.
    pub(super) fn task_deadline(&self) -> Option<Timestamp> {
        self.desk.board.state().board.next_deadline(MARGIN)
    }

    fn expire_tasks(&mut self) -> Result<(), ActError> {
        let now = clock::now();
        for id in self.desk.board.state().board.expire(now, MARGIN) {
            let Some(task) = self.desk.board.state().board.get(id).cloned() else { continue };
            let Some(claim) = task.claim.clone() else { continue };
            let result = TaskResult { error: Some("it ran past its time limit".to_owned()), ..TaskResult::default() };
            let me = Name::lead();
            let caller = Caller { name: me, life: None, authority: Authority::Lead, capabilities: &[], claim_limit: 0 };
            let failed = crate::act::task::decide(&mut self.desk.board, |board, now| {
                board.fail(&caller, id, Some(task.epoch), result, now)
            });
            if failed.is_ok() && self.is_worker(&claim.member) {
                // A worker keeps limits itself; one that did not is stuck.
                let why = format!("task {id} ran past its time limit and its teammate did not end it");
                self.step(Event::Stuck { name: claim.member, life: claim.life, why });
            }
        }
        Ok(())
    }

    fn is_worker(&self, name: &Name) -> bool {
        self.lead.team.member(name).is_some_and(|m| m.engine == "worker")
    }

    /// A life is over: what it had in progress goes back.
    pub(super) fn return_tasks(&mut self, name: &Name, life: Life) -> Result<(), StoreError> {
        self.give_back(|board, now| board.return_life(name, life, &Name::lead(), now))
    }

    /// So does what the lead before did not get to.
    pub(super) fn return_stale(&mut self, name: &Name, current: Option<Life>) -> Result<(), StoreError> {
        self.give_back(|board, now| board.return_stale(name, current, &Name::lead(), now))
    }

    fn give_back(&mut self, which: impl Fn(&Board, Timestamp) -> Option<Changed>) -> Result<(), StoreError> {
        let done = self.desk.board.update(|log, now| {
            let changed = which(&log.board, now);
            Ok::<_, std::convert::Infallible>(((), changed.map(|c| c.record).into_iter().collect()))
        });
        done.map(|Ok(())| ())
    }

    /// Something that should not go wrong did: people find it in the events.
    pub(super) fn trouble(&mut self, what: &str, error: &dyn std::fmt::Display) {
        tracing::error!("cannot {what}: {error}");
        self.log(&EventRecord::team("trouble").with("what", what).with("error", json!(error.to_string())));
    }
}

fn event_name(event: TaskEvent) -> &'static str {
    match event {
        TaskEvent::Added => "task_added",
        TaskEvent::Claimed => "task_claimed",
        TaskEvent::Completed => "task_completed",
        TaskEvent::Failed => "task_failed",
        TaskEvent::Returned => "task_returned",
        TaskEvent::Released => "task_released",
        TaskEvent::Assigned => "task_assigned",
        TaskEvent::Retried => "task_retried",
        TaskEvent::Deleted => "task_deleted",
        TaskEvent::Updated => "task_updated",
    }
}
