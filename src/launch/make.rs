//! A team's folder, made whole from a spec.

use crate::act::ActError;
use crate::act::board::BoardLog;
use crate::decide::authority::Authority;
use crate::decide::board::{BoardError, Caller};
use crate::model::name::{AgentId, Name};
use crate::model::spec::TeamSpec;
use crate::model::team::{Member, Settings, TEAM_VERSION, Team, TmuxPlace};
use crate::os::{clock, process};
use crate::store::{Home, StateLog, TeamDir, document, journal, roster};

/// Makes the folder of the team that `spec` describes, its places reserved and its tasks on the board.
pub(super) fn make(home: &Home, spec: &TeamSpec, socket: &str, tied: bool) -> Result<TeamDir, ActError> {
    let team = first_roster(spec, socket, tied);
    let env = crate::teammate::pack_env(std::env::vars_os());
    TeamDir::create_new::<ActError>(home, &spec.name, |staging| {
        roster::write_first(staging, &team)?;
        let lead = staging.member(&Name::lead());
        if !lead.exists() {
            lead.create()?;
        }
        document::replace_bytes(&lead.env(), &env, document::Sync::Fast)?;
        for member in &team.reserved {
            let dir = staging.member(&member.name);
            dir.create()?;
            document::share(&lead.env(), &dir.env())?;
        }
        journal::touch(&staging.tasks())?;
        put_tasks(staging, spec)
    })
}

fn first_roster(spec: &TeamSpec, socket: &str, tied: bool) -> Team {
    let now = clock::now();
    let life = clock::new_life();
    let name = spec.name.clone();
    let me = AgentId::new(Name::lead(), name.clone());
    let lead = Member {
        agent_id: me.clone(),
        name: Name::lead(),
        agent_type: spec.lead.agent_type.clone().unwrap_or_else(|| "lead".to_owned()),
        engine: "lead".to_owned(),
        color: "white".to_owned(),
        model: None,
        joined_at: now,
        is_active: true,
        plan_mode_required: false,
        cwd: spec.cwd.clone(),
        worktree: None,
        sandbox: "off".to_owned(),
        pane_id: None,
        pid: None,
        start_time: None,
        life: Some(life),
        restarts: 0,
        exit: None,
        spawn_id: clock::new_spawn_id(),
        plan_id: None,
        spec: None,
        extra: serde_json::Map::new(),
    };
    let place = |m: &crate::model::spec::MemberSpec| Member::reserve(m.clone(), &name, clock::new_spawn_id(), now);
    Team {
        v: TEAM_VERSION,
        name: name.clone(),
        description: spec.description.clone(),
        lead_agent_id: me,
        lead_life: life,
        created_at: now,
        cwd: spec.cwd.clone(),
        tmux: TmuxPlace {
            socket: socket.to_owned(),
            session: session(&name),
            boot_id: process::boot_id(),
            ..TmuxPlace::default()
        },
        members: vec![lead],
        reserved: spec.members.iter().map(place).collect(),
        launched: false,
        tied_to_maker: tied,
        settings: Settings {
            lead: spec.lead.clone(),
            limits: spec.limits.clone(),
            layout: spec.layout.clone(),
            hooks: spec.hooks.clone(),
            permissions: spec.permissions.clone(),
            report: spec.report.clone(),
        },
        extra: serde_json::Map::new(),
    }
}

/// The name of a team's tmux session.
#[must_use]
pub fn session(team: &Name) -> String {
    format!("crewmux-{}", team.component())
}

fn put_tasks(staging: &TeamDir, spec: &TeamSpec) -> Result<(), ActError> {
    if spec.tasks.is_empty() {
        return Ok(());
    }
    let mut log: StateLog<BoardLog> = StateLog::open(staging.tasks());
    let caller = Caller {
        name: Name::operator(),
        life: None,
        authority: Authority::Operator,
        capabilities: &[],
        claim_limit: 0,
    };
    log.update(|state, now| {
        let tasks = state.board.resolve(&spec.tasks)?;
        let changed = state.board.add_many(&caller, tasks, now)?;
        Ok::<_, BoardError>(((), vec![changed.record]))
    })??;
    Ok(())
}
