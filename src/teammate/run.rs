//! The teammate's loop: one task on the main thread, so that the parent-death signal of its children
//! follows the process and not a passing thread.

use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::context::{Context, Place, StartError};
use super::engine::command::Command;
use super::engine::mcp::Mcp;
use super::engine::worker::Worker;
use super::engine::{Engine, EngineEvent};
use super::env;
use super::mail::{self, Inbox};
use super::sandbox;
use super::screen::Screen;
use super::status::{PACE, StatusFile};
use super::trees::TreeAsk;
use super::verbs::{self, Outbox};
use super::words::Unsaid;
use crate::act::Verb;
use crate::act::outbox::Wish;
use crate::decide::teammate::{Ended, Event, Teammate};
use crate::hook;
use crate::model::id::TaskId;
use crate::model::message::{Body, Lane};
use crate::model::spec::{Deliver, EngineKind};
use crate::model::team::State;
use crate::os::clock;
use crate::os::reap::{Reaper, become_subreaper};
use crate::os::spawn::Program;
use crate::os::trim;
use crate::store::intake::Intake;
use crate::store::{StoreError, Watch};

/// When a start is over for certain, and what it alone needed can be given back.
const STARTED: Duration = Duration::from_secs(2);

/// Runs a teammate until its life is over; the exit code of its process.
///
/// # Errors
/// When it cannot even begin: no place in the roster, its lease held, its files out of reach.
pub fn run(place: Place) -> Result<u8, StartError> {
    let io = |what| move |source| StartError::Io { what, source };
    become_subreaper().map_err(io("cannot adopt orphans"))?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(4)
        .build()
        .map_err(io("cannot start the runtime"))?;
    let code = runtime.block_on(async {
        let mut process = Process::open(place)?;
        Ok(process.live().await)
    });
    // A screen or keyboard thread may hang in the terminal; nothing waits for it.
    runtime.shutdown_background();
    code
}

/// When a cursor that the disk refused is stored again.
const AGAIN: Duration = Duration::from_secs(1);

pub(super) struct Process {
    pub(super) context: Context,
    pub(super) teammate: Teammate,
    pub(super) engine: Engine,
    pub(super) inbox: Inbox,
    pub(super) control: Intake,
    pub(super) outbox: Outbox,
    /// Verbs that came before the lead's welcome.
    pub(super) held: Vec<Wish>,
    pub(super) unsaid: Unsaid,
    pub(super) status: StatusFile,
    /// When the control lane's cursor is to be stored, where it is not yet.
    acted: Option<Instant>,
    pub(super) watch: Watch,
    pub(super) events: mpsc::UnboundedReceiver<EngineEvent>,
    pub(super) told: mpsc::UnboundedSender<EngineEvent>,
    pub(super) screen: Option<Screen>,
    /// Whether mail and tasks may be given to the engine.
    pub(super) works: bool,
    pub(super) running: Option<(TaskId, u64, String)>,
    /// What it was at when that was last looked at, for the hook that runs when it becomes idle.
    pub(super) was: State,
    /// That hook is running.
    pub(super) idle_hook: bool,
    pub(super) slots: hook::Slots,
    /// The engine is being stopped: what it leaves unfinished goes back to the board.
    pub(super) stopping: bool,
    pub(super) over: Option<(&'static str, Ended)>,
}

struct Signals {
    terminate: Signal,
    hang_up: Signal,
    interrupt: Signal,
}

impl Process {
    fn open(place: Place) -> Result<Self, StartError> {
        let context = Context::open(place)?;
        let teammate = Teammate::new(
            context.place.life,
            context.place.spawn_id,
            context.me.pid,
            context.me.start_time,
            &context.spec,
            context.planning,
        );
        if sandbox::confines(&context) {
            context.dir.fresh_tmp()?;
        }
        let mut watch = Watch::start([context.dir.mail_dir()]);
        if matches!(context.spec.engine, EngineKind::Worker | EngineKind::Acp) {
            watch.add(&context.desk.dir.tasks());
        }
        let (told, events) = mpsc::unbounded_channel();
        let status = StatusFile::new(context.dir.clone(), context.place.life, watch.mode());
        Ok(Self {
            inbox: Inbox::open(&context)?,
            control: Intake::open(&context.dir, Lane::Control)?,
            outbox: Outbox::open(&context)?,
            held: Vec::new(),
            unsaid: Unsaid::default(),
            teammate,
            engine: Engine::None,
            status,
            acted: None,
            watch,
            events,
            told,
            screen: None,
            works: false,
            running: None,
            was: State::Starting,
            idle_hook: false,
            slots: hook::Slots::default(),
            stopping: false,
            over: None,
            context,
        })
    }

