//! Each rule against the kernel: a test runs itself again in a process of its own, which confines itself and tries.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use rustix::io::Errno;

use super::{Mode, Policy, landlock, seccomp, support, wrap};

const INSIDE: &str = "CREWMUX_TEST_INSIDE";

/// A folder `mine` that may be written, with a file in it and one beside it.
fn writes_mine(dir: &Path, mode: Mode) -> Policy {
    Policy { mode, writable: vec![dir.join("mine")], network: true, ..Policy::default() }
}

/// Runs `attempt` under the policy, in a process of its own; its asserts are this test's. `None` where the kernel cannot.
fn confined(name: &str, policy: impl FnOnce(&Path) -> Policy, attempt: impl FnOnce(&Path)) -> Option<ExitStatus> {
    if let Some(dir) = std::env::var_os(INSIDE) {
        let dir = Path::new(&dir);
        let policy = policy(dir);
        landlock::apply(&policy, &[]).expect("the rules are good");
        seccomp::apply(&policy).expect("the filters are good");
        attempt(dir);
        return None;
    }
    if !support().files {
        eprintln!("skipped {name}: {}", support().words());
        return None;
    }
    let dir = tempfile::tempdir().expect("a folder");
    fs::create_dir(dir.path().join("mine")).expect("a folder");
    for file in ["mine/file", "other"] {
        fs::write(dir.path().join(file), "before").expect("a file");
    }
    let status = Command::new(std::env::current_exe().expect("this binary"))
        .args(["--exact", &format!("sandbox::tests::{name}"), "--nocapture", "--test-threads=1"])
        .env(INSIDE, dir.path())
        .stdin(Stdio::null())
        .status()
        .expect("it starts");
    assert_eq!(fs::read_to_string(dir.path().join("other")).expect("it is there"), "before");
    Some(status)
}

fn passes(status: Option<ExitStatus>) {
    assert!(status.is_none_or(|s| s.success()), "{status:?}");
}

fn refused<T: std::fmt::Debug>(result: std::io::Result<T>) {
    assert_eq!(result.expect_err("it is refused").kind(), ErrorKind::PermissionDenied);
}

#[test]
fn what_is_named_is_written_and_nothing_else() {
    let name = "what_is_named_is_written_and_nothing_else";
    passes(confined(
        name,
        |dir| writes_mine(dir, Mode::WorkspaceWrite),
        |dir| {
            let (mine, other) = (dir.join("mine"), dir.join("other"));
            fs::write(mine.join("file"), "after").expect("mine");
            fs::write(mine.join("new"), "x").expect("mine");
            fs::create_dir_all(mine.join("a/b")).expect("mine");
            fs::rename(mine.join("new"), mine.join("a/b/moved")).expect("mine");
            fs::remove_dir_all(mine.join("a")).expect("mine");
            fs::write("/dev/null", "x").expect("nobody's");

            assert_eq!(fs::read_to_string(&other).expect("reads are free"), "before");
            refused(fs::write(&other, "after"));
            refused(fs::OpenOptions::new().append(true).open(&other));
            refused(fs::OpenOptions::new().write(true).truncate(true).open(&other));
            refused(
                rustix::fs::open(dir, rustix::fs::OFlags::TMPFILE | rustix::fs::OFlags::RDWR, 0o600.into())
                    .map_err(Into::into),
            );
            refused(fs::remove_file(&other));
            refused(fs::create_dir(dir.join("folder")));
            refused(symlink("x", dir.join("link")));
            refused(fs::rename(&other, dir.join("moved")));
            refused(
                rustix::fs::mknodat(
                    rustix::fs::CWD,
                    mine.join("disk"),
                    rustix::fs::FileType::BlockDevice,
                    0o600.into(),
                    1,
                )
                .map_err(Into::into),
            );
        },
    ));
}

