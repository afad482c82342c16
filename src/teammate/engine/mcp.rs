//! A program that somebody else started: it calls on the team as an MCP client of this very process.

use std::sync::Arc;

use super::super::context::Context;
use super::{EngineEvent, Events};
use crate::decide::teammate::Ended;
use crate::mcp::{Identity, Session, serve};
use crate::store::Home;

/// The connection to the client that started this process.
pub struct Mcp {
    session: Arc<Session>,
}

impl Mcp {
    /// Serves the client on stdin and stdout in the member's name. It has settled when it has said `initialize`.
    ///
    /// # Errors
    /// When the team is gone.
    pub(in crate::teammate) fn start(context: &Context, events: Events) -> std::io::Result<Self> {
        let place = &context.place;
        let identity = Identity::Member { name: place.member.clone(), life: place.life };
        let session =
            Session::open(&Home::at(place.home.clone()), &place.team, identity).map_err(std::io::Error::other)?;
        let served = Arc::clone(&session);
        tokio::spawn(async move {
            let settled = events.clone();
            let ready = move || drop(settled.send(EngineEvent::Settled));
            let code = match serve(served, ready).await {
                Ok(_) => 0,
                Err(error) => {
                    eprintln!("crewmux: no MCP client is on stdin: {error}");
                    1
                }
            };
            let _ = events.send(EngineEvent::Ended(Ended { code: Some(code), signal: None }));
        });
        Ok(Self { session })
    }

    /// The client gets its last answers, and the connection ends.
    pub fn stop(&self) {
        self.session.gone().cancel();
    }
}
