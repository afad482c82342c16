//! Members that keep what they are given, and what a test wants to know of them.

use std::path::PathBuf;

use serde_json::Value;

use crate::support::{Crew, lives, until, with_environment};

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

    /// Every process that this test's teams run: by the home in its environment, or by the test's folder in its
    /// command line.
    pub fn processes(&self) -> Vec<u32> {
        let mut all = with_environment("CREWMUX_HOME", self.home().to_str().expect("a plain path"));
        let folder = format!("{}/", self.dir().display());
        for pid in
            std::fs::read_dir("/proc").expect("proc").flatten().filter_map(|e| e.file_name().to_str()?.parse().ok())
        {
            let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            if String::from_utf8_lossy(&line).contains(&folder) && lives(pid) && !all.contains(&pid) {
                all.push(pid);
            }
        }
        all
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
