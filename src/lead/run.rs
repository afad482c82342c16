//! The lead's loop.

use std::collections::BTreeMap;
use std::path::PathBuf;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::ends::Ending;
use super::screen::Screen;
use super::words::Unsaid;
use crate::act::board::LedgerLog;
use crate::act::{ActError, Desk};
use crate::decide::lead::{Effect, Event, EventRecord, Finish, Lead};
use crate::hook;
use crate::model::id::Life;
use crate::model::message::Lane;
use crate::model::name::Name;
use crate::model::time::Timestamp;
use crate::os::clock;
use crate::os::pidfd::Pidfd;
use crate::os::process::{self, ProcessId};
use crate::sandbox;
use crate::store::intake::Intake;
use crate::store::roster::LockedRoster;
use crate::store::{Home, Journal, Lease, LeaseText, StateLog, StoreError, Watch, lease};
use crate::tmux::Tmux;

/// A segment of the events longer than this, in bytes, is followed by a new one …
const EVENTS_BYTES: u64 = 8 * 1024 * 1024;
/// … and so many older ones stay.
const EVENTS_KEPT: usize = 8;

/// What the lead is started with.
#[derive(Clone, Debug)]
pub struct Place {
    pub home: PathBuf,
    pub team: Name,
    /// The process that made the team, while it matters whether it lives.
    pub maker: Option<ProcessId>,
}

/// Why a lead cannot lead.
#[derive(Debug, thiserror::Error)]
pub enum LeadError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{0}")]
    Act(#[from] ActError),
    #[error("{what}: {source}")]
    Io { what: &'static str, source: std::io::Error },
}

/// How a lead ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Asked to end by a signal: the team goes on without a lead.
    Left,
    LaunchFailed(String),
    /// The team is to be taken down by the process that this one starts.
    TakeDown,
}

/// Leads a team until asked to end.
///
/// # Errors
/// When there is another lead, or the team's files cannot be used.
pub fn run(place: Place) -> Result<Outcome, LeadError> {
    let io = |what| move |source| LeadError::Io { what, source };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(16)
        .build()
        .map_err(io("cannot start the runtime"))?;
    let outcome = runtime.block_on(async {
        let mut process = Process::open(place)?;
        process.lead().await.map_err(io("cannot listen to signals"))
    });
    runtime.shutdown_background();
    outcome
}

pub(super) struct Process {
    pub home: PathBuf,
    pub lead: Lead,
    pub desk: Desk,
    pub roster: LockedRoster,
    pub roster_dirty: bool,
    pub ledger: StateLog<LedgerLog>,
    pub events: Journal,
    pub tmux: Option<Tmux>,
    pub screen: Screen,
    pub told: mpsc::UnboundedSender<Event>,
    /// Teammates by life, as tmux or their hello told.
    pub teammates: BTreeMap<Life, ProcessId>,
    /// What is being done about each member's work tree.
    pub trees: BTreeMap<Name, tokio::task::JoinHandle<()>>,
    /// Hooks that run.
    pub hooks: JoinSet<()>,
    pub slots: hook::Slots,
    pub finish: Option<Finish>,
    /// Decided and not carried out yet.
    pub pending: Vec<Effect>,
    /// The disk refused some of it, which is tried again then.
    pub again: Option<Instant>,
    pub held_up: bool,
    pub unsaid: Unsaid,
    /// Some of it was asked for by mail that is not marked as read yet.
    acts_on_mail: bool,
    pub(super) heard: mpsc::UnboundedReceiver<Event>,
    control: Intake,
    watch: Watch,
    maker: Option<ProcessId>,
    _lease: Lease,
}

impl Process {
    fn open(place: Place) -> Result<Self, LeadError> {
        let home = Home::at(place.home.clone());
        let mut desk = Desk::open(&home, &place.team)?;
        let me = process::me();
        let text = LeaseText {
            boot_id: process::boot_id(),
            pid: me.pid,
            start_time: me.start_time,
            life: clock::new_life(),
            command: "crewmux lead".to_owned(),
        };
        let lease = Lease::take(&desk.dir.lead_lease(), &text, lease::RETRY)?;
        let roster = LockedRoster::open(&desk.dir, &lease)?;
        let mut ledger: StateLog<LedgerLog> = StateLog::open(desk.dir.requests());
        let mut team = roster.team().clone();
        let recorded = team.tmux.clone();
        let tmux = own_place(&mut team);
        let tmux_lost = (recorded.server_pid, &recorded.server_start, &recorded.boot_id)
            != (team.tmux.server_pid, &team.tmux.server_start, &team.tmux.boot_id);
        let mut lead = Lead::new(team, ledger.view()?.0.clone());
        lead.tmux_lost = tmux_lost;
        lead.confines = sandbox::support().files;
        // What an earlier lead saw on the board is in the events already; the first one tells of all.
        if lead.team.launched {
            desk.board.view().map_err(LeadError::from)?;
        }
        desk.board.watch_news();
        let mut watch = Watch::start([desk.dir.member(&Name::lead()).mail_dir()]);
        watch.add(&desk.dir.tasks());
        let (told, heard) = mpsc::unbounded_channel();
        Ok(Self {
            home: place.home,
            control: Intake::open(&desk.dir.member(&Name::lead()), Lane::Control)?,
            events: Journal::open(desk.dir.events()),
            lead,
            desk,
            roster,
            roster_dirty: true,
            ledger,
            tmux,
            screen: Screen::new(),
            told,
            teammates: BTreeMap::new(),
            trees: BTreeMap::new(),
            hooks: JoinSet::new(),
            slots: hook::Slots::default(),
            finish: None,
            pending: Vec::new(),
            again: None,
            held_up: false,
            unsaid: Unsaid::default(),
            acts_on_mail: false,
            heard,
            watch,
            maker: place.maker,
            _lease: lease,
        })
    }

