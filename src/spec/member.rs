//! `[[member]]`, with `[defaults]` laid under each.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;

use serde_json::Map;
use toml::de::{DeTable, DeValue};

use super::agent;
use super::desk::{At, in_order};
use super::error::{Mistake, quote};
use super::load::Places;
use super::program::{NoProgram, SearchPath, resolve};
use super::sandbox;
use super::section::Section;
use super::suggest::nearest;
use crate::model::name::Name;
use crate::model::spec::{
    Deliver, EngineKind, Isolation, LimitsSpec, MemberSpec, OnShutdown, Restart, is_color, palette,
};

pub(super) const MEMBER_KEYS: [&str; 31] = [
    "name",
    "engine",
    "agent_type",
    "command",
    "deliver",
    "cwd",
    "restart",
    "plan_mode_required",
    "execute",
    "on_shutdown",
    "settle",
    "clean_env",
    "env",
    "pass_env",
    "capabilities",
    "prompt",
    "color",
    "model",
    "durable",
    "isolation",
    "setup",
    "sandbox",
    "state_dirs",
    "unix_sockets",
    "network",
    "sandbox_fallback",
    "agent",
    "mode",
    "mcp",
    "load",
    "permissions",
];
const ENGINES: [(&str, EngineKind); 3] =
    [("acp", EngineKind::Acp), ("command", EngineKind::Command), ("worker", EngineKind::Worker)];
const DELIVERS: [(&str, Deliver); 3] =
    [("mailbox", Deliver::Mailbox), ("stdin", Deliver::Stdin), ("paste", Deliver::Paste)];
const ISOLATIONS: [(&str, Isolation); 2] = [("none", Isolation::None), ("worktree", Isolation::Worktree)];
const RESTARTS: [(&str, Restart); 3] =
    [("never", Restart::Never), ("on-failure", Restart::OnFailure), ("always", Restart::Always)];
const ON_SHUTDOWNS: [(&str, OnShutdown); 3] =
    [("finish", OnShutdown::Finish), ("now", OnShutdown::Now), ("ask", OnShutdown::Ask)];

/// A member as read: its name as written, and the rest where all of it was good.
pub(super) struct Read {
    pub name: Option<At<String>>,
    pub spec: Option<MemberSpec>,
    pub search: SearchPath,
}

/// What is wrong with `[defaults]` itself, also where no member uses it.
pub(super) fn check_defaults(defaults: &Section<'_, '_>, places: &Places) {
    defaults.check_keys("`[defaults]`", &MEMBER_KEYS);
    if let Some((key, _)) = defaults.top.get_key_value("name") {
        let message = "`name` cannot have a default";
        defaults.desk.note(Mistake::at(key.span(), message, "").help("every member has a name of its own"));
    }
    let _ = fields(defaults, None, places);
}

pub(super) fn read_all(
    top: &Section<'_, '_>,
    defaults: &DeTable<'_>,
    limits: &LimitsSpec,
    places: &Places,
) -> Vec<Read> {
    let mut out: Vec<Read> = Vec::new();
    let mut colored = 0;
    for table in top.tables("member") {
        let section = Section { under: Some(defaults), ..table };
        let mut read = read(&section, places);
        if let Some(spec) = &mut read.spec
            && spec.color.is_none()
        {
            spec.color = Some(palette(colored).to_owned());
            colored += 1;
        }
        if let Some(name) = &read.name {
            let first = out.iter().filter_map(|r| r.name.as_ref()).find(|n| n.value == name.value);
            if let Some(first) = first {
                let message = format!("two members are named {}", quote(&name.value));
                top.desk.note(Mistake::at(name.at.clone(), message, "again here").and(first.at.clone(), "first here"));
            }
        }
        if out.len() == limits.max_members {
            let message = format!("more members than `max_members = {}` allows", limits.max_members);
            let at = read.name.as_ref().map_or(section.at.clone(), |n| n.at.clone());
            top.desk.note(Mistake::at(at, message, "one too many").help("raise `max_members` in `[limits]`"));
        }
        out.push(read);
    }
    out
}

