//! Where answers come from: a model over HTTP, or a recorded stream.

mod cassette;
mod event;
mod failure;
mod limiter;
mod messages;
mod recorder;

use std::pin::Pin;

use futures::Stream;

pub use cassette::{Cassette, Exchange, Reply, When};
pub use event::{Delta, StreamEvent};
pub use failure::Failure;
pub use limiter::{Limiter, Slot};
pub use messages::{Auth, Endpoint, Messages};
pub use recorder::Recorder;

use super::AgentId;

/// A future that borrows.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The events of one answer. Dropping it ends the request.
pub type Events = Pin<Box<dyn Stream<Item = Result<StreamEvent, Failure>> + Send>>;

/// One request.
#[derive(Clone, Debug)]
pub struct Call {
    /// The body, byte for byte as it is sent.
    pub body: Vec<u8>,
    /// Who asks: for recordings and for the log.
    pub agent: AgentId,
    /// What kind of loop asks: `main`, the name of a definition, `fork`, `compact`.
    pub source: String,
}

/// Something that answers.
pub trait Provider: Send + Sync {
    /// Sends one request. The outer result is whether it was accepted, the stream what comes then.
    fn send<'a>(&'a self, call: &'a Call) -> BoxFuture<'a, Result<Events, Failure>>;
}
