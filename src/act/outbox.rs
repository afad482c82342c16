//! A member's outbox and replies: how a verb gets from its program to its teammate and back.

use serde::{Deserialize, Serialize};

use super::error::ActError;
use super::verb::{Answer, Verb};
use crate::model::id::{Life, MessageId};

/// One line of `outbox.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Wish {
    pub id: MessageId,
    /// The life that the program belongs to: a wish of an earlier one is void.
    pub life: Life,
    pub verb: Verb,
}

/// One line of `replies.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    pub to: MessageId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Answer>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ActError>,
}

impl Reply {
    #[must_use]
    pub fn new(to: MessageId, result: Result<Answer, ActError>) -> Self {
        match result {
            Ok(answer) => Self { to, answer: Some(answer), error: None },
            Err(error) => Self { to, answer: None, error: Some(error) },
        }
    }

    /// The verb's result.
    ///
    /// # Errors
    /// What the teammate refused it with.
    pub fn into_result(self) -> Result<Answer, ActError> {
        match self.error {
            Some(error) => Err(error),
            None => Ok(self.answer.unwrap_or_default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::id::TaskId;

    #[test]
    fn a_verb_with_an_id_of_its_own_survives_the_outbox() {
        let id = MessageId::derived(&["wish"]);
        let wish = Wish { id, life: Life::derived(&["life"]), verb: Verb::TaskClaim { id: Some(TaskId(3)) } };
        let line = serde_json::to_string(&wish).expect("a wish is JSON");
        assert_eq!(serde_json::from_str::<Wish>(&line).expect("and back"), wish);
    }
}
