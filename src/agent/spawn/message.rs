//! SendMessage: words for a child of one's own, running or ended, or for a member of the team.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::child::Plan;
use super::kept::Kept;
use super::nursery::New;
use super::run;
use super::seed::Seed;
use crate::act;
use crate::act::Verb;
use crate::agent::filter::SEND_MESSAGE;
use crate::agent::identity;
use crate::agent::notification::What;
use crate::agent::tools::{BoxFuture, Context, Kind, Outcome, Possible, Subject, Tool, parse, schema};
use crate::agent::transcript::Transcript;
use crate::agent::wire::{Block, ToolSpec, Turn};

/// Addresses of other programs' sessions, which are known and lead nowhere here.
const ELSEWHERE: [&str; 2] = ["uds:", "bridge:"];

pub struct SendMessage(pub Arc<Seed>);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// Whom it is for.
    to: String,
    message: String,
    /// What it is about, in five to ten words.
    #[serde(default)]
    summary: Option<String>,
}

impl Tool for SendMessage {
    fn name(&self) -> &str {
        SEND_MESSAGE
    }

    fn spec(&self, possible: &Possible) -> ToolSpec {
        let mut text = "Sends a message to an agent that you started, by its name or id: one that works reads it between two calls, one that has ended \
             goes on with it in the background, with all that it knew."
            .to_owned();
        if possible.team {
            text.push_str(
                " Also to a member of your team by name, to `*` for all of them, to `lead` or `operator`, or to name@team. Your last words of a turn \
                 are reported to the lead anyway.",
            );
        }
        ToolSpec::new(self.name(), text, schema::<Input>())
    }

    fn kind(&self) -> Kind {
        Kind::Think
    }

    fn subject(&self, input: &Value, _cx: &Context) -> Subject {
        Subject::of(input["to"].as_str().unwrap_or_default())
    }

    fn call<'a>(&'a self, input: Value, cx: &'a Context) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            let input: Input = match parse(SEND_MESSAGE, input) {
                Ok(input) => input,
                Err(refused) => return refused,
            };
            self.send(input, cx).await.unwrap_or_else(|refused| refused)
        })
    }
}

impl SendMessage {
    async fn send(&self, input: Input, cx: &Context) -> Result<Outcome, Outcome> {
        let seed = &self.0;
        let to = input.to.trim().to_owned();
        if input.message.trim().is_empty() {
            return Err(Outcome::error("The message is empty. Nothing was sent."));
        }
        if let Some(prefix) = ELSEWHERE.iter().find(|prefix| to.starts_with(**prefix)) {
            return Err(Outcome::error(format!(
                "`{prefix}` addresses belong to other programs' sessions and reach nobody here. Nothing was sent. Name an agent that you \
                 started, or a member of the team."
            )));
        }
        let child = seed.nursery.find(&to).filter(|one| one.new.what == What::Agent);
        if let Some(one) = &child {
            let fitted = if one.id == to { "agent id" } else { "agent name" };
            if seed.nursery.message(&one.id, vec![Block::text(&input.message)]) {
                return Ok(said("queued", fitted, &one.id, None));
            }
        }
        let kept = seed.nest.find(child.as_ref().map_or(&to, |one| &one.id)).map_err(|why| {
            Outcome::error(format!("The agent cannot be gone on with: {why}. Nothing was sent; start a new one."))
        })?;
        if let Some(kept) = kept {
            let fitted = if kept.id.as_str() == to { "agent id" } else { "agent name" };
            let output = self.resume(&kept, &input.message, cx).map_err(|why| {
                Outcome::error(format!("The agent {} cannot be gone on with: {why}. Nothing was sent.", kept.id))
            })?;
            return Ok(said("resumed", fitted, kept.id.as_str(), Some(output)));
        }
        self.to_member(&to, input).await
    }

    async fn to_member(&self, to: &str, input: Input) -> Result<Outcome, Outcome> {
        let seed = &self.0;
        let Some(seat) = &seed.seat else {
            let there: Vec<String> = seed
                .nursery
                .all()
                .into_iter()
                .filter(|one| one.new.what == What::Agent)
                .map(|one| one.new.name.unwrap_or(one.id))
                .collect();
            let there = if there.is_empty() {
                "you have started none".to_owned()
            } else {
                format!("there are {}", there.join(", "))
            };
            return Err(Outcome::error(format!("There is no agent {to:?}: {there}. Nothing was sent.")));
        };
        let send = act::Send { to: to.to_owned(), text: input.message, summary: input.summary, ..act::Send::default() };
        let answer = seat.perform(Verb::Send(send)).await?;
        Ok(Outcome::text(json!({ "status": "sent", "fitted": "member", "to": to, "answer": answer }).to_string()))
    }

    /// Takes an ended child up again from its transcript, in the background.
    fn resume(&self, kept: &Kept, message: &str, cx: &Context) -> Result<String, String> {
        let seed = &self.0;
        let definition = seed.definition_again(&kept.definition)?;
        let turns = Transcript::recall(&seed.nest.transcript(&kept.id)).map_err(|e| e.to_string())?.turns;
        if turns.is_empty() {
            return Err("its transcript holds nothing".to_owned());
        }
        if let Some((path, _)) = kept.worktree.as_ref().filter(|(path, _)| !path.is_dir()) {
            return Err(format!("its work tree {} is gone", path.display()));
        }
        let new = New {
            what: What::Agent,
            owner: cx.agent.clone(),
            name: kept.name.clone(),
            kind: kept.definition.clone(),
            description: kept.description.clone(),
            tool_use_id: Some(cx.call.clone()),
            background: true,
        };
        let place = seed.nursery.register(new, Some(&kept.id))?;
        let plan = Plan {
            definition,
            description: kept.description.clone(),
            name: kept.name.clone(),
            model: kept.model.clone(),
            background: true,
            depth: 0,
            worktree: kept.worktree.clone(),
            git: kept.git.clone(),
            read_only: kept.mode.is_read_only(),
        };
        let base = identity::current().and_then(|who| who.base.clone());
        let head = base.as_ref().map(|base| &base.head);
        let conversation = match seed.again(&plan, &place, cx, turns, head) {
            Ok(conversation) => conversation,
            Err(why) => {
                seed.nursery.never_began(&place.id, &why);
                return Err(why);
            }
        };
        let output = place.output_file.display().to_string();
        let inputs = vec![Turn::user(vec![Block::text(message)])];
        run::start(&seed.nursery, conversation, inputs, place, seed.afterwards(seed.tree_again(kept)));
        Ok(output)
    }
}

fn said(status: &str, fitted: &str, id: &str, output_file: Option<String>) -> Outcome {
    let mut answer = json!({ "status": status, "fitted": fitted, "agent_id": id });
    if let Some(file) = output_file {
        answer["output_file"] = file.into();
    }
    Outcome::text(answer.to_string())
}
