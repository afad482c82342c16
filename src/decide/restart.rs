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

#[cfg(test)]
mod tests {
    use super::*;

    fn exit(code: Option<i32>, signal: Option<i32>, reason: &str) -> Exit {
        Exit { life: None, code, signal, reason: reason.into(), at: Timestamp(0) }
    }

    fn at(ms: i64) -> Timestamp {
        Timestamp(ms * 1000)
    }

    #[test]
    fn the_policy_and_the_way_it_ended() {
        use RestartPolicy::{Always, Never, OnFailure};
        for (policy, code, signal, reason, again) in [
            (OnFailure, Some(0), None, "exited", false),
            (OnFailure, Some(1), None, "exited", true),
            (OnFailure, None, Some(9), "killed", true),
            (OnFailure, None, None, "exited", true),
            (Always, Some(0), None, "exited", true),
            (Always, Some(1), None, "exited", true),
            (Never, Some(1), None, "exited", false),
            (Never, None, Some(11), "killed", false),
            (Always, Some(0), None, "shutdown", false),
            (Always, Some(1), None, "shutdown: the work is done", false),
            (Always, None, Some(15), "stopped", false),
            (Always, None, Some(1), "pane closed", false),
            (OnFailure, None, Some(15), "stopped", false),
            (OnFailure, Some(1), None, "shutdowns are not my thing", true),
        ] {
            let got = decide(policy, &[], &exit(code, signal, reason), at(0));
            assert_eq!(got == Restart::After(FIRST_PAUSE), again, "{policy:?} {code:?} {signal:?} {reason}: {got:?}");
        }
    }

    #[test]
    fn the_pause_doubles_and_the_sixth_restart_within_the_window_is_refused() {
        let failed = exit(Some(1), None, "exited");
        let mut history = Vec::new();
        let mut now = 0;
        for pause in [500, 1000, 2000, 4000, 8000] {
            let got = decide(RestartPolicy::OnFailure, &history, &failed, at(now));
            assert_eq!(got, Restart::After(Duration::from_millis(pause)));
            now += i64::try_from(pause).unwrap();
            history.push(at(now));
        }
        let Restart::No(reason) = decide(RestartPolicy::OnFailure, &history, &failed, at(now)) else { panic!() };
        assert_eq!(reason, "given up after 5 restarts within 60 s");
        // The first restart, at 0.5 s, leaves the window at 60.5 s.
        assert!(matches!(decide(RestartPolicy::OnFailure, &history, &failed, at(60_499)), Restart::No(_)));
        assert_eq!(
            decide(RestartPolicy::OnFailure, &history, &failed, at(60_500)),
            Restart::After(Duration::from_secs(16))
        );
        assert_eq!(
            decide(RestartPolicy::OnFailure, &history, &failed, at(now + 60_000)),
            Restart::After(FIRST_PAUSE),
            "a life that lasted begins anew"
        );
    }

    #[test]
    fn the_pause_has_an_upper_end_and_the_order_of_history_does_not_matter() {
        let failed = exit(Some(1), None, "exited");
        let mut history: Vec<Timestamp> = (0..200).map(|n| at(n * 20_000)).collect();
        history.reverse();
        let got = decide(RestartPolicy::Always, &history, &failed, at(199 * 20_000 + 5_000));
        assert_eq!(got, Restart::After(LONGEST_PAUSE));
    }
}
