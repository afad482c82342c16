//! A child at work: its turn, what is seen of it, and its end, which comes in any case.

use std::sync::{Arc, Mutex};

use tokio_util::sync::CancellationToken;

use super::lifecycle::{End, Event};
use super::nursery::{Nursery, One};
use super::verdict;
use crate::agent::AgentId;
use crate::agent::definition::VERIFICATION;
use crate::agent::query::{Conversation, Step, StopReason, Watcher};
use crate::agent::tools::{Context, Registered, Sink, ToolEvent, locked};
use crate::agent::wire::{Block, Turn};
use crate::os::log_file::RotatingLog;

/// Bytes of a child's output that are kept; the part before lies beside it.
const OUTPUT_BYTES: u64 = 4 << 20;

/// Whoever watches a child: the registry, its output file and, while its caller waits, the caller's screen.
pub(super) struct Watch {
    nursery: Arc<Nursery>,
    log: Mutex<Option<RotatingLog>>,
    sink: Arc<dyn Sink>,
    caller: AgentId,
    call: String,
}

impl Watch {
    pub fn new(place: &Registered, caller: &Context, nursery: &Arc<Nursery>) -> Self {
        Self {
            nursery: Arc::clone(nursery),
            log: Mutex::new(RotatingLog::open(&place.output_file, OUTPUT_BYTES).ok()),
            sink: Arc::clone(&caller.sink),
            caller: caller.agent.clone(),
            call: caller.call.clone(),
        }
    }

    fn write(&self, text: &str) {
        if let Some(log) = locked(&self.log).as_mut() {
            log.write(text.as_bytes());
        }
    }
}

impl Watcher for Watch {
    fn see(&self, agent: &AgentId, step: Step<'_>) {
        let id = agent.as_str();
        match step {
            Step::Text(text) => self.write(text),
            Step::Thinking(_) => {}
            Step::Answered { usage, .. } => {
                self.nursery.progress(id, |progress| progress.answered(usage));
                self.write("\n");
            }
            Step::Again { why, .. } => self.write(&format!("\n[asked again: {why}]\n")),
            Step::Call { name, subject, .. } => {
                self.nursery.progress(id, |progress| progress.called(name, subject));
                let line = format!("[{name}] {subject}\n");
                self.write(&line);
                if self.nursery.get(id).is_some_and(|one| !one.life.background) {
                    self.sink.show(&self.caller, &self.call, ToolEvent::Output(line));
                }
            }
            Step::CallEnded { outcome, .. } if outcome.is_error => {
                self.write(&format!("[refused or failed] {}\n", outcome.as_text()));
            }
            Step::CallEnded { .. } => {}
            Step::Told { summary, .. } => self.write(&format!("[{summary}]\n")),
            Step::Compacted { turns } => self.write(&format!("[its conversation was shortened to {turns} messages]\n")),
            Step::Notice(text) => self.write(&format!("[{text}]\n")),
        }
    }
}

/// What is done when a child has ended, with its last words so far: its work tree is looked at. Gives what is left of that.
pub(super) type Afterwards =
    Box<dyn FnOnce() -> crate::agent::tools::BoxFuture<'static, Option<(String, String)>> + Send>;

/// Ends a child whose task broke off, as by a panic: its caller waits for an end.
struct EndsInAnyCase {
    nursery: Arc<Nursery>,
    id: String,
}

impl Drop for EndsInAnyCase {
    fn drop(&mut self) {
        self.nursery.ended(
            &self.id,
            End::Failed("it broke off; the log of the agent has more".to_owned()),
            String::new(),
            None,
        );
    }
}

/// Starts the child's task.
pub(super) fn start(
    nursery: &Arc<Nursery>,
    mut conversation: Conversation,
    inputs: Vec<Turn>,
    place: Registered,
    after: Afterwards,
) {
    let guard = EndsInAnyCase { nursery: Arc::clone(nursery), id: place.id.clone() };
    nursery.step(&place.id, Event::Started);
    tokio::spawn(async move {
        let (end, result) = work(&mut conversation, inputs, &place.stop).await;
        let nursery = &guard.nursery;
        // What it started ends with it.
        let agent = conversation.agent().clone();
        nursery.stop_of(&agent);
        nursery
            .until(|n| n.all().iter().all(|one| one.new.owner != agent || one.life.state.ended()).then_some(()))
            .await;
        let tree = after().await;
        nursery.ended(&place.id, end, result, tree);
    });
}

/// Its one turn; of a judge a second one, where the first report is not accepted.
async fn work(conversation: &mut Conversation, inputs: Vec<Turn>, stop: &CancellationToken) -> (End, String) {
    let first = once(conversation, inputs, stop).await;
    if conversation.parts().source != VERIFICATION || first.0 != End::Completed {
        return first;
    }
    let Err(fault) = judged(conversation, &first.1) else { return first };
    let again = Turn::user(vec![Block::text(verdict::ask_again(&fault))]);
    let second = once(conversation, vec![again], stop).await;
    match judged(conversation, &second.1) {
        Err(fault) if second.0 == End::Completed => {
            (End::Failed(format!("its report is not accepted: {fault}")), second.1)
        }
        _ => second,
    }
}

async fn once(conversation: &mut Conversation, inputs: Vec<Turn>, stop: &CancellationToken) -> (End, String) {
    let done = conversation.turn(inputs, stop.clone()).await;
    let result = conversation.last_text();
    let end = match done {
        Ok(reason) if reason.is_whole() => End::Completed,
        Ok(StopReason::Cancelled) => End::Killed,
        Ok(reason) => End::Failed(reason.why().unwrap_or_default()),
        Err(error) => End::Failed(error.to_string()),
    };
    (end, result)
}

fn judged(conversation: &Conversation, report: &str) -> Result<verdict::Verdict, verdict::Fault> {
    let commands = |turn: &Turn| {
        let of = |(_, name, input): (&str, &str, &serde_json::Value)| {
            (name == "Bash").then(|| input["command"].as_str().map(str::to_owned)).flatten()
        };
        turn.calls().filter_map(of).collect::<Vec<_>>()
    };
    let ran: Vec<String> = conversation.turns().iter().flat_map(commands).collect();
    verdict::judge(report, &ran)
}

/// What a caller gets to read of a child that has ended while it waited.
pub(super) fn report(one: &One) -> String {
    let progress = &one.progress;
    let tree = match &one.worktree {
        Some((path, branch)) => format!("\nIts changes are in the work tree {path}, on the branch {branch}."),
        None => String::new(),
    };
    let said = if one.result.trim().is_empty() { "(it said nothing)" } else { one.result.trim_end() };
    format!(
        "{said}\n{tree}\n[agent {}: {} tool calls, {} tokens, {:.1} s; all of it in {}. SendMessage to {} goes on with it.]",
        one.id,
        progress.tool_calls,
        progress.total_tokens(),
        one.took().as_secs_f64(),
        one.output_file.display(),
        one.new.name.as_deref().unwrap_or(&one.id),
    )
}
