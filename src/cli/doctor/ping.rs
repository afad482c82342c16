//! Whether every living teammate hears: each is asked, and answers by itself, whatever its program is at.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::act::{ActError, Client, Verb, client};
use crate::model::message::{Body, Message};
use crate::model::name::Name;
use crate::store::{Home, Tail, lease};
use crate::view::answers::{Finding, Severity};

/// One that hears answers within milliseconds.
const PATIENCE: Duration = Duration::from_secs(5);

pub(super) fn look(home: &Home, team: &Name) -> Result<Vec<Finding>, ActError> {
    let mut asker = Client::open(home, team, None)?;
    // The answers go to the lead's mailbox, which is the operator's to read.
    if !asker.is_operator() {
        return Ok(Vec::new());
    }
    let lead = asker.desk.dir.member(&Name::lead());
    let mut answers = Tail::end(lead.control())?;
    let begun = Instant::now();
    let mut asked = ask(&mut asker)?;
    let all = asked.len();
    let mut slowest = Duration::ZERO;
    client::wait(&[lead.mail_dir()], PATIENCE, || {
        for line in answers.read(1 << 20)?.lines {
            if let Some(Body::Pong { nonce }) = line.parse::<Message>().ok().and_then(|m| m.typed())
                && asked.remove(&nonce).is_some()
            {
                slowest = begun.elapsed();
            }
        }
        Ok(asked.is_empty().then_some(()))
    })?;
    let heard = all - asked.len();
    let mut found: Vec<Finding> = asked.into_values().map(|name| deaf(team, &name)).collect();
    if heard > 0 {
        let text = format!("{heard} of {all} answered a ping, the last after {} ms", slowest.as_millis());
        found.push(Finding::new(Severity::Fine, format!("{team}: teammates"), text));
    }
    Ok(found)
}

/// Asks every member that lives; who was asked by which word.
fn ask(asker: &mut Client) -> Result<BTreeMap<String, Name>, ActError> {
    let members: Vec<Name> = asker.desk.team()?.teammates().map(|m| m.name.clone()).collect();
    let mut asked = BTreeMap::new();
    for name in members {
        if !lease::is_held(&asker.desk.dir.member(&name).lease())? {
            continue;
        }
        match asker.perform(Verb::Ping { name: name.clone() }) {
            Ok(answer) => {
                let nonce = answer.value["nonce"].as_str().unwrap_or_default().to_owned();
                asked.insert(nonce, name);
            }
            // Its mailbox is closed: it is just ending. Or the team is a newer version's, which is said elsewhere.
            Err(error) if matches!(error.code, 1 | 4) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(asked)
}

fn deaf(team: &Name, name: &Name) -> Finding {
    let text = format!("did not answer a ping within {} s", PATIENCE.as_secs());
    Finding::new(Severity::Broken, format!("{team}: {name}"), text)
        .hint(format!("`crewmux status --team {team}` shows its state; `crewmux restart {name}` starts it anew"))
}
