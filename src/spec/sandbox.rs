//! What confines a member's programs: `sandbox`, `state_dirs`, `unix_sockets`, `network`, `sandbox_fallback`.

use std::path::{Path, PathBuf};

use super::desk::At;
use super::error::{Mistake, quote};
use super::load::Places;
use super::section::Section;
use crate::model::sandbox::{Fallback, Mode, Network, UnixSockets};
use crate::model::spec::EngineKind;

pub(super) const MODES: [(&str, Mode); 3] =
    [("off", Mode::Off), ("read-only", Mode::ReadOnly), ("workspace-write", Mode::WorkspaceWrite)];
const UNIX_SOCKETS: [(&str, UnixSockets); 2] = [("deny", UnixSockets::Deny), ("allow", UnixSockets::Allow)];
const NETWORKS: [(&str, Network); 2] = [("on", Network::On), ("off", Network::Off)];
const FALLBACKS: [(&str, Fallback); 2] = [("refuse", Fallback::Refuse), ("off", Fallback::Off)];

/// The five keys, filled in.
pub(super) struct Confined {
    pub mode: Mode,
    pub state_dirs: Vec<String>,
    pub unix_sockets: UnixSockets,
    pub network: Network,
    pub fallback: Fallback,
}

pub(super) fn read(section: &Section<'_, '_>, engine: EngineKind, plans: bool, places: &Places) -> Confined {
    let mode = section.word("sandbox", &MODES, &[]).unwrap_or(Mode::of_engine(engine));
    let network = section.word("network", &NETWORKS, &[]).unwrap_or_default();
    // Of the defaults alone nothing follows yet: they have no engine of their own.
    if network == Network::Off && mode == Mode::Off && !plans && section.top.contains_key("name") {
        check_network(section);
    }
    Confined {
        mode,
        state_dirs: state_dirs(section, places),
        unix_sockets: section.word("unix_sockets", &UNIX_SOCKETS, &[]).unwrap_or_default(),
        network,
        fallback: section.word("sandbox_fallback", &FALLBACKS, &[]).unwrap_or_default(),
    }
}

/// Nothing keeps an unconfined program from the network: whoever wrote this must not believe otherwise.
fn check_network(section: &Section<'_, '_>) {
    if let Some((entry, _)) = section.entry("network") {
        section.desk.note(
            Mistake::at(entry.span(), "`network = \"off\"` without a sandbox", "keeps nobody from the network")
                .help("write `sandbox = \"workspace-write\"` or `\"read-only\"` too"),
        );
    }
}

/// Files and folders that are there, absolute.
pub(super) fn state_dirs(section: &Section<'_, '_>, places: &Places) -> Vec<String> {
    let list = section.list("state_dirs").unwrap_or_default();
    list.into_iter().filter_map(|text| found(section, &text, places)).collect()
}

fn found(section: &Section<'_, '_>, text: &At<String>, places: &Places) -> Option<String> {
    let note = |message: String, help: &str| {
        section.desk.note(Mistake::at(text.at.clone(), message, "").help(help));
        None
    };
    let Some(path) = expanded(&text.value, places) else {
        return note(
            format!("{} does not say whose home", quote(&text.value)),
            "`~` and `~/…` are your own; $HOME must be set",
        );
    };
    match path.canonicalize().ok().and_then(|full| full.into_os_string().into_string().ok()) {
        Some(full) => Some(full),
        None => note(
            format!("{} of `state_dirs` is not there", quote(&text.value)),
            "make it first: a sandbox opens only what it finds; relative ones start from the team's directory",
        ),
    }
}

fn expanded(text: &str, places: &Places) -> Option<PathBuf> {
    match text.strip_prefix('~') {
        None => Some(places.cwd.join(text)),
        Some("") => places.home.clone(),
        Some(rest) => {
            places.home.as_deref().zip(rest.strip_prefix('/')).map(|(home, rest): (&Path, _)| home.join(rest))
        }
    }
}
