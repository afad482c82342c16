//! `crewmux up` until all are ready, against the same panes and programs by one chained tmux process.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::place::Place;
use crate::stats::{Spread, median, ns, time, times};
use crate::table::{Line, Verdict};
use crate::{Fallible, ROUNDS};

const PROGRAM: [&str; 2] = ["sleep", "86400"];
const PANES_PER_WINDOW: usize = 4;

pub fn row() -> Fallible<Vec<Line>> {
    // Kept to the end: ext4 does not give out an inode again for seconds after a file was removed and looks for others
    // meanwhile, so that what is put away after one launch would be paid for by the next, and by ours alone.
    let mut kept = Vec::new();
    [4, 16, 64].into_iter().map(|members| measure(members, &mut kept)).collect()
}

/// A team whose members all run the same program and end when they are asked.
pub fn willing(place: &Place, team: &str, members: usize, more: &str) -> Fallible<std::path::PathBuf> {
    let members: Vec<String> =
        (0..members).map(|n| format!("name = \"m{n}\"\nengine = \"command\"\ncommand = {PROGRAM:?}\n{more}")).collect();
    let head = format!("[limits]\nmax_members = 64\n[layout]\npanes_per_window = {PANES_PER_WINDOW}");
    place.spec(team, &head, &members)
}

fn measure(members: usize, kept: &mut Vec<Place>) -> Fallible<Line> {
    let team = format!("bench-up-{members}");
    let (mut ours, mut floors, mut ratios, mut more) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let mut place = Place::new()?;
        let spec = willing(&place, &team, members, "")?;
        let floor = raw(&place.path().join("raw"), members)?;
        let begun = Instant::now();
        place.up(&team, &spec)?;
        let took = ns(begun.elapsed());
        place.down(&team)?;
        kept.push(place);
        ours.push(took);
        floors.push(floor);
        ratios.push(took / floor);
        more.push(took - floor);
    }
    let (ratio, more) = (median(&ratios), median(&more));
    // What a team costs whatever its size hides in a small one: a ratio would say little there.
    let (must, reached) = match members {
        4 => ("≤ raw + 150 ms".to_owned(), more <= 150e6),
        _ => ("≤ 2.5×".to_owned(), ratio <= 2.5),
    };
    Ok(Line {
        what: format!("`crewmux up`, until all of {members} members are ready"),
        floor: format!("raw chained tmux: {}", time(median(&floors))),
        measured: Spread::of(&ours).show(time),
        ratio: format!("{} (+ {})", times(ratio), time(more)),
        must,
        verdict: Verdict::of(reached),
    })
}

/// A server, a session and `panes` panes that run the program, in one tmux process; nanoseconds.
fn raw(socket: &Path, panes: usize) -> Fallible<f64> {
    let mut args: Vec<&str> = vec!["new-session", "-d", "-s", "raw", "-x", "200", "-y", "50"];
    args.extend(PROGRAM);
    for pane in 0..panes {
        args.extend([";", if pane % PANES_PER_WINDOW == 0 { "new-window" } else { "split-window" }]);
        args.extend(PROGRAM);
        args.extend([";", "select-layout", "tiled"]);
    }
    let begun = Instant::now();
    tmux(socket, &args)?;
    let took = ns(begun.elapsed());
    tmux(socket, &["kill-server"])?;
    Ok(took)
}

fn tmux(socket: &Path, args: &[&str]) -> Fallible<()> {
    let mut command = Command::new("tmux");
    command.arg("-S").arg(socket).args(["-f", "/dev/null"]).args(args);
    command.env_remove("TMUX").stdin(Stdio::null());
    let output = command.output()?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("tmux: {}", String::from_utf8_lossy(&output.stderr).trim()).into()),
    }
}
