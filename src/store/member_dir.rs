//! A member's folder: which path is what.

use std::path::{Path, PathBuf};

use super::error::{Result, StoreError};
use super::files;
use super::lock;
use crate::model::message::Lane;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MemberDir {
    path: PathBuf,
}

impl MemberDir {
    #[must_use]
    pub fn at(path: PathBuf) -> Self {
        Self { path }
    }

    /// Makes the member's folders, where the team is there; those that are there already stay as they are.
    pub fn create(&self) -> Result<()> {
        for dir in [self.path.clone(), self.mail_dir(), self.state_dir()] {
            match files::make_dir(&dir) {
                Ok(()) | Err(StoreError::Exists(_)) => {}
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }

    /// Makes what a confined program writes its verbs to: it may write these files and make no others. For whoever is not
    /// confined the first verb makes them.
    pub fn make_own_words(&self) -> Result<()> {
        for file in self.own_words() {
            files::open_or_create(&file, false).map_err(|e| StoreError::open(&file, e))?;
        }
        Ok(())
    }

    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    #[must_use]
    pub fn exists(&self) -> bool {
        self.path.is_dir()
    }

    /// The folder that a teammate watches.
    #[must_use]
    pub fn mail_dir(&self) -> PathBuf {
        self.path.join("mail")
    }

    /// The folder that the lead watches.
    #[must_use]
    pub fn state_dir(&self) -> PathBuf {
        self.path.join("state")
    }

    /// The data lane.
    #[must_use]
    pub fn inbox(&self) -> PathBuf {
        self.path.join("mail/inbox.jsonl")
    }

    /// The control lane.
    #[must_use]
    pub fn control(&self) -> PathBuf {
        self.path.join("mail/control.jsonl")
    }

    #[must_use]
    pub fn lane(&self, lane: Lane) -> PathBuf {
        match lane {
            Lane::Inbox => self.inbox(),
            Lane::Control => self.control(),
        }
    }

    /// The member's own words and verbs.
    #[must_use]
    pub fn outbox(&self) -> PathBuf {
        self.path.join("mail/outbox.jsonl")
    }

    #[must_use]
    pub fn client_lease(&self) -> PathBuf {
        self.state_dir().join("client.lease")
    }

    #[must_use]
    pub fn lease(&self) -> PathBuf {
        self.path.join("state/lease")
    }

    #[must_use]
    pub fn status(&self) -> PathBuf {
        self.path.join("state/status.json")
    }

    #[must_use]
    pub fn cursors(&self) -> PathBuf {
        self.path.join("state/cursors.json")
    }

    #[must_use]
    pub fn exit(&self) -> PathBuf {
        self.path.join("state/exit.json")
    }

    /// The agent's session, for the next life to go on with.
    #[must_use]
    pub fn session(&self) -> PathBuf {
        self.path.join("state/session.json")
    }

    /// The launcher's environment.
    #[must_use]
    pub fn env(&self) -> PathBuf {
        self.path.join("state/env")
    }

    /// What a confined program of this member may write wherever it runs: its outbox and that one's lock.
    #[must_use]
    pub fn own_words(&self) -> [PathBuf; 2] {
        [self.outbox(), lock::sidecar(&self.outbox())]
    }

    /// The folder for passing files of a confined program; empty between its lives.
    #[must_use]
    pub fn tmp(&self) -> PathBuf {
        self.path.join("tmp")
    }

    /// Makes that folder anew.
    pub fn fresh_tmp(&self) -> Result<()> {
        self.clear_tmp()?;
        files::make_dir(&self.tmp())
    }

    /// Removes it with all that is in it.
    pub fn clear_tmp(&self) -> Result<()> {
        match std::fs::remove_dir_all(self.tmp()) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(StoreError::io("remove", &self.tmp(), e)),
            _ => Ok(()),
        }
    }

    /// Answers to the member's verbs.
    #[must_use]
    pub fn replies(&self) -> PathBuf {
        self.path.join("replies.jsonl")
    }

    /// What the `setup` of its work tree printed.
    #[must_use]
    pub fn setup_log(&self) -> PathBuf {
        self.path.join("setup.log")
    }

    #[must_use]
    pub fn output_log(&self) -> PathBuf {
        self.path.join("output.log")
    }

    #[must_use]
    pub fn transcript(&self) -> PathBuf {
        self.path.join("transcript.jsonl")
    }
}
