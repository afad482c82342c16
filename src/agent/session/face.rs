//! The side of a session that others see and that asks them.

use std::sync::Arc;

use crate::agent::permission::{Asker, Nobody};
use crate::agent::query::{Silent, Watcher};
use crate::agent::tools::{NoPerson, Person, Quiet, Sink};

/// Who watches, shows, decides and answers.
#[derive(Clone)]
pub struct Face {
    pub watcher: Arc<dyn Watcher>,
    pub sink: Arc<dyn Sink>,
    pub asker: Arc<dyn Asker>,
    pub person: Arc<dyn Person>,
}

impl Face {
    /// Nobody is there.
    #[must_use]
    pub fn none() -> Self {
        Self { watcher: Arc::new(Silent), sink: Arc::new(Quiet), asker: Arc::new(Nobody), person: Arc::new(NoPerson) }
    }

    /// One thing that is all of it.
    #[must_use]
    pub fn of<T: Watcher + Sink + Asker + Person + 'static>(face: Arc<T>) -> Self {
        Self {
            watcher: Arc::clone(&face) as Arc<dyn Watcher>,
            sink: Arc::clone(&face) as Arc<dyn Sink>,
            asker: Arc::clone(&face) as Arc<dyn Asker>,
            person: face,
        }
    }
}
