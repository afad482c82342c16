//! What Landlock does not know, closed by the number of the system call (seccomp(2)). The one place that uses the crate.
//!
//! A 32-bit program has other numbers and other arguments, a socket in memory that a filter cannot look into among them: the
//! filters end it with SIGSYS. The x32 calls of a 64-bit kernel are the 64-bit ones with a bit set, and get the same rules.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter,
};

use super::{Mode, Policy};

/// x32's bit in the number of a system call (`__X32_SYSCALL_BIT`).
const X32: i64 = 0x4000_0000;
/// `ioctl`s that change a file's attributes, of both sizes (linux/fs.h): `FS_IOC_SETFLAGS`, `FS_IOC32_SETFLAGS`,
/// `FS_IOC_FSSETXATTR`.
const ATTRIBUTES: [u64; 3] = [0x4008_6602, 0x4004_6602, 0x401C_5820];
/// The type of a socket without its flags (`SOCK_TYPE_MASK`).
const TYPE: u64 = 0xf;

/// Calls that change what is known of a file and not what is in it, all of which Landlock lets pass. Those younger than
/// the C library are given by number, which is the same on every architecture.
const METADATA: &[i64] = &[
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lchown,
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    FCHMODAT2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    SETXATTRAT,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    REMOVEXATTRAT,
    FILE_SETATTR,
];
/// Those that set the times of files.
const TIMES: &[i64] = &[
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utime,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utimes,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_futimesat,
    libc::SYS_utimensat,
];
const FCHMODAT2: i64 = 452;
const SETXATTRAT: i64 = 463;
const REMOVEXATTRAT: i64 = 466;
const FILE_SETATTR: i64 = 469;

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Which calls are denied under a policy, and which are made to look missing.
struct Denied {
    rules: Rules,
}

impl Denied {
    fn always(&mut self, call: i64) {
        self.rules.insert(call, Vec::new());
    }

    /// Denies the call where all of these hold; further ones for the same call are alternatives.
    fn when(&mut self, call: i64, conditions: Vec<SeccompCondition>) -> Result<(), seccompiler::BackendError> {
        self.rules.entry(call).or_default().push(SeccompRule::new(conditions)?);
        Ok(())
    }
}

fn argument(n: u8, op: SeccompCmpOp, value: u64) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(n, SeccompCmpArgLen::Dword, op, value)
}

fn denied(policy: &Policy) -> Result<Rules, seccompiler::BackendError> {
    let mut denied = Denied { rules: Rules::new() };
    let unix = libc::AF_UNIX as u64;
    match (policy.unix_sockets, policy.network) {
        (true, true) => {}
        (false, false) => denied.always(libc::SYS_socket),
        (true, false) => denied.when(libc::SYS_socket, vec![argument(0, SeccompCmpOp::Ne, unix)?])?,
        (false, true) => denied.when(libc::SYS_socket, vec![argument(0, SeccompCmpOp::Eq, unix)?])?,
    }
    if !policy.unix_sockets {
        // A pair stays, save of the kind whose ends can be turned to any address.
        for kind in [libc::SOCK_DGRAM, libc::SOCK_RAW] {
            let kind = argument(1, SeccompCmpOp::MaskedEq(TYPE), kind as u64)?;
            denied.when(libc::SYS_socketpair, vec![kind])?;
        }
    }
    if policy.mode == Mode::ReadOnly {
        let times = TIMES.iter().filter(|_| !policy.times);
        METADATA.iter().chain(times).for_each(|call| denied.always(*call));
        for request in ATTRIBUTES {
            denied.when(libc::SYS_ioctl, vec![argument(1, SeccompCmpOp::Eq, request)?])?;
        }
    }
    // The limits of another process: 0 open files would end whoever stands guard.
    let other = argument(0, SeccompCmpOp::Ne, 0)?;
    let sets = SeccompCondition::new(2, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0)?;
    denied.when(libc::SYS_prlimit64, vec![other, sets])?;
    Ok(denied.rules)
}

/// A ring does on its own what the filters deny: sockets, extended attributes. Programs have another way where there is none.
fn missing() -> Rules {
    Rules::from([(libc::SYS_io_uring_setup, Vec::new())])
}

/// Installs the filters of a policy on this thread, and on what it becomes, for good.
pub(super) fn apply(policy: &Policy) -> Result<(), seccompiler::Error> {
    for (rules, errno) in [(denied(policy)?, libc::EPERM), (missing(), libc::ENOSYS)] {
        apply_filter(&program(rules, errno)?)?;
    }
    Ok(())
}

fn program(mut rules: Rules, errno: i32) -> Result<BpfProgram, seccompiler::BackendError> {
    if cfg!(target_arch = "x86_64") {
        let twins: Vec<_> = rules.iter().map(|(call, rule)| (call | X32, rule.clone())).collect();
        rules.extend(twins);
    }
    let arch = TargetArch::try_from(std::env::consts::ARCH)?;
    SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::Errno(errno.cast_unsigned()), arch)?.try_into()
}
