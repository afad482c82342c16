//! Sixteen processes claim a thousand tasks, each claim on the disk before it is answered.

use std::collections::HashSet;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use crewmux::act::board::BoardLog;
use crewmux::act::{ActError, Desk, Done, Verb, Who, act};
use crewmux::decide::authority::Authority;
use crewmux::decide::board::{BoardError, Caller};
use crewmux::model::message::MAX_INLINE_BYTES;
use crewmux::model::name::Name;
use crewmux::model::task::{NewTask, Task};
use crewmux::model::team::Team;
use crewmux::os::clock;
use crewmux::store::{Home, StateLog, TeamDir, journal, roster};
use serde_json::json;

use crate::helper::{print_span, race, wait_for_start};
use crate::place::{Place, name};
use crate::stats::{Spread, median, now_ns, rate, times};
use crate::table::{Line, Verdict};
use crate::{Fallible, ROUNDS};

const TASKS: usize = 1000;
const CLAIMERS: usize = 16;
const TEAM: &str = "bench-claim";
/// About what one claim adds to the board's journal, in bytes.
const RECORD: usize = 600;

const _: () = assert!(RECORD < MAX_INLINE_BYTES);

pub fn row() -> Fallible<Vec<Line>> {
    let (mut rates, mut floors, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let place = Place::new()?;
        board(&place)?;
        let home = place.home().root().display().to_string();
        let args: Vec<Vec<String>> =
            (0..CLAIMERS).map(|n| vec!["claim".to_owned(), home.clone(), format!("m{n}")]).collect();
        let (took, claimed) = race(&args)?;
        let different: HashSet<u64> = claimed.iter().map(|id| *id as u64).collect();
        if claimed.len() != TASKS || different.len() != TASKS {
            return Err(format!("{} claims of {} tasks, not {TASKS}", claimed.len(), different.len()).into());
        }
        let (ours, floor) = (TASKS as f64 / (took / 1e9), synced_writes(&place.path().join("floor"))?);
        rates.push(ours);
        floors.push(floor);
        ratios.push(ours / floor);
    }
    Ok(vec![Line {
        what: format!("{CLAIMERS} processes claim {} tasks, none twice", TASKS),
        floor: format!("one process, write + fdatasync: {}", rate(median(&floors))),
        measured: Spread::of(&rates).show(rate),
        ratio: times(median(&ratios)),
        must: "none twice".to_owned(),
        verdict: Verdict::Ok,
    }])
}

/// A team without a lead, its members on the roster, and its tasks on the board.
fn board(place: &Place) -> Fallible<()> {
    let (home, team) = (place.home(), name(TEAM)?);
    let roster = team_of(&team)?;
    TeamDir::create_new::<crewmux::store::StoreError>(&home, &team, |staging| {
        roster::write_first(staging, &roster)?;
        journal::touch(&staging.tasks())
    })?;
    let mut log: StateLog<BoardLog> = StateLog::open(home.team(&team).tasks());
    let caller = Caller {
        name: Name::operator(),
        life: None,
        authority: Authority::Operator,
        capabilities: &[],
        claim_limit: 0,
    };
    let tasks: Vec<NewTask> =
        (0..TASKS).map(|n| NewTask { subject: format!("look at file {n}"), ..NewTask::default() }).collect();
    log.update(|state, now| {
        let changed = state.board.add_many(&caller, tasks, now)?;
        Ok::<_, BoardError>(((), vec![changed.record]))
    })??;
    Ok(())
}

fn team_of(team: &Name) -> Fallible<Team> {
    let now = clock::now();
    let member = |name: &str, engine: &str| {
        json!({
            "agent_id": format!("{name}@{team}"), "name": name, "agent_type": "bench", "engine": engine, "color": "cyan",
            "joined_at": now, "is_active": true, "cwd": "/", "sandbox": "off", "life": clock::new_life(),
            "spawn_id": clock::new_spawn_id(),
        })
    };
    let mut members = vec![member("team-lead", "lead")];
    members.extend((0..CLAIMERS).map(|n| member(&format!("m{n}"), "worker")));
    Ok(serde_json::from_value(json!({
        "v": 1, "name": team, "lead_agent_id": format!("team-lead@{team}"), "lead_life": clock::new_life(),
        "created_at": now, "cwd": "/", "members": members, "launched": true,
        "tmux": {"socket": "", "session": "", "server_pid": 0, "server_start": "", "boot_id": ""},
        "settings": {"limits": {"claims_per_member": TASKS}},
    }))?)
}

/// `claim HOME MEMBER`: claims whatever there is to be had, and prints what it got.
pub fn helper(args: &[&str]) -> Fallible<()> {
    let [home, member] = args else { return Err("claim HOME MEMBER".into()) };
    let member = name(member)?;
    let mut desk = Desk::open(&Home::at(home.into()), &name(TEAM)?)?;
    let life = desk.member(&member)?.life.ok_or("no life")?;
    let who = Who::member(member, life);
    desk.board.view()?;
    wait_for_start()?;
    let begun = now_ns();
    let mut claimed = Vec::new();
    loop {
        match act(&mut desk, &who, clock::new_message_id(), Verb::TaskClaim { id: None }) {
            Ok(Done::Answer(answer)) => claimed.push(serde_json::from_value::<Task>(answer.value)?.id),
            Ok(Done::Asked(_)) => return Err("a claim asked the lead".into()),
            Err(ActError { code: 7, .. }) => break,
            Err(error) => return Err(error.into()),
        }
    }
    print_span(begun);
    claimed.iter().for_each(|id| println!("{id}"));
    Ok(())
}

/// Appends of a claim's length, each synced, a second.
fn synced_writes(path: &Path) -> Fallible<f64> {
    let mut file = OpenOptions::new().append(true).create(true).open(path)?;
    let line = vec![b'x'; RECORD];
    let count = TASKS / 5;
    let begun = now_ns();
    for _ in 0..count {
        file.write_all(&line)?;
        file.sync_data()?;
    }
    Ok(count as f64 / ((now_ns() - begun) as f64 / 1e9))
}
