//! A child's conversation, from its definition and its caller's context: what is copied, shared, hidden and new.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use super::fork;
use super::kept::{Kept, VERSION};
use super::lifecycle::State;
use super::nursery::Nursery;
use super::run::Watch;
use super::seed::Seed;
use crate::agent::AgentId;
use crate::agent::definition::{Definition, FORK, Writes};
use crate::agent::filter;
use crate::agent::identity::ForkBase;
use crate::agent::permission::{Asker, Mode, Question, Reply};
use crate::agent::prompt;
use crate::agent::query::{Conversation, LateTools, Parts};
use crate::agent::tools::{BoxFuture, Context, Here, NoPerson, Possible, Quiet, Registered, Sandboxed, locked};
use crate::agent::transcript::Transcript;
use crate::agent::wire::{Head, Thinking, Turn};
use crate::os::clock;

/// What one child is to be.
pub(super) struct Plan {
    pub definition: Definition,
    pub description: String,
    pub name: Option<String>,
    /// The exact id.
    pub model: String,
    pub background: bool,
    pub depth: u32,
    /// Where it works, if not where its caller does.
    pub worktree: Option<(PathBuf, String)>,
    /// What a commit there writes elsewhere.
    pub git: Vec<PathBuf>,
    /// It was read-only before, and stays so.
    pub read_only: bool,
}

impl Plan {
    pub fn is_fork(&self) -> bool {
        self.definition.name == FORK
    }
}

impl Seed {
    /// A new child's conversation, and what is kept of it. A fork has a `base` to go on from.
    pub(super) fn conversation(
        self: &Arc<Self>,
        plan: &Plan,
        place: &Registered,
        caller: &Context,
        base: Option<&ForkBase>,
    ) -> Result<Conversation, String> {
        let parts = self.parts(plan, place, caller)?;
        self.nest.keep(&Kept {
            v: VERSION,
            id: parts.agent.clone(),
            definition: plan.definition.name.clone(),
            description: plan.description.clone(),
            name: plan.name.clone(),
            parent: caller.agent.clone(),
            model: plan.model.clone(),
            mode: parts.cx.mode(),
            tools: parts.registry.names(),
            cwd: parts.cx.here().cwd,
            created_at: clock::now(),
            worktree: plan.worktree.clone(),
            git: plan.git.clone(),
        })?;
        let Some(base) = base else { return Ok(Conversation::new(parts)) };
        // Resumed, it needs the conversation that it went on from.
        let transcript = Transcript::at(self.nest.transcript(&parts.agent));
        transcript.compacted(&base.turns).map_err(|e| e.to_string())?;
        Ok(Conversation::forked(parts, base))
    }

    /// The conversation of one that goes on from its transcript. `head` is its caller's, which a fork shares.
    pub(super) fn again(
        self: &Arc<Self>,
        plan: &Plan,
        place: &Registered,
        caller: &Context,
        turns: Vec<Turn>,
        head: Option<&Head>,
    ) -> Result<Conversation, String> {
        let mut parts = self.parts(plan, place, caller)?;
        if let Some(head) = head.filter(|_| plan.is_fork()) {
            parts.head.system.clone_from(&head.system);
        }
        Ok(Conversation::resumed(parts, turns))
    }

    fn parts(self: &Arc<Self>, plan: &Plan, place: &Registered, caller: &Context) -> Result<Parts, String> {
        let id = AgentId::parse(&place.id).ok_or("a child has an id of its own")?;
        let cx = self.context(plan, &id, caller)?;
        let cwd = cx.here().cwd;
        let role = if plan.is_fork() { self.role() } else { plan.definition.role(plan.background) };
        let mut registry = if plan.is_fork() { self.registry() } else { self.tools.clone() };
        registry.retain(|tool| filter::gets(&role, tool.name()));
        let thinking = Some(self.settings.thinking_tokens).filter(|n| *n > 0);
        let head = Head {
            model: plan.model.clone(),
            max_tokens: self.settings.max_tokens,
            thinking: thinking.map(|budget_tokens| Thinking { budget_tokens }),
            temperature: self.settings.temperature,
            system: vec![prompt::child(&plan.definition.prompt, &cwd)],
            tools: Vec::new(),
        };
        let possible = Possible {
            background: plan.background,
            background_shells: true,
            repository: cwd.ancestors().any(|dir| dir.join(".git").exists()),
            ..Possible::default()
        };
        Ok(Parts {
            source: plan.definition.name.clone(),
            depth: plan.depth + 1,
            head,
            registry,
            possible,
            watcher: Arc::new(Watch::new(place, caller, &self.nursery)),
            cx,
            shared: self.shared.clone(),
            inbox: Arc::clone(&self.nursery) as _,
            facts: Arc::new(String::new),
            late: (!plan.is_fork()).then(|| self.late(&plan.definition, plan.background)),
            transcript: Some(Transcript::at(self.nest.transcript(&id))),
            max_turns: Some(plan.definition.max_turns),
            agent: id,
        })
    }

