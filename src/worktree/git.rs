//! Running git: with an environment of our own, for a limited time, and never a hook.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::AsyncReadExt;

use crate::act::ActError;
use crate::model::id::Life;
use crate::model::tree::Tree;
use crate::os::life::LIFE_VARIABLE;
use crate::os::spawn::{Program, spawn_apart};

/// The oldest git that is known to do all that is asked of it here.
const OLDEST: (u32, u32) = (2, 20);
/// How long one git may run: a checkout of a large repository takes minutes, nothing takes hours.
const LIMIT: Duration = Duration::from_secs(600);
/// Variables of git that say who commits and which configuration counts. All others of its own are left out: they could
/// name another repository, as they do in a hook.
const KEPT: [&str; 13] = [
    "GIT_AUTHOR_NAME",
    "GIT_AUTHOR_EMAIL",
    "GIT_AUTHOR_DATE",
    "GIT_COMMITTER_NAME",
    "GIT_COMMITTER_EMAIL",
    "GIT_COMMITTER_DATE",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_EXEC_PATH",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_CEILING_DIRECTORIES",
];
/// Settings that hold whatever a repository says. A hook or a file-system monitor is a program that somebody else wrote
/// into the repository; neither is started because crewmux makes or looks at a tree.
const SETTINGS: [&str; 5] =
    ["core.hooksPath=/dev/null", "core.fsmonitor=false", "gc.auto=0", "maintenance.auto=false", "core.quotePath=false"];

/// Where git works.
#[derive(Clone, Copy)]
pub(super) enum Place<'a> {
    /// It finds the repository from this folder by itself.
    In(&'a Path),
    /// In a tree that crewmux made. Its program may have changed every pointer in it, so git is told where everything is.
    Of(&'a Tree),
}

/// What a git that ran to its end said.
pub(super) struct Output {
    pub code: i32,
    pub out: Vec<u8>,
    pub err: String,
}

impl Output {
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.out).into_owned()
    }

    /// The first line of the output.
    pub fn line(&self) -> String {
        self.text().lines().next().unwrap_or_default().to_owned()
    }
}

/// One git command.
pub(super) struct Git<'a> {
    place: Place<'a>,
    args: Vec<OsString>,
    env: Vec<(OsString, OsString)>,
}

impl<'a> Git<'a> {
    pub fn new(place: Place<'a>, args: &[&str]) -> Self {
        Self { place, args: args.iter().map(Into::into).collect(), env: Vec::new() }
    }

    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.env.push((name.into(), value.as_ref().to_owned()));
        self
    }

    /// Whoever ends this life ends the command with it.
    pub fn of_life(self, life: Option<Life>) -> Self {
        match life {
            Some(life) => self.env(LIFE_VARIABLE, life.to_string()),
            None => self,
        }
    }

    /// Runs it to its end, whatever its exit code is.
    pub async fn output(self) -> Result<Output, ActError> {
        let word = self.args.first().map(|a| a.to_string_lossy().into_owned()).unwrap_or_default();
        let program = self.program();
        let started = spawn_apart(&program, false).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => {
                ActError::failed("git is not found on PATH").hint("install git, or do without work trees")
            }
            _ => ActError::failed("cannot start git").cause(error.to_string()),
        })?;
        let (mut child, id, _kept) = (started.child, started.id, started.kept);
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let ended = tokio::time::timeout(LIMIT, async {
            let (_, _, status) = tokio::join!(read(stdout, &mut out), read(stderr, &mut err), child.wait());
            status
        })
        .await;
        let Ok(status) = ended else {
            // It leads a session, so its helpers are in its group too.
            let group = i32::try_from(id.pid).ok().and_then(Pid::from_raw);
            let _ = group.map(|group| kill_process_group(group, Signal::KILL));
            let _ = child.wait().await;
            return Err(ActError::timed_out(format!("`git {word}` did not end within {LIMIT:?}")));
        };
        let status = status.map_err(|e| ActError::failed("cannot wait for git").cause(e.to_string()))?;
        let err = String::from_utf8_lossy(&err).trim_end().to_owned();
        match status.code() {
            Some(code) => Ok(Output { code, out, err }),
            None => Err(ActError::failed(format!("`git {word}` was ended: {status}")).cause(err)),
        }
    }

    /// Runs it; a failure is an error with git's own words.
    pub async fn run(self) -> Result<Output, ActError> {
        let word = self.args.first().map(|a| a.to_string_lossy().into_owned()).unwrap_or_default();
        let output = self.output().await?;
        match output.code {
            0 => Ok(output),
            _ => Err(failed(&word, &output)),
        }
    }

    fn program(&self) -> Program {
        let mut argv: Vec<OsString> = vec!["git".into()];
        for setting in SETTINGS {
            argv.extend(["-c".into(), setting.into()]);
        }
        argv.extend(self.args.iter().cloned());
        let is_git = |name: &OsStr| name.to_str().is_some_and(|n| n.starts_with("GIT_") && !KEPT.contains(&n));
        let mut env: Vec<(OsString, OsString)> = std::env::vars_os()
            .filter(|(name, _)| !is_git(name) && name != LIFE_VARIABLE && name != "LC_ALL")
            .collect();
        let mut set = |name: &str, value: &OsStr| env.push((name.into(), value.to_owned()));
        set("LC_ALL", OsStr::new("C"));
        set("GIT_TERMINAL_PROMPT", OsStr::new("0"));
        // A look must not take the index's lock, under which the tree's own program may want to work.
        set("GIT_OPTIONAL_LOCKS", OsStr::new("0"));
        let cwd = match self.place {
            Place::In(dir) => dir.to_owned(),
            Place::Of(tree) => {
                set("GIT_DIR", OsStr::new(&tree.git_dir));
                set("GIT_COMMON_DIR", OsStr::new(&tree.common_dir));
                set("GIT_WORK_TREE", OsStr::new(&tree.path));
                Path::new(&tree.path).to_owned()
            }
        };
        for (name, value) in &self.env {
            env.push((name.clone(), value.clone()));
        }
        Program { argv, cwd, env }
    }
}

async fn read(pipe: Option<impl tokio::io::AsyncRead + Unpin>, into: &mut Vec<u8>) {
    if let Some(mut pipe) = pipe {
        // What was read up to a failure is all that there is to show.
        let _ = pipe.read_to_end(into).await;
    }
}

/// What git said, as our error.
pub(super) fn failed(word: &str, output: &Output) -> ActError {
    let mut error = ActError::failed(format!("`git {word}` failed"));
    let words = output.err.trim();
    error.causes.push(if words.is_empty() { format!("it ended with code {}", output.code) } else { words.to_owned() });
    error
}

/// An error where git is older than what is known to work.
pub(super) async fn check_version() -> Result<(), ActError> {
    let said = Git::new(Place::In(Path::new("/")), &["version"]).run().await?.line();
    match version(&said) {
        Some(found) if found < OLDEST => {
            let (major, minor) = OLDEST;
            Err(ActError::failed(format!("{said} is too old: work trees need git {major}.{minor} or newer")))
        }
        // A git that says it in another way is not refused for that.
        _ => Ok(()),
    }
}

fn version(said: &str) -> Option<(u32, u32)> {
    let mut parts = said.strip_prefix("git version ")?.split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_in_all_their_forms() {
        assert_eq!(version("git version 2.47.3"), Some((2, 47)));
        assert_eq!(version("git version 2.39.5 (Apple Git-154)"), Some((2, 39)));
        assert_eq!(version("git version 1.8.3.1"), Some((1, 8)));
        assert_eq!(version("jgit"), None);
    }
}
