//! The one table, in Markdown, so that it can go into the README as it is.

use comfy_table::{Table, presets};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Ok,
    Missed,
    /// There is nothing that it must reach.
    Open,
}

impl Verdict {
    pub fn of(reached: bool) -> Self {
        if reached { Self::Ok } else { Self::Missed }
    }
}

/// One line of the table.
#[derive(Clone, Debug)]
pub struct Line {
    pub what: String,
    pub floor: String,
    pub measured: String,
    pub ratio: String,
    pub must: String,
    pub verdict: Verdict,
}

impl Line {
    /// A row that could not be measured.
    pub fn broken(name: &str, why: &str) -> Self {
        Self {
            what: name.to_owned(),
            floor: "—".to_owned(),
            measured: format!("not measured: {why}"),
            ratio: "—".to_owned(),
            must: "—".to_owned(),
            verdict: Verdict::Missed,
        }
    }
}

pub fn render(lines: &[Line]) -> String {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN).force_no_tty();
    table.set_header(["what", "floor", "measured (min / median / max)", "ratio", "must reach", ""]);
    for line in lines {
        let verdict = match line.verdict {
            Verdict::Ok => "ok",
            Verdict::Missed => "MISSED",
            Verdict::Open => "",
        };
        table.add_row([&line.what, &line.floor, &line.measured, &line.ratio, &line.must, verdict]);
    }
    format!("{table}\n")
}