fn read(section: &Section<'_, '_>, places: &Places) -> Read {
    section.check_keys("`[[member]]`", &MEMBER_KEYS);
    let own_name = section.top.get("name");
    if own_name.is_none() {
        section.desk.note(Mistake::at(section.at.clone(), "a member has no `name`", "this member"));
    }
    let text = own_name.and_then(|entry| section.desk.text_of("name", entry));
    let name = text.as_ref().and_then(|t| section.desk.name_of("member name", t));
    let (spec, search) = fields(section, name, places);
    Read { name: text, spec, search }
}

/// The agent that leads, which is read as any member.
pub(super) fn read_leader(section: &Section<'_, '_>, name: &str, places: &Places) -> Read {
    let at = section.at.clone();
    let text = section.text("name").unwrap_or(At { value: name.to_owned(), at });
    let name = section.desk.name_of("member name", &text);
    let (mut spec, search) = fields(section, name, places);
    if let Some(spec) = &mut spec {
        spec.color.get_or_insert_with(|| "white".to_owned());
    }
    Read { name: Some(text), spec, search }
}

/// Every key but the name. Without a name (for `[defaults]`) only the values themselves are checked.
fn fields(section: &Section<'_, '_>, name: Option<Name>, places: &Places) -> (Option<MemberSpec>, SearchPath) {
    let word = section.word("engine", &ENGINES, &[]);
    // Who names an agent and no engine means the one that speaks with agents.
    let by_agent = section.entry("engine").is_none() && section.entry("agent").is_some();
    let engine = word.unwrap_or(if by_agent { EngineKind::Acp } else { EngineKind::default() });
    // A word that is none was noted; what follows from it would only confuse.
    let engine_known = word.is_some() || section.entry("engine").is_none();
    let cwd = cwd(section, places);
    let env = env(section);
    let path = env.get("PATH").map_or_else(|| places.path.clone(), Into::into);
    let search = SearchPath { path, cwd: cwd.clone() };
    let deliver = section.word("deliver", &DELIVERS, &[]).unwrap_or_default();
    let plan_mode_required = section.flag("plan_mode_required").unwrap_or_default();
    let isolation = section.word("isolation", &ISOLATIONS, &[]).unwrap_or_default();
    let setup = argv(section, "setup", places, std::slice::from_ref(&search));
    if isolation == Isolation::None && name.is_some() {
        check_shared(section);
    }
    let (mut command, mut execute) = (Vec::new(), None);
    let preset = agent::preset_of(section);
    match engine {
        EngineKind::Worker if engine_known && name.is_some() => check_worker(section, plan_mode_required),
        // Nothing in a spec starts a guest: `crewmux join` makes its place.
        EngineKind::Worker | EngineKind::Mcp => {}
        EngineKind::Acp => {
            agent::check_acp(section);
            command = agent::command(section, preset.as_ref(), name.as_ref(), places, &search);
        }
        EngineKind::Command => {
            agent::check_command(section);
            let search = std::slice::from_ref(&search);
            execute = argv(section, "execute", places, search);
            command = argv(section, "command", places, search).unwrap_or_default();
            if section.entry("command").is_none() && name.is_some() {
                let at = section.entry("engine").map_or(section.at.clone(), |(e, _)| e.span());
                section.desk.note(
                    Mistake::at(at, format!("member {} has no `command`", who(name.as_ref())), "needs a command")
                        .help("write `command = [\"PROGRAM\", \"ARGUMENT\", …]`"),
                );
            }
        }
    }
    let confined = sandbox::read(section, engine, plan_mode_required, places);
    let spec = MemberSpec {
        engine,
        agent_type: section.string("agent_type"),
        command,
        deliver: if engine == EngineKind::Command { deliver } else { Deliver::default() },
        cwd: cwd.to_string_lossy().into_owned(),
        restart: section.word("restart", &RESTARTS, &[]).unwrap_or_default(),
        plan_mode_required,
        execute,
        on_shutdown: section.word("on_shutdown", &ON_SHUTDOWNS, &[]).unwrap_or_default(),
        settle: section.span("settle", true).unwrap_or_default(),
        clean_env: section.flag("clean_env").unwrap_or_default(),
        env,
        pass_env: pass_env(section),
        capabilities: section.strings("capabilities"),
        prompt: section.string("prompt"),
        color: color(section),
        model: section.string("model"),
        durable: section.flag("durable").unwrap_or_default(),
        isolation,
        setup,
        sandbox: confined.mode,
        state_dirs: confined.state_dirs,
        unix_sockets: confined.unix_sockets,
        network: confined.network,
        sandbox_fallback: confined.fallback,
        agent: agent::read(section, engine, preset, places, &search),
        extra: Map::new(),
        // Last, because a member without a name is none.
        name: match name {
            Some(name) => name,
            None => return (None, search),
        },
    };
    (Some(spec), search)
}

