//! F33: looking at the team from inside another tmux.

use super::*;

#[tokio::test]
async fn one_new_window_in_the_persons_tmux() {
    let team = team().await;
    let pane = team.tmux.add_panes("$0", &[idle()], 1, None).await.unwrap().remove(0);
    // The person's own tmux, with options of their own.
    let person = team_with(|tmux, _| tmux, (100, 30)).await;
    let options = |team: &Team| team.raw(&["show-options", "-g"]) + &team.raw(&["show-options", "-t", "$0"]);
    let (theirs, ours) = (options(&person), options(&team));
    let value = format!("{},{},0", person.tmux.socket().display(), person.started.server_pid);
    let outer = OuterTmux::parse(&value, Some("%0".into())).unwrap();
    let view = View { session: "crewmux-team-1", pane: Some(&pane.id), read_only: false };
    let window = team.tmux.open_in(&outer, "crew #{pid};", view).await.unwrap();
    assert_eq!(person.raw(&["list-windows", "-F", "#{window_id} #{window_name}"]), "@0 lead\n@1 crew #{pid};\n");
    assert_eq!(window, "@1");
    // A session of its own, in the group, without status line and prefix, on the wanted pane.
    let nested = "#{session_id} #{status} #{prefix} #{prefix2} #{pane_id} #{session_attached}";
    let want = format!("$1 off None None {} 1\n", pane.id);
    until("the nested session", async || {
        let list = team.raw(&["list-sessions", "-F", nested, "-f", "#{!=:#{session_id},$0}"]);
        (list == want).then_some(())
    })
    .await;
    // The team's own session and the person's options are as before.
    assert_eq!(team.raw(&["display-message", "-p", "-t", "$0:", "#{window_id} #{session_attached}"]), "@0 0\n");
    assert_eq!((options(&person), options(&team)), (theirs, ours));
    assert_eq!(team.tmux.panes().await.unwrap().len(), 2);
    // Selecting acts on the team's session, not on the view.
    team.tmux.select("$0", "%0").await.unwrap();
    team.tmux.select("$0", &pane.id).await.unwrap();
    team.tmux.select("$0", "%0").await.unwrap();
    assert_eq!(team.raw(&["display-message", "-p", "-t", "$0:", "#{pane_id}"]), "%0\n");
    assert_eq!(team.raw(&["display-message", "-p", "-t", "$1:", "#{pane_id}"]), format!("{}\n", pane.id));
    // The window closed, the view is gone and the team is not.
    person.raw(&["kill-window", "-t", "@1"]);
    until("the view's end", async || (team.raw(&["list-sessions", "-F", "#{session_id}"]) == "$0\n").then_some(()))
        .await;
    assert_eq!(team.tmux.panes().await.unwrap().len(), 2);
}

#[tokio::test]
async fn the_printed_command_is_the_command() {
    let team = team().await;
    let view = View { session: "crewmux-%41", pane: Some("%0"), read_only: true };
    let argv = team.tmux.attach_argv(view).unwrap();
    let socket = team.tmux.socket().display();
    let want = format!("tmux -u -S {socket} -f /dev/null attach-session -r -t =crewmux-%41:.%0");
    let line = shell_quote(&argv);
    // zsh looks a word up that begins with `=`; nothing else needs quotes here.
    assert_eq!(line.replace('\'', ""), want);
    assert!(team.tmux.attach_argv(View { pane: Some("x;"), ..view }).is_err());
}
