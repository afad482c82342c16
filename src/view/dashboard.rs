//! The lead's screen: title, roster, board, open requests, feed, and how to go on. Fits any size, never wraps.

use serde_json::Value;

use super::feed::feed_in;
use super::plain::{Ink, Lines, Style, count, cut, pad, safe, width};
use super::requests::RequestView;
use super::status::{StatusView, TaskCounts, roster};
use crate::model::request::RequestState;
use crate::model::task::{Task, TaskStatus};

/// A screen's size in cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    pub columns: usize,
    pub rows: usize,
}

/// The whole screen: at most `size.rows` lines of at most `size.columns`, without a line end after the last.
#[must_use]
pub fn dashboard(status: &StatusView, tasks: &[Task], events: &[Value], size: Size, color: bool) -> String {
    let style = Style { color, width: Some(size.columns) };
    let airy = size.rows >= 16;
    let mut body = size.rows.saturating_sub(2);
    let mut take = |wanted: usize, most: usize| {
        let got = wanted.min(most).min(body);
        body -= got;
        got
    };

    // What asks for a decision comes first, then the board, then who is there, then what happened.
    let counts = TaskCounts::of(tasks);
    let board = usize::from(counts.total() > 0);
    let board = take(board, 1);
    let open: Vec<&RequestView> = status.open_requests.iter().filter(|r| r.state == RequestState::Open).collect();
    let asks = take(open.len() * 2, (size.rows / 4).max(2));
    // Blank lines: under the title, under the roster, under board and requests.
    let blanks = take(if airy { 3 } else { 0 }, 3);
    let table = roster(status, &style);
    let rest = size.rows.saturating_sub(2 + board + asks + blanks);
    let feed_least = events.len().min((rest / 3).max(1));
    let seats = take(if status.members.is_empty() { 1 } else { table.len() }, rest.saturating_sub(feed_least).max(1));
    let running: Vec<&Task> = tasks.iter().filter(|t| t.status == TaskStatus::InProgress).collect();
    let work = take(if airy { running.len() } else { 0 }, (rest - seats.min(rest)).saturating_sub(feed_least).min(6));
    let feed_room = take(events.len(), usize::MAX);

    let mut lines = vec![title(status, size.columns, color)];
    let blank = |lines: &mut Vec<String>| {
        if blanks > 0 {
            lines.push(String::new());
        }
    };
    blank(&mut lines);
    if status.members.is_empty() {
        lines.extend((seats > 0).then(|| Ink::Dim.paint("no members yet", color)));
    } else {
        push_some(&mut lines, table, seats, "members", color);
    }
    blank(&mut lines);
    if board > 0 {
        lines.push(board_line(&counts, size.columns, color));
    }
    for task in running.iter().take(work) {
        let owner = task.owner.as_ref().map_or("", |name| name.as_str());
        let text = format!("  #{} {}", task.id, safe(&task.subject, Lines::Escape));
        lines.push(format!("{text}  {}", Ink::Dim.paint(owner, color)));
    }
    let asked: Vec<String> = open.iter().flat_map(|r| ask_lines(r, color)).collect();
    push_some(&mut lines, asked, asks, "lines of requests", color);
    blank(&mut lines);
    let from = events.len().saturating_sub(feed_room);
    lines.extend(events[from..].iter().map(|event| feed_in(event, color)));

    lines.truncate(size.rows.saturating_sub(1));
    lines.resize(size.rows.saturating_sub(1), String::new());
    lines.push(Ink::Dim.paint(&bottom(status, size.columns), color));
    lines.truncate(size.rows);
    let cut_lines: Vec<String> = lines.iter().map(|line| cut(line, size.columns)).collect();
    cut_lines.join("\n")
}

/// What brings `screen` onto a terminal without flicker: each line overwritten and cleared to its end.
#[must_use]
pub fn frame(screen: &str) -> String {
    let mut out = String::from("\x1b[?25l\x1b[H");
    out += &screen.replace('\n', "\x1b[K\r\n");
    out + "\x1b[K\x1b[J"
}

fn title(status: &StatusView, columns: usize, color: bool) -> String {
    let lead = match (status.lead.alive, status.lead.pid) {
        (true, Some(pid)) => format!("lead {pid}"),
        (true, None) => "lead".to_owned(),
        (false, _) => Ink::Red.paint("no lead", color),
    };
    let mut parts = vec![lead, count(status.members.len(), "member")];
    if !status.open_requests.is_empty() {
        let text = format!("{} open", count(status.open_requests.len(), "request"));
        parts.push(Ink::Yellow.paint(&text, color));
    }
    if status.lead.unread > 0 {
        parts.push(format!("{} unread", status.lead.unread));
    }
    let left = format!("{} {}", Ink::Bold.paint(&format!("crewmux {}", status.team), color), parts.join(" · "));
    let clock = Ink::Dim.paint(&status.at.clock(), color);
    let room = columns.saturating_sub(width(&clock) + 1);
    if width(&left) <= room { format!("{} {clock}", pad(&left, room)) } else { left }
}

/// `tasks ━━━━━━╌╌╌╌ 3/8 done, 2 running`.
fn board_line(counts: &TaskCounts, columns: usize, color: bool) -> String {
    let words = counts.words();
    let room = columns.saturating_sub(width(&words) + "tasks  ".len() + 1).min(30);
    if room < 4 {
        return format!("tasks {words}");
    }
    let total = counts.total().max(1);
    let done = counts.completed * room / total;
    let failed = ((counts.failed * room).div_ceil(total)).min(room - done);
    let running = ((counts.in_progress * room).div_ceil(total)).min(room - done - failed);
    let part = |n: usize, sign: &str, ink: Ink| ink.paint(&sign.repeat(n), color);
    format!(
        "tasks {}{}{}{} {words}",
        part(done, "━", Ink::Green),
        part(running, "╍", Ink::Yellow),
        part(failed, "╳", Ink::Red),
        part(room - done - running - failed, "╌", Ink::Dim),
    )
}

fn ask_lines(request: &RequestView, color: bool) -> [String; 2] {
    [
        format!("{} {}", Ink::Yellow.paint("?", color), request.sentence()),
        format!("  {}", Ink::Yellow.paint(&request.commands().join("  ·  "), color)),
    ]
}

/// As many of `these` as there is room for; the last line says how many are not shown.
fn push_some(lines: &mut Vec<String>, mut these: Vec<String>, room: usize, what: &str, color: bool) {
    let total = these.len();
    if total > room && room > 1 {
        these.truncate(room - 1);
        lines.extend(these);
        lines.push(Ink::Dim.paint(&format!("… {} more {what}", total - room + 1), color));
    } else {
        these.truncate(room);
        lines.extend(these);
    }
}

/// How to attach, talk and stop, as much of it as fits.
fn bottom(status: &StatusView, columns: usize) -> String {
    let team = status.team.as_str();
    let choices = [
        format!("crewmux attach --team {team} · crewmux send --team {team} NAME TEXT · crewmux down --team {team}"),
        format!("crewmux attach|status|send|down --team {team}"),
        format!("crewmux down --team {team}"),
    ];
    let fits = choices.iter().find(|text| width(text) <= columns);
    fits.or(choices.last()).cloned().unwrap_or_default()
}

#[cfg(test)]
#[path = "dashboard_tests.rs"]
mod tests;
