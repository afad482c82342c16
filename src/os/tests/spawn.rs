use std::io::{self, BufRead, BufReader};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{LIMIT, alone, is_alone, program};
use crate::os::pidfd::Pidfd;
use crate::os::process;
use crate::os::spawn::{PtyStdin, SpawnError, spawn_on_pty, spawn_with_pipes};
use crate::os::terminal::{DEFAULT_SIZE, Master, Winsize};

async fn read_all(master: OwnedFd) -> String {
    let master = Master::new(master).unwrap();
    let mut all = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        match master.read(&mut buffer).await.unwrap() {
            0 => return String::from_utf8(all).unwrap(),
            length => all.extend_from_slice(&buffer[..length]),
        }
    }
}

#[tokio::test]
async fn a_program_has_its_own_terminal_and_session() {
    let size = Winsize { ws_row: 33, ws_col: 77, ws_xpixel: 0, ws_ypixel: 0 };
    let script = "test -t 0 && test -t 1 && test -t 2 && stty size && echo $$ $X && tty >&2; pwd; exit 3";
    let mut sh = program(&["sh", "-c", script]);
    sh.env.push(("X".into(), "a b".into()));
    sh.cwd = PathBuf::from("/usr");
    let mut pty = spawn_on_pty(&sh, PtyStdin::Terminal, size).unwrap();
    let stat = process::stat(pty.id.pid).unwrap();
    assert_eq!((stat.session, stat.pgrp, stat.id()), (pty.id.pid, pty.id.pid, pty.id));
    let output = read_all(pty.master).await;
    let lines: Vec<&str> = output.lines().collect();
    let who = format!("{} a b", pty.id.pid);
    assert_eq!(lines[..2], ["33 77", &who]);
    assert!(lines[2].starts_with("/dev/"), "{output}");
    assert_eq!(lines[3..], ["/usr"]);
    assert_eq!(pty.child.wait().await.unwrap().code(), Some(3));
}

#[tokio::test]
async fn input_may_be_a_pipe_beside_the_terminal() {
    let script = "test -t 0 || echo pipe; read x; echo got $x; read y </dev/tty; echo tty $y";
    let mut pty = spawn_on_pty(&program(&["sh", "-c", script]), PtyStdin::Pipe, DEFAULT_SIZE).unwrap();
    rustix::io::write(&pty.master, b"typed\r").unwrap();
    pty.stdin.as_mut().unwrap().write_all(b"piped\n").await.unwrap();
    let output = read_all(pty.master).await;
    // The terminal's echo of what was typed comes at any place.
    let lines: Vec<&str> =
        output.lines().map(|line| line.trim_start_matches("typed")).filter(|l| !l.is_empty()).collect();
    assert_eq!(lines, ["pipe", "got piped", "tty typed"]);
    assert!(pty.child.wait().await.unwrap().success());
}

#[tokio::test]
async fn output_and_errors_come_in_order() {
    let script = "echo 1; echo 2 >&2; echo 3; cat; echo 4 >&2; (: </dev/tty) 2>/dev/null || echo none";
    let mut worker = spawn_with_pipes(&program(&["sh", "-c", script])).unwrap();
    let mut output = String::new();
    worker.output.read_to_string(&mut output).await.unwrap();
    assert_eq!(output, "1\n2\n3\n4\nnone\n");
    assert!(worker.child.wait().await.unwrap().success());
    assert_eq!(worker.id, worker.kept.id());
}

#[tokio::test]
async fn nothing_but_the_three_is_inherited() {
    // Without close-on-exec, as if whoever started us had left it open.
    let leak = rustix::fs::open("/", rustix::fs::OFlags::RDONLY, rustix::fs::Mode::empty()).unwrap();
    let mut worker = spawn_with_pipes(&program(&["ls", "-1", "/proc/self/fd"])).unwrap();
    let mut output = String::new();
    worker.output.read_to_string(&mut output).await.unwrap();
    assert_eq!(output, "0\n1\n2\n3\n", "3 is the directory that ls reads");
    worker.child.wait().await.unwrap();
    drop(leak);
}

#[tokio::test]
async fn signals_are_as_a_program_expects_them() {
    let script = "grep -E '^Sig(Blk|Ign)' /proc/self/status";
    // The standard library makes every Rust program ignore SIGPIPE, so there is one to be reset.
    let mut worker = spawn_with_pipes(&program(&["sh", "-c", script])).unwrap();
    let mut output = String::new();
    worker.output.read_to_string(&mut output).await.unwrap();
    assert_eq!(output, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
    worker.child.wait().await.unwrap();
}

#[tokio::test]
async fn what_cannot_start_says_why() {
    let dir = tempfile::tempdir().unwrap();
    let plain = dir.path().join("plain");
    std::fs::write(&plain, "no program").unwrap();
    std::fs::set_permissions(&plain, std::fs::Permissions::from_mode(0o600)).unwrap();
    let plain = plain.to_str().unwrap();
    let start = |argv: &[&str], cwd: &str| -> io::Error {
        let mut program = program(argv);
        program.cwd = PathBuf::from(cwd);
        let pty = spawn_on_pty(&program, PtyStdin::Terminal, DEFAULT_SIZE).unwrap_err();
        let pipes = spawn_with_pipes(&program).unwrap_err();
        assert_eq!(pty.to_string(), pipes.to_string());
        assert!(pty.get_ref().unwrap().is::<SpawnError>());
        pty
    };
    let check = |error: &io::Error, kind, part: &str| {
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().contains(part), "{error}");
    };
    check(&start(&["no-such-program"], "/"), io::ErrorKind::NotFound, "no-such-program");
    check(&start(&[plain], "/"), io::ErrorKind::PermissionDenied, plain);
    check(&start(&["sh"], "/no/such/dir"), io::ErrorKind::NotFound, "/no/such/dir");
    check(&start(&["sh"], plain), io::ErrorKind::NotADirectory, plain);
    check(&start(&[], "/"), io::ErrorKind::InvalidInput, "empty");
}

#[test]
fn a_program_dies_with_its_teammate() {
    let mut teammate = alone("spawn::starts_two_and_waits");
    let mut lines = BufReader::new(teammate.stdout.take().unwrap()).lines();
    let pids = lines.find_map(|line| Some(line.unwrap().split_once("started ")?.1.to_owned())).unwrap();
    let pidfds: Vec<Pidfd> =
        pids.split(' ').map(|pid| Pidfd::open(process::stat(pid.parse().unwrap()).unwrap().id()).unwrap()).collect();
    assert_eq!(pidfds.len(), 2);
    assert!(pidfds.iter().all(|pidfd| !pidfd.exited()));
    teammate.kill().unwrap();
    for pidfd in &pidfds {
        assert!(pidfd.wait_blocking(LIMIT));
    }
    teammate.wait().unwrap();
}

/// Not a test by itself: the teammate of the test above.
#[tokio::test]
async fn starts_two_and_waits() {
    if !is_alone() {
        return;
    }
    let sleep = program(&["sleep", "1000"]);
    let pty = spawn_on_pty(&sleep, PtyStdin::Terminal, DEFAULT_SIZE).unwrap();
    let worker = spawn_with_pipes(&sleep).unwrap();
    println!("started {} {}", pty.id.pid, worker.id.pid);
    std::future::pending::<()>().await;
}
