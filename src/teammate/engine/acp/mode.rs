//! Putting a session into a mode. Some agents offer modes, some a setting of that category, some neither and know the
//! method all the same.

use agent_client_protocol::Agent;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    SessionConfigKind, SessionConfigOption, SessionConfigOptionCategory, SessionConfigSelect,
    SessionConfigSelectOptions, SessionId, SessionModeState, SetSessionConfigOptionRequest, SetSessionModeRequest,
};

use super::session::{Opening, within};

/// Puts the session into the first of the modes that the agent has; which one that is.
pub(super) async fn set(
    cx: &ConnectionTo<Agent>,
    session: &str,
    modes: Option<SessionModeState>,
    options: Option<Vec<SessionConfigOption>>,
    opening: &Opening,
) -> Result<Option<String>, String> {
    let (wanted, step) = (&opening.modes, opening.step);
    let Some(best) = wanted.first() else { return Ok(None) };
    let session = SessionId::new(session.to_owned());
    if let Some(modes) = modes {
        let ids: Vec<String> = modes.available_modes.iter().map(|m| m.id.to_string()).collect();
        let id = choose(wanted, &ids)?;
        if modes.current_mode_id.to_string() != id {
            let request = SetSessionModeRequest::new(session, id.clone());
            within(step, "session/set_mode", cx.send_request(request).block_task()).await?;
        }
        return Ok(Some(id));
    }
    if let Some((option, select)) = options.iter().flatten().find_map(of_modes) {
        let id = choose(wanted, &values(select))?;
        if select.current_value.to_string() != id {
            let request = SetSessionConfigOptionRequest::new(session, option.id.clone(), id.as_str());
            within(step, "session/set_config_option", cx.send_request(request).block_task()).await?;
        }
        return Ok(Some(id));
    }
    let request = SetSessionModeRequest::new(session, best.clone());
    match within(step, "session/set_mode", cx.send_request(request).block_task()).await {
        Ok(_) => Ok(Some(best.clone())),
        Err(why) => Err(format!("it has no session modes, so it cannot be put into `{best}`: {why}")),
    }
}

fn choose(wanted: &[String], has: &[String]) -> Result<String, String> {
    wanted.iter().find(|id| has.contains(id)).cloned().ok_or_else(|| {
        let wanted: Vec<String> = wanted.iter().map(|id| format!("`{id}`")).collect();
        format!("it has no mode {}; it has {}", wanted.join(" or "), has.join(", "))
    })
}

fn of_modes(option: &SessionConfigOption) -> Option<(&SessionConfigOption, &SessionConfigSelect)> {
    match &option.kind {
        SessionConfigKind::Select(select) if option.category == Some(SessionConfigOptionCategory::Mode) => {
            Some((option, select))
        }
        _ => None,
    }
}

fn values(select: &SessionConfigSelect) -> Vec<String> {
    match &select.options {
        SessionConfigSelectOptions::Ungrouped(options) => options.iter().map(|o| o.value.to_string()).collect(),
        SessionConfigSelectOptions::Grouped(groups) => {
            groups.iter().flat_map(|g| &g.options).map(|o| o.value.to_string()).collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_that_the_agent_has_is_taken() {
        let list = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>();
        assert_eq!(choose(&list(&["all", "edits"]), &list(&["ask", "edits"])), Ok("edits".to_owned()));
        let refused = choose(&list(&["all", "edits"]), &list(&["ask", "plan"]));
        assert_eq!(refused, Err("it has no mode `all` or `edits`; it has ask, plan".to_owned()));
    }
}
