//! Our own agent: on stdio for a client of the protocol, once for a prompt, or in front of a person.

use std::io::{IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use toml::{Table, Value};

use super::args::Globals;
use super::error::{CommandError, ErrorKind};
use super::output;
use crate::agent::acp;
use crate::agent::permission::Mode;
use crate::agent::plain::{self, Desk, Ended, Printer};
use crate::agent::query::StopReason;
use crate::agent::session::{Face, Session, SessionError, Shelf, Start};
use crate::agent::settings::{self, Found, Layers, SettingsError};
use crate::view::plain::{Lines, safe};

/// Our own agent: on stdio (ACP), for one prompt, or in front of you
///
/// Without a prompt it speaks the Agent Client Protocol on stdin and stdout, or talks with you where both are a terminal. It asks a model
/// by the Messages API (ANTHROPIC_BASE_URL, ANTHROPIC_API_KEY), or plays recorded answers (--cassette). docs/AGENT.md lists its settings.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  crewmux agent                               # a prompt here, or ACP where a client starts it
  crewmux agent -p 'why does this test fail?'
  crewmux agent -p 'and now?' --continue --json
  crewmux agent --show-settings")]
pub struct Args {
    /// Answer this and end; `-` reads it from stdin
    #[arg(short, long, value_name = "TEXT")]
    pub prompt: Option<String>,
    /// Speak the protocol on stdio, also where that is a terminal
    #[arg(long, conflicts_with = "prompt")]
    pub acp: bool,
    /// Go on with this session
    #[arg(long, value_name = "ID", conflicts_with = "go_on")]
    pub resume: Option<String>,
    /// Go on with the last session of this folder
    #[arg(long = "continue")]
    pub go_on: bool,
    /// List the sessions that can be resumed, and end
    #[arg(long)]
    pub sessions: bool,
    /// The folder to work in
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,
    /// A further folder to work in; may be repeated
    #[arg(long, value_name = "DIR")]
    pub add_dir: Vec<PathBuf>,
    /// The model: an id, or small, medium, large
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,
    /// read-only, plan, default, accept_edits, bypass or bubble
    #[arg(long, value_name = "MODE", value_parser = mode)]
    pub mode: Option<Mode>,
    /// Allow without asking: `Tool` or `Tool(pattern)`; may be repeated
    #[arg(long, value_name = "RULE")]
    pub allow: Vec<String>,
    /// Always ask; may be repeated
    #[arg(long, value_name = "RULE")]
    pub ask: Vec<String>,
    /// Never allow; may be repeated
    #[arg(long, value_name = "RULE")]
    pub deny: Vec<String>,
    /// Start workers and judge what they report, acting on nothing itself; also CREWMUX_COORDINATOR=1
    #[arg(long)]
    pub coordinator: bool,
    /// More for the system prompt
    #[arg(long, value_name = "TEXT")]
    pub instructions: Option<String>,
    /// The JSON schema that the answer has to follow
    #[arg(long, value_name = "FILE")]
    pub output_schema: Option<PathBuf>,
    /// Most requests in one turn
    #[arg(long, value_name = "N")]
    pub max_turns: Option<u32>,
    /// Play recorded answers instead of asking a model
    #[arg(long, value_name = "FILE")]
    pub cassette: Option<PathBuf>,
    /// Record whole answers to this cassette
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Any other setting; may be repeated
    #[arg(long, value_name = "KEY=VALUE", value_parser = super::values::key_value)]
    pub set: Vec<(String, String)>,
    /// Show each setting and where it comes from, and end
    #[arg(long)]
    pub show_settings: bool,
}

fn mode(text: &str) -> Result<Mode, String> {
    let all: Vec<&str> = Mode::ALL.iter().map(|mode| mode.as_str()).collect();
    Mode::parse(text).ok_or_else(|| format!("it is one of {}", all.join(", ")))
}

pub fn run(args: &Args, globals: &Globals) -> Result<(), CommandError> {
    let cwd = match &args.cwd {
        Some(dir) => std::fs::canonicalize(dir)
            .map_err(|e| CommandError::usage(format!("cannot work in {}", dir.display())).cause(&e))?,
        None => std::env::current_dir()?,
    };
    let flags = Arc::new(Flags::of(args)?);
    if args.show_settings {
        return show(&flags.settings(&cwd).map_err(wrong_settings)?, globals);
    }
    if args.sessions {
        return sessions(&cwd, globals);
    }
    let terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    match (&args.prompt, args.acp || !terminal) {
        (Some(prompt), _) => {
            let prompt = if prompt == "-" { stdin()? } else { prompt.clone() };
            runtime.block_on(once(args, globals, &flags, &cwd, prompt))
        }
        (None, true) => {
            let load: acp::Load = Arc::new(move |cwd, face| flags.start(cwd, face).map_err(|e| e.to_string()));
            let served = runtime.block_on(acp::serve(load));
            // A thread may still be reading stdin, which nothing can interrupt.
            runtime.shutdown_background();
            served.map_err(|e| CommandError::failed("the connection to the client broke").because(e.message))
        }
        (None, false) => {
            let ended = runtime.block_on(talk(args, &flags, &cwd));
            runtime.shutdown_background();
            ended
        }
    }
}

/// What the command line says, for whatever folder a session is begun in.
struct Flags {
    table: Table,
    also: Vec<PathBuf>,
    coordinator: bool,
    instructions: Option<String>,
    output_schema: Option<serde_json::Value>,
}

impl Flags {
    fn of(args: &Args) -> Result<Self, CommandError> {
        let mut table = Table::new();
        for (key, value) in &args.set {
            // As TOML where it reads as that, else as a word.
            let read = toml::from_str::<Table>(&format!("v = {value}")).ok().and_then(|mut t| t.remove("v"));
            put(&mut table, key, read.unwrap_or_else(|| Value::String(value.clone())));
        }
        let path = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone()).display().to_string();
        let words = [
            ("model", args.model.clone()),
            ("permission_mode", args.mode.map(|mode| mode.as_str().to_owned())),
            ("cassette", args.cassette.as_ref().map(path)),
            ("record", args.record.as_ref().map(path)),
        ];
        for (key, word) in words {
            word.into_iter().for_each(|word| put(&mut table, key, Value::String(word)));
        }
        if let Some(most) = args.max_turns {
            put(&mut table, "max_turns", Value::Integer(i64::from(most)));
        }
        for (key, rules) in [("allow", &args.allow), ("ask", &args.ask), ("deny", &args.deny)] {
            if !rules.is_empty() {
                let list = rules.iter().cloned().map(Value::String).collect();
                put(&mut table, &format!("permissions.{key}"), Value::Array(list));
            }
        }
        let output_schema = args.output_schema.as_deref().map(schema).transpose()?;
        let coordinator = args.coordinator || std::env::var("CREWMUX_COORDINATOR").is_ok_and(|v| v == "1");
        Ok(Self {
            table,
            also: args.add_dir.clone(),
            coordinator,
            instructions: args.instructions.clone(),
            output_schema,
        })
    }

    /// The person's file, the project's, the environment, the flags.
    fn settings(&self, cwd: &Path) -> Result<Found, SettingsError> {
        let mut layers = Layers::default();
        if let Some(file) = settings::person_file() {
            layers.file(&file, false)?;
        }
        if let Some(file) = settings::project_file(cwd) {
            layers.file(&file, true)?;
        }
        layers.env(|name| std::env::var(name).ok());
        layers.table(self.table.clone(), "the command line");
        layers.finish()
    }

    fn start(&self, cwd: &Path, face: Face) -> Result<Start, SettingsError> {
        Ok(Start {
            cwd: cwd.to_owned(),
            also: self.also.clone(),
            settings: self.settings(cwd)?.settings,
            face,
            attended: false,
            coordinator: self.coordinator,
            instructions: self.instructions.clone(),
            servers: Vec::new(),
            output_schema: self.output_schema.clone(),
        })
    }
}

