//! A home of the benchmark's own, with real teams in it. Whatever was launched is gone when this is dropped.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crewmux::model::id::MessageId;
use crewmux::model::message::{Body, Message, Text};
use crewmux::model::name::{AgentId, Name};
use crewmux::model::team::Team;
use crewmux::store::{Home, MemberDir, roster};
use tempfile::TempDir;

use super::Fallible;

pub struct Place {
    dir: TempDir,
    up: Vec<String>,
}

impl Place {
    pub fn new() -> Fallible<Self> {
        Ok(Self { dir: tempfile::Builder::new().prefix("crewmux-bench-").tempdir()?, up: Vec::new() })
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// The program that is measured, in this home and with nothing of the environment that would change its mind.
    pub fn crewmux(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_crewmux"));
        command.args(args).env("CREWMUX_HOME", self.dir.path().join("home")).current_dir(self.dir.path());
        for name in ["TMUX", "TMUX_PANE", "CREWMUX_TEAM"] {
            command.env_remove(name);
        }
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command
    }

    pub fn run(&self, args: &[&str]) -> Fallible<()> {
        let output = self.crewmux(args).stderr(Stdio::piped()).output()?;
        if output.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stderr).trim().replace('\n', "; ");
        Err(format!("crewmux {} ended with {}: {said}", args.join(" "), output.status).into())
    }

    /// Writes a spec whose members are given as TOML.
    pub fn spec(&self, team: &str, head: &str, members: &[String]) -> Fallible<PathBuf> {
        let path = self.dir.path().join(format!("{team}.toml"));
        let members: String = members.iter().map(|m| format!("\n[[member]]\n{m}\n")).collect();
        std::fs::write(&path, format!("v = 1\nname = \"{team}\"\n{head}\n{members}"))?;
        Ok(path)
    }

    pub fn up(&mut self, team: &str, spec: &Path) -> Fallible<()> {
        // Noted first: one that comes up only in part is taken down as well.
        self.up.push(team.to_owned());
        self.run(&["up", &spec.to_string_lossy()])
    }

    pub fn down(&mut self, team: &str) -> Fallible<()> {
        self.run(&["down", "--team", team])?;
        self.up.retain(|t| t != team);
        Ok(())
    }

    pub fn home(&self) -> Home {
        Home::at(self.dir.path().join("home"))
    }

    pub fn team(&self, team: &str) -> Fallible<Team> {
        Ok(roster::read_team(&self.home().team(&name(team)?))?)
    }

    /// A member's folder that belongs to no team.
    pub fn mailbox(&self, name: &str) -> Fallible<MemberDir> {
        let dir = MemberDir::at(self.dir.path().join(name));
        dir.create()?;
        Ok(dir)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        for team in &self.up {
            if let Err(error) = self.run(&["down", "--team", team, "--force"]) {
                eprintln!("cannot take `{team}` down: {error}");
            }
        }
    }
}

pub fn name(text: &str) -> Fallible<Name> {
    Ok(Name::parse(text)?)
}

/// A text message as one member writes it to another.
pub fn message(id: MessageId, content: &str) -> Fallible<Message> {
    let body = Body::Text(Text { content: Some(content.to_owned()), ..Text::default() });
    let mut message = Message::new(id, AgentId::new(name("writer")?, name("bench")?), name("reader")?, &body);
    message.summary = Some("what it is about, in a few words".to_owned());
    Ok(message)
}
