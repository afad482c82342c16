//! F35: text reaches the program, whatever mode the pane is in.

use super::*;

/// Says when the terminal is raw, then writes all it reads to a file.
fn reader(out: &Path, bracketed: bool) -> PaneSpec {
    let ask = if bracketed { r"printf '\033[?2004h';" } else { "" };
    let body = format!("stty raw -echo; {ask} printf READY; exec cat > '{}'", out.display());
    spec(&["sh", "-c", &body], Path::new("/"))
}

async fn ready(team: &Team, id: &str) {
    until("a raw terminal", async || team.tmux.capture(id, None).await.unwrap().contains("READY").then_some(())).await;
}

async fn received(path: &Path, want: &[u8]) {
    let got = async || std::fs::read(path).unwrap_or_default();
    until("as many bytes", async || (got().await.len() >= want.len()).then_some(())).await;
    assert_eq!(String::from_utf8_lossy(&got().await), String::from_utf8_lossy(want));
}

#[tokio::test]
async fn hostile_text_arrives_in_copy_mode_too() {
    let team = team().await;
    let out = team.path("out");
    let made = team.tmux.add_panes("$0", &[reader(&out, false)], 4, None).await.unwrap();
    let id = &made[0].id;
    ready(&team, id).await;
    team.raw(&["copy-mode", "-t", id]);
    assert!(team.tmux.pane_in_mode(id).await.unwrap());
    let text = "a;\n\tb; $(id) #{pane_id} %H 'q' \\; é… \u{1b}[201~-t Enter;";
    team.tmux.paste(id, text, true).await.unwrap();
    let want = text.replace('\u{1b}', "") + "\r";
    received(&out, want.as_bytes()).await;
    assert!(!team.tmux.pane_in_mode(id).await.unwrap());
    assert_eq!(team.raw(&["list-buffers"]), "");
}

#[tokio::test]
async fn a_long_text_is_one_bracketed_paste() {
    let team = team().await;
    let out = team.path("out");
    let made = team.tmux.add_panes("$0", &[reader(&out, true)], 4, None).await.unwrap();
    ready(&team, &made[0].id).await;
    let text = "0123456789 line;\n".repeat(20_000);
    team.tmux.paste(&made[0].id, &text, false).await.unwrap();
    received(&out, format!("\u{1b}[200~{text}\u{1b}[201~").as_bytes()).await;
}

#[tokio::test]
async fn a_pane_that_cannot_take_it_is_told() {
    let team = team().await;
    let made = team.tmux.add_panes("$0", &[spec(&["true", "x"], Path::new("/"))], 4, None).await.unwrap();
    let id = &made[0].id;
    until("a dead pane", async || team.tmux.pane(id).await.unwrap()?.dead.then_some(())).await;
    assert!(matches!(team.tmux.paste(id, "x", true).await, Err(TmuxError::DeadPane { .. })));
    assert!(matches!(team.tmux.paste("%77", "x", true).await, Err(TmuxError::NoPane { .. })));
    assert!(matches!(team.tmux.paste("0", "x", true).await, Err(TmuxError::NoPane { .. })));
    assert_eq!(team.raw(&["list-buffers"]), "");
}