    async fn live(&mut self) -> u8 {
        let signals = (|| {
            Ok::<_, std::io::Error>(Signals {
                terminate: signal(SignalKind::terminate())?,
                hang_up: signal(SignalKind::hangup())?,
                interrupt: signal(SignalKind::interrupt())?,
            })
        })();
        let reaper = Reaper::new();
        let (Ok(mut signals), Ok(mut reaper)) = (signals, reaper) else {
            return self.end("the teammate cannot listen to signals", Ended::default()).await;
        };
        // Not an arm of the loop below: each start of it looks through all processes of the machine.
        tokio::spawn(async move { reaper.run().await });
        if let Err(error) = self.start_engine() {
            eprintln!("crewmux: {error}");
            self.note_in_log(&error.to_string());
            self.step(Event::EngineEnded(Ended { code: Some(127), signal: None }));
        }
        let engine = self.context.spec.engine;
        let guest = engine == EngineKind::Mcp;
        let mut keyboard = matches!(engine, EngineKind::Worker | EngineKind::Acp).then(keyboard);
        self.look();
        let mut started = Some(Instant::now() + STARTED);
        loop {
            if let Some((reason, ended)) = self.over.take() {
                return self.end(reason, ended).await;
            }
            let tick = self.teammate.next_deadline().map(until);
            let status = [self.status.due(), self.acted].into_iter().flatten().min();
            let agent = self.agent_deadline();
            tokio::select! {
                biased;
                _ = signals.terminate.recv() => self.step(Event::Terminated),
                // A guest has no pane: whoever started it ends it by any of these.
                _ = signals.hang_up.recv() => self.step(if guest { Event::Terminated } else { Event::HungUp }),
                _ = signals.interrupt.recv() => if guest {
                    self.step(Event::Terminated);
                } else {
                    self.interrupt("interrupted from the keyboard");
                },
                _ = self.watch.changed() => self.look(),
                Some(event) = self.events.recv() => self.engine_event(event),
                Some(line) = next_line(keyboard.as_mut()) => self.typed(&line),
                () = sleep_until(tick) => self.step(Event::Tick),
                () = sleep_until(agent) => self.agent_tick(),
                () = sleep_until(status) => self.put_down(),
                () = sleep_until(self.unsaid.again.at()) => {
                    self.say_again();
                    self.look();
                }
                () = sleep_until(started) => {
                    started = None;
                    if let Err(error) = trim::code() {
                        tracing::debug!("the code of the start stays mapped: {error}");
                    }
                }
                // Last, so that everything else has its turn first.
                () = std::future::ready(()), if self.outbox.has_more() && !self.unsaid.is_too_much() => self.look(),
            }
            self.refresh();
            self.hook_on_idle();
        }
    }

    /// Writes what may be written a moment later than it happened.
    pub(super) fn put_down(&mut self) {
        if self.status.due().is_some() {
            self.status.write();
        }
        self.acted = None;
        if let Err(error) = self.control.store_acted() {
            tracing::warn!("{error}");
            self.acted = Some(Instant::now() + AGAIN);
        }
    }

    fn start_engine(&mut self) -> std::io::Result<()> {
        match self.context.spec.engine {
            EngineKind::Command => {
                let program = self.program(self.context.argv(), None)?;
                let (log, settle) = (self.context.dir.output_log(), self.context.spec.settle.0);
                let command = Command::start(&program, self.context.spec.deliver, settle, log, self.told.clone())?;
                self.engine = Engine::Command(command);
            }
            EngineKind::Acp => self.start_agent()?,
            EngineKind::Mcp => self.engine = Engine::Mcp(Mcp::start(&self.context, self.told.clone())?),
            EngineKind::Worker => {
                let screen = Screen::start()?;
                let name = &self.context.place.member;
                screen.note(&self.context.color, &format!("{name} waits for tasks"));
                self.screen = Some(screen.clone());
                let log = self.context.dir.output_log();
                self.engine = Engine::Worker(Worker::new(self.told.clone(), screen, log, self.context.mark()));
                self.step(Event::EngineReady);
            }
        }
        Ok(())
    }

    pub(super) fn program(
        &self,
        argv: Vec<std::ffi::OsString>,
        task: Option<(TaskId, u64)>,
    ) -> std::io::Result<Program> {
        let argv = crate::sandbox::wrap(argv, &sandbox::policy(&self.context)?)?;
        Ok(Program { argv, cwd: self.context.cwd(), env: env::of_program(&self.context, task)? })
    }

    /// Takes in whatever is new in the files. The control lane comes first, whatever the engine is at.
    fn look(&mut self) {
        let looked = self.look_control().and_then(|()| self.look_outbox()).and_then(|()| self.look_inbox());
        if let Err(error) = looked {
            tracing::warn!("{error}");
        }
        self.work();
    }