/// A worker runs the tasks' programs; keys of a program of its own would do nothing.
fn check_worker(section: &Section<'_, '_>, plan_mode_required: bool) {
    for key in ["command", "execute", "deliver", "settle", "agent", "mode", "mcp", "load"] {
        if let Some((entry, true)) = section.entry(key) {
            section.desk.note(
                Mistake::at(entry.span(), format!("`{key}` is not for a worker"), "only with `engine = \"command\"`")
                    .help(
                        "a worker runs the `run` of each task; write `engine = \"command\"` for a program of its own",
                    ),
            );
        }
    }
    if let Some((entry, _)) = section.entry("plan_mode_required")
        && plan_mode_required
    {
        section.desk.note(
            Mistake::at(entry.span(), "a worker cannot be in plan mode", "only with `engine = \"command\"`")
                .help("a worker has no program that could submit a plan"),
        );
    }
}

/// `setup` belongs to a fresh work tree; where there is none it would never run.
fn check_shared(section: &Section<'_, '_>) {
    if let Some((entry, true)) = section.entry("setup") {
        section.desk.note(
            Mistake::at(entry.span(), "`setup` without a work tree", "only with `isolation = \"worktree\"`")
                .help("`setup` runs once in a fresh work tree of the member's own"),
        );
    }
}

pub(super) fn who(name: Option<&Name>) -> String {
    name.map_or_else(String::new, |n| format!("`{n}`"))
}

fn cwd(section: &Section<'_, '_>, places: &Places) -> PathBuf {
    let Some(text) = section.text("cwd") else { return places.cwd.clone() };
    let joined = places.cwd.join(&text.value);
    match joined.canonicalize() {
        Ok(full) if full.is_dir() && full.to_str().is_some() => full,
        _ => {
            let what = if joined.exists() { "is not a directory" } else { "does not exist" };
            let message = format!("the directory {} {what}", quote(&text.value));
            section.desk.note(
                Mistake::at(text.at, message, "")
                    .help(format!("a member's `cwd` starts from {}", places.cwd.display())),
            );
            places.cwd.clone()
        }
    }
}

/// A program and its arguments, the program resolved.
pub(super) fn argv(
    section: &Section<'_, '_>,
    key: &str,
    places: &Places,
    search: &[SearchPath],
) -> Option<Vec<String>> {
    let (entry, _) = section.entry(key)?;
    let list = section.list(key)?;
    let Some(program) = list.first() else {
        section.desk.note(
            Mistake::at(entry.span(), format!("`{key}` is empty"), "")
                .help("the first string is the program, the others are its arguments"),
        );
        return None;
    };
    if program.value.is_empty() {
        section.desk.note(Mistake::at(program.at.clone(), format!("the program of `{key}` is an empty string"), ""));
        return None;
    }
    let mut out: Vec<String> = list.iter().map(|t| t.value.clone()).collect();
    match resolve(&program.value, &places.root, search) {
        Ok(full) => out[0] = full,
        Err(why) => {
            let message = format!("the program {} {why}", quote(&program.value));
            let mut mistake = Mistake::at(program.at.clone(), message, "");
            mistake.help = Some(program_help(&program.value, &why, places));
            section.desk.note(mistake);
        }
    }
    Some(out)
}

