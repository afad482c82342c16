//! Asking a crowded server less: one limiter for all loops of a process, and through a small file for all processes that share
//! a server and a key.
//!
//! When the server answers that it is crowded, everyone waits until the moment it names (or until a growing pause is over), each with some
//! jitter, so that they do not come back together. The file holds that moment and nothing else: losing it costs one more refusal.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::Mutex;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::Failure;
use crate::model::time::Timestamp;
use crate::os::clock;
use crate::store::document::{self, Sync};

const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// A server may name any moment; nobody is kept waiting for longer than this at a time.
const LONGEST_ORDER: Duration = Duration::from_secs(600);

/// What the processes tell each other.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Shared {
    /// Nobody asks before.
    not_before: Timestamp,
}

/// A limiter. Clones share it.
#[derive(Clone)]
pub struct Limiter {
    inner: Arc<Inner>,
}

struct Inner {
    slots: Arc<Semaphore>,
    file: Option<PathBuf>,
    not_before: Mutex<Timestamp>,
}

/// The right to have one request under way.
pub struct Slot {
    _permit: Option<OwnedSemaphorePermit>,
}

impl Limiter {
    /// A limiter for at most `at_once` requests of this process; `file` is shared with others of the same server and key.
    #[must_use]
    pub fn new(at_once: usize, file: Option<PathBuf>) -> Self {
        let slots = Arc::new(Semaphore::new(at_once.clamp(1, Semaphore::MAX_PERMITS)));
        Self { inner: Arc::new(Inner { slots, file, not_before: Mutex::default() }) }
    }

    /// Waits until asking makes sense, and for a place among the requests under way.
    pub async fn enter(&self) -> Slot {
        loop {
            let permit = Arc::clone(&self.inner.slots).acquire_owned().await.ok();
            let wait = self.not_before().since(clock::now());
            if wait.is_zero() {
                return Slot { _permit: permit };
            }
            drop(permit);
            tokio::time::sleep(wait.min(LONGEST_ORDER) + jitter(wait / 8, random())).await;
        }
    }

    fn not_before(&self) -> Timestamp {
        let own = *self.inner.not_before.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        // A file that cannot be read says nothing: the server itself will.
        let told = self.inner.file.as_ref().and_then(|path| document::read_json::<Shared>(path).ok().flatten());
        let latest = clock::now().plus(LONGEST_ORDER);
        own.max(told.unwrap_or_default().not_before).min(latest)
    }

    /// After `failure`, the `attempt`th in a row (from 0): how long to pause. Where the server is crowded all others pause too.
    pub fn pause_after(&self, failure: &Failure, attempt: u32) -> Duration {
        let pause = pause(failure.retry_after(), attempt, random());
        if failure.is_crowded() {
            self.close_until(clock::now().plus(failure.retry_after().unwrap_or(pause / 2).min(LONGEST_ORDER)));
        }
        pause
    }

    fn close_until(&self, moment: Timestamp) {
        let mut own = self.inner.not_before.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        *own = moment.max(*own);
        let shared = Shared { not_before: *own };
        drop(own);
        let Some(path) = &self.inner.file else { return };
        if document::read_json::<Shared>(path).ok().flatten().is_none_or(|told| told.not_before < shared.not_before) {
            // Two who write at once want nearly the same; whoever loses asks once too often.
            let _ = path.parent().map(std::fs::create_dir_all);
            let _ = document::replace_json(path, &shared, Sync::Fast);
        }
    }
}

/// The pause before the next try: what the server says and a little more, else growing from half a second, with full jitter on its
/// upper half. `random` is 0..=1.
fn pause(told: Option<Duration>, attempt: u32, random: f64) -> Duration {
    match told {
        Some(told) => {
            let told = told.min(LONGEST_ORDER);
            told + jitter((told / 4).max(Duration::from_millis(20)), random)
        }
        None => {
            let whole = FIRST_PAUSE.saturating_mul(1 << attempt.min(10)).min(LONGEST_PAUSE);
            whole / 2 + jitter(whole / 2, random)
        }
    }
}

fn jitter(most: Duration, random: f64) -> Duration {
    most.mul_f64(random.clamp(0.0, 1.0))
}

/// 0..=1. A random id is random enough for spreading.
fn random() -> f64 {
    let bytes = uuid::Uuid::new_v4().into_bytes();
    f64::from(u16::from_le_bytes([bytes[0], bytes[1]])) / f64::from(u16::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_are_spread_and_obey_the_server() {
        for (attempt, whole) in [(0, 500), (1, 1_000), (3, 4_000), (7, 60_000), (40, 60_000)] {
            let whole = Duration::from_millis(whole);
            assert_eq!(pause(None, attempt, 0.0), whole / 2);
            assert_eq!(pause(None, attempt, 1.0), whole);
        }
        let told = Duration::from_secs(8);
        assert_eq!(pause(Some(told), 5, 0.0), told);
        assert_eq!(pause(Some(told), 5, 1.0), told + told / 4);
        assert!(pause(Some(Duration::from_secs(1 << 40)), 0, 1.0) <= LONGEST_ORDER * 2);
    }

    #[tokio::test]
    async fn one_refusal_closes_the_door_for_every_process_and_it_opens_again() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("deep/limits.json");
        let one = Limiter::new(4, Some(file.clone()));
        let other = Limiter::new(4, Some(file.clone()));
        let busy = Failure::refused(429, Some(Duration::from_secs(30)), b"");
        assert!(one.pause_after(&busy, 0) >= Duration::from_secs(30));
        assert!(other.not_before() > clock::now().plus(Duration::from_secs(20)));
        let broken = Failure::Cut("x".to_owned());
        let lone = Limiter::new(4, None);
        lone.pause_after(&broken, 0);
        assert_eq!(lone.not_before(), Timestamp::default(), "a cut stream is nobody else's business");
        std::fs::write(&file, "not json").unwrap();
        assert_eq!(Limiter::new(1, Some(file)).not_before(), Timestamp::default());
    }

    #[tokio::test]
    async fn only_so_many_requests_are_under_way() {
        let limiter = Limiter::new(2, None);
        let one = limiter.enter().await;
        let _two = limiter.enter().await;
        let third = tokio::time::timeout(Duration::from_millis(20), limiter.enter()).await;
        assert!(third.is_err());
        drop(one);
        limiter.enter().await;
    }
}
