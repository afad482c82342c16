//! `[hooks]`.

use super::load::Places;
use super::member::argv;
use super::program::SearchPath;
use super::sandbox::{MODES, state_dirs};
use super::section::Section;
use crate::model::hook::{HookKind, HooksSpec};

pub(super) const HOOKS_KEYS: [&str; 8] = [
    "member_idle",
    "task_created",
    "task_completed",
    "member_exited",
    "request_opened",
    "timeout",
    "sandbox",
    "state_dirs",
];

pub(super) fn read(top: &Section<'_, '_>, places: &Places) -> HooksSpec {
    let base = HooksSpec::default();
    let Some(table) = top.table("hooks") else { return base };
    table.check_keys("`[hooks]`", &HOOKS_KEYS);
    let search = [SearchPath { path: places.path.clone(), cwd: places.cwd.clone() }];
    let program = |kind: HookKind| Some((kind, argv(&table, kind.as_str(), places, &search)?));
    HooksSpec {
        timeout: table.span("timeout", false).unwrap_or(base.timeout),
        run: HookKind::ALL.into_iter().filter_map(program).collect(),
        sandbox: table.word("sandbox", &MODES, &[]),
        state_dirs: state_dirs(&table, places),
    }
}
