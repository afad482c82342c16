//! The table of measured figures: `scripts/bench`, or `scripts/bench --row NAME` for one row.
//!
//! Every figure stands against a floor that is measured in the same run, in turns with it, so that a machine that is
//! busy is busy for both. Rows of several processes start this binary again with `--helper NAME`.

mod helper;
mod machine;
mod place;
mod rows;
mod stats;
mod table;

use std::process::ExitCode;

use rows::ROWS;
use table::Line;

/// What a row can fail with: a sentence for whoever runs it.
type Fallible<T> = Result<T, Box<dyn std::error::Error>>;

/// How often each figure is measured; the median of these is what counts.
const ROUNDS: usize = 5;

const USAGE: &str = "\
usage: scripts/bench [--row NAME]… [--check] [--list]
  --row NAME  only this row; may be repeated
  --check     exit 1 where a row misses what it must reach
  --list      the names of the rows";

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1).peekable();
    if args.next_if_eq("--helper").is_some() {
        return helper::main(&args.collect::<Vec<_>>());
    }
    let (mut wanted, mut check) = (Vec::new(), false);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            // Cargo's own word for "this is a benchmark".
            "--bench" => {}
            "--check" => check = true,
            "--list" => {
                ROWS.iter().for_each(|(name, _)| println!("{name}"));
                return ExitCode::SUCCESS;
            }
            "--row" => match args.next() {
                Some(name) if ROWS.iter().any(|(row, _)| *row == name) => wanted.push(name),
                other => return refuse(&format!("no row {:?}; `--list` shows them", other.unwrap_or_default())),
            },
            "--help" | "-h" => {
                println!("{USAGE}");
                return ExitCode::SUCCESS;
            }
            other => return refuse(&format!("unknown argument {other:?}\n{USAGE}")),
        }
    }
    let before = machine::load();
    let mut lines = Vec::new();
    let mut failed = false;
    for (name, measure) in ROWS.iter().filter(|(name, _)| wanted.is_empty() || wanted.iter().any(|w| w == name)) {
        eprintln!("measuring {name} …");
        match measure() {
            Ok(measured) => lines.extend(measured),
            Err(error) => {
                failed = true;
                lines.push(Line::broken(name, &error.to_string()));
            }
        }
    }
    print!("{}", table::render(&lines));
    println!("\n{}; load {before} before, {} after", machine::describe(), machine::load());
    let missed = lines.iter().any(|line| line.verdict == table::Verdict::Missed);
    if failed || (check && missed) { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn refuse(text: &str) -> ExitCode {
    eprintln!("error: {text}");
    ExitCode::from(2)
}
