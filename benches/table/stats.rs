//! Smallest, median and largest; lengths of time and rates as people read them.

use std::time::Duration;

/// The monotonic clock in nanoseconds: the same in every process of this machine.
pub fn now_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    u64::try_from(now.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(now.tv_nsec).unwrap_or(0)
}

/// What several measurements of one thing came to.
#[derive(Clone, Copy, Debug)]
pub struct Spread {
    pub min: f64,
    pub median: f64,
    pub max: f64,
}

impl Spread {
    /// Of no measurement at all everything is zero.
    pub fn of(values: &[f64]) -> Self {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let at = |n: usize| sorted.get(n).copied().unwrap_or(0.0);
        let (len, half) = (sorted.len(), sorted.len() / 2);
        let median = if len > 0 && len % 2 == 0 { f64::midpoint(at(half - 1), at(half)) } else { at(half) };
        Self { min: at(0), median, max: at(len.saturating_sub(1)) }
    }

    pub fn show(&self, unit: impl Fn(f64) -> String) -> String {
        format!("{} / {} / {}", unit(self.min), unit(self.median), unit(self.max))
    }
}

pub fn median(values: &[f64]) -> f64 {
    Spread::of(values).median
}

/// `{:.digits}` with as many digits as three figures need.
fn figures(value: f64) -> String {
    match value.abs() {
        v if v >= 100.0 => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// Nanoseconds.
pub fn time(ns: f64) -> String {
    match ns.abs() {
        v if v >= 1e9 => format!("{} s", figures(ns / 1e9)),
        v if v >= 1e6 => format!("{} ms", figures(ns / 1e6)),
        v if v >= 1e3 => format!("{} µs", figures(ns / 1e3)),
        _ => format!("{ns:.0} ns"),
    }
}

/// A number a second.
pub fn rate(value: f64) -> String {
    match value {
        v if v >= 1e4 => format!("{:.0}k/s", v / 1e3),
        v => format!("{}/s", figures(v)),
    }
}

pub fn times(ratio: f64) -> String {
    format!("{ratio:.2}×")
}

pub fn ns(took: Duration) -> f64 {
    took.as_nanos() as f64
}
