//! One at a time in a repository: git's own locks are taken by who comes first and refuse the others.

use std::path::Path;
use std::time::Duration;

use crate::act::ActError;
use crate::store::lock::{self, Held};
use crate::store::{Home, make_dirs};

/// How long to wait for whoever is at work in the repository; a checkout of a large one takes minutes.
const WAIT: Duration = Duration::from_secs(600);

/// Within one process a queue comes first, so that those who wait for the file take one thread and not one each.
static QUEUE: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

pub(super) struct Locked {
    _file: Held,
    _turn: tokio::sync::MutexGuard<'static, ()>,
}

/// Waits for its turn in the repository whose shared folder is `common`.
pub(super) async fn lock(home: &Home, common: &Path) -> Result<Locked, ActError> {
    let turn = QUEUE.lock().await;
    let folder = home.worktrees_dir().join(".locks");
    make_dirs(&folder)?;
    let name = blake3::hash(common.as_os_str().as_encoded_bytes()).to_hex();
    let path = folder.join(format!("{}.lock", &name[..16]));
    let held = tokio::task::spawn_blocking(move || lock::exclusive(&path, WAIT)).await;
    let held = held.map_err(|e| ActError::failed("the wait for a repository was cut off").cause(e.to_string()))??;
    Ok(Locked { _file: held, _turn: turn })
}
