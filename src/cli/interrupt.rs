//! Ctrl-C, TERM and HUP on the verbs that make a team: the first asks for a tidy end, the second forces.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use super::error::CommandError;

static FLAG: AtomicBool = AtomicBool::new(false);
static COUNT: AtomicU32 = AtomicU32::new(0);
static LISTENING: OnceLock<()> = OnceLock::new();

/// Set once a signal has come.
pub fn flag() -> &'static AtomicBool {
    &FLAG
}

/// How many signals have come.
pub fn count() -> u32 {
    COUNT.load(Ordering::Relaxed)
}

/// Takes the signals from here on, on a thread of its own.
///
/// # Errors
/// When they cannot be listened to.
pub fn listen() -> Result<(), CommandError> {
    if LISTENING.set(()).is_err() {
        return Ok(());
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (ready, is_ready) = std::sync::mpsc::channel();
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        runtime.block_on(async {
            use tokio::signal::unix::{SignalKind, signal};
            let all = (|| {
                Ok::<_, std::io::Error>((
                    signal(SignalKind::interrupt())?,
                    signal(SignalKind::terminate())?,
                    signal(SignalKind::hangup())?,
                ))
            })();
            let (mut interrupt, mut terminate, mut hang_up) = match all {
                Ok(signals) => signals,
                Err(error) => {
                    let _ = ready.send(Err(error));
                    return;
                }
            };
            let _ = ready.send(Ok(()));
            loop {
                tokio::select! {
                    Some(()) = interrupt.recv() => {}
                    Some(()) = terminate.recv() => {}
                    Some(()) = hang_up.recv() => {}
                    else => return,
                }
                FLAG.store(true, Ordering::Relaxed);
                COUNT.fetch_add(1, Ordering::Relaxed);
            }
        });
    })?;
    match is_ready.recv() {
        Ok(Err(error)) => Err(error.into()),
        _ => Ok(()),
    }
}
