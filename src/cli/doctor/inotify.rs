//! Whether the kernel has enough notices of changes for the teams that there are.

use crate::store::{Home, Watch, lease, roster};
use crate::view::answers::{Finding, Severity};

/// Below these a few teams on one machine run out.
const FEW_INSTANCES: u64 = 128;
const FEW_WATCHES: u64 = 8192;
/// Fewer instances than this are not enough for one more team.
const FEW_LEFT: u64 = 16;

const RAISE: &str = "raise them: `sudo sysctl fs.inotify.max_user_instances=1024 fs.inotify.max_user_watches=524288`";

pub(super) fn look(home: &Home) -> Finding {
    let there = home.root().ancestors().find(|dir| dir.is_dir());
    // Tried, because how many are taken by others nobody tells.
    let works = Watch::start(there).mode() == "inotify";
    judge(works, limit("max_user_instances"), in_use(), limit("max_user_watches"), wanted(home))
}

fn judge(works: bool, instances: Option<u64>, used: u64, watches: Option<u64>, wanted: u64) -> Finding {
    let number = |n: Option<u64>| n.map_or_else(|| "?".to_owned(), |n| n.to_string());
    let text = format!("{} instances ({used} in use) and {} watches for this user", number(instances), number(watches));
    let warning = |text: String| Finding::new(Severity::Warning, "inotify", text).hint(RAISE);
    if !works {
        return warning(format!("not to be had ({text}): files are looked at every 200 ms instead"));
    }
    if instances.is_some_and(|n| n < FEW_INSTANCES) || watches.is_some_and(|n| n < FEW_WATCHES) {
        return warning(format!("{text}: a big team runs out of them"));
    }
    let left = instances.map(|n| n.saturating_sub(used));
    if let Some(left) = left.filter(|left| *left < wanted) {
        return warning(format!("{text}: {left} are left, and the teams here that are not up would take {wanted}"));
    }
    if let Some(left) = left.filter(|left| *left < FEW_LEFT) {
        return warning(format!("{text}: {left} are left, and each member and each lead takes one"));
    }
    Finding::new(Severity::Fine, "inotify", text)
}

fn limit(name: &str) -> Option<u64> {
    std::fs::read_to_string(format!("/proc/sys/fs/inotify/{name}")).ok()?.trim().parse().ok()
}

/// How many instances this user's processes hold. What belongs to processes that may not be looked at is missing.
fn in_use() -> u64 {
    let folders = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let files = folders.flat_map(|dir| std::fs::read_dir(dir.path().join("fd")).into_iter().flatten().flatten());
    let is_one = |link: std::path::PathBuf| link.as_os_str() == "anon_inode:inotify";
    files.filter(|file| std::fs::read_link(file.path()).is_ok_and(is_one)).count() as u64
}

/// How many instances the teams of this home still want: one for each lead and active member that does not run.
fn wanted(home: &Home) -> u64 {
    let runs = |lease: &std::path::Path| lease::is_held(lease).unwrap_or(false);
    let of_team = |name| {
        let dir = home.team(&name);
        let Ok(team) = roster::read_team(&dir) else { return 0 };
        let members = team.teammates().filter(|m| m.is_active && !runs(&dir.member(&m.name).lease())).count();
        members as u64 + u64::from(!runs(&dir.lead_lease()))
    };
    home.teams().unwrap_or_default().into_iter().map(of_team).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_measured_against_the_teams() {
        let said = |instances, used, wanted| judge(true, Some(instances), used, Some(65536), wanted);
        assert_eq!(said(1024, 100, 65).severity, Severity::Fine);
        let big = said(128, 70, 65);
        assert_eq!(big.severity, Severity::Warning);
        assert!(big.detail.contains("58 are left") && big.detail.contains("would take 65"), "{}", big.detail);
        assert!(said(128, 120, 0).detail.contains("8 are left"));
        assert_eq!(said(64, 0, 0).severity, Severity::Warning);
        assert!(judge(false, None, 0, None, 0).detail.contains("every 200 ms"));
    }
}
