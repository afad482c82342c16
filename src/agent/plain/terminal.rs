//! A prompt that stays: lines go to the model, its answers and calls come by, questions are answered in the same place.

use std::io::BufRead;
use std::str::FromStr;
use std::sync::{Arc, Mutex};

use rustix::termios::{OptionalActions, SpecialCodeIndex, tcgetattr, tcsetattr};
use tokio::sync::{mpsc, oneshot};

use super::once::Signals;
use super::printer::Printer;
use crate::agent::AgentId;
use crate::agent::permission::{Asker, Mode, Question, Reply};
use crate::agent::query::{StopReason, TurnError};
use crate::agent::session::{Face, Session};
use crate::agent::settings::control_key;
use crate::agent::tools::{BoxFuture, Choice, Person};
use crate::agent::wire::Block;
use crate::view::plain::Ink;

const HELP: &str = "\
/mode MODE    read-only, plan, default, accept_edits, bypass
/compact      shorten the conversation now
/cost         what was spent
/kill         end all children and shells in the background
/exit         leave (also Ctrl-D); the session can be resumed
Ctrl-C ends the turn. A line typed during a turn is the next prompt.";

/// Lines from the person, and who waits for one.
pub struct Desk {
    printer: Arc<Printer>,
    /// The next line is the answer to this question, not a prompt.
    asked: Mutex<Option<oneshot::Sender<String>>>,
    /// One question at a time.
    turn: tokio::sync::Mutex<()>,
}

impl Desk {
    #[must_use]
    pub fn new(printer: Arc<Printer>) -> Self {
        Self { printer, asked: Mutex::new(None), turn: tokio::sync::Mutex::new(()) }
    }

    /// The face of a session in front of this terminal.
    #[must_use]
    pub fn face(self: &Arc<Self>) -> Face {
        Face {
            watcher: Arc::clone(&self.printer) as _,
            sink: Arc::clone(&self.printer) as _,
            asker: Arc::clone(self) as _,
            person: Arc::clone(self) as _,
        }
    }

    fn slot(&self) -> std::sync::MutexGuard<'_, Option<oneshot::Sender<String>>> {
        self.asked.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Asks for a line; `None` when the person has gone.
    async fn ask_line(&self, question: &str) -> Option<String> {
        let _turn = self.turn.lock().await;
        let (answer, answered) = oneshot::channel();
        *self.slot() = Some(answer);
        self.printer.end_line();
        self.printer.part(question);
        let line = answered.await.ok();
        self.slot().take();
        line
    }

    /// Gives a line to whoever asked; gives it back where nobody did.
    fn answer(&self, line: String) -> Option<String> {
        match self.slot().take() {
            // Who asked may have been cancelled: then the line is a prompt after all.
            Some(asked) => asked.send(line).err(),
            None => Some(line),
        }
    }
}

impl Asker for Desk {
    fn is_attended(&self) -> bool {
        true
    }

    fn ask(&self, question: Question) -> BoxFuture<'_, Reply> {
        Box::pin(async move {
            let of = if question.agent.is_main() { String::new() } else { format!("[{}] ", question.agent) };
            let text = format!(
                "{of}{} {}\n{}. Allow? [y]es, [a]lways, [n]o (or say why not): ",
                question.tool, question.subject, question.reason
            );
            let Some(line) = self.ask_line(&text).await else { return Reply::Deny("the person has gone".to_owned()) };
            match line.trim() {
                "y" | "yes" => Reply::AllowOnce,
                "a" | "always" => Reply::AllowAlways,
                "" | "n" | "no" => Reply::Deny("the person said no".to_owned()),
                why => Reply::Deny(format!("the person says: {why}")),
            }
        })
    }
}

const GONE: &str = "the person has gone";

impl Person for Desk {
    fn is_there(&self) -> bool {
        true
    }

