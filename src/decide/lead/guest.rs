//! Members whose program somebody else starts, by hand or as a part of another tool. The lead keeps a life ready for
//! whoever comes; each time one has come and gone, the next.

use super::state::{Effect, EventRecord, Lead, Phase, Seat};
use crate::model::id::Life;
use crate::model::name::Name;

impl Lead {
    /// Keeps a fresh life ready for the member's program.
    pub(super) fn expect(&mut self, name: &Name, out: &mut Vec<Effect>) {
        let Some(spawn_id) = self.team.member(name).map(|m| m.spawn_id) else { return };
        self.starts += 1;
        let count = self.starts.to_string();
        let life = Life::derived(&["life", &spawn_id.to_string(), &self.team.lead_life.to_string(), &count]);
        let seat = self.seats.entry(name.clone()).or_insert_with(|| Seat::new(life, Phase::Away, false));
        seat.life = life;
        seat.phase = Phase::Away;
        seat.why = None;
        seat.stop_by = None;
        seat.forced = false;
        if let Some(member) = self.team.member_mut(name) {
            member.is_active = true;
            member.life = Some(life);
            // Who comes takes a life that no process had yet.
            member.pid = None;
            member.start_time = None;
        }
        out.push(Effect::SaveTeam);
        out.push(Effect::Expect { name: name.clone() });
        self.answer_expected(name, out);
    }

    /// Whoever waits for a start of it hears that there is a place.
    pub(super) fn answer_expected(&mut self, name: &Name, out: &mut Vec<Effect>) {
        let askers = self.seats.get_mut(name).map(|seat| std::mem::take(&mut seat.on_up)).unwrap_or_default();
        let answer = self.team.member(name).map(super::join::spawned).unwrap_or_default();
        for asker in askers {
            self.reply(asker, 0, None, answer.clone(), out);
        }
    }

    /// Its program has come.
    pub(super) fn came(&mut self, name: &Name, pid: u32, start_time: u64, out: &mut Vec<Effect>) {
        let Some(seat) = self.seats.get_mut(name) else { return };
        seat.phase = Phase::Up;
        let life = seat.life;
        if let Some(member) = self.team.member_mut(name) {
            member.pid = Some(pid);
            member.start_time = Some(start_time.to_string());
            member.exit = None;
        }
        out.push(Effect::Log(EventRecord::of("member_came", name).with("life", life)));
        out.push(Effect::SaveTeam);
        out.push(Effect::Watch { name: name.clone(), life });
        self.welcome(name, out);
    }
}
