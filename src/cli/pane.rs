//! A member's pane in the team's tmux, as the roster has it.

use std::future::Future;

use super::error::{CommandError, ErrorKind, ResultExt};
use crate::act::Desk;
use crate::model::name::Name;
use crate::model::team::TmuxPlace;
use crate::tmux::{Tmux, TmuxError};

/// Runs what talks to tmux.
pub fn block_on<T>(work: impl Future<Output = Result<T, CommandError>>) -> Result<T, CommandError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.or_fail(ErrorKind::Failed, || "cannot start the runtime".to_owned())?.block_on(work)
}

/// The team's tmux server.
pub struct Place {
    pub tmux: Tmux,
    pub tmux_place: TmuxPlace,
}

impl Place {
    pub fn of(desk: &mut Desk) -> Result<Self, CommandError> {
        let tmux_place = desk.team()?.tmux.clone();
        Ok(Self { tmux: Tmux::new(&tmux_place.socket), tmux_place })
    }

    /// Whether the recorded server still listens there.
    pub async fn check(&self) -> Result<(), CommandError> {
        let socket = self.tmux.socket().to_owned();
        match self.tmux.server_pid().await? {
            Some(pid) if pid == self.tmux_place.server_pid => Ok(()),
            Some(pid) => {
                let expected = self.tmux_place.server_pid;
                Err(TmuxError::OtherServer { socket, expected, found: Some(pid) }.into())
            }
            None => Err(TmuxError::NoServer { socket }.into()),
        }
    }

    /// The pane of `name`, if it is there: ids are never used again while the server lives.
    pub async fn pane(&self, desk: &mut Desk, name: &Name) -> Result<String, CommandError> {
        let member = desk.member(name)?;
        let gone = || {
            CommandError::not_found(format!("`{name}` has no pane"))
                .hint(format!("`crewmux logs {name}` shows what it printed; `crewmux restart {name}` starts it again"))
        };
        let id = member.pane_id.clone().ok_or_else(gone)?;
        self.check().await?;
        match self.tmux.pane(&id).await? {
            Some(_) => Ok(id),
            None => Err(gone()),
        }
    }
}
