//! What the teammate gives its engine: mail at a boundary that can take it, and to a worker the next task.

use super::engine::worker::Job;
use super::engine::{Engine, TaskEnd};
use super::run::Process;
use super::{mail, verbs};
use crate::act::{Done, Send, Verb, Who, act};
use crate::decide::authority::Authority;
use crate::decide::board::Caller;
use crate::decide::teammate::{Ended, Event};
use crate::model::id::TaskId;
use crate::model::message::Priority;
use crate::model::task::{Task, TaskResult, Usage};
use crate::store::StoreError;

impl Process {
    /// Gives the engine what it may have.
    pub(super) fn work(&mut self) {
        if !self.works {
            return;
        }
        let handed = match &self.engine {
            Engine::Command(command) => self.inbox.hand_over(&self.context, command),
            Engine::Worker(_) => self.worker_mail(),
            Engine::Acp(_) => self.prompt_agent(),
            // It reads its mailbox by itself.
            Engine::Mcp(_) | Engine::None => Ok(()),
        };
        if let Err(error) = handed {
            tracing::warn!("cannot hand mail over: {error}");
        }
        self.take_task();
    }

    /// A worker reads its mail by itself: it shows it, and `now` ends the running task.
    pub(super) fn worker_mail(&mut self) -> Result<(), StoreError> {
        for waiting in self.inbox.take_all()? {
            let from = waiting.message.from.name.to_string();
            if let Some(screen) = &self.screen {
                screen.note(&self.context.color, &format!("[{from}] {}", mail::text(&self.context, &waiting)));
            }
            if waiting.message.priority == Priority::Now {
                self.interrupt(&format!("stopped by a message from {from}"));
            }
        }
        Ok(())
    }

    /// A worker takes the next task that it is able to run.
    pub(super) fn take_task(&mut self) {
        let Engine::Worker(_) = self.engine else { return };
        while self.running.is_none() && self.works && !self.waits_for_hook() {
            let Some(id) = self.next_task() else { return };
            let who = Who::member(self.context.place.member.clone(), self.context.place.life);
            match act(&mut self.context.desk, &who, verbs::fresh_id(), Verb::TaskClaim { id: Some(id) }) {
                Ok(Done::Answer(answer)) => match serde_json::from_value(answer.value) {
                    Ok(task) => self.start_task(task),
                    Err(error) => return tracing::warn!("a claimed task cannot be read: {error}"),
                },
                // The task is still free, so it is this member that may not: it holds as many as it may.
                Err(error) if error.code == 7 && self.next_task() == Some(id) => return,
                // Another one was quicker: look again.
                Err(error) if error.code == 7 => {}
                Ok(Done::Asked(_)) => return,
                Err(error) => return tracing::warn!("cannot claim task {id}: {error}"),
            }
        }
    }

    pub(super) fn next_task(&mut self) -> Option<TaskId> {
        let caller = Caller {
            name: self.context.place.member.clone(),
            life: Some(self.context.place.life),
            authority: Authority::Member,
            capabilities: &self.context.spec.capabilities,
            claim_limit: 1,
        };
        let board = match self.context.desk.board.view() {
            Ok(log) => &log.board,
            Err(error) => {
                tracing::warn!("cannot read the board: {error}");
                return None;
            }
        };
        board.claimable_by(&caller).into_iter().find(|id| board.get(*id).is_some_and(|t| t.run.is_some()))
    }

    pub(super) fn start_task(&mut self, task: Task) {
        let (id, epoch) = (task.id, task.epoch);
        self.running = Some((id, epoch, task.active_form.clone().unwrap_or_else(|| task.subject.clone())));
        self.step(Event::TaskTaken { id, epoch });
        if let Some(screen) = &self.screen {
            screen.note(&self.context.color, &format!("\u{25b8} task {id}: {}", task.subject));
        }
        let argv = task.run.unwrap_or_default().into_iter().map(Into::into).collect();
        match (self.program(argv, Some((id, epoch))), &mut self.engine) {
            (Ok(program), Engine::Worker(worker)) => {
                worker.start(Job { id, epoch, program, timeout: task.timeout.map(|t| t.0) });
            }
            (Err(error), _) => self.task_ended(TaskEnd {
                id,
                epoch,
                ended: Ended::default(),
                tail: String::new(),
                duration_ms: 0,
                cut: Some(format!("its environment cannot be read: {error}")),
            }),
            _ => {}
        }
    }

    pub(super) fn task_ended(&mut self, end: TaskEnd) {
        if let Some(end) = self.hook_on_task(end) {
            self.task_over(end);
        }
    }

    /// The task is put down as what it came to.
    pub(super) fn task_over(&mut self, end: TaskEnd) {
        let TaskEnd { id, epoch, ended, tail, duration_ms, cut } = end;
        self.running = None;
        let failed = cut.or_else(|| match (ended.code, ended.signal) {
            (Some(0), _) => None,
            (Some(code), _) => Some(format!("its program ended with code {code}")),
            (_, Some(signal)) => Some(format!("its program was ended by signal {signal}")),
            _ => Some("its program's end was not seen".to_owned()),
        });
        let result = TaskResult {
            text: tail,
            error: failed.clone(),
            exit_code: ended.code,
            output_file: Some(self.context.dir.output_log().to_string_lossy().into_owned()),
            usage: Some(Usage { duration_ms, ..Usage::default() }),
        };
        let (verb, mark) = match &failed {
            // Not the task's fault: it goes back as it was.
            Some(_) if self.stopping => (Verb::TaskRelease { id, epoch: Some(epoch) }, "\u{21a9}"),
            None => (Verb::TaskDone { id, epoch: Some(epoch), result }, "\u{2713}"),
            Some(_) => (Verb::TaskFail { id, epoch: Some(epoch), result }, "\u{2717}"),
        };
        let who = Who::member(self.context.place.member.clone(), self.context.place.life);
        let told = act(&mut self.context.desk, &who, verbs::fresh_id(), verb);
        if let Some(screen) = &self.screen {
            let why = match (&told, failed) {
                (Err(error), _) => format!(": {error}"),
                (_, Some(why)) => format!(": {why}"),
                _ => String::new(),
            };
            let color = if mark == "\u{2713}" { "green" } else { "red" };
            screen.note(color, &format!("{mark} task {id} after {:.1} s{why}", duration_ms as f64 / 1000.0));
        }
        self.step(Event::TaskLeft { id });
        if self.stopping {
            self.engine = Engine::None;
            self.step(Event::EngineEnded(Ended::default()));
        }
    }

    pub(super) fn interrupt(&mut self, why: &str) {
        match &mut self.engine {
            Engine::Worker(worker) => drop(worker.interrupt(why)),
            Engine::Acp(_) => self.cancel_turn(why),
            _ => {}
        }
    }

    /// A line typed into a worker's pane is a message from the operator.
    pub(super) fn typed(&mut self, line: &str) {
        let line = line.trim();
        if line.is_empty() {
            return;
        }
        let send = Send { to: self.context.place.member.to_string(), text: line.to_owned(), ..Send::default() };
        if let Err(error) = act(&mut self.context.desk, &Who::operator(), verbs::fresh_id(), Verb::Send(send))
            && let Some(screen) = &self.screen
        {
            screen.note("red", &error.to_string());
        }
    }
}
