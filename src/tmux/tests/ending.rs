//! F20, F36, F37: only what we recorded; only this server; quick and clear when it is gone.

use super::*;
use rustix::process::Signal;

#[tokio::test]
async fn only_id_and_process_together_close_a_pane() {
    let team = team().await;
    let made = team.tmux.add_panes("$0", &vec![idle(); 3], 4, None).await.unwrap();
    let list = [
        (made[0].id.clone(), made[1].pid),
        (made[1].id.clone(), made[1].pid),
        ("%99".into(), made[2].pid),
        ("sleep".into(), made[2].pid),
        ("%1; kill-server".into(), 1),
    ];
    team.tmux.close_panes(&list).await.unwrap();
    let left: Vec<_> = team.tmux.panes().await.unwrap().into_iter().map(|p| p.id).collect();
    assert_eq!(left, ["%0", made[0].id.as_str(), made[2].id.as_str()]);
    assert_eq!(team.tmux.pane(&made[1].id).await.unwrap(), None);
    assert_eq!(team.tmux.pane(&made[2].id).await.unwrap().unwrap().pid, made[2].pid);
    team.tmux.close_panes(&list).await.unwrap();
}

#[tokio::test]
async fn the_server_outlives_its_last_pane() {
    let team = team().await;
    team.tmux.close_panes(&[("%0".into(), team.started.pane.pid)]).await.unwrap();
    assert_eq!(team.tmux.panes().await.unwrap(), []);
    assert_eq!(team.tmux.server_pid().await.unwrap(), Some(team.started.server_pid));
}

#[tokio::test]
async fn an_ended_program_leaves_its_pane_which_takes_a_new_one() {
    let team = team().await;
    let made = team.tmux.add_panes("$0", &[spec(&["printf", "last words"], Path::new("/"))], 4, None).await.unwrap();
    let old = &made[0];
    until("a dead pane", async || team.tmux.pane(&old.id).await.unwrap()?.dead.then_some(())).await;
    assert!(team.tmux.capture(&old.id, Some(100)).await.unwrap().contains("last words"));
    let wrong = team.tmux.respawn_pane(&old.id, old.pid + 1, &idle()).await.unwrap_err();
    assert!(matches!(wrong, TmuxError::NoPane { .. }), "{wrong}");
    let new = team.tmux.respawn_pane(&old.id, old.pid, &idle()).await.unwrap();
    assert_eq!(new.id, old.id);
    assert_ne!(new.pid, old.pid);
    // Its own no more: the restart goes to another pane.
    let other = team.tmux.restart_pane(old, &idle(), "$0", 4, None).await.unwrap();
    assert_ne!(other.id, old.id);
    assert_eq!(team.tmux.pane(&new.id).await.unwrap().unwrap().pid, new.pid);
}

#[tokio::test]
async fn a_name_that_begins_alike_is_another() {
    let team = team().await;
    let longer = team.tmux.start("crewmux-team-1x", (80, 24), &idle()).await.unwrap();
    assert_eq!(longer.server_pid, team.started.server_pid);
    team.tmux.close_panes(&[("%0".into(), team.started.pane.pid)]).await.unwrap();
    let view = View { session: "crewmux-team-1", pane: None, read_only: false };
    let argv = team.tmux.attach_argv(view).unwrap();
    let out = std::process::Command::new(&argv[0]).args(&argv[1..]).env_remove("TMUX").output().unwrap();
    assert!(!out.status.success());
    assert!(String::from_utf8_lossy(&out.stderr).contains("can't find session"), "{out:?}");
    let again = team.tmux.start("crewmux-team-1x", (80, 24), &idle()).await.unwrap_err();
    assert!(again.to_string().contains("duplicate session"), "{again}");
}

#[tokio::test]
async fn a_server_killed_is_told_at_once_and_can_be_started_again() {
    let mut team = team().await;
    kill(team.started.server_pid, Signal::KILL);
    until("no server", async || team.tmux.server_pid().await.unwrap().is_none().then_some(())).await;
    for error in [
        team.tmux.panes().await.unwrap_err(),
        team.tmux.add_panes("$0", &[idle()], 4, None).await.unwrap_err(),
        team.tmux.pane("%0").await.unwrap_err(),
    ] {
        assert!(matches!(error, TmuxError::NoServer { .. }), "{error}");
        assert!(error.hint().is_some());
    }
    let again = team.tmux.start("crewmux-team-1", (80, 24), &idle()).await.unwrap();
    team.extra.push(again.server_pid);
    assert_eq!(team.tmux.panes().await.unwrap().len(), 1);
}

#[tokio::test]
async fn only_the_recorded_server_is_ended() {
    let team = team().await;
    let pid = team.started.server_pid;
    let error = team.tmux.kill_server(std::process::id()).await.unwrap_err();
    assert!(matches!(error, TmuxError::OtherServer { found: Some(p), .. } if p == pid), "{error}");
    assert_eq!(team.tmux.server_pid().await.unwrap(), Some(pid));
    team.tmux.kill_server(pid).await.unwrap();
    assert!(!Path::new(&format!("/proc/{pid}/exe")).exists());
    assert!(!team.tmux.socket().exists());
    team.tmux.kill_server(pid).await.unwrap();
    assert_eq!(team.tmux.server_pid().await.unwrap(), None);
}

#[tokio::test]
async fn a_stopped_server_is_given_up_and_can_still_be_ended() {
    let team = team().await;
    let pid = team.started.server_pid;
    kill(pid, Signal::STOP);
    let hasty = team.tmux.clone().with_limit(Duration::from_millis(200));
    let error = hasty.panes().await.unwrap_err();
    assert!(matches!(&error, TmuxError::TimedOut { command, .. } if command == "list-panes"), "{error}");
    assert!(error.hint().unwrap().contains("stopped"));
    assert_eq!(hasty.server_pid().await.unwrap(), Some(pid));
    hasty.kill_server(pid).await.unwrap();
    assert!(!team.tmux.socket().exists());
}

#[tokio::test]
async fn a_session_that_cannot_be_made_leaves_no_server() {
    let dir = folder();
    let tmux = Tmux::new(dir.path().join("s")).with_limit(Duration::from_secs(20));
    let mut long = idle();
    long.argv.push("x".repeat(15_000).into());
    // The options go in one process, the session in a second that is refused.
    long.argv.push("x".repeat(15_000).into());
    tmux.start("crewmux-x", (80, 24), &long).await.unwrap_err();
    until("no server", async || tmux.server_pid().await.unwrap().is_none().then_some(())).await;
}

#[tokio::test]
async fn tmux_missing_or_too_old() {
    let dir = folder();
    let missing = Tmux::new(dir.path().join("s")).with_program(dir.path().join("no-tmux"));
    let error = missing.version().await.unwrap_err();
    assert!(matches!(error, TmuxError::Missing { .. }), "{error}");
    let old = dir.path().join("tmux");
    script(&old, "echo tmux 3.1c");
    let error = missing.with_program(&old).version().await.unwrap_err();
    assert_eq!(error.to_string(), "tmux 3.1c is too old, 3.2 or newer is needed");
    let text = Tmux::new(dir.path().join("s")).version().await.unwrap();
    assert!((text.major, text.minor) >= Version::NEEDED);
}
