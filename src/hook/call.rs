//! What a hook is run with.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::model::hook::HookKind;
use crate::model::name::{AgentId, Name};
use crate::model::team::{Member, Team};
use crate::os::clock;
use crate::os::own::path_with_own_folder;
use crate::os::tree::Tree;
use crate::sandbox::{Mode, Policy};
use crate::store::{Home, TeamDir, launcher_env, reach};

/// Marks what the hooks of a lead start with that lead's life: one that was killed leaves it to whoever comes next.
const OF_VARIABLE: &str = "CREWMUX_HOOK_OF";

/// Whom it is about.
#[derive(Clone, Copy, Debug)]
pub enum About<'a> {
    Member(&'a Member),
    /// A person at a shell.
    Operator,
}

/// One run of a hook.
#[derive(Clone, Debug)]
pub struct Call {
    pub kind: HookKind,
    pub(super) argv: Vec<OsString>,
    pub(super) cwd: PathBuf,
    pub(super) env: Vec<(OsString, OsString)>,
    pub(super) input: Value,
    pub(super) limit: Duration,
    pub(super) policy: Policy,
    /// Where its folder of temporary files is made, if it is confined.
    pub(super) tmp_in: PathBuf,
}

/// What is left of the hooks of a lead that is gone, to be ended. `None` where the team has none. Those of a teammate end
/// with its life.
#[must_use]
pub fn left_of(team: &Team) -> Option<Tree> {
    let any = team.settings.hooks.run.keys().any(|kind| kind.is_the_leads());
    any.then(|| Tree::marked(OF_VARIABLE, team.lead_life))
}

/// The team's hook of this kind, ready to run; `None` where it has none. `facts` are what it is told besides who it is about.
#[must_use]
pub fn call(home: &Home, team: &Team, kind: HookKind, about: About<'_>, facts: Map<String, Value>) -> Option<Call> {
    let argv = team.settings.hooks.run.get(&kind)?;
    let name = match about {
        About::Member(member) => member.name.clone(),
        About::Operator => Name::operator(),
    };
    let mut input = json!({"hook": kind, "ts": clock::now(), "team": team.name, "member": name});
    if let (About::Member(Member { life: Some(life), .. }), Some(map)) = (about, input.as_object_mut()) {
        map.insert("life".to_owned(), json!(life));
    }
    if let Some(map) = input.as_object_mut() {
        map.extend(facts);
    }
    Some(Call {
        kind,
        argv: argv.iter().map(OsString::from).collect(),
        cwd: PathBuf::from(&team.cwd),
        env: env(home, team, kind, about),
        input,
        limit: team.settings.hooks.timeout.0,
        policy: policy(home, team, kind, about),
        tmp_in: home.team(&team.name).member(&Name::lead()).tmp(),
    })
}

/// As the member is confined that it is about, since it may well run what that member wrote; only that its plan need not be
/// approved. Where the spec names a mode, in that one.
fn policy(home: &Home, team: &Team, kind: HookKind, about: About<'_>) -> Policy {
    let (dir, hooks) = (home.team(&team.name), &team.settings.hooks);
    let member = match about {
        About::Member(member) => member.spec.as_ref().map(|spec| (spec, member.worktree.as_ref())),
        About::Operator => None,
    };
    if let Some((spec, _)) = member
        && let Err(error) = dir.member(&spec.name).make_own_words()
    {
        tracing::warn!("a hook cannot use verbs: {error}");
    }
    let mut policy = match member {
        // The tree of one that has ended is being looked at, and removed if nothing was changed in it.
        Some((spec, Some(_))) if kind == HookKind::MemberExited => {
            let mode = hooks.sandbox.unwrap_or(spec.sandbox);
            let mut policy = Policy { mode, ..reach::of_member(&dir, spec, None, Mode::ReadOnly) };
            policy.writable.extend((mode == Mode::WorkspaceWrite).then(|| dir.scratch()));
            policy
        }
        Some((spec, tree)) => reach::of_member(&dir, spec, tree, hooks.sandbox.unwrap_or(spec.sandbox)),
        None => of_team(&dir, team),
    };
    policy.writable.extend(hooks.state_dirs.iter().map(PathBuf::from));
    policy.writable.retain(|path| path.exists());
    policy
}

/// For a hook that is about nobody of the team.
fn of_team(dir: &TeamDir, team: &Team) -> Policy {
    let mode = team.settings.hooks.sandbox.unwrap_or_default();
    let workspace =
        if mode == Mode::WorkspaceWrite { vec![dir.scratch(), PathBuf::from(&team.cwd)] } else { Vec::new() };
    Policy { mode, writable: workspace, network: true, ..Policy::default() }
}

/// The launcher's environment, and the identity that the member's own programs have.
fn env(home: &Home, team: &Team, kind: HookKind, about: About<'_>) -> Vec<(OsString, OsString)> {
    let dir = home.team(&team.name);
    let stored = launcher_env(&dir.member(&Name::lead()).env()).unwrap_or_default();
    let mut env: BTreeMap<OsString, OsString> = stored.into_iter().collect();
    let path = path_with_own_folder(env.get(&OsString::from("PATH")).map(OsString::as_os_str));
    let mut set = |name: &str, value: OsString| env.insert(name.into(), value);
    set("PATH", path);
    set("CREWMUX_HOME", home.root().into());
    set("CREWMUX_SCRATCH", dir.scratch().into());
    set("CREWMUX_TEAM", team.name.as_str().into());
    set("CREWMUX_LEAD_LIFE", team.lead_life.to_string().into());
    set("CREWMUX_HOOK", kind.as_str().into());
    if kind.is_the_leads() {
        set(OF_VARIABLE, team.lead_life.to_string().into());
    }
    match about {
        About::Operator => {
            set("CREWMUX_MEMBER", Name::operator().as_str().into());
            set("CREWMUX_AGENT_ID", AgentId::new(Name::operator(), team.name.clone()).to_string().into());
            set("CREWMUX_ROLE", "operator".into());
        }
        About::Member(member) => {
            set("CREWMUX_MEMBER", member.name.as_str().into());
            set("CREWMUX_AGENT_ID", member.agent_id.to_string().into());
            set("CREWMUX_ROLE", if team.is_led_by(&member.name) { "lead" } else { "teammate" }.into());
            set("CREWMUX_COLOR", member.color.as_str().into());
            // A mark too: what has it is ended with that life, and the lead's hooks outlive it.
            if let Some(life) = member.life.as_ref().filter(|_| !kind.is_the_leads()) {
                set("CREWMUX_LIFE", life.to_string().into());
            }
            if let Some(tree) = &member.worktree {
                set("CREWMUX_WORKTREE", tree.path.as_str().into());
                set("CREWMUX_BRANCH", tree.branch.as_str().into());
            }
        }
    }
    env.into_iter().collect()
}
