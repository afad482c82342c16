//! A session's face towards a client of the protocol: updates go out, questions come back answered.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use agent_client_protocol::Client;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    PermissionOption, PermissionOptionKind, RequestPermissionOutcome, RequestPermissionRequest, SessionId,
    SessionNotification, SessionUpdate, ToolCallContent, ToolCallStatus, ToolCallUpdate, ToolCallUpdateFields,
};

use super::show;
use crate::agent::AgentId;
use crate::agent::budget::Purse;
use crate::agent::permission::{Asker, Mode, Question, Reply};
use crate::agent::query::{Step, Watcher};
use crate::agent::tools::{BoxFuture, Choice, Kind, Person, Sink, ToolEvent};

/// How often a client hears of what a command prints.
const OUTPUT_EVERY: Duration = Duration::from_millis(200);
/// The end of a command's output that a client gets while it runs, in characters.
const OUTPUT_TAIL: usize = 4_000;

pub struct AcpFace {
    connection: ConnectionTo<Client>,
    window: u64,
    /// Known once the session is open.
    of: Mutex<Option<(SessionId, Purse)>>,
    outputs: Mutex<HashMap<String, Output>>,
}

struct Output {
    text: String,
    sent: Instant,
}

impl AcpFace {
    pub fn new(connection: ConnectionTo<Client>, window: u64) -> Arc<Self> {
        Arc::new(Self { connection, window, of: Mutex::new(None), outputs: Mutex::default() })
    }

    pub fn is_of(&self, session: SessionId, purse: Purse) {
        *lock(&self.of) = Some((session, purse));
    }

    fn session(&self) -> Option<SessionId> {
        lock(&self.of).as_ref().map(|(id, _)| id.clone())
    }

    /// A client that has gone is not told; the connection's end ends the session.
    pub fn send(&self, update: SessionUpdate) {
        if let Some(session) = self.session() {
            let _ = self.connection.send_notification(SessionNotification::new(session, update));
        }
    }

    /// Puts a question with options; gives back the id of the one that was chosen.
    async fn question(&self, call: ToolCallUpdate, options: Vec<PermissionOption>) -> Result<String, String> {
        let session = self.session().ok_or("the session is not open yet")?;
        let request = RequestPermissionRequest::new(session, call, options);
        match self.connection.send_request(request).block_task().await {
            Ok(answer) => match answer.outcome {
                RequestPermissionOutcome::Selected(chosen) => Ok(chosen.option_id.0.to_string()),
                _ => Err("the question was cancelled".to_owned()),
            },
            Err(error) => Err(format!("the client did not answer: {}", error.message)),
        }
    }

