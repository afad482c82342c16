//! The board's journal, and the ledger's, as state logs.

use crate::decide::board::{Board, BoardRecord, TaskEvent};
use crate::decide::ledger::{Ledger, LedgerRecord};
use crate::model::id::TaskId;
use crate::model::name::Name;
use crate::model::task::{Task, TaskStatus};
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
    /// Each task that changed; the one that the verb was about comes first.
    pub tasks: Vec<NewsTask>,
}

/// A task after a change.
#[derive(Clone, Debug)]
pub struct NewsTask {
    pub id: TaskId,
    pub status: TaskStatus,
    pub owner: Option<Name>,
    pub subject: String,
    /// It was not on the board before.
    pub is_new: bool,
}

impl Folded for BoardLog {
    type Record = BoardRecord;

    fn apply(&mut self, record: BoardRecord, _seq: u64, _ts: Timestamp) {
        if let (true, BoardRecord::Task { event, by, tasks }) = (self.watched, &record) {
            let changed = |t: &Task| NewsTask {
                id: t.id,
                status: t.status,
                owner: t.owner.clone(),
                subject: t.subject.clone(),
                is_new: self.board.get(t.id).is_none(),
            };
            let news = News { event: *event, by: by.clone(), tasks: tasks.iter().map(changed).collect() };
            self.news.push(news);
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
