//! Landlock: which files may be written, by the kernel's own check (landlock(7)). The one place that uses the crate.

use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, PathFdError, Ruleset,
    RulesetAttr, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope, make_bitflags,
};

use super::Policy;

/// The newest rights this was written for. What an older kernel does not know is left out, down to [`LEAST`].
const NEWEST: ABI = ABI::V10;
/// Older ones let any file be cut to nothing, truncate(2), and forbid every move between folders.
const LEAST: ABI = ABI::V3;

/// What a writable folder allows. Device files are missing on purpose: root could make one and write a disk through it.
const BELOW_FOLDER: BitFlags<AccessFs> = make_bitflags!(AccessFs::{
    WriteFile | Truncate | RemoveFile | RemoveDir | MakeReg | MakeDir | MakeSym | MakeFifo | MakeSock | Refer | IoctlDev
});
/// What a writable file or device allows.
const FILE: BitFlags<AccessFs> = make_bitflags!(AccessFs::{ WriteFile | Truncate | IoctlDev });

/// Devices that keep nothing, and the name of one's own terminal (tty(4): it is no other's for anybody).
const DEVICES: [&str; 4] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/tty"];

/// What this kernel can keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Support {
    /// Writes (Linux 6.2): without this there is no sandbox.
    pub files: bool,
    /// Commands to devices (Linux 6.10).
    pub devices: bool,
    /// Signals to processes outside, and abstract sockets of theirs (Linux 6.12).
    pub signals: bool,
}

impl Support {
    /// What it amounts to, in words.
    #[must_use]
    pub fn words(&self) -> &'static str {
        match (self.files, self.devices, self.signals) {
            (false, ..) => "this kernel has no Landlock of Linux 6.2 or newer, or it is not enabled (`lsm=landlock,…`)",
            (true, _, true) => "files, devices and signals are kept apart",
            (true, true, false) => "files and devices are kept apart, signals are not (Linux 6.12 does)",
            (true, false, false) => "files are kept apart, signals and commands to devices are not (Linux 6.12 does)",
        }
    }
}

/// What this kernel can keep; asks it, changes nothing.
#[must_use]
pub fn support() -> Support {
    let must = || Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    Support {
        files: must().handle_access(AccessFs::from_write(LEAST)).is_ok(),
        devices: must().handle_access(AccessFs::IoctlDev).is_ok(),
        signals: must().scope(Scope::Signal).is_ok(),
    }
}

/// Why a policy could not be applied.
#[derive(Debug, thiserror::Error)]
pub enum LandlockError {
    #[error("{0}")]
    Path(#[from] PathFdError),
    #[error("{0}")]
    Rules(#[from] RulesetError),
    #[error("the kernel did not take the rules")]
    NotEnforced,
}

/// Confines this thread, and what it becomes, for good.
pub(super) fn apply(policy: &Policy, terminals: &[PathBuf]) -> Result<(), LandlockError> {
    let mut handled = AccessFs::from_write(NEWEST);
    if policy.unix_sockets {
        handled.remove(AccessFs::ResolveUnix);
    }
    let mut rules = Ruleset::default().set_compatibility(CompatLevel::BestEffort).handle_access(handled)?;
    if !policy.network {
        rules = rules.handle_access(AccessNet::from_all(NEWEST))?;
    }
    rules = rules.scope(Scope::Signal)?;
    if !policy.unix_sockets {
        rules = rules.scope(Scope::AbstractUnixSocket)?;
    }
    let mut rules = rules.create()?;
    let devices = DEVICES.iter().map(Path::new).chain(terminals.iter().map(PathBuf::as_path));
    // A machine without one of these has nothing to allow.
    for device in devices.filter(|path| path.exists()) {
        rules = rules.add_rule(PathBeneath::new(PathFd::new(device)?, FILE))?;
    }
    for path in &policy.writable {
        let rights = if path.is_dir() { BELOW_FOLDER } else { FILE };
        rules = rules.add_rule(PathBeneath::new(PathFd::new(path)?, rights))?;
    }
    match rules.restrict_self()?.ruleset {
        RulesetStatus::NotEnforced => Err(LandlockError::NotEnforced),
        RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced => Ok(()),
    }
}
