//! How far a child has come: counted from what its loop tells.

use std::collections::VecDeque;

use serde::Serialize;

use crate::agent::wire::Usage;

/// Activities that are shown.
const ACTIVITIES: usize = 5;
/// Longest activity in characters: it stands in one line.
const ACTIVITY_CHARS: usize = 120;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Progress {
    pub tool_calls: u64,
    /// What the model read at its last request, cache and all: how full its context is.
    pub input_tokens: u64,
    /// All that it wrote so far.
    pub output_tokens: u64,
    /// What the provider's prompt cache spared, over all requests.
    pub cache_read_tokens: u64,
    /// The last few calls, newest last.
    pub activities: VecDeque<String>,
}

impl Progress {
    /// A model has answered.
    pub fn answered(&mut self, usage: Usage) {
        self.input_tokens = usage.context();
        self.output_tokens += usage.output_tokens;
        self.cache_read_tokens += usage.cache_read_input_tokens;
    }

    /// A tool was called: its name and what it works on.
    pub fn called(&mut self, tool: &str, subject: &str) {
        self.tool_calls += 1;
        let text = format!("{tool} {subject}");
        let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let short = match line.char_indices().nth(ACTIVITY_CHARS) {
            Some((end, _)) => format!("{}…", &line[..end]),
            None => line,
        };
        if self.activities.len() == ACTIVITIES {
            self.activities.pop_front();
        }
        self.activities.push_back(short);
    }

    /// Tokens as a report counts them: what was read last and all that was written.
    #[must_use]
    pub fn total_tokens(&self) -> u64 {
        self.input_tokens + self.output_tokens
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_input_and_the_sum_of_output_count() {
        let mut progress = Progress::default();
        let usage = |input, output, write, read| Usage {
            input_tokens: input,
            output_tokens: output,
            cache_creation_input_tokens: write,
            cache_read_input_tokens: read,
        };
        progress.answered(usage(100, 7, 50, 0));
        progress.answered(usage(10, 5, 20, 150));
        assert_eq!((progress.input_tokens, progress.output_tokens, progress.cache_read_tokens), (180, 12, 150));
        assert_eq!(progress.total_tokens(), 192);
    }

    #[test]
    fn the_last_five_activities_each_in_a_line() {
        let mut progress = Progress::default();
        for n in 0..7 {
            progress.called("Bash", &format!("echo {n}\n  && ls"));
        }
        progress.called("Read", &"x".repeat(1000));
        let seen: Vec<&str> = progress.activities.iter().map(String::as_str).collect();
        assert_eq!(seen[..4], ["Bash echo 3 && ls", "Bash echo 4 && ls", "Bash echo 5 && ls", "Bash echo 6 && ls"]);
        assert_eq!((progress.tool_calls, seen[4].chars().count()), (8, ACTIVITY_CHARS + 1));
    }
}