/// Puts a value at a dotted key.
fn put(table: &mut Table, key: &str, value: Value) {
    match key.split_once('.') {
        Some((first, rest)) => {
            let inner = table.entry(first).or_insert_with(|| Value::Table(Table::new()));
            if let Value::Table(inner) = inner {
                put(inner, rest, value);
            }
        }
        None => {
            table.insert(key.to_owned(), value);
        }
    }
}

fn schema(path: &Path) -> Result<serde_json::Value, CommandError> {
    let wrong =
        |e: &dyn std::error::Error| CommandError::usage(format!("{} is no JSON schema", path.display())).cause(e);
    let text = std::fs::read_to_string(path).map_err(|e| wrong(&e))?;
    serde_json::from_str(&text).map_err(|e| wrong(&e))
}

fn stdin() -> Result<String, CommandError> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    Ok(text)
}

fn wrong_settings(error: SettingsError) -> CommandError {
    let hint = error.hint();
    let told = CommandError::usage(error.to_string());
    match hint {
        Some(hint) => told.hint(hint),
        None => told,
    }
}

fn no_session(error: &SessionError) -> CommandError {
    let kind = match error {
        SessionError::Shelf(crate::agent::session::ShelfError::Unknown(_)) => ErrorKind::NotFound,
        SessionError::Shelf(crate::agent::session::ShelfError::NoneHere(_)) => ErrorKind::NotFound,
        _ => ErrorKind::Failed,
    };
    let told = CommandError::from_error(kind, error);
    match kind {
        ErrorKind::NotFound => told.hint("`crewmux agent --sessions` lists the sessions of this folder"),
        _ => told,
    }
}

