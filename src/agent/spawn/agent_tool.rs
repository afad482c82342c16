//! Agent (also Task): the one entry for every child.

use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep_until};

use super::child::Plan;
use super::lifecycle::{End, Event};
use super::nursery::{New, One};
use super::seed::Seed;
use super::tree::ChildTree;
use super::{fork, run};
use crate::agent::definition::{FORK, Isolation, Model};
use crate::agent::filter::{AGENT, AGENT_ALIAS};
use crate::agent::identity::{self, Identity};
use crate::agent::notification::What;
use crate::agent::tools::{
    BoxFuture, Context, Kind, Outcome, Possible, Registered, Subject, Tool, ToolEvent, parse, schema,
};
use crate::agent::wire::{Block, ToolSpec, Turn};

/// A caller who waits is told how not to after this.
const HINT: Duration = Duration::from_secs(2);
/// How long an MCP server that a definition requires may take to start.
const SERVERS_WAIT: Duration = Duration::from_secs(30);
const MOST_NAME: usize = 64;

pub struct Agent(pub Arc<Seed>);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// What it is to do, in three to five words.
    description: String,
    /// The whole task.
    prompt: String,
    /// The type of agent.
    #[serde(default)]
    subagent_type: Option<String>,
    /// The model to run it on: `inherit`, `small`, `medium`, `large` or an exact id.
    #[serde(default)]
    model: Option<String>,
    /// Let it work while you do other things; you are told when it has ended.
    #[serde(default)]
    run_in_background: Option<bool>,
    /// A name by which SendMessage reaches it.
    #[serde(default)]
    name: Option<String>,
    /// `worktree` gives it a git work tree and branch of its own; unchanged, it is removed at the end.
    #[serde(default)]
    isolation: Option<Isolated>,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Isolated {
    Worktree,
}

impl Tool for Agent {
    fn name(&self) -> &str {
        AGENT
    }

    fn aliases(&self) -> &[&str] {
        &[AGENT_ALIAS]
    }

    fn spec(&self, possible: &Possible) -> ToolSpec {
        let seed = &self.0;
        let mut schema = schema::<Input>();
        if let Some(fields) = schema["properties"].as_object_mut() {
            let mut without = Vec::new();
            if !seed.chooses() {
                without.push("run_in_background");
            }
            if seed.coordinator {
                without.push("model");
            }
            if !possible.repository {
                without.push("isolation");
            }
            for name in without {
                fields.shift_remove(name);
            }
        }
        ToolSpec::new(self.name(), self.text(), schema)
    }

    fn kind(&self) -> Kind {
        Kind::Think
    }

    fn subject(&self, input: &Value, _cx: &Context) -> Subject {
        Subject::of(input["description"].as_str().unwrap_or_default())
    }

    fn call<'a>(&'a self, input: Value, cx: &'a Context) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            let input: Input = match parse(AGENT, input) {
                Ok(input) => input,
                Err(refused) => return refused,
            };
            let Some(who) = identity::current() else { return Outcome::error("Agent is called by agents only.") };
            let (place, background) = match self.start(input, cx, &who).await {
                Ok(started) => started,
                Err(why) => return Outcome::error(format!("No agent was started: {why}.")),
            };
            if background { launched(&self.0, &place) } else { wait(&self.0, &place.id, cx).await }
        })
    }
}

impl Agent {
    /// What the tool is for, and each type with its tools and when to prefer it.
    fn text(&self) -> String {
        let seed = &self.0;
        let mut text = String::from(
            "Starts an agent that works by itself and answers with one last message, which you see and the person does not. Start \
             agents that do not depend on each other in one turn.",
        );
        text.push_str(if seed.forks() {
            " Without subagent_type it is a fork: it has this whole conversation and needs only what it is to do; its work stays out of your \
             context. With a type it begins with nothing but the prompt, which must say all it needs. All work in the background: you are \
             told when each has ended; do not wait for it, ask after it or guess what it will say."
        } else {
            " It begins with nothing but the prompt, which must say all it needs: paths, lines, what is known, what to report."
        });
        if !seed.forks() && seed.always_background() {
            text.push_str(" All work in the background: you are told when each has ended.");
        }
        text.push_str("\nTypes:");
        for definition in seed.library.usable() {
            text.push_str(&format!(
                "\n- {}: {}. Tools: {}.",
                definition.name,
                definition.description.trim_end_matches('.'),
                definition.tools_text()
            ));
        }
        text
    }

