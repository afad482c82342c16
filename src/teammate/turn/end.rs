//! The end of a turn: its mail is read, its answer goes to the lead; or it broke, and its mail waits again.

use std::time::Duration;

use agent_client_protocol::v1::schema::{PromptResponse, SessionUpdate, StopReason};
use tokio::time::Instant;

use super::plain::one_line;
use super::state::{Agent, SILENCE, TRIES, Turn};
use crate::act::{Verb, Who, act};
use crate::decide::teammate::{Ended, Event};
use crate::model::id::MessageId;
use crate::model::message::{Body, Lane, Message, Report, ReportStatus};
use crate::model::name::Name;
use crate::model::task::{TaskResult, Usage};
use crate::os::life::end_life;
use crate::store::{Durability, mailbox};
use crate::teammate::engine::Engine;
use crate::teammate::engine::acp::AcpEvent;
use crate::teammate::run::Process;
use crate::teammate::verbs;

/// The pause after a turn that broke, doubled with each further one.
const PAUSE: Duration = Duration::from_millis(500);
/// How long an agent may take to end by itself when its input is closed.
const CLOSING: Duration = Duration::from_secs(1);

/// How a turn went.
struct Outcome {
    status: ReportStatus,
    error: Option<String>,
}

impl Process {
    pub(in crate::teammate) fn acp_event(&mut self, event: AcpEvent) {
        match event {
            // It is there; only its session has to wait.
            AcpEvent::Waits(time) => {
                if let Engine::Acp(agent) = &mut self.engine {
                    agent.feed.note(&format!("the session can be loaded in {} s", time.as_secs() + 1));
                }
                self.step(Event::EngineReady);
            }
            AcpEvent::Opened(opened) => self.opened(opened),
            AcpEvent::Failed(why) => self.agent_failed(&why),
            AcpEvent::Update(update) => self.updated(&update),
            AcpEvent::TurnEnded(result) => self.turn_ended(result),
            AcpEvent::Asked(asked) => self.permission_asked(*asked),
            AcpEvent::Printed(text) => {
                if let Engine::Acp(agent) = &mut self.engine {
                    let show = agent.session_id.is_none();
                    agent.feed.printed(&text, show);
                }
            }
            AcpEvent::Served(text) => {
                if let Engine::Acp(agent) = &mut self.engine {
                    agent.feed.note(&text);
                }
            }
        }
    }

    fn updated(&mut self, update: &SessionUpdate) {
        let Engine::Acp(agent) = &mut self.engine else { return };
        // Before that, a session that is loaded plays its past.
        if agent.session_id.is_none() {
            return;
        }
        // What an agent says of itself before it was ever asked for something is no work.
        if agent.turn.is_none() && agent.turns > 0 && Agent::is_work(update) {
            let echo = agent.cancelled_at.is_some_and(|at| at.elapsed() < SILENCE);
            if agent.late.is_none() && !echo {
                agent.late = Some(Turn::new(Vec::new(), None, false));
                agent.turns += 1;
                agent.absorb(update);
                return self.step(Event::TurnBegan);
            }
            if let Some(late) = &mut agent.late {
                late.last_word = Instant::now();
            }
        }
        agent.absorb(update);
    }