#[test]
fn no_name_in_the_own_folder_opens_a_file_outside() {
    let name = "no_name_in_the_own_folder_opens_a_file_outside";
    passes(confined(
        name,
        |dir| writes_mine(dir, Mode::WorkspaceWrite),
        |dir| {
            let (mine, other) = (dir.join("mine"), dir.join("other"));
            symlink(&other, mine.join("soft")).expect("a link is only a name");
            refused(fs::write(mine.join("soft"), "after"));
            let hard = fs::hard_link(&other, mine.join("hard")).expect_err("no second name");
            assert!(matches!(hard.kind(), ErrorKind::CrossesDevices | ErrorKind::PermissionDenied), "{hard:?}");
            let moved = fs::rename(&other, mine.join("moved")).expect_err("not carried in");
            assert!(matches!(moved.kind(), ErrorKind::CrossesDevices | ErrorKind::PermissionDenied), "{moved:?}");
            let put = fs::rename(mine.join("file"), &other).expect_err("not carried out");
            assert!(matches!(put.kind(), ErrorKind::CrossesDevices | ErrorKind::PermissionDenied), "{put:?}");
        },
    ));
}

#[test]
fn read_only_keeps_modes_and_times_too() {
    let name = "read_only_keeps_modes_and_times_too";
    passes(confined(
        name,
        |dir| writes_mine(dir, Mode::ReadOnly),
        |dir| {
            let other = dir.join("other");
            let file = fs::File::open(&other).expect("reads are free");
            refused(fs::set_permissions(&other, fs::Permissions::from_mode(0o777)));
            refused(file.set_permissions(fs::Permissions::from_mode(0o777)));
            refused(file.set_modified(std::time::SystemTime::UNIX_EPOCH));
            refused(std::os::unix::fs::chown(&other, None, Some(0)));
            refused(rustix::fs::fsetxattr(&file, "user.x", b"y", rustix::fs::XattrFlags::empty()).map_err(Into::into));
            refused(rustix::fs::ioctl_setflags(&file, rustix::fs::IFlags::NODUMP).map_err(Into::into));
            fs::write(dir.join("mine/file"), "after").expect("what is named is written");
        },
    ));
}

#[test]
fn a_workspace_may_set_modes() {
    passes(confined(
        "a_workspace_may_set_modes",
        |dir| writes_mine(dir, Mode::WorkspaceWrite),
        |dir| {
            fs::set_permissions(dir.join("mine/file"), fs::Permissions::from_mode(0o700)).expect("builds do this");
        },
    ));
}

#[test]
fn unix_sockets_are_denied_and_pairs_are_not() {
    let name = "unix_sockets_are_denied_and_pairs_are_not";
    passes(confined(
        name,
        |dir| writes_mine(dir, Mode::WorkspaceWrite),
        |dir| {
            refused(UnixListener::bind(dir.join("mine/socket")));
            refused(UnixStream::connect("/nowhere"));
            refused(UnixDatagram::unbound());
            UnixStream::pair().expect("a pair");
            refused(UnixDatagram::pair());
            std::net::UdpSocket::bind("127.0.0.1:0").expect("the network is another thing");
            // The same call by its x32 number, whether this kernel has it or not.
            if cfg!(target_arch = "x86_64") {
                assert_eq!(call(0x4000_0000 | libc::SYS_socket, &[1, 1, 0]), Err(Errno::PERM));
            }
            assert_eq!(call(libc::SYS_io_uring_setup, &[1, 0, 0]), Err(Errno::NOSYS));
        },
    ));
}

#[test]
fn unix_sockets_can_be_allowed() {
    let allow = |dir: &Path| Policy { unix_sockets: true, ..writes_mine(dir, Mode::WorkspaceWrite) };
    passes(confined("unix_sockets_can_be_allowed", allow, |dir| {
        let socket = dir.join("mine/socket");
        let _listener = UnixListener::bind(&socket).expect("allowed");
        UnixStream::connect(&socket).expect("allowed");
        UnixDatagram::pair().expect("allowed");
        refused(UnixListener::bind(dir.join("socket")));
    }));
}

