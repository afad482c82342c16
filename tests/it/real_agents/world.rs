//! A team of real agents: their programs on a path of the test's own, their settings in a home of its own.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::model::Model;
use crate::support::Crew;

/// One make of agent: its preset, the program that the preset names, and where npm puts that.
pub struct Make {
    pub name: &'static str,
    program: &'static str,
    installed: &'static str,
    /// The end of the path of its model's requests.
    pub dialect: &'static str,
}

pub const MAKES: [Make; 4] = [
    Make {
        name: "claude",
        program: "claude-agent-acp",
        installed: "claude-acp/node_modules/.bin/claude-agent-acp",
        dialect: "anthropic",
    },
    Make {
        name: "codex",
        program: "codex-acp",
        installed: "codex-acp/node_modules/.bin/codex-acp",
        dialect: "responses",
    },
    Make { name: "gemini", program: "gemini", installed: "gemini/node_modules/.bin/gemini", dialect: "gemini" },
    Make { name: "opencode", program: "opencode", installed: "opencode/node_modules/.bin/opencode", dialect: "chat" },
];

/// Longer than the slowest of them takes, and than the minute that one of them waits before it loads a session.
pub const LONG: Duration = Duration::from_secs(150);

pub struct World {
    pub crew: Crew,
    pub model: Model,
    pub makes: Vec<&'static Make>,
    test: &'static str,
}

impl World {
    /// `None`: what the test needs is not here, which is said. `more` are rules of the model before the others.
    pub fn new(test: &'static str, more: &[Value]) -> Option<Self> {
        let var = |name: &str| match std::env::var_os(name) {
            Some(path) => Some(PathBuf::from(path)),
            None => {
                eprintln!("skipped: {test}: {name} is not set");
                None
            }
        };
        let (agents, tools) = (var("AGENTS_DIR")?, var("CREWMUX_REAL_AGENTS")?);
        let (there, missing): (Vec<_>, Vec<_>) = MAKES.iter().partition(|make| agents.join(make.installed).exists());
        for make in &missing {
            eprintln!("skipped: {test} with {}: {} is not in {}", make.name, make.installed, agents.display());
        }
        let crew = Crew::new();
        let model = Model::start(&tools, crew.dir(), more);
        std::fs::create_dir_all(crew.dir().join("bin")).expect("a folder");
        for make in &there {
            let link = crew.dir().join("bin").join(make.program);
            std::os::unix::fs::symlink(agents.join(make.installed), link).expect("a link");
            std::fs::create_dir_all(crew.dir().join("work").join(make.name)).expect("a folder");
        }
        settings(&crew, model.port);
        (!there.is_empty()).then_some(Self { crew, model, makes: there, test })
    }

    /// Launches a team of every make, each in a folder of its own.
    pub fn up(&self, team: &str, defaults: &str) {
        self.up_with(team, defaults, &self.makes);
    }

    /// The same with some of them.
    pub fn up_with(&self, team: &str, defaults: &str, makes: &[&Make]) {
        let members: String = makes
            .iter()
            .map(|m| format!("[[member]]\nname = \"{0}\"\nagent = \"{0}\"\ncwd = \"work/{0}\"\n", m.name))
            .collect();
        let spec = format!("v = 1\nname = \"{team}\"\n[limits]\nhello = \"120s\"\n[defaults]\n{defaults}\n{members}");
        let path = self.crew.write("spec.toml", &spec);
        let mut up = self.crew.command(&["up", path.to_str().expect("a plain path")]);
        let out = self.with_agents(&mut up).output().expect("it starts");
        assert!(out.status.success(), "{}\n{}", String::from_utf8_lossy(&out.stderr), self.crew.trouble());
    }

