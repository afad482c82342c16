//! The teammate's loop: one task on the main thread, so that the parent-death signal of its children
//! follows the process and not a passing thread.

use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::context::{Context, Place, StartError};
use super::engine::command::Command;
use super::engine::worker::{Job, Worker};
use super::engine::{EngineEvent, TaskEnd};
use super::env;
use super::mail::{self, Inbox};
use super::screen::Screen;
use super::status::StatusFile;
use super::verbs::{self, Outbox};
use crate::act::outbox::Wish;
use crate::act::{Done, Verb, Who, act};
use crate::decide::authority::Authority;
use crate::decide::board::Caller;
use crate::decide::teammate::{Effect, Ended, Event, Teammate};
use crate::model::id::{MessageId, TaskId};
use crate::model::message::{Body, Lane, Message, Priority};
use crate::model::name::Name;
use crate::model::spec::{Deliver, EngineKind};
use crate::model::task::{TaskResult, Usage};
use crate::model::team::Exit;
use crate::os::clock;
use crate::os::life::end_life;
use crate::os::reap::{Reaper, become_subreaper};
use crate::os::spawn::Program;
use crate::store::intake::Intake;
use crate::store::{Durability, StoreError, Watch, document, mailbox};

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

enum Engine {
    None,
    Command(Command),
    Worker(Worker),
}