    async fn lead(&mut self) -> std::io::Result<Outcome> {
        let mut terminate = signal(SignalKind::terminate())?;
        let mut hang_up = signal(SignalKind::hangup())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut resized = signal(SignalKind::window_change())?;
        self.log(&EventRecord::team("lead_started").with("life", self.life()).with("pid", std::process::id()));
        self.begin().await;
        self.watch_maker();
        self.mark_lead();
        self.look();
        loop {
            self.settle().await;
            if let Some(finish) = self.finish.take() {
                return Ok(self.finished(finish));
            }
            let tick = [self.lead.next_deadline(), self.task_deadline()].into_iter().flatten().min().map(until);
            let draw = self.screen.due(self.lead.team.launched);
            tokio::select! {
                biased;
                _ = recv(&mut terminate) => return Ok(self.left().await),
                _ = recv(&mut hang_up) => return Ok(self.left().await),
                // Ctrl-C in the lead's pane ends nothing; `crewmux down` does.
                _ = recv(&mut interrupt) => self.screen.touch(),
                _ = recv(&mut resized) => self.screen.touch(),
                _ = self.watch.changed() => self.look(),
                Some(event) = self.heard.recv() => {
                    self.step(event);
                    while let Ok(event) = self.heard.try_recv() {
                        self.step(event);
                    }
                }
                () = sleep_until(tick) => {
                    self.step(Event::Tick);
                    self.look();
                }
                () = sleep_until(self.again) => {}
                () = sleep_until(self.unsaid.again.at()) => {}
                () = sleep_until(draw) => self.screen.draw(&mut self.desk, &self.lead.team, self.tmux.as_ref()),
            }
        }
    }

    fn life(&self) -> Life {
        self._lease.life()
    }

    /// Takes up what is there: living members are watched, the rest is ended or launched.
    async fn begin(&mut self) {
        let mut alive = Vec::new();
        let members: Vec<_> = self.lead.team.teammates().chain(&self.lead.team.reserved).cloned().collect();
        for member in &members {
            self.watch.add(&self.desk.dir.member(&member.name).state_dir());
            let dir = self.desk.dir.member(&member.name);
            let (Some(life), Some(text)) = (member.life, lease::text(&dir.lease())) else { continue };
            if let Some(id) = text.process().filter(|_| text.life == life) {
                self.teammates.insert(life, id);
            }
            let held = lease::is_held(&dir.lease()).unwrap_or(false);
            if member.is_active && held && text.life == life {
                alive.push(member.name.clone());
            }
        }
        self.find_panes(&alive).await;
        let effects = self.lead.begin(&alive, self.life(), clock::now());
        self.carry(effects).await;
        for name in alive {
            if let Some(life) = self.lead.team.member(&name).and_then(|m| m.life) {
                self.log(&EventRecord::of("member_taken_over", &name).with("life", life));
                self.ending(&name, life).watch();
            }
        }
    }

    /// A lead that died between making a pane and writing it down left a member without one: its process tells.
    async fn find_panes(&mut self, alive: &[Name]) {
        let lacks = |lead: &Lead, name: &Name| lead.team.member(name).is_some_and(|m| m.pane_id.is_none());
        let lost: Vec<&Name> = alive.iter().filter(|name| lacks(&self.lead, name)).collect();
        let Some(tmux) = self.tmux.as_ref().filter(|_| !lost.is_empty()) else { return };
        let panes = tmux.panes().await.unwrap_or_default();
        for name in lost {
            let Some(life) = self.lead.team.member(name).and_then(|m| m.life) else { continue };
            let Some(teammate) = self.teammates.get(&life) else { continue };
            if let Some(pane) = panes.iter().find(|pane| pane.pid == teammate.pid)
                && let Some(member) = self.lead.team.member_mut(name)
            {
                member.pane_id = Some(pane.id.clone());
                member.pid = Some(pane.pid);
            }
        }
    }

    fn mark_lead(&self) {
        let pane = self.lead.team.member(&Name::lead()).and_then(|m| m.pane_id.clone());
        let (Some(tmux), Some(pane)) = (self.tmux.clone(), pane) else { return };
        let gone = format!("no lead: crewmux up --resume {}", self.desk.name);
        tokio::spawn(async move {
            if let Err(error) = tmux.mark_lead(&pane, &gone).await {
                tracing::warn!("cannot mark the lead's pane: {error}");
            }
        });
    }

