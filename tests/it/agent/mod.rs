//! Our own agent, as the program that it is: against a server of models that does what the test says.

mod acp;
mod children;
mod hostile;
mod member;
mod once;
mod prompt;

use std::process::{Command, Stdio};

use crate::model_server::ModelServer;
use crate::support::{Crew, Ran};

/// `crewmux agent …` that asks this server.
fn agent(crew: &Crew, server: &ModelServer, args: &[&str]) -> Command {
    let mut command = crew.command(&["agent"]);
    command.args(args).env("ANTHROPIC_BASE_URL", &server.url).env("ANTHROPIC_API_KEY", "sk-of-a-test");
    command
}

/// Runs it to its end.
fn run(crew: &Crew, server: &ModelServer, args: &[&str]) -> Ran {
    let ran = agent(crew, server, args).stdin(Stdio::null()).output().expect("the program starts");
    Ran::from(ran)
}

/// [`run`] with `-p` and `--json`, and without an error.
fn answer(crew: &Crew, server: &ModelServer, prompt: &str, more: &[&str]) -> serde_json::Value {
    let mut args = vec!["-p", prompt, "--json"];
    args.extend(more);
    let ran = run(crew, server, &args);
    assert_eq!(ran.code, 0, "{ran:#?}");
    serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {ran:#?}"))
}
