//! Carrying out what the teammate decided.

use std::time::Duration;

use super::engine::{Engine, EngineEvent, LOG_BYTES};
use super::run::Process;
use super::words::Word;
use crate::decide::teammate::{Effect, Ended};
use crate::model::message::{Body, Message};
use crate::model::spec::EngineKind;
use crate::model::team::Exit;
use crate::os::clock;
use crate::os::life::end_life;
use crate::os::log_file::RotatingLog;
use crate::store::document;

impl Process {
    pub(super) fn carry(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Mail { id, body } => self.say(Word::Lead(id, body)),
                Effect::HandOver(message) => self.hand_over(*message),
                Effect::Work(on) => {
                    self.works = on;
                    if on {
                        self.carry_out_held();
                        self.work();
                    }
                }
                Effect::StopEngine { grace } => self.stop_engine(grace),
                Effect::Status => self.refresh(),
                Effect::Exit { reason, ended } => self.over = Some((reason, ended)),
            }
        }
    }

    pub(super) fn stop_engine(&mut self, grace: Duration) {
        if matches!(self.engine, Engine::Acp(_)) {
            self.stopping = true;
            return self.stop_agent(grace, self.closing_time());
        }
        if let Engine::Mcp(client) = &self.engine {
            self.stopping = true;
            return client.stop();
        }
        let mark = self.context.mark();
        let me = std::process::id();
        let told = self.told.clone();
        let idle_worker = matches!(self.engine, Engine::Worker(_)) && self.running.is_none();
        self.stopping = true;
        tokio::task::spawn_blocking(move || {
            let _ = end_life(&mark, &[me], grace);
            // A worker has no program whose end would be seen.
            if idle_worker {
                let _ = told.send(EngineEvent::Ended(Ended::default()));
            }
        });
    }

    /// The lead's word as mail for the program.
    pub(super) fn hand_over(&mut self, message: Message) {
        if self.context.spec.engine == EngineKind::Worker {
            return;
        }
        if let Some(Body::PermissionResponse { request_id, decision, reason }) = message.typed()
            && self.permission_decided(request_id, decision, reason.as_deref())
        {
            return;
        }
        self.say(Word::Program(Box::new(message)));
    }

    pub(super) fn refresh(&mut self) {
        let task = self.running.as_ref().map(|(id, epoch, _)| (*id, *epoch));
        let mut activity = self.running.as_ref().map(|(_, _, what)| what.clone());
        let mut task = task;
        if let Engine::Acp(agent) = &self.engine {
            let held = agent.turn.as_ref().and_then(|t| t.task.as_ref()).or(agent.held.as_ref());
            task = held.map(|t| (t.id, t.epoch));
            activity.clone_from(&agent.activity);
            self.status.agent(agent.usage, agent.session_id.as_deref(), &agent.recent);
        }
        self.status.set(self.teammate.state(), task, activity, self.inbox.queued());
    }

    pub(super) fn note_in_log(&self, text: &str) {
        if let Ok(mut log) = RotatingLog::open(self.context.dir.output_log(), LOG_BYTES) {
            log.write(format!("crewmux: {text}\n").as_bytes());
        }
    }

    /// The life is over: nothing of it may go on, then the record, then the lease goes with the process.
    pub(super) async fn end(&mut self, reason: &str, ended: Ended) -> u8 {
        let mark = self.context.mark();
        let me = std::process::id();
        let _ = tokio::task::spawn_blocking(move || end_life(&mark, &[me], Duration::from_secs(1))).await;
        if reason == crate::decide::lead::reason::PLAN_APPROVED {
            self.planned();
        }
        self.engine = Engine::None;
        if let Err(error) = self.context.dir.clear_tmp() {
            tracing::warn!("cannot remove what its programs left: {error}");
        }
        let exit = Exit {
            life: Some(self.context.place.life),
            code: ended.code,
            signal: ended.signal,
            reason: reason.to_owned(),
            at: clock::now(),
        };
        self.last_words();
        self.refresh();
        self.put_down();
        if let Err(error) = document::replace_json(&self.context.dir.exit(), &exit, document::Sync::Fast) {
            tracing::warn!("cannot write the exit record: {error}");
        }
        u8::try_from(ended.code.unwrap_or(0)).unwrap_or(1)
    }
}
