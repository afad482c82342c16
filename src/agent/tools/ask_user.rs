//! AskUser: a question to the person, with answers to choose from.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{BoxFuture, Choice, Context, Kind, Outcome, Possible, Tool, parse, schema};
use crate::agent::wire::ToolSpec;

pub struct AskUser;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Answer {
    /// One to five words.
    label: String,
    /// What follows if it is chosen.
    #[serde(default)]
    description: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// One question, whole and to the point.
    question: String,
    /// Two to four answers; the person may always say something else. None where any text is an answer.
    #[serde(default)]
    options: Vec<Answer>,
    /// Several may be chosen.
    #[serde(default)]
    multi_select: bool,
}

/// More than that nobody chooses from.
const MOST_OPTIONS: usize = 8;

const TEXT: &str = "Asks the person one question and waits for the answer. For what only the person can decide: not for permissions, which are \
asked by themselves, and not for what you can find out.";

impl Tool for AskUser {
    fn name(&self) -> &str {
        "AskUser"
    }

    fn spec(&self, _possible: &Possible) -> ToolSpec {
        ToolSpec::new(self.name(), TEXT, schema::<Input>())
    }

    fn is_listed(&self, possible: &Possible) -> bool {
        possible.main && possible.person
    }

    fn kind(&self) -> Kind {
        Kind::Think
    }

    fn call<'a>(&'a self, input: Value, cx: &'a Context) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            let input: Input = match parse("AskUser", input) {
                Ok(input) => input,
                Err(refused) => return refused,
            };
            if input.options.len() > MOST_OPTIONS || input.question.trim().is_empty() {
                return Outcome::error(format!("Ask one question, with {MOST_OPTIONS} answers at most."));
            }
            if !cx.agent.is_main() || cx.background {
                return Outcome::error(
                    "Only the main agent asks the person. Decide by yourself and say what you assumed.",
                );
            }
            let options = input.options.into_iter().map(|option| (option.label, option.description)).collect();
            let choice = Choice { question: input.question, options, several: input.multi_select };
            tokio::select! {
                answer = cx.person.choose(&cx.agent, choice) => match answer {
                    Ok(chosen) => Outcome::text(format!("The person answered: {}", chosen.join("; "))),
                    Err(why) => Outcome::error(format!("There is no answer: {why}.")),
                },
                () = cx.cancel.cancelled() => Outcome::cancelled(),
            }
        })
    }
}