    async fn start(&self, input: Input, cx: &Context, who: &Identity) -> Result<(Registered, bool), String> {
        let seed = &self.0;
        if let Some(why) = fork::refused(who) {
            return Err(why.to_owned());
        }
        if input.prompt.trim().is_empty() {
            return Err("the prompt is empty".to_owned());
        }
        let name = match &input.name {
            Some(name) => Some(checked_name(seed, name).await?),
            None => None,
        };
        let definition = seed.definition(input.subagent_type.as_deref())?;
        let is_fork = definition.name == FORK;
        if seed.coordinator && input.model.is_some() {
            return Err("a coordinator does not choose the model of its workers; call it without `model`".to_owned());
        }
        let base = who.base.clone().filter(|_| is_fork);
        if is_fork && base.is_none() {
            return Err("there is nothing to fork".to_owned());
        }
        if is_fork && input.model.is_some() {
            return Err("a fork runs on your own model; call it without `model`, or with a subagent_type".to_owned());
        }
        let parents = who.base.as_ref().map(|base| base.head.model.clone());
        let model = match input.model.as_deref().map_or(definition.model.clone(), Model::parse) {
            Model::Inherit => parents.unwrap_or_else(|| seed.settings.model_id("inherit")),
            model => seed.settings.model_id(model.as_str()),
        };
        let isolated = input.isolation.is_some() || definition.isolation == Isolation::Worktree;
        seed.servers.require(&definition.required_mcp_servers, SERVERS_WAIT).await?;
        let background = seed.always_background()
            || (seed.settings.background && (definition.background || input.run_in_background == Some(true)));
        let new = New {
            what: What::Agent,
            owner: cx.agent.clone(),
            name: name.clone(),
            kind: definition.name.clone(),
            description: one_line(&input.description),
            tool_use_id: Some(cx.call.clone()),
            background,
        };
        let place = seed.nursery.register(new.clone(), None)?;
        let made = async {
            let tree = if isolated { Some(seed.make_tree(&place.id, cx).await?) } else { None };
            let plan = Plan {
                definition,
                description: new.description,
                name,
                model,
                background,
                depth: who.depth,
                worktree: tree.as_ref().map(ChildTree::place),
                git: tree.as_ref().map(|tree| tree.git().to_vec()).unwrap_or_default(),
                read_only: false,
            };
            let conversation = seed.conversation(&plan, &place, cx, base.as_deref())?;
            Ok::<_, String>((tree, conversation))
        };
        let (tree, conversation) = match made.await {
            Ok(made) => made,
            Err(why) => {
                seed.nursery.never_began(&place.id, &why);
                return Err(why);
            }
        };
        let said =
            tree.as_ref().map_or_else(|| input.prompt.clone(), |tree| tree.introduce(&input.prompt, &cx.here().cwd));
        let opening = match &base {
            Some(base) => fork::opening(base, &said),
            None => Turn::user(vec![Block::text(said)]),
        };
        run::start(&seed.nursery, conversation, vec![opening], place.clone(), seed.afterwards(tree));
        Ok((place, background))
    }
}

/// Names are said in calls and on screens; each means one agent.
async fn checked_name(seed: &Seed, name: &str) -> Result<String, String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let name = name.trim();
    if name.is_empty() || name.len() > MOST_NAME || !name.chars().all(plain) || name.starts_with(['-', '.']) {
        return Err(format!("{name:?} is no name: letters, digits, `-`, `_` and `.`, at most {MOST_NAME}"));
    }
    if crate::agent::AgentId::parse(name).is_some() {
        return Err(format!("`{name}` reads as an id; choose another name"));
    }
    if seed.members().await.iter().any(|member| member == name) {
        return Err(format!("`{name}` is a member of the team; choose another name"));
    }
    Ok(name.to_owned())
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(200).collect()
}

fn launched(seed: &Seed, place: &Registered) -> Outcome {
    let name = seed.nursery.get(&place.id).and_then(|one| one.new.name);
    Outcome::text(
        json!({
            "status": "async_launched",
            "agent_id": place.id,
            "name": name,
            "output_file": place.output_file,
        })
        .to_string(),
    )
}

/// Waits for a child in the foreground, until it ends or goes to the background.
async fn wait(seed: &Arc<Seed>, id: &str, cx: &Context) -> Outcome {
    let began = Instant::now();
    let (hint, timer) = (began + HINT, seed.timer().map(|after| began + after));
    let mut hinted = !seed.settings.background || !seed.attended;
    let settled = seed.nursery.until(|nursery| {
        let one = nursery.get(id)?;
        (one.life.state.ended() || one.life.background).then_some(one)
    });
    tokio::pin!(settled);
    let mut one: One = loop {
        tokio::select! {
            one = &mut settled => break one,
            () = cx.cancel.cancelled() => {
                // What its caller gives up ends; in the background it would have gone on.
                seed.nursery.step(id, Event::Kill);
                break settled.await;
            }
            () = sleep_until(hint), if !hinted => {
                hinted = true;
                let key = &seed.settings.background_key;
                cx.show(ToolEvent::Notice(format!("an agent works; {key} puts it in the background")));
            }
            () = async { sleep_until(timer.unwrap_or(began)).await }, if timer.is_some() => {
                seed.nursery.step(id, Event::ToBackground);
            }
        }
    };
    if !one.life.state.ended() {
        let place = Registered { id: id.to_owned(), output_file: one.output_file, stop: one.stop };
        let mut outcome = launched(seed, &place);
        outcome.content.push(crate::agent::wire::ResultPart::text(
            "It was put in the background and works on; you are told when it has ended.",
        ));
        return outcome;
    }
    seed.nursery.step(id, Event::Told);
    let failed = match one.end() {
        Some(End::Failed(why)) => Some(format!("The agent failed: {why}.")),
        Some(End::Killed) => Some("The agent was stopped before it was done.".to_owned()),
        _ => None,
    };
    match failed {
        Some(why) => {
            one.result = format!("{why}\n{}", one.result);
            Outcome::error(run::report(&one))
        }
        None => Outcome::text(run::report(&one)),
    }
}