    fn turn_ended(&mut self, result: Result<PromptResponse, String>) {
        let Engine::Acp(agent) = &mut self.engine else { return };
        let Some(turn) = agent.turn.take() else { return };
        agent.activity = None;
        agent.cancelled_at = turn.cancelled.as_ref().map(|_| Instant::now());
        agent.usage.duration_ms += u64::try_from(turn.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        if let Ok(response) = &result {
            agent.usage.total_tokens += response.usage.as_ref().map_or(0, |u| u.total_tokens);
        }
        self.withdraw_permissions();
        let outcome = match (result, &turn.cancelled) {
            (_, Some((why, _))) => {
                Outcome { status: ReportStatus::Killed, error: Some(format!("interrupted by {why}")) }
            }
            (Ok(response), None) => Outcome::of(response.stop_reason),
            (Err(why), None) => return self.turn_broke(turn, why),
        };
        if let Engine::Acp(agent) = &mut self.engine {
            agent.failures = 0;
        }
        self.turn_over(turn, outcome);
    }

    /// The turn's mail is read and its answer told.
    fn turn_over(&mut self, turn: Turn, outcome: Outcome) {
        if let Err(error) = self.inbox.read(&turn.ids) {
            tracing::warn!("cannot mark mail as read: {error}");
        }
        if let (Engine::Acp(agent), Some(error)) = (&mut self.engine, &outcome.error) {
            agent.feed.bad(error);
        }
        self.report(&turn, outcome);
        self.step(Event::TurnEnded);
        self.work();
    }

    /// The agent took the prompt and could not answer it: the same again after a pause, or in the end a failure.
    fn turn_broke(&mut self, turn: Turn, why: String) {
        let Engine::Acp(agent) = &mut self.engine else { return };
        agent.failures += 1;
        if agent.failures >= TRIES {
            agent.failures = 0;
            let error = Some(format!("{why} ({TRIES} times)"));
            return self.turn_over(turn, Outcome { status: ReportStatus::Failed, error });
        }
        let pause = PAUSE * 2u32.pow(agent.failures - 1);
        agent.feed.bad(&format!("the turn broke: {}; again in {:.1} s", one_line(&why, 300), pause.as_secs_f32()));
        agent.retry_at = Some(Instant::now() + pause);
        agent.held = turn.task;
        agent.brief_due |= turn.first;
        agent.broken = turn.ids;
        self.step(Event::TurnEnded);
    }

    /// One report for each turn. Where the turn was for a task, the task's result is the report.
    fn report(&mut self, turn: &Turn, outcome: Outcome) {
        let Engine::Acp(agent) = &self.engine else { return };
        let usage = Usage {
            total_tokens: agent.usage.total_tokens,
            tool_uses: turn.tools.len() as u64,
            duration_ms: u64::try_from(turn.began.elapsed().as_millis()).unwrap_or(u64::MAX),
        };
        let number = agent.turns;
        let output_file = self.context.dir.output_log().to_string_lossy().into_owned();
        let answer = super::plain::Plain::default().filter(turn.answer.words());
        if let Some(task) = &turn.task {
            let (id, epoch) = (task.id, Some(task.epoch));
            let result = TaskResult {
                text: answer.clone(),
                error: outcome.error.clone(),
                exit_code: None,
                output_file: Some(output_file.clone()),
                usage: Some(usage),
            };
            let verb = match outcome.status {
                ReportStatus::Completed => Verb::TaskDone { id, epoch, result },
                // Somebody wanted something else of it first: the task waits as it was.
                ReportStatus::Killed => Verb::TaskRelease { id, epoch },
                ReportStatus::Failed => Verb::TaskFail { id, epoch, result },
            };
            let who = Who::member(self.context.place.member.clone(), self.context.place.life);
            let done = act(&mut self.context.desk, &who, verbs::fresh_id(), verb);
            self.step(Event::TaskLeft { id });
            if done.is_ok() && outcome.status != ReportStatus::Killed {
                return;
            }
            // It ended the task itself, by its tools: the answer is a report of its own.
        }
        let report = Report {
            status: outcome.status,
            error: outcome.error,
            task_id: None,
            summary: summary(&answer),
            result: answer,
            usage: Some(usage),
            worktree: None,
            output_file,
        };
        let id = MessageId::derived(&["turn", &self.context.place.life.to_string(), &number.to_string()]);
        self.tell_report(id, report);
    }

    fn tell_report(&mut self, id: MessageId, report: Report) {
        // An unreadable roster must not lose a report: the operator's mailbox is always there.
        let me = self.context.place.member.clone();
        let lead = self.context.desk.team().map_or_else(|_| Name::lead(), |team| team.reports_to(&me));
        let summary = report.summary.clone();
        let body = Body::Report(Box::new(report));
        let mut message = Message::new(id, self.context.agent_id.clone(), lead.clone(), &body);
        message.summary = Some(summary);
        let dir = self.context.desk.dir.member(&lead);
        if let Err(error) = mailbox::deliver(&dir, &message, Lane::Inbox, Durability::Fast, true) {
            tracing::warn!("cannot report to the lead: {error}");
        }
    }

    /// What the agent did by itself is over.
    pub(super) fn close_late(&mut self) {
        let Engine::Acp(agent) = &mut self.engine else { return };
        let Some(late) = agent.late.take() else { return };
        agent.activity = None;
        if !late.answer.words().is_empty() {
            self.report(&late, Outcome { status: ReportStatus::Completed, error: None });
        }
        self.step(Event::TurnEnded);
    }

    /// Ends the running turn: the agent is asked to, and what it waits for is answered.
    pub(in crate::teammate) fn cancel_turn(&mut self, why: &str) {
        let Engine::Acp(agent) = &mut self.engine else { return };
        let (Some(acp), Some(turn)) = (&agent.acp, &mut agent.turn) else { return };
        if turn.cancelled.is_some() {
            return;
        }
        turn.cancelled = Some((why.to_owned(), Instant::now()));
        acp.cancel();
        agent.feed.note(&format!("the turn is interrupted by {why}"));
        self.withdraw_permissions();
    }

    pub(in crate::teammate) fn agent_deadline(&self) -> Option<Instant> {
        match &self.engine {
            Engine::Acp(agent) => agent.next_deadline(),
            _ => None,
        }
    }

    pub(in crate::teammate) fn agent_tick(&mut self) {
        let Engine::Acp(agent) = &mut self.engine else { return };
        let now = Instant::now();
        if agent.late.as_ref().is_some_and(|late| late.last_word + SILENCE <= now) {
            self.close_late();
        }
        let Engine::Acp(agent) = &mut self.engine else { return };
        let hung = agent.turn.as_ref().and_then(|t| t.cancelled.as_ref());
        if hung.is_some_and(|(_, at)| *at + super::state::CANCEL <= now) {
            // Once is enough: the deadline goes with the turn's mark.
            if let Some(turn) = &mut agent.turn {
                turn.cancelled = None;
            }
            return self.agent_failed("it did not end its turn when it was asked to");
        }
        self.work();
    }

    /// The agent is of no use any more: its life ends as a failure, and its mail waits for the next.
    fn agent_failed(&mut self, why: &str) {
        let Engine::Acp(agent) = &mut self.engine else { return };
        if agent.acp.is_none() {
            return;
        }
        agent.failed = true;
        agent.feed.bad(&format!("the agent failed: {why}"));
        self.note_in_log(why);
        self.stop_agent(Duration::from_secs(2), Duration::ZERO);
    }

    /// The agent's process has ended. One that failed, or that left in a turn without being told to, did not end well.
    pub(in crate::teammate) fn agent_ended(&mut self, ended: Ended) -> Ended {
        let Engine::Acp(agent) = &mut self.engine else { return ended };
        let left_in_turn = agent.turn.is_some() && agent.acp.is_some();
        self.withdraw_permissions();
        let Engine::Acp(agent) = &self.engine else { return ended };
        if agent.failed || (left_in_turn && ended.code == Some(0)) {
            return Ended { code: ended.code.filter(|c| *c != 0).or(Some(1)), signal: None };
        }
        ended
    }

    /// The planning is over with its plan: what the running turn was given is done with.
    pub(in crate::teammate) fn planned(&mut self) {
        let Engine::Acp(agent) = &mut self.engine else { return };
        let ids = agent.turn.take().map(|turn| turn.ids).unwrap_or_default();
        if let Err(error) = self.inbox.read(&ids) {
            tracing::warn!("cannot mark mail as read: {error}");
        }
    }

    /// Closes the agent's input, and ends what is left of it.
    pub(in crate::teammate) fn stop_agent(&mut self, grace: Duration, patience: Duration) {
        let Engine::Acp(agent) = &mut self.engine else { return };
        let Some(acp) = agent.acp.take() else { return };
        let mark = self.context.mark();
        tokio::spawn(async move {
            acp.close(patience).await;
            let me = std::process::id();
            let _ = tokio::task::spawn_blocking(move || end_life(&mark, &[me], grace)).await;
        });
    }

    /// How long this agent is given to end by itself.
    pub(in crate::teammate) fn closing_time(&self) -> Duration {
        let preset = self.context.spec.agent.as_ref().and_then(|a| a.preset.as_ref());
        if preset.is_some_and(|p| p.quirks.needs_term) { Duration::ZERO } else { CLOSING }
    }
}

impl Outcome {
    fn of(stop: StopReason) -> Self {
        let failed = |why: &str| Self { status: ReportStatus::Failed, error: Some(why.to_owned()) };
        match stop {
            StopReason::EndTurn => Self { status: ReportStatus::Completed, error: None },
            StopReason::Cancelled => {
                Self { status: ReportStatus::Killed, error: Some("the agent ended it".to_owned()) }
            }
            StopReason::MaxTokens => failed("the answer reached the limit of tokens"),
            StopReason::MaxTurnRequests => failed("the turn reached its limit of requests"),
            StopReason::Refusal => failed("the agent refused"),
            other => failed(&format!("the turn ended with {other:?}")),
        }
    }
}

/// The first line of an answer, without marks of Markdown.
fn summary(answer: &str) -> String {
    let first = answer.lines().map(|l| l.trim_start_matches(['#', '*', '-', '>', ' ']).trim()).find(|l| !l.is_empty());
    first.map_or_else(|| "no answer".to_owned(), |line| one_line(line, 80))
}
