//! The registry of all that runs for an agent beside its own turn: children, and shells in the background.
//!
//! One for a session. It holds what [`super::lifecycle`] decides on, the queue of what their callers are to be told, and
//! what waits for each child. Everything is one small step under one lock; nothing waits inside.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::lifecycle::{Effect, End, Event, Life, State};
use super::progress::Progress;
use crate::agent::AgentId;
use crate::agent::notification::{Ended, What};
use crate::agent::query::Inbox;
use crate::agent::queue::{Command, Origin, Queue};
use crate::agent::session::{Backlog, Waiting};
use crate::agent::tools::{BoxFuture, Registered, ShellEnd, ShellTask, Tasks, locked};
use crate::agent::wire::{Block, Turn};
use crate::model::message::Priority;
use crate::model::task::Usage;

/// How long a record stays in memory after its caller was told of the end; its files stay.
const GRACE: Duration = Duration::from_secs(300);

/// What is taken up.
#[derive(Clone, Debug)]
pub struct New {
    pub what: What,
    pub owner: AgentId,
    pub name: Option<String>,
    /// The definition's name; of a shell its command.
    pub kind: String,
    pub description: String,
    pub tool_use_id: Option<String>,
    pub background: bool,
}

/// A child or a shell.
#[derive(Clone, Debug)]
pub struct One {
    pub new: New,
    pub id: String,
    pub life: Life,
    pub stop: CancellationToken,
    pub output_file: PathBuf,
    pub progress: Progress,
    /// Its last words.
    pub result: String,
    /// Path and branch of a work tree that it left changed.
    pub worktree: Option<(String, String)>,
    began: Instant,
    took: Option<Duration>,
    /// The command in the queue that tells of its end.
    queued: Option<u64>,
}

impl One {
    #[must_use]
    pub fn took(&self) -> Duration {
        self.took.unwrap_or_else(|| self.began.elapsed())
    }

    #[must_use]
    pub fn usage(&self) -> Option<Usage> {
        (self.new.what == What::Agent).then(|| Usage {
            total_tokens: self.progress.total_tokens(),
            tool_uses: self.progress.tool_calls,
            duration_ms: u64::try_from(self.took().as_millis()).unwrap_or(u64::MAX),
        })
    }

    /// How it ended, if it has.
    #[must_use]
    pub fn end(&self) -> Option<&End> {
        match &self.life.state {
            State::Ended(end) => Some(end),
            _ => None,
        }
    }

    /// Who its caller is told by, as a message apart from any person's.
    fn notification(&self, end: &End) -> String {
        let worktree = self.worktree.as_ref().map(|(path, branch)| (path.as_str(), branch.as_str()));
        Ended {
            what: self.new.what,
            id: &self.id,
            tool_use_id: self.new.tool_use_id.as_deref(),
            description: &self.new.description,
            end,
            result: &self.result,
            output_file: &self.output_file.to_string_lossy(),
            usage: self.usage(),
            worktree,
        }
        .to_xml()
    }
}

#[derive(Default)]
struct Inner {
    all: BTreeMap<String, One>,
    queue: Queue,
}

pub struct Nursery {
    inner: Mutex<Inner>,
    /// Rises with every change.
    version: watch::Sender<u64>,
    outputs: PathBuf,
    /// Children that may run at once.
    most: usize,
    born: Instant,
}

impl Nursery {
    #[must_use]
    pub fn new(outputs: PathBuf, most: usize) -> Arc<Self> {
        let inner = Mutex::default();
        Arc::new(Self { inner, version: watch::Sender::new(0), outputs, most, born: Instant::now() })
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        locked(&self.inner)
    }

    fn moved(&self) {
        self.version.send_modify(|n| *n += 1);
    }

