//! F34: any number of panes; labels; rollback.

use super::*;
use std::collections::HashMap;

async fn by_window(team: &Team) -> Vec<usize> {
    let mut counts: HashMap<String, usize> = HashMap::new();
    for pane in team.tmux.panes().await.unwrap() {
        *counts.entry(pane.window_id).or_default() += 1;
    }
    let mut list: Vec<_> = counts.into_iter().collect();
    list.sort_by_key(|(id, _)| id[1..].parse::<u32>().unwrap());
    list.into_iter().map(|(_, n)| n).collect()
}

#[tokio::test]
async fn twenty_four_members_at_80_by_24() {
    let team = team().await;
    let (session, lead) = (&team.started.session_id, Some(team.started.window_id.as_str()));
    let panes: Vec<_> = (0..24).map(|n| spec(&["sleep", &format!("{}", 1000 + n)], Path::new("/"))).collect();
    let made = team.tmux.add_panes(session, &panes[..3], 4, lead).await.unwrap();
    let more = team.tmux.add_panes(session, &panes[3..], 4, lead).await.unwrap();
    assert_eq!(by_window(&team).await, [5, 4, 4, 4, 4, 4]);
    // In order: each pane runs what its place in the list says.
    for (pane, spec) in made.iter().chain(&more).zip(&panes) {
        let line = std::fs::read_to_string(format!("/proc/{}/cmdline", pane.pid)).unwrap();
        assert_eq!(line.split('\0').nth(1), spec.argv[1].to_str(), "{pane:?}");
    }
    // And a window shows them in that order.
    let shown = team.raw(&["list-panes", "-t", "@1", "-F", "#{pane_id}"]);
    let window: Vec<_> = more[1..5].iter().map(|p| p.id.as_str()).collect();
    assert_eq!(shown.lines().collect::<Vec<_>>(), window);
    // Nothing became current.
    assert_eq!(team.raw(&["display-message", "-p", "#{window_id} #{pane_id}"]), "@0 %0\n");
    // A place that becomes free is taken again.
    team.tmux.close_panes(&[(made[0].id.clone(), made[0].pid)]).await.unwrap();
    team.tmux.add_panes(session, &[idle()], 4, lead).await.unwrap();
    assert_eq!(by_window(&team).await, [5, 4, 4, 4, 4, 4]);
}

#[tokio::test]
async fn the_leads_window_takes_members_before_it_is_marked() {
    let team = team().await;
    team.raw(&["set-option", "-wu", "-t", "@0", super::super::label::WINDOW]);
    team.tmux.add_panes("=crewmux-team-1", &vec![idle(); 9], 4, Some("@0")).await.unwrap();
    assert_eq!(by_window(&team).await, [5, 4, 1]);
}

#[tokio::test]
async fn a_window_too_small_gets_fewer() {
    let team = team_with(|tmux, _| tmux, (30, 9)).await;
    let lead = Some(team.started.window_id.as_str());
    let made = team.tmux.add_panes("$0", &vec![idle(); 64], 64, lead).await.unwrap();
    assert_eq!(made.len(), 64);
    let windows = by_window(&team).await;
    assert_eq!(windows.iter().sum::<usize>(), 65);
    assert!(windows.len() > 1, "{windows:?}");
    assert_eq!(team.raw(&["show-options", "-wv", "-t", "@1", "pane-border-status"]), "top\n");
}

#[tokio::test]
async fn a_failure_takes_back_what_was_made() {
    let team = team().await;
    let mut panes = vec![idle(); 6];
    // One command that is longer than tmux can take.
    panes[4].argv.push("x".repeat(40_000).into());
    let error = team.tmux.add_panes(&team.started.session_id, &panes, 2, None).await.unwrap_err();
    assert!(matches!(&error, TmuxError::Failed { stderr, .. } if stderr.contains("too long")), "{error}");
    assert_eq!(by_window(&team).await, [1]);
}

#[tokio::test]
async fn a_persons_own_window_is_left_alone() {
    let team = team().await;
    team.raw(&["new-window", "-d", "-t", "$0:", "-n", "mine", "--", "sleep", "1000"]);
    let mine = team.raw(&["show-options", "-w", "-t", "@1"]);
    let global = team.raw(&["show-options", "-g"]) + &team.raw(&["show-options", "-gw"]);
    team.tmux.add_panes("$0", &vec![idle(); 5], 2, Some("@0")).await.unwrap();
    assert_eq!(by_window(&team).await, [3, 1, 2, 1]);
    assert_eq!(team.raw(&["show-options", "-w", "-t", "@1"]), mine);
    assert_eq!(team.raw(&["show-options", "-g"]) + &team.raw(&["show-options", "-gw"]), global);
}

#[tokio::test]
async fn a_label_is_data() {
    let team = team().await;
    let text = "#{pane_id} #(touch x) #[fg=red]## %H, }; é\n;";
    let mut pane = idle();
    (pane.label, pane.title) = (text.into(), text.into());
    let made = team.tmux.add_panes("$0", &[pane], 4, None).await.unwrap();
    let id = made[0].id.as_str();
    let want = "#{pane_id} #(touch x) #[fg=red]## %H, }; é ;";
    assert_eq!(team.raw(&["display-message", "-p", "-t", id, "#{pane_title}"]).trim_end(), want);
    // What a terminal shows: a second tmux is the terminal, and its screen is read.
    let argv = team.tmux.attach_argv(View { session: "crewmux-team-1", pane: Some(id), read_only: true }).unwrap();
    let dir = folder();
    let screen = Tmux::new(dir.path().join("s")).with_limit(Duration::from_secs(20));
    let mut viewer = spec(&["env", "-u", "TMUX"], Path::new("/"));
    viewer.argv.extend(argv);
    let started = screen.start("screen", (80, 24), &viewer).await.unwrap();
    let screen = Team { tmux: screen, started, dir, extra: Vec::new() };
    let shown = async |text: &str| {
        until(&format!("{text:?} on the border"), async || {
            let screen = screen.tmux.capture("%0", None).await.unwrap();
            screen.contains(text).then_some(())
        })
        .await;
    };
    shown(want).await;
    // A pane that is gone does not keep the others from their labels.
    team.tmux
        .label(&[("%999", "x", "red"), (id, "later: busy #{pid}", "colour9"), ("bad id", "x", "red")])
        .await
        .unwrap();
    shown("later: busy #{pid}").await;
    assert!(!team.path("x").exists());
}