    fn watch_maker(&mut self) {
        let Some(maker) = self.maker else { return };
        let told = self.told.clone();
        tokio::spawn(async move {
            if let Ok(pidfd) = Pidfd::open(maker) {
                let _ = pidfd.wait().await;
            }
            let _ = told.send(Event::MakerGone);
        });
    }

    pub(super) fn ending(&self, name: &Name, life: Life) -> Ending {
        Ending {
            name: name.clone(),
            life,
            teammate: self.teammates.get(&life).copied(),
            dir: self.desk.dir.member(name),
            told: self.told.clone(),
        }
    }

    pub(super) fn watch_member(&mut self, name: &Name) {
        self.watch.add(&self.desk.dir.member(name).state_dir());
    }

    /// Takes in mail and the board.
    fn look(&mut self) {
        if let Err(error) = self.look_mail() {
            self.trouble("read the lead's mail", &error);
        }
        if let Err(error) = self.look_board() {
            self.trouble("read the board", &error);
        }
        self.screen.touch();
    }

    fn look_mail(&mut self) -> Result<(), StoreError> {
        self.control.poll()?;
        let ids: Vec<_> = self.control.waiting().iter().map(|w| w.id).collect();
        if ids.is_empty() {
            return Ok(());
        }
        // Acting twice on the same mail is harmless (ids and lives decide), so what was at hand when a
        // lead died is acted on again by the next.
        for waiting in self.control.begin_to_act(&ids)? {
            self.step(Event::Mail(waiting.message));
        }
        self.acts_on_mail = true;
        Ok(())
    }

    /// What the mail at hand asked for is done: only now is it read.
    pub(super) fn mail_is_done(&mut self) {
        if std::mem::take(&mut self.acts_on_mail)
            && let Err(error) = self.control.finish_read()
        {
            self.trouble("write the lead's cursor", &error);
        }
    }

    pub(super) fn step(&mut self, event: Event) {
        if let Event::Mail(message) = &event
            && let Some(crate::model::message::Body::Hello { life, pid, start_time, .. }) = message.typed()
        {
            self.teammates.insert(life, ProcessId { pid, start_time });
        }
        if let Event::PaneStarted { life, pid, start_time, .. } = &event
            && let Ok(start_time) = start_time.parse()
        {
            self.teammates.insert(*life, ProcessId { pid: *pid, start_time });
        }
        let effects = self.lead.step(event, clock::now());
        self.pending.extend(effects);
        self.screen.touch();
    }

    /// Writes an event, and shows it.
    pub(super) fn log(&mut self, record: &EventRecord) {
        if let Err(error) = self.events.append_within(record, EVENTS_BYTES, EVENTS_KEPT) {
            tracing::error!("cannot write an event: {error}");
        }
        self.hook_on(record);
        let mut shown = serde_json::json!(record);
        shown["ts"] = serde_json::json!(clock::now());
        self.screen.event(shown);
    }

    async fn left(&mut self) -> Outcome {
        self.last_hooks().await;
        self.log(&EventRecord::team("lead_stopped").with("reason", "asked to end"));
        let team = &self.desk.name;
        self.screen.leave(&format!(
            "The lead of `{team}` has ended; its members work on.\r\n`crewmux up --resume {team}` brings it back, \
             `crewmux down --team {team}` ends the team."
        ));
        Outcome::Left
    }

    fn finished(&mut self, finish: Finish) -> Outcome {
        match finish {
            Finish::LaunchFailed(reason) => {
                self.screen.leave(&format!("The launch failed.\r\n{}", reason.replace('\n', "\r\n")));
                match self.maker {
                    // Nobody is left to put away what was made.
                    Some(maker) if !process::is_alive(maker) => Outcome::TakeDown,
                    _ => Outcome::LaunchFailed(reason),
                }
            }
            Finish::TakeDown => {
                self.log(&EventRecord::team("lead_stopped").with("reason", "its maker is gone"));
                Outcome::TakeDown
            }
        }
    }
}

/// Where this process's own tmux is, from what tmux puts into the environment of a pane.
fn own_place(team: &mut crate::model::team::Team) -> Option<Tmux> {
    let tmux = std::env::var("TMUX").ok()?;
    let mut parts = tmux.rsplitn(3, ',');
    let (_, pid, socket) = (parts.next()?, parts.next()?.parse::<u32>().ok()?, parts.next()?);
    team.tmux.socket = socket.to_owned();
    team.tmux.server_pid = pid;
    team.tmux.server_start = process::stat(pid).map(|s| s.start_time.to_string()).unwrap_or_default();
    team.tmux.boot_id = process::boot_id();
    if let Some(me) = team.member_mut(&Name::lead()) {
        let id = process::me();
        me.pane_id = std::env::var("TMUX_PANE").ok();
        me.pid = Some(id.pid);
        me.start_time = Some(id.start_time.to_string());
    }
    Some(Tmux::new(socket))
}

fn until(at: Timestamp) -> Instant {
    Instant::now() + at.since(clock::now())
}

async fn sleep_until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}

async fn recv(signal: &mut Signal) {
    if signal.recv().await.is_none() {
        std::future::pending::<()>().await;
    }
}
