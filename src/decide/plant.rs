//! Faults that the simulation must find. In what is built for use none of them is ever there.

/// A mistake that a programmer could have made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Mail counts as handed over when its hand-over begins.
    CursorMovesEarly,
    /// What may have been handed over before is not marked when it comes again.
    MarkForgotten,
    /// A word about a task counts whatever epoch it is of.
    EpochForgotten,
    /// The end of a life does not give its tasks back.
    TasksKept,
    /// A request that has its decision can be decided again.
    DecidedTwice,
    /// A request's time runs out and nobody looks.
    NeverExpires,
    /// A new lead does not tell again what the one before may not have told.
    NotToldAgain,
    /// What a life that is over asks for is taken up.
    DeadLifeAsks,
    /// A member counts as gone when it has agreed to go.
    GoneTooEarly,
    /// Whoever joins together joins one by one.
    JoinedInPart,
    /// A teammate takes a welcome for its own that was another life's.
    OthersWelcome,
    /// A verb is answered before the roster is written.
    ToldTooEarly,
    /// A member's mailbox stays closed when it starts again.
    MailStaysClosed,
}

#[cfg(not(test))]
#[must_use]
pub const fn planted(_: Fault) -> bool {
    false
}

#[cfg(test)]
pub use under_test::{plant, planted};

#[cfg(test)]
mod under_test {
    use std::cell::Cell;

    use super::Fault;

    thread_local! {
        static PLANTED: Cell<Option<Fault>> = const { Cell::new(None) };
    }

    /// Whether this fault is there, on this thread.
    #[must_use]
    pub fn planted(fault: Fault) -> bool {
        PLANTED.get() == Some(fault)
    }

    /// Plants a fault in everything that this thread does from here on, or takes it out.
    pub fn plant(fault: Option<Fault>) {
        PLANTED.set(fault);
    }
}
