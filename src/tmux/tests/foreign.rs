//! F31, F38: a person's configuration and locale have no effect.

use super::*;

/// tmux as started from a hostile home, under the C locale and a dumb terminal, inside another tmux.
fn hostile(tmux: Tmux, dir: &Path) -> Tmux {
    let config = "set -g base-index 1\nset -g pane-base-index 1\nset -g prefix C-a\nset -g default-shell /usr/bin/fish\n\
        set -s exit-empty on\nset -g destroy-unattached on\nset -g remain-on-exit off\nset -g default-command false\n\
        set-hook -g after-new-session kill-server\nset-hook -g after-split-window 'kill-pane'\n";
    let home = dir.join("home");
    std::fs::create_dir_all(home.join(".config/tmux")).unwrap();
    std::fs::write(home.join(".tmux.conf"), config).unwrap();
    std::fs::write(home.join(".config/tmux/tmux.conf"), config).unwrap();
    let program = dir.join("tmux");
    let env = "LC_ALL=C TERM=dumb SHELL=/usr/bin/fish TMUX=/nowhere,1,0";
    script(&program, &format!("unset LANG LC_CTYPE; exec env HOME='{}' {env} tmux \"$@\"", home.display()));
    tmux.with_program(program)
}

#[tokio::test]
async fn a_hostile_home_and_locale() {
    let team = team_with(hostile, (80, 24)).await;
    let text = spec(&["sh", "-c", r"printf 'a\tb é…\n'; exec sleep 1000"], Path::new("/"));
    let made = team.tmux.add_panes("$0", &[text, idle()], 4, Some("@0")).await.unwrap();
    let shown = until("the text", async || {
        let shown = team.tmux.capture(&made[0].id, None).await.unwrap();
        shown.contains('a').then_some(shown)
    })
    .await;
    assert!(shown.starts_with("a       b é…"), "{shown:?}");
    assert_eq!(team.tmux.panes().await.unwrap().len(), 3);
    let indices = team.raw(&["list-panes", "-a", "-F", "#{window_index}.#{pane_index}"]);
    assert_eq!(indices, "0.0\n0.1\n0.2\n");
    assert_eq!(team.raw(&["show-options", "-gv", "prefix"]), "C-b\n");
    // A title beyond ASCII as well.
    let mut titled = idle();
    titled.title = "é\tü".into();
    let pane = team.tmux.add_panes("$0", &[titled], 4, Some("@0")).await.unwrap();
    assert_eq!(team.raw(&["display-message", "-p", "-t", &pane[0].id, "#{pane_title}"]), "é ü\n");
}
