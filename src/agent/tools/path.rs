//! Paths that a model writes: where they really lead.

use std::io;
use std::path::{Component, Path, PathBuf};

use super::context::Here;

/// A path of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// Where it leads: no link, no `..` left in it.
    pub real: PathBuf,
    /// It leads out of the folders that the agent works in.
    pub outside: bool,
}

/// How many links one path may lead through, as the kernel has it (path_resolution(7)).
const MOST_LINKS: usize = 40;

/// Follows `path`, from `here.cwd` where it is relative, through every link, also where its end is not there yet.
///
/// # Errors
/// A loop of links, a NUL byte, a folder that may not be looked into.
pub fn resolve(path: &str, here: &Here) -> io::Result<Resolved> {
    if path.is_empty() || path.contains('\0') {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the path is empty or has a NUL byte"));
    }
    let home = path.strip_prefix("~/").and_then(|rest| Some(Path::new(&std::env::var_os("HOME")?).join(rest)));
    let real = follow(&here.cwd.join(home.unwrap_or_else(|| PathBuf::from(path))), &mut 0)?;
    let inside = std::iter::once(&here.cwd).chain(&here.also).any(|root| {
        let root = root.canonicalize().unwrap_or_else(|_| root.clone());
        real.starts_with(root)
    });
    Ok(Resolved { outside: !inside, real })
}

/// Step by step, since `canonicalize` refuses what is not there, and a link whose target is not there leads somewhere
/// all the same: a write through it would make that file.
fn follow(path: &Path, links: &mut usize) -> io::Result<PathBuf> {
    let mut real = PathBuf::from("/");
    for part in path.components() {
        match part {
            Component::Prefix(_) | Component::RootDir | Component::CurDir => {}
            Component::ParentDir => {
                real.pop();
            }
            Component::Normal(name) => {
                let next = real.join(name);
                match std::fs::read_link(&next) {
                    Ok(target) => {
                        *links += 1;
                        if *links > MOST_LINKS {
                            return Err(io::Error::other("too many links"));
                        }
                        real = follow(&real.join(target), links)?;
                    }
                    Err(e) if e.kind() == io::ErrorKind::PermissionDenied => return Err(e),
                    // No link, or not there.
                    Err(_) => real = next,
                }
            }
        }
    }
    Ok(real)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::agent::permission::Mode;

    #[test]
    fn every_way_out_is_seen() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let (work, other, extra) = (root.join("work"), root.join("other"), root.join("extra"));
        for folder in [&work.join("deep"), &other, &extra] {
            std::fs::create_dir_all(folder).unwrap();
        }
        symlink(&other, work.join("out")).unwrap();
        symlink("../other/not-there", work.join("dangling")).unwrap();
        symlink("deep", work.join("in")).unwrap();
        symlink("loop", work.join("loop")).unwrap();
        symlink(&work, root.join("same")).unwrap();
        let here = Here { cwd: root.join("same"), also: vec![extra.clone()], mode: Mode::Default, left: None };
        let at = |path: &str| resolve(path, &here).unwrap();
        for (path, real, outside) in [
            ("a", work.join("a"), false),
            ("./deep/../a", work.join("a"), false),
            ("in/new/file", work.join("deep/new/file"), false),
            ("../other/a", other.join("a"), true),
            ("out/a", other.join("a"), true),
            ("out/../work/a", work.join("a"), false),
            ("dangling", other.join("not-there"), true),
            ("/etc/passwd", PathBuf::from("/etc/passwd"), true),
            ("../../../../../../../../etc/passwd", PathBuf::from("/etc/passwd"), true),
            // A neighbour whose name begins alike.
            ("../work2/a", root.join("work2/a"), true),
        ] {
            assert_eq!(at(path), Resolved { real, outside }, "{path}");
        }
        assert!(!at(extra.join("x").to_str().unwrap()).outside);
        for bad in ["loop/a", "", "a\0b"] {
            assert!(resolve(bad, &here).is_err(), "{bad:?}");
        }
    }
}
