//! Text into a program's terminal, as if typed.

use super::commands as cmd;
use super::error::TmuxError;
use super::panes::check_id;
use super::server::Tmux;

impl Tmux {
    /// Pastes the text into the pane's program, out of copy mode if need be, and presses Enter after it if asked.
    ///
    /// The text arrives as one bracketed paste where the program asked for that. What a terminal would act on is taken
    /// out first (see [`typable`]). A program that reads lines from a cooked terminal gets at most 4,095 bytes of each.
    ///
    /// # Errors
    /// `NoPane` or `DeadPane`: nothing was pasted.
    pub async fn paste(&self, id: &str, text: &str, enter: bool) -> Result<(), TmuxError> {
        check_id(id)?;
        let pane = self.pane(id).await?.ok_or_else(|| TmuxError::NoPane { pane: id.to_owned() })?;
        if pane.dead {
            return Err(TmuxError::DeadPane { pane: id.to_owned() });
        }
        let text = typable(text);
        if text.is_empty() {
            self.press_nothing_or_enter(id, enter).await?;
            return Ok(());
        }
        // A name of its own: two that paste at once, or the person's own buffers, never meet.
        let buffer = format!("crewmux-{}", uuid::Uuid::new_v4().simple());
        let chain = [cmd::leave_mode(id), cmd::load_buffer(&buffer), cmd::paste_buffer(&buffer, id)];
        if let Err(e) = self.runner.run(&chain, Some(text.as_bytes())).await.ok() {
            // Nothing to delete is fine: the paste's own error is the one to tell.
            let _ = self.ask(&[cmd::delete_buffer(&buffer)]).await;
            return Err(if e.is_gone() { TmuxError::NoPane { pane: id.to_owned() } } else { e });
        }
        // A call of its own: some programs take what comes right behind a paste as part of it.
        self.press_nothing_or_enter(id, enter).await
    }

    async fn press_nothing_or_enter(&self, id: &str, enter: bool) -> Result<(), TmuxError> {
        if !enter {
            return Ok(());
        }
        match self.ask(&[cmd::leave_mode(id), cmd::enter(id)]).await {
            Err(e) if e.is_gone() => Err(TmuxError::NoPane { pane: id.to_owned() }),
            done => done.map(drop),
        }
    }
}

/// The text without what a terminal or its program acts on: ESC (which would end a bracketed paste), the other C0 and C1
/// controls (Ctrl-C, Ctrl-D and Ctrl-Z among them) and DEL. Tabs and line feeds stay; a carriage return is a line feed.
fn typable(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    text.chars().filter(|&c| c == '\n' || c == '\t' || !c.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use super::typable;

    #[test]
    fn controls_are_taken_out() {
        assert_eq!(typable("a\x1b[201~b\x03\x04\x7f\u{9b}31mc\r\nd\re\tf"), "a[201~b31mc\nd\ne\tf");
    }
}
