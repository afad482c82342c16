//! How many hooks one process runs at once: what causes them may come in floods.

use std::sync::Arc;

use tokio::sync::Semaphore;

use super::call::Call;
use crate::model::hook::Said;

const MOST: usize = 8;

/// Places for hooks that run; the others wait, and their time does not count yet.
#[derive(Clone, Debug)]
pub struct Slots(Arc<Semaphore>);

impl Default for Slots {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(MOST)))
    }
}

impl Slots {
    /// Runs the hook when there is a place for it.
    pub async fn run(&self, call: Call) -> Said {
        match self.0.acquire().await {
            Ok(_place) => call.run().await,
            Err(closed) => Said::Failed(closed.to_string()),
        }
    }
}
