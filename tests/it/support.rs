//! A home, a folder for specs and a clean environment for one test; everything it starts ends with it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// Longer than anything takes on a busy machine; a test that waits this long has failed.
pub const LONG: Duration = Duration::from_secs(60);

/// One test's world.
pub struct Crew {
    /// Holds `home`, the socket folder and the specs. Kept short: sockets lie below it.
    root: tempfile::TempDir,
}

/// A program that does what it is told through a pipe, one script after the other.
const PUPPET: &str = r#"
[ -p "$CREWMUX_MEMBER.pipe" ] || mkfifo "$CREWMUX_MEMBER.pipe"
exec 3<>"$CREWMUX_MEMBER.pipe"
while read -r id <&3; do
    sh "./$id.sh" >"$id.out" 2>"$id.err" 3<&-
    echo $? >"$id.code"
done
"#;

/// What a command did.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Crew {
    pub fn new() -> Self {
        let root = tempfile::Builder::new().prefix("cm").tempdir_in("/tmp").expect("a temporary folder");
        std::fs::create_dir_all(root.path().join("run")).expect("a folder for sockets");
        Self { root }
    }

    pub fn home(&self) -> PathBuf {
        self.root.path().join("home")
    }

    /// The folder the commands run in.
    pub fn dir(&self) -> &Path {
        self.root.path()
    }

    pub fn team(&self, team: &str) -> PathBuf {
        self.home().join("teams").join(team)
    }

    pub fn member(&self, team: &str, member: &str) -> PathBuf {
        self.team(team).join("members").join(member)
    }

    /// Writes a file (a spec, a script) into the test's folder.
    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.dir().join(name);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).expect("a folder");
        }
        std::fs::write(&path, text).expect("a file");
        path
    }

    /// [`Crew::write`], executable.
    pub fn script(&self, name: &str, text: &str) -> PathBuf {
        use std::os::unix::fs::PermissionsExt;
        let path = self.write(name, text);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("permissions");
        path
    }

    /// The program with a clean environment of this test's own.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_crewmux"));
        command
            .args(args)
            .current_dir(self.dir())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.dir())
            .env("CREWMUX_HOME", self.home())
            .env("XDG_RUNTIME_DIR", self.dir().join("run"))
            .env("LANG", "C.UTF-8")
            .env("TERM", "xterm-256color")
            .stdin(Stdio::null());
        // A test that sets faults on purpose has made it (`faults/`).
        let faults = self.dir().join("faults");
        if faults.is_dir() {
            command.env("FAULTS_IN_CREWMUX", faults);
        }
        command
    }

    pub fn run(&self, args: &[&str]) -> Ran {
        Ran::from(self.command(args).output().expect("the program starts"))
    }

    /// Runs, and fails the test unless the exit code is 0.
    pub fn ok(&self, args: &[&str]) -> String {
        let ran = self.run(args);
        assert_eq!(ran.code, 0, "crewmux {args:?}\n{ran:#?}\n{}", self.trouble());
        ran.out
    }

    /// [`Crew::ok`] with `--json`.
    pub fn json(&self, args: &[&str]) -> Value {
        let mut args = args.to_vec();
        args.push("--json");
        let out = self.ok(&args);
        serde_json::from_str(&out).unwrap_or_else(|e| panic!("{args:?}: {e}\n{out}"))
    }

    /// Runs, and fails the test unless it ends with `code`.
    pub fn fails(&self, code: i32, args: &[&str]) -> Ran {
        let ran = self.run(args);
        assert_eq!(ran.code, code, "crewmux {args:?}\n{ran:#?}\n{}", self.trouble());
        ran
    }

    /// Launches a team from the text of a spec.
    pub fn up(&self, spec: &str) {
        let path = self.write("spec.toml", spec);
        self.ok(&["up", path.to_str().expect("a plain path")]);
    }

    /// The roster entry of a member in `status --json`.
    pub fn status(&self, team: &str, member: &str) -> Value {
        let status = self.json(&["status", "--team", team]);
        let members = status["members"].as_array().expect("members");
        members.iter().find(|m| m["name"] == member).cloned().unwrap_or(Value::Null)
    }

    /// `team.json` as it lies there.
    pub fn roster(&self, team: &str) -> Value {
        let text = std::fs::read_to_string(self.team(team).join("team.json")).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// A member's entry in `team.json`.
    pub fn entry(&self, team: &str, member: &str) -> Value {
        let roster = self.roster(team);
        let members = roster["members"].as_array().cloned().unwrap_or_default();
        members.into_iter().find(|m| m["name"] == member).unwrap_or(Value::Null)
    }

    /// Runs tmux on the team's own server.
    pub fn tmux(&self, team: &str, args: &[&str]) -> String {
        let socket = self.roster(team)["tmux"]["socket"].as_str().expect("a socket").to_owned();
        let ran = Command::new("tmux").arg("-S").arg(socket).args(args).env_remove("TMUX").output().expect("tmux runs");
        assert!(ran.status.success(), "tmux {args:?}: {}", String::from_utf8_lossy(&ran.stderr));
        String::from_utf8_lossy(&ran.stdout).into_owned()
    }

    /// A file of the test's folder; empty while it is not there.
    pub fn read(&self, name: &str) -> String {
        String::from_utf8_lossy(&std::fs::read(self.dir().join(name)).unwrap_or_default()).into_owned()
    }

    /// Waits for a file of the test's folder that ends with a line end, and reads it.
    pub fn awaits(&self, name: &str) -> String {
        let mut text = String::new();
        let begun = Instant::now();
        while !text.ends_with('\n') {
            assert!(begun.elapsed() < LONG, "waited in vain for the file {name}: {text:?}\n{}", self.trouble());
            std::thread::sleep(Duration::from_millis(10));
            text = self.read(name);
        }
        text
    }

    /// The spec of a member whose program does in its pane what [`Crew::inside`] tells it.
    pub fn puppet(&self, name: &str) -> String {
        self.write("puppet.sh", PUPPET);
        format!("[[member]]\nname = \"{name}\"\nengine = \"command\"\ncommand = [\"sh\", \"./puppet.sh\"]\n")
    }

    /// Lets a puppet run a shell script; [`Crew::outcome`] waits for its end.
    pub fn order(&self, member: &str, script: &str) -> String {
        self.order_unless(member, script, || false).expect("a puppet listens")
    }

    /// [`Crew::order`], unless the puppet is gone before it listens.
    pub fn order_unless(&self, member: &str, script: &str, mut gone: impl FnMut() -> bool) -> Option<String> {
        use std::io::Write;
        use std::os::unix::fs::OpenOptionsExt;
        static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(1);
        let id = format!("{member}.{}", NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed));
        self.write(&format!("{id}.sh"), script);
        let path = self.dir().join(format!("{member}.pipe"));
        let mut pipe = None;
        until("a puppet listens", || {
            // Refused while nobody reads there.
            pipe = std::fs::OpenOptions::new().write(true).custom_flags(libc::O_NONBLOCK).open(&path).ok();
            pipe.is_some() || gone()
        });
        pipe?.write_all(format!("{id}\n").as_bytes()).expect("the puppet takes its order");
        Some(id)
    }

    /// What became of an order.
    pub fn outcome(&self, id: &str) -> Ran {
        let code = self.awaits(&format!("{id}.code"));
        Ran {
            code: code.trim().parse().expect("a number"),
            out: self.read(&format!("{id}.out")),
            err: self.read(&format!("{id}.err")),
        }
    }

    /// Runs a shell script in a puppet's pane.
    pub fn inside(&self, member: &str, script: &str) -> Ran {
        let id = self.order(member, script);
        self.outcome(&id)
    }

    /// The lines of a journal that are JSON.
    pub fn journal(&self, path: &Path) -> Vec<Value> {
        let text = String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned();
        text.lines().filter_map(|l| serde_json::from_str(l).ok()).collect()
    }

    pub fn events(&self, team: &str) -> Vec<Value> {
        self.journal(&self.team(team).join("events.jsonl"))
    }

    /// What the long-lived processes wrote about things that should not happen.
    pub fn trouble(&self) -> String {
        let mut all = String::new();
        for team in std::fs::read_dir(self.home().join("teams")).into_iter().flatten().flatten() {
            let mut paths = vec![team.path().join("lead.log")];
            for member in std::fs::read_dir(team.path().join("members")).into_iter().flatten().flatten() {
                paths.push(member.path().join("teammate.log"));
                paths.push(member.path().join("output.log"));
            }
            for path in paths {
                if let Ok(text) = std::fs::read_to_string(&path) {
                    all += &format!("--- {}\n{text}\n", path.display());
                }
            }
        }
        all
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        for entry in std::fs::read_dir(self.home().join("teams")).into_iter().flatten().flatten() {
            let text = std::fs::read_to_string(entry.path().join("team.json")).unwrap_or_default();
            let team: Value = serde_json::from_str(&text).unwrap_or_default();
            if let Some(name) = team["name"].as_str() {
                let _ = self.command(&["down", "--force", "--team", name]).output();
            }
        }
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

/// Waits for a condition; fails the test with `what` when it does not come.
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < LONG, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Whether a process is there and not a zombie.
pub fn lives(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit(')').next().unwrap_or_default().trim_start().starts_with('Z'))
}

/// Every process that has `NAME=value` in its environment.
pub fn with_environment(name: &str, value: &str) -> Vec<u32> {
    let wanted = format!("{name}={value}");
    std::fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid: &u32| {
            std::fs::read(format!("/proc/{pid}/environ"))
                .is_ok_and(|env| env.split(|b| *b == 0).any(|e| e == wanted.as_bytes()))
        })
        .filter(|pid| lives(*pid))
        .collect()
}

pub fn kill(pid: u32, signal: &str) {
    let status = Command::new("kill").args([format!("-{signal}"), pid.to_string()]).status().expect("kill runs");
    assert!(status.success(), "kill -{signal} {pid}");
}
