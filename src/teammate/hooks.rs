//! The member's hooks: run beside the teammate's loop, so that control mail is never held up by one.

use serde_json::{Map, json};

use super::engine::{EngineEvent, TaskEnd};
use super::run::Process;
use crate::act::outbox::{Reply, Wish};
use crate::act::{Verb, Who, hooks};
use crate::decide::teammate::Ended;
use crate::hook::Call;
use crate::model::hook::{HookKind, Said};
use crate::model::id::TaskId;
use crate::model::spec::EngineKind;
use crate::model::task::TaskResult;
use crate::model::team::State;

/// A hook that has run, and what waits for it.
#[derive(Debug)]
pub struct Hooked {
    pub said: Said,
    pub then: Then,
}

/// What a hook was asked about.
#[derive(Debug)]
pub enum Then {
    /// A verb of the program.
    Wish(HookKind, Box<Wish>),
    /// A worker's task that ended well.
    Task(TaskEnd),
    /// The member has nothing to do.
    Idle,
}

impl Then {
    /// Which hook, and the task that it was asked about.
    fn about(&self) -> (HookKind, Option<TaskId>) {
        match self {
            Self::Wish(kind, wish) => match wish.verb {
                Verb::TaskDone { id, .. } => (*kind, Some(id)),
                _ => (*kind, None),
            },
            Self::Task(end) => (HookKind::TaskCompleted, Some(end.id)),
            Self::Idle => (HookKind::MemberIdle, None),
        }
    }
}

impl Process {
    pub(super) fn who(&self) -> Who {
        Who::member(self.context.place.member.clone(), self.context.place.life)
    }

    fn start_hook(&self, call: Call, then: Then) {
        let (told, slots) = (self.told.clone(), self.slots.clone());
        tokio::spawn(async move {
            let said = slots.run(call).await;
            let _ = told.send(EngineEvent::Hooked(Box::new(Hooked { said, then })));
        });
    }

    /// The verb, unless a hook has it now or it is refused: then it is carried out later, or not at all.
    pub(super) fn hook_before(&mut self, wish: Wish) -> Option<Wish> {
        let who = self.who();
        match hooks::before(&mut self.context.desk, &who, &wish.verb) {
            Ok(None) => Some(wish),
            Ok(Some(call)) => {
                self.start_hook(call.clone(), Then::Wish(call.kind, Box::new(wish)));
                None
            }
            Err(error) => {
                self.answer(Reply::new(wish.id, Err(error)));
                None
            }
        }
    }

    /// The hook that a worker's finished task has to pass, if there is one: then it has the task now.
    pub(super) fn hook_on_task(&mut self, end: TaskEnd) -> Option<TaskEnd> {
        let good = end.cut.is_none() && end.ended.code == Some(0) && !self.stopping;
        if !good {
            return Some(end);
        }
        let result = TaskResult { text: end.tail.clone(), exit_code: Some(0), ..TaskResult::default() };
        let verb = Verb::TaskDone { id: end.id, epoch: Some(end.epoch), result };
        let who = self.who();
        match hooks::before(&mut self.context.desk, &who, &verb) {
            Ok(Some(call)) => {
                self.start_hook(call, Then::Task(end));
                None
            }
            // What the board says of it, it says again when the task is put down.
            Ok(None) | Err(_) => Some(end),
        }
    }

    /// Looks whether the member has just become idle.
    pub(super) fn hook_on_idle(&mut self) {
        let now = self.teammate.state();
        let before = std::mem::replace(&mut self.was, now);
        let had_work = matches!(before, State::Busy | State::Planning | State::Waiting);
        if now != State::Idle || !had_work || self.idle_hook {
            return;
        }
        let me = self.context.place.member.clone();
        let facts = Map::from_iter([("before".to_owned(), json!(before))]);
        match hooks::prepared(&mut self.context.desk, &me, HookKind::MemberIdle, facts) {
            Ok(Some(call)) => {
                self.idle_hook = true;
                self.start_hook(call, Then::Idle);
            }
            Ok(None) => {}
            Err(error) => tracing::warn!("cannot run a hook: {error}"),
        }
    }

    pub(super) fn hooked(&mut self, hooked: Hooked) {
        let Hooked { said, then } = hooked;
        let who = self.who();
        // The end of its member ends it and what it started, perhaps a moment before the teammate hears of that. A script
        // whose command was killed may well end with 0: nothing that it said counts any more.
        let cut_off = matches!(said, Said::CutOff(_)) || self.stopping && !matches!(said, Said::Vetoed(_));
        if cut_off && !self.stopping {
            let (kind, task) = then.about();
            hooks::told(&mut self.context.desk, &who, kind, &said, task);
        }
        match then {
            Then::Wish(kind, wish) if cut_off => {
                self.answer(Reply::new(wish.id, Err(hooks::cut_off(kind))));
            }
            Then::Task(mut end) if cut_off => {
                end.cut = Some("its hook was cut off".to_owned());
                self.task_over(end);
            }
            Then::Idle if cut_off => self.idle_hook = false,
            Then::Wish(kind, wish) => match hooks::after(&mut self.context.desk, &who, &wish.verb, kind, &said) {
                Ok(()) => self.carry_out(*wish),
                Err(refused) => self.answer(Reply::new(wish.id, Err(refused))),
            },
            Then::Task(mut end) => {
                let kind = HookKind::TaskCompleted;
                hooks::told(&mut self.context.desk, &who, kind, &said, Some(end.id));
                if let Said::Vetoed(why) = said {
                    // Nobody is there to do more about it: the attempt has failed, and may be repeated.
                    end.cut = Some(format!("the hook `{kind}` refused it: {why}"));
                    end.ended = Ended { code: Some(0), signal: None };
                }
                self.task_over(end);
            }
            Then::Idle => {
                self.idle_hook = false;
                let kind = HookKind::MemberIdle;
                hooks::told(&mut self.context.desk, &who, kind, &said, None);
                if let Said::Vetoed(why) = said {
                    let me = self.context.place.member.clone();
                    if let Err(error) = hooks::feedback(&mut self.context.desk, kind, &me, "there is more to do", &why)
                    {
                        tracing::warn!("cannot hand a hook's feedback over: {error}");
                    }
                }
            }
        }
    }

    /// A worker takes no task while its hook is still looking at the last one: ending a task ends all of the member's
    /// processes but the teammate.
    pub(super) fn waits_for_hook(&self) -> bool {
        self.idle_hook && self.context.spec.engine == EngineKind::Worker
    }
}