#[test]
fn the_network_can_be_denied() {
    let deny = |dir: &Path| Policy { network: false, unix_sockets: true, ..writes_mine(dir, Mode::WorkspaceWrite) };
    passes(confined("the_network_can_be_denied", deny, |_| {
        refused(std::net::TcpStream::connect("127.0.0.1:1"));
        refused(std::net::TcpListener::bind("127.0.0.1:0"));
        refused(std::net::UdpSocket::bind("127.0.0.1:0"));
        UnixDatagram::unbound().expect("these are another thing");
    }));
}

#[test]
fn nobody_outside_is_signalled_or_limited() {
    let name = "nobody_outside_is_signalled_or_limited";
    passes(confined(
        name,
        |dir| writes_mine(dir, Mode::WorkspaceWrite),
        |_| {
            let parent = rustix::process::getppid().expect("a parent");
            if support().signals {
                assert_eq!(rustix::process::test_kill_process(parent), Err(Errno::PERM));
                let fd =
                    rustix::process::pidfd_open(parent, rustix::process::PidfdFlags::empty()).expect("a look is free");
                assert_eq!(rustix::process::pidfd_send_signal(&fd, rustix::process::Signal::CONT), Err(Errno::PERM));
            } else {
                eprintln!("skipped the signals of {name}: {}", support().words());
            }
            assert!(fs::File::open(format!("/proc/{parent}/mem")).is_err());
            // Root may look at anybody's memory map (CAP_PERFMON), environment included; not into the memory.
            let environment = fs::read(format!("/proc/{parent}/environ"));
            assert!(environment.is_err() || rustix::process::geteuid().is_root());
            // PTRACE_ATTACH
            assert_eq!(call(libc::SYS_ptrace, &[16, parent.as_raw_pid().into(), 0]), Err(Errno::PERM));
            let limit = [0_u64; 2];
            let set = call(libc::SYS_prlimit64, &[parent.as_raw_pid().into(), 7, limit.as_ptr() as i64]);
            assert_eq!(set, Err(Errno::PERM));
        },
    ));
}

/// The other numbers of a 32-bit program would go past the filters.
#[test]
#[cfg(target_arch = "x86_64")]
fn a_32_bit_call_is_the_end() {
    let status = confined("a_32_bit_call_is_the_end", |dir| writes_mine(dir, Mode::WorkspaceWrite), |_| getpid_32());
    assert!(status.is_none_or(|s| s.signal() == Some(libc::SIGSYS)), "{status:?}");
}

#[test]
fn an_unconfined_program_needs_no_shim() {
    let argv = vec!["program".into(), "--mode".into()];
    assert_eq!(wrap(argv.clone(), &Policy::off()).expect("as it is"), argv);
    let policy = Policy { mode: Mode::ReadOnly, writable: vec!["/a b".into()], ..Policy::default() };
    let wrapped = wrap(argv, &policy).expect("a binary");
    assert_eq!(wrapped[1..], ["sandbox-exec", "--mode", "read-only", "--writable", "/a b", "--", "program", "--mode"]);
}

#[expect(unsafe_code, reason = "system calls that no library would make for us, to see them refused")]
fn call(number: i64, arguments: &[i64; 3]) -> Result<i64, Errno> {
    // SAFETY: each of these is refused before its arguments are looked at, or reads what they point to.
    let answer = unsafe { libc::syscall(number, arguments[0], arguments[1], arguments[2], 0) };
    if answer < 0 { Err(Errno::from_io_error(&std::io::Error::last_os_error()).expect("an errno")) } else { Ok(answer) }
}

/// `getpid` by the number that 32-bit programs have for it.
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "only an instruction of its own makes a 32-bit call")]
fn getpid_32() {
    // SAFETY: the call takes nothing and touches no memory.
    unsafe { std::arch::asm!("int 0x80", inout("eax") 20 => _) };
}