    fn choose<'a>(&'a self, _agent: &'a AgentId, choice: Choice) -> BoxFuture<'a, Result<Vec<String>, String>> {
        Box::pin(async move {
            let mut text = format!("{}\n", choice.question);
            for (n, (label, meaning)) in choice.options.iter().enumerate() {
                text.push_str(&format!("  {}. {label}  {meaning}\n", n + 1));
            }
            text.push_str(if choice.several {
                "numbers, or your own words: "
            } else {
                "a number, or your own words: "
            });
            let line = self.ask_line(&text).await.ok_or(GONE)?;
            Ok(chosen(&choice, line.trim()))
        })
    }

    fn judge_plan<'a>(&'a self, _agent: &'a AgentId, plan: &'a str) -> BoxFuture<'a, Result<Mode, String>> {
        Box::pin(async move {
            let text = format!(
                "{plan}\n\nGo on with this plan? [y]es, yes and [e]dit without asking, or say what is to be different: "
            );
            let line = self.ask_line(&text).await.ok_or(GONE)?;
            match line.trim() {
                "y" | "yes" => Ok(Mode::Default),
                "e" | "edit" => Ok(Mode::AcceptEdits),
                "" | "n" | "no" => Err("the person does not want this plan".to_owned()),
                other => Err(format!("the person says: {other}")),
            }
        })
    }
}

/// The labels behind numbers; where a word is none, the whole line is the answer.
fn chosen(choice: &Choice, line: &str) -> Vec<String> {
    let words: Vec<&str> = line.split([',', ' ']).filter(|word| !word.is_empty()).collect();
    let labels: Option<Vec<String>> = words
        .iter()
        .map(|word| {
            let at = word.parse::<usize>().ok()?.checked_sub(1)?;
            choice.options.get(at).map(|(label, _)| label.clone())
        })
        .collect();
    match labels {
        Some(labels) if !labels.is_empty() && (choice.several || labels.len() == 1) => labels,
        _ => vec![line.to_owned()],
    }
}

/// How a talk ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    ByPerson,
    BySignal,
}

/// Talks until the person leaves.
pub async fn talk(session: Arc<Session>, desk: Arc<Desk>, first: Option<String>) -> Ended {
    let _key = BackgroundKey::set(&session.settings.background_key);
    let mut signals = Signals::listen();
    let mut lines = lines();
    let mut next: Vec<String> = first.into_iter().collect();
    let mut running: Option<tokio::task::JoinHandle<Result<StopReason, TurnError>>> = None;
    let printer = Arc::clone(&desk.printer);
    printer.line(Ink::Dim, &format!("session {}; /help for commands", session.id));
    let ended = loop {
        if running.is_none() {
            let waits = session.backlog().waiting(&AgentId::main()) > 0;
            if !next.is_empty() || waits {
                let text = std::mem::take(&mut next).join("\n");
                let session = Arc::clone(&session);
                running = Some(tokio::spawn(async move { session.prompt(vec![Block::text(text)], false).await }));
            } else {
                printer.part("> ");
            }
        }
        tokio::select! {
            line = lines.recv() => match line {
                None => break Ended::ByPerson,
                Some(line) => {
                    if let Some(line) = pressed(&session, &printer, line)
                        && let Some(line) = desk.answer(line)
                        && !heed(&session, &printer, &mut next, line).await
                    {
                        break Ended::ByPerson;
                    }
                }
            },
            done = ended_turn(&mut running) => {
                running = None;
                tell(&printer, done);
            }
            () = session.backlog().changed() => {}
            () = signals.next() => match running.is_some() {
                true => session.cancel(),
                false => break Ended::BySignal,
            },
        }
    };
    session.close().await;
    if let Some(turn) = running {
        tell(&printer, turn.await);
    }
    printer.end_line();
    ended
}

type Done = Result<Result<StopReason, TurnError>, tokio::task::JoinError>;

async fn ended_turn(running: &mut Option<tokio::task::JoinHandle<Result<StopReason, TurnError>>>) -> Done {
    match running {
        Some(turn) => turn.await,
        None => std::future::pending().await,
    }
}

