//! Bash: a command, in the foreground or in the background.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::shell::{Ended, Output, Shell};
use super::{
    BoxFuture, Context, Kind, Outcome, Possible, ShellEnd, ShellTask, Subject, Tool, ToolEvent, parse, schema,
};
use crate::agent::wire::ToolSpec;
use crate::os::log_file::RotatingLog;

pub struct Bash;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The command line.
    command: String,
    /// What it does, in five to ten words.
    #[serde(default)]
    description: Option<String>,
    /// How long it may take, in milliseconds.
    #[serde(default)]
    timeout: Option<u64>,
    /// Let it go on while you do other things.
    #[serde(default)]
    run_in_background: bool,
}

/// Bytes that a background command's output file takes; the part before lies beside it.
const BACKGROUND_BYTES: u64 = 16 << 20;

const TEXT: &str = "Runs a command line by bash in the working folder and shows what it prints. Each call starts anew: folder and \
variables of an earlier one are gone, so join what belongs together by `&&`. There is no terminal and no input. What a command leaves \
running is ended with it. Use Read, Edit, Write, Glob and Grep for files rather than cat, sed, find and grep.";
const BACKGROUND: &str = " With run_in_background the call returns at once, names the file that the output goes to, and you are told when \
it has ended: for servers, and for what takes minutes.";

impl Tool for Bash {
    fn name(&self) -> &str {
        "Bash"
    }

    fn spec(&self, possible: &Possible) -> ToolSpec {
        let mut schema = schema::<Input>();
        let mut text = TEXT.to_owned();
        if possible.background_shells {
            text.push_str(BACKGROUND);
        } else if let Some(fields) = schema["properties"].as_object_mut() {
            fields.shift_remove("run_in_background");
        }
        ToolSpec::new(self.name(), text, schema)
    }

    fn kind(&self) -> Kind {
        Kind::Execute
    }

    fn subject(&self, input: &Value, _cx: &Context) -> Subject {
        Subject::of(input["command"].as_str().unwrap_or_default())
    }

    fn call<'a>(&'a self, input: Value, cx: &'a Context) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            let input: Input = match parse("Bash", input) {
                Ok(input) => input,
                Err(refused) => return refused,
            };
            if input.command.trim().is_empty() || input.command.contains('\0') {
                return Outcome::error("The command is empty or has a NUL byte. Nothing was run.");
            }
            if input.run_in_background { background(input, cx) } else { foreground(&input, cx).await }
        })
    }
}

async fn foreground(input: &Input, cx: &Context) -> Outcome {
    let limit = input.timeout.map_or(cx.limits.shell, Duration::from_millis).min(cx.limits.shell_most);
    let shell = match Shell::start(&input.command, cx) {
        Ok(shell) => shell,
        Err(why) => return Outcome::error(format!("The command was not started: {why}.")),
    };
    let mut output = Output::new(cx.limits.output_bytes, cx.output_file());
    let (ended, others, left) = shell
        .follow(Some(limit), cx.cancel.cancelled(), |chunk| {
            output.take(chunk);
            cx.show(ToolEvent::Output(String::from_utf8_lossy(chunk).into_owned()));
        })
        .await;
    let (failed, says) = match ended {
        Ended::Exited(status) if status.success() => (false, String::new()),
        Ended::Exited(status) => (true, format!("[{}]", ended_how(status))),
        Ended::TimedOut => {
            (true, format!("[It was ended after {limit:?}. Give it a longer timeout, or run it in the background.]"))
        }
        Ended::Cancelled => (true, "[It was cancelled and ended.]".to_owned()),
    };
    let mut notes = vec![output.text(), says];
    if others > 0 && !failed {
        notes.push(format!("[{others} processes that it left running were ended; a server needs run_in_background.]"));
    }
    if !left.is_empty() {
        let pids: Vec<String> = left.iter().map(|id| id.pid.to_string()).collect();
        notes.push(format!("[These processes could not be ended: {}]", pids.join(", ")));
    }
    let mut text: Vec<&str> = notes.iter().map(|note| note.trim_end()).filter(|note| !note.is_empty()).collect();
    if text.is_empty() {
        text.push("[It printed nothing.]");
    }
    Outcome { is_error: failed, ..Outcome::text(text.join("\n")) }
}

fn ended_how(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("ended by signal {signal}"),
        (None, None) => "ended".to_owned(),
    }
}

fn background(input: Input, cx: &Context) -> Outcome {
    let task =
        ShellTask { owner: cx.agent.clone(), command: input.command.clone(), description: input.description.clone() };
    let place = match cx.tasks.register_shell(task) {
        Ok(place) => place,
        Err(why) => return Outcome::error(format!("The command was not started: {why}.")),
    };
    let fail = |why: String| {
        cx.tasks.shell_ended(&place.id, ShellEnd::Failed(why.clone()));
        Outcome::error(format!("The command was not started: {why}."))
    };
    let mut log = match RotatingLog::open(&place.output_file, BACKGROUND_BYTES) {
        Ok(log) => log,
        Err(error) => return fail(error.to_string()),
    };
    let shell = match Shell::start(&input.command, cx) {
        Ok(shell) => shell,
        Err(why) => return fail(why),
    };
    let (tasks, id, stop) = (cx.tasks.clone(), place.id.clone(), place.stop.clone());
    tokio::spawn(async move {
        let (ended, _, _) = shell.follow(None, stop.cancelled(), |chunk| log.write(chunk)).await;
        let end = match ended {
            Ended::Exited(status) => match (status.code(), status.signal()) {
                (Some(code), _) => ShellEnd::Exited(code),
                (None, signal) => ShellEnd::Signalled(signal.unwrap_or_default()),
            },
            Ended::TimedOut | Ended::Cancelled => ShellEnd::Stopped,
        };
        tasks.shell_ended(&id, end);
    });
    let said = json!({ "status": "background", "task_id": place.id, "output_file": place.output_file });
    Outcome::text(format!(
        "{said}\nIt runs. You are told when it has ended; until then read its output by TaskOutput or Read."
    ))
}
