//! What the machine must have: tmux, inotify, a home that can be written.

use std::path::Path;
use std::process::Command;

use rustix::fs::{Access, access, statfs, statvfs};

use super::inotify;
use crate::os::process;
use crate::spec::program;
use crate::store::Home;
use crate::tmux::Tmux;
use crate::view::answers::{Finding, Severity};

/// Less free space than this is too little for a team's logs, in bytes.
const LITTLE_SPACE: u64 = 256 * 1024 * 1024;

/// Versions of tmux with a fault that shows in members' panes, and the first without it, by tmux's own list of changes.
const FAULTS: [(&str, &str, &str); 2] = [
    ("3.2", "it may mistake keys with modifiers and scroll a part of a pane wrongly", "3.2a"),
    ("3.3", "it may turn a program's mouse off in its pane", "3.3a"),
];

/// File systems where locks or change notices do not reach every process, by their number in `linux/magic.h`.
const DISTANT: [(u64, &str); 6] = [
    (0x6969, "NFS"),
    (0xFF53_4D42, "CIFS"),
    (0xFE53_4D42, "SMB"),
    (0x0102_1997, "9p"),
    (0x6573_5546, "FUSE"),
    (0x00C3_6400, "Ceph"),
];
const LOCAL: [(u64, &str); 7] = [
    (0xEF53, "ext4"),
    (0x9123_683E, "btrfs"),
    (0x5846_5342, "xfs"),
    (0x0102_1994, "tmpfs"),
    (0x794C_7630, "overlay"),
    (0x2FC1_2FC1, "zfs"),
    (0xF2F5_2010, "f2fs"),
];

pub(super) async fn look(home: &Home) -> Vec<Finding> {
    let mut found = vec![tmux().await];
    found.extend(folder(home));
    found.extend([inotify::look(home), sandbox(), git(), boot()]);
    found
}

async fn tmux() -> Finding {
    // `-V` asks no server, so no socket is needed.
    match Tmux::new("").version().await {
        Ok(version) => match FAULTS.iter().find(|(text, ..)| *text == version.text) {
            Some((text, fault, better)) => {
                Finding::new(Severity::Warning, "tmux", format!("{text}: {fault} ({better} does not)"))
                    .hint(format!("install {better} or newer"))
            }
            None => Finding::new(Severity::Fine, "tmux", version.text),
        },
        Err(error) => {
            let hint = error.hint().unwrap_or("check what `tmux -V` says").to_owned();
            Finding::new(Severity::Broken, "tmux", error.to_string()).hint(hint)
        }
    }
}

/// The home, or where it does not exist yet the folder that it will be made in.
fn folder(home: &Home) -> Vec<Finding> {
    let root = home.root();
    let Some(there) = root.ancestors().find(|dir| dir.exists()) else {
        return vec![Finding::new(Severity::Broken, "home", format!("{} cannot be reached", root.display()))];
    };
    let mut found = Vec::new();
    let place = if there == root { String::new() } else { " (not made yet)".to_owned() };
    if !there.is_dir() || access(there, Access::WRITE_OK | Access::EXEC_OK).is_err() {
        let text = format!("{}{place}: {} cannot be written", root.display(), there.display());
        found.push(Finding::new(Severity::Broken, "home", text).hint("set CREWMUX_HOME to a folder of yours"));
    } else {
        found.push(Finding::new(Severity::Fine, "home", format!("{}{place}", root.display())));
    }
    found.extend(file_system(there));
    found.extend(space(there));
    found
}

fn file_system(dir: &Path) -> Option<Finding> {
    let magic = statfs(dir).ok()?.f_type as u64 & 0xFFFF_FFFF;
    let name = |list: &[(u64, &'static str)]| list.iter().find(|(m, _)| *m == magic).map(|(_, name)| *name);
    if let Some(name) = name(&DISTANT) {
        let text = format!("{name}: locks and change notices may not work between processes");
        return Some(
            Finding::new(Severity::Warning, "file system", text).hint("set CREWMUX_HOME to a folder on a local disk"),
        );
    }
    let name = name(&LOCAL).map_or_else(|| format!("type {magic:#x}"), str::to_owned);
    Some(Finding::new(Severity::Fine, "file system", name))
}

fn space(dir: &Path) -> Option<Finding> {
    let stat = statvfs(dir).ok()?;
    let free = stat.f_bavail.saturating_mul(stat.f_frsize);
    let text = format!("{} MiB free", free / 1024 / 1024);
    Some(match free {
        0 => Finding::new(Severity::Broken, "disk", "full: nothing can be written").hint("make room on that disk"),
        _ if free < LITTLE_SPACE => Finding::new(Severity::Warning, "disk", text).hint("make room on that disk"),
        _ => Finding::new(Severity::Fine, "disk", text),
    })
}

fn sandbox() -> Finding {
    let support = crate::sandbox::support();
    match support.files {
        true => Finding::new(Severity::Fine, "sandbox", support.words()),
        false => Finding::new(Severity::Warning, "sandbox", support.words())
            .hint("`sandbox_fallback = \"off\"` lets members run without one; `crewmux status` then says `unconfined`"),
    }
}

fn git() -> Finding {
    let here = std::env::current_dir().unwrap_or_default();
    if program::find("git", &here).is_err() {
        let text = "not found: members cannot have work trees of their own";
        return Finding::new(Severity::Warning, "git", text).hint("install git");
    }
    let said = Command::new("git").arg("--version").output().ok();
    let text = said.map(|o| String::from_utf8_lossy(&o.stdout).trim().to_owned()).filter(|t| !t.is_empty());
    Finding::new(Severity::Fine, "git", text.unwrap_or_else(|| "found".to_owned()))
}

fn boot() -> Finding {
    match process::boot_id() {
        id if id.is_empty() => Finding::new(
            Severity::Warning,
            "boot id",
            "the kernel does not tell it: processes from before a restart of the machine may be taken for new ones",
        )
        .hint("mount /proc"),
        id => Finding::new(Severity::Fine, "boot id", id),
    }
}
