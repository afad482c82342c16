//! tmux: F31 to F39.

use std::path::Path;
use std::process::Command;

use crate::smoke::DUO;
use crate::support::{Crew, kill, lives, until, with_environment};

/// A person's own tmux server beside the team's, ended with the test.
struct Person {
    socket: std::path::PathBuf,
}

impl Person {
    fn new(crew: &Crew) -> Self {
        let me = Self { socket: crew.dir().join("mine") };
        me.tmux(&["-f", "/dev/null", "new-session", "-d", "-s", "work", "-x", "100", "-y", "30", "sleep 1000"]);
        me
    }

    fn tmux(&self, args: &[&str]) -> String {
        let ran =
            Command::new("tmux").arg("-S").arg(&self.socket).args(args).env_remove("TMUX").output().expect("tmux");
        assert!(ran.status.success(), "tmux {args:?}: {}", String::from_utf8_lossy(&ran.stderr));
        String::from_utf8_lossy(&ran.stdout).into_owned()
    }

    /// Everything of it that others could have changed.
    fn state(&self) -> String {
        let format =
            "#{session_name} #{window_id} #{pane_id} #{window_active}#{pane_active} #{window_layout} #{pane_title}";
        let mut all = String::new();
        for args in [
            &["show-options", "-g"][..],
            &["show-options", "-s"],
            &["show-options", "-wg"],
            &["show-hooks", "-g"],
            &["show-environment", "-g"],
            &["list-keys"],
            &["list-panes", "-a", "-F", format],
        ] {
            all += &self.tmux(args);
        }
        all
    }

    /// As a command sees it that runs in a pane there.
    fn variable(&self) -> String {
        let pid = self.tmux(&["display-message", "-p", "#{pid}"]);
        format!("{},{},0", self.socket.display(), pid.trim())
    }
}

impl Drop for Person {
    fn drop(&mut self) {
        let _ = Command::new("tmux").arg("-S").arg(&self.socket).arg("kill-server").output();
    }
}

#[test]
fn f31_the_persons_configuration_has_no_effect() {
    let crew = Crew::new();
    let conf = "set -g base-index 1\nset -g pane-base-index 1\nsetw -g pane-base-index 1\nset -g prefix C-a\n\
                set -g default-shell /bin/false\nset -g default-command 'exit 1'\nset -s exit-empty on\n\
                set -g destroy-unattached on\nset -g remain-on-exit off\nset -g renumber-windows on\n\
                set-hook -g after-new-session 'kill-server'\nset-hook -g session-created 'kill-server'\n\
                set-hook -g after-split-window 'kill-pane'\nset-hook -g after-new-window 'kill-window'\n";
    crew.write(".tmux.conf", conf);
    crew.write(".config/tmux/tmux.conf", conf);
    let spec = format!("{DUO}\n[[task]]\nsubject = \"first\"\nrun = [\"true\"]\n");
    let path = crew.write("duo.toml", &spec);
    for shell in ["/bin/false", "/usr/bin/fish", "/no/such/shell", ""] {
        let mut command = crew.command(&["run", path.to_str().expect("plain")]);
        command.env("SHELL", shell).env("XDG_CONFIG_HOME", crew.dir().join(".config"));
        let ran = crate::support::Ran::from(command.output().expect("it starts"));
        assert_eq!(ran.code, 0, "SHELL={shell}: {ran:#?}");
    }
}

/// Arguments that a shell would not leave alone, one a line in TOML.
const ODD: [&str; 14] = [
    "a b",
    "&&",
    "$(touch pwned)",
    "`touch pwned`",
    "\"q'",
    ";",
    "end;",
    "-x",
    "",
    "#{pane_id}",
    "~",
    "*",
    "two\nlines",
    "\u{e9}\u{1f980}",
];

fn toml_list(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|w| serde_json::Value::from(*w).to_string()).collect();
    quoted.join(", ")
}

#[test]
fn f32_every_argv_arrives_as_given() {
    let crew = Crew::new();
    crew.script(
        "show.sh",
        "#!/bin/sh\nout=$1\nshift\nprintf '%s\\0' \"$@\" >\"$out.part\"\nmv \"$out.part\" \"$out\"\n",
    );
    let odd = toml_list(&ODD);
    crew.up(&format!(
        "v = 1\nname = \"argv\"\n[[member]]\nname = \"voice\"\nengine = \"command\"\nrestart = \"never\"\n\
         command = [\"./show.sh\", \"from-member\", {odd}]\n\
         [[member]]\nname = \"hand\"\nengine = \"worker\"\n[[task]]\nsubject = \"s\"\nrun = [\"./show.sh\", \"from-task\", {odd}]\n"
    ));
    let show = crew.dir().join("show.sh");
    let show = show.to_str().expect("plain");
    let mut args = vec!["spawn", "late", "--restart", "never", "--", show, "from-spawn"];
    args.extend(ODD);
    crew.ok(&args);
    let mut args = vec!["task", "add", "t", "--run", "--", show, "from-add"];
    args.extend(ODD);
    crew.ok(&args);
    let wanted: String = ODD.iter().map(|w| format!("{w}\0")).collect();
    for file in ["from-member", "from-task", "from-spawn", "from-add"] {
        until("the program ran", || crew.dir().join(file).exists());
        assert_eq!(crew.read(file), wanted, "{file}");
    }
    assert!(!crew.dir().join("pwned").exists());
}

