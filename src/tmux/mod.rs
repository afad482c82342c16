//! (room tmux)