    /// A command whose environment has the agents and what they need.
    pub fn with_agents<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        let own = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{own}", self.crew.dir().join("bin").display()));
        command.envs(variables(self.model.port))
    }

    pub fn names(&self) -> Vec<&'static str> {
        self.makes.iter().map(|make| make.name).collect()
    }

    pub fn send(&self, team: &str, to: &str, text: &str) {
        self.crew.ok(&["send", "--team", team, to, text]);
    }

    /// The reports that a member has made.
    pub fn reports(&self, team: &str, member: &str) -> Vec<Value> {
        let from = format!("{member}@{team}");
        let all = self.crew.inbox(team, "team-lead");
        let own = all.into_iter().filter(|m| m["type"] == "report" && (m["from"] == *from || m["from"] == *member));
        own.map(|m| m["body"].clone()).collect()
    }

    /// Waits until each member has made so many more reports than it had.
    pub fn await_reports(&self, team: &str, before: &[usize], more: usize) {
        for (name, before) in self.names().iter().zip(before) {
            self.until(&format!("{name} reports"), || self.reports(team, name).len() >= before + more);
        }
    }

    pub fn counts(&self, team: &str) -> Vec<usize> {
        self.names().iter().map(|name| self.reports(team, name).len()).collect()
    }

    pub fn log(&self, team: &str, member: &str) -> String {
        let path = self.crew.member(team, member).join("output.log");
        String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned()
    }

    /// A member's open request.
    pub fn open(&self, team: &str, member: &str, kind: &str) -> Option<Value> {
        let list = self.crew.json(&["requests", "--team", team]);
        let all = list.as_array().cloned().unwrap_or_default();
        all.into_iter().find(|r| r["state"] == "open" && r["kind"] == kind && r["member"] == member)
    }

    /// Waits for a condition, longer than other tests do.
    pub fn until(&self, what: &str, mut holds: impl FnMut() -> bool) {
        let begun = Instant::now();
        while !holds() {
            assert!(begun.elapsed() < LONG, "waited in vain: {what}\n{}", self.crew.trouble());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Writes down what was seen.
    pub fn saw(&self, member: &str, what: &str) {
        let row = format!("| {member} | {} | {what} |\n", self.test);
        print!("{row}");
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("real-agents.md");
        let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
        file.and_then(|mut file| file.write_all(row.as_bytes())).expect("the row is written");
    }

    /// Processes that work in the test's folder and are neither the model nor the team's own, with what they are.
    pub fn left(&self) -> Vec<String> {
        let procs = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        procs
            .filter_map(|entry| {
                let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
                let cwd = std::fs::read_link(entry.path().join("cwd")).ok()?;
                let words = std::fs::read(entry.path().join("cmdline")).ok()?;
                let words = String::from_utf8_lossy(&words).replace('\0', " ");
                let ours = cwd.starts_with(self.crew.dir()) && crate::support::lives(pid);
                let kept =
                    words.contains("fake_model.py") || (words.contains("crewmux") && !words.contains("crewmux mcp"));
                (ours && !kept).then(|| format!("{pid} {words}"))
            })
            .collect()
    }
}

/// The agents' own settings, as somebody who uses them has them: which model they ask.
fn settings(crew: &Crew, port: u16) {
    crew.write(
        ".codex/config.toml",
        &format!(
            "model = \"fake\"\nmodel_provider = \"fake\"\ncheck_for_update_on_startup = false\n[analytics]\nenabled = false\n\
             [model_providers.fake]\nname = \"fake\"\nbase_url = \"http://127.0.0.1:{port}/v1\"\nenv_key = \"FAKE_KEY\"\n\
             wire_api = \"responses\"\n"
        ),
    );
    let gemini = json!({"security": {"auth": {"selectedType": "gemini-api-key"}}, "general": {"enableAutoUpdate": false},
        "privacy": {"usageStatisticsEnabled": false}});
    crew.write(".gemini/settings.json", &gemini.to_string());
}

fn variables(port: u16) -> Vec<(&'static str, String)> {
    let url = format!("http://127.0.0.1:{port}");
    let options = json!({"baseURL": format!("{url}/v1"), "apiKey": "sk-local"});
    let fake = json!({"name": "Fake", "tool_call": true, "limit": {"context": 200_000, "output": 8000}});
    let opencode = json!({"autoupdate": false, "share": "disabled", "model": "fake/fake", "small_model": "fake/fake",
        "enabled_providers": ["fake"], "provider": {"fake": {"npm": "@ai-sdk/openai-compatible", "name": "Fake",
        "options": options, "models": {"fake": fake}}}});
    let set = |name, value: &str| (name, value.to_owned());
    vec![
        set("ANTHROPIC_BASE_URL", &url),
        set("ANTHROPIC_API_KEY", "sk-local"),
        set("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        set("DISABLE_AUTOUPDATER", "1"),
        set("FAKE_KEY", "sk-local"),
        set("GOOGLE_GEMINI_BASE_URL", &url),
        set("GEMINI_API_KEY", "sk-local"),
        set("GEMINI_MODEL", "gemini-2.5-flash"),
        set("GEMINI_TELEMETRY_ENABLED", "false"),
        set("GEMINI_CLI_TRUST_WORKSPACE", "true"),
        set("OPENCODE_CONFIG_CONTENT", &opencode.to_string()),
        set("OPENCODE_DISABLE_AUTOUPDATE", "1"),
        set("OPENCODE_DISABLE_MODELS_FETCH", "1"),
        set("OPENCODE_DISABLE_LSP_DOWNLOAD", "1"),
        set("OPENCODE_DISABLE_DEFAULT_PLUGINS", "1"),
    ]
}