#[test]
fn f33_a_launch_inside_a_tmux_changes_nothing_there() {
    let crew = Crew::new();
    let person = Person::new(&crew);
    person.tmux(&["split-window", "-d", "-t", "work:", "sleep 1000"]);
    let before = person.state();
    let path = crew.write("duo.toml", DUO);
    let mut up = crew.command(&["up", path.to_str().expect("plain")]);
    up.env("TMUX", person.variable()).env("TMUX_PANE", "%0");
    let ran = crate::support::Ran::from(up.output().expect("it starts"));
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert_eq!(person.state(), before, "up");

    // To attach from there is one new window, and only that.
    let mut attach = crew.command(&["attach"]);
    attach.env("TMUX", person.variable()).env("TMUX_PANE", "%0");
    let ran = crate::support::Ran::from(attach.output().expect("it starts"));
    assert_eq!(ran.code, 0, "{ran:#?}");
    let windows = || person.tmux(&["list-windows", "-a", "-F", "#{window_id}"]).lines().count();
    assert_eq!(windows(), 2);
    until("the team's session is shown", || crew.tmux("duo", &["list-clients"]).lines().count() == 1);
    assert_eq!(crew.tmux("duo", &["list-clients"]).lines().count(), 1);

    let mut down = crew.command(&["down"]);
    down.env("TMUX", person.variable()).env("TMUX_PANE", "%0");
    assert!(down.output().expect("it starts").status.success());
    until("the window of the ended session is gone", || windows() == 1);
    assert_eq!(person.state(), before, "down");
}

#[test]
fn f34_any_number_of_members_in_windows_of_k() {
    let crew = Crew::new();
    let mut spec = "v = 1\nname = \"crowd\"\n[layout]\npanes_per_window = 5\n".to_owned();
    for n in 0..24 {
        spec += &format!("[[member]]\nname = \"m{n}\"\nengine = \"command\"\ncommand = [\"sleep\", \"1000\"]\n");
    }
    crew.up(&spec);
    let panes = crew.tmux("crowd", &["list-panes", "-a", "-F", "#{window_id}"]);
    assert_eq!(panes.lines().count(), 25, "the lead and 24");
    let mut count = std::collections::BTreeMap::new();
    panes.lines().for_each(|window| *count.entry(window).or_insert(0) += 1);
    assert!(count.values().all(|n| *n <= 6), "{count:?}");
    // A small terminal changes nothing about it, nor does one more member.
    for window in count.keys() {
        crew.tmux("crowd", &["resize-window", "-t", window, "-x", "80", "-y", "24"]);
    }
    for name in ["late1", "late2"] {
        crew.ok(&["spawn", name, "--", "sleep", "1000"]);
    }
    let status = crew.json(&["status"]);
    let members = status["members"].as_array().expect("members");
    assert_eq!(members.iter().filter(|m| m["alive"] == true && m["name"] != "team-lead").count(), 26);
}

#[test]
fn f35_mail_is_delivered_in_copy_mode() {
    let crew = Crew::new();
    crew.up("v = 1\nname = \"copy\"\n[[member]]\nname = \"ear\"\nengine = \"command\"\ndeliver = \"paste\"\n\
         command = [\"sh\", \"-c\", \"crewmux ready; while read -r line; do echo \\\"$line\\\" >>heard; done\"]\n");
    let pane = crew.entry("copy", "ear")["pane_id"].as_str().expect("a pane").to_owned();
    crew.tmux("copy", &["copy-mode", "-t", &pane]);
    assert_eq!(crew.tmux("copy", &["display-message", "-p", "-t", &pane, "#{pane_in_mode}"]).trim(), "1");
    crew.ok(&["send", "ear", "first; not lost"]);
    assert_eq!(crew.awaits("heard"), "first; not lost\n");
    crew.ok(&["send", "ear", "second"]);
    until("the second too", || crew.read("heard") == "first; not lost\nsecond\n");
}

#[test]
fn f36_a_name_never_acts_on_a_longer_one() {
    let crew = Crew::new();
    let spec = crew.write("duo.toml", DUO);
    for name in ["team-1x", "team-1", "team-10"] {
        crew.ok(&["up", spec.to_str().expect("plain"), "--name", name]);
    }
    crew.ok(&["down", "--team", "team-1"]);
    for name in ["team-1x", "team-10"] {
        assert_eq!(crew.status(name, "voice")["alive"], true, "{name}");
        assert_eq!(crew.tmux(name, &["list-panes", "-a"]).lines().count(), 3, "{name}");
    }
    let gone = crew.fails(3, &["down", "--team", "team-1"]);
    assert!(gone.err.contains("team-1"), "{}", gone.err);
    assert_eq!(crew.status("team-1x", "voice")["alive"], true);
}