    /// Takes one up, under a new id or, for one that goes on, the one it had.
    ///
    /// # Errors
    /// Too many at once, a name that a living one has, no place for the output.
    pub fn register(&self, new: New, id: Option<&AgentId>) -> Result<Registered, String> {
        let mut inner = self.inner();
        inner.forget(self.born.elapsed());
        let lives = |one: &One| !one.life.state.ended() && one.new.what == new.what;
        let living = inner.all.values().filter(|one| lives(one)).count();
        if living >= self.most {
            let most = self.most;
            return Err(format!("{living} run already and {most} is the most; wait for one to end, or stop one"));
        }
        if let Some(name) = &new.name
            && let Some(other) = inner.all.values().find(|one| one.new.name.as_ref() == Some(name) && lives(one))
        {
            return Err(format!("the name `{name}` belongs to {}, which runs; choose another", other.id));
        }
        let id = id.map_or_else(|| inner.free_id(new.what), ToString::to_string);
        let output_file = self.outputs.join(format!("{id}.log"));
        if inner.all.get(&id).is_some_and(|one| !one.life.state.ended()) {
            return Err(format!("{id} runs already"));
        }
        let made = std::fs::File::options().append(true).create(true).open(&output_file);
        made.map_err(|e| format!("cannot make {}: {e}", output_file.display()))?;
        let stop = CancellationToken::new();
        // One that goes on has ended: whoever was not told of that yet still is, by what lies in the queue.
        let life = match inner.all.get(&id) {
            Some(old) => {
                let mut life = old.life.clone();
                life.step(Event::Resume, self.born.elapsed());
                life
            }
            None => Life::new(new.background, GRACE),
        };
        let registered = Registered { id: id.clone(), output_file: output_file.clone(), stop: stop.clone() };
        let one = One {
            new,
            id: id.clone(),
            life,
            stop,
            output_file,
            progress: Progress::default(),
            result: String::new(),
            worktree: None,
            began: Instant::now(),
            took: None,
            queued: None,
        };
        inner.all.insert(id, one);
        drop(inner);
        self.moved();
        Ok(registered)
    }

    /// What happens to `id`; what is unknown has gone.
    pub fn step(&self, id: &str, event: Event) {
        self.inner().step(id, event, self.born.elapsed());
        self.moved();
    }

    /// It has ended, with these last words.
    pub fn ended(&self, id: &str, end: End, result: String, worktree: Option<(String, String)>) {
        let mut inner = self.inner();
        if let Some(one) = inner.all.get_mut(id).filter(|one| !one.life.state.ended()) {
            one.result = result;
            one.worktree = worktree;
            one.took = Some(one.began.elapsed());
            // What comes for it from now on has nobody to read it: whoever sends it sees that it has ended.
            inner.step(id, Event::Ended(end), self.born.elapsed());
        }
        drop(inner);
        self.moved();
    }

    /// It was taken up and could not be started: its caller hears of it at once, and not a second time.
    pub fn never_began(&self, id: &str, why: &str) {
        self.ended(id, End::Failed(why.to_owned()), String::new(), None);
        self.step(id, Event::Told);
    }

    pub fn progress(&self, id: &str, change: impl FnOnce(&mut Progress)) {
        if let Some(one) = self.inner().all.get_mut(id) {
            change(&mut one.progress);
        }
    }

    /// As it is now.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<One> {
        self.inner().all.get(id).cloned()
    }

    /// By its name, the living one before an ended one and the later before the earlier; else by its id.
    #[must_use]
    pub fn find(&self, word: &str) -> Option<One> {
        let inner = self.inner();
        let named = inner.all.values().filter(|one| one.new.name.as_deref() == Some(word));
        let best = named.max_by_key(|one| (!one.life.state.ended(), one.began));
        best.or_else(|| inner.all.get(word)).cloned()
    }

    #[must_use]
    pub fn all(&self) -> Vec<One> {
        self.inner().all.values().cloned().collect()
    }

    /// Puts a message into a running child's own list; `false` where it does not run.
    pub fn message(&self, id: &str, content: Vec<Block>) -> bool {
        let mut inner = self.inner();
        let runs = inner.all.get(id).is_some_and(|one| !one.life.state.ended());
        let to = AgentId::parse(id).filter(|_| runs);
        if let Some(to) = &to {
            inner.queue.push(to.clone(), Priority::Next, Origin::Prompt, content);
        }
        drop(inner);
        self.moved();
        to.is_some()
    }

    /// Returns once `holds` does.
    pub async fn until<T>(&self, mut holds: impl FnMut(&Self) -> Option<T>) -> T {
        let mut version = self.version.subscribe();
        loop {
            if let Some(found) = holds(self) {
                return found;
            }
            // The sender lives as long as this.
            let _ = version.changed().await;
        }
    }

    /// Stops what `owner` runs, and gives the ids.
    pub fn stop_of(&self, owner: &AgentId) -> Vec<String> {
        let running = |one: &One| one.new.owner == *owner && !one.life.state.ended();
        let ids: Vec<String> = self.inner().all.values().filter(|one| running(one)).map(|one| one.id.clone()).collect();
        for id in &ids {
            self.step(id, Event::Kill);
        }
        ids
    }

    fn take_for(&self, agent: &AgentId, least: Priority) -> Vec<Command> {
        let now = self.born.elapsed();
        let mut inner = self.inner();
        let taken = inner.queue.drain(|command| command.to == *agent && command.priority <= least);
        for command in &taken {
            if let Origin::Notification { of } = &command.origin {
                inner.step(of, Event::Told, now);
            }
        }
        taken
    }
}

