//! Members that keep what they are given, and what a test wants to know of them.

use std::path::PathBuf;

use serde_json::Value;

use crate::support::{Crew, until};

impl Crew {
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

    /// The pids of all panes on the team's server.
    pub fn panes(&self, team: &str) -> Vec<u32> {
        let listed = self.tmux(team, &["list-panes", "-a", "-F", "#{pane_pid}"]);
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
