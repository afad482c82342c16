//! Which terminal a pane can claim to be: the best one that this machine describes.

use std::path::PathBuf;

/// The first of tmux's own terminals that the terminfo database has. tmux refuses nothing here, but a program in a pane
/// with an unknown `TERM` has no colours and no cursor.
pub(super) fn best() -> &'static str {
    let folders = folders();
    let known = |name: &str| {
        let Some(first) = name.bytes().next() else { return false };
        // Linux keeps entries under the first letter, macOS under its hexadecimal code.
        folders.iter().any(|f| {
            f.join(char::from(first).to_string()).join(name).exists()
                || f.join(format!("{first:02x}")).join(name).exists()
        })
    };
    ["tmux-256color", "screen-256color", "screen"].into_iter().find(|name| known(name)).unwrap_or("screen")
}

/// Where ncurses looks (terminfo(5), "Fetching Compiled Descriptions").
fn folders() -> Vec<PathBuf> {
    let mut list: Vec<PathBuf> = std::env::var_os("TERMINFO").map(PathBuf::from).into_iter().collect();
    list.extend(std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".terminfo")));
    if let Some(dirs) = std::env::var_os("TERMINFO_DIRS") {
        list.extend(std::env::split_paths(&dirs).filter(|p| !p.as_os_str().is_empty()));
    }
    list.extend(
        ["/etc/terminfo", "/lib/terminfo", "/usr/share/terminfo", "/usr/local/share/terminfo"].map(PathBuf::from),
    );
    list
}