fn tell(printer: &Printer, done: Done) {
    printer.end_line();
    match done {
        Ok(Ok(stop)) => {
            if let Some(why) = stop.why() {
                printer.line(Ink::Yellow, &why);
            }
        }
        Ok(Err(error)) => {
            printer.line(Ink::Red, &format!("error: {error}"));
            if let Some(hint) = error.hint() {
                printer.line(Ink::Cyan, &format!("hint: {hint}"));
            }
        }
        Err(error) => printer.line(Ink::Red, &format!("error: the turn broke off: {error}")),
    }
}

/// Takes the background key out of a line; gives back what was typed as a line.
fn pressed(session: &Session, printer: &Printer, line: String) -> Option<String> {
    let key = control_key(&session.settings.background_key).map(char::from)?;
    if !line.ends_with(key) {
        return Some(line);
    }
    if !session.backlog().to_background() {
        printer.line(Ink::Dim, "there is no child in the foreground");
    }
    None
}

/// Takes a line as a command or a prompt; `false` to leave.
async fn heed(session: &Session, printer: &Printer, next: &mut Vec<String>, line: String) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    match words.as_slice() {
        [] => {}
        ["/exit" | "/quit"] => return false,
        ["/help"] => printer.line(Ink::Plain, HELP),
        ["/kill"] => session.backlog().stop_all(),
        ["/cost"] => {
            let spent = session.purse.spent();
            let text = format!(
                "{} requests, {} tool calls, {} tokens read ({} from cache), {} written, ${:.4}",
                spent.requests,
                spent.tool_calls,
                spent.usage.context(),
                spent.usage.cache_read_input_tokens,
                spent.usage.output_tokens,
                spent.dollars
            );
            printer.line(Ink::Plain, &text);
        }
        ["/compact"] if session.is_running() => printer.line(Ink::Yellow, "a turn is running"),
        ["/compact"] => {
            if let Err(error) = session.compact().await {
                printer.line(Ink::Red, &format!("error: {error}"));
            }
        }
        ["/mode", word] => match Mode::parse(word) {
            Some(mode) => session.set_mode(mode),
            None => printer.line(Ink::Red, &format!("`{word}` is no mode; /help lists them")),
        },
        [word, ..] if word.starts_with('/') && !word[1..].contains('/') => {
            printer.line(Ink::Red, &format!("`{word}` is no command; /help lists them"));
        }
        _ => next.push(line),
    }
    true
}

/// Lines of stdin, read by a thread of its own: a read from a terminal cannot be taken back.
fn lines() -> mpsc::UnboundedReceiver<String> {
    let (to, lines) = mpsc::unbounded_channel();
    std::thread::spawn(move || {
        let mut stdin = std::io::stdin().lock();
        let mut bytes = Vec::new();
        while stdin.read_until(b'\n', &mut bytes).is_ok_and(|n| n > 0) {
            let text = String::from_utf8_lossy(&bytes);
            let line = String::from_str(text.trim_end_matches(['\n', '\r'])).unwrap_or_default();
            bytes.clear();
            if to.send(line).is_err() {
                return;
            }
        }
    });
    lines
}

/// The background key ends a line, so that it arrives at once while the terminal goes on editing lines as it does.
struct BackgroundKey {
    before: Option<rustix::termios::Termios>,
}

impl BackgroundKey {
    fn set(name: &str) -> Self {
        let stdin = std::io::stdin();
        let before = tcgetattr(&stdin).ok();
        if let (Some(mut termios), Some(key)) = (before.clone(), control_key(name)) {
            termios.special_codes[SpecialCodeIndex::VEOL] = key;
            // Without it the key is one that waits for Enter.
            let _ = tcsetattr(&stdin, OptionalActions::Now, &termios);
        }
        Self { before }
    }
}

impl Drop for BackgroundKey {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, before);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_labels_and_words_are_words() {
        let options = vec![("red".to_owned(), String::new()), ("blue".to_owned(), String::new())];
        let one = Choice { question: String::new(), options, several: false };
        let many = Choice { several: true, ..one.clone() };
        assert_eq!(chosen(&one, "2"), ["blue"]);
        assert_eq!(chosen(&many, "1, 2"), ["red", "blue"]);
        for own in ["3", "0", "1, 2", "green", "2 of them"] {
            assert_eq!(chosen(&one, own), [own], "{own}");
        }
    }
}