struct Process {
    context: Context,
    teammate: Teammate,
    engine: Engine,
    inbox: Inbox,
    control: Intake,
    outbox: Outbox,
    /// Verbs that came before the lead's welcome.
    held: Vec<Wish>,
    status: StatusFile,
    watch: Watch,
    events: mpsc::UnboundedReceiver<EngineEvent>,
    told: mpsc::UnboundedSender<EngineEvent>,
    screen: Option<Screen>,
    /// Whether mail and tasks may be given to the engine.
    works: bool,
    running: Option<(TaskId, u64, String)>,
    /// The engine is being stopped: what it leaves unfinished goes back to the board.
    stopping: bool,
    over: Option<(&'static str, Ended)>,
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
        let mut watch = Watch::start([context.dir.mail_dir()]);
        if context.spec.engine == EngineKind::Worker {
            watch.add(&context.desk.dir.tasks());
        }
        let (told, events) = mpsc::unbounded_channel();
        let status = StatusFile::new(context.dir.clone(), context.place.life, watch.mode());
        Ok(Self {
            inbox: Inbox::open(&context)?,
            control: Intake::open(&context.dir, Lane::Control)?,
            outbox: Outbox::open(&context)?,
            held: Vec::new(),
            teammate,
            engine: Engine::None,
            status,
            watch,
            events,
            told,
            screen: None,
            works: false,
            running: None,
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
        self.status.write();
        if let Err(error) = self.start_engine() {
            eprintln!("crewmux: {error}");
            self.note_in_log(&error.to_string());
            self.step(Event::EngineEnded(Ended { code: Some(127), signal: None }));
        }
        let mut keyboard = (self.context.spec.engine == EngineKind::Worker).then(keyboard);
        self.look();
        loop {
            if let Some((reason, ended)) = self.over.take() {
                return self.end(reason, ended).await;
            }
            let tick = self.teammate.next_deadline().map(until);
            let status = self.status.due();
            tokio::select! {
                biased;
                _ = signals.terminate.recv() => self.step(Event::Terminated),
                _ = signals.hang_up.recv() => self.step(Event::HungUp),
                _ = signals.interrupt.recv() => self.interrupt("interrupted from the keyboard"),
                _ = self.watch.changed() => self.look(),
                Some(event) = self.events.recv() => self.engine_event(event),
                Some(line) = next_line(keyboard.as_mut()) => self.typed(&line),
                () = sleep_until(tick) => self.step(Event::Tick),
                () = sleep_until(status) => self.status.write(),
                () = reaper.run() => {}
            }
            self.refresh();
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

    fn program(&self, argv: Vec<std::ffi::OsString>, task: Option<(TaskId, u64)>) -> std::io::Result<Program> {
        Ok(Program { argv, cwd: self.context.spec.cwd.clone().into(), env: env::of_program(&self.context, task)? })
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
            for waiting in self.control.begin(&[next])? {
                self.step(Event::Control(Box::new(waiting.message)));
            }
            self.control.finish()?;
            self.control.mark_read(&[next])?;
        }
        Ok(())
    }

    fn look_outbox(&mut self) -> Result<(), StoreError> {
        self.held.extend(self.outbox.poll(&self.context)?);
        self.carry_out_held();
        Ok(())
    }

    /// Verbs wait for the lead's welcome: before it nobody is a member. `ready` is what the welcome waits for.
    fn carry_out_held(&mut self) {
        let joined = self.teammate.joined();
        for wish in std::mem::take(&mut self.held) {
            if !joined && wish.verb != Verb::Ready {
                self.held.push(wish);
                continue;
            }
            let outcome = verbs::carry_out(&mut self.context, &mut self.teammate, &mut self.inbox, &self.outbox, wish);
            self.carry(outcome.effects);
            for event in outcome.events {
                self.step(event);
            }
            if outcome.ready {
                self.step(Event::EngineReady);
            }
        }
    }

    fn look_inbox(&mut self) -> Result<(), StoreError> {
        if self.context.spec.engine == EngineKind::Worker || mail::pushes(&self.context) {
            self.inbox.poll()?;
        }
        Ok(())
    }

    /// Gives the engine what it may have.
    fn work(&mut self) {
        if !self.works {
            return;
        }
        let handed = match &self.engine {
            Engine::Command(command) => self.inbox.hand_over(&self.context, command),
            Engine::Worker(_) => self.worker_mail(),
            Engine::None => Ok(()),
        };
        if let Err(error) = handed {
            tracing::warn!("cannot hand mail over: {error}");
        }
        self.take_task();
    }

    /// A worker reads its mail by itself: it shows it, and `now` ends the running task.
    fn worker_mail(&mut self) -> Result<(), StoreError> {
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
    fn take_task(&mut self) {
        let Engine::Worker(_) = self.engine else { return };
        while self.running.is_none() && self.works {
            let Some(id) = self.next_task() else { return };
            let who = Who::member(self.context.place.member.clone(), self.context.place.life);
            match act(&mut self.context.desk, &who, verbs::fresh_id(), Verb::TaskClaim { id: Some(id) }) {
                Ok(Done::Answer(answer)) => match serde_json::from_value(answer.value) {
                    Ok(task) => self.start_task(task),
                    Err(error) => return tracing::warn!("a claimed task cannot be read: {error}"),
                },
                // Another one was quicker: look again.
                Err(error) if error.code == 7 => {}
                Ok(Done::Asked(_)) => return,
                Err(error) => return tracing::warn!("cannot claim task {id}: {error}"),
            }
        }
    }

    fn next_task(&mut self) -> Option<TaskId> {
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

    fn start_task(&mut self, task: crate::model::task::Task) {
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

    fn task_ended(&mut self, end: TaskEnd) {
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

    fn engine_event(&mut self, event: EngineEvent) {
        let result = match event {
            // A program that gets pastes says itself when it is ready for them.
            EngineEvent::Settled if self.context.spec.deliver == Deliver::Paste => Ok(()),
            EngineEvent::Settled => {
                self.step(Event::EngineReady);
                Ok(())
            }
            EngineEvent::Ended(ended) => {
                self.engine = Engine::None;
                self.step(Event::EngineEnded(ended));
                Ok(())
            }
            EngineEvent::Delivered(ids) => self.inbox.arrived(&ids),
            EngineEvent::NotDelivered(_) => self.inbox.came_back(),
            EngineEvent::SuspendRefused => {
                let notice = "suspend_refused".to_owned();
                self.tell_lead(verbs::fresh_id(), &Body::Notice { life: self.context.place.life, notice });
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

    fn interrupt(&mut self, why: &str) {
        if let Engine::Worker(worker) = &mut self.engine {
            worker.interrupt(why);
        }
    }

    /// A line typed into a worker's pane is a message from the operator.
    fn typed(&mut self, line: &str) {
        let line = line.trim();
        if line.is_empty() {
            return;
        }
        let send = crate::act::Send {
            to: self.context.place.member.to_string(),
            text: line.to_owned(),
            ..crate::act::Send::default()
        };
        if let Err(error) = act(&mut self.context.desk, &Who::operator(), verbs::fresh_id(), Verb::Send(send))
            && let Some(screen) = &self.screen
        {
            screen.note("red", &error.to_string());
        }
    }

    fn step(&mut self, event: Event) {
        let effects = self.teammate.step(event, clock::now());
        self.carry(effects);
    }

    fn carry(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Mail { id, body } => self.tell_lead(id, &body),
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

    fn stop_engine(&mut self, grace: Duration) {
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

    fn tell_lead(&self, id: MessageId, body: &Body) {
        let lead = Name::lead();
        let message = Message::new(id, self.context.agent_id.clone(), lead.clone(), body);
        // What is decided must outlast a power cut; a hello is said again by the next life.
        let durability = match body {
            Body::ShutdownResponse { .. } => Durability::Durable,
            _ => Durability::Fast,
        };
        let dir = self.context.desk.dir.member(&lead);
        if let Err(error) = mailbox::deliver(&dir, &message, Lane::Control, durability, false) {
            tracing::warn!("cannot tell the lead: {error}");
        }
    }

    /// The lead's word as mail for the program.
    fn hand_over(&self, message: Message) {
        if self.context.spec.engine == EngineKind::Worker {
            return;
        }
        if let Err(error) = mailbox::deliver(&self.context.dir, &message, Lane::Inbox, Durability::Fast, true) {
            tracing::warn!("cannot hand over a request: {error}");
        }
    }

    fn refresh(&mut self) {
        let task = self.running.as_ref().map(|(id, epoch, _)| (*id, *epoch));
        let activity = self.running.as_ref().map(|(_, _, what)| what.clone());
        self.status.set(self.teammate.state(), task, activity, self.inbox.queued());
    }

    fn note_in_log(&self, text: &str) {
        if let Ok(mut log) =
            crate::os::log_file::RotatingLog::open(self.context.dir.output_log(), super::engine::LOG_BYTES)
        {
            log.write(format!("crewmux: {text}\n").as_bytes());
        }
    }

    /// The life is over: nothing of it may go on, then the record, then the lease goes with the process.
    async fn end(&mut self, reason: &str, ended: Ended) -> u8 {
        let mark = self.context.mark();
        let me = std::process::id();
        let _ = tokio::task::spawn_blocking(move || end_life(&mark, &[me], Duration::from_secs(1))).await;
        self.engine = Engine::None;
        let exit = Exit {
            life: Some(self.context.place.life),
            code: ended.code,
            signal: ended.signal,
            reason: reason.to_owned(),
            at: clock::now(),
        };
        self.refresh();
        self.status.write();
        if let Err(error) = document::replace_json(&self.context.dir.exit(), &exit, document::Sync::Fast) {
            tracing::warn!("cannot write the exit record: {error}");
        }
        u8::try_from(ended.code.unwrap_or(0)).unwrap_or(1)
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
