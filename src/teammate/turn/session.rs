//! Starting an agent: the program, its MCP servers, and the session that an earlier life left.

use std::time::Duration;

use agent_client_protocol::v1::schema::{EnvVariable, McpServer, McpServerStdio};
use serde::{Deserialize, Serialize};

use super::feed::Feed;
use super::state::Agent;
use crate::decide::teammate::Event;
use crate::model::agent::{AgentSpec, LoadWindow};
use crate::model::message::Body;
use crate::model::time::Timestamp;
use crate::os::clock;
use crate::os::log_file::RotatingLog;
use crate::os::spawn::Program;
use crate::store::document;
use crate::teammate::context::Context;
use crate::teammate::engine::acp::{Acp, Opened, Opening, Resume};
use crate::teammate::engine::{Engine, LOG_BYTES};
use crate::teammate::run::Process;
use crate::teammate::screen::Screen;
use crate::teammate::verbs;

/// How long an agent may take for a step of opening its session, where the team cannot be read.
const STEP: Duration = Duration::from_secs(25);

/// `session.json`: the session that the next life goes on with.
#[derive(Debug, Serialize, Deserialize)]
struct Record {
    session_id: String,
    /// The agent's program: another one would not know the session.
    program: String,
    cwd: String,
    /// When it was made or loaded last.
    began: Timestamp,
}

impl Process {
    pub(in crate::teammate) fn start_agent(&mut self) -> std::io::Result<()> {
        let screen = Screen::start()?;
        self.screen = Some(screen.clone());
        let log = RotatingLog::open(self.context.dir.output_log(), LOG_BYTES)?;
        let mut feed = Feed::new(screen, log, self.context.color.clone());
        let program = self.program(self.context.argv(), None)?;
        let agent = self.context.spec.agent.clone().unwrap_or_default();
        // A moment less than the lead waits, so that it is said what was waited for.
        let step = self.context.desk.team().map_or(STEP, |team| team.settings.limits.hello.0.mul_f32(0.9));
        let opening = Opening {
            step,
            cwd: self.context.cwd(),
            servers: servers(&agent, &program),
            resume: resume(&self.context, &agent),
            modes: agent.mode_ids(self.context.planning, self.context.plan_id.is_some()),
        };
        let name = agent.preset.as_ref().map_or_else(|| self.context.spec.command.join(" "), |p| p.title.clone());
        feed.note(&format!("{} is {name}", self.context.place.member));
        // A program of this member with nothing to run: what stands before that confines it.
        let mut template = self.program(vec!["true".into()], None)?;
        template.argv.pop();
        let serve = move |argv: Vec<String>| {
            let mut program = template.clone();
            program.argv.extend(argv.into_iter().map(Into::into));
            program
        };
        let acp = Acp::start(&program, opening, serve, self.told.clone())?;
        if let Err(error) = self.inbox.give_back_unread() {
            tracing::warn!("cannot give the last life's mail again: {error}");
        }
        self.engine = Engine::Acp(Box::new(Agent::new(acp, feed)));
        Ok(())
    }

    pub(super) fn opened(&mut self, opened: Opened) {
        let Engine::Acp(agent) = &mut self.engine else { return };
        agent.brief_due = !opened.loaded;
        agent.session_id = Some(opened.session_id.clone());
        let who = opened.agent.map_or_else(String::new, |a| format!(" with {a}"));
        let how = if opened.loaded { "goes on" } else { "begins" };
        agent.feed.note(&format!("session {} {how}{who}", opened.session_id));
        if let Some(mode) = &opened.mode {
            agent.feed.note(&format!("mode: {mode}"));
        }
        if let Some(why) = &opened.lost {
            agent.feed.bad(&format!("the earlier session is lost: {why}"));
        }
        let record = Record {
            session_id: opened.session_id,
            program: self.context.spec.command.first().cloned().unwrap_or_default(),
            cwd: self.context.cwd().to_string_lossy().into_owned(),
            began: clock::now(),
        };
        if let Err(error) = document::replace_json(&self.context.dir.session(), &record, document::Sync::Fast) {
            tracing::warn!("cannot keep the session's id: {error}");
        }
        if opened.lost.is_some() {
            let notice = "session_lost".to_owned();
            self.tell_lead(verbs::fresh_id(), Body::Notice { life: self.context.place.life, notice });
        }
        self.step(Event::EngineReady);
    }
}

/// The team's own MCP server and those of the spec. Agents start them with an environment of their own making, so each
/// is given who it is for.
fn servers(agent: &AgentSpec, program: &Program) -> Vec<McpServer> {
    let ours = program.env.iter().filter_map(|(name, value)| {
        let (name, value) = (name.to_str()?, value.to_str()?);
        name.starts_with("CREWMUX_").then(|| EnvVariable::new(name, value))
    });
    let exe = std::env::current_exe().unwrap_or_else(|_| "crewmux".into());
    let own = McpServerStdio::new("crewmux", exe).args(vec!["mcp".to_owned()]).env(ours.collect::<Vec<_>>());
    let others = agent.mcp.iter().filter_map(|server| {
        let (command, args) = server.command.split_first()?;
        let env = server.env.iter().map(|(name, value)| EnvVariable::new(name, value)).collect::<Vec<_>>();
        Some(McpServerStdio::new(server.name.clone(), command).args(args.to_vec()).env(env))
    });
    std::iter::once(own).chain(others).map(McpServer::Stdio).collect()
}

fn resume(context: &Context, agent: &AgentSpec) -> Option<Resume> {
    let window = agent.load.or(agent.preset.as_ref().and_then(|p| p.quirks.load)).unwrap_or(LoadWindow::Now);
    if window == LoadWindow::Never {
        return None;
    }
    let record: Record = document::read_json(&context.dir.session()).ok()??;
    let same = context.spec.command.first() == Some(&record.program) && context.cwd().to_str() == Some(&record.cwd);
    let wait = match window {
        LoadWindow::NextMinute => left_of_minute(record.began, clock::now()),
        _ => Duration::ZERO,
    };
    same.then_some(Resume { session_id: record.session_id, wait })
}

/// How long the clock minute of `began` still lasts.
fn left_of_minute(began: Timestamp, now: Timestamp) -> Duration {
    let minute = began.start_of_minute().plus(Duration::from_secs(60));
    // A moment more, for clocks that are read one after the other.
    if now < minute { minute.since(now) + Duration::from_millis(100) } else { Duration::ZERO }
}
