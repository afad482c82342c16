//! When something that was refused is tried again: soon at first, then less often, since each try may take as long as
//! somebody else holds a lock.

use std::time::Duration;

use tokio::time::Instant;

const FIRST: Duration = Duration::from_millis(500);
const MOST: Duration = Duration::from_secs(8);

#[derive(Debug, Default)]
pub struct Again {
    at: Option<Instant>,
    pause: Duration,
}

impl Again {
    /// Something is to be tried again, if that is not so already.
    pub fn later(&mut self) {
        if self.at.is_none() {
            self.refused();
        }
    }

    /// It was refused once more.
    pub fn refused(&mut self) {
        self.pause = (self.pause * 2).clamp(FIRST, MOST);
        self.at = Some(Instant::now() + self.pause);
    }

    /// Nothing is left to be tried.
    pub fn done(&mut self) {
        *self = Self::default();
    }

    /// When to try, if there is something.
    #[must_use]
    pub fn at(&self) -> Option<Instant> {
        self.at
    }

    #[must_use]
    pub fn is_not_yet(&self) -> bool {
        self.at.is_some_and(|at| Instant::now() < at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tries_come_less_often_up_to_a_limit_and_begin_anew_after_one_that_went_well() {
        let mut again = Again::default();
        assert!(again.at().is_none() && !again.is_not_yet());
        again.later();
        let first = again.at();
        again.later();
        assert_eq!(again.at(), first);
        assert!(again.is_not_yet());
        for _ in 0..9 {
            again.refused();
        }
        assert_eq!(again.pause, MOST);
        again.done();
        again.later();
        assert_eq!(again.pause, FIRST);
    }
}