fn program_help(program: &str, why: &NoProgram, places: &Places) -> String {
    match why {
        NoProgram::NotExecutable(file) => format!("make it executable: chmod +x {}", file.display()),
        NoProgram::NotOnPath if places.root.join(program).is_file() => {
            format!("to run the file of that name in {}, write `./{program}`", places.root.display())
        }
        NoProgram::NotOnPath if program.contains(' ') => {
            "arguments are strings of their own: [\"PROGRAM\", \"ARGUMENT\", …]".to_owned()
        }
        NoProgram::NotOnPath => "install it, or write its path".to_owned(),
        NoProgram::Missing(file) if program.starts_with("~/") => {
            format!("`~` is not expanded; write the path out instead of {}", file.display())
        }
        _ => {
            let from = format!("a program's relative path starts from the spec's root, {}", places.root.display());
            match sibling(program, why) {
                Some(near) => format!("did you mean `{near}`?\n{from}"),
                None => from,
            }
        }
    }
}

/// The file beside a missing program whose name is most like it, written as the spec writes it.
fn sibling(program: &str, why: &NoProgram) -> Option<String> {
    let NoProgram::Missing(file) = why else { return None };
    let names: Vec<String> =
        std::fs::read_dir(file.parent()?).ok()?.flatten().filter_map(|e| e.file_name().into_string().ok()).collect();
    let near = nearest(file.file_name()?.to_str()?, names.iter().map(String::as_str))?;
    let (folder, _) = program.rsplit_once('/')?;
    Some(format!("{folder}/{near}"))
}

/// A member's own variables over those of the defaults.
pub(super) fn env(section: &Section<'_, '_>) -> BTreeMap<String, String> {
    let mut out = BTreeMap::new();
    for table in [section.under, Some(section.top)].into_iter().flatten() {
        let Some(entry) = table.get("env") else { continue };
        let DeValue::Table(vars) = entry.get_ref() else {
            section.desk.wrong_type("env", entry, "a table of strings, like `{ NAME = \"value\" }`");
            continue;
        };
        for (key, value) in in_order(vars) {
            if check_env_name(section, key.get_ref(), &key.span())
                && let Some(text) = section.desk.text_of(key.get_ref(), value)
            {
                out.insert(key.get_ref().to_string(), text.value);
            }
        }
    }
    out
}

fn pass_env(section: &Section<'_, '_>) -> Vec<String> {
    let list = section.list("pass_env").unwrap_or_default();
    list.into_iter().filter(|t| check_env_name(section, &t.value, &t.at)).map(|t| t.value).collect()
}

fn check_env_name(section: &Section<'_, '_>, name: &str, at: &Range<usize>) -> bool {
    let good = !name.is_empty() && !name.contains(['=', '\0']);
    if !good {
        let message = format!("{} is not a name for an environment variable", quote(name));
        section.desk.note(Mistake::at(at.clone(), message, ""));
    }
    good
}

fn color(section: &Section<'_, '_>) -> Option<String> {
    let text = section.text("color")?;
    if is_color(&text.value) {
        return Some(text.value);
    }
    section.desk.note(Mistake::at(text.at, format!("{} is not a colour", quote(&text.value)), "").help(
        "use black, red, green, yellow, blue, magenta, cyan or white, the same with `bright` in front, \
         `colour0` to `colour255`, or `#rrggbb`",
    ));
    None
}
