//! What lies on the simulated disk, and the readers of its mailboxes. The cursors are the real ones.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::decide::board::Board;
use crate::decide::ledger::Ledger;
use crate::model::id::MessageId;
use crate::model::message::Message;
use crate::model::name::Name;
use crate::model::team::Team;
use crate::model::time::Timestamp;
use crate::store::cursor::{HandOver, LaneCursor, Seen, Verdict};

pub struct Disk {
    pub team: Team,
    pub ledger: Ledger,
    pub board: Board,
    pub controls: BTreeMap<Name, LaneFile>,
    pub inboxes: BTreeMap<Name, LaneFile>,
    /// Mail that was noted as never read.
    pub dead: BTreeSet<MessageId>,
}

impl Disk {
    pub fn new(team: Team) -> Self {
        Self {
            team,
            ledger: Ledger::default(),
            board: Board::default(),
            controls: BTreeMap::new(),
            inboxes: BTreeMap::new(),
            dead: BTreeSet::new(),
        }
    }

    pub fn control(&mut self, who: &Name) -> &mut LaneFile {
        self.controls.entry(who.clone()).or_default()
    }

    pub fn inbox(&mut self, who: &Name) -> &mut LaneFile {
        self.inboxes.entry(who.clone()).or_default()
    }

    /// What the next reader finds is what its bytes say.
    pub fn read_again(&mut self) {
        let bytes = serde_json::to_vec(&self.team).expect("a roster can be written");
        self.team = serde_json::from_slice(&bytes).expect("a roster can be read");
        let mut ledger = Ledger::default();
        ledger.apply(self.ledger.snapshot());
        assert_eq!(ledger, self.ledger, "the ledger's snapshot is the ledger");
        let mut board = Board::default();
        board.apply(self.board.snapshot());
        assert_eq!(board, self.board, "the board's snapshot is the board");
    }
}

/// A lane of a mailbox with its cursor.
#[derive(Default)]
pub struct LaneFile {
    pub records: Vec<Message>,
    pub closed: bool,
    pub cursor: LaneCursor,
    ids: BTreeSet<MessageId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    New,
    /// The id is there already: the same message.
    Again,
    Refused,
}

impl LaneFile {
    pub fn append(&mut self, message: Message) -> Written {
        if self.closed {
            return Written::Refused;
        }
        if !self.ids.insert(message.id) {
            return Written::Again;
        }
        self.records.push(message);
        Written::New
    }

    pub fn has(&self, id: MessageId) -> bool {
        self.ids.contains(&id)
    }

    fn seen(&self, at: usize) -> Seen {
        let seq = at as u64 + 1;
        let id = Some(self.records[at].id);
        Seen { seq, id, ts: Timestamp::default(), segment: None, start: seq * 10, end: seq * 10 + 10 }
    }
}

/// A message on its way.
#[derive(Clone, Debug)]
pub struct Waits {
    pub message: Message,
    pub redelivered: bool,
}

/// A process's eye on a lane.
pub struct Reader {
    hand: HandOver,
    next: usize,
    pub waiting: VecDeque<Waits>,
}

impl Reader {
    pub fn open(file: &LaneFile) -> Self {
        let handed = usize::try_from(file.cursor.handed).expect("it fits");
        let behind: Vec<Seen> = (0..handed).map(|at| file.seen(at)).collect();
        Self { hand: HandOver::resume(file.cursor.clone(), &behind), next: handed, waiting: VecDeque::new() }
    }

    pub fn has_news(&self, file: &LaneFile) -> bool {
        self.next < file.records.len()
    }

    pub fn poll(&mut self, file: &mut LaneFile) {
        while self.has_news(file) {
            if let Verdict::Hand { redelivered } = self.hand.saw(file.seen(self.next)) {
                self.waiting.push_back(Waits { message: file.records[self.next].clone(), redelivered });
            }
            self.next += 1;
        }
        if self.hand.stored().handed != file.cursor.handed {
            self.store(file);
        }
    }

    /// Takes up to `most` messages out of the queue. What that means for the cursor is stored apart.
    pub fn begin(&mut self, most: usize) -> Vec<Waits> {
        let taken: Vec<Waits> = self.waiting.drain(..most.min(self.waiting.len())).collect();
        let ids: Vec<MessageId> = taken.iter().map(|w| w.message.id).collect();
        assert_eq!(self.hand.begin(&ids), ids, "what waits can be begun");
        taken
    }

    pub fn store(&self, file: &mut LaneFile) {
        file.cursor = self.hand.stored();
    }

    pub fn finish_read(&mut self, file: &mut LaneFile) {
        let ids = self.hand.finish();
        self.hand.mark_read(&ids);
        self.store(file);
    }

    /// What was being handed over did not arrive.
    pub fn abandon(&mut self) {
        self.hand.abandon();
    }
}
