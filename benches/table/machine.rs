//! The machine that the figures come from.

use std::fs;
use std::process::Command;

/// One, five and fifteen minutes.
pub fn load() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().take(3).collect::<Vec<_>>().join(" ")
}

pub fn describe() -> String {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let tmux = Command::new("tmux").arg("-V").output().map(|o| String::from_utf8_lossy(&o.stdout).into_owned());
    let model = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model =
        model.lines().find_map(|l| l.strip_prefix("model name")?.split_once(':')).map_or("?", |(_, m)| m.trim());
    format!("{cores} cores ({model}), Linux {}, {}", kernel.trim(), tmux.unwrap_or_default().trim())
}
