//! A lead takes up work: what is there is taken over, and what the one before may not have got to is done.

use super::state::{Batch, Effect, EventRecord, Lead, Phase, STOP_GRACE, Seat};
use crate::model::id::{Life, SpawnId};
use crate::model::name::Name;
use crate::model::team::Member;
use crate::model::time::Timestamp;

impl Lead {
    /// Takes up work: launches what is reserved, takes over the lives in `alive`, and has every other
    /// recorded life ended (its `LifeEnded` then decides about a restart).
    pub fn begin(&mut self, alive: &[Name], lead_life: Life, now: Timestamp) -> Vec<Effect> {
        let mut out = Vec::new();
        self.team.lead_life = lead_life;
        // The roster may come from another boot, and from another kernel.
        for member in self.team.members.iter_mut().chain(&mut self.team.reserved) {
            member.confine(self.confines);
        }
        let members: Vec<Member> = self.team.teammates().cloned().collect();
        for member in members {
            let Some(life) = member.life else { continue };
            let lives = alive.contains(&member.name);
            // The last end is forgotten when the next life has said hello.
            let joined = member.exit.is_none();
            let phase = if !member.is_active {
                Phase::Out
            } else if member.is_guest() && member.pid.is_none() {
                // Nobody has come for this life, or the word of it is still to be heard.
                Phase::Away
            } else if !lives {
                Phase::Ending
            } else if joined {
                Phase::Up
            } else {
                Phase::Starting { deadline: now.plus(self.team.settings.limits.hello.0) }
            };
            let planning = member.plan_mode_required && member.plan_id.is_none();
            let mut seat = Seat::new(life, phase, planning);
            // tmux told the lead before of its pane, or tells nobody any more.
            seat.placed = lives;
            seat.found_dead = phase == Phase::Ending;
            // Also one that still lives: its terminal is gone, and it is about to notice.
            seat.lost_terminal = self.tmux_lost && !matches!(phase, Phase::Out | Phase::Away);
            if matches!(phase, Phase::Starting { .. }) {
                let batch = self.batch_of_its_own(&member.name);
                self.batches.entry(batch).or_default().names.insert(member.name.clone());
                seat.batch = Some(batch);
            }
            self.seats.insert(member.name.clone(), seat);
            if phase != Phase::Out {
                // The lead before may have died between closing its mailbox and writing it out of the roster.
                out.push(Effect::OpenMail { name: member.name.clone() });
            }
            // So it may have done before it had given back what earlier lives had.
            let current = (phase != Phase::Out).then_some(life);
            out.push(Effect::ReturnStale { name: member.name.clone(), current });
            match phase {
                // Also of one that is out: the lead before may have died before it had ended all of it.
                Phase::Ending | Phase::Out => {
                    out.push(Effect::EndLife { name: member.name.clone(), life, grace: STOP_GRACE });
                    if phase == Phase::Out {
                        let reason = format!("`{}` has ended", member.name);
                        out.push(Effect::CloseMail { name: member.name.clone(), reason });
                    }
                }
                // The lead before may have died between writing a member in and telling it so.
                Phase::Up => self.welcome(&member.name, &mut out),
                Phase::Away => out.push(Effect::Expect { name: member.name.clone() }),
                _ => {}
            }
        }
        if self.team.launched {
            self.undo_reservations(&mut out);
            self.repair_ledger(now, &mut out);
        } else {
            let names: Vec<Name> = self.team.reserved.iter().map(|m| m.name.clone()).collect();
            let batch = SpawnId::derived(&["launch", &lead_life.to_string()]);
            self.batches.insert(batch, Batch { is_launch: true, ..Batch::default() });
            if names.is_empty() {
                self.complete_batch(batch, now, &mut out);
            } else {
                self.launch(&names, batch, now, &mut out);
            }
        }
        out.push(Effect::SaveTeam);
        out
    }

    /// A spawn that an earlier lead did not finish is undone: nobody waits for it any more.
    fn undo_reservations(&mut self, out: &mut Vec<Effect>) {
        for member in std::mem::take(&mut self.team.reserved) {
            out.push(Effect::Log(
                EventRecord::of("spawn_undone", &member.name).with("reason", "the lead was restarted"),
            ));
            if let Some(life) = member.life {
                out.push(Effect::EndLife { name: member.name.clone(), life, grace: STOP_GRACE });
            }
            if super::trees::isolated(&member) {
                out.push(Effect::SettleTree { name: member.name.clone() });
            }
            if let (Some(pane_id), Some(pid)) = (member.pane_id, member.pid) {
                out.push(Effect::ClosePane { name: member.name, pane_id, pid });
            }
        }
    }
}
