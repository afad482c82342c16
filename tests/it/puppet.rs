//! Members whose programs a test holds in its hand: one does what it is told, one keeps what it is given.

use std::io::Write;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::support::{Crew, Ran, until};

/// Carries out the scripts that the test names in its fifo, one after the other.
const PUPPET: &str = r#"#!/bin/sh
exec 3<>"$1"
while read -r script <&3; do
    sh "$script" >"$script.out" 2>"$script.err"
    echo $? >"$script.tmp"
    mv "$script.tmp" "$script.rc"
done
"#;

impl Crew {
    /// A `[[member]]` that does what [`Crew::inside`] tells it, and reads its mailbox by itself. Further keys can
    /// be put behind it.
    pub fn puppet(&self, name: &str) -> String {
        self.script("puppet.sh", PUPPET);
        let fifo = self.fifo(name);
        let made = Command::new("mkfifo").arg(&fifo).status().expect("mkfifo runs");
        assert!(made.success());
        let fifo = fifo.display();
        format!("\n[[member]]\nname = \"{name}\"\nengine = \"command\"\ncommand = [\"./puppet.sh\", \"{fifo}\"]\n")
    }

    fn fifo(&self, name: &str) -> PathBuf {
        self.dir().join(format!("{name}.fifo"))
    }

    /// Runs a shell script as a child of the puppet's program, in its pane and with its environment.
    pub fn inside(&self, puppet: &str, script: &str) -> Ran {
        let path = self.begin_inside(puppet, script);
        let rc = path.with_extension("sh.rc");
        until("the puppet has done it", || rc.exists());
        let read = |kind: &str| std::fs::read_to_string(path.with_extension(kind)).unwrap_or_default();
        Ran { code: read("sh.rc").trim().parse().expect("a code"), out: read("sh.out"), err: read("sh.err") }
    }

    /// [`Crew::inside`], without waiting for its end. The script's path.
    pub fn begin_inside(&self, puppet: &str, script: &str) -> PathBuf {
        let n = std::fs::read_dir(self.dir()).expect("the folder").count();
        let path = self.write(&format!("do-{n}.sh"), script);
        let mut fifo = std::fs::OpenOptions::new().write(true).open(self.fifo(puppet)).expect("the fifo");
        writeln!(fifo, "{}", path.display()).expect("the puppet listens");
        path
    }

    /// A `[[member]]` whose program appends every message that it is given to a file.
    pub fn taker(&self, name: &str) -> String {
        let file = self.got_file(name);
        let file = file.display();
        format!(
            "\n[[member]]\nname = \"{name}\"\nengine = \"command\"\ndeliver = \"stdin\"\n\
             command = [\"sh\", \"-c\", \"exec cat >>{file}\"]\n"
        )
    }

    fn got_file(&self, name: &str) -> PathBuf {
        self.dir().join(format!("{name}.got"))
    }

    /// What a taker was given, so far.
    pub fn got(&self, taker: &str) -> Vec<Value> {
        self.journal(&self.got_file(taker))
    }

    /// The texts among [`Crew::got`].
    pub fn texts(&self, taker: &str) -> Vec<String> {
        self.got(taker).iter().map(text_of).collect()
    }

    /// Waits until the taker was given this text.
    pub fn until_got(&self, taker: &str, text: &str) {
        until(&format!("{taker} gets {text:?}"), || self.texts(taker).iter().any(|t| t == text));
    }

    /// The member's inbox as it lies on file, without the journal's own records.
    pub fn inbox(&self, team: &str, member: &str) -> Vec<Value> {
        let all = self.journal(&self.member(team, member).join("mail/inbox.jsonl"));
        all.into_iter().filter(|line| line["id"].is_string()).collect()
    }

    /// The process that a lease names.
    pub fn pid_of(&self, team: &str, member: &str) -> u32 {
        let pid = match member {
            "team-lead" => self.json(&["status", "--team", team])["lead"]["pid"].clone(),
            member => self.status(team, member)["pid"].clone(),
        };
        u32::try_from(pid.as_u64().unwrap_or_else(|| panic!("`{member}` has a pid"))).expect("a pid")
    }

    /// `tmux` on the team's own server.
    pub fn tmux(&self, team: &str, args: &[&str]) -> Ran {
        let roster: Value = serde_json::from_slice(&std::fs::read(self.team(team).join("team.json")).expect("a team"))
            .expect("a roster");
        let socket = roster["tmux"]["socket"].as_str().expect("a socket").to_owned();
        Ran::from(Command::new("tmux").arg("-S").arg(socket).args(args).env_remove("TMUX").output().expect("tmux runs"))
    }

    /// The pids of all panes on the team's server.
    pub fn panes(&self, team: &str) -> Vec<u32> {
        let listed = self.tmux(team, &["list-panes", "-a", "-F", "#{pane_pid}"]).out;
        listed.lines().filter_map(|l| l.parse().ok()).collect()
    }
}

/// The text of a message.
pub fn text_of(message: &Value) -> String {
    message["body"]["content"].as_str().unwrap_or_default().to_owned()
}

/// The head of a spec.
pub fn team(name: &str) -> String {
    format!("v = 1\nname = \"{name}\"\n")
}
