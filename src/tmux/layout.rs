//! Any number of panes, tiled in windows of so many each.
//!
//! A new pane's id is known only when it exists, so a batch is three chains whatever its size: the windows that are
//! missing, their borders and the splits (tiled after each, else the fifth finds no room), the labels.

use super::commands::{self as cmd, Cmd};
use super::error::TmuxError;
use super::label;
use super::panes::unparsable;
use super::server::{Tmux, check_spec};
use super::types::{Pane, PaneSpec};

const MADE: &str = "#{window_id} #{pane_id} #{pane_pid}";

/// A window of ours that has room.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Room {
    window: String,
    free: usize,
}

impl Tmux {
    /// Adds the panes, in order, to our windows that have room and to new ones of `per_window` panes. The lead's own
    /// pane does not count: its window takes `per_window` members beside it, or none without `lead_window`.
    /// A window too small for as many gets fewer, and the rest one more window. Nothing becomes current.
    /// `session` is `$id` or `=name`.
    ///
    /// # Errors
    /// The first failure; the panes that this call had made by then are closed again.
    pub async fn add_panes(
        &self,
        session: &str,
        panes: &[PaneSpec],
        per_window: usize,
        lead_window: Option<&str>,
    ) -> Result<Vec<Pane>, TmuxError> {
        panes.iter().try_for_each(check_spec)?;
        let mut made: Vec<Option<Pane>> = vec![None; panes.len()];
        let placed = self.place(session, panes, per_window.max(1), lead_window, &mut made).await;
        let done = match placed {
            Ok(()) => self.dress(panes, &made).await,
            failed => failed,
        };
        match done {
            Ok(()) => Ok(made.into_iter().flatten().collect()),
            Err(error) => {
                let ours: Vec<_> = made.into_iter().flatten().map(|pane| (pane.id, pane.pid)).collect();
                // The first error is the one to tell.
                let _ = self.close_panes(&ours).await;
                Err(error)
            }
        }
    }

    async fn place(
        &self,
        session: &str,
        panes: &[PaneSpec],
        per_window: usize,
        lead_window: Option<&str>,
        made: &mut [Option<Pane>],
    ) -> Result<(), TmuxError> {
        if panes.is_empty() {
            return Ok(());
        }
        let mut rooms = self.rooms(session, per_window, lead_window).await?;
        let mut waiting: Vec<usize> = (0..panes.len()).collect();
        // Each round places at least one pane: a new window always has room for its first.
        while !waiting.is_empty() {
            let (mut chain, mut splits) = (Vec::new(), Vec::new());
            let free: usize = rooms.iter().map(|room| room.free).sum();
            let firsts: Vec<usize> = waiting.iter().copied().skip(free).step_by(per_window).collect();
            if !firsts.is_empty() {
                let opened = self.open_windows(session, panes, per_window, &firsts, made).await?;
                chain.extend(opened.iter().flat_map(|room| label::window(&room.window)));
                rooms.extend(opened);
            }
            // What waits still, room by room: a new window's first pane is there, its rest follows right behind.
            let mut rest = waiting.iter().copied().filter(|&i| made[i].is_none());
            for (n, room) in rooms.iter().enumerate() {
                for i in rest.by_ref().take(room.free) {
                    chain.push(cmd::split_window(&room.window, MADE, &panes[i]));
                    chain.push(cmd::tile(&room.window));
                    splits.push((n, i));
                }
            }
            let said = self.runner.run(&chain, None).await;
            let created = parse_made(&String::from_utf8_lossy(&said.stdout))?;
            for (&(n, i), (_, pane)) in splits.iter().zip(&created) {
                made[i] = Some(pane.clone());
                rooms[n].free -= 1;
            }
            match said.error {
                None if created.len() == splits.len() => {}
                None => return Err(unparsable("split-window", &String::from_utf8_lossy(&said.stdout))),
                Some(e) if e.is_no_space() => match splits.get(created.len()) {
                    Some(&(full, _)) => rooms[full].free = 0,
                    None => return Err(e),
                },
                Some(e) => return Err(e),
            }
            waiting.retain(|&i| made[i].is_none());
        }
        Ok(())
    }

    /// New windows, each with its first pane.
    async fn open_windows(
        &self,
        session: &str,
        panes: &[PaneSpec],
        per_window: usize,
        firsts: &[usize],
        made: &mut [Option<Pane>],
    ) -> Result<Vec<Room>, TmuxError> {
        let chain: Vec<Cmd> = firsts.iter().map(|&i| cmd::new_window(session, "members", MADE, &panes[i])).collect();
        let said = self.runner.run(&chain, None).await;
        let created = parse_made(&String::from_utf8_lossy(&said.stdout))?;
        for (&i, (_, pane)) in firsts.iter().zip(&created) {
            made[i] = Some(pane.clone());
        }
        let output = said.ok()?;
        if created.len() != firsts.len() {
            return Err(unparsable("new-window", &output));
        }
        Ok(created.into_iter().map(|(window, _)| Room { window, free: per_window - 1 }).collect())
    }

    /// Our windows in the session, in their order, and how many panes each still takes.
    async fn rooms(&self, session: &str, per_window: usize, lead: Option<&str>) -> Result<Vec<Room>, TmuxError> {
        let format = format!("#{{window_id}} #{{?{},1,0}}", label::WINDOW);
        let answer = self.ask(&[cmd::list_session(session, &format)]).await?;
        let mut rooms: Vec<(Room, bool)> = Vec::new();
        for line in answer.lines() {
            let (id, ours) = line.split_once(' ').ok_or_else(|| unparsable("list-panes", line))?;
            match rooms.iter_mut().find(|(room, _)| room.window == id) {
                Some((room, _)) => room.free = room.free.saturating_sub(1),
                None => {
                    // The lead's pane takes none of the members' places.
                    let free = if lead == Some(id) { per_window } else { per_window - 1 };
                    // The lead may be quicker than who marks its window.
                    rooms.push((Room { window: id.to_owned(), free }, ours == "1" || lead == Some(id)));
                }
            }
        }
        Ok(rooms.into_iter().filter(|(_, ours)| *ours).map(|(room, _)| room).collect())
    }

    async fn dress(&self, panes: &[PaneSpec], made: &[Option<Pane>]) -> Result<(), TmuxError> {
        let chain: Vec<Cmd> = panes
            .iter()
            .zip(made)
            .filter_map(|(spec, pane)| Some(label::pane(&pane.as_ref()?.id, &spec.title, &spec.label, &spec.color)))
            .flatten()
            .collect();
        if chain.is_empty() {
            return Ok(());
        }
        match self.ask(&chain).await {
            // A person closed one meanwhile: that is a stop of that member, not a failure to start.
            Err(e) if !e.is_gone() => Err(e),
            _ => Ok(()),
        }
    }
}

fn parse_made(answer: &str) -> Result<Vec<(String, Pane)>, TmuxError> {
    let line = |line: &str| {
        let mut words = line.split_whitespace();
        let window = words.next()?.to_owned();
        Some((window, Pane { id: words.next()?.to_owned(), pid: words.next()?.parse().ok()? }))
    };
    answer.lines().map(|l| line(l).ok_or_else(|| unparsable("new pane", l))).collect()
}
