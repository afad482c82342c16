//! Panes that exist: listed, read, closed, started anew. Every act names the pane by id and checks its process.

use super::commands as cmd;
use super::error::TmuxError;
use super::label;
use super::server::{Tmux, check_spec};
use super::types::{Pane, PaneInfo, PaneSpec};

/// Fields of ids and numbers alone, so that a blank separates them in every locale.
const INFO: &str = "#{pane_id} #{pane_pid} #{pane_dead} #{window_id}";

impl Tmux {
    /// All panes of the server, each once, the person's own among them.
    pub async fn panes(&self) -> Result<Vec<PaneInfo>, TmuxError> {
        let answer = match self.ask(&[cmd::list_all(INFO)]).await {
            // What a server without any session answers (3.3a).
            Err(TmuxError::Failed { stderr, .. }) if stderr.contains("no current target") => String::new(),
            done => done?,
        };
        let mut list: Vec<PaneInfo> = Vec::new();
        for line in answer.lines() {
            let pane = parse_info(line).ok_or_else(|| unparsable("list-panes", line))?;
            // A window shown by two sessions (a nested view) is listed twice.
            if !list.iter().any(|p| p.id == pane.id) {
                list.push(pane);
            }
        }
        Ok(list)
    }

    /// One pane, or nothing if it is gone. tmux answers for a dead id with empty fields and status 0.
    pub async fn pane(&self, id: &str) -> Result<Option<PaneInfo>, TmuxError> {
        check_id(id)?;
        let answer = self.ask(&[cmd::display(Some(id), INFO)]).await?;
        Ok(parse_info(&answer).filter(|pane| pane.id == id))
    }

    /// Closes exactly the panes whose id and process id both match; the others stay. Being gone already is success.
    pub async fn close_panes(&self, panes: &[(String, u32)]) -> Result<(), TmuxError> {
        let chain: Vec<_> =
            panes.iter().filter(|(id, _)| is_pane_id(id)).map(|(id, pid)| cmd::kill_pane_if(id, *pid)).collect();
        if chain.is_empty() {
            return Ok(());
        }
        self.ask(&chain).await.map(drop)
    }

    /// Starts a member anew in its own old pane, if that still belongs to `expected_pid`. What ran there is killed.
    ///
    /// # Errors
    /// `NoPane` if the pane is gone or another program runs in it: nothing was touched.
    pub async fn respawn_pane(&self, id: &str, expected_pid: u32, spec: &PaneSpec) -> Result<Pane, TmuxError> {
        check_spec(spec)?;
        let gone = || TmuxError::NoPane { pane: id.to_owned() };
        let old = self.pane(id).await?.filter(|pane| pane.pid == expected_pid).ok_or_else(gone)?;
        // Without -k tmux itself refuses a pane whose program lives, so that one started meanwhile is safe.
        let mut chain = vec![cmd::respawn(id, !old.dead, spec), cmd::display(Some(id), INFO)];
        chain.extend(label::pane(id, &spec.title, &spec.label, &spec.color));
        let answer = self.ask(&chain).await.map_err(|e| match e {
            TmuxError::Failed { stderr, .. } if stderr.contains("still active") => gone(),
            e if e.is_gone() => gone(),
            e => e,
        })?;
        let new = parse_info(&answer).ok_or_else(|| unparsable("respawn-pane", &answer))?;
        Ok(Pane { id: new.id, pid: new.pid })
    }

    /// Starts a member anew: in its old pane if that is still its own, else in one more.
    pub async fn restart_pane(
        &self,
        old: &Pane,
        spec: &PaneSpec,
        session_id: &str,
        per_window: usize,
        lead_window: Option<&str>,
    ) -> Result<Pane, TmuxError> {
        match self.respawn_pane(&old.id, old.pid, spec).await {
            Err(TmuxError::NoPane { .. }) => {}
            done => return done,
        }
        let made = self.add_panes(session_id, std::slice::from_ref(spec), per_window, lead_window).await?;
        made.into_iter().next().ok_or_else(|| unparsable("split-window", ""))
    }

    /// What the pane shows, as text, after so many lines of its history (`u32::MAX`: all).
    pub async fn capture(&self, id: &str, history_lines: Option<u32>) -> Result<String, TmuxError> {
        check_id(id)?;
        match self.ask(&[cmd::capture(id, history_lines)]).await {
            Err(e) if e.is_gone() => Err(TmuxError::NoPane { pane: id.to_owned() }),
            done => done,
        }
    }

    /// Makes the pane and its window current in our session, and in no other that shows the same window.
    pub async fn select(&self, session_id: &str, id: &str) -> Result<(), TmuxError> {
        check_id(id)?;
        let chain = [cmd::select_window(&format!("{session_id}:.{id}")), cmd::select_pane(id)];
        match self.ask(&chain).await {
            Err(e) if e.is_gone() => Err(TmuxError::NoPane { pane: id.to_owned() }),
            done => done.map(drop),
        }
    }
}

/// `%` and digits: anything else tmux could take for a name, a position or a format.
pub(super) fn is_pane_id(id: &str) -> bool {
    id.strip_prefix('%').is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
}

pub(super) fn check_id(id: &str) -> Result<(), TmuxError> {
    if is_pane_id(id) { Ok(()) } else { Err(TmuxError::NoPane { pane: id.to_owned() }) }
}

pub(super) fn unparsable(command: &str, output: &str) -> TmuxError {
    TmuxError::Unparsable { command: command.to_owned(), output: output.to_owned() }
}

fn parse_info(line: &str) -> Option<PaneInfo> {
    let mut words = line.split_whitespace();
    let id = words.next()?.to_owned();
    let pid = words.next()?.parse().ok()?;
    let dead = words.next()? == "1";
    Some(PaneInfo { id, pid, dead, window_id: words.next()?.to_owned() })
}
