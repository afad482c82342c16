//! A team at work, and all that it was told is done.

use serde_json::Value;

use crate::support::{Crew, until};

/// A team `t`, and what of its work was acknowledged.
pub struct Trial {
    pub crew: Crew,
    count: u32,
    sent: Vec<String>,
    tasks: Vec<String>,
    decided: Vec<String>,
}

/// The members: one that takes mail, one that asks for permissions, one that runs tasks.
pub fn spec(crew: &Crew) -> String {
    let always = "restart = \"always\"\n";
    format!(
        "v = 1\nname = \"t\"\n{}{always}{}{always}\n[[member]]\nname = \"runner\"\nengine = \"worker\"\n{always}",
        crew.taker("writer"),
        crew.puppet("hand")
    )
}

impl Trial {
    /// A team that is not up yet: faults may be set from the beginning on.
    pub fn new() -> Self {
        let crew = Crew::new();
        std::fs::create_dir(crew.dir().join("faults")).expect("a folder");
        crew.write("spec.toml", &spec(&crew));
        Self { crew, count: 0, sent: Vec::new(), tasks: Vec::new(), decided: Vec::new() }
    }

    pub fn up() -> Self {
        let trial = Self::new();
        trial.crew.ok(&["up", "./spec.toml"]);
        trial
    }

    /// The next process that gets there meets it: `PARTY FILE STEP WHAT [SKIP]`.
    pub fn fault(&self, fault: &str) {
        let _ = std::fs::remove_file(self.crew.dir().join("faults/fired"));
        self.crew.write("faults/part", fault);
        std::fs::rename(self.crew.dir().join("faults/part"), self.crew.dir().join("faults/fault")).expect("renamed");
    }

    /// Nobody meets it any more who has not yet.
    pub fn no_fault(&self) {
        let _ = std::fs::remove_file(self.crew.dir().join("faults/fault"));
    }

    /// The fault that somebody may meet, or has met.
    fn set(&self) -> String {
        format!("the fault is {:?}, or was {:?}", self.crew.read("faults/fault"), self.crew.read("faults/fired"))
    }

    pub fn fired(&self) -> bool {
        self.crew.dir().join("faults/fired").exists()
    }

    /// Some of everything. What ends well is noted, what does not may be there or not.
    pub fn works(&mut self) {
        self.count += 1;
        let n = self.count.to_string();
        let text = format!("mail {n}");
        if self.crew.run(&["send", "--team", "t", "writer", &text]).code == 0 {
            self.sent.push(text);
        }
        let subject = format!("task {n}");
        if self.crew.run(&["task", "--team", "t", "add", &subject, "--run", "--", "true"]).code == 0 {
            self.tasks.push(subject);
        }
        self.decides();
    }

    fn decides(&mut self) {
        let life = self.crew.entry("t", "hand")["life"].clone();
        let scope = format!("scope{}", self.count);
        let script = format!("crewmux permission ask deploy --scope {scope}");
        if self.crew.order_unless("hand", &script, || self.is_over(&life)).is_none() {
            return;
        }
        let mut id = None;
        until(&format!("a permission is asked for, or nobody is there to ask; {}", self.set()), || {
            id = self
                .requests()
                .into_iter()
                .find(|r| r["state"] == "open")
                .and_then(|r| Some(r["id"].as_str()?.to_owned()));
            id.is_some() || self.fired() || self.is_over(&life)
        });
        if let Some(id) = id
            && self.crew.run(&["approve", "--team", "t", &id]).code == 0
        {
            self.is_told(&id, &life);
            self.decided.push(id);
        }
    }

    /// Who asked hears of the decision, as long as it lives.
    fn is_told(&self, id: &str, life: &Value) {
        let inbox = self.crew.member("t", "hand").join("mail/inbox.jsonl");
        until(&format!("`hand` is told of {id}"), || {
            let told = |m: &Value| m["type"] == "permission_response" && m["body"]["request_id"] == id;
            self.crew.journal(&inbox).iter().any(told) || self.is_over(life)
        });
    }

