//! One module a row.

use super::Fallible;
use super::table::Line;

pub mod append;
pub mod claim;
pub mod confined;
pub mod down;
pub mod flood;
pub mod handed;
pub mod idle;
pub mod killed;
pub mod long;
pub mod resume;
pub mod search;
pub mod send;
pub mod up;
pub mod worktree;

type Row = (&'static str, fn() -> Fallible<Vec<Line>>);

pub const ROWS: [Row; 14] = [
    ("append", append::row),
    ("handed", handed::row),
    ("send", send::row),
    ("up", up::row),
    ("long", long::row),
    ("claim", claim::row),
    ("idle", idle::row),
    ("killed", killed::row),
    ("down", down::row),
    ("confined", confined::row),
    ("worktree", worktree::row),
    ("search", search::row),
    ("resume", resume::row),
    ("flood", flood::row),
];
