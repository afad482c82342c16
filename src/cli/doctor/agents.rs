//! Whether the agents that are installed can be spoken with: each one up to its answer to `initialize`.

use std::path::Path;

use crate::model::agent::Preset;
use crate::os::spawn::Program;
use crate::spec::{preset, program};
use crate::teammate::engine::acp::probe;
use crate::view::answers::{Finding, Severity};

/// Every preset whose program is on `PATH`; the others are no fault. All at once, since each takes its time.
pub(super) async fn look() -> Vec<Finding> {
    futures::future::join_all(preset::names().iter().map(|name| one(name))).await.into_iter().flatten().collect()
}

async fn one(name: &str) -> Option<Finding> {
    let what = format!("agent {name}");
    let preset = match preset::preset(name) {
        Ok(preset) => preset,
        Err(error) => return Some(Finding::new(Severity::Broken, what, error.to_string()).hint(error.help())),
    };
    let own = preset.command.first()?;
    if program::find(own, Path::new("/")).is_err() {
        return None;
    }
    let cwd = std::env::current_dir().ok()?;
    let env = std::env::vars_os().chain(preset.env.iter().map(|(k, v)| (k.into(), v.into()))).collect();
    let argv = preset.command.iter().map(Into::into).collect();
    Some(match probe(&Program { argv, cwd, env }).await {
        Ok(said) => Finding::new(Severity::Fine, what, format!("{} speaks: {said}{}", preset.title, seen(&preset))),
        Err(why) => Finding::new(Severity::Warning, what, format!("{} does not open: {why}", preset.title))
            .hint(format!("start `{}` by hand; a member with this agent would not start", preset.command.join(" "))),
    })
}

fn seen(preset: &Preset) -> String {
    if preset.version.known.is_empty() {
        String::new()
    } else {
        format!(" (seen to work: {})", preset.version.known.join(", "))
    }
}
