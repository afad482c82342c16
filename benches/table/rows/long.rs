//! One more message, delivered and taken, with a hundred thousand behind it and with a hundred.

use crewmux::model::id::MessageId;
use crewmux::model::message::Lane;
use crewmux::os::clock;
use crewmux::store::intake::Intake;
use crewmux::store::{Durability, MemberDir, mailbox};

use crate::place::{Place, message};
use crate::stats::{Spread, median, now_ns, time, times};
use crate::table::{Line, Verdict};
use crate::{Fallible, ROUNDS};

const FEW: usize = 100;
const MANY: usize = 100_000;
/// Messages a round.
const COUNT: usize = 1000;
/// How many are taken at once while the mailbox is filled.
const BATCH: usize = 500;

pub fn row() -> Fallible<Vec<Line>> {
    let place = Place::new()?;
    let mut long = Mailbox::filled(place.mailbox("long")?, MANY)?;
    let (mut few, mut many, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        // Anew each round, so that what was measured before does not lie behind it.
        let mut short = Mailbox::filled(place.mailbox(&format!("short-{round}"))?, FEW)?;
        let (mut at_few, mut at_many) = (Vec::new(), Vec::new());
        for _ in 0..COUNT {
            at_few.push(short.one_more()?);
            at_many.push(long.one_more()?);
        }
        few.push(median(&at_few));
        many.push(median(&at_many));
        ratios.push(median(&at_many) / median(&at_few));
    }
    let ratio = median(&ratios);
    Ok(vec![Line {
        what: "one more message (delivered, taken, read) at 100,000 behind it".to_owned(),
        floor: format!("at 100: {}", time(median(&few))),
        measured: Spread::of(&many).show(time),
        ratio: times(ratio),
        must: "≤ 1.2×".to_owned(),
        verdict: Verdict::of(ratio <= 1.2),
    }])
}

struct Mailbox {
    dir: MemberDir,
    intake: Intake,
}

impl Mailbox {
    fn filled(dir: MemberDir, count: usize) -> Fallible<Self> {
        let intake = Intake::open(&dir, Lane::Inbox)?;
        let mut mailbox = Self { dir, intake };
        for n in 0..count {
            mailbox.deliver()?;
            if n % BATCH == BATCH - 1 {
                mailbox.take()?;
            }
        }
        mailbox.take()?;
        Ok(mailbox)
    }

    fn deliver(&self) -> Fallible<()> {
        let message = message(clock::new_message_id(), "look at src/ first, then at the tests")?;
        mailbox::deliver(&self.dir, &message, Lane::Inbox, Durability::Fast, false)?;
        Ok(())
    }

    fn take(&mut self) -> Fallible<usize> {
        self.intake.poll()?;
        let ids: Vec<MessageId> = self.intake.waiting().iter().map(|w| w.id).collect();
        let taken = self.intake.begin(&ids)?;
        self.intake.finish_read()?;
        Ok(taken.len())
    }

    /// Nanoseconds.
    fn one_more(&mut self) -> Fallible<f64> {
        let begun = now_ns();
        self.deliver()?;
        let taken = self.take()?;
        let took = now_ns() - begun;
        if taken == 1 { Ok(took as f64) } else { Err(format!("{taken} messages came instead of one").into()) }
    }
}
