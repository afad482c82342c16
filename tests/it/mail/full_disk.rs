//! "sent" means written.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::puppet::team;
use crate::support::{Crew, until};

/// A mount that goes with the test.
struct Mount(PathBuf);

impl Mount {
    /// `None` where mounting is not allowed.
    fn make(at: &Path, args: &[&str]) -> Option<Self> {
        std::fs::create_dir_all(at).expect("a folder");
        let done = Command::new("mount").args(args).arg(at).output().ok()?;
        if !done.status.success() {
            eprintln!("skipped: mount is refused here: {}", String::from_utf8_lossy(&done.stderr));
            return None;
        }
        Some(Self(at.to_owned()))
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
        // A whole home was in the way when its test's folder was removed.
        if self.0.ends_with("home")
            && let Some(folder) = self.0.parent()
        {
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}

/// Files are compared whole.
fn inbox_bytes(crew: &Crew, member: &str) -> Vec<u8> {
    std::fs::read(crew.member("t", member).join("mail/inbox.jsonl")).unwrap_or_default()
}

fn fill(dir: &Path) -> PathBuf {
    let path = dir.join("filler");
    let file = std::fs::File::create(&path).expect("a file");
    let mut size = 64 << 20;
    // Down to the last page.
    let mut at = 0;
    while size >= 4096 {
        use std::os::unix::fs::FileExt;
        match file.write_at(&vec![0; size], at) {
            Ok(n) => at += n as u64,
            Err(_) => size /= 2,
        }
    }
    path
}

#[test]
fn f12_a_full_disk_is_an_error_and_loses_nothing() {
    let crew = Crew::new();
    let Some(mount) = Mount::make(&crew.home(), &["-t", "tmpfs", "-o", "size=4m,mode=700", "tmpfs"]) else { return };
    // Declared after the mount, so that it ends before it, come what may.
    let crew = crew;
    // What the members are given lies on the other disk.
    crew.up(&(team("t") + &crew.taker("writer") + &crew.puppet("hand")));
    crew.ok(&["send", "writer", "before"]);
    crew.until_got("writer", "before");
    until("it was read", || crew.status("t", "writer")["unread"] == 0);
    let filler = fill(&crew.home());

    let text = "x".repeat(20_000);
    let before = inbox_bytes(&crew, "writer");
    let failed = crew.fails(1, &["send", "writer", &text]);
    assert!(failed.out.is_empty(), "nothing says that it was sent: {}", failed.out);
    assert!(failed.err.contains("inbox.jsonl") && failed.err.contains("disk"), "what and why: {}", failed.err);
    assert!(inbox_bytes(&crew, "writer") == before, "the file is as before");
    let inside = crew.inside("hand", &format!("crewmux send writer {text}"));
    assert!(matches!(inside.code, 1 | 5), "{inside:?}");
    assert!(inside.out.is_empty());
    assert!(inbox_bytes(&crew, "writer") == before);
    let blob = crew.write("blob", &"y".repeat(400_000));
    crew.fails(1, &["send", "writer", "--file", blob.to_str().expect("plain")]);
    assert!(inbox_bytes(&crew, "writer") == before);

    std::fs::remove_file(filler).expect("removed");
    crew.ok(&["send", "writer", "after"]);
    crew.until_got("writer", "after");
    assert_eq!(crew.texts("writer"), ["before", "after"], "the same processes went on");
    let inside = crew.inside("hand", "crewmux send writer 'from a member'");
    assert_eq!(inside.code, 0, "{inside:?}");
    crew.until_got("writer", "from a member");
    crew.ok(&["down"]);
    drop(crew);
    drop(mount);
}

#[test]
fn f12_a_folder_that_cannot_be_written_is_an_error() {
    let crew = Crew::new();
    crew.up(&(team("t") + &crew.taker("writer")));
    crew.ok(&["send", "writer", "before"]);
    crew.until_got("writer", "before");
    let mail = crew.member("t", "writer").join("mail");
    let path = mail.to_str().expect("plain").to_owned();
    let Some(mount) = Mount::make(&mail, &["--bind", &path]) else { return };
    let done = Command::new("mount").args(["-o", "remount,ro,bind"]).arg(&mail).status().expect("mount runs");
    assert!(done.success());
    let before = inbox_bytes(&crew, "writer");
    let failed = crew.fails(1, &["send", "writer", "cannot"]);
    assert!(failed.out.is_empty());
    assert!(failed.err.contains("mail/inbox.jsonl"), "{}", failed.err);
    assert!(inbox_bytes(&crew, "writer") == before);
    drop(mount);
    crew.ok(&["send", "writer", "after"]);
    crew.until_got("writer", "after");
}

#[test]
fn f12_no_team_comes_up_on_a_full_disk() {
    let crew = Crew::new();
    let Some(mount) = Mount::make(&crew.home(), &["-t", "tmpfs", "-o", "size=1m,mode=700", "tmpfs"]) else { return };
    // Declared after the mount, so that it ends before it, come what may.
    let crew = crew;
    let filler = fill(&crew.home());
    let spec = crew.write("spec.toml", &(team("t") + &crew.taker("writer")));
    let spec = spec.to_str().expect("plain");
    let failed = crew.fails(1, &["up", spec]);
    assert!(failed.err.starts_with("error: "), "{}", failed.err);
    let left = std::fs::read_dir(crew.home().join("teams")).into_iter().flatten().count();
    assert_eq!(left, 0, "nothing half-made");
    std::fs::remove_file(filler).expect("removed");
    crew.ok(&["up", spec]);
    crew.ok(&["down"]);
    drop(crew);
    drop(mount);
}