    fn look_control(&mut self) -> Result<(), StoreError> {
        self.control.poll()?;
        while let Some(next) = self.control.waiting().front().map(|w| w.id) {
            // Ids, lives and requests decide, so what was at hand when a teammate died does no harm when it comes again.
            for waiting in self.control.begin_to_act(&[next])? {
                self.step(Event::Control(Box::new(waiting.message)));
            }
            self.control.finish_acted();
            // Also where nothing of the status follows from it, as from a ping: else it would look as if it lay there.
            self.acted.get_or_insert(Instant::now() + PACE);
        }
        Ok(())
    }

    fn look_outbox(&mut self) -> Result<(), StoreError> {
        if self.unsaid.is_too_much() {
            return Ok(());
        }
        let (wishes, refused) = self.outbox.poll(&self.context)?;
        self.held.extend(wishes);
        refused.into_iter().for_each(|reply| self.answer(reply));
        self.carry_out_held();
        Ok(())
    }

    /// Verbs wait for the lead's welcome: before it nobody is a member. `ready` is what the welcome waits for.
    pub(super) fn carry_out_held(&mut self) {
        let joined = self.teammate.joined();
        for wish in std::mem::take(&mut self.held) {
            if !joined && wish.verb != Verb::Ready {
                self.held.push(wish);
                continue;
            }
            if let Some(asked) = TreeAsk::of(&wish.verb) {
                asked.carry_out(&self.context, wish.id, self.told.clone());
                continue;
            }
            if let Some(wish) = self.hook_before(wish) {
                self.carry_out(wish);
            }
        }
    }

    /// Carries one verb out, and what follows from it for the teammate itself.
    pub(super) fn carry_out(&mut self, wish: Wish) {
        let (reply, outcome) = verbs::carry_out(&mut self.context, &mut self.teammate, &mut self.inbox, wish);
        self.answer(reply);
        self.carry(outcome.effects);
        for event in outcome.events {
            self.step(event);
        }
        if outcome.ready {
            self.step(Event::EngineReady);
        }
    }

    fn look_inbox(&mut self) -> Result<(), StoreError> {
        if self.context.spec.engine == EngineKind::Worker || mail::pushes(&self.context) {
            self.inbox.poll()?;
        }
        Ok(())
    }

    fn engine_event(&mut self, event: EngineEvent) {
        let result = match event {
            // A program that gets pastes says itself when it is ready for them.
            EngineEvent::Settled if self.context.spec.deliver == Deliver::Paste => Ok(()),
            EngineEvent::Settled => {
                self.step(Event::EngineReady);
                Ok(())
            }
            EngineEvent::Ended(ended) => {
                let ended = self.agent_ended(ended);
                self.engine = Engine::None;
                self.step(Event::EngineEnded(ended));
                Ok(())
            }
            EngineEvent::Acp(event) => {
                self.acp_event(*event);
                Ok(())
            }
            EngineEvent::Delivered(ids) => self.inbox.arrived(&ids),
            EngineEvent::NotDelivered(_) => self.inbox.came_back(),
            EngineEvent::SuspendRefused => {
                let notice = "suspend_refused".to_owned();
                self.tell_lead(verbs::fresh_id(), Body::Notice { life: self.context.place.life, notice });
                Ok(())
            }
            EngineEvent::Hooked(hooked) => {
                self.hooked(*hooked);
                Ok(())
            }
            EngineEvent::Answered(reply) => {
                self.answer(*reply);
                Ok(())
            }
            EngineEvent::TaskEnded(end) => {
                self.task_ended(*end);
                Ok(())
            }
        };
        if let Err(error) = result {
            tracing::warn!("{error}");
        }
        self.work();
    }

    pub(super) fn step(&mut self, event: Event) {
        let effects = self.teammate.step(event, clock::now());
        self.carry(effects);
    }
}

fn until(at: crate::model::time::Timestamp) -> Instant {
    Instant::now() + at.since(clock::now())
}

async fn sleep_until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}

/// Lines typed into the pane, read by a thread that only waits.
fn keyboard() -> mpsc::UnboundedReceiver<String> {
    let (lines, typed) = mpsc::unbounded_channel();
    let _ = std::thread::Builder::new().name("keyboard".to_owned()).stack_size(64 * 1024).spawn(move || {
        for line in std::io::stdin().lines().map_while(Result::ok) {
            if lines.send(line).is_err() {
                return;
            }
        }
    });
    typed
}

async fn next_line(keyboard: Option<&mut mpsc::UnboundedReceiver<String>>) -> Option<String> {
    match keyboard {
        Some(lines) => match lines.recv().await {
            Some(line) => Some(line),
            None => std::future::pending().await,
        },
        None => std::future::pending().await,
    }
}
