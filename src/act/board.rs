//! The board's journal, and the ledger's, as state logs.

use crate::decide::board::{Board, BoardRecord, TaskEvent};
use crate::decide::ledger::{Ledger, LedgerRecord};
use crate::model::id::TaskId;
use crate::model::name::Name;
use crate::model::task::TaskStatus;
use crate::model::time::Timestamp;
use crate::store::{Folded, StateLog};

/// The board, and what was new in it since someone last asked.
#[derive(Clone, Debug, Default)]
pub struct BoardLog {
    pub board: Board,
    /// Changes in order, kept only while `watched`.
    pub news: Vec<News>,
    pub watched: bool,
}

/// One change, in short.
#[derive(Clone, Debug)]
pub struct News {
    pub event: TaskEvent,
    pub by: Name,
    /// Each task that changed, with its status and owner after it.
    pub tasks: Vec<(TaskId, TaskStatus, Option<Name>, String)>,
}

impl Folded for BoardLog {
    type Record = BoardRecord;

    fn apply(&mut self, record: BoardRecord, _seq: u64, _ts: Timestamp) {
        if let (true, BoardRecord::Task { event, by, tasks }) = (self.watched, &record) {
            let tasks = tasks.iter().map(|t| (t.id, t.status, t.owner.clone(), t.subject.clone())).collect();
            self.news.push(News { event: *event, by: by.clone(), tasks });
        }
        self.board.apply(record);
    }

    fn snapshot(&self) -> BoardRecord {
        self.board.snapshot()
    }
}

/// The ledger as it lies on file.
#[derive(Clone, Debug, Default)]
pub struct LedgerLog(pub Ledger);

impl Folded for LedgerLog {
    type Record = LedgerRecord;

    fn apply(&mut self, record: LedgerRecord, _seq: u64, _ts: Timestamp) {
        self.0.apply(record);
    }

    fn snapshot(&self) -> LedgerRecord {
        self.0.snapshot()
    }
}

impl StateLog<BoardLog> {
    /// From now on changes are kept until they are taken.
    pub fn watch_news(&mut self) {
        self.state_mut().watched = true;
    }

    /// The changes since the last call.
    pub fn take_news(&mut self) -> Vec<News> {
        std::mem::take(&mut self.state_mut().news)
    }
}
