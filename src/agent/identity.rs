//! Whose code is running: in a task-local, so that what runs for one agent can never take itself for another, as it could with
//! a global.

use std::sync::Arc;

use uuid::Uuid;

use super::AgentId;
use super::wire::{Head, RequestBody, Turn};

/// Who the running task works for.
#[derive(Clone, Debug)]
pub struct Identity {
    pub agent: AgentId,
    /// The same for all that one child does; its own for each child.
    pub trace: Uuid,
    /// 0 for the main loop.
    pub depth: u32,
    /// `main`, `fork`, or the name of a definition.
    pub source: String,
    /// What a fork of this agent would go on from; there while it runs a turn's calls.
    pub base: Option<Arc<ForkBase>>,
}

/// A conversation as it was when its last turn asked for tools.
#[derive(Clone, Debug)]
pub struct ForkBase {
    pub head: Head,
    /// Frozen: its bytes are the ones that were sent.
    pub body: RequestBody,
    /// The turns in `body`.
    pub turns: Vec<Turn>,
    /// The turn of the assistant that has the calls. Not in `body`, since it came after it was sent.
    pub calls: Turn,
}

tokio::task_local! {
    static WHO: Arc<Identity>;
}

/// Who the running task works for; `None` outside any agent.
#[must_use]
pub fn current() -> Option<Arc<Identity>> {
    WHO.try_with(Arc::clone).ok()
}

/// Runs `work` for `who`.
pub async fn scope<T>(who: Arc<Identity>, work: impl Future<Output = T>) -> T {
    WHO.scope(who, work).await
}

#[cfg(test)]
mod tests {
    use super::*;

    fn who(agent: AgentId) -> Arc<Identity> {
        Arc::new(Identity { agent, trace: Uuid::nil(), depth: 0, source: "main".to_owned(), base: None })
    }

    #[tokio::test]
    async fn tasks_that_run_at_the_same_time_do_not_mix() {
        assert!(current().is_none());
        let one = async {
            for _ in 0..10 {
                tokio::task::yield_now().await;
                assert!(current().unwrap().agent.is_main());
            }
        };
        let child = AgentId::child(Uuid::from_u128(7));
        let other = async {
            for _ in 0..10 {
                tokio::task::yield_now().await;
                assert!(!current().unwrap().agent.is_main());
            }
        };
        tokio::join!(scope(who(AgentId::main()), one), scope(who(child), other));
    }
}
