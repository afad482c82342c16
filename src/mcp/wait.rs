//! Waiting for somebody else: with progress for the client, and no longer than it wants to.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::answer::Result;
use super::session::Session;
use crate::act::Desk;
use crate::store::Watch;

/// How often the client hears that somebody is still waited for: well within the time limits that clients have.
const PROGRESS: Duration = Duration::from_secs(5);
/// A lease that falls free changes no file, so one looks by oneself this often too.
const LOOK: Duration = Duration::from_secs(1);

/// One call of a tool.
pub struct Call {
    pub session: Arc<Session>,
    cancelled: CancellationToken,
    peer: Peer<RoleServer>,
    token: Option<ProgressToken>,
}

/// How a wait ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Waited<T> {
    Found(T),
    TimedOut,
    /// The client wants it no more, or has gone.
    Cancelled,
}

impl Call {
    #[must_use]
    pub fn new(session: Arc<Session>, context: &RequestContext<RoleServer>) -> Self {
        Self {
            session,
            cancelled: context.ct.clone(),
            peer: context.peer.clone(),
            token: context.meta.get_progress_token(),
        }
    }

    /// Asks `look` again whenever something in `dirs` changed, until it has an answer.
    ///
    /// # Errors
    /// What `look` fails with.
    pub async fn until<T>(
        &self,
        what: &str,
        dirs: &[PathBuf],
        limit: Duration,
        mut look: impl FnMut(&mut Desk) -> Result<Option<T>> + Send,
    ) -> Result<Waited<T>> {
        let begun = Instant::now();
        let mut desk = self.session.desk()?;
        // Watched before the first look, so that nothing falls in between.
        let mut watch = Watch::start(dirs);
        let mut told = None;
        loop {
            if let Some(found) = look(&mut desk)? {
                return Ok(Waited::Found(found));
            }
            let left = limit.saturating_sub(begun.elapsed());
            if left.is_zero() {
                return Ok(Waited::TimedOut);
            }
            if told.is_none_or(|at: Instant| at.elapsed() >= PROGRESS) {
                told = Some(Instant::now());
                self.progress(begun.elapsed(), what).await;
            }
            tokio::select! {
                () = self.cancelled.cancelled() => return Ok(Waited::Cancelled),
                () = self.session.gone().cancelled() => return Ok(Waited::Cancelled),
                _ = watch.changed() => {}
                () = tokio::time::sleep(left.min(LOOK)) => {}
            }
        }
    }

    async fn progress(&self, so_far: Duration, what: &str) {
        let Some(token) = self.token.clone() else { return };
        let param = ProgressNotificationParam::new(token, so_far.as_secs_f64()).with_message(what);
        // Who does not take it is waited for all the same.
        let _ = self.peer.notify_progress(param).await;
    }
}
