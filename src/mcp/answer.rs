//! What a tool answers: short enough for a model, and where it failed, what to do next.

use rmcp::model::{CallToolResult, ContentBlock};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::act::ActError;

/// Most characters of one answer.
pub const MOST_CHARS: usize = 24_000;
/// Most characters of one text among several in an answer.
pub const MOST_TEXT: usize = 6_000;

/// What a tool came to.
pub type Result<T = Value> = std::result::Result<T, ActError>;

/// The arguments of a tool; a mistake in them is told with what the tool takes.
///
/// # Errors
/// Usage, naming the field.
pub fn arguments<T: DeserializeOwned>(tool: &str, given: Option<Map<String, Value>>) -> Result<T> {
    serde_json::from_value(Value::Object(given.unwrap_or_default()))
        .map_err(|e| ActError::usage(format!("`{tool}` was called wrongly: {e}")).hint("look at the tool's schema"))
}

/// The first `most` characters, and how many more there are.
#[must_use]
pub fn cut(text: &str, most: usize) -> (&str, usize) {
    match text.char_indices().nth(most) {
        Some((at, _)) => (&text[..at], text[at..].chars().count()),
        None => (text, 0),
    }
}

/// A tool's answer as a client gets it: the text alone, so that a model reads it once.
#[must_use]
pub fn result(answer: Result) -> CallToolResult {
    match answer {
        Ok(Value::String(text)) => CallToolResult::success(vec![ContentBlock::text(whole(&text))]),
        Ok(value) => CallToolResult::success(vec![ContentBlock::text(whole(&value.to_string()))]),
        Err(error) => CallToolResult::error(vec![ContentBlock::text(refusal(&error))]),
    }
}

/// The tools keep their answers short by themselves; what an odd team makes longer is cut here.
fn whole(text: &str) -> String {
    match cut(text, MOST_CHARS) {
        (text, 0) => text.to_owned(),
        (text, more) => format!("{text}\n… {more} more characters"),
    }
}

fn refusal(error: &ActError) -> String {
    let mut out = format!("error: {}", cut(&error.message, 2_000).0);
    for cause in &error.causes {
        out += &format!("\ncaused by: {}", cut(cause, 1_000).0);
    }
    for hint in error.hints.iter().filter(|hint| !hint.contains("`crewmux ")) {
        out += &format!("\nhint: {hint}");
    }
    if let Some(next) = next_step(error) {
        out += &format!("\nnext: {next}");
    }
    out
}

/// What a model does about it: hints that name commands are for people at a shell.
fn next_step(error: &ActError) -> Option<&'static str> {
    Some(match error.code {
        3 => "look with `list_members` or `task_list` at what there is; nothing was done",
        4 => "do not try again; if it must be done, ask the lead with `send_message` to `team-lead`",
        5 => "it may still come: go on with other work and look at `read_inbox` later",
        6 => "nobody is there to do it now; go on with what needs no lead, and try again later",
        7 => "things have changed meanwhile: look again before you decide what to do",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(result: &CallToolResult) -> String {
        result.content[0].as_text().expect("text").text.clone()
    }

    #[test]
    fn a_refusal_says_what_to_do_next_and_no_command_for_people() {
        let error = ActError::forbidden("the team roster is flat")
            .hint("ask the lead: `crewmux send team-lead …`")
            .hint("did you mean scan?");
        let refused = result(Err(error));
        assert_eq!(refused.is_error, Some(true));
        let text = text(&refused);
        assert!(text.starts_with("error: the team roster is flat\nhint: did you mean scan?\nnext: "), "{text}");
        assert!(!text.contains("crewmux send"), "{text}");
    }

    #[test]
    fn an_answer_is_cut_at_a_character_and_says_how_much_is_missing() {
        let long = "ä".repeat(MOST_CHARS + 7);
        let answer = text(&result(Ok(Value::String(long))));
        assert!(answer.ends_with("\n… 7 more characters"));
        assert_eq!(cut("äöü", 2), ("äö", 1));
        assert_eq!(cut("äöü", 3), ("äöü", 0));
    }
}
