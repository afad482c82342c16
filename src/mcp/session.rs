//! Who a client is, and how its calls get to the team.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::answer::Result;
use super::tools::Role;
use crate::act::{ActError, Answer, Client, Desk, Verb};
use crate::model::id::{Life, MessageId};
use crate::model::name::Name;
use crate::store::Home;

/// The client has gone: a hook that still runs on its behalf is ended. A process has one client.
static GONE: AtomicBool = AtomicBool::new(false);
/// How long what is in the middle of something has to end after its client: the time that ending a hook takes.
const TIDY: Duration = Duration::from_secs(2);

/// As whom a client calls.
#[derive(Clone, Debug)]
pub enum Identity {
    /// Whoever this process is in the team: the member it descends from, else the operator, who may act for `member`.
    Caller { member: Option<Name> },
    /// The member that this process itself is.
    Member { name: Name, life: Life },
}

/// One client's connection.
pub struct Session {
    home: Home,
    team: Name,
    identity: Identity,
    role: Role,
    name: Name,
    /// Clients at hand: calls that run at the same time each have one.
    idle: Mutex<Vec<Client>>,
    /// Mail that was shown in an answer of which nobody knows yet whether it arrived.
    pub(super) shown: Mutex<Vec<MessageId>>,
    /// Cancelled when the client has gone.
    pub(super) gone: CancellationToken,
    jobs: TaskTracker,
}

impl Session {
    /// Finds out who the client is.
    ///
    /// # Errors
    /// No such team or member, or a member that wants to act for another.
    pub fn open(home: &Home, team: &Name, identity: Identity) -> Result<Arc<Self>> {
        let mut client = client(home, team, &identity)?;
        let (name, operator) = (client.name(), client.is_operator());
        let role = if operator || name.is_lead() || client.desk.team()?.is_led_by(&name) {
            Role::Leader
        } else {
            Role::Member
        };
        Ok(Arc::new(Self {
            home: home.clone(),
            team: team.clone(),
            identity,
            role,
            name,
            idle: Mutex::new(vec![client]),
            shown: Mutex::new(Vec::new()),
            gone: CancellationToken::new(),
            jobs: TaskTracker::new(),
        }))
    }

    #[must_use]
    pub fn role(&self) -> Role {
        self.role
    }

    #[must_use]
    pub fn name(&self) -> &Name {
        &self.name
    }

    #[must_use]
    pub fn team(&self) -> &Name {
        &self.team
    }

    /// When the client has gone, or is to go.
    #[must_use]
    pub fn gone(&self) -> &CancellationToken {
        &self.gone
    }

    /// The client has gone: ends what runs on its behalf.
    pub(super) async fn end(&self) {
        self.gone.cancel();
        GONE.store(true, Ordering::Relaxed);
        self.jobs.close();
        let _ = tokio::time::timeout(TIDY, self.jobs.wait()).await;
    }

    /// A desk of its own, for what looks again and again.
    ///
    /// # Errors
    /// When the team is gone.
    pub(super) fn desk(&self) -> Result<Desk> {
        Desk::open(&self.home, &self.team)
    }

    /// Does something with a client, on a thread that may wait: a verb's answer comes from another process.
    ///
    /// # Errors
    /// What `job` refuses with.
    pub(super) async fn with<T: Send + 'static>(
        self: &Arc<Self>,
        job: impl FnOnce(&mut Client) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let session = Arc::clone(self);
        let done = self.jobs.spawn_blocking(move || {
            let at_hand = lock(&session.idle).pop();
            let mut client = match at_hand {
                Some(client) => client,
                None => client(&session.home, &session.team, &session.identity)?,
            };
            let done = job(&mut client);
            lock(&session.idle).push(client);
            done
        });
        done.await.unwrap_or_else(|_| Err(ActError::failed("the call broke off")))
    }

    /// Does a verb.
    ///
    /// # Errors
    /// What it is refused with.
    pub(super) async fn perform(self: &Arc<Self>, verb: Verb) -> Result<Answer> {
        self.with(move |client| client.perform(verb)).await
    }
}

/// The lock; what a thread that broke off left behind is whole.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn client(home: &Home, team: &Name, identity: &Identity) -> Result<Client> {
    let mut client = match identity {
        Identity::Caller { member } => Client::open(home, team, member.as_ref()),
        Identity::Member { name, life } => Client::of_member(home, team, name, *life),
    }?;
    client.interrupted = Some(&GONE);
    Ok(client)
}
