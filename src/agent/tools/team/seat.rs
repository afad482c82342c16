//! A place in a team, through which the tools do what they do there.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;

use crate::act::client::wait;
use crate::act::{ActError, Client, Desk, Verb};
use crate::agent::permission::Mode;
use crate::agent::tools::services::Planner;
use crate::agent::tools::{BoxFuture, Outcome, locked};
use crate::model::request::RequestState;
use crate::os::clock;

/// How long one wait for a decision lasts before it is begun anew; there is no limit to all of them.
const DECISION: Duration = Duration::from_secs(60);

/// One member's client, used by one call at a time.
#[derive(Clone)]
pub struct Seat {
    client: Arc<Mutex<Client>>,
    /// The mode to go on in when a plan is approved; `None` where the approval ends this life and begins the one that carries it out.
    pub after_plan: Option<Mode>,
}

impl Seat {
    #[must_use]
    pub fn new(client: Client, after_plan: Option<Mode>) -> Self {
        Self { client: Arc::new(Mutex::new(client)), after_plan }
    }

    /// Does a verb away from the loop, since it waits for files.
    pub(in crate::agent) async fn perform(&self, verb: Verb) -> Result<Value, Outcome> {
        self.with(move |client| client.perform(verb).map(|answer| answer.value)).await
    }

    /// Looks at the team's files away from the loop.
    pub(in crate::agent) async fn look<T: Send + 'static>(
        &self,
        look: impl FnOnce(&mut Desk) -> Result<T, ActError> + Send + 'static,
    ) -> Result<T, Outcome> {
        self.with(move |client| look(&mut client.desk)).await
    }

    async fn with<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Client) -> Result<T, ActError> + Send + 'static,
    ) -> Result<T, Outcome> {
        let client = Arc::clone(&self.client);
        let done = tokio::task::spawn_blocking(move || work(&mut locked(&client))).await;
        match done {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(error)) => Err(Outcome::error(words(&error))),
            Err(_) => Err(Outcome::error("The tool failed in a way that should not happen; its log has more.")),
        }
    }
}

/// Error, causes and hints, a line each.
fn words(error: &ActError) -> String {
    let causes = error.causes.iter().map(|cause| format!("\ncaused by: {cause}"));
    let hints = error.hints.iter().map(|hint| format!("\nhint: {hint}"));
    std::iter::once(error.message.clone()).chain(causes).chain(hints).collect()
}

impl Planner for Seat {
    fn submit<'a>(&'a self, plan: &'a str) -> BoxFuture<'a, Result<Option<Mode>, String>> {
        Box::pin(async move {
            let id = clock::new_request_id();
            let verb = Verb::SubmitPlan { request_id: id, plan: plan.to_owned(), summary: None };
            self.perform(verb).await.map_err(|refused| refused.as_text())?;
            loop {
                let decided = self
                    .look(move |desk| {
                        let folder = desk.dir.path().to_owned();
                        wait(&[folder], DECISION, || {
                            let request = desk.ledger.view()?.0.get(id).cloned();
                            Ok(request.filter(|request| request.state != RequestState::Open))
                        })
                    })
                    .await
                    .map_err(|refused| refused.as_text())?;
                let Some(request) = decided else { continue };
                return match request.state {
                    RequestState::Approved => Ok(self.after_plan),
                    state => Err(request
                        .decision
                        .and_then(|decision| decision.feedback)
                        .unwrap_or_else(|| format!("it is {}", state.as_str()))),
                };
            }
        })
    }
}
