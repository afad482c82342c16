//! The agent's Grep and Glob on a tree of 100,000 files, against `rg` where there is one, else against `grep` and `find`.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crewmux::agent::AgentId;
use crewmux::agent::permission::Mode;
use crewmux::agent::tools::{Context, Registry, Standard, standard};
use serde_json::{Value, json};

use crate::place::Place;
use crate::stats::{Spread, median, ns, time, times};
use crate::table::{Line, Verdict};
use crate::{Fallible, ROUNDS};

const FOLDERS: usize = 1_000;
const FILES: usize = 100;
const MOST: f64 = 1.3;

pub fn row() -> Fallible<Vec<Line>> {
    let place = Place::new()?;
    let tree = place.path().join("tree");
    make(&tree)?;
    let has_rg = Command::new("rg").arg("--version").stdout(Stdio::null()).status().is_ok_and(|s| s.success());
    let (name, grep, find): (&str, &[&str], &[&str]) = if has_rg {
        ("rg", &["rg", "-l", "needle"], &["rg", "--files", "-g", "*.rs"])
    } else {
        ("no rg here", &["grep", "-rlI", "needle"], &["find", ".", "-name", "*.rs"])
    };
    Ok(vec![
        measure("Grep in 100,000 files", name, grep, &tree, "Grep", &json!({"pattern": "needle"}))?,
        measure("Glob in 100,000 files", name, find, &tree, "Glob", &json!({"pattern": "*.rs"}))?,
    ])
}

/// Files of about a kilobyte; one in a thousand has the word.
fn make(tree: &Path) -> Fallible<()> {
    for folder in 0..FOLDERS {
        let path = tree.join(format!("d{}/e{folder}", folder % 40));
        std::fs::create_dir_all(&path)?;
        for file in 0..FILES {
            let mut text = format!("lorem ipsum dolor sit amet {file}\n").repeat(30);
            if file == 50 && folder % 10 == 0 {
                text.push_str("a needle here\n");
            }
            let extension = if file % 10 == 0 { "rs" } else { "txt" };
            std::fs::write(path.join(format!("f{file}.{extension}")), text)?;
        }
    }
    Ok(())
}

fn measure(what: &str, name: &str, floor: &[&str], tree: &Path, tool: &str, input: &Value) -> Fallible<Line> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let tools = standard(Standard::default());
    let cx = Context::new(AgentId::main(), tree.to_path_buf(), Mode::ReadOnly);
    let (mut floors, mut ours, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let bare = by_program(floor, tree)?;
        let begun = Instant::now();
        let said = runtime.block_on(ours_once(&tools, tool, input, &cx));
        let took = begun.elapsed();
        if !said {
            return Err(format!("{tool} found nothing").into());
        }
        floors.push(ns(bare));
        ours.push(ns(took));
        ratios.push(ns(took) / ns(bare));
    }
    let ratio = median(&ratios);
    Ok(Line {
        what: what.to_owned(),
        floor: format!("`{}` ({name}): {}", floor.join(" "), time(median(&floors))),
        measured: Spread::of(&ours).show(time),
        ratio: times(ratio),
        must: "≤ 1.3×".to_owned(),
        verdict: Verdict::of(ratio <= MOST),
    })
}

async fn ours_once(tools: &Registry, tool: &str, input: &Value, cx: &Context) -> bool {
    let said = tools.call(tool, input.clone(), cx).await;
    !said.is_error && said.as_text().contains("e0/f")
}

fn by_program(argv: &[&str], tree: &Path) -> Fallible<Duration> {
    let (program, args) = argv.split_first().ok_or("an empty command")?;
    let begun = Instant::now();
    let output = Command::new(program).args(args).current_dir(tree).stdin(Stdio::null()).output()?;
    let took = begun.elapsed();
    if output.stdout.is_empty() { Err(format!("{program} found nothing").into()) } else { Ok(took) }
}
