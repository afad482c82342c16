//! Whether and when a member whose life ended is started again.

use std::time::Duration;

pub use crate::model::spec::Restart as RestartPolicy;
use crate::model::team::Exit;
use crate::model::time::Timestamp;

/// The first pause; each further restart in a row doubles it.
pub const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// No pause is longer.
pub const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// Most restarts within [`WINDOW`].
pub const MOST_RESTARTS: usize = 5;
/// How far back restarts count.
pub const WINDOW: Duration = Duration::from_secs(60);

/// Reasons of an [`Exit`] that somebody meant: such an end is never undone.
pub const INTENDED: [&str; 5] = ["shutdown", "stopped", "pane closed", "plan approved", "down"];

/// What is to be done about an ended life.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Restart {
    /// Nothing, and why.
    No(String),
    /// A new life after this pause.
    After(Duration),
}

/// Decides for a member with `policy` whose earlier restarts were at `history` and whose life ended as `exit` says.
#[must_use]
pub fn decide(policy: RestartPolicy, history: &[Timestamp], exit: &Exit, now: Timestamp) -> Restart {
    if let Some(reason) = INTENDED.into_iter().find(|r| means(&exit.reason, r)) {
        return Restart::No(format!("its end was meant: {reason}"));
    }
    match policy {
        RestartPolicy::Never => return Restart::No("its spec says never".into()),
        RestartPolicy::OnFailure if exit.is_success() => return Restart::No("it ended well".into()),
        RestartPolicy::OnFailure | RestartPolicy::Always => {}
    }
    let mut times = history.to_vec();
    times.sort_unstable();
    if times.iter().filter(|t| now.since(**t) < WINDOW).count() >= MOST_RESTARTS {
        return Restart::No(format!("given up after {MOST_RESTARTS} restarts within {} s", WINDOW.as_secs()));
    }
    Restart::After(pause(row(&times, now)))
}

/// How many restarts came in a row, each within [`WINDOW`] of the next: a member that lives a little longer each time
/// than the limit allows for still waits longer and longer.
fn row(times: &[Timestamp], now: Timestamp) -> u32 {
    let mut next = now;
    let mut count = 0;
    for time in times.iter().rev() {
        if next.since(*time) >= WINDOW {
            break;
        }
        next = *time;
        count += 1;
    }
    count
}

fn pause(in_a_row: u32) -> Duration {
    let factor = 2_u32.checked_pow(in_a_row).unwrap_or(u32::MAX);
    FIRST_PAUSE.saturating_mul(factor).min(LONGEST_PAUSE)
}

/// `shutdown` as well as `shutdown: the work is done`.
fn means(text: &str, reason: &str) -> bool {
    text.strip_prefix(reason).is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
}
