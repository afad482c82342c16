//! Whoever is killed, at whatever moment.

use std::process::Command;
use std::time::Duration;

use super::acknowledged::Trial;
use crate::ending::kill_all;

const VICTIMS: [&str; 6] = ["team-lead", "writer", "hand", "runner", "tmux", "all"];

/// Random enough, and the same each time (the multiplier is Knuth's for MMIX).
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

impl Trial {
    /// Works while somebody is killed, and sees what is left.
    fn loses(&mut self, victim: &str, after: Duration) {
        let pid = match victim {
            "all" => None,
            "tmux" => self.crew.roster("t")["tmux"]["server_pid"].as_u64(),
            member => Some(self.crew.pid_of("t", member).into()),
        };
        std::thread::scope(|scope| {
            scope.spawn(|| {
                // Any moment is a good one.
                std::thread::sleep(after);
                if let Some(pid) = pid {
                    let _ = Command::new("kill").args(["-KILL", &pid.to_string()]).output();
                }
            });
            self.works();
        });
        match victim {
            "all" => kill_all(&self.crew),
            "team-lead" | "tmux" => self.until_no_lead(),
            _ => {}
        }
        self.goes_on();
        self.keeps_its_word();
    }
}

fn whoever_dies(deaths: &[(&str, u64)]) {
    let mut trial = Trial::up();
    trial.works();
    for (victim, after) in deaths {
        println!("{victim} dies after {after} ms");
        trial.loses(victim, Duration::from_millis(*after));
    }
    trial.goes_down();
}

#[test]
fn f23_whoever_dies_at_any_moment_takes_nothing_along() {
    whoever_dies(&[("team-lead", 12), ("hand", 30), ("writer", 8), ("tmux", 21), ("all", 0), ("runner", 17)]);
}

#[test]
#[ignore = "minutes: just faults"]
fn long_a_hundred_deaths() {
    let seed = std::env::var("FAULTS_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    println!("FAULTS_SEED={seed}");
    let mut dice = Dice(seed);
    // Ten teams of ten deaths each.
    for _ in 0..10 {
        let one = |_| (VICTIMS[dice.below(VICTIMS.len() as u64) as usize], dice.below(80));
        let deaths: Vec<_> = (0..10).map(one).collect();
        whoever_dies(&deaths);
    }
}
