//! Rules: `Tool` or `Tool(pattern)`, in three lists; what they mean is [`permit`]'s business.

use serde::{Deserialize, Serialize};

use super::Call;
use crate::agent::tools::Kind;
pub use crate::decide::permit::Ruling;
use crate::decide::permit::{self, ActsOn};
use crate::model::agent;

/// What may be done without asking, what must be asked, what may not be done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rules {
    pub allow: Vec<String>,
    pub ask: Vec<String>,
    pub deny: Vec<String>,
}

impl Rules {
    /// `deny` before `ask` before `allow`, however exact a rule is.
    #[must_use]
    pub fn ruling(&self, call: &Call<'_>) -> Ruling {
        let Self { allow, ask, deny } = self.clone();
        let rules = agent::Rules { allow, ask, deny, expires: None };
        let acts_on = match call.kind {
            Kind::Execute => ActsOn::Command,
            Kind::Read | Kind::Edit | Kind::Search => ActsOn::Paths,
            Kind::Fetch | Kind::Think | Kind::Other => ActsOn::Other,
        };
        let subjects = if call.subject.is_empty() { Vec::new() } else { vec![call.subject.to_owned()] };
        permit::ruling(&rules, &permit::Call { names: vec![call.tool.to_owned()], subjects, acts_on })
    }

    /// Somebody said yes for good: to this tool, on exactly this.
    pub fn allow_always(&mut self, tool: &str, subject: &str) {
        let rule = if subject.is_empty() { tool.to_owned() } else { format!("{tool}({})", permit::escaped(subject)) };
        if !self.allow.contains(&rule) {
            self.allow.push(rule);
        }
    }

    /// Adds another set; what is forbidden in one stays forbidden.
    pub fn extend(&mut self, other: Self) {
        self.allow.extend(other.allow);
        self.ask.extend(other.ask);
        self.deny.extend(other.deny);
    }

    /// Checks how a rule is written.
    ///
    /// # Errors
    /// What is wrong with it; reads after the rule.
    pub fn check(rule: &str) -> Result<(), String> {
        permit::check(rule)
    }
}