impl Inner {
    fn step(&mut self, id: &str, event: Event, now: Duration) {
        let Some(one) = self.all.get_mut(id) else { return };
        for effect in one.life.step(event, now) {
            match effect {
                Effect::Abort => one.stop.cancel(),
                Effect::Notify => {
                    let Some(end) = one.end().cloned() else { continue };
                    let text = Block::text(one.notification(&end));
                    let origin = Origin::Notification { of: id.to_owned() };
                    one.queued = Some(self.queue.push(one.new.owner.clone(), Priority::Later, origin, vec![text]));
                }
                Effect::Unqueue => {
                    let queued = one.queued.take();
                    self.queue.pop(|command| Some(command.id) == queued);
                }
                Effect::Forget => {}
            }
        }
    }

    /// Lets go of those whose time is over.
    fn forget(&mut self, now: Duration) {
        self.all.retain(|_, one| !one.life.step(Event::Tick, now).contains(&Effect::Forget));
    }

    fn free_id(&self, what: What) -> String {
        loop {
            let child = AgentId::child(Uuid::new_v4()).to_string();
            let id = match what {
                What::Agent => child,
                What::Shell => format!("sh{}", &child[1..]),
            };
            if !self.all.contains_key(&id) {
                return id;
            }
        }
    }
}

impl Tasks for Nursery {
    fn register_shell(&self, shell: ShellTask) -> Result<Registered, String> {
        let description = shell.description.unwrap_or_else(|| shell.command.clone());
        let new = New {
            what: What::Shell,
            owner: shell.owner,
            name: None,
            kind: shell.command,
            description,
            tool_use_id: None,
            background: true,
        };
        let registered = self.register(new, None)?;
        self.step(&registered.id, Event::Started);
        Ok(registered)
    }

    fn shell_ended(&self, id: &str, end: ShellEnd) {
        let (end, result) = match end {
            ShellEnd::Exited(0) => (End::Completed, "exit code 0".to_owned()),
            ShellEnd::Exited(code) => (End::Failed(format!("exit code {code}")), String::new()),
            ShellEnd::Signalled(signal) => (End::Failed(format!("ended by signal {signal}")), String::new()),
            ShellEnd::Stopped => (End::Killed, String::new()),
            ShellEnd::Failed(why) => (End::Failed(why), String::new()),
        };
        self.ended(id, end, result, None);
    }
}

impl Inbox for Nursery {
    fn at_boundary(&self, agent: &AgentId) -> Vec<Turn> {
        // The main loop hears of ends when its turn is over. A child has one turn only.
        let least = if agent.is_main() { Priority::Next } else { Priority::Later };
        self.take_for(agent, least).into_iter().map(|command| Turn::user(command.content)).collect()
    }
}

impl Backlog for Nursery {
    fn take(&self, agent: &AgentId) -> Vec<Waiting> {
        let turn = |command: Command| Waiting { priority: command.priority, turn: Turn::user(command.content) };
        self.take_for(agent, Priority::Later).into_iter().map(turn).collect()
    }

    fn waiting(&self, agent: &AgentId) -> usize {
        self.inner().queue.snapshot().iter().filter(|command| command.to == *agent).count()
    }

    fn running(&self) -> usize {
        self.inner().all.values().filter(|one| !one.life.state.ended()).count()
    }

    fn changed(&self) -> BoxFuture<'_, ()> {
        let mut version = self.version.subscribe();
        Box::pin(async move {
            let _ = version.changed().await;
        })
    }

    fn stop_all(&self) {
        let ids: Vec<String> = self.inner().all.keys().cloned().collect();
        ids.iter().for_each(|id| self.step(id, Event::Kill));
    }

    fn to_background(&self) -> bool {
        let in_front = |one: &One| one.new.what == What::Agent && !one.life.background && !one.life.state.ended();
        let ids: Vec<String> =
            self.inner().all.values().filter(|one| in_front(one)).map(|one| one.id.clone()).collect();
        ids.iter().for_each(|id| self.step(id, Event::ToBackground));
        !ids.is_empty()
    }
}

#[cfg(test)]
#[path = "nursery_tests.rs"]
mod tests;
