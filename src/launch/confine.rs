//! Whether a team can be confined as its spec says, found out before anything of it is made.

use std::path::Path;

use crate::act::ActError;
use crate::model::hook::HooksSpec;
use crate::model::sandbox::{Fallback, Mode};
use crate::model::spec::MemberSpec;
use crate::sandbox;
use crate::store::Home;

/// Whether this kernel confines those of the members that insist on it.
///
/// # Errors
/// The first that would not start, with what can be done (1).
pub fn can_confine<'a>(members: impl IntoIterator<Item = &'a MemberSpec>) -> Result<(), ActError> {
    let support = sandbox::support();
    let insists = |m: &&MemberSpec| {
        m.sandbox.now(m.plan_mode_required) != Mode::Off && m.sandbox_fallback == Fallback::Refuse && !support.files
    };
    match members.into_iter().find(insists) {
        None => Ok(()),
        Some(member) => {
            Err(ActError::failed(format!("`{}` cannot be confined here", member.name)).cause(support.words()).hint(
                "`sandbox_fallback = \"off\"` runs it unconfined where it cannot be; `sandbox = \"off\"` everywhere",
            ))
        }
    }
}

/// Whether this kernel confines hooks of which the spec says how.
///
/// # Errors
/// That it does not, with what can be done (1).
pub(super) fn can_confine_hooks(hooks: &HooksSpec) -> Result<(), ActError> {
    let support = sandbox::support();
    let insists = hooks.sandbox.is_some_and(|mode| mode != Mode::Off) && !hooks.run.is_empty();
    if !insists || support.files {
        return Ok(());
    }
    Err(ActError::failed("hooks cannot be confined here")
        .cause(support.words())
        .hint("without `sandbox` in `[hooks]` each is confined as the member is that it is about"))
}

/// Who may write the files of all teams, since they lie in what is their own. The kernel's rules know no exceptions
/// below a folder.
pub(super) fn note(home: &Home, members: &[MemberSpec]) -> Option<String> {
    let root = home.root().canonicalize().ok()?;
    let holds = |path: &String| root.starts_with(Path::new(path));
    let (names, places): (Vec<String>, Vec<&String>) = members
        .iter()
        .filter(|m| m.sandbox == Mode::WorkspaceWrite)
        .filter_map(|m| {
            let place = std::iter::once(&m.cwd).chain(&m.state_dirs).find(|path| holds(path))?;
            Some((format!("`{}`", m.name), place))
        })
        .unzip();
    let place = places.first()?;
    Some(format!(
        "{} may write in {place}, and with it the files of all teams, which lie there: no sandbox keeps them from each \
         other's mailboxes (CREWMUX_HOME says where those files lie)",
        names.join(", ")
    ))
}