    /// Adds what was printed; gives the text to send, if it is time.
    fn printed(&self, call: &str, more: &str) -> Option<String> {
        let mut outputs = lock(&self.outputs);
        let now = Instant::now();
        let output = outputs.entry(call.to_owned()).or_insert_with(|| Output { text: String::new(), sent: now });
        output.text.push_str(more);
        if let Some((at, _)) = output.text.char_indices().rev().nth(OUTPUT_TAIL) {
            output.text.drain(..at);
        }
        if now.duration_since(output.sent) < OUTPUT_EVERY {
            return None;
        }
        output.sent = now;
        Some(output.text.clone())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

impl Watcher for AcpFace {
    fn see(&self, agent: &AgentId, step: Step<'_>) {
        // What children say is for their parent; the client sees the call that started them.
        if !agent.is_main() {
            return;
        }
        if let Step::CallEnded { id, .. } = &step {
            lock(&self.outputs).remove(*id);
        }
        let spent = lock(&self.of).as_ref().map(|(_, purse)| purse.spent()).unwrap_or_default();
        if let Some(update) = show::step(&step, self.window, spent) {
            self.send(update);
        }
    }
}

impl Sink for AcpFace {
    fn show(&self, agent: &AgentId, call: &str, event: ToolEvent) {
        if !agent.is_main() {
            return;
        }
        match event {
            ToolEvent::Output(more) => {
                if let Some(text) = self.printed(call, &more) {
                    self.send(show::output(call, &text));
                }
            }
            ToolEvent::Plan(todos) => self.send(show::plan(&todos)),
            ToolEvent::Mode(mode) => self.send(show::mode(mode)),
            ToolEvent::Moved(path) => self.send(show::thought(format!("\n(now working in {})\n", path.display()))),
            ToolEvent::Structured(value) => self.send(show::said(value.to_string())),
            ToolEvent::Notice(words) => self.send(show::thought(format!("\n({words})\n"))),
            // The diff comes with the end of the call.
            ToolEvent::Changed(_) => {}
        }
    }
}

const ONCE: &str = "allow-once";
const ALWAYS: &str = "allow-always";
const NO: &str = "reject-once";

fn option(id: &str, name: &str, kind: PermissionOptionKind) -> PermissionOption {
    PermissionOption::new(id.to_owned(), name, kind)
}

impl Asker for AcpFace {
    fn is_attended(&self) -> bool {
        true
    }

    fn ask(&self, question: Question) -> BoxFuture<'_, Reply> {
        Box::pin(async move {
            let of = if question.agent.is_main() { String::new() } else { format!("[{}] ", question.agent) };
            let fields = ToolCallUpdateFields::new()
                .title(format!("{of}{}", show::title(&question.tool, &question.subject)))
                .kind(show::kind_of(question.kind))
                .status(ToolCallStatus::Pending)
                .content(vec![ToolCallContent::from(show::text(question.reason))])
                .raw_input(question.input);
            let options = vec![
                option(ONCE, "Allow", PermissionOptionKind::AllowOnce),
                option(ALWAYS, "Allow always", PermissionOptionKind::AllowAlways),
                option(NO, "Refuse", PermissionOptionKind::RejectOnce),
            ];
            match self.question(ToolCallUpdate::new(question.call, fields), options).await.as_deref() {
                Ok(ONCE) => Reply::AllowOnce,
                Ok(ALWAYS) => Reply::AllowAlways,
                Ok(_) => Reply::Deny("it was refused".to_owned()),
                Err(why) => Reply::Deny(why.to_owned()),
            }
        })
    }
}

impl Person for AcpFace {
    fn is_there(&self) -> bool {
        true
    }

    /// The protocol's only question with options is that for a permission; a question without options it does not have.
    fn choose<'a>(&'a self, _agent: &'a AgentId, choice: Choice) -> BoxFuture<'a, Result<Vec<String>, String>> {
        Box::pin(async move {
            if choice.options.is_empty() || choice.several {
                return Err(
                    "this client can be asked for one of several options only; put the question into your answer \
                            and end the turn"
                        .to_owned(),
                );
            }
            let names = choice.options.iter().enumerate().map(|(n, (label, meaning))| {
                let name = if meaning.is_empty() { label.clone() } else { format!("{label}: {meaning}") };
                option(&n.to_string(), &name, PermissionOptionKind::AllowOnce)
            });
            let fields = ToolCallUpdateFields::new().title(choice.question.clone()).kind(show::kind_of(Kind::Think));
            let id = format!("question-{}", uuid::Uuid::new_v4());
            let chosen = self.question(ToolCallUpdate::new(id, fields), names.collect()).await?;
            let at: usize = chosen.parse().map_err(|_| format!("the client chose {chosen:?}, which was no option"))?;
            let label = choice.options.get(at).map(|(label, _)| label.clone());
            Ok(vec![label.ok_or("the client chose what was no option")?])
        })
    }

    fn judge_plan<'a>(&'a self, _agent: &'a AgentId, plan: &'a str) -> BoxFuture<'a, Result<Mode, String>> {
        Box::pin(async move {
            let fields = ToolCallUpdateFields::new()
                .title("Go on with this plan?".to_owned())
                .kind(agent_client_protocol::v1::schema::ToolKind::SwitchMode)
                .content(vec![ToolCallContent::from(show::text(plan))]);
            let options = vec![
                option(ALWAYS, "Yes, and edit without asking", PermissionOptionKind::AllowAlways),
                option(ONCE, "Yes, and ask before changes", PermissionOptionKind::AllowOnce),
                option(NO, "No, go on planning", PermissionOptionKind::RejectOnce),
            ];
            let id = format!("plan-{}", uuid::Uuid::new_v4());
            match self.question(ToolCallUpdate::new(id, fields), options).await?.as_str() {
                ALWAYS => Ok(Mode::AcceptEdits),
                ONCE => Ok(Mode::Default),
                _ => Err("the plan was not agreed upon".to_owned()),
            }
        })
    }
}