#[test]
fn f37_after_the_death_of_the_tmux_server_nobody_claims_to_live_and_resume_works_at_once() {
    let crew = Crew::new();
    crew.up(DUO);
    crew.ok(&["send", "voice", "still unread"]);
    let voice = crew.entry("duo", "voice");
    let server = u32::try_from(crew.roster("duo")["tmux"]["server_pid"].as_u64().expect("a pid")).expect("a pid");
    kill(server, "KILL");
    until("states are true", || {
        let status = crew.json(&["status", "--team", "duo"]);
        status["lead"]["alive"] == false
            && status["members"].as_array().expect("members").iter().all(|m| m["alive"] == false)
    });
    crew.ok(&["up", "--resume", "duo"]);
    let again = crew.entry("duo", "voice");
    assert_ne!(again["life"], voice["life"], "a new life");
    assert_eq!(crew.status("duo", "voice")["alive"], true);
    assert_eq!(crew.status("duo", "voice")["unread"], 1, "its mail is still there");
    assert_eq!(crew.status("duo", "hand")["alive"], true);
    crew.ok(&["task", "add", "after the crash", "--run", "--", "true"]);
    crew.ok(&["wait", "--for", "task:1=completed", "--timeout", "30s"]);
    let old = u32::try_from(voice["pid"].as_u64().expect("a pid")).expect("a pid");
    assert!(!lives(old) || u64::from(old) == again["pid"], "the first teammate is gone");
}

#[test]
fn f38_a_bare_locale_and_a_dumb_terminal_are_enough() {
    let crew = Crew::new();
    let spec = "v = 1\nname = \"команда\"\n[[member]]\nname = \"рука\"\nengine = \"worker\"\n\
                [[member]]\nname = \"voice\"\nengine = \"command\"\ncommand = [\"sh\", \"-c\", \"printf 'a\\\\tb\\\\n'; exec sleep 1000\"]\n";
    let path = crew.write("spec.toml", spec);
    let run = |args: &[&str]| {
        let mut command = crew.command(args);
        command.env_remove("LANG").env("LC_ALL", "C").env("TERM", "dumb");
        let ran = crate::support::Ran::from(command.output().expect("it starts"));
        assert_eq!(ran.code, 0, "{args:?}: {ran:#?}\n{}", crew.trouble());
        ran.out
    };
    run(&["up", path.to_str().expect("plain")]);
    let status: serde_json::Value = serde_json::from_str(&run(&["status", "--json"])).expect("json");
    assert_eq!(status["team"], "команда");
    assert!(status["members"].as_array().expect("members").iter().all(|m| m["alive"] == true), "{status}");
    until("its output is shown", || run(&["capture", "voice"]).contains("a       b"));
    run(&["task", "add", "работа", "--run", "--", "true"]);
    run(&["wait", "--for", "task:1=completed", "--timeout", "30s"]);
    run(&["restart", "voice"]);
    run(&["stop", "voice"]);
    run(&["down"]);
}

#[test]
fn f39_a_key_reaches_the_program_and_no_argument_list() {
    let crew = Crew::new();
    let secret = format!("s3cr3t-{}", std::process::id());
    let spec = "v = 1\nname = \"keys\"\n\
                [[member]]\nname = \"voice\"\nengine = \"command\"\n\
                command = [\"sh\", \"-c\", \"echo $API_KEY/$OTHER_KEY >voice; exec sleep 1000\"]\n\
                [[member]]\nname = \"strict\"\nengine = \"command\"\nclean_env = true\npass_env = [\"API_KEY\"]\n\
                command = [\"sh\", \"-c\", \"echo $API_KEY/$OTHER_KEY >strict; exec sleep 1000\"]\n\
                [[member]]\nname = \"hand\"\nengine = \"worker\"\n\
                [[task]]\nsubject = \"k\"\nrun = [\"sh\", \"-c\", \"echo $API_KEY/$OTHER_KEY >task\"]\n";
    let path = crew.write("keys.toml", spec);
    let mut up = crew.command(&["up", path.to_str().expect("plain")]);
    up.env("API_KEY", &secret).env("OTHER_KEY", "other");
    let ran = crate::support::Ran::from(up.output().expect("it starts"));
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert_eq!(crew.awaits("voice").trim(), format!("{secret}/other"));
    assert_eq!(crew.awaits("strict").trim(), format!("{secret}/"));
    assert_eq!(crew.awaits("task").trim(), format!("{secret}/other"));
    // One that joins later has it too.
    crew.ok(&["spawn", "late", "--", "sh", "-c", "echo $API_KEY >late; exec sleep 1000"]);
    assert_eq!(crew.awaits("late").trim(), secret);
    for entry in std::fs::read_dir("/proc").expect("proc").flatten() {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line);
        assert!(!line.contains(&secret), "{}: {line}", entry.path().display());
    }
    let env = crew.member("keys", "voice").join("state/env");
    assert_eq!(mode(&env), 0o600);
    let home = crew.home();
    assert!(!with_environment("CREWMUX_HOME", home.to_str().expect("utf-8")).is_empty());
}

fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).expect("it is there").permissions().mode() & 0o777
}
