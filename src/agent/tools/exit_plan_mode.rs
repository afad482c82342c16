//! ExitPlanMode: the plan is laid before whoever decides; agreed upon, the work begins.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::context::{Context, locked};
use super::services::{Planner, ToolEvent};
use super::{BoxFuture, Kind, Outcome, Possible, Tool, parse, schema};
use crate::agent::permission::Mode;
use crate::agent::wire::ToolSpec;
use std::sync::Arc;

/// In a team the lead decides, by `planner`; outside one the person does.
#[derive(Default)]
pub struct ExitPlanMode {
    pub planner: Option<Arc<dyn Planner>>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The whole plan, in Markdown: what is wrong or wanted, which files change and how, how it is verified.
    plan: String,
}

/// As the team's ledger takes them.
const MOST_BYTES: usize = 256 << 10;

const TEXT: &str = "Hands in your plan and waits for the decision. Call it when the plan is whole, and only for work that changes something. If \
it is rejected, you are told what is to be different: plan anew and call it again.";

impl Tool for ExitPlanMode {
    fn name(&self) -> &str {
        "ExitPlanMode"
    }

    fn spec(&self, _possible: &Possible) -> ToolSpec {
        ToolSpec::new(self.name(), TEXT, schema::<Input>())
    }

    fn is_listed(&self, possible: &Possible) -> bool {
        possible.main && possible.planning
    }

    fn kind(&self) -> Kind {
        Kind::Think
    }

    fn call<'a>(&'a self, input: Value, cx: &'a Context) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            let Input { plan } = match parse("ExitPlanMode", input) {
                Ok(input) => input,
                Err(refused) => return refused,
            };
            if cx.mode() != Mode::Plan {
                return Outcome::error("You are not in plan mode: go on with the work.");
            }
            if plan.trim().is_empty() || plan.len() > MOST_BYTES {
                return Outcome::error(format!(
                    "A plan has some text, and {MOST_BYTES} bytes at most. Nothing was handed in."
                ));
            }
            let judge = async {
                match &self.planner {
                    Some(planner) => planner.submit(&plan).await,
                    None => cx.person.judge_plan(&cx.agent, &plan).await.map(Some),
                }
            };
            let decided = tokio::select! {
                decided = judge => decided,
                () = cx.cancel.cancelled() => return Outcome::cancelled(),
            };
            match decided {
                // Nobody is made to plan again by an answer to a plan.
                Ok(Some(mode)) => {
                    let mode = if mode.is_read_only() { Mode::Default } else { mode };
                    locked(&cx.here).mode = mode;
                    cx.show(ToolEvent::Mode(mode));
                    Outcome::text("The plan is agreed upon. Plan mode is over: do it now.")
                }
                // This process cannot write, and is ended any moment.
                Ok(None) => Outcome {
                    ends_turn: true,
                    ..Outcome::text(
                        "The plan is agreed upon. You are started anew to carry it out; nothing is left to do here.",
                    )
                },
                Err(why) => Outcome::error(format!("The plan was not agreed upon: {why}. You are still in plan mode.")),
            }
        })
    }
}
