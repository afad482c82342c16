//! F32: arguments arrive as given.

use super::*;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

const DUMP: &str = r#"printf '%s\0' "$@" > "$OUT.new"; mv "$OUT.new" "$OUT"; exec sleep 1000"#;

fn hostile() -> Vec<OsString> {
    let text = [
        "",
        " ",
        "a b",
        "a  b\tc",
        "it's",
        "\"quoted\"",
        "$(id)",
        "`id`",
        "$HOME",
        "${HOME}",
        "~",
        "*",
        "a;b",
        ";",
        "a;",
        r"\;",
        r"a\;",
        r"a\\;",
        ";;",
        "&&",
        "|",
        ">x",
        "#{pane_id}",
        "#(id)",
        "##",
        "#[fg=red]",
        "%",
        "%H",
        "%%",
        "{",
        "}",
        "{end}",
        "-",
        "--",
        "-t",
        "--help",
        "-x;",
        "\n",
        "a\n  b",
        "é…",
        "!",
        "=",
        "A=B",
        r"\",
        r"\n",
        "'",
        "@1",
        "$0",
        ":.",
        "~root",
    ];
    let mut list: Vec<OsString> = text.map(OsString::from).into();
    list.push(OsString::from_vec(vec![0xff, 0xfe, b';']));
    list.push(OsString::from_vec(b"x".repeat(6000)));
    list
}

fn dumper(out: &Path, args: &[OsString]) -> PaneSpec {
    let mut pane = spec(&["sh", "-c", &DUMP.replace("$OUT", &out.to_string_lossy()), "sh"], Path::new("/"));
    pane.argv.extend(args.iter().cloned());
    pane
}

fn joined(args: &[OsString]) -> Vec<u8> {
    args.iter().flat_map(|a| [a.as_bytes(), b"\0"].concat()).collect()
}

#[tokio::test]
async fn arguments_arrive_as_given() {
    let dir = folder();
    let tmux = Tmux::new(dir.path().join("s")).with_limit(Duration::from_secs(20));
    let args = hostile();
    let (first, second, third, fourth) =
        (dir.path().join("1"), dir.path().join("2"), dir.path().join("3"), dir.path().join("4"));
    let started = tmux.start("crewmux-%41%2F", (80, 24), &dumper(&first, &args)).await.unwrap();
    let team = Team { tmux, started, dir, extra: Vec::new() };
    let session = &team.started.session_id;
    let panes = [dumper(&second, &args), dumper(&third, &args)];
    let made = team.tmux.add_panes(session, &panes, 2, None).await.unwrap();
    let again = team.tmux.respawn_pane(&made[1].id, made[1].pid, &dumper(&fourth, &args)).await.unwrap();
    assert_eq!(again.id, made[1].id);
    for path in [&first, &second, &fourth] {
        assert_eq!(file(path).await, joined(&args), "{}", path.display());
    }
    assert_eq!(team.raw(&["display-message", "-p", "#{session_name}"]), "crewmux-%41%2F\n");
}

#[tokio::test]
async fn a_lone_program_is_no_shell_line() {
    let team = team().await;
    let name = "a=b c;$(touch no) #{pane_id};";
    let out = team.path("out");
    script(&team.path(name), &format!("echo $# > '{0}.new'; mv '{0}.new' '{0}'; exec sleep 1000", out.display()));
    let mut pane = idle();
    pane.argv = vec![team.path(name).into_os_string()];
    let made = team.tmux.add_panes(&team.started.session_id, &[pane], 4, None).await.unwrap();
    assert_eq!(file(&out).await, b"0\n");
    // The program is the pane's own process.
    until("the program in the pane's own process", async || {
        let line = std::fs::read(format!("/proc/{}/cmdline", made[0].pid)).unwrap();
        line.starts_with(b"sleep\0").then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_folder_is_taken_as_it_is() {
    let team = team().await;
    for name in ["#{pane_id} %H;", "##[x", "#[fg=red]#", "$(id) it's", "-x", "é"] {
        let cwd = team.path(name);
        std::fs::create_dir(&cwd).unwrap();
        let out = team.path(&format!("out-{}", name.len()));
        let body = format!("pwd -P > '{0}.new'; mv '{0}.new' '{0}'; exec sleep 1000", out.display());
        team.tmux.add_panes(&team.started.session_id, &[spec(&["sh", "-c", &body], &cwd)], 2, None).await.unwrap();
        let want = cwd.canonicalize().unwrap().into_os_string().into_vec();
        assert_eq!(file(&out).await.trim_ascii_end(), want, "{name}");
        std::fs::remove_file(&out).unwrap();
    }
}

#[tokio::test]
async fn a_missing_folder_or_program_is_told_before_anything_is_made() {
    let team = team().await;
    let bad = [idle(), spec(&["sleep", "1"], &team.path("nowhere"))];
    let error = team.tmux.add_panes(&team.started.session_id, &bad, 4, None).await.unwrap_err();
    assert!(matches!(error, TmuxError::NoFolder { .. }), "{error}");
    let empty = PaneSpec { argv: vec![], ..idle() };
    let error = team.tmux.add_panes(&team.started.session_id, &[empty], 4, None).await.unwrap_err();
    assert!(matches!(error, TmuxError::NoProgram), "{error}");
    assert_eq!(team.tmux.panes().await.unwrap().len(), 1);
}
