//! How a teammate drives its program. An engine carries work in and results out and owns nothing else;
//! a new kind of program is a new file here.

pub mod acp;
pub mod command;
pub mod mcp;
pub mod worker;

use super::hooks::Hooked;
use crate::act::outbox::Reply;
use crate::decide::teammate::Ended;
use crate::model::id::{MessageId, TaskId};

/// Most bytes of `output.log` before it rotates; twice that lies on disk.
pub const LOG_BYTES: u64 = 16 * 1024 * 1024;

/// A member's engine.
pub enum Engine {
    None,
    Command(command::Command),
    Worker(worker::Worker),
    Acp(Box<super::turn::Agent>),
    Mcp(mcp::Mcp),
}

/// What an engine tells its teammate.
#[derive(Debug)]
pub enum EngineEvent {
    /// Its program has lived long enough to count as started.
    Settled,
    Ended(Ended),
    /// These messages are with the program.
    Delivered(Vec<MessageId>),
    /// The program takes no more.
    NotDelivered(Vec<MessageId>),
    /// A person pressed the key that would stop the program.
    SuspendRefused,
    /// A task's program has ended.
    TaskEnded(Box<TaskEnd>),
    /// A verb that takes its time has come to something.
    Answered(Box<Reply>),
    /// A hook has run.
    Hooked(Box<Hooked>),
    /// What an agent says.
    Acp(Box<acp::AcpEvent>),
}

/// How the program of a task ended.
#[derive(Debug)]
pub struct TaskEnd {
    pub id: TaskId,
    pub epoch: u64,
    pub ended: Ended,
    /// The last of its output.
    pub tail: String,
    pub duration_ms: u64,
    /// Why it was ended or not even started, if it did not end by itself.
    pub cut: Option<String>,
}

/// The sender that an engine's tasks talk through.
pub type Events = tokio::sync::mpsc::UnboundedSender<EngineEvent>;
