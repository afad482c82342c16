//! Mail: F01 to F15.

mod damage;
mod delivery;
mod flood;
mod full_disk;
mod idle;
mod many;
mod queue;
mod text;
mod wakeups;
mod who;