    /// Whether this life of `hand` is over, or nobody leads it.
    fn is_over(&self, life: &Value) -> bool {
        let status = self.crew.json(&["status", "--team", "t"]);
        let hand = status["members"].as_array().into_iter().flatten().find(|m| m["name"] == "hand");
        let lives = hand.is_some_and(|hand| hand["alive"] == true);
        !lives || status["lead"]["alive"] == false || self.crew.entry("t", "hand")["life"] != *life
    }

    fn lead_lives(&self) -> bool {
        self.crew.json(&["status", "--team", "t"])["lead"]["alive"] == true
    }

    pub fn until_no_lead(&self) {
        until("the lead is gone", || !self.lead_lives());
    }

    fn requests(&self) -> Vec<Value> {
        self.crew.json(&["requests", "--team", "t", "--all"]).as_array().cloned().unwrap_or_default()
    }

    /// Who has met the fault gets a next life, if it was the end of it.
    fn recovers(&self) {
        let fault = self.crew.read("faults/fired");
        let words: Vec<&str> = fault.split_whitespace().collect();
        if words.first() == Some(&"lead") && !matches!(words.get(3), Some(&("enospc" | "eio" | "short"))) {
            self.until_no_lead();
        }
        self.goes_on();
    }

    /// Whoever has died gets a next life, by itself or by the verb that a person would use.
    pub fn goes_on(&self) {
        if !self.lead_lives() {
            self.crew.ok(&["up", "--resume", "t"]);
        }
        for member in ["writer", "hand", "runner"] {
            until(&format!("{member} is at work again"), || {
                let now = self.crew.status("t", member);
                let up = now["alive"] == true && matches!(now["state"].as_str(), Some("idle" | "busy" | "waiting"));
                if now["alive"] == false {
                    // Sooner than its policy would, and also where that has given up.
                    let _ = self.crew.run(&["restart", "--team", "t", member]);
                }
                up
            });
        }
    }

    /// Everything that was acknowledged is there.
    pub fn keeps_its_word(&self) {
        for text in &self.sent {
            self.crew.until_got("writer", text);
        }
        for text in &self.sent {
            let got = self.crew.got("writer");
            let of_it: Vec<&Value> = got.iter().filter(|m| m["body"]["content"] == text.as_str()).collect();
            assert!(of_it[1..].iter().all(|m| m["redelivered"] == true), "given twice without a mark: {of_it:?}");
        }
        let tasks = self.crew.json(&["task", "list", "--team", "t"]);
        let tasks = tasks.as_array().cloned().unwrap_or_default();
        for subject in &self.tasks {
            assert!(tasks.iter().any(|t| t["subject"] == subject.as_str()), "{subject} is not among {tasks:#?}");
        }
        let requests = self.requests();
        for id in &self.decided {
            let found = requests.iter().find(|r| r["id"] == id.as_str());
            assert_eq!(found.map(|r| &r["state"]), Some(&Value::from("approved")), "{id}: {found:?}");
        }
    }

    /// Sets the fault, works until somebody has met it, and sees what is left of it all.
    pub fn meets(&mut self, fault: &str) {
        self.fault(fault);
        self.works();
        for _ in 0..20 {
            if self.fired() {
                break;
            }
            self.works();
        }
        assert!(self.fired(), "nobody came by: {fault}");
        self.recovers();
        self.works();
        self.keeps_its_word();
    }

    /// The team goes as any other, and nothing of it runs on.
    pub fn goes_down(self) {
        assert!(!self.sent.is_empty() && !self.tasks.is_empty() && !self.decided.is_empty());
        self.crew.ok(&["down", "--team", "t"]);
        self.is_gone();
    }

    pub fn is_gone(&self) {
        until("nothing runs", || self.crew.processes().is_empty());
        assert!(!self.crew.team("t").exists());
    }
}