    /// Copied: what files were read. Shared: rules, the registry of tasks, who is asked. Hidden: the screen and the person. New: id, list of
    /// things to do, where it stands from now on.
    fn context(self: &Arc<Self>, plan: &Plan, id: &AgentId, caller: &Context) -> Result<Context, String> {
        let from = caller.here();
        let mode = if plan.read_only { Mode::ReadOnly } else { plan.definition.mode_under(from.mode) };
        let mut here = Here { mode, left: None, ..from };
        if let Some((path, _)) = &plan.worktree {
            here.cwd.clone_from(path);
        }
        let mut confine = Arc::clone(&caller.confine);
        if plan.definition.writes == Writes::OwnTmp {
            let tmp = self.nest.0.join(format!("{id}.tmp"));
            std::fs::create_dir_all(&tmp).map_err(|e| format!("cannot make {}: {e}", tmp.display()))?;
            confine = Arc::new(Sandboxed { tmp: Some(tmp), network: self.settings.network, ..Sandboxed::default() });
        } else if plan.worktree.is_some() && !mode.is_read_only() {
            let (tmp, network, always) =
                (confine.tmp().map(Path::to_path_buf), self.settings.network, plan.git.clone());
            confine = Arc::new(Sandboxed { tmp, network, always, ..Sandboxed::default() });
        }
        let refused = if plan.is_fork() { fork::refusals(&self.registry()) } else { BTreeMap::new() };
        Ok(Context {
            agent: id.clone(),
            call: String::new(),
            background: plan.background,
            here: Arc::new(Mutex::new(here)),
            files: Arc::new(Mutex::new(locked(&caller.files).clone())),
            todos: Arc::default(),
            refused: Arc::new(refused),
            asker: Arc::new(Bubbling {
                id: id.to_string(),
                mode,
                nursery: Arc::clone(&self.nursery),
                above: Arc::clone(&caller.asker),
            }),
            person: Arc::new(NoPerson),
            tasks: Arc::clone(&self.nursery) as _,
            sink: Arc::new(Quiet),
            confine,
            ..caller.clone()
        })
    }

    /// Tools of servers that start or end meanwhile.
    fn late(&self, definition: &Definition, background: bool) -> LateTools {
        let (servers, definition) = (Arc::clone(&self.servers), definition.clone());
        Arc::new(move || {
            let role = definition.role(background);
            let mut tools = servers.tools();
            tools.retain(|tool| filter::gets(&role, tool.name()));
            tools
        })
    }
}

/// Asks whoever its caller asks. A child that was put in the background asks no more, unless its mode says so.
struct Bubbling {
    id: String,
    mode: Mode,
    nursery: Arc<Nursery>,
    above: Arc<dyn Asker>,
}

impl Asker for Bubbling {
    fn is_attended(&self) -> bool {
        self.above.is_attended()
    }

    fn ask(&self, question: Question) -> BoxFuture<'_, Reply> {
        let one = self.nursery.get(&self.id);
        let hidden = one.is_none_or(|one| one.life.background || one.life.state != State::Running);
        if hidden && self.mode != Mode::Bubble {
            let reason = format!("{}, and an agent in the background cannot ask", question.reason);
            return Box::pin(async { Reply::Deny(reason) });
        }
        self.above.ask(question)
    }
}