fn open(args: &Args, start: Start) -> Result<Arc<Session>, CommandError> {
    let opened = match (&args.resume, args.go_on) {
        (Some(id), _) => Session::resume(start, Some(id)),
        (None, true) => Session::resume(start, None),
        (None, false) => Session::begin(start),
    };
    opened.map_err(|e| no_session(&e))
}

async fn once(args: &Args, globals: &Globals, flags: &Flags, cwd: &Path, prompt: String) -> Result<(), CommandError> {
    if prompt.trim().is_empty() {
        return Err(CommandError::usage("the prompt is empty").hint("crewmux agent -p 'what to do'"));
    }
    // What it does is talk; the answer alone is data.
    let talk: Box<dyn std::io::Write + Send> = match std::io::stderr().is_terminal() && !globals.json {
        true => Box::new(std::io::stderr()),
        false => Box::new(std::io::sink()),
    };
    let printer = Arc::new(Printer::new(talk, false, output::color_on_stderr()));
    let face = Face { watcher: Arc::clone(&printer) as _, sink: Arc::clone(&printer) as _, ..Face::none() };
    let session = open(args, flags.start(cwd, face).map_err(wrong_settings)?)?;
    let mut answered = plain::once(session, prompt).await.map_err(|error| {
        let told = CommandError::from_error(ErrorKind::Failed, &error);
        error.hint().map_or(told.clone(), |hint| told.hint(hint))
    })?;
    answered.structured = printer.structured();
    match (&answered.structured, globals.json) {
        (_, true) => output::json(&answered)?,
        (Some(value), false) => output::json(value)?,
        (None, false) => output::line(safe(&answered.text, Lines::Keep))?,
    }
    match (&answered.stop, answered.why) {
        (StopReason::Cancelled, _) => Err(CommandError::interrupted("the turn was cancelled")
            .hint(format!("crewmux agent --resume {} -p …   goes on with it", answered.session))),
        (_, Some(why)) => Err(CommandError::failed(why)),
        (_, None) => Ok(()),
    }
}

async fn talk(args: &Args, flags: &Flags, cwd: &Path) -> Result<(), CommandError> {
    let printer = Arc::new(Printer::new(Box::new(std::io::stdout()), true, output::color_on_stdout()));
    let desk = Arc::new(Desk::new(printer));
    let mut start = flags.start(cwd, desk.face()).map_err(wrong_settings)?;
    start.attended = true;
    let session = open(args, start)?;
    match plain::talk(session, desk, None).await {
        Ended::ByPerson => Ok(()),
        Ended::BySignal => Err(CommandError::interrupted("interrupted")),
    }
}

fn sessions(cwd: &Path, globals: &Globals) -> Result<(), CommandError> {
    let shelf = Shelf::from_env().map_err(|e| CommandError::from_error(ErrorKind::Failed, &e))?;
    let all = shelf.list(Some(cwd));
    if globals.json {
        return output::json(&all);
    }
    for kept in all {
        let title = kept.title.unwrap_or_default();
        output::line(format!("{}  {}  {}", kept.id, kept.updated_at, safe(&title, Lines::Escape)))?;
    }
    Ok(())
}

fn show(found: &Found, globals: &Globals) -> Result<(), CommandError> {
    let mut all = Table::try_from(&found.settings).map_err(|e| CommandError::from_error(ErrorKind::Failed, &e))?;
    for key in ["api_key", "auth_token"] {
        if let Some(value) = all.get_mut(key) {
            // It is enough to know that there is one, and where it is from.
            *value = Value::String("(set)".to_owned());
        }
    }
    if globals.json {
        return output::json(&serde_json::json!({ "settings": all, "origins": found.origins }));
    }
    let mut lines = Vec::new();
    flat(&all, "", &mut lines);
    for (key, value) in lines {
        let from = found.origins.get(&key).map(|from| format!("   # {from}")).unwrap_or_default();
        output::line(format!("{key} = {value}{from}"))?;
    }
    Ok(())
}

fn flat(table: &Table, path: &str, out: &mut Vec<(String, String)>) {
    for (key, value) in table {
        let full = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        match value {
            Value::Table(inner) if path != "prices" => flat(inner, &full, out),
            value => out.push((full, value.to_string())),
        }
    }
}
