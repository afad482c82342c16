//! Team folders made by hand, for tests of those who only read them.

use serde_json::Map;

use super::Desk;
use crate::decide::board::{BoardRecord, TaskEvent};
use crate::model::id::{Life, MessageId, SpawnId, TaskId};
use crate::model::message::{Body, Lane, Message, Text};
use crate::model::name::{AgentId, Name};
use crate::model::spec::{EngineKind, MemberSpec};
use crate::model::task::{Claim, Task, TaskStatus};
use crate::model::team::{Member, Settings, State, Status, Team, TmuxPlace};
use crate::os::{clock, process};
use crate::store::document::{self, Sync};
use crate::store::{Durability, Home, Journal, Lease, LeaseText, StoreError, TeamDir, mailbox, roster};

pub fn name(text: &str) -> Name {
    Name::parse_any(text).unwrap()
}

/// A team `t` in a home of its own.
pub struct Made {
    pub desk: Desk,
    pub home: Home,
    _root: tempfile::TempDir,
}

impl Made {
    pub fn team(members: &[Member]) -> Self {
        let root = tempfile::tempdir().unwrap();
        let home = Home::at(root.path().join("home"));
        let desk = make(&home, "t", members);
        Self { desk, home, _root: root }
    }

    /// Replaces the roster.
    pub fn roster(&mut self, change: impl FnOnce(&mut Team)) {
        let mut team = roster::read_team(&self.desk.dir).unwrap();
        change(&mut team);
        roster::write_first(&self.desk.dir, &team).unwrap();
    }

    pub fn tasks(&mut self, tasks: &[Task]) {
        let record = BoardRecord::Task { event: TaskEvent::Added, by: Name::operator(), tasks: tasks.to_vec() };
        Journal::open(self.desk.dir.tasks()).append(&record, Durability::Fast).unwrap();
    }

    /// Takes the lease of a member, or of the lead, in the name of this process.
    pub fn lease(&self, who: &str, life: Life) -> Lease {
        hold(&self.desk.dir, who, life)
    }

    pub fn status(&self, who: &str, life: Life, state: State) {
        let status = Status {
            v: 1,
            state,
            life,
            updated_at: clock::now(),
            activity: None,
            task: None,
            epoch: None,
            usage: None,
            session_id: None,
            recent: Vec::new(),
            queued: 0,
            watch: "inotify".to_owned(),
            children: Vec::new(),
            extra: Map::new(),
        };
        document::replace_json(&self.desk.dir.member(&name(who)).status(), &status, Sync::Fast).unwrap();
    }

    /// A text in a member's inbox.
    pub fn mail(&self, from: &str, to: &str, text: &str) -> MessageId {
        let body = Body::Text(Text { content: Some(text.to_owned()), ..Text::default() });
        let from = AgentId::new(name(from), self.desk.name.clone());
        let message = Message::new(clock::new_message_id(), from, name(to), &body);
        let dir = self.desk.dir.member(&name(to));
        mailbox::deliver(&dir, &message, Lane::Inbox, Durability::Fast, false).unwrap().id
    }
}

/// One more team in a home.
pub fn make(home: &Home, team: &str, members: &[Member]) -> Desk {
    let team = name(team);
    TeamDir::create_new::<StoreError>(home, &team, |dir| {
        for member in members {
            dir.member(&member.name).create()?;
        }
        roster::write_first(dir, &roster_of(&team, members))
    })
    .unwrap();
    Desk::open(home, &team).unwrap()
}

pub fn hold(dir: &TeamDir, who: &str, life: Life) -> Lease {
    let who = name(who);
    let path = if who.is_lead() { dir.lead_lease() } else { dir.member(&who).lease() };
    let me = process::me();
    let text = LeaseText {
        boot_id: process::boot_id(),
        pid: me.pid,
        start_time: me.start_time,
        life,
        command: "test".to_owned(),
    };
    Lease::take(&path, &text, std::time::Duration::ZERO).unwrap()
}

fn roster_of(team: &Name, members: &[Member]) -> Team {
    let life = clock::new_life();
    let mut lead = member("team-lead", EngineKind::Command);
    (lead.engine, lead.spec, lead.is_active, lead.life) = ("lead".to_owned(), None, false, Some(life));
    Team {
        v: 1,
        name: team.clone(),
        description: String::new(),
        lead_agent_id: AgentId::new(Name::lead(), team.clone()),
        lead_life: life,
        created_at: clock::now(),
        cwd: "/".to_owned(),
        tmux: TmuxPlace { session: format!("crewmux-{team}"), ..TmuxPlace::default() },
        members: std::iter::once(lead).chain(members.iter().cloned()).collect(),
        reserved: Vec::new(),
        launched: true,
        tied_to_maker: false,
        settings: Settings::default(),
        extra: Map::new(),
    }
}

/// A living member as the roster has it.
pub fn member(text: &str, engine: EngineKind) -> Member {
    let spec: MemberSpec = serde_json::from_value(serde_json::json!({"name": text, "cwd": "/"})).unwrap();
    let life = clock::new_life();
    Member {
        agent_id: AgentId::new(name(text), name("t")),
        name: name(text),
        agent_type: "general-purpose".to_owned(),
        engine: engine.as_str().to_owned(),
        color: "cyan".to_owned(),
        model: None,
        joined_at: clock::now(),
        is_active: true,
        plan_mode_required: false,
        cwd: "/".to_owned(),
        worktree: None,
        sandbox: "off".to_owned(),
        pane_id: None,
        pid: None,
        start_time: None,
        life: Some(life),
        restarts: 0,
        exit: None,
        spawn_id: SpawnId::derived(&[text]),
        plan_id: None,
        spec: Some(MemberSpec { engine, ..spec }),
        extra: Map::new(),
    }
}

pub fn task(id: u64, status: TaskStatus) -> Task {
    let (subject, now) = (format!("task {id}"), clock::now());
    serde_json::from_value(serde_json::json!({
        "id": TaskId(id), "subject": subject, "status": status, "created_at": now, "updated_at": now,
    }))
    .unwrap()
}

/// The same, in progress with a member.
pub fn held(id: u64, by: &Member) -> Task {
    let claim = Claim { member: by.name.clone(), life: by.life.unwrap(), since: clock::now() };
    Task { owner: Some(by.name.clone()), claim: Some(claim), ..task(id, TaskStatus::InProgress) }
}
